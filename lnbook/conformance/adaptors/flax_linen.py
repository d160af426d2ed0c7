"""flax: flax.linen.LayerNorm, with JAX's derivatives."""

import jax
import numpy as np
from flax import linen


def apply(z, gain, bias, eps):
    parameters = {"params": {"scale": gain, "bias": bias}}
    return linen.LayerNorm(epsilon=eps).apply(parameters, z)


def layer_norm(z, gain, bias, eps):
    return np.asarray(apply(z, gain, bias, eps))


def vjp(z, gain, bias, eps, g):
    _, back = jax.vjp(lambda *a: apply(*a, eps), z, gain, bias)
    return tuple(map(np.asarray, back(g)))


def jvp(z, gain, bias, eps, tangents):
    inputs = (z, gain, bias)
    _, moved = jax.jvp(lambda *a: apply(*a, eps), inputs, tangents)
    return np.asarray(moved)

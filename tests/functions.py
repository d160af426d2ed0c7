"""lnbook's functions by name and by the arguments they take, for tests of what all of them promise."""

from functools import partial

import numpy as np
import pytest

import lnbook

G = np.arange(1.0, 5.0)  # a gain for d = 4


def all_results(f):
    """f with its one or several results as a list of arrays."""

    def call(*args, **keywords):
        results = f(*args, **keywords)
        return [np.asarray(r) for r in (results if isinstance(results, tuple) else (results,))]

    return call


# Every function of an array z whose last axis, of 4 entries, is normalized. All take z first.
ALONE = {
    "center": lnbook.center,
    "variance": lnbook.variance,
    "normalize": lnbook.normalize,
    "layer_norm": partial(lnbook.layer_norm, gain=G, bias=G),
    "jacobian": lnbook.jacobian,
    "jacobian with gain": partial(lnbook.jacobian, gain=G),
    "spectrum": lnbook.spectrum,
    "operator_norm": lnbook.operator_norm,
    "operator_norm with gain": partial(lnbook.operator_norm, gain=G),
}
BESIDE = {
    "jvp": lnbook.jvp,
    "vjp": lnbook.vjp,
    "amplification": lnbook.amplification,
    "taylor": lambda z, tangent, **keywords: np.stack(lnbook.taylor(z, tangent, 2, **keywords), axis=-1),
}
SECOND = {"jvp": "tangent", "vjp": "cotangent", "amplification": "step", "taylor": "tangent"}
FUNCTIONS = {
    **ALONE,
    **{name: partial(lambda f, z, **keywords: f(z, np.ones(np.shape(z)), **keywords), f) for name, f in BESIDE.items()},
    "jvp with gain": lambda z, **keywords: lnbook.jvp(z, np.ones(np.shape(z)), G, **keywords),
    "vjp with gain": lambda z, **keywords: lnbook.vjp(z, np.ones(np.shape(z)), G, **keywords),
}
WITH_EPS = {name: f for name, f in FUNCTIONS.items() if name not in ("center", "variance")}
WITH_AXIS = {
    "center": lnbook.center,
    "variance": lnbook.variance,
    "normalize": lnbook.normalize,
    "layer_norm": lnbook.layer_norm,
    "vjp": lambda z, **keywords: lnbook.vjp(z, np.ones(np.shape(z)), **keywords),
}
WITH_GAIN = {
    "layer_norm": lnbook.layer_norm,
    "jacobian": lnbook.jacobian,
    "jvp": lambda z, gain: lnbook.jvp(z, z, gain),
    "vjp": lambda z, gain: lnbook.vjp(z, z, gain),
    "operator_norm": lnbook.operator_norm,
    "taylor": lambda z, gain: lnbook.taylor(z, z, 1, gain),
    "amplification": lambda z, gain: lnbook.amplification(z, z, gain),
    "lipschitz_constant": lambda z, gain: lnbook.lipschitz_constant(np.shape(z)[-1], gain),
}


def over(functions):
    return pytest.mark.parametrize("f", [pytest.param(all_results(f), id=name) for name, f in functions.items()])


def sample(dtype=np.float64, shape=(3, 4)):
    return np.random.default_rng(7).normal(3, 1, shape).astype(dtype)

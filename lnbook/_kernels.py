"""The loops that carry the speed: rows of float32 numbers, computed in float64 and rounded once, compiled by Numba.

float64 holds every square and product of float32 numbers and has 29 more bits, so that nothing leaves the range and
centring once is enough. Each row is read while it stays in the processor's first cache.
"""

import os
from pathlib import Path

import numpy as np
from numba import njit

compiled = njit(
    error_model="numpy",
    # Sums may be taken in any order, and a product fused with a sum: what one instruction for many numbers needs.
    fastmath={"reassoc", "contract"},
    # Without a place to keep the compiled code, Numba would refuse to start; each process then compiles anew.
    cache=os.access(Path(__file__).parent, os.W_OK),
)


@compiled
def mean(z):
    """mean(z) of one row: (d,) -> number"""
    total = np.float64(0)
    for j in range(len(z)):
        total += z[j]
    return total / len(z)


@compiled
def root(z, m, eps):
    """sqrt(q + eps) of one row whose mean is m: (d,) -> number"""
    total = np.float64(0)
    for j in range(len(z)):
        total += (z[j] - m) ** 2
    return np.sqrt(total / len(z) + eps)


@compiled
def layer_norm(z, gain, bias, eps, y):
    """Write gain * u + bias to y (n, d), None for gain 1 or bias 0; return whether u is defined in every row."""
    defined = True
    for i in range(len(z)):
        m = mean(z[i])
        r = root(z[i], m, eps)
        defined &= r != 0
        inverse = 1 / r
        for j in range(z.shape[1]):
            u = (z[i, j] - m) * inverse
            if gain is not None:
                u *= gain[j]
            if bias is not None:
                u += bias[j]
            y[i, j] = u
    return defined


@compiled
def jacobian_product(z, h, before, after, eps, out, sums):
    """Write after * J (before * h) to out (n, d), None for a factor of 1; return whether J is defined in every row.

    sums is None or takes the sums over all rows of h * u and of h: (2, d)
    """
    defined = True
    for i in range(len(z)):
        m = mean(z[i])
        r = root(z[i], m, eps)
        defined &= r != 0
        inverse = 1 / r
        total = along = np.float64(0)
        for j in range(z.shape[1]):
            w = np.float64(h[i, j])
            if before is not None:
                w *= before[j]
            total += w
            along += w * (z[i, j] - m)
        mean_w, along = total / z.shape[1], along / z.shape[1] * inverse
        for j in range(z.shape[1]):
            w, u = np.float64(h[i, j]), (z[i, j] - m) * inverse
            if sums is not None:
                sums[0, j] += w * u
                sums[1, j] += w
            if before is not None:
                w *= before[j]
            w = (w - mean_w - u * along) * inverse
            if after is not None:
                w *= after[j]
            out[i, j] = w
    return defined

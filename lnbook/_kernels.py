"""The loops that carry the speed: rows of float32 numbers, computed in float64, compiled by Numba.

float64 holds every square and product of float32 numbers, so that none leaves the range. It has 29 more bits, so that
centring once is enough: the sum of a row of float32 numbers of one offset is exact up to about 2^28 entries.
"""

import os
from pathlib import Path

import numpy as np
from numba import njit

options = {
    "error_model": "numpy",
    # Beside this file, where that can be written: Numba refuses to start where it finds no place to keep its code.
    "cache": os.access(Path(__file__).parent, os.W_OK),
}
compiled = njit(**options)
# Sums may be taken in any order, which one instruction for many numbers needs.
sums_compiled = njit(fastmath={"reassoc", "contract"}, **options)


@sums_compiled
def mean(z):
    """mean(z) of one row: (d,) -> number"""
    total = np.float64(0)
    for j in range(len(z)):
        total += z[j]
    return total / len(z)


@sums_compiled
def variance(z, m):
    """q of one row whose mean is m: (d,) -> number"""
    total = np.float64(0)
    for j in range(len(z)):
        total += (z[j] - m) ** 2
    return total / len(z)


@sums_compiled
def means_with(h, factor, z, m):
    """mean(w) and mean(w * v) of one row, with w = factor * h, factor None for 1, and v = z - m: (d,) -> two numbers"""
    total = along = np.float64(0)
    for j in range(len(z)):
        w = np.float64(h[j])
        if factor is not None:
            w *= factor[j]
        total += w
        along += w * (z[j] - m)
    return total / len(z), along / len(z)


@compiled
def layer_norm(z, gain, bias, eps, y):
    """Write gain * u + bias to y (n, d), None for gain 1 or bias 0; return whether u is defined in every row."""
    defined = True
    for i in range(len(z)):
        m = mean(z[i])
        total = variance(z[i], m) + eps
        defined &= total != 0
        inverse = 1 / np.sqrt(total)
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
        total = variance(z[i], m) + eps
        defined &= total != 0
        inverse = 1 / np.sqrt(total)
        mean_w, along = means_with(h[i], before, z[i], m)
        along /= total
        for j in range(z.shape[1]):
            v, w = z[i, j] - m, np.float64(h[i, j])
            if sums is not None:
                sums[0, j] += w * (v * inverse)
                sums[1, j] += w
            if before is not None:
                w *= before[j]
            w = (w - mean_w - v * along) * inverse
            if after is not None:
                w *= after[j]
            out[i, j] = w
    return defined

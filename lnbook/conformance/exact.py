"""Layer normalization in exact arithmetic: fractions, and roots to 60 digits. It owes nothing to the rest of lnbook.

Arrays are NumPy arrays of `fractions.Fraction` (dtype object), so that the lines look like the formulas.
"""

from fractions import Fraction
from math import isqrt

import numpy as np


def fractions(array):
    """The exact value of every number of a float array."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(array, np.float64))


def root(x):
    """The square root of a Fraction, to a relative error below 2**-200."""
    shift = max(0, 201 - (x.numerator.bit_length() - x.denominator.bit_length()) // 2)
    return Fraction(isqrt((x.numerator << 2 * shift) // x.denominator), 1 << shift)


def mean(a):
    return a.sum(axis=-1, keepdims=True) / a.shape[-1]  # (..., d) -> (..., 1)


def variance(a):
    return mean((a - mean(a)) ** 2)  # (..., d) -> (..., 1)


def length(a):
    """The Euclidean length of each row: (..., d) -> (..., 1)"""
    return np.vectorize(root, otypes=[object])((a * a).sum(axis=-1, keepdims=True))


def core(z, eps):
    """The core u and 1 / sqrt(q + eps): (..., d) -> (..., d), (..., 1)"""
    inverse_std = 1 / np.vectorize(root, otypes=[object])(variance(z) + eps)
    return (z - mean(z)) * inverse_std, inverse_std


def input_gradient(u, inverse_std, stretched):
    """The gradient by z where stretched = gain * g: (..., d), (..., 1), (..., d) -> (..., d)"""
    return (stretched - mean(stretched) - u * mean(stretched * u)) * inverse_std


def sum_positions(a):
    return a.sum(axis=tuple(range(a.ndim - 1)))  # (..., d) -> (d,)


def unit_in_the_last_place(x, digits):
    """The distance of neighbouring floats of `digits` binary digits at the magnitude of the Fraction x > 0."""
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    if Fraction(2) ** exponent > x:
        exponent -= 1
    return Fraction(2) ** (exponent - digits + 1)

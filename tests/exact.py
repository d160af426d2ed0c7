"""Layer normalization in exact arithmetic, written from the formulas alone: what the tests hold lnbook against.

Three kinds: SymPy expressions (any list of numbers or symbols), fractions, and 50 digits of mpmath for a row of floats,
whose statistics are summed as exact integers, so that no offset and no scale can spoil them.
"""

from fractions import Fraction

import ml_dtypes
import numpy as np
import sympy as sp
from mpmath import mp

mp.dps = 50


# SymPy


def symbols(d):
    """The symbols z1 ... zd."""
    return sp.Matrix(sp.symbols(f"z1:{d + 1}", real=True))


def ones(d):
    return sp.ones(d, 1)


def projection(d):
    return sp.eye(d) - sp.ones(d, d) / d


def mean(z):
    return sum(z) / sp.Integer(len(z))


def centered(z):
    return sp.Matrix([x - mean(z) for x in z])


def variance(z):
    return sum(x**2 for x in centered(z)) / sp.Integer(len(z))


def core(z, eps):
    return centered(z) / sp.sqrt(variance(z) + eps)


def layer(z, gain, bias, eps):
    return sp.Matrix([a * x + b for a, x, b in zip(gain, core(z, eps), bias, strict=True)])


def core_jacobian(z, eps):
    """The formula of fact eps-jacobian; that it is the derivative is for a test to show."""
    v, total = centered(z), variance(z) + eps
    return (projection(len(z)) - v * v.T / len(z) / total) / sp.sqrt(total)


def vanishes(expressions):
    """Whether every entry is 0 for all values of its symbols."""
    entries = expressions if isinstance(expressions, sp.MatrixBase) else [expressions]
    return all(sp.simplify(entry) == 0 for entry in entries)


# Fractions


def fractions(row):
    """The numbers of a row as they are stored, exactly."""
    return [Fraction(x) for x in np.asarray(row).tolist()]


def fraction_mean(row):
    return sum(row, Fraction(0)) / len(row)


def fraction_variance(row):
    mu = fraction_mean(row)
    return sum(((x - mu) ** 2 for x in row), Fraction(0)) / len(row)


# 50 digits


def integers(row):
    """A row of floats as integers (an object array) times one power of two, exactly: (integers, exponent)."""
    mantissa, exponent = np.frexp(np.asarray(row, dtype=np.float64))
    exponent = np.where(mantissa == 0, exponent.max(), exponent)
    low = int(exponent.min())
    scaled = [int(m * 2.0**53) << int(e) - low for m, e in zip(mantissa, exponent, strict=True)]
    return np.array(scaled, dtype=object), low - 53


def digits(row):
    """Any numbers as mpmath's, in an object array."""
    row = np.asarray(row)
    if row.dtype == ml_dtypes.bfloat16:
        row = row.astype(np.float64)
    return np.array([mp.mpf(x) for x in row.ravel().tolist()], dtype=object).reshape(row.shape)


def centered_digits(z):
    """v and q of one row: (object array (d,), number)."""
    whole, exponent = integers(z)
    d = len(whole)
    v = d * whole - whole.sum()  # d v, in units of 2**exponent
    q = mp.ldexp(mp.mpf(int((v * v).sum())), 2 * exponent) / d**3
    return np.array([mp.ldexp(mp.mpf(int(x)), exponent) / d for x in v], dtype=object), q


def core_digits(z, eps):
    """u and sqrt(q + eps) of one row: (object array (d,), number)."""
    v, q = centered_digits(z)
    root = mp.sqrt(q + mp.mpf(eps))
    return v / root, root


def layer_digits(z, gain, bias, eps):
    """y of one row, and the scale max|gain| max|u| + max|bias| of its error."""
    u, _ = core_digits(z, eps)
    return digits(gain) * u + digits(bias), largest(digits(gain)) * largest(u) + largest(digits(bias))


def core_jacobian_product(z, h, eps):
    """J h of one row, h in any numbers: object array (d,)."""
    u, root = core_digits(z, eps)
    h = digits(h)
    return (h - h.sum() / len(h) - u * ((h * u).sum() / len(h))) / root


def core_jacobian_digits(z, eps):
    """J of one row, its cancellation done in fractions: object array (d, d)."""
    z, eps = fractions(z), Fraction(eps)
    d, mu, total = len(z), fraction_mean(z), fraction_variance(z) + eps
    cube = mp.sqrt(_number(total)) ** 3
    return np.array(
        [
            [_number(total * ((i == j) - Fraction(1, d)) - (z[i] - mu) * (z[j] - mu) / d) / cube for j in range(d)]
            for i in range(d)
        ],
        dtype=object,
    )


def largest(numbers):
    return max((abs(x) for x in np.ravel(numbers)), default=mp.mpf(0))


def error_in_units(got, expected, scale, dtype):
    """The largest error of `got`, in units in the last place of its scale: eps(dtype) |scale|.

    Infinity is right where the exact value is beyond the dtype; any other infinity or NaN is infinitely wrong.
    """
    got, info = np.asarray(got), ml_dtypes.finfo(dtype)
    assert got.dtype == dtype, f"the dtype is {got.dtype}, not {np.dtype(dtype)}"
    assert got.shape == np.shape(expected), f"the shape is {got.shape}, not {np.shape(expected)}"
    unit = max(mp.mpf(float(info.eps)) * abs(scale), mp.mpf(float(info.smallest_subnormal)))
    beyond = mp.mpf(float(info.max)) * (1 - 4 * mp.mpf(float(info.eps)))
    worst = mp.mpf(0)
    for g, e in zip(got.ravel().astype(float).tolist(), np.ravel(expected), strict=True):
        if np.isfinite(g):
            worst = max(worst, abs(mp.mpf(g) - e) / unit)
        elif not (np.isinf(g) and abs(e) >= beyond and (g > 0) == (e > 0)):
            return float("inf")
    return float(worst)


def promised(dtype, in_float64):
    """The units that are promised: the other formats are computed in float64 and rounded at the end."""
    return in_float64 if dtype == np.float64 else 0.51


def _number(fraction):
    return mp.mpf(fraction.numerator) / fraction.denominator

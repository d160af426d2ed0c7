"""The ways in which programs compute the core, each operation rounded to the dtype of z: what the accurate one is for.

z is an array (..., d) of a binary floating-point dtype, bfloat16 of ml_dtypes included.
"""

import numpy as np

silently = np.errstate(all="ignore")  # overflow and the root of a negative variance are what is to be seen


def mean(x):
    """The mean, added up in pairs of pairs, so that no entry takes part in more than log2(d) + 1 additions."""
    d = x.shape[-1]
    while x.shape[-1] > 1:
        half = x.shape[-1] // 2
        x = np.concatenate([x[..., :half] + x[..., half : 2 * half], x[..., 2 * half :]], axis=-1)
    return x / x.dtype.type(d)  # (..., 1)


def mean_in_turn(x):
    """The mean, added up one entry after the other."""
    return np.add.accumulate(x, axis=-1)[..., -1:] / x.dtype.type(x.shape[-1])  # (..., 1)


def one_pass_variance(z):
    """mean(z^2) - mean(z)^2"""
    m = mean(z)  # (..., 1)
    return mean(z * z) - m * m


def welford(z):
    """Mean and variance, both brought up to date entry by entry."""
    m, total = z[..., :1], np.zeros_like(z[..., :1])  # (..., 1)
    for k in range(1, z.shape[-1]):
        entry = z[..., k : k + 1]
        before = entry - m
        m = m + before / z.dtype.type(k + 1)
        total = total + before * (entry - m)
    return m, total / z.dtype.type(z.shape[-1])


def divide(v, q, eps):
    """v / sqrt(q + eps)"""
    return v / np.sqrt(q + v.dtype.type(eps))


@silently
def core_one_pass(z, eps):
    """(z - m) / sqrt(mean(z^2) - m^2 + eps)"""
    return divide(z - mean(z), one_pass_variance(z), eps)


@silently
def core_two_pass(z, eps):
    """w / sqrt(mean(w^2) + eps) with w = z - m"""
    w = z - mean(z)
    return divide(w, mean(w * w), eps)


@silently
def core_welford(z, eps):
    """(z - m) / sqrt(q + eps), with Welford's m and q"""
    m, q = welford(z)
    return divide(z - m, q, eps)


@silently
def core_affine(z, eps):
    """z r + (0 - m r), with r = 1 / sqrt(q + eps)"""
    m = mean(z)
    w = z - m
    r = divide(np.ones_like(m), mean(w * w), eps)
    return z * r + (0 - m * r)


@silently
def core_centred_twice(z, eps):
    """w / sqrt(mean(w^2) + eps) with c = z - mean(z), w = c - mean(c)"""
    return core_two_pass(z - mean(z), eps)


CORES = {
    "one pass": core_one_pass,
    "Welford": core_welford,
    "z·r − m·r": core_affine,
    "two pass": core_two_pass,
    "centred twice": core_centred_twice,
}

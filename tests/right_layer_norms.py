"""Layer norms that are right, in the styles in which people write them. lnbook.conformance must accuse none of them."""

import math

import numpy as np
from wrong_layer_norms import mean, right

import lnbook


def of_lnbook(z, gain, bias, eps):
    return lnbook.layer_norm(z, gain, bias, eps=eps)


def vjp_of_lnbook(z, gain, bias, eps, g):
    return lnbook.vjp(z, g, gain, eps=eps)


def with_var(z, gain, bias, eps):
    return (z - z.mean(-1, keepdims=True)) / np.sqrt(z.var(-1, keepdims=True) + z.dtype.type(eps)) * gain + bias


def two_loops(z, gain, bias, eps):
    """A row at a time, with sums that run from entry to entry."""
    y = np.empty_like(z, order="C")
    for index in np.ndindex(z.shape[:-1]):
        row, d = z[index], z.shape[-1]
        total = z.dtype.type(0)
        for x in row:
            total += x
        v = row - total / z.dtype.type(d)
        squares = z.dtype.type(0)
        for x in v:
            squares += x * x
        y[index] = gain * v / np.sqrt(squares / z.dtype.type(d) + z.dtype.type(eps)) + bias
    return y


def running_sum(z, gain, bias, eps):
    total = np.zeros_like(z[..., :1])
    for i in range(z.shape[-1]):
        total = total + z[..., i : i + 1]
    v = z - total / z.dtype.type(z.shape[-1])
    return gain * v / np.sqrt(mean(v * v) + z.dtype.type(eps)) + bias


def scaled_first(z, gain, bias, eps):
    """z is divided by its largest size, and eps by the square of it."""
    size = np.abs(z).max(axis=-1, keepdims=True)
    scale = np.where(size > 0, np.exp2(np.frexp(size)[1]).astype(z.dtype), z.dtype.type(1))
    small = z / scale
    v = small - mean(small)
    v = v - mean(v)
    return gain * v / np.sqrt(mean(v * v) + z.dtype.type(eps) / scale / scale) + bias


def multiplied_by_the_inverse(z, gain, bias, eps):
    v = z - mean(z)
    inverse = 1 / np.sqrt(mean(v * v) + z.dtype.type(eps))
    return v * (gain * inverse) + bias


def padded_and_masked(z, gain, bias, eps):
    d = z.shape[-1]
    block = np.zeros((*z.shape[:-1], 1 << (d - 1).bit_length()), z.dtype)
    block[..., :d] = z
    mask = np.arange(block.shape[-1]) < d
    v = np.where(mask, block - block.sum(axis=-1, keepdims=True) / z.dtype.type(d), z.dtype.type(0))
    q = (v * v).sum(axis=-1, keepdims=True) / z.dtype.type(d)
    return gain * (v / np.sqrt(q + z.dtype.type(eps)))[..., :d] + bias


def in_wider(z, gain, bias, eps):
    """The statistics in float64, one rounding at the end."""
    return right(*(a.astype(np.float64) for a in (z, gain, bias)), eps).astype(z.dtype)


def merged_in_pairs(z, gain, bias, eps):
    """Mean and squares of halves, merged as Chan, Golub and LeVeque do."""

    def merge(row):
        if len(row) == 1:
            return 1, row[0], row.dtype.type(0)
        (n, a, s), (m, b, t) = merge(row[: len(row) // 2]), merge(row[len(row) // 2 :])
        step, both = b - a, row.dtype.type(n + m)
        return n + m, a + step * row.dtype.type(m) / both, s + t + step * step * row.dtype.type(n * m) / both

    y = np.empty_like(z, order="C")
    for index in np.ndindex(z.shape[:-1]):
        d, middle, squares = merge(z[index])
        y[index] = gain * (z[index] - middle) / np.sqrt(squares / z.dtype.type(d) + z.dtype.type(eps)) + bias
    return y


def with_exact_sums(z, gain, bias, eps):
    """Python's exact sums of each row, in float64."""
    y = np.empty_like(z, order="C")
    for index in np.ndindex(z.shape[:-1]):
        row = [float(x) for x in z[index]]
        middle = math.fsum(row) / len(row)
        v = [x - middle for x in row]
        inverse = 1 / math.sqrt(math.fsum(x * x for x in v) / len(v) + eps) if any(v) or eps else math.nan
        y[index] = [c * x * inverse + b for x, c, b in zip(v, gain.tolist(), bias.tolist(), strict=True)]
    return y


RIGHT = (with_var, two_loops, running_sum, scaled_first, multiplied_by_the_inverse, padded_and_masked, in_wider)
RIGHT += (merged_in_pairs, with_exact_sums)

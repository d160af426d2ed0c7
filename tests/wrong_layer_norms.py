"""Layer norms and gradients, each with one mistake that people make. lnbook.conformance must name every one."""

import ml_dtypes
import numpy as np


def mean(a):
    return a.mean(axis=-1, keepdims=True)


def right(z, gain, bias, eps):
    v = z - mean(z)
    return gain * v / np.sqrt(mean(v**2) + z.dtype.type(eps)) + bias


def divisor_d_minus_1(z, gain, bias, eps):
    q = z.var(axis=-1, ddof=min(1, z.shape[-1] - 1), keepdims=True)
    return gain * (z - mean(z)) / np.sqrt(q + z.dtype.type(eps)) + bias


def eps_outside_the_root(z, gain, bias, eps):
    return gain * (z - mean(z)) / (z.std(axis=-1, keepdims=True) + z.dtype.type(eps)) + bias


def larger_of_variance_and_eps(z, gain, bias, eps):
    return gain * (z - mean(z)) / np.sqrt(np.maximum(z.var(axis=-1, keepdims=True), z.dtype.type(eps))) + bias


def eps_squared(z, gain, bias, eps):
    return gain * (z - mean(z)) / np.sqrt(z.var(axis=-1, keepdims=True) + z.dtype.type(eps) ** 2) + bias


def eps_missing(z, gain, bias, eps):
    return gain * (z - mean(z)) / z.std(axis=-1, keepdims=True) + bias


def eps_in_half_precision(z, gain, bias, eps):
    wide = z.astype(np.float32)
    v = wide - mean(wide)
    return (gain * v / np.sqrt(mean(v**2) + np.float32(np.float16(eps))) + bias).astype(z.dtype)


def eps_in_single_precision(z, gain, bias, eps):
    return right(z, gain, bias, np.float32(eps))


def mean_of_squares_minus_square_of_mean(z, gain, bias, eps):
    q = mean(z * z) - mean(z) ** 2
    return gain * (z - mean(z)) / np.sqrt(q + z.dtype.type(eps)) + bias


def clamped_mean_of_squares_minus_square_of_mean(z, gain, bias, eps):
    q = np.maximum(mean(z * z) - mean(z) ** 2, 0)
    return gain * (z - mean(z)) / np.sqrt(q + z.dtype.type(eps)) + bias


def cancelling_below_zero(z, gain, bias, eps):
    lost = z.dtype.type(z.shape[-1] / 64) * np.finfo(z.dtype).eps * mean(z) ** 2
    q = mean(z * z) - mean(z) ** 2 - lost
    return gain * (z - mean(z)) / np.sqrt(q + z.dtype.type(eps)) + bias


def rms_norm(z, gain, bias, eps):
    return gain * z / np.sqrt(mean(z**2) + z.dtype.type(eps)) + bias


def numerator_not_centred(z, gain, bias, eps):
    return gain * z / np.sqrt(z.var(axis=-1, keepdims=True) + z.dtype.type(eps)) + bias


def gain_stored_less_one(z, gain, bias, eps):
    return right(z, 1 + gain, bias, eps)


def gain_dropped(z, gain, bias, eps):
    return right(z, np.ones_like(gain), bias, eps)


def bias_dropped(z, gain, bias, eps):
    return right(z, gain, np.zeros_like(bias), eps)


def gain_and_bias_swapped(z, gain, bias, eps):
    return right(z, bias, gain, eps)


def gain_on_the_wrong_axis(z, gain, bias, eps):
    return right(z, gain[:, None], bias, eps)


def bias_on_the_wrong_axis(z, gain, bias, eps):
    return right(z, gain, bias[:, None], eps)


def gain_and_bias_dropped(z, gain, bias, eps):
    return right(z, np.ones_like(gain), np.zeros_like(bias), eps)


def bias_added_first(z, gain, bias, eps):
    return gain * (right(z, np.ones_like(gain), np.zeros_like(bias), eps) + bias)


def bias_subtracted(z, gain, bias, eps):
    return right(z, gain, -bias, eps)


def gain_and_bias_on_the_wrong_axis(z, gain, bias, eps):
    return right(z, gain[:, None], bias[:, None], eps)


def normalized_over_all_axes(z, gain, bias, eps):
    return gain * (z - z.mean()) / np.sqrt(z.var() + z.dtype.type(eps)) + bias


def normalized_over_all_but_the_first_axis(z, gain, bias, eps):
    axes = tuple(range(1, z.ndim))
    v = z - z.mean(axis=axes, keepdims=True)
    return gain * v / np.sqrt(z.var(axis=axes, keepdims=True) + z.dtype.type(eps)) + bias


def normalized_over_the_rows(z, gain, bias, eps):
    v = z - z.mean(axis=0, keepdims=True)
    return gain * v / np.sqrt(z.var(axis=0, keepdims=True) + z.dtype.type(eps)) + bias


def padding_counted(z, gain, bias, eps):
    """A block of the next multiple of 8 is loaded, with zeros beyond the row."""
    d = z.shape[-1]
    block = np.zeros((*z.shape[:-1], -(-d // 8) * 8), z.dtype)
    block[..., :d] = z
    return gain * (z - mean(block)) / np.sqrt(block.var(axis=-1, keepdims=True) + z.dtype.type(eps)) + bias


def padding_counted_in_the_variance(z, gain, bias, eps):
    """As a kernel does that forgets the mask when it subtracts the mean."""
    d = z.shape[-1]
    block = np.zeros((*z.shape[:-1], 1 << (d - 1).bit_length()), z.dtype)
    block[..., :d] = z
    m = block.sum(axis=-1, keepdims=True) / z.dtype.type(d)
    q = ((block - m) ** 2).sum(axis=-1, keepdims=True) / z.dtype.type(d)
    return gain * (z - m) / np.sqrt(q + z.dtype.type(eps)) + bias


def padding_counted_in_the_divisor(z, gain, bias, eps):
    """The squares are masked, but divided by the width of the block."""
    width = z.dtype.type(-(-z.shape[-1] // 8) * 8)
    v = z - mean(z)
    return gain * v / np.sqrt((v**2).sum(axis=-1, keepdims=True) / width + z.dtype.type(eps)) + bias


def mean_of_the_row_after(z, gain, bias, eps):
    rows = z.reshape(-1, z.shape[-1])
    v = (rows - np.roll(mean(rows), -1, axis=0)).reshape(z.shape)
    return gain * v / np.sqrt(mean(v**2) + z.dtype.type(eps)) + bias


def statistics_of_the_first_row(z, gain, bias, eps):
    first = z.reshape(-1, z.shape[-1])[0]
    return gain * (z - first.mean()) / np.sqrt(first.var() + z.dtype.type(eps)) + bias


def variance_of_the_row_before(z, gain, bias, eps):
    q = np.roll(z.reshape(-1, z.shape[-1]).var(axis=-1), 1).reshape(*z.shape[:-1], 1)
    return gain * (z - mean(z)) / np.sqrt(q + z.dtype.type(eps)) + bias


def statistics_in_half_precision(z, gain, bias, eps):
    half = z.astype(np.float16)
    d = np.float16(z.shape[-1])
    m = np.add.reduce(half, axis=-1, dtype=np.float16, keepdims=True) / d
    q = np.add.reduce((half - m) ** 2, axis=-1, dtype=np.float16, keepdims=True) / d
    v, q = z.astype(np.float32) - m, q.astype(np.float32)
    return (gain * v / np.sqrt(q + np.float32(eps)) + bias).astype(z.dtype)


def annotated(z, gain, bias, eps):
    """Two mistakes in one: the standard deviation with d - 1, and eps added to it."""
    std = z.std(axis=-1, ddof=min(1, z.shape[-1] - 1), keepdims=True)
    return gain * (z - mean(z)) / (std + z.dtype.type(eps)) + bias


def rms_norm_with_stored_gain(z, gain, bias, eps):
    return rms_norm(z, 1 + gain, bias, eps)


def clamped_and_without_bias(z, gain, bias, eps):
    return larger_of_variance_and_eps(z, gain, np.zeros_like(bias), eps)


TWO_MISTAKES = [
    (annotated, {"the variance is divided by d - 1, not d (but by 1 where d is 1)", "eps is outside the root"}),
    (rms_norm_with_stored_gain, {"not centred, as in RMSNorm", "the stored gain is taken for gain - 1"}),
    (clamped_and_without_bias, {"max(q, eps) in place of q + eps", "the bias is dropped"}),
]

FORWARD = [  # the function, the dtype that shows its mistake, the words that must name it
    (divisor_d_minus_1, "float32", "the variance is divided by d - 1, not d"),
    (divisor_d_minus_1, "float64", "the variance is divided by d - 1, not d"),
    (eps_outside_the_root, "float32", "eps is outside the root"),
    (larger_of_variance_and_eps, "float32", "max(q, eps) in place of q + eps"),
    (eps_squared, "float32", "eps is squared"),
    (eps_missing, "float32", "eps is missing"),
    (eps_in_half_precision, "float16", "eps is rounded to zero in half precision"),
    (eps_in_half_precision, "float32", "eps is rounded to zero in half precision"),
    (eps_in_single_precision, "float64", "eps is rounded to single precision"),
    (mean_of_squares_minus_square_of_mean, "float32", "the variance is computed as E[z^2] - E[z]^2"),
    (mean_of_squares_minus_square_of_mean, "float64", "the variance is computed as E[z^2] - E[z]^2"),
    (clamped_mean_of_squares_minus_square_of_mean, "float32", "the variance is computed as E[z^2] - E[z]^2"),
    (cancelling_below_zero, "float64", "the variance is computed as E[z^2] - E[z]^2"),
    (rms_norm, "float32", "not centred, as in RMSNorm"),
    (numerator_not_centred, "float32", "not centred, as in RMSNorm"),
    (gain_stored_less_one, "float32", "the stored gain is taken for gain - 1"),
    (gain_dropped, "float32", "the gain is dropped"),
    (bias_dropped, "float32", "the bias is dropped"),
    (gain_and_bias_swapped, "float32", "gain and bias are swapped"),
    (gain_on_the_wrong_axis, "float32", "the gain is on the wrong axis"),
    (bias_on_the_wrong_axis, "float32", "the bias is on the wrong axis"),
    (gain_and_bias_dropped, "float32", "gain and bias are dropped"),
    (bias_added_first, "float32", "the bias is added before the gain multiplies"),
    (bias_subtracted, "float32", "the bias is subtracted"),
    (gain_and_bias_on_the_wrong_axis, "float32", "gain and bias are on the wrong axis"),
    (normalized_over_all_axes, "float32", "normalized over the wrong axes (all of them)"),
    (normalized_over_all_but_the_first_axis, "float32", "normalized over the wrong axes (all but the first)"),
    (normalized_over_the_rows, "float32", "normalized over the wrong axes (the first)"),
    (padding_counted, "float32", "padding is counted in the mean or the variance (rows padded to a multiple of 8)"),
    (padding_counted_in_the_variance, "float32", "padding is counted in the mean or the variance"),
    (padding_counted_in_the_divisor, "float32", "padding is counted in the mean or the variance"),
    (mean_of_the_row_after, "float32", "rows are mixed (the mean of the row after)"),
    (statistics_of_the_first_row, "float32", "rows are mixed (mean and variance of the first row)"),
    (variance_of_the_row_before, "float32", "rows are mixed (the variance of the row before)"),
    (statistics_in_half_precision, "float32", "the statistics are computed in half precision"),
    (statistics_in_half_precision, "float64", "the statistics are computed in half precision"),
    (statistics_in_half_precision, "float16", "the statistics are computed in half precision"),
]


def parts(z, gain, eps, g):
    """What every gradient is made of: gain * g, the core and 1 / sqrt(q + eps)."""
    v = z - mean(z)
    inverse = 1 / np.sqrt(mean(v**2) + z.dtype.type(eps))
    return gain * g, v * inverse, inverse


def over_positions(a):
    return a.sum(axis=tuple(range(a.ndim - 1)))


def right_vjp(z, gain, bias, eps, g):
    h, u, inverse = parts(z, gain, eps, g)
    return (h - mean(h) - u * mean(h * u)) * inverse, over_positions(g * u), over_positions(g)


def without_the_mean_terms(z, gain, bias, eps, g):
    h, u, inverse = parts(z, gain, eps, g)
    return h * inverse, over_positions(g * u), over_positions(g)


def without_the_mean_of_g(z, gain, bias, eps, g):
    h, u, inverse = parts(z, gain, eps, g)
    return (h - u * mean(h * u)) * inverse, over_positions(g * u), over_positions(g)


def without_the_derivative_of_the_variance(z, gain, bias, eps, g):
    h, u, inverse = parts(z, gain, eps, g)
    return (h - mean(h)) * inverse, over_positions(g * u), over_positions(g)


def mean_of_g_subtracted_twice(z, gain, bias, eps, g):
    h, u, inverse = parts(z, gain, eps, g)
    return (h - 2 * mean(h) - u * mean(h * u)) * inverse, over_positions(g * u), over_positions(g)


def other_mean_term_subtracted_twice(z, gain, bias, eps, g):
    h, u, inverse = parts(z, gain, eps, g)
    return (h - mean(h) - 2 * u * mean(h * u)) * inverse, over_positions(g * u), over_positions(g)


def without_gain(z, gain, bias, eps, g):
    dz, _, _ = right_vjp(z, np.ones_like(gain), bias, eps, g)
    return dz, *right_vjp(z, gain, bias, eps, g)[1:]


def not_divided(z, gain, bias, eps, g):
    h, u, _ = parts(z, gain, eps, g)
    return h - mean(h) - u * mean(h * u), over_positions(g * u), over_positions(g)


def parameters_of_the_first_position(z, gain, bias, eps, g):
    _, u, _ = parts(z, gain, eps, g)
    dz, _, _ = right_vjp(z, gain, bias, eps, g)
    return dz, (g * u).reshape(-1, g.shape[-1])[0], g.reshape(-1, g.shape[-1])[0]


def parameters_swapped(z, gain, bias, eps, g):
    dz, dgain, dbias = right_vjp(z, gain, bias, eps, g)
    return dz, dbias, dgain


def parameters_averaged(z, gain, bias, eps, g):
    dz, dgain, dbias = right_vjp(z, gain, bias, eps, g)
    positions = z.dtype.type(g.size // g.shape[-1])
    return dz, dgain / positions, dbias / positions


def gradient_with_divisor_d_minus_1(z, gain, bias, eps, g):
    """The backward pass of another layer than the forward pass."""
    d = z.shape[-1]
    v = z - mean(z)
    inverse = 1 / np.sqrt((v**2).sum(axis=-1, keepdims=True) / z.dtype.type(d - 1) + z.dtype.type(eps))
    h, u = gain * g, v * inverse
    dz = (h - mean(h) - u * (h * u).sum(axis=-1, keepdims=True) / z.dtype.type(d - 1)) * inverse
    return dz, over_positions(g * u), over_positions(g)


def gradient_over_the_first_axis(z, gain, bias, eps, g):
    v = z - z.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((v**2).mean(axis=0, keepdims=True) + z.dtype.type(eps))
    h, u = gain * g, v * inverse
    dz = (h - h.mean(axis=0, keepdims=True) - u * (h * u).mean(axis=0, keepdims=True)) * inverse
    return dz, over_positions(g * u), over_positions(g)


def sums_in_half_precision(z, gain, bias, eps, g):
    dz, dgain, _ = right_vjp(z, gain, bias, eps, g)
    rows = g.reshape(-1, g.shape[-1]).astype(np.float16)
    return dz, dgain, np.add.reduce(rows, axis=0, dtype=np.float16).astype(z.dtype)


def sums_in_bfloat16(z, gain, bias, eps, g):
    dz, dgain, _ = right_vjp(z, gain, bias, eps, g)
    rows = g.reshape(-1, g.shape[-1]).astype(ml_dtypes.bfloat16)
    return dz, dgain, np.add.reduce(rows, axis=0, dtype=rows.dtype).astype(z.dtype)


GRADIENT = [
    (without_the_mean_terms, "the gradient by the input lacks both mean terms"),
    (without_the_mean_of_g, "the gradient by the input lacks the term mean(gain * g)"),
    (without_the_derivative_of_the_variance, "the gradient by the input lacks the term u mean(gain * g * u)"),
    (mean_of_g_subtracted_twice, "the gradient by the input subtracts a mean term twice (mean(gain * g))"),
    (other_mean_term_subtracted_twice, "the gradient by the input subtracts a mean term twice (u mean(gain * g * u))"),
    (without_gain, "the gradient by the input lacks the gain"),
    (not_divided, "the gradient by the input is not divided by sqrt(q + eps)"),
    (parameters_of_the_first_position, "the parameter gradients are those of one position (the first)"),
    (parameters_swapped, "the gradients by gain and bias are swapped"),
    (parameters_averaged, "the parameter gradients are averaged over positions, not summed"),
    (sums_in_bfloat16, "the sums over positions are kept in half precision"),
    (sums_in_half_precision, "the sums over positions are kept in half precision"),
    (
        gradient_over_the_first_axis,
        "the gradient is that of another layer: normalized over the wrong axes (the first)",
    ),
    (gradient_with_divisor_d_minus_1, "the gradient is that of another layer: the variance is divided by d - 1"),
]

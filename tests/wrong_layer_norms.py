"""Layer norms, each with one mistake in its formula that people make. lnbook.conformance must name every one."""

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


def annotated(z, gain, bias, eps):
    """Two mistakes in one: the standard deviation with d - 1, and eps added to it."""
    std = z.std(axis=-1, ddof=min(1, z.shape[-1] - 1), keepdims=True)
    return gain * (z - mean(z)) / (std + z.dtype.type(eps)) + bias


def rms_norm_with_stored_gain(z, gain, bias, eps):
    return rms_norm(z, 1 + gain, bias, eps)


def clamped_and_without_bias(z, gain, bias, eps):
    return larger_of_variance_and_eps(z, gain, np.zeros_like(bias), eps)


def eps_hard_coded(z, gain, bias, eps):
    return right(z, gain, bias, 1e-5)


def eps_hard_coded_tiny(z, gain, bias, eps):
    return right(z, gain, bias, 1e-12)


def eps_after_a_rescale(z, gain, bias, eps):
    v = z - mean(z)
    size = np.abs(v).max(axis=-1, keepdims=True)
    scale = np.where(size > 0, size, z.dtype.type(1))
    return right(v / scale, gain, bias, eps)


def eps_before_the_division(z, gain, bias, eps):
    v = z - mean(z)
    return (
        gain * v / np.sqrt(((v**2).sum(axis=-1, keepdims=True) + z.dtype.type(eps)) / z.dtype.type(z.shape[-1])) + bias
    )


def eps_to_a_sum(z, gain, bias, eps):
    v, d = z - mean(z), z.dtype.type(z.shape[-1])
    return gain * v * np.sqrt(d) / np.sqrt((v**2).sum(axis=-1, keepdims=True) + d * d * z.dtype.type(eps)) + bias


def mean_without_its_axis(z, gain, bias, eps):
    v = z - z.mean(axis=-1)
    return gain * v / np.sqrt(mean(v**2) + z.dtype.type(eps)) + bias


def variance_without_its_axis(z, gain, bias, eps):
    return gain * (z - mean(z)) / np.sqrt(z.var(axis=-1) + z.dtype.type(eps)) + bias


def both_without_their_axis(z, gain, bias, eps):
    return gain * (z - z.mean(axis=-1)) / np.sqrt(z.var(axis=-1) + z.dtype.type(eps)) + bias


def with_sums(z, gain, bias, eps, total):
    d = z.dtype.type(z.shape[-1])
    v = z - total(z) / d
    return gain * v / np.sqrt(total(v * v) / d + z.dtype.type(eps)) + bias


def three_warps_in_pairs(z, gain, bias, eps):
    """As a butterfly of shuffles adds the sums of warps: the first takes those at distances 2^k only."""

    def total(a):
        warps = [a[..., i : i + 32].sum(axis=-1, keepdims=True) for i in range(0, a.shape[-1], 32)]
        step = len(warps) >> 1
        while step:
            warps = [w + warps[i ^ step] if i ^ step < len(warps) else w for i, w in enumerate(warps)]
            step >>= 1
        return warps[0]

    return with_sums(z, gain, bias, eps, total)


def tree_of_an_odd_number(z, gain, bias, eps):
    def total(a):
        a, n = a.copy(), a.shape[-1]
        while n > 1:
            half = n // 2
            a[..., :half] += a[..., half : 2 * half]
            n = half
        return a[..., :1]

    return with_sums(z, gain, bias, eps, total)


def last_entries_left_out(z, gain, bias, eps):
    """A loop over whole vectors of 4, without one over the rest."""
    return with_sums(z, gain, bias, eps, lambda a: a[..., : a.shape[-1] // 4 * 4].sum(axis=-1, keepdims=True))


def last_positions_left_out(z, gain, bias, eps):
    """A grid of n // 16 blocks, or of one."""
    y = right(z, gain, bias, eps).reshape(-1, z.shape[-1])
    y[max(len(y) // 16 * 16, 16) :] = 0
    return y.reshape(z.shape)


def stored_gain_lacks_one(z, gain, bias, eps):
    return right(z, gain - 1, bias, eps)


def first_gain_for_all(z, gain, bias, eps):
    return right(z, gain[:1], bias, eps)


def squares_summed(z, gain, bias, eps):
    v = z - mean(z)
    return gain * v / np.sqrt((v**2).sum(axis=-1, keepdims=True) + z.dtype.type(eps)) + bias


def mean_deviation(z, gain, bias, eps):
    v = z - mean(z)
    return gain * v / (mean(np.abs(v)) + z.dtype.type(eps)) + bias


def root_missing(z, gain, bias, eps):
    return gain * (z - mean(z)) / (z.var(axis=-1, keepdims=True) + z.dtype.type(eps)) + bias


def root_of_the_deviation(z, gain, bias, eps):
    return gain * (z - mean(z)) / np.sqrt(z.std(axis=-1, keepdims=True) + z.dtype.type(eps)) + bias


def multiplied_by_the_root(z, gain, bias, eps):
    return gain * (z - mean(z)) * np.sqrt(z.var(axis=-1, keepdims=True) + z.dtype.type(eps)) + bias


def eps_inside_and_outside(z, gain, bias, eps):
    small = z.dtype.type(eps)
    return gain * (z - mean(z)) / (np.sqrt(z.var(axis=-1, keepdims=True) + small) + small) + bias


def affine_twice(z, gain, bias, eps):
    return gain * right(z, gain, bias, eps) + bias


def gain_twice(z, gain, bias, eps):
    return right(z, gain * gain, bias, eps)


def with_a_residual(z, gain, bias, eps):
    return z + right(z, gain, bias, eps)


def stored_statistics(z, gain, bias, eps):
    return gain * z / np.sqrt(z.dtype.type(1) + z.dtype.type(eps)) + bias


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
    (eps_in_half_precision, "float16", "eps is rounded to half precision, in which a small one is zero"),
    (eps_in_half_precision, "float32", "eps is rounded to half precision, in which a small one is zero"),
    (eps_in_single_precision, "float64", "eps is rounded to single precision"),
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
    (eps_hard_coded, "float32", "eps is hard-coded (1e-05)"),
    (eps_hard_coded_tiny, "float64", "eps is hard-coded (1e-12)"),
    (eps_after_a_rescale, "float32", "eps is added after z was divided by a scale (by max|z - mean|)"),
    (eps_before_the_division, "float32", "eps is added to a sum, not to a mean of squares (divided by d"),
    (eps_to_a_sum, "float32", "eps is added to a sum, not to a mean of squares (to a sum"),
    (
        mean_without_its_axis,
        "float32",
        "mean or variance has lost its axis, and is spread along the wrong one (the mean)",
    ),
    (
        variance_without_its_axis,
        "float32",
        "mean or variance has lost its axis, and is spread along the wrong one (the variance)",
    ),
    (
        both_without_their_axis,
        "float32",
        "mean or variance has lost its axis, and is spread along the wrong one (mean and variance)",
    ),
    (three_warps_in_pairs, "float32", "partial sums are added in pairs, although they are no power of two (sums of 32"),
    (tree_of_an_odd_number, "float32", "partial sums are added in pairs, although they are no power of two (the upper"),
    (last_entries_left_out, "float32", "the sums over a row leave entries out (whole blocks of 4; the sum of mean and"),
    (last_positions_left_out, "float32", "the last positions are not computed (only whole blocks of 16, at least one)"),
    (stored_gain_lacks_one, "float32", "1 is missing: the gain is stored less 1"),
    (first_gain_for_all, "float32", "one entry of gain or bias is used for all (the first gain)"),
    (squares_summed, "float32", "the squares are summed, not averaged"),
    (mean_deviation, "float32", "the mean of |v| stands for the root of the variance (with eps outside the root)"),
    (root_missing, "float32", "the root is missing"),
    (root_of_the_deviation, "float32", "the root is taken twice (eps is added to the first)"),
    (multiplied_by_the_root, "float32", "v is multiplied by the root, not divided by it"),
    (eps_inside_and_outside, "float32", "eps is outside the root (and inside as well)"),
    (affine_twice, "float32", "gain or bias is applied twice (both)"),
    (gain_twice, "float32", "gain or bias is applied twice (the gain)"),
    (with_a_residual, "float32", "z is added to the output"),
    (stored_statistics, "float32", "mean and variance are not those of the row, but 0 and 1"),
]

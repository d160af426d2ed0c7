"""Layer norms whose formula is right, which lose digits or disturb the memory. lnbook.conformance must name each."""

from functools import partial

import ml_dtypes
import numpy as np
from wrong_layer_norms import mean, right


def mean_of_squares_minus_square_of_mean(z, gain, bias, eps):
    q = mean(z * z) - mean(z) ** 2
    return gain * (z - mean(z)) / np.sqrt(q + z.dtype.type(eps)) + bias


def clamped_mean_of_squares_minus_square_of_mean(z, gain, bias, eps):
    q = np.maximum(mean(z * z) - mean(z) ** 2, 0)
    return gain * (z - mean(z)) / np.sqrt(q + z.dtype.type(eps)) + bias


def cancelling_below_zero_and_clamped(z, gain, bias, eps):
    """Where the offset is large the variance comes out below 0 and is put to 0, as in Flax."""
    lost = np.finfo(z.dtype).eps * mean(z) ** 2
    q = np.maximum(mean(z * z) - mean(z) ** 2 - lost, 0)
    return gain * (z - mean(z)) / np.sqrt(q + z.dtype.type(eps)) + bias


def cancelling_below_zero(z, gain, bias, eps):
    lost = z.dtype.type(z.shape[-1] / 64) * np.finfo(z.dtype).eps * mean(z) ** 2
    q = mean(z * z) - mean(z) ** 2 - lost
    return gain * (z - mean(z)) / np.sqrt(q + z.dtype.type(eps)) + bias


def statistics_in_half_precision(z, gain, bias, eps):
    half = z.astype(np.float16)
    d = np.float16(z.shape[-1])
    m = np.add.reduce(half, axis=-1, dtype=np.float16, keepdims=True) / d
    q = np.add.reduce((half - m) ** 2, axis=-1, dtype=np.float16, keepdims=True) / d
    v, q = z.astype(np.float32) - m, q.astype(np.float32)
    return (gain * v / np.sqrt(q + np.float32(eps)) + bias).astype(z.dtype)


def welford(z, gain, bias, eps):
    """Mean and squares by Welford's recurrence, entry by entry."""
    running = np.zeros_like(z[..., :1])
    squares = np.zeros_like(running)
    for i in range(z.shape[-1]):
        x = z[..., i : i + 1]
        step = x - running
        running = running + step / z.dtype.type(i + 1)
        squares = squares + step * (x - running)
    return gain * (z - running) / np.sqrt(squares / z.dtype.type(z.shape[-1]) + z.dtype.type(eps)) + bias


def running_sum(z, gain, bias, eps):
    total = np.zeros_like(z[..., :1])
    for i in range(z.shape[-1]):
        total = total + z[..., i : i + 1]
    v = z - total / z.dtype.type(z.shape[-1])
    return gain * v / np.sqrt(mean(v * v) + z.dtype.type(eps)) + bias


def input_cast(z, gain, bias, eps, form):
    return right(z.astype(form).astype(z.dtype), gain, bias, eps)


def core_cast(z, gain, bias, eps, form):
    return gain * right(z, np.ones_like(gain), np.zeros_like(bias), eps).astype(form).astype(z.dtype) + bias


def output_cast(z, gain, bias, eps, form):
    return right(z, gain, bias, eps).astype(form).astype(z.dtype)


def saved_root_cast(z, gain, bias, eps, form):
    v = z - mean(z)
    inverse = 1 / np.sqrt(mean(v * v) + z.dtype.type(eps))
    return gain * v * inverse.astype(form).astype(z.dtype) + bias


def single_inside(z, gain, bias, eps):
    return right(*(a.astype(np.float32) for a in (z, gain, bias)), eps).astype(z.dtype)


def newton_root(z, gain, bias, eps):
    """1 / sqrt(q + eps) by the well-known bits of a float32, and one Newton step: relative errors up to 1.8e-3."""
    v = z.astype(np.float32) - mean(z.astype(np.float32))
    x = mean(v * v) + np.float32(eps)
    guess = (np.int32(0x5F3759DF) - (x.view(np.int32) >> 1)).view(np.float32)
    guess = guess * (np.float32(1.5) - np.float32(0.5) * x * guess * guess)
    return (gain * (v * guess) + bias).astype(z.dtype)


def strides_ignored(z, gain, bias, eps):
    return right(in_memory_order(z), gain, bias, eps)


def parameter_strides_ignored(z, gain, bias, eps):
    return right(z, in_memory_order(gain), in_memory_order(bias), eps)


def statistics_with_the_stride_only(z, gain, bias, eps):
    """Case C02: the numerator is read in the order of memory."""
    v = in_memory_order(z) - mean(z)
    return gain * v / np.sqrt(z.var(axis=-1, keepdims=True) + z.dtype.type(eps)) + bias


def in_memory_order(a):
    """As many numbers as there are, read one after the other from the first on; what lies beyond is 0."""
    if a.flags.c_contiguous:
        return a
    base = a
    while isinstance(base.base, np.ndarray):
        base = base.base
    start = (a.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // a.itemsize
    beyond = np.zeros(a.size, a.dtype)
    return np.concatenate([base.ravel()[start : start + a.size], beyond])[: a.size].reshape(a.shape)


def centred_in_place(z, gain, bias, eps):
    z -= mean(z)
    return gain * z / np.sqrt(mean(z * z) + z.dtype.type(eps)) + bias


def one_buffer(z, gain, bias, eps, buffers={}):  # noqa: B006, the buffer is what is wrong
    y = buffers.setdefault((z.shape, z.dtype), np.empty_like(z, order="C"))
    y[...] = right(z, gain, bias, eps)
    return y


def wrong_from_65536_on(z, gain, bias, eps):
    """Case C08: the index of a position has 16 bits."""
    y = right(z, gain, bias, eps).reshape(-1, z.shape[-1])
    y[65536:] = bias
    return y.reshape(z.shape)


CANCELS = "the variance is computed as E[z^2] - E[z]^2"
RUNS = "the mean is kept entry by entry, in a running sum or by Welford's recurrence"
HALF = "the statistics are computed in half precision"
CAST = "z is rounded to a narrower format first"
OVERFLOWS = "the squares leave the range of the dtype"

DIGITS = [  # the function, the dtype that shows its mistake, the words that must name it
    (mean_of_squares_minus_square_of_mean, "float32", CANCELS),
    (mean_of_squares_minus_square_of_mean, "float64", CANCELS),
    (clamped_mean_of_squares_minus_square_of_mean, "float32", CANCELS),
    (clamped_mean_of_squares_minus_square_of_mean, "float64", CANCELS),
    (cancelling_below_zero, "float64", CANCELS),
    (cancelling_below_zero_and_clamped, "float32", CANCELS),
    (welford, "float32", RUNS),
    (welford, "float64", RUNS),
    (statistics_in_half_precision, "float32", HALF),
    (statistics_in_half_precision, "float64", HALF),
    (statistics_in_half_precision, "float16", HALF),
    (partial(input_cast, form=np.float16), "float32", f"{CAST} (float16)"),
    (partial(input_cast, form=np.float16), "float64", f"{CAST} (float16)"),
    (partial(input_cast, form=ml_dtypes.bfloat16), "float32", f"{CAST} (bfloat16)"),
    (partial(input_cast, form=np.float32), "float64", f"{CAST} (float32)"),
    (
        partial(core_cast, form=np.float16),
        "float32",
        "the core is rounded to a narrower format before the gain multiplies (float16)",
    ),
    (
        partial(core_cast, form=ml_dtypes.bfloat16),
        "float32",
        "the core is rounded to a narrower format before the gain multiplies (bfloat16)",
    ),
    (partial(output_cast, form=np.float16), "float32", "the output is rounded to a narrower format (float16)"),
    (partial(output_cast, form=np.float32), "float64", "the output is rounded to a narrower format (float32)"),
    (
        partial(saved_root_cast, form=np.float16),
        "float32",
        "q + eps or its root is rounded to a narrower format (float16)",
    ),
    (single_inside, "float64", "the layer computes in single precision inside"),
    (newton_root, "float32", "1 / sqrt(q + eps) is an approximation (relative errors up to 1."),
    (right, "float32", OVERFLOWS),
    (right, "float64", OVERFLOWS),
]

MEMORY = [
    (strides_ignored, "an array that is not contiguous is misread (z permuted, z reversed, z strided)"),
    (parameter_strides_ignored, "an array that is not contiguous is misread (bias strided, gain strided)"),
    (statistics_with_the_stride_only, "an array that is not contiguous is misread (z permuted, z reversed, z strided)"),
    (centred_in_place, "an argument is written over (z)"),
    (one_buffer, "the output is written over by the next call"),
]

"""The forward pass: centre, divide, stretch, move."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnbook._rows import Rows, check_defined, check_eps, kernels, scaled, scaled_layer_norm

Axis = int | tuple[int, ...]


def center(z: ArrayLike, *, axis: Axis = -1) -> NDArray:
    """The centred vector v = z - mean(z).

    Parameters
    ----------
    z : array of float16, bfloat16, float32, float64 or integers, any shape
    axis : int or tuple of ints
        The axes that are normalized together; d is the number of entries along them.

    Returns
    -------
    array of the shape and dtype of z (float64 for integers)

    Raises
    ------
    TypeError
        z is complex, boolean, masked or not numeric; axis holds something else than ints.
    ValueError
        z is a single number or has no entry along axis, or an integer that float64 does not hold; an axis is out of
        range or named twice.

    Notes
    -----
    Error at most 0.51 units in every format, at every offset and magnitude; one unit is eps(dtype) max|v|, or the
    smallest subnormal number where that is larger. Proved up to 2^20 entries: the mean is a pair of float64 that is
    right to 2^-40 units (`lnbook._kernels` says why), and v is rounded once. Facts: def-projection, shift-steps,
    shift-kernel.
    """
    rows = Rows(z, axis)
    out = np.empty((rows.n, rows.d), rows.dtype)

    def centred(z, v):
        _centred(z, v, np.empty(len(z)), rows.work())

    rows.each_part(lambda part: rows.run(centred, rows.values[part], out[part]))
    return rows.restore(out)


def variance(z: ArrayLike, *, axis: Axis = -1) -> NDArray:
    """The coordinate variance q = |v|^2 / d, with the divisor d, never d - 1.

    Parameters
    ----------
    z : array of float16, bfloat16, float32, float64 or integers, any shape
    axis : int or tuple of ints

    Returns
    -------
    array of the shape of z without the normalized axes, of the dtype of z (float64 for integers)
        Infinite where q is larger than the dtype can hold (in float16 from 65520 on); `normalize` is right even there.

    Raises
    ------
    TypeError, ValueError
        As `center`.

    Notes
    -----
    Error at most 0.51 units of q, proved as for `center`. Facts: def-output, eps-variance, shift-steps.
    """
    rows = Rows(z, axis)
    q = np.empty((rows.n, 1), rows.dtype)

    def squared(z, q):
        _centred(z, None, q.reshape(-1), rows.work())

    rows.each_part(lambda part: rows.run(squared, rows.values[part], q[part]))
    return q.reshape(rows.kept)


def normalize(z: ArrayLike, *, eps: float = 1e-5, axis: Axis = -1) -> NDArray:
    """The core u = v / sqrt(q + eps): centred, then divided, with eps inside the root.

    Parameters
    ----------
    z : array of float16, bfloat16, float32, float64 or integers, any shape
    eps : float
        Finite and not negative; 0 only where no row is constant.
    axis : int or tuple of ints

    Returns
    -------
    array of the shape and dtype of z (float64 for integers)

    Raises
    ------
    TypeError
        As `center`; eps is not one real number.
    ValueError
        As `center`; eps is negative or not finite; eps is 0 and a row is constant.

    Notes
    -----
    Error at most 0.51 units in every format, for every finite row, at any offset and magnitude; one unit is
    eps(dtype) max|u|, or the smallest subnormal number where that is larger. Proved up to 2^20 entries: mean, variance
    and 1 / sqrt(q + eps) are pairs of float64 (in float16, bfloat16 and float32 single ones), and u is rounded once.
    NaN or infinity in a row makes that row NaN, silently, and no other. A row's result does not depend on the rows
    around it, on the processor or on the number of threads, not even in its last bit.

    Facts: def-core-mean, eps-variance, eps-scaling, shift-exact. Source: Ba, Kiros and Hinton (2016), equation 3, with
    eps as in the PyTorch documentation of LayerNorm.
    """
    return layer_norm(z, eps=eps, axis=axis)


def layer_norm(
    z: ArrayLike, gain: ArrayLike | None = None, bias: ArrayLike | None = None, *, eps: float = 1e-5, axis: Axis = -1
) -> NDArray:
    """Layer normalization y = gain * u + bias, with the core u = v / sqrt(q + eps).

    Parameters
    ----------
    z : array of float16, bfloat16, float32, float64 or integers, any shape
    gain, bias : array of the shape of the normalized axes, or None
        The normalized axes in the order in which z has them. None means gain 1 and bias 0. The dtype of z decides.
    eps : float
        Finite and not negative; 0 only where no row is constant.
    axis : int or tuple of ints

    Returns
    -------
    array of the shape and dtype of z (float64 for integers)

    Raises
    ------
    TypeError, ValueError
        As `normalize`; gain or bias is not numeric or has another shape than the normalized axes.

    Notes
    -----
    Error at most 2 units in float64, whose core, product and sum are rounded, and 0.51 units in the other formats,
    proved as for `normalize`. One unit is eps(dtype) (max|gain| max|u| + max|bias|), or, where that is larger,
    max(1, max|gain|) smallest subnormal numbers. The rest as in `normalize`.

    Facts: def-output, bias-offset, gain-multiplier, eps-constant-input. Source: Ba, Kiros and Hinton (2016).
    """
    return _layer(z, gain, bias, eps, axis, centred=True)


def rms_norm(z: ArrayLike, gain: ArrayLike | None = None, *, eps: float = 1e-5, axis: Axis = -1) -> NDArray:
    """RMSNorm, y = gain * z / sqrt(mean(z^2) + eps): what is left of the layer where the mean is taken for 0.

    Parameters
    ----------
    z, gain, eps, axis
        As for `layer_norm`.

    Returns
    -------
    array of the shape and dtype of z (float64 for integers)

    Raises
    ------
    TypeError, ValueError
        As `layer_norm`; a row of zeros takes the place of a constant one.

    Notes
    -----
    The same loops with mean 0, and the same units. Facts: rms-facts, rms-relation. Source: Zhang and Sennrich (2019).
    """
    return _layer(z, gain, None, eps, axis, centred=False)


def _layer(z, gain, bias, eps, axis, centred):
    eps = check_eps(eps)
    rows = Rows(z, axis)
    gain, bias = rows.parameter("gain", gain), rows.parameter("bias", bias)
    out = np.empty((rows.n, rows.d), rows.dtype)

    def normalized(z, y):
        state, work = np.empty(len(z), np.int8), rows.work()
        worst = kernels().layer_norm(z, gain, bias, eps, centred, work, y, state)
        check_defined(worst != kernels().UNDEFINED)
        if worst == kernels().EXTREME:
            for i in np.flatnonzero(state):
                scaled_layer_norm(z[i : i + 1], gain, bias, eps, centred, work, y[i : i + 1])

    rows.each_part(lambda part: rows.run(normalized, rows.values[part], out[part]))
    return rows.restore(out)


def _centred(z, v, q, work):
    """Write z - mean(z), unless v is None, and q: (n, d) -> (n, d), (n,)"""
    state = np.empty(len(z), np.int8)
    if kernels().center(z, True, work, v, q, state) == kernels().EXTREME:
        for i in np.flatnonzero(state):
            x, scale = scaled(z[i : i + 1])  # (1, d), (1,)
            kernels().center(x, True, work, None if v is None else v[i : i + 1], q[i : i + 1], state[:1])
            q[i] = np.ldexp(q[i], 2 * scale[0])
            if v is not None:
                v[i] = np.ldexp(v[i], scale[0])

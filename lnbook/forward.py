"""The forward pass: centre, divide, stretch, move."""

import numpy as np

from lnbook import _kernels
from lnbook._rows import Rows, check_defined, check_eps, core_rows, row_mean, scaled_center_rows


def center(z, *, axis=-1):
    """The centred vector v = z - mean(z).

    Parameters
    ----------
    z : array of float16, float32, float64 or integers, any shape
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
        z is a single number or has no entry along axis; an axis is out of range or named twice.

    Notes
    -----
    Centred twice in float64 (fact recentre-twice), so that the error is at most one unit in the last place of max|v| at
    every offset; 0.51 units in float16 and float32. Facts: def-projection, shift-steps, shift-kernel.
    """
    rows = Rows(z, axis)
    out = np.empty((rows.n, rows.d), rows.dtype)
    for _, z, result in rows.blocks(out):
        v, scale = scaled_center_rows(z)  # (rows, d), (rows,)
        with np.errstate(over="ignore"):
            result[...] = np.ldexp(v, scale[:, None])
    return rows.restore(out)


def variance(z, *, axis=-1):
    """The coordinate variance q = |v|^2 / d, with the divisor d, never d - 1.

    Parameters
    ----------
    z : array of float16, float32, float64 or integers, any shape
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
    Error at most 4 units in the last place, 0.51 in float16 and float32. Facts: def-output, eps-variance, shift-steps.
    """
    rows = Rows(z, axis)
    q = np.empty(rows.n)
    for part in rows.parts():
        v, scale = scaled_center_rows(rows.values[part])  # (rows, d), (rows,)
        with np.errstate(over="ignore"):
            q[part] = np.ldexp(row_mean(v, v), 2 * scale)
    return rows.reduced(q)


def normalize(z, *, eps=1e-5, axis=-1):
    """The core u = v / sqrt(q + eps): centred, then divided, with eps inside the root.

    Parameters
    ----------
    z : array of float16, float32, float64 or integers, any shape
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
    Error at most 2 units in float64 and 0.51 units in float16 and float32, which are computed in float64, for every
    finite row, at any offset and magnitude; one unit is eps(dtype) max|u|. NaN or infinity in a row makes that row NaN,
    silently, and no other. A row's result does not depend on the rows around it, not even in its last bit.

    Facts: def-core-mean, eps-variance, eps-scaling, shift-exact. Source: Ba, Kiros and Hinton (2016), equation 3, with
    eps as in the PyTorch documentation of LayerNorm.
    """
    return layer_norm(z, eps=eps, axis=axis)


def layer_norm(z, gain=None, bias=None, *, eps=1e-5, axis=-1):
    """Layer normalization y = gain * u + bias, with the core u = v / sqrt(q + eps).

    Parameters
    ----------
    z : array of float16, float32, float64 or integers, any shape
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
    Error as in `normalize`, where one unit is eps(dtype) max_i(|gain_i u_i| + |bias_i|); the rest as there too.

    Facts: def-output, bias-offset, gain-multiplier, eps-constant-input. Source: Ba, Kiros and Hinton (2016).
    """
    eps = check_eps(eps)
    rows = Rows(z, axis)
    gain, bias = rows.parameter("gain", gain), rows.parameter("bias", bias)
    out = np.empty((rows.n, rows.d), rows.dtype)
    for _, z, y in rows.blocks(out):
        if rows.work == np.float32:
            check_defined(_kernels.layer_norm(z, gain, bias, eps, y))
            continue
        core_rows(z, eps, out=y)  # (rows, d)
        with np.errstate(all="ignore"):
            if gain is not None:
                y *= gain
            if bias is not None:
                y += bias
    return rows.restore(out)

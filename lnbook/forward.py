"""The forward pass: centre, divide, stretch, move."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnbook._rows import Rows, check_defined, check_eps, kernels

Axis = int | tuple[int, ...]
Param = ArrayLike | None  # gain or bias


def layer_norm(z: ArrayLike, gain: Param = None, bias: Param = None, *, eps: float = 1e-5, axis: Axis = -1) -> NDArray:
    """Layer normalization y = gain * u + bias, with the core u = v / sqrt(q + eps), v = z - mean(z), q = mean(v^2).

    Parameters
    ----------
    z : array of float16, bfloat16 (of ml_dtypes), float32, float64 or integers, any shape
    gain, bias : array of the shape of the normalized axes, in the order in which z has them, or None
        None means gain 1 and bias 0.
    eps : float
        Finite and not negative; 0 only where no row is constant.
    axis : int or tuple of ints
        The axes that are normalized together; d is the number of entries along them.

    Returns
    -------
    array of the shape and dtype of z (float64 for integers)

    Raises
    ------
    TypeError, ValueError
        z, gain or bias is complex, boolean, masked or not numeric, holds an integer that float64 does not hold, or has
        another shape; axis or eps is none of the above; eps is 0 and a row is constant. The message names the argument.

    Notes
    -----
    One unit is eps(dtype) (max|gain| max|u| + max|bias|), or max(1, max|gain|) times the smallest subnormal number
    where that is larger. Error at most 0.51 units, in float64 2, for every finite row at any offset and magnitude,
    proved up to 2^20 entries in `lnbook._kernels`. NaN or infinity in a row makes that row NaN, silently, and no other.
    A row's result depends neither on the rows around it nor on the processor or the number of threads, in no bit.

    Facts: def-output, bias-offset, gain-multiplier, eps-constant-input. Source: Ba, Kiros and Hinton (2016),
    equation 3, with eps as in the PyTorch documentation of LayerNorm.
    """
    return _layer(z, gain, bias, eps, axis, centred=True)


def normalize(z: ArrayLike, *, eps: float = 1e-5, axis: Axis = -1) -> NDArray:
    """The core u = v / sqrt(q + eps): centred, then divided, with eps inside the root.

    z, eps, axis, the result and the errors are as for `layer_norm`. Error at most 0.51 units in every format, proved as
    there. Facts: def-core-mean, eps-variance, eps-scaling, shift-exact.
    """
    return layer_norm(z, eps=eps, axis=axis)


def rms_norm(z: ArrayLike, gain: Param = None, *, eps: float = 1e-5, axis: Axis = -1) -> NDArray:
    """RMSNorm, y = gain * z / sqrt(mean(z^2) + eps): the layer without its mean and its bias.

    Parameters, result, errors and units as for `layer_norm`; a row of zeros takes the place of a constant one.
    Facts: rms-definition, rms-centred. Source: Zhang and Sennrich (2019).
    """
    return _layer(z, gain, None, eps, axis, centred=False)


def center(z: ArrayLike, *, axis: Axis = -1) -> NDArray:
    """The centred vector v = z - mean(z).

    z, axis, the result and the errors are as for `layer_norm`. Error at most 0.51 units of eps(dtype) max|v|, or the
    smallest subnormal number where that is larger, proved as there. Facts: def-projection, shift-steps, shift-kernel.
    """
    rows = Rows(z, axis)
    out = np.empty((rows.n, rows.d), rows.dtype)

    def centred(z, v):
        kernels().center(z, rows.rest(), v, np.empty(len(z)))

    rows.each_part(lambda part: rows.run(centred, rows.values[part], out[part]))
    return rows.restore(out)


def variance(z: ArrayLike, *, axis: Axis = -1) -> NDArray:
    """The coordinate variance q = mean(v^2), with the divisor d, never d - 1.

    z, axis and the errors are as for `layer_norm`; the result has the shape of z without the normalized axes. It is
    infinite where q is beyond the dtype (in float16 from 65520 on); `normalize` is right even there. Error at most 0.51
    units of eps(dtype) q, or the smallest subnormal number, proved as there. Facts: def-output, eps-variance.
    """
    rows = Rows(z, axis)
    q = np.empty((rows.n, 1), rows.dtype)

    def squared(z, q):
        kernels().center(z, rows.rest(), None, q.reshape(-1))

    rows.each_part(lambda part: rows.run(squared, rows.values[part], q[part]))
    return q.reshape(rows.kept)


def _layer(z, gain, bias, eps, axis, centred):
    eps = check_eps(eps)
    rows = Rows(z, axis)
    gain, bias = rows.parameter("gain", gain), rows.parameter("bias", bias)
    out = np.empty((rows.n, rows.d), rows.dtype)

    def normalized(z, y):
        check_defined(kernels().layer_norm(z, gain, bias, eps, centred, rows.rest(), y))

    rows.each_part(lambda part: rows.run(normalized, rows.values[part], out[part]))
    return rows.restore(out)

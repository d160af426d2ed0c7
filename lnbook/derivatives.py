"""The derivatives: the Jacobian as a matrix, and its products with a vector from the right (JVP) and the left (VJP)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnbook._rows import (
    Rows,
    check_defined,
    check_eps,
    direction_rows,
    kernels,
    scaled_center_rows,
    scaled_product,
    scaled_rows,
)
from lnbook.forward import Axis


def jacobian(z: ArrayLike, gain: ArrayLike | None = None, *, eps: float = 1e-5) -> NDArray:
    """The input Jacobian diag(gain) J, with J = (q + eps)^(-1/2) (P - v v^T / (d (q + eps))).

    Parameters
    ----------
    z : array (..., d) of float16, bfloat16, float32, float64 or integers
    gain : array (d,), or None for 1
    eps : float
        Finite and not negative; 0 only where no row is constant.

    Returns
    -------
    array (..., d, d) of the dtype of z (float64 for integers)
        Entry (i, j) is the derivative of output i by input j.

    Raises
    ------
    TypeError, ValueError
        As `lnbook.layer_norm`.

    Notes
    -----
    Computed in float64 from the eigenvalues of J: with n = v / |v| it is (P - n n^T) / sqrt(q + eps) plus
    n n^T eps / (q + eps)^(3/2), which does not cancel where q is far above eps. Bias adds nothing. Error at most 4
    units of eps(dtype) max|gain| / sqrt(q + eps), at d = 2 even of the largest entry; 0.51 units in the other formats
    (measured, from d = 1 to 8), or the smallest subnormal number where that is larger.

    Facts: eps-jacobian, eps-jacobian-constant, jac-entry, gain-input-jacobian, bias-input-jacobian.
    """
    eps = check_eps(eps)
    rows = Rows(z)
    gain = rows.parameter("gain", gain)
    z = rows.values.astype(np.float64)  # (n, d)
    along = direction_rows(z)  # (n, d)
    with np.errstate(all="ignore"):
        _, q, eps, scale = scaled_rows(*scaled_center_rows(z), eps)  # (n,) each
        radial = along[:, :, None] * along[:, None, :] / rows.d  # (n, d, d)
        orthogonal = np.eye(rows.d) - 1 / rows.d - radial
        if rows.d == 2:
            orthogonal[along.any(axis=-1)] = 0  # two coordinates leave no direction orthogonal to 1 and v
        J = (orthogonal + radial * (eps / (q + eps))[:, None, None]) / np.sqrt(q + eps)[:, None, None]
        gain, power = np.frexp(1.0 if gain is None else gain)
        J = np.ldexp(J * gain[..., None], power[..., None] - scale[:, None, None])
        return rows.rounded(J).reshape((*rows.shape, rows.d))


def jvp(z: ArrayLike, tangent: ArrayLike, gain: ArrayLike | None = None, *, eps: float = 1e-5) -> NDArray:
    """The derivative of the layer along `tangent`: gain * (J tangent), without forming J.

    J h = (h - mean(h) 1 - u mean(h * u)) / sqrt(q + eps)

    Parameters
    ----------
    z, tangent : arrays (..., d) of one shape, of float16, bfloat16, float32, float64 or integers
    gain : array (d,), or None for 1
    eps : float
        Finite and not negative; 0 only where no row is constant.

    Returns
    -------
    array (..., d) of the dtype of z (float64 for integers)

    Raises
    ------
    TypeError, ValueError
        As `lnbook.layer_norm`; tangent is not numeric or not of the shape of z.

    Notes
    -----
    O(d) time and memory. One unit is eps(dtype) max|gain| times the larger of max|tangent| / sqrt(q + eps) and of the
    largest entry of J tangent, which can be sqrt(d) times as large, or the smallest subnormal number where that is
    larger: error at most 2 units in float64 and 0.51 in the other formats, at any magnitude of z, tangent and gain that
    the dtype of z holds. Proved up to 2^18 entries: in float64 all is a pair until the difference is rounded, then the
    root, the quotient and the product with gain.

    Facts: eps-jacobian, jac-local, gradient-map.
    """
    return _jvp(z, tangent, gain, eps, centred=True)


def vjp(
    z: ArrayLike, cotangent: ArrayLike, gain: ArrayLike | None = None, *, eps: float = 1e-5, axis: Axis = -1
) -> tuple[NDArray, NDArray, NDArray]:
    """The gradients by input, gain and bias of a loss whose gradient by the output y is `cotangent`, g for short.

    dz = J (gain * g),   dgain = sum over positions of g * u,   dbias = sum over positions of g

    Parameters
    ----------
    z, cotangent : arrays of one shape, of float16, bfloat16, float32, float64 or integers
    gain : array of the shape of the normalized axes, or None for 1
    eps : float
        Finite and not negative; 0 only where no row is constant.
    axis : int or tuple of ints

    Returns
    -------
    dz : array of the shape and dtype of z (float64 for integers)
    dgain, dbias : arrays of the shape of the normalized axes, of the same dtype

    Raises
    ------
    TypeError, ValueError
        As `lnbook.layer_norm`; cotangent is not numeric or not of the shape of z.

    Notes
    -----
    u is computed again, not stored. dz is as good as `jvp`, with gain * g for the tangent. The sums of dgain and dbias
    are pairs of float64, so their error does not grow with the number of positions: at most 2 units in float64 and 0.51
    in the other formats, proved as for `normalize`. One unit is eps(dtype) times, in its own coordinate, the sum of
    |g| over positions for dbias, and of |g| max|u| for dgain; where terms of dgain are subnormal, or u is, each position
    adds at most the smallest subnormal of float64 times 1 + |g|. A sum whose parts leave the range of float64 is
    infinite or NaN.

    Facts: vjp, bias-gradient, bias-positions, gain-gradient, gradient-map.
    """
    return _vjp(z, cotangent, gain, eps, axis, centred=True)


def rms_jvp(z: ArrayLike, tangent: ArrayLike, gain: ArrayLike | None = None, *, eps: float = 1e-5) -> NDArray:
    """The derivative of `lnbook.rms_norm` along `tangent`: gain * (h - u mean(h * u)) / sqrt(mean(z^2) + eps).

    Parameters, results, errors and units as for `jvp`. Facts: rms-jacobian.
    """
    return _jvp(z, tangent, gain, eps, centred=False)


def rms_vjp(
    z: ArrayLike, cotangent: ArrayLike, gain: ArrayLike | None = None, *, eps: float = 1e-5, axis: Axis = -1
) -> tuple[NDArray, NDArray]:
    """The gradients by input and gain of a loss whose gradient by the output of `lnbook.rms_norm` is `cotangent`.

    Parameters, results without dbias, errors and units as for `vjp`. Facts: rms-jacobian.
    """
    return _vjp(z, cotangent, gain, eps, axis, centred=False)[:2]


def _jvp(z, tangent, gain, eps, centred):
    eps = check_eps(eps)
    rows = Rows(z)
    tangents, gain = rows.like("tangent", tangent), rows.parameter("gain", gain)
    out = np.empty((rows.n, rows.d), rows.dtype)

    def multiplied(part):
        _multiply(rows, tangents, None, gain, eps, centred, out, part, None)

    rows.each_part(multiplied)
    return rows.restore(out)


def _vjp(z, cotangent, gain, eps, axis, centred):
    eps = check_eps(eps)
    rows = Rows(z, axis)
    cotangents, gain = rows.like("cotangent", cotangent), rows.parameter("gain", gain)
    dz = np.empty((rows.n, rows.d), rows.dtype)

    def multiplied_and_summed(part):
        sums = np.zeros((4, rows.d))  # of g * u and of g, and their low parts
        _multiply(rows, cotangents, gain, None, eps, centred, dz, part, sums)
        return sums

    parts = rows.each_part(multiplied_and_summed)
    dgain, dbias = kernels().added_sums(np.array([np.zeros((4, rows.d)), *parts]))
    shape = rows.normalized_shape
    return rows.restore(dz), rows.rounded(dgain).reshape(shape), rows.rounded(dbias).reshape(shape)


def _multiply(rows, h, before, after, eps, centred, out, part, sums):
    """out = after * J (before * h) in the rows of one part, and their sums over positions."""

    def multiplied(z, h, out):
        state, work = np.empty(len(z), np.int8), rows.work()
        worst = kernels().jacobian_product(z, h, before, after, eps, centred, work, out, sums, state)
        check_defined(worst != kernels().UNDEFINED)
        if worst == kernels().EXTREME:
            for i in np.flatnonzero(state):
                row = slice(i, i + 1)
                scaled_product(z[row], h[row], before, after, eps, centred, work, out[row], sums)

    rows.run(multiplied, rows.values[part], h[part], out[part])

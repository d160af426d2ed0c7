"""The derivatives: the Jacobian as a matrix, and its products with a vector from the right (JVP) and the left (VJP)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnbook import _rows
from lnbook._rows import Rows, check_eps
from lnbook.forward import Axis, Param


def jacobian(z: ArrayLike, gain: Param = None, *, eps: float = 1e-5) -> NDArray:
    """The input Jacobian diag(gain) J, with J = (q + eps)^(-1/2) (P - v v^T / (d (q + eps))).

    z (..., d), gain (d,), eps and the errors are as for `lnbook.layer_norm`. The result has the shape (..., d, d);
    entry (i, j) is the derivative of output i by input j. Bias adds nothing.

    Computed in float64 from the eigenvalues of J: with n = v / |v| it is (P - n n^T) / sqrt(q + eps) plus
    n n^T eps / (q + eps)^(3/2), which does not cancel where q is far above eps. Error at most 4 units, 0.51 but in
    float64 (measured), of eps(dtype) max|gain| / sqrt(q + eps), at d = 2 even of the largest entry, or of the smallest
    subnormal number. Facts: eps-jacobian, eps-jacobian-constant, jac-entry, gain-input-jacobian, bias-input-jacobian.
    """
    eps = check_eps(eps)
    rows = Rows(z)
    gain = rows.parameter("gain", gain)
    with np.errstate(all="ignore"):
        v, scale = _rows.scaled_center_rows(rows.values)  # (n, d), (n,)
        along = _rows.directions(v)  # (n, d)
        _, q, eps, scale = _rows.scaled_rows(v, scale, eps)  # (n,) each
        radial = along[:, :, None] * along[:, None, :] / rows.d  # (n, d, d)
        orthogonal = np.eye(rows.d) - 1 / rows.d - radial
        if rows.d == 2:
            orthogonal[along.any(axis=-1)] = 0  # two coordinates leave no direction orthogonal to 1 and v
        J = (orthogonal + radial * (eps / (q + eps))[:, None, None]) / np.sqrt(q + eps)[:, None, None]
        gain, power = np.frexp(1.0 if gain is None else gain)
        J = np.ldexp(J * gain[..., None], power[..., None] - scale[:, None, None])
        return rows.rounded(J).reshape((*rows.shape, rows.d))


def jvp(z: ArrayLike, tangent: ArrayLike, gain: Param = None, *, eps: float = 1e-5) -> NDArray:
    """The derivative of the layer along `tangent`: gain * (J tangent), without forming J.

    J h = (h - mean(h) - u mean(h * u)) / sqrt(q + eps)

    z, gain, eps, the result and the errors are as for `lnbook.layer_norm`; tangent has the shape of z, (..., d).

    O(d) time and memory. One unit is eps(dtype) max|gain| times the larger of max|tangent| / sqrt(q + eps) and of the
    largest entry of J tangent, which can be sqrt(d) times as large, or the smallest subnormal number where that is
    larger: error at most 2 units in float64 and 0.51 in the other formats, at any magnitude that the dtype of z holds.
    Proved up to 2^18 entries in `lnbook._kernels`. Facts: eps-jacobian, jac-local, gradient-map.
    """
    return _jvp(z, tangent, gain, eps, centred=True)


def vjp(
    z: ArrayLike, cotangent: ArrayLike, gain: Param = None, *, eps: float = 1e-5, axis: Axis = -1
) -> tuple[NDArray, NDArray, NDArray]:
    """The gradients by input, gain and bias of a loss whose gradient by the output y is `cotangent`, g for short.

    dz = J (gain * g),   dgain = sum over positions of g * u,   dbias = sum over positions of g

    z, gain, eps, axis and the errors are as for `lnbook.layer_norm`; g has the shape of z. dz has that shape too, dgain
    and dbias that of the normalized axes, all the dtype of z.

    dz is as good as `jvp` with gain * g for the tangent, but for 2^-1000 max|gain| max|g| / sqrt(q + eps). u is
    computed again, not stored. dgain and dbias are added in float64, where z is float64 in pairs: error at most 2 units
    in float64, over any number of positions, and 0.51 in the other formats, up to 2^27 positions, proved as for `jvp`.
    One unit is eps(dtype) times, in each coordinate, the sum over positions of |g| for dbias and of |g| max|u| for
    dgain; a position where u or g * u is subnormal adds at most 1 + |g| smallest subnormals of float64. Sums beyond
    float64 are infinite or NaN.
    Facts: vjp, bias-gradient, bias-positions, gain-gradient, gradient-map.
    """
    return _vjp(z, cotangent, gain, eps, axis, centred=True)


def rms_jvp(z: ArrayLike, tangent: ArrayLike, gain: Param = None, *, eps: float = 1e-5) -> NDArray:
    """The derivative of `lnbook.rms_norm` along `tangent`: gain * (h - u mean(h * u)) / sqrt(mean(z^2) + eps).

    Parameters, results, errors and units as for `jvp`. Facts: rms-jacobian.
    """
    return _jvp(z, tangent, gain, eps, centred=False)


def rms_vjp(
    z: ArrayLike, cotangent: ArrayLike, gain: Param = None, *, eps: float = 1e-5, axis: Axis = -1
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
    rows.each_part(lambda part: _multiply(rows, tangents, None, gain, eps, centred, out, part, None))
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

    first, *others = rows.each_part(multiplied_and_summed) or [np.zeros((4, rows.d))]
    total, rest = first[:2], first[2:]
    for part in others:
        with np.errstate(all="ignore"):
            total, low = _rows.kernels().two_sum(total, part[:2])
            rest += low + part[2:]
    rest[~np.isfinite(total)] = 0
    dgain, dbias = rows.rounded(total + rest).reshape(2, *rows.normalized_shape)
    return rows.restore(dz), dgain, dbias


def _multiply(rows, h, before, after, eps, centred, out, part, sums):
    """out = after * J (before * h) in the rows of one part, and their sums over positions."""
    power = 0
    if before is not None:
        before, power = _rows.kernels().scaled(before, np.empty(rows.d), True)
    if after is not None:
        after, power = _rows.kernels().scaled(after, np.empty(rows.d), True)

    def multiplied(z, h, out):
        rest, product = rows.rest(), _rows.kernels().jacobian_product
        _rows.check_defined(product(z, h, before, after, power, eps, centred, rest, out, sums))

    rows.run(multiplied, rows.values[part], h[part], out[part])

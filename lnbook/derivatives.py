"""The derivatives: the Jacobian as a matrix, and its products with a vector from the right (JVP) and the left (VJP)."""

import numpy as np

from lnbook import _kernels
from lnbook._rows import Rows, check_defined, check_eps, direction_rows, row_mean, scaled_center_rows, scaled_rows


def jacobian(z, gain=None, *, eps=1e-5):
    """The input Jacobian diag(gain) J, with J = (q + eps)^(-1/2) (P - v v^T / (d (q + eps))).

    Parameters
    ----------
    z : array (..., d) of float16, float32, float64 or integers
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
    units in the last place of max|gain| / sqrt(q + eps), at d = 2 even of the largest entry; 0.51 units in float16 and
    float32.

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
        return J.astype(rows.dtype).reshape((*rows.shape, rows.d))


def jvp(z, tangent, gain=None, *, eps=1e-5):
    """The derivative of the layer along `tangent`: gain * (J tangent), without forming J.

    J h = (h - mean(h) 1 - u mean(h * u)) / sqrt(q + eps)

    Parameters
    ----------
    z, tangent : arrays (..., d) of one shape, of float16, float32, float64 or integers
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
    O(d) time and memory. One unit is eps(dtype) times the larger of max|tangent| / sqrt(q + eps) and of the largest
    entry of J tangent, which can be sqrt(d) times as large: error at most 4 units in float64 and 0.51 in float16 and
    float32, which are computed in float64, times max|gain|, at any magnitude of z, tangent and gain that the dtype
    holds. float64, with no wider format to go to, takes more care and more time.

    Facts: eps-jacobian, jac-local, gradient-map.
    """
    eps = check_eps(eps)
    rows = Rows(z)
    tangents = rows.like("tangent", tangent)
    gain = rows.parameter("gain", gain)
    out = np.empty((rows.n, rows.d), rows.dtype)
    for part, z, dy in rows.blocks(out):
        h = np.ascontiguousarray(tangents[part])  # (rows, d)
        if rows.work == np.float32:
            check_defined(_kernels.jacobian_product(z, h, None, gain, eps, dy, None))
        else:
            dy[...], _ = _product(z, h, eps, after=gain)
    return rows.restore(out)


def vjp(z, cotangent, gain=None, *, eps=1e-5, axis=-1):
    """The gradients by input, gain and bias of a loss whose gradient by the output y is `cotangent`, g for short.

    dz = J (gain * g),   dgain = sum over positions of g * u,   dbias = sum over positions of g

    Parameters
    ----------
    z, cotangent : arrays of one shape, of float16, float32, float64 or integers
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
    u is computed again, not stored. One unit is eps(dtype) times the larger of max|gain * g| / sqrt(q + eps) and
    max|dz|, which can be sqrt(d) times as large: error of dz at most 4 units in float64 and 0.51 in float16 and
    float32, at any magnitude of z, g and gain that the dtype holds. dgain and dbias are added up in float64: their
    error is at most 8 units of the sum of the sizes of their terms, 0.51 in float16 and float32.

    Facts: vjp, bias-gradient, bias-positions, gain-gradient, gradient-map.
    """
    eps = check_eps(eps)
    rows = Rows(z, axis)
    cotangents = rows.like("cotangent", cotangent)
    gain = rows.parameter("gain", gain)
    dz = np.empty((rows.n, rows.d), rows.dtype)
    sums = np.zeros((2, rows.d))
    for part, z, dz_block in rows.blocks(dz):
        g = np.ascontiguousarray(cotangents[part])  # (rows, d)
        if rows.work == np.float32:
            check_defined(_kernels.jacobian_product(z, g, gain, None, eps, dz_block, sums))
        else:
            dz_block[...], u = _product(z, g, eps, before=gain)
            with np.errstate(all="ignore"):
                for total, terms in zip(sums, (g * u, g), strict=True):
                    total += terms.T.copy().sum(axis=-1)  # along contiguous numbers NumPy adds in pairs of pairs
    with np.errstate(over="ignore"):
        dgain, dbias = sums.astype(rows.dtype).reshape(2, *rows.normalized_shape)
    return rows.restore(dz), dgain, dbias


def _product(z, h, eps, before=None, after=None):
    """after * J (before * h) and u of each row of z, in float64, every factor at most 1 next to a power of two.

    What h has along v is taken out twice: the second time takes what the rounding of the first left.
    """
    with np.errstate(all="ignore"):
        v, q, eps, scale = scaled_rows(*scaled_center_rows(z), eps)  # (n, d), (n,), (n,), (n,)
        h, first = np.frexp(h.astype(np.float64))  # (n, d) each
        before, second = np.frexp(1.0 if before is None else before)
        after, third = np.frexp(1.0 if after is None else after)
        h *= before
        powers = np.where(h == 0, -5000, first + second)  # (n, d)
        top = powers.max(axis=-1)[:, None]  # (n, 1)
        h = np.ldexp(h, powers - top)
        h -= row_mean(h)[:, None]
        along, root = row_mean(h, v) / (q + eps), np.sqrt(q + eps)[:, None]  # (n,), (n, 1)
        h -= v * along[:, None]
        h -= v * ((row_mean(h, v) - along * eps) / (q + eps))[:, None]
        h -= row_mean(h)[:, None]
        return np.ldexp(h / root * after, top - scale[:, None] + third), v / root

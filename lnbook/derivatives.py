"""The derivatives: the Jacobian as a matrix, and its products with a vector from the right (JVP) and the left (VJP)."""

import numpy as np

from lnbook._rows import (
    Rows,
    center_rows,
    check_eps,
    direction_rows,
    row_mean,
    scaled_rows,
    squares_out_of_range,
)


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
    units in the last place of max|gain| / sqrt(q + eps), at d = 2 even of the largest entry.

    Facts: eps-jacobian, eps-jacobian-constant, jac-entry, gain-input-jacobian, bias-input-jacobian.
    """
    eps = check_eps(eps)
    rows = Rows(z)
    gain = rows.parameter("gain", gain)
    z = rows.values.astype(np.float64)  # (n, d)
    along = direction_rows(z)  # (n, d)
    with np.errstate(all="ignore"):
        _, q, eps, scale = scaled_rows(z, eps)  # (n,) each
        radial = along[:, :, None] * along[:, None, :] / rows.d  # (n, d, d)
        orthogonal = np.eye(rows.d) - 1 / rows.d - radial
        if rows.d == 2:
            orthogonal[along.any(axis=-1)] = 0  # two coordinates leave no direction orthogonal to 1 and v
        J = (orthogonal + radial * (eps / (q + eps))[:, None, None]) / np.sqrt(q + eps)[:, None, None]
        gain, power = np.frexp(1.0 if gain is None else gain.astype(np.float64))
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
    entry of J tangent, which can be sqrt(d) times as large: error at most 4 units, times max|gain|, at any magnitude of
    z, tangent and gain that the dtype holds. float16 computes in float32 and rounds once; float64 takes more care and
    therefore more time than float32.

    Facts: eps-jacobian, jac-local, gradient-map.
    """
    eps = check_eps(eps)
    rows = Rows(z)
    tangents = rows.like("tangent", tangent)
    gain = rows.parameter("gain", gain)
    out = np.empty((rows.n, rows.d), rows.dtype)
    for part, z, h in rows.blocks(out):
        _product(z, tangents[part].astype(rows.work, copy=False), eps, h, after=gain)
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
    max|dz|, which can be sqrt(d) times as large: error of dz at most 4 units, at any magnitude of z, g and gain that
    the dtype holds. dgain and dbias are added up eight positions at a time and then in float64: in float16 and
    float32 their error is at most 2 units of the sum of the sizes of their terms.

    Facts: vjp, bias-gradient, bias-positions, gain-gradient, gradient-map.
    """
    eps = check_eps(eps)
    rows = Rows(z, axis)
    cotangents = rows.like("cotangent", cotangent)
    gain = rows.parameter("gain", gain)
    dz = np.empty((rows.n, rows.d), rows.dtype)
    dgain, dbias = np.zeros(rows.d), np.zeros(rows.d)
    for part, z, h in rows.blocks(dz):
        g = cotangents[part].astype(rows.work, copy=False)  # (rows, d)
        v, inverse_std = _product(z, g, eps, h, before=gain)  # (rows, d), (rows,)
        with np.errstate(all="ignore"):
            dgain += _sum_of_rows(g * v, inverse_std)
            dbias += _sum_of_rows(g.astype(v.dtype, copy=False), np.ones_like(inverse_std))
    with np.errstate(over="ignore"):
        parameters = [p.astype(rows.dtype).reshape(rows.normalized_shape) for p in (dgain, dbias)]
    return rows.restore(dz), *parameters


def _product(z, h, eps, out, before=None, after=None):
    """Write after * J (before * h) of each row to out; return u as v and its factor inverse_std: (n, d), (n,)

    float32 goes the short way, save the rows whose squares leave its range, and those where h lies so much along v
    that the rounding of mean(h * v) would show; where there are such rows, u comes in float64, with the factor 1.
    """
    if z.dtype == np.float64:
        out[...], u = _careful_product(z, h, eps, before, after)
        return u, np.ones(len(u))
    with np.errstate(all="ignore"):
        v, q = center_rows(z)  # (n, d), (n,)
        np.multiply(h, 1 if before is None else before, out=out)
        total, size = q + eps, row_mean(out, out)  # (n,)
        inverse_std = (1 / np.sqrt(total)).astype(np.float32)  # (n,)
        out -= row_mean(out).astype(np.float32)[:, None]
        along = row_mean(out, v)  # (n,)
        out -= v * (along / total).astype(np.float32)[:, None]
        out *= inverse_std[:, None]
        if after is not None:
            out *= after
        careful = squares_out_of_range(np.stack([size, q, total]), z.dtype).any(axis=0)  # (n,)
        careful |= np.abs(along) * np.sqrt(z.shape[1]) > 4 * np.sqrt(size * q)
        if careful.any():
            v = v.astype(np.float64)
            out[careful], v[careful] = _careful_product(z[careful], h[careful], eps, before, after)
            inverse_std[careful] = 1
        return v, inverse_std


def _careful_product(z, h, eps, before, after):
    """after * J (before * h) and u of each row in float64, every factor at most 1 next to a power of two.

    What h has along v is taken out twice: the second time takes what the rounding of the first left.
    """
    with np.errstate(all="ignore"):
        v, q, eps, scale = scaled_rows(z, eps)  # (n, d), (n,), (n,), (n,)
        h, first = np.frexp(h.astype(np.float64))  # (n, d) each
        before, second = np.frexp(1.0 if before is None else before.astype(np.float64))
        after, third = np.frexp(1.0 if after is None else after.astype(np.float64))
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


def _sum_of_rows(a, factors):
    """sum_n factors_n a_n, eight rows at a time in the dtype of a, then in float64: (n, d), (n,) -> (d,)"""
    whole = len(a) - len(a) % 8
    eights = factors[:whole].reshape(-1, 1, 8) @ a[:whole].reshape(-1, 8, a.shape[1])  # (n / 8, 1, d)
    return eights.sum(axis=(0, 1), dtype=np.float64) + factors[whole:].astype(np.float64) @ a[whole:]

"""The derivatives: the Jacobian as a matrix, and its products with a vector from the right (JVP) and the left (VJP)."""

import numpy as np

from lnbook._rows import Rows, check_eps, core_rows, direction_rows, row_mean, shrink


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
    _, inverse_std = core_rows(z, eps)  # (n,)
    along = direction_rows(z)  # (n, d)
    with np.errstate(all="ignore"):
        radial = along[:, :, None] * along[:, None, :] / rows.d  # (n, d, d)
        orthogonal = np.eye(rows.d) - 1 / rows.d - radial
        if rows.d == 2:
            orthogonal[along.any(axis=-1)] = 0  # two coordinates leave no direction orthogonal to 1 and v
        J = (orthogonal + radial * shrink(inverse_std, eps)[:, None, None]) * inverse_std[:, None, None]
        if gain is not None:
            J *= gain[:, None]
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
    O(d) time and memory. Error at most 4 units in the last place of max|gain| max|tangent| / sqrt(q + eps).

    Facts: eps-jacobian, jac-local, gradient-map.
    """
    eps = check_eps(eps)
    rows = Rows(z)
    tangents = rows.like("tangent", tangent)
    gain = rows.parameter("gain", gain)
    out = np.empty((rows.n, rows.d), rows.dtype)
    for part in rows.blocks():
        u, inverse_std = core_rows(rows.values[part].astype(rows.work, copy=False), eps)
        with np.errstate(all="ignore"):
            h = _times_core_jacobian(tangents[part].astype(rows.work), u, inverse_std)  # (rows, d)
            out[part] = h if gain is None else h * gain
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
    O(1) extra memory an entry; u is computed again, not stored. Error of dz at most 4 units in the last place of
    max|gain * g| / sqrt(q + eps). dgain and dbias are added up in float64, whatever the dtype.

    Facts: vjp, bias-gradient, bias-positions, gain-gradient, gradient-map.
    """
    eps = check_eps(eps)
    rows = Rows(z, axis)
    cotangents = rows.like("cotangent", cotangent)
    gain = rows.parameter("gain", gain)
    dz = np.empty((rows.n, rows.d), rows.dtype)
    dgain, dbias = np.zeros(rows.d), np.zeros(rows.d)
    for part in rows.blocks():
        u, inverse_std = core_rows(rows.values[part].astype(rows.work, copy=False), eps)
        g = cotangents[part].astype(rows.work, copy=False)  # (rows, d)
        with np.errstate(all="ignore"):
            dgain += np.einsum("nd,nd->d", g, u)
            dbias += np.einsum("nd->d", g)
            dz[part] = _times_core_jacobian(g.copy() if gain is None else gain * g, u, inverse_std)
    with np.errstate(over="ignore"):
        parameters = [p.astype(rows.dtype).reshape(rows.normalized_shape) for p in (dgain, dbias)]
    return rows.restore(dz), *parameters


def _times_core_jacobian(h, u, inverse_std):
    """J h of each row, written over h and, as scratch, over u: J is symmetric, so it serves both products."""
    h -= row_mean(h).astype(h.dtype)[:, None]  # (n, d)
    u *= row_mean(h, u).astype(h.dtype)[:, None]
    h -= u
    h *= inverse_std.astype(h.dtype)[:, None]
    return h

"""How strongly the layer answers to a change of its input: at a point, over a finite step, and at worst."""

from typing import NamedTuple

import numpy as np

from lnbook._rows import (
    Rows,
    check_eps,
    direction_rows,
    exponent,
    real_array,
    row_mean,
    scaled_center_rows,
    scaled_rows,
)
from lnbook.derivatives import jacobian


class Spectrum(NamedTuple):
    """The three eigenvalues of J, where each acts and how often it counts.

    eigenvalues : array (..., 3), on the directions 1, v and all w orthogonal to both
    directions : array (..., 2, d), the unit vectors along 1 and v (v is 0 at a constant input)
    multiplicities : array of ints (..., 3)
    """

    eigenvalues: np.ndarray
    directions: np.ndarray
    multiplicities: np.ndarray


def spectrum(z, *, eps=1e-5):
    """The eigenvalues of J: 0 on 1, eps / (q + eps)^(3/2) on v, (q + eps)^(-1/2) on the rest.

    Parameters
    ----------
    z : array (..., d) of float16, float32, float64 or integers
    eps : float
        Finite and not negative; 0 only where no row is constant.

    Returns
    -------
    Spectrum
        eigenvalues (..., 3), directions (..., 2, d), multiplicities (..., 3). The multiplicities are 1, 1, d - 2; at
        a constant input, where there is no direction v, they are 1, 0, d - 1.

    Raises
    ------
    TypeError, ValueError
        As `lnbook.layer_norm`.

    Notes
    -----
    Facts: eps-eigen-shift, eps-eigen-radial, eps-eigen-orthogonal, eps-jacobian-constant.
    """
    eps = check_eps(eps)
    rows = Rows(z)
    z = rows.values.astype(np.float64)  # (n, d)
    along_v = direction_rows(z) / np.sqrt(rows.d)  # (n, d)
    along_one = np.full_like(along_v, 1 / np.sqrt(rows.d))
    constant = ~along_v.any(axis=-1)  # (n,)
    kept = rows.shape[:-1]
    with np.errstate(all="ignore"):
        _, q, eps, scale = scaled_rows(z, eps)  # (n,) each
        orthogonal = 1 / np.sqrt(q + eps)
        eigenvalues = np.stack([0 * orthogonal, orthogonal * (eps / (q + eps)), orthogonal], axis=-1)  # (n, 3)
        return Spectrum(
            np.ldexp(eigenvalues, -scale[:, None]).astype(rows.dtype).reshape((*kept, 3)),
            np.stack([along_one, along_v], axis=-2).astype(rows.dtype).reshape((*kept, 2, rows.d)),
            np.stack([0 * constant + 1, 1 - constant, rows.d - 2 + constant], axis=-1).reshape((*kept, 3)),
        )


def operator_norm(z, gain=None, *, eps=1e-5):
    """The operator norm of diag(gain) J: the largest first-order amplification at z, in Euclidean length.

    Parameters
    ----------
    z : array (..., d) of float16, float32, float64 or integers
    gain : array (d,), or None for 1
    eps : float
        Finite and not negative; 0 only where no row is constant.

    Returns
    -------
    array (...) of the dtype of z (float64 for integers)

    Raises
    ------
    TypeError, ValueError
        As `lnbook.layer_norm`.

    Notes
    -----
    Without gain it is the largest eigenvalue that occurs: 0 at d = 1, eps / (q + eps)^(3/2) at d = 2, unless the input
    is constant, and (q + eps)^(-1/2) otherwise. With gain it is a singular value of the d x d matrix.

    Facts: sens-local, sens-smaller, eps-norm-bound, eps-full-bound.
    """
    rows = Rows(z)
    if gain is None:
        eigenvalues, _, multiplicities = spectrum(rows.values, eps=eps)
        norms = np.where(multiplicities > 0, eigenvalues, 0).max(axis=-1)  # (n,)
    else:
        J = jacobian(rows.values.astype(np.float64), rows.parameter("gain", gain), eps=eps)  # (n, d, d)
        finite = np.isfinite(J).all(axis=(-2, -1))  # (n,)
        norms = np.abs(J).max(axis=(-2, -1))  # NaN or infinity where J has it
        norms[finite] = np.linalg.norm(J[finite], ord=2, axis=(-2, -1))
    return rows.reduced(norms)


def lipschitz_constant(d, gain=None, *, eps=1e-5):
    """The exact global Lipschitz constant of the layer, |diag(gain) P| / sqrt(eps) in the operator norm.

    Parameters
    ----------
    d : int
        At least 1.
    gain : array (d,), or None for 1
    eps : float
        Finite and positive: at eps = 0 the layer is not Lipschitz.

    Returns
    -------
    float

    Raises
    ------
    TypeError
        d is not an int; gain is not numeric; eps is not one real number.
    ValueError
        d is below 1; gain has another shape than (d,); eps is not finite and positive.

    Notes
    -----
    The squared norm of diag(gain) P is the largest eigenvalue of diag(gain^2) - gain gain^T / d. It lies between the
    largest gain^2 and the next, where sum_i 1 / (gain_i^2 - x) crosses zero; it is found by bisection in O(d) memory.

    Facts: sharp-lipschitz, eps-lipschitz, eps-attained, sens-uniform, sens-full.
    """
    if not isinstance(d, int | np.integer) or isinstance(d, bool):
        raise TypeError(f"d must be an int, got {d!r}")
    if d < 1:
        raise ValueError(f"d must be at least 1, got {d}")
    eps = check_eps(eps, zero="refused")
    gain = np.ones(d) if gain is None else real_array("gain", gain).astype(np.float64)
    if gain.shape != (d,):
        raise ValueError(f"gain must have the shape ({d},), got {gain.shape}")
    return float(_norm_of_gain_times_projection(gain) / np.sqrt(eps))


def amplification(z, step, gain=None, *, eps=1e-5):
    """The finite amplification |LN(z + step) - LN(z)| / |step|, in Euclidean length.

    Parameters
    ----------
    z, step : arrays (..., d) of one shape, of float16, float32, float64 or integers
        No step may be zero.
    gain : array (d,), or None for 1
    eps : float
        Finite and not negative; 0 only where neither z nor z + step is constant.

    Returns
    -------
    array (...) of the dtype of z (float64 for integers)

    Raises
    ------
    TypeError, ValueError
        As `lnbook.layer_norm`; step is not of the shape of z; a step is zero.

    Notes
    -----
    The difference is not taken between two outputs, which would cancel at a small step. With w = P step, the roots
    r = sqrt(q(z) + eps) and s = sqrt(q(z + step) + eps), and v or v + w, whichever has the smaller root, it is
    w / max(r, s) - (v or v + w) mean(w * (2 v + w)) / (r s (r + s)), where no term is larger than w / max(r, s).
    Error at most 4 units in the last place of max|gain| / max(r, s).

    Facts: sens-finite, jac-local, eps-lipschitz.
    """
    eps = check_eps(eps)
    rows = Rows(z)
    gain = rows.parameter("gain", gain)
    h = rows.like("step", step).astype(np.float64)  # (n, d)
    if (h == 0).all(axis=-1).any():
        raise ValueError("step must not be zero: the ratio is then 0 / 0")
    v, scale_v = scaled_center_rows(rows.values)  # (n, d), (n,)
    w, scale_w = scaled_center_rows(h)
    scale_h = exponent(np.abs(h).max(axis=-1))
    common = np.max([scale_v, scale_w, 0 * scale_v + exponent(np.sqrt(eps))], axis=0)  # (n,)
    with np.errstate(all="ignore"):
        eps = np.ldexp(eps, -2 * common)  # (n,)
        v = np.ldexp(v, (scale_v - common)[:, None])
        w = np.ldexp(w, (scale_w - scale_h)[:, None])  # in units of the step, so that no small step is lost
        h = np.ldexp(h, -scale_h[:, None])
        moved = v + np.ldexp(w, (scale_h - common)[:, None])  # (n, d)
        r, s = (np.sqrt(row_mean(x, x) + eps) for x in (v, moved))  # (n,)
        if ((r == 0) | (s == 0)).any():
            raise ValueError("eps must be positive where z or z + step is constant: at eps = 0 its core is undefined")
        smaller = np.where((r < s)[:, None], v, moved)  # (n, d)
        change = row_mean(w, v + moved) / (r * s * (r + s))  # (n,) what 1 / r exceeds 1 / s by
        difference = w / np.maximum(r, s)[:, None] - smaller * change[:, None]  # (n, d)
        if gain is not None:
            difference *= gain
        ratio = np.sqrt(row_mean(difference, difference) / row_mean(h, h))
        return rows.reduced(np.ldexp(ratio, -common))


def _norm_of_gain_times_projection(gain):
    largest = np.abs(gain).max()
    if len(gain) == 1 or largest == 0:
        return 0.0
    squares = np.sort((gain / largest) ** 2)  # (d,)
    low, high = squares[-2:]
    middle = (low + high) / 2
    while low < middle < high:
        if np.sum(1 / (squares - middle)) < 0:
            low = middle
        else:
            high = middle
        middle = (low + high) / 2
    return largest * np.sqrt(high)

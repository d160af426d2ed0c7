"""How strongly the layer answers to a change of its input: at a point, over a finite step, and at worst."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnbook._rows import (
    Rows,
    check_defined,
    check_eps,
    direction_rows,
    real_array,
    row_mean,
    scaled,
    scaled_center_rows,
    scaled_core_rows,
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


def spectrum(z: ArrayLike, *, eps: float = 1e-5) -> Spectrum:
    """The eigenvalues of J: 0 on 1, eps / (q + eps)^(3/2) on v, (q + eps)^(-1/2) on the rest.

    Parameters
    ----------
    z : array (..., d) of float16, bfloat16, float32, float64 or integers
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
    Error of each at most 4 units in the last place, 0.51 in float16 and float32.

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
        _, q, eps, scale = scaled_rows(*scaled_center_rows(z), eps)  # (n,) each
        orthogonal = 1 / np.sqrt(q + eps)
        eigenvalues = np.stack([0 * orthogonal, orthogonal * (eps / (q + eps)), orthogonal], axis=-1)  # (n, 3)
        return Spectrum(
            rows.rounded(np.ldexp(eigenvalues, -scale[:, None])).reshape((*kept, 3)),
            rows.rounded(np.stack([along_one, along_v], axis=-2)).reshape((*kept, 2, rows.d)),
            np.stack([0 * constant + 1, 1 - constant, rows.d - 2 + constant], axis=-1).reshape((*kept, 3)),
        )


def operator_norm(z: ArrayLike, gain: ArrayLike | None = None, *, eps: float = 1e-5) -> NDArray:
    """The operator norm of diag(gain) J: the largest first-order amplification at z, in Euclidean length.

    Parameters
    ----------
    z : array (..., d) of float16, bfloat16, float32, float64 or integers
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
    is constant, and (q + eps)^(-1/2) otherwise, to 4 units in the last place, 0.51 in float16 and float32. With gain it
    is a singular value of the d x d matrix, to 8 units of max|gain| / sqrt(q + eps) up to d = 8.

    Facts: sens-local, sens-smaller, eps-norm-bound, eps-norm-by-dimension, eps-full-bound.
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
    return rows.rounded(norms).reshape(rows.kept)


def lipschitz_constant(d: int, gain: ArrayLike | None = None, *, eps: float = 1e-5) -> float:
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
    Error at most 2 units in the last place. NaN where a gain is NaN or infinite.

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
    with np.errstate(all="ignore"):
        gain, scale = scaled(gain)
        return float(np.ldexp(_norm_of_gain_times_projection(gain) / np.sqrt(eps), scale))


def amplification(z: ArrayLike, step: ArrayLike, gain: ArrayLike | None = None, *, eps: float = 1e-5) -> NDArray:
    """The finite amplification |LN(z + step) - LN(z)| / |step|, in Euclidean length.

    Parameters
    ----------
    z, step : arrays (..., d) of one shape, of float16, bfloat16, float32, float64 or integers
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
    r = sqrt(q(z) + eps) and s = sqrt(q(z + step) + eps), and u, the core at the end with the smaller root, it is
    w / max(r, s) - u mean(w * (2 v + w)) / (max(r, s) (r + s)), where no term is larger than w / max(r, s).
    Error at most 4 units in the last place of max|gain| / s, 0.51 in float16 and float32, at any magnitude of z, step
    and gain.

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
    gain, scale_gain = (np.ones(rows.d), 0) if gain is None else scaled(gain)
    with np.errstate(all="ignore"):
        h, scale_h = scaled(h)
        both = np.maximum(scale_v, scale_w)  # (n,)
        moved = np.ldexp(v, (scale_v - both)[:, None]) + np.ldexp(w, (scale_w - both)[:, None])  # (n, d)
        check_defined(eps > 0 or (v.any(axis=-1) & moved.any(axis=-1)).all(), "z or z + step")
        core_v, r, scale_r = scaled_core_rows(v, scale_v, eps)
        core_moved, s, scale_s = scaled_core_rows(moved, both, eps)
        common = np.maximum(scale_r, scale_s)
        r, s = np.ldexp(r, scale_r - common), np.ldexp(s, scale_s - common)
        v_and_moved = np.ldexp(v, (scale_v - common)[:, None]) + np.ldexp(moved, (both - common)[:, None])  # (n, d)
        u = np.where((r < s)[:, None], core_v, core_moved)  # (n, d)
        share = row_mean(w, v_and_moved) / (r + s)  # (n,)
        difference = (w - u * share[:, None]) * gain / np.maximum(r, s)[:, None]  # (n, d) in units of 2**scale_w
        ratio = np.sqrt(row_mean(difference, difference) / row_mean(h, h))
        return rows.rounded(np.ldexp(ratio, scale_w - scale_h - common + scale_gain)).reshape(rows.kept)


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

"""How strongly the layer answers to a change of its input: at a point, over a finite step, and at worst."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnbook import _rows
from lnbook._rows import Rows, check_eps
from lnbook.derivatives import jacobian
from lnbook.forward import Param


class Spectrum(NamedTuple):
    """The eigenvalues of J on 1, v and all orthogonal to both, the unit vectors along 1 and v, which is 0 at a constant
    input, and how often each eigenvalue counts: (..., 3), (..., 2, d), (..., 3)"""

    eigenvalues: np.ndarray
    directions: np.ndarray
    multiplicities: np.ndarray


def spectrum(z: ArrayLike, *, eps: float = 1e-5) -> Spectrum:
    """The eigenvalues of J: 0 on 1, eps / (q + eps)^(3/2) on v, (q + eps)^(-1/2) on the rest.

    z (..., d), eps and the errors are as for `lnbook.layer_norm`. The multiplicities are 1, 1, d - 2; at a constant
    input, where there is no direction v, they are 1, 0, d - 1. Error at most 4 units of each, 0.51 but in float64, or
    of the smallest subnormal number (measured).
    Facts: eps-eigen-shift, eps-eigen-radial, eps-eigen-orthogonal, eps-jacobian-constant.
    """
    eps = check_eps(eps)
    rows = Rows(z)
    v, scale = _rows.scaled_center_rows(rows.values)  # (n, d), (n,)
    along_v = _rows.directions(v) / np.sqrt(rows.d)  # (n, d)
    constant = ~along_v.any(axis=-1)  # (n,)
    directions = np.stack([0 * along_v + 1 / np.sqrt(rows.d), along_v], axis=-2)  # (n, 2, d)
    with np.errstate(all="ignore"):
        _, q, eps, scale = _rows.scaled_rows(v, scale, eps)  # (n,) each
        orthogonal = 1 / np.sqrt(q + eps)
        eigenvalues = np.stack([0 * orthogonal, orthogonal * (eps / (q + eps)), orthogonal], axis=-1)  # (n, 3)
        return Spectrum(
            rows.rounded(np.ldexp(eigenvalues, -scale[:, None])).reshape((*rows.kept, 3)),
            rows.rounded(directions).reshape((*rows.kept, 2, rows.d)),
            np.stack([0 * constant + 1, 1 - constant, rows.d - 2 + constant], axis=-1).reshape((*rows.kept, 3)),
        )


def operator_norm(z: ArrayLike, gain: Param = None, *, eps: float = 1e-5) -> NDArray:
    """The operator norm of diag(gain) J: the largest first-order amplification at z, in Euclidean length.

    z (..., d), gain (d,), eps and the errors are as for `lnbook.layer_norm`. Without gain it is the largest eigenvalue
    that occurs: 0 at d = 1, eps / (q + eps)^(3/2) at d = 2, unless the input is constant, and (q + eps)^(-1/2)
    otherwise, as good as `spectrum`. With gain it is a singular value of the d x d matrix, to 8 units of
    max|gain| / sqrt(q + eps) up to d = 8 (measured).
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


def lipschitz_constant(d: int, gain: Param = None, *, eps: float = 1e-5) -> float:
    """The exact global Lipschitz constant of the layer, |diag(gain) P| / sqrt(eps) in the operator norm.

    d is an int, at least 1; gain has the shape (d,) or is None for 1; eps is finite and positive: at eps = 0 the layer
    is not Lipschitz. What is not gets a TypeError or ValueError that says so. NaN where a gain is NaN or infinite.

    The squared norm of diag(gain) P is the largest eigenvalue of diag(gain^2) - gain gain^T / d. It lies between the
    largest gain^2 and the next, where sum_i 1 / (gain_i^2 - x) crosses zero; it is found by bisection in O(d) memory.
    Error at most 4 units of eps(float64) times the constant, or the smallest subnormal number (measured, up to d = 7).
    Facts: sharp-lipschitz, eps-lipschitz, eps-attained, sens-uniform, sens-full.
    """
    if not isinstance(d, int | np.integer) or isinstance(d, bool):
        raise TypeError(f"d must be an int, got {d!r}")
    if d < 1:
        raise ValueError(f"d must be at least 1, got {d}")
    eps = check_eps(eps, zero="refused")
    gain = np.ones(d) if gain is None else _rows.real_array("gain", gain).astype(np.float64)
    if gain.shape != (d,):
        raise ValueError(f"gain must have the shape ({d},), got {gain.shape}")
    with np.errstate(all="ignore"):
        gain, scale = _rows.scaled(gain)
        return float(np.ldexp(_norm_of_gain_times_projection(gain) / np.sqrt(eps), scale))


def amplification(z: ArrayLike, step: ArrayLike, gain: Param = None, *, eps: float = 1e-5) -> NDArray:
    """The finite amplification |LN(z + step) - LN(z)| / |step|, in Euclidean length.

    z, step (..., d), gain (d,), eps and the errors are as for `lnbook.jvp`; no step may be zero, and eps not where z or
    z + step is constant. The result has the shape (...).

    The difference is not taken between two outputs, which would cancel at a small step. With w = P step, the roots
    r = sqrt(q(z) + eps) and s = sqrt(q(z + step) + eps), and u, the core at the end with the smaller root, it is
    w / max(r, s) - u mean(w * (2 v + w)) / (max(r, s) (r + s)), where no term is larger than w / max(r, s). Error at
    most 4 units of eps(dtype) max|gain| / max(r, s), 0.51 but in float64, or of the smallest subnormal number, at any
    magnitude of z, step and gain (measured). Facts: sens-finite, jac-local, eps-lipschitz.
    """
    eps = check_eps(eps)
    rows = Rows(z)
    gain = rows.parameter("gain", gain)
    h = rows.like("step", step).astype(np.float64)  # (n, d)
    if (h == 0).all(axis=-1).any():
        raise ValueError("step must not be zero: the ratio is then 0 / 0")
    v, scale_v = _rows.scaled_center_rows(rows.values)  # (n, d), (n,)
    w, scale_w = _rows.scaled_center_rows(h)
    gain, scale_gain = (np.ones(rows.d), 0) if gain is None else _rows.scaled(gain)
    with np.errstate(all="ignore"):
        h, scale_h = _rows.scaled(h)
        both = np.maximum(scale_v, scale_w)  # (n,)
        moved = np.ldexp(v, (scale_v - both)[:, None]) + np.ldexp(w, (scale_w - both)[:, None])  # (n, d)
        _rows.check_defined(eps > 0 or (v.any(axis=-1) & moved.any(axis=-1)).all(), "z or z + step")
        core_v, r, scale_r = _rows.scaled_core_rows(v, scale_v, eps)
        core_moved, s, scale_s = _rows.scaled_core_rows(moved, both, eps)
        common = np.maximum(scale_r, scale_s)
        r, s = np.ldexp(r, scale_r - common), np.ldexp(s, scale_s - common)
        v_and_moved = np.ldexp(v, (scale_v - common)[:, None]) + np.ldexp(moved, (both - common)[:, None])  # (n, d)
        u = np.where((r < s)[:, None], core_v, core_moved)  # (n, d)
        share = _rows.row_mean(w, v_and_moved) / (r + s)  # (n,)
        difference = (w - u * share[:, None]) * gain / np.maximum(r, s)[:, None]  # (n, d) in units of 2**scale_w
        ratio = np.sqrt(_rows.row_mean(difference, difference) / _rows.row_mean(h, h))
        return rows.rounded(np.ldexp(ratio, scale_w - scale_h - common + scale_gain)).reshape(rows.kept)


def _norm_of_gain_times_projection(gain):
    largest = np.abs(gain).max()
    if len(gain) == 1 or largest == 0:
        return 0.0
    squares = np.sort((gain / largest) ** 2)  # (d,)
    low, high = squares[-2:]
    while low < (middle := (low + high) / 2) < high:
        if np.sum(1 / (squares - middle)) < 0:
            low = middle
        else:
            high = middle
    return largest * np.sqrt(high)

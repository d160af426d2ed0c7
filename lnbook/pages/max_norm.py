"""The exact Lipschitz constant of the core where vectors are measured by their largest coordinate, or by their sum."""

import numpy as np
from numpy.typing import NDArray

from lnbook.sensitivity import lipschitz_constant


def max_norm_constant(d: int, *, eps: float = 1e-5) -> float:
    """The exact global Lipschitz constant of the core in the norm max|z_i|; in the norm sum|z_i| it is the same.

    It is the largest sqrt(1 - tau) (A_m + B_m tau) / sqrt(eps) over 0 <= tau < 1 and m = 1, ..., d - 1, with
    A_m = 2 m / d,   B_m = (sqrt(m^2 + m (d - 1 - m) d) - m) / d
    d, eps and the errors are as for `lnbook.lipschitz_constant`. O(d) time and memory. Up to d = 57 it is
    2 (1 - 1/d) / sqrt(eps), from there on it grows like sqrt(d / 27 / eps). Error at most 8 units of eps(float64) times
    the constant (measured, up to d = 10 million). Facts: sharp-max-norm, sharp-max-norm-growth.
    """
    euclidean = lipschitz_constant(d, eps=eps)
    _, _, values = _largest_over_tau(d)
    return float(values.max(initial=0) * euclidean)


def max_norm_worst_input(d: int, *, eps: float = 1e-5) -> NDArray:
    """An input at which the first row of J has the absolute sum `max_norm_constant`: (d,)

    Its core has the variance tau, m equal coordinates above and d - 1 - m below, and the first apart (sharp-max-norm).
    """
    lipschitz_constant(d, eps=eps)
    m, taus, values = _largest_over_tau(d)
    if d == 1 or taus[values.argmax()] == 0:
        return np.zeros(d)
    tau, m, n = float(taus[values.argmax()]), int(m[values.argmax()]), d - 1
    x = (1 - m / np.sqrt(m**2 + m * (n - m) * d)) / 2
    first = np.sqrt(n * tau * x)
    spread = np.sqrt(d * tau * (1 - x) / n)
    above = np.full(m, spread * np.sqrt((n - m) / m) - first / n)
    below = np.full(n - m, -spread * np.sqrt(m / (n - m)) - first / n)
    core = np.concatenate([[first], above, below])  # (d,)
    return core * np.sqrt(eps / (1 - tau))


def _largest_over_tau(d):
    """For each m: the tau at which sqrt(1 - tau) (A + B tau) is largest, and its value there: 3 arrays (d - 1,)"""
    m = np.arange(1.0, d)  # floats: m^2 d leaves the range of int64 from d = 3.4 million on
    A = 2 * m / d
    B = (np.sqrt(m**2 + m * (d - 1 - m) * d) - m) / d
    tau = np.maximum(0, (2 * B - A) / (3 * np.where(B == 0, 1, B)))
    return m, tau, np.sqrt(1 - tau) * (A + B * tau)

"""The higher derivatives along a line: the Taylor coefficients of the layer, by a recurrence of three terms."""

import numbers

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnbook._rows import Rows, check_eps, row_mean, scaled_center_rows, scaled_core_rows
from lnbook.forward import Param


def taylor(z: ArrayLike, tangent: ArrayLike, order: int, gain: Param = None, *, eps: float = 1e-5) -> NDArray:
    """The Taylor coefficients c_0, ..., c_order of t -> gain * u(z + t tangent) at t = 0.

    The n-th derivative at t = 0 is n! c_n. With w = P tangent, r = 1 / sqrt(q + eps), a = mean(w * u), m = mean(w^2):

    c_n = p_n u + p_(n-1) r w,   p_0 = 1,   (n + 1) p_(n+1) = -(2 n + 1) r a p_n - n r^2 m p_(n-1)

    Arguments and errors are as for `lnbook.jvp`; order is an int, at least 0. The result has the shape
    (order + 1, ..., d): row 0 is the layer without bias, row 1 its JVP. O(d) time and memory a coefficient. The series
    converges for |t| < sqrt((q + eps) / m). Facts: line-derivatives, line-example.
    """
    if not isinstance(order, numbers.Integral) or isinstance(order, bool):
        raise TypeError(f"order must be an int, got {order!r}")
    if order < 0:
        raise ValueError(f"order must not be negative, got {order}")
    eps = check_eps(eps)
    rows = Rows(z)
    w, scale_w = scaled_center_rows(rows.like("tangent", tangent))  # (n, d), (n,)
    gain = rows.parameter("gain", gain)
    with np.errstate(all="ignore"):
        u, root, scale = scaled_core_rows(*scaled_center_rows(rows.values), eps)  # (n, d), (n,), (n,)
        rw, scale = w / root[:, None], scale_w - scale  # (n, d), (n,) in units of 2**scale
        ra, rrm = row_mean(rw, u), row_mean(rw, rw)  # (n,)
        before, p, coefficients = np.zeros(rows.n), np.ones(rows.n), []
        for n in range(order + 1):
            c = np.ldexp(p[:, None] * u + before[:, None] * rw, n * scale[:, None])  # (n, d)
            coefficients.append(rows.restore(rows.rounded(c if gain is None else gain * c)))
            before, p = p, -((2 * n + 1) * ra * p + n * rrm * before) / (n + 1)
    return np.stack(coefficients)

"""Which keys can win the attention, and how a tanh fits one coordinate of the core."""

import numpy as np

from lnbook import normalize
from lnbook.pages.figures.style import BOUND, CENTRED, CORE, FAINT, INK, in_plane, new_panels, picture

# Coordinates in the plane of mean 0, up to the last key, whose variance is far below the figure's epsilon.
KEYS = np.array([[2.4, 0.3], [-0.5, 2.2], [-2.1, -0.4], [0.3, -2.0], [0.9, 0.5], [-0.8, -0.6], [0.05, -0.02]])
# The keys that are corners of the hull of all seven, before and after the normalization, in the order of the hull.
RAW_HULL, NORMED_HULL = (0, 1, 2, 3), (0, 4, 1, 2, 5, 3)
SPREADS = (0.3, 1, 3)
ALPHA = 0.8541


def _draw_keys(axes, title, points, hull, colour):
    corners = points[[*hull, hull[0]]]  # (corners + 1, 2)
    axes.plot(*corners.T, color=FAINT, linewidth=1)
    wins = np.isin(np.arange(len(points)), hull)
    axes.plot(*points[wins].T, "o", color=colour, markersize=8, label="can win")
    axes.plot(*points[~wins].T, "o", color=colour, markerfacecolor="none", markersize=8, label="cannot")
    axes.axhline(0, color=FAINT, linewidth=0.5)
    axes.axvline(0, color=FAINT, linewidth=0.5)
    axes.set(xlim=(-2.9, 2.9), ylim=(-2.9, 2.9), aspect="equal")
    axes.set(xlabel="along (1, −1, 0)", ylabel="along (−1, −1, 2)", title=title)
    axes.figure.legend(loc="outside lower center", ncols=2)


@picture
def keys_that_can_win(eps=1e-2):
    """Seven keys in the plane of mean 0 with the hull that they span, before and after the normalization."""
    across, up = np.array([1, -1, 0]) / np.sqrt(2), np.array([-1, -1, 2]) / np.sqrt(6)
    keys = KEYS[:, :1] * across + KEYS[:, 1:] * up  # (n, d)
    panels, (left, right) = new_panels(2, 3.6, 4.1)
    _draw_keys(left, "keys without normalization", in_plane(keys), RAW_HULL, CENTRED)
    turn = np.linspace(0, 2 * np.pi, 200)
    right.plot(np.sqrt(3) * np.cos(turn), np.sqrt(3) * np.sin(turn), "--", color=BOUND, linewidth=1)
    _draw_keys(right, "their cores", in_plane(normalize(keys, eps=eps)), NORMED_HULL, CORE)
    return panels


@picture
def sigmoid_and_tanh():
    """One coordinate of the core in units of its limit for three spreads of the others, beside one tanh."""
    t = np.linspace(-8, 8, 401)  # (points,)
    tanh = np.tanh(ALPHA * t)
    panels, (left, right) = new_panels(2, 3.6, 3.9)
    for spread, style in zip(SPREADS, (":", "-", "-."), strict=True):
        sigmoid = t / np.sqrt(t**2 + spread**2)  # (points,)
        left.plot(t, sigmoid, style, color=CORE, label=f"ω = {spread}")
        right.plot(t, sigmoid - tanh, style, color=CORE, label=f"ω = {spread}")
    left.plot(t, tanh, "--", color=INK, linewidth=1.5, label=f"tanh({ALPHA} t)")
    for limit in (-1, 1):
        left.axhline(limit, color=BOUND, linewidth=1)
    right.axhline(0, color=FAINT, linewidth=1)
    for axes in (left, right):
        axes.figure.legend(loc="outside lower center", ncols=2)
    left.set(xlabel="t", ylabel="coordinate / √(d − 1)")
    right.set(xlabel="t", ylabel="coordinate − tanh", ylim=(-0.62, 0.62))
    left.set_title("one coordinate")
    right.set_title("its distance from the tanh")
    return panels

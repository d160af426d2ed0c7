"""A common shift, which the core does not see, beside an unequal one, which it does."""

from itertools import pairwise

import numpy as np

from lnbook import center, normalize
from lnbook.pages.figures.style import CENTRED, CORE, FAINT, INPUT, PLANE, new_figure, picture

# The camera: the plane sum = 0 seen at a slant, the direction 1 upright.
SLANT = np.radians(28)
SIDE_VIEW = np.array([PLANE[0], np.cos(SLANT) * np.ones(3) / np.sqrt(3) + np.sin(SLANT) * PLANE[1]])  # (2, 3)


@picture
def common_and_unequal_shift(z, unequal, amounts, eps):
    """z + c 1 on the left, z + c unequal on the right, for each c in amounts, each with its core in the plane."""
    figure, panels = new_figure(7.2, 4.4, ncols=2, sharex=True, sharey=True)
    titles = ("a common shift", "an unequal shift")
    for axes, title, direction in zip(panels, titles, (np.ones(3), np.asarray(unequal)), strict=True):
        _draw_shift(axes, np.asarray(z) + np.outer(amounts, direction), eps)
        axes.set_title(title)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _draw_shift(axes, z, eps):
    angle = np.linspace(0, 2 * np.pi, 181)
    ring = np.sqrt(3) * np.stack([np.cos(angle), np.sin(angle)], axis=-1) @ PLANE  # (181, 3)
    axes.fill(*(SIDE_VIEW @ ring.T), facecolor=FAINT, alpha=0.15)
    axes.annotate("", SIDE_VIEW @ (2.6 * np.ones(3)), (0, 0), arrowprops={"arrowstyle": "->", "color": FAINT})
    axes.annotate(r"$\mathbf{1}$", SIDE_VIEW @ (2.75 * np.ones(3)), ha="center", va="center", color=FAINT)
    axes.annotate("the plane where the sum is 0", SIDE_VIEW @ (-2 * PLANE[1]), ha="center", va="top", color=FAINT)
    for row, foot in zip(z @ SIDE_VIEW.T, center(z) @ SIDE_VIEW.T, strict=True):
        axes.plot(*np.transpose([row, foot]), ":", color=CENTRED, linewidth=1.2)
    for kind, colour, marker, size, filling, rows in (
        ("input $z$", INPUT, "o", 6, "full", z),
        ("centred vector $v$", CENTRED, "s", 10, "none", center(z)),
        ("core $u$", CORE, "D", 5, "full", normalize(z, eps=eps)),
    ):
        seen = rows @ SIDE_VIEW.T  # (amounts, 2)
        axes.plot(*seen.T, marker, color=colour, markersize=size, fillstyle=filling, label=kind)
        for start, end in pairwise(seen):
            if not np.allclose(start, end):
                axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": colour, "shrinkB": 4})
    axes.set(aspect="equal")
    axes.axis("off")

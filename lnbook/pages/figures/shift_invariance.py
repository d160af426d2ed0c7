"""A common shift, which the core does not see, beside an unequal one, which it does."""

from itertools import pairwise

import numpy as np

from lnbook import center, normalize
from lnbook.pages.figures.slider import Slider, moving_dots, moving_line, number, spoken, vector
from lnbook.pages.figures.style import CENTRED, CORE, FAINT, INPUT, PLANE, SIDE_VIEW, new_figure, new_panels, picture


@picture
def common_and_unequal_shift(z, unequal, amounts, eps):
    """z + c 1 on the left, z + c unequal on the right, for each c in amounts, each with its core in the plane."""
    panels, axes_of = new_panels(2, 3.6, 4.8, share=True)
    titles = ("a common shift", "an unequal shift")
    for axes, title, direction in zip(axes_of, titles, (np.ones(3), np.asarray(unequal)), strict=True):
        _draw_shift(axes, np.asarray(z) + np.outer(amounts, direction), eps)
        axes.set_title(title)
        axes.figure.legend(loc="outside lower center", ncols=2)
    return panels


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


@picture
def shift_slider():
    """The input (1, 2, 3) under a common shift by c, and with c added to one coordinate only; the slider moves c."""
    z, eps = np.array([1.0, 2.0, 3.0]), 1 / 3
    amounts = np.linspace(-3, 3, 25)
    index = np.array([1, 2, 3])
    figures, moving, cores = [], [], []
    for title, shift in (("$c$ added to all coordinates", np.ones(3)), ("$c$ added to the third", np.array([0, 0, 1]))):
        shifted = z + amounts[:, None] * shift  # (n, 3)
        core = normalize(shifted, eps=eps)  # (n, 3)
        figure, axes = new_figure(3.6, 3.7)
        axes.axhline(0, color=FAINT, linewidth=1)
        for values, label in ((z, "at $c = 0$"), (normalize(z, eps=eps), None)):
            axes.plot(index, values, "--", color=FAINT, linewidth=1, label=label)
        for colour, line, values, label in ((INPUT, "-", shifted, "input"), (CORE, "-.", core, "core")):
            frames = [(index, row) for row in values]
            moving.append(moving_line(axes, frames, line, color=colour, label=label))
            moving.append(moving_dots(axes, frames, colour))
        axes.set(title=title, xlabel="coordinate", ylabel="value", xlim=(0.7, 3.3), ylim=(-2.3, 6.2), xticks=index)
        axes.set_yticks(range(-2, 7))
        figure.legend(loc="outside lower center", ncols=3, columnspacing=1)
        figures.append(figure)
        cores.append(core)
    frames = list(zip(amounts, *cores, strict=True))
    return Slider(
        figures,
        moving,
        label="Move c, the shift",
        values=[f"c = {number(c)}: core {vector(a)} if all move, {vector(b)} if the third does" for c, a, b in frames],
        spoken=[f"c {spoken(c)}. Core if all move: {spoken(a)}. If the third moves: {spoken(b)}" for c, a, b in frames],
        start=amounts.tolist().index(1),
        alt="Two plots of the input (1, 2, 3) and its core (−1, 0, 1), coordinate by coordinate, ε = 1/3. Left, c is "
        "added to all coordinates: the input moves up by c and the core stays on its dashed line. Right, c is added to "
        "the third coordinate only: one coordinate of the input moves, and all three of the core do.",
    )

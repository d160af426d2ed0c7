"""The definition, seen: what is normalized together."""

import numpy as np
from matplotlib.patches import Rectangle

from lnbook import normalize, variance
from lnbook.pages.figures.slider import Slider, moving_dots, moving_line, number, spoken, vector
from lnbook.pages.figures.style import CORE, FAINT, GAIN, INK, new_figure, picture


@picture
def positions(n=4, d=6):
    """An array of n positions with d coordinates: one row lit for the statistics, one column for the parameters."""
    row, column = 1, 4
    figure, axes = new_figure(4.3, 2.4)
    for i, j in np.ndindex(n, d):
        axes.add_patch(Rectangle((j, -i), 0.86, 0.72, fill=False, edgecolor=FAINT))
    axes.add_patch(Rectangle((-0.08, -row - 0.08), d + 0.02, 0.88, fill=False, edgecolor=CORE, lw=2.6))
    axes.add_patch(Rectangle((column - 0.08, 0.84 - n), 1.02, n - 0.04, fill=False, edgecolor=GAIN, lw=2.6, ls="--"))
    for i in range(n):
        axes.text(-0.3, -i + 0.36, f"position {i + 1}", ha="right", va="center", color=CORE if i == row else INK)
    for j in range(d):
        axes.text(j + 0.43, 1.06, f"{j + 1}", ha="center", va="center", color=GAIN if j == column else INK)
    axes.text(-0.3, 1.06, "coordinate", ha="right", va="center", color=INK)
    axes.text(d + 0.15, -row + 0.36, "one mean $\\mu$,\none variance $q$", va="center", color=CORE)
    axes.text(column + 0.43, 0.35 - n, r"one gain $\gamma_i$, one bias $\beta_i$", ha="center", va="center", color=GAIN)
    axes.set(xlim=(-2.0, d + 2.2), ylim=(-n + 0.05, 1.4))
    axes.axis("off")
    return figure


@picture
def one_entry_slider():
    """Three positions and their cores at epsilon = 1/3; the slider moves one entry of position 2."""
    moved = np.linspace(-2, 7, 19)  # (n,)
    rows = np.tile([[1.0, 2, 3], [3, 1, 2], [0, 4, 2]], (len(moved), 1, 1))  # (n, 3, 3)
    rows[:, 1, 2] = moved
    cores = normalize(rows, eps=1 / 3)  # (n, 3, 3)
    index = np.array([1, 2, 3])
    figures, moving = [], []
    for title, vectors, reach in (("three positions", rows, (-2.5, 7.5)), ("their cores", cores, (-1.6, 1.6))):
        figure, axes = new_figure(3.6, 3.6)
        axes.axhline(0, color=FAINT, linewidth=1)
        for position, line in ((0, "--"), (2, "-.")):
            axes.plot(index, vectors[0, position], line, color=INK, label=f"position {position + 1}")
        frames = [(index, row) for row in vectors[:, 1]]
        moving.append(moving_line(axes, frames, color=CORE, label="position 2"))
        moving.append(moving_dots(axes, frames, CORE))
        axes.set(title=title, xlabel="coordinate", ylabel="value", xlim=(0.7, 3.3), ylim=reach, xticks=index)
        figure.legend(loc="outside lower center", ncols=2)
        figures.append(figure)
    frames = list(zip(moved, rows[:, 1].mean(axis=-1), variance(rows[:, 1]), cores[:, 1], strict=True))
    return Slider(
        figures,
        moving,
        label="Move coordinate 3 of position 2",
        values=[f"z = (3, 1, {number(x)}): μ = {number(m)}, q = {number(q)}, u = {vector(u)}" for x, m, q, u in frames],
        spoken=[
            f"The moved position: 3, 1, {spoken(x)}. Mean {spoken(m)}, variance {spoken(q)}, core {spoken(u)}"
            for x, m, q, u in frames
        ],
        start=moved.tolist().index(4),
        alt="Left, three positions of three coordinates as lines; right, their cores at ε = 1/3. The slider moves "
        "one coordinate of position 2, the full line. All three coordinates of its core move, since they share one "
        "mean and one variance; the cores of the positions 1 and 3, dashed and dash-dotted, stand still.",
    )

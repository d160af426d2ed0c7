"""The definition, seen: what is normalized together."""

import numpy as np
from matplotlib.patches import Rectangle

from lnbook.pages.figures.style import CORE, FAINT, GAIN, INK, new_figure, picture


@picture
def positions(n=4, d=6):
    """An array of n positions with d coordinates: one row lit for the statistics, one column for the parameters."""
    row, column = 1, 4
    figure, axes = new_figure(6.4, 3.0)
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

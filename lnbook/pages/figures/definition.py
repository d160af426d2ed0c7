"""The definition, seen: what is normalized together, and what each step does to the numbers."""

import numpy as np
from matplotlib.patches import Rectangle

from lnbook import center, layer_norm, normalize
from lnbook.pages.figures.style import BIAS, CENTRED, CORE, FAINT, GAIN, INK, INPUT, new_figure, picture


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


@picture
def steps(z, gain, bias, eps):
    """The coordinates of z after each step of the layer, side by side on one scale."""
    stages = [
        ("input $z$", INPUT, "o", np.asarray(z)),
        ("centred vector $v$", CENTRED, "s", center(z)),
        ("core $u$", CORE, "D", normalize(z, eps=eps)),
        (r"stretched, $\gamma \odot u$", GAIN, "^", layer_norm(z, gain, eps=eps)),
        ("output $y$", BIAS, "v", layer_norm(z, gain, bias, eps=eps)),
    ]
    figure, panels = new_figure(7.2, 2.9, ncols=5, sharey=True)
    coordinates = np.arange(1, len(z) + 1)
    for axes, (name, colour, marker, values) in zip(panels, stages, strict=True):
        axes.axhline(0, color=FAINT, linewidth=1)
        axes.axhline(np.mean(values), color=INK, linewidth=1.2, linestyle=":")
        axes.vlines(coordinates, 0, values, color=colour)
        axes.plot(coordinates, values, marker, color=colour, markersize=7)
        axes.set(title=name, xticks=coordinates, xlim=(0.4, len(z) + 0.6))
        axes.spines["bottom"].set_visible(False)
        axes.tick_params(bottom=False)
    panels[0].set_ylabel("value")
    panels[2].set_xlabel("coordinate")
    return figure

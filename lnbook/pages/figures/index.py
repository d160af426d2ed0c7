"""The book at a glance: what each step of the layer does to the numbers."""

import numpy as np

from lnbook import center, layer_norm, normalize
from lnbook.pages.figures.style import BIAS, CENTRED, CORE, FAINT, GAIN, INK, INPUT, new_figure, picture


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

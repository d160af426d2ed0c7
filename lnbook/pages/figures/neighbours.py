"""The layers beside layer normalization, told apart by what a change of one input entry moves."""

from functools import partial

import numpy as np
from matplotlib.patches import Rectangle

from lnbook import normalize
from lnbook.pages.figures.style import CORE, FAINT, INPUT, new_figure, picture

SAMPLES, CHANNELS, PLACES = 2, 4, 3
GROUPS = 2


def _in_groups(x):
    grouped = x.reshape(SAMPLES, GROUPS, CHANNELS // GROUPS, PLACES)
    return normalize(grouped, axis=(2, 3)).reshape(x.shape)


NORMS = {
    "batch": partial(normalize, axis=(0, 2)),
    "layer, over the channels": partial(normalize, axis=1),
    "layer, over the sample": partial(normalize, axis=(1, 2)),
    "instance": partial(normalize, axis=2),
    "group, two groups": _in_groups,
}


@picture
def shared_statistics():
    """For each of five normalizations the entries of an array that move when its first entry is moved."""
    x = np.random.default_rng(0).normal(size=(SAMPLES, CHANNELS, PLACES))
    moved = x.copy()
    moved[0, 0, 0] += 1
    figure, axes_of = new_figure(4.3, 5.2, nrows=len(NORMS), sharex=True)
    for axes, (name, norm) in zip(axes_of, NORMS.items(), strict=True):
        answers = norm(moved) != norm(x)  # (samples, channels, places)
        for sample, channel, place in np.ndindex(x.shape):
            left, bottom = channel * (PLACES + 0.5) + place, SAMPLES - 1 - sample
            on = answers[sample, channel, place]
            axes.add_patch(
                Rectangle(
                    (left, bottom), 1, 1, facecolor=CORE if on else "none", alpha=0.55 if on else 1, edgecolor="none"
                )
            )
            axes.add_patch(Rectangle((left, bottom), 1, 1, facecolor="none", edgecolor=FAINT, linewidth=1))
        axes.plot(0.5, SAMPLES - 0.5, "o", color=INPUT, markersize=7)
        axes.set_title(name, loc="left")
        axes.set(xlim=(-0.1, CHANNELS * (PLACES + 0.5)), ylim=(-0.1, SAMPLES + 0.1), aspect="equal")
        axes.set(yticks=[1.5, 0.5], yticklabels=["sample 1", "sample 2"])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    axes_of[-1].set_xticks(np.arange(CHANNELS) * (PLACES + 0.5) + PLACES / 2)
    axes_of[-1].set_xticklabels([f"channel {c + 1}" for c in range(CHANNELS)])
    return figure

"""Batch against layer normalization: what one output sees, and what one sample becomes in many batches."""

import numpy as np
from matplotlib.patches import Rectangle

from lnbook import normalize
from lnbook.pages.figures.style import BOUND, CORE, EPSILON, FAINT, INK, INPUT, new_figure, new_panels, picture

LENGTHS = (6, 4, 5)  # the real times of each sentence; the rest is padding
TIMES, FEATURES = max(LENGTHS), 4
MARKED = (0, 2)  # sentence and time of the output that is asked about
AXES = {  # of an array (sentences, times, features)
    "layer norm, over the features": (2,),
    "instance or group norm, over times": (1, 2),
    "batch norm, over sentences and times": (0, 1),
    "batch norm, each time by itself": (0,),
}


def seen_by_marked(axes):
    """Whether a change of the input at each place moves the marked output: (sentences, times)"""
    x = np.random.default_rng(1).normal(size=(len(LENGTHS), TIMES, FEATURES))
    seen = np.zeros(x.shape[:2], dtype=bool)
    for place in np.ndindex(seen.shape):
        moved = x.copy()
        moved[place] += np.arange(1, FEATURES + 1)
        seen[place] = (normalize(moved, axis=axes)[MARKED] != normalize(x, axis=axes)[MARKED]).any()
    return seen


@picture
def what_a_token_sees():
    """For four normalizations the places of a batch of sentences whose inputs act on one output."""
    panels, axes_of = new_panels(len(AXES), 3.6, 2.7)
    for axes, (name, over) in zip(axes_of, AXES.items(), strict=True):
        seen = seen_by_marked(over)  # (sentences, times)
        for sentence, time in np.ndindex(seen.shape):
            left, bottom = time, len(LENGTHS) - 1 - sentence
            later = time > MARKED[1]
            colour = "none" if not seen[sentence, time] else EPSILON if later else CORE
            axes.add_patch(Rectangle((left, bottom), 1, 1, facecolor=colour, alpha=0.5, edgecolor="none"))
            hatch = "///" if seen[sentence, time] and later else None
            axes.add_patch(Rectangle((left, bottom), 1, 1, facecolor="none", edgecolor=FAINT, hatch=hatch, linewidth=1))
            if time >= LENGTHS[sentence]:
                axes.plot(left + 0.5, bottom + 0.5, "x", color=INK, markersize=8)
        axes.plot(MARKED[1] + 0.5, len(LENGTHS) - 0.5 - MARKED[0], "o", color=INPUT, markersize=8)
        axes.set_title(name)
        axes.set(xlim=(-0.1, TIMES + 0.1), ylim=(-0.1, len(LENGTHS) + 0.1), aspect="equal")
        axes.set(xticks=np.arange(TIMES) + 0.5, xticklabels=range(1, TIMES + 1), xlabel="time")
        axes.set(yticks=np.arange(len(LENGTHS)) + 0.5, yticklabels=range(len(LENGTHS), 0, -1), ylabel="sentence")
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return panels


@picture
def one_sample_many_batches():
    """The output of a sample with the input 1 in forty batches of each size, with the bounds and the output in use."""
    sizes = 2 ** np.arange(1, 9)
    figure, axes = new_figure(4.3, 3.6)
    for n in sizes:
        batches = np.random.default_rng(n).normal(size=(40, n))  # (40, n)
        batches[:, 0] = 1
        outputs = normalize(batches)[:, 0]  # (40,)
        label = "in training, 40 batches of each size" if n == 2 else None
        axes.plot(np.full(40, n), outputs, "o", color=CORE, alpha=0.35, markersize=4, label=label)
    many = np.geomspace(2, 256, 101)
    axes.plot(many, np.sqrt(many - 1), color=BOUND, label=r"bounds, $\pm\sqrt{n-1}$")
    axes.plot(many, -np.sqrt(many - 1), color=BOUND)
    axes.axhline(1, color=INPUT, linestyle="--", label="in use")
    axes.set(xscale="log", xlabel="entries that share the statistics, $n$", ylabel="output of the input 1")
    axes.set(ylim=(-2.2, 3.4), xticks=sizes, xticklabels=sizes)
    axes.minorticks_off()
    figure.legend(loc="outside lower center", ncols=2)
    return figure

"""A stack of random blocks at initialization: how its stream grows, and how long the gradients are in each block."""

import numpy as np

from lnbook.pages.deep import experiment
from lnbook.pages.figures.style import BIAS, CORE, FAINT, INK, new_figure, picture


def draw_mean(axes, values, colour, marker, label):
    """The mean over the networks, block by block, in a band of one standard deviation: values (seeds, depth)."""
    blocks, mean, spread = np.arange(1, values.shape[1] + 1), values.mean(axis=0), values.std(axis=0)
    axes.fill_between(blocks, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0)
    axes.plot(blocks, mean, marker, color=colour, markersize=4, label=label)


@picture
def stream_and_gradient(depth=24):
    """The variance of each sum, and the gradient by each second matrix, in pre-norm and post-norm."""
    blocks = np.arange(1, depth + 1)
    figure, (stream, gradient) = new_figure(4.3, 6.0, nrows=2)
    for place, colour, marker in (("post", BIAS, "s"), ("pre", CORE, "o")):
        variances, lengths = experiment(place, depth)
        draw_mean(stream, variances, colour, marker, f"{place}-norm")
        draw_mean(gradient, lengths, colour, marker, f"{place}-norm")
    stream.plot(blocks, 1 + blocks, color=FAINT, linewidth=1, label="orthogonal branches")
    stream.axhline(2, color=FAINT, linewidth=1)
    gradient.plot(blocks, 1 / np.sqrt(1 + blocks), color=FAINT, linewidth=1)
    gradient.axhline(1 / np.sqrt(2), color=FAINT, linewidth=1)
    gradient.plot(blocks, 2.0 ** (-(depth + 1 - blocks) / 2), ":", color=INK, label="skip path of post-norm")
    stream.set(xlabel="block", ylabel="variance of the sum", ylim=(0, None))
    gradient.set(xlabel="block", ylabel="length of the gradient", yscale="log", ylim=(1e-4, 3))
    stream.legend(loc="upper left")
    gradient.legend(handles=gradient.lines[-1:], loc="lower right")
    return figure

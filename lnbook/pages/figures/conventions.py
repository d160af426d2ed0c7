"""The conventions of frameworks: where their default epsilons begin to matter."""

import numpy as np

from lnbook import normalize
from lnbook.pages.figures.style import EPSILON, INK, new_figure, picture


@picture
def defaults_over_spread(defaults=(1e-12, 1e-7, 1e-6, 1e-5, 1e-3), outside=1e-6):
    """The root of the core's variance over the standard deviation of the row, for default epsilons and one outside."""
    spread = np.geomspace(1e-7, 10, 325)  # (n,)
    z = spread[:, None] * np.array([-1.0, 1.0])  # (n, 2), of standard deviation `spread`
    figure, axes = new_figure(4.3, 3.8)
    for eps, line, marker in zip(defaults, ("-", "--", "-.", ":", "-"), ("o", "v", "s", "D", "^"), strict=True):
        exponent = round(np.log10(eps))
        axes.plot(spread, normalize(z, eps=eps)[:, 1], line, color=EPSILON, marker=marker, markersize=4,
                  markevery=(12, 40), linewidth=1.6, label=rf"$10^{{{exponent}}}$")  # fmt: skip
    axes.plot(spread, spread / (spread + outside), color=INK, linewidth=1.4, dashes=(6, 3, 1, 3),
              label=rf"$10^{{{round(np.log10(outside))}}}$ outside")  # fmt: skip
    axes.set(xscale="log", xlabel=r"standard deviation of the row, $\sqrt{q}$", ylabel="root of the core's variance",
             xlim=(1e-7, 10), ylim=(0, 1.04))  # fmt: skip
    axes.grid(axis="y")
    figure.legend(loc="outside lower center", ncols=3)
    return figure

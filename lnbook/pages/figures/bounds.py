"""How strongly the core answers to a step, and how far that is from the worst case."""

import numpy as np

from lnbook import amplification, lipschitz_constant, operator_norm, spectrum
from lnbook.pages.figures.style import BOUND, CORE, EPSILON, INPUT, PLANE, new_figure, picture


@picture
def amplification_over_distance(eps, step=0.1):
    """Amplification in R^3 over |v|, the distance of the input from the constant inputs, against the bound.

    The lines are the first-order amplifications: the largest one, and the one along v. The dots are finite steps of
    length `step` in twelve directions of the plane.
    """
    along, across = PLANE  # (3,), (3,)
    bound = lipschitz_constant(3, eps=eps)
    distance = np.geomspace(0.01, 3, 121)  # (121,)
    z = distance[:, None] * along  # (121, 3)
    angle = np.pi / 12 + np.arange(12) * np.pi / 6
    steps = step * (np.cos(angle)[:, None] * along + np.sin(angle)[:, None] * across)  # (12, 3)
    dotted = distance[::10]  # (13,)
    pairs = np.broadcast_arrays(dotted[:, None, None] * along, steps)  # 2 arrays (13, 12, 3)

    figure, axes = new_figure(6.4, 4.0)
    axes.axhline(bound, color=BOUND, linestyle="--")
    axes.annotate(r"the bound $1/\sqrt{\varepsilon}$", (distance[0], 1.15 * bound), color=BOUND)
    axes.plot(distance, operator_norm(z, eps=eps), color=CORE, label=r"to first order, at most: $\|J\|_2$")
    radial = spectrum(z, eps=eps).eigenvalues[:, 1]  # (121,)
    axes.plot(distance, radial, "-.", color=EPSILON, label="to first order, along $v$")
    axes.plot(
        np.repeat(dotted, len(steps)),
        amplification(*pairs, eps=eps).ravel(),
        "o",
        color=INPUT,
        markersize=3,
        label=f"finite steps of length {step:g}",
    )
    axes.set(
        xscale="log",
        yscale="log",
        ylim=(radial[-1] / 1.5, 2.5 * bound),
        xlabel=r"distance from the constant inputs, $\|v\|$",
        ylabel="amplification",
    )
    axes.legend(loc="lower left")
    return figure

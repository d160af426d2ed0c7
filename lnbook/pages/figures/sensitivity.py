"""How strongly the core answers to a step, and how far that is from the worst case."""

import numpy as np

from lnbook import amplification, lipschitz_constant, operator_norm, spectrum
from lnbook.pages.figures.slider import Slider, moving_dots, number, one_two_five, spoken
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

    figure, axes = new_figure(4.3, 3.8)
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


@picture
def distance_slider():
    """Amplification of the step (t, -t) from the constant input (7, 7), and the norm of J where it ends, over t."""
    steps, fine = np.array(one_two_five(-5, 0)), np.logspace(-5, 0, 61)  # (n,), (61,)
    figures, moving, reached = [], [], []
    for eps, words in ((1e-4, "10^{-4}"), (1e-2, "10^{-2}")):
        figure, axes = new_figure(3.6, 3.9)
        axes.axhline(lipschitz_constant(2, eps=eps), linestyle="--", color=BOUND, label="the bound")
        finite, local = _from_a_constant(fine, eps)
        axes.plot(fine, finite, color=CORE, label="from $(7, 7)$ to $(7 + t, 7 - t)$")
        axes.plot(fine, local, ":", color=EPSILON, label="norm of $J$ at the end")
        finite, local = _from_a_constant(steps, eps)
        for heights, colour in ((finite, CORE), (local, EPSILON)):
            moving.append(moving_dots(axes, list(zip(steps, heights, strict=True)), colour))
        axes.set(xscale="log", yscale="log", xlim=(1e-5, 1), ylim=(5e-5, 300), xlabel="$t$", ylabel="amplification")
        axes.set_title(rf"$\varepsilon = {words}$")
        axes.minorticks_off()
        figure.legend(loc="outside lower center")
        figures.append(figure)
        reached.append((finite, local))
    (finite_small, local_small), (finite_large, local_large) = reached
    return Slider(
        figures,
        moving,
        label="Move t, the distance",
        values=[
            f"t = {number(t)}: amplification {number(a, 6)} of at most 100, {number(b, 6)} of at most 10"
            for t, a, b in zip(steps, finite_small, finite_large, strict=True)
        ],
        spoken=[
            f"t {spoken(t)}. Amplification {spoken(a, 6)} of at most 100, then {spoken(b, 6)} of at most 10. "
            f"Norm of the Jacobian {spoken(m)}, then {spoken(n)}"
            for t, a, m, b, n in zip(steps, finite_small, local_small, finite_large, local_large, strict=True)
        ],
        start=steps.tolist().index(1e-2),
        alt="Two plots on logarithmic scales over the distance t from the constant input (7, 7), ε = 10⁻⁴ and 10⁻². "
        "The amplification of the step (t, −t) follows the dashed bound, 100 and 10, up to about t = √ε and falls like "
        "1/t beyond; the norm of the Jacobian at the end of the step falls faster. The smaller ε has the higher bound "
        "and leaves it sooner. Dots mark the slider's place.",
    )


def _from_a_constant(t, eps):
    """The amplification of the step t (1, -1) from (7, 7), and the norm of the Jacobian where it ends: (n,), (n,)"""
    h = t[:, None] * np.array([1.0, -1.0])  # (n, 2)
    # The norm does not see the constant; left out, a small t keeps all its digits.
    return amplification(np.full_like(h, 7), h, eps=eps), operator_norm(h, eps=eps)

"""Gain and bias, acting on the core."""

import numpy as np

from lnbook import layer_norm, normalize
from lnbook.pages.figures.style import (
    BIAS,
    CORE,
    FAINT,
    GAIN,
    INK,
    INPUT,
    PLANE,
    draw_space,
    in_space,
    new_figure,
    picture,
)


@picture
def gain_and_bias(gain, bias, eps=0.0):
    """All cores in R^3 as a ring in their plane, the ring under the gain, and the same ring moved by the bias."""
    angle = np.linspace(0, 2 * np.pi, 181)
    z = np.stack([np.cos(angle), np.sin(angle)], axis=-1) @ PLANE  # (181, 3)
    stages = [
        ("core $u$", CORE, "-", layer_norm(z, eps=eps)),
        (r"after the gain, $\gamma \odot u$", GAIN, "--", layer_norm(z, gain, eps=eps)),
        (r"after the bias, $y$", BIAS, "-.", layer_norm(z, gain, bias, eps=eps)),
    ]
    figure, axes = new_figure(6.4, 4.6)
    draw_space(axes, 3)
    marked = 20
    for label, colour, line, ring in stages:
        seen = in_space(ring)  # (181, 2)
        axes.fill(*seen.T, color=colour, alpha=0.1, linewidth=0)
        axes.plot(*seen.T, line, color=colour, label=label)
        axes.plot(*seen[marked], "o", color=colour)
    path = in_space([ring[marked] for *_, ring in stages])  # (3, 2)
    for start, end, colour in ((path[0], path[1], GAIN), (path[1], path[2], BIAS)):
        axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": colour, "shrinkA": 4, "shrinkB": 4})
    axes.set(aspect="equal", xlim=(-3, 3.8), ylim=(-1.85, 3.1))
    figure.legend(loc="outside lower center", ncols=3)
    return figure


@picture
def shift_before_and_after(z, shift, bias, eps):
    """One vector in two versions at three places: a common shift tells the inputs apart, a bias the outputs."""
    z = np.asarray(z)
    panels = [
        ("input", INPUT, (z, z + shift), ("$z$", f"$z + {shift}\\cdot\\mathbf{{1}}$")),
        (
            "core",
            CORE,
            (normalize(z, eps=eps), normalize(z + shift, eps=eps)),
            ("of $z$", f"of $z + {shift}\\cdot\\mathbf{{1}}$"),
        ),
        (
            "output",
            BIAS,
            (normalize(z, eps=eps), layer_norm(z, bias=bias, eps=eps)),
            (r"$\beta = 0$", r"$\beta$ added"),
        ),
    ]
    figure, axes_of = new_figure(7.2, 3.4, ncols=3, sharey=True)
    coordinates = np.arange(1, len(z) + 1)
    for axes, (title, colour, (first, second), labels) in zip(axes_of, panels, strict=True):
        axes.axhline(0, color=FAINT, linewidth=1)
        axes.plot(coordinates, first, "o-", color=INK, markersize=6, label=labels[0])
        axes.plot(coordinates, second, "D--", color=colour, markersize=10, markerfacecolor="none", label=labels[1])
        axes.set(title=title, xticks=coordinates, xlim=(0.6, len(z) + 0.4), xlabel="coordinate")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.1))
    axes_of[0].set_ylabel("value")
    axes_of[0].margins(y=0.12)
    return figure

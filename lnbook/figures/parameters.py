"""Gain and bias, acting on the core."""

import numpy as np

from lnbook import layer_norm
from lnbook.figures.style import BIAS, CORE, FAINT, GAIN, PLANE, new_figure, picture

# The camera of the pictures in R^3: what is seen of a vector are its two coordinates here.
VIEW = np.array([[-0.62, 0.78, 0.0], [-0.30, -0.24, 0.92]])  # (2, 3)


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
    figure, axes = new_figure(6.4, 4.2)
    for axis, label in zip(3 * np.eye(3), ("$1$", "$2$", "$3$"), strict=True):
        tip = VIEW @ axis
        axes.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "->", "color": FAINT})
        axes.annotate(label, 1.08 * tip, ha="center", va="center", color=FAINT)
    marked = 20
    for label, colour, line, ring in stages:
        seen = ring @ VIEW.T  # (181, 2)
        axes.plot(*seen.T, line, color=colour, label=label)
        axes.plot(*seen[marked], "o", color=colour)
    path = np.array([ring[marked] @ VIEW.T for *_, ring in stages])  # (3, 2)
    for start, end, colour in ((path[0], path[1], GAIN), (path[1], path[2], BIAS)):
        axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": colour, "shrinkA": 4, "shrinkB": 4})
    axes.set(aspect="equal")
    axes.axis("off")
    axes.legend(loc="lower left")
    return figure

"""Gain and bias, acting on the core."""

import numpy as np

from lnbook import layer_norm
from lnbook.pages.figures.slider import Slider, moving_dots, moving_line, spoken, vector
from lnbook.pages.figures.style import (
    BIAS,
    CORE,
    FAINT,
    GAIN,
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
    figure, axes = new_figure(4.3, 4.2)
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
    figure.legend(loc="outside lower center", ncols=2)
    return figure


@picture
def gain_bias_slider(gain=(1.2, 0.5, -0.8), bias=(0.4, 1.6, 0.6)):
    """The ring of all cores of R^3 while the gain grows from 1 to `gain`, and then the bias from 0 to `bias`."""
    grown, moved = np.linspace(0, 1, 11)[:, None], np.linspace(0, 1, 11)[1:, None]
    gains = np.concatenate([1 + grown * (np.array(gain) - 1), np.tile(gain, (10, 1))])  # (n, 3)
    biases = np.concatenate([np.zeros((11, 3)), moved * np.array(bias)])  # (n, 3)
    angle = np.linspace(0, 2 * np.pi, 73)
    z = np.stack([np.cos(angle), np.sin(angle)], axis=-1) @ PLANE  # (73, 3)
    rings = np.array([layer_norm(z, g, b, eps=0) for g, b in zip(gains, biases, strict=True)])  # (n, 73, 3)
    points = rings[:, 8]  # (n, 3)
    index = np.array([1, 2, 3])

    (left, space), (right, coordinates) = new_figure(3.6, 3.4), new_figure(3.6, 3.4)
    draw_space(space, 3)
    coordinates.axhline(0, color=FAINT, linewidth=1)
    for frame, colour, line, label in ((0, CORE, "--", "core"), (10, GAIN, "-.", "after the gain")):
        space.plot(*in_space(rings[frame]).T, line, color=colour, label=label)
        space.plot(*in_space(points[frame]), "o", color=colour)
        coordinates.plot(index, points[frame], line, color=colour, label=label)
    seen, rows = in_space(points), [(index, point) for point in points]
    moving = [
        moving_line(space, [ring.T for ring in in_space(rings)], color=BIAS, label="output"),
        moving_dots(space, seen, BIAS),
        moving_line(coordinates, rows, color=BIAS, label="output"),
        moving_dots(coordinates, rows, BIAS),
    ]
    space.set(aspect="equal", title="all cores, and one of them", xlim=(-3.4, 3.9), ylim=(-1.85, 3.4))
    coordinates.set(title="that core", xlabel="coordinate", ylabel="value", xticks=index)
    coordinates.set(xlim=(0.7, 3.3), ylim=(-1.6, 2.6), yticks=range(-1, 3))
    left.legend(loc="outside lower center", ncols=2)
    frames = list(zip(gains, biases, points, strict=True))
    return Slider(
        [left, right],
        moving,
        label="Let the gain act, then the bias",
        values=[f"γ = {vector(g, 3)}, β = {vector(b, 3)}: y = {vector(y, 3)}" for g, b, y in frames],
        spoken=[f"gain {spoken(g, 3)}. Bias {spoken(b, 3)}. Output {spoken(y, 3)}" for g, b, y in frames],
        start=7,
        alt="Left: all cores of R³ at ε = 0 are a circle around the origin, dashed. While the gain grows from 1 to its "
        "value the circle becomes an ellipse, dash-dotted, and turns over when a gain passes 0; then the bias moves "
        "the ellipse without turning it, to the full line. Right: the coordinates of one marked core, dashed, "
        "after the gain, dash-dotted, and of its output, full.",
    )

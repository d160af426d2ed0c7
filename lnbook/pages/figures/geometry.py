"""Where cores and outputs lie: the disc in the plane, the ellipse in space, and the bowl whose slope the core is."""

import numpy as np

from lnbook import layer_norm, normalize, variance
from lnbook.pages.figures.style import (
    BIAS,
    BOUND,
    CENTRED,
    CORE,
    EPSILON,
    FAINT,
    GAIN,
    PLANE,
    SIDE_VIEW,
    in_plane,
    new_panels,
    picture,
)

ANGLE = np.linspace(0, 2 * np.pi, 181)
CIRCLE = np.stack([np.cos(ANGLE), np.sin(ANGLE)], axis=-1)  # (181, 2)


@picture
def plane_into_disc(eps):
    """A square net of the plane sum = 0 of R^3, and the cores of its points inside the disc of radius sqrt(3)."""
    panels, (left, right) = new_panels(2, 3.6, 3.8)
    along = np.linspace(-4, 4, 161)
    for place in range(-4, 5):
        for line in (np.stack([along, 0 * along + place], axis=-1), np.stack([0 * along + place, along], axis=-1)):
            z = line @ PLANE  # (161, 3)
            left.plot(*line.T, color=CENTRED, linewidth=0.9)
            right.plot(*in_plane(normalize(z, eps=eps)).T, color=CORE, linewidth=0.9)
    right.plot(*np.sqrt(3) * CIRCLE.T, "--", color=BOUND)
    # The lines |u_i| = sqrt(2) are a hexagon around the circle; each touches it where the other two entries are equal.
    spikes = in_plane(normalize(np.concatenate([np.eye(3), -np.eye(3)]), eps=0))  # (6, 2)
    for point in spikes:
        side = np.array([-point[1], point[0]]) / np.sqrt(3)  # (2,)
        right.plot(*np.transpose([point - side, point + side]), ":", color=EPSILON)
        right.plot(*point, "o", color=EPSILON, markersize=5)
    for axes, title in ((left, "centred vectors $v$"), (right, "their cores $u$")):
        axes.set(aspect="equal", title=title)
        axes.axis("off")
    return panels


@picture
def disc_into_ellipse(gain, bias):
    """Left: the cores of R^3 as the disc that the plane sum = 0 cuts out of a ball. Right: what gain and bias make."""
    panels, (left, right) = new_panels(2, 3.6, 4.2, share=True)
    rim = layer_norm(CIRCLE @ PLANE, eps=0)  # (181, 3)
    for axes in (left, right):
        for axis, label in zip(2.4 * np.eye(3), ("$1$", "$2$", "$3$"), strict=True):
            tip = SIDE_VIEW @ axis
            axes.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "->", "color": FAINT})
            axes.annotate(label, 1.1 * tip, ha="center", va="center", color=FAINT)
        axes.set(aspect="equal")
        axes.axis("off")
    left.plot(*np.sqrt(3) * CIRCLE.T, "--", color=BOUND, linewidth=1.2, label=r"the ball of radius $\sqrt{3}$")
    _shape(left, rim, CORE, "-", "all cores")
    _shape(right, gain * rim, GAIN, "--", "after the gain")
    _shape(right, gain * rim + bias, BIAS, "-", "all outputs")
    for axes in (left, right):
        axes.figure.legend(loc="outside lower center", ncols=2)
    return panels


@picture
def bowl(all_eps):
    """phi = d sqrt(q + eps) on z = (-t, 0, t) on the left; on the right its slope, which is made of the core."""
    panels, (left, right) = new_panels(2, 3.6, 3.4)
    direction = np.array([-1, 0, 1])
    t = np.linspace(-2, 2, 201)  # (201,)
    z = t[:, None] * direction  # (201, 3)
    for eps, line in zip(all_eps, ("-", "--", "-."), strict=True):
        label = rf"$\varepsilon = {eps:g}$"
        left.plot(t, 3 * np.sqrt(variance(z) + eps), line, color=CENTRED, label=label)
        if eps:
            right.plot(t, normalize(z, eps=eps) @ direction, line, color=CORE, label=label)
        else:
            for half in (t < 0, t > 0):  # the core is undefined at t = 0
                right.plot(t[half], normalize(z[half], eps=0) @ direction, line, color=CORE, label=label)
                label = None
    left.set(xlabel="$t$", ylabel=r"$\varphi(z) = d\,\sqrt{q + \varepsilon}$", ylim=(0, None))
    right.set(xlabel="$t$", ylabel=r"slope of $\varphi$: $\langle u, (-1, 0, 1)\rangle$")
    left.legend(loc="lower left")
    right.legend(loc="upper left")
    return panels


def _shape(axes, points, colour, line, label):
    axes.fill(*(SIDE_VIEW @ points.T), facecolor=colour, alpha=0.25)
    axes.plot(*(SIDE_VIEW @ points.T), line, color=colour, label=label)

"""What the Jacobian does: to a ring of small steps at a point, and how far its word holds."""

import numpy as np

from lnbook import center, jacobian, jvp, normalize, spectrum
from lnbook.pages.figures.slider import Slider, moving_dots, moving_line, number, spoken, vector
from lnbook.pages.figures.style import (
    CENTRED,
    CORE,
    FAINT,
    INK,
    INPUT,
    PAPER,
    in_plane,
    new_figure,
    new_panels,
    picture,
)

RING = 0.65  # the length of the steps drawn


@picture
def eigen_directions(z, eps):
    """At z in R^3: a ring of steps in the plane sum = const, and what J makes of it at the core of z."""
    v, u, J = center(z), normalize(z, eps=eps), jacobian(z, eps=eps)  # (3,), (3,), (3, 3)
    along_one, along_v = spectrum(z, eps=eps).directions  # (3,), (3,)
    along_w = np.cross(along_one, along_v)  # (3,)
    angle = np.linspace(0, 2 * np.pi, 181)[:, None]
    circle = np.cos(angle) * along_v + np.sin(angle) * along_w  # (181, 3)
    both, (before, after) = new_panels(2, 3.4, 3.3, share=True)
    panels = ((before, v, np.eye(3), CENTRED, "$v$", "{}"), (after, u, J, CORE, "$u$", "J{}"))
    for axes, start, matrix, colour, name, image in panels:
        axes.plot(*in_plane(start + RING * circle @ matrix.T).T, color=colour)
        arrow(axes, np.zeros(3), start, colour, ":")
        axes.annotate(name, in_plane(0.3 * start), (-9, -5), textcoords="offset points", ha="right", color=colour)
        for direction, line, label in ((along_v, "-", "v"), (along_w, "--", "w")):
            tip = start + RING * matrix @ direction  # (3,)
            arrow(axes, start, tip, INK, line)
            label = f"${image.format(label)}$"
            axes.annotate(label, in_plane(tip + 0.16 * direction), ha="center", va="center", color=INK)
        axes.plot(0, 0, "o", markersize=3, color=FAINT)
        axes.set(aspect="equal", xlim=(-1.75, 0.8), ylim=(-0.15, 2.2))
        axes.axis("off")
    before.plot(*in_plane(v), "o", markersize=11, markerfacecolor=PAPER, markeredgecolor=INPUT)
    before.plot(*in_plane(v), "o", markersize=3, color=INPUT)
    before.annotate(r"$\mathbf{1}$ points at you", (-1.15, 0.3), ha="center", color=INPUT)
    after.plot(*in_plane(np.sqrt(3) * circle).T, linewidth=1.2, color=FAINT)
    after.annotate(r"$\|u\| = \sqrt{3}$", (0.42, 1.78), ha="center", color=INK)
    before.set_title("steps at the input")
    after.set_title("what $J$ makes of them")
    return both


def arrow(axes, start, tip, colour, line):
    form = {"arrowstyle": "->", "color": colour, "linestyle": line, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", in_plane(tip), in_plane(start), arrowprops=form)


@picture
def finite_step(z, step, eps):
    """Along z + t step: the last core coordinate and the Jacobian's prediction, and the distance between the cores."""
    u, slope = normalize(z, eps=eps), jvp(z, step, eps=eps)  # (d,), (d,)
    figure, (values, gaps) = new_figure(4.3, 5.8, nrows=2)

    t = np.linspace(-2.5, 4, 261)[:, None]  # (n, 1)
    actual, predicted = normalize(z + t * step, eps=eps), u + t * slope  # (n, d), (n, d)
    values.plot(t, predicted[:, -1], "--", color=INK, label="predicted by $J$")
    values.plot(t, actual[:, -1], color=CORE, label="actual")
    values.plot(0, u[-1], "o", color=CORE)
    values.set(xlabel="$t$, the multiple of the step", ylabel="last core coordinate", ylim=(-1.05, 2.1))
    values.legend(loc="upper left")

    t = np.geomspace(1e-3, 4, 121)[:, None]  # (n, 1)
    gap = np.linalg.norm(normalize(z + t * step, eps=eps) - u - t * slope, axis=-1)  # (n,)
    gaps.plot(t, gap, color=CORE)
    gaps.set(xscale="log", yscale="log", xlabel="$t$", ylabel="distance between the two")
    gaps.grid()
    return figure


@picture
def direction_slider():
    """Steps of length 1 at z = (1, 2, 3), eps = 1/3 in the plane sum = const, and J of them; the slider turns them."""
    z, eps = np.array([1.0, 2.0, 3.0]), 1 / 3
    _, along_v = spectrum(z, eps=eps).directions  # (3,)
    along_w = np.array([1.0, -2.0, 1.0]) / np.sqrt(6)  # (3,)
    degrees = np.arange(0, 181, 7.5)  # (n,)

    def turned(angle):
        return np.outer(np.cos(np.radians(angle)), along_v) + np.outer(np.sin(np.radians(angle)), along_w)

    def seen(steps):
        """Coordinates along w and along v: (n, 3) -> (n, 2)"""
        return steps @ np.transpose([along_w, along_v])

    J = jacobian(z, eps=eps)  # (3, 3)
    steps, circle = turned(degrees), turned(np.linspace(0, 360, 61))  # (n, 3), (61, 3)
    images = (steps @ J).round(9) + 0.0  # (n, 3), J is symmetric; no rest of rounding, and no -0
    longer = np.linalg.norm(images, axis=-1)  # (n,)
    (left, plane), (right, curve) = new_figure(3.6, 3.9), new_figure(3.6, 3.9)
    plane.plot(*seen(circle).T, "--", color=CENTRED, label="all steps $h$ of length 1")
    plane.plot(*seen(circle @ J).T, color=CORE, label="their images $Jh$")
    fine = np.linspace(0, 180, 61)  # (61,)
    curve.plot(fine, np.linalg.norm(turned(fine) @ J, axis=-1), color=CORE)
    moving = []
    for vectors, colour, line in ((steps, CENTRED, "--"), (images, CORE, "-")):
        tips = seen(vectors)  # (n, 2)
        moving.append(moving_line(plane, [np.transpose([[0, 0], tip]) for tip in tips], line, color=colour))
        moving.append(moving_dots(plane, tips, colour))
    moving.append(moving_dots(curve, list(zip(degrees, longer, strict=True)), CORE))
    plane.set(aspect="equal", xlabel="along $w$", ylabel="along $v$", xlim=(-1.2, 1.2), ylim=(-1.2, 1.2))
    plane.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    curve.set(xlabel="degrees from $v$", ylabel=r"length of $Jh$", xlim=(0, 180), ylim=(0, 1.05))
    curve.set_xticks([0, 90, 180])
    curve.set_yticks([0, 1 / 3, 1], labels=["0", "1/3", "1"])
    left.legend(loc="outside lower center")
    frames = list(zip(degrees, longer, images, strict=True))
    return Slider(
        [left, right],
        moving,
        label="Turn the step",
        values=[f"{number(a)}° from v: ‖Jh‖ = {number(n)}, Jh = {vector(image)}" for a, n, image in frames],
        spoken=[f"{spoken(a)} degrees. Length {spoken(n)}. Image {spoken(image)}" for a, n, image in frames],
        start=degrees.tolist().index(45),
        alt="Left, the steps of length 1 in the plane of vectors with the same sum are a dashed circle, their images "
        "under J a flat ellipse inside, a third as high along v and as wide along w. One step and its image are drawn "
        "as lines; the image turns away from v. Right, the length of the image over the angle from v rises from 1/3 to "
        "1 at 90 degrees and falls again.",
    )

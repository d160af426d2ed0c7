"""What the Jacobian does: to a ring of small steps at a point, and how far its word holds."""

import numpy as np

from lnbook import center, jacobian, jvp, normalize, spectrum
from lnbook.pages.figures.style import CENTRED, CORE, FAINT, INK, INPUT, PAPER, in_plane, new_figure, picture

RING = 0.65  # the length of the steps drawn


@picture
def eigen_directions(z, eps):
    """At z in R^3: a ring of steps in the plane sum = const, and what J makes of it at the core of z."""
    v, u, J = center(z), normalize(z, eps=eps), jacobian(z, eps=eps)  # (3,), (3,), (3, 3)
    along_one, along_v = spectrum(z, eps=eps).directions  # (3,), (3,)
    along_w = np.cross(along_one, along_v)  # (3,)
    angle = np.linspace(0, 2 * np.pi, 181)[:, None]
    circle = np.cos(angle) * along_v + np.sin(angle) * along_w  # (181, 3)
    figure, (before, after) = new_figure(6.0, 3.3, ncols=2, sharex=True, sharey=True)
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
    return figure


def arrow(axes, start, tip, colour, line):
    form = {"arrowstyle": "->", "color": colour, "linestyle": line, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", in_plane(tip), in_plane(start), arrowprops=form)


@picture
def finite_step(z, step, eps):
    """Along z + t step: the last core coordinate and the Jacobian's prediction, and the distance between the cores."""
    u, slope = normalize(z, eps=eps), jvp(z, step, eps=eps)  # (d,), (d,)
    figure, (values, gaps) = new_figure(4.8, 6.2, nrows=2)

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

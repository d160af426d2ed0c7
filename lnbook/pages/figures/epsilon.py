"""Epsilon, seen in the core: the family along (-t, 0, t), and how much variance is left."""

import numpy as np

from lnbook import jvp, normalize, variance
from lnbook.pages.figures.slider import Slider, moving_dots, moving_line, number, one_two_five, spoken
from lnbook.pages.figures.style import BOUND, CORE, EPSILON, FAINT, INK, in_plane, new_figure, picture


@picture
def epsilon_family(epsilons=(0.01, 0.1, 1.0)):
    """The third core coordinate f(t) of (-t, 0, t) above its slope f'(t), one curve for each epsilon."""
    t = np.linspace(-3, 3, 401)  # (n,)
    direction = np.array([-1.0, 0.0, 1.0])  # (d,)
    z = t[:, None] * direction  # (n, d)
    figure, (values, slopes) = new_figure(4.3, 5.8, nrows=2, sharex=True)
    for eps, line in zip(epsilons, ("-", "-.", ":"), strict=True):
        values.plot(t, normalize(z, eps=eps)[:, 2], line, color=EPSILON, label=rf"$\varepsilon = {eps:g}$")
        slopes.plot(t, jvp(z, np.broadcast_to(direction, z.shape), eps=eps)[:, 2], line, color=EPSILON)
    for limit, label, side in ((np.sqrt(1.5), r"$\sqrt{3/2}$", "bottom"), (-np.sqrt(1.5), r"$-\sqrt{3/2}$", "top")):
        values.axhline(limit, linestyle="--", linewidth=1.2, color=INK, zorder=1)
        values.annotate(label, (-2.5 * np.sign(limit), limit), ha="center", va=side)
    values.set(ylabel=r"value $f_\varepsilon(t)$", ylim=(-1.5, 1.5))
    values.legend(loc="lower right", bbox_to_anchor=(1, 0.1))
    slopes.set(xlabel="$t$, the last coordinate of the input", ylabel=r"slope $f'_\varepsilon(t)$", ylim=(0, 10.8))
    for eps in epsilons:
        steepest = 1 / np.sqrt(eps)
        label = rf"$1/\sqrt{{\varepsilon}} = {steepest:.4g}$"
        leader = {"arrowstyle": "-", "color": FAINT}
        slopes.annotate(label, (0.12, steepest), (0.75, steepest + 0.4), va="center", arrowprops=leader)
    return figure


@picture
def core_variance():
    """The variance of the core against q / eps, over six powers of ten."""
    ratio = np.geomspace(1e-3, 1e3, 241)  # (n,)
    z = np.sqrt(ratio)[:, None] * np.array([-1.0, 1.0])  # (n, 2), of variance ratio
    figure, axes = new_figure(4.3, 3.4)
    axes.plot(ratio, variance(normalize(z, eps=1.0)), color=CORE)
    axes.plot([1e-3, 1, 1], [0.5, 0.5, 0], linestyle="--", linewidth=1.2, color=INK)
    axes.plot(1, 0.5, "o", color=CORE)
    axes.annotate(r"$q = \varepsilon$: one half", (1, 0.5), (1.6, 0.42))
    axes.set(xscale="log", xlabel=r"$q\,/\,\varepsilon$", ylabel=r"variance of the core, $q/(q+\varepsilon)$",
             xlim=(1e-3, 1e3), ylim=(0, 1.03))  # fmt: skip
    axes.grid(axis="y")
    return figure


@picture
def epsilon_slider():
    """f(t), the third core coordinate of z = (-t, 0, t), and its derivative; the slider moves epsilon."""
    all_eps = one_two_five(-4, 1)
    near, far = np.linspace(0, 0.5, 41), np.linspace(0.5, 3, 21)[1:]
    t = np.concatenate([-far[::-1], -near[:0:-1], near, far])  # (n,), with t = 0 in the middle
    z, direction = np.outer(t, [-1, 0, 1]), np.tile([-1.0, 0.0, 1.0], (len(t), 1))  # (n, 3)
    forward = [normalize(z, eps=eps)[:, 2] for eps in all_eps]  # a frame: (n,)
    slope = [jvp(z, direction, eps=eps)[:, 2] for eps in all_eps]  # a frame: (n,)
    at_zero = [jvp([0, 0, 0], [-1, 0, 1], eps=eps)[2] for eps in all_eps]
    at_one = [normalize([-1, 0, 1], eps=eps)[2] for eps in all_eps]

    (left, values), (right, slopes) = new_figure(3.6, 3.9), new_figure(3.6, 3.9)
    for y in (-np.sqrt(1.5), np.sqrt(1.5)):
        values.axhline(y, linestyle="--", linewidth=1.2, color=INK)
    for eps, line in ((0.01, ":"), (0.1, "--"), (1, "-."), (10, "-")):
        frame = all_eps.index(eps)
        for axes, curve in ((values, forward), (slopes, slope)):
            axes.plot(t, curve[frame], line, color=FAINT, linewidth=1, label=rf"$\varepsilon = {eps:g}$")
    label = r"$\varepsilon$ of the slider"
    moving = [
        moving_line(values, [(t, y) for y in forward], color=CORE, label=label),
        moving_line(slopes, [(t, y) for y in slope], color=EPSILON, label=label),
        moving_dots(slopes, [(0, top) for top in at_zero], EPSILON),
    ]
    values.set(xlabel="$t$", ylabel="third core coordinate, $f(t)$", xlim=(-3, 3), ylim=(-1.4, 1.4))
    values.set_yticks([-np.sqrt(1.5), 0, np.sqrt(1.5)], labels=[r"$-\sqrt{3/2}$", "0", r"$\sqrt{3/2}$"])
    slopes.set(xlabel="$t$", ylabel="its slope, $f'(t)$", yscale="log", xlim=(-3, 3), ylim=(1e-5, 200))
    for figure in (left, right):
        figure.axes[0].set_xticks(range(-3, 4))
        figure.axes[0].minorticks_off()
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    frames = list(zip(all_eps, at_zero, at_one, strict=True))
    return Slider(
        [left, right],
        moving,
        label="Move ε",
        values=[f"ε = {number(e)}: f′(0) = {number(top)}, f(1) = {number(f)}" for e, top, f in frames],
        spoken=[f"epsilon {spoken(e)}, slope at zero {spoken(top)}, f of one {spoken(f)}" for e, top, f in frames],
        start=all_eps.index(0.1),
        alt="Two plots over t from −3 to 3. Left: the third core coordinate f rises from −√(3/2) to √(3/2), dashed "
        "lines, and crosses 0 at t = 0; the smaller ε, the closer it is to a jump. Right, on a logarithmic scale: its "
        "derivative has its peak at t = 0; a smaller ε makes the peak higher and narrower and the tails lower. Thin "
        "lines show ε = 0.01 (dotted), 0.1 (dashed), 1 (dash-dotted) and 10 (full).",
    )


@picture
def variance_slider():
    """The core's variance q / (q + eps) and the ring of the cores in the plane; the slider moves q / eps."""
    ratios = one_two_five(-4, 4)
    direction = np.array([-1, 0, 1]) * np.sqrt(3 / 2)  # variance 1
    inputs = np.sqrt(ratios)[:, None] * direction  # (n, 3), at eps = 1
    cores = normalize(inputs, eps=1)  # (n, 3)
    variances = variance(cores)  # (n,)
    angle = np.linspace(0, 2 * np.pi, 61)
    circle = np.stack([np.cos(angle), np.sin(angle)])  # (2, 61)
    lengths = np.linalg.norm(cores, axis=-1)  # (n,)

    (left, curve), (right, plane) = new_figure(3.6, 4.0), new_figure(3.2, 3.8)
    fine = np.logspace(-4, 4, 81)  # (81,)
    curve.axhline(1, linestyle="--", linewidth=1.2, color=BOUND, label="1, never reached")
    curve.plot([1e-4, 1, 1], [0.5, 0.5, 0], ":", color=FAINT, linewidth=1, label=r"one half, at $q = \varepsilon$")
    curve.plot(
        fine, variance(normalize(np.sqrt(fine)[:, None] * direction, eps=1)), color=CORE, label="the core’s variance"
    )
    plane.plot(*np.sqrt(3) * circle, "--", color=BOUND, linewidth=1.2, label=r"radius $\sqrt{3}$")
    plane.plot(0, 0, "o", color=FAINT, markersize=4)
    moving = [
        moving_dots(curve, list(zip(ratios, variances, strict=True)), EPSILON),
        moving_line(plane, list(lengths[:, None, None] * circle), color=CORE, label="cores"),
        moving_line(
            plane, [np.stack([0 * u, u], axis=-1) for u in in_plane(cores)], color=EPSILON, label="one of them"
        ),
        moving_dots(plane, in_plane(cores), EPSILON),
    ]
    curve.set(
        xscale="log", xlabel=r"$q\,/\,\varepsilon$", ylabel="variance of the core", xlim=(1e-4, 1e4), ylim=(0, 1.05)
    )
    curve.set_yticks([0, 0.5, 1], labels=["0", "1/2", "1"])
    plane.set(aspect="equal", title="$d = 3$", xlim=(-2, 2), ylim=(-2, 2))
    plane.axis("off")
    left.legend(loc="outside lower center")
    right.legend(loc="outside lower center", ncols=2)
    frames = list(zip(ratios, variances, lengths, strict=True))
    return Slider(
        [left, right],
        moving,
        label="Move q/ε",
        values=[f"q/ε = {number(r)}: the core’s variance is {number(y)}, its length {number(n)}" for r, y, n in frames],
        spoken=[
            f"q over epsilon {spoken(r)}, variance of the core {spoken(y)}, length {spoken(n)}" for r, y, n in frames
        ],
        start=ratios.index(1),
        alt="Left: the core's variance over q/ε, on a logarithmic scale, rises in an S from 0 to 1 and is 1/2 at "
        "q/ε = 1; a dot marks the slider's place. Right: the cores of all directions in R³ with this q/ε are a circle "
        "around the origin; it grows with q/ε and stays inside the dashed circle of radius √3.",
    )

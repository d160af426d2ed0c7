"""The figures with a slider: one function each, all numbers from lnbook."""

import numpy as np

from lnbook import amplification, jvp, layer_norm, lipschitz_constant, normalize, operator_norm, variance
from lnbook.pages.figures.slider import Panel, Slider
from lnbook.pages.figures.style import CAMERA, PLANE, in_plane

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
COORDINATES = {1: "1", 2: "2", 3: "3"}


def number(x, digits=4):
    """Significant digits as text: 0.7746, −1.225, 1.2·10⁻⁵."""
    written, _, exponent = f"{x:.{digits}g}".partition("e")
    if not exponent:
        return written.replace("-", "−")
    power = f"10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    return power if written == "1" else f"{written}·{power}".replace("-", "−")


def spoken(x, digits=4):
    """The same digits for a screen reader: minus 1.225, 1.2 times ten to the minus 5; a vector entry by entry."""
    if np.ndim(x):
        return ", ".join(spoken(entry, digits) for entry in x)
    written, _, exponent = f"{x:.{digits}g}".partition("e")
    power = f" times ten to the {int(exponent)}" if exponent else ""
    return (written + power).replace("-", "minus ")


def vector(values, digits=4):
    return f"({', '.join(number(x, digits) for x in values)})"


def powers_of_ten(low, high, step=1):
    """Ticks of a logarithmic axis, from exponent low to exponent high."""
    plain = {-1: "0.1", 0: "1", 1: "10"}
    return {10.0**e: plain.get(e, f"10{str(e).translate(SUPERSCRIPTS)}") for e in range(low, high + 1, step)}


def one_two_five(low, high):
    """1, 2, 5 times the powers of ten from 10**low to 10**high."""
    return [float(f"{digit}e{e}") for e in range(low, high) for digit in (1, 2, 5)] + [10.0**high]


def moving_dots(panel, x, y, colour):
    """A dot on each point of a moving polyline; x is the same in all frames, y has a row a frame."""
    for i, across in enumerate(x):
        panel.moving_line([(across, row[i]) for row in y], colour, kind="dot")


def epsilon_slider():
    """h(t), the third core coordinate of z = (-t, 0, t), and its derivative; the slider moves epsilon."""
    all_eps = one_two_five(-4, 1)
    near, far = np.linspace(0, 0.5, 41), np.linspace(0.5, 3, 21)[1:]
    t = np.concatenate([-far[::-1], -near[:0:-1], near, far])  # (n,), with t = 0 in the middle
    z, direction = np.outer(t, [-1, 0, 1]), np.tile([-1.0, 0.0, 1.0], (len(t), 1))  # (n, 3)
    forward = [normalize(z, eps=eps)[:, 2] for eps in all_eps]  # a frame: (n,)
    slope = [jvp(z, direction, eps=eps)[:, 2] for eps in all_eps]
    at_zero = [jvp([0, 0, 0], [-1, 0, 1], eps=eps)[2] for eps in all_eps]
    at_one = [normalize([-1, 0, 1], eps=eps)[2] for eps in all_eps]

    limit = np.sqrt(3 / 2)
    ticks = {x: number(x) for x in range(-3, 4)}
    left = Panel(
        (-3, 3),
        (-1.4, 1.4),
        x_ticks=ticks,
        y_ticks={-limit: "−√(3/2)", -1: "", 0: "0", 1: "", limit: "√(3/2)"},
        x_label="t",
        y_label="h(t): the third coordinate of the core",
    )
    right = Panel(
        (-3, 3),
        (1e-5, 200),
        x_ticks=ticks,
        y_ticks=powers_of_ten(-5, 2),
        x_label="t",
        y_label="h′(t): its derivative",
        log="y",
    )
    for y in (-limit, limit):
        left.line([-3, 3], [y, y], "bound", "--")
    for eps, dash in ((0.01, ":"), (0.1, "--"), (1, "-."), (10, "-")):
        frame = all_eps.index(eps)
        left.line(t, forward[frame], "faint thin", dash)
        right.line(t, slope[frame], "faint thin", dash)
    left.moving_line([(t, y) for y in forward], "core")
    right.moving_line([(t, y) for y in slope], "epsilon")
    moving_dots(right, [0], np.array(at_zero)[:, None], "epsilon")
    frames = list(zip(all_eps, at_zero, at_one, strict=True))
    return Slider(
        [left, right],
        label="Move ε",
        values=[f"ε = {number(e)}: h′(0) = {number(top)}, h(1) = {number(h)}" for e, top, h in frames],
        spoken=[f"epsilon {spoken(e)}, slope at zero {spoken(top)}, h of one {spoken(h)}" for e, top, h in frames],
        start=all_eps.index(0.1),
        alt="Two plots over t from −3 to 3. Left: the third core coordinate h rises from −√(3/2) to √(3/2), dashed "
        "lines, and crosses 0 at t = 0; the smaller ε, the closer it is to a jump. Right, on a logarithmic scale: its "
        "derivative has its peak at t = 0; a smaller ε makes the peak higher and narrower and the tails lower. Thin "
        "lines show ε = 0.01 (dotted), 0.1 (dashed), 1 (dash-dotted) and 10 (full).",
    )


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

    left = Panel(
        (1e-4, 1e4),
        (0, 1.05),
        x_ticks=powers_of_ten(-4, 4, 2),
        y_ticks={0: "0", 0.5: "1/2", 1: "1"},
        x_label="q / ε",
        y_label="variance of the core",
        log="x",
    )
    fine = np.logspace(-4, 4, 81)
    left.line([1e-4, 1e4], [1, 1], "bound", "--")
    left.line([1e-4, 1, 1], [0.5, 0.5, 0], "faint thin", ":")
    left.line(fine, variance(normalize(np.sqrt(fine)[:, None] * direction, eps=1)), "core")
    left.moving_line([([ratio], [y]) for ratio, y in zip(ratios, variances, strict=True)], "epsilon", kind="dot")
    right = Panel((-2, 2), (-2, 2), title="the cores in their plane (d = 3)", width=260, equal=True)
    right.line(*np.sqrt(3) * circle, "bound", "--")
    right.line(0, 0, "faint", kind="dot")
    right.moving_line([tuple(length * circle) for length in lengths], "core")
    right.moving_line([np.stack([0 * u, u], axis=-1) for u in in_plane(cores)], "epsilon")
    right.moving_line(list(in_plane(cores)), "epsilon", kind="dot")
    frames = list(zip(ratios, variances, lengths, strict=True))
    return Slider(
        [left, right],
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


def distance_slider():
    """Amplification of the step (t, -t) from the constant input (7, 7), and the norm of J where it ends, over t."""
    steps = np.array(one_two_five(-5, 0))
    fine = np.logspace(-5, 0, 61)
    constant, direction = np.array([7.0, 7.0]), np.array([1.0, -1.0])
    panels, reached = [], []
    for eps, words in ((1e-4, "ε = 10⁻⁴"), (1e-2, "ε = 10⁻²")):
        panel = Panel(
            (1e-5, 1),
            (5e-5, 300),
            x_ticks=powers_of_ten(-5, 0),
            y_ticks=powers_of_ten(-4, 2),
            x_label="t",
            title=words,
            log="xy",
        )
        bound = lipschitz_constant(2, eps=eps)
        panel.line([1e-5, 1], [bound, bound], "bound", "--")
        for t, draw in ((fine, panel.line), (steps, None)):
            h = t[:, None] * direction  # (n, 2)
            finite = amplification(np.broadcast_to(constant, h.shape), h, eps=eps)  # (n,)
            # The norm does not see the constant; left out, a small t keeps all its digits.
            local = operator_norm(h, eps=eps)
            if draw:
                draw(t, finite, "core")
                draw(t, local, "epsilon", ":")
        for y, colour in ((finite, "core"), (local, "epsilon")):
            panel.moving_line([([t], [height]) for t, height in zip(steps, y, strict=True)], colour, kind="dot")
        panel.text(1.6e-5, 4e-3, "dashed: the bound", "bound")
        panel.text(1.6e-5, 9e-4, "full: from (7, 7) to (7+t, 7−t)", "core")
        panel.text(1.6e-5, 2e-4, "dotted: norm of J at the end", "epsilon")
        panels.append(panel)
        reached.append((finite, local))
    (finite_small, local_small), (finite_large, local_large) = reached
    return Slider(
        panels,
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
        start=steps.tolist().index(1e-3),
        alt="Two plots on logarithmic scales over the distance t from the constant input (7, 7), ε = 10⁻⁴ and 10⁻². "
        "The amplification of the step (t, −t) follows the dashed bound, 100 and 10, up to about t = √ε and falls like "
        "1/t beyond; the norm of the Jacobian at the end of the step falls faster. The smaller ε has the higher bound "
        "and leaves it sooner. Dots mark the slider's place.",
    )


def shift_slider():
    """The input (1, 2, 3) under a common shift by c, and with c added to one coordinate only; the slider moves c."""
    z, eps = np.array([1.0, 2.0, 3.0]), 1 / 3
    amounts = np.linspace(-3, 3, 25)
    index = np.array([1, 2, 3])
    panels, cores = [], []
    for title, shift in (
        ("c added to all coordinates", np.ones(3)),
        ("c added to the third only", np.array([0, 0, 1])),
    ):
        moved = z + amounts[:, None] * shift  # (n, 3)
        core = normalize(moved, eps=eps)  # (n, 3)
        panel = Panel(
            (0.7, 3.9),
            (-2.2, 6.2),
            x_ticks=COORDINATES,
            y_ticks={y: number(y) for y in range(-2, 7)},
            x_label="coordinate",
            title=title,
        )
        panel.line([0.7, 3.9], [0, 0], "faint thin", ":")
        panel.line(index, z, "faint thin", "--")
        panel.line(index, normalize(z, eps=eps), "faint thin", "--")
        for colour, dash, values, words in (("input", "-", moved, "input"), ("core", "-.", core, "core")):
            panel.moving_line([(index, row) for row in values], colour, dash)
            moving_dots(panel, index, values, colour)
            panel.text(3.15, values[len(values) // 2, 2] - 0.2, words, colour)
        panels.append(panel)
        cores.append(core)
    frames = list(zip(amounts, *cores, strict=True))
    return Slider(
        panels,
        label="Move c, the shift",
        values=[f"c = {number(c)}: core {vector(a)} if all move, {vector(b)} if the third does" for c, a, b in frames],
        spoken=[f"c {spoken(c)}. Core if all move: {spoken(a)}. If the third moves: {spoken(b)}" for c, a, b in frames],
        start=amounts.tolist().index(1),
        alt="Two plots of the input (1, 2, 3) and its core (−1, 0, 1), coordinate by coordinate, ε = 1/3. Left, c is "
        "added to all coordinates: the input moves up by c and the core stays on its dashed line. Right, c is added to "
        "the third coordinate only: one coordinate of the input moves, and all three of the core do.",
    )


def gain_bias_slider(gain=(1.2, 0.5, -0.8), bias=(0.4, 1.6, 0.6)):
    """The ring of all cores of R^3 while the gain grows from 1 to `gain`, and then the bias from 0 to `bias`."""
    grown, moved = np.linspace(0, 1, 11)[:, None], np.linspace(0, 1, 11)[1:, None]
    gains = np.concatenate([1 + grown * (np.array(gain) - 1), np.tile(gain, (10, 1))])  # (n, 3)
    biases = np.concatenate([np.zeros((11, 3)), moved * np.array(bias)])  # (n, 3)
    angle = np.linspace(0, 2 * np.pi, 73)
    z = np.stack([np.cos(angle), np.sin(angle)], axis=-1) @ PLANE  # (73, 3)
    marked = 8
    rings = [layer_norm(z, g, b, eps=0) for g, b in zip(gains, biases, strict=True)]  # a frame: (73, 3)
    points = np.array([ring[marked] for ring in rings])  # (n, 3)

    left = Panel((-2.2, 2.7), (-2.0, 3.4), title="all cores, and one of them", width=300, equal=True)
    for axis, words in zip(2.3 * np.eye(3), COORDINATES.values(), strict=True):
        tip = CAMERA @ axis
        left.line([0, tip[0]], [0, tip[1]], "faint thin")
        left.text(*1.1 * tip, words, "faint", "middle")
    for words, colour, height in (("dashed: core", "core", 3.35), ("dash-dotted: after the gain", "gain", 3.03)):
        left.text(-2.2, height, words, colour)
    left.text(-2.2, 2.71, "full: output", "bias")
    right = Panel(
        (0.7, 3.9),
        (-1.5, 2.5),
        x_ticks=COORDINATES,
        y_ticks={y: number(y) for y in (-1, 0, 1, 2)},
        x_label="coordinate",
        title="that one, coordinate by coordinate",
    )
    index = np.array([1, 2, 3])
    right.line([0.7, 3.9], [0, 0], "faint thin", ":")
    for frame, colour, dash in ((0, "core", "--"), (10, "gain", "-.")):
        left.line(*CAMERA @ rings[frame].T, colour, dash)
        left.line(*CAMERA @ points[frame], colour, kind="dot")
        right.line(index, points[frame], colour, dash)
    left.moving_line([CAMERA @ ring.T for ring in rings], "bias")
    left.moving_line([CAMERA @ point for point in points], "bias", kind="dot")
    right.moving_line([(index, point) for point in points], "bias")
    moving_dots(right, index, points, "bias")
    frames = list(zip(gains, biases, points, strict=True))
    return Slider(
        [left, right],
        label="Let the gain act, then the bias",
        values=[f"γ = {vector(g, 3)}, β = {vector(b, 3)}: y = {vector(y, 3)}" for g, b, y in frames],
        spoken=[f"gain {spoken(g, 3)}. Bias {spoken(b, 3)}. Output {spoken(y, 3)}" for g, b, y in frames],
        start=len(frames) - 1,
        alt="Left: all cores of R³ at ε = 0 are a circle around the origin, dashed. While the gain grows from 1 to its "
        "value the circle becomes an ellipse, dash-dotted, and turns over when a gain passes 0; then the bias moves "
        "the ellipse without turning it, to the full line. Right: the coordinates of one marked core, dashed, "
        "after the gain, dash-dotted, and of its output, full.",
    )

"""The sharp bounds: where the gains put the worst case, how far typical inputs are from it, and another norm."""

import numpy as np

from lnbook import center, jvp, lipschitz_constant, normalize, operator_norm
from lnbook.pages.figures.style import BOUND, CORE, EPSILON, FAINT, GAIN, INPUT, new_figure, picture
from lnbook.pages.max_norm import max_norm_constant


@picture
def gain_polynomial(gain):
    """The polynomial with the zeros gain_i^2, and its turning points, of which the last is the squared norm."""
    squares = np.sort(np.square(gain))  # (d,)
    p = np.polynomial.Polynomial.fromroots(squares)
    turns = np.sort(p.deriv().roots().real)  # (d - 1,)
    x = np.linspace(squares[0] - 0.6, squares[-1] + 0.8, 301)  # (301,)
    figure, axes = new_figure(6.4, 3.6)
    axes.axhline(0, color=FAINT, linewidth=1)
    axes.plot(x, p(x), color=INPUT)
    for turn in turns:
        axes.plot([turn - 0.8, turn + 0.8], [p(turn)] * 2, color=BOUND)
    axes.plot(turns, p(turns), "o", color=BOUND)
    axes.vlines(turns[-1], p(turns[-1]), 0, color=BOUND, linestyle=":")
    axes.annotate(r"$\lambda$", (turns[-1], 0), (0, 6), textcoords="offset points", ha="center", color=BOUND)
    axes.plot(squares, 0 * squares, "s", color=GAIN)
    for square in squares:
        free = -15 if p.deriv()(square) > 0 else 6  # where the curve is not
        axes.annotate(f"{square:g}", (square, 0), (9, free), textcoords="offset points", ha="center", color=GAIN)
    axes.set(xlabel="$x$", ylabel="$p(x)$")
    return figure


@picture
def norm_over_bound(gain, seed=0):
    """The norm of the Jacobian over the sharp bound, against variance / eps: d = 2, d >= 3, and with gains."""
    ratio = np.geomspace(1e-3, 1e7, 101)  # (101,) variance / eps
    pair, triple = np.array([-1.0, 1.0]), np.array([-1.0, 0.0, 1.0]) * np.sqrt(1.5)  # variance 1
    figure, axes = new_figure(6.4, 4.0)
    for z, line, colour, label in (
        (triple, "-", CORE, "equal gains, $d \\geq 3$"),
        (pair, "-.", EPSILON, "equal gains, $d = 2$"),
    ):
        norms = operator_norm(np.sqrt(ratio)[:, None] * z, eps=1)  # (101,)
        axes.plot(ratio, norms / lipschitz_constant(len(z), eps=1), line, color=colour, label=label)
    direction = center(np.random.default_rng(seed).standard_normal((101, len(gain))))  # (101, d)
    z = direction / np.sqrt((direction**2).mean(axis=1, keepdims=True)) * np.sqrt(ratio)[:, None]
    norms = operator_norm(z, gain, eps=1) / lipschitz_constant(len(gain), gain, eps=1)  # (101,)
    gains = ", ".join(f"{g:g}" for g in gain)
    axes.plot(ratio, norms, "o", color=GAIN, markersize=3, label=f"gains $({gains})$")
    for eps in (1e-3, 1e-5, 1e-6):
        axes.axvline(1 / eps, color=FAINT, linestyle=":", linewidth=1)
        axes.annotate(
            f"$q = 1$, $\\varepsilon = 10^{{{np.log10(eps):.0f}}}$",
            (1 / eps, 1.3),
            (-3, 0),
            textcoords="offset points",
            rotation=90,
            ha="right",
            va="top",
            color=FAINT,
            fontsize=9,
        )
    axes.set(xscale="log", yscale="log", ylim=(1e-4, 2), xlabel=r"$q/\varepsilon$", ylabel="norm of $J$ over the bound")
    axes.legend(loc="lower left")
    return figure


@picture
def constants_over_dimension():
    """The exact constants times sqrt(eps) over d: Euclidean, and in the largest coordinate with its limits."""
    d = np.unique(np.geomspace(2, 4096, 120).round().astype(int))  # (n,)
    exact = np.array([max_norm_constant(int(k), eps=1) for k in d])  # (n,)
    figure, axes = new_figure(6.4, 3.8)
    axes.fill_between(d, np.sqrt(d / 27), 2 + np.sqrt(d / 27), color=BOUND, alpha=0.15, linewidth=0)
    axes.plot(d, exact, color=BOUND, label="largest coordinate: exact")
    axes.plot(d, 2 * (1 - 1 / d), "--", color=EPSILON, label="largest coordinate: constant inputs")
    axes.plot(d, 0 * d + 1, "-.", color=CORE, label="Euclidean length: exact")
    axes.set(xscale="log", yscale="log", xlabel="$d$", ylabel=r"Lipschitz constant times $\sqrt{\varepsilon}$")
    axes.set_yticks([0.5, 1, 2, 5, 10], labels=["0.5", "1", "2", "5", "10"])
    axes.minorticks_off()
    axes.legend(loc="upper left")
    return figure


@picture
def trust_radius(seed=0):
    """The error of the first-order prediction over its natural size, against variance / eps."""
    ratio = np.geomspace(1e-3, 1e3, 241)  # (241,) variance / eps
    tau = ratio / (1 + ratio)  # (241,)
    along = 1.5 * np.sqrt(tau) * (1 - tau) ** 2  # (241,) half the curvature, for steps along v
    figure, axes = new_figure(6.4, 3.8)
    axes.axhline(24 / (25 * np.sqrt(5)), color=BOUND, linestyle="--", label="the bound, $24/(25\\sqrt{5})$")
    axes.plot(ratio, np.where(tau < 1 / 3, along, (1 - tau) / np.sqrt(3)), color=CORE, label="$d \\geq 3$, short steps")
    axes.plot(ratio, along, "-.", color=EPSILON, label="$d = 2$, short steps")
    random = np.random.default_rng(seed)
    direction, h = (center(random.standard_normal((120, 3))) for _ in range(2))  # (120, 3) each
    size = 10 ** random.uniform(-3, 3, (120, 1))  # (120, 1) variance / eps
    z = direction * np.sqrt(size / (direction**2).mean(axis=1, keepdims=True))  # (120, 3)
    h *= 10 ** random.uniform(-1, 0.5, (120, 1)) / np.sqrt((h**2).mean(axis=1, keepdims=True))
    error = np.linalg.norm(normalize(z + h, eps=1) - normalize(z, eps=1) - jvp(z, h, eps=1), axis=1)  # (120,)
    axes.plot(size[:, 0], error * np.sqrt(3) / (h**2).sum(axis=1), "o", color=INPUT, markersize=3, label="finite steps")
    axes.set(xscale="log", xlabel=r"$q/\varepsilon$", ylabel="error over its natural size", ylim=(0, 0.6))
    axes.legend(loc="upper right", ncols=2)
    return figure

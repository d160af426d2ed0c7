"""Epsilon, seen in the core: the family along (-t, 0, t), and how much variance is left."""

import numpy as np

from lnbook import jvp, normalize, variance
from lnbook.pages.figures.style import CORE, EPSILON, FAINT, INK, new_figure, picture


@picture
def epsilon_family(epsilons=(0.01, 0.1, 1.0)):
    """The third core coordinate h(t) of (-t, 0, t) above its slope h'(t), one curve for each epsilon."""
    t = np.linspace(-3, 3, 401)  # (n,)
    direction = np.array([-1.0, 0.0, 1.0])  # (d,)
    z = t[:, None] * direction  # (n, d)
    figure, (values, slopes) = new_figure(4.8, 5.8, nrows=2, sharex=True)
    for eps, line in zip(epsilons, ("-", "-.", ":"), strict=True):
        values.plot(t, normalize(z, eps=eps)[:, 2], line, color=EPSILON, label=rf"$\varepsilon = {eps:g}$")
        slopes.plot(t, jvp(z, np.broadcast_to(direction, z.shape), eps=eps)[:, 2], line, color=EPSILON)
    for limit, label, side in ((np.sqrt(1.5), r"$\sqrt{3/2}$", "bottom"), (-np.sqrt(1.5), r"$-\sqrt{3/2}$", "top")):
        values.axhline(limit, linestyle="--", linewidth=1.2, color=INK, zorder=1)
        values.annotate(label, (-3 * np.sign(limit), limit), ha="center", va=side)
    values.set(ylabel=r"value $h_\varepsilon(t)$", ylim=(-1.5, 1.5))
    values.legend(loc="lower right", bbox_to_anchor=(1, 0.1))
    slopes.set(xlabel="$t$, the last coordinate of the input", ylabel=r"slope $h'_\varepsilon(t)$", ylim=(0, 10.8))
    for eps in epsilons:
        steepest = 1 / np.sqrt(eps)
        slopes.annotate(rf"$1/\sqrt{{\varepsilon}} = {steepest:.4g}$", (0.12, steepest), (0.75, steepest), va="center",
                        arrowprops={"arrowstyle": "-", "color": FAINT})  # fmt: skip
    return figure


@picture
def core_variance():
    """The variance of the core against q / eps, over six powers of ten."""
    ratio = np.geomspace(1e-3, 1e3, 241)  # (n,)
    z = np.sqrt(ratio)[:, None] * np.array([-1.0, 1.0])  # (n, 2), of variance ratio
    figure, axes = new_figure(4.8, 3.4)
    axes.plot(ratio, variance(normalize(z, eps=1.0)), color=CORE)
    axes.plot([1e-3, 1, 1], [0.5, 0.5, 0], linestyle="--", linewidth=1.2, color=INK)
    axes.plot(1, 0.5, "o", color=CORE)
    axes.annotate(r"$q = \varepsilon$: one half", (1, 0.5), (1.6, 0.42))
    axes.set(xscale="log", xlabel=r"$q\,/\,\varepsilon$", ylabel=r"variance of the core, $q/(q+\varepsilon)$",
             xlim=(1e-3, 1e3), ylim=(0, 1.03))  # fmt: skip
    axes.grid(axis="y")
    return figure

"""The backward pass: what comes back of a cotangent, and what low precision makes of its sums over positions."""

import numpy as np

from lnbook import center, variance, vjp
from lnbook.pages.figures.style import BIAS, CENTRED, CORE, EPSILON, FAINT, GAIN, INK, in_plane, new_figure, picture
from lnbook.pages.rounding import BITS, running_sum


@picture
def returned_gradient(z, cotangent, ratios=(0, 0.25, 1, 4)):
    """In the plane of R^3: the centred input, the centred cotangent, and dz for several eps = ratio * variance.

    dz is drawn times sqrt(q + eps), which leaves its component across v the same in all of them.
    """
    figure, axes = new_figure(4.3, 3.2)
    v, centred_cotangent = in_plane(center(z)), in_plane(center(cotangent))  # (2,), (2,)
    q = float(variance(z))
    axes.axline((0, 0), v, color=FAINT, linewidth=1, linestyle=":")
    tips = []
    for ratio in ratios:
        dz, _, _ = vjp(z, cotangent, eps=ratio * q)  # (3,)
        tips.append(in_plane(dz) * np.sqrt(q + ratio * q))  # (2,)
        label = rf"$\varepsilon = {ratio:g}\,q$" if 0 != ratio != 1 else rf"$\varepsilon = {'q' if ratio else 0}$"
        _arrow(axes, tips[-1], EPSILON, label, (0, 5), ha="center")
    axes.plot(*np.array([tips[0], centred_cotangent]).T, color=EPSILON, linewidth=1, linestyle="--")
    _arrow(axes, centred_cotangent, GAIN, r"$P\hat g$", (8, -4))
    _arrow(axes, v, CENTRED, "$v$", (0, 8), ha="center")
    axes.plot(0, 0, "o", color=INK)
    axes.set(aspect="equal")
    axes.margins(0.16)
    axes.axis("off")
    return figure


@picture
def summed_ones(count=4000):
    """The sum of n ones, each addition rounded, over n: bfloat16, float16 and float32."""
    figure, axes = new_figure(4.3, 3.2)
    n = np.arange(1, count + 1)  # (count,)
    for (name, bits), line, colour in zip(BITS.items(), ("-", "--", ":"), (EPSILON, BIAS, CORE), strict=True):
        sums = running_sum(np.ones(count), bits)  # (count,)
        axes.plot(n, sums, line, color=colour)
        axes.annotate(
            f"{name}: {sums[-1]:.0f}", (n[-1], sums[-1]), (6, 0), textcoords="offset points", va="center", color=colour
        )
    axes.set(xlabel="positions added, $n$", ylabel="sum of $n$ ones")
    axes.grid(True)
    return figure


def _arrow(axes, tip, colour, label, offset, **text):
    axes.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 2})
    axes.annotate(label, tip, offset, textcoords="offset points", color=colour, **text)
    axes.update_datalim([tip])

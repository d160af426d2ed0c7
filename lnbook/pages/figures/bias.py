"""The bias beside a common shift: one moves the output, the other the input."""

import numpy as np

from lnbook import layer_norm, normalize
from lnbook.pages.figures.style import BIAS, CORE, FAINT, INK, INPUT, new_panels, picture


@picture
def shift_before_and_after(z, shift, bias, eps):
    """One vector in two versions at three places: a common shift tells the inputs apart, a bias the outputs."""
    z = np.asarray(z)
    panels = [
        ("input", INPUT, (z, z + shift), ("$z$", f"$z + {shift}\\cdot\\mathbf{{1}}$")),
        (
            "core",
            CORE,
            (normalize(z, eps=eps), normalize(z + shift, eps=eps)),
            ("of $z$", f"of $z + {shift}\\cdot\\mathbf{{1}}$"),
        ),
        (
            "output",
            BIAS,
            (normalize(z, eps=eps), layer_norm(z, bias=bias, eps=eps)),
            (r"$\beta = 0$", r"$\beta$ added"),
        ),
    ]
    row, axes_of = new_panels(3, 2.4, 3.6, share=True)
    coordinates = np.arange(1, len(z) + 1)
    for axes, (title, colour, (first, second), labels) in zip(axes_of, panels, strict=True):
        axes.axhline(0, color=FAINT, linewidth=1)
        axes.plot(coordinates, first, "o-", color=INK, markersize=6, label=labels[0])
        axes.plot(coordinates, second, "D--", color=colour, markersize=10, markerfacecolor="none", label=labels[1])
        axes.set(title=title, xticks=coordinates, xlim=(0.6, len(z) + 0.4), xlabel="coordinate")
        axes.set(ylabel="value", ymargin=0.12)
        axes.figure.legend(loc="outside lower center")
    return row

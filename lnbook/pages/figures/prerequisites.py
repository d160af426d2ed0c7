"""Two pictures of linear algebra in the plane: what centring keeps, and what a matrix makes of the unit circle."""

import numpy as np

from lnbook import center
from lnbook.pages.figures.style import BOUND, CENTRED, CORE, FAINT, INK, INPUT, new_figure, picture


def _arrow(axes, start, end, colour):
    axes.annotate(
        "",
        end,
        start,
        arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2, "shrinkA": 0, "shrinkB": 0},
    )


@picture
def projection_of_a_pair(z):
    """A vector of the plane, cut into its piece along the all-ones vector and its centred vector."""
    z = np.asarray(z, float)  # (2,)
    v = center(z)
    along = z - v
    figure, axes = new_figure(4.3, 3.8)
    axes.plot([-0.7, 3.2], [-0.7, 3.2], "--", color=FAINT, linewidth=1)
    axes.text(3.15, 3.0, r"multiples of $\mathbf{1}$", color=FAINT, ha="left", va="top")
    _arrow(axes, (0, 0), along, FAINT)
    _arrow(axes, (0, 0), z, INPUT)
    _arrow(axes, (0, 0), v, CENTRED)
    _arrow(axes, along, z, CENTRED)
    corner = along + 0.2 * np.array([[-1, -1], [0, -2], [1, -1]]) / np.sqrt(2)  # (3, 2)
    axes.plot(*corner.T, color=FAINT, linewidth=1)
    axes.text(along[0] / 2 - 0.12, along[1] / 2 + 0.12, r"$\mu\mathbf{1}$", color=FAINT, ha="right", va="bottom")
    axes.text(z[0] + 0.1, z[1], f"$z = ({z[0]:g}, {z[1]:g})$", color=INPUT, va="center")
    axes.text(v[0] + 0.1, v[1], f"$v = Pz = ({v[0]:g}, {v[1]:g})$", color=CENTRED, va="center")
    middle = (along + z) / 2  # (2,)
    axes.text(middle[0] + 0.12, middle[1] + 0.05, "$v$", color=CENTRED, va="bottom")
    axes.set(aspect="equal", xlim=(-0.8, 4.7), ylim=(-1.4, 3.3), xlabel="coordinate 1", ylabel="coordinate 2")
    return figure


@picture
def circle_to_ellipse(matrix):
    """All vectors of length 1 in the plane and their images under a symmetric matrix, with its two half-axes."""
    matrix = np.asarray(matrix, float)  # (2, 2)
    eigenvalues, eigenvectors = np.linalg.eigh(matrix)  # (2,), (2, 2) in ascending order
    angle = np.linspace(0, 2 * np.pi, 181)
    circle = np.stack([np.cos(angle), np.sin(angle)])  # (2, 181)
    figure, axes = new_figure(4.3, 3.8)
    axes.plot(*circle, "--", color=INPUT, label="$h$ with $\\|h\\| = 1$")
    axes.plot(*(matrix @ circle), color=CORE, label="$Ah$")
    for eigenvalue, w, colour in zip(eigenvalues, eigenvectors.T, (INK, BOUND), strict=True):
        tip = eigenvalue * w * np.sign(w[0])
        _arrow(axes, (0, 0), tip, colour)
        axes.text(*(1.06 * tip), f"{eigenvalue:g}", color=colour, va="bottom" if tip[1] > 0 else "top")
    axes.set(aspect="equal", xticks=range(-2, 3), yticks=range(-2, 3), xlabel="coordinate 1", ylabel="coordinate 2")
    figure.legend(loc="outside lower center")
    return figure

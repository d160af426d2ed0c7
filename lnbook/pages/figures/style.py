"""What all pictures share: one colour for one thing, for both themes, and the form in which a page shows them."""

import functools
import io
import re
from string import ascii_lowercase

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from lnbook.pages.colours import COLOURS

INK, FAINT, PAPER, INPUT, CENTRED, CORE, GAIN, BIAS, EPSILON, BOUND = (light for light, _ in COLOURS.values())

STYLE = {
    "font.size": 11,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "text.color": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": FAINT,
    "grid.alpha": 0.35,
    "lines.linewidth": 2,
    "svg.fonttype": "path",
}

# The plane sum(z) = const of R^3 as every picture draws it: two orthonormal directions, the second one upwards.
PLANE = np.array([[1, -1, 0], [-1, -1, 2]]) / np.sqrt([[2], [6]])  # (2, 3)
# The camera of the pictures of R^3, which looks nearly along (1, 1, 1): what is seen of a vector are these two numbers.
CAMERA = np.array([[-0.5, 0.866, 0], [-0.366, -0.211, 0.906]])  # (2, 3)
# The same plane from the side, at a slant, with the direction 1 upright.
SLANT = np.radians(28)
SIDE_VIEW = np.array([PLANE[0], np.cos(SLANT) * np.ones(3) / np.sqrt(3) + np.sin(SLANT) * PLANE[1]])  # (2, 3)


class Picture(Figure):
    """A matplotlib Figure that a notebook shows as an SVG whose colours are variables, set by the page for its theme.

    Outside the book, in JupyterLab for instance, the variables are not set and the light colours stand.
    """

    def _repr_mimebundle_(self, include=None, exclude=None):
        return as_image(themed_svg(self))


class Panels:
    """Pictures of equal height in a row, as one image; the book puts them below each other where there is no room."""

    def __init__(self, pictures):
        self.pictures = pictures

    def _repr_mimebundle_(self, include=None, exclude=None):
        return as_image(themed_svg(*self.pictures))


def as_image(svg):
    """What a notebook takes: the forms of an image, and how each is shown."""
    return {"image/svg+xml": svg, "text/plain": "(a figure)"}, {"image/svg+xml": {"needs_background": "light"}}


def picture(draw):
    """Decorator of a function that draws one figure: the book's style holds while it draws."""

    @functools.wraps(draw)
    def draw_in_style(*args, **kwargs):
        with matplotlib.rc_context(STYLE):
            return draw(*args, **kwargs)

    return draw_in_style


def new_figure(width=6.4, height=3.6, **subplots):
    """An empty figure and its axes; `subplots` goes to Figure.subplots."""
    figure = Picture(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(**subplots)


def new_panels(count, width, height, share=False):
    """Empty panels and the axes of each; with `share` they have the same limits."""
    pictures, axes = zip(*(new_figure(width, height) for _ in range(count)), strict=True)
    for other in axes[1:] if share else ():
        other.sharex(axes[0])
        other.sharey(axes[0])
    return Panels(pictures), axes


def themed_svg(*figures):
    """The figures side by side as SVG text with `var(--ln-core, #113aa2)` for the core's colour, on every machine."""
    svg = in_row([drawing(figure, letter) for figure, letter in zip(figures, ascii_lowercase[8:], strict=False)])
    for name, (light, _) in COLOURS.items():
        svg = re.sub(light, f"var(--ln-{name}, {light})", svg, flags=re.IGNORECASE)
    return svg


def drawing(figure, letter):
    """The <svg> element of one figure; its ids begin with the letter."""
    stream = io.StringIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(stream, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    svg = in_hundredths(with_numbered_ids(stream.getvalue(), letter))
    return svg[svg.index("<svg") :]


def in_row(drawings):
    """One <svg> element that holds the others side by side; a single one as it is."""
    if len(drawings) == 1:
        return drawings[0]
    sizes = [[float(side) for side in re.findall(r'(?:width|height)="([\d.]+)pt"', svg)[:2]] for svg in drawings]
    lefts = [f"{sum(width for width, _ in sizes[:place]):g}" for place in range(len(sizes))]
    inner = (
        re.sub(r'(width|height)="([\d.]+)pt"', r'\1="\2"', svg.replace("<svg", f'<svg x="{left}"', 1), count=2)
        for svg, left in zip(drawings, lefts, strict=True)
    )
    width, height = f"{sum(width for width, _ in sizes):g}", f"{max(height for _, height in sizes):g}"
    namespace = 'xmlns="http://www.w3.org/2000/svg" version="1.1"'
    return (
        f'<svg {namespace} width="{width}pt" height="{height}pt" viewBox="0 0 {width} {height}">{"".join(inner)}</svg>'
    )


def with_numbered_ids(svg, letter="i"):
    """The picture with its ids counted through, and without those that nothing refers to.

    matplotlib makes ids of all digits of what is drawn, and the last digits differ from one processor to the next.
    """
    referred = set(re.findall(r'(?:href="|url\()#([^")]+)', svg))
    defined = dict.fromkeys(re.findall(r' id="([^"]+)"', svg))
    new = {old: f"{letter}{number}" for number, old in enumerate((old for old in defined if old in referred), start=1)}

    def definition(found):
        return f' id="{new[found[1]]}"' if found[1] in new else ""

    def reference(found):
        return f"{found[1]}#{new[found[2]]}"

    return re.sub(r'(href="|url\()#([^")]+)', reference, re.sub(r' id="([^"]+)"', definition, svg))


def in_hundredths(svg):
    """The picture with its lengths to hundredths of a point; factors, and the comments that repeat the words, stay."""
    return re.sub(r"(<!--.*?-->|scale\(.*?\))|-?\d+\.\d+", _shortened, svg)


def _shortened(found):
    if found[1]:
        return found[1]
    short = f"{float(found[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if short == "-0" else short


def in_plane(vectors):
    """Coordinates of vectors of R^3 in the plane sum(z) = const: (..., 3) -> (..., 2)"""
    return np.asarray(vectors) @ PLANE.T


def in_space(vectors):
    """What the camera sees of vectors of R^3: (..., 3) -> (..., 2)"""
    return np.asarray(vectors) @ CAMERA.T


def draw_space(axes, reach):
    """The three coordinate axes of R^3 as the camera sees them, from 0 to `reach`, each with its number."""
    for axis, label in zip(reach * np.eye(3), ("coordinate 1", "coordinate 2", "coordinate 3"), strict=True):
        tip = in_space(axis)
        axes.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "->", "color": FAINT, "shrinkA": 0, "shrinkB": 0})
        side = "left" if tip[0] > 0.1 * reach else "right" if tip[0] < -0.1 * reach else "center"
        axes.text(*(1.04 * tip), label, ha=side, va="bottom" if side == "center" else "center", color=FAINT)
    axes.axis("off")

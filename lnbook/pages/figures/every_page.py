"""The diagram that every page shows: the four steps of the layer, the page's own step lit."""

from matplotlib.patches import FancyBboxPatch

from lnbook.pages.figures.style import BIAS, CENTRED, EPSILON, FAINT, GAIN, INK, INPUT, PAPER, new_figure, picture

# what a step is called, its formula, what leaves it, its colour
STEPS = {
    "input": ("input", "$z$", "", INPUT),
    "centring": ("centre", r"$z{-}\mu\mathbf{1}$", "$v$", CENTRED),
    "epsilon": ("divide", r"$v / \sqrt{q{+}\varepsilon}$", "$u$", EPSILON),
    "gain": ("stretch", r"$\gamma{\odot}u$", "", GAIN),
    "bias": ("move", r"$\gamma{\odot}u{+}\beta$", "$y$", BIAS),
}
# The core is the input after two steps; the Jacobian and the bounds speak about those two.
LIT = {"core": ("centring", "epsilon"), "layer": tuple(STEPS)}
# In points: the boxes as wide as their formulas, so narrow together that a phone shows the letters at their size.
WIDTHS, GAP, HEIGHT = (26, 46, 56, 38, 50), 13, 24


@picture
def where(part):
    """The steps from z to y with `part` lit: a name of STEPS, "core" (both its steps) or "layer" (all)."""
    lit = LIT.get(part, (part,))
    figure, axes = new_figure(3.95, 0.75)
    axes.set(xlim=(0, 284.4), ylim=(-4, 50))
    axes.axis("off")
    figure.set_layout_engine("none")
    axes.set_position([0, 0, 1, 1])
    left = 3
    for (step, (name, formula, leaves, colour)), width in zip(STEPS.items(), WIDTHS, strict=True):
        on, middle = step in lit, left + width / 2
        axes.add_patch(
            FancyBboxPatch(
                (left, 2),
                width,
                HEIGHT,
                boxstyle="round,pad=0,rounding_size=4",
                facecolor=colour if on else "none",
                edgecolor=colour if on else FAINT,
                linewidth=1.4,
            )
        )
        axes.text(middle, 14, formula, ha="center", va="center", color=PAPER if on else INK, fontsize=10)
        axes.text(middle, 38, name, ha="center", va="center", color=colour if on else FAINT, fontsize=10)
        left += width + GAP
        after = left - GAP / 2
        axes.text(after, 23, leaves, ha="center", va="center", color=INK, fontsize=10)
        axes.annotate("", (left - 2, 14), (left - GAP + 1, 14), arrowprops={"arrowstyle": "->", "color": FAINT})
    return figure

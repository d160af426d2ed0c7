"""The diagram that every page shows: the four steps of the layer, the page's own step lit."""

from matplotlib.patches import FancyBboxPatch

from lnbook.pages.figures.style import BIAS, CENTRED, EPSILON, FAINT, GAIN, INK, INPUT, PAPER, new_figure, picture

# what a step is called, its formula, its colour
STEPS = {
    "input": ("input", "$z$", INPUT),
    "centring": ("centre", r"$v = z{-}\mu\mathbf{1}$", CENTRED),
    "epsilon": ("divide", r"$u = v / \sqrt{q{+}\varepsilon}$", EPSILON),
    "gain": ("stretch", r"$\gamma{\odot}u$", GAIN),
    "bias": ("move", r"$y = \gamma{\odot}u{+}\beta$", BIAS),
}
# The core is the input after two steps; the Jacobian and the bounds speak about those two.
LIT = {"core": ("centring", "epsilon"), "layer": tuple(STEPS)}


@picture
def where(part):
    """The steps from z to y with `part` lit: a name of STEPS, "core" (both its steps) or "layer" (all)."""
    lit = LIT.get(part, (part,))
    figure, axes = new_figure(5.4, 0.95)
    axes.set(xlim=(-0.15, 10), ylim=(0, 1.5))
    axes.axis("off")
    for number, (step, (name, formula, colour)) in enumerate(STEPS.items()):
        left, on = 2.05 * number, step in lit
        axes.add_patch(
            FancyBboxPatch(
                (left, 0.1),
                1.6,
                0.85,
                boxstyle="round,pad=0.05,rounding_size=0.12",
                facecolor=colour if on else "none",
                edgecolor=colour if on else FAINT,
                linewidth=1.4,
            )
        )
        axes.text(left + 0.8, 0.52, formula, ha="center", va="center", color=PAPER if on else INK, fontsize=10)
        axes.text(left + 0.8, 1.22, name, ha="center", va="center", color=colour if on else FAINT, fontsize=10)
        if number:
            axes.annotate("", (left - 0.07, 0.52), (left - 0.38, 0.52), arrowprops={"arrowstyle": "->", "color": FAINT})
    return figure

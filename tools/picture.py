"""Writes the figure of the first page on light paper: for the README, .github/steps.svg, and for who shares a page.

After a change of that figure: `python tools/picture.py`.
"""

import ast

import jupytext
from record import ROOT

from lnbook.pages.figures.style import COLOURS, themed_svg

PICTURE = ROOT / ".github" / "steps.svg"
CARD = ROOT / "book" / "_assets" / "card.png"


def shown():
    """The figure of the first page, drawn by the page's own cell."""
    cells = jupytext.read(ROOT / "book" / "index.md").cells
    (source,) = (cell.source for cell in cells if cell.cell_type == "code" and "figures.steps(" in cell.source)
    *before, last = ast.parse(source).body
    names = {}
    exec(compile(ast.Module(before, []), "index.md", "exec"), names)
    return eval(compile(ast.Expression(last.value), "index.md", "eval"), names)


def on_paper(figure):
    """The figure as the text of a file of its own, on light paper whatever page it is shown on."""
    paper, _ = COLOURS["paper"]
    return themed_svg(figure).replace("<svg ", f'<svg style="background:{paper}" ', 1)


def as_card(figure):
    """The figure below the book's title, in the size that other sites show: 1200 by 630 points of the screen."""
    figure.set(size_inches=(8, 4.2), facecolor=COLOURS["paper"][0])
    figure.suptitle("Layer normalization, settled", fontsize=24)
    return figure


if __name__ == "__main__":
    PICTURE.write_text(on_paper(shown()), encoding="utf8")
    as_card(shown()).savefig(CARD, dpi=150, metadata={"Software": None})

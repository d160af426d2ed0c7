"""Writes .github/steps.svg, the picture of the README: the one that the first page shows, on light paper.

After a change of that figure: `python tools/picture.py`.
"""

import ast

import jupytext
from record import ROOT

from lnbook.pages.figures.style import COLOURS, themed_svg

PICTURE = ROOT / ".github" / "steps.svg"


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


if __name__ == "__main__":
    PICTURE.write_text(on_paper(shown()), encoding="utf8")

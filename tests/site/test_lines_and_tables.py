"""Where lines end, and what becomes of wide tables on a telephone."""

from itertools import pairwise

import pytest
from playwright.sync_api import expect

# Formulas that a line parts from the comma behind them or from the bracket before them.
PARTED = r"""() => {
  const text = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const place = (node, at) => {
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    return range.getBoundingClientRect();
  };
  const seen = [...document.querySelectorAll("main span.math")].filter((formula) => formula.checkVisibility());
  const parted = seen.filter((formula) => {
    const pieces = [...formula.querySelectorAll(".katex-base")];
    text.currentNode = formula.querySelector(".katex");
    const before = text.previousNode();
    const first = pieces[0].getBoundingClientRect(), last = pieces.at(-1).getBoundingClientRect();
    if (/[(\["“]$/.test(before?.data) && place(before, before.length - 1).right > first.left + 1) return true;
    text.currentNode = pieces.at(-1);
    let after = text.nextNode();
    while (after && pieces.at(-1).contains(after)) after = text.nextNode();
    return /^[,.;:!?)\]”]/.test(after?.data) && place(after, 0).left < last.right - 1;
  });
  return [seen.length, parted.map((formula) => formula.parentElement.textContent.slice(0, 80))];
}"""


@pytest.mark.parametrize("page", ["book/epsilon.html", "book/prerequisites.html"])
def test_no_line_begins_with_the_comma_of_a_formula(visit, page):
    tab = visit(page)
    tab.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
    for width in (360, 390, 700):
        tab.set_viewport_size({"width": width, "height": 900})
        formulas, parted = tab.evaluate(PARTED)
        assert formulas > 200 and parted == [], width


def test_the_marks_around_a_formula_are_heard_and_the_formula_is_heard_once(visit):
    item = visit("book/layer-normalization.html").locator("#def-core-mean p", has_text="For every")
    heard = item.evaluate("""(paragraph) => {
      const copy = paragraph.cloneNode(true);
      copy.querySelectorAll("[aria-hidden=true]").forEach((part) => part.remove());
      return copy.textContent.replace(/\\s+/g, " ");
    }""")
    assert heard == "For every z and every ε>0 (and at ε=0 where q>0) the coordinates of uε(z) add up to 0."


@pytest.mark.parametrize("page", ["in-production", "conventions", "settled", "questions"])
def test_on_a_telephone_the_rows_of_a_table_of_prose_are_blocks_with_the_names_of_the_columns(visit, page):
    tab = visit(f"book/{page}.html", width=360)
    tables = tab.locator(".stacked")
    assert tables.count()
    for box in tables.all():
        table = box.get_by_role("table")
        names = table.get_by_role("columnheader").all_inner_texts()
        assert len(names) > 2 and all(names)
        assert box.evaluate("(box) => box.scrollWidth <= box.clientWidth")
        row = table.get_by_role("row").nth(1)
        cells = row.get_by_role("cell").all()
        shown = [cell.evaluate("(cell) => getComputedStyle(cell, '::before').content") for cell in cells]
        assert shown == [f'"{name}" / ""' for name in names]
        tops = [cell.bounding_box()["y"] for cell in cells]
        assert tops == sorted(set(tops))
    tab.set_viewport_size({"width": 1280, "height": 900})
    cell = tables.first.get_by_role("cell").first
    assert cell.evaluate("(cell) => [getComputedStyle(cell).display, getComputedStyle(cell, '::before').content]") == [
        "table-cell",
        "none",
    ]


@pytest.mark.parametrize("page", ["batch-norm-or-layer-norm", "neighbours", "why-it-works"])
def test_a_row_of_a_table_as_a_block_names_no_empty_cell_and_shows_no_tex(visit, page):
    cells = visit(f"book/{page}.html", width=360).locator(".stacked td")
    named = cells.evaluate_all(
        "(all) => all.map((cell) => [cell.dataset.column, cell.textContent, cell.checkVisibility()])"
    )
    assert not any("\\" in column for column, _, _ in named)
    assert all(shown == bool(text.strip()) for _, text, shown in named)


@pytest.mark.parametrize("page", ["in-production", "conventions", "settled", "questions"])
def test_on_a_telephone_no_table_with_two_columns_of_prose_scrolls(visit, page):
    tab = visit(f"book/{page}.html", width=360)
    scrolled = tab.evaluate("""() => [...document.querySelectorAll(".table-scroll")]
      .filter((box) => box.scrollWidth > box.clientWidth + 1)
      .filter((box) => [...box.querySelectorAll("tbody tr")]
        .some((row) => [...row.cells].filter((cell) => cell.textContent.length > 50).length > 1))
      .map((box) => box.textContent.slice(0, 80))""")
    assert scrolled == []


@pytest.mark.parametrize("width", [360, 1280])
def test_without_a_script_the_way_back_to_the_top_is_not_offered_at_the_top(visit, width):
    tab = visit("book/gain.html", width=width, java_script_enabled=False)
    back = tab.get_by_text("Back to top")
    expect(back).to_be_hidden()
    tab.mouse.move(width / 2, 500)
    tab.mouse.wheel(0, 2000)
    expect(back).to_be_in_viewport()
    back.click()
    expect(tab.locator("h1")).to_be_in_viewport()
    expect(back).to_be_hidden()


def test_on_a_telephone_what_is_printed_in_one_line_is_read_without_scrolling(visit):
    tab = visit("book/epsilon.html", width=360)
    outputs = tab.locator(".cell_output pre").evaluate_all("""(all) => all
      .filter((output) => output.checkVisibility() && !output.textContent.trim().includes("\\n"))
      .map((output) => [output.textContent, output.scrollWidth > output.clientWidth])""")
    assert len(outputs) > 10
    assert [text for text, cut in outputs if cut] == []


# Of each display of several formulas: its TeX, and which of the formulas that fit into one line are broken.
BROKEN = """() => [...document.querySelectorAll(".katex-display .parts")].map((display) => {
  const broken = [...display.children].filter((formula) => {
    const pieces = [...formula.querySelectorAll(".katex-base:not(.katex-base .katex-base)")];
    const boxes = pieces.map((piece) => piece.getBoundingClientRect());
    const fits = boxes.reduce((sum, box) => sum + box.width, 0) < display.clientWidth - 1;
    return fits && boxes.some((box, at) => at && box.left < boxes[at - 1].right - 1);
  });
  return [display.closest(".katex").dataset.tex, broken.map((part) => part.textContent)];
})"""


@pytest.mark.parametrize("page", ["epsilon", "in-production", "sharp-bounds", "why-it-works"])
def test_a_display_of_several_formulas_goes_on_in_the_next_line_between_them(visit, page):
    tab = visit(f"book/{page}.html", width=360)
    tab.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
    displays = tab.evaluate(BROKEN)
    assert displays and [formula for _, broken in displays for formula in broken] == []
    assert all("quad" in tex and "allowbreak" not in tex for tex, _ in displays)


TABLES = """() => [...document.querySelectorAll(".table-scroll")].map((box) => [
  box.scrollWidth - box.clientWidth, box.textContent.trim().slice(0, 60),
  [...box.querySelectorAll("td[data-column]")].some((cell) => cell.dataset.column.includes("\\\\")),
])"""


@pytest.mark.parametrize(
    "page",
    [
        *("backward-pass", "conventions", "epsilon", "floating-point", "gain", "jacobian"),
        *("layer-normalization", "one-page", "sensitivity"),
    ],
)
def test_no_table_of_short_cells_is_cut_on_a_telephone_and_its_columns_have_names_without_tex(visit, page):
    tables = visit(f"book/{page}.html", width=360).evaluate(TABLES)
    assert tables and [words for over, words, tex in tables if over > 0 or tex] == []


def test_the_table_of_the_frameworks_is_whole_on_a_screen_of_1280_pixels(visit):
    tables = visit("book/conventions.html").evaluate(TABLES)
    assert [words for over, words, _ in tables if over > 0] == []


def test_on_a_telephone_the_lines_of_a_broken_display_do_not_touch(visit):
    tab = visit("book/geometry.html", width=360)
    pieces = tab.locator("#two-points .katex-display .katex-base:not(.katex-base .katex-base)").evaluate_all(
        "(all) => all.map((piece) => piece.getBoundingClientRect().toJSON())"
    )
    ends = [(one, other) for one, other in pairwise(pieces) if other["left"] < one["right"] - 1]
    assert len(ends) > 1
    for one, other in ends:
        assert other["top"] >= one["bottom"] + 3


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("width", [360, 1000])
def test_at_the_foot_the_way_back_to_the_top_covers_nothing(visit, width, script):
    tab = visit("book/gain.html", width=width, java_script_enabled=script)
    back = tab.get_by_text("Back to top")
    tab.keyboard.press("End")
    expect(back).to_be_in_viewport()
    expect(tab.locator("footer")).to_be_in_viewport(ratio=0.9)
    place, text, foot = (part.bounding_box() for part in (back, tab.locator("main"), tab.locator("footer")))
    assert text["y"] + text["height"] <= place["y"]
    assert place["y"] + place["height"] <= foot["y"]


# Where the lines of displays end: the TeX and what stands before, unless what belongs together is wider than a line.
ENDS = """() => [...document.querySelectorAll(".katex-display > .katex")].flatMap((display) => {
  const pieces = [...display.querySelectorAll(".katex-base")];
  const boxes = pieces.map((piece) => piece.getBoundingClientRect());
  const tooWide = (held) => held && boxes.reduce((sum, box, at) => sum + (held.contains(pieces[at]) ? box.width : 0), 0)
    > display.parentElement.clientWidth;
  return pieces.slice(1).flatMap((piece, at) => {
    const words = pieces.slice(0, at + 1).map((before) => before.textContent).join("");
    const ends = boxes[at + 1].left < boxes[at].right - 1;
    return ends && !tooWide(piece.closest(".held")) ? [[display.dataset.tex, words]] : [];
  });
})"""


def test_no_line_of_a_display_ends_within_parentheses_or_bars(visit):
    ends = []
    for page in ("epsilon", "in-production", "sharp-bounds", "why-it-works"):
        tab = visit(f"book/{page}.html", width=360)
        tab.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
        ends += tab.evaluate(ENDS)
    assert len(ends) > 40
    for tex, words in ends:
        assert words.count("(") <= words.count(")"), tex
        assert words.count("∣") % 2 == words.count("∥") % 2 == 0, tex


# Where the lines of formulas in a paragraph end: what stands before and what behind.
TORN = """() => [...document.querySelectorAll("main span.math")].filter((formula) => formula.checkVisibility())
  .flatMap((formula) => {
    const pieces = [...formula.querySelectorAll(".katex-base")];
    const boxes = pieces.map((piece) => piece.getBoundingClientRect());
    const words = (some) => some.map((piece) => piece.textContent).join("");
    return pieces.slice(1).flatMap((piece, at) => boxes[at + 1].left < boxes[at].right - 1
      ? [[words(pieces.slice(0, at + 1)), words(pieces.slice(at + 1))]] : []);
  })"""


def test_a_short_formula_in_a_paragraph_is_not_torn_within_parentheses(visit):
    torn = []
    for page in ("epsilon", "shift-invariance", "settled"):
        tab = visit(f"book/{page}.html", width=360)
        tab.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
        torn += tab.evaluate(TORN)
    assert len(torn) > 40
    within = [(before, behind) for before, behind in torn if before.count("(") > before.count(")")]
    short = [before + behind for before, behind in within if len(before[before.index("(") :] + behind) <= 20]
    assert short == []


def test_formulas_of_a_display_stand_side_by_side_where_there_is_room(visit):
    tab = visit("book/in-production.html", width=360)
    mean, sum_of_squares = tab.locator(".katex-display .parts").first.locator(":scope > span").all()[:2]
    assert sum_of_squares.bounding_box()["y"] > mean.bounding_box()["y"] + 20
    tab.set_viewport_size({"width": 1280, "height": 900})
    assert sum_of_squares.bounding_box()["x"] > mean.bounding_box()["x"] + mean.bounding_box()["width"] + 20


def test_an_output_of_one_line_goes_on_in_the_next_line_before_a_name(visit):
    tab = visit("book/sensitivity.html", width=360)
    lines = tab.locator(".one-line pre").evaluate_all("""(all) => all
      .filter((output) => output.checkVisibility() && output.children.length > 1)
      .map((output) => [output.textContent.trim(), [...output.children].map((group) => group.clientHeight)])""")
    assert len(lines) > 5
    for text, heights in lines:
        assert text.count("   ") == len(heights) - 1
        assert max(heights) == min(heights), text


@pytest.mark.parametrize("page", ["backward-pass", "in-a-deep-network", "settled", "shift-invariance"])
def test_no_line_of_code_must_be_scrolled_on_a_screen_of_1280_pixels(visit, page):
    tab = visit(f"book/{page}.html", width=1280)
    tab.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
    cut = tab.locator(".cell_input pre").evaluate_all("""(all) => all
      .filter((code) => code.scrollWidth > code.clientWidth).map((code) => code.textContent)""")
    assert cut == []


def test_facts_named_in_a_reason_why_a_proof_is_not_formal_are_links(visit):
    reasons = visit("book/machine-checked.html").get_by_role("cell").filter(has_text="not formal:")
    for words, ids in [
        ("follows sharp-polynomial", ["sharp-polynomial"]),
        ("follows fold and", ["fold", "attn-key-constant"]),
    ]:
        links = reasons.filter(has_text=words).first.get_by_role("link").all()
        assert [link.get_attribute("href").split("#")[1] for link in links] == ids
    plain = reasons.filter(has_text="needs the symmetry of third derivatives")
    assert plain.count() and plain.get_by_role("link").count() == 0


@pytest.mark.parametrize("page", ["attention-and-expressivity", "in-production", "sharp-bounds"])
def test_no_formula_must_be_scrolled_on_a_screen_of_1280_pixels(visit, page):
    tab = visit(f"book/{page}.html", width=1280)
    tab.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
    displays = tab.locator("main div.math .katex-display")
    cut = displays.evaluate_all(
        "(all) => all.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.textContent.slice(0, 80))"
    )
    assert displays.count() > 10 and cut == []


def test_on_a_telephone_long_names_of_files_and_functions_end_a_line_between_words(visit):
    proofs = visit("book/machine-checked.html", width=360)
    boxes = proofs.locator(".table-scroll").evaluate_all("(all) => all.map((b) => b.scrollWidth - b.clientWidth)")
    assert len(boxes) > 15 and max(boxes) <= 1
    names = visit("book/api.html", width=360).locator(".sig-name")
    lines = names.evaluate_all("(all) => all.map((name) => name.getClientRects().length)")
    assert len(lines) > 40 and set(lines) == {1}


@pytest.mark.parametrize("width", [320, 345])
@pytest.mark.parametrize("page", ["404.html", "search.html", "book/bias.html"])
def test_the_bar_fits_beside_a_scrollbar_and_on_the_smallest_telephone(visit, page, width):
    assert visit(page, width=width).evaluate("document.documentElement.scrollWidth") == width


def test_the_bibliography_is_in_the_order_of_authors_and_shows_no_numbers(visit):
    sources = visit("book/bibliography.html").locator(".sources > li").all_inner_texts()
    assert len(sources) > 100 and not any(source[0].isdecimal() for source in sources)
    begun = [
        next(at for at, source in enumerate(sources) if source.startswith(name))
        for name in ("Sanjeev Arora", "Biao Zhang")
    ]
    assert begun == sorted(begun) and begun[0] < 10

"""One symbol, one meaning: the table has every letter that is in use, and no page gives one of its symbols another."""

import re
from collections import Counter
from pathlib import Path

import pytest
from statements import CELL, tex
from statements.evaluate import value
from sympy import Rational

BOOK = Path(__file__).parents[1] / "book"
LISTING = re.compile(r"^```[a-z]+\n(?s:.*?)^```$", re.MULTILINE)


def source(path):
    """The text of a page without its cells and its listings, in which a dollar is a prompt."""
    return LISTING.sub("", CELL.sub("", path.read_text(encoding="utf8")))


SOURCES = {path.stem: source(path) for path in sorted(BOOK.glob("*.md"))}
ROW = re.compile(r"^\| (\$.*?) \|", re.MULTILINE)
GREEK = (
    r"\\(?:alpha|beta|gamma|delta|varepsilon|[zt]?h?eta|kappa|lambda|mu|xi|rho|sigma|tau|phi|psi|omega|ell)(?![a-z])"
)
# Words, the all-ones vector, the real numbers; then all commands that are no Greek letter; then the O of an order.
NO_LETTER = re.compile(
    rf"\\(?:operatorname|text|mathrm|begin|end|mathbb|mathbf)\*?\{{[^}}]*\}}|:label: \S+|(?!{GREEK})\\[a-zA-Z]+|\bO\("
)
LETTER = re.compile(rf"{GREEK}|[a-zA-Z]")


def letters(text):
    """The letters in the formulas of a text."""
    return {letter for formula in tex.formulas(text) for letter in LETTER.findall(NO_LETTER.sub(" ", formula))}


def first_column(heading):
    """The letters of the first column of the table of `layer-normalization` below this heading row."""
    table = SOURCES["layer-normalization"].partition(heading)[2].partition("\n\n")[0]
    return letters(" ".join(ROW.findall(table)))


FIXED = first_column("| symbol | in the code | what it is | shape |")
HABIT = first_column("| letters | as a rule |")


def definitions(symbol):
    """(page, right side) of each "symbol = …" in a formula of the book, where the right side is more than a number."""
    for page, text in SOURCES.items():
        for formula in tex.formulas(text):
            for before, after in tex.equations(formula):
                if before == symbol and letters(f"${after}$"):
                    yield page, after


def first_words(symbol, page):
    """The words around the first place where a page uses a symbol."""
    place = re.search(rf"\$[^$]*{re.escape(symbol)}(?![a-z])", SOURCES[page])
    return place and SOURCES[page][max(0, place.start() - 400) : place.end() + 150]


def test_the_table_has_each_letter_of_more_than_three_pages():
    pages = Counter(letter for text in SOURCES.values() for letter in letters(text))
    used = {letter for letter, count in pages.items() if count > 3}
    assert used - FIXED - HABIT == set()


def test_no_letter_has_both_a_fixed_meaning_and_a_habit():
    assert set() == FIXED & HABIT


def test_r_is_one_over_the_root_everywhere():
    # In turn: any input, a constant one, and the pair (t, 0) at t = 2 of an example.
    inputs = [
        {"q": 2, r"\varepsilon": 7, "x": 9},
        {"q": 0, r"\varepsilon": 4},
        {"q": 1, r"\varepsilon": Rational(1, 4), "t": 2},
    ]
    found = list(definitions("r"))
    assert len(found) > 8
    for page, right in found:
        known = [names for names in inputs if letters(f"${right}$") <= names.keys()]
        assert any(value(right, names) ** -2 == names["q"] + names[r"\varepsilon"] for names in known), (page, right)


def test_one_over_the_root_has_no_other_letter():
    """But for the scale alpha of a law, of which it is a value in one proof."""
    root = {"1/\\sqrt{q+\\varepsilon}", "\\frac{1}{\\sqrt{q+\\varepsilon}}", "(q+\\varepsilon)^{-1/2}"}
    named = {
        before
        for text in SOURCES.values()
        for formula in tex.formulas(text)
        for before, after in tex.equations(formula)
        if after.replace(" ", "") in root and re.fullmatch(LETTER, before)
    }
    assert named == {"r", r"\alpha"}


@pytest.mark.parametrize(
    ("symbol", "right"),
    [
        # The last three are choices of the gradient that comes back: a loss is chosen so that it is this vector.
        (r"\hat g", {r"\gamma \odot g", r"\gamma \odot \partial\ell/\partial y", r"\gamma", "v", "w"}),
        ("g", {r"\partial\ell/\partial y", "y"}),
        (r"\zeta", {"2^{-p}"}),
        (r"\theta", {"(W, b)"}),
        (r"\eta", set()),
    ],
)
def test_a_symbol_is_defined_in_one_way(symbol, right):
    assert {after for _, after in definitions(symbol)} <= set(right)


@pytest.mark.parametrize(
    ("symbol", "words"), [(r"\eta", ("rate", "step")), (r"\theta", ("weights", "(W, b)")), (r"\zeta", ("roundoff",))]
)
def test_each_page_says_what_the_symbol_is_where_it_first_uses_it(symbol, words):
    places = {page: first_words(symbol, page) for page in SOURCES}
    assert [page for page, text in places.items() if text and not any(word in text for word in words)] == []

"""The book's sentences are those whose tests were read, and their numbers and formulas are those that are computed.

`make statement LABEL=…` shows a sentence with its tests and what changed, and renews its pin.
"""

import importlib
import pkgutil

import pytest
import statements
import sympy
from statements import BOOK, PINNED, READINGS, pinned, tex
from statements import statements as statements_now
from sympy.parsing.latex import LaTeXParsingError

for module in pkgutil.iter_modules(statements.__path__):
    importlib.import_module(f"statements.{module.name}")

NOW, THEN = statements_now(), pinned()
CALLS = [(label, reading) for label, readings in READINGS.items() for reading in readings]


def test_each_statement_is_pinned_and_no_other():
    assert {"new": sorted(NOW.keys() - THEN.keys()), "gone": sorted(THEN.keys() - NOW.keys())} == {
        "new": [],
        "gone": [],
    }


def test_each_statement_is_as_it_was_when_its_tests_were_read():
    changed = [label for label in NOW.keys() & THEN.keys() if NOW[label].text != THEN[label]]
    assert sorted(changed) == [], "read their tests, then renew each: make statement LABEL=…"


def test_each_pin_lies_in_the_file_of_its_page():
    for path in PINNED.glob("*.md"):
        labels = [entry.partition("\n")[0] for entry in path.read_text(encoding="utf8").split("\n## ")[1:]]
        assert labels == [label for label, statement in NOW.items() if statement.page == path.stem]


@pytest.mark.parametrize("page", sorted(path.stem for path in BOOK.glob("*.md")))
def test_each_lead_under_what_people_get_wrong_is_an_entry(page):
    leads, section = [], False
    for text in (BOOK / f"{page}.md").read_text(encoding="utf8").splitlines():
        section = text == "## What people get wrong" if text.startswith("## ") else section
        leads += [text] if section and text.startswith(("**", "### ")) else []
    entries = [entry for entry in NOW.values() if entry.page == page and entry.kind == "correction"]
    assert len(entries) == len(leads)
    for lead, entry in zip(leads, entries, strict=True):
        assert lead.strip('#* "“').startswith(entry.text.strip('"“')[:10])


def test_each_mistake_has_a_reading():
    assert [label for label, entry in NOW.items() if entry.kind == "correction" and label not in READINGS] == []


@pytest.mark.parametrize(
    ("written", "term"),
    [
        (r"v/\sqrt\varepsilon", "v/sqrt(epsilon)"),
        (r"2\sqrt\varepsilon q", "2*q*sqrt(epsilon)"),
        (r"\sqrt2", "sqrt(2)"),
        (r"\sqrt 2", "sqrt(2)"),
        (r"\sqrt d", "sqrt(d)"),
        (r"\sqrt{q + 1}", "sqrt(q + 1)"),
        (r"\sqrt[3]{q}", "q**(1/3)"),
    ],
)
def test_a_root_is_read_with_braces_and_without(written, term):
    assert tex.read(written) == sympy.sympify(term)


@pytest.mark.parametrize("written", [r"\sqrt\frac12", r"\sqrt\tfrac{1}{2}"])
def test_a_root_of_a_fraction_without_braces_is_refused(written):
    with pytest.raises(LaTeXParsingError):
        tex.read(written)


def test_each_reading_is_of_a_statement():
    assert sorted(READINGS.keys() - NOW.keys()) == []


@pytest.mark.parametrize(("label", "reading"), CALLS, ids=[f"{label}-{reading.__name__}" for label, reading in CALLS])
def test_the_text_says_what_is_computed(label, reading):
    reading(NOW[label])

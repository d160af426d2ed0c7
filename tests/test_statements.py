"""The book's sentences are those whose tests were read, and their numbers and formulas are those that are computed.

`make statement LABEL=…` shows a sentence with its tests and what changed, and renews its pin.
"""

import importlib
import pkgutil

import pytest
import statements
from statements import PINNED, READINGS, pinned
from statements import statements as statements_now

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


def test_each_reading_is_of_a_statement():
    assert sorted(READINGS.keys() - NOW.keys()) == []


@pytest.mark.parametrize(("label", "reading"), CALLS, ids=[f"{label}-{reading.__name__}" for label, reading in CALLS])
def test_the_text_says_what_is_computed(label, reading):
    reading(NOW[label])

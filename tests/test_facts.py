"""The ledger of facts, the labels of the pages and the marks of the tests say the same, all ways."""

import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FACTS = tomllib.loads((ROOT / "book" / "facts.toml").read_text("utf-8"))
WAYS = {"exact", "property", "numeric", "peer"}
# A statement: a prf directive that is no proof, with its options
STATEMENT = re.compile(r"^ *[`:]{3,}\{prf:(?!proof)(\w+)\}.*\n((?: *:[\w-]+:.*\n)*)", re.MULTILINE)
LABEL = re.compile(r"^ *:label: *(\S+) *$", re.MULTILINE)


def statements():
    """(page, kind, label or None) of every statement in the book."""
    for path in sorted((ROOT / "book").glob("*.md")):
        for kind, options in STATEMENT.findall(path.read_text("utf-8")):
            label = LABEL.search(options)
            yield path.stem, kind, label and label[1]


@pytest.fixture(scope="module")
def marks(tmp_path_factory):
    """The fact marks of all tests, as pytest itself collects them."""
    path = tmp_path_factory.mktemp("facts") / "marks.json"
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    run = subprocess.run([*command, "--fact-marks", path, ROOT / "tests"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads(path.read_text("utf-8"))


def test_each_fact_says_where_it_stands_in_one_line():
    for fact in FACTS.values():
        assert fact.keys() == {"page", "line"}
        assert (ROOT / "book" / f"{fact['page']}.md").is_file()


def test_each_fact_is_stated_once_on_its_page():
    stated = Counter((label, page) for page, _, label in statements() if label)
    ledger = Counter((name, fact["page"]) for name, fact in FACTS.items())
    assert {"not stated": sorted(ledger - stated), "not in the ledger": sorted(stated - ledger)} == {
        "not stated": [],
        "not in the ledger": [],
    }


def test_each_statement_has_a_label():
    assert [(page, kind) for page, kind, label in statements() if label is None] == []


def test_each_fact_has_a_test_and_each_mark_its_fact(marks):
    marked = {mark["fact"] for mark in marks}
    assert {"not tested": sorted(FACTS.keys() - marked), "unknown": sorted(marked - FACTS.keys())} == {
        "not tested": [],
        "unknown": [],
    }


def test_each_mark_names_facts_and_a_known_way(marks):
    assert [mark["test"] for mark in marks if mark["way"] not in WAYS] == []


def test_each_fact_is_pinned_exactly_or_for_all_inputs(marks):
    pinned = {mark["fact"] for mark in marks if mark["way"] in {"exact", "property"}}
    assert sorted(FACTS.keys() - pinned) == []

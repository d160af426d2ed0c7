"""The register of facts, the labels of the pages, the marks of the tests and their record say the same, all ways."""

import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from results import RECORD

ROOT = Path(__file__).parents[1]
FACTS = tomllib.loads((ROOT / "book" / "facts.toml").read_text("utf-8"))
WAYS = ["exact", "property", "numeric", "peer"]
# A statement: a prf directive that is no proof, with its options
STATEMENT = re.compile(r"^ *[`:]{3,}\{prf:(?!proof)(\w+)\}.*\n((?: *:[\w-]+:.*\n)*)", re.MULTILINE)
LABEL = re.compile(r"^ *:label: *(\S+) *$", re.MULTILINE)


def statements():
    """(page, kind, label or None) of every statement in the book."""
    for path in sorted((ROOT / "book").glob("*.md")):
        for kind, options in STATEMENT.findall(path.read_text("utf-8")):
            label = LABEL.search(options)
            yield path.stem, kind, label and label[1]


def marks_in(record):
    """{fact: {way: the functions that carry its mark}} of all parts of a record."""
    marks = {}
    for part in record.values():
        for name, ways in part["facts"].items():
            for way, functions in ways.items():
                marks.setdefault(name, {}).setdefault(way, set()).update(functions)
    return marks


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """The fact marks of all tests, as pytest itself collects them."""
    path = tmp_path_factory.mktemp("facts") / "marks.json"
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    run = subprocess.run([*command, "--record", path, ROOT / "tests"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return marks_in(json.loads(path.read_text("utf-8")))


@pytest.fixture
def recorded():
    """The fact marks of the last recorded run. A run that is recorded itself leaves out the tests that ask for this."""
    return marks_in(json.loads(RECORD.read_text("utf-8")))


def test_each_fact_says_what_is_repeated_elsewhere():
    for fact in FACTS.values():
        assert fact.keys() - {"rms"} == {"page", "line", "pinned"}
        assert (ROOT / "book" / f"{fact['page']}.md").is_file()
        assert fact["pinned"] == [way for way in WAYS if way in fact["pinned"]]
        assert fact.get("rms", {}).keys() <= {"verdict", "form"}


def test_each_fact_is_stated_once_on_its_page():
    stated = Counter((label, page) for page, _, label in statements() if label)
    register = Counter((name, fact["page"]) for name, fact in FACTS.items())
    assert {"not stated": sorted(register - stated), "not in the register": sorted(stated - register)} == {
        "not stated": [],
        "not in the register": [],
    }


def test_each_statement_has_a_label():
    assert [(page, kind) for page, kind, label in statements() if label is None] == []


def test_each_fact_is_pinned_in_the_ways_it_says_and_each_mark_names_a_fact(collected):
    assert {name: sorted(ways) for name, ways in collected.items()} == {
        name: sorted(fact["pinned"]) for name, fact in FACTS.items()
    }


def test_each_fact_is_pinned_exactly_or_for_all_inputs():
    assert [name for name, fact in FACTS.items() if not {"exact", "property"} & set(fact["pinned"])] == []


def test_the_record_has_the_marks_that_the_tests_have(collected, recorded):
    assert recorded == collected, "the tests have changed since they were recorded: run them all with --record"

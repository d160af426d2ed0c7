"""The page for teachers keeps up with the book: every exercise is there once, and the week leads through every page."""

import re
from collections import Counter
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
EXERCISE = re.compile(r"^`{3,}\{exercise\}\n:label: (\S+)$", re.MULTILINE)
WITH_HINT = re.compile(
    r"^(`{3,})\{exercise\}\n:label: (\S+)\n(?:(?!^\1$)(?s:.))*?\{admonition\} Hint\n:class: dropdown\n", re.MULTILINE
)
SOLUTION = re.compile(r"^`{3,}\{solution-start\} (\S+)$", re.MULTILINE)
ENTRY = re.compile(r"^- \{ref\}`(\S+)`, \{doc\}`(\S+)`: ", re.MULTILINE)


def text(page):
    return (ROOT / "book" / f"{page}.md").read_text("utf-8")


def section(heading):
    """The part of the page below a heading of the second level."""
    return re.search(rf"^## {heading}$\n(.*?)(?=^## |\Z)", text("for-teachers"), re.MULTILINE | re.DOTALL)[1]


def pages():
    """(caption of its part, page) of every page in _toc.yml."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    return [(part["caption"], Path(c["file"]).name) for part in toc["parts"] for c in part["chapters"]]


def test_each_exercise_is_listed_once_with_its_page():
    book = Counter((label, page) for _, page in pages() for label in EXERCISE.findall(text(page)))
    listed = Counter(ENTRY.findall(section("The exercises by level")))
    assert {"not listed": sorted(book - listed), "not in the book": sorted(listed - book)} == {
        "not listed": [],
        "not in the book": [],
    }


def test_each_line_of_the_list_is_understood():
    lines = [line for line in section("The exercises by level").splitlines() if line.startswith("-")]
    assert len(lines) == sum(len(EXERCISE.findall(text(page))) for _, page in pages())


def test_each_exercise_has_its_solution_on_its_page():
    for _, page in pages():
        assert Counter(EXERCISE.findall(text(page))) == Counter(SOLUTION.findall(text(page))), page


def test_each_exercise_has_a_hint_before_its_solution():
    for _, page in pages():
        assert EXERCISE.findall(text(page)) == [label for _, label in WITH_HINT.findall(text(page))], page


def test_each_page_of_a_concept_has_five_exercises_or_more():
    """The verdicts have three beside their questions, and the pages for reference have none."""
    counts = {page: len(EXERCISE.findall(text(page))) for _, page in pages() if "## Exercises" in text(page)}
    assert len(counts) > 15
    assert {page: n for page, n in counts.items() if n < 5} == {"settled": 3}


def test_the_week_leads_through_every_page_but_the_reference():
    to_read = {page for caption, page in pages() if caption != "Reference"}
    assert to_read - set(re.findall(r"\{doc\}`([\w-]+)`", section("A week"))) == set()

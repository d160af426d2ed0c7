"""The page of the functions has all that are public, and the facts their docstrings name are facts."""

import inspect
import re
import tomllib
from pathlib import Path

import pytest

import lnbook
from lnbook import conformance

BOOK = Path(__file__).parents[1] / "book"
FACTS = tomllib.loads((BOOK / "facts.toml").read_text("utf-8"))
PUBLIC = [(module, name) for module in (lnbook, conformance) for name in module.__all__]


def on_the_page():
    """module.name of each function and class that the page names."""
    module, names = "", set()
    for directive, name in re.findall(r"^\.\. (\w+):: (\S+)$", (BOOK / "api.md").read_text("utf-8"), re.MULTILINE):
        if directive == "currentmodule":
            module = name
        elif directive in ("autofunction", "autoclass"):
            names.add(f"{module}.{name}")
    return names


def test_the_page_has_every_public_name():
    assert {f"{module.__name__}.{name}" for module, name in PUBLIC} == on_the_page()


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=lambda part: getattr(part, "__name__", part))
def test_the_facts_of_a_docstring_are_in_the_register(module, name):
    docstring = inspect.getdoc(getattr(module, name)) or ""
    named = [id for ids in re.findall(r"Facts: ([^.]+)\.", docstring) for id in re.split(r",\s+|\s+and\s+", ids)]
    assert [id for id in named if id not in FACTS] == []


def test_most_functions_name_their_facts():
    """Without this the pattern above could find nothing and pass."""
    with_facts = [name for name in lnbook.__all__ if "Facts: " in (inspect.getdoc(getattr(lnbook, name)) or "")]
    assert len(with_facts) > len(lnbook.__all__) / 2

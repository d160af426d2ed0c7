"""A page is executed again when code that its imports reach has changed: what reaches what, and what counts as code."""

import re

import jupytext
import pytest
from imports import Code
from record import ROOT
from record import pages as notebook_pages

from lnbook.pages import figures

FILES = {
    "requirements.txt": "numpy==2",
    "lnbook/__init__.py": '"""Hands on."""\nfrom lnbook.a import f\nfrom .b import g as h\n__all__ = ["f", "h"]\n',
    "lnbook/a.py": 'from lnbook import deep\n\ndef f():\n    """What f does."""\n    return deep.x  # why\n',
    "lnbook/b.py": "from .sub.c import x\ng = x\n",
    "lnbook/deep.py": "x = 1\n",
    "lnbook/sub/__init__.py": "",
    "lnbook/sub/c.py": "x = 2\n",
    "lnbook/lazy.py": 'from importlib import import_module as get\n\ndef __getattr__(name):\n    get("lnbook.deep")\n',
    "lnbook/works.py": "from lnbook.b import g\nready = g\n",
}


@pytest.fixture
def home(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf8")
    return tmp_path


@pytest.mark.parametrize(
    ("cell", "reached"),
    [
        ("import numpy", ""),
        ("from lnbook import f", ". a deep"),
        ("from lnbook import h as k", ". b sub sub.c"),
        ("import lnbook\nlnbook.f()", ". a b deep sub sub.c"),
        ("import lnbook.deep", ". a b deep sub sub.c"),
        ("import lnbook.deep as it", ". deep"),
        ("def late():\n    from lnbook import deep\n    return deep.x", ". deep"),
        ("from lnbook import *", ". a b deep sub sub.c"),
        ("from lnbook.lazy import deep", ". deep lazy"),
        ("from lnbook.works import ready", ". b sub sub.c works"),
        ("%precision 3", ". a b deep lazy sub sub.c works"),
    ],
)
def test_what_the_cells_of_a_page_reach(home, cell, reached):
    code = Code(home)
    expected = {"lnbook" if name == "." else f"lnbook.{name}" for name in reached.split()}
    assert code.reached(code.names([cell])) - {"lnbook.__init__", "lnbook.sub.__init__"} == expected


@pytest.mark.parametrize(
    ("file", "old", "new", "changes"),
    [
        ("lnbook/a.py", "# why", "# because", False),
        ("lnbook/a.py", "What f does.", "What it does.", False),
        ("lnbook/a.py", "deep.x", "-deep.x", True),
        ("lnbook/deep.py", "1", "3", True),
        ("lnbook/b.py", "g = x", "g = -x", False),
        ("requirements.txt", "2", "3", True),
    ],
)
def test_a_version_changes_with_the_code_that_is_reached_and_with_nothing_else(home, file, old, new, changes):
    before, after = Code(home), home / file
    names = before.names(["from lnbook import f"])
    version = before.version(names)
    after.write_text(after.read_text(encoding="utf8").replace(old, new), encoding="utf8")
    assert (Code(home).version(names) != version) == changes


@pytest.mark.parametrize("page", notebook_pages(), ids=lambda page: page.stem)
def test_a_page_reaches_the_modules_of_its_figures_and_no_figure_of_other_pages(page):
    code = Code(ROOT)
    cells = [cell.source for cell in jupytext.read(page).cells if cell.cell_type == "code"]
    drawn = {name for name in re.findall(r"\bfigures\.(\w+)", "\n".join(cells)) if name in figures.__all__}
    reached = {module for module in code.reached(code.names(cells)) if ".figures." in module}
    defining = {getattr(figures, name).__module__ for name in drawn}
    assert defining <= reached
    every = {getattr(figures, name).__module__ for name in figures.__all__}
    assert reached & every - defining <= code.reached(defining)

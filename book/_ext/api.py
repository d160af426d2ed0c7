"""The docstrings of lnbook as a page: autodoc reads them, numpydoc understands their sections.

They are plain text for a terminal. What reStructuredText would take for markup is escaped, a name in backticks becomes
code, or a link where the page has that function, and the facts they name become links to their statements.
"""

import re
import tomllib
from pathlib import Path

import lnbook
from lnbook import conformance

PUBLIC = {name: f"{module.__name__}.{name}" for module in (conformance, lnbook) for name in module.__all__}


def configure(app, config):
    config.autodoc_typehints = "none"  # the docstrings say more than the hints can
    config.numpydoc_show_class_members = False
    config.autosummary_generate = False  # else each build imports what the pages name, SymPy too


def fact_pattern(app):
    """Two patterns: the word before ids with all of them, and one id."""
    facts = tomllib.loads(Path(app.srcdir, "book", "facts.toml").read_text(encoding="utf8"))
    id = "(?:" + "|".join(sorted(facts, key=len, reverse=True)) + r")(?![\w-])"
    return re.compile(rf"\b[Ff]acts?:?\s+{id}(?:(?:,|\s+and)\s+{id})*"), re.compile(rf"(?<![\w-]){id}")


def code(name):
    """A name between backticks: a link where it is a public function."""
    target = PUBLIC.get(name.removeprefix("lnbook."))
    return f":py:obj:`{name} <{target}>`" if target else f"``{name}``"


def link_docstring(app, what, name, obj, options, lines):
    """Runs before numpydoc, on the docstring as it was written."""
    named, id = fact_pattern(app)
    # Every second part is the inside of a pair of backticks.
    plain = re.split(r"`+([^`\n]+)`+", "\n".join(lines))
    plain[::2] = [re.sub(r"([|*]|(?<=\w)_(?!\w))", r"\\\1", part) for part in plain[::2]]
    plain[1::2] = [code(name) for name in plain[1::2]]
    text = named.sub(lambda facts: id.sub(r":fact-id:`\g<0>`", facts[0]), "".join(plain))
    lines[:] = text.split("\n")


def setup(app):
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("numpydoc")
    app.connect("config-inited", configure)
    app.connect("autodoc-process-docstring", link_docstring, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""What search engines and the book's own search are told of a page beside its text, by pages.toml."""

import functools
import tomllib
from pathlib import Path

PAGES = Path(__file__).parents[1] / "pages.toml"


@functools.cache
def pages():
    return tomllib.loads(PAGES.read_text(encoding="utf8"))


def about(docname):
    """{title, description, words} of a page of the book; of others nothing."""
    return pages().get(docname.removeprefix("book/"), {})

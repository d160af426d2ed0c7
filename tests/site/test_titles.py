"""What search engines are told of each page. No browser is needed."""

import html
import re
import tomllib

import pytest
from conftest import ROOT

PAGES = tomllib.loads((ROOT / "book" / "pages.toml").read_text(encoding="utf8"))


@pytest.fixture(scope="module")
def text(built):
    return lambda page: (built / "book" / f"{page}.html").read_text(encoding="utf8")


def test_each_page_has_a_title_and_a_description_of_its_own(pages, text):
    shown = {page: text(page) for page in (name[5:-5] for name in pages if re.fullmatch(r"book/[\w-]+\.html", name))}
    titles = [re.search("<title>(.*?)</title>", page)[1] for page in shown.values()]
    told = [re.findall('<meta name="description" content="(.*?)">', page) for page in shown.values()]
    assert all(len(each) == 1 for each in told), told
    descriptions = [html.unescape(each[0]) for each in told]
    assert len(set(titles)) == len(set(descriptions)) == len(shown)
    for description in descriptions:
        assert 70 <= len(description) <= 160 and description[0].isupper() and description.endswith("."), description


def test_titles_are_in_the_words_of_who_searches():
    for name, page in PAGES.items():
        assert len(page["title"]) <= 64, name
        assert re.search(r"layer ?norm|lnbook", page["title"], re.IGNORECASE), name
    titles = " ".join(page["title"] for page in PAGES.values()).lower()
    for words in ("layernorm vs batchnorm", "gradient", "epsilon", "pytorch", "float16", "lipschitz"):
        assert words in titles

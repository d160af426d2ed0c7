"""The files of the built book: headings in order, ids of one thing, links that lead somewhere. No browser is needed."""

import os
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urljoin
from xml.etree import ElementTree

import pytest
from conftest import PREFIX


class Reader(HTMLParser):
    """Collects the ids, links and heading levels of a page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.headings = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        for name in ("href", "src"):
            if attributes.get(name):
                self.links.append(attributes[name])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))


@pytest.fixture(scope="session")
def read(built):
    return {
        path.relative_to(built).as_posix(): Reader(path.read_text(encoding="utf8")) for path in built.rglob("*.html")
    }


def test_headings_are_in_order(read):
    for page, reader in read.items():
        assert reader.headings[0] == 1, page
        steps = zip(reader.headings, reader.headings[1:], strict=False)
        assert all(below <= above + 1 for above, below in steps), (page, reader.headings)


def test_an_id_names_one_thing(read):
    for page, reader in read.items():
        assert len(reader.ids) == len(set(reader.ids)), (page, {i for i in reader.ids if reader.ids.count(i) > 1})


def test_every_link_inside_the_site_leads_somewhere(read, built):
    dead = []
    for page, reader in read.items():
        if page == "404.html":  # its links are absolute, see below
            continue
        for link in reader.links:
            target, part = urldefrag(urljoin(f"http://site/{page}", link.split("?")[0]))
            if not target.startswith("http://site/"):
                continue
            file = unquote(target.removeprefix("http://site/"))
            if not (built / file).is_file() or (part and file in read and unquote(part) not in read[file].ids):
                dead.append(f"{page} -> {link}")
    assert dead == []


def test_the_page_for_lost_readers_leads_home_from_any_depth(read):
    links = [link for link in read["404.html"].links if not link.startswith(("http", "#", "data:"))]
    assert links and all(link.startswith(f"{PREFIX}/") for link in links)


def test_no_page_links_to_a_script_or_style_elsewhere(built):
    for path in [*built.rglob("*.html"), *built.rglob("*.css")]:
        text = path.read_text(encoding="utf8")
        assert not re.findall(
            r"""(?:<script[^>]*src=|<link[^>]*stylesheet[^>]*href=|url\(|@import )["']?https?:""", text
        ), path


def test_the_site_map_lists_the_pages_of_the_book_and_nothing_else(built, pages):
    url = os.environ.get("BOOK_URL")
    sitemap = built / "sitemap.xml"
    assert sitemap.exists() == bool(url)
    if url:
        listed = [place.text for place in ElementTree.parse(sitemap).getroot().iter() if place.tag.endswith("loc")]
        assert sorted(listed) == sorted(f"{url}{page}" for page in pages if page.startswith("book/"))


def test_a_page_brings_our_files_and_no_others(built):
    """Those of the extensions that Jupyter Book always loads are used nowhere."""
    allowed = {"book.css", "colours.css", "katex/katex.css", "book.js", "favicon.ico", "favicon.svg", "favicon.png"}
    for path in built.rglob("*.html"):
        used = set(re.findall(r"_static/([^\"?]+)", path.read_text(encoding="utf8")))
        own = {"workbench": "workbench", "index": "steps", "one-page": "one-page"}.get(path.stem)
        assert used <= allowed | {f"{own}.js", f"{own}.css"}, path

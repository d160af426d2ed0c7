"""Every page of the built book: complete, quiet, light, in order, and whole in print."""

import gzip
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest

# What a reader sees beside code and formulas.
PROSE = """() => {
  const copy = document.body.cloneNode(true);
  copy.querySelectorAll("pre, code, script, style, .katex, svg, math").forEach((element) => element.remove());
  return copy.textContent;
}"""

FORMULAS = """() => [...document.querySelectorAll("main .math")].filter((formula) => {
  for (let box = formula.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  const shape = formula.querySelector(".katex-html")?.getBoundingClientRect();
  return !formula.querySelector("math") || !shape || shape.width < 2 || shape.height < 2;
}).map((formula) => formula.textContent.slice(0, 80))"""

# Pictures without a sentence that says what is seen.
UNDESCRIBED = """() => [...document.querySelectorAll("main svg, main img")].filter((picture) => {
  const words = picture.alt ?? picture.closest("[role=img]")?.ariaLabel ?? "";
  return !picture.closest("[aria-hidden=true]") && (words.length < 20 || /\\.(svg|png)$/.test(words));
}).map((picture) => picture.outerHTML.slice(0, 200))"""


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


def test_the_book_is_all_there(pages):
    assert {"book/index.html", "book/gain.html", "book/epsilon.html", "search.html", "404.html"} <= set(pages)


def test_every_page_opens_without_a_fault_shows_its_formulas_and_describes_its_figures(pages, visit):
    faults = []
    for page in pages:
        tab = visit(page)
        assert tab.title() and tab.locator("h1").count() == 1, page
        assert tab.locator("html").get_attribute("lang") == "en"
        faults += [
            f"{page} shows TeX: {found[0]}" for found in re.finditer(r".*(\\[a-zA-Z]{2,}|\$).*", tab.evaluate(PROSE))
        ]
        faults += [f"{page} has an empty formula: {formula}" for formula in tab.evaluate(FORMULAS)]
        faults += [f"{page} does not describe {picture}" for picture in tab.evaluate(UNDESCRIBED)]
        assert tab.evaluate("[...document.fonts].filter((font) => font.status === 'error').length") == 0
        tab.context.close()
    assert faults == [], "\n".join(faults)


def test_every_page_is_light(pages, visit, built):
    """At most 400 KB a page and 90 KB of script, as a server that compresses texts sends them."""
    for page in pages:
        tab = visit(page)
        names = tab.evaluate(
            "[location, ...performance.getEntriesByType('resource').map((entry) => entry.name)].map(String)"
        )
        sizes = {name: weight(built / urlsplit(name).path.lstrip("/")) for name in names}
        assert sum(sizes.values()) <= 400_000, (page, sizes)
        assert sum(size for name, size in sizes.items() if urlsplit(name).path.endswith(".js")) <= 90_000, (page, sizes)
        tab.context.close()


def weight(file):
    return len(file.read_bytes() if file.suffix == ".woff2" else gzip.compress(file.read_bytes()))


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
    assert links and all(link.startswith("/") for link in links)


def test_no_page_links_to_a_script_or_style_elsewhere(built):
    for path in [*built.rglob("*.html"), *built.rglob("*.css")]:
        text = path.read_text(encoding="utf8")
        assert not re.findall(
            r"""(?:<script[^>]*src=|<link[^>]*stylesheet[^>]*href=|url\(|@import )["']?https?:""", text
        ), path


def test_print_unfolds_everything_and_cuts_nothing(pages, visit):
    a4_within_margins = 658
    cut = []
    for page in pages:
        tab = visit(page, width=a4_within_margins)
        tab.emulate_media(media="print")
        assert tab.locator("header.bar").is_hidden()
        assert all(
            tab.locator("details > :nth-child(2)").evaluate_all("(all) => all.map((e) => e.checkVisibility())")
        ), page
        cut += tab.evaluate("""() => [...document.querySelectorAll(".scroll, .table-scroll, pre")]
            .filter((box) => box.scrollWidth > box.clientWidth + 1)
            .map((box) => `${location}: ${box.textContent.slice(0, 80)}`)""")
        tab.context.close()
    assert cut == []

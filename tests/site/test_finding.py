"""Finding one's way: the contents of a page, the list of chapters, the way back, links, filters, citations."""

import io
import re
import tomllib
from types import SimpleNamespace

import pytest
from conftest import ROOT
from playwright.sync_api import expect
from pypdf import PdfReader

FACTS = tomllib.loads((ROOT / "book" / "facts.toml").read_text(encoding="utf8"))
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]["version"]
BAR = 3.25 * 18

WRONG = re.compile(r'<section id="(wrong-[\w-]+)">.*?<h3>(.*?)<a class="headerlink" href="#([\w-]+)"', re.DOTALL)


def top(locator):
    return locator.evaluate("(element) => element.getBoundingClientRect().top")


def test_the_contents_mark_the_part_that_is_read_down_to_its_entries(visit):
    tab = visit("book/gain.html")
    contents = tab.get_by_role("navigation", name="On this page")
    marked = contents.locator("[aria-current]")
    inner = contents.get_by_role("link", name="The stored number is the gain")
    expect(inner).to_be_hidden()
    contents.get_by_role("link", name="What people get wrong").click()
    expect(marked).to_have_text("What people get wrong")
    expect(inner).to_be_visible()
    inner.click()
    expect(marked).to_contain_text("The stored number is the gain")
    heading = tab.locator("h3", has_text="The stored number is the gain")
    assert BAR <= top(heading) <= BAR + 40
    # Upwards again the section around it is marked, and at the foot the last one, however short.
    tab.mouse.move(640, 450)
    tab.evaluate("scrollBy(0, -120)")
    expect(marked).to_have_text("What people get wrong")
    tab.evaluate("scrollTo(0, document.body.scrollHeight)")
    last = contents.locator("a").last
    expect(last).to_have_attribute("aria-current", "location")
    expect(last).to_be_in_viewport()


def test_on_a_telephone_the_contents_fold_and_there_is_a_way_back(visit):
    tab = visit("book/settled.html", width=360, has_touch=True)
    contents = tab.get_by_role("navigation", name="On this page")
    link = contents.locator("ul ul a").last
    expect(link).to_be_hidden()
    contents.locator("summary").tap()
    link.tap()
    assert tab.evaluate("scrollY") > 5000
    back = tab.get_by_role("link", name="Back to top")
    expect(back).to_be_in_viewport()
    back.tap()
    expect(tab.locator("h1")).to_be_in_viewport()
    expect(back).to_be_hidden()
    # Nothing hovers here: what a mouse would bring up is there.
    for shown in (".headerlink", ".copy"):
        assert tab.locator(shown).first.evaluate("(element) => getComputedStyle(element).opacity") == "1"


def test_the_list_of_chapters_shows_where_one_is_and_can_be_hidden(visit):
    tab = visit("book/glossary.html")
    tab.set_viewport_size({"width": 1280, "height": 500})
    tab.reload()
    chapters = tab.get_by_role("navigation", name="Chapters")
    here = chapters.locator("[aria-current]")
    expect(here).to_have_text("Glossary")
    expect(here).to_be_in_viewport()
    button = tab.get_by_role("button", name="Chapters")
    expect(button).to_have_attribute("aria-expanded", "true")
    button.click()
    expect(chapters).to_be_hidden()
    tab.goto(tab.url.replace("glossary", "gain"))
    expect(chapters).to_be_hidden()
    button.click()
    expect(chapters).to_be_visible()
    expect(here).to_have_text("Gain")
    tab.set_viewport_size({"width": 360, "height": 500})
    expect(chapters).to_be_hidden()
    button.click()
    expect(here).to_be_in_viewport()


def test_a_fact_and_a_page_are_cited_in_one_click(visit):
    tab = visit("book/gain.html", permissions=["clipboard-read", "clipboard-write"])
    address = tab.url
    tab.locator("#gain-sign .cite").click()
    expect(tab.locator("#gain-sign .cite")).to_have_text("Copied")
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert copied == (
        "@misc{lnbook-gain-sign,\n  author = {{The authors of lnbook}},\n"
        "  title = {{A negative gain flips its coordinate}},\n"
        f"  howpublished = {{Layer normalization, settled, version {VERSION}}},\n  year = {{2026}},\n"
        f"  note = {{Fact gain-sign}},\n  url = {{{address}#gain-sign}},\n}}\n"
    )
    tab.get_by_role("button", name="Cite", exact=True).click()
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("@misc{lnbook-gain,") and f"url = {{{address}}}" in copied and "note" not in copied


def test_every_sheet_of_paper_names_the_page_and_its_address(visit):
    tab = visit("book/bibliography.html")
    sheets = PdfReader(io.BytesIO(tab.pdf(format="A4"))).pages
    assert len(sheets) > 1
    for sheet in sheets:
        text = " ".join(sheet.extract_text().split())
        assert tab.title() in text and tab.url in text


@pytest.mark.parametrize(("page", "script"), [("index", True), ("verification", True), ("index", False)])
def test_the_tables_of_the_facts_fold_and_can_be_filtered(visit, page, script):
    tab = visit(f"book/{page}.html", java_script_enabled=script)
    rows = tab.locator(".group tbody tr")
    assert rows.count() == len(FACTS)
    groups = tab.locator("details.group")
    assert groups.count() == len({fact["page"] for fact in FACTS.values()})
    if not script:
        expect(tab.get_by_label("Show the facts with")).to_be_hidden()
        assert all(rows.evaluate_all("(rows) => rows.map((row) => row.checkVisibility())"))
        return
    expect(rows.first).to_be_hidden()
    tab.get_by_label("Show the facts with").fill("gain-sign")
    expect(rows.locator("visible=true")).to_have_count(1)
    expect(rows.locator("visible=true")).to_contain_text("A negative gain flips its coordinate")
    expect(tab.locator(".filter output")).to_have_text("1 fact")
    tab.get_by_label("Show the facts with").fill("norm bound")
    found = int(tab.locator(".filter output").inner_text().split()[0])
    assert found == rows.locator("visible=true").count() > 5
    tab.get_by_label("Show the facts with").fill("")
    expect(groups.locator("visible=true")).to_have_count(groups.count())
    expect(rows.first).to_be_hidden()


def test_every_entry_of_what_people_get_wrong_is_a_heading_with_a_link_of_its_own(built):
    listed = 0
    for page in sorted((ROOT / "book").glob("*.md")):
        source = page.read_text(encoding="utf8")
        entries = re.search(r"^## What people get wrong\n(.*?)(?=^## |\Z)", source, re.DOTALL | re.MULTILINE)
        path = built / "book" / f"{page.stem}.html"
        if not entries or not path.exists():
            continue
        bold = re.findall(r"^\*\*.*?\*\*", re.sub(r"```.*?^```", "", entries[1], flags=re.DOTALL | re.MULTILINE), re.M)
        html = path.read_text(encoding="utf8")
        found = WRONG.findall(html)
        assert found and len(found) >= len(bold), page.stem
        assert all(name == link for name, _, link in found), page.stem
        contents = html[html.index('class="sections"') : html.index("<main")]
        assert all(f'href="#{name}"' in contents for name, *_ in found), page.stem
        listed += len(found)
    assert listed >= 72


def test_an_entrys_name_is_its_first_words():
    from docutils import nodes
    from mistakes import name_of

    def name(*parts):
        return name_of(nodes.strong("", "", *parts))

    assert name(nodes.Text("“The stored number is the gain's.”")) == "wrong-the-stored-number-is-the-gains"
    assert name(nodes.Text("The norm is "), nodes.math("", r"\sqrt d"), nodes.Text(".")) == "wrong-the-norm-is"
    long = name(nodes.Text("one two three four five six seven eight nine ten eleven twelve thirteen"))
    assert long == "wrong-one-two-three-four-five-six-seven-eight-nine-ten"


def test_the_glossary_is_in_order_and_leads_back_to_the_uses(visit):
    tab = visit("book/glossary.html")
    terms = tab.locator("dl.glossary > dt").evaluate_all("(all) => all.map((term) => term.firstChild.textContent)")
    assert len(terms) > 50 and terms == sorted(terms, key=str.casefold)
    uses = tab.locator("dt:has(#term-epsilon) + dd .uses, dt#term-epsilon + dd .uses")
    uses.get_by_role("link", name="Epsilon").click()
    tab.wait_for_url("**/epsilon.html#*")
    assert tab.locator(":target").locator("a[href='glossary.html#term-epsilon']").count() > 0


def test_who_is_lost_can_search(visit, address, browser):
    tab = browser.new_page()
    tab.goto(f"{address}/404.html")
    tab.get_by_role("searchbox").fill("gain-sign")
    expect(tab.locator(".results a").first).to_be_visible()
    assert tab.locator(".results a").first.get_attribute("href").endswith("/book/gain.html#gain-sign")
    tab.close()


def test_a_page_leads_to_its_source_where_a_repository_is_set(monkeypatch):
    import publish

    monkeypatch.setattr(publish, "REPOSITORY", "https://github.com/someone/book")
    env = SimpleNamespace(found_docs={"book/gain", "book/glossary"}, doc2path=lambda name: f"/root/{name}.md")
    app = SimpleNamespace(env=env, srcdir="/root")

    def links(page, *there):
        context = {"page_links": list(there)}
        publish.offer_source(app, page, "page.html", context, None)
        return {link["text"]: link["href"] for link in context["page_links"]}

    words = {
        "History": "https://github.com/someone/book/commits/main/book/glossary.md",
        "Edit": "https://github.com/someone/book/edit/main/book/glossary.md",
        "Report a fault": "https://github.com/someone/book/issues/new?title=book/glossary.md",
    }
    assert links("book/glossary") == words
    assert links("book/gain", {"text": "Notebook", "href": "gain.ipynb"}) == {
        "Notebook": "gain.ipynb",
        **{text: href.replace("glossary", "gain") for text, href in words.items()},
        "Binder": "https://mybinder.org/v2/gh/someone/book/main?urlpath=lab/tree/book/gain.md",
        "Colab": "https://colab.research.google.com/github/someone/book/blob/notebooks/gain.ipynb",
    }
    assert links("search") == {}


CONCEPTS = ["layer-normalization", "bias", "gain", "epsilon", "jacobian", "sensitivity", "shift-invariance"]

TOO_WIDE = """() => [...document.querySelectorAll("main .math .scroll")]
  .filter((box) => !box.closest("details, .cell_output") && box.scrollWidth > box.clientWidth + 1)
  .map((box) => box.querySelector(".katex").dataset.tex)"""


def test_the_formulas_of_the_concepts_fit_a_telephone(visit):
    tab = visit("book/index.html", width=360)
    for page in ["index", *CONCEPTS]:
        tab.goto(tab.url.replace(tab.url.split("/")[-1], f"{page}.html"))
        assert tab.evaluate(TOO_WIDE) == [], page


def test_the_strip_of_steps_keeps_letters_that_can_be_read(visit):
    tab = visit("book/gain.html", width=360)
    sizes = tab.locator("article .ln-figure").evaluate_all(
        "(all) => all.map((svg) => [svg.getBoundingClientRect().width, parseFloat(svg.getAttribute('width'))])"
    )
    # A letter is 10 points high or more; a point is to be a pixel or more, unless the whole figure is small.
    assert sizes and all(shown >= min(points, 300) for shown, points in sizes)

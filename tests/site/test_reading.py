"""What a reader does with a page: search, switch the theme, look at a reference, turn pages, read without a script."""

import re

import pytest
from playwright.sync_api import expect

DARK, LIGHT = "rgb(20, 24, 30)", "rgb(255, 255, 255)"


def paper(tab):
    return tab.evaluate("getComputedStyle(document.body).backgroundColor")


def ask(tab, words):
    """The address of the first result for these words."""
    tab.get_by_role("searchbox", name="Search the book").fill(words)
    return tab.locator(".results a").first.get_attribute("href")


@pytest.mark.parametrize("from_file", [False, True])
def test_search_finds_a_fact_by_its_id_name_and_words(visit, from_file):
    tab = visit("book/index.html", from_file=from_file)
    tab.get_by_role("button", name="Search").click()
    assert ask(tab, "gain-sign").endswith("book/gain.html#gain-sign")
    assert ask(tab, "negative gain flips").endswith("book/gain.html#gain-sign")
    assert ask(tab, "sign opposite").endswith("book/gain.html#gain-sign")
    assert ask(tab, "operator nor").endswith("book/glossary.html#term-operator-norm")
    first = tab.locator(".results a").first
    ask(tab, "flip its coordinate sign")
    expect(first.locator("small")).to_contain_text("Gain › The facts")
    expect(first.locator("mark").first).to_be_visible()
    ask(tab, "gain-sign")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/book/gain.html#gain-sign")
    assert tab.locator("#gain-sign").is_visible()


@pytest.mark.parametrize("key", ["/", "Control+k", "Meta+k"])
def test_a_key_opens_the_search_and_what_it_does_not_find_comes_with_suggestions(visit, key):
    tab = visit("book/gain.html", width=360)
    tab.locator("input[type=range]").first.focus() if "+" in key else None
    tab.keyboard.press(key)
    box = tab.get_by_role("searchbox", name="Search the book")
    expect(box).to_be_focused()
    box.fill("epxsilno")
    expect(tab.get_by_role("status")).to_contain_text("Nothing in the book has these words")
    tab.get_by_role("button", name="epsilon", exact=True).click()
    expect(box).to_have_value("epsilon")
    expect(box).to_be_focused()
    assert tab.locator(".results a").first.get_attribute("href").endswith("book/epsilon.html#epsilon")
    tab.keyboard.press("Escape")
    expect(box).to_be_hidden()


def test_a_page_loads_nothing_of_the_search_before_it_is_opened(visit):
    tab = visit("book/gain.html")
    loaded = "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/search')).length"
    assert tab.evaluate(loaded) == 0
    tab.keyboard.press("/")
    ask(tab, "gain")
    assert tab.evaluate(loaded) > 1


def test_the_search_page_answers_the_question_in_its_address(visit):
    tab = visit("search.html?q=gain-sign")
    assert tab.locator(".results a").first.get_attribute("href").endswith("book/gain.html#gain-sign")


def test_the_theme_follows_the_system_and_the_switch_and_stays(visit):
    tab = visit("book/gain.html", color_scheme="dark")
    assert paper(tab) == DARK
    switch = tab.get_by_role("button", name="Theme")
    expect(switch).to_have_text("Theme: system")
    switch.click()
    expect(switch).to_have_text("Theme: light")
    assert paper(tab) == LIGHT
    figure = "getComputedStyle(document.querySelector('.ln-figure [style*=--ln-ink]')).fill"
    light = tab.evaluate(figure)
    switch.click()
    expect(switch).to_have_text("Theme: dark")
    assert paper(tab) == DARK and tab.evaluate(figure) != light
    tab.emulate_media(color_scheme="light")
    assert paper(tab) == DARK
    tab.keyboard.press("ArrowRight")
    tab.wait_for_url("**/epsilon.html")
    assert paper(tab) == DARK
    tab.get_by_role("button", name="Theme").click()
    assert paper(tab) == LIGHT


@pytest.mark.parametrize("from_file", [False, True])
def test_a_reference_shows_what_it_names(visit, from_file):
    tab = visit("book/gain.html", from_file=from_file)
    preview = tab.get_by_role("tooltip")
    fact = tab.locator("article a.internal[href='layer-normalization.html#def-core-mean']").first
    fact.evaluate("(link) => { const box = link.closest('details'); if (box) box.open = true; }")
    for link, words in [
        (fact, "The core has mean zero"),
        (tab.locator("article a.internal[href='#gain-example']").first, "Three gains, three effects"),
        (
            tab.locator("article a.internal[href='glossary.html#term-core']").first,
            "between the division and the gain",
        ),
    ]:
        link.hover()
        expect(preview).to_contain_text(words)
        assert link.get_attribute("aria-describedby") == preview.get_attribute("id")
        tab.keyboard.press("Escape")
        expect(preview).to_be_hidden()
    fact.hover()
    expect(preview).to_be_visible()
    preview.hover()
    tab.wait_for_timeout(600)
    expect(preview).to_be_visible()
    tab.mouse.move(5, 5)
    expect(preview).to_be_hidden()


def test_a_preview_follows_the_keyboard_and_lies_within_the_page(visit):
    tab = visit("book/epsilon.html", width=360)
    link = tab.locator("article a.internal[href='glossary.html#term-variance']").first
    link.focus()
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Tab")
    expect(link).to_be_focused()
    preview = tab.get_by_role("tooltip")
    expect(preview).to_contain_text("The divisor is")
    box = preview.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 360
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    tab.keyboard.press("Tab")
    expect(preview).not_to_contain_text("The divisor is")


def test_an_equation_shows_itself_where_it_is_cited(visit):
    tab = visit("book/layer-normalization.html")
    tab.locator("article a.internal[href^='#equation-']").first.hover()
    expect(tab.get_by_role("tooltip").locator(".katex-display")).to_be_visible()


def test_arrows_turn_pages_but_not_while_the_reader_types_or_slides(visit):
    tab = visit("book/gain.html")
    tab.keyboard.press("/")
    tab.get_by_role("searchbox", name="Search the book").fill("abc")
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("Escape")
    tab.locator("input[type=range]").first.focus()
    tab.keyboard.press("ArrowRight")
    tab.wait_for_timeout(300)
    assert tab.url.endswith("/gain.html")
    tab.locator("h1").click()
    tab.keyboard.press("ArrowLeft")
    tab.wait_for_url("**/bias.html")
    tab.keyboard.press("ArrowRight")
    tab.wait_for_url("**/gain.html")


def test_a_link_into_something_folded_unfolds_it(visit):
    tab = visit("book/gain.html")
    inside = tab.evaluate("""() => {
      const box = document.querySelector("details.proof-of");
      box.lastElementChild.id = "inside";
      location.hash = "inside";
      return box.lastElementChild.id;
    }""")
    expect(tab.locator(f"#{inside}")).to_be_visible()


# Numbers what the keyboard should reach, and notes at each Tab, once the key is up, where the focus is and whether that
# is marked and in sight; nothing more once it is back at the browser's own controls.
NOTE_STOPS = """() => {
  const all = [...document.querySelectorAll("a[href], button, input, textarea, select, summary, [tabindex='0']")];
  window.stops = all.filter((element) => element.checkVisibility({ visibilityProperty: true }));
  window.reached = [];
  window.addEventListener("keyup", () => {
    const element = document.activeElement, style = getComputedStyle(element), box = element.getBoundingClientRect();
    const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
    if (window.reached.at(-1)?.stop !== -1) window.reached.push({
      stop: window.stops.indexOf(element), seen: outlined && box.bottom > 0 && box.top < innerHeight,
    });
  }, true);
  return window.stops.length;
}"""
MISSED = """() => {
  const seen = new Set(window.reached.filter(({ seen }) => seen).map(({ stop }) => stop));
  const unseen = new Set(window.reached.filter(({ stop, seen }) => stop !== -1 && !seen).map(({ stop }) => stop));
  return window.stops.filter((element, stop) => !seen.has(stop) || unseen.has(stop))
    .map((element) => element.outerHTML.slice(0, 200));
}"""


@pytest.mark.parametrize("page", ["book/index.html", "book/gain.html", "book/workbench.html"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_keyboard_reaches_everything_and_shows_where_it_is(visit, page, width):
    tab = visit(page, width=width)
    tab.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
    tab.wait_for_timeout(200)
    for _ in range(tab.evaluate(NOTE_STOPS) + 5):
        tab.keyboard.press("Tab")
    assert tab.evaluate(MISSED) == []


def test_the_skip_link_leads_to_the_text(visit):
    tab = visit("book/gain.html")
    tab.keyboard.press("Tab")
    skip = tab.get_by_role("link", name="Skip to the text")
    expect(skip).to_be_focused()
    assert skip.bounding_box()["y"] >= 0
    tab.keyboard.press("Enter")
    expect(tab.locator("main")).to_be_focused()


def test_code_is_copied(visit):
    tab = visit("book/gain.html", permissions=["clipboard-read", "clipboard-write"])
    cell = tab.locator(".cell_input div.highlight").first
    cell.hover()
    cell.get_by_role("button", name="Copy").click()
    expect(cell.get_by_role("button")).to_have_text("Copied")
    assert "import numpy as np" in tab.evaluate("navigator.clipboard.readText()")


def test_without_a_script_all_is_there(visit):
    tab = visit("book/gain.html", width=360, java_script_enabled=False, color_scheme="dark")
    assert tab.get_by_role("button", name="Search").count() == 0
    assert tab.get_by_role("button", name="Theme").count() == 0
    formula = tab.locator("div.math .katex-html").first
    assert formula.bounding_box()["width"] > 50
    proof = tab.locator("details.proof-of").first
    expect(proof.locator("p").first).to_be_hidden()
    proof.locator("summary").click()
    expect(proof.locator("p").first).to_be_visible()
    tab.get_by_role("button", name="Chapters").click()
    tab.get_by_role("link", name="Epsilon", exact=True).click()
    tab.wait_for_url(re.compile("epsilon"))
    tab.locator("header").get_by_role("link", name="Questions").click()
    tab.wait_for_url(re.compile("questions"))
    assert (
        visit("search.html", java_script_enabled=False)
        .locator("main")
        .get_by_role("link", name="Questions")
        .is_visible()
    )


def test_every_page_opens_from_a_folder(pages, built, visit):
    tab = visit("search.html", from_file=True)
    for page in set(pages) - {"404.html"}:
        tab.goto(f"{built.as_uri()}/{page}")
        assert tab.locator("h1").is_visible()


def test_the_entrance_leads_to_the_first_page(visit):
    tab = visit("index.html")
    tab.wait_for_url("**/book/index.html")
    tab = visit("index.html", from_file=True, java_script_enabled=False)
    tab.wait_for_url("**/book/index.html")

"""While a page comes, only its first screen is laid out; a moment later all is, for the eye, the ear and paper."""

from collections import Counter

import pytest

LAST = "document.querySelector('article > section > section:last-of-type > :last-child *')"
LAID_OUT = f"{LAST}.checkVisibility({{ contentVisibilityAuto: true }})"
# As if the browser never had time for the rest.
BUSY = "window.requestIdleCallback = () => {}"
NAMES = ("heading", "link", "StaticText", "math", "MathMLMath")


@pytest.fixture
def coming(browser, address):
    """A page whose rest is never laid out."""
    context = browser.new_context(viewport={"width": 360, "height": 800})
    context.add_init_script(BUSY)
    tab = context.new_page()
    tab.goto(f"{address}/book/gain.html")
    yield tab
    context.close()


def test_only_the_first_screen_is_laid_out_at_first(coming):
    assert not coming.evaluate(LAID_OUT)


def test_a_page_that_has_not_come_yet_is_found_in_and_printed_whole(coming):
    assert coming.evaluate("window.find('Where to go next')")
    coming.emulate_media(media="print")
    assert coming.evaluate(LAID_OUT)


def test_what_has_come_is_laid_out_whole(visit):
    hidden = visit("book/gain.html", width=360).evaluate(
        "[...document.querySelectorAll('article *')].filter((part) => part.checkVisibility()"
        " && !part.checkVisibility({ contentVisibilityAuto: true }) && !part.closest('details:not([open])')).length"
    )
    assert hidden == 0


def heard(tab):
    """How often a screen reader finds what: (role, name)."""
    tab.wait_for_selector(".to-top[hidden]", state="attached")
    nodes = tab.context.new_cdp_session(tab).send("Accessibility.getFullAXTree")["nodes"]
    shown = [node for node in nodes if not node["ignored"] and node["role"]["value"] in NAMES]
    return Counter((node["role"]["value"], node["name"]["value"]) for node in shown)


def test_a_screen_reader_finds_the_same_as_where_all_is_laid_out_at_once(visit):
    tab = visit("book/gain.html")
    found = heard(tab)
    tab.reload()  # which lays out everything at once: see layout.html
    assert found == heard(tab) and found.total() > 500


def test_a_page_read_again_stands_where_it_stood(visit):
    tab = visit("book/gain.html", width=360)
    tab.evaluate("document.querySelector('#exercises').scrollIntoView()")
    tab.wait_for_timeout(200)
    before = tab.evaluate("[scrollY, document.body.scrollHeight]")
    tab.reload()
    tab.wait_for_function("scrollY > 0")
    assert tab.evaluate("[scrollY, document.body.scrollHeight]") == pytest.approx(before, abs=2)

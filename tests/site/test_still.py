"""A page stands still while it loads, and what is laid out only near the screen is found, printed and landed on."""

import pytest

SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map((shift) => shift.value)))
  .observe({ type: "layout-shift", buffered: true });
"""
# A slow phone network: bytes a second, and milliseconds before each answer.
SLOW = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 100_000}


def shift(browser, address, page, width):
    """The sum of all shifts of a page while it loads."""
    context = browser.new_context(viewport={"width": width, "height": 800})
    tab = context.new_page()
    tab.add_init_script(SHIFTS)
    devtools = context.new_cdp_session(tab)
    devtools.send("Network.enable")
    devtools.send("Network.emulateNetworkConditions", SLOW)
    tab.goto(f"{address}/{page}")
    tab.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
    shifts = tab.evaluate("window.shifts")
    context.close()
    return sum(shifts)


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_moves_while_a_page_loads(browser, address, pages, width):
    shifts = {page: shift(browser, address, page, width) for page in pages}
    assert {page: moved for page, moved in shifts.items() if moved > 0.05} == {}


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize(
    "place", ["epsilon.html#eps-norm-bound", "settled.html#which-epsilon", "epsilon.html#exercises"]
)
def test_a_link_lands_on_its_place(visit, place, width):
    tab = visit(f"book/{place}", width=width)
    tab.wait_for_timeout(300)
    assert 50 <= tab.evaluate("document.querySelector(':target').getBoundingClientRect().top") <= 200


def test_words_far_below_are_found_and_printed(visit):
    tab = visit("book/epsilon.html")
    last = "document.querySelector('section:last-of-type > h2 + * > *')"
    seen = f"{last}.checkVisibility({{ contentVisibilityAuto: true }})"
    assert tab.evaluate(seen) and tab.evaluate("window.find('Where to go next')")
    tab.emulate_media(media="print")
    assert tab.evaluate(seen)

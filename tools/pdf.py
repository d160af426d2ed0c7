"""Makes the PDFs of the whole book and of its cheat sheet: `make pdf`. The book as one page, printed by a browser."""

import shutil
import subprocess
import sys
from pathlib import Path

from browser import ADVICE, get, launch
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
FOOTER = '<div style="width:100%; font-size:8px; text-align:center"><span class="pageNumber"></span></div>'
# The links lead to places of the book, which are not on the sheet.
ONLY_THE_SHEET = """() => {
    const sheet = document.querySelector("section[id^=layer-normalization-on-one-page]");
    document.querySelector("article").replaceChildren(sheet);
    sheet.querySelectorAll("a[href]").forEach(link => link.replaceWith(...link.childNodes));
    document.title = sheet.querySelector("h1, h2").firstChild.textContent;
}"""


def main(folder):
    """Writes folder/_build/pdf/layer-normalization-book.pdf and …-one-page.pdf."""
    if not get():
        sys.exit(ADVICE)
    build = [Path(sys.executable).with_name("jupyter-book"), "build", ROOT, "--path-output", folder]
    subprocess.run([*build, "--builder", "singlehtml", "-W", "-n", "--keep-going"], check=True)
    # Sphinx writes the one page into the folder of the first, but its links as if it lay at the top.
    built = folder / "_build" / "singlehtml"
    shutil.copyfile(built / "book" / "index.html", built / "one-page.html")
    target = folder / "_build" / "pdf" / "layer-normalization-book.pdf"
    target.parent.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = launch(playwright.chromium)
        page = browser.new_page(color_scheme="light")
        page.goto((built / "one-page.html").as_uri())
        page.evaluate("document.title = document.querySelector('h1').firstChild.textContent")
        page.pdf(
            path=target,
            format="A4",
            margin={"top": "18mm", "bottom": "18mm", "left": "18mm", "right": "18mm"},
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=FOOTER,
            outline=True,
            tagged=True,
        )
        sheet = target.with_name("layer-normalization-one-page.pdf")
        page.evaluate(ONLY_THE_SHEET)
        page.add_style_tag(path=ROOT / "book" / "_assets" / "one-page.css")
        page.pdf(path=sheet, prefer_css_page_size=True, tagged=True, scale=0.85)
        browser.close()
    print(f"The PDFs are {target} and {sheet}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)

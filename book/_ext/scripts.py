"""Puts the scripts together from their parts, one a page and no modules: from a folder a browser loads no module.

What only one page uses, a script and a style sheet of one name, is loaded there and nowhere else, and the search's
script when it is first opened.
The workbench names mistakes as the checker does: its list of them, with the places where to look, is made of the
checker's catalogue.
"""

import json
import re
from pathlib import Path

from npm import node_modules

from lnbook.conformance.catalogue import MISTAKES

PARTS = {
    "book.js": ["dom", "theme", "chapters", "search", "keys", "previews", "copy", "reading", "filter"],
    "search.js": ["words", "index", "form"],
    "workbench.js": [
        *("numbers", "formats", "parser", "conventions", "verdict", "gradients"),
        *("results", "words", "fields", "page"),
    ],
    "steps.js": ["../workbench/numbers", "figure"],
    "one-page.js": ["print"],
}
# page: the name of its own script and style sheet
OWN = {"book/workbench": "workbench", "book/index": "steps", "book/one-page": "one-page"}
FOLDER = Path(__file__).parent.parent / "_scripts"


def text_of(script):
    """The parts of a script in one text, without the lines that only comment: a reader's browser needs none."""
    folder = FOLDER / script.removesuffix(".js")
    texts = {part: (folder / f"{part}.js").read_text(encoding="utf8") for part in PARTS[script]}
    if script == "workbench.js":
        texts["page"] = f"workbench.mistakes = {places_of_mistakes()};\n{texts['page']}"
    return re.sub(r"^ *//.*\n", "", "\n".join(texts.values()), flags=re.MULTILINE)


def places_of_mistakes():
    return json.dumps({mistake.name: mistake.place for mistake in MISTAKES})


def write_scripts(app, env):
    if app.builder.format != "html":
        return
    for script in PARTS:
        text = text_of(script)
        if script == "search.js":
            text = f"{library(node_modules(app) / 'minisearch')}\n{text}"
        Path(app.outdir, "_static", script).write_text(text, encoding="utf8")


def library(package):
    """The library of the search as its authors made it, with its licence in front."""
    licence = (package / "LICENSE.txt").read_text(encoding="utf8").strip()
    code = (package / "dist" / "umd" / "index.js").read_text(encoding="utf8")
    return f"/*!\n{licence}\n*/\n{code.partition('//# sourceMappingURL')[0]}"


def load_own(app, pagename, templatename, context, doctree):
    if pagename in OWN:
        # After book.js, which _config.yml names (800).
        app.add_js_file(f"{OWN[pagename]}.js", loading_method="defer", priority=900)
        app.add_css_file(f"{OWN[pagename]}.css")


def setup(app):
    # Before the pages are written: their links carry the checksum.
    app.connect("env-updated", write_scripts, priority=600)
    app.connect("html-page-context", load_own)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Puts the scripts together from their parts, one a page and no modules: from a folder a browser loads no module.

What only one page uses, a script and a style sheet of one name, is loaded there and nowhere else.
"""

from pathlib import Path

PARTS = {
    "book.js": ["dom", "theme", "search", "keys", "previews", "copy", "reading"],
    "workbench.js": ["numbers", "conventions", "parser", "page"],
    "steps.js": ["../workbench/numbers", "figure"],
    "one-page.js": ["print"],
}
# page: the name of its own script and style sheet
OWN = {"book/workbench": "workbench", "book/index": "steps", "book/one-page": "one-page"}
FOLDER = Path(__file__).parent.parent / "_scripts"


def text_of(script):
    folder = FOLDER / script.removesuffix(".js")
    return "\n".join((folder / f"{part}.js").read_text(encoding="utf8") for part in PARTS[script])


def write_scripts(app, env):
    if app.builder.format == "html":
        for script in PARTS:
            Path(app.outdir, "_static", script).write_text(text_of(script), encoding="utf8")


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

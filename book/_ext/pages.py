"""What every page gets: our own layout (book/_templates) and style instead of the stock theme's, and its own files.

The stock theme and the extensions Jupyter Book loads bring 1.7 MB of scripts, an icon font, a loader for code on a
server and styles for a page of their own; the layout uses none of them.
"""

import hashlib
import re
import shutil
import tomllib
from functools import cache
from pathlib import Path

from npm import node_modules

# Folding is HTML's own <details>, and copying and the colours of code are ours too.
OWN = {f"{name}.{kind}" for name in ("workbench", "steps", "one-page") for kind in ("css", "js")}
USED = {"book.css", "colours.css", "katex/katex.css", "book.js"} | OWN

CODE = re.compile("<pre>.*?</pre>", re.DOTALL)

TYPEFACE = ["400-normal", "400-italic", "600-normal"]


def used(files):
    """Without the scripts and styles of the extensions that Jupyter Book always loads."""
    return [file for file in files if str(file.filename or "").removeprefix("_static/") in USED]


@cache
def colourless():
    """The elements of code without a colour in our style: Pygments makes one of each word and sign."""
    style = (Path(__file__).parents[1] / "_assets" / "book.css").read_text(encoding="utf8")
    coloured = re.findall(r"\.(\w+)", "".join(re.findall(r"\.highlight :is\((.*?)\)", style)))
    return re.compile(rf'<span(?: class="(?!(?:{"|".join(coloured)})")[a-z]\w?")?>([^<]*)</span>')


def fill_page(app, pagename, templatename, context, doctree):
    context["body"] = CODE.sub(lambda code: colourless().sub(r"\1", code[0]), context.get("body", ""))
    context["css_files"] = used(context["css_files"])
    context["script_files"] = used(context["script_files"])
    upright = [f"_static/type/source-serif-4-latin-{style}.woff2" for style in TYPEFACE if "italic" not in style]
    context["fonts"] = [context["pathto"](font, resource=True) for font in upright]
    chapters = context["toctree"](maxdepth=1, collapse=True, includehidden=True, titles_only=True) or ""
    # A caption is a heading to Sphinx, of no level; and the page itself is only a colour.
    chapters = chapters.replace('<p class="caption" role="heading">', '<p class="caption">')
    context["chapters"] = chapters.replace('class="current reference internal"', 'aria-current="page"')
    # Sphinx's list of sections holds the page's title, and the sections below it.
    inner = re.search(r"<ul>.*?<ul>(.*)</ul>\s*</li>\s*</ul>", context.get("toc", ""), re.DOTALL)
    context["sections"] = f"<ul>{inner[1]}</ul>" if inner else ""


def leave_search_to_the_book(app):
    """Sphinx's own index, in the order in which the pages were read, is used by nobody; the page that searches is."""
    app.builder.search = False


def search_page(app):
    return [("search", {}, "search.html")] if app.builder.name == "html" else []


def copy_typeface(app, env):
    if app.builder.format != "html":
        return
    source = node_modules(app) / "@fontsource" / "source-serif-4"
    target = Path(app.outdir, "_static", "type")
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(source / "LICENSE", target)
    for style in TYPEFACE:
        shutil.copy(source / "files" / f"source-serif-4-latin-{style}.woff2", target)


def write_entrance(app, exception):
    """The site's own address opens the first page, also without a script and from a folder."""
    if exception or app.builder.name != "html":
        return
    first = app.builder.get_target_uri(app.config.root_doc)
    page = f"""<!DOCTYPE html>
<html lang="{app.config.language}">
<head>
  <meta charset="utf-8">
  <title>{app.config.html_title}</title>
  <meta http-equiv="refresh" content="0; url={first}">
  <link rel="canonical" href="{first}">
  <link rel="icon" href="_static/favicon.svg">
</head>
<body><main><h1><a href="{first}">{app.config.html_title}</a></h1></main></body>
</html>
"""
    Path(app.outdir, "index.html").write_text(page, encoding="utf8")


def note_look(app, config):
    """A change of style, script or words to search for writes all pages anew."""
    book = Path(app.srcdir, "book")
    config.look = digest_of(book, "_assets", "_scripts", "synonyms.toml", "pages.toml")
    project = tomllib.loads(Path(app.srcdir, "pyproject.toml").read_text(encoding="utf8"))["project"]
    config.release = project["version"]


def digest_of(root, *names):
    found = (path for name in names for path in [root / name, *sorted((root / name).rglob("*.*"))])
    files = (path for path in found if path.is_file() and path.suffix != ".pyc")
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def setup(app):
    app.add_config_value("look", "", "html", str)
    app.connect("config-inited", note_look)
    app.connect("builder-inited", leave_search_to_the_book)
    app.connect("html-collect-pages", search_page)
    # After the other extensions have added their files.
    app.connect("html-page-context", fill_page, priority=900)
    app.connect("env-updated", copy_typeface)
    # Before sphinx-external-toc, which writes an entrance of its own where there is none.
    app.connect("build-finished", write_entrance, priority=100)
    # What another version of the extensions kept of the pages is not for these: they read all pages anew.
    version = int(digest_of(Path(__file__).parents[1], "_ext")[:8], 16)
    return {"env_version": version, "parallel_read_safe": True, "parallel_write_safe": True}

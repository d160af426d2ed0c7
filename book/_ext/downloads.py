"""What a reader can take along: each page's notebook, the module it needs, and the book as a zip and a PDF, if made."""

import shutil
import zipfile
from pathlib import Path

from docutils import nodes
from nbformat import v4
from sphinx.util.docutils import SphinxDirective
from taken import MODULE, taken_along

ZIP = "layer-normalization-book.zip"
# What `make pdf` makes: its name and what a page calls it, by the argument of the directive that offers it.
PDFS = {
    "book": ("layer-normalization-book.pdf", "the whole book for printing (PDF)"),
    "sheet": ("layer-normalization-one-page.pdf", "this page for printing (PDF)"),
}


def pdf_of(app, name):
    return Path(app.srcdir, "_build", "pdf", PDFS[name][0])


def write_one_page_like_the_others(app):
    """sphinx-exercise names writers for the builder singlehtml, and then Sphinx uses no others for that builder."""
    app.registry.translation_handlers.pop("singlehtml", None)


def pages_of_pdf(app, env, added, changed, removed):
    """The PDF comes and goes without a change of the page that offers it."""
    return [page for page, (name, offered) in offers_of(env).items() if offered != pdf_of(app, name).exists()]


def offers_of(env):
    return vars(env).setdefault("pdf_offers", {})


def offer_notebook(app, pagename, templatename, context, doctree):
    """At the top of each page: its notebook, with outputs, and its source."""
    context["page_links"] = []
    files = {
        "Notebook": ("Download this page as a notebook with outputs", f"notebooks/{name_of(pagename)}.ipynb"),
        "Source": ("Download the source of this page", f"_sources/{pagename}.md"),
    }
    for text, (title, file) in files.items():
        # A file of proofs has the name of its page, but no notebook.
        if pagename in app.env.found_docs and record_of(app, pagename).exists():
            href = context["pathto"](file, resource=True)
            context["page_links"].append({"text": text, "title": title, "href": href, "download": True})


def name_of(pagename):
    return pagename.split("/")[-1]


def record_of(app, pagename):
    return Path(app.srcdir, "book", "_records", "notebooks", f"{name_of(pagename)}.ipynb")


class Downloads(SphinxDirective):
    """Links to the book as a zip and, where `make pdf` has made one, as a PDF; or to the PDF of the sheet alone."""

    optional_arguments = 1

    def run(self):
        (name,) = self.arguments or ["book"]
        made = pdf_of(self.env.app, name).exists()
        offers_of(self.env)[self.env.docname] = (name, made)
        offers = [PDFS[name]] * made + [(ZIP, "the whole book for reading offline (zip)")] * (name == "book")
        if self.env.app.builder.name != "html" or not offers:
            return []
        links = nodes.bullet_list()
        up = "../" * self.env.docname.count("/")
        for file, words in offers:
            link = nodes.reference("", words, refuri=f"{up}downloads/{file}", internal=False)
            links += nodes.list_item("", nodes.paragraph("", "", link))
        return [links]


def add_downloads(app, exception):
    if exception or app.builder.name != "html":
        return
    out = Path(app.outdir)
    # Not in _sources: there sphinx-llms-txt takes a notebook for one more page, from the second build on.
    (out / "notebooks").mkdir(exist_ok=True)
    for docname in sorted(app.env.found_docs):
        if record_of(app, docname).exists():
            # The tests look whether it is valid, and not each build.
            notebook = taken_along(app, docname, v4.reads(record_of(app, docname).read_text(encoding="utf8")))
            text = v4.writes(notebook)
            (out / "notebooks" / f"{name_of(docname)}.ipynb").write_text(f"{text}\n", encoding="utf8")
    zip_files(out / "notebooks" / MODULE, module_files(Path(app.srcdir)))
    folder = out / "downloads"
    folder.mkdir(exist_ok=True)
    files = (file for file in out.rglob("*") if file.is_file() and folder not in file.parents)
    zip_files(folder / ZIP, {f"layer-normalization-book/{file.relative_to(out).as_posix()}": file for file in files})
    for name, (file, _) in PDFS.items():
        if pdf_of(app, name).exists():
            shutil.copyfile(pdf_of(app, name), folder / file)


def module_files(root):
    """What pip needs to install lnbook, by its place in the archive."""
    found = [root / "pyproject.toml", *root.glob("LICENSE*"), *(root / "lnbook").rglob("*")]
    wanted = (file for file in found if file.is_file() and not {"__pycache__", ".ruff_cache"} & set(file.parts))
    return {f"lnbook/{file.relative_to(root).as_posix()}": file for file in wanted}


def zip_files(target, files):
    """A zip of files by their place in it, the same byte for byte for the same files: sorted, without their dates."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, file in sorted(files.items()):
            entry = zipfile.ZipInfo(place)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())


def setup(app):
    app.add_directive("downloads", Downloads)
    app.connect("env-get-outdated", pages_of_pdf)
    app.connect("builder-inited", write_one_page_like_the_others)
    app.connect("html-page-context", offer_notebook, priority=400)
    # After everything else has written what it writes at the end.
    app.connect("build-finished", add_downloads, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

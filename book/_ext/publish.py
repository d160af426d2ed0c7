"""What only a published book has: its address and that of its repository, which the publish workflow fills in.

BOOK_URL is where the book will be read, BOOK_REPOSITORY the address of its source. Without them there is no sitemap, no
social card and no button that leads nowhere.
"""

import os
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from about import about

URL = os.environ.get("BOOK_URL", "")
REPOSITORY = os.environ.get("BOOK_REPOSITORY", "")
COLAB = "https://colab.research.google.com/github"


def configure(app, config):
    if URL:
        config.html_baseurl = config.ogp_site_url = URL
        config.ogp_social_cards = {"line_color": "#0064a8"}
        config.ogp_enable_meta_description = False
    # A page that is not found may be asked for at any depth, so its links are absolute.
    config.notfound_urls_prefix = urlsplit(URL).path or "/"


def describe(app, pagename, templatename, context, doctree):
    """pages.toml says what search engines and those who share a page are shown of it."""
    shown = about(pagename)
    if shown:
        context |= {"description": shown["description"], "search_title": shown["title"]}
        told = {"og:title": shown["title"], "og:description": shown["description"]}
        context["meta"] = {**(context["meta"] or {}), **told}


def offer_source(app, pagename, templatename, context, doctree):
    if not REPOSITORY or pagename not in app.env.found_docs:
        return
    path = Path(app.env.doc2path(pagename)).relative_to(app.srcdir).as_posix()
    name = urlsplit(REPOSITORY).path.strip("/")
    links = {
        "History": ("The source of this page, and what became of it", f"{REPOSITORY}/commits/main/{path}"),
        "Edit": ("Edit this page", f"{REPOSITORY}/edit/main/{path}"),
        "Report a fault": ("Open an issue on this page", f"{REPOSITORY}/issues/new?title={path}"),
    }
    # The pages with a notebook, to which downloads.py has given links; Colab opens none but from a branch.
    if context["page_links"]:
        links |= {
            "Binder": ("Run this page on Binder", f"https://mybinder.org/v2/gh/{name}/main?urlpath=lab/tree/{path}"),
            "Colab": ("Run this page on Google Colab", f"{COLAB}/{name}/blob/notebooks/{Path(path).stem}.ipynb"),
        }
    context["page_links"] += [{"text": text, "title": title, "href": href} for text, (title, href) in links.items()]


def write_sitemap(app, exception):
    """Every page of the book, also where only some were written."""
    if exception or not URL or app.builder.name != "html":
        return
    places = (escape(URL + app.builder.get_target_uri(docname)) for docname in sorted(app.env.found_docs))
    lines = "".join(f"<url><loc>{place}</loc></url>\n" for place in places)
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{lines}</urlset>\n'
    Path(app.outdir, "sitemap.xml").write_text(sitemap, encoding="utf8")


def setup(app):
    for extension in ["notfound.extension", "sphinx_llms_txt", *["sphinxext.opengraph"] * bool(URL)]:
        app.setup_extension(extension)
    # Before the theme and the extensions above read their settings.
    app.connect("config-inited", configure, priority=100)
    # Before sphinxext-opengraph writes its tags.
    app.connect("html-page-context", describe, priority=400)
    app.connect("html-page-context", offer_source)
    app.connect("build-finished", write_sitemap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""What only a published book has: its address and that of its repository, which the publish workflow fills in.

BOOK_URL is where the book will be read, BOOK_REPOSITORY the address of its source. Without them there is no sitemap, no
social card and no button that leads nowhere.
"""

import os
from urllib.parse import urlsplit

URL = os.environ.get("BOOK_URL", "")
REPOSITORY = os.environ.get("BOOK_REPOSITORY", "")


def configure(app, config):
    config.ogp_social_cards = {"enable": bool(URL), "line_color": "#0064a8"}
    if URL:
        config.html_baseurl = config.ogp_site_url = URL
        config.sitemap_url_scheme = "{link}"
        # A page that is not found may be asked for at any depth, so its links are absolute.
        config.notfound_urls_prefix = urlsplit(URL).path
    if REPOSITORY:
        config.html_theme_options |= {
            "repository_url": REPOSITORY,
            "repository_branch": "main",
            "use_repository_button": True,
            "use_issues_button": True,
            "use_edit_page_button": True,
            "launch_buttons": {"binderhub_url": "https://mybinder.org", "notebook_interface": "jupyterlab"},
        }


def setup(app):
    for extension in ["sphinxext.opengraph", "notfound.extension", "sphinx_llms_txt"]:
        app.setup_extension(extension)
    if URL:
        app.setup_extension("sphinx_sitemap")
    # Before the theme and the extensions above read their settings.
    app.connect("config-inited", configure, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

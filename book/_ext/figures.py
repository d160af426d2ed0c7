"""Figures inside the page: an SVG that a cell shows becomes part of the HTML, so that its colours follow the theme.

The colours are those of lnbook.pages.colours; the style sheet for both themes is written from there.
"""

import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from lnbook.pages.colours import COLOURS

logger = logging.getLogger(__name__)

# Points that a small screen shows as a pixel each: letters of 11 points are then of 11 pixels. A wider figure scrolls.
NARROW = 310


class InlineSVG(SphinxPostTransform):
    # After MyST-NB has chosen among the forms of an output, before Sphinx collects image files.
    default_priority = 40
    formats = ("html",)

    def run(self, **kwargs):
        pictures = [n for n in self.document.findall(nodes.image) if n["uri"].endswith(".svg")]
        for number, node in enumerate(pictures, start=1):
            alt = node.get("alt", "")
            if not alt or alt.endswith(".svg"):
                logger.warning("a figure has no alt text: give `mystnb: {image: {alt: …}}`", location=node)
            path = Path(self.env.srcdir, node["uri"].lstrip("/"))
            html = inline(path.read_text(encoding="utf8"), alt, f"{self.env.docname.split('/')[-1]}-{number}-")
            node.replace_self(nodes.raw("", html, format="html"))


def inline(svg, alt, prefix):
    """The <svg> element with words, with ids that are its own on the page, and without the ids nobody refers to."""
    svg = lean(svg[svg.index("<svg") :])
    referred = set(re.findall(r'(?:href="|url\()#([^")]+)', svg))
    svg = re.sub(r' id="([^"]+)"', lambda m: f' id="{prefix}{m[1]}"' if m[1] in referred else "", svg)
    svg = re.sub(r'(href="|url\()#', rf"\1#{prefix}", svg)
    if panels := re.findall(r'<svg x="[^"]*"(.*?</svg>)', svg, re.DOTALL):
        inner = (re.sub(r'(width|height)="([\d.]+)"', r'\1="\2pt"', panel, count=2) for panel in panels)
        row = "".join(f'<svg class="ln-figure" aria-hidden="true"{panel}' for panel in inner)
        return f'<div class="panels" role="img" aria-label="{escape(alt)}">{row}</div>'
    svg = svg.replace("<svg", f'<svg class="ln-figure" role="img" aria-label="{escape(alt)}"', 1)
    width = float(re.search(r'width="([\d.]+)pt"', svg)[1])
    if width <= NARROW:
        return svg
    svg = svg.replace("<svg", f'<svg style="min-width:{width:.0f}px"', 1)
    return f'<div class="scroll wide">{svg}</div>'


def lean(svg):
    """Without remarks, groups that group nothing, and the style sheet: in a page its rule is one for all elements."""
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>|<g\b[^>]*/>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\s+", " ", re.sub(r">\s+<", "><", svg)).replace("<defs></defs>", "")
    bare = []

    def group(tag):
        if tag[0] == "</g>":
            return "" if bare.pop() else tag[0]
        bare.append(tag[0] == "<g>")
        return "" if bare[-1] else tag[0]

    return re.sub(r"<g\b[^>]*>|</g>", group, svg)


def write_colours(app, env):
    if app.builder.format != "html":
        return
    colours = "".join(f"--ln-{name}:light-dark({light},{dark});" for name, (light, dark) in COLOURS.items())
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "colours.css").write_text(f":root{{{colours}}}\n", encoding="utf8")


def setup(app):
    app.add_post_transform(InlineSVG)
    app.add_css_file("colours.css")
    # Before the pages are written: their links to it carry its checksum.
    app.connect("env-updated", write_colours)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

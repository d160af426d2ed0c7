"""The proofs checked by machine: a mark beside each statement that has one, and a page for each file of book/proofs.

What was checked is read from book/_records/proofs.json, which tools/proofs.py writes: nobody needs the proof assistant
to build or read the book. {formal}`id` is a link to the formal statement of a fact, or says that there is none;
{formal}`Definitions.v` is a link to that file.
"""

import json
import re
from html import escape
from pathlib import Path

from boxes import STATEMENTS
from docutils import nodes
from facts import register
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective, SphinxRole

FOLDER = "book/proofs"
WORDS = "Checked by machine: the formal statement and its proof"


def record(root):
    return json.loads(Path(root, "book", "_records", "proofs.json").read_text(encoding="utf8"))


class FormalLink(nodes.Inline, nodes.TextElement):
    """A link to come: only pages in HTML have the proofs beside them."""


class FormalRole(SphinxRole):
    def run(self):
        self.env.note_dependency(str(Path(self.env.srcdir, "book", "_records", "proofs.json")))
        return [FormalLink("", "", fact=self.text)], []


class FormalProofs(SphinxDirective):
    """Page by page, every fact beside its formal proof or the reason why it has none."""

    def run(self):
        facts, reasons = register(self.env), record(self.env.srcdir)["not formal"]
        lines = []
        for page in dict.fromkeys(fact["page"] for fact in facts.values()):
            lines += [f"### {{doc}}`{page}`", "", "| fact | formal statement and proof |", "|---|---|"]
            for id, fact in facts.items():
                if fact["page"] == page:
                    why = f": {with_links(reasons[id], facts)}" if id in reasons else ""
                    lines.append(f"| {{fact}}`{id}` `{id}`{{.fact-id}} | {{formal}}`{id}`{why} |")
            lines.append("")
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def with_links(reason, facts):
    """The ids in a reason as links; one without a hyphen may be a word of the sentence, unless something follows it."""
    linked = re.compile(r"(?<=follows )\w[\w-]*|(?<=and )\w[\w-]*|\w+(?:-\w+)+")
    return linked.sub(lambda word: f"{{fact-id}}`{word[0]}`" if word[0] in facts else word[0], reason)


class ShowProofs(SphinxPostTransform):
    # After Boxes has written the id beside the title of each statement, at its end.
    default_priority = 31
    formats = ("html",)

    def run(self, **kwargs):
        facts = record(self.app.srcdir)["facts"]
        for link in list(self.document.findall(FormalLink)):
            link.replace_self(self.resolved(link["fact"], facts))
        if self.app.builder.name == "html":
            for node in self.document.findall(lambda n: isinstance(n, STATEMENTS)):
                if where := facts.get(node["label"]):
                    to = escape(self.address(node["label"], where))
                    mark = f'<a class="checked" href="{to}" title="{WORDS}">checked by machine</a>'
                    node[0][-1] += nodes.raw("", mark, format="html")

    def resolved(self, name, facts):
        where = {"file": name} if name.endswith(".v") else facts.get(name)
        if not where:
            return nodes.Text("not formal")
        words = f"{where['file']}, line {where['line']}" if "line" in where else name
        if self.app.builder.name != "html":
            return nodes.Text(words)
        link = nodes.reference("", "", refuri=self.address(name, where), internal=False)
        # The name of a file may go on in the next line behind each of its words, as in a table on a phone.
        link += nodes.raw("", escape(words).replace("_", "_<wbr>"), format="html")
        return link

    def address(self, fact, where):
        page = self.app.builder.get_relative_uri(self.env.docname, f"{FOLDER}/{Path(where['file']).stem}")
        return f"{page}#{fact}" if "line" in where else page


def colour_proofs(app, env):
    """`env.coloured_proofs` holds each file as text and in HTML, from an earlier build where it is the same."""
    if app.builder.name != "html":
        return
    known = vars(env).setdefault("coloured_proofs", {})
    for path in Path(app.srcdir, FOLDER).glob("*.v"):
        text = path.read_text(encoding="utf8")
        if known.get(path.stem, (None,))[0] != text:
            known[path.stem] = (text, highlight(text, get_lexer_by_name("coq"), HtmlFormatter(nowrap=True)))


def proof_pages(app):
    """A page for each file, in the book's layout and in colours; a link leads from each theorem to its statement."""
    if app.builder.name != "html":
        return
    facts, statements = record(app.srcdir)["facts"], app.env.proof_list
    for path in sorted(Path(app.srcdir, FOLDER).glob("*.v")):
        docname = f"{FOLDER}/{path.stem}"
        stated = {where["line"]: fact for fact, where in facts.items() if where["file"] == path.name}
        _, code = app.env.coloured_proofs[path.stem]
        lines = []
        for number, line in enumerate(code.splitlines(), start=1):
            if fact := stated.get(number):
                to = app.builder.get_relative_uri(docname, statements[fact]["docname"])
                lines.append(f'<a class="stated" id="{fact}" href="{to}#{fact}">{fact}: the statement on its page</a>')
            lines.append(line)
        title = f"{path.name}, checked by machine"
        text = "\n".join(lines)
        guide = app.builder.get_relative_uri(docname, "book/machine-checked")
        body = f'<h1>{title}</h1>\n<p><a href="{guide}">How far the proofs go</a> tells how to read this.</p>'
        body += f'\n<div class="highlight-coq"><div class="highlight"><pre tabindex="0">{text}\n</pre></div></div>'
        yield docname, {"title": title, "body": body, "parents": []}, "page.html"


def setup(app):
    app.add_node(FormalLink)
    app.add_role("formal", FormalRole())
    app.add_directive("formal-proofs", FormalProofs)
    app.add_post_transform(ShowProofs)
    app.connect("env-updated", colour_proofs)
    app.connect("html-collect-pages", proof_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

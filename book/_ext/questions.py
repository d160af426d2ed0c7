"""The questions of the page Settled elsewhere: all in a list, on each page those that it helps to answer, in llms.txt.

Nothing here is kept by hand. A question is a heading of settled.md, and its short answer the statement in italics below
it with the verdict and the condition; a page answers it if the entry cites a fact of that page.
"""

import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from previews import words
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

SETTLED, LIST = "book/settled", "book/questions"
THEME = re.compile(r"^## (.+)$", re.MULTILINE)
ENTRY = re.compile(r"^\((settled-[\w-]+)\)=\n### ([^\n]+)\n\n(.+?)(?=^\(settled-|\Z)", re.MULTILINE | re.DOTALL)
# The statement, the verdict, and what follows in the same sentence: a condition, or nothing.
JUDGED = re.compile(r"(\*[^*]+\*)\s\*\*(True only if|True|False)(?:\.\*\*|\*\*(.*?)[.:;]\s)", re.DOTALL)
CITED = re.compile(r"\{prf:ref\}`(?:[^`<]*<)?([\w-]+)>?`")
SOURCES = re.compile(r"\s*\(\{prf:ref\}[^)]*\)|\s*\{cite\}`[^`]*`")


class Question(NamedTuple):
    theme: str
    name: str
    words: str
    answer: str
    facts: frozenset


def questions(env):
    """All of them, in the order of the page."""
    text = Path(env.doc2path(SETTLED)).read_text(encoding="utf8")
    starts = [*THEME.finditer(text), None]
    found = []
    for start, end in pairwise(starts):
        for name, heading, entry in ENTRY.findall(text[start.end() : end.start() if end else None]):
            judged = JUDGED.match(entry)
            if not judged:
                raise ExtensionError(f"{SETTLED}: {name} does not start with a statement in italics and its verdict")
            claim, verdict, condition = judged.groups(default="")
            answer = (
                f"{claim} **{verdict}{'' if condition else '.'}**{SOURCES.sub('', condition)}{'.' if condition else ''}"
            )
            found.append(Question(start[1], name, heading, answer, frozenset(CITED.findall(entry))))
    return found


class Questions(SphinxDirective):
    """The list, by theme: each question leads to its entry, and has its answer in a line below it."""

    def run(self):
        self.env.note_dependency(self.env.doc2path(SETTLED))
        lines, theme = [], None
        for question in questions(self.env):
            if question.theme != theme:
                theme = question.theme
                lines += [f"### {theme}", ""]
            lines += [f"{{ref}}`{question.words} <{question.name}>`", f": {' '.join(question.answer.split())}", ""]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def pages_of(env, question):
    """The pages of the statements that its entry cites."""
    return {env.proof_list[fact]["docname"] for fact in question.facts if fact in env.proof_list}


def offer_questions(app, pagename, templatename, context, doctree):
    if pagename in app.env.found_docs and pagename != SETTLED and SETTLED in app.env.found_docs:
        uri = app.builder.get_relative_uri(pagename, SETTLED)
        context["questions"] = [
            {"text": question.words, "href": f"{uri}#{question.name}"}
            for question in questions(app.env)
            if pagename in pages_of(app.env, question)
        ]


def add_to_llms(app, exception):
    """The questions with their answers, after the list of pages."""
    path = Path(app.outdir, "llms.txt")
    if exception or app.builder.name != "html" or LIST not in app.env.found_docs:
        return
    lines = ["", "## Questions, each with the statement that is judged and its verdict", ""]
    uri = app.builder.get_target_uri(SETTLED)
    items = app.env.get_doctree(LIST).findall(nodes.definition_list_item)
    for question, (term, answer) in zip(questions(app.env), items, strict=True):
        lines.append(f"- [{words(app, term)}](/{uri}#{question.name}): {words(app, answer)}")
    with path.open("a", encoding="utf8") as file:
        file.write("\n".join([*lines, ""]))


def setup(app):
    app.add_directive("questions", Questions)
    app.connect("html-page-context", offer_questions)
    # After sphinx_llms_txt has written the file, and before downloads.py packs it.
    app.connect("build-finished", add_to_llms, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

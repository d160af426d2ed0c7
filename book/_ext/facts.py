"""The register of facts, facts.toml, on the pages: the map, the table for RMSNorm, and links to statements by their id.

{fact}`id` is a link to the statement with that id; its words are the statement's title. {fact-id}`id` shows the id.
"""

import re
import tomllib
from pathlib import Path

from boxes import STATEMENTS
from docutils import nodes
from kept import collect
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.nodes import make_refnode

FILTER = (
    '<div class="filter" role="search"><label>Show the facts with '
    '<input type="search" placeholder="a word, an id, a page"></label> <output></output></div>'
)

# The lines of a page that hold its title and those of its statements, with their names.
TITLED = re.compile(r"^(?:# .+|[`:]{3,}\{prf:.+|:label: .+)$", re.MULTILINE)


def register(env):
    """The facts by id; the page that is being read depends on them, and on the titles that other pages give them."""
    path = Path(env.srcdir, "book", "facts.toml")
    env.note_dependency(str(path))
    vars(env).setdefault("pages_with_facts", set()).add(env.docname)
    return tomllib.loads(path.read_text(encoding="utf8"))


def pages_of_titles(app, env, added, changed, removed):
    """The pages that list facts are read again where a title or the name of a statement has changed."""
    before, env.titles_in_sources = getattr(env, "titles_in_sources", None), titles_in_sources(env)
    return getattr(env, "pages_with_facts", ()) if env.titles_in_sources != before else ()


def titles_in_sources(env):
    return {page: TITLED.findall(Path(env.doc2path(page)).read_text(encoding="utf8")) for page in env.found_docs}


def listed(found):
    """Marks what repeats the words of other pages: the search looks there, and not here."""
    for node in found:
        node["classes"].append("listed")
    return found


def titles_of(app, document):
    """The titles of a page's statements by their ids: whole pages load slowly."""
    return {node["label"]: node[0].deepcopy() for node in document.findall(lambda n: isinstance(n, STATEMENTS))}


class FactLink(nodes.Inline, nodes.TextElement):
    """A link to come: the statement may stand on a page that is not read yet."""


class FactRole(SphinxRole):
    def run(self):
        return [FactLink("", self.text, fact=self.text, by_id=self.name == "fact-id")], []


class ResolveFacts(SphinxPostTransform):
    default_priority = 5

    def run(self, **kwargs):
        for link in list(self.document.findall(FactLink)):
            link.replace_self(self.resolved(link))

    def resolved(self, link):
        page = self.env.proof_list[link["fact"]]["docname"]
        title = self.env.statement_titles[page][link["fact"]]
        place = self.app.builder, self.env.docname, page, link["fact"]
        if link["by_id"]:
            return make_refnode(*place, nodes.literal("", link["fact"]), title.astext())
        return make_refnode(*place, [child.deepcopy() for child in title])


def by_page(facts):
    """{page: {id: fact}}"""
    pages = dict.fromkeys(fact["page"] for fact in facts.values())
    return {page: {id: fact for id, fact in facts.items() if fact["page"] == page} for page in pages}


def title_of(env, page):
    """Read from the source: the page may not be read yet."""
    lines = Path(env.doc2path(f"book/{page}")).read_text(encoding="utf8").splitlines()
    return next(line.removeprefix("# ") for line in lines if line.startswith("# "))


def group(env, page, facts, text):
    """The facts of a page, folded below its title; filter.js shows those that are asked for."""
    title = f"{title_of(env, page)} · {len(facts)} fact{'s' * (len(facts) > 1)}"
    return f"::::{{admonition}} {title}\n:class: dropdown group\n\nThe page: {{doc}}`{page}`\n\n{text}\n::::"


def filtered(directive, groups):
    """The groups, and above them the field for the words that are looked for."""
    return [nodes.raw("", FILTER, format="html"), *listed(directive.parse_text_to_nodes("\n\n".join(groups)))]


class FactMap(SphinxDirective):
    """All facts, page by page, folded: what each says, how it is pinned and whether its proof is formal."""

    def run(self):
        facts, groups = register(self.env), []
        for page, of_page in by_page(facts).items():
            rows = ["| fact | what it says | pinned | proof |", "|---|---|---|---|"]
            for id, fact in of_page.items():
                line = fact["line"].replace("|", r"\|")
                ways = ", ".join("peers" if way == "peer" else way for way in fact["pinned"])
                rows.append(f"| {{fact}}`{id}` `{id}`{{.fact-id}} | {line} | {ways} | {{formal}}`{id}` |")
            groups.append(group(self.env, page, of_page, "\n".join(rows)))
        return filtered(self, groups)


class RMSFacts(SphinxDirective):
    """The table of the verdicts for RMSNorm."""

    def run(self):
        rows = ["| fact | for RMSNorm | form or reason |", "|---|---|---|"]
        for id, fact in register(self.env).items():
            if rms := fact.get("rms"):
                rows.append(f"| {{fact}}`{id}` `{id}`{{.fact-id}} | {rms['verdict']} | {rms.get('form', '')} |")
        return listed(self.parse_text_to_nodes("\n".join(rows)))


def setup(app):
    app.add_node(FactLink)
    app.add_role("fact", FactRole())
    app.add_role("fact-id", FactRole())
    app.add_directive("fact-map", FactMap)
    app.add_directive("rms-facts", RMSFacts)
    app.add_post_transform(ResolveFacts)
    collect(app, "statement_titles", titles_of)
    app.connect("env-get-outdated", pages_of_titles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

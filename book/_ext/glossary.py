"""The glossary in the order of the alphabet, and below each term links to the first use on every page."""

from docutils import nodes
from kept import collect
from sphinx.addnodes import pending_xref
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

PAGE = "book/glossary"


def lists_of(document):
    return [found for found in document.findall(nodes.definition_list) if "glossary" in found["classes"]]


def term_of(item):
    return item[0].astext().casefold()


class Alphabet(SphinxTransform):
    default_priority = 700

    def apply(self, **kwargs):
        for listed in lists_of(self.document):
            listed.children.sort(key=term_of)


def uses_of(app, document):
    """{term: the id of the section in which this page uses it first}

    The body of a proof, an exercise or a solution is a section as well, without an id in the page.
    """
    found = {}
    for link in document.findall(pending_xref):
        if link["reftype"] == "term":
            section = link.parent
            while not isinstance(section, nodes.section) or section["ids"][0].endswith("-content"):
                section = section.parent
            found.setdefault(link["reftarget"].casefold(), section["ids"][0])
    return found


class Uses(SphinxPostTransform):
    default_priority = 30
    formats = ("html",)

    def run(self, **kwargs):
        if self.env.docname != PAGE or self.app.builder.name != "html":
            return
        for item in [item for listed in lists_of(self.document) for item in listed]:
            uses = nodes.paragraph("", "Used on ", classes=["uses"])
            for page, used in self.env.terms_used.items():
                if page != PAGE and term_of(item) in used:
                    title = nodes.Text(self.env.titles[page].astext())
                    link = make_refnode(self.app.builder, PAGE, page, used[term_of(item)], title)
                    uses += [nodes.Text("\u00a0· ")] * (len(uses) > 1) + [link]
            if len(uses) > 1:
                item[-1] += uses


def pages_of_uses(app, env):
    """What other pages use is known when all are read."""
    env.terms_used = {page: env.terms_used[page] for page in in_order(env)}
    return [PAGE] if PAGE in env.found_docs else []


def in_order(env):
    """The pages in the order of the book."""
    listed = [env.config.root_doc]
    for page in listed:
        listed += env.toctree_includes.get(page, [])
    return [page for page in listed if page in env.terms_used]


def setup(app):
    app.add_transform(Alphabet)
    app.add_post_transform(Uses)
    collect(app, "terms_used", uses_of)
    app.connect("env-updated", pages_of_uses, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

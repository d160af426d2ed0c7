"""Boxes: statements with their id in sight, proofs, solutions and code that unfold without a script, wide tables.

sphinx-proof, sphinx-exercise and MyST-NB number and resolve them; what changes here is the HTML they become.
"""

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_exercise.nodes import solution_node
from sphinx_proof.nodes import NODE_TYPES, proof_node

STATEMENTS = tuple(NODE_TYPES.values())


class Details(nodes.Element):
    """A <details> element; `summary` is its line of text, `open` whether it starts open."""


class Boxes(SphinxPostTransform):
    # After the titles of exercises and solutions are resolved (20 to 22).
    default_priority = 30
    formats = ("html",)

    def run(self, **kwargs):
        for node in list(self.document.findall(lambda n: isinstance(n, STATEMENTS))):
            label = node["label"]
            link = f'<a class="fact-id" href="#{label}" title="Link to this statement">{label}</a>'
            cite = '<button type="button" class="cite" title="Copy a BibTeX entry for this statement">cite</button>'
            node[0] += nodes.raw("", link + cite, format="html")
        for section in self.document.findall(nodes.section):
            # The two extensions give all their boxes the same id.
            if section["ids"] in (["proof-content"], ["exercise-content"], ["solution-content"]):
                section["ids"] = []
        for node in list(self.document.findall(proof_node)):
            self.fold(node, "Proof", node[0].children, folded="dropdown" in node[0]["classes"], kind="proof-of")
        for node in list(self.document.findall(solution_node)):
            self.fold(node, "Solution", node.children[1:], folded="dropdown" in node["classes"], kind="solution")
        for node in list(self.document.findall(nodes.admonition)):
            if "dropdown" in node["classes"]:
                title, *children = node.children
                kind = "group" if "group" in node["classes"] else "more"
                self.fold(node, title.astext(), children, folded=True, kind=kind)
        for node in list(self.document.findall(nodes.table)):
            box = nodes.container(classes=["table-scroll"])
            node.replace_self(box)
            box += node

        for box in {id(node.parent): node.parent for node in self.document.findall(nodes.citation)}.values():
            self.list_sources(box)

    def list_sources(self, box):
        """The works cited as a definition list: docutils' list of boxes carries roles that are no longer allowed."""
        sources = [child for child in box.children if isinstance(child, nodes.citation)]
        listed = nodes.definition_list(classes=["sources"])
        for source in sources:
            label, *text = source.children
            term = nodes.term("", "", *label.children, ids=source["ids"])
            listed += nodes.definition_list_item("", term, nodes.definition("", *text))
        box.children = [listed, *(child for child in box.children if child not in sources)]
        listed.parent = box

    def fold(self, node, summary, children, folded, kind):
        details = Details(summary=summary, open=not folded, classes=[kind], ids=node["ids"])
        details += children
        first = next(details.findall(nodes.Text), None)
        # sphinx-proof writes the word into the first paragraph.
        if kind == "proof-of" and first is not None and first.startswith("Proof. "):
            first.parent.replace(first, nodes.Text(first.removeprefix("Proof. ")))
        node.replace_self(details)


def visit_details(self, node):
    attributes = {"open": ""} if node["open"] else {}
    self.body.append(self.starttag(node, "details", **attributes))
    self.body.append(f"<summary>{node['summary']}</summary>\n")


def visit_hidden_code(self, node):
    what = node["prompt_show"].removeprefix("Show code cell ")
    summary = {"source": "Code", "output": "Output"}.get(what, "Code and output")
    self.body.append(f'<details class="hidden-code"><summary>{summary}</summary>\n')


def depart_details(self, node):
    self.body.append("</details>\n")


def setup(app):
    app.add_node(Details, html=(visit_details, depart_details))
    app.add_node(HideCodeCellNode, override=True, html=(visit_hidden_code, depart_details))
    app.add_post_transform(Boxes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

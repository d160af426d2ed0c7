"""Boxes: statements with their id in sight, proofs, solutions and code that unfold without a script, wide tables.

sphinx-proof, sphinx-exercise and MyST-NB number and resolve them; what changes here is the HTML they become.
"""

import re
from html import escape
from itertools import cycle

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_exercise.nodes import solution_node
from sphinx_proof.nodes import NODE_TYPES, proof_node

STATEMENTS = tuple(NODE_TYPES.values())
# A cell with more letters than this holds prose.
PROSE = 30
# A line of a table on a phone has room for about so many signs.
PHONE = 34
ROLES = {"table": "table", "thead": "rowgroup", "tbody": "rowgroup", "tr": "row", "th": "columnheader", "td": "cell"}


class Details(nodes.Element):
    """A <details> element; `summary` is its line of text, `open` whether it starts open."""


class Stacked(nodes.Element):
    """The box of a table whose rows become blocks on a small screen; `columns` are the words above its columns."""


def one_line(output):
    """An output of one line that goes on in the next one between a value and a name, where `line` has three spaces."""
    groups = [f'<span class="held">{escape(group)}</span>' for group in output.strip().split("   ")]
    html = (
        f'<div class="output one-line notranslate"><div class="highlight"><pre>{"   ".join(groups)}\n</pre></div></div>'
    )
    return nodes.raw("", html, format="html")


class Boxes(SphinxPostTransform):
    # After the titles of exercises and solutions are resolved (20 to 22).
    default_priority = 30
    formats = ("html",)

    def run(self, **kwargs):
        for node in list(self.document.findall(lambda n: isinstance(n, STATEMENTS))):
            label = node["label"]
            link = f'<a class="fact-id" href="#{label}" title="Link to this statement">{label}</a>'
            cite = '<button type="button" class="cite" title="Copy a BibTeX entry for this statement">cite</button>'
            named = nodes.raw("", f'<span class="whole">{link} {cite}</span>', format="html")
            node[0] += nodes.inline("", "", named, classes=["marks"])
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
            columns = columns_of(node)
            box = Stacked(columns=columns) if columns else nodes.container(classes=["table-scroll"])
            node.replace_self(box)
            box["ids"] = []  # the table keeps its name
            box += node

        for node in list(self.document.findall(nodes.literal_block)):
            if "output" in node["classes"] and "\n" not in node.astext().strip():
                node.replace_self(one_line(node.astext()))
        for box in {id(node.parent): node.parent for node in self.document.findall(nodes.citation)}.values():
            self.list_sources(box)

    def list_sources(self, box):
        """The works cited as a list without numbers, for the pages cite by author and year.

        docutils' list of boxes carries roles that are no longer allowed.
        """
        sources = [child for child in box.children if isinstance(child, nodes.citation)]
        listed = nodes.bullet_list(classes=["sources"])
        for source in sources:
            _, *text = source.children
            listed += nodes.list_item("", *text, ids=source["ids"])
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


def columns_of(table):
    """The words above the columns of a table with three or more: two of prose, or all too wide for a phone."""
    head, *rows = table.findall(nodes.row)
    names = [cell.astext() for cell in head]
    columns = list(zip(*rows, strict=True))
    prose = sum(max(map(letters, column)) > PROSE for column in columns)
    in_words = sum(any(map(has_words, column)) for column in columns)
    width = sum(max(map(longest_word, column)) for column in zip(head, *rows, strict=True))
    too_wide = all(names) and in_words > 1 and width > PHONE
    return names if len(columns) > 2 and (prose > 1 or too_wide) else None


def words(cell):
    texts = [text for text in cell.findall(nodes.Text) if not isinstance(text.parent, nodes.math)]
    return [word for text in texts for word in text.split()]


def has_words(cell):
    return any(letter.isalpha() for word in words(cell) for letter in word)


def longest_word(cell):
    """The signs of the longest word of a cell. A formula may be broken behind a relation or a comma."""
    formulas = [re.sub(r"\\[a-zA-Z]+|\\.", "x", formula.astext()) for formula in cell.findall(nodes.math)]
    pieces = [piece for tex in formulas for piece in re.split("[=<>,]", re.sub(r"[{}^_ ]", "", tex))]
    return max(map(len, words(cell) + pieces), default=0)


def letters(cell):
    """How many letters a cell has outside of code and formulas."""
    return sum(
        len(text) for text in cell.findall(nodes.Text) if not isinstance(text.parent, nodes.literal | nodes.math)
    )


def visit_stacked(self, node):
    node["start"] = len(self.body)


def depart_stacked(self, node):
    """Rows that are no longer laid out as a table are one still to a screen reader, by their roles."""
    table = "".join(self.body[node["start"] :])
    del self.body[node["start"] :]
    for tag, role in ROLES.items():
        table = re.sub(rf"<{tag}\b", f'<{tag} role="{role}"', table)
    columns = cycle(node["columns"])
    table = re.sub(r"<td\b", lambda cell: f'{cell[0]} data-column="{escape(next(columns))}"', table)
    self.body.append(f'<div class="table-scroll stacked">{table}</div>\n')


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
    app.add_node(Stacked, html=(visit_stacked, depart_stacked))
    app.add_node(HideCodeCellNode, override=True, html=(visit_hidden_code, depart_details))
    app.add_post_transform(Boxes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

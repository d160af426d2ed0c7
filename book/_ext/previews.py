"""What book.js fetches when it is asked for: what each reference's preview shows.

It is a script that hands over one value, because a page opened from a folder may load a script, but no data.
"""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

from boxes import STATEMENTS
from docutils import nodes
from katex import key_of
from sphinx.addnodes import glossary, pending_xref
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node, solution_node
from sphinx_proof.nodes import proof_node

EXERCISES = (exercise_node, exercise_enumerable_node)
PROOFS = (proof_node, solution_node)
BOXES = (*STATEMENTS, *EXERCISES, *PROOFS)


def write_script(app, name, value):
    path = Path(app.outdir, "_static", f"{name}.js")
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    path.write_text(f"book.receive({json.dumps(name)}, {text});\n", encoding="utf8")


def write_previews(app, pagename, templatename, context, doctree):
    if doctree is None or app.builder.name != "html":
        return
    shown = {}
    for node in doctree.findall(lambda n: isinstance(n, (*STATEMENTS, nodes.math_block, nodes.term))):
        part = meaning(node) if isinstance(node, nodes.term) else node
        for name in node["ids"]:
            shown[name] = html_of(part, app.builder, doctree)
    write_script(app, f"previews/{pagename.split('/')[-1]}", shown)


def meaning(term):
    return next(term.parent.findall(nodes.definition))


def html_of(node, builder, document):
    translator = builder.create_translator(document, builder)
    node.walkabout(translator)
    return "".join(translator.body)


def words(app, node):
    """The text of a node as it is read: formulas in Unicode; without code, outputs and the boxes inside."""
    if isinstance(node, nodes.Element) and ("listed" in node["classes"] or is_output(node)):
        return ""
    if isinstance(node, nodes.math | nodes.math_block):
        mathml = re.search("<math.*?</math>", app.formulas.html(key_of(node)), re.DOTALL)
        return spoken(ElementTree.fromstring(mathml[0])) if mathml else ""
    if isinstance(node, (nodes.literal_block, nodes.raw, nodes.comment, nodes.image, glossary, *BOXES)):
        return ""
    if isinstance(node, pending_xref) and node["refdomain"] in ("cite", "math"):
        return ""
    if isinstance(node, nodes.Text):
        return re.sub(r"\s+", " ", node.astext())
    parts = [words(app, child) for child in node.children]
    return "".join(parts) if isinstance(node, nodes.TextElement) else " ".join(filter(None, parts))


def is_output(node):
    return isinstance(node, nodes.math_block) and "output" in node["classes"]


def spoken(element):
    """MathML in one line of text: fractions with a slash, roots with their sign."""
    parts = [spoken(child) for child in element]
    match element.tag.rpartition("}")[2]:
        case "mfrac":
            return "/".join(part if len(part) == 1 else f"({part})" for part in parts)
        case "msqrt":
            return f"√({''.join(parts)})"
        case "msup":
            return "^".join(parts)
        case _:
            return (element.text or "").strip() + "".join(parts)


def setup(app):
    app.connect("html-page-context", write_previews)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

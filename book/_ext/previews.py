"""What book.js fetches when it is asked for: what each reference's preview shows, and the texts the search looks in.

Both are scripts that hand over one value, because a page opened from a folder may load a script, but no data.
"""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

from boxes import STATEMENTS
from docutils import nodes
from katex import key_of
from kept import keep
from sphinx.addnodes import pending_xref


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


def write_search_data(app, env):
    """Not before the statements are numbered."""
    if app.builder.name != "html":
        return
    entries = [entry for docname in sorted(env.found_docs) for entry in env.search_entries[docname]]
    write_script(app, "search-data", [{**entry, "kind": kind_of(env, entry)} for entry in entries])


def kind_of(env, entry):
    if isinstance(entry["kind"], str):
        return entry["kind"]
    docname, kind, counter = entry["kind"]
    number = env.toc_fignumbers[docname][counter][entry["id"]]
    return f"{kind.title()} {'.'.join(map(str, number))}"


def entries_of(app, docname):
    """The sections, statements and terms of a page, each with its title, its id and its words."""
    env = app.env
    page, uri = env.titles[docname].astext(), app.builder.get_target_uri(docname)
    entries = []
    for node in env.get_doctree(docname).findall(lambda n: isinstance(n, (nodes.section, nodes.term, *STATEMENTS))):
        if isinstance(node, nodes.section) and not isinstance(node.parent, nodes.document | nodes.section):
            continue
        if not node["ids"]:  # an entry of a list of definitions that is no glossary
            continue
        name = node["ids"][-1] if isinstance(node, nodes.term) else node["ids"][0]
        if isinstance(node, nodes.term):
            kind, title, body = "Term", words(app, node), [meaning(node)]
        elif isinstance(node, nodes.section):
            body = [child for child in node.children if not isinstance(child, nodes.section | nodes.title)]
            kind, title = "Section" if isinstance(node.parent, nodes.section) else "Page", words(app, node[0])
        else:
            kind = (docname, node["realtype"], node["countertype"])
            title, body = words(app, node[0]), node.children[1:]
        text = " ".join(filter(None, (words(app, child) for child in body)))
        shown = name if isinstance(node, STATEMENTS) else ""
        entries.append({"kind": kind, "title": title, "id": shown, "page": page, "url": f"{uri}#{name}", "text": text})
    return entries


def words(app, node):
    """The text of a node as it is read: formulas in Unicode, without code, outputs and statements inside."""
    if isinstance(node, nodes.math | nodes.math_block):
        mathml = re.search("<math.*?</math>", app.formulas.html(key_of(node)), re.DOTALL)
        return spoken(ElementTree.fromstring(mathml[0])) if mathml else ""
    if isinstance(node, (nodes.literal_block, nodes.raw, nodes.comment, nodes.image, *STATEMENTS)):
        return ""
    if isinstance(node, pending_xref) and node["refdomain"] in ("cite", "math"):
        return ""
    if isinstance(node, nodes.Text):
        return re.sub(r"\s+", " ", node.astext())
    parts = [words(app, child) for child in node.children]
    return "".join(parts) if isinstance(node, nodes.TextElement) else " ".join(filter(None, parts))


def spoken(element):
    """MathML in one line of text: fractions with a slash, roots with their sign, the TeX left out."""
    parts = [spoken(child) for child in element]
    match element.tag.rpartition("}")[2]:
        case "annotation":
            return ""
        case "mfrac":
            return "/".join(part if len(part) == 1 else f"({part})" for part in parts)
        case "msqrt":
            return f"√({''.join(parts)})"
        case "msup":
            return "^".join(parts)
        case _:
            return (element.text or "").strip() + "".join(parts)


def setup(app):
    # After katex.py has rendered the formulas.
    keep(app, "search_entries", entries_of, priority=500)
    # The first event after the numbering of statements.
    app.connect("env-check-consistency", write_search_data)
    app.connect("html-page-context", write_previews)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

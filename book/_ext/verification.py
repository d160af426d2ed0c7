"""The directive {verification}: how each fact is verified, as the tests themselves say when pytest collects them."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from docutils import nodes
from facts import ledger
from sphinx.util.docutils import SphinxDirective

WAYS = {"exact": "exact", "property": "property", "numeric": "numeric", "peer": "peers"}


def collect(root):
    """The fact marks of all tests: dictionaries with fact, way, test, file and line."""
    with tempfile.TemporaryDirectory() as folder:
        marks = Path(folder, "marks.json")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "--collect-only",
            "-q",
            "-p",
            "no:cacheprovider",
            "--fact-marks",
            marks,
        ]
        subprocess.run([*command, "tests"], cwd=root, check=True, capture_output=True, text=True)
        return json.loads(marks.read_text(encoding="utf8"))


class Verification(SphinxDirective):
    def run(self):
        root = Path(self.env.srcdir)
        for path in (root / "tests").rglob("*.py"):
            self.env.note_dependency(str(path))
        tests = {fact: {way: [] for way in WAYS} for fact in ledger(self.env)}
        for mark in collect(root):
            tests[mark["fact"]][mark["way"]].append(mark)
        return [*self.parse_text_to_nodes(matrix(tests)), *self.lists(tests)]

    def lists(self, tests):
        """For each fact its tests, with links to their source, which add_test_sources puts beside that of the pages."""
        up = "../" * self.env.docname.count("/")
        for fact, ways in tests.items():
            items = nodes.bullet_list()
            for way, marks in ways.items():
                for mark in marks:
                    words = f"{mark['file'].removeprefix('tests/')}, line {mark['line']}"
                    link = nodes.reference("", words, refuri=f"{up}_sources/{mark['file']}", internal=False)
                    name = nodes.literal("", mark["test"].rpartition("::")[2])
                    items += nodes.list_item("", nodes.paragraph("", f"{WAYS[way]}: ", name, nodes.Text(", "), link))
            yield from self.parse_text_to_nodes(f"**{{prf:ref}}`{fact} <{fact}>`**")
            yield items


def matrix(tests):
    """A table in MyST: a row a fact, a column a way, each cell the number of tests."""
    rows = [f"| fact | {' | '.join(WAYS.values())} |", "|---" * (len(WAYS) + 1) + "|"]
    for fact, ways in tests.items():
        rows.append(
            f"| {{prf:ref}}`{fact} <{fact}>` | {' | '.join(str(len(marks) or '–') for marks in ways.values())} |"
        )
    return "\n".join(rows)


def add_test_sources(app, exception):
    if exception or app.builder.name != "html":
        return
    for path in Path(app.srcdir, "tests").rglob("*.py"):
        target = Path(app.outdir, "_sources", path.relative_to(app.srcdir))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())


def setup(app):
    app.add_directive("verification", Verification)
    app.connect("build-finished", add_test_sources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

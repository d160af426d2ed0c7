"""The directive {verification}: how each fact is verified, by the record of the last run of all tests.

`pytest --record` writes the record (tests/results.py says what is in it); a build of the book runs no test.
"""

import json
from collections import Counter
from datetime import date
from pathlib import Path

from facts import by_page, filtered, group, register
from publish import REPOSITORY
from sphinx.util.docutils import SphinxDirective

WAYS = {"exact": "exact", "property": "property", "numeric": "numeric", "peer": "peers"}
NAMES = {
    "numpy": "NumPy",
    "torch": "PyTorch",
    "jax": "JAX",
    "flax": "Flax",
    "keras": "Keras",
    "onnxruntime": "ONNX Runtime",
}


class Verification(SphinxDirective):
    def run(self):
        path = Path(self.env.srcdir, "book", "_records", "tests.json")
        self.env.note_dependency(str(path))
        runs = json.loads(path.read_text(encoding="utf8"))
        text = [told(run) for run in runs.values()]
        groups = [
            group(self.env, page, facts, f"{matrix(facts, runs)}\n\n{listed(facts, runs)}")
            for page, facts in by_page(register(self.env)).items()
        ]
        return [*self.parse_text_to_nodes("\n\n".join(text)), *filtered(self, groups)]


def told(run):
    """When a run was, with what, how many tests there were and what was red, in words."""
    day = date.fromisoformat(run["date"])
    packages = ", ".join(f"{name} {run['packages'][key]}" for key, name in NAMES.items() if key in run["packages"])
    cells = f", and {run['cells']:,} cells of the recorded notebooks" if run["cells"] else ""
    red = "; ".join(f"`{name}`" for name in run["red"])
    return (
        f"**{day.day} {day:%B %Y}**, Python {run['python']}, {packages}: {run['functions']:,} test functions in "
        f"{run['cases']:,} cases{cells}. {f'[Red: {red}.]{{.red}}' if red else 'None was red.'}"
    )


def tests(runs, fact, way):
    """{function: how it ended} of all runs."""
    return {test: end for run in runs.values() for test, end in run["facts"].get(fact, {}).get(way, {}).items()}


def matrix(facts, runs):
    """A table in MyST: a row a fact, a column a way with the number of test functions, and its formal proof."""
    rows = [f"| fact | {' | '.join(WAYS.values())} | machine |", "|---" * (len(WAYS) + 2) + "|"]
    for id, fact in facts.items():
        cells = [cell(tests(runs, id, way), way in fact["pinned"]) for way in WAYS]
        rows.append(f"| {{fact}}`{id}` `{id}`{{.fact-id}} | {' | '.join(cells)} | {{formal}}`{id}` |")
    return "\n".join(rows)


def cell(ends, pinned):
    count = Counter(ends.values())
    words = [str(count.pop("passed"))] if count["passed"] else []
    words += [f"[{number} {'red' if end == 'failed' else end}]{{.red}}" for end, number in count.items() if number]
    return ", ".join(words) or ("[missing]{.red}" if pinned else "–")


def listed(facts, runs):
    """The tests of the facts by name, folded."""
    lines = [":::{admonition} The tests", ":class: dropdown", ""]
    for id in facts:
        lines.append(f"- {{fact}}`{id}`")
        for way, word in WAYS.items():
            if ends := tests(runs, id, way):
                lines.append(f"  - {word}: {', '.join(named(test, end) for test, end in ends.items())}")
    return "\n".join([*lines, ":::"])


def named(test, end):
    file, _, name = test.partition("::")
    source = f"[{file}]({REPOSITORY}/blob/main/{file})" if REPOSITORY else file
    words = f"`{name}` in {source}"
    return words if end == "passed" else f"[{words}, {'red' if end == 'failed' else end}]{{.red}}"


def setup(app):
    app.add_directive("verification", Verification)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The record of a run, for the page that says how each fact is verified: book/_records/tests.json.

`pytest --record` writes it: when the run was and with what, how many tests there were, what was red, and for each fact
and each way the functions that test it, with how they ended. A run in the peers' environment writes the peers' part.
"""

import json
import platform
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RECORD = Path(__file__).parents[1] / "book" / "_records" / "tests.json"
PACKAGES = ("numpy", "numba", "sympy", "torch", "jax", "flax", "keras", "onnxruntime")
# A function ends as the worst of its cases does.
ENDS = ("not run", "skipped", "passed", "failed")


def facts_of(item):
    """[fact, way] for each mark of the test; where there is no way, None."""
    return [[fact, mark.kwargs.get("way")] for mark in item.iter_markers("fact") for fact in mark.args]


def function_of(nodeid):
    """The test function of a case: tests/test_x.py::test_y[1-2] is a case of tests/test_x.py::test_y."""
    return nodeid.partition("[")[0]


def versions():
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


class Recorder:
    """A pytest plugin. Where tests run in other processes, all that it knows comes with their reports."""

    def __init__(self, path):
        self.path = Path(path)
        self.ends, self.facts = {}, {}

    def note(self, nodeid, properties, end):
        self.facts[nodeid] = dict(properties).get("facts", [])
        self.ends[nodeid] = max(self.ends.get(nodeid, end), end, key=ENDS.index)

    def pytest_collection_finish(self, session):
        for item in session.items:
            self.note(item.nodeid, item.user_properties, "not run")

    def pytest_runtest_logreport(self, report):
        # Setting up and putting away count where they fail.
        if report.when == "call" or report.outcome != "passed":
            self.note(report.nodeid, report.user_properties, report.outcome)

    def pytest_sessionfinish(self):
        of_peers = [nodeid for nodeid in self.ends if nodeid.startswith("tests/peers/")]
        part = "peers" if len(of_peers) == len(self.ends) else "book"
        record = json.loads(self.path.read_text("utf-8")) if self.path.exists() else {}
        record[part] = self.run()
        self.path.write_text(json.dumps(dict(sorted(record.items())), indent=1) + "\n", "utf-8")

    def run(self):
        cells = [nodeid for nodeid in self.ends if ".ipynb::" in nodeid]
        functions = {function_of(nodeid) for nodeid in self.ends.keys() - set(cells)}
        return {
            "date": date.today().isoformat(),
            "python": platform.python_version(),
            "packages": versions(),
            "functions": len(functions),
            "cases": len(self.ends) - len(cells),
            "cells": len(cells),
            "red": sorted(nodeid for nodeid, end in self.ends.items() if end == "failed"),
            "not run": sorted(nodeid for nodeid, end in self.ends.items() if end in ("not run", "skipped")),
            "facts": self.functions_by_fact(),
        }

    def functions_by_fact(self):
        """{fact: {way: {function: how it ended}}}, in alphabetical order."""
        found = {}
        for nodeid, end in self.ends.items():
            function = function_of(nodeid)
            for fact, way in self.facts[nodeid]:
                functions = found.setdefault(fact, {}).setdefault(str(way), {})
                functions[function] = max(functions.get(function, end), end, key=ENDS.index)
        return in_order(found)


def in_order(tree):
    return {key: in_order(tree[key]) for key in sorted(tree)} if isinstance(tree, dict) else tree

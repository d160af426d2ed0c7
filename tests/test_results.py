"""The record of a run says what became of each test, however its cases ended and whatever was recorded before."""

import json
from types import SimpleNamespace

import pytest
from results import Recorder

FACT = [("facts", [["a-fact", "exact"]])]


def report(nodeid, outcome, when="call", properties=()):
    return SimpleNamespace(nodeid=nodeid, outcome=outcome, when=when, user_properties=properties)


@pytest.fixture
def record_of(tmp_path):
    """Records a run of these reports, and reads the record."""

    def record(*reports, collected=()):
        recorder = Recorder(tmp_path / "tests.json")
        recorder.pytest_collection_finish(SimpleNamespace(items=collected))
        for one in reports:
            recorder.pytest_runtest_logreport(one)
        recorder.pytest_sessionfinish()
        return json.loads(recorder.path.read_text("utf-8"))

    return record


@pytest.mark.parametrize("order", [1, -1])
def test_a_function_ends_as_the_worst_of_its_cases(record_of, order):
    cases = [report("tests/test_x.py::test_y[1]", "failed", properties=FACT)]
    cases += [report("tests/test_x.py::test_y[2]", "passed", properties=FACT)]
    run = record_of(*cases[::order])["book"]
    assert run["facts"] == {"a-fact": {"exact": {"tests/test_x.py::test_y": "failed"}}}
    assert run["red"] == ["tests/test_x.py::test_y[1]"]
    assert (run["functions"], run["cases"], run["cells"]) == (1, 2, 0)


def test_a_case_that_fails_before_or_after_it_runs_is_red(record_of):
    phases = [report("a::b", "passed", when) for when in ("setup", "call", "teardown")]
    assert record_of(*phases)["book"]["red"] == []
    assert record_of(*phases[:2], report("a::b", "failed", "teardown"))["book"]["red"] == ["a::b"]
    assert record_of(report("a::b", "failed", "setup"))["book"]["red"] == ["a::b"]


def test_what_was_collected_and_gave_no_report_did_not_run(record_of):
    items = [SimpleNamespace(nodeid=nodeid, user_properties=FACT) for nodeid in ("a::b", "a::c", "a::d")]
    reports = [report("a::b", "passed", properties=FACT), report("a::c", "skipped", "setup", FACT)]
    run = record_of(*reports, collected=items)
    assert run["book"]["not run"] == ["a::c", "a::d"]
    ends = {"a::b": "passed", "a::c": "skipped", "a::d": "not run"}
    assert run["book"]["facts"] == {"a-fact": {"exact": ends}}


def test_a_run_of_the_peers_leaves_that_of_the_book_as_it_was(record_of):
    book = record_of(report("tests/test_x.py::test_y", "passed"), report("book/a.ipynb::Cell 1", "passed"))["book"]
    assert (book["functions"], book["cases"], book["cells"]) == (1, 1, 1)
    both = record_of(report("tests/peers/test_x.py::test_y", "failed"))
    assert both["book"] == book
    assert both["peers"]["red"] == ["tests/peers/test_x.py::test_y"]

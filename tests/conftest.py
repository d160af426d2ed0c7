"""What all tests share: the budget of the property tests, their seed, and the list of fact marks."""

import json
import os
import secrets

from hypothesis import HealthCheck, Phase, settings

settings.register_profile("desk", max_examples=25, deadline=None, print_blob=True)
settings.register_profile(
    "ci", max_examples=400, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
# Any failure catches a mutant: its smallest example is not needed, and none is kept for the next mutant.
settings.register_profile(
    "mutants", max_examples=25, deadline=None, database=None, phases=[Phase.explicit, Phase.generate]
)


def pytest_addoption(parser):
    parser.addoption("--fact-marks", metavar="PATH", help="write the fact marks of the collected tests to PATH as JSON")


def pytest_configure(config):
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "desk"))
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(secrets.randbelow(1 << 32))


def pytest_terminal_summary(terminalreporter, config):
    if terminalreporter.stats.get("failed") or terminalreporter.stats.get("error"):
        terminalreporter.line(
            f"The same random examples again: pytest --hypothesis-seed={config.option.hypothesis_seed}"
        )


def pytest_collection_finish(session):
    path = session.config.getoption("--fact-marks")
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(fact_marks(session.items), file, indent=1)


def fact_marks(items):
    """One record for each test and fact it pins: the fact, the way it is proved, and where the test stands."""
    records = {}
    for item in items:
        for mark in item.iter_markers("fact"):
            test = item.nodeid.partition("[")[0]
            file, line, _ = item.location
            for fact in mark.args:
                record = {"fact": fact, "way": mark.kwargs.get("way"), "test": test, "file": file, "line": line + 1}
                records[test, fact, record["way"]] = record
    return list(records.values())

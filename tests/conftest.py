"""What all tests share: the budget of the property tests, their seed, and the record of a run."""

import os
import secrets
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from results import RECORD, Recorder, facts_of

settings.register_profile("desk", max_examples=25, deadline=None, print_blob=True)
settings.register_profile(
    "ci", max_examples=400, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
# Any failure catches a mutant: its smallest example is not needed, and none is kept for the next mutant.
settings.register_profile(
    "mutants", max_examples=25, deadline=None, database=None, phases=[Phase.explicit, Phase.generate]
)

# The order of the long files. One process builds the book for the first, while another has what needs no book; what is
# short comes last, so that both end together.
LONG = [
    "site/test_walk.py",
    *("test_accuracy.py", "test_conformance.py", "test_conformance_mistakes.py"),
    *("site/test_reading.py", "site/test_still.py", "site/test_build.py"),
    *("site/test_lines_and_tables.py", "site/test_lab.py", "site/test_sliders.py"),
]


def pytest_addoption(parser):
    parser.addoption(
        "--record",
        nargs="?",
        const=RECORD,
        metavar="PATH",
        help=f"record what became of the tests in PATH, or else in {RECORD.name}, where the verification page reads it",
    )


def pytest_configure(config):
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "desk"))
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(secrets.randbelow(1 << 32))
    if config.option.record and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(config.option.record))


def pytest_itemcollected(item):
    """Each report carries the facts of its test, from whatever process it comes."""
    if facts := facts_of(item):
        item.user_properties.append(("facts", facts))


def pytest_collection_modifyitems(config, items):
    """The long files come first. A run that is recorded does not ask whether the record is up to date."""
    order = {Path(__file__).parent / name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: order.get(item.path, len(LONG)))
    if config.option.record:
        # Cells of notebooks have no fixtures.
        left_out = [item for item in items if "recorded" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter, config):
    if terminalreporter.stats.get("failed") or terminalreporter.stats.get("error"):
        terminalreporter.line(
            f"The same random examples again: pytest --hypothesis-seed={config.option.hypothesis_seed}"
        )

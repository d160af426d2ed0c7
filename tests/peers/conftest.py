"""The tests here need the peers of requirements-peers.txt: `make peers` runs them; `make test` runs one file alone.

That file has numbers of other projects' tests, and needs nothing of them.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NEEDS_NO_PEER = HERE / "test_others_tests.py"


def pytest_collection_modifyitems(config, items):
    """Without the peers the tests are collected, for the list of fact marks, but not run."""
    for item in items:
        if HERE in item.path.parents:  # torch.func.jvp compiles its formulas with what torch itself calls deprecated
            item.add_marker(pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning"))
    if config.option.collectonly or find_spec("torch"):
        return
    left_out = [item for item in items if HERE in item.path.parents and item.path != NEEDS_NO_PEER]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]

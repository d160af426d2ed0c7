"""The tests here need the peers of requirements-peers.txt: `make peers` runs them, `make test` leaves them out."""

from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config, items):
    """Without the peers the tests are collected, for the list of fact marks, but not run."""
    for item in items:
        if HERE in item.path.parents:  # torch.func.jvp compiles its formulas with what torch itself calls deprecated
            item.add_marker(pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning"))
    if config.option.collectonly or find_spec("torch"):
        return
    config.hook.pytest_deselected(items=[item for item in items if HERE in item.path.parents])
    items[:] = [item for item in items if HERE not in item.path.parents]

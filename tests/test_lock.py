"""The locks pin what pyproject.toml allows, all of it and nothing else, and agree where they share a package."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
LOCKS = {"requirements.txt": ("book", "lab", "test"), "requirements-peers.txt": ("fast", "peers")}


def declared(*extras):
    """The requirements of lnbook with these extras, and with those that they name in turn."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    found, left = [*map(Requirement, project["dependencies"])], [*extras]
    while left:
        for requirement in map(Requirement, project["optional-dependencies"][left.pop()]):
            if requirement.name == project["name"]:
                left += requirement.extras
            else:
                found.append(requirement)
    return found


def entries(lock):
    """The lines of a lock that are requirements, without their comments."""
    lines = (ROOT / lock).read_text(encoding="utf8").splitlines()
    return [line for line in lines if line and not line.lstrip().startswith("#")]


def pins(lock):
    """Name of package -> pinned version."""
    pinned = [Requirement(line) for line in entries(lock) if line != "-e ."]
    return {canonicalize_name(each.name): str(each.specifier).removeprefix("==") for each in pinned}


@pytest.mark.parametrize("lock", LOCKS)
def test_each_range_admits_the_version_that_is_locked(lock):
    locked = pins(lock)
    for requirement in declared(*LOCKS[lock]):
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), requirement


def test_nothing_is_locked_that_pyproject_no_longer_asks_for():
    text = (ROOT / "requirements.txt").read_text(encoding="utf8")
    blocks = re.findall(r"^([\w.-]+)==[^\n]*\n((?:    #[^\n]*\n)+)", text, re.MULTILINE)
    direct = {name for name, reasons in blocks if re.search(r"\blnbook\b", reasons)}
    assert direct == {canonicalize_name(requirement.name) for requirement in declared(*LOCKS["requirements.txt"])}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_entry_names_one_version_and_no_place(lock):
    for line in entries(lock):
        assert line == "-e ." or re.fullmatch(r"[\w.-]+==[\w.+]+( ; [^@:]+)?", line), line


def test_lnbook_is_installed_in_place():
    assert entries("requirements.txt")[0] == "-e ."


def test_the_locks_agree_where_they_share_a_package():
    ours, peers = (pins(lock) for lock in LOCKS)
    shared = ours.keys() & peers.keys()
    assert {"numpy", "numba", "pytest", "hypothesis"} <= shared
    assert {name: ours[name] for name in shared} == {name: peers[name] for name in shared}


def test_an_installation_leaves_numpy_2_0_alone_and_asks_for_nothing_else():
    (numpy,) = declared()
    assert numpy.name == "numpy"
    assert "2.0.2" in numpy.specifier

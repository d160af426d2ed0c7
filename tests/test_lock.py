"""requirements.txt and pyproject.toml agree: each direct dependency is pinned alike, and nothing else is direct."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent


def declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    return {Requirement(line).name: str(Requirement(line).specifier) for lines in lists for line in lines}


def locked():
    """name: (pin, is it there for lnbook itself?) of each entry of requirements.txt."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf8")
    entries = re.findall(r"^([\w.-]+)(==[^\s;]+)[^\n]*\n((?:    #[^\n]*\n)+)", text, re.MULTILINE)
    return {name: (pin, re.search(r"\blnbook\b", reasons) is not None) for name, pin, reasons in entries}


def test_direct_dependencies_are_locked_as_declared():
    assert {name: pin for name, (pin, direct) in locked().items() if direct} == declared()


def test_every_entry_is_pinned_and_lnbook_is_installed_in_place():
    text = (ROOT / "requirements.txt").read_text(encoding="utf8")
    entries = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    assert entries[0] == "-e ."
    assert all("==" in line for line in entries[1:])
    assert len(entries) - 1 == len(re.findall(r"^[\w.-]+==", text, re.MULTILINE))


def test_no_host_and_no_machine_path_is_locked():
    text = (ROOT / "requirements.txt").read_text(encoding="utf8")
    assert not re.search(r"https?://|file:|--(extra-)?index-url|--find-links| @ ", text)


def test_the_peers_are_locked_too_and_share_what_both_environments_hold():
    lines = (ROOT / "requirements-peers.txt").read_text(encoding="utf8").splitlines()
    entries = [line for line in lines if not line.startswith("#")]
    assert entries[0] == "-e ."
    pins = dict(
        re.fullmatch(r"([\w.-]+)(==[\w.]+)(?:; sys_platform != \"win32\")?", line).groups() for line in entries[1:]
    )
    assert pins["torch"] == "==2.13.0"
    ours = {name: pin for name, (pin, _) in locked().items()}
    for name in ("numpy", "numba", "llvmlite", "pytest", "hypothesis", "pytest-xdist"):
        assert pins[name] == ours[name]

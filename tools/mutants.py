"""lnbook with one fault at a time, made by mutmut: do the unit and property tests catch it?

`make mutants` runs it, which takes about an hour. It prints the share that is caught, and fails below 95 %, and where
the survivors are others than those that tools/survivors.toml explains.

The mutants are of a copy in which no function is decorated, since mutmut leaves such ones alone, and the loops of
lnbook/_kernels.py are plain Python, since Numba would compile every mutant.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from lnbook.conformance import report

ROOT = Path(__file__).parent.parent
COPY = ROOT / "_build" / "mutants"
LEAST = 0.95


# For pytest, which loads this module as a plugin when mutmut runs it.


def pytest_collection_modifyitems(items):
    """The quick tests first: mutmut gives them in no order, and stops at the first that fails."""
    measured = Path("mutmut-stats.json")
    if measured.exists():
        seconds = json.loads(measured.read_text(encoding="utf8"))["duration_by_test"]
        items.sort(key=lambda item: seconds.get(item.nodeid, 0))


@pytest.fixture(autouse=True)
def nothing_remembered():
    """What was kept from another test, or from the code without a fault, would hide the fault."""
    report._exactly.cache_clear()


# For `make mutants`


def copy_tree():
    """What mutmut and the tests read, in COPY; a run that was cut off goes on where it was."""
    left_out = shutil.ignore_patterns("__pycache__", "site", "_records")
    for folder in ("lnbook", "tests", "tools", "book"):
        shutil.copytree(ROOT / folder, COPY / folder, dirs_exist_ok=True, ignore=left_out)
    shutil.copy2(ROOT / "pyproject.toml", COPY)
    decorated = re.compile(r"^@(compiled|inlined|cache)\n(def (\w+).*?\n)(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
    for path in (COPY / "lnbook").rglob("*.py"):
        text = decorated.sub(r"\2\n\n\3 = \1(\3)\n", path.read_text(encoding="utf8"))
        text = text.replace("    from numba import config, njit\n", '    raise ImportError("to be plain Python")\n')
        path.write_text(text, encoding="utf8")


def mutmut(*arguments, **options):
    environment = {**os.environ, "HYPOTHESIS_PROFILE": "mutants", "PYTHONPATH": "tests"}
    command = [Path(sys.executable).with_name("mutmut"), *arguments]
    return subprocess.run(command, cwd=COPY, env=environment, text=True, check=True, **options)


def results():
    """Name of mutant -> what became of it."""
    output = mutmut("results", "--all", "true", stdout=subprocess.PIPE).stdout
    return dict(line.strip().rsplit(": ", 1) for line in output.splitlines() if ": " in line)


def change(name):
    """(function, the lines taken away, the lines put in their place) of a mutant."""
    output = mutmut("show", name, stdout=subprocess.PIPE).stdout
    module, of_class, function = re.fullmatch(r"lnbook\.(.*)\.x(?:ǁ(\w+)ǁ|_)(\w+)__mutmut_\d+", name).groups()
    lines = [line for line in output.splitlines() if re.match(r"[-+](?![-+]{2})", line)]
    before, after = (" ".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+")
    return ".".join(filter(None, (module, of_class, function))), before, after


def main():
    copy_tree()
    mutmut("run")
    fate = results()
    alive = Counter(change(name) for name, result in fate.items() if result not in ("killed", "timeout"))
    reasons = tomllib.loads((ROOT / "tools" / "survivors.toml").read_text(encoding="utf8"))["equivalent"]
    explained = Counter(tuple(mutant) for reason in reasons for mutant in reason["mutants"])
    for words, mutants in (("not explained", alive - explained), ("listed, but not there", explained - alive)):
        for function, before, after in sorted(mutants.elements()):
            print(f"\n{words}: {function}\n- {before}\n+ {after}")
    caught, in_time = 1 - alive.total() / len(fate), sum(result == "timeout" for result in fate.values())
    print(f"\n{len(fate)} mutants, {caught:.1%} caught ({in_time} by taking too long), {alive.total()} survive")
    sys.exit(caught < LEAST or alive != explained)


if __name__ == "__main__":
    main()

"""lnbook.conformance from the command line, in pytest, and where nothing but NumPy is installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from right_layer_norms import of_lnbook, vjp_of_lnbook

from lnbook import conformance
from lnbook.conformance.__main__ import main

ROOT = Path(__file__).parents[1]


def test_the_command_ends_with_0_where_every_fact_holds(capsys):
    assert main(["right_layer_norms:of_lnbook", "--vjp", "right_layer_norms:vjp_of_lnbook", "--dtype", "float64"]) == 0
    out = capsys.readouterr().out
    assert out == str(conformance.check(of_lnbook, vjp=vjp_of_lnbook, dtype="float64")) + "\n"


def test_the_command_asks_only_for_the_kinds_chosen():
    assert main(["wrong_layer_norms:right"]) == 1
    assert main(["wrong_layer_norms:right", "--only", "convention"]) == 0


def test_the_command_ends_with_1_where_a_fact_fails():
    command = [sys.executable, "-m", "lnbook.conformance", "wrong_layer_norms:rms_norm"]
    run = subprocess.run(command, cwd=ROOT / "tests", capture_output=True, text=True)
    assert run.returncode == 1
    assert "the numbers fit this mistake: not centred, as in RMSNorm" in run.stdout
    assert run.stderr == ""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_module:f", "'no_such_module' cannot be imported: ModuleNotFoundError"),
        ("wrong_layer_norms:no_such_function", "'wrong_layer_norms' has no 'no_such_function'"),
        ("wrong_layer_norms:FORWARD", "'wrong_layer_norms:FORWARD' is not callable: it is of type list"),
        ("wrong_layer_norms", "must have the form package.module:function"),
        (":f", "must have the form package.module:function"),
        ("wrong_layer_norms:right:right", "'wrong_layer_norms' has no 'right:right'"),
    ],
)
def test_the_command_ends_with_2_where_there_is_no_function(capsys, name, message):
    with pytest.raises(SystemExit) as stop:
        main([name])
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_the_command_asks_in_float32_if_nothing_else_is_said(capsys):
    main(["right_layer_norms:of_lnbook"])
    assert capsys.readouterr().out == str(conformance.check(of_lnbook, dtype="float32")) + "\n"


def test_the_command_refuses_an_unknown_kind(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["right_layer_norms:of_lnbook", "--only", "speed"])
    assert stop.value.code == 2
    assert "invalid choice: 'speed'" in capsys.readouterr().err


class Holder:
    layer_norm = staticmethod(of_lnbook)


def test_the_command_finds_what_a_module_holds_inside_a_class():
    assert main(["test_conformance_command:Holder.layer_norm", "--dtype", "float64"]) == 0


def test_the_command_says_what_it_takes(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    words = " ".join(["", *capsys.readouterr().out.split(), ""])
    for phrase in (
        "usage: python -m lnbook.conformance [-h]",
        "Check a layer norm f(z, gain, bias, eps) against the facts of the book.",
        "[--vjp package.module:function]",
        "package.module:function options:",
        "vjp(z, gain, bias, eps, g)",
        "float16, float32 (the default), float64, or bfloat16, which needs ml_dtypes",
        "the kinds of facts to ask",
        "ask for every length up to 130 and for 70001 positions as well",
        "Exit status: 0 if no fact fails, 1 if one does, 2 if the function cannot be called at all.",
    ):
        assert f" {phrase} " in words


def test_the_command_refuses_an_unknown_dtype(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["wrong_layer_norms:right", "--dtype", "int8"])
    assert stop.value.code == 2
    assert "dtype must be float16, float32, float64 or bfloat16, got int8" in capsys.readouterr().err


# In pytest, as the book says

IN_PYTEST = (ROOT / "book" / "check-your-own.md").read_text("utf-8").split("```python\n", 1)[1].partition("```")[0]
OWN = """
from right_layer_norms import vjp_of_lnbook as my_vjp
from {module} import {function} as my_layer_norm
"""


def pytest_run(folder, module, function):
    (folder / "test_mine.py").write_text(OWN.format(module=module, function=function) + IN_PYTEST, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "test_mine.py"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_the_example_of_the_book_passes_for_a_right_layer_norm(tmp_path):
    run = pytest_run(tmp_path, "right_layer_norms", "of_lnbook")
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{len(conformance.checks()) + 1} passed" in run.stdout


def test_the_example_of_the_book_fails_for_a_wrong_one_and_names_the_mistake(tmp_path):
    run = pytest_run(tmp_path, "wrong_layer_norms", "eps_squared")
    assert run.returncode == 1
    assert "FAILED test_mine.py::test_fact[eps-variance]" in run.stdout
    assert "test_fact[def-core-mean]" not in run.stdout
    assert "the numbers fit this mistake: eps is squared" in run.stdout


# With NumPy alone

ALONE = """
import sys, types
sys.path[:0] = [{root!r}, {tests!r}]
for name in ("numba", "sympy", "matplotlib", "ml_dtypes", "scipy", "torch"):
    sys.modules[name] = None  # to import it is an error
package = types.ModuleType("lnbook")  # whatever lnbook itself imports
package.__path__ = [{package!r}]
sys.modules["lnbook"] = package
from lnbook import conformance
from wrong_layer_norms import rms_norm
print(conformance.check(rms_norm, kinds=("convention",)).mistakes[0])
try:
    conformance.check(rms_norm, dtype="bfloat16")
except ValueError as error:
    print(error)
print(sorted(name for name in sys.modules if name.startswith("lnbook.") and "conformance" not in name))
"""


def test_the_checker_needs_numpy_alone_and_nothing_of_the_core():
    code = ALONE.format(root=str(ROOT), tests=str(ROOT / "tests"), package=str(ROOT / "lnbook"))
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stderr == ""
    assert run.stdout.splitlines() == [
        "not centred, as in RMSNorm",
        "dtype bfloat16 needs the package ml_dtypes, which is not installed",
        "[]",
    ]

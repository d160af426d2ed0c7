"""lnbook.conformance: what its reports say, what it makes of functions that return no numbers, and its checks."""

import warnings
from functools import partial
from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest
import wrong_layer_norms as wrong
from right_layer_norms import of_lnbook, vjp_of_lnbook

from lnbook import conformance
from lnbook.conformance import catalogue, report
from lnbook.conformance.diagnosis import Cause, Finding
from lnbook.conformance.facts import CONVENTION, FLOATING_POINT, GRADIENT, KINDS, MEMORY, STATEMENTS
from lnbook.conformance.memory_layouts import LAYOUTS

# What does not return numbers


def raising(z, gain, bias, eps):
    raise RuntimeError("out of\nmemory")


def transposed(z, gain, bias, eps):
    return wrong.right(z, gain, bias, eps).T


def widened(z, gain, bias, eps):
    return wrong.right(z, gain, bias, eps).astype(np.float64)


def nothing(z, gain, bias, eps):
    return None


def words(z, gain, bias, eps):
    return "a layer norm"


@pytest.mark.parametrize(
    ("layer_norm", "trouble"),
    [
        (raising, "raised RuntimeError: out of memory"),
        (widened, "has dtype float64, not float32"),
        (nothing, "returned None, not an array of numbers"),
        (lambda z, gain, bias, eps: (z, gain, eps), "returned a tuple, not an array of numbers"),
        (lambda z, gain, bias, eps: [[1, 2], [3]], "returned a list, not an array of numbers"),
        (words, "returned a str, not an array of numbers"),
        (lambda z, gain, bias, eps: 3.0, "has shape (), not (3, 3)"),
        (lambda z, gain, bias, eps: [None] * 3, "returned a list, not an array of numbers"),
        (lambda z, gain, bias, eps: 1j * z, "has dtype complex64, not float32"),
    ],
)
def test_a_function_that_returns_no_numbers_fails_each_row_with_the_reason(layer_norm, trouble):
    report = conformance.check(layer_norm)
    assert len(report.rows) == len(conformance.checks(vjp=False))
    assert {row.verdict for row in report.rows if row.kind != MEMORY} == {"FAILS"}
    # where the memory is asked about, an error is a refusal; arguments are left alone by a function that does nothing
    in_memory = {row.name: row.verdict for row in report.rows if row.kind == MEMORY}
    raised = trouble.startswith("raised")
    assert in_memory.pop("def-output/arguments") == ("weak" if raised else "holds")
    assert set(in_memory.values()) == {"weak" if raised else "FAILS"}
    assert str(report).splitlines()[-1] == "where there are no numbers to compare, the row says why"
    assert report.rows[0].trouble == trouble
    assert trouble in str(report)
    assert report.mistakes == ()


def test_one_wrong_shape_does_not_stop_the_run():
    report = conformance.check(transposed)
    assert next(r for r in report.rows if r.name == "gain-example").trouble == "has shape (3, 1), not (1, 3)"
    assert next(r for r in report.rows if r.name == "def-output").got is not None


def test_a_refused_eps_of_zero_fails_its_row_only():
    def strict(z, gain, bias, eps):
        if eps == 0:
            raise ValueError("eps must be positive")
        return of_lnbook(z, gain, bias, eps)

    report = conformance.check(strict)
    assert [(r.name, r.trouble) for r in report.rows if not r.holds] == [
        ("eps-scaling-unstabilised", "raised ValueError: eps must be positive")
    ]


@pytest.mark.parametrize(
    ("vjp", "trouble"),
    [
        (lambda z, gain, bias, eps, g: z, "returned a ndarray, not a tuple of the three arrays dz, dgain and dbias"),
        (lambda z, gain, bias, eps, g: None, "returned None, not a tuple of the three arrays dz, dgain and dbias"),
        (lambda z, gain, bias, eps, g: (z, gain, None), "dbias is None, not an array of numbers"),
        (
            lambda z, gain, bias, eps, g: (z, gain),
            "returned a tuple of 2, not a tuple of the three arrays dz, dgain and dbias",
        ),
        (lambda z, gain, bias, eps, g: (z, gain, z), "dbias has shape (1, 3), not (3,)"),
        (lambda z, gain, bias, eps, g: 1 / 0, "raised ZeroDivisionError: division by zero"),
    ],
)
def test_a_vjp_that_returns_no_gradients_fails_with_the_reason(vjp, trouble):
    report = conformance.check(of_lnbook, vjp=vjp)
    assert next(r for r in report.rows if r.name == "bias-gradient").trouble == trouble
    assert all(r.holds for r in report.rows if r.kind == CONVENTION)


@pytest.mark.parametrize(("which", "row"), [(0, "eps-jacobian"), (1, "gain-gradient"), (2, "bias-gradient")])
def test_a_gradient_of_the_wrong_shape_is_called_by_its_name(which, row):
    def vjp(z, gain, bias, eps, g):
        gradients = list(vjp_of_lnbook(z, gain, bias, eps, g))
        gradients[which] = gradients[which][..., :2]
        return gradients

    check = next(c for c in conformance.checks() if str(c) == row)
    assert check.run(of_lnbook, vjp=vjp).trouble.startswith(f"{('dz', 'dgain', 'dbias')[which]} has shape ")


def test_a_vjp_that_fails_for_many_positions_fails_those_rows_only():
    def limited(z, gain, bias, eps, g):
        if len(z) > 1024:
            raise MemoryError("too many rows")
        return vjp_of_lnbook(z, gain, bias, eps, g)

    report = conformance.check(of_lnbook, vjp=limited)
    assert {(r.name, r.trouble) for r in report.rows if not r.holds} == {
        ("sum-stalls", "raised MemoryError: too many rows"),
        ("bias-positions/uneven", "raised MemoryError: too many rows"),
    }
    assert report.mistakes == ()


def test_nan_is_named_with_its_place():
    check = next(c for c in conformance.checks() if str(c) == "eps-constant-input")
    assert check.run(wrong.eps_missing).trouble == "holds nan at (0, 0)"


def test_warnings_of_the_function_are_neither_shown_nor_errors():
    def warning(z, gain, bias, eps):
        warnings.warn("slow path", stacklevel=1)
        return of_lnbook(z, gain, bias, eps)

    assert conformance.check(warning).ok


def test_what_the_caller_wants_numpy_to_raise_is_not_raised_in_the_function():
    expected = str(conformance.check(wrong.eps_missing))
    with np.errstate(all="raise"):
        assert str(conformance.check(wrong.eps_missing)) == expected


def test_a_mistake_is_named_even_if_the_function_writes_over_its_arguments():
    def in_place(z, gain, bias, eps):
        y = wrong.eps_squared(z, gain, bias, eps)
        for argument in (z, gain, bias):
            argument.fill(7)
        return y

    assert conformance.check(in_place).mistakes == ("eps is squared", "an argument is written over (bias, gain, z)")


def test_a_vjp_that_writes_over_the_cotangent_is_named():
    def in_place(z, gain, bias, eps, g):
        gradients = vjp_of_lnbook(z, gain, bias, eps, g)
        g *= gain
        return gradients

    report = conformance.check(of_lnbook, vjp=in_place, kinds=(MEMORY,))
    assert report.mistakes == ("an argument is written over (g)",)
    assert {r.name: r.verdict for r in report.rows if r.verdict != "holds"} == {
        "gain-input-jacobian/arguments": "FAILS",
        "gain-input-jacobian/read-only": "weak",  # NumPy refuses to write there
        "bias-positions/expanded": "weak",
    }


def test_an_array_that_is_refused_is_no_failure_and_the_row_says_so():
    def strict(z, gain, bias, eps):
        if any(step < 0 for step in z.strides):
            raise ValueError("negative strides")
        return of_lnbook(z, gain, bias, eps)

    report = conformance.check(strict, kinds=(MEMORY,))
    assert report.ok
    assert [(r.name, r.trouble) for r in report.rows if r.verdict == "weak"] == [
        ("def-output/reversed", "raised ValueError: negative strides")
    ]


# How the arrays lie


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_keeps_the_numbers(name, dtype):
    a = np.full((2, 4, 3), 3, dtype) if name == "expanded" else np.arange(24).reshape(2, 4, 3).astype(dtype)
    laid = LAYOUTS[name](a)
    assert (laid == a).all()
    assert (laid.shape, laid.dtype) == (a.shape, a.dtype)
    assert not np.shares_memory(laid, a) or name == "expanded"
    properties = {
        "strided": not laid.flags.c_contiguous,
        "reversed": max(laid.strides) < 0,
        "permuted": laid.strides[-1] != min(laid.strides),
        "unaligned": not laid.flags.aligned,
        "read-only": not laid.flags.writeable,
        "expanded": set(laid.strides) == {0},
    }
    assert properties[name]


# The report and the checks


def test_the_report_counts_and_says_what_was_not_asked():
    report = conformance.check(of_lnbook, title="lnbook")
    derivatives = len(conformance.checks()) - len(report.rows)
    assert str(report).splitlines()[:2] == [
        "lnbook, float32",
        f"{len(report.rows)} holds, 0 weak, 0 fails ({derivatives} facts about derivatives not asked: no vjp given)",
    ]
    assert derivatives == sum(s.uses_vjp and not s.thorough for s in STATEMENTS) > 0


def test_a_report_without_a_title_has_the_name_of_the_function_or_of_its_type():
    for function, title in ((of_lnbook, "of_lnbook"), (partial(of_lnbook), "partial")):
        assert conformance.check(function, kinds=(FLOATING_POINT,)).title == title


def test_rows_hold_the_numbers_compared():
    row = next(r for r in conformance.check(of_lnbook).rows if r.name == "gain-example")
    assert row == report.Row(
        "gain-example",
        "gain-example",
        CONVENTION,
        "z = (1, 1, -2), eps = 2, gain = (2, 0, -1): y = (1, 0, 1)",
        "holds",
        (1.0, 0.0, 1.0),
        (1.0, 0.0, 1.0),
        0.0,
        "",
        False,
        False,
    )


def test_long_rows_show_their_largest_error():
    def last_entry_wrong(z, gain, bias, eps):
        y = of_lnbook(z, gain, bias, eps)
        y[..., -1] += 1
        return y

    check = next(c for c in conformance.checks() if str(c) == "def-output")
    assert "expected 1.94231 at 8, got 2.94231" in str(check.run(last_entry_wrong))


def test_numbers_that_nearly_agree_show_the_digits_that_differ():
    def off(z, gain, bias, eps):
        return of_lnbook(z, gain, bias, eps) * (1 + 1e-8)

    check = next(c for c in conformance.checks() if str(c) == "gain-example")
    assert "expected 1, 0, 1, got 1.00000001, 0, 1.00000001" in str(check.run(off, dtype="float64"))


def test_a_row_of_four_numbers_shows_all_of_them_and_one_of_five_the_worst():
    row = report.Row("name", "name", CONVENTION, "words", "FAILS", (1, 2, 3, 4), (1, 2, 3, 5), 9.0, "")
    assert str(row).endswith("expected 1, 2, 3, 4, got 1, 2, 3, 5")
    row = row._replace(expected=(1, 2, 3, 4, 5), got=(1, 2, 3.5, 4, 5.25))
    assert str(row).endswith("expected 3 at 2, got 3.5")
    row = row._replace(expected=(1, 2, 3, 4), got=(1, 2, 3, 4.00000001234))
    assert str(row).endswith("expected 1, 2, 3, 4, got 1, 2, 3, 4.00000001")
    row = row._replace(expected=(1,), got=(1 + 1.23456e-12,))
    assert str(row).endswith("expected 1, got 1.000000000001")
    row = row._replace(expected=(1,), got=(1 + 2.0**-52,))
    assert str(row).endswith("expected 1, got 1.0000000000000002")


SQUARED = Finding((Cause(next(m for m in catalogue.MISTAKES if m.name == "eps is squared")),))
ROWS = (
    report.Row("def-output", "def-output", CONVENTION, "a convention", "holds", (1.0,), (1.0,), 9.96, ""),
    report.Row("bias-offset", "bias-offset", CONVENTION, "another", "FAILS", (1.0,), (2.0,), 12345.6, ""),
    report.Row("shift-exact/far", "shift-exact", FLOATING_POINT, "digits", "weak", (0.0,), (0.5,), 1e5, ""),
    report.Row("sum-stalls", "sum-stalls", FLOATING_POINT, "sums", "FAILS", (4.0,), None, np.inf, "raised an error"),
)


def test_a_report_as_it_is_printed():
    assert str(report.Report("mine", "float32", ROWS, (SQUARED,), ("sum-stalls",), 3)).splitlines() == [
        "mine, float32",
        "1 holds, 1 weak, 2 fails (3 facts about derivatives not asked: no vjp given)",
        "",
        "convention                            error  (in units in the last place of the output's scale)",
        "holds  def-output                      10.0  a convention",
        "FAILS  bias-offset                    12000  another",
        "                                             expected 1, got 2",
        "",
        "floating point                        error  (in units in the last place of the output's scale)",
        "weak   shift-exact/far              1.0e+05  digits",
        "                                             expected 0, got 0.5",
        "FAILS  sum-stalls                       inf  sums",
        "                                             raised an error",
        "",
        "the numbers fit this mistake: eps is squared",
        "    look at: the denominator: eps is added to the variance as it is",
        "the numbers of these rows fit none of the mistakes known here: sum-stalls",
    ]
    shown = {0.04: "0.0", 9.94: "9.9", 10: "10", 10.4: "10", 99999: "100000", 1e5: "1.0e+05"}
    assert {error: report._rounded(error) for error in shown} == shown


@pytest.mark.parametrize(
    ("rows", "unexplained", "last"),
    [
        (ROWS[:1], (), "holds  def-output                      10.0  a convention"),
        (ROWS[:2], ("bias-offset",), "the numbers fit none of the mistakes known here"),
        (
            (ROWS[3]._replace(without_numbers=True),),
            (),
            "where there are no numbers to compare, the row says why",
        ),
    ],
)
def test_a_report_says_that_no_mistake_fits_where_numbers_are_wrong(rows, unexplained, last):
    lines = str(report.Report("mine", "float32", rows, (), unexplained, 0)).split("\n")
    assert lines[-1] == last
    assert lines[1].endswith(" fails")


def test_checks_are_chosen_by_kind():
    chosen = [conformance.checks(kind) for kind in KINDS]
    assert sum(map(len, chosen)) == len(conformance.checks())
    assert all(set(a).isdisjoint(b) for a, b in pairwise(chosen))
    assert set(conformance.checks()) < set(conformance.checks(thorough=True))
    with pytest.raises(ValueError, match="'speed'"):
        conformance.checks("speed")


@pytest.mark.parametrize("check", conformance.checks(GRADIENT)[:1], ids=str)
def test_a_derivative_fact_needs_a_vjp(check):
    with pytest.raises(ValueError, match="vjp must be given"):
        check.run(of_lnbook)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"layer_norm": 3}, TypeError, "layer_norm must be callable, got int"),
        ({"layer_norm": of_lnbook, "vjp": 3}, TypeError, "vjp must be callable, got int"),
        *(
            (
                {"layer_norm": of_lnbook, "dtype": given},
                ValueError,
                f"^dtype must be float16, float32, float64 or bfloat16, got {shown}$",
            )
            for given, shown in (("nonsense", "'nonsense'"), (None, "None"), ("int8", "int8"), (3.5, "3.5"))
        ),
        (
            {"layer_norm": of_lnbook, "kinds": ("speed",)},
            ValueError,
            "^kinds must be a tuple of one or more of convention, gradient, floating point, memory; got .'speed',.$",
        ),
        ({"layer_norm": of_lnbook, "kinds": ()}, ValueError, "kinds must be a tuple"),
        ({"layer_norm": of_lnbook, "kinds": None}, ValueError, "kinds must be a tuple .* got None"),
        ({"layer_norm": of_lnbook, "kinds": "gradient"}, ValueError, "kinds must be a tuple .* got 'gradient'"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        conformance.check(**arguments)

"""lnbook.conformance: its exact numbers are right, it passes what is right, and it names each mistake."""

import json
import subprocess
import sys
import tomllib
import warnings
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
import wrong_layer_norms as wrong

import lnbook
from lnbook import conformance
from lnbook.conformance import exact, facts, mistakes, report
from lnbook.conformance.__main__ import main
from lnbook.conformance.facts import CONVENTION, FLOATING_POINT, GRADIENT, KINDS, STATEMENTS
from lnbook.conformance.layers import Call, ExactLayer, LayerUnderTest

ROOT = Path(__file__).parents[1]
FACTS = tomllib.loads((ROOT / "book" / "facts.toml").read_text("utf-8"))
CASES = {case["id"]: case for case in json.loads((ROOT / "tests" / "cases.json").read_text("utf-8"))["cases"]}
DTYPES = ["float16", "float32", "float64"]


def of_lnbook(z, gain, bias, eps):
    return lnbook.layer_norm(z, gain, bias, eps=eps)


def vjp_of_lnbook(z, gain, bias, eps, g):
    return lnbook.vjp(z, g, gain, eps=eps)


def asked(name, dtype="float64"):
    """The numbers expected in one row."""
    statement = next(s for s in STATEMENTS if s.name == name)
    return np.ravel(statement.ask(ExactLayer(dtype)))


# What is asked


def test_each_row_belongs_to_a_fact_of_the_ledger():
    assert [s.name for s in STATEMENTS if s.fact not in FACTS] == []
    assert len({s.name for s in STATEMENTS}) == len(STATEMENTS)
    assert {s.kind for s in STATEMENTS} == set(KINDS)


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("bias-constant-input", [1, -1, 2]),
        ("bias-mean", [Fraction(2, 3)]),
        ("bias-gradient", [1, -1, 2]),
        ("gain-example", [1, 0, 1]),
        ("gain-moments", [Fraction(2, 3), Fraction(2, 9)]),
        ("eps-constant-input", [0] * 9 + [3]),
        ("eps-variance", [Fraction(64, 65), Fraction(1, 2), Fraction(1, 65)]),
        ("eps-norm-bound", [0] * 5),
        ("jac-example", [Fraction(n, 16) for n in (3, -3, -3, 3)]),
        ("jac-directions", [0, 0, Fraction(-3, 8), Fraction(3, 8)]),
        ("jac-gain", [0, 0, Fraction(-3, 8), Fraction(3, 8)]),
        ("jac-parameters", [Fraction(-1, 2), 0, 0, Fraction(1, 2), 1, 0, 0, 1]),
        ("sens-smaller", [Fraction(3, 8)]),
        ("vjp-example", [Fraction(2, 3), Fraction(-1, 3), Fraction(-1, 3)]),
        ("vjp-kernel", [0] * 9),
        ("positions-example", [1.5, 1, 1, 1, *CASES["B41"]["expected"]["dgamma"]]),
        ("sum-stalls", [4096, 4096]),
        ("open-ball", [0] * 6),
        ("largest-coordinate/one", [0, 0]),
        ("eps-attained", [2, 2]),
        ("eps-example", [-1, 0, 1, *np.array([-1, 0, 1]) / np.sqrt(2)]),
        ("shift-example", [-1, 0, 1] * 2),
        ("shift-unequal", np.array([-4, -1, 5]) / np.sqrt(17)),
        ("sens-finite", [1 / np.sqrt(1.01e-4), 1 / np.sqrt(0.010001)]),
        # eps = 2; (1, 2, 3) has q = 2/3; (0, 2, 4) has q = 8/3 and a v twice as long
        ("eps-eigen-radial", np.outer([2 / (8 / 3) ** 1.5, 4 / (14 / 3) ** 1.5], [-1, 0, 1]).ravel()),
    ],
)
def test_the_expected_numbers_are_those_of_the_claims(name, numbers):
    got = asked(name)
    # the rows at 1/3 and 1/1000 are asked at the floats next to these numbers
    assert np.abs(got.astype(float) - np.array(numbers, float)).max() < 1e-12 * max(1, np.abs(got).max())


@pytest.mark.parametrize("case", ["B01", "B05", "B08", "B60", "B73"])
def test_the_exact_layer_agrees_with_published_cases(case):
    given, expected = CASES[case]["input"], CASES[case]["expected"]
    z = exact.fractions(np.array(given["z"]))
    y, _ = exact.core(z, Fraction(given["eps"]))
    expected = expected.get("y", expected.get("LN_z"))
    assert np.abs(y.astype(float) - expected).max() < 1e-13


def test_the_exact_gradients_agree_with_published_cases():
    given = CASES["B46"]["input"]
    z, gain, g = (exact.fractions(np.array(given[k])) for k in ("z", "gamma", "dy"))
    dz, _, _ = exact.vjp(z, gain, Fraction(given["eps"]), g)
    assert np.abs(dz.astype(float) - CASES["B46"]["expected"]["dz"]).max() < 1e-13
    given, expected = CASES["B41"]["input"], CASES["B41"]["expected"]
    z, gain, g = (exact.fractions(np.array(given[k])) for k in ("z", "gamma", "dy"))
    _, dgain, dbias = exact.vjp(z, gain, Fraction(given["eps"]), g)
    assert np.abs(dgain.astype(float) - expected["dgamma"]).max() < 1e-13
    assert dbias.tolist() == [Fraction(3, 2), 1, 1, 1]


@pytest.mark.parametrize("x", [Fraction(2), Fraction(1, 3), Fraction(10) ** 60, Fraction(1, 10**60), Fraction(0)])
def test_roots_have_sixty_digits(x):
    root = exact.root(x)
    assert abs(root * root - x) <= x / 10**60


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("x", [1.0, 1.5, 1.999, 2.0, 3.0, 0.1, 4095.5, 2.0**-14])
def test_the_unit_in_the_last_place_is_the_distance_of_floats(dtype, x):
    x = np.dtype(dtype).type(x)
    unit = exact.unit_in_the_last_place(Fraction(float(x)), ExactLayer(dtype).digits)
    assert unit == Fraction(float(np.spacing(x)))


def test_the_unit_in_the_last_place_of_a_number_that_is_no_float():
    assert exact.unit_in_the_last_place(Fraction(5, 3), 24) == Fraction(1, 2**23)
    assert exact.unit_in_the_last_place(Fraction(1, 3), 24) == Fraction(1, 2**25)


def test_a_row_of_zeros_costs_nothing_and_a_small_output_has_a_small_scale():
    layer = ExactLayer("float32")
    layer.y([[0, 0]], [3, 3], eps=1)
    assert (layer.scale, layer.cost) == (0, 0)
    layer.y([[-1, 1]], [0.25, 0.25], eps=3)
    assert layer.scale == Fraction(1, 8)


def test_units_and_costs_are_counted_with_the_stretch_of_a_statement():
    def statement(z, stretch):
        return facts.Statement("name", CONVENTION, "words", lambda layer: layer.y(z, eps=3), False, stretch)

    _, unit, cost = report._exactly(statement([[-1, 1]], 3), np.dtype("float32"))  # the core is (-1, 1) / 2
    assert (unit, cost) == (Fraction(3, 2**24), Fraction(3, 4))
    _, unit, cost = report._exactly(statement([[0, 0]], 1), np.dtype("float32"))
    assert (unit, cost) == (Fraction(1, 2**23), 0)


def test_what_the_statements_are_made_of():
    numbers = facts.spread(1000)
    assert len({256 * x for x in numbers if (256 * x).denominator == 1 and abs(x) <= 2}) == 1000
    assert abs(numbers.mean()) < 0.01
    assert abs((numbers**2).mean() - 4 / 3) < 0.01
    assert (facts._offset(ExactLayer("float32"), 2)[0] - facts.spread(768)).tolist() == [2**12] * 768
    assert [a.shape for a in ExactLayer("float32").arguments(np.zeros((2, 1, 3)), None, None)[1:3]] == [(3,), (3,)]
    assert exact.length(facts.array([[3, 4], [5, 12]])).tolist() == [[5], [13]]


def test_the_cost_is_what_half_a_unit_in_each_input_can_do():
    z, gain, g, eps = np.array([[1000.0, 1001.0, 1003.0]]), np.array([2.0, -1.0, 0.5]), np.array([[1.0, 0.0, 2.0]]), 0.1
    half = float(np.spacing(np.float32(1003))) / 2
    moved = [z + half * np.array(signs) for signs in product((-1, 1), repeat=3)]
    for ask in (lambda layer, z: layer.y(z, gain, eps=eps), lambda layer, z: layer.dz(z, g, gain, eps=eps)):
        layer = ExactLayer("float32")
        here = ask(layer, z)
        change = max(abs(ask(ExactLayer("float64"), there) - here).max() for there in moved)
        assert change <= layer.cost <= 20 * change


def test_the_scales_and_the_costs_of_four_coordinates_by_hand():
    z, gain, bias = [[[-1, 1, -1, 1]], [[5, -5, 1, -1]]], [2, -1, 1, 0.5], [1, 0, -2, 3]
    g, half = [[[1, -3, 0, 2]], [[2, 1, -1, 4]]], Fraction(1, 2**22)  # half a unit of 5 in float32
    # eps = 3: the roots are 2 and 4, the cores (-1, 1, -1, 1) / 2 and (5, -5, 1, -1) / 4
    scale_and_cost = {
        "y": (lambda layer: layer.y(z, gain, bias, eps=3), Fraction(7, 2), 2 * (Fraction(3, 2) + Fraction(1, 2)) / 2),
        "dz": (lambda layer: layer.dz(z, g, gain, bias, eps=3), 2, Fraction(5, 2)),
        "dgain": (lambda layer: layer.dgain(z, g, gain, bias, eps=3), 3, 0),
        "dbias": (lambda layer: layer.dbias(z, g, gain, bias, eps=3), 6, 0),
    }
    for name, (ask, scale, cost) in scale_and_cost.items():
        layer = ExactLayer("float32")
        ask(layer)
        assert (layer.scale, layer.cost) == (scale, cost * half), name


def test_a_statement_is_kept_as_it_is_stated(monkeypatch):
    kept = []
    monkeypatch.setattr(facts, "STATEMENTS", kept)
    assert facts.states("a-fact/part", CONVENTION, "words")(len) is len
    facts.states("a-slope", GRADIENT, "words")(len)
    facts.states("a-sum", FLOATING_POINT, "words", uses_vjp=True, stretch=3)(len)
    assert kept == [
        facts.Statement("a-fact/part", CONVENTION, "words", len, False, 1),
        facts.Statement("a-slope", GRADIENT, "words", len, True, 1),
        facts.Statement("a-sum", FLOATING_POINT, "words", len, True, 3),
    ]
    assert [statement.fact for statement in kept] == ["a-fact", "a-slope", "a-sum"]


def test_the_bound_on_differences_is_asked_at_three_steps():
    class Square:
        def y(self, z, gain, *, eps):
            assert eps == Fraction(1, 64)
            return 100 * gain * z**2

    # (3, 3, 3) and the steps (1, -1, 0) / 16 and (1, -1, 0), (1, 2, 4) and (1, -1, 0); the gain is (2, -1, 1/2)
    lengths = [np.hypot(194, 95) / 256 * 16, np.hypot(14, 5), np.hypot(6, 3)]
    got = facts._stretching(Square(), facts.GAIN, Fraction(1, 64))
    assert got.astype(float) == pytest.approx(
        [100 * length / np.sqrt(2) / (2 * 8) - 1 for length in lengths], rel=1e-12
    )


def test_the_function_under_test_gets_what_is_asked():
    seen = []

    def vjp(*arguments):
        seen.append(arguments)
        return vjp_of_lnbook(*arguments)

    z, g, gain, bias = ([[1, 2, 4]], [[1, 0, 2]], [2, 1, 3], [1, -1, 0])
    layer = LayerUnderTest(of_lnbook, vjp, "float32")
    for ask in (layer.dz, layer.dgain, layer.dbias):
        ask(z, g, gain, bias, eps=0.5)
        got = seen.pop()
        assert [np.asarray(a).tolist() for a in got] == [z, gain, bias, 0.5, g]
        assert {a.dtype for a in got if isinstance(a, np.ndarray)} == {np.dtype(np.float32)}


# What passes


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "check",
    [pytest.param(c, marks=pytest.mark.fact(c.statement.fact, way="exact")) for c in conformance.checks()],
    ids=str,
)
def test_lnbook_holds_each_fact(check, dtype):
    row = check.run(of_lnbook, vjp=vjp_of_lnbook, dtype=dtype)
    assert row.verdict == "holds", row
    assert row.error <= 4, row


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_plain_layer_norm_keeps_the_conventions_and_is_accused_of_nothing(dtype):
    report = conformance.check(wrong.right, vjp=wrong.right_vjp, dtype=dtype)
    failing = [row.name for row in report.rows if row.verdict == "FAILS"]
    assert failing == ["eps-scaling/large"]  # its squares overflow
    assert report.mistakes == ()
    assert next(row for row in report.rows if row.name == "shift-exact/far").verdict == "weak"
    assert not report.ok
    assert conformance.check(wrong.right, vjp=wrong.right_vjp, dtype=dtype, kinds=(CONVENTION, GRADIENT)).ok


# What fails, and by which name


def one_mistake(report, words):
    assert not report.ok
    assert len(report.mistakes) == 1, report
    assert report.mistakes[0].startswith(words), report
    assert f"the numbers fit this mistake: {words}" in str(report)


@pytest.mark.parametrize(("layer_norm", "dtype", "words"), wrong.FORWARD)
def test_each_mistake_of_the_layer_is_named(layer_norm, dtype, words):
    one_mistake(conformance.check(layer_norm, dtype=dtype), words)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("vjp", "words"), wrong.GRADIENT)
def test_each_mistake_of_the_gradient_is_named(vjp, words, dtype):
    report = conformance.check(of_lnbook, vjp=vjp, dtype=dtype)
    one_mistake(report, words)
    assert {row.kind for row in report.rows if not row.holds} <= {GRADIENT, FLOATING_POINT}


def test_each_mistake_that_can_be_named_is_made_by_one_of_them():
    made = [case[-1] for case in (*wrong.FORWARD, *wrong.GRADIENT)]
    assert [name for name in conformance.known_mistakes() if not any(words.startswith(name) for words in made)] == []
    assert len(conformance.known_mistakes()) > 30


@pytest.mark.parametrize(("layer_norm", "names"), wrong.TWO_MISTAKES)
def test_two_mistakes_are_both_named(layer_norm, names):
    report = conformance.check(layer_norm)
    assert not report.ok
    assert set(report.mistakes) == names


def test_a_variance_that_cancels_and_a_sum_that_stalls_are_both_named():
    report = conformance.check(wrong.mean_of_squares_minus_square_of_mean, vjp=wrong.sums_in_half_precision)
    assert report.mistakes == (mistakes.CANCELLING_VARIANCE, mistakes.HALF_SUMS)


def test_two_mistakes_of_the_gradient_are_both_named():
    def vjp(z, gain, bias, eps, g):
        dz = wrong.without_the_mean_of_g(z, np.ones_like(gain), bias, eps, g)[0]
        return dz, *wrong.right_vjp(z, gain, bias, eps, g)[1:]

    report = conformance.check(of_lnbook, vjp=vjp)
    assert set(report.mistakes) == {
        "the gradient by the input lacks the term mean(gain * g)",
        "the gradient by the input lacks the gain",
    }


def test_the_right_gradient_of_a_wrong_layer_is_no_second_mistake():
    report = conformance.check(wrong.gain_stored_less_one, vjp=gradient_with_stored_gain)
    one_mistake(report, "the stored gain is taken for gain - 1")
    assert any(row.kind == GRADIENT and not row.holds for row in report.rows)


def test_a_mistake_of_the_layer_and_one_of_the_gradient_are_both_named():
    report = conformance.check(wrong.gain_stored_less_one, vjp=wrong.without_the_mean_terms)
    assert set(report.mistakes) == {
        "the stored gain is taken for gain - 1",
        "the gradient by the input lacks both mean terms",
    }
    report = conformance.check(wrong.eps_squared, vjp=wrong.parameters_averaged)
    assert set(report.mistakes) == {
        "eps is squared",
        "the parameter gradients are averaged over positions, not summed",
    }


def test_the_models_of_padding_and_of_mixed_rows_do_not_depend_on_how_rows_are_stacked():
    z, one, zero = np.random.default_rng(0).normal(size=(2, 3, 5)), np.ones(5), np.zeros(5)
    for mistake in mistakes.FORWARD_MISTAKES:
        if mistake.name.startswith(("padding", "rows are mixed")):
            for detail, statistics in mistake.variants:
                stacked, flat = (
                    mistakes.layer_norm(a, one, zero, 1, statistics=statistics) for a in (z, z.reshape(6, 5))
                )
                assert np.array_equal(stacked, flat.reshape(z.shape)), detail


def gradient_with_stored_gain(z, gain, bias, eps, g):
    return wrong.right_vjp(z, 1 + gain, bias, eps, g)


def test_a_mistake_nobody_made_yet_fails_without_a_name():
    def squashed(z, gain, bias, eps):
        return np.tanh(wrong.right(z, gain, bias, eps))

    report = conformance.check(squashed)
    assert not report.ok
    assert report.mistakes == ()
    assert "fit none of the mistakes" in str(report)


def call_that_is_off(error, eps=3):
    """Two rows, of the roots 2 and sqrt(67), whose first output is off."""
    z, gain, bias = np.array([[4, 2, 4, 2], [-10, 6, -10, 6]]), np.array([4, 1, 1, 1]), np.array([-3.5, 0, 0, 0])
    y = mistakes.layer_norm(z, gain, bias, eps)
    y[0, 0] += error
    return Call("def-output", CONVENTION, z, gain, bias, eps, None, (y,))


def test_half_precision_explains_errors_of_its_own_size_only():
    size = 4 * 8 / 67**0.5 + 3.5
    least, most = 2.0**-14 * size, 4 * 2.0**-11 * size * (1 + 10 / 2)
    tiny = float(np.finfo(np.float16).smallest_subnormal)
    off = {name: call_that_is_off(error) for name, error in (("fits", most / 2), ("not", 0), ("too far", 1.001 * most))}
    for expected, calls in {
        True: [[call_that_is_off(0.999 * most)], [call_that_is_off(1.001 * least)], [off["not"], off["fits"]]],
        False: [[call_that_is_off(0.999 * least)], [off["not"]], [off["fits"], off["too far"]]],
    }.items():
        assert [mistakes._half_statistics(some) for some in calls] == [expected] * 3
    rounded_away = call_that_is_off(100, eps=tiny / 2)  # where eps is 0 in half precision all is lost
    assert mistakes._half_statistics([rounded_away, off["fits"]])
    assert mistakes._half_statistics([rounded_away]) is False
    assert mistakes._half_statistics([call_that_is_off(1e-3, eps=tiny)])


def returning(*numbers):
    return Call("def-output", CONVENTION, None, None, None, 1, None, tuple(np.array(n, float) for n in numbers))


@pytest.mark.parametrize("scale", [1, 100])
def test_a_model_fits_where_all_numbers_are_its_own_and_some_are_not_the_right_ones(scale):
    def model(call, factor=1, fails_at=None, reshapes_at=None):
        if call is fails_at:
            raise ValueError
        numbers = factor * np.array([scale, 0])
        return (numbers[None] if call is reshapes_at else numbers,)

    nonsense, right, nearly, twice = (returning([x * scale, 0]) for x in (7, 1, 1.0005, 2))
    for recipe, calls, fits in (
        ({"factor": 2}, [twice], True),
        ({"factor": 2}, [twice, nonsense], False),
        ({"factor": 2}, [nonsense, twice], False),
        ({"factor": 2, "fails_at": nonsense}, [nonsense, twice], True),
        ({"factor": 2, "reshapes_at": nonsense}, [nonsense, twice], True),
        ({"factor": 2, "fails_at": nonsense}, [nonsense], False),
        ({}, [right, right], False),
        ({}, [right, nearly], False),
        ({"factor": 1.0005}, [nearly], False),
    ):
        assert mistakes._fits(calls, model, recipe, 1e-3) is fits


def test_numbers_below_one_are_compared_as_if_they_were_one():
    def model(call, factor=1):
        return (factor * np.array([0.01, 0]),)

    assert mistakes._fits([returning([0.0209, 0])], model, {"factor": 2}, 1e-3)
    assert not mistakes._fits([returning([0.0215, 0])], model, {"factor": 2}, 1e-3)
    assert [mistakes._tolerance(ExactLayer(dtype)) for dtype in ("float16", "float64")] == [2.0**-6, 1e-9]


def test_a_variance_wrong_far_from_zero_is_not_taken_for_one_that_cancels():
    def confused(z, gain, bias, eps):
        u = of_lnbook(z, np.ones_like(gain), np.zeros_like(bias), eps)
        return (gain * np.where(z.min(axis=-1, keepdims=True) > 60, 0.9 * u, u) + bias).astype(z.dtype)

    report = conformance.check(confused)
    assert "shift-exact/near" in {row.name for row in report.rows if not row.holds}
    assert report.mistakes == ()


@pytest.mark.parametrize(("units", "verdict"), [(16, "holds"), (17, "FAILS")])
def test_the_tolerance_is_what_the_docstring_says(units, verdict):
    def off(z, gain, bias, eps):
        y = of_lnbook(z, gain, bias, eps)
        return y + np.float32(units) * np.spacing(np.abs(y).max())

    check = next(c for c in conformance.checks() if str(c) == "gain-example")
    row = check.run(off)
    assert row.verdict == verdict
    assert row.error == units


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
        (nothing, "has shape (), not (3, 3)"),
        (words, "has shape (), not (3, 3)"),
    ],
)
def test_a_function_that_returns_no_numbers_fails_each_row_with_the_reason(layer_norm, trouble):
    report = conformance.check(layer_norm)
    assert len(report.rows) == len(conformance.checks(vjp=False))
    assert {row.verdict for row in report.rows} == {"FAILS"}
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
        (lambda z, gain, bias, eps, g: z, "returned ndarray, not the three arrays dz, dgain, dbias"),
        (lambda z, gain, bias, eps, g: (z, gain), "returned tuple, not the three arrays dz, dgain, dbias"),
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


def test_a_vjp_that_fails_for_many_positions_fails_that_row_only():
    def limited(z, gain, bias, eps, g):
        if len(z) > 1024:
            raise MemoryError("too many rows")
        return vjp_of_lnbook(z, gain, bias, eps, g)

    report = conformance.check(of_lnbook, vjp=limited)
    assert [(r.name, r.trouble) for r in report.rows if not r.holds] == [
        ("sum-stalls", "raised MemoryError: too many rows")
    ]
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

    assert conformance.check(in_place).mistakes == ("eps is squared",)


def test_a_function_may_write_over_its_arguments():
    def in_place(z, gain, bias, eps):
        y = of_lnbook(z, gain, bias, eps)
        for argument in (z, gain, bias):
            argument.fill(7)
        return y

    assert conformance.check(in_place).ok


# The report and the checks


def test_the_report_counts_and_says_what_was_not_asked():
    report = conformance.check(of_lnbook, title="lnbook")
    derivatives = len(conformance.checks()) - len(report.rows)
    assert str(report).splitlines()[:2] == [
        "lnbook, float32",
        f"{len(report.rows)} holds, 0 weak, 0 fails ({derivatives} facts about derivatives not asked: no vjp given)",
    ]
    assert derivatives == sum(s.uses_vjp for s in STATEMENTS) > 0


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


ROWS = (
    report.Row("def-output", "def-output", CONVENTION, "a convention", "holds", (1.0,), (1.0,), 9.96, ""),
    report.Row("bias-offset", "bias-offset", CONVENTION, "another", "FAILS", (1.0,), (2.0,), 12345.6, ""),
    report.Row("shift-exact/far", "shift-exact", FLOATING_POINT, "digits", "weak", (0.0,), (0.5,), 1e5, ""),
    report.Row("sum-stalls", "sum-stalls", FLOATING_POINT, "sums", "FAILS", (4.0,), None, np.inf, "raised an error"),
)


def test_a_report_as_it_is_printed():
    assert str(report.Report("mine", "float32", ROWS, ("eps is squared",), 3)).splitlines() == [
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
    ]
    shown = {0.04: "0.0", 9.94: "9.9", 10: "10", 10.4: "10", 99999: "100000", 1e5: "1.0e+05"}
    assert {error: report._rounded(error) for error in shown} == shown


@pytest.mark.parametrize(
    ("rows", "last"),
    [
        (ROWS[:1], "holds  def-output                      10.0  a convention"),
        (ROWS[:2], "the numbers fit none of the mistakes known here"),
        (ROWS[2:], "                                             raised an error"),
        ((ROWS[1]._replace(got=None, trouble="raised an error"),), " " * 45 + "raised an error"),
        ((ROWS[1]._replace(kind=FLOATING_POINT),), " " * 45 + "expected 1, got 2"),
    ],
)
def test_a_report_says_that_no_mistake_fits_where_numbers_are_wrong_that_are_none_of_rounding(rows, last):
    lines = str(report.Report("mine", "float32", rows, (), 0)).split("\n")
    assert lines[-1] == last
    assert lines[1].endswith(" fails")


def test_checks_are_chosen_by_kind():
    chosen = [conformance.checks(kind) for kind in KINDS]
    assert sum(map(len, chosen)) == len(conformance.checks())
    assert all(set(a).isdisjoint(b) for a, b in pairwise(chosen))
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
        ({"layer_norm": of_lnbook, "dtype": "int32"}, ValueError, "dtype must be one of .* got int32"),
        (
            {"layer_norm": of_lnbook, "dtype": "nonsense"},
            ValueError,
            "^dtype must be one of float16, bfloat16, float32, float64, "
            "bfloat16 only where ml_dtypes has been imported, got 'nonsense'$",
        ),
        (
            {"layer_norm": of_lnbook, "kinds": ("speed",)},
            ValueError,
            "^kinds must be among convention, gradient, floating point, got .'speed',.$",
        ),
        ({"layer_norm": of_lnbook, "kinds": ()}, ValueError, "kinds must be among"),
        ({"layer_norm": of_lnbook, "kinds": "gradient"}, ValueError, "kinds must be among .* got 'gradient'"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        conformance.check(**arguments)


# The command line


def test_the_command_ends_with_0_where_every_fact_holds(capsys):
    assert main(["test_conformance:of_lnbook", "--vjp", "test_conformance:vjp_of_lnbook", "--dtype", "float64"]) == 0
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
    main(["test_conformance:of_lnbook"])
    assert capsys.readouterr().out == str(conformance.check(of_lnbook, dtype="float32")) + "\n"


def test_the_command_refuses_an_unknown_kind(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["test_conformance:of_lnbook", "--only", "speed"])
    assert stop.value.code == 2
    assert "invalid choice: 'speed'" in capsys.readouterr().err


class Holder:
    layer_norm = staticmethod(of_lnbook)


def test_the_command_finds_what_a_module_holds_inside_a_class():
    assert main(["test_conformance:Holder.layer_norm", "--dtype", "float64"]) == 0


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
        "float16, float32 (the default), float64, or bfloat16, which the module named must import",
        "the kinds of facts to ask",
        "Exit status: 0 if no fact fails, 1 if one does, 2 if the function cannot be called at all.",
    ):
        assert f" {phrase} " in words


def test_the_command_refuses_an_unknown_dtype(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["wrong_layer_norms:right", "--dtype", "int8"])
    assert stop.value.code == 2
    assert "dtype must be one of float16, bfloat16, float32, float64, got int8" in capsys.readouterr().err

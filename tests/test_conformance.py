"""lnbook.conformance: its exact numbers are right, and it passes what is right."""

import json
import tomllib
from fractions import Fraction
from itertools import product
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import wrong_digits
import wrong_gradients
import wrong_layer_norms as wrong
from right_layer_norms import RIGHT, of_lnbook, vjp_of_lnbook

from lnbook import conformance
from lnbook.conformance import conventions, exact, report, statements
from lnbook.conformance.facts import CONVENTION, FLOATING_POINT, GRADIENT, KINDS, STATEMENTS
from lnbook.conformance.layers import ExactLayer, LayerUnderTest

ROOT = Path(__file__).parents[1]
FACTS = tomllib.loads((ROOT / "book" / "facts.toml").read_text("utf-8"))
CASES = {case["id"]: case for case in json.loads((ROOT / "tests" / "cases.json").read_text("utf-8"))["cases"]}
DTYPES = ["float16", "float32", "float64"]


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
    dz = exact.input_gradient(*exact.core(z, Fraction(given["eps"])), gain * g)
    assert np.abs(dz.astype(float) - CASES["B46"]["expected"]["dz"]).max() < 1e-13
    given, expected = CASES["B41"]["input"], CASES["B41"]["expected"]
    z, gain, g = (exact.fractions(np.array(given[k])) for k in ("z", "gamma", "dy"))
    dgain, dbias = exact.sum_positions(g * exact.core(z, Fraction(given["eps"]))[0]), exact.sum_positions(g)
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
        return statements.Statement("name", CONVENTION, "words", lambda layer: layer.y(z, eps=3), False, stretch, False)

    _, unit, cost = report._exactly(statement([[-1, 1]], 3), np.dtype("float32"))  # the core is (-1, 1) / 2
    assert (unit, cost) == (Fraction(3, 2**24), Fraction(3, 4))
    _, unit, cost = report._exactly(statement([[0, 0]], 1), np.dtype("float32"))
    assert (unit, cost) == (Fraction(1, 2**23), 0)


def test_what_the_statements_are_made_of():
    numbers = statements.spread(1000)
    assert len({256 * x for x in numbers if (256 * x).denominator == 1 and abs(x) <= 2}) == 1000
    assert abs(numbers.mean()) < 0.01
    assert abs((numbers**2).mean() - 4 / 3) < 0.01
    assert (statements.offset(ExactLayer("float32"), 2)[0] - statements.spread(768)).tolist() == [2**12] * 768
    assert [a.shape for a in ExactLayer("float32").arguments(np.zeros((2, 1, 3)), None, None)[1:3]] == [(3,), (3,)]
    assert exact.length(statements.array([[3, 4], [5, 12]])).tolist() == [[5], [13]]


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
    monkeypatch.setattr(statements, "STATEMENTS", kept)
    assert statements.states("a-fact/part", CONVENTION, "words")(len) is len
    statements.states("a-slope", GRADIENT, "words")(len)
    statements.states("a-sum", FLOATING_POINT, "words", uses_vjp=True, stretch=3, thorough=True)(len)
    assert kept == [
        statements.Statement("a-fact/part", CONVENTION, "words", len, False, 1, False),
        statements.Statement("a-slope", GRADIENT, "words", len, True, 1, False),
        statements.Statement("a-sum", FLOATING_POINT, "words", len, True, 3, True),
    ]
    assert [statement.fact for statement in kept] == ["a-fact", "a-slope", "a-sum"]


def test_the_bound_on_differences_is_asked_at_three_steps():
    class Square:
        def y(self, z, gain, *, eps):
            assert eps == Fraction(1, 64)
            return 100 * gain * z**2

    # (3, 3, 3) and the steps (1, -1, 0) / 16 and (1, -1, 0), (1, 2, 4) and (1, -1, 0); the gain is (2, -1, 1/2)
    lengths = [np.hypot(194, 95) / 256 * 16, np.hypot(14, 5), np.hypot(6, 3)]
    got = conventions.stretching(Square(), statements.GAIN, Fraction(1, 64))
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
    report = conformance.check(wrong.right, vjp=wrong_gradients.right_vjp, dtype=dtype)
    failing = [row.name for row in report.rows if row.verdict == "FAILS"]
    assert failing == ["eps-scaling/large"]  # its squares overflow
    assert report.mistakes == (wrong_digits.OVERFLOWS,)
    assert next(row for row in report.rows if row.name == "shift-exact/far").verdict == "weak"
    assert not report.ok
    assert conformance.check(wrong.right, vjp=wrong_gradients.right_vjp, dtype=dtype, kinds=(CONVENTION, GRADIENT)).ok


@pytest.mark.parametrize("layer_norm", RIGHT)
def test_right_layers_of_many_styles_are_accused_of_nothing_but_the_range_of_squares(layer_norm):
    asked = conformance.check(layer_norm)
    assert {row.name for row in asked.rows if not row.holds} <= {"eps-scaling/large"}, asked
    assert set(asked.mistakes) <= {wrong_digits.OVERFLOWS}
    assert asked.unexplained == ()


def through_float32(function):
    """The function in float32, with one rounding at the end."""

    def rounded(*arguments):
        wide = [a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in arguments]
        results = function(*wide)
        if isinstance(results, tuple):
            return tuple(a.astype(arguments[0].dtype) for a in results)
        return results.astype(arguments[0].dtype)

    return rounded


def core_rounded_first(z, gain, bias, eps):
    """float32 inside; rounded after the core, after the gain, and after the bias."""
    wide = z.astype(np.float32)
    u = wrong.right(wide, np.float32(1), np.float32(0), eps).astype(z.dtype)
    return ((gain * u).astype(z.dtype) + bias).astype(z.dtype)


HALVES = [np.float16, ml_dtypes.bfloat16]


@pytest.mark.parametrize("dtype", HALVES)
def test_a_half_format_through_float32_holds_with_one_rounding(dtype):
    asked = conformance.check(through_float32(wrong.right), vjp=through_float32(wrong_gradients.right_vjp), dtype=dtype)
    # the squares of bfloat16 leave the range of float32
    assert [r.name for r in asked.rows if not r.holds] == (["eps-scaling/large"] if dtype is not np.float16 else [])
    assert max(r.error for r in asked.rows if r.kind == CONVENTION) <= report.ONE_ROUNDING
    assert "rounded more than once" not in str(asked)


@pytest.mark.parametrize("dtype", HALVES)
def test_a_core_that_is_rounded_before_the_gain_holds_in_a_half_format_and_this_is_said(dtype):
    asked = conformance.check(core_rounded_first, dtype=dtype, kinds=(CONVENTION,))
    assert asked.ok
    assert asked.mistakes == ()
    assert str(asked).splitlines()[-1].startswith("errors up to ")
    assert "the output is rounded more than once" in str(asked)


@pytest.mark.parametrize(("dtype", "size"), [(np.float16, 0.003), (ml_dtypes.bfloat16, 0.02)])
@pytest.mark.parametrize("sign", [1, -1])
def test_small_errors_in_half_formats_are_seen(dtype, size, sign):
    factor = np.float32(1 + sign * size)

    def off(z, gain, bias, eps):
        return gain * (factor * wrong.right(z, np.float32(1), np.float32(0), eps)) + bias

    assert not conformance.check(through_float32(off), dtype=dtype, kinds=(CONVENTION,)).ok
    for which in range(3):

        def vjp(z, gain, bias, eps, g, which=which):
            gradients = wrong_gradients.right_vjp(z, gain, bias, eps, g)
            return tuple(a * factor if i == which else a for i, a in enumerate(gradients))

        right, wrong_vjp = through_float32(wrong.right), through_float32(vjp)
        assert not conformance.check(right, vjp=wrong_vjp, dtype=dtype, kinds=(GRADIENT,)).ok


class Shaken(ExactLayer):
    """The exact layer, with every number it gives off by as much as `unit`, up or down at random."""

    def __init__(self, unit, seed):
        super().__init__("float64")
        self.unit, self.random = unit, np.random.default_rng(seed)

    def shaken(self, numbers):
        return numbers + self.unit * self.random.choice([Fraction(-1), Fraction(1)], size=np.shape(numbers))

    def y(self, *arguments, **options):
        return self.shaken(super().y(*arguments, **options))

    def dz(self, *arguments, **options):
        return self.shaken(super().dz(*arguments, **options))

    def dgain(self, *arguments, **options):
        return self.shaken(super().dgain(*arguments, **options))

    def dbias(self, *arguments, **options):
        return self.shaken(super().dbias(*arguments, **options))


@pytest.mark.parametrize("statement", [s for s in STATEMENTS if not s.thorough], ids=lambda s: s.name)
def test_a_unit_in_each_output_moves_no_number_of_a_fact_by_more_than_its_stretch(statement):
    """So a layer whose outputs are within the tolerance keeps every fact."""
    truth = ExactLayer("float64")
    expected = np.ravel(statement.ask(truth))
    unit = (truth.scale or Fraction(1)) / 2**30
    for seed in range(1 if expected.size > 100 else 20):
        moved = np.ravel(statement.ask(Shaken(unit, seed)))
        assert max(abs(moved - expected)) <= Fraction(statement.stretch) * unit * (1 + Fraction(1, 2**20))

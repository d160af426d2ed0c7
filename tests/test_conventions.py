"""The facts of the page on conventions; what the packages do is asked in tests/peers."""

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import sympy as sp
from exact import core, vanishes
from hypothesis import given
from hypothesis import strategies as st

from lnbook import jacobian, layer_norm, normalize, variance
from lnbook.pages.figures import defaults_over_spread

ROOT = Path(__file__).parents[1]
Q = sp.Rational
SMALL = st.integers(-12, 12).map(lambda k: k / 4)  # exact in every dtype
ROWS = st.lists(SMALL, min_size=2, max_size=6)
POSITIVE = st.fractions(Fraction(1, 1000), 1000, max_denominator=1000)


def centred(z):
    z = [Fraction(x) for x in z]
    v = [x - sum(z) / len(z) for x in z]
    return v, sum(x * x for x in v)


def unknown_layers():
    """name -> layer (z, stored gain, eps), each written from its definition alone."""

    def layer(root, mean=True, gain=lambda w: w):
        def apply(z, w, eps):
            v = [x - sum(z) / len(z) for x in z] if mean else z
            squares, d = sum(x**2 for x in v), len(z)
            return [gain(a) * x / root(squares, d, eps) for a, x in zip(w, v, strict=True)]

        return apply

    def inside(s, d, eps):
        return sp.sqrt(s / d + eps)

    return {
        "the layer of this book": layer(inside),
        "$\\varepsilon$ outside the root": layer(lambda s, d, eps: sp.sqrt(s / d) + eps),
        "divisor $d - 1$": layer(lambda s, d, eps: sp.sqrt(s / (d - 1) + eps)),
        "divisor $d - 1$ and $\\varepsilon$ outside": layer(lambda s, d, eps: sp.sqrt(s / (d - 1)) + eps),
        "$\\max(q, \\varepsilon)$ in place of $q + \\varepsilon$": layer(lambda s, d, eps: sp.sqrt(sp.Max(s / d, eps))),
        "$\\varepsilon$ left out": layer(lambda s, d, eps: sp.sqrt(s / d)),
        "$\\varepsilon$ squared": layer(lambda s, d, eps: sp.sqrt(s / d + eps**2)),
        "no centring ({term}`RMSNorm`)": layer(inside, mean=False),
        "stored gain means $1 + w$": layer(inside, gain=lambda w: 1 + w),
        "gain left out": layer(inside, gain=lambda w: 1),
    }


@pytest.mark.fact("convention-probe", way="exact")
def test_one_row_tells_ten_conventions_apart():
    page = (ROOT / "book" / "conventions.md").read_text("utf-8")
    last = {}
    for name, layer in unknown_layers().items():
        last[name] = layer([sp.Integer(0), sp.Integer(2)], [sp.Integer(2)] * 2, sp.Integer(3))[1]
        (row,) = (line for line in page.splitlines() if line.startswith(f"| {name} |"))
        assert row.endswith(f"| ${float(last[name]):.3f}$ |")
        stated = row.split("|")[2].strip(" $").replace("\\tfrac12", "1/2").replace("\\tfrac32", "3/2")
        for digits in ("2", "3", "5", "10"):
            stated = stated.replace(f"\\sqrt{digits}", f"sqrt({digits})").replace(
                f"\\sqrt{{{digits}}}", f"sqrt({digits})"
            )
        assert sp.simplify(sp.sympify(stated) - last[name]) == 0
    values = sorted(last.values())
    assert [a for a, b in pairwise(values) if a == b] == [Q(1, 2)]
    assert layer_norm([0, 2], [2, 2], eps=3).tolist() == [-1, 1]
    z, gain = [sp.Integer(0), sp.Integer(2)], [sp.Integer(3)] * 2
    told = [unknown_layers()[n](z, gain, 3)[1] for n in ("gain left out", "$\\varepsilon$ outside the root")]
    assert told == [Q(1, 2), Q(3, 4)]


@pytest.mark.fact("eps-mismatch", way="exact")
def test_factor_between_two_epsilons():
    q, a, b = sp.symbols("q a b", positive=True)
    s = sp.sqrt((q + a) / (q + b))
    assert sp.simplify((s**2 - 1) - (a - b) / (q + b)) == 0
    assert sp.limit(s, q, 0) - sp.sqrt(a / b) == 0
    assert sp.simplify(s**2 - (q * 1 + b * (a / b)) / (q + b)) == 0


@pytest.mark.fact("eps-mismatch", way="property")
@given(ROWS, POSITIVE, POSITIVE)
def test_another_epsilon_scales_the_core(z, eps, other):
    q = float(variance(z))
    factor = ((q + eps) / (q + other)) ** 0.5
    ours, theirs = normalize(z, eps=float(eps)), normalize(z, eps=float(other))
    assert theirs == pytest.approx(ours * factor, rel=1e-12, abs=1e-15)
    low, high = sorted((1, (eps / other) ** 0.5))
    assert low - 1e-12 <= factor <= high + 1e-12
    if q > 0:
        assert abs(factor - 1) <= abs(eps - other) / (2 * q) + 1e-12


@pytest.mark.fact("eps-defaults", way="exact")
def test_defaults_on_one_small_row():
    z = [Q(-1, 100), Q(0), Q(1, 100)]
    stated = {-12: 1.224745, -7: 1.223827, -6: 1.215661, -5: 1.142080, -3: 0.306186}
    for power, value in stated.items():
        eps = Q(10) ** power
        assert sp.simplify(core(z, eps)[2] - 1 / sp.sqrt(Q(2, 3) + 10**4 * eps)) == 0
        assert round(float(core(z, eps)[2]), 6) == value
        assert normalize([-0.01, 0, 0.01], eps=10.0**power)[2] == pytest.approx(value, abs=1e-6)
    assert core(z, Q(1, 10**5))[2] == sp.sqrt(Q(30, 23)) and core(z, Q(1, 1000))[2] == sp.sqrt(Q(3, 32))


@pytest.mark.fact("eps-outside", way="exact")
def test_inside_and_outside_agree_at_one_variance():
    q, eps, other, g = sp.symbols("q epsilon other g", positive=True)
    assert sp.expand((sp.sqrt(q) + eps) ** 2 - q - (eps**2 + 2 * eps * sp.sqrt(q))) == 0
    assert sp.limit(sp.sqrt(q) / (sp.sqrt(q) + eps) - g * sp.sqrt(q) / sp.sqrt(q + other), q, sp.oo) == 1 - g
    t, d = sp.Symbol("t", positive=True), 3
    v = sp.Matrix([1, 1, -2])
    for direction in (v, sp.Matrix([1, -1, 0])):
        moved = t * direction / (t * sp.sqrt(direction.dot(direction) / sp.Integer(d)) + eps)
        assert vanishes((moved / t).limit(t, 0) - direction / eps)


@pytest.mark.fact("eps-outside", way="property")
@given(ROWS, st.sampled_from([1e-5, 1e-3, 1.0]))
def test_rest_of_the_slope_at_a_constant_input_is_of_second_order(z, eps):
    v, squares = centred(z)
    v, d = np.array([float(x) for x in v]), len(z)
    rest = v / (np.sqrt(float(squares) / d) + eps) - v / eps
    assert np.linalg.norm(rest) <= float(squares) / (d**0.5 * eps**2) * (1 + 1e-12)
    assert jacobian([3.0, 3.0], eps=1e-5)[0, 0] == pytest.approx(0.5 / 1e-5**0.5)


@pytest.mark.fact("divisor-convert", way="exact")
@pytest.mark.parametrize("d", [2, 3, 4])
def test_other_divisor_for_all_inputs(d):
    z, eps = sp.symbols(f"z1:{d + 1}", real=True), sp.Symbol("epsilon", positive=True)
    c = sp.sqrt(Q(d - 1, d))
    v = [x - sum(z) / sp.Integer(d) for x in z]
    squares = sum(x**2 for x in v)
    q, q1 = squares / d, squares / (d - 1)
    assert sp.simplify(c**2 * (q1 + eps) - (q + c**2 * eps)) == 0
    assert sp.simplify(c**2 * q1 - q) == 0


@pytest.mark.fact("divisor-convert", way="property")
@given(ROWS, st.sampled_from([1e-5, 0.5, 3.0]))
def test_other_divisor_is_another_gain_and_epsilon(z, eps):
    z, d = np.array(z), len(z)
    c = np.sqrt((d - 1) / d)
    v = z - z.mean()
    assert layer_norm(z, np.full(d, c), eps=c**2 * eps) == pytest.approx(
        v / np.sqrt(z.var(ddof=1) + eps), rel=1e-12, abs=1e-13
    )
    assert v / (z.std(ddof=1) + eps) == pytest.approx(c * v / (z.std() + c * eps), rel=1e-12, abs=1e-13)


@pytest.mark.fact("axes-example", way="exact")
def test_one_axis_or_two():
    assert [list(core(row, 0)) for row in ([1, 2], [4, 8])] == [[-1, 1], [-1, 1]]
    both = core([1, 2, 4, 8], 0)
    assert vanishes(both - sp.Matrix([-11, -7, 1, 17]) / sp.sqrt(115))
    z = np.array([[1, 2], [4, 8]])
    assert normalize(z, eps=0).tolist() == [[-1, 1], [-1, 1]]
    assert normalize(z, eps=0, axis=(0, 1)).ravel() == pytest.approx([float(x) for x in both], abs=1e-15)


@pytest.mark.fact("one-plus-gain", way="exact")
@given(st.tuples(SMALL, SMALL), st.tuples(SMALL, SMALL))
def test_a_one_left_out_loses_the_core_and_a_one_too_many_adds_it(w, bias):
    w, core_of_row = np.array(w), [-0.5, 0.5]  # of (0, 2) at eps = 3: floats hold all of this exactly

    def layer(gain):
        return layer_norm([0, 2], gain, bias, eps=3)

    assert normalize([0, 2], eps=3).tolist() == core_of_row
    assert (layer(1 + w) - layer(w)).tolist() == core_of_row
    assert (layer(1 + (1 + w)) - layer(1 + w)).tolist() == core_of_row


@pytest.mark.fact("one-plus-gain", way="property")
@given(st.floats(-0.9, 4))
def test_stored_w_is_nearer_than_a_stored_gain(w):
    eta = Fraction(1, 2**8)
    stored_w = Fraction(float(ml_dtypes.bfloat16(w)))
    stored_gain = Fraction(float(ml_dtypes.bfloat16(float(np.float32(w)) + 1)))
    if abs(w) > 1e-30:
        assert abs(stored_w - Fraction(w)) <= eta * abs(Fraction(w))
    assert abs(stored_gain - 1 - Fraction(float(np.float32(w)))) <= eta * (1 + Fraction(float(np.float32(w)))) * (
        1 + Fraction(1, 2**15)
    )


@pytest.mark.fact("one-plus-gain", way="numeric")
def test_neighbours_of_one_in_bfloat16():
    one = ml_dtypes.bfloat16(1)
    assert float(np.nextafter(one, ml_dtypes.bfloat16(2))) == 1 + 2**-7
    assert float(np.nextafter(one, ml_dtypes.bfloat16(0))) == 1 - 2**-8
    assert one + ml_dtypes.bfloat16(0.001) == one


@pytest.mark.fact("half-decomposed", way="property")
@given(st.lists(st.integers(-2000, 2000), min_size=2, max_size=8), st.sampled_from([300, -4000]))
def test_output_is_the_bias_where_the_variance_overflows(row, outlier):
    v = np.array([*row, outlier], np.float16)
    bias = np.float16(0.25)
    with np.errstate(over="ignore"):
        squares = v * v
        total = squares[0]
        for square in squares[1:]:
            total = total + square
        root = np.sqrt(total / np.float16(len(v)) + np.float16(1e-5))
        assert np.isinf(root)
        assert (np.float16(3) * (v / root) + bias == bias).all()
    assert np.abs(normalize(np.array([*row, outlier], np.float16))).max() > 0.5


@pytest.mark.fact("half-decomposed", way="exact")
def test_256_is_the_first_square_that_overflows():
    with np.errstate(over="ignore"):
        assert np.isinf(np.float16(256) ** 2) and np.float16(255.875) ** 2 == 65472
    assert Fraction(256) ** 2 >= Fraction(65504) + 16  # half a spacing above the largest number


def test_table_of_the_page_is_the_record():
    record = (ROOT / "book" / "_records" / "conventions.txt").read_text("utf-8")
    assert record in (ROOT / "book" / "conventions.md").read_text("utf-8")
    assert len(record.splitlines()) == 10


def test_figure_shows_each_default_once():
    (axes,) = defaults_over_spread().axes
    assert len(axes.lines) == 6
    for line, eps in zip(axes.lines, (1e-12, 1e-7, 1e-6, 1e-5, 1e-3), strict=False):
        x, y = line.get_data()
        assert y == pytest.approx(x / np.sqrt(x**2 + eps), rel=1e-12)

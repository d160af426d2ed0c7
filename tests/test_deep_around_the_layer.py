"""What stands around the layer in a deep network: dropout, ReLU, layers before two branches, scaled branches."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp
from exact import core, core_jacobian, layer, mean, ones, variance
from hypothesis import assume, given
from hypothesis import strategies as st
from normalizations import mean_square, times

import lnbook

fact = pytest.mark.fact
R = sp.Rational
quarters = st.integers(-12, 12).map(lambda k: Fraction(k, 4))
rows = st.integers(1, 4).flatmap(lambda d: st.tuples(*[st.lists(quarters, min_size=d, max_size=d)] * 2))


def dropped(row, p):
    """(probability, row after dropout) of each mask."""
    for mask in product((0, 1), repeat=len(row)):
        kept = sum(mask)
        yield p**kept * (1 - p) ** (len(row) - kept), [x * keep / p for x, keep in zip(row, mask, strict=True)]


def average(value, row, p):
    return sum(weight * value(case) for weight, case in dropped(row, p))


def of_fractions(row):
    mu = sum(row, Fraction(0)) / len(row)
    return sum(((x - mu) ** 2 for x in row), Fraction(0)) / len(row)


@fact("deep-dropout-before", way="property")
@given(rows, st.sampled_from([Fraction(1, 2), Fraction(9, 10), Fraction(1)]))
def test_dropout_in_front_adds_variance_in_the_mean(pair, p):
    x, f = pair
    d, m = len(f), sum(e * e for e in f) / Fraction(len(f))
    got = average(lambda case: of_fractions([a + b for a, b in zip(x, case, strict=True)]), f, p)
    total = of_fractions([a + b for a, b in zip(x, f, strict=True)])
    assert got == total + (1 - Fraction(1, d)) * (1 - p) / p * m
    mu = sum(f) / Fraction(d)
    assert m == of_fractions(f) + mu**2
    assert [average(lambda case, i=i: case[i], f, p) for i in range(d)] == f


@fact("deep-dropout-before", way="exact")
def test_the_four_cases_of_two_coordinates():
    z, p = [sp.Integer(1), sp.Integer(-1)], R(1, 2)
    cases = [case for _, case in dropped(z, p)]
    assert sorted(variance(case) for case in cases) == [0, 1, 1, 4]
    assert average(variance, z, p) == R(3, 2)
    first = sp.simplify(average(lambda case: core(case, 5)[0], z, p))
    assert first == R(1, 6) + 1 / (2 * sp.sqrt(6)) and core(z, 5)[0] == 1 / sp.sqrt(6)
    assert (round(float(first), 4), round(float(core(z, 5)[0]), 4)) == (0.3708, 0.4082)


@fact("deep-dropout-after", way="property")
@given(st.lists(quarters, min_size=1, max_size=4), st.sampled_from([R(1, 2), R(9, 10)]))
def test_dropout_behind_keeps_the_mean_but_not_each_case(z, p):
    u, eps, d = core([sp.Rational(x) for x in z], R(1, 3)), R(1, 3), len(z)
    y = times(u, [2] * d) + ones(d)
    for i in range(d):
        assert sp.simplify(average(lambda case, i=i: case[i], y, p) - y[i]) == 0
    q = variance([sp.Rational(x) for x in z])
    square = average(lambda case: (sum(case) / d) ** 2, u, p)
    assert sp.simplify(square - (1 - p) / (p * d) * q / (q + eps)) == 0


@fact("deep-dropout-after", way="exact")
def test_dropout_through_a_linear_layer_and_a_dropped_bias():
    y = layer([1, 1, -2], [2, 0, -1], [5, 7, 1], 2)
    A = sp.Matrix([[1, 0, 2], [3, -1, 1]])
    got = sum((weight * A * sp.Matrix(case) for weight, case in dropped(y, R(3, 4))), sp.zeros(2, 1))
    assert got == A * y
    assert next(case for _, case in dropped(y, R(3, 4))) == [0, 0, 0]


def relu(z):
    return sp.Matrix([sp.Max(0, entry) for entry in z])


@fact("deep-relu", way="property")
@given(st.lists(quarters, min_size=2, max_size=6), quarters)
def test_some_but_not_all_entries_survive(z, c):
    assume(len(set(z)) > 1)
    z, eps = [sp.Rational(x) for x in z], R(1, 3)
    u, d = core(z, eps), len(z)
    kept = relu(u)
    assert 1 <= sum(entry != 0 for entry in kept) <= d - 1
    assert min(u) < 0 < max(u)
    assert sp.simplify(mean(kept) - mean([abs(entry) for entry in u]) / 2) == 0
    q = variance(z)
    assert mean(kept).evalf(30) <= (sp.sqrt(q / (q + eps)) / 2).evalf(30) + R(1, 10**25)
    assert kept == relu(core([x + sp.Rational(c) for x in z], eps))
    assert sp.simplify(mean(core(relu(z), eps))) == 0


@fact("deep-relu", way="exact")
def test_the_ends_of_what_survives_and_the_other_order():
    assert sum(entry != 0 for entry in relu(core([4, 0, 0, 0], 0))) == 1
    assert sum(entry != 0 for entry in relu(core([1, 1, 1, 0], 0))) == 3
    assert core(relu([-1, 0, -3]), 2) == sp.zeros(3, 1)
    assert core([1, -1], 2) == core([2, 0], 2)
    assert core(relu([1, -1]), 2) == sp.Matrix([R(1, 3), R(-1, 3)])
    assert core(relu([2, 0]), 2) == sp.Matrix([1, -1]) / sp.sqrt(3)


@fact("deep-parallel", way="exact")
def test_one_core_serves_two_branches_in_parallel_and_not_in_a_row():
    x, eps = sp.Matrix([1, 2, 6]), R(1, 3)
    A, C = sp.Matrix([[1, 0, 2], [0, 3, -1], [1, 1, 0]]), sp.Matrix([[0, 1, 1], [2, 0, 1], [1, -1, 0]])
    gain, other, bias, moved = ([2, 1, 3], [1, -1, 2], [1, 0, -1], [0, 2, 5])
    u = core(x, eps)
    two = x + relu(A * layer(x, gain, bias, eps)) + relu(C * layer(x, other, moved, eps))
    one = x + relu(A * sp.diag(*gain) * u + A * sp.Matrix(bias)) + relu(C * sp.diag(*other) * u + C * sp.Matrix(moved))
    assert sp.simplify(two - one) == sp.zeros(3, 1)
    behind = x + A * layer(x, gain, bias, eps)
    assert (core(behind, eps) - u).norm().evalf() > 0.1


@fact("deep-parallel", way="exact")
def test_a_gain_at_two_places_receives_the_sum():
    gains = sp.Matrix(sp.symbols("c1:4", real=True))
    x, eps, g = sp.Matrix([1, 2, 6]), R(1, 3), sp.Matrix([1, 5, -2])
    first = times(gains, core(x, eps))
    second = times(gains, core(x + first, eps))
    loss, at = g.dot(second), dict(zip(gains, (2, 1, 3), strict=True))
    got = sp.Matrix([sp.diff(loss, c).subs(at) for c in gains])
    middle = (x + first).subs(at)
    back = core_jacobian(middle, eps) * times([2, 1, 3], g)
    expected = times(g, core(middle, eps)) + times(back, core(x, eps))
    assert (got - expected).evalf(30).norm() < 1e-25


@fact("deep-scaled-branches", way="exact")
def test_scaled_branches_and_scaled_skip_paths():
    a, L = 3, 6
    harmonic = sum(R(a, number) for number in range(1, L + 1))
    assert harmonic <= a * (1 + sp.log(L)).evalf(30)
    x, f, w = (sp.Matrix(row) for row in ([1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]))
    for alpha in (1, 3, R(1, 2)):
        total = alpha * x + sp.sqrt(a) * f
        assert sp.expand(variance(list(total))) == alpha**2 + a
        passed = alpha * core_jacobian(list(total), 0) * w
        assert (passed - w * (1 + a / sp.sympify(alpha) ** 2) ** R(-1, 2)).evalf(40).norm() < 1e-35
        for depth in (1, 12):
            factor = (1 + a / sp.sympify(alpha) ** 2) ** R(-depth, 2)
            assert factor.evalf(30) >= sp.exp(-a * depth / (2 * sp.sympify(alpha) ** 2)).evalf(30)
    assert (1 + R(1, 12)) ** -6 >= sp.exp(R(-1, 2)).evalf(30)


def test_dropout_of_a_constant_row_is_all_noise():
    cases = np.array(list(product((0.0, 6.0), repeat=4)))
    assert of_fractions([Fraction(3)] * 4) == 0
    assert average(of_fractions, [Fraction(3)] * 4, Fraction(1, 2)) == Fraction(27, 4)
    assert lnbook.variance(cases).mean() == 27 / 4
    assert mean_square([3, 3, 3, 3]) == 9

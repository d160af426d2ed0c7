"""The weights before the layer: their scale, their gradient, and what weight decay does to gain and bias."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from exact import centered, core, ones, vanishes, variance
from hypothesis import assume, given
from hypothesis import strategies as st
from inputs import vectors
from normalizations import (
    Z123,
    R,
    W,
    apart,
    bias3,
    column,
    differ,
    eps,
    g3,
    gain3,
    quarters,
    t,
    times,
    z3,
)
from test_cases import CASES

import lnbook

fact = pytest.mark.fact


# Scaling the weights


@fact("scale-sign", way="exact")
def test_any_scale_with_its_sign():
    assert vanishes(core(t * z3, eps) - core(z3, eps / t**2))
    assert vanishes(core(-t * z3, eps) + core(z3, eps / t**2))
    large = sp.Symbol("large", positive=True)
    for sign in (1, -1):
        limit = core(sign * large * Z123, 1).applyfunc(lambda entry: sp.limit(entry, large, sp.oo))
        assert not differ(limit, sign * core(Z123, 0))
        assert differ(limit, core(Z123, 1))


@pytest.mark.parametrize("name", ["B59", "B60", "B64"])
@fact("scale-sign", way="numeric")
def test_the_reported_scales(name):
    given, expected = CASES[name]["input"], CASES[name]["expected"]
    alpha, small = sp.nsimplify(given["alpha"]), sp.Rational(str(given["eps"]))
    got = sp.sign(alpha) * core(column(*map(str, given["z"])), small / alpha**2)
    answer = expected.get("y_scaled", expected.get("LN_alpha_z", expected.get("y")))
    assert np.abs(np.array(got.evalf(20), dtype=float).ravel() - answer).max() < 1e-12


@fact("weight-scaling", way="exact")
def test_rescaling_needs_another_eps_and_recentring_none():
    x = sp.Matrix(sp.symbols("x1:3", real=True))
    z = W * x + bias3
    assert vanishes(core(t * W * x + t * bias3, eps) - core(z, eps / t**2))
    assert vanishes(core(t * W * x + t * bias3, t**2 * eps) - core(z, eps))
    r = sp.Matrix(sp.symbols("r1:3", real=True))
    assert vanishes(core((W + ones(3) * r.T) * x + bias3, eps) - core(z, eps))


@fact("weight-scaling", way="property")
@given(st.fractions(Fraction(1, 4), 4, max_denominator=8), st.lists(quarters, min_size=2, max_size=4))
def test_with_eps_fixed_only_the_scale_one_changes_nothing(scale, row):
    z = column(*row)
    assume(variance(z) > 0)
    assert apart(core(sp.Rational(scale) * z, 1), core(z, 1)) == (scale != 1)


@fact("weight-scaling", way="numeric")
def test_the_reported_recentring():
    given, expected = CASES["B63"]["input"], CASES["B63"]["expected"]
    weights, row, x = (np.array(given[name], float) for name in ("W", "c", "x"))
    assert row @ x == expected["shift"]
    for w in (weights, weights + row):
        assert np.abs(lnbook.normalize(w @ x, eps=given["eps"]) - expected["y"]).max() < 1e-15
    assert np.abs(lnbook.normalize(10 * weights @ x, eps=given["eps"]) - expected["y"]).max() > 1e-6


@fact("weight-radial", way="exact")
def test_the_gradient_along_the_weights():
    entries, x = sp.Matrix(3, 2, sp.symbols("w1:7", real=True)), column(2, 1)
    z = entries * x + bias3
    loss = (g3.T * times(gain3, core(z, eps)))[0]
    radial = sum(loss.diff(w) * w for w in [*entries, *bias3])
    v, q = centered(z), variance(z)
    expected = eps / (q + eps) ** R(3, 2) * times(gain3, g3).dot(v)
    numbers = dict(zip([*entries, *bias3, *g3, *gain3], (1, 2, 0, 1, 3, -1, 1, 0, 2, 1, 2, 4, 2, -1, 3), strict=True))
    for small in (R(1, 7), R(1, 10**5)):
        got, right = (value.subs(numbers | {eps: small}) for value in (radial, expected))
        assert sp.simplify(got - right) == 0 != right
    unstabilised = (g3.T * times(gain3, core(z, 0)))[0]
    assert sp.simplify(sum(unstabilised.diff(w) * w for w in [*entries, *bias3]).subs(numbers)) == 0


@fact("weight-radial", way="property")
@given(vectors(3), vectors(3), st.floats(0.01, 1))
def test_at_eps_zero_a_step_lengthens_the_weights(z, g, rate):
    assume(np.ptp(z) > 0)
    x = np.array([2.0, 1.0])
    weights = np.outer(z, [0.25, 0.5])  # weights @ x = z
    gradient = np.outer(lnbook.vjp(z, g, eps=0)[0], x)
    before, grown = (weights**2).sum(), rate**2 * (gradient**2).sum()
    assert ((weights - rate * gradient) ** 2).sum() == pytest.approx(before + grown, rel=1e-11)


# Weight decay


@fact("decay-gain", way="exact")
def test_ten_steps_of_decay():
    given, expected = CASES["B51"]["input"], CASES["B51"]["expected"]
    factor, steps = 1 - Fraction(str(given["lr_wd"])), given["steps"]
    gain, rest, bias = Fraction(given["gamma"]), Fraction(given["gamma"]) - 1, Fraction(0)
    for _ in range(steps):
        gain, rest, bias = gain * factor, rest * factor, bias * factor
    assert gain == Fraction(99, 100) ** 10
    assert abs(float(gain) - expected["gamma_after"]) < 1e-15
    assert 1 + rest == expected["zero_centred_gain_after"]
    assert bias == expected["beta_after_from_0"]


@fact("decay-gain", way="exact")
def test_a_gain_stored_less_one_means_another_output():
    given, expected = CASES["B48"]["input"], CASES["B48"]["expected"]
    gain = [1 + R(str(stored)) for stored in given["gamma_stored"]]
    y = times(gain, core(column(*given["z"]), R(str(given["eps"]))))
    assert np.abs(np.array(y.evalf(20), dtype=float).ravel() - expected["y"]).max() < 1e-14


@fact("decay-gain", way="exact")
def test_where_decay_leads():
    k, factor, gain = sp.Symbol("k", integer=True, positive=True), R(99, 100), sp.Symbol("gain")
    assert sp.limit(factor**k * gain, k, sp.oo) == 0
    assert sp.limit(1 + factor**k * (gain - 1), k, sp.oo) == 1


@fact("decay-balance", way="exact")
@pytest.mark.parametrize("c", [2, -2, 0.25, -0.5])
def test_gain_and_next_matrix_share_one_factor(c):
    gain, bias, A = np.array([2.0, 0, -1]), np.array([1.0, -1, 2]), np.array([[1.0, 2, 0], [3, -1, 1]])
    z, eps = [1, 1, -2], 2  # the core is (1/2, 1/2, -1): floats hold all of this exactly
    shared = A / c @ lnbook.layer_norm(z, c * gain, c * bias, eps=eps)
    assert shared.tolist() == (A @ lnbook.layer_norm(z, gain, bias, eps=eps)).tolist()


@fact("decay-balance", way="exact")
def test_the_cost_is_least_where_both_parts_cost_the_same():
    """An identity of the statement itself: no function of lnbook takes part."""
    c, s, length = sp.symbols("c s length", positive=True)
    assert vanishes(c**2 * s**2 + length**2 / c**2 - 2 * s * length - (c * s - length / c) ** 2)
    assert (c * s - length / c).subs(c, sp.sqrt(length / s)).simplify() == 0


@fact("decay-balance", way="property")
@given(st.lists(quarters, min_size=2, max_size=4), st.lists(quarters, min_size=2, max_size=4), quarters)
def test_no_factor_costs_less(parameters, matrix, c):
    """An identity of the statement itself: no function of lnbook takes part."""
    assume(any(parameters) and any(matrix) and c != 0)
    s2, a2 = (sum(entry**2 for entry in part) for part in (parameters, matrix))
    assert (c**2 * s2 + a2 / c**2) ** 2 >= 4 * s2 * a2

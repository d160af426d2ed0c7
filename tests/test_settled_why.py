"""The verdicts on why the layer works: the scale of the weights, decay, detached statistics, smoothing."""

import numpy as np
import pytest
import sympy as sp
from exact import core, core_jacobian, ones, projection, variance
from hypothesis import given
from hypothesis import strategies as st
from inputs import epsilons, vectors
from mpmath import mp
from normalizations import column
from small_network import THETA, digits_of, gradient, near, product, square
from verdicts import R, settles

import lnbook

W, G4 = column(1, -1, 1, -1), column(4, 0, 0, 0)


def step(weights, rate, eps):
    """One step of gradient descent of the example, with x = 1 and b = 0."""
    return weights - rate * core_jacobian(weights, eps) * G4


@settles("settled-why-scale", "True only if")
def test_half_the_weights():
    theta, rate = digits_of(THETA), mp.mpf(1) / 5
    for eps in (0, mp.mpf(1) / 3):
        half = theta / 2 - rate / 4 * gradient(theta / 2, eps)
        assert near(2 * half, theta - rate * gradient(theta, eps)) == (eps == 0)
        assert near(2 * half, theta - rate * gradient(theta, 4 * eps))


@settles("settled-why-growth", "True only if")
def test_growth_only_without_epsilon():
    theta = digits_of(THETA)
    for rate in (mp.mpf(1) / 100, mp.mpf(2)):
        assert square(theta - rate * gradient(theta, 0)) > square(theta)
    assert step(W, R(1, 2), 3).dot(step(W, R(1, 2), 3)) == R(201, 64) < W.dot(W) == 4


@settles("settled-why-turn", "True only if")
def test_turned_around_only_with_epsilon():
    theta = digits_of(THETA)
    for rate in (1, 10**6):
        assert product(theta, theta - rate * gradient(theta, 0)) > 0
    assert W.dot(step(W, 1000, 3)) == 4 - 1500 < 0


@settles("settled-why-decay", "True only if")
def test_a_penalty_prefers_only_with_epsilon():
    """At eps = 0 a tenth of the weights makes the same function; at eps > 0 the variance of the core tells lengths."""
    for scale in (R(1, 10), R(1, 10**9)):
        assert core(scale * W, 0) == core(W, 0)
    eps = R(1, 9)
    lengths = [t for t in (R(1, 2), 1, 2) if variance(core(t * W, eps)) == R(9, 10)]
    assert lengths == [1]


@settles("settled-why-adam", "False")
def test_one_power_is_left():
    g, z = column(1, 0, 0), column(1, 2, 4)
    cores = []
    for scale, rate in ((1, R(1, 2)), (10, R(1, 2)), (10, 5)):
        signs = (core_jacobian(scale * z, 0) * g).applyfunc(sp.sign)  # a first step of Adam
        assert list(signs) == [1, -1, 1]
        cores.append(core(scale * z - rate * signs, 0))
    assert cores[0] != cores[1] and sp.simplify(cores[0] - cores[2]) == sp.zeros(3, 1)


@settles("settled-why-detach", "False")
def test_detached_statistics_leave_another_gradient():
    z, g = column(1, 2, 4), column(1, 0, 0)
    for eps in (0, R(1, 3)):
        full, detached = core_jacobian(z, eps) * g, g / sp.sqrt(variance(z) + eps)
        assert full.dot(full).evalf() < detached.dot(detached).evalf()
        assert sum(detached) != 0


@settles("settled-why-longer", "True")
@given(st.integers(1, 6).flatmap(lambda d: st.tuples(vectors(d), vectors(d), vectors(d))), epsilons())
def test_never_longer_than_detached(rows, eps):
    z, g, gain = rows
    detached = np.linalg.norm(gain * g) / np.sqrt(z.var() + eps)
    assert np.linalg.norm(lnbook.vjp(z, g, gain, eps=eps)[0]) <= detached * (1 + 1e-12)


@settles("settled-why-smaller", "True only if")
def test_smaller_only_where_the_variance_is_large():
    z, across = column(1, 0, -1), column(1, -2, 1)  # q = 2/3
    for eps, smaller in ((R(1, 2), True), (R(1, 3), True), (R(1, 4), False)):
        norm = max(core_jacobian(z, eps).eigenvals(multiple=True))
        assert (norm <= 1) == smaller == (variance(z) + eps >= 1)
        assert sp.simplify(core_jacobian(z, eps) * across - across / sp.sqrt(variance(z) + eps)) == sp.zeros(3, 1)


@settles("settled-why-shift", "False")
def test_a_feature_has_any_mean():
    rows = [column(5, 0, 1), column(6, 1, 0), column(7, 0, 0)]
    cores = [core(z, R(1, 10**5)) for z in rows]
    assert all(sp.simplify(sum(u)) == 0 for u in cores)
    assert sum(u[0] for u in cores).evalf() / 3 > 1.2


@settles("settled-why-convex", "False")
def test_it_bends_both_ways():
    def first(t):
        return core([t, -t], 1)[0]

    assert sp.simplify(first(1) - (first(0) + first(2)) / 2) > 0
    assert sp.simplify(first(-1) - (first(-2) + first(0)) / 2) < 0


@settles("settled-why-theorem", "False")
def test_one_feature_learns_nothing():
    assert core([7], R(1, 3)) == sp.zeros(1, 1) == core_jacobian([7], R(1, 3))
    targets = [2, 4, 6]
    beta = sp.Symbol("beta", real=True)
    best = min(sum((beta - target) ** 2 for target in targets).subs(beta, b) for b in (R(7, 2), 4, R(9, 2)))
    assert best == 8 > sum((2 * x - target) ** 2 for x, target in zip((1, 2, 3), targets, strict=True)) == 0
    assert projection(1) * ones(1) == sp.zeros(1, 1)
    assert lnbook.layer_norm([[1.0], [2.0]], [3.0], [4.0]) == pytest.approx(4)

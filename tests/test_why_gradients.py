"""Why the layer works: what the derivatives of mean and variance do to the gradient, and what a step does."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp
from exact import centered, core, core_jacobian, mean, ones, projection, variance
from hypothesis import assume, given
from hypothesis import strategies as st
from inputs import vectors
from normalizations import R, column, times

import lnbook
from lnbook.pages.training import lengths, loss_and_gradient, problem, train

fact = pytest.mark.fact
Z = [column(1, 2, 4), column(3, 0, 0, 1), column(-1, 1), column(R(1, 2), -2, 5, 1, 1)]
epsilons = st.floats(1e-6, 100)


def parts(z, g, eps):
    """r, a, tau and P g, by the formulas."""
    q, u = variance(z), core(z, eps)
    return 1 / sp.sqrt(q + eps), times(g, u).dot(ones(len(z))) / len(z), q / (q + eps), centered(g)


def cotangent(d):
    return column(*(3, -1, 2, 0, 5)[:d])


@pytest.mark.parametrize("eps", [0, R(1, 7)])
@fact("why-two-terms", way="exact")
def test_what_is_left_of_the_gradient(eps):
    symbols, m, s = sp.Matrix(sp.symbols("z1:4", real=True)), sp.Symbol("m"), sp.Symbol("s", positive=True)
    z, g = column(1, 2, 4), column(3, -1, 2)
    r, a, _, centred = parts(z, g, eps)
    u, at = core(z, eps), dict(zip(symbols, z, strict=True)) | {m: mean(z), s: variance(z) + eps}
    mu, about = mean(symbols), sum((entry - m) ** 2 for entry in symbols) / 3 + eps
    for centre, total, expected in (
        (mu, variance(symbols) + eps, r * (centred - a * u)),
        (m, about, r * (g - a * u)),
        (mu, s, r * centred),
        (m, s, r * g),
    ):
        loss = sum(c * (entry - centre) for c, entry in zip(g, symbols, strict=True)) / sp.sqrt(total)
        dz = sp.Matrix([loss.diff(entry) for entry in symbols]).subs(at)
        assert sp.simplify(dz - expected) == sp.zeros(3, 1)


KEPT = {("mean", "variance"): (1, 1), ("variance",): (0, 1), ("mean",): (1, 0), (): (0, 0)}


@pytest.mark.parametrize("kept", KEPT)
@fact("why-two-terms", way="exact")
def test_the_training_of_the_page_leaves_out_what_it_says(kept):
    W, x, target, eps = np.array([[1.0], [2], [4]]), np.array([[2.0]]), np.array([[0.0, 1, -1]]), 0.5
    z = column(2, 4, 8)
    g = core(z, R(1, 2)) - column(0, 1, -1)
    r, a, _, _ = parts(z, g, R(1, 2))
    with_mean, with_variance = KEPT[kept]
    expected = 2 * r * (g - with_mean * mean(g) * ones(3) - with_variance * a * core(z, R(1, 2)))
    loss, got = loss_and_gradient(W, x, target, eps, kept)
    assert np.abs(got[:, 0] - np.array(expected.evalf(20), float)[:, 0]).max() < 1e-14
    assert loss == pytest.approx(float(g.dot(g)) / 2, rel=1e-14)


@pytest.mark.parametrize("eps", [0, R(1, 7), 5])
@pytest.mark.parametrize("z", Z, ids=len)
@fact("why-length", way="exact")
def test_the_length_of_the_gradient(z, eps):
    d, g = len(z), cotangent(len(z))
    r, a, tau, centred = parts(z, g, eps)
    dz = core_jacobian(z, eps) * g
    assert sp.simplify(dz.dot(dz) - r**2 * (centred.dot(centred) - d * a**2 * (2 - tau))) == 0
    assert centred.dot(centred) == g.dot(g) - d * mean(g) ** 2
    shortest = (1 - tau) ** 2 * r**2 * centred.dot(centred)
    assert (sp.simplify(dz.dot(dz) - shortest) == 0) == (d == 2)
    along = core_jacobian(z, eps) * (3 * centered(z) + ones(d))  # P g a multiple of v
    assert sp.simplify(along.dot(along) - ((1 - tau) * r) ** 2 * 9 * d * variance(z)) == 0


@fact("why-length", way="exact")
def test_where_the_gradient_is_as_long_as_the_detached_one():
    z, across = column(1, 2, 4), column(2, -3, 1)  # orthogonal to 1 and to v
    for eps in (0, R(1, 7)):
        r, a, _, _ = parts(z, across, eps)
        assert a == 0 == mean(across)
        assert sp.simplify(core_jacobian(z, eps) * across - r * across) == sp.zeros(3, 1)
        shifted = across + ones(3)
        dz = core_jacobian(z, eps) * shifted
        assert sp.simplify(dz.dot(dz) - r**2 * centered(shifted).dot(centered(shifted))) == 0
        assert sp.simplify(dz.dot(dz) - r**2 * shifted.dot(shifted)) != 0


@fact("why-length", way="property")
@given(st.integers(1, 6).flatmap(lambda d: st.tuples(vectors(d), vectors(d))), epsilons)
def test_no_gradient_is_longer_than_the_detached_one(pair, eps):
    z, g = pair
    r, tau, centred = 1 / np.sqrt(z.var() + eps), z.var() / (z.var() + eps), np.linalg.norm(g - g.mean())
    length, rounding = np.linalg.norm(lnbook.vjp(z, g, eps=eps)[0]), 1e-13 * r * np.linalg.norm(g)
    assert (
        (1 - tau) * r * centred - rounding <= length <= r * centred + rounding <= r * np.linalg.norm(g) + 2 * rounding
    )


@pytest.mark.parametrize("eps", [0, R(1, 7)])
@pytest.mark.parametrize("z", Z[:3], ids=len)
@fact("why-average-length", way="exact")
def test_the_mean_over_all_signs(z, eps):
    """Entries 1 or -1, each with probability one half, are independent, of mean 0 and variance 1."""
    d, (r, _, tau, _) = len(z), parts(z, z, eps)
    J = core_jacobian(z, eps)
    total = sum((J * column(*signs)).dot(J * column(*signs)) for signs in product((1, -1), repeat=d))
    assert sp.simplify(total / 2**d - r**2 * (d - 2 + (1 - tau) ** 2)) == 0
    assert R(768 - 2, 768) == R(383, 384)


@fact("why-detach-mean", way="exact")
@pytest.mark.parametrize("eps", [0, R(1, 7)])
def test_what_the_detached_mean_adds(eps):
    z, g, W = column(1, 2, 4), column(3, -1, 2), sp.Matrix([[1, 2], [0, 1], [3, -1]])
    r, a, _, _ = parts(z, g, eps)
    added = r * (g - a * core(z, eps)) - core_jacobian(z, eps) * g
    assert sp.simplify(added - r * mean(g) * ones(3)) == sp.zeros(3, 1)
    assert sp.simplify(W.T * added - r * mean(g) * W.T * ones(3)) == sp.zeros(2, 1)
    assert sp.simplify((projection(3) * W).T * added) == sp.zeros(2, 1)


@fact("why-detach-mean", way="property")
@given(st.integers(0, 50), st.floats(0, 0.5), st.sampled_from([0.0, 1e-2]))
def test_the_training_without_the_mean_is_the_same(seed, decay, eps):
    full, _ = train(seed, steps=20, decay=decay, eps=eps)
    without, _ = train(seed, steps=20, decay=decay, eps=eps, derivatives=("variance",))
    neither, _ = train(seed, steps=20, decay=decay, eps=eps, derivatives=())
    assert np.abs(lnbook.center(full, axis=1) - lnbook.center(without, axis=1)).max() < 1e-11
    assert np.abs(full - without).max() > 1e-6
    assert np.abs(lnbook.center(full, axis=1) - lnbook.center(neither, axis=1)).max() > 1e-6


@pytest.mark.parametrize("eps", [0, R(1, 7)])
@pytest.mark.parametrize("z", Z, ids=len)
@fact("why-detached-descent", way="exact")
def test_the_product_with_the_detached_gradient(z, eps):
    d, g = len(z), cotangent(len(z))
    r, a, tau, centred = parts(z, g, eps)
    along = (core_jacobian(z, eps) * g).dot(r * g)
    assert sp.simplify(along - r**2 * (centred.dot(centred) - d * a**2)) == 0
    assert sp.simplify(along - (1 - tau) * r**2 * centred.dot(centred)) >= 0
    assert (sp.simplify(along) == 0) == (eps == 0 and d == 2)
    assert sp.simplify((r * g).dot(centered(z)) - d * a) == 0
    assert sp.simplify((r * g).dot(ones(d)) - d * r * mean(g)) == 0


@fact("why-detached-descent", way="property")
@given(st.integers(1, 6).flatmap(lambda d: st.tuples(vectors(d), vectors(d))), epsilons)
def test_a_detached_step_does_not_climb(pair, eps):
    z, g = pair
    along = lnbook.vjp(z, g, eps=eps)[0] @ g / np.sqrt(z.var() + eps)
    centred = g - g.mean()
    least = eps / (z.var() + eps) ** 2 * (centred @ centred)
    assert along >= least - 1e-13 * (g @ g) / (z.var() + eps)


def test_a_field_turns_where_its_derivatives_are_mixed():
    """Around a small square r g, g held fixed, does work; a gradient does none."""

    def work(g, z, a, b, side=0.1, steps=200):
        total, steps_along = 0.0, (np.arange(steps) + 0.5) / steps
        for start, along in ((z, a), (z + side * a, b), (z + side * (a + b), -a), (z + side * b, -b)):
            path = start + side * steps_along[:, None] * along
            total += (g @ along) * side * (1 / np.sqrt(lnbook.variance(path) + 0.5)).mean()
        return total

    one, other, z = np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), np.array([1.0, 2, 4])
    assert all(abs(work(np.array(g), z, one, other)) > 1e-4 for g in ((1, 0, 0), (1, -1, 0), (1, 1, 1)))
    assert abs(work(np.array([-3, 3]), z[:2], one[:2], other[:2])) < 1e-7
    assert abs(work(np.array([1, 1]), z[:2], one[:2], other[:2])) > 1e-4


@fact("why-detached-no-gradient", way="exact")
def test_the_mixed_derivatives():
    """An identity of the statement itself: no function of lnbook takes part."""
    eps = sp.Symbol("eps", positive=True)

    def asymmetry(g):
        z = sp.symbols(f"z1:{len(g) + 1}", real=True)
        J = (column(*g) / sp.sqrt(variance(z) + eps)).jacobian(sp.Matrix(z))
        return sp.simplify(((J - J.T) * (variance(z) + eps) ** R(3, 2)).applyfunc(sp.expand))

    assert all(asymmetry(g) != sp.zeros(3, 3) for g in ((1, 0, 0), (1, -1, 0), (1, 1, 1)))
    assert asymmetry((1, -1)) == sp.zeros(2, 2) == asymmetry((-3, 3))
    assert asymmetry((1, 0)) != sp.zeros(2, 2) != asymmetry((1, 1))
    assert asymmetry((1,)) == sp.zeros(1, 1)


@fact("why-step", way="exact")
@pytest.mark.parametrize("eps", [0, R(1, 7)])
def test_the_first_order_of_a_step(eps):
    """One position with two raw inputs; the loss is half the squared distance of the core from a target."""
    W, b, x, target = sp.Matrix([[1, 2], [0, 1], [3, -1]]), column(1, 0, 0), column(2, 1), column(1, 0, 2)
    z = W * x + b
    g, J, rate = core(z, eps) - target, core_jacobian(z, eps), sp.Symbol("rate")
    dz = sp.simplify(J * g)
    after = (W - rate * dz * x.T) * x + b - rate * dz
    change = sp.Matrix([entry.diff(rate) for entry in core(after, eps)]).subs(rate, 0)
    weight = 1 + x.dot(x)
    assert sp.simplify(change + weight * J * dz) == sp.zeros(3, 1)
    assert sp.simplify(g.dot(change) + weight * dz.dot(dz)) == 0
    at_zero = sp.simplify(change + weight * dz / sp.sqrt(variance(z) + eps)) == sp.zeros(3, 1)
    assert at_zero == (eps == 0)


@fact("why-step", way="property")
@given(st.integers(1, 6).flatmap(lambda d: st.tuples(vectors(d), vectors(d))), epsilons)
def test_how_far_the_core_moves(pair, eps):
    z, g = pair
    moved = lnbook.jvp(z, lnbook.vjp(z, g, eps=eps)[0], eps=eps)
    bound = np.linalg.norm(g - g.mean()) / (z.var() + eps)
    assert np.linalg.norm(moved) <= bound + 1e-13 * np.linalg.norm(g) / (z.var() + eps)


@fact("why-next", way="exact")
def test_the_gradient_of_the_next_matrix():
    """loss = e (A y + c): its derivative by A_ij is e_i y_j."""
    A, y, e = sp.Matrix(2, 3, sp.symbols("a1:7")), column(1, R(-1, 2), 3), column(2, -1)
    loss = e.dot(A * y)
    gradient = [loss.diff(entry) for entry in A]
    assert sum(entry**2 for entry in gradient) == e.dot(e) * y.dot(y)


@fact("why-next", way="property")
@given(vectors(4), vectors(4), vectors(4), st.floats(1e-8, 10), st.floats(1, 1e6))
def test_the_output_is_bounded(z, gain, bias, eps, scale):
    y = lnbook.layer_norm(scale * z, gain, bias, eps=eps)
    assert np.linalg.norm(y) <= (2 * np.abs(gain).max() + np.linalg.norm(bias)) * (1 + 1e-12)


@fact("why-smoother", way="exact")
def test_where_a_gradient_is_lengthened():
    for z, eps, longer in (
        (column(1, 0, -1), R(1, 2), False),  # q = 2/3
        (column(1, 0, -1), R(1, 3), False),  # q + eps = 1
        (column(1, 0, -1), R(1, 9), True),
        (column(1, 1, 1), R(1, 4), True),
        (column(1, -1), 3, False),  # q + eps = 4, 8 > 3
        (column(R(1, 10), R(-1, 10)), R(1, 100), True),
        (column(R(1, 2), R(-1, 2)), R(1, 4), False),
        (column(R(1, 5), R(-1, 5)), R(1, 4), True),
    ):
        d, q = len(z), variance(z)
        expected = q + eps < 1 if d > 2 else (q + eps) ** R(3, 2) < eps
        norm = max(core_jacobian(z, eps).eigenvals(multiple=True))
        assert (norm > 1) == expected == longer


@fact("why-smoother", way="property")
@given(st.integers(2, 6).flatmap(vectors), st.floats(1e-4, 10))
def test_the_norm_is_above_one_exactly_there(z, eps):
    q, norm = Fraction(float(z.var())), lnbook.operator_norm(z, eps=eps)
    total = float(q + Fraction(eps))
    assume(abs(norm - 1) > 1e-9)
    assert (norm > 1) == (total < 1 if len(z) > 2 else total**1.5 < eps)


@pytest.mark.parametrize("d", [2, 3, 10])
@fact("why-covariate", way="exact")
def test_any_value_at_every_position(d):
    eps = R(1, 3)
    for part in (R(-9, 10), 0, R(1, 2), R(99, 100)):
        m = part * sp.sqrt(d - 1)
        # u_1 = m solved for t: t^2 (1 - 1/d)^2 = m^2 (t^2 (d - 1)/d^2 + eps)
        t = sp.sign(part) * sp.sqrt(m**2 * eps / (R(d - 1, d) ** 2 - m**2 * R(d - 1, d**2)))
        z = column(*[t] + [0] * (d - 1))
        assert sp.simplify(core(z, eps)[0] - m) == 0


@fact("why-covariate", way="property")
@given(st.integers(2, 8), st.floats(-0.99, 0.99), st.floats(1e-6, 10))
def test_the_module_gives_that_value(d, part, eps):
    m = part * np.sqrt(d - 1)
    t = np.sign(part) * np.sqrt(m**2 * eps / (((d - 1) / d) ** 2 - m**2 * (d - 1) / d**2))
    x, b = np.arange(6.0).reshape(3, 2), np.eye(d)[0] * t
    u = lnbook.normalize(x @ np.zeros((2, d)) + b, eps=eps)
    assert u[:, 0] == pytest.approx(np.full(3, m), abs=1e-9)
    assert np.abs(u.mean(axis=1)).max() < 1e-12 and u.var(axis=1).max() < 1


def test_the_problem_of_the_page():
    W, x, target = problem(3)
    assert set(target.ravel()) == {1, -1} and np.abs(target.mean(axis=1)).max() > 0.2
    assert lengths(np.array([[[3.0, 4.0]], [[0.0, 0.0]]])).tolist() == [5, 0]
    step = 1e-6 * np.eye(8)[:, :1] * np.ones(8)
    losses = [loss_and_gradient(W + s * step, x, target, 1e-2)[0] for s in (1, -1)]
    slope = (loss_and_gradient(W, x, target, 1e-2)[1] * step).sum() / 1e-6
    assert (losses[0] - losses[1]) / 2e-6 == pytest.approx(slope, rel=1e-6)


def test_a_training_starts_where_it_says_and_follows_its_rule():
    W, x, target = problem(1)
    weights, gradients = train(1, steps=2, rate=0.5, decay=0.2, scale=2.0, eps=0.1)
    batch = np.random.default_rng(1001).integers(64, size=(2, 8))[0]
    _, G = loss_and_gradient(2 * W, x[batch], target[batch], 0.1)
    assert (weights.shape, gradients.shape) == ((3, 8, 8), (2, 8, 8))
    assert np.array_equal(weights[0], 2 * W) and np.array_equal(gradients[0], G)
    assert np.abs(weights[1] - (0.9 * 2 * W - 0.5 * G)).max() < 1e-14

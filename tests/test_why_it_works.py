"""Why the layer works: the scale of the weights in front of it, in exact arithmetic and in 50 digits."""

import numpy as np
import pytest
import sympy as sp
from exact import centered, core, core_jacobian, ones, variance
from hypothesis import given
from hypothesis import strategies as st
from inputs import vectors
from mpmath import mp
from normalizations import R, apart, column, differ
from small_network import (
    EPS,
    RAW,
    THETA,
    X,
    digits_of,
    gradient,
    hessian,
    input_of,
    loss,
    near,
    path,
    product,
    square,
)

import lnbook
from lnbook.pages.training import lengths, loss_and_gradient, problem, train

fact = pytest.mark.fact
scales = st.floats(0.1, 10)


def vanish(expressions):
    """Whether each number is 0, by 60 digits: radicals that SymPy does not add up."""
    return all(abs(sp.N(entry, 60)) < R(1, 10**40) for entry in expressions)


@fact("why-example", way="exact")
def test_one_step_and_the_same_from_twice_the_weights():
    W, g = column(1, -1, 1, -1), column(4, 0, 0, 0)
    G, G2 = core_jacobian(W, 0) * g, core_jacobian(2 * W, 0) * g
    assert list(G) == [2, 0, -2, 0] and list(G2) == [1, 0, -1, 0]
    assert G.dot(W) == 0
    after, after2 = W - R(1, 2) * G, 2 * W - 2 * G2
    assert list(after) == [0, -1, 2, -1] and after2 == 2 * after
    assert (W.dot(W), after.dot(after)) == (4, 6)
    assert core(after, 0) == core(after2, 0)


@fact("why-setting", way="exact")
def test_the_gradient_of_the_direction():
    theta = digits_of(THETA)
    length = mp.sqrt(square(theta))
    assert near(gradient(theta / length, 0), length * gradient(theta, 0))


@pytest.mark.parametrize("eps", [0, R(1, 7), 3])
@pytest.mark.parametrize("scale", [R(1, 3), 2])
@fact("why-gradient-scale", way="exact")
def test_the_gradient_is_divided_by_the_scale(scale, eps):
    small = eps / sp.sympify(scale) ** 2
    assert vanish([loss(scale * THETA, eps) - loss(THETA, small)])
    at_scale, at_one = gradient(scale * THETA, eps), gradient(THETA, small)
    assert near(digits_of([scale])[0] * at_scale, at_one) and not near(at_scale, at_one)
    by_x = [loss(t, e, (RAW, X[1])).diff(RAW).subs(RAW, X[0]) for t, e in ((scale * THETA, eps), (THETA, small))]
    assert vanish([by_x[0] - by_x[1]]) and not vanish([by_x[0]])


@fact("why-gradient-scale", way="property")
@given(vectors(4), vectors(4), vectors(4), scales, st.floats(1e-6, 10))
def test_the_module_divides_by_the_scale(z, g, gain, scale, eps):
    at_scale = lnbook.vjp(scale * z, g, gain, eps=eps)
    at_one = lnbook.vjp(z, g, gain, eps=eps / scale**2)
    unit = np.abs(gain * g).max() / np.sqrt(z.var() + eps / scale**2)
    assert np.abs(scale * at_scale[0] - at_one[0]).max() <= 1e-13 * unit
    assert np.abs(at_scale[1] - at_one[1]).max() <= 1e-13 * np.abs(g).max()


@pytest.mark.parametrize("eps", [0, mp.mpf(1) / 7])
@fact("why-run", way="exact")
def test_two_runs_stay_in_step(eps):
    theta, scale, rate, decay = digits_of(THETA), mp.mpf(3), mp.mpf(1) / 2, mp.mpf(1) / 5
    large, _ = path(scale * theta, rate, 4, eps, decay)
    small, _ = path(theta, rate / scale**2, 4, eps / scale**2, decay * scale**2)
    assert all(near(a, scale * b) for a, b in zip(large, small, strict=True))
    without, _ = path(theta, rate, 4, eps / scale**2, decay * scale**2)
    assert not near(large[1], scale * without[1])


@fact("why-run", way="property")
@given(st.integers(0, 50), st.floats(0.5, 4), st.sampled_from([0.0, 1e-3]))
def test_the_trainings_of_the_page_stay_in_step(seed, scale, eps):
    one, _ = train(seed, steps=20, rate=0.05, decay=0.1, eps=eps)
    other, _ = train(seed, steps=20, rate=0.05 * scale**2, decay=0.1 / scale**2, eps=eps * scale**2, scale=scale)
    assert np.abs(other / scale - one).max() < 1e-9


@fact("why-angle", way="exact")
def test_the_effective_step_is_a_tangent():
    theta = digits_of(THETA)
    G = gradient(theta, 0)
    length, direction = mp.sqrt(square(theta)), mp.sqrt(square(theta)) * G  # the gradient at theta / |theta|
    for rate in (mp.mpf(1) / 10, mp.mpf(3), mp.mpf(10) ** 6):
        after = theta - rate * G
        cosine = product(theta, after) / length / mp.sqrt(square(after))
        tangent = mp.sqrt(1 - cosine**2) / cosine
        assert cosine > 0
        assert abs(tangent / (rate / length**2 * mp.sqrt(square(direction))) - 1) < 1e-25
        assert abs(square(after) / (length**2 + rate**2 / length**2 * square(direction)) - 1) < 1e-38


@fact("why-angle", way="property")
@given(st.integers(0, 100), st.floats(1e-3, 1e3))
def test_no_step_turns_by_a_right_angle(seed, rate):
    W, x, target = problem(seed)
    _, G = loss_and_gradient(W, x, target, 0)
    cosine = (W * (W - rate * G)).sum() / np.linalg.norm(W) / np.linalg.norm(W - rate * G)
    assert cosine == pytest.approx(1 / np.sqrt(1 + (rate * np.linalg.norm(G) / np.linalg.norm(W)) ** 2), rel=1e-9)


@fact("why-growth", way="exact")
def test_the_fourth_power_grows_by_a_sum():
    n, rate, g = sp.symbols("n rate g", positive=True)  # |theta|^2, eta, |G~|^2
    assert sp.expand((n + rate**2 * g / n) ** 2 - n**2 - 2 * rate**2 * g - rate**4 * g**2 / n**2) == 0
    for step in (mp.mpf(1) / 10, mp.mpf(2), mp.mpf(50)):
        thetas, gradients = path(digits_of(THETA), step, 12)
        turns = [square(t) * square(G) for t, G in zip(thetas, gradients, strict=False)]
        least, most, start = min(turns), max(turns), square(thetas[0])
        for t in range(1, 13):
            fourth = square(thetas[t]) ** 2
            assert fourth >= start**2 + 2 * step**2 * mp.fsum(turns[:t])
            assert step / square(thetas[t]) < 1 / (mp.sqrt(least) * mp.sqrt(2 * t))
            grown = start**2 + t * (2 * step**2 * most + step**4 * most**2 / start**2)
            assert fourth <= grown * (1 + mp.mpf(10) ** -45)  # equal at t = 1


@fact("why-growth", way="property")
@given(st.integers(0, 20), st.floats(0.01, 10))
def test_the_trainings_of_the_page_slow_down(seed, rate):
    weights, gradients = train(seed, steps=50, rate=rate)
    length = lengths(weights)
    turns = length[:-1] * lengths(gradients)
    assert rate / length[-1] ** 2 < 1 / (turns.min() * np.sqrt(2 * 50))
    assert length[-1] ** 4 >= (length[0] ** 4 + 2 * rate**2 * (turns**2).sum()) * (1 - 1e-12)


@fact("why-decay-angle", way="exact")
def test_a_step_that_keeps_the_length():
    theta, rate = digits_of(THETA), mp.mpf(1) / 10
    G = gradient(theta, 0)
    kept = mp.sqrt(1 - rate**2 * square(G) / square(theta))  # 1 - rate decay that keeps the length
    after = kept * theta - rate * G
    assert abs(square(after) / square(theta) - 1) < 1e-40
    assert abs(product(theta, after) / square(theta) - kept) < 1e-40
    rate, decay, c, s = sp.symbols("rate decay c s", positive=True)
    level = sp.sqrt(rate * c**2 / (decay * (2 - rate * decay)))
    for values in ({rate: R(1, 10), decay: R(1, 2), c: 3}, {rate: 2, decay: R(1, 4), c: R(1, 3)}):
        step = (1 - rate * decay) ** 2 * s + rate**2 * c**2 / s
        at = level.subs(values)
        assert sp.simplify(step.subs(values).subs(s, at) - at) == 0
        assert [x for x in sp.solve((step - s).subs(values), s) if x > 0] == [sp.simplify(at)]
        effective = (rate / at - sp.sqrt(rate * decay * (2 - rate * decay)) / c).subs(values)
        assert sp.simplify(effective) == 0


@fact("why-decay-angle", way="property")
@given(st.floats(0.01, 0.5), st.floats(0.01, 100))
def test_the_length_tends_to_the_balance(decay, start):
    """An identity of the statement itself, with the level as the unit: no function of lnbook takes part."""
    p, s = (1 - decay) ** 2, start
    for _ in range(5000):
        s = p * s + (1 - p) / s
    assert s == pytest.approx(1, rel=1e-9)


@fact("why-exponential", way="exact")
def test_decay_is_a_rate_that_grows():
    rate, decay = mp.mpf(1) / 10, mp.mpf(2)
    kept = 1 - rate * decay
    with_decay, _ = path(digits_of(THETA), rate, 5, decay=decay)
    theta = digits_of(THETA)
    for t in range(5):
        theta = theta - rate * kept ** (-2 * t - 1) * gradient(theta, 0)
        assert near(kept ** (t + 1) * theta, with_decay[t + 1])


@fact("why-penalty", way="exact")
def test_the_penalty_goes_and_the_loss_stays():
    shrunk = [R(1, 10**k) * THETA for k in (1, 5, 20)]
    assert all(vanish([loss(theta, 0) - loss(THETA, 0)]) for theta in shrunk)
    assert [theta.dot(theta) / THETA.dot(THETA) for theta in shrunk] == [R(1, 100**k) for k in (1, 5, 20)]
    assert loss(shrunk[2], 1).evalf(30) != loss(THETA, 1).evalf(30)
    assert all(len(set(input_of(sp.zeros(6, 1), x))) == 1 for x in X)  # theta = 0 has q = 0


def momentum(gradients, theta):
    step = 0 * theta
    for G in gradients:
        step = mp.mpf(9) / 10 * step + G
    return step


def signs(gradients, theta):
    return mp.matrix([mp.sign(entry) for entry in gradients[-1]])


def adam(gradients, theta):
    first, second = 0 * theta, [0] * len(theta)
    for G in gradients:
        first = mp.mpf(9) / 10 * first + G / 10
        second = [mp.mpf(99) / 100 * s + entry**2 / 100 for s, entry in zip(second, G, strict=True)]
    return mp.matrix([m / mp.sqrt(s) for m, s in zip(first, second, strict=True)])


def lars(gradients, theta):
    return mp.sqrt(square(theta) / square(gradients[-1])) * gradients[-1]


RULES = [(momentum, 2), (signs, 1), (adam, 1), (lars, 0)]


@pytest.mark.parametrize(("rule", "power"), RULES, ids=[rule.__name__ for rule, _ in RULES])
@fact("why-optimizers", way="exact")
def test_the_power_of_the_scale(rule, power):
    theta, scale, rate = digits_of(THETA), mp.mpf(3), mp.mpf(1) / 20
    large, _ = path(scale * theta, rate, 4, rule=rule)
    for other in (0, 1, 2):
        small, _ = path(theta, rate / scale**other, 4, rule=rule)
        assert all(near(a, scale * b) for a, b in zip(large, small, strict=True)) == (other == power)


@fact("why-per-layer", way="exact")
def test_the_rows_of_the_example_have_no_scale():
    W = column(1, -1, 1, -1)
    G = core_jacobian(W, 0) * column(4, 0, 0, 0)
    assert [a * b for a, b in zip(W, G, strict=True)] == [2, 0, -2, 0]


@fact("why-per-layer", way="property")
@given(st.lists(st.fractions(R(1, 4), 4, max_denominator=4), min_size=2, max_size=4))
def test_only_a_common_scale_is_unseen(row_scales):
    s = column(*row_scales)
    agree = True
    for t in (R(1, 100), -R(1, 100)):
        z = ones(len(s))
        z[0] += t
        scaled = s.multiply_elementwise(z)
        agree &= variance(scaled) == 0 or not apart(core(scaled, 0), core(z, 0))
        agree &= variance(scaled) != 0
    assert agree == (len(set(row_scales)) == 1)


@pytest.mark.parametrize("eps", [0, R(1, 7)])
@fact("why-column-means", way="exact")
def test_the_gradient_of_a_column_adds_up_to_zero(eps):
    G = gradient(THETA, eps)
    assert near([sum(G[:3]), sum(G[3:])], [0, 0]) and min(abs(G[0]), abs(G[3])) > 0.01


@fact("why-column-means", way="property")
@given(st.integers(0, 50), st.floats(0.01, 1), st.floats(0, 0.5))
def test_the_column_means_only_decay(seed, rate, decay):
    weights, _ = train(seed, steps=20, rate=rate, decay=decay, eps=1e-3)
    expected = (1 - rate * decay) ** 20 * weights[0].mean(axis=0)
    assert np.abs(weights[-1].mean(axis=0) - expected).max() < 1e-11 * np.abs(weights).max()


@fact("why-epsilon-derivative", way="exact")
def test_the_radial_derivative_is_the_one_by_epsilon():
    for eps in (R(1, 7), 2):
        by_eps = mp.mpf(str(sp.N(loss(THETA, EPS).diff(EPS).subs(EPS, eps), 50)))
        radial, twice = product(gradient(THETA, eps), digits_of(THETA)), digits_of([2 * eps])[0]
        assert abs(radial + twice * by_eps) < 1e-40 and abs(by_eps) > 0.01
    for z in (column(1, 2, 4), column(-1, 1), column(3, 0, 0, 1)):
        v, q, eps = centered(z), variance(z), 2 * variance(z)
        bound = 2 / (3 * sp.sqrt(3)) * sp.sqrt(len(z)) * v.norm()
        assert sp.simplify(z.dot(core_jacobian(z, eps) * v) - bound) == 0
        assert q == eps / 2


@fact("why-epsilon-derivative", way="property")
@given(vectors(3), vectors(3), st.floats(1e-6, 100))
def test_the_radial_derivative_is_bounded(z, g, eps):
    radial = abs(lnbook.vjp(z, g, eps=eps)[0] @ (z - z.mean()))
    assert radial <= 2 / (3 * np.sqrt(3)) * np.sqrt(3) * np.linalg.norm(g - g.mean()) * (1 + 1e-9) + 1e-12


@fact("why-small-weights", way="exact")
def test_the_two_regimes():
    """g is held fixed: a loss that is linear in the core."""
    t = sp.Symbol("t", positive=True)
    z, g, x = column(1, 2, 4), column(1, 0, -3), R(2)
    for eps in (0, R(1, 9)):
        dz = core_jacobian(t * z, eps) * g
        squared = dz.dot(dz) * (x**2 + 1)
        unscaled = core_jacobian(z, 0) * g
        assert sp.limit(t**2 * squared, t, sp.oo) == sp.simplify(unscaled.dot(unscaled)) * (x**2 + 1)
        if eps == 0:
            assert sp.simplify(t**2 * squared - unscaled.dot(unscaled) * (x**2 + 1)) == 0
        else:
            centred = centered(g)
            assert sp.limit(squared, t, 0) == centred.dot(centred) * (x**2 + 1) / eps


@fact("why-hessian", way="exact")
def test_the_second_derivatives_along_the_weights():
    theta, H, G = digits_of(THETA), hessian(THETA), gradient(THETA, 0)
    assert near(H * theta, -G, 1e-18) and abs(product(theta, H * theta)) < 1e-18 < 0.01 < square(G)
    assert near(hessian(2 * THETA), H / 4, 1e-18) and not near(H, 0 * H, 0.01)
    values = mp.eigsy(H, eigvals_only=True)
    assert min(values) < 0 < max(values)
    assert max(values) * -min(values) >= square(G) / square(theta)


@fact("why-hessian", way="exact")
def test_the_second_derivatives_of_the_example():
    w = sp.symbols("w1:5", real=True)
    H = sp.hessian(4 * core(w, 0)[0], w).subs(dict(zip(w, (1, -1, 1, -1), strict=True)))
    assert not differ(H * column(1, -1, 1, -1), -column(2, 0, -2, 0))
    assert sorted(H.eigenvals(multiple=True)) == [-2, -1, 0, 1]
    G, W = column(2, 0, -2, 0), column(1, -1, 1, -1)
    assert G.dot(G) / W.dot(W) == 2 * 1  # the bound on 2, the size of the least, times 1, the largest: attained

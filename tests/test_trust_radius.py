"""The facts on sharp bounds about finite steps: mirror steps, the sum norm, the bend of the core, all derivatives."""

from itertools import product

import numpy as np
import pytest
import sympy as sp
from exact import core, core_jacobian, symbols, vanishes, variance
from hypothesis import assume, given
from hypothesis import strategies as st
from inputs import epsilons

import lnbook

fact = pytest.mark.fact
R = sp.Rational
eps, x = sp.Symbol("eps", positive=True), sp.Symbol("x", real=True)
WORST = R(24, 25) / sp.sqrt(5)
quarters = st.integers(-16, 16).map(lambda k: k / 4)


def rows(low=2, high=6):
    return st.integers(low, high).flatmap(lambda d: st.lists(quarters, min_size=d, max_size=d)).map(np.array)


@st.composite
def steps(draw, low=2):
    """An input, a step of the same length and an eps, of all sizes against each other."""
    z = draw(rows(low))
    h = np.array(draw(st.lists(quarters, min_size=len(z), max_size=len(z))))
    return z, h * 2.0 ** draw(st.integers(-8, 2)), 2.0 ** draw(st.integers(-6, 6))


def core_change(z, h, eps):
    return lnbook.normalize(z + h, eps=eps) - lnbook.normalize(z, eps=eps)


def centred(h):
    return h - h.mean()


# Away from the constant inputs


@fact("lipschitz-outside", way="exact")
@pytest.mark.parametrize("d", [2, 3, 4])
def test_the_mirror_step_is_amplified_by_one_over_the_root(d):
    z = symbols(d)
    mirrored = 2 * sum(z) / d * sp.ones(d, 1) - z
    change, step = core(mirrored, eps) - core(z, eps), mirrored - z
    assert vanishes(variance(mirrored) - variance(z))
    assert vanishes(change.dot(change) * (variance(z) + eps) - step.dot(step))


@fact("lipschitz-outside", way="property")
@given(steps(), st.floats(0.25, 1))
def test_no_step_between_inputs_of_some_variance_does_more(case, share):
    z, h, small = case
    q0 = share * min(z.var(), (z + h).var())
    assume(np.abs(h).max() > 1e-3)
    assert lnbook.amplification(z, h, eps=small) <= (1 + 1e-12) / np.sqrt(q0 + small)


# The sum of the coordinates


def inner_maximum(A, B):
    """The largest value of sqrt(1 - t) (A + B t), at the zero of its derivative or at 0."""
    t = np.where(2 * B > A, (2 * B - A) / (3 * np.maximum(B, 1e-30)), 0)
    return np.sqrt(np.maximum(1 - t, 0)) * (A + B * t)


def parts_of_the_sums(c):
    """A and B for each coordinate j: (..., d) each"""
    Pc = c - c.mean(axis=-1, keepdims=True)
    length = np.linalg.norm(Pc, axis=-1, keepdims=True)
    return Pc, (np.sqrt(1 - 1 / c.shape[-1]) * length - Pc) / 2


def sum_norm_constant(gain):
    signs = np.array(list(product([1, -1], repeat=len(gain))))
    return inner_maximum(*parts_of_the_sums(signs * gain)).max()


@fact("sharp-sum-norm", way="exact")
def test_the_product_of_two_inner_products_is_largest_along_the_difference():
    a, b, u = (sp.Matrix(sp.symbols(f"{name}1:4", real=True)) for name in "abu")
    difference = (a - b).dot(u) ** 2 / 4 - (a + b).dot(u) ** 2 / 4
    assert vanishes(-a.dot(u) * b.dot(u) - difference)
    A, B, t = sp.symbols("A B t", positive=True)
    slope = sp.diff((1 - t) * (A + B * t) ** 2, t)
    assert vanishes(slope.subs(t, (2 * B - A) / (3 * B)))
    best = (sp.sqrt(1 - t) * (A + B * t)).subs(t, (2 * B - A) / (3 * B)) ** 2
    assert vanishes(best - 4 * (A + B) ** 3 / (27 * B))


@fact("sharp-sum-norm", way="property")
@given(steps(), st.data())
def test_no_column_sum_exceeds_the_constant(case, data):
    z, _, small = case
    gain = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=len(z), max_size=len(z))))
    sums = np.abs(lnbook.jacobian(z, gain, eps=small)).sum(axis=0)
    assert sums.max() <= sum_norm_constant(gain) / np.sqrt(small) * (1 + 1e-12)
    constant = np.abs(lnbook.jacobian(0 * z, gain, eps=small)).sum(axis=0).max()
    assert constant <= sum_norm_constant(gain) / np.sqrt(small) * (1 + 1e-12)


@fact("sharp-sum-norm", way="property")
@given(st.lists(st.integers(-5, 5), min_size=3, max_size=7), st.data(), st.floats(0, 0.99))
def test_each_value_of_the_maximum_occurs_at_an_input(gain, data, tau):
    d, j = len(gain), data.draw(st.integers(0, len(gain) - 1))
    c = np.multiply(gain, data.draw(st.lists(st.sampled_from([1, -1]), min_size=d, max_size=d))).astype(float)
    x, y = centred(c), centred(np.eye(d)[j])
    assume(np.linalg.norm(x) > 0)
    u = x / np.linalg.norm(x) - y / np.linalg.norm(y)
    assume(np.linalg.norm(u) > 1e-6)
    u *= np.sqrt(d * tau) / np.linalg.norm(u)
    z = u / np.sqrt(1 - tau)  # the input with this core at eps = 1
    A, B = (part[j] for part in parts_of_the_sums(c))
    assert c @ lnbook.jacobian(z, eps=1)[:, j] == pytest.approx(np.sqrt(1 - tau) * (A + B * tau), abs=1e-12)


@fact("sharp-sum-norm", way="property")
@given(st.integers(2, 6))
def test_with_gains_of_one_size_it_is_the_constant_of_the_largest_coordinate(d):
    assert sum_norm_constant([1] * d) == pytest.approx(2 * (1 - 1 / d), rel=1e-14)


def test_the_constant_of_768_gains_lies_above_that_of_constant_inputs():
    gain = np.array([1, 2] * 384)
    others = [(sum_of_c, size) for size in (1, 2) for sum_of_c in range(-1152, 1153)]
    values = []
    for total, size in others:
        if (total - size) % 2 == 0:  # all sums with this last digit occur
            A, length = size - total / 768, np.sqrt(gain @ gain - total**2 / 768)
            values.append(inner_maximum(A, (np.sqrt(1 - 1 / 768) * length - A) / 2))
    assert max(values) == pytest.approx(9.249665, abs=1e-5)


# How strongly the core bends


def bend(z, h, eps):
    return 2 * np.linalg.norm(lnbook.taylor(z, h, 2, eps=eps)[2])


def largest_bend(q, d, eps):
    if d == 2 or q <= eps / 2:
        return 3 * eps * np.sqrt(q) / (np.sqrt(d) * (q + eps) ** 2.5)
    return 2 / (np.sqrt(3 * d) * (q + eps))


@fact("curvature", way="exact")
def test_the_squared_length_of_the_second_derivative_and_its_largest_value():
    a, m, tau, s = sp.symbols("a m tau s", real=True)
    # (2 a w + (m - 3 a^2) u)^2 / d with w.w = d m, w.u = d a, u.u = d tau
    squared = 4 * a**2 * m + 4 * a**2 * (m - 3 * a**2) + tau * (m - 3 * a**2) ** 2
    G = 8 * s - 12 * s**2 + tau * (1 - 3 * s) ** 2
    assert vanishes(squared - m**2 * G.subs(s, a**2 / m))
    assert vanishes(G.diff(s) - 2 * (4 - 3 * tau) * (1 - 3 * s))
    assert vanishes(G.subs(s, tau) - 9 * tau * (1 - tau) ** 2)
    assert G.subs(s, R(1, 3)).expand() == R(4, 3)
    assert sp.solve((tau * (1 - tau) ** 4).diff(tau), tau) == [R(1, 5), 1]
    assert 3 * sp.sqrt(R(1, 5)) * R(4, 5) ** 2 == 2 * WORST
    assert (2 / sp.sqrt(3) * R(2, 3)).evalf() < (2 * WORST).evalf()


@fact("curvature", way="exact")
def test_the_second_derivative_at_the_input_that_bends_most():
    t = sp.Symbol("t", real=True)
    along = core([-1 - t, 1 + t], 4).diff(t, 2).subs(t, 0)  # q = eps / 4, h = v of length sqrt(2)
    assert vanishes(along.norm() / 2 - 2 * WORST / (4 * sp.sqrt(2)))


@fact("curvature", way="property")
@given(steps())
def test_no_direction_bends_more_and_one_as_much(case):
    z, h, small = case
    d, q, v = len(z), z.var(), centred(z)
    most = largest_bend(q, d, small)
    if np.linalg.norm(h) > 0:
        assert bend(z, h / np.linalg.norm(h), small) <= most * (1 + 1e-11)
    assert most <= float(2 * WORST) / (small * np.sqrt(d)) * (1 + 1e-12)
    if np.linalg.norm(v) > 0:
        v /= np.linalg.norm(v)
        if d == 2 or q <= small / 2:
            direction = v
        else:
            across = np.linalg.svd(np.array([np.ones(d), v]))[2][2]
            cosine = np.sqrt((q + small) / (3 * q))
            direction = cosine * v + np.sqrt(1 - cosine**2) * across
        assert bend(z, direction, small) == pytest.approx(most, rel=1e-9)


# The radius of trust


@fact("trust-radius", way="exact")
def test_short_steps_come_as_near_to_the_constant_as_one_likes():
    t = sp.Symbol("t", positive=True)
    z, h = sp.Matrix([-1, 1]), t * sp.Matrix([-1, 1])
    error = core(z + h, 4)[1] - core(z, 4)[1] - (core_jacobian(z, 4) * h)[1]
    assert sp.limit(abs(error.series(t, 0, 3).removeO()) / t**2, t, 0) * sp.sqrt(2) == WORST * 2 / (4 * sp.sqrt(2))


@fact("trust-radius", way="property")
@given(steps())
def test_no_step_errs_as_much_as_the_bound(case):
    z, h, small = case
    w = centred(h)
    error = np.linalg.norm(core_change(z, h, small) - lnbook.jvp(z, h, eps=small))
    bound = float(WORST) * (w @ w) / (small * np.sqrt(len(z)))
    assert error <= bound + 1e-14
    if bound > 1e-10:
        assert error < bound


@fact("trust-radius", way="property")
@given(steps())
def test_the_bound_where_the_variance_stays_large(case):
    z, h, small = case
    v, w = centred(z), centred(h)
    nearest = min(max(-(v @ w) / (w @ w), 0), 1) if w.any() else 0  # where q is least on the way
    q1 = ((v + nearest * w) ** 2).mean()
    assume(q1 >= small / 2)
    error = np.linalg.norm(core_change(z, h, small) - lnbook.jvp(z, h, eps=small))
    assert error <= (w @ w) / (np.sqrt(3 * len(z)) * (q1 + small)) + 1e-14


@fact("jac-lipschitz", way="exact")
def test_the_jacobian_changes_as_fast_as_the_core_bends():
    t = sp.Symbol("t", real=True)
    z = sp.Matrix([-1, 1])
    change = core_jacobian(z + t * z, 4).diff(t).subs(t, 0)
    largest = max(abs(value) for value in change.eigenvals())
    assert vanishes(largest / z.norm() - 2 * WORST / (4 * sp.sqrt(2)))


@fact("jac-lipschitz", way="property")
@given(steps())
def test_no_two_jacobians_differ_by_more(case):
    a, h, small = case
    change = lnbook.jacobian(a + h, eps=small) - lnbook.jacobian(a, eps=small)
    bound = float(2 * WORST) * np.linalg.norm(centred(h)) / (small * np.sqrt(len(a)))
    assert np.linalg.norm(change, 2) <= bound + 1e-12


# All derivatives along a line


@fact("line-sharp", way="exact")
@pytest.mark.parametrize("n", range(1, 9))
def test_the_largest_value_is_at_the_zero_of_legendre_nearest_to_0(n):
    P, before = sp.legendre(n, x), sp.legendre(n - 1, x)
    Q = P**2 - 2 * x * P * before + before**2
    assert sp.expand(Q.diff(x) + 2 * P * before) == 0
    W = ((1 - x**2) * P.diff(x)) ** 2 + n * (n + 1) * (1 - x**2) * P**2
    assert sp.expand(W.diff(x) + 2 * n * (n + 1) * x * P**2) == 0
    nearest = min((abs(zero.evalf(30)) for zero in sp.real_roots(P)), key=float)
    largest = max(Q.subs(x, point).evalf(30) for point in [*sp.real_roots(Q.diff(x)), -1, 1])
    assert abs(largest - before.subs(x, nearest) ** 2) < 1e-20
    assert sharp_factor(n) == pytest.approx((float(nearest), float(largest) ** 0.5), rel=1e-12, abs=1e-12)
    known = {1: 1, 2: 1 / sp.sqrt(3), 3: R(1, 2), 5: R(3, 8), 7: R(5, 16)}
    if n in known:
        assert abs(sp.sqrt(largest) - known[n]) < 1e-20


def sharp_factor(n):
    nearest = np.abs(np.polynomial.legendre.legroots([0] * n + [1])).min()
    return nearest, abs(np.polynomial.legendre.legval(nearest, [0] * (n - 1) + [1]))


@fact("line-sharp", way="property")
@given(steps(), st.integers(1, 6))
def test_no_derivative_is_longer_and_one_is_as_long(case, n):
    z, h, small = case
    d, q, v = len(z), z.var(), centred(z)
    assume(np.linalg.norm(centred(h)) > 1e-3)
    xi, s = sharp_factor(n)
    natural = np.sqrt(d) * (np.linalg.norm(centred(h)) / np.sqrt(d * (q + small))) ** n
    assert np.linalg.norm(lnbook.taylor(z, h, n, eps=small)[n]) <= s * natural * (1 + 1e-9)
    if d >= 3 and xi**2 <= q / (q + small) and np.linalg.norm(v) > 0:
        v /= np.linalg.norm(v)
        across = np.linalg.svd(np.array([np.ones(d), v]))[2][2]
        cosine = xi / np.sqrt(q / (q + small))
        c = lnbook.taylor(z, cosine * v + np.sqrt(max(1 - cosine**2, 0)) * across, n, eps=small)[n]
        assert np.linalg.norm(c) == pytest.approx(s * np.sqrt(d) / np.sqrt(d * (q + small)) ** n, rel=1e-7)


@fact("line-sharp", way="exact")
def test_two_coordinates_stay_below_the_bound():
    t = sp.Symbol("t", real=True)
    second = core([t, 0], R(1, 4)).diff(t, 2)  # q = t^2/4: at t = 1 q + eps = 1/2, m = 1/4
    assert second.subs(t, 1).norm().evalf() < (sp.sqrt(2) * 2 * (sp.sqrt(2) * R(1, 2)) ** 2 / sp.sqrt(3)).evalf()


@given(epsilons())
def test_at_a_constant_input_the_core_does_not_bend(small):
    assert bend([3, 3, 3], [1, 0, -2], small) == 0

"""The facts of the page on sharp bounds, and lnbook.pages.max_norm, the module written for it."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from exact import core_jacobian
from hypothesis import assume, given
from hypothesis import strategies as st
from mpmath import mp

from lnbook import amplification, jacobian, layer_norm, lipschitz_constant, normalize, operator_norm, variance
from lnbook.pages.max_norm import max_norm_constant, max_norm_worst_input

Q = sp.Rational
X = sp.Symbol("x")
EPSILONS = st.sampled_from([1e-5, 0.25, 3.0])


def gains(low=2, high=6, largest=8):
    return st.lists(st.integers(-largest, largest), min_size=low, max_size=high)


def rows(d):
    return st.lists(st.integers(-8, 8).map(lambda k: k / 4), min_size=d, max_size=d).map(np.array)


@st.composite
def layers(draw, low=2):
    """Gains, an input, a step and an eps."""
    gain = draw(gains(low))
    return np.array(gain), draw(rows(len(gain))), draw(rows(len(gain))), draw(EPSILONS)


def centred_gain(gain):
    """diag(gain) P as a SymPy matrix."""
    d = len(gain)
    return sp.diag(*gain) * (sp.eye(d) - sp.ones(d) / d)


def secular(gain, x):
    """sum 1 / (gain^2 - x), in fractions."""
    return sum(1 / (Fraction(g) ** 2 - x) for g in gain)


def two_largest_squares(gain):
    return sorted((int(g) ** 2 for g in gain), reverse=True)[:2]


@pytest.mark.fact("sharp-lipschitz", way="exact")
def test_norm_at_a_constant_input_is_the_constant():
    J = sp.diag(1, 0, 0, 0) * core_jacobian([3, 3, 3, 3], Q(1, 10**6))
    assert max((J * J.T).eigenvals()) == Q(3, 4) * 10**6
    assert lipschitz_constant(4, [1, 0, 0, 0], eps=1e-6) == pytest.approx(866.0254037844387, rel=1e-14)


@pytest.mark.fact("sharp-lipschitz", way="property")
@given(layers())
def test_no_step_reaches_the_constant_and_short_ones_come_near(layer):
    gain, z, h, eps = layer
    L = lipschitz_constant(len(gain), gain, eps=eps)
    if h.any():
        ratio = amplification(z, h, gain, eps=eps)
        assert ratio <= L * (1 + 1e-14)
        moved = h - h.mean()
        if L > 0 and np.abs(moved).max() > 0:
            assert ratio < L * (1 - 1e-9)
    if L > 0:
        _, _, directions = np.linalg.svd(np.diag(gain) @ (np.eye(len(gain)) - 1 / len(gain)))
        near = amplification(np.full(len(gain), 2.0), 1e-6 * np.sqrt(eps) * directions[0], gain, eps=eps)
        assert near == pytest.approx(L, rel=1e-9)


@pytest.mark.fact("sharp-lipschitz", way="property")
@given(layers())
def test_norm_of_the_jacobian_is_at_most_the_constant(layer):
    gain, z, _, eps = layer
    L = lipschitz_constant(len(gain), gain, eps=eps)
    assert operator_norm(z, gain, eps=eps) <= L * (1 + 1e-12)
    assert operator_norm(np.full(len(gain), 2.0), gain, eps=eps) == pytest.approx(L, rel=1e-12, abs=1e-12)


@pytest.mark.fact("sharp-polynomial", way="exact")
@pytest.mark.parametrize("d", [2, 3, 4])
def test_characteristic_polynomial_for_all_gains(d):
    gain = sp.symbols(f"c1:{d + 1}", real=True)
    p = sp.prod([X - g**2 for g in gain])
    A = centred_gain(gain)
    assert sp.expand((A * A.T).charpoly(X).as_expr() - X * p.diff(X) / d) == 0


@pytest.mark.fact("sharp-polynomial", way="property")
@given(gains(high=9))
def test_constant_solves_the_secular_equation(gain):
    first, second = two_largest_squares(gain)
    squared = Fraction(lipschitz_constant(len(gain), gain, eps=1.0)) ** 2
    if first == second:
        assert float(squared) == pytest.approx(first, rel=1e-15)
        return
    below, above = squared * (1 - Fraction(1, 10**14)), squared * (1 + Fraction(1, 10**14))
    assert second < below and above < first
    assert secular(gain, below) < 0 < secular(gain, above)


@pytest.mark.fact("sharp-example", way="exact")
def test_gains_one_two_three():
    A = centred_gain([1, 2, 3])
    assert (A * A.T).eigenvals() == {0: 1, Q(7, 3): 1, 7: 1}
    h = sp.Matrix([-1, -2, 3])
    assert (A * h).dot(A * h) == 7 * h.dot(h)
    assert lipschitz_constant(3, [1, 2, 3], eps=0.25) == pytest.approx(2 * float(sp.sqrt(7)), rel=1e-15)


@pytest.mark.fact("sharp-direction", way="exact")
@pytest.mark.parametrize("gain", [(1, 2, 3), (1, 7), (0, 1, 2), (1, 2, 4), (0, 0, 5)])
def test_worst_direction_is_centred_and_attains(gain):
    p = sp.prod([X - g**2 for g in gain])
    root = max(sp.solve(p.diff(X), X))
    h = sp.Matrix([1 / (g**2 - root) for g in gain])
    image = sp.diag(*gain) * h
    assert sp.simplify(sum(h)) == 0
    assert sp.simplify(image.dot(image) - root * h.dot(h)) == 0
    assert float(sp.sqrt(root)) == pytest.approx(lipschitz_constant(len(gain), gain, eps=1), rel=1e-14)


@pytest.mark.fact("sharp-direction", way="exact")
def test_two_equal_largest_gains():
    h = sp.Matrix([1, 0, -1])
    image = centred_gain([3, 2, -3]) * h
    assert image.dot(image) == 9 * h.dot(h)


@pytest.mark.fact("sharp-ratio", way="property")
@given(gains(high=9))
def test_simple_bound_overstates_within_its_limits(gain):
    d = len(gain)
    first, second = two_largest_squares(gain)
    assume(first > 0)
    ratio = np.sqrt(first) / lipschitz_constant(d, gain, eps=1)
    assert 1 - 1e-15 <= ratio <= np.sqrt(d / (d - 1)) * (1 + 1e-15)
    assert (ratio < 1 + 1e-14) == (first == second)
    # the extreme ratio means lambda = first (d - 1) / d; below lambda, and above `second`, the secular sum is negative
    extreme = Fraction(first * (d - 1), d)
    one_gain = second == 0
    if extreme > second:
        assert (secular(gain, extreme) == 0) == one_gain
        assert secular(gain, extreme) <= 0
    else:
        assert not one_gain


@pytest.mark.fact("sharp-typical", way="exact")
@pytest.mark.parametrize(("z", "power"), [([-1, 1], 3), ([1, 2, 6], 1), ([0, 1, 1, 5], 1)])
def test_bound_over_norm(z, power):
    eps = Q(1, 3)
    mean = Q(sum(z), len(z))
    q = sum((x - mean) ** 2 for x in z) / len(z)
    J = core_jacobian(z, eps)
    norms = [sp.simplify(value) for value in J.eigenvals()]
    assert sp.simplify(1 / sp.sqrt(eps) / max(norms) - sp.sqrt(1 + q / eps) ** power) == 0


@pytest.mark.fact("sharp-typical", way="property")
@given(st.integers(2, 6).flatmap(rows), EPSILONS, st.sampled_from([1, -3, 0.5]))
def test_bound_over_norm_for_all_inputs(z, eps, size):
    d = len(z)
    gain = size * np.where(np.arange(d) % 2, 1, -1)
    power = (1 if d > 2 else 3) / 2
    ratio = lipschitz_constant(d, gain, eps=eps) / operator_norm(z, gain, eps=eps)
    assert ratio == pytest.approx((1 + variance(z) / eps) ** power, rel=1e-9)


@pytest.mark.fact("sharp-between", way="property")
@given(layers(low=3))
def test_norm_lies_between_two_singular_values(layer):
    gain, z, _, eps = layer
    d = len(gain)
    sigma = np.linalg.svd(np.diag(gain) @ (np.eye(d) - 1 / d), compute_uv=False)
    scaled = operator_norm(z, gain, eps=eps) * np.sqrt(variance(z) + eps)
    slack = 1e-9 * (1 + sigma[0])
    assert sigma[1] - slack <= scaled <= sigma[0] + slack


@pytest.mark.fact("sharp-between", way="exact")
@pytest.mark.parametrize(("z", "squared"), [([-1, -2, 3], Q(7, 3)), ([-5, 4, 1], Q(7))])
def test_both_ends_are_reached(z, squared):
    """With v along the worst direction what is left is the second singular value; with v across it, the first."""
    q, eps = Q(sum(x**2 for x in z), 3), Q(2)
    J = sp.diag(1, 2, 3) * core_jacobian(z, eps)
    assert max((J * J.T * (q + eps)).applyfunc(sp.nsimplify).eigenvals()) == squared


@pytest.mark.fact("sharp-coordinate", way="exact")
def test_gradient_of_one_coordinate_at_a_constant_input():
    J = core_jacobian([7, 7, 7, 7], Q(1, 4))
    assert [sp.simplify(J.row(i).norm()) for i in range(4)] == [sp.sqrt(Q(3, 4) * 4)] * 4


@pytest.mark.fact("sharp-coordinate", way="property")
@given(layers())
def test_one_coordinate_moves_at_most_by_its_constant(layer):
    gain, z, h, eps = layer
    d = len(gain)
    limit = np.abs(gain) * np.sqrt((1 - 1 / d) / eps)  # (d,)
    assert (np.linalg.norm(jacobian(z, gain, eps=eps), axis=1) <= limit * (1 + 1e-12)).all()
    change = layer_norm(z + h, gain, eps=eps) - layer_norm(z, gain, eps=eps)  # (d,)
    assert (np.abs(change) <= limit * np.linalg.norm(h) + 1e-13 * np.abs(gain)).all()


def absolute_row_sum(z, eps):
    """The absolute sum of the first row of J, with 50 digits."""
    with mp.workdps(50):
        z = [mp.mpf(float(x)) for x in z]
        d = len(z)
        v = [x - sum(z) / d for x in z]
        total = sum(x**2 for x in v) / d + mp.mpf(eps)
        u = [x / mp.sqrt(total) for x in v]
        return sum(abs((j == 0) - (1 + u[0] * u[j]) / d) for j in range(d)) / mp.sqrt(total)


@pytest.mark.fact("sharp-max-norm", way="numeric")
@pytest.mark.parametrize("d", [1, 2, 3, 10, 57, 58, 59, 91, 200])
@pytest.mark.parametrize("eps", [1e-5, 4.0])
def test_worst_input_attains_the_constant(d, eps):
    z = max_norm_worst_input(d, eps=eps)
    assert z.shape == (d,)
    assert float(absolute_row_sum(z, eps)) == pytest.approx(max_norm_constant(d, eps=eps), rel=1e-12)


def largest_row_sum(core, tau):
    """sqrt(eps) times the largest absolute row sum of J where the core is a multiple of `core` and has variance tau."""
    u = core * np.sqrt(tau / np.mean(core**2))
    J = np.eye(len(u)) - (1 + np.outer(u, u)) / len(u)
    return np.sqrt(1 - tau) * np.abs(J).sum(axis=1).max()


@pytest.mark.fact("sharp-max-norm", way="property")
@given(
    st.integers(2, 150),
    st.floats(0, 0.999),
    st.floats(0, 12),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(0, 2**32 - 1),
)
def test_no_input_exceeds_the_constant(d, tau, outlier, above, noise, seed):
    """Inputs like the worst ones, an outlier and two groups, with noise, and all kinds between."""
    rng = np.random.default_rng(seed)
    z = np.where(np.arange(d) < above * d, 1.0, -1.0) + noise * rng.standard_normal(d)
    z[0] = outlier
    core = z - z.mean()
    assume(np.abs(core).max() > 1e-6)
    assert largest_row_sum(core, tau) <= max_norm_constant(d, eps=1) * (1 + 1e-12)


@pytest.mark.fact("sharp-max-norm", way="property")
@given(st.integers(2, 6).flatmap(lambda d: st.tuples(rows(d), rows(d))), EPSILONS)
def test_steps_in_both_norms(pair, eps):
    z, h = pair
    assume(h.any())
    change = normalize(z + h, eps=eps) - normalize(z, eps=eps)  # (d,)
    constant = max_norm_constant(len(z), eps=eps)
    for order in (1, np.inf):
        assert np.linalg.norm(change, order) <= constant * np.linalg.norm(h, order) + 1e-13
        gain = np.where(np.arange(len(z)) % 2, 3.0, -1.0)  # with gains, max|gain| times the constant is a bound
        assert np.linalg.norm(gain * change, order) <= 3 * constant * np.linalg.norm(h, order) + 1e-12


@pytest.mark.fact("sharp-max-norm", way="exact")
def test_inner_maximum_in_closed_form():
    A, B, tau = sp.symbols("A B tau", positive=True)
    square = (1 - tau) * (A + B * tau) ** 2
    assert sp.expand(square.diff(tau) - (A + B * tau) * (2 * B - A - 3 * B * tau)) == 0
    assert sp.simplify(square.subs(tau, (2 * B - A) / (3 * B)) - 4 * (A + B) ** 3 / (27 * B)) == 0


@pytest.mark.fact("sharp-max-norm", way="numeric")
@pytest.mark.parametrize("d", [2, 3, 5, 57, 58, 64, 300])
def test_constant_is_the_largest_of_the_closed_forms(d):
    with mp.workdps(50):
        values = []
        for m in range(1, d):
            A, B = mp.mpf(2 * m) / d, (mp.sqrt(m**2 + m * (d - 1 - m) * d) - m) / d
            values.append(A if 2 * B <= A else 2 * (A + B) ** 1.5 / (3 * mp.sqrt(3 * B)))
        assert max_norm_constant(d, eps=1) == pytest.approx(float(max(values)), rel=1e-14)


def excess_over_constant_inputs(d, m):
    """The sign of (inner maximum for m) - 2 (1 - 1/d), with 50 digits: the squares differ by 4 / (27 d^2 (R - m)) times

    (m + R)^3 - 27 (d - 1)^2 (R - m), where R = sqrt(m^2 + m (d - 1 - m) d).
    """
    with mp.workdps(50):
        R = mp.sqrt(m**2 + m * (d - 1 - m) * d)
        if 2 * m >= R:  # the same as 2 B <= A: the maximum is A, at tau = 0
            return -1 if m < d - 1 else 0
        return mp.sign((m + R) ** 3 - 27 * (d - 1) ** 2 * (R - m))


@pytest.mark.fact("sharp-max-norm-growth", way="numeric")
def test_constant_inputs_are_worst_up_to_57():
    for d in range(2, 92):
        worst = max(excess_over_constant_inputs(d, m) for m in range(1, d))
        assert (worst <= 0) == (d <= 57)
        at_constant = 2 * (1 - 1 / d)
        got = max_norm_constant(d, eps=1)
        assert (got == pytest.approx(at_constant, rel=1e-14)) if d <= 57 else got > at_constant * (1 + 1e-4)


@pytest.mark.fact("sharp-max-norm-growth", way="property")
@given(st.integers(2, 50_000))
def test_growth_with_the_root_of_the_dimension(d):
    constant = max_norm_constant(d, eps=1)
    assert np.sqrt(d / 27) <= constant <= 2 + np.sqrt(d / 27)
    assert constant >= 2 * (1 - 1 / d) * (1 - 1e-15)
    if d >= 92:
        assert constant > 2


def test_max_norm_refuses_what_lipschitz_constant_refuses():
    for bad in (max_norm_constant, max_norm_worst_input):
        with pytest.raises(TypeError, match="d must be an int"):
            bad(2.0)
        with pytest.raises(ValueError, match="eps must be finite and positive"):
            bad(2, eps=0)
    assert max_norm_constant(1) == 0


@pytest.mark.fact("sharp-residual", way="exact")
@pytest.mark.parametrize(("s", "expected"), [(3, 7), (0, 1), (Q(-1, 2), 1), (-1, 1), (Q(-5, 4), Q(3, 2)), (-4, 7)])
def test_residual_connection_at_a_constant_input(s, expected):
    J = sp.eye(3) + s * core_jacobian([7, 7, 7], Q(1, 4))
    assert max(abs(value) for value in J.eigenvals()) == expected
    assert expected == (1 + 2 * s if s >= 0 else max(1, -2 * s - 1))


@pytest.mark.fact("sharp-residual", way="property")
@given(st.integers(2, 5).flatmap(lambda d: st.tuples(rows(d), rows(d))), EPSILONS, st.floats(-4, 4))
def test_residual_connection_at_any_input(pair, eps, s):
    z, h = pair
    constant = 1 + s / np.sqrt(eps) if s >= 0 else max(1, -s / np.sqrt(eps) - 1)
    assert np.linalg.norm(np.eye(len(z)) + s * jacobian(z, eps=eps), 2) <= constant * (1 + 1e-12)
    change = h + s * (normalize(z + h, eps=eps) - normalize(z, eps=eps))
    assert np.linalg.norm(change) <= constant * np.linalg.norm(h) + 1e-12 * (1 + abs(s))


@pytest.mark.fact("sharp-product", way="exact")
def test_chain_with_a_bias_in_exact_numbers():
    t = sp.Symbol("t", real=True)
    s = t / sp.sqrt(1 - t**2)
    first, second = (core_jacobian([x, -x], 1)[0, 0] * 2 for x in (s, t - 1))
    f = (1 - t**2) / (1 + (1 - t) ** 2)
    samples = [Q(-9, 10), Q(-1, 3), 0, Q(1, 5), Q(3, 5), Q(19, 20)]
    for sample in samples:
        assert sp.simplify(((first * second) - f ** Q(3, 2)).subs(t, sample)) == 0
    turning = [root for root in sp.solve(f.diff(t), t) if abs(root) < 1]
    assert turning == [(3 - sp.sqrt(5)) / 2]
    assert sp.simplify(f.subs(t, turning[0]) - (sp.sqrt(5) - 1) / 2) == 0
    assert max(f.subs(t, sample) for sample in samples) < (sp.sqrt(5) - 1) / 2


@pytest.mark.fact("sharp-product", way="property")
@given(rows(2), rows(2))
def test_chain_with_a_bias_keeps_below_its_constant(z, h):
    def chain(z):
        return normalize(layer_norm(z, bias=[-1, 1], eps=1), eps=1)

    constant = ((np.sqrt(5) - 1) / 2) ** 1.5
    assert np.linalg.norm(chain(z + h) - chain(z)) <= constant * np.linalg.norm(h) + 1e-15
    t = (3 - np.sqrt(5)) / 2
    worst = np.array([t, -t]) / np.sqrt(1 - t**2)
    step = np.array([1e-4, -1e-4])
    reached = np.linalg.norm(chain(worst + step) - chain(worst - step)) / np.linalg.norm(2 * step)
    assert reached == pytest.approx(constant, rel=1e-6)

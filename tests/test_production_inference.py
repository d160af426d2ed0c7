"""In production, the second half: frozen roots, eight bits, approximate roots, rounding, the backward pass again."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from exact import centered, core, core_jacobian, mean, projection, symbols, vanishes, variance
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lnbook

fact = pytest.mark.fact
R = sp.Rational
eps = sp.Symbol("eps", positive=True)
quarters = st.integers(-16, 16).map(lambda k: Fraction(k, 4))
rows = st.lists(quarters, min_size=2, max_size=5)
seeds = st.integers(0, 2**32 - 1)


# Frozen


@fact("prod-frozen-root", way="exact")
def test_a_frozen_root_folds_wholly():
    z, sigma = symbols(3), sp.Symbol("sigma", positive=True)
    A, c = sp.Matrix(2, 3, sp.symbols("a1:7")), sp.Matrix(sp.symbols("c1:3"))
    gain, bias = sp.Matrix(sp.symbols("gain1:4")), sp.Matrix(sp.symbols("bias1:4"))
    frozen = centered(z) / sigma
    assert vanishes(frozen - sp.sqrt(variance(z) + eps) / sigma * core(z, eps))
    behind = A * (gain.multiply_elementwise(frozen) + bias) + c
    assert vanishes(behind - (A * sp.diag(*gain) * projection(3) * z / sigma + A * bias + c))


@fact("prod-frozen-root", way="property")
@settings(max_examples=15)
@given(rows, st.sampled_from([R(1, 2), 1, 7]), st.sampled_from([R(1, 3), 2]))
def test_the_error_of_a_frozen_root(row, sigma, e):
    u, v = core(row, e), centered(row)
    error = (v / sigma - u).norm()
    assert vanishes(error - abs(sp.sqrt(variance(row) + e) / sigma - 1) * u.norm())


def squares(variances, t, e):
    return sum(q * (t - 1 / sp.sqrt(q + e)) ** 2 for q in variances)


@fact("prod-best-root", way="property")
@settings(max_examples=15)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=4).filter(any), st.sampled_from([R(1, 5), 3]))
def test_the_best_single_root(variances, e):
    t = sp.Symbol("t")
    best = sum(variances) / sum(q / sp.sqrt(q + e) for q in variances)
    loss = squares(variances, t, e)
    assert vanishes(loss.diff(t).subs(t, 1 / best))
    assert loss.diff(t, 2) > 0
    roots = [sp.sqrt(q + e) for q in variances]
    assert min(roots) - R(1, 10**30) < best.evalf(40) < max(roots) + R(1, 10**30)


@fact("prod-best-root", way="exact")
def test_two_rows_of_variance_1_and_9():
    pairs = [sp.Matrix([-1, 1]), sp.Matrix([-3, 3])]
    assert [variance(z) for z in pairs] == [1, 9]
    best = sp.limit((1 + 9) / (1 / sp.sqrt(1 + eps) + 9 / sp.sqrt(9 + eps)), eps, 0)
    assert best == R(5, 2)
    assert R(1 + 3, 2) == 2

    def missed(sigma):
        return sum(((z / sigma - core(z, 0)).norm() ** 2 for z in pairs), sp.Integer(0))

    assert missed(best) < missed(2)
    assert missed(best) < missed(3)


@fact("prod-frozen-parameters", way="exact")
@pytest.mark.parametrize("d", [2, 3, 5])
def test_no_coordinate_of_the_core_is_affine(d):
    t = sp.Symbol("t", positive=True)
    e = sp.eye(d)[:, 0]
    along = core(t * e, eps)[0]
    assert core(0 * e, eps)[0] == 0
    assert sp.limit(along, t, sp.oo) == sp.sqrt(d - 1)
    assert along.subs({t: 1, eps: 1}) > 0
    assert not vanishes(along.diff(t, 2))


@fact("prod-frozen-parameters", way="property")
@given(seeds)
def test_only_a_gain_of_zero_is_affine(seed):
    rng = np.random.default_rng(seed)
    bias = rng.normal(size=4)
    z = rng.normal(size=(5, 4))
    assert np.array_equal(lnbook.layer_norm(z, np.zeros(4), bias), np.tile(bias, (5, 1)))
    assert np.array_equal(lnbook.layer_norm(z, np.ones(4), bias), lnbook.layer_norm(z, np.ones(4), bias))
    one = np.array([0, 0, 1.5, 0])
    y = [lnbook.layer_norm(k * np.eye(4)[2], one, bias, eps=1)[2] - bias[2] for k in (1, 2)]
    assert abs(2 * y[0] - y[1]) > 0.01


# Eight bits


def codes(x):
    """Exact codes of a row of fractions or SymPy numbers."""
    scale = max(abs(entry) for entry in x) / sp.Integer(127)
    return [round(fraction(entry / scale)) for entry in x]


def fraction(x):
    """A number that is a quotient of two roots of rational numbers, and rational itself with a small denominator."""
    return Fraction(str(sp.N(x, 40))).limit_denominator(10**9)


@fact("prod-codes", way="exact")
def test_codes_of_a_row():
    assert codes([sp.Integer(x) for x in (-3, -2, 0, 5)]) == [-76, -51, 0, 127]
    assert codes([sp.Integer(1), sp.Integer(-2)]) == [64, -127]  # 63.5 goes to the even 64
    assert codes([R(125, 2), sp.Integer(127)]) == [62, 127]  # and 62.5 to the even 62


@fact("prod-int8", way="property")
@settings(max_examples=15)
@given(rows, st.sampled_from([0, R(1, 3), 40]), st.sampled_from([R(1, 7), 1, 1000]), quarters)
def test_the_codes_of_the_core(row, e, scale, shift):
    assume(len(set(row)) > 1)
    d, v, u = len(row), centered(row), core(row, e)
    scaled = core([scale * x + shift for x in row], e)
    assert codes(list(u)) == codes(list(v)) == codes(list(scaled))
    step = max(abs(x) for x in u) / 127
    assert all(abs(step * code - x) <= sp.sqrt(d - 1) / 254 for code, x in zip(codes(list(u)), u, strict=True))


@fact("prod-int8", way="exact")
def test_the_bound_at_768():
    assert R(1090, 10000) < sp.sqrt(767) / 254 < R(1091, 10000)
    assert abs(sp.sqrt(767) / 254 - R(109, 1000)) < R(5, 10000)


@fact("prod-outlier", way="property")
@settings(max_examples=15)
@given(st.lists(quarters, min_size=2, max_size=5), st.sampled_from([-50, 20, 300]), st.sampled_from([0, R(1, 3)]))
def test_one_outlier(others, t, e):
    d, m, s2 = len(others) + 1, mean(others), variance(others)
    row = [m + t, *others]
    q = variance(row)
    assert q == (1 - R(1, d)) * s2 + R(d - 1, d**2) * t**2
    v, u = centered(row), core(row, e)
    assert vanishes(variance(u[1:]) - s2 / (q + e))
    assert abs(v[0]) == max(abs(x) for x in v)
    step = abs(v[0]) / 127
    for x, y in pairwise(others):
        apart = 127 * abs(x - y) / ((1 - R(1, d)) * abs(t))
        assert abs((x - m - R(t, d)) - (y - m - R(t, d))) / step == apart
    if apart_of_ends(others, d, t) < 1:
        assert len(set(codes(list(u))[1:])) <= 2


def apart_of_ends(others, d, t):
    return 127 * (max(others) - min(others)) / ((1 - R(1, d)) * abs(t))


@fact("prod-outlier", way="exact")
@pytest.mark.parametrize("sign", [1, -1])
def test_a_huge_outlier(sign):
    others, huge = [sp.Integer(x) for x in (1, 2, 3, 4)], sign * sp.Integer(10) ** 9
    got = codes(list(core([huge, *others], R(1, 3))))
    assert got == [sign * 127] + [round(Fraction(-sign * 127, 4))] * 4 == [sign * 127] + [-sign * 32] * 4


@fact("prod-outlier", way="exact")
def test_the_picture_counts_the_codes():
    from lnbook.pages.figures import outlier_codes

    axes = outlier_codes(d=8, seeds=2).axes[0]
    for line, seed in zip((axes.lines[0], axes.lines[2]), (0, 1), strict=True):
        others = [sp.Rational(x) for x in np.random.default_rng(seed).standard_normal(7).tolist()]
        for size, count in list(zip(line.get_xdata().tolist(), line.get_ydata(), strict=True))[::13]:
            v = centered([sp.Rational(size), *others])
            top = max(abs(x) for x in v)
            assert len({round(127 * x / top) for x in v[1:]}) == count
    bound = axes.lines[1]
    others = np.random.default_rng(0).standard_normal(7)
    expected = 127 * (others.max() - others.min()) / (7 / 8 * (bound.get_xdata() - others.mean())) + 1
    assert np.allclose(bound.get_ydata(), expected, rtol=1e-12)


# Approximate roots, rounding, epsilon


@fact("prod-root", way="exact")
def test_an_error_of_the_root():
    z, rho = symbols(3), sp.Symbol("rho", positive=True)
    q, e = variance(z), sp.Symbol("eps", positive=True)
    wrong = (1 + rho) / sp.sqrt(q + e) * centered(z)
    assert vanishes(wrong - (1 + rho) * core(z, e))
    gain, bias = sp.Matrix(sp.symbols("gain1:4")), sp.Matrix(sp.symbols("bias1:4"))
    right = gain.multiply_elementwise(core(z, e)) + bias
    assert vanishes(gain.multiply_elementwise(wrong) + bias - ((1 + rho) * (right - bias) + bias))
    assert vanishes(mean(wrong))
    other = (q + e) / (1 + rho) ** 2 - q
    for at in ({z[0]: 1, z[1]: 2, z[2]: 6, rho: R(1, 10), e: 2}, {z[0]: 0, z[1]: 2, z[2]: -6, rho: R(3), e: 9}):
        assert vanishes((centered(z) / sp.sqrt(q + other) - wrong).subs(at))


@fact("prod-newton", way="exact")
def test_a_newton_step():
    x, rho = sp.Symbol("x", positive=True), sp.Symbol("rho", real=True)
    estimate = (1 + rho) / sp.sqrt(x)
    after = estimate * (3 - x * estimate**2) / 2
    error = sp.expand(sp.simplify(after * sp.sqrt(x) - 1))
    assert error == -R(3, 2) * rho**2 - rho**3 / 2
    for value in (-3, -1, R(-1, 2), 0, R(1, 3), 1, 10):
        assert error.subs(rho, value) <= 0
        if abs(value) <= 1:
            assert abs(error.subs(rho, value)) <= 2 * value**2
    assert error.subs(rho, -4) > 0
    for start in (R(1, 256), R(-1, 256)):
        once = error.subs(rho, start)
        assert abs(once) < R(23, 10) / 10**5
        assert abs(error.subs(rho, once)) < R(8) / 10**10


def bfloat16(x):
    """A fraction rounded to 8 significant bits, ties to even."""
    x = Fraction(x)
    if not x:
        return x
    step = Fraction(2) ** -7
    while abs(x) >= 256 * step:
        step *= 2
    while abs(x) < 128 * step:
        step /= 2
    return round(x / step) * step


@fact("prod-round-once", way="exact")
def test_rounding_the_core_first():
    e = R(1027, 263169)
    assert list(core([-1, 1], e)) == [-R(513, 514), R(513, 514)]
    u = Fraction(513, 514)
    assert 2 * u - 2 == Fraction(-1, 257)
    assert bfloat16(2 * u - 2) == Fraction(-255, 65536)
    assert abs(Fraction(255, 65536) * 257 - 1) < Fraction(1, 200)
    assert bfloat16(u) == 1
    assert 2 * bfloat16(u) - 2 == 0
    assert bfloat16(Fraction(255, 256)) == Fraction(255, 256)
    assert np.isclose(lnbook.layer_norm([-1.0, 1], [2, 2], [0, -2], eps=1027 / 263169)[1], -1 / 257, rtol=1e-12)


@fact("prod-eps-carried", way="property")
@settings(max_examples=15)
@given(rows, st.sampled_from([R(1, 9), 1, 4]), st.sampled_from([R(1, 4), 1, 9]))
def test_an_epsilon_carried_by_the_input(row, needed, fixed):
    alpha = sp.sqrt(fixed / sp.sympify(needed))
    assert vanishes(core([alpha * x for x in row], fixed) - core(row, needed))
    if len(set(row)) > 1:
        for other in (alpha / 2, 2 * alpha):
            assert not vanishes(core([other * x for x in row], fixed) - core(row, needed))


@fact("prod-eps-carried", way="exact")
def test_a_thousand():
    assert sp.sqrt(R(1, 10**6) / R(1, 10**12)) == 1000


@fact("prod-order", way="exact")
def test_two_orders_in_float32():
    big, one = np.float32(2**24), np.float32(1)
    assert int((big + one) + one) == 2**24
    assert int(big + (one + one)) == 2**24 + 2
    assert R(2**24 + 2, 3) - R(2**24, 3) == R(2, 3)


# The backward pass


def second(z, w, h, e):
    """The formula of the gradient by z, and J h."""
    d = len(z)
    u, r = core(z, e), 1 / sp.sqrt(variance(z) + e)
    a, b = u.dot(w) / d, u.dot(h) / d
    pw, ph = projection(d) * w, projection(d) * h
    c = pw.dot(ph) / d
    return -(r**2) * (b * pw + a * ph + (c - 3 * a * b) * u), r * (ph - b * u)


@fact("prod-double-backward", way="exact")
@pytest.mark.parametrize(
    ("z", "w", "h"),
    [([1, 2, 4], [1, 0, 2], [0, 3, 1]), ([1, 2], [3, -1], [1, 1]), ([5], [2], [3]), ([3, 3, 3], [1, 0, 2], [2, 2, -1])],
)
def test_the_gradient_of_the_vjp(z, w, h):
    d, e = len(z), R(1, 3)
    x = symbols(d)
    w, h = sp.Matrix(w), sp.Matrix(h)
    J = core(x, e).jacobian(x)
    at = dict(zip(x, z, strict=True))
    s = (h.T * J * w)[0]
    by_z, by_w = second([sp.Integer(entry) for entry in z], w, h, e)
    assert vanishes(sp.Matrix([s.diff(entry) for entry in x]).subs(at) - by_z)
    assert vanishes(J.subs(at).T * h - by_w)
    g, gain = sp.Matrix(sp.symbols(f"g1:{d + 1}")), sp.Matrix(sp.symbols(f"gain1:{d + 1}"))
    loss = (h.T * J.subs(at) * gain.multiply_elementwise(g))[0]
    assert vanishes(sp.Matrix([loss.diff(entry) for entry in g]) - gain.multiply_elementwise(by_w))
    assert vanishes(sp.Matrix([loss.diff(entry) for entry in gain]) - g.multiply_elementwise(by_w))


@fact("prod-double-backward", way="exact")
def test_with_the_same_vector_it_is_the_second_derivative_along_it():
    t = sp.Symbol("t")
    z, w = [sp.Integer(x) for x in (1, 2, 4)], sp.Matrix([1, 0, -3])
    along = core([x + t * y for x, y in zip(z, w, strict=True)], R(1, 3)).diff(t, 2).subs(t, 0)
    assert vanishes(second(z, w, w, R(1, 3))[0] - along)


@fact("prod-double-backward", way="property")
@given(seeds)
def test_the_formula_against_finite_differences(seed):
    rng = np.random.default_rng(seed)
    z, w, h = rng.normal(size=(3, 5))
    u, r = lnbook.normalize(z, eps=0.5), 1 / np.sqrt(z.var() + 0.5)
    a, b, c = (w * u).mean(), (h * u).mean(), ((w - w.mean()) * (h - h.mean())).mean()
    got = -(r**2) * (b * (w - w.mean()) + a * (h - h.mean()) + (c - 3 * a * b) * u)
    step = 1e-5
    for i in range(5):
        ends = [h @ lnbook.vjp(z + side * step * np.eye(5)[i], w, eps=0.5)[0] for side in (1, -1)]
        assert abs((ends[0] - ends[1]) / (2 * step) - got[i]) < 1e-7


@fact("prod-per-sample", way="property")
@given(seeds)
def test_per_sample_gradients(seed):
    z, g = np.random.default_rng(seed).normal(size=(2, 3, 2, 4))  # (samples, positions, d)
    by_sample = [lnbook.vjp(z[n], g[n]) for n in range(3)]
    _, dgain, dbias = lnbook.vjp(z, g)
    u = lnbook.normalize(z)
    for n in range(3):
        assert np.allclose(by_sample[n][1], (g[n] * u[n]).sum(axis=0), rtol=1e-12, atol=1e-12)
        assert np.allclose(by_sample[n][2], g[n].sum(axis=0), rtol=1e-12, atol=1e-12)
    assert np.allclose(sum(part[1] for part in by_sample), dgain, rtol=1e-12, atol=1e-12)
    assert np.allclose(sum(part[2] for part in by_sample), dbias, rtol=1e-12, atol=1e-12)
    assert sum(part[1].size + part[2].size for part in by_sample) == 2 * 3 * 4


@fact("prod-per-sample", way="property")
@settings(max_examples=15)
@given(rows, st.sampled_from([R(1, 5), 2]), st.lists(quarters, min_size=5, max_size=5))
def test_the_length_of_one_position(row, e, g):
    u, g = core(row, e), sp.Matrix([sp.nsimplify(x) for x in g[: len(row)]])
    both = sp.Matrix([*g.multiply_elementwise(u), *g])
    squared = both.dot(both)
    assert vanishes(squared - sum(x**2 * (1 + y**2) for x, y in zip(g, u, strict=True)))
    assert squared < (1 + len(row)) * g.dot(g) or not any(g)


@fact("prod-per-sample", way="exact")
def test_one_coordinate():
    assert list(core([7], 2)) == [0]
    assert core_jacobian([7], 2).is_zero_matrix

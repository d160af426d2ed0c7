"""The facts of the page on the backward pass, and the modules written for it: taylor and rounding."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest
import sympy as sp
from exact import core
from exact import layer as exact_layer_norm
from hypothesis import given
from hypothesis import strategies as st

from lnbook import center, jvp, layer_norm, normalize, taylor, variance, vjp
from lnbook.pages.rounding import BITS, round_to, running_sum

Q = sp.Rational
EPS = sp.Symbol("epsilon", positive=True)
SMALL = st.integers(-8, 8).map(lambda k: k / 4)  # exact in every dtype


def column(name, d):
    return sp.Matrix(sp.symbols(f"{name}1:{d + 1}", real=True))


def mean(entries):
    return sum(entries) / sp.Integer(len(entries))


def product_mean(a, b):
    return mean([x * y for x, y in zip(a, b, strict=True)])


def times_core_jacobian(h, u, r):
    """The formula of fact vjp, r (h - mean(h) 1 - mean(h u) u), on SymPy columns."""
    return sp.Matrix([r * (x - mean(h) - product_mean(h, u) * y) for x, y in zip(h, u, strict=True)])


def vanishes(expressions):
    return all(sp.simplify(entry) == 0 for entry in sp.Matrix([expressions]))


def statistics(z, eps):
    """v, q and r = 1 / sqrt(q + eps) of exact or symbolic entries."""
    v = sp.Matrix([x - mean(z) for x in z])
    q = product_mean(v, v)
    return v, q, 1 / sp.sqrt(q + eps)


@st.composite
def rows(draw, count, low=1, high=6):
    """`count` vectors of one length, of small exact numbers."""
    d = draw(st.integers(low, high))
    return [np.array(draw(st.lists(SMALL, min_size=d, max_size=d))) for _ in range(count)]


epsilons = st.sampled_from([2.0**-20, 0.25, 3.0])


@pytest.mark.fact("vjp", way="exact")
@pytest.mark.parametrize("d", [1, 2, 3])
def test_vjp_is_the_derivative_for_all_inputs(d):
    z, gain, g = column("z", d), column("c", d), column("g", d)
    y = exact_layer_norm(z, gain, [0] * d, EPS)
    v, q, r = statistics(z, EPS)
    g_hat = gain.multiply_elementwise(g)
    dz = times_core_jacobian(g_hat, r * v, r)
    assert vanishes(sp.Matrix([y.dot(g)]).jacobian(z).T - dz)
    assert vanishes([sum(dz), dz.dot(v) - EPS * (q + EPS) ** Q(-3, 2) * g_hat.dot(v)])


@pytest.mark.fact("vjp", way="property")
@given(rows(3), epsilons)
def test_vjp_sums_to_zero_and_is_nearly_orthogonal(vectors, eps):
    z, g, gain = vectors
    dz, _, _ = vjp(z, g, gain, eps=eps)
    v, root = center(z), np.sqrt(variance(z) + eps)
    unit = np.abs(gain * g).max() / root * 2.0**-52
    assert abs(dz.sum()) <= 4 * len(z) * unit
    expected = eps / root**3 * (gain * g) @ v
    assert abs(dz @ v - expected) <= 8 * len(z) * np.abs(v).max() * unit


@pytest.mark.fact("vjp-example", way="exact")
def test_gradient_of_the_sum_of_outputs():
    z = column("z", 3)
    for gain, expected in (([2, 0, -1], [Q(2, 3), Q(-1, 3), Q(-1, 3)]), ([1, 1, 1], [0, 0, 0])):
        loss = sum(exact_layer_norm(z, gain, [0, 0, 0], 2))
        point = dict(zip(z, (1, 1, -2), strict=True))
        assert [sp.simplify(loss.diff(x).subs(point)) for x in z] == expected
        assert vjp([1, 1, -2], [1, 1, 1], gain, eps=2)[0] == pytest.approx([float(x) for x in expected], abs=1e-15)
    assert sp.Matrix([Q(2, 3), Q(-1, 3), Q(-1, 3)]).dot(sp.Matrix([1, 1, -2])) == 1


@pytest.mark.fact("jvp", way="exact")
def test_jvp_is_the_derivative_along_a_line_and_adjoint_to_vjp():
    z, h, gain, g = (column(name, 3) for name in "zhcg")
    t = sp.Symbol("t", real=True)
    v, _, r = statistics(z, EPS)
    forward = gain.multiply_elementwise(times_core_jacobian(h, r * v, r))
    assert vanishes(exact_layer_norm(z + t * h, gain, [0] * 3, EPS).diff(t).subs(t, 0) - forward)
    backward = times_core_jacobian(gain.multiply_elementwise(g), r * v, r)
    assert vanishes([g.dot(forward) - h.dot(backward)])


@pytest.mark.fact("jvp", way="property")
@given(rows(4), epsilons)
def test_jvp_and_vjp_are_adjoint_and_one_map_for_the_core(vectors, eps):
    z, h, g, gain = vectors
    scale = np.abs(gain).max() * np.abs(g).max() * np.abs(h).max() / np.sqrt(variance(z) + eps)
    difference = g @ jvp(z, h, gain, eps=eps) - h @ vjp(z, g, gain, eps=eps)[0]
    assert abs(difference) <= 16 * len(z) * scale * 2.0**-52
    assert np.array_equal(jvp(z, h, eps=eps), vjp(z, h, eps=eps)[0])


def scaled_vjp(z, g_hat, eps):
    """(q + eps)^(3/2) dz, in fractions: (q + eps) P g_hat - mean(v g_hat) v."""
    z, g_hat = [Fraction(x) for x in z], [Fraction(x) for x in g_hat]
    d = len(z)
    v = [x - sum(z) / d for x in z]
    q = sum(x * x for x in v) / d
    along = sum(x * y for x, y in zip(v, g_hat, strict=True)) / d
    return [(q + eps) * (x - sum(g_hat) / d) - along * y for x, y in zip(g_hat, v, strict=True)], v, q


@pytest.mark.fact("vjp-kernel", way="property")
@given(rows(3), st.booleans())
def test_cotangents_that_come_back_as_nothing(vectors, constant):
    z, g, gain = vectors
    g_hat = np.full(len(z), g[0]) if constant else gain * g
    dz, v, q = scaled_vjp(z, g_hat, Fraction(1, 3))
    assert (not any(dz)) == (len(set(g_hat.tolist())) == 1)
    if q > 0:
        combination = [3 * x - Fraction(g[0]) for x in v]
        assert not any(scaled_vjp(z, combination, 0)[0])
        matrix = sp.Matrix([[1] * len(z), v, [Fraction(x) for x in g_hat]])
        assert (not any(scaled_vjp(z, g_hat, 0)[0])) == (matrix.rank() == 2)


@pytest.mark.fact("vjp-kernel", way="exact")
def test_gradient_of_the_sum_at_1_2_4():
    z = column("z", 3)
    point = dict(zip(z, (1, 2, 4), strict=True))
    for gain, zero in (([5, 5, 5], True), ([1, 2, 3], False)):
        loss = sum(exact_layer_norm(z, gain, [0] * 3, Q(1, 10**5)))
        gradient = [sp.simplify(loss.diff(x).subs(point)) for x in z]
        assert (gradient == [0, 0, 0]) == zero
        assert sp.simplify(sum(gradient)) == 0
    stated = [-0.11454458203331687, 0.17180914163860156, -0.0572645596052847]
    assert vjp([1, 2, 4], [1, 1, 1], [1, 2, 3])[0] == pytest.approx(stated, abs=1e-12)
    assert [float(x) for x in gradient] == pytest.approx(stated, abs=1e-12)


@pytest.mark.fact("vjp-store", way="exact")
@pytest.mark.parametrize("d", [1, 2, 4])
def test_root_from_the_core_and_core_from_the_output(d):
    z, gain, bias = column("z", d), column("c", d), column("b", d)
    _, _, r = statistics(z, EPS)
    u = core(z, EPS)
    assert vanishes([(1 - u.dot(u) / d) / EPS - r**2])
    y = exact_layer_norm(z, gain, bias, EPS)
    assert vanishes([(y[i] - bias[i]) / gain[i] - u[i] for i in range(d)])
    assert vanishes([u[0] + sum(u[1:])])


@pytest.mark.fact("vjp-store", way="exact")
def test_two_zero_gains_lose_which_coordinate_was_which():
    one, other = core([1, 2, 6], Q(1, 3)), core([1, 6, 2], Q(1, 3))
    assert one[0] == other[0] and one.dot(one) == other.dot(other) and one != other


@pytest.mark.fact("positions-example", way="exact")
def test_two_positions():
    z, g = [[1, 2, 4, 8], [3, 1, 0, 0]], [[1, 0, 2, -1], [Q(1, 2), 1, -1, 2]]
    cores = [core(row, Q(1, 10**5)) for row in z]
    dgain = [sum(row[i] * u[i] for row, u in zip(g, cores, strict=True)) for i in range(4)]
    assert dgain[1] == 0
    assert [round(float(x), 6) for x in dgain] == [-0.209261, 0, 1.002995, -3.218245]
    _, got_gain, got_bias = vjp(np.array(z), np.array(g, dtype=float))
    assert got_gain == pytest.approx([float(x) for x in dgain], abs=1e-14)
    assert got_bias.tolist() == [1.5, 1, 1, 1]


@pytest.mark.fact("dgain-sum", way="exact")
def test_gradients_of_the_gain_add_up_to_zero_for_all_inputs():
    z, c = [column("a", 3), column("b", 3)], sp.symbols("c1:3", real=True)
    assert vanishes([sum(sum(c_n * core(z_n, EPS)) for c_n, z_n in zip(c, z, strict=True))])


@pytest.mark.fact("dgain-sum", way="property")
@given(rows(3), epsilons)
def test_gradients_of_the_gain_add_up_to_zero(vectors, eps):
    z = np.array(vectors)  # (3, d)
    c = np.array([1.0, -2.5, 0.75])  # (3,)
    _, dgain, dbias = vjp(z, np.broadcast_to(c[:, None], z.shape), eps=eps)
    assert abs(dgain.sum()) <= 16 * z.shape[1] * np.sqrt(z.shape[1]) * 2.0**-52
    assert dbias.tolist() == [-0.75] * z.shape[1]


def test_constant_cotangents_of_the_report():
    _, dgain, dbias = vjp([[1, 2, 4, 8], [3, 1, 0, 0]], np.ones((2, 4)))
    expected = [0.6072331430759359, -0.6527529116793955, -0.7232434433318651, 0.7687632119353247]
    assert dgain == pytest.approx(expected, abs=1e-12)
    assert dbias.tolist() == [2, 2, 2, 2]


def rounded_fraction(x, bits):
    """The nearest number of `bits` significant bits to the fraction x > 0, ties to even, by integers alone."""
    exponent = 0
    while x >= 2**bits:
        x, exponent = x / 2, exponent + 1
    while x < 2 ** (bits - 1):
        x, exponent = x * 2, exponent - 1
    return round(x) * Fraction(2) ** exponent


@pytest.mark.fact("sum-stalls", way="exact")
@pytest.mark.parametrize("bits", [*range(2, 9), BITS["float16"]])
def test_running_sum_of_ones_stops_at_a_power_of_two(bits):
    total, count = Fraction(0), 2**bits + 100
    for n in range(1, count + 1):
        total = rounded_fraction(total + 1, bits)
        assert total == min(n, 2**bits)
    assert running_sum(np.ones(count), bits).tolist() == [min(n, 2**bits) for n in range(1, count + 1)]


@pytest.mark.fact("sum-stalls", way="numeric")
def test_numpy_stops_there_too():
    assert np.float16(2048) + np.float16(1) == 2048 and np.float16(2047) + np.float16(1) == 2048
    assert np.float32(2**24) + np.float32(1) == 2**24 and np.float32(2**24 - 1) + np.float32(1) == 2**24


@given(st.floats(2.0**-10, 2.0**10) | st.integers(1, 2**13).map(float), st.sampled_from([1, -1]))
def test_rounding_is_that_of_the_formats(x, sign):
    assert round_to(sign * x, BITS["float16"]) == np.float16(sign * x)
    assert round_to(sign * x, BITS["float32"]) == np.float32(sign * x)
    assert round_to(x, BITS["bfloat16"]) == rounded_fraction(Fraction(x), 8)
    assert round_to(0.0, 8) == 0


@pytest.mark.fact("sum-stalls", way="numeric")
def test_vjp_sums_over_positions_do_not_stop():
    z, g = np.zeros((5000, 2), np.float16), np.ones((5000, 2), np.float16)
    assert vjp(z, g)[2].tolist() == [5000, 5000]


def line_formulas(z, h, eps):
    """u', u'' and u''' as fact line-derivatives states them."""
    v, _, r = statistics(z, eps)
    u, w = r * v, sp.Matrix([x - mean(h) for x in h])
    a, m = product_mean(w, u), product_mean(w, w)
    return [
        r * (w - a * u),
        -(r**2) * (2 * a * w + (m - 3 * a**2) * u),
        -3 * r**3 * ((m - 3 * a**2) * w - a * (3 * m - 5 * a**2) * u),
    ]


@pytest.mark.fact("line-derivatives", way="exact")
def test_three_derivatives_for_all_inputs():
    z, h, t = column("z", 2), column("h", 2), sp.Symbol("t", real=True)
    for n, formula in enumerate(line_formulas(z, h, EPS), start=1):
        assert vanishes(core(z + t * h, EPS).diff(t, n).subs(t, 0) - formula)


LINES = [
    ([1, 2, 4], [1, 0, -1], Q(1, 3)),
    ([3, 3, 3], [1, 2, -2], Q(1, 4)),
    ([0, 1, 1, 5], [2, 2, 2, 2], Q(2)),
    ([7], [2], Q(1)),
]


@pytest.mark.fact("line-derivatives", way="exact")
@pytest.mark.parametrize(("z", "h", "eps"), LINES)
def test_taylor_coefficients(z, h, eps):
    t, order = sp.Symbol("t", real=True), 6
    line = core([x + t * y for x, y in zip(z, h, strict=True)], eps)
    expected = [sp.simplify(line.diff(t, n).subs(t, 0)) / factorial(n) for n in range(order + 1)]
    for formula, c, n in zip(line_formulas(z, h, eps), expected[1:], (1, 2, 3), strict=False):
        assert vanishes(formula / factorial(n) - c)
    got = taylor(z, h, order, eps=float(eps))
    assert got == pytest.approx(np.array(expected, dtype=float).reshape(got.shape), rel=1e-13, abs=1e-13)


@pytest.mark.fact("line-derivatives", "line-legendre", way="property")
@given(rows(2), st.sampled_from([0.25, 3.0]), st.sampled_from([-0.5, 0.25, 0.5]))
def test_series_converges_as_fast_as_the_bound_says(vectors, eps, share):
    z, h = vectors
    w, order = center(h), 30
    rate = np.sqrt(variance(h) / (variance(z) + eps))
    t = share / rate if rate > 0 else 1.0
    c = taylor(z, h, order, eps=eps)  # (31, d)
    bound = 2 * np.sqrt(len(z)) * rate ** np.arange(order + 1)
    assert (np.linalg.norm(c, axis=-1) <= bound * (1 + 1e-12)).all()
    series = (c * t ** np.arange(order + 1)[:, None]).sum(axis=0)
    rest = 2 * np.sqrt(len(z)) * abs(share) ** (order + 1) / (1 - abs(share))
    assert np.linalg.norm(series - normalize(z + t * h, eps=eps)) <= rest + 1e-12 * (1 + np.abs(w).max())


@pytest.mark.fact("line-legendre", way="exact")
@pytest.mark.parametrize(("z", "h", "eps"), [line for line in LINES if len(set(line[1])) > 1])
def test_recurrence_is_that_of_legendre(z, h, eps):
    order, u, (_, _, r), (w, m, _) = 7, core(z, eps), statistics(z, eps), statistics(h, 1)
    a = product_mean(w, u)
    p = [sp.S.Zero, *((-r * sp.sqrt(m)) ** n * sp.legendre(n, a / sp.sqrt(m)) for n in range(order + 1))]
    expected = [(p[n + 1] * u + p[n] * r * w).evalf(20) for n in range(order + 1)]
    got = taylor(z, h, order, eps=float(eps))
    assert got == pytest.approx(np.array(expected, dtype=float).reshape(got.shape), rel=1e-13, abs=1e-13)


T = sp.Symbol("t", real=True)
SUM = exact_layer_norm([T, 0], [1, 2], [0, 0], Q(1, 4))


@pytest.mark.fact("line-example", way="exact")
def test_two_coordinates():
    s = sum(SUM)
    formulas = [-T * (1 + T**2) ** Q(-1, 2), -((1 + T**2) ** Q(-3, 2)), 3 * T * (1 + T**2) ** Q(-5, 2)]
    formulas.append(3 * (1 - 4 * T**2) * (1 + T**2) ** Q(-7, 2))
    for n, formula in enumerate(formulas):
        assert sp.simplify(s.diff(T, n) - formula) == 0
    values = [Q(-3, 5), Q(-64, 125), Q(2304, 3125), Q(-12288, 15625)]
    assert [formula.subs(T, Q(3, 4)) for formula in formulas] == values
    published = [-0.5734623443633283, -0.549820080885262, 0.7749142079590942, -0.7132479766449956]
    for point, expected in ((0.75, [float(x) for x in values]), (0.7, published)):
        got = taylor([point, 0], [1, 0], 3, [1, 2], eps=0.25).sum(axis=1) * [1, 1, 2, 6]
        assert got == pytest.approx(expected, rel=1e-14)


@pytest.mark.fact("line-frozen", way="exact")
def test_second_derivative_with_frozen_statistics():
    d = 3
    z, h, mu, r = column("z", d), column("h", d), *sp.symbols("mu r", real=True)
    t = sp.Symbol("t", real=True)
    u = sp.Matrix([r * (x + t * y - mu) for x, y in zip(z, h, strict=True)])
    w = sp.Matrix([y - mean(h) for y in h])
    first = r * (w - product_mean(w, u) * u)
    frozen = -(r**2) * (product_mean(w, u) * h + product_mean(w, w) * u)
    assert vanishes((first.diff(t) - frozen).subs(t, 0))


@pytest.mark.fact("line-frozen", way="exact")
def test_frozen_statistics_give_the_published_wrong_value():
    v, _, r = statistics([T, 0], Q(1, 4))
    u, w, h = r * v, sp.Matrix([Q(1, 2), Q(-1, 2)]), sp.Matrix([1, 0])
    frozen = -(r**2) * (product_mean(w, u) * h + product_mean(w, w) * u)
    total = frozen.dot(sp.Matrix([1, 2]))
    assert sp.simplify(total + T * (1 + T**2) ** Q(-3, 2)) == 0
    assert float(total.subs(T, Q(7, 10))) == pytest.approx(-0.38487405661968344, rel=1e-14)


def test_taylor_of_an_array_with_gain_starts_with_the_layer_and_its_jvp():
    z, h = np.array([[1, 2, 4], [0, 5, 1]], np.float32), np.array([[1, 0, 0], [2, 1, 1]], np.float32)
    c = taylor(z, h, 2, [1, 2, 3], eps=0.5)
    assert c.shape == (3, 2, 3) and c.dtype == np.float32
    assert c[0] == pytest.approx(layer_norm(z, [1, 2, 3], eps=0.5), rel=1e-6)
    scale = 3 * 2 / np.sqrt(float(variance(z).min()) + 0.5)  # what the error of a JVP is measured by
    assert c[1] == pytest.approx(jvp(z, h, [1, 2, 3], eps=0.5), rel=0, abs=5 * scale * 2.0**-24)
    assert c[2, 1] == pytest.approx(taylor(z[1], h[1], 2, [1, 2, 3], eps=0.5)[2], rel=1e-6)


@pytest.mark.parametrize(("order", "error"), [(1.0, TypeError), (True, TypeError), (-1, ValueError)])
def test_taylor_refuses_an_order_that_is_none(order, error):
    with pytest.raises(error, match="order"):
        taylor([1, 2], [1, 0], order)


def test_taylor_of_order_zero_is_the_layer_alone():
    (alone,) = taylor([1.0, 2.0, 4.0], [1, 0, 0], 0, [2, 1, 3])  # (d,)
    # Each is rounded in its own way: two units in the last place of the largest output, 4.009.
    assert np.abs(alone - layer_norm([1.0, 2.0, 4.0], [2, 1, 3])).max() <= 2 * np.spacing(4.0)


def test_taylor_coefficients_beyond_the_range_are_infinite():
    c = taylor(np.array([1, 2, 4]) * 5e-324, [1, 0, 0], 1, eps=0)
    assert np.isfinite(c[0]).all() and c[1].tolist() == [np.inf, -np.inf, np.inf]

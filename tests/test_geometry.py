"""The geometry: the ball of the cores, its inverse, the largest coordinate, the ellipsoid of outputs, the slope."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from exact import (
    centered,
    centered_digits,
    core,
    core_digits,
    core_jacobian,
    digits,
    error_in_units,
    fraction_variance,
    fractions,
    largest,
    layer,
    projection,
    promised,
    symbols,
    vanishes,
    variance,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from inputs import FLOATS, cases, epsilons, vectors, with_extreme_rows
from mpmath import mp

import lnbook

fact = pytest.mark.fact
eps = sp.Symbol("eps", positive=True)
R = sp.Rational
each_d = pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
seeds = st.integers(0, 2**32 - 1)
ordinary_eps = st.floats(-6, 3).map(lambda power: 10.0**power)


def length(vector):
    return mp.norm(digits(vector).tolist())


def inverse(u, eps):
    """v of a core u, by the formula of fact invertible: an object array of mpmath's numbers."""
    u = digits(u)
    return u * mp.sqrt(mp.mpf(eps) / (1 - (u * u).sum() / len(u)))


def root_of_sum(z, step, eps):
    """sqrt(q + eps) at z + step, the sum taken in fractions."""
    total = fraction_variance([a + b for a, b in zip(fractions(z), fractions(step), strict=True)]) + Fraction(eps)
    return mp.sqrt(mp.mpf(total.numerator) / total.denominator)


# The ball


@fact("open-ball", way="exact")
@each_d
def test_the_squared_length_of_a_core_is_d_times_its_variance_and_below_d(d):
    z = symbols(d)
    u, q = core(z, eps), variance(z)
    assert vanishes(sum(u))
    assert vanishes(u.dot(u) - d * q / (q + eps))
    assert vanishes(d - d * q / (q + eps) - d * eps / (q + eps))  # what is missing to d is positive


@fact("open-ball", way="exact")
@each_d
def test_each_centred_vector_of_the_open_ball_is_the_core_of_its_inverse(d):
    u = centered(symbols(d))
    factor_squared = eps / (1 - u.dot(u) / d)
    # core(v) = v / sqrt(q + eps) at v = factor u is u if and only if q + eps is factor^2
    assert vanishes(factor_squared * variance(u) + eps - factor_squared)


@fact("open-ball", way="exact")
@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_without_eps_all_cores_lie_on_the_sphere_and_each_point_of_it_is_its_own_core(d):
    u = core(symbols(d), 0)
    assert vanishes(u.dot(u) - d)
    assert vanishes(variance(u) - 1)


@fact("open-ball", way="numeric")
@with_extreme_rows()
@given(cases(vectors=True))
def test_the_length_of_a_computed_core_is_that_of_the_ball(case):
    d, info = len(case.z), np.finfo(case.z.dtype)
    u = lnbook.normalize(case.z, eps=case.eps)
    _, q = centered_digits(case.z)
    expected = mp.sqrt(d * q / (q + mp.mpf(case.eps)))
    rounding = 2 * mp.sqrt(d) * max(mp.mpf(float(info.eps)) * expected, mp.mpf(float(info.smallest_subnormal)))
    assert abs(length(u) - expected) <= rounding


# The inverse


@fact("invertible", way="exact")
@each_d
def test_the_core_tells_the_root_that_it_was_divided_by(d):
    z = symbols(d)
    u = core(z, eps)
    assert vanishes(eps / (1 - u.dot(u) / d) - (variance(z) + eps))  # so u times its root is v


@fact("invertible", way="exact")
def test_the_input_of_a_core_is_found_again_but_for_its_mean():
    u = fractions(lnbook.normalize([11, 11, 8], eps=2))
    assert u == [Fraction(1, 2), Fraction(1, 2), -1]
    factor_squared = 2 / (1 - sum(x * x for x in u) / 3)
    assert factor_squared == 4
    assert [2 * x for x in u] == [1, 1, -2]
    assert core([1, 1, -2], 2) == core([11, 11, 8], 2) == sp.Matrix([R(1, 2), R(1, 2), -1])


@fact("invertible", way="exact")
def test_an_error_in_the_length_of_the_core_grows_by_q_plus_eps_over_eps():
    rho, q = sp.symbols("rho q", positive=True)
    length_of_v = rho / sp.sqrt(1 - rho**2)
    growth = sp.diff(sp.log(length_of_v), rho) * rho
    assert vanishes(growth.subs(rho, sp.sqrt(q / (q + eps))) - (q + eps) / eps)


@fact("invertible", way="property")
@given(st.integers(1, 7).flatmap(vectors), st.integers(-1000, 1000), ordinary_eps)
def test_the_centred_vector_is_found_from_the_computed_core_as_exactly_as_its_digits_allow(z, shift, eps):
    v, q = centered_digits(z)
    u = lnbook.normalize(z + shift, eps=eps)
    growth = (q + mp.mpf(eps)) / mp.mpf(eps)
    assume(growth < 1e12)
    assert largest(inverse(u, eps) - v) <= 8 * len(z) * mp.mpf(2) ** -52 * growth * largest(v)


@fact("invertible", way="property")
@given(st.integers(2, 6).flatmap(vectors), st.data(), ordinary_eps)
def test_inputs_with_different_centred_vectors_have_different_cores(z, data, eps):
    other = data.draw(vectors(len(z)))
    same_input = len({a - b for a, b in zip(fractions(z), fractions(other), strict=True)}) == 1
    u, w = (core_digits(row, eps)[0] for row in (z, other))
    assert (largest(u - w) < mp.mpf(10) ** -30) == same_input


# The largest coordinate


@fact("largest-coordinate", way="exact")
@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_what_one_coordinate_lacks_to_its_bound_is_the_spread_of_the_others(d):
    u = centered(symbols(d))
    for i in range(d):
        others = [u[j] for j in range(d) if j != i]
        spread = sum((a - b) ** 2 for k, a in enumerate(others) for b in others[:k])
        assert vanishes((d - 1) * u.dot(u) - d * u[i] ** 2 - spread)


@fact("largest-coordinate", way="exact")
@pytest.mark.parametrize("d", [2, 3, 4, 10])
def test_a_spike_approaches_the_bound_and_attains_it_without_eps(d):
    t = sp.Symbol("t", positive=True)
    spike = [t, *[0] * (d - 1)]
    assert sp.limit(core(spike, 1)[0], t, sp.oo) == sp.sqrt(d - 1)
    assert vanishes(core(spike, 0)[0] - sp.sqrt(d - 1))


@fact("largest-coordinate", way="exact")
def test_two_coordinates_leave_a_sign_and_one_leaves_nothing():
    a, b = symbols(2)
    s = (a - b) / 2
    assert vanishes(core([a, b], eps) - sp.Matrix([s, -s]) / sp.sqrt(s**2 + eps))
    assert [sp.limit(core(z, eps)[0], eps, 0, "+") for z in ([3, 1], [-7, 2], [4, 4])] == [1, -1, 0]
    assert core([sp.Symbol("z")], eps) == sp.zeros(1)
    for dtype in FLOATS:
        z, gain, bias = (np.array([x], dtype) for x in (60000, 2, 3))
        assert lnbook.layer_norm(z, gain, bias).tolist() == [3]
        assert lnbook.jacobian(z, gain).tolist() == [[0]]
        assert [gradient.tolist() for gradient in lnbook.vjp(z, gain, gain)] == [[0], [0], [2]]


@fact("largest-coordinate", way="property")
@with_extreme_rows()
@given(cases(vectors=True))
def test_no_computed_coordinate_exceeds_the_root_of_d_minus_one(case):
    u, d = lnbook.normalize(case.z, eps=case.eps), len(case.z)
    bound = mp.sqrt(d - 1) * (1 + 2 * mp.mpf(float(np.finfo(case.z.dtype).eps)))
    assert largest(digits(u)) <= bound


@fact("largest-coordinate", way="numeric")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("d", [2, 3, 10, 101])
def test_a_computed_spike_comes_within_two_units_of_the_bound(dtype, d):
    spike = np.zeros(d, dtype)
    spike[d // 2] = 1000
    for eps in (0, 1e-9):
        expected, _ = core_digits(spike, eps)
        assert error_in_units(lnbook.normalize(spike, eps=eps), expected, mp.sqrt(d - 1), dtype) <= promised(dtype, 2)


# The ellipsoid


@fact("ellipsoid", way="exact")
@each_d
def test_the_outputs_lie_in_a_tilted_plane_and_inside_an_ellipsoid(d):
    z, gain, bias = symbols(d), sp.symbols(f"g:{d}", nonzero=True), sp.symbols(f"b:{d}")
    u = [(y - b) / g for y, g, b in zip(layer(z, gain, bias, eps), gain, bias, strict=True)]
    q = variance(z)
    assert vanishes(sum(u))
    assert vanishes(sum(x**2 for x in u) - d * q / (q + eps))


@fact("ellipsoid", way="exact")
@pytest.mark.parametrize(
    ("gain", "dimension"),
    [([2, -1], 1), ([3, 0], 1), ([1, 2, 3], 2), ([1, 0, 3], 2), ([0, 0, 3], 1), ([1, 2, 0, 0, 5], 3), ([0, 0], 0)],
)
def test_the_dimension_of_the_ellipsoid(gain, dimension):
    zeros = gain.count(0)
    assert (sp.diag(*gain) * projection(len(gain))).rank() == dimension == len(gain) - max(zeros, 1)


@fact("ellipsoid", way="exact")
def test_the_half_axes_of_a_flat_ellipsoid():
    A = sp.diag(1, 1, 0) * projection(3)
    assert (3 * A * A.T).eigenvals() == {3: 1, 1: 1, 0: 1}
    a = sp.Symbol("a", positive=True)
    for direction, half_axis in (([1, -1, 0], sp.sqrt(3)), ([1, 1, -2], 1)):
        y = layer([a * x for x in direction], [1, 1, 0], [0, 0, 0], 1)
        assert sp.limit(y.norm(), a, sp.oo) == half_axis
        computed = lnbook.layer_norm(1e9 * np.array(direction), [1, 1, 0], [4, 5, 6]) - [4, 5, 6]
        assert np.linalg.norm(computed) == pytest.approx(float(half_axis), rel=1e-14)


@fact("ellipsoid", way="property")
@with_extreme_rows(0, dtypes=[np.float32, np.float64])
@given(cases(dtypes=(np.float32, np.float64), vectors=True), seeds)
def test_no_output_lies_outside_the_ellipsoid(case, seed):
    d, info = len(case.z), np.finfo(case.z.dtype)
    gain = np.random.default_rng(seed).integers(-8, 9, d) / 4
    y = lnbook.layer_norm(case.z, gain, eps=case.eps)
    rounding = 1 + 4 * mp.sqrt(d) * mp.mpf(float(info.eps))
    matrix = digits(gain)[:, None] * (np.eye(d, dtype=int) - mp.mpf(1) / d)
    reach = max(mp.svd_r(mp.matrix(matrix.tolist()), compute_uv=False))
    assert length(y) <= mp.sqrt(d) * reach * rounding
    assert all(abs(x) <= mp.sqrt(d - 1) * abs(g) * rounding for x, g in zip(digits(y), digits(gain), strict=True))


# The slope


@fact("gradient-map", way="exact")
@each_d
def test_the_core_is_the_gradient_of_d_times_the_root(d):
    z = symbols(d)
    potential = d * sp.sqrt(variance(z) + eps)
    assert vanishes(sp.Matrix([sp.diff(potential, x) for x in z]) - core(z, eps))


@fact("gradient-map", way="exact")
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_jacobian_is_the_second_derivative_and_positive_semidefinite(d):
    z = symbols(d)
    assert vanishes(sp.hessian(d * sp.sqrt(variance(z) + eps), list(z)) - core_jacobian(z, eps))
    point = [R(1, 2), 3, -1][:d]
    numbers = core_jacobian(point, R(1, 4))
    assert numbers == numbers.T
    assert numbers.is_positive_semidefinite
    computed = [lnbook.jvp([float(x) for x in point], direction, eps=0.25) for direction in np.eye(d)]
    np.testing.assert_allclose(computed, np.array(numbers, float), rtol=1e-14, atol=1e-15)


@fact("gradient-map", way="exact")
def test_no_larger_constant_of_cocoercivity_will_do():
    t = sp.Symbol("t", positive=True)
    h = sp.Matrix([t, -t, 0])
    u = core([7 + x for x in h], eps)  # from the constant input (7, 7, 7), whose core is 0
    ratio = sp.simplify(u.dot(h) / u.dot(u))
    assert vanishes(ratio - sp.sqrt(2 * t**2 / 3 + eps))
    assert sp.limit(ratio, t, 0, "+") == sp.sqrt(eps)


@fact("gradient-map", way="property")
@given(st.integers(1, 6).flatmap(vectors), st.data(), epsilons())
def test_computed_cores_are_monotone_and_cocoercive(a, data, eps):
    b = data.draw(vectors(len(a)))
    u, w = (digits(lnbook.normalize(row, eps=eps)) for row in (a, b))
    inner = ((u - w) * (digits(a) - digits(b))).sum()
    rounding = 4 * len(a) * mp.mpf(2) ** -52 * max(largest(u), largest(w)) * (largest(digits(a - b)) + mp.sqrt(eps))
    assert inner >= mp.sqrt(eps) * length(u - w) ** 2 - rounding


@fact("gradient-map", way="property")
@with_extreme_rows(0)
@given(cases(vectors=True), seeds)
def test_jvp_and_vjp_of_the_core_are_one_map(case, seed):
    h = np.random.default_rng(seed).integers(-8, 9, len(case.z)) / 4
    forward, backward = lnbook.jvp(case.z, h, eps=case.eps), lnbook.vjp(case.z, h, eps=case.eps)[0]
    np.testing.assert_array_equal(forward, backward)


# Two inputs


@fact("two-points", way="exact")
def test_the_identity_of_two_inputs_for_every_d():
    d, r, s, uw = sp.symbols("d r s uw", positive=True)
    uu, ww = d * (1 - eps / r**2), d * (1 - eps / s**2)  # the squared lengths of the cores: fact open-ball
    left = r * uu + s * ww - (r + s) * uw  # <u - w, r u - s w>
    right = (r + s) / 2 * (uu + ww - 2 * uw) + d * eps * (r + s) * (r - s) ** 2 / (2 * r**2 * s**2)
    assert vanishes(left - right)


@fact("two-points", way="exact")
@pytest.mark.parametrize(
    ("a", "b", "eps"),
    [
        ([3], [5], 1),
        ([0, 2], [7, 7], 3),
        ([0, 0, 6], [1, 2, 3], R(1, 3)),
        ([1, 2], [5, 3], 0),
        ([4, 0, 1, -2], [1] * 4, 2),
    ],
)
def test_the_identity_of_two_inputs_at_given_inputs(a, b, eps):
    d, change, u, w = len(a), sp.Matrix(a) - sp.Matrix(b), core(a, eps), core(b, eps)
    r, s = sp.sqrt(variance(a) + eps), sp.sqrt(variance(b) + eps)
    right = (r + s) / 2 * (u - w).dot(u - w) + d * eps * (r + s) * (r - s) ** 2 / (2 * r**2 * s**2)
    assert vanishes((u - w).dot(change) - right)
    computed = lnbook.amplification(b, [int(x) for x in change], eps=float(eps))
    assert computed == pytest.approx(float((u - w).norm() / change.norm()), rel=1e-15)
    assert computed <= float(2 / (r + s))


@fact("two-points", way="exact")
def test_a_centred_step_between_equal_roots_attains_the_bound():
    u, w = core([0, 2, 4], 2), core([4, 0, 2], 2)
    step = sp.Matrix([4, -2, -2])
    root = sp.sqrt(R(8, 3) + 2)
    assert vanishes((w - u).norm() / step.norm() - 1 / root)
    assert lnbook.amplification([0, 2, 4], [4, -2, -2], eps=2) == pytest.approx(float(1 / root), rel=4.5e-16)


@fact("two-points", way="property")
@with_extreme_rows(0, dtypes=[np.float64], names=["outlier", "alternating", "constant", "single", "pair"])
@given(cases(dtypes=(np.float64,), vectors=True), seeds)
def test_no_step_is_amplified_more_than_one_over_the_mean_of_the_two_roots(case, seed):
    random = np.random.default_rng(seed)
    step = random.normal(size=len(case.z)) * 2.0 ** random.integers(-40, 40)
    mean_root = (root_of_sum(case.z, 0 * step, case.eps) + root_of_sum(case.z, step, case.eps)) / 2
    got = lnbook.amplification(case.z, step, eps=case.eps)
    assert mp.mpf(float(got)) * mean_root <= 1 + mp.mpf(10) ** -14

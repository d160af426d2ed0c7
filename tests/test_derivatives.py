"""The derivatives: the Jacobian, its products from both sides, and the gradients of gain and bias."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from exact import (
    centered,
    core,
    core_digits,
    core_jacobian,
    core_jacobian_digits,
    core_jacobian_product,
    digits,
    error_in_units,
    fractions,
    largest,
    layer,
    ones,
    projection,
    promised,
    symbols,
    vanishes,
    variance,
)
from hypothesis import example, given
from hypothesis import strategies as st
from inputs import FLOATS, Case, cases, normalized_shape, rows_of, vectors, with_extreme_rows
from mpmath import mp

import lnbook

fact = pytest.mark.fact
eps = sp.Symbol("eps", positive=True)
each_d = pytest.mark.parametrize("d", [1, 2, 3, 4])
seeds = st.integers(0, 2**32 - 1)
R = sp.Rational


def multiplied_out(expressions, z):
    """The expressions times (q + eps)^(3/2), which makes entries of J polynomials."""
    total = sp.Symbol("total", positive=True)
    cleared = (expressions.subs(variance(z) + eps, total) * total ** R(3, 2)).applyfunc(sp.expand)
    return cleared.subs(total, variance(z) + eps).applyfunc(sp.expand)


def derivative_along(f, t=0):
    """d/dt of a vector function by mpmath, at 50 digits."""
    size = len(f(mp.mpf(t)))
    with mp.workdps(80):
        return np.array([mp.diff(lambda s, i=i: f(s)[i], t) for i in range(size)], dtype=object)


def quarters(seed, *shape):
    """Small numbers exact in every dtype, some of them 0 and some negative."""
    return np.random.default_rng(seed).integers(-16, 17, shape) / 4


# The Jacobian


@fact("eps-jacobian", "jac-entry", way="exact")
@each_d
def test_the_formula_is_the_derivative_entry_by_entry(d):
    z = symbols(d)
    derivative = core(z, eps).jacobian(z)  # entry (i, j): output i by input j
    assert multiplied_out(derivative - core_jacobian(z, eps), z) == sp.zeros(d, d)


@fact("eps-jacobian", way="numeric")
@with_extreme_rows()
@given(cases(vectors=True))
def test_the_jacobian_is_right_to_four_units(case):
    z, dtype = case.z, case.z.dtype
    expected = core_jacobian_digits(z, case.eps)
    _, root = core_digits(z, case.eps)
    assert error_in_units(lnbook.jacobian(z, eps=case.eps), expected, 1 / root, dtype) <= promised(dtype, 4)


@fact("eps-jacobian", "jac-entry", way="numeric")
@pytest.mark.parametrize("z", [[0, 1, 3], [-5, 2, 2, 1], [4, 4]])
@pytest.mark.parametrize("eps", [1e-5, 0.25, 3])
def test_the_jacobian_is_the_limit_of_difference_quotients(z, eps):
    J = lnbook.jacobian(z, eps=eps)
    for j in range(len(z)):
        along_j = [mp.mpf(i == j) for i in range(len(z))]

        def moved(t, along_j=along_j):
            v = [x + t * h for x, h in zip(z, along_j, strict=True)]
            v = [x - sum(v) / len(v) for x in v]
            root = mp.sqrt(sum(x * x for x in v) / len(v) + mp.mpf(eps))
            return [x / root for x in v]

        assert error_in_units(J[:, j], derivative_along(moved), 1 / mp.sqrt(mp.mpf(eps)), np.float64) <= 4


@fact("jac-entry", way="property")
@given(cases(vectors=True))
def test_column_j_of_the_jacobian_is_the_response_to_input_j(case):
    d, dtype = len(case.z), case.z.dtype
    J = lnbook.jacobian(case.z, eps=case.eps)
    _, root = core_digits(case.z, case.eps)
    columns = lnbook.jvp(np.tile(case.z, (d, 1)), np.eye(d), eps=case.eps)
    assert error_in_units(columns, digits(J.T), 1 / root, dtype) <= 8


@fact("jac-example", way="exact")
def test_the_jacobian_example():
    assert core_jacobian([-1, 1], 3) == sp.Matrix([[1, -1], [-1, 1]]) * R(3, 16)
    assert lnbook.variance([-1, 1]) == 1
    assert lnbook.normalize([-1, 1], eps=3).tolist() == [-1 / 2, 1 / 2]
    assert lnbook.jacobian([-1, 1], eps=3).tolist() == [[3 / 16, -3 / 16], [-3 / 16, 3 / 16]]


@fact("jac-directions", way="exact")
def test_the_example_sends_a_shift_to_zero_and_the_other_direction_to_three_eighths():
    J = core_jacobian([-1, 1], 3)
    assert J * sp.Matrix([1, 1]) == sp.zeros(2, 1)
    assert J * sp.Matrix([-1, 1]) == R(3, 8) * sp.Matrix([-1, 1])
    assert lnbook.jvp([-1, 1], [1, 1], eps=3).tolist() == [0, 0]
    assert lnbook.jvp([-1, 1], [-1, 1], eps=3).tolist() == [-3 / 8, 3 / 8]


@fact("jac-local", way="exact")
def test_the_gap_to_the_linear_prediction_vanishes_faster_than_the_step_and_grows_with_it():
    t = sp.Symbol("t", positive=True)
    z, h = sp.Matrix([-1, 1]), sp.Matrix([-1, 1])
    gap = (core(z, 3) + t * core_jacobian(z, 3) * h - core(z + t * h, 3))[1]
    assert sp.limit(gap / t, t, 0) == 0
    assert sp.limit(gap / t**2, t, 0) == R(9, 64)
    relative = [(gap / t).subs(t, step) for step in (R(1, 100), R(1, 10), 1, 10)]
    assert all(0 < small < large for small, large in pairwise(relative))


@fact("jac-local", way="numeric")
def test_the_gap_grows_with_the_step_as_computed():
    z, h = np.array([-1.0, 1.0]), np.array([-1.0, 1.0])
    gaps = [
        lnbook.normalize(z, eps=3) + t * lnbook.jvp(z, h, eps=3) - lnbook.normalize(z + t * h, eps=3)
        for t in (0.001, 0.01, 0.1, 1, 10)
    ]
    assert all(0 < 9 * small[1] < large[1] for small, large in pairwise(gaps))
    assert gaps[0][1] == pytest.approx(9 / 64 * 1e-6, rel=1e-2)


@fact("jac-gain", way="exact")
def test_a_silenced_output_does_not_silence_its_input():
    expected = sp.Matrix([[0, 0], [-R(3, 8), R(3, 8)]])
    assert sp.diag(0, 2) * core_jacobian([-1, 1], 3) == expected
    assert lnbook.jacobian([-1, 1], [0, 2], eps=3).tolist() == [[0, 0], [-3 / 8, 3 / 8]]


@fact("jac-parameters", "gain-input-jacobian", "bias-input-jacobian", "gain-gradient", "bias-gradient", way="exact")
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_three_jacobians_of_the_full_layer(d):
    z, gain, bias = symbols(d), sp.Matrix(sp.symbols(f"g:{d}")), sp.Matrix(sp.symbols(f"b:{d}"))
    y = layer(z, gain, bias, eps)
    by_input = y.jacobian(z)
    assert not by_input.free_symbols & bias.free_symbols
    assert multiplied_out(by_input - sp.diag(*gain) * core_jacobian(z, eps), z) == sp.zeros(d, d)
    assert y.jacobian(gain) == sp.diag(*core(z, eps))
    assert y.jacobian(bias) == sp.eye(d)
    if d > 1:
        assert not vanishes(by_input - y.jacobian(gain))


@fact("jac-parameters", way="property")
@given(cases(dtypes=(np.float32, np.float64), vectors=True))
def test_the_derivatives_by_gain_and_bias_are_diag_u_and_the_identity(case):
    d = len(case.z)
    u = lnbook.normalize(case.z, eps=case.eps)
    for i in range(d):
        _, dgain, dbias = lnbook.vjp(case.z, np.eye(d)[i], eps=case.eps)
        assert dbias.tolist() == np.eye(d)[i].tolist()
        diagonal = digits([u[i] if k == i else 0 for k in range(d)])
        assert error_in_units(dgain, diagonal, largest(diagonal), u.dtype) <= promised(u.dtype, 2)


@fact("gain-input-jacobian", way="numeric")
@with_extreme_rows(0)
@given(cases(vectors=True), seeds)
def test_the_full_jacobian_is_diag_gain_times_the_core_s(case, seed):
    gain = quarters(seed, len(case.z))
    expected = digits(gain)[:, None] * core_jacobian_digits(case.z, case.eps)
    _, root = core_digits(case.z, case.eps)
    got = lnbook.jacobian(case.z, gain, eps=case.eps)
    assert error_in_units(got, expected, largest(digits(gain)) / root, case.z.dtype) <= promised(case.z.dtype, 4)


@fact("bias-input-jacobian", way="numeric")
@pytest.mark.parametrize("bias", [[0, 0, 0], [5, -3, 1e6]])
def test_the_slope_of_the_full_layer_along_a_direction_does_not_see_the_bias(bias):
    z, h, gain, eps = [1, 4, -2], [0.5, -1, 0.25], [2, 0.5, -1], 0.1

    def output(t):
        moved = [x + t * k for x, k in zip(z, h, strict=True)]
        mu = sum(moved) / 3
        root = mp.sqrt(sum((x - mu) ** 2 for x in moved) / 3 + mp.mpf(eps))
        return [g * (x - mu) / root + b for g, x, b in zip(gain, moved, bias, strict=True)]

    assert error_in_units(lnbook.jvp(z, h, gain, eps=eps), derivative_along(output), mp.mpf(1), np.float64) <= 4


@fact("jac-sums", way="exact")
@each_d
def test_the_jacobian_is_symmetric_and_its_rows_and_columns_sum_to_zero(d):
    z = symbols(d)
    J = core(z, eps).jacobian(z)
    assert multiplied_out(J - J.T, z) == sp.zeros(d, d)
    assert multiplied_out(J * ones(d), z) == sp.zeros(d, 1)
    assert multiplied_out(J.T * ones(d), z) == sp.zeros(d, 1)


@fact("jac-sums", way="property")
@given(cases(dtypes=(np.float64,), vectors=True))
def test_the_computed_jacobian_is_symmetric_and_its_rows_sum_to_rounding(case):
    J = lnbook.jacobian(case.z, eps=case.eps)
    assert (J == J.T).all()
    _, root = core_digits(case.z, case.eps)
    sums = np.array([math.fsum(row) for row in J])
    assert error_in_units(sums, digits(np.zeros(len(J))), len(J) / root, np.float64) <= 4


# Its directions


@fact("eps-eigen-shift", way="exact")
@each_d
def test_a_common_shift_has_no_first_order_effect(d):
    z = symbols(d)
    assert multiplied_out(core_jacobian(z, eps) * ones(d), z) == sp.zeros(d, 1)


@fact("eps-eigen-radial", way="exact")
@each_d
def test_along_v_the_response_is_eps_over_the_cube_of_the_root(d):
    z = symbols(d)
    v = centered(z)
    assert multiplied_out(core_jacobian(z, eps) * v, z) == (eps * v).applyfunc(sp.expand)


@fact("eps-eigen-orthogonal", way="exact")
@pytest.mark.parametrize("d", [3, 4])
def test_orthogonal_to_one_and_v_the_response_is_one_over_the_root(d):
    z, x = symbols(d), sp.Matrix(sp.symbols(f"x:{d}"))
    v = centered(z)
    w = v.dot(v) * centered(x) - v.dot(x) * v  # any w orthogonal to 1 and v
    total = variance(z) + eps
    assert multiplied_out(core_jacobian(z, eps) * w, z) == (total * w).applyfunc(sp.expand)


@fact("eps-eigen-orthogonal", way="exact")
@pytest.mark.parametrize("z", [[0, 1, 3], [2, 0, 0, -5], [1, 2, 4, 8, 16]])
def test_the_multiplicity_of_the_third_eigenvalue_is_d_minus_two(z):
    total = variance(z) + R(1, 4)
    squared_root_times_j = core_jacobian(z, R(1, 4)) * sp.sqrt(total)  # rational, with eigenvalues 0, eps/total, 1
    assert squared_root_times_j.eigenvals() == {0: 1, R(1, 4) / total: 1, 1: len(z) - 2}


@fact("eps-eigen-shift", "eps-eigen-radial", "eps-eigen-orthogonal", way="property")
@given(cases(dtypes=(np.float64,), vectors=True), seeds)
def test_jvp_on_the_three_kinds_of_directions(case, seed):
    z, d = case.z, len(case.z)
    _, root = core_digits(z, case.eps)
    v = lnbook.center(np.ldexp(z, -int(np.frexp(np.abs(z).max())[1])))  # of a size in which v keeps its digits
    assert lnbook.jvp(z, np.full(d, 7.0), eps=case.eps).tolist() == [0] * d
    power = -int(np.frexp(np.abs(v).max())[1])
    h = np.ldexp(v, power)  # v in a size that cannot overflow
    radial = mp.mpf(case.eps) / root**3 * digits(h)
    assert error_in_units(lnbook.jvp(z, h, eps=case.eps), radial, largest(digits(h)) / root, z.dtype) <= 6
    x = np.random.default_rng(seed).normal(size=d)
    basis = np.linalg.qr(np.stack([np.ones(d), h], axis=-1))[0] if d > 1 else np.ones((1, 1))
    w = x - basis @ (basis.T @ x)
    w -= basis @ (basis.T @ w)
    if d > 2 and h.any():
        assert error_in_units(lnbook.jvp(z, w, eps=case.eps), digits(w) / root, 1 / root, z.dtype) <= 16


@fact("eps-jacobian-constant", way="exact")
@each_d
def test_at_a_constant_input_the_jacobian_is_the_projection_over_root_eps(d):
    c = sp.Symbol("c", real=True)
    z = symbols(d)
    derivative = core(z, eps).jacobian(z).subs(dict.fromkeys(z, c))
    assert vanishes(derivative - projection(d) / sp.sqrt(eps))
    assert vanishes(core_jacobian([c] * d, eps) - projection(d) / sp.sqrt(eps))


@fact("eps-jacobian-constant", way="property")
@given(st.integers(1, 12), st.floats(-1e300, 1e300), st.sampled_from([1e-12, 1e-5, 1 / 3, 1e6]))
def test_the_computed_jacobian_at_a_constant_input(d, c, eps):
    root = mp.sqrt(mp.mpf(eps))
    expected = np.array([[((i == j) - mp.mpf(1) / d) / root for j in range(d)] for i in range(d)], dtype=object)
    assert error_in_units(lnbook.jacobian(np.full(d, c), eps=eps), expected, 1 / root, np.float64) <= 2


def test_the_jacobian_at_two_coordinates_does_not_cancel():
    for z, eps in (([-1.0, 1.0], 1e-5), ([3.0, 10.0], 1e-12), ([-1e8, 1e8], 1e-5), ([0.0, 0.1], 1e-30)):
        expected = core_jacobian_digits(z, eps)
        assert error_in_units(lnbook.jacobian(z, eps=eps), expected, largest(expected), np.float64) <= 4


def test_a_constant_pair_beside_another_has_its_own_jacobian():
    z = np.array([[1.0, 3.0], [2.0, 2.0]])
    together = lnbook.jacobian(z, eps=0.25)
    assert np.array_equal(together, [lnbook.jacobian(row, eps=0.25) for row in z])
    assert together[1].tolist() == [[1, -1], [-1, 1]]


# Products


@fact("eps-jacobian", way="numeric")
@with_extreme_rows(0)
@given(cases(axes=False), seeds)
def test_the_jvp_is_right_to_four_units(case, seed):
    shape = case.z.shape
    gain, tangent = quarters(seed, shape[-1]), quarters(seed + 1, *shape)
    got = lnbook.jvp(case.z, tangent, gain, eps=case.eps)
    assert got.shape == shape
    for z, h, y in zip(rows_of(case.z, -1), rows_of(tangent, -1), rows_of(got, -1), strict=True):
        expected = digits(gain) * core_jacobian_product(z, h, case.eps)
        _, root = core_digits(z, case.eps)
        scale = largest(digits(gain)) * largest(digits(h)) / root
        assert error_in_units(y, expected, scale, case.z.dtype) <= promised(case.z.dtype, 4)


@fact("eps-jacobian", "gain-input-jacobian", way="numeric")
@with_extreme_rows(0)
@given(cases(), seeds)
def test_the_gradient_by_the_input_is_right_to_four_units(case, seed):
    gain = quarters(seed, *normalized_shape(case.z, case.axis))
    cotangent = quarters(seed + 1, *case.z.shape)
    dz, _, _ = lnbook.vjp(case.z, cotangent, gain, eps=case.eps, axis=case.axis)
    assert dz.shape == case.z.shape
    in_rows = (rows_of(a, case.axis) for a in (case.z, cotangent, dz))
    for z, g, got in zip(*in_rows, strict=True):
        h = gain.ravel() * g
        expected = core_jacobian_product(z, h, case.eps)
        _, root = core_digits(z, case.eps)
        scale = max(largest(digits(h)) / root, largest(expected))
        assert error_in_units(got, expected, scale, case.z.dtype) <= promised(case.z.dtype, 4)


# Gradients of the parameters


@fact("bias-gradient", way="exact")
def test_the_gradient_by_the_bias_in_the_example():
    bias = sp.Matrix(sp.symbols("b1:4"))
    loss = layer([3, 3, 3], [1, 1, 1], bias, eps).dot(layer([3, 3, 3], [1, 1, 1], bias, eps)) / 2
    at = dict(zip(bias, [1, -1, 2], strict=True))
    assert [sp.diff(loss, b).subs(at) for b in bias] == [1, -1, 2]
    y = lnbook.layer_norm([3, 3, 3], bias=[1, -1, 2])
    assert lnbook.vjp([3, 3, 3], y)[2].tolist() == [1, -1, 2]


@fact("bias-gradient", way="property")
@with_extreme_rows(np.arange(8) / 4 - 1)
@given(cases(vectors=True), st.just(None) | vectors(8))
def test_the_gradient_by_the_bias_of_one_position_is_the_cotangent_itself(case, g):
    g = np.resize(np.arange(8) if g is None else g, len(case.z)).astype(case.z.dtype)
    assert lnbook.vjp(case.z, g, eps=case.eps)[2].tolist() == g.tolist()


@fact("bias-positions", way="exact")
def test_a_shared_bias_receives_the_sum_of_its_positions_gradients():
    bias = sp.Matrix(sp.symbols("b1:3"))
    g = sp.Matrix(3, 2, sp.symbols("g:6"))  # (positions, d)
    loss = sum(g[n, :].dot(layer([n, 2 * n + 1], [1, 1], bias, eps)) for n in range(3))
    assert [sp.diff(loss, b) for b in bias] == [sum(g[:, 0]), sum(g[:, 1])]
    dbias = lnbook.vjp([[0, 1], [1, 3], [2, 5]], [[1, 10], [2, 20], [4, 40]])[2]
    assert dbias.tolist() == [7, 70]


@fact("bias-positions", "gain-gradient", way="numeric")
@with_extreme_rows(0)
@example(Case(np.array([0, 5.43230922e-312]), 65.15380714786068), 243)
@given(cases(), seeds)
def test_the_gradients_by_the_parameters_are_summed_over_the_positions(case, seed):
    shape = normalized_shape(case.z, case.axis)
    cotangent = quarters(seed, *case.z.shape)
    _, dgain, dbias = lnbook.vjp(case.z, cotangent, quarters(seed, *shape), eps=case.eps, axis=case.axis)
    z, g = rows_of(case.z, case.axis), rows_of(cotangent, case.axis)
    u = np.array([core_digits(row, case.eps)[0] for row in z])  # (n, d)
    terms, info = digits(g) * u, np.finfo(case.z.dtype)
    below = mp.mpf(float(info.smallest_subnormal)) / mp.mpf(
        float(info.eps)
    )  # u is rounded to such steps where it is tiny
    scale = largest(abs(terms).sum(axis=0) + below * abs(digits(g)).sum(axis=0))
    assert dbias.ravel().tolist() == g.sum(axis=0).tolist()
    assert error_in_units(dgain, terms.sum(axis=0).reshape(shape), scale, case.z.dtype) <= promised(case.z.dtype, 2)


@fact("gain-gradient", way="exact")
def test_the_gradient_by_the_gain_in_the_example():
    gain = sp.Matrix(sp.symbols("g1:4"))
    y = layer([1, 1, -2], gain, [0, 0, 0], 2)
    at = dict(zip(gain, [2, 0, -1], strict=True))
    assert [sp.diff(y.dot(y) / 2, a).subs(at) for a in gain] == [R(1, 2), 0, -1]
    y = lnbook.layer_norm([1, 1, -2], [2, 0, -1], eps=2)
    assert lnbook.vjp([1, 1, -2], y, [2, 0, -1], eps=2)[1].tolist() == [1 / 2, 0, -1]


@pytest.mark.parametrize("dtype", FLOATS)
def test_many_positions_do_not_wear_the_sums_down(dtype):
    n = 40_000
    z, g = np.tile(np.array([1, -1], dtype), (n, 1)), np.tile(np.array([1, 0.5], dtype), (n, 1))
    _, dgain, dbias = lnbook.vjp(z, g, eps=0)
    exact = [dtype(n), dtype(n / 2)]
    assert dbias.tolist() == [float(x) for x in exact]
    assert dgain.tolist() == [float(exact[0]), -float(exact[1])]


def test_the_gradient_of_a_plain_sum_is_zero_for_equal_gains_only():
    dz, _, _ = lnbook.vjp([1, 2, 4], [1, 1, 1])
    assert dz.tolist() == [0, 0, 0]
    unequal, _, _ = lnbook.vjp([1, 2, 4], [1, 1, 1], [1, 2, 3])
    assert abs(unequal).min() > 0.05
    assert abs(float(sum(fractions(unequal), Fraction(0)))) < 1e-16

"""Epsilon and what shifts and scales do to the forward pass."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from exact import (
    centered,
    centered_digits,
    core,
    core_digits,
    digits,
    error_in_units,
    fraction_mean,
    fraction_variance,
    fractions,
    largest,
    layer,
    layer_digits,
    mean,
    ones,
    projection,
    promised,
    symbols,
    vanishes,
    variance,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from inputs import cases, epsilons, vectors, with_extreme_rows
from mpmath import mp

import lnbook

fact = pytest.mark.fact
eps = sp.Symbol("eps", positive=True)
c = sp.Symbol("c", real=True)
each_d = pytest.mark.parametrize("d", [1, 2, 3, 4, 5])


# Epsilon


@fact("eps-variance", way="exact")
@each_d
def test_the_variance_of_the_core_is_q_over_q_plus_eps(d):
    z = symbols(d)
    q = variance(z)
    assert vanishes(variance(core(z, eps)) - q / (q + eps))


@fact("eps-variance", way="exact")
def test_the_variance_of_the_core_goes_from_zero_over_one_half_to_one():
    q = sp.Symbol("q", positive=True)
    share = q / (q + eps)
    assert share.subs(q, eps) == sp.Rational(1, 2)
    assert sp.limit(share, q, 0) == 0
    assert sp.limit(share, q, sp.oo) == 1
    assert sp.simplify(sp.diff(share, q) - eps / (q + eps) ** 2) == 0  # positive: it grows with q


@fact("eps-variance", way="property")
@with_extreme_rows()
@given(cases(vectors=True))
def test_the_variance_of_the_computed_core_is_q_over_q_plus_eps(case):
    info = np.finfo(case.z.dtype)
    q = fraction_variance(fractions(case.z))
    expected = q / (q + Fraction(case.eps))
    assume(expected == 0 or expected > Fraction(float(info.smallest_normal)) / Fraction(float(info.eps)) ** 2)
    got = fraction_variance(fractions(lnbook.normalize(case.z, eps=case.eps)))
    # Each u_i within 2 units of max|u| <= sqrt(d) times the root of the variance
    assert abs(got - expected) <= 4 * len(case.z) ** Fraction(1, 2) * float(info.eps) * expected


@fact("eps-full-moments", way="exact")
def test_unequal_gains_or_biases_change_the_moments_of_the_output():
    def moments(gain, bias):
        y = fractions(lnbook.layer_norm([1, 1, -2], gain, bias, eps=2))
        assert layer([1, 1, -2], gain, bias, 2) == sp.Matrix([sp.Rational(x.numerator, x.denominator) for x in y])
        return fraction_mean(y), fraction_variance(y)

    assert moments([1, 1, 1], [0, 0, 0]) == (0, Fraction(1, 2))
    assert moments([2, 0, -1], [0, 0, 0]) == (Fraction(2, 3), Fraction(2, 9))
    assert moments([1, 1, 1], [1, -1, 2]) == (Fraction(2, 3), Fraction(13, 18))


@fact("eps-example", way="exact")
def test_the_epsilon_example():
    third, root = sp.Rational(1, 3), sp.sqrt(2)
    assert variance([1, 2, 3]) == sp.Rational(2, 3)
    assert core([1, 2, 3], third) == sp.Matrix([-1, 0, 1])
    assert vanishes(core([1, 2, 3], 4 * third) - sp.Matrix([-1, 0, 1]) / root)


@fact("eps-example", "shift-example", way="numeric")
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("first", [1, 101])
def test_the_epsilon_example_computed(dtype, first):
    z = np.array([first, first + 1, first + 2], dtype)
    for eps, expected in ((1 / 3, [-1, 0, 1]), (4 / 3, [-1 / mp.sqrt(2), 0, 1 / mp.sqrt(2)])):
        assert error_in_units(lnbook.normalize(z, eps=eps), expected, expected[2], dtype) <= promised(dtype, 1)


@fact("eps-scaling", way="exact")
@each_d
def test_scaling_the_input_is_scaling_eps(d):
    z, a = symbols(d), sp.Symbol("a", positive=True)
    v, q = centered(z), variance(z)
    scaled = core(a * z, eps)
    assert vanishes(scaled - core(z, eps / a**2))
    assert vanishes(scaled - a * v / sp.sqrt(a**2 * q + eps))


@fact("eps-scaling", way="exact")
def test_only_the_scale_one_leaves_a_stabilised_core_alone():
    a, q = sp.symbols("a q", positive=True)
    ratio = a / sp.sqrt(a**2 * q + eps) * sp.sqrt(q + eps)  # u_eps(a z) = ratio u_eps(z)
    assert sp.solve(sp.Eq(ratio**2, 1), a) == [1]


@fact("eps-scaling", way="property")
@with_extreme_rows(3, names=["outlier", "alternating", "constant", "pair"])
@given(cases(axes=False), st.integers(-8, 8))
def test_a_power_of_two_and_its_square_in_eps_cancel_to_one_unit(case, power):
    with np.errstate(over="ignore"):
        scaled = np.ldexp(case.z, power)
    assume(np.isfinite(scaled).all() and np.array_equal(np.ldexp(scaled, -power), case.z))
    expected = lnbook.normalize(case.z, eps=case.eps)
    got = lnbook.normalize(scaled, eps=float(np.ldexp(case.eps, 2 * power)))
    for a, b in zip(expected.reshape(-1, case.z.shape[-1]), got.reshape(-1, case.z.shape[-1]), strict=True):
        assert error_in_units(b, digits(a), largest(digits(a)), a.dtype) <= 1


@fact("eps-scaling-unstabilised", way="exact")
@each_d
def test_without_eps_every_positive_scale_drops_out(d):
    z, a = symbols(d), sp.Symbol("a", positive=True)
    if d > 1:
        assert vanishes(core(a * z, 0) - core(z, 0))
    else:
        assert variance(z) == 0  # one coordinate has no core at eps = 0


@fact("eps-scaling-unstabilised", way="numeric")
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_without_eps_the_computed_core_is_the_same_at_every_scale_the_dtype_holds(dtype):
    info = np.finfo(dtype)
    expected, _ = core_digits([1, 2, 4, -9], 0)
    for power in range(info.minexp - info.nmant, info.maxexp - 4, max(1, info.maxexp // 16)):
        z = np.ldexp(np.array([1, 2, 4, -9], dtype), power)
        assert error_in_units(lnbook.normalize(z, eps=0), expected, largest(expected), dtype) <= promised(dtype, 2)


@fact("eps-family", way="exact")
def test_the_family_its_slope_and_its_limits():
    t = sp.Symbol("t", real=True)
    h = core([-t, 0, t], eps)[2]
    assert vanishes(h - t / sp.sqrt(2 * t**2 / 3 + eps))
    assert vanishes(sp.diff(h, t) - eps / (2 * t**2 / 3 + eps) ** sp.Rational(3, 2))
    assert sp.limit(h, t, sp.oo) == sp.sqrt(sp.Rational(3, 2)) == -sp.limit(h, t, -sp.oo)


@fact("eps-family", way="numeric")
@pytest.mark.parametrize("eps", [1e-6, 1e-2, 1, 100])
def test_the_family_and_its_slope_computed(eps):
    for t in (0, 1e-8, 0.3, -2, 50, 1e8):
        total = 2 * mp.mpf(t) ** 2 / 3 + mp.mpf(eps)
        h, slope = mp.mpf(t) / mp.sqrt(total), mp.mpf(eps) / total**1.5
        got = lnbook.normalize([-t, 0.0, t], eps=eps)
        assert error_in_units(got, [-h, 0, h], h, np.float64) <= 2
        got = lnbook.jvp([-t, 0.0, t], [-1.0, 0.0, 1.0], eps=eps)
        assert error_in_units(got, [-slope, 0, slope], 1 / mp.sqrt(total), np.float64) <= 4


# Shifts


@fact("shift-exact", way="exact")
@each_d
def test_a_common_shift_changes_nothing(d):
    z, gain, bias = symbols(d), sp.symbols(f"g:{d}"), sp.symbols(f"b:{d}")
    assert vanishes(layer(z + c * ones(d), gain, bias, eps) - layer(z, gain, bias, eps))


@fact("shift-exact", way="property")
@given(st.integers(1, 6).flatmap(vectors), st.sampled_from([np.float16, np.float32, np.float64]), st.data(), epsilons())
def test_a_common_shift_that_the_dtype_holds_changes_nothing_beyond_two_units(z, dtype, data, eps):
    highest = np.finfo(dtype).nmant - 3  # quarter steps of z + shift are still exact
    shift = data.draw(st.integers(-(2**highest), 2**highest))
    gain, bias = data.draw(vectors(len(z))), data.draw(vectors(len(z)))
    shifted = (z + shift).astype(dtype)
    assume(fractions(shifted) == [x + shift for x in fractions(z)])
    expected, scale = layer_digits(z, gain, bias, eps)
    assert error_in_units(lnbook.layer_norm(shifted, gain, bias, eps=eps), expected, scale, dtype) <= promised(dtype, 2)


@fact("shift-steps", way="exact")
@each_d
def test_the_mean_moves_and_the_rest_stays(d):
    z = symbols(d)
    shifted = z + c * ones(d)
    assert vanishes(mean(shifted) - mean(z) - c)
    assert vanishes(centered(shifted) - centered(z))
    assert vanishes(variance(shifted) - variance(z))


@fact("shift-steps", way="property")
@given(st.integers(1, 6).flatmap(vectors), st.integers(-(2**40), 2**40))
def test_the_computed_centred_vector_and_variance_stay(z, shift):
    v, q = centered_digits(z)
    assert error_in_units(lnbook.center(z + shift), v, largest(v), np.float64) <= 1
    assert error_in_units([lnbook.variance(z + shift)], [q], q, np.float64) <= 4


@fact("shift-kernel", way="exact")
@each_d
def test_the_ones_vector_spans_the_kernel(d):
    assert projection(d).nullspace() == [ones(d)]


@fact("shift-kernel", way="property")
@with_extreme_rows()
@given(cases(vectors=True))
def test_center_gives_zero_for_constant_rows_only(case):
    """And where the largest entry of v is at most half of the smallest number of the dtype, which rounds to zero."""
    z = [Fraction(x) for x in case.z.tolist()]
    largest = max(abs(x - sum(z) / len(z)) for x in z)
    smallest = np.finfo(case.z.dtype if case.z.dtype.kind == "f" else float).smallest_subnormal
    assert (not lnbook.center(case.z).any()) == (largest <= Fraction(float(smallest)) / 2)


@fact("shift-example", way="exact")
def test_the_shift_example():
    third = sp.Rational(1, 3)
    assert (mean([1, 2, 3]), variance([1, 2, 3])) == (2, sp.Rational(2, 3))
    assert core([1, 2, 3], third) == core([101, 102, 103], third) == sp.Matrix([-1, 0, 1])
    assert lnbook.center([1, 2, 3]).tolist() == lnbook.center([101, 102, 103]).tolist() == [-1, 0, 1]


@fact("shift-unequal", way="exact")
def test_an_unequal_shift_is_not_removed():
    assert vanishes(core([1, 2, 4], sp.Rational(1, 3)) - sp.Matrix([-4, -1, 5]) / sp.sqrt(17))
    third, root = 1 / 3, mp.sqrt(17)
    expected = [-4 / root, -1 / root, 5 / root]
    assert error_in_units(lnbook.normalize([1, 2, 4], eps=third), expected, expected[2], np.float64) <= 2


WEIGHT = sp.Matrix([[1, 2], [0, 1], [3, -1]])
OFFSET = sp.Matrix([1, 0, -2])
INPUT = sp.Matrix(sp.symbols("x1 x2", real=True))
some_inputs = st.lists(st.integers(-50, 50), min_size=2, max_size=2).map(np.array)


@fact("shift-affine-bias", way="exact")
def test_a_common_part_of_the_bias_before_changes_nothing_for_any_input():
    z = WEIGHT * INPUT + OFFSET
    assert vanishes(core(z + c * ones(3), eps) - core(z, eps))


@fact("shift-affine-bias", way="property")
@given(some_inputs, st.integers(-1000, 1000), epsilons())
def test_a_common_part_of_the_bias_before_changes_nothing_computed(x, shift, eps):
    weight, offset = np.array(WEIGHT.tolist(), int), np.array(OFFSET.tolist(), int).ravel()
    expected, _ = core_digits(weight @ x + offset, eps)
    got = lnbook.normalize(weight @ x + (offset + shift), eps=eps)
    assert error_in_units(got, expected, largest(expected), np.float64) <= 2


@fact("shift-raw-input", way="exact")
def test_a_shift_of_the_raw_input_is_in_general_no_common_shift():
    a = sp.Matrix([1, 1])
    moved = WEIGHT * (INPUT + a) - WEIGHT * INPUT
    assert vanishes(moved - WEIGHT * a)
    assert WEIGHT * a == sp.Matrix([3, 1, 2])
    assert not vanishes(centered(moved))
    weight, x = np.array(WEIGHT.tolist(), int), np.array([2, 1])
    before, after = lnbook.normalize(weight @ x, eps=1), lnbook.normalize(weight @ (x + 1), eps=1)
    assert np.abs(after - before).max() > 0.1


@fact("shift-weights", way="exact")
def test_a_common_row_added_to_the_weights_changes_nothing_for_any_input():
    r = sp.Matrix(sp.symbols("r1 r2", real=True))
    recentred = WEIGHT + ones(3) * r.T
    assert vanishes(recentred * INPUT - WEIGHT * INPUT - (r.T * INPUT)[0] * ones(3))
    assert vanishes(core(recentred * INPUT, eps) - core(WEIGHT * INPUT, eps))


@fact("shift-weights", way="property")
@given(some_inputs, st.lists(st.integers(-99, 99), min_size=2, max_size=2).map(np.array), epsilons())
def test_a_common_row_added_to_the_weights_changes_nothing_computed(x, r, eps):
    weight = np.array(WEIGHT.tolist(), int)
    expected, _ = core_digits(weight @ x, eps)
    got = lnbook.normalize((weight + r) @ x, eps=eps)
    assert error_in_units(got, expected, largest(expected), np.float64) <= 2


def test_the_variance_of_a_row_too_wide_for_its_dtype_is_infinite_and_its_core_still_right():
    z = np.array([60000, -60000], np.float16)
    assert lnbook.variance(z) == np.inf
    assert lnbook.normalize(z).tolist() == [1, -1]

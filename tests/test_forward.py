"""The forward pass: centring, the core, gain and bias."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from exact import (
    centered,
    centered_digits,
    core,
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
from inputs import cases, epsilons, normalized_shape, rows_of, vectors, with_extreme_rows

import lnbook

fact = pytest.mark.fact
eps = sp.Symbol("eps", positive=True)
c = sp.Symbol("c", real=True)
each_d = pytest.mark.parametrize("d", [1, 2, 3, 4, 5])


# Definition


@fact("def-output", way="exact")
def test_the_divisor_is_d_and_eps_is_inside_the_root():
    z, gain, bias = [1, 1, -2], [2, 0, -1], [3, 5, 7]
    assert layer(z, gain, bias, 2) == sp.Matrix([4, 5, 8])  # divisor d - 1, or eps outside, leaves an irrational root
    assert lnbook.layer_norm(z, gain, bias, eps=2).tolist() == [4, 5, 8]


@fact("def-output", way="exact")
@pytest.mark.parametrize(
    ("z", "eps"), [([2, -2], 0), ([4, -4], 48), ([1, 1, 1, -3], 1), ([0, 2, 0, 2], 15), ([8, 2], 7), ([5, 1, 1, 1], 1)]
)
def test_the_output_at_rational_roots_is_exact(z, eps):
    gain, bias = [2] * len(z), [1] * len(z)
    expected = [Fraction(str(y)) for y in layer(z, gain, bias, eps)]
    assert fractions(lnbook.layer_norm(z, gain, bias, eps=eps)) == expected


@fact("def-output", way="numeric")
@with_extreme_rows(0)
@given(cases(), st.integers(0, 2**32 - 1))
def test_the_output_is_right_to_two_units_for_every_input(case, seed):
    shape = normalized_shape(case.z, case.axis)
    gain, bias = np.random.default_rng(seed).integers(-64, 65, (2, *shape)) / 16
    got = lnbook.layer_norm(case.z, gain, bias, eps=case.eps, axis=case.axis)
    for z, y in zip(rows_of(case.z, case.axis), rows_of(got, case.axis), strict=True):
        expected, scale = layer_digits(z, gain.ravel(), bias.ravel(), case.eps)
        assert error_in_units(y, expected, scale, case.z.dtype) <= promised(case.z.dtype, 2)


@fact("def-projection", way="exact")
@each_d
def test_centring_is_an_orthogonal_projection(d):
    P, z = projection(d), symbols(d)
    v = centered(z)
    assert P.T == P
    assert P * P == P
    assert vanishes(P * z - v)
    assert vanishes(P * v - v)
    assert vanishes(P * ones(d))


@fact("def-projection", way="exact")
def test_the_projection_is_idempotent_for_every_d():
    d, off = sp.symbols("d off", positive=True)  # P = I + off 11^T, and (11^T)^2 = d 11^T
    square_off = 2 * off + d * off**2
    assert sp.simplify(square_off.subs(off, -1 / d) - (-1 / d)) == 0
    assert sp.simplify((1 + d * off).subs(off, -1 / d)) == 0  # P1 = (1 + d off) 1


@fact("def-projection", way="numeric")
@with_extreme_rows()
@given(cases())
def test_center_is_the_projection_to_one_unit(case):
    got = lnbook.center(case.z, axis=case.axis)
    for z, v in zip(rows_of(case.z, case.axis), rows_of(got, case.axis), strict=True):
        expected, _ = centered_digits(z)
        assume(largest(expected) <= float(np.finfo(z.dtype).max))
        assert error_in_units(v, expected, largest(expected), z.dtype) <= promised(z.dtype, 1)


@fact("def-projection", way="property")
@with_extreme_rows()
@given(cases())
def test_centring_a_second_time_changes_nothing_beyond_rounding(case):
    once = lnbook.center(case.z, axis=case.axis)
    assume(np.isfinite(once).all())
    twice = lnbook.center(once, axis=case.axis)
    for a, b in zip(rows_of(once, case.axis), rows_of(twice, case.axis), strict=True):
        assert error_in_units(b, digits(a), largest(digits(a)), a.dtype) <= 2


@fact("def-output", way="numeric")
@with_extreme_rows()
@given(cases())
def test_variance_has_the_divisor_d_and_is_right_to_four_units(case):
    got = lnbook.variance(case.z, axis=case.axis)
    for z, q in zip(rows_of(case.z, case.axis), got.ravel(), strict=True):
        _, expected = centered_digits(z)
        if expected < float(np.finfo(z.dtype).max):
            assert error_in_units([q], [expected], expected, z.dtype) <= promised(z.dtype, 4)
        elif expected > float(np.finfo(z.dtype).max) * (1 + float(np.finfo(z.dtype).eps)):
            assert q == np.inf


@fact("def-core-mean", way="exact")
@each_d
def test_the_core_has_mean_zero(d):
    assert vanishes(mean(core(symbols(d), eps)))


@fact("def-core-mean", way="property")
@with_extreme_rows()
@given(cases())
def test_the_computed_core_has_mean_zero_to_the_last_place(case):
    for u in rows_of(lnbook.normalize(case.z, eps=case.eps, axis=case.axis), case.axis):
        exact_mean = fraction_mean(fractions(u))
        assert abs(exact_mean) <= 2 * Fraction(float(np.spacing(np.abs(u).max())))


# Bias


@fact("bias-offset", way="exact")
@each_d
def test_the_bias_is_added_last(d):
    z, gain, bias = symbols(d), sp.symbols(f"g:{d}"), sp.symbols(f"b:{d}")
    assert vanishes(layer(z, gain, bias, eps) - layer(z, gain, [0] * d, eps) - sp.Matrix(bias))


@fact("bias-offset", "bias-optional", "gain-multiplier", way="property")
@with_extreme_rows(0, dtypes=(np.float32, np.float64))
@given(cases(dtypes=(np.float32, np.float64)), st.integers(0, 2**32 - 1))
def test_the_layer_is_gain_times_core_plus_bias_to_the_last_place_of_each_output(case, seed):
    z, axes = case.z, case.axis if isinstance(case.axis, tuple) else (case.axis,)
    shape = normalized_shape(z, case.axis)
    gain, bias = np.random.default_rng(seed).normal(size=(2, *shape)).astype(z.dtype)
    gain.ravel()[0] = 0
    beside_z = [size if a in {b % z.ndim for b in axes} else 1 for a, size in enumerate(z.shape)]
    wide_gain, wide_bias = gain.reshape(beside_z), bias.reshape(beside_z)
    keywords = {"eps": case.eps, "axis": case.axis}
    u = lnbook.normalize(z, **keywords)
    np.testing.assert_array_equal(lnbook.layer_norm(z, **keywords), u)
    info = np.finfo(z.dtype)
    for given_gain, g in ((None, np.ones_like(wide_gain)), (gain, wide_gain)):
        for given_bias, b in ((None, np.zeros_like(wide_bias)), (bias, wide_bias)):
            y = lnbook.layer_norm(z, given_gain, given_bias, **keywords)
            unit = info.eps * (abs(g * u) + abs(b)) + info.smallest_subnormal * (abs(g) + 1)
            assert (abs(y - (g * u + b)) <= unit).all()


@fact("bias-optional", way="exact")
@each_d
def test_without_bias_the_output_is_gain_times_core(d):
    z, gain = symbols(d), sp.symbols(f"g:{d}")
    assert vanishes(layer(z, gain, [0] * d, eps) - sp.diag(*gain) * core(z, eps))


@fact("bias-constant-input", "eps-constant-input", way="exact")
def test_a_constant_input_gives_the_bias_for_every_gain_and_eps():
    gain, bias = sp.symbols("g:3"), sp.Matrix([1, -1, 2])
    assert vanishes(centered([c, c, c]))
    assert vanishes(variance([c, c, c]))
    assert vanishes(layer([c, c, c], gain, bias, eps) - bias)


@fact("bias-constant-input", "eps-constant-input", way="property")
@given(
    st.sampled_from([np.float16, np.float32, np.float64]), st.floats(-1, 1), st.integers(1, 40), epsilons(), st.data()
)
def test_a_constant_input_gives_the_bias_exactly(dtype, fraction, d, eps, data):
    value = fraction * np.finfo(dtype).max
    gain, bias = data.draw(vectors(d)), data.draw(vectors(d))
    z = np.full(d, value, dtype)
    assert lnbook.center(z).tolist() == [0] * d
    assert lnbook.variance(z) == 0
    assert lnbook.normalize(z, eps=eps).tolist() == [0] * d
    assert lnbook.layer_norm(z, gain, bias, eps=eps).tolist() == bias.tolist()


@fact("bias-constant-input", "bias-mean", way="exact")
@pytest.mark.parametrize("eps", [1e-300, 1e-12, 1e-5, 1, 1e6])
def test_three_threes_give_the_bias_whose_mean_is_two_thirds(eps):
    y = lnbook.layer_norm([3, 3, 3], gain=[5, -7, 0.5], bias=[1, -1, 2], eps=eps)
    assert y.tolist() == [1, -1, 2]
    assert fraction_mean(fractions(y)) == Fraction(2, 3)
    assert fraction_mean(fractions(lnbook.normalize([3, 3, 3], eps=eps))) == 0


@fact("bias-mean", way="exact")
@each_d
def test_with_equal_gains_the_mean_of_the_output_is_the_mean_of_the_bias(d):
    bias = sp.symbols(f"b:{d}")
    assert vanishes(mean(layer(symbols(d), [c] * d, bias, eps)) - mean(bias))


@fact("bias-persists", way="exact")
@each_d
def test_the_bias_survives_the_shift_that_the_core_forgets(d):
    z, bias = symbols(d), sp.symbols(f"b:{d}")
    shifted = layer(z + c * ones(d), [1] * d, bias, eps)
    assert vanishes(shifted - sp.Matrix(bias) - core(z, eps))


@fact("bias-persists", way="property")
@given(st.integers(2, 6).flatmap(vectors), st.integers(-1000, 1000), epsilons(), st.integers(-9, 9))
def test_a_shift_before_is_removed_and_the_same_shift_after_stays(z, shift, eps, bias_size):
    bias = np.full(len(z), bias_size)
    y = lnbook.layer_norm(z + shift, bias=bias, eps=eps)
    expected, scale = layer_digits(z, np.ones(len(z)), bias, eps)
    assert error_in_units(y, expected, scale, np.float64) <= 2


# Gain


@fact("gain-multiplier", way="exact")
@each_d
def test_the_gain_multiplies_coordinate_by_coordinate(d):
    z, gain = symbols(d), sp.symbols(f"g:{d}")
    y, u = layer(z, gain, [0] * d, eps), core(z, eps)
    for i in range(d):
        assert vanishes(y[i] - gain[i] * u[i])


@fact("gain-example", way="exact")
def test_the_gain_example():
    z, gain = [1, 1, -2], [2, 0, -1]
    assert (mean(z), variance(z)) == (0, 2)
    assert core(z, 2) == sp.Matrix([sp.Rational(1, 2), sp.Rational(1, 2), -1])
    assert layer(z, gain, [0, 0, 0], 2) == sp.Matrix([1, 0, 1])
    assert lnbook.variance(z) == 2
    assert lnbook.normalize(z, eps=2).tolist() == [0.5, 0.5, -1]
    assert lnbook.layer_norm(z, gain, eps=2).tolist() == [1, 0, 1]


@fact("gain-moments", way="exact")
def test_unequal_gains_move_mean_and_variance_of_the_example():
    u, y = (fractions(lnbook.layer_norm([1, 1, -2], gain, eps=2)) for gain in (None, [2, 0, -1]))
    assert (fraction_mean(u), fraction_variance(u)) == (0, Fraction(1, 2))
    assert (fraction_mean(y), fraction_variance(y)) == (Fraction(2, 3), Fraction(2, 9))
    assert (mean(layer([1, 1, -2], [2, 0, -1], [0] * 3, 2)), variance([1, 0, 1])) == (
        sp.Rational(2, 3),
        sp.Rational(2, 9),
    )


@fact("gain-moments", way="exact")
@pytest.mark.parametrize(
    "gain", [[1, 2], [3, -1], [2, 0, -1], [0, 0, 1], [1, 1, 1, sp.Rational(101, 100)], [5] * 3, [0]]
)
def test_the_mean_stays_0_for_every_core_if_and_only_if_all_gains_are_equal(gain):
    d, z = len(gain), symbols(len(gain))
    zeros, v = [0] * d, centered(sp.Matrix(gain))
    moved = mean(layer(z, gain, zeros, 2))
    assert vanishes(moved - sum(a * x for a, x in zip(v, core(z, 2), strict=True)) / d)
    assert vanishes(moved) == (len(set(gain)) == 1)
    # The input whose centred vector is that of the gains is one that unequal gains move.
    at_the_gains = mean(layer(gain, gain, zeros, 2))
    assert at_the_gains == v.dot(v) / d / sp.sqrt(variance(gain) + 2) and (at_the_gains > 0) == (v != sp.zeros(d, 1))


@fact("gain-moments", way="property")
@given(st.lists(st.integers(-8, 8), min_size=1, max_size=6))
def test_the_input_like_the_gains_has_an_output_of_mean_0_only_if_they_are_equal(gain):
    y = lnbook.layer_norm(np.array(gain, float), np.array(gain, float), eps=2)
    assert (y.mean() > 1e-3) == (len(set(gain)) > 1)
    assert abs(y.mean()) <= 1e-13 or len(set(gain)) > 1


@fact("gain-moments", way="exact")
def test_the_variance_may_survive():
    z, (a, b) = symbols(2), (3, -1)
    assert vanishes(variance(layer(z, [a, b], [0, 0], 2)) - variance(core(z, 2)))
    assert not vanishes(mean(layer(z, [a, b], [0, 0], 2)))


@fact("gain-sign", way="property")
@with_extreme_rows(0)
@given(cases(vectors=True), st.integers(0, 7))
def test_a_negative_gain_flips_the_sign_of_its_coordinate_alone(case, i):
    d = len(case.z)
    gain = np.ones(d)
    gain[i % d] = -1
    u = lnbook.normalize(case.z, eps=case.eps)
    flipped = lnbook.layer_norm(case.z, gain, eps=case.eps)
    assert flipped.tolist() == [-x if k == i % d else x for k, x in enumerate(u.tolist())]


@fact("gain-sign", way="exact")
def test_a_gain_of_minus_one_turns_the_only_negative_entry():
    assert layer([1, 1, -2], [1, 1, -1], [0] * 3, 2)[2] == -core([1, 1, -2], 2)[2] == 1
    assert lnbook.layer_norm([1, 1, -2], [1, 1, -1], eps=2).tolist() == [0.5, 0.5, 1]


@fact("gain-zero", way="exact")
def test_a_silenced_coordinate_still_acts_on_the_others():
    z, b = symbols(3), sp.Symbol("b")
    y = layer(z, [0, 1, 1], [b, 0, 0], eps)
    assert y[0] == b
    effect = sp.diff(y[1], z[0]).subs(dict(zip(z, [0, 2, 1], strict=True)))
    assert sp.simplify(effect) != 0
    before, after = (lnbook.layer_norm([z0, 2, 1], [0, 1, 1], [4, 0, 0], eps=1) for z0 in (0, 3))
    assert before[0] == after[0] == 4
    assert (before[1:] != after[1:]).all()


@fact("gain-zero", way="property")
@with_extreme_rows(0)
@given(cases(vectors=True), st.integers(0, 7))
def test_a_zero_gain_leaves_exactly_the_bias(case, i):
    d = len(case.z)
    gain, bias = np.ones(d), np.full(d, 0.25)
    gain[i % d] = 0
    assert lnbook.layer_norm(case.z, gain, bias, eps=case.eps)[i % d] == 0.25

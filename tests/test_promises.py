"""The promises at their edges: inputs made to break each, and a search that climbs towards larger errors.

Every row of this file once broke a promise, or comes from climbing: a row is kept where its error grows.
"""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from exact import (
    centered_digits,
    core_digits,
    core_jacobian_product,
    digits,
    error_in_units,
    largest,
    layer_digits,
    promised,
)
from mpmath import mp

import lnbook
from lnbook.pages.max_norm import max_norm_constant

FORMATS = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)
each_format = pytest.mark.parametrize("dtype", FORMATS)


def climb(start, error, rng, steps=60):
    """The largest error found by changing one number of a row at a time and keeping what does not lower it."""
    best, worst = start, error(start)
    for step in range(steps):
        row = best.copy()
        i = rng.integers(len(row))
        change = rng.normal() * 2.0 ** -rng.integers(0, 30)
        row[i] = row[rng.integers(len(row))] if step % 7 == 0 else row[i] * (1 + change)
        found = error(row)
        if np.isfinite(row.astype(float)).all() and found >= worst:
            best, worst = row, found
    return worst


def starts(dtype, rng):
    """Rows of several lengths, some far from 0, some with gaps of many sizes."""
    for d in (2, 3, 5, 8, 65, 130):
        row = rng.normal(size=d)
        yield row.astype(dtype)
        yield (row + 2.0 ** rng.integers(1, 9)).astype(dtype)
        yield (row * 2.0 ** rng.integers(-12, 12, d)).astype(dtype)


@pytest.mark.fact("def-output", way="numeric")
@each_format
def test_no_climb_breaks_the_promise_of_the_forward_pass(dtype):
    rng = np.random.default_rng(1)

    def core_error(z):
        u, _ = core_digits(z, 1e-5)
        return error_in_units(lnbook.normalize(z, eps=1e-5), u, largest(u), dtype)

    def centred_error(z):
        v, _ = centered_digits(z)
        return error_in_units(lnbook.center(z), v, largest(v), dtype)

    def variance_error(z):
        _, q = centered_digits(z)
        return error_in_units(np.asarray(lnbook.variance(z))[None], [q], q, dtype)

    for start in starts(dtype, rng):
        for error in (core_error, centred_error, variance_error):
            assert climb(start, error, rng, 12) <= 0.51


@pytest.mark.fact("def-output", way="numeric")
@each_format
def test_no_climb_breaks_the_promise_of_gain_and_bias(dtype):
    rng = np.random.default_rng(2)
    for start in starts(dtype, rng):
        gain, bias = rng.normal(size=(2, len(start))) * rng.integers(0, 2, (2, len(start)))

        def error(z, gain=gain, bias=bias):
            expected, scale = layer_digits(z, gain, bias, 1e-5)
            return error_in_units(lnbook.layer_norm(z, gain, bias, eps=1e-5), expected, scale, dtype)

        assert climb(start, error, rng, 12) <= promised(dtype, 2)


@pytest.mark.fact("eps-jacobian", way="numeric")
@each_format
def test_no_climb_breaks_the_promise_of_the_derivatives(dtype):
    rng = np.random.default_rng(3)
    for start in starts(dtype, rng):
        d = len(start)
        z, gain = rng.normal(size=d).astype(dtype), rng.normal(size=d).astype(dtype)
        _, root = core_digits(z, 1e-5)

        def jvp_error(h, z=z, root=root):
            exact = core_jacobian_product(z, h, 1e-5)
            scale = max(largest(digits(h)) / root, largest(exact))
            return error_in_units(lnbook.jvp(z, h, eps=1e-5), exact, scale, dtype)

        def vjp_error(g, z=z, root=root, gain=gain):
            w = digits(gain) * digits(g)
            exact = core_jacobian_product(z, w, 1e-5)
            scale = max(largest(w) / root, largest(exact))
            return error_in_units(lnbook.vjp(z, g, gain, eps=1e-5)[0], exact, scale, dtype)

        assert climb(start, jvp_error, rng, 10) <= promised(dtype, 2)
        assert climb(start, vjp_error, rng, 10) <= promised(dtype, 2)


def test_small_gains_are_measured_by_the_largest():
    for z, gain, dtype in (
        ([1e-20, 1, -1], [1, 0, 0], np.float32),
        ([-0.18587517624631926, -0.4585464367230945, 0.08679612223045596], [1, 0.01, 0.01], np.float64),
    ):
        z = np.array(z, dtype)
        expected, scale = layer_digits(z, gain, np.zeros(3), 1e-5)
        assert error_in_units(lnbook.layer_norm(z, gain), expected, scale, dtype) <= promised(dtype, 1.5)


def test_the_remainder_of_the_mean_is_kept():
    """The exact mean lies as far from float64 as it can: 230 entries 8388609 and 231 entries 8388608."""
    z = np.repeat(np.array([8388609, 8388608], np.float32), [230, 231])
    for f, expected in ((lnbook.center, centered_digits(z)[0]), (lnbook.normalize, core_digits(z, 1e-5)[0])):
        assert error_in_units(f(z), expected, largest(expected), np.float32) <= 0.5002


@pytest.mark.fact("bias-positions", "gain-gradient", way="exact")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_over_any_number_of_positions_are_rounded_once(dtype):
    n = 50_001
    z, g = np.tile(np.array([1, -1], dtype), (n, 1)), np.full((n, 2), 2.0**-53, dtype)
    g[0] = 1
    _, dgain, dbias = lnbook.vjp(z, g, eps=0)
    exact = 1 + (n - 1) * Fraction(1, 2**53)
    for got in (dbias[0], dbias[1], dgain[0], -dgain[1]):
        assert abs(Fraction(float(got)) - exact) <= Fraction(float(np.finfo(dtype).eps)) * exact * Fraction(51, 100)


@pytest.mark.fact("gain-gradient", way="numeric")
def test_the_gradient_by_a_gain_keeps_its_digits_where_its_core_entry_is_small():
    z = [0.7, 0.1, 0.4]
    u, _ = core_digits(z, 1e-5)
    assert abs(u[2]) < 1e-15
    assert error_in_units(lnbook.vjp(z, [1, 1, 1])[1][2:], u[2:], u[2], np.float64) <= 1


@pytest.mark.parametrize(
    ("z", "dtype"), [([6e-8, 0], np.float16), ([1e-45, 0, 0], np.float32), ([5e-324, 0, 1e-323], np.float64)]
)
def test_subnormal_results_are_right_to_half_the_smallest_subnormal(z, dtype):
    z = np.array(z, dtype)
    for f in (lnbook.normalize, lnbook.rms_norm):
        got = f(z, eps=1e6)
        v = centered_digits(z)[0] if f is lnbook.normalize else digits(z)
        exact = v / mp.sqrt(mp.mpf(1e6))  # nothing of q shows beside eps
        assert largest(exact) < float(np.finfo(dtype).smallest_normal)
        assert error_in_units(got, exact, 0, dtype) <= 0.51
    u, _ = core_digits(z, 1e-5)
    assert error_in_units(lnbook.normalize(z), u, largest(u), dtype) <= 0.51


def test_subnormal_derivatives_are_right_to_half_the_smallest_subnormal():
    z, h = np.array([300, -300, 100], np.float16), np.array([1e-3, 2e-3, -1e-3], np.float16)
    exact = core_jacobian_product(z, h, 1e-5)
    assert error_in_units(lnbook.jvp(z, h), exact, largest(exact), np.float16) <= 0.51


def test_the_lipschitz_constant_of_subnormal_gains():
    tiny = 5e-324
    expected = mp.mpf(tiny) / mp.sqrt(2) / mp.sqrt(mp.mpf(1e-300))
    got = lnbook.lipschitz_constant(2, [tiny, 0], eps=1e-300)
    assert error_in_units(np.array([got]), [expected], expected, np.float64) <= 4
    # the gains (tiny, tiny, 0) keep all of their largest
    got = lnbook.lipschitz_constant(3, [tiny, tiny, 0], eps=1e-300)
    expected = mp.mpf(tiny) / mp.sqrt(mp.mpf(1e-300))
    assert error_in_units(np.array([got]), [expected], expected, np.float64) <= 4


@pytest.mark.fact("sharp-max-norm", way="numeric")
@pytest.mark.parametrize("d", [58, 3_400_000])
def test_the_constant_of_the_largest_coordinate_in_any_dimension(d):
    """Its closed form at the m where float64 sees the largest value, and beside it, in 50 digits."""
    got = max_norm_constant(d, eps=1)
    m = np.arange(1.0, d)
    a, b = 2 * m / d, (np.sqrt(m * m + m * (d - 1 - m) * d) - m) / d
    inner = 2 * b > a
    values = np.where(inner, 2 * (a + b) ** 1.5 / np.sqrt(27 * np.where(inner, b, 1)), a)
    near = int(np.argmax(values)) + 1

    def closed(m):
        a, b = mp.mpf(2 * m) / d, (mp.sqrt(mp.mpf(m) ** 2 + mp.mpf(m) * (d - 1 - m) * d) - m) / d
        return 2 * (a + b) ** mp.mpf("1.5") / mp.sqrt(27 * b) if 2 * b > a else a

    expected = max(closed(k) for k in {max(1, near - 1), near, min(d - 1, near + 1), d - 1})
    assert error_in_units(np.array([got]), [expected], expected, np.float64) <= 8


@pytest.mark.parametrize("row", [[2**60, 2**60 + 1, 2**60 + 2], [-(2**53) - 1, 0, 1]])
def test_integers_that_float64_does_not_hold_are_refused(row):
    z = np.array(row)
    for f in (lnbook.center, lnbook.normalize, lambda z: lnbook.vjp([1, 2, 3], z), lambda z: lnbook.jvp(z, z)):
        with pytest.raises(ValueError, match="must hold integers that float64 holds exactly, got "):
            f(z)
    with pytest.raises(
        ValueError, match=r"^gain must hold integers that float64 holds exactly, got 18446744073709551615"
    ):
        lnbook.layer_norm([1.0, 2.0], np.array([1, 2**64 - 1], np.uint64))


def test_integers_that_float64_holds_are_exact_at_any_size():
    z = np.array([2**62, 2**62 + 2**10, 2**62 - 2**10])
    assert lnbook.center(z).tolist() == [0, 2**10, -(2**10)]
    assert lnbook.center(np.array([2**63, 2**63 + 2**11], np.uint64)).tolist() == [-1024, 1024]

"""The promise of accuracy, over every d of it, at every offset and scale the dtype holds.

One unit is eps(dtype) times the largest exact entry; the exact values are 50 digits of mpmath from exact integer sums.
"""

import numpy as np
import pytest
from exact import core_digits, core_jacobian_product, digits, error_in_units, largest, promised
from mpmath import mp

import lnbook

DIMENSIONS = [1, 2, 3, 4, 5, 6, 7, 8, 31, 64, 127, 128, 768, 4096]
EPS = (1e-12, 1e-5, 0.3, 1e6)
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_d = pytest.mark.parametrize("d", DIMENSIONS)


def patterns(d, rng):
    """Rows of size 1: the kinds that wear sums down, their numbers with all digits filled."""
    size, other = 1 + rng.random(2)
    yield "normal", rng.normal(size=d)
    yield "alternating", np.resize([size, -size], d)
    yield "two halves", np.where(np.arange(d) < d // 2, size, -size)
    yield "two values", np.where(rng.random(d) < 0.1, size, -other)
    yield "outlier", np.where(np.arange(d) == d // 2, size, -other / 1000)
    yield "ramp", np.linspace(-size, other, d)
    yield "constant", np.full(d, size)


def rows(d, dtype, seed):
    """(name, row) at every offset and scale, thinned out where d is large."""
    rng, info = np.random.default_rng((seed, d)), np.finfo(dtype)
    offsets = [0, 1, -3, 100, 2.0 ** (info.nmant // 2), -(2.0 ** (info.nmant - 4)), 2.0 ** (info.nmant - 1)]
    scales = [0, info.minexp, info.minexp // 2, info.maxexp // 2, info.maxexp - info.nmant - 3]
    placed = [(offset, 0) for offset in offsets] + [(rng.choice(offsets), scale) for scale in scales[1:]]
    for index, (offset, scale) in enumerate(placed):
        for turn, (name, row) in enumerate(patterns(d, rng)):
            if d < 60 or (index + turn) % (3 if d < 700 else 19) == 0:
                yield f"{name} + {offset} at 2**{scale}", np.ldexp(row + offset, int(scale)).astype(dtype)
    yield "near overflow", (info.max * np.resize([1, -1, 0.5], d)).astype(dtype)


@each_dtype
@each_d
def test_normalize_and_layer_norm_are_right_to_the_units_promised(d, dtype):
    rng = np.random.default_rng(d)
    gain, bias = rng.normal(size=(2, d)).astype(dtype)
    for index, (name, z) in enumerate(rows(d, dtype, 0)):
        eps = EPS[index % 4]
        u, _ = core_digits(z, eps)
        assert error_in_units(lnbook.normalize(z, eps=eps), u, largest(u), dtype) <= promised(dtype, 2), name
        stretched = digits(gain) * u
        scale = largest(abs(stretched) + abs(digits(bias)))
        got = lnbook.layer_norm(z, gain, bias, eps=eps)
        assert error_in_units(got, stretched + digits(bias), scale, dtype) <= promised(dtype, 2), name


@each_dtype
@pytest.mark.parametrize("d", [128, 768, 4096, 100_000])
def test_equal_sizes_do_not_wear_the_sum_of_squares_down(d, dtype):
    for size in (1 + np.random.default_rng(d).random(20)).astype(dtype):
        u = lnbook.normalize(np.resize([size, -size], d), eps=1e-5)
        exact = mp.mpf(float(size)) / mp.sqrt(mp.mpf(float(size)) ** 2 + mp.mpf(1e-5))
        assert u.tolist() == [u[0], -u[0]] * (d // 2)
        assert error_in_units(u[:1], [exact], exact, dtype) <= promised(dtype, 2)


def directions(d, u, rng):
    """Directions of size 1, as numbers of any dtype."""
    yield rng.normal(size=d)
    yield np.sign(u) + (u == 0)  # the largest mean(h * u) there is
    yield np.sign(u) * np.resize([1, -1], d)
    yield np.where(np.arange(d) == d // 2, 1.0, 0.0)
    yield 1 + rng.random(d)


@each_dtype
@each_d
def test_jvp_and_vjp_are_right_to_the_units_promised(d, dtype):
    rng, info = np.random.default_rng(d), np.finfo(dtype)
    gain = rng.normal(size=d).astype(dtype)
    sizes = [0, info.minexp + 8, info.maxexp - 8]
    for index, (name, z) in enumerate(rows(d, dtype, 1)):
        eps = EPS[index % 4]
        u, root = core_digits(z, eps)
        several = list(directions(d, np.array(u, float), rng))
        size = sizes[index % 3]
        for h in (np.ldexp(x, size).astype(dtype) for x in (several if d < 9 else [several[index % 5]])):
            exact = core_jacobian_product(z, h, eps)
            got = lnbook.jvp(z, h, eps=eps)
            assert error_in_units(got, exact, max(largest(digits(h)) / root, largest(exact)), dtype) <= promised(
                dtype, 4
            ), name
            exact = core_jacobian_product(z, digits(gain) * digits(h), eps)
            got = lnbook.vjp(z, h, gain, eps=eps)[0]
            scale = max(largest(digits(gain) * digits(h)) / root, largest(exact))
            assert error_in_units(got, exact, scale, dtype) <= promised(dtype, 4), name


@each_dtype
@pytest.mark.parametrize("d", [1, 4, 768])
def test_the_gradients_of_the_parameters_are_right_to_units_of_the_sum_of_their_terms(d, dtype):
    rng = np.random.default_rng(d)
    z = rng.normal(2, 1, (3000 // d + 9, d)).astype(dtype)
    for g in (rng.normal(size=z.shape), np.full(z.shape, 0.1), np.full(z.shape, float(np.finfo(dtype).max) / 1e5)):
        g = g.astype(dtype)
        _, dgain, dbias = lnbook.vjp(z, g)
        terms = digits(g) * np.array([core_digits(row, 1e-5)[0] for row in z])
        assert error_in_units(dbias, digits(g).sum(axis=0), largest(abs(digits(g)).sum(axis=0)), dtype) <= promised(
            dtype, 8
        )
        assert error_in_units(dgain, terms.sum(axis=0), largest(abs(terms).sum(axis=0)), dtype) <= promised(dtype, 8)


@each_dtype
def test_extreme_directions_neither_overflow_nor_vanish_on_the_way(dtype):
    high, low = float(np.finfo(dtype).max), float(np.finfo(dtype).smallest_normal)
    tiny, z = float(np.finfo(dtype).smallest_subnormal), np.array([1, 2, 4], dtype)
    for scale, eps in ((1, 1e-5), (high / 8, 1e-5), (low, 0), (low, 1e-12), (tiny, 0), (1, high), (low, low * low)):
        row = z * dtype(scale)
        for size, gain_size in (
            (high, low),
            (low, high),
            (high, high),
            (tiny, 1),
            (low, low),
            (high, 1e-3),
            (tiny, high),
        ):
            h = np.array([0.9 * size, size, -size / 2], dtype)
            gain = np.array([gain_size, -gain_size / 4, 0.8 * gain_size], dtype)
            _, root = core_digits(row, eps)
            exact = core_jacobian_product(row, digits(gain) * digits(h), eps)
            got = lnbook.vjp(row, h, gain, eps=eps)[0]
            scale = largest(digits(gain) * digits(h)) / root
            assert error_in_units(got, exact, scale, dtype) <= promised(dtype, 4)
            exact = digits(gain) * core_jacobian_product(row, h, eps)
            got = lnbook.jvp(row, h, gain, eps=eps)
            assert error_in_units(got, exact, largest(digits(gain)) * largest(digits(h)) / root, dtype) <= promised(
                dtype, 4
            )


def test_a_direction_of_zero_gives_zero_and_a_row_of_nan_gives_nan_beside_extreme_ones():
    z = np.array([[1, 2, 4], [np.nan, 1, 2], [3, 3, 3], [1e38, -1e38, 0]], np.float32)
    h = np.array([[0, 0, 0], [1, 1, 1], [1e38, 1e38, -1e38], [0, 0, 0]], np.float32)
    for got in (lnbook.jvp(z, h), lnbook.vjp(z, h)[0]):
        assert got[[0, 3]].tolist() == [[0, 0, 0]] * 2
        assert np.isnan(got[1]).all()
        expected = core_jacobian_product(z[2], h[2], 1e-5)
        assert largest(expected) > mp.mpf(float(np.finfo(np.float32).max))
        assert got[2].tolist() == [np.inf, np.inf, -np.inf]


@each_dtype
def test_derivatives_whose_root_has_no_inverse_are_infinite_only_where_they_leave_the_range(dtype):
    low = np.float64(np.finfo(dtype).smallest_subnormal)
    z = (np.array([1, 1, -1, -1]) * low).astype(dtype)  # q = low^2, and 1 / low is out of range
    block = np.array([[1, -1], [-1, 1]])
    with np.errstate(over="ignore"):
        infinite = np.array(1 / low).astype(dtype)
    assert np.isinf(infinite)
    J = lnbook.jacobian(z, eps=0)
    assert np.array_equal(J[:2, :2], block * infinite)
    assert np.array_equal(J[2:, 2:], block * infinite)
    assert not J[:2, 2:].any()
    assert not J[2:, :2].any()
    assert lnbook.spectrum(z, eps=0).eigenvalues.tolist() == [0, 0, np.inf]
    assert lnbook.operator_norm(z, eps=0) == lnbook.operator_norm(z, [1, 1, 1, 1], eps=0) == np.inf
    gain = np.full(4, low)
    assert np.array_equal(lnbook.jacobian(z, gain, eps=0), np.kron(np.eye(2), block) / 2)
    assert lnbook.operator_norm(z, gain, eps=0) == pytest.approx(1, rel=1e-6)
    coefficients = lnbook.taylor(z, z[[1, 2, 3, 0]], 2, eps=0)
    expected = lnbook.taylor([1, 1, -1, -1], [1, -1, -1, 1], 2, eps=0)
    assert np.array_equal(coefficients, expected)

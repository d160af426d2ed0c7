"""The facts of the page on floating point, and lnbook.pages.algorithms, against fractions and integers."""

import re
from fractions import Fraction
from math import ceil, log2
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import sympy as sp
from exact import fraction_mean, fraction_variance, fractions, largest, vanishes
from hypothesis import assume, given
from hypothesis import strategies as st

from lnbook import normalize
from lnbook.pages import algorithms
from lnbook.pages.algorithms import CORES
from lnbook.pages.figures import error_over_offset, stored_after_shift

ROOT = Path(__file__).parents[1]
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
BITS = {np.dtype(np.float16): 11, np.dtype(np.float32): 24, BFLOAT16: 8}


def numbers(array):
    """The numbers of an array of any format, exactly."""
    return fractions(np.asarray(array).astype(np.float64).ravel())


def eta(dtype):
    return Fraction(1, 2 ** BITS[dtype])


def theta(n, dtype):
    return n * eta(dtype) / (1 - n * eta(dtype))


def additions(d):
    """How many additions an entry takes part in at most, in pairs of pairs."""
    return ceil(log2(d))


@st.composite
def rows(draw, low=2, high=20):
    """A row with a standard deviation near 1 around an offset, in one of three formats; not constant as stored."""
    dtype = draw(st.sampled_from(list(BITS)))
    d = draw(st.integers(low, high))
    noise = np.random.default_rng(draw(st.integers(0, 2**32))).standard_normal(d)
    offset = draw(st.sampled_from([1, -1])) * 2.0 ** draw(st.integers(-2, min(BITS[dtype] - 1, 9)))
    z = (noise + offset).astype(dtype)
    assume(len(set(z.tolist())) > 1)
    return z


def square_root(x):
    """A float a little above the root of a fraction."""
    return Fraction(float(x) ** 0.5) * (1 + Fraction(1, 2**40))


@pytest.mark.fact("float-model", way="property")
@given(st.sampled_from(list(BITS)), st.floats(2.0**-6, 2.0**6), st.floats(-(2.0**6), -(2.0**-6)))
def test_one_operation_is_off_by_at_most_eta(dtype, x, y):
    a, b = np.array([x], dtype), np.array([y], dtype)
    (exact_a,), (exact_b,) = numbers(a), numbers(b)
    for got, exact in (
        (a + b, exact_a + exact_b), (a - b, exact_a - exact_b), (a * b, exact_a * exact_b), (a / b, exact_a / exact_b)
    ):  # fmt: skip
        assert abs(numbers(got)[0] - exact) <= eta(dtype) * abs(exact)
    root = numbers(np.sqrt(a))[0]
    assert (1 - eta(dtype)) ** 2 * exact_a <= root**2 <= (1 + eta(dtype)) ** 2 * exact_a


@pytest.mark.fact("float-model", way="exact")
def test_eta_is_attained_up_to_a_little():
    for dtype, bits in BITS.items():
        one, tie = np.array([1], dtype), np.array([2.0**-bits], dtype)
        assert numbers(one + tie) == [1]  # off by eta / (1 + eta) of the exact sum


@pytest.mark.fact("rounding-products", way="property")
@given(
    st.integers(2, 24),
    st.lists(st.fractions(-1, 1, max_denominator=64), min_size=1, max_size=6),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_products_of_roundings(bits, shares, j, k):
    unit = Fraction(1, 2**bits)

    def bound(n):
        return n * unit / (1 - n * unit)

    n = len(shares)
    if n * unit < 1:
        product = Fraction(1)
        for share in shares:
            product *= 1 + share * unit
        assert abs(product - 1) <= bound(n)
        assert (1 + unit) ** n - 1 <= bound(n)
    if (j + k) * unit < 1:
        assert (1 + bound(j)) * (1 + bound(k)) <= 1 + bound(j + k)
        assert bound(j) + bound(k) <= bound(j + k)


@pytest.mark.fact("sterbenz", way="exact")
def test_all_close_pairs_of_a_small_format_subtract_exactly():
    for a in np.arange(128, 257, dtype=np.float64):
        b = np.array(np.arange(np.ceil(a / 2), 2 * a + 1), BFLOAT16)  # rounded numbers of the format
        b = b[(b.astype(float) >= a / 2) & (b.astype(float) <= 2 * a)]
        difference = np.array(a, BFLOAT16) - b
        assert (difference.astype(float) == a - b.astype(float)).all()


@pytest.mark.fact("sterbenz", way="property")
@given(st.sampled_from(list(BITS)), st.integers(2, 20), st.sampled_from([1, -1]), st.integers(0, 2**32))
def test_at_a_large_offset_the_only_error_of_centring_is_that_of_the_mean(dtype, d, sign, seed):
    noise = np.random.default_rng(seed).uniform(-1, 1, d)
    z = (sign * (100 + 25 * noise)).astype(dtype)
    mean = algorithms.mean(z)
    (exact_mean,) = numbers(mean)
    assert numbers(z - mean) == [x - exact_mean for x in numbers(z)]


@pytest.mark.fact("input-rounding", way="property")
@given(rows(), st.integers(-3, 12), st.sampled_from([1e-5, 0.5]))
def test_core_moves_no_further_than_the_stored_errors_allow(row, power, eps):
    dtype, c = row.dtype, 2.0**power
    z = row.astype(np.float64)
    stored = (z + c).astype(dtype).astype(np.float64)
    e = [x - y - Fraction(c) for x, y in zip(fractions(stored), fractions(z), strict=True)]
    for error, x in zip(e, fractions(z), strict=True):
        assert abs(error) <= eta(dtype) * abs(x + Fraction(c)) * (1 + Fraction(1, 2**20))  # z + c is rounded twice
    length = square_root(len(z) * fraction_variance(e))
    before, after = (float(fraction_variance(fractions(x))) + eps for x in (z, stored))
    moved = np.linalg.norm(normalize(stored, eps=eps) - normalize(z, eps=eps))
    assert moved <= 2 * float(length) / (before**0.5 + after**0.5) + 1e-13


@pytest.mark.fact("input-rounding", way="exact")
def test_pair_becomes_constant_and_bound_is_dunkl_williams():
    for dtype, bits in BITS.items():
        assert numbers(np.array([2**bits, 2**bits + 1], dtype)) == [2**bits, 2**bits]
    eps = sp.Symbol("epsilon", positive=True)
    mu, q = sp.Rational(1, 2), sp.Rational(1, 4)
    assert vanishes((1 - mu) / sp.sqrt(q + eps) - 1 / sp.sqrt(1 + 4 * eps))
    A, B, D = sp.symbols("A B D", positive=True)
    slack = 4 * D**2 / (A + B) ** 2 - (D**2 - (A - B) ** 2) / (A * B)
    assert sp.factor(slack - (A - B) ** 2 * ((A + B) ** 2 - D**2) / (A * B * (A + B) ** 2)) == 0


@pytest.mark.fact("mean-error", way="property")
@given(rows(high=40), st.booleans())
def test_computed_mean(z, in_turn):
    exact, d, dtype = numbers(z), len(z), z.dtype
    mean, T = (algorithms.mean_in_turn, d - 1) if in_turn else (algorithms.mean, additions(d))
    bound = theta(T + 1, dtype) * sum(map(abs, exact)) / d
    assert abs(numbers(mean(z))[0] - fraction_mean(exact)) <= bound
    assert (sum(map(abs, exact)) / d) ** 2 <= fraction_mean([x * x for x in exact])


@pytest.mark.fact("mean-error", way="exact")
@pytest.mark.parametrize("d", [1, 2, 3, 5, 8, 13, 64, 768])
def test_number_of_additions(d):
    """Each entry's own path, found by adding up symbols of depth: max(left, right) + 1 for each addition."""

    class Depth(int):
        def __add__(self, other):
            return Depth(max(int(self), int(other)) + 1)

        def __truediv__(self, d):
            return Fraction(int(self), d)

    depth = algorithms.mean(np.array([Depth(0)] * d, dtype=object))[0] * d
    assert depth == additions(d)


@pytest.mark.fact("mean-error", way="exact")
def test_two_orders_of_addition():
    """300 ones in bfloat16: one after the other the sum stalls at 256, in pairs it is exact."""
    ones = np.ones(300, BFLOAT16)
    assert numbers(algorithms.mean(ones)) == [1]
    assert numbers(algorithms.mean_in_turn(ones)) == numbers(np.array([256], BFLOAT16) / np.array([300], BFLOAT16))


@pytest.mark.fact("wrong-mean", way="exact")
@pytest.mark.parametrize("d", [1, 2, 3])
def test_wrong_mean_for_all_inputs(d):
    z = sp.symbols(f"z1:{d + 1}", real=True)
    delta, eps = sp.Symbol("delta", real=True), sp.Symbol("epsilon", positive=True)
    mu = sum(z) / sp.Integer(d)
    v = [x - mu for x in z]
    q = sum(x**2 for x in v) / d
    w = [x - (mu - delta) for x in z]
    assert sp.expand(sum(x**2 for x in w) / d - q - delta**2) == 0
    root = sp.sqrt(q + delta**2 + eps)
    for x, y in zip(w, v, strict=True):
        u = y / sp.sqrt(q + eps)
        assert sp.simplify(x / root - sp.sqrt(q + eps) / root * u - delta / root) == 0


@pytest.mark.fact("one-pass", way="property")
@given(rows(high=40))
def test_one_pass_keeps_its_bound(z):
    exact, T = numbers(z), additions(len(z))
    assume(float(max(map(abs, exact))) ** 2 * len(z) < 6e4)  # float16 squares must not overflow
    q = fraction_variance(exact)
    got = numbers(algorithms.one_pass_variance(z))[0]
    assert abs(got - q) <= theta(3 * T + 6, z.dtype) * (q + fraction_mean(exact) ** 2)


@pytest.mark.fact("one-pass", way="numeric")
def test_error_of_one_pass_grows_with_the_square_of_the_offset():
    noise = np.random.default_rng(1).standard_normal((200, 64))
    errors = []
    for offset in (2.0**6, 2.0**9):
        z = (noise + offset).astype(np.float32)
        errors.append(np.median(np.abs(algorithms.one_pass_variance(z)[:, 0] - z.astype(float).var(axis=-1))))
    assert 32 < errors[1] / errors[0] < 128  # 8^2 = 64


@pytest.mark.fact("one-pass-example", way="exact")
def test_doubled_and_negative_variance():
    for dtype, bits in ((BFLOAT16, 8), (np.dtype(np.float32), 24)):
        z = np.array([2 ** (bits // 2), 2 ** (bits // 2) + 2], dtype)
        assert fraction_variance(numbers(z)) == 1
        assert numbers(algorithms.one_pass_variance(z)) == [2]
        assert numbers(algorithms.mean_in_turn(z * z) - algorithms.mean_in_turn(z) ** 2) == [2]
    z = np.array([25, 26], BFLOAT16)
    assert fraction_variance(numbers(z)) == Fraction(1, 4)
    assert numbers(algorithms.one_pass_variance(z)) == [-4]


def nearest(x, bits):
    """The nearest integer of `bits` significant bits to the positive integer or half-integer x, ties to even."""
    step = Fraction(1, 2)
    while x / step >= 2**bits:
        step *= 2
    return round(Fraction(x) / step) * step


@pytest.mark.fact("one-pass-example", way="exact")
@pytest.mark.parametrize("bits", range(4, 40, 2))
def test_doubled_variance_in_all_formats(bits):
    N = 2 ** (bits // 2)
    squares = [nearest(x * x, bits) for x in (N, N + 2)]
    mean_of_squares = nearest(nearest(sum(squares), bits) / 2, bits)
    assert mean_of_squares - nearest((N + 1) ** 2, bits) == 2


@pytest.mark.fact("two-pass-example", way="exact")
def test_rounded_mean_in_all_formats():
    for bits in range(2, 40):
        low = 2**bits
        assert nearest(2 * low + 2, bits) / 2 == low and nearest(low + 2, bits) == low + 2
    assert nearest(2 * 2 + 2, 1) / 2 == 4  # with one bit the tie goes up


@pytest.mark.fact("two-pass-example", way="exact")
@pytest.mark.parametrize("dtype", [BFLOAT16, np.dtype(np.float32)])
def test_mean_rounded_away_and_found_again(dtype):
    low = 2 ** BITS[dtype]
    z = np.array([low, low + 2], dtype)
    c = z - algorithms.mean(z)
    assert numbers(c) == [0, 2]
    assert numbers(c - algorithms.mean(c)) == [-1, 1]


@pytest.mark.fact("two-pass", way="property")
@given(rows(high=40))
def test_two_passes_keep_their_bounds(z):
    exact, T, dtype = numbers(z), additions(len(z)), z.dtype
    mu, q = fraction_mean(exact), fraction_variance(exact)
    m = algorithms.mean(z)
    delta = mu - numbers(m)[0]
    assert delta**2 <= theta(T + 1, dtype) ** 2 * (q + mu**2)
    w = z - m
    for got, x in zip(numbers(w), exact, strict=True):
        assert abs(got - (x - mu)) <= abs(delta) + eta(dtype) * abs(x - mu + delta)
    off = sum((got - (x - mu)) ** 2 for got, x in zip(numbers(w), exact, strict=True))
    assert off <= theta(T + 2, dtype) ** 2 * (q + mu**2) * len(z)  # kappa |v| = |z|
    got = numbers(algorithms.mean(w * w))[0]
    assert abs(got - (q + delta**2)) <= theta(T + 4, dtype) * (q + delta**2)


@pytest.mark.fact("two-pass", way="numeric")
def test_error_of_two_passes_grows_with_the_offset():
    noise = np.random.default_rng(1).standard_normal((200, 64))
    errors = []
    for offset in (2.0**8, 2.0**14):
        z = (noise + offset).astype(np.float32)
        u = normalize(z.astype(float))
        errors.append(np.median(np.abs(algorithms.core_two_pass(z, 1e-5) - u).max(axis=-1)))
    assert 16 < errors[1] / errors[0] < 256  # 2^6 = 64


@pytest.mark.fact("welford", way="exact")
def test_recurrence_of_welford():
    z = sp.symbols("z1:6", real=True)
    m, total = z[0], sp.Integer(0)
    for k in range(2, 6):
        b = z[k - 1] - m
        m = m + b / k
        total = total + b * (z[k - 1] - m)
        mu = sum(z[:k]) / sp.Integer(k)
        assert sp.expand(m - mu) == 0
        assert sp.expand(total - sum((x - mu) ** 2 for x in z[:k])) == 0


@pytest.mark.fact("welford", way="exact")
def test_blocks_merge_to_mean_and_sum_of_squares():
    z = sp.symbols("z1:6", real=True)

    def mean_and_total(block):
        m = sum(block) / sp.Integer(len(block))
        return m, sum((x - m) ** 2 for x in block)

    for a in range(1, 5):
        (m, total), (other_m, other_total) = mean_and_total(z[:a]), mean_and_total(z[a:])
        b, share = other_m - m, sp.Rational(5 - a, 5)
        whole_m, whole_total = mean_and_total(z)
        assert sp.expand(m + b * share - whole_m) == 0
        assert sp.expand(total + other_total + b**2 * a * share - whole_total) == 0


@pytest.mark.fact("welford", way="property")
@given(rows(high=40))
def test_variance_of_welford_is_never_negative_and_near(z):
    m, q = algorithms.welford(z)
    assert numbers(q)[0] >= 0
    exact = numbers(z)
    spread = square_root(fraction_variance(exact) + fraction_mean(exact) ** 2)
    assert abs(numbers(m)[0] - fraction_mean(exact)) <= theta(2 * len(z), z.dtype) * 2 * spread
    variance = fraction_variance(exact)
    assert abs(numbers(q)[0] - variance) <= theta(2 * len(z), z.dtype) * 2 * spread * square_root(variance)


@pytest.mark.fact("welford", way="exact")
def test_one_pass_is_negative_where_welford_is_not():
    z = np.array([25, 26], BFLOAT16)
    assert numbers(algorithms.welford(z)[1])[0] > 0 > numbers(algorithms.one_pass_variance(z))[0]


@pytest.mark.fact("affine-form", way="property")
@given(rows(), st.floats(0.25, 4))
def test_affine_form_keeps_its_bound(z, r):
    dtype = z.dtype
    m, r = algorithms.mean(z), np.array([r], dtype)
    (exact_m,), (exact_r,) = numbers(m), numbers(r)
    for got, direct, x in zip(numbers(z * r - m * r), numbers((z - m) * r), numbers(z), strict=True):
        product = exact_r * (x - exact_m)
        rho = eta(dtype) * exact_r * (abs(x) + abs(exact_m))
        assert abs(got - product) <= rho + eta(dtype) * (abs(product) + rho)
        assert abs(direct - product) <= theta(2, dtype) * abs(product)


@pytest.mark.fact("affine-form", way="exact")
def test_affine_form_loses_what_subtracting_keeps():
    """Mean 17 and r = 1.3125 are exact in bfloat16; the products are not."""
    z, m, r = np.array([16, 18], BFLOAT16), np.array([17], BFLOAT16), np.array([1.3125], BFLOAT16)
    assert numbers((z - m) * r) == [Fraction(-21, 16), Fraction(21, 16)]
    assert numbers(z * r - m * r) != numbers((z - m) * r)
    u, direct = (CORES[name](z, 0.25) for name in ("z·r − m·r", "two pass"))
    assert numbers(direct)[0] == -numbers(direct)[1] and numbers(u)[0] != -numbers(u)[1]


@pytest.mark.fact("affine-form", way="exact")
def test_affine_form_loses_nearly_two_kappa_roundings():
    """In float32 mean and root are exact, the product and the difference are not."""
    z, m, r = np.array([8230, 8232], np.float32), np.float32(8231), np.float32(1 - 206 / 2**24)
    assert algorithms.mean(z) == [m] and numbers(r) == [1 - Fraction(206, 2**24)]
    off = numbers(z * r + (0 - m * r))[1] - numbers(r)[0]
    unit, kappa_squared = Fraction(1, 2**24), 1 + 8231**2
    assert (Fraction(196, 100) * unit) ** 2 * kappa_squared < off**2 < (2 * unit) ** 2 * kappa_squared


@pytest.mark.fact("recentre-twice", way="property")
@given(rows(high=40))
def test_centring_twice_keeps_its_bound(z):
    exact, T, dtype = numbers(z), additions(len(z)), z.dtype
    mu, q = fraction_mean(exact), fraction_variance(exact)
    assume(theta(T + 1, dtype) ** 2 * (q + mu**2) <= q)
    c = z - algorithms.mean(z)
    got = numbers(c - algorithms.mean(c))
    v = [x - mu for x in exact]
    assert max(abs(a - b) for a, b in zip(got, v, strict=True)) <= 2 * theta(T + 4, dtype) * largest(v)


@pytest.mark.fact("recentre-twice", way="numeric")
def test_only_centring_twice_is_right_at_every_offset():
    noise = np.random.default_rng(2).standard_normal((50, 768))
    for offset in (1e2, 1e4, 1e6):
        z = (noise + offset).astype(np.float32)
        u = normalize(z.astype(float))
        worst = {name: np.abs(core(z, 1e-5) - u).max() * 2**24 for name, core in CORES.items()}
        assert worst.pop("centred twice") < 16
        assert not any(error <= 16 for error in worst.values())  # NaN is not right either


@pytest.mark.fact("recentre-twice", way="exact")
def test_constants_of_the_proof():
    unit = Fraction(1, 8)
    assert 5 * unit + 4 * unit**2 <= 6 * unit
    assert 2 * (1 + unit) ** 4 <= 4  # sqrt(2) (1 + unit)^2 <= 2, squared


@pytest.mark.fact("square-range", way="exact")
def test_where_squares_leave_the_range():
    with np.errstate(over="ignore", under="ignore"):
        for dtype, power in ((np.float16, 8), (np.float32, 64), (np.float64, 512), (BFLOAT16, 64)):
            a = np.array([2.0**power], dtype)
            assert np.isinf((a * a).astype(float)[0])
            below = a * (1 - 2 * np.array(ml_dtypes.finfo(dtype).eps, dtype))
            assert np.isfinite((below * below).astype(float)[0])
        for dtype, power in ((np.float16, 25), (np.float32, 150)):
            root = dtype(2.0 ** (-power / 2))
            low = root if Fraction(float(root)) ** 2 <= Fraction(1, 2**power) else np.nextafter(root, dtype(0))
            assert low * low == 0
            high = np.nextafter(low, dtype(1))
            assert high * high > 0


@pytest.mark.fact("scaled-statistics", way="exact")
def test_scaled_form_for_all_inputs():
    z, (s, eps) = sp.symbols("z1:4", real=True), sp.symbols("s epsilon", positive=True)
    mu = sum(z) / sp.Integer(3)
    q = sum((x - mu) ** 2 for x in z) / 3
    for x in z:
        scaled = (x - mu) / s / sp.sqrt(sum(((y - mu) / s) ** 2 for y in z) / 3 + eps / s**2)
        assert sp.simplify(scaled**2 - (x - mu) ** 2 / (q + eps)) == 0
        assert (
            sp.simplify(scaled.subs({z[0]: 1, z[1]: 2, z[2]: 4, s: 5, eps: 2}) * sp.sign(x - mu)).subs(
                {z[0]: 1, z[1]: 2, z[2]: 4}
            )
            >= 0
        )


@pytest.mark.fact("scaled-statistics", way="property")
@given(rows(), st.integers(-60, 60), st.sampled_from([1e-12, 1e-5, 1e6]))
def test_sum_under_the_root_is_moderate(z, power, eps):
    exact = [x * Fraction(2) ** power for x in numbers(z)]
    d, mu, q = len(exact), fraction_mean(exact), fraction_variance(exact)
    top = max(max((x - mu) ** 2 for x in exact), Fraction(eps))  # s squared
    assert Fraction(1, d) <= (q + Fraction(eps)) / top <= 2
    power_of_two = Fraction(1)
    while power_of_two**2 < top:
        power_of_two *= 2
    while power_of_two**2 / 4 >= top:
        power_of_two /= 2
    assert Fraction(1, 4 * d) < (q + Fraction(eps)) / power_of_two**2 <= 2
    assert all((x - mu) ** 2 <= top for x in exact)


@pytest.mark.fact("scaled-statistics", way="numeric")
@pytest.mark.parametrize("scale", [1e30, 1e-30])
def test_scaled_form_at_the_ends_of_the_range(scale):
    z = np.array([1, 2, 3, 4], np.float32) * np.float32(scale)
    expected = np.array([-3, -1, 1, 3]) / np.sqrt(5)
    assert np.abs(normalize(z, eps=0) - expected).max() < 3e-7
    for core in CORES.values():
        assert not np.abs(core(z, 0) - expected).max() < 0.1


@pytest.mark.fact("eps-absorbed", way="property")
@given(st.sampled_from(list(BITS)), st.floats(1, 1000), st.floats(0, 0.5))
def test_small_epsilon_is_absorbed(dtype, q, share):
    q = np.array([q], dtype)
    eps = np.array([share * float(eta(dtype)) * float(q[0])], dtype)
    assume(numbers(eps)[0] <= eta(dtype) * numbers(q)[0] / 2)
    assert numbers(q + eps) == numbers(q)


@pytest.mark.fact("eps-absorbed", way="exact")
def test_epsilon_that_float16_stores_as_zero():
    assert np.float16(2.0**-25) == 0 < np.float16(np.nextafter(2.0**-25, 1))
    zeros = np.zeros(4, np.float16)
    assert np.isnan(algorithms.core_two_pass(zeros, 1e-12)).all()
    assert normalize(zeros, eps=1e-12).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("name", CORES)
def test_every_algorithm_is_right_on_an_easy_row(name):
    z = np.array([[1, 2, 4], [0, -3, 1]], np.float64)
    assert CORES[name](z, 0.5) == pytest.approx(normalize(z, eps=0.5), rel=1e-13, abs=1e-13)


def test_table_of_the_page_is_the_record():
    record = (ROOT / "book" / "_records" / "floating-point.txt").read_text("utf-8")
    assert record in (ROOT / "book" / "floating-point.md").read_text("utf-8")
    assert len(re.findall(r"^\|", record, re.MULTILINE)) == 9


def test_figures_are_drawn_from_the_algorithms():
    figure = error_over_offset([("bfloat16", BFLOAT16, 8, 4), ("float16", np.float16, 11, 4)], rows=4)
    assert [text.get_text() for text in figure.pictures[0].legends[0].get_texts()] == ["storing the input", *CORES]
    (axes,) = stored_after_shift([0.3, 1.3], [256], BFLOAT16).axes
    assert axes.lines[-1].get_xdata().tolist() == [0, 2]


@pytest.mark.parametrize("name", ["mean", "mean_in_turn", "one_pass_variance", "welford", *CORES])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_a_stack_of_rows_is_computed_row_by_row(name, d):
    z = np.random.default_rng(d).standard_normal((2, 3, d)).astype(np.float32)
    f = (lambda z: CORES[name](z, 1e-5)) if name in CORES else getattr(algorithms, name)
    one_by_one = np.array([[f(row) for row in rows] for rows in z])
    assert np.array_equal(np.moveaxis(one_by_one, -2, 0) if name == "welford" else one_by_one, f(z))

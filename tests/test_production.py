"""In production, the first half: padding and masks, counts, ranks and shards."""

from collections import Counter
from fractions import Fraction
from itertools import permutations
from typing import ClassVar

import numpy as np
import pytest
import sympy as sp
from exact import centered, core, core_jacobian, fraction_mean, fraction_variance, mean, symbols, vanishes, variance
from hypothesis import given
from hypothesis import strategies as st

import lnbook

fact = pytest.mark.fact
R = sp.Rational
eps = sp.Symbol("eps", positive=True)
quarters = st.integers(-16, 16).map(lambda k: Fraction(k, 4))
rows = st.lists(quarters, min_size=1, max_size=5)
seeds = st.integers(0, 2**32 - 1)


def column(*entries):
    return sp.Matrix([sp.nsimplify(entry) for entry in entries])


# Padding and masks


@fact("prod-rows", way="property")
@given(seeds)
def test_a_row_sees_no_other_row(seed):
    rng = np.random.default_rng(seed)
    z, g, gain, bias = rng.normal(size=(4, 6)), rng.normal(size=(4, 6)), rng.normal(size=6), rng.normal(size=6)
    other, other_g = z.copy(), g.copy()
    other[1:], other_g[1:] = rng.normal(size=(2, 3, 6))
    assert np.array_equal(lnbook.layer_norm(z, gain, bias)[0], lnbook.layer_norm(other, gain, bias)[0])
    assert np.array_equal(lnbook.vjp(z, g, gain)[0][0], lnbook.vjp(other, other_g, gain)[0][0])
    masked = np.where(np.arange(4)[:, None] < 3, g, 0)
    dz, dgain, dbias = lnbook.vjp(z, masked, gain)
    assert not dz[3].any()
    _, alone_gain, alone_bias = lnbook.vjp(z[:3], g[:3], gain)
    assert np.allclose(dgain, alone_gain, rtol=1e-14, atol=1e-14)
    assert np.allclose(dbias, alone_bias, rtol=1e-14, atol=1e-14)


@fact("prod-rows", way="exact")
@pytest.mark.parametrize("c", [0, -3, 7])
def test_a_row_of_equal_numbers(c):
    z, gain, bias, g = [c] * 3, column(2, 1, -1), column(1, 0, 5), column(1, 0, 2)
    assert core(z, eps).is_zero_matrix
    assert core_jacobian(z, eps) == (sp.eye(3) - sp.ones(3, 3) / 3) / sp.sqrt(eps)
    weighted = gain.multiply_elementwise(g)
    expected = np.array((core_jacobian(z, R(1, 100)) * weighted).tolist(), float)[:, 0]
    dz, dgain, dbias = lnbook.vjp(np.array(z, float), [1.0, 0, 2], [2.0, 1, -1], eps=0.01)
    assert np.allclose(dz, expected, rtol=1e-14)
    assert np.allclose(dz, np.array([20, 0, -20]), rtol=1e-14)
    assert dgain.tolist() == [0, 0, 0]
    assert dbias.tolist() == [1, 0, 2]
    assert lnbook.layer_norm(np.array(z, float), [2.0, 1, -1], [1.0, 0, 5]).tolist() == [1, 0, 5]
    assert bias.T.tolist() == [[1, 0, 5]]


def filled(real, n):
    return [*real, *[Fraction(0)] * (n - len(real))]


@fact("prod-padding", way="property")
@given(rows, st.integers(0, 6))
def test_the_moments_of_a_row_filled_up_with_zeros(real, zeros):
    n = len(real) + zeros
    share, mu, q = Fraction(len(real), n), fraction_mean(real), fraction_variance(real)
    assert fraction_mean(filled(real, n)) == share * mu
    assert fraction_variance(filled(real, n)) == share * (q + (1 - share) * mu**2)


@fact("prod-padding", way="property")
@given(rows, st.integers(1, 6))
def test_which_rows_do_not_see_their_padding(real, zeros):
    k, padded = len(real), core(filled(real, len(real) + zeros), 2)
    assert (padded[:k, :] == core(real, 2)) == (not any(real))


@fact("prod-padding", way="property")
@given(st.lists(quarters, min_size=1, max_size=4), st.integers(1, 6), st.sampled_from([0, R(1, 3), 5]))
def test_the_factor_of_centred_entries(half, zeros, e):
    real = [*half, *[-entry for entry in half]]
    q = fraction_variance(real)
    k, n = len(real), len(real) + zeros
    if q + e:
        alone, padded = core(real, e), core(filled(real, n), e)[:k, :]
        factor = sp.sqrt((q + e) / (R(k, n) * q + e))
        assert padded == factor * alone or vanishes(padded - factor * alone)
        assert 1 <= factor <= sp.sqrt(R(n, k))
        if q and e == 0:
            assert factor == sp.sqrt(R(n, k))


@fact("prod-padding", way="exact")
def test_two_entries_and_six_zeros():
    assert core([1, 3], 3) == column(R(-1, 2), R(1, 2))
    assert core([1, 3] + [0] * 6, 3) == column(R(1, 4), R(5, 4), *[R(-1, 4)] * 6)
    got = lnbook.normalize(np.array([1.0, 3] + [0] * 6), eps=3)
    assert got.tolist() == [0.25, 1.25] + [-0.25] * 6


@fact("prod-padding", way="exact")
def test_the_picture_draws_the_core_of_the_padded_row():
    from lnbook.pages.figures import padded_core

    lines = padded_core([1, 3], eps=3, most=6).axes[0].lines
    for drawn, place, counts in ((lines[1], 0, range(7)), (lines[3], 1, range(7)), (lines[5], -1, range(1, 7))):
        expected = [float(core([1, 3] + [0] * count, 3)[place]) for count in counts]
        assert drawn.get_xdata().tolist() == list(counts)
        assert np.allclose(drawn.get_ydata(), expected, rtol=1e-13, atol=1e-15)
    assert [line.get_ydata()[0] for line in (lines[2], lines[4])] == [-0.5, 0.5]


def masked_core(z, mask, e):
    k = sum(mask)
    mu = sum((m * x for m, x in zip(mask, z, strict=True)), sp.Integer(0)) / k
    q = sum((m * (x - mu) ** 2 for m, x in zip(mask, z, strict=True)), sp.Integer(0)) / k
    return sp.Matrix([m * (x - mu) / sp.sqrt(q + e) for m, x in zip(mask, z, strict=True)]), mu, q


@fact("prod-masked", way="property")
@given(st.lists(st.tuples(quarters, st.booleans()), min_size=1, max_size=5))
def test_masked_statistics_are_those_of_the_real_entries(entries):
    real = [z for z, is_real in entries if is_real]
    if not real:
        return
    u, mu, q = masked_core([z for z, _ in entries], [int(is_real) for _, is_real in entries], 2)
    assert [entry for entry, (_, is_real) in zip(u, entries, strict=True) if is_real] == list(core(real, 2))
    assert not any(entry for entry, (_, is_real) in zip(u, entries, strict=True) if not is_real)
    n, k = len(entries), len(real)
    zeroed = [z if is_real else Fraction(0) for z, is_real in entries]
    all_mean, all_variance = fraction_mean(zeroed), fraction_variance(zeroed)
    assert mu == Fraction(n, k) * all_mean
    assert q == Fraction(n, k) * all_variance - (1 - Fraction(k, n)) * mu**2


@fact("prod-masked", way="exact")
def test_no_gradient_reaches_a_masked_entry():
    z = symbols(4)
    u, _, _ = masked_core(list(z), [1, 0, 1, 1], eps)
    assert not any(u.has(symbol) for symbol in (z[1],))
    assert u.has(z[0])


@fact("prod-lengths", way="property")
@given(rows, st.integers(1, 3))
def test_a_repeated_row_has_the_core_repeated(row, times):
    assert core(row * times, 3) == sp.Matrix(list(core(row, 3)) * times)


@fact("prod-lengths", way="exact")
def test_what_a_gain_of_each_place_receives_under_a_mask():
    samples = [([1, 3, 0], [1, 1, 0]), ([2, 0, 4], [1, 1, 1])]
    g = [column(1, 2, 5), column(3, -1, 1)]
    cores = [masked_core([R(x) for x in z], mask, 3)[0] for z, mask in samples]
    per_place = sum((a.multiply_elementwise(b) for a, b in zip(g, cores, strict=True)), sp.zeros(3, 1))
    assert per_place[2] == g[1][2] * cores[1][2] != 0
    shared = sum(per_place)
    one = sp.Symbol("one")
    loss = sum((one * a.dot(b) for a, b in zip(g, cores, strict=True)), sp.Integer(0))
    assert vanishes(loss.diff(one) - shared)


# Counts


def gpt2_parameters(layers, d, tokens, places):
    """Shapes of all parameters, one by one, and of those that belong to layer norms."""
    norm = [(d,), (d,)]
    block = [*norm, (d, 3 * d), (3 * d,), (d, d), (d,), *norm, (d, 4 * d), (4 * d,), (4 * d, d), (d,)]
    every = [(tokens, d), (places, d), *block * layers, *norm]
    size = sum(int(np.prod(shape)) for shape in every)
    return size, (2 * layers + 1) * 2 * d


@fact("prod-parameters", way="exact")
def test_the_parameters_of_gpt2():
    assert gpt2_parameters(12, 768, 50257, 1024) == (124_439_808, 38_400)
    assert round(100 * 38_400 / 124_439_808, 3) == 0.031
    for layers, d, tokens, places in ((1, 2, 3, 4), (5, 8, 100, 7)):
        size, of_norms = gpt2_parameters(layers, d, tokens, places)
        assert size == 12 * layers * d**2 + (13 * layers + tokens + places + 2) * d
        assert of_norms == (4 * layers + 2) * d


class Traced(Fraction):
    """A fraction that counts the operations done to it, by kind."""

    done: ClassVar = Counter()


def traced(kind, name):
    def operation(self, other):
        Traced.done[kind] += 1
        return Traced(getattr(Fraction, name)(self, Fraction(other)))

    return operation


for _kind, _names in {"add": ("__add__", "__sub__"), "times": ("__mul__",), "over": ("__truediv__",)}.items():
    for _name in _names:
        setattr(Traced, _name, traced(_kind, _name))


def traced_mean(x):
    total = x[0]
    for entry in x[1:]:
        total = total + entry
    return total / len(x)


def counted(run):
    Traced.done = Counter()
    run()
    return dict(Traced.done)


@fact("prod-operations", way="exact")
@pytest.mark.parametrize("d", [1, 2, 3, 7, 16])
def test_the_operations_of_a_row(d):
    z, g = [Traced(i * i) for i in range(d)], [Traced(i - 2) for i in range(d)]
    gain, bias = [Traced(2)] * d, [Traced(1)] * d
    kept = {}

    def forward():
        mu = traced_mean(z)
        v = [x - mu for x in z]
        under_the_root = traced_mean([x * x for x in v]) + Traced(1)
        kept["r"] = Traced(1) / under_the_root  # the root itself is counted apart, and its value does not matter
        kept["y"] = [a * (x * kept["r"]) + b for a, x, b in zip(gain, v, bias, strict=True)]

    def backward():
        mu = Traced(3)
        u = [(x - mu) * kept["r"] for x in z]
        weighted = [a * x for a, x in zip(gain, g, strict=True)]
        a = traced_mean(weighted)
        b = traced_mean([x * y for x, y in zip(weighted, u, strict=True)])
        kept["dz"] = [(x - a - y * b) * kept["r"] for x, y in zip(weighted, u, strict=True)]
        kept["u"] = u

    def parameters():
        for x, y in zip(g, kept["u"], strict=True):
            Traced(0) + x * y
            Traced(0) + x

    ops = counted(forward)
    assert ops == {"add": 4 * d - 1, "times": 3 * d, "over": 3}
    assert sum(ops.values()) + 1 == 7 * d + 3
    ops = counted(backward)
    assert ops == {"add": 5 * d - 2, "times": 5 * d, "over": 2}
    assert sum(ops.values()) == 10 * d
    assert sum(counted(parameters).values()) == 3 * d


@fact("prod-intensity", way="exact")
def test_operations_for_each_byte():
    for n, d, s in ((5, 3, 2), (1, 768, 2), (768, 768, 4)):
        assert R(n * (7 * d + 3), 2 * n * d * s) == R(7, 2 * s) + R(3, 2 * d * s)
    product = sum(2 * 768 - 1 for _ in range(768 * 768))  # each result: d products, d - 1 additions
    moved = (768 * 768 * 3) * 2
    assert R(product, moved) == R(2 * 768 - 1, 3 * 2) > 255
    assert R(7, 4) < R(7 * 768 + 3, 2 * 768 * 2) < R(176, 100)


@fact("prod-kept", way="exact")
def test_the_bytes_that_are_kept():
    half, single = np.dtype(np.float16).itemsize, np.dtype(np.float32).itemsize
    assert 768 * half + 2 * single == 1544
    assert R(2 * single, 1544) < R(6, 1000)
    n, d = 10, 768
    assert 2 * n * (d * half + 2 * single) == 4 * n * d + 16 * n


@fact("prod-kept", way="property")
@given(seeds)
def test_the_output_and_one_number_give_the_gradient(seed):
    rng = np.random.default_rng(seed)
    z, g, gain, bias = rng.normal(size=(4, 5))
    gain += np.sign(gain)
    y, r = lnbook.layer_norm(z, gain, bias), 1 / np.sqrt(z.var() + 1e-5)
    u, weighted = (y - bias) / gain, gain * g
    dz = r * (weighted - weighted.mean() - (weighted * u).mean() * u)
    assert np.allclose(dz, lnbook.vjp(z, g, gain)[0], rtol=1e-9, atol=1e-9)


# Ranks and shards


def moments(part):
    mu = fraction_mean(part)
    return len(part), mu, sum(((x - mu) ** 2 for x in part), Fraction(0))


def merged(a, b):
    (n_a, mu_a, m_a), (n_b, mu_b, m_b) = a, b
    n, delta = n_a + n_b, mu_b - mu_a
    return n, mu_a + delta * n_b / n, m_a + m_b + delta**2 * n_a * n_b / n


@fact("merge-moments", way="property")
@given(st.lists(rows, min_size=1, max_size=3))
def test_parts_merge_in_every_order_and_grouping(parts):
    whole = moments([x for part in parts for x in part])
    for order in permutations([moments(part) for part in parts]):
        left = order[0]
        for part in order[1:]:
            left = merged(left, part)
        right = order[-1]
        for part in reversed(order[:-1]):
            right = merged(part, right)
        assert left == right == whole


@fact("merge-moments", way="property")
@given(st.lists(quarters, min_size=2, max_size=8))
def test_welford_merges_parts_of_one_entry(row):
    n, mu, m = 1, row[0], Fraction(0)
    for entry in row[1:]:
        before = entry - mu
        n, mu = n + 1, mu + before / (n + 1)
        m += before * (entry - mu)
        assert (n, mu, m) == merged(moments(row[: n - 1]), (1, entry, Fraction(0)))
    assert (n, mu, m) == moments(row)
    assert m >= 0


@fact("merge-shards", way="property")
@given(st.lists(rows, min_size=1, max_size=4))
def test_the_variance_of_shards(shards):
    row = [x for shard in shards for x in shard]
    n, mu = len(row), fraction_mean(row)
    inside = sum(len(s) * fraction_variance(s) for s in shards) / n
    between = sum(len(s) * (fraction_mean(s) - mu) ** 2 for s in shards) / n
    assert fraction_variance(row) == inside + between


same_size = st.integers(1, 3).flatmap(
    lambda size: st.lists(st.lists(quarters, min_size=size, max_size=size), min_size=1, max_size=3)
)


@fact("merge-shards", way="property")
@given(same_size)
def test_shards_of_the_same_size(shards):
    row = [x for shard in shards for x in shard]
    means = [fraction_mean(s) for s in shards]
    mean_of_variances = fraction_mean([fraction_variance(s) for s in shards])
    assert fraction_variance(row) == mean_of_variances + fraction_variance(means)


few = st.integers(-1, 1).map(Fraction)


@fact("merge-local", way="property")
@given(
    st.integers(1, 2).flatmap(
        lambda size: st.lists(st.lists(few, min_size=size, max_size=size), min_size=1, max_size=3)
    )
)
def test_what_a_shard_knows_by_itself(shards):
    row = [x for shard in shards for x in shard]
    means, variances = [fraction_mean(s) for s in shards], [fraction_variance(s) for s in shards]
    assert fraction_mean(variances) <= fraction_variance(row)
    assert (fraction_mean(variances) == fraction_variance(row)) == (len(set(means)) == 1)
    by_shard = [u for shard in shards for u in core(shard, 2)]
    assert (by_shard == list(core(row, 2))) == (len(set(means)) == len(set(variances)) == 1)
    groups = lnbook.normalize(np.array(shards, float), eps=2)
    assert np.allclose(groups.ravel(), np.array([float(u) for u in by_shard]), rtol=1e-14)


@fact("prod-partial-sums", way="exact")
def test_partial_sums():
    x, y = symbols(3), sp.Matrix(sp.symbols("y1:4"))
    cross = sum(a * b for a, b in zip(centered(x), centered(y), strict=True)) / 3
    assert vanishes(variance(x + y) - (variance(x) + variance(y) + 2 * cross))
    assert vanishes(mean(x + y) - mean(x) - mean(y))
    first, same, opposite = [1, -1], [1, -1], [-1, 1]
    assert mean(same) == mean(opposite) == 0
    assert variance(same) == variance(opposite) == 1
    sums = [variance([a + b for a, b in zip(first, other, strict=True)]) for other in (same, opposite)]
    assert sums == [4, 0]


@fact("prod-ranks", way="property")
@given(seeds)
def test_a_row_split_over_ranks(seed):
    rng = np.random.default_rng(seed)
    (z, g), gain, bias = rng.normal(size=(2, 3, 8)), rng.normal(size=8), rng.normal(size=8)
    ranks = [slice(0, 2), slice(2, 5), slice(5, 8)]
    dz, _, _ = lnbook.vjp(z, g, gain)
    for row in range(3):
        told = [(z[row, own].size, z[row, own].mean(), z[row, own].size * z[row, own].var()) for own in ranks]
        _, mu, m = merged(merged(told[0], told[1]), told[2])
        r = 1 / np.sqrt(m / 8 + 1e-5)
        u = r * (z[row] - mu)
        assert np.allclose(gain * u + bias, lnbook.layer_norm(z[row], gain, bias), rtol=1e-12, atol=1e-12)
        weighted = gain * g[row]
        s, t = (sum(term[own].sum() for own in ranks) for term in (weighted, weighted * u))
        for own in ranks:
            assert np.allclose(r * (weighted[own] - s / 8 - t / 8 * u[own]), dz[row, own], rtol=1e-9, atol=1e-9)
            _, dgain, dbias = lnbook.vjp(z[row], g[row], gain)
            assert np.allclose(dgain[own], g[row, own] * u[own], rtol=1e-12, atol=1e-12)
            assert np.array_equal(dbias[own], g[row, own])


@fact("prod-ranks", way="property")
@given(seeds, st.integers(1, 4))
def test_positions_split_over_ranks(seed, cut):
    rng = np.random.default_rng(seed)
    (z, g), gain = rng.normal(size=(2, 5, 4)), rng.normal(size=4)
    whole = lnbook.vjp(z, g, gain)
    first, second = lnbook.vjp(z[:cut], g[:cut], gain), lnbook.vjp(z[cut:], g[cut:], gain)
    assert np.array_equal(np.concatenate([first[0], second[0]]), whole[0])
    for part in (1, 2):
        assert np.allclose(first[part] + second[part], whole[part], rtol=1e-13, atol=1e-13)


@fact("prod-rank-mean", way="property")
@given(st.lists(st.lists(quarters, min_size=1, max_size=3), min_size=1, max_size=3))
def test_the_gradient_of_a_mean_over_ranks(ranks):
    """Each token's gradient is a number; the loss is the mean over all."""
    tokens = [g for rank in ranks for g in rank]
    weighted = sum(Fraction(len(rank), len(tokens)) * fraction_mean(rank) for rank in ranks)
    assert weighted == fraction_mean(tokens)
    units = []
    for chosen in range(len(ranks)):
        ones = [[Fraction(j == chosen)] * len(rank) for j, rank in enumerate(ranks)]
        true = fraction_mean([g for rank in ones for g in rank])
        units.append(fraction_mean([fraction_mean(rank) for rank in ones]) == true)
    assert all(units) == (len({len(rank) for rank in ranks}) == 1)


@fact("prod-rank-mean", way="exact")
def test_one_token_and_three():
    assert fraction_mean([Fraction(4), Fraction(0), Fraction(0), Fraction(0)]) == 1
    assert fraction_mean([Fraction(4), Fraction(0)]) == 2


@fact("prod-sums-of-squares", way="exact")
def test_sums_of_squares_in_float32():
    shard = [4096, 4098]
    assert moments([Fraction(x) for x in shard]) == (2, 4097, 2)
    assert merged((2, Fraction(4097), Fraction(2)), (2, Fraction(4097), Fraction(2))) == (4, 4097, 4)
    squares = 2 * sum(x * x for x in shard)
    assert (2 * sum(shard), squares) == (16388, 67141640)
    for exactly in (2 * sum(shard), squares, squares // 4):
        assert int(np.float32(exactly)) == exactly
    assert squares == 4 * 16785410
    assert 4097**2 == 16785409
    assert int(np.float32(4097**2)) == int(np.float32(4097) * np.float32(4097)) == 16785408
    assert 16785410 - 16785408 == 2
    assert fraction_variance([Fraction(x) for x in shard * 2]) == 1

"""Batch, layer, instance and group normalization: the sets that share statistics, and what leaks through them."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
import sympy as sp
from exact import core, vanishes, variance
from hypothesis import given
from hypothesis import strategies as st
from normalizations import LAYER, R, column, eps, quarters
from shared_sets import core_over, partitions, sets_of, signed_square

import lnbook

fact = pytest.mark.fact
SHAPES = list(product((1, 2, 3), (1, 2, 4), (1, 2, 3)))
FIVE = ["batch", "channels", "sample", "instance", "group"]


def same_sets(a, b, shape, groups=1):
    return sets_of(a, shape, groups) == sets_of(b, shape, groups)


def by_lnbook(name, x, groups=1):
    axes = {"batch": (0, 2), "channels": (1,), "sample": (1, 2), "instance": (2,)}
    if name in axes:
        return lnbook.normalize(x, axis=axes[name])
    return lnbook.normalize(x.reshape(len(x), groups, -1), axis=2).reshape(x.shape)


@fact("bn-sets", way="exact")
@pytest.mark.parametrize("name", FIVE)
def test_each_set_is_a_core_of_its_own(name):
    shape, groups = (2, 4, 3), 2
    x = np.arange(24).reshape(shape) ** 2 % 13
    array = {index: int(x[index]) for index in np.ndindex(shape)}
    expected = core_over(array, sets_of(name, shape, groups), Fraction(1, 10**5))
    got = by_lnbook(name, x, groups)
    for index, square in expected.items():
        assert np.isclose(got[index], np.sign(float(square)) * abs(float(square)) ** 0.5, rtol=1e-13, atol=0)


@fact("bn-counts", way="exact")
@pytest.mark.parametrize("shape", SHAPES)
def test_how_many_sets_and_entries(shape):
    n, c, s = shape
    for groups in (g for g in (1, 2, 4) if c % g == 0):
        table = {
            "batch": (c, n * s),
            "channels": (n * s, c),
            "sample": (n, c * s),
            "instance": (n * c, s),
            "group": (n * groups, c * s // groups),
        }
        for name, (number, entries) in table.items():
            assert sorted(map(len, sets_of(name, shape, groups))) == [entries] * number


@fact("bn-partition", way="exact")
def test_two_ways_to_share_are_one_function_only_if_the_sets_are_the_same():
    entries = list(range(4))
    units = [{e: int(e == f) for e in entries} for f in entries]
    ways = list(partitions(entries))
    assert len(set(ways)) == 15
    for first, second in product(ways, repeat=2):
        same = all(core_over(unit, first) == core_over(unit, second) for unit in units)
        assert same == (first == second)


@fact("bn-coincide", way="exact")
@pytest.mark.parametrize("shape", SHAPES)
def test_when_two_layers_coincide(shape):
    n, c, s = shape
    assert same_sets("batch", "instance", shape) == (n == 1)
    assert same_sets("channels", "sample", shape) == (s == 1)
    assert same_sets("sample", "instance", shape) == (c == 1)
    assert same_sets("batch", "sample", shape) == (n == c == 1)
    assert same_sets("batch", "channels", shape) == (n == c == s == 1)
    for groups in (g for g in (1, 2, 4) if c % g == 0):
        assert same_sets("group", "batch", shape, groups) == (n == 1 and groups == c)
        assert same_sets("group", "channels", shape, groups) == (s == 1 and groups == 1)


@fact("bn-coincide", way="exact")
@pytest.mark.parametrize("shape", SHAPES)
def test_lnbook_agrees_where_the_sets_do(shape):
    units = np.eye(np.prod(shape)).reshape(-1, *shape)
    for first, second in product(FIVE[:4], repeat=2):
        same = all(np.array_equal(by_lnbook(first, x), by_lnbook(second, x)) for x in units)
        assert same == same_sets(first, second, shape)


@fact("bn-order", way="exact")
@pytest.mark.parametrize("sets", list(partitions(list(range(4)))), ids=str)
def test_which_permutations_commute(sets):
    arrays = [{e: int(e == f) for e in range(4)} for f in range(4)] + [{0: 1, 1: 2, 2: 4, 3: 9}]
    for new_place in permutations(range(4)):
        commutes = all(
            core_over({new_place[e]: x for e, x in array.items()}, sets)
            == {new_place[e]: u for e, u in core_over(array, sets).items()}
            for array in arrays
        )
        assert commutes == ({frozenset(new_place[e] for e in one) for one in sets} == sets)


@fact("bn-order", way="exact")
def test_the_named_permutations_map_sets_onto_sets():
    shape = (2, 2, 3)
    swaps = {  # the images of sample, channel, place
        "samples": lambda n, c, s: (1 - n, c, s),
        "places": lambda n, c, s: (n, c, (s + 1) % 3),
        "places of one sample": lambda n, c, s: (n, c, (s + 1) % 3 if n else s),
        "positions": lambda n, c, s: (1 - n, c, (s + 1) % 3),
        "channels of one position": lambda n, c, s: (n, 1 - c if (n, s) == (0, 0) else c, s),
    }
    named = {
        "batch": ["samples", "places", "places of one sample"],
        "channels": ["samples", "places", "places of one sample", "positions", "channels of one position"],
    }
    for name, commuting in named.items():
        sets = sets_of(name, shape)
        for swap in commuting:
            assert {frozenset(swaps[swap](*index) for index in one) for one in sets} == sets
    moved = {frozenset(swaps["channels of one position"](*index) for index in one) for one in sets_of("batch", shape)}
    assert moved != sets_of("batch", shape)


@fact("bn-any", way="exact")
@pytest.mark.parametrize("n", [2, 3, 8])
def test_the_others_choose_the_output(n):
    t = sp.Symbol("t", real=True)
    s = n * t * sp.sqrt(eps) / sp.sqrt((n - 1) * (n - 1 - t**2))
    row = [0] + [-s] * (n - 1)
    v, q = sp.simplify(-sum(row) / sp.Integer(n)), sp.simplify(variance(row))
    assert vanishes(v**2 / (q + eps) - t**2)
    assert sp.simplify(v / t).subs({t: R(1, 2), eps: 1}) > 0


@fact("bn-any", way="property")
@given(st.integers(2, 9), st.floats(-0.999, 0.999), quarters)
def test_every_output_below_the_bound_is_taken(n, share, own):
    t = share * (n - 1) ** 0.5
    s = n * t * 1e-5**0.5 / ((n - 1) * (n - 1 - t**2)) ** 0.5
    batch = np.full(n, -s)
    batch[0] = 0
    got = lnbook.normalize(batch)[0]
    assert np.isclose(got, t, rtol=1e-9, atol=1e-12)
    moved = lnbook.normalize(batch + float(own))[0]
    assert np.isclose(moved, t, rtol=1e-6, atol=1e-6)


@fact("bn-any", way="property")
@given(st.lists(quarters, min_size=2, max_size=6))
def test_no_output_reaches_the_bound(row):
    assert abs(signed_square(row, 0, Fraction(1, 10**9))) < len(row) - 1


@fact("bn-felt", way="exact")
@pytest.mark.parametrize("others", [(1, 4), (0, 0), (-3, 7, 2)])
@pytest.mark.parametrize("at_eps", [0, R(1, 3)])
def test_a_far_entry_gives_the_others_the_same_core(others, at_eps):
    z = sp.Symbol("z", real=True)
    n = len(others) + 1
    u = core([*others, z], at_eps)[0]
    assert sp.limit(u, z, sp.oo) == -1 / sp.sqrt(n - 1)
    assert sp.limit(u, z, -sp.oo) == 1 / sp.sqrt(n - 1)


@fact("bn-felt", way="exact")
def test_the_derivative_through_the_statistics():
    for z in (column(1, 2, 4), column(0, 3)):
        u, q, n = core(z, R(1, 3)), variance(z), len(z)
        J = LAYER.jacobian(z, R(1, 3))
        for i, j in permutations(range(n), 2):
            assert vanishes(J[i, j] + (1 + u[i] * u[j]) / (n * sp.sqrt(q + R(1, 3))))
    silent = LAYER.jacobian(column(1, -1, 0, 0), R(1, 2))  # u_1 u_2 = -1
    assert silent[0, 1] == 0
    assert silent[0, 2] < 0


@fact("bn-gradient", way="exact")
def test_a_sample_without_a_loss_gets_a_gradient():
    z, gain = sp.Matrix(sp.symbols("z1:4", real=True)), sp.Symbol("gain", real=True)
    g = sp.Matrix(sp.symbols("g1:4", real=True))
    at = dict(zip(z, (1, 2, 5), strict=True))
    u, q = core(z, eps), variance(z)
    means = sum(g) / 3, g.dot(u) / 3
    formula = (gain / sp.sqrt(q + eps) * (g - means[0] * sp.ones(3, 1) - means[1] * u)).subs(at)
    derivative = (gain * g.dot(u)).diff(z).subs(at)
    assert vanishes(derivative - formula)
    assert vanishes(sum(derivative))
    assert vanishes(
        formula[1].subs(g[1], 0) + (gain * (means[0] + u[1] * means[1]) / sp.sqrt(q + eps)).subs(at).subs(g[1], 0)
    )
    example = LAYER.jacobian(column(1, 3), 3) * column(1, 0)
    assert example == column(R(3, 16), -R(3, 16))


@fact("bn-gradient", way="property")
@given(st.lists(quarters, min_size=2, max_size=6), st.integers(0, 2**32 - 1))
def test_the_gradients_of_a_channel_add_up_to_0(row, seed):
    g = np.random.default_rng(seed).integers(-4, 5, len(row)) / 4.0
    dz = lnbook.vjp(np.array(row, float), g, np.full(len(row), 3.0), eps=1)[0]
    assert abs(dz.sum()) < 1e-13
    for change in (1.0, -2.0):  # the bias in front has no gradient, for every loss
        assert np.allclose(lnbook.vjp(np.array(row, float) + change, g, np.full(len(row), 3.0), eps=1)[0], dz)


@fact("bn-accumulate", way="exact")
def test_micro_batches_of_batch_normalization_do_not_add_up():
    signs = column(1, 1, -1, -1)
    assert core([1, 3, 5, 7], 3).dot(signs) == -2 * sp.sqrt(2)
    parts = column(*core([1, 3], 3), *core([5, 7], 3))
    assert parts == column(-R(1, 2), R(1, 2), -R(1, 2), R(1, 2))
    assert parts.dot(signs) == 0


@fact("bn-accumulate", way="exact")
@pytest.mark.parametrize("name", ["channels", "sample", "instance", "group"])
def test_gradients_add_up_where_sets_lie_in_one_sample(name):
    rng = np.random.default_rng(3)
    x, g = rng.integers(-4, 5, (4, 4, 3)) / 4.0, rng.integers(-4, 5, (4, 4, 3)) / 4.0
    assert all(len({index[0] for index in one}) == 1 for one in sets_of(name, x.shape, 2))
    whole = (g * by_lnbook(name, x, 2)).sum(axis=(0, 2))
    for cut in (1, 2, 3):
        parts = [(g[rows] * by_lnbook(name, x[rows], 2)).sum(axis=(0, 2)) for rows in (slice(cut), slice(cut, None))]
        assert np.allclose(sum(parts), whole, rtol=1e-13, atol=1e-13)


@fact("bn-copies", way="exact")
@pytest.mark.parametrize("m", [2, 3])
def test_a_repeated_batch(m):
    row = [1, 2, 2, 7]
    assert core(row * m, R(1, 3)) == column(*list(core(row, R(1, 3))) * m)
    q, n = variance(row), len(row)
    assert R(m * n, m * n - 1) * variance(row * m) == R(m * n, m * n - 1) * q != R(n, n - 1) * q


@fact("bn-copies", way="exact")
def test_copies_of_one_sample():
    sample = np.array([[1.0, 4, 6], [2, 0, 0]])
    copies = np.stack([sample] * 5)
    assert np.allclose(by_lnbook("batch", copies)[0], lnbook.normalize(sample, axis=1), rtol=1e-13, atol=1e-15)
    assert not by_lnbook("batch", copies[..., :1]).any()


@fact("bn-separate", way="exact")
def test_real_and_fake():
    real, fake, gain, bias = [4, 6, 8], [0, 1, 5], R(5, 2), R(-7, 3)
    for batch in (real, fake):
        assert sum(gain * u + bias for u in core(batch, 1)) / 3 == bias
    together = [gain * u + bias for u in core(real + fake, 1)]
    Q = (variance(real) + variance(fake)) / 2 + R(6 - 2) ** 2 / 4
    assert variance(real + fake) == Q
    assert vanishes(sum(together[:3]) / 3 - sum(together[3:]) / 3 - gain * 4 / sp.sqrt(Q + 1))


@fact("bn-causal", way="exact")
@pytest.mark.parametrize("name", FIVE)
def test_which_layers_are_causal(name):
    shape, groups = (2, 2, 3), 1
    sets = sets_of(name, shape, groups)
    x = np.random.default_rng(5).normal(size=shape)
    later = x.copy()
    later[..., 2] += np.random.default_rng(6).normal(size=(2, 2))
    causal = np.array_equal(by_lnbook(name, later)[..., :2], by_lnbook(name, x)[..., :2])
    assert causal == all(len({index[2] for index in one}) == 1 for one in sets) == (name == "channels")


@fact("bn-causal", way="property")
@given(st.lists(quarters, min_size=2, max_size=6))
def test_the_earlier_cores_show_the_last_entry(row):
    u = core(row, R(1, 2))
    n = len(row)
    last = -sum(u[: n - 1])
    assert vanishes(last - u[n - 1])
    root = sp.sqrt(R(1, 2) / (1 - u.dot(u) / n))
    assert abs((row[0] + (last - u[0]) * root - row[-1]).evalf(30)) < 1e-20


@fact("bn-causal", way="exact")
def test_the_picture_shows_what_a_token_sees():
    from lnbook.pages.figures.batch_norm_or_layer_norm import AXES, LENGTHS, MARKED, TIMES, seen_by_marked

    sentence, time = MARKED
    for axes in AXES.values():
        for place in np.ndindex(len(LENGTHS), TIMES):
            together = (0 in axes or place[0] == sentence) and (1 in axes or place[1] == time)
            assert seen_by_marked(axes)[place] == together

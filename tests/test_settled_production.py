"""The verdicts on production: padding, freezing, folding, ranks, eight bits, approximate roots, order of additions."""

from fractions import Fraction

import numpy as np
import sympy as sp
from exact import centered, core, fraction_variance, projection, symbols, vanishes, variance
from shared_sets import core_over, sets_of
from test_cases import differs, same
from verdicts import R, eps, numbers, settles

import lnbook


@settles("settled-padding", "True only if")
def test_padding():
    shape, padded = (1, 2, 3), 2  # the last time is padding
    entries = {index: (index[1] * 3 + index[2] * 2 + 1) % 5 for index in np.ndindex(shape) if index[2] < padded}
    for name in ("batch", "channels", "sample", "instance"):
        full = sets_of(name, shape)
        alone = core_over(entries, sets_of(name, (1, 2, 2)))
        together = core_over(entries | {(0, c, 2): 0 for c in range(2)}, full)
        shared = any(len({index[2] >= padded for index in one}) == 2 for one in full)
        assert any(together[index] != u for index, u in alone.items()) == shared
    rows_of_padding()


def rows_of_padding():
    real = [1.0, 2, 6]
    expected = numbers(core([1, 2, 6], R(1, 10**5)))
    for padding in ([0.0, 0, 0], [9.0, -5, 2], [np.nan] * 3):
        same(lnbook.normalize([real, padding])[0], expected)
    assert lnbook.layer_norm([real, [0.0, 0, 0]], [2, 1, -1], [1, 0, 5])[1].tolist() == [1, 0, 5]
    dz, dgain, dbias = lnbook.vjp([real, [0.0, 0, 0]], [[1.0, 0, 2], [0, 0, 0]])
    assert not dz[1].any()
    _, alone_gain, alone_bias = lnbook.vjp(real, [1.0, 0, 2])
    same(dgain, alone_gain)
    same(dbias, alone_bias)


@settles("settled-padding-inside", "True only if")
def test_zeros_in_the_row():
    for real in ([1, 3], [1, -1], [0, 0], [5]):
        for zeros in (1, 6):
            padded = core([*real, *[0] * zeros], R(1, 3))[: len(real), :]
            assert (padded == core(real, R(1, 3))) == (not any(real))
    assert core([1, 3] + [0] * 6, 3)[:2, :] == sp.Matrix([R(1, 4), R(5, 4)])


@settles("settled-eval", "False")
def test_no_statistics_are_stored():
    row, others = np.array([1.0, 2, 6]), np.random.default_rng(0).normal(size=(100, 3)) * 50
    before = lnbook.layer_norm(row, [2, 1, -1], [1, 0, 5])
    lnbook.layer_norm(others, [2, 1, -1], [1, 0, 5])
    assert np.array_equal(lnbook.layer_norm(row, [2, 1, -1], [1, 0, 5]), before)
    assert np.array_equal(lnbook.layer_norm(np.vstack([row, others]), [2, 1, -1], [1, 0, 5])[0], before)


@settles("settled-frozen", "True only if")
def test_frozen_parameters():
    t = sp.Symbol("t", positive=True)
    first = core([t, 0, 0], 1)[0]
    assert not vanishes(first.diff(t, 2))
    assert sp.limit(first, t, sp.oo) == sp.sqrt(2)  # bounded and not constant: not affine
    assert first.subs(t, 0) == 0 != first.subs(t, 1)
    for gain in ([1, 0, 0], [0, 0, -2]):
        y = [lnbook.layer_norm([k, 0.0, 0], gain, [1, 2, 3], eps=1) for k in (0, 1, 2)]
        assert not np.allclose(y[0] + y[2], 2 * y[1])
    assert lnbook.layer_norm([5.0, -1, 0], [0, 0, 0], [1, 2, 3]).tolist() == [1, 2, 3]


@settles("settled-frozen-root", "True")
def test_a_frozen_root_folds():
    z, sigma = symbols(3), sp.Symbol("sigma", positive=True)
    A, c = sp.Matrix(1, 3, sp.symbols("a1:4")), sp.Symbol("c")
    gain, bias = sp.Matrix(sp.symbols("gain1:4")), sp.Matrix(sp.symbols("bias1:4"))
    behind = (A * (gain.multiply_elementwise(centered(z) / sigma) + bias))[0] + c
    assert vanishes(behind - ((A * sp.diag(*gain) * projection(3) * z / sigma + A * bias)[0] + c))
    assert vanishes(centered(z) / sigma - sp.sqrt(variance(z) + eps) / sigma * core(z, eps))
    differs(lnbook.normalize([1.0, 2, 6]), np.array([-1, -0.5, 1.5]))


@settles("settled-parameters", "True")
def test_parameters_of_gpt2_small():
    d, inner = 768, 4 * 768
    linear = [(d, 3 * d), (d, d), (d, inner), (inner, d)]
    block = sum(rows * columns + columns for rows, columns in linear) + 2 * 2 * d
    total = 50257 * d + 1024 * d + 12 * block + 2 * d
    norms = (2 * 12 + 1) * 2 * d
    assert (norms, total) == (38400, 124439808)
    assert R(norms, total) < R(1, 1000)


@settles("settled-shards", "True")
def test_shards_need_no_covariances():
    z = symbols(6)
    shards = [list(z[:2]), list(z[2:4]), list(z[4:])]
    inside = sum(variance(shard) for shard in shards) / 3
    between = variance([sum(shard) / 2 for shard in shards])
    assert vanishes(variance(z) - inside - between)
    for y, q in (([1, -1], 4), ([-1, 1], 0)):
        assert variance([a + b for a, b in zip([1, -1], y, strict=True)]) == q
        assert variance(y) == 1


@settles("settled-sum-squares", "False")
def test_sums_of_squares_over_ranks():
    shard = np.array([4096, 4098], np.float32)
    total, squares = shard.sum() + shard.sum(), (shard * shard).sum() + (shard * shard).sum()
    n = np.float32(4)
    assert squares / n - (total / n) * (total / n) == 2
    exactly = [Fraction(x) for x in (4096, 4098)]
    assert 2 * (2 * fraction_variance(exactly)) / 4 == fraction_variance(exactly * 2) == 1
    mean = shard.mean(dtype=np.float32)
    assert ((shard - mean) ** 2).sum() == 2  # the merged moments are exact in float32 too


@settles("settled-sequence-parallel", "True")
def test_the_gradient_of_the_gain_is_a_sum_over_ranks():
    z, g = [[1, 2, 4], [0, 5, 1]], [[1, 0, 2], [-1, 1, 1]]
    parts = [core(row, R(1, 3)).multiply_elementwise(sp.Matrix(h)) for row, h in zip(z, g, strict=True)]
    got = lnbook.vjp(np.array(z, float), g, eps=1 / 3)[1]
    same(got, numbers(parts[0] + parts[1]))
    for part in parts:
        differs(got, numbers(part))


@settles("settled-int8", "False")
def test_codes_of_core_and_centred_vector():
    for row in ([1000, 1, 2, 3, 4], [1, 2, 4, 9], [-3, 7]):
        v = centered(row)
        for e in (0, R(1, 10**5), 40):
            u = core(row, e)
            ratios = [(127 * x / max(abs(y) for y in w)) for w in (u, v) for x in w]
            half = len(ratios) // 2
            assert all(vanishes(a - b) for a, b in zip(ratios[:half], ratios[half:], strict=True))
    codes = [round(127 * x / R(798)) for x in centered([1000, 1, 2, 3, 4])]
    assert codes == [127, -32, -32, -32, -32]
    kept = [round(127 * x / R(3, 2)) for x in centered([1, 2, 3, 4])]
    assert len(set(kept)) == 4


@settles("settled-rsqrt", "False")
def test_an_inexact_root():
    rho, z = sp.Symbol("rho"), symbols(3)
    wrong = (1 + rho) / sp.sqrt(variance(z) + eps) * centered(z)
    assert vanishes(wrong - (1 + rho) * core(z, eps))
    step = sp.expand((1 + rho) * (3 - (1 + rho) ** 2) / 2 - 1)
    assert sp.limit(step / rho**2, rho, 0) == -R(3, 2)

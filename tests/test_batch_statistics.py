"""Batch statistics in training and in use, padding, pixels, and weight normalization beside them."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp
from exact import core, fraction_mean, fraction_variance, vanishes, variance
from hypothesis import given
from hypothesis import strategies as st
from normalizations import R, apart, column, eps, quarters
from shared_sets import sets_of, signed_square

import lnbook

fact = pytest.mark.fact
EIGHTH = Fraction(1, 8)
rows = st.lists(quarters, min_size=1, max_size=5)


@fact("bn-padding", way="property")
@given(rows, st.integers(0, 5), quarters)
def test_padding_moves_mean_and_variance(real, padding, p):
    k, n = len(real), len(real) + padding
    mu, q, all_entries = fraction_mean(real), fraction_variance(real), real + [p] * padding
    assert fraction_mean(all_entries) == p + Fraction(k, n) * (mu - p)
    new_q = Fraction(k, n) * (q + (1 - Fraction(k, n)) * (mu - p) ** 2)
    assert fraction_variance(all_entries) == new_q
    a = (float(q + 1) / float(new_q + 1)) ** 0.5
    b = (1 - k / n) * float(mu - p) / float(new_q + 1) ** 0.5
    alone = lnbook.normalize(np.array(real, float), eps=1)
    assert np.allclose(lnbook.normalize(np.array(all_entries, float), eps=1)[:k], a * alone + b, rtol=1e-12, atol=1e-12)
    kept = all(signed_square(all_entries, i, 1) == signed_square(real, i, 1) for i in range(k))
    assert kept == (padding == 0 or set(real) == {p})


@fact("bn-padding", way="exact")
def test_five_real_entries_and_five_zeros():
    real = [1, 2, 3, 4, 5]
    assert (fraction_mean(real + [0] * 5), fraction_variance(real + [0] * 5)) == (Fraction(3, 2), Fraction(13, 4))
    assert core([3, 3, 0], 1)[0] != core([3, 3], 1)[0]  # real entries equal, padding another


@fact("bn-running", way="exact")
def test_the_weights_of_a_running_average():
    alpha, start = sp.symbols("alpha start", positive=True)
    s = sp.symbols("s1:6")
    m = start
    for new in s:
        m = (1 - alpha) * m + alpha * new
    T = len(s)
    weights = [alpha * (1 - alpha) ** (T - k) for k in range(1, T + 1)]
    assert vanishes(m - (1 - alpha) ** T * start - sum(w * x for w, x in zip(weights, s, strict=True)))
    assert vanishes(sum(weights) - (1 - (1 - alpha) ** T))
    assert vanishes(sum(w**2 for w in weights) - alpha / (2 - alpha) * (1 - (1 - alpha) ** (2 * T)))
    for rate, steps in ((Fraction(1, 10), 22), (Fraction(1, 100), 230)):
        assert (1 - rate) ** steps < Fraction(1, 10) < (1 - rate) ** (steps - 1)


@fact("bn-estimators", way="exact")
@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("values", [(-1, 1), (0, 0, 1), (0, 1, 5)])
def test_what_batch_statistics_estimate(n, values):
    batches = list(product(values, repeat=n))
    m, sigma2 = fraction_mean(values), fraction_variance(values)
    kappa = fraction_mean([(x - m) ** 4 for x in values])
    means, variances = [fraction_mean(batch) for batch in batches], [fraction_variance(batch) for batch in batches]
    estimates = [Fraction(n, n - 1) * q for q in variances]
    assert fraction_mean(means) == m
    assert fraction_variance(means) == sigma2 / n
    assert fraction_mean(variances) == (1 - Fraction(1, n)) * sigma2
    assert fraction_mean(estimates) == sigma2
    assert fraction_variance(estimates) == (kappa - Fraction(n - 3, n - 1) * sigma2**2) / n


@fact("bn-estimators", way="exact")
def test_a_normal_distribution():
    n, sigma = sp.symbols("n sigma", positive=True)
    x = sp.Symbol("x", real=True)
    density = sp.exp(-(x**2) / (2 * sigma**2)) / sp.sqrt(2 * sp.pi * sigma**2)
    kappa = sp.simplify(sp.integrate(x**4 * density, (x, -sp.oo, sp.oo)))
    assert kappa == 3 * sigma**4
    assert vanishes((kappa - (n - 3) / (n - 1) * sigma**4) / n - 2 * sigma**4 / (n - 1))


@fact("bn-train-eval", way="exact")
def test_the_same_batch_in_training_and_in_use():
    z, stored_mean, stored = column(1, 2, 5), sp.Symbol("m", real=True), sp.Symbol("s", positive=True)
    gain, bias = R(-3, 2), R(1, 7)
    q, mu = variance(z), sum(z) / 3
    u = core(z, eps)
    a, b = sp.sqrt((q + eps) / (stored + eps)), (mu - stored_mean) / sp.sqrt(stored + eps)
    for entry, one in zip(z, u, strict=True):
        in_use = gain * (entry - stored_mean) / sp.sqrt(stored + eps) + bias
        assert vanishes(in_use - (gain * (a * one + b) + bias))
    for n in (2, 3, 64):
        at = {stored: R(n, n - 1) * q, stored_mean: mu}
        assert b.subs(at) == 0
        assert vanishes(a.subs(at).subs(eps, 0) - sp.sqrt(R(n - 1, n)))


@fact("bn-between", way="property")
@given(st.lists(st.lists(quarters, min_size=3, max_size=3), min_size=1, max_size=5))
def test_the_variance_between_batches(batches):
    means = [fraction_mean(batch) for batch in batches]
    average = fraction_mean([fraction_variance(batch) for batch in batches])
    entries = [entry for batch in batches for entry in batch]
    assert fraction_mean(entries) == fraction_mean(means)
    assert fraction_variance(entries) == average + fraction_variance(means)
    assert (average < fraction_variance(entries)) == (len(set(means)) > 1)


@fact("bn-between", way="exact")
def test_batches_sorted_by_class():
    assert [fraction_variance(batch) for batch in ((0, 0), (2, 2), (0, 0, 2, 2))] == [0, 0, 1]


@fact("bn-bounded", way="property")
@given(st.lists(quarters, min_size=2, max_size=6), quarters, quarters)
def test_bounded_in_training_and_not_in_use(row, gain, bias):
    for place in range(len(row)):
        assert abs(signed_square(row, place, Fraction(1, 10**6))) < len(row) - 1
    y = lnbook.layer_norm(np.array(row, float), np.full(len(row), float(gain)), np.full(len(row), float(bias)), eps=1)
    if gain:
        assert (abs(y) < abs(float(gain)) * (len(row) - 1) ** 0.5 + abs(float(bias))).all()
        wanted = float(bias) + 1e9
        z = (wanted - float(bias)) * 2**0.5 / float(gain)  # stored mean 0, stored variance 1, eps 1
        assert np.isclose(float(gain) * z / 2**0.5 + float(bias), wanted)


@fact("bn-recurrence", way="property")
@given(st.integers(0, 2**32 - 1))
def test_a_recurrence_through_the_layer_stays_bounded(seed):
    rng = np.random.default_rng(seed)
    d = rng.integers(2, 6)
    A, gain, bias = 100 * rng.normal(size=(d, d)), rng.normal(size=d), rng.normal(size=d)
    h = rng.normal(size=d)
    for _ in range(8):
        h = lnbook.layer_norm(A @ h, gain, bias, eps=0.1)
        assert np.linalg.norm(h) < np.sqrt(d) * abs(gain).max() + np.linalg.norm(bias)


@fact("bn-recurrence", way="exact")
def test_a_recurrence_through_stored_statistics_grows():
    a, b, start = sp.symbols("a b h", real=True)
    h = start
    for t in range(1, 6):
        h = sp.expand(a * h + b)
        assert vanishes(h - a**t * start - sp.cancel(b * (a**t - 1) / (a - 1)))
    h = 0
    for _ in range(10):
        h = 2 * h + 1
    assert h == 1023
    assert not lnbook.normalize([[7.5]], axis=0).any()


@fact("gn-pixels", way="property")
@given(st.lists(st.lists(quarters, min_size=2, max_size=2), min_size=1, max_size=4))
def test_one_group_against_pixel_by_pixel(places):
    means, variances = [fraction_mean(p) for p in places], [fraction_variance(p) for p in places]
    entries = [entry for place in places for entry in place]
    mu, q = fraction_mean(entries), fraction_variance(entries)
    assert mu == fraction_mean(means)
    assert q == fraction_mean(variances) + fraction_variance(means)
    agree = True
    for s, place in enumerate(places):
        for i in range(2):
            alone, together = signed_square(place, i, 1), signed_square(entries, 2 * s + i, 1)
            agree &= alone == together
    assert agree == (len(set(means)) == 1 and len(set(variances)) == 1)
    x = np.array(places, float)
    u, roots = lnbook.normalize(x, eps=1), np.sqrt(lnbook.variance(x) + 1)[:, None]
    formula = (roots * u + (np.array(means, float) - float(mu))[:, None]) / np.sqrt(float(q) + 1)
    assert np.allclose(lnbook.normalize(x, axis=(0, 1), eps=1), formula, rtol=1e-12, atol=1e-12)


@fact("gn-pixels", way="exact")
def test_two_pixels_exactly():
    first, second = [0, 2], [1, 7]
    together = core(first + second, 1)
    q = variance(first + second)
    for start, place in ((0, first), (2, second)):
        mu = sum(place) / sp.Integer(2)
        formula = (sp.sqrt(variance(place) + 1) * core(place, 1) + (mu - R(5, 2)) * sp.ones(2, 1)) / sp.sqrt(q + 1)
        assert vanishes(formula - together[start : start + 2, :])


@fact("gn-pooling", way="exact")
def test_pooling_after_normalization():
    N, C, S = shape = (2, 4, 3)
    values = {index: (index[0] * 7 + index[1] * 5 + index[2] * index[2] * 3) % 11 for index in np.ndindex(shape)}

    def pooled(name, groups=1):
        out = {}
        for one in sets_of(name, shape, groups):
            ordered = sorted(one)
            u = core([values[index] for index in ordered], 1)
            out |= dict(zip(ordered, u, strict=True))
        return sp.Matrix(N, C, lambda n, c: sum(out[n, c, s] for s in range(S)) / S)

    assert vanishes(pooled("instance"))
    for n in range(N):
        assert vanishes(sum(pooled("channels")[n, :]))
        for group in (slice(0, 2), slice(2, 4)):
            assert vanishes(sum(pooled("group", 2)[n, group]))
    for c in range(C):
        assert vanishes(sum(pooled("batch")[:, c]))
    assert not vanishes(pooled("batch"))
    assert not vanishes(pooled("channels"))


v = sp.Matrix(sp.symbols("v1:4", real=True))
p = sp.Matrix(sp.symbols("p1:4", real=True))
g, c = sp.symbols("g c", positive=True)
length = sp.sqrt(v.dot(v))


@fact("wn-definition", way="exact")
def test_weight_normalization_is_rms_norm_of_weights():
    rms = v / sp.sqrt(v.dot(v) / 3)
    assert vanishes(g * v / length - g / sp.sqrt(3) * rms)
    row = np.array([3.0, 4, 12])
    assert np.allclose(5 / np.sqrt(3) * lnbook.rms_norm(row, eps=0), 5 * row / 13, rtol=1e-14)


@fact("wn-gradient", way="exact")
def test_the_gradient_of_weight_normalization():
    loss = g * p.dot(v) / length
    by_v = g / length * (p - p.dot(v) / length**2 * v)
    assert vanishes(loss.diff(g) - p.dot(v) / length)
    assert vanishes(sp.Matrix([loss.diff(x) for x in v]) - by_v)
    assert vanishes(by_v.dot(v))
    eta = sp.Symbol("eta", positive=True)
    step = v - eta * by_v
    assert vanishes(sp.expand(step.dot(step) - v.dot(v) - eta**2 * by_v.dot(by_v)))
    scaled = dict(zip(v, c * v, strict=True))
    assert vanishes(by_v.subs(scaled, simultaneous=True) - by_v / c)
    assert vanishes((g * v / length).subs(scaled, simultaneous=True) - g * v / length)


@fact("wn-gradient", way="property")
@given(st.lists(quarters, min_size=2, max_size=2).filter(any), st.lists(quarters, min_size=2, max_size=2))
def test_a_step_never_shortens(row, by_w):
    v, p = np.array(row, float), np.array(by_w, float)
    gradient = (p - p @ v / (v @ v) * v) / np.linalg.norm(v)
    assert np.linalg.norm(v - 0.3 * gradient) >= np.linalg.norm(v) * (1 - 1e-15)


@fact("wn-gradient", way="exact")
def test_the_example_of_weight_normalization():
    row, by_w = column(3, 4), column(1, 0)
    assert 10 * row / row.norm() == column(6, 8)
    assert by_w.dot(row) / row.norm() == R(3, 5)
    assert 10 / row.norm() * (by_w - by_w.dot(row) / row.norm() ** 2 * row) == column(R(32, 25), -R(24, 25))


@fact("wn-reparametrization", way="exact")
def test_what_reaches_every_affine_map():
    for wanted in (column(3, -4, 0), column(0, 0, 0)):
        direction = wanted if any(wanted) else column(1, 0, 0)
        assert wanted.norm() * direction / direction.norm() == wanted
    A, k, gain, bias, mean, q = sp.symbols("A k gain bias mean q", positive=True)
    root = sp.sqrt(q + eps)
    W, b = A * root / gain, (k - bias) * root / gain + mean
    assert vanishes(gain / root * W - A)
    assert vanishes(gain * (b - mean) / root + bias - k)


@fact("wn-reparametrization", way="exact")
@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_core_is_not_affine(n):
    t = sp.Symbol("t", real=True)
    for u in (core([t] + [0] * (n - 1), eps)[0], t / sp.sqrt(t**2 / n + eps)):
        assert sp.limit(u, t, sp.oo).is_finite
        assert not vanishes(u.diff(t))
    assert core([t], eps)[0] == 0
    assert sp.limit(t / sp.sqrt(t**2 + eps), t, sp.oo) == 1


@fact("wn-batch", way="exact")
def test_batch_normalization_divides_by_the_length_in_the_covariance():
    X = sp.Matrix([[1, 2], [3, 0], [2, 7]])
    w, b = sp.Matrix(sp.symbols("w1:3", real=True)), sp.Symbol("b", real=True)
    mean = sp.Matrix([sum(X[:, j]) / sp.Integer(3) for j in range(2)])
    centred = X - sp.ones(3, 1) * mean.T
    sigma = centred.T * centred / 3
    z = X * w + b * sp.ones(3, 1)
    at = {w[0]: 2, w[1]: -5}
    assert vanishes((core(z, eps) - centred * w / sp.sqrt((w.T * sigma * w)[0] + eps)).subs(at))


@fact("wn-batch", way="exact")
def test_only_a_round_covariance_makes_it_weight_normalization():
    entries = sp.symbols("s11 s12 s22", real=True)
    sigma = sp.Matrix([[entries[0], entries[1]], [entries[1], entries[2]]])
    s = sp.Symbol("s", positive=True)
    forms = [(w.T * sigma * w)[0] - s * w.dot(w) for w in (column(1, 0), column(0, 1), column(1, 1))]
    assert sp.solve(forms, entries) == {entries[0]: s, entries[1]: 0, entries[2]: s}


@fact("wn-batch", way="property")
@given(st.integers(0, 2**32 - 1))
def test_whitened_inputs(seed):
    rng = np.random.default_rng(seed)
    X = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]) * 3.0 + rng.normal(size=2)
    w = rng.normal(size=2)
    expected = (X - X.mean(axis=0)) @ w / np.linalg.norm(w) / 3
    assert np.allclose(lnbook.normalize(X @ w, eps=0), expected, rtol=1e-10, atol=1e-12)


@fact("bn-invisible", way="property")
@given(
    st.lists(st.integers(1, 3), min_size=2, max_size=4),
    st.lists(st.integers(-2, 2), min_size=4, max_size=4),
    st.sampled_from([0, 1]),
)
def test_the_changes_that_a_core_does_not_see(scales, shifts, at_eps):
    n = len(scales)
    shifts = shifts[:n]
    lines = [[c + t * (i == j) for i in range(n)] for j in range(n) for c in (0, 1) for t in (-9, -EIGHTH, EIGHTH, 9)]
    lines += [[0] * n, [1] * n]

    def unseen(z):
        changed = [a * x + b for a, x, b in zip(scales, z, shifts, strict=True)]
        if at_eps == 0 and (len(set(z)) == 1 or len(set(changed)) == 1):
            return True
        return all(signed_square(z, i, at_eps) == signed_square(changed, i, at_eps) for i in range(n))

    blind = len(set(shifts)) == 1 and len(set(scales)) == 1 and (at_eps == 0 or scales[0] == 1)
    assert all(map(unseen, lines)) == blind


@fact("bn-invisible", way="exact")
def test_one_scale_and_one_shift_are_not_seen():
    assert vanishes(core(c * v + 7 * sp.ones(3, 1), 0) - core(v, 0))
    assert apart(core(column(2, 4, 8), 1), core(column(1, 2, 4), 1))


@fact("bn-rows", way="exact")
def test_which_rows_may_be_scaled():
    shape = (2, 4, 2)
    x = {index: (index[0] * 5 + index[1] * 3 + index[2] * 7 + index[1] * index[2]) % 11 for index in np.ndindex(shape)}

    def kept(name, delta, groups=1):
        for one in sets_of(name, shape, groups):
            ordered = sorted(one)
            before, after = [x[i] for i in ordered], [delta[i[1]] * x[i] for i in ordered]
            if any(signed_square(before, k, 0) != signed_square(after, k, 0) for k in range(len(ordered))):
                return False
        return True

    every, by_group, common = (1, 2, 3, 5), (2, 2, 7, 7), (3, 3, 3, 3)
    assert [kept("batch", delta) for delta in (every, by_group, common)] == [True, True, True]
    assert [kept("instance", delta) for delta in (every, by_group, common)] == [True, True, True]
    assert [kept("group", delta, 2) for delta in (every, by_group, common)] == [False, True, True]
    assert [kept("channels", delta) for delta in (every, by_group, common)] == [False, False, True]
    assert [kept("sample", delta) for delta in (every, by_group, common)] == [False, False, True]
    row = np.array([1.0, -2, 2])
    assert np.array_equal(8 * row / np.linalg.norm(8 * row), row / np.linalg.norm(row))

"""The verdicts on batch and layer normalization: what is shared, what leaks, training and use, shapes, parameters."""

from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp
from exact import centered, core, fraction_mean, fraction_variance, projection, vanishes, variance
from normalizations import LAYER, R, column, rms
from shared_sets import core_over, sets_of, signed_square
from test_cases import same
from verdicts import eps, settles

import lnbook


@settles("settled-bn-difference", "True")
def test_difference():
    N, C = 3, 2
    table = {(n, c, 0): (5 * n + 3 * c * c) % 7 for n in range(N) for c in range(C)}
    transposed = {(c, n, 0): x for (n, c, _), x in table.items()}
    batch = core_over(table, sets_of("batch", (N, C, 1)))
    layer = core_over(transposed, sets_of("channels", (C, N, 1)))
    assert {(n, c): u for (n, c, _), u in batch.items()} == {(n, c): u for (c, n, _), u in layer.items()}
    same(lnbook.normalize([[0, 2], [2, 2]], eps=3, axis=0), [[-0.5, 0], [0.5, 0]])


@settles("settled-bn-transformer", "False")
def test_transformer():
    # One counterexample: the first output moves with the last input, and the last input can be had back
    assert core([1, 2, 0], eps)[0] != core([1, 2, 5], eps)[0]
    z = sp.symbols("z1:4", real=True)
    u = core(z, eps)
    at = dict(zip(z, (1, 2, 5), strict=True))
    root = sp.sqrt(eps / (1 - u.dot(u) / 3))
    assert vanishes((z[0] + (-(u[0] + u[1]) - u[0]) * root - z[2]).subs(at).subs(eps, R(1, 2)))


@settles("settled-bn-one", "True only if")
def test_a_batch_of_one():
    assert list(core([7], eps)) == [0]
    assert any(core([1, 2, 4], eps))
    for places in (1, 2, 3):
        assert sets_of("batch", (1, 2, places)) == sets_of("instance", (1, 2, places))
    assert not lnbook.normalize([[7.0]], axis=0).any()


@settles("settled-bn-reparametrization", "False")
def test_reparametrization():
    t, g = sp.symbols("t g", positive=True)
    v = column(3, 4)
    assert vanishes(sp.diff(g * v.dot(column(t, 2 * t)) / v.norm(), t, 2))
    mean, q = sp.symbols("mean q", positive=True)
    assert vanishes(sp.diff((t - mean) / sp.sqrt(q + eps), t, 2))
    assert not vanishes(sp.diff(core([t, 2 * t], 1)[0], t, 2))


@settles("settled-bn-cnn", "False")
def test_convolutional_networks():
    for size in (2, 3):
        image = np.arange(2 * size * size).reshape(2, size, size) ** 2 % 7
        got = lnbook.layer_norm(image, [2, 1], [0, 1], axis=0)
        for row, place in product(range(size), repeat=2):
            pixel = core([int(x) for x in image[:, row, place]], R(1, 10**5))
            same(got[:, row, place], [2 * float(pixel[0]), float(pixel[1]) + 1])


@settles("settled-bn-accumulate", "True only if")
def test_gradient_accumulation():
    signs = column(1, 1, -1, -1)
    assert core([1, 3, 5, 7], 3).dot(signs) == -2 * sp.sqrt(2)
    assert column(*core([1, 3], 3), *core([5, 7], 3)).dot(signs) == 0
    shape = (4, 2, 2)
    x = {index: sum(index) ** 2 % 7 for index in np.ndindex(shape)}
    for name in ("channels", "sample", "instance", "batch"):
        whole = core_over(x, sets_of(name, shape))
        half = {index: x[index] for index in x if index[0] < 2}
        stays = all(whole[index] == u for index, u in core_over(half, sets_of(name, (2, 2, 2))).items())
        assert stays == all(len({index[0] < 2 for index in one}) == 1 for one in sets_of(name, shape))


@settles("settled-bn-eval", "True only if")
def test_training_and_eval():
    z = [1, 2, 6]
    v, q = centered(z), variance(z)
    stored = sp.Symbol("stored", positive=True)
    assert sp.solve(v[0] / sp.sqrt(stored) - core(z, 0)[0], stored) == [q]
    for n in (2, 3, 10):
        assert vanishes(sp.sqrt(q / (R(n, n - 1) * q)) - sp.sqrt(R(n - 1, n)))


@settles("settled-bn-group-causal", "False")
def test_group_norm_is_not_causal():
    shape = (1, 2, 3)
    x = {index: (index[1] + 2 * index[2]) % 5 for index in np.ndindex(shape)}
    later = x | {(0, c, 2): x[0, c, 2] + 10 for c in range(2)}
    for name, causal in (("group", False), ("instance", False), ("sample", False), ("channels", True)):
        before, after = (core_over(values, sets_of(name, shape, 2)) for values in (x, later))
        assert all(len({index[0] for index in one}) == 1 for one in sets_of(name, shape, 2))
        assert all(before[index] == after[index] for index in x if index[2] < 2) == causal


@settles("settled-bn-rnn", "True")
def test_recurrent_networks():
    u = core(sp.symbols("z1:4", real=True), eps)
    q = variance(sp.symbols("z1:4", real=True))
    assert vanishes(u.dot(u) - 3 * q / (q + eps))  # below 3 for every epsilon > 0
    rng = np.random.default_rng(2)
    for size, gain, bias in product((1, 1e3), ((2.0, -1, 0), (2.0, -2, 2)), ((1.0, 1, -2), (0.0, 0, 0))):
        A, state = size * rng.normal(size=(3, 3)), rng.normal(size=3)
        for _ in range(30):
            state = lnbook.layer_norm(A @ state, gain, bias, eps=0.1)
            assert np.linalg.norm(state) < np.sqrt(3) * 2 + np.linalg.norm(bias)


@settles("settled-bn-gan", "False")
def test_real_and_fake_batches():
    real, fake = [4, 6, 8], [0, 1, 5]
    assert sum(core(real, 1)) == sum(core(fake, 1)) == 0
    Q = (variance(real) + variance(fake)) / 2 + R(6 - 2) ** 2 / 4
    together = core(real + fake, 1)
    assert vanishes(sum(together[:3]) / 3 - sum(together[3:]) / 3 - 4 / sp.sqrt(Q + 1))


@settles("settled-bn-average", "True only if")
def test_average_of_batch_variances():
    for batches in product(product((0, 1, 3), repeat=2), repeat=3):
        average = fraction_mean([fraction_variance(batch) for batch in batches])
        whole = fraction_variance([entry for batch in batches for entry in batch])
        assert (average == whole) == (len({sum(batch) for batch in batches}) == 1)
        assert average <= whole


@settles("settled-bn-noise", "False")
def test_small_batches():
    for n in (2, 3, 4):
        variances = [fraction_variance(batch) for batch in product((-1, 1), repeat=n)]
        assert fraction_mean(variances) == 1 - Fraction(1, n)
        corrected = [Fraction(n, n - 1) * q for q in variances]
        assert fraction_mean(corrected) == 1
        assert fraction_variance(corrected) == (1 - Fraction(n - 3, n - 1)) / n


@settles("settled-bn-pooling", "False")
def test_pooling():
    for image in ([1, 2, 9], [0, 0, 1], [-5, 0, 0]):
        assert vanishes(sum(core(image, eps)))
    assert [sum(max(u, 0) for u in core(image, 1)) for image in ([1, 2, 9], [0, 0, 1])] != [0, 0]
    first, second = (sum(max(u, 0) for u in core(image, 1)) for image in ([1, 2, 9], [0, 0, 1]))
    assert first != second


@settles("settled-bn-conv-bias", "True")
def test_bias_in_front():
    g = sp.Matrix(sp.symbols("g1:4", real=True))
    J = LAYER.jacobian(column(1, 2, 5), eps)
    assert vanishes(sum(J * g))
    alone = LAYER.jacobian(column(1, 0), 1) * column(1, 2)
    assert alone[0] != 0
    assert vanishes(sum(alone))


@settles("settled-bn-centring", "True")
def test_dropped_centring():
    W, b, x = sp.Matrix(3, 2, sp.symbols("w1:7", real=True)), column(1, 0, 0), sp.Matrix(sp.symbols("x1:3", real=True))
    assert vanishes(core(W * x + b, eps) - rms(projection(3) * W * x + projection(3) * b, eps))


@settles("settled-bn-sync", "False")
def test_devices():
    x = {index: (index[0] * 3 + index[1] ** 2) % 7 for index in np.ndindex((4, 3, 1))}
    for name, needed in (("channels", False), ("batch", True)):
        whole = core_over(x, sets_of(name, (4, 3, 1)))
        device = core_over({index: x[index] for index in x if index[0] < 2}, sets_of(name, (2, 3, 1)))
        assert any(whole[index] != u for index, u in device.items()) == needed
    assert signed_square([1, 2, 4], 0, 1) < 0


@settles("settled-bn-relu", "False")
def test_norm_before_or_after_a_relu():
    last = [max(u, 0) for u in core([-1, 1], 0)]
    first = core([max(x, 0) for x in (-1, 1)], 0)
    assert (last, list(first)) == ([0, 1], [-1, 1])


@settles("settled-bn-freeze", "False")
def test_frozen_gain_and_bias():
    assert core([1, 0, 2], eps)[0] == 0
    assert core([1, 5, 5], eps)[0] != 0
    m = Fraction(0)
    for batch in ((1, 0, 2), (1, 5, 5)):
        moved = Fraction(9, 10) * m + Fraction(1, 10) * fraction_mean(batch)
        assert moved != m
        m = moved

"""Batch, instance and group normalization: which entries share a mean and a variance, and what follows."""

import numpy as np
import pytest
import sympy as sp
from exact import core, vanishes
from hypothesis import given
from hypothesis import strategies as st
from normalizations import (
    BIAS,
    HALF,
    LAYER,
    R,
    W,
    apart,
    bias3,
    column,
    eps,
    gain3,
    quarters,
    t,
)

import lnbook

fact = pytest.mark.fact


SETS = {
    "batch": lambda n, c, s: (c,),
    "layer, over the channels": lambda n, c, s: (n, s),
    "layer, over the sample": lambda n, c, s: (n,),
    "instance": lambda n, c, s: (n, c),
    "group, two groups": lambda n, c, s: (n, c // 2),
}


@fact("norm-axes", way="exact")
@pytest.mark.parametrize("name", SETS)
def test_the_entries_that_share_statistics(name):
    from lnbook.pages.figures.neighbours import CHANNELS, NORMS, PLACES, SAMPLES

    x = np.arange(SAMPLES * CHANNELS * PLACES).reshape(SAMPLES, CHANNELS, PLACES) ** 2 % 13
    got = NORMS[name](x)
    for index in np.ndindex(x.shape):
        together = [other for other in np.ndindex(x.shape) if SETS[name](*other) == SETS[name](*index)]
        row = [int(x[other]) for other in together]
        expected = core(row, R(1, 10**5))[together.index(index)]
        assert abs(got[index] - float(expected)) < 1e-14


@fact("norm-axes", way="exact")
def test_the_picture_draws_the_shared_entries():
    from matplotlib.colors import to_hex

    from lnbook.pages.figures import shared_statistics
    from lnbook.pages.figures.style import CORE

    for axes, key in zip(shared_statistics().axes, SETS.values(), strict=True):
        lit = [to_hex(patch.get_facecolor()) == CORE for patch in axes.patches[::2]]
        assert lit == [key(*index) == key(0, 0, 0) for index in np.ndindex(2, 4, 3)]


@fact("group-ends", way="property")
@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_the_ends_of_group_normalization(n, channels, places, seed):
    x = np.random.default_rng(seed).normal(size=(n, channels, places))

    def group(groups):
        return lnbook.normalize(x.reshape(n, groups, channels // groups, places), axis=(2, 3)).reshape(x.shape)

    assert np.array_equal(group(1), lnbook.normalize(x, axis=(1, 2)))
    assert np.array_equal(group(channels), lnbook.normalize(x, axis=2))
    if places == 1:
        assert not group(channels).any()
    else:
        flagged = np.zeros_like(x)
        flagged[..., 0] = 2
        assert not lnbook.normalize(flagged, axis=1).any()
        assert lnbook.normalize(flagged, axis=(1, 2)).all()


@fact("batch-couples", way="exact")
def test_a_batch_of_two():
    assert core([1, 3], 3) == column(-HALF, HALF)
    assert LAYER.jacobian(column(1, 3), 3)[0, 1] == -R(3, 16)
    assert lnbook.normalize([[1.0], [3.0]], eps=3, axis=0).tolist() == [[-0.5], [0.5]]


@fact("batch-couples", way="property")
@given(st.integers(0, 2**32 - 1))
def test_only_batch_normalization_sees_the_other_samples(seed):
    x = np.random.default_rng(seed).normal(size=(3, 4, 5))
    other = x.copy()
    other[1:] += np.random.default_rng(seed + 1).normal(size=(2, 4, 5))
    for axis in (1, 2, (1, 2)):
        assert np.array_equal(lnbook.normalize(other, axis=axis)[0], lnbook.normalize(x, axis=axis)[0])
    assert not np.allclose(lnbook.normalize(other, axis=(0, 2))[0], lnbook.normalize(x, axis=(0, 2))[0])
    single = lnbook.layer_norm(x[:1, :, :1], None, None, axis=(0, 2))
    assert not single.any()


@fact("batch-fold", way="exact")
def test_stored_statistics_make_an_affine_map():
    x = sp.Matrix(sp.symbols("x1:3", real=True))
    means, variances = sp.Matrix(sp.symbols("m1:4")), sp.Matrix(sp.symbols("q1:4", positive=True))
    z = W * x + bias3
    plain = [a * (v - m) / sp.sqrt(q + eps) + b for a, v, m, q, b in zip(gain3, z, means, variances, BIAS, strict=True)]
    scale = sp.diag(*[a / sp.sqrt(q + eps) for a, q in zip(gain3, variances, strict=True)])
    assert vanishes(sp.Matrix(plain) - (scale * W * x + scale * (bias3 - means) + BIAS))


@given(st.integers(0, 2**32 - 1))
def test_the_statistics_of_a_batch_make_its_affine_map(seed):
    """Stored are those of the batch itself: batch normalization in training then gives the same."""
    rng = np.random.default_rng(seed)
    x, weights, before, gain, bias = (rng.normal(size=shape) for shape in ((4, 2), (3, 2), (3,), (3,), (3,)))
    z = x @ weights.T + before  # (4, 3)
    scale = gain / np.sqrt(lnbook.variance(z, axis=0) + 1e-3)  # (3,)
    folded = x @ (scale[:, None] * weights).T + scale * (before - z.mean(axis=0)) + bias
    assert np.allclose(gain * lnbook.normalize(z, eps=1e-3, axis=0) + bias, folded, rtol=1e-10, atol=1e-10)


@fact("batch-fold", way="exact")
@pytest.mark.parametrize("d", [2, 3, 5])
def test_layer_normalization_is_not_affine(d):
    z = t * (sp.eye(d)[:, 0] - sp.eye(d)[:, 1])
    y = core(z, eps)[0]
    assert vanishes(y - t / sp.sqrt(2 * t**2 / d + eps))
    assert sp.limit(y, t, sp.oo) == sp.sqrt(R(d, 2))
    assert not vanishes(y.diff(t, 2))


@fact("batch-bias", way="property")
@given(st.lists(quarters, min_size=3, max_size=3), st.lists(quarters, min_size=3, max_size=3))
def test_the_bias_in_front(before, after):
    rows = [[0, 1, 5], [2, 2, 1], [3, 0, 0]]
    with_bias = [
        sp.Matrix([[x + b for x, b in zip(row, bias, strict=True)] for row in rows]) for bias in (before, after)
    ]
    for c in range(3):
        assert core(with_bias[0][:, c], 1) == core(with_bias[1][:, c], 1)
    shift = [b - a for a, b in zip(before, after, strict=True)]
    same = [not apart(core(with_bias[0][n, :], 1), core(with_bias[1][n, :], 1)) for n in range(3)]
    assert all(same) == (len(set(shift)) == 1) == any(same)

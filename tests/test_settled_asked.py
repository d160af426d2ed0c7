"""Verdicts on what else is asked: shapes of histograms, NaN, idle lanes, averages, contributions, split heads."""

from itertools import product

import numpy as np
import sympy as sp
from exact import centered, core, core_jacobian, layer, symbols, vanishes, variance
from normalizations import column, rms
from test_cases import differs, same
from verdicts import R, eps, numbers, settles

import lnbook
from lnbook.pages.rounding import BITS, round_to, running_sum


def moment(entries, power):
    return sum(entry**power for entry in entries) / sp.Integer(len(entries))


@settles("settled-gaussian", "False")
def test_a_histogram_keeps_its_shape():
    z = symbols(3)
    v, u = centered(z), core(z, eps)
    assert vanishes(moment(u, 3) ** 2 * moment(v, 2) ** 3 - moment(v, 3) ** 2 * moment(u, 2) ** 3)
    two_values = core([0, 0, 0, 4], eps)
    assert len(set(two_values)) == 2
    assert moment(two_values, 3).subs(eps, 1) > 0  # that of a normal distribution is 0


@settles("settled-whitening", "False")
def test_coordinates_of_a_core_are_correlated():
    for entries, d in (((-1, 1), 3), ((0, 1, 5), 2), ((0, 1), 4)):
        cores = [core(row, R(1, 3)) for row in product(entries, repeat=d)]
        square = sum(u[0] ** 2 for u in cores)  # their mean is 0, by symmetry
        assert vanishes(sum(u[0] for u in cores))
        assert vanishes(sum(u[0] * u[1] for u in cores) + square / (d - 1))
        assert square > 0


@settles("settled-unit-length", "True")
def test_a_unit_vector_times_the_root_of_d():
    z = symbols(3)
    v = centered(z)
    assert vanishes(core(z, 0) - sp.sqrt(3) * v / sp.sqrt(v.dot(v)))
    assert vanishes(rms(z, 0) - sp.sqrt(3) * z / sp.sqrt(z.dot(z)))
    differs(lnbook.normalize([1.0, 2, 6], eps=0), np.sqrt(3) * np.array([1, 2, 6]) / np.sqrt(41))


@settles("settled-smooth", "True only if")
def test_where_the_core_is_smooth():
    t = sp.Symbol("t", real=True)
    for d in (2, 3):
        u = core([t, -t, *[0] * (d - 2)], 0)[0]
        assert sp.limit(u, t, 0, "+") == -sp.limit(u, t, 0, "-") != 0
        assert (core([t, -t, *[0] * (d - 2)], 1)[0]).diff(t, 5).subs(t, 0).is_finite
        assert core_jacobian([5] * d, 1) == sp.eye(d) - sp.ones(d, d) / d


@settles("settled-nan-row", "True")
def test_one_nan():
    for bad in (np.nan, np.inf):
        rows = np.array([[1, 2, 6], [0, bad, 0]])
        with np.errstate(invalid="ignore"):
            y = lnbook.layer_norm(rows, [2.0, 0, 1], [1.0, 1, 1])
            dz, dgain, dbias = lnbook.vjp(rows, [[1.0, 0, 2], [0, 0, 0]])
        same(y[0], numbers(layer([1, 2, 6], [2, 0, 1], [1, 1, 1], R(1, 10**5))))
        assert np.isnan(y[1]).all()
        assert np.isnan(dgain).all()
        assert np.isfinite(dz[0]).all()
        assert dbias.tolist() == [1, 0, 2]


@settles("settled-lanes", "True only if")
def test_idle_lanes():
    z, lanes = symbols(3), sp.Symbol("n", integer=True, positive=True)
    mean = sum(z) / 3
    over_all = (sum((x - mean) ** 2 for x in z) + (lanes - 3) * mean**2) / 3
    assert vanishes(over_all - variance(z) - (lanes - 3) / sp.Integer(3) * mean**2)
    for row in ([1, 2, 6], [-1, -1, 2]):
        block = [*row, 0, 0]
        got = R(sum((3 * x - sum(row)) ** 2 for x in block), 27)
        assert (got == variance([sp.Integer(x) for x in row])) == (sum(row) == 0)


@settles("settled-stored-half", "True only if")
def test_a_gain_in_bfloat16():
    bits = BITS["bfloat16"]
    for exponent, sign, next_to_one in ((8, -1, 1 - 2.0**-8), (7, 1, 1 + 2.0**-7)):
        half = sign * 2.0 ** -(exponent + 1)
        assert round_to(1 + half, bits) == 1  # the tie goes to 1
        assert round_to(1 + 1.001 * half, bits) == next_to_one
    steps = np.full(10, 0.001)
    assert running_sum(np.append(1, steps), bits)[-1] == 1
    less_one = running_sum(steps, bits)[-1]
    assert abs(less_one - 0.01) < 10 * 2.0**-8 * 0.01  # ten roundings
    assert round_to(1 + running_sum(steps, bits)[2], bits) == 1


@settles("settled-average", "True")
def test_averaged_parameters():
    z, (one, other), (bias, more) = symbols(3), ([2, 1, 0], [0, 1, 4]), ([1, 0, 0], [0, 0, 3])
    means = ([(a + b) / sp.Integer(2) for a, b in zip(*pair, strict=True)] for pair in ((one, other), (bias, more)))
    assert vanishes((layer(z, one, bias, eps) + layer(z, other, more, eps)) / 2 - layer(z, *means, eps))
    twice = [layer(list(layer([1, 2, 6], [g] * 3, [0] * 3, 1)), [g] * 3, [0] * 3, 1) for g in (1, 3, 2)]
    assert not vanishes((twice[0] + twice[1]) / 2 - twice[2])  # two layers in a row


@settles("settled-contributions", "False")
def test_contributions():
    one, other = symbols(3), sp.Matrix(sp.symbols("w1:4", real=True))
    root = sp.sqrt(variance(one + other) + eps)
    assert vanishes(core(one + other, eps) - (centered(one) + centered(other)) / root)
    assert not vanishes(core([5, 2, 5], 1) - core([1, 2, 6], 1) - core([4, 0, -1], 1))
    held = centered([1, 2, 6]) / sp.sqrt(variance(column(5, 2, 5)) + 1)
    assert not vanishes(core([1, 2, 6], 1) - held)  # without the other part the root is another


@settles("settled-vmap", "False")
def test_one_sample_of_a_batch():
    J = core_jacobian([1, 2, 6], 1)
    assert all(J[0, n] != 0 for n in range(3))
    assert core_jacobian([1], 1)[0] == 0  # alone it is a batch of one
    assert core([1, 2, 6], 1)[0] != core([1, 2, 7], 1)[0]


@settles("settled-split-heads", "True only if")
def test_split_heads():
    heads = sp.Matrix(2, 2, sp.symbols("z1:5", real=True))
    rows = [list(heads[h, :]) for h in range(2)]
    means, squares = [sum(row) / 2 for row in rows], [2 * variance(row) for row in rows]
    mean = sum(means) / 2
    merged = (sum(squares) + 2 * sum((m - mean) ** 2 for m in means)) / 4
    assert vanishes(merged - variance(list(heads)))
    assert core([3, 1, 0, 2], 1)[:2, :] != core([3, 1], 1)
    assert core([3, 1, 0, 2], 1)[:2, :] != core([3, 1, 0, 5], 1)[:2, :]
    token = sp.Matrix(list(heads))
    root = sp.sqrt(sum(sum(x**2 for x in row) / 2 for row in rows) / 2 + eps)  # one number of each rank
    assert vanishes(rms(token, eps) - token / root)

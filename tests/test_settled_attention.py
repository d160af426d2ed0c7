"""The verdicts on attention behind layer normalization, AdaLN, and what matrices and norms can compute."""

import numpy as np
import sympy as sp
from exact import core, ones, symbols, vanishes
from mpmath import iv
from test_attention import logit, rms, turn
from test_cases import same
from verdicts import R, eps, settles

import lnbook


@settles("settled-qk-bound", "True only if")
def test_the_gains_set_the_bound():
    a = sp.Matrix([1, -1, 1, -1])
    assert logit(core(a, 0), core(a, 0)) == 2 == sp.sqrt(4)
    assert logit(3 * core(a, 0), 3 * core(a, 0)) == 18 > 2
    assert logit(core(a, 0) + 100 * ones(4), core(a, 0) + 100 * ones(4)) > 2
    # products beyond 1 need not matter: of (c, -c) in two coordinates the norm is 0
    assert logit(sp.diag(5, -5) * core([1, -1], 0), core([1, -1], 0)) == 0
    assert 9 * sp.sqrt(64) == 72
    y = lnbook.normalize(np.where(np.arange(64) % 2, 1e3, -1e3))
    same(y @ y / 8, 8 / (1 + 1e-11))


@settles("settled-qk-heads", "False")
def test_one_head_takes_the_length_of_all():
    alone, together = core([1, -1], 0), core([1, -1, 0, 0, 0, 0], 0)[:2, :]
    assert logit(alone, alone) == sp.sqrt(2)
    assert logit(together, together) == 3 * sp.sqrt(2)
    assert 12 * sp.sqrt(64) == 96 != sp.sqrt(64)


@settles("settled-qk-rope", "True only if")
def test_norm_and_rotation():
    z, quarter = symbols(2), turn(sp.pi / 2)
    assert vanishes(rms(quarter * z, eps) - quarter * rms(z, eps))
    for gain, commutes in (((2, 2), True), ((1, 2), False)):
        D = sp.diag(*gain)
        assert vanishes(D * rms(quarter * z, eps) - quarter * D * rms(z, eps)) is commutes
    assert not vanishes(core(quarter * z, eps) - quarter * core(z, eps))


@settles("settled-key-bias", "True")
def test_a_bias_on_the_keys():
    a, h, k = (sp.Matrix(sp.symbols(f"{name}1:4", real=True)) for name in "ahk")
    assert vanishes(a.dot(k + h) - a.dot(k) - a.dot(h))  # without k: the same for all keys
    before = [sp.Matrix([1, 2, 0]).dot(core(sp.Matrix(z) + sp.Matrix([3, -1, 2]), 1)) for z in ([1, 0, 1], [0, 1, 0])]
    plain = [sp.Matrix([1, 2, 0]).dot(core(z, 1)) for z in ([1, 0, 1], [0, 1, 0])]
    assert abs((before[0] - before[1] - plain[0] + plain[1]).evalf()) > R(1, 10)


@settles("settled-norm-twice", "True only if")
def test_the_first_of_two_norms():
    W, z = sp.Matrix([[1, 2, 0], [0, 1, 3], [1, 1, 1]]), [1, 2, 4]
    v = sp.Matrix([R(-4, 3), R(-1, 3), R(5, 3)])
    for second, lossless in ((0, True), (R(1, 5), False)):
        assert vanishes(core(W * core(z, R(1, 3)), second) - core(W * v, second)) is lossless
    # q = 14/9, and eps = -5/9 would make q + eps = 1; a row with q = 2/3 does it with eps = 1/3
    assert vanishes(core(W * core([-1, 0, 1], R(1, 3)), 7) - core(W * sp.Matrix([-1, 0, 1]), 7))


@settles("settled-win", "True only if")
def test_which_keys_can_be_selected():
    b = symbols(3)
    assert core([2, 2, 2], eps) == sp.zeros(3, 1)
    assert vanishes(core(b, eps) + core(-b, eps))
    cores = [core(z, 0) for z in ([1, 2, 4], [1, 2, 3], [0, 1, 0])]
    for i, u in enumerate(cores):
        assert all((u.dot(u) - u.dot(w)).evalf() > 0 for j, w in enumerate(cores) if j != i)


@settles("settled-adaln", "True")
def test_scale_and_shift_absorb_gain_and_bias():
    u, gain, bias, s, t = sp.symbols("u gain bias s t", real=True)
    assert vanishes((1 + s) * (gain * u + bias) + t - (1 + (gain * (1 + s) - 1)) * u - ((1 + s) * bias + t))
    # without constants of their own: at the condition 0 the one is u, the other 2 u
    assert list(2 * core([1, 1, -2], 2)) == [1, 1, -2] != list(core([1, 1, -2], 2))


@settles("settled-gate", "False")
def test_the_gate_has_a_gradient():
    gate, weight, u, e = sp.symbols("gate weight u e", real=True)
    loss = e * gate * weight * u
    assert sp.diff(loss, gate).subs(gate, 0) == e * weight * u
    assert sp.diff(loss, weight).subs(gate, 0) == 0
    assert sp.diff(loss, gate).subs({gate: 0, weight: 0}) == 0


@settles("settled-piecewise", "False")
def test_the_core_bends_on_every_segment():
    t = sp.Symbol("t", real=True)
    u = core([1 + t, 2, 4], R(1, 2))
    for entry in u:
        assert all(sp.diff(entry, t, 2).subs(t, at) != 0 for at in (0, R(1, 9), 5))
    assert {tuple(core([5 + x, 5], 0)) for x in (1, 3, R(1, 2))} == {(1, -1)}


@settles("settled-one-norm", "False")
def test_each_value_at_most_twice():
    t, value = sp.symbols("t value", real=True)
    numerator, square = 2 + 3 * t, 5 + t + t**2  # of an affine function over the root of a quadratic
    assert sp.Poly(numerator**2 - value**2 * square, t).degree() == 2


@settles("settled-universal", "True")
def test_a_pair_is_a_sigmoid():
    t = sp.Symbol("t", real=True)
    sigma = core([t, -t], eps)[0]
    assert vanishes(sigma - t / sp.sqrt(t**2 + eps))
    assert [sp.limit(sigma, t, end) for end in (-sp.oo, sp.oo)] == [-1, 1]
    assert sp.diff(sigma, t).subs(t, 0) == 1 / sp.sqrt(eps)


@settles("settled-tanh", "False")
def test_the_best_tanh_misses_the_sigmoid():
    for at, factor in (("0.5", 1), ("2.335", -1)):
        x, shrink = iv.mpf(at), iv.exp(-2 * iv.mpf("0.85407") * iv.mpf(at))
        assert factor * (x / iv.sqrt(x**2 + 1) - (1 - shrink) / (1 + shrink)) > iv.mpf("0.044")
    t = sp.Symbol("t", real=True)
    # A tanh tends to its limit like an exponential, the sigmoid like 1/t^2
    assert sp.limit(t**2 * (1 - t / sp.sqrt(t**2 + 1)), t, sp.oo) == R(1, 2)
    assert sp.limit(t**2 * (1 - sp.tanh(t)), t, sp.oo) == 0

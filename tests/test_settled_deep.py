"""The verdicts on layers in a deep network: before or after the block, dropout, activations, the last norm."""

import numpy as np
import sympy as sp
from exact import core, core_jacobian, layer, ones, variance
from hypothesis import assume, given
from hypothesis import strategies as st
from test_deep_around_the_layer import average, quarters, relu
from test_deep_network import block, close
from verdicts import R, settles

import lnbook


@settles("settled-post-vanishes", "False")
def test_all_paths_keep_what_the_skip_path_loses():
    x, w = sp.Matrix([1, 1, -1, -1]), sp.Matrix([1, -1, -1, 1])
    z, at = sp.Matrix(sp.symbols("z1:5", real=True)), [1, 1, -1, -1]
    D = block("post", lambda y: y, z, 0).jacobian(z).subs(dict(zip(z, at, strict=True)))
    assert block("post", lambda y: y, x, 0) == x
    assert sp.simplify(D * w) == w
    assert core_jacobian(list(2 * x), 0) * w == w / 2


@settles("settled-pre-vanishes", "False")
def test_a_direction_that_a_pre_norm_block_loses():
    D = sp.eye(3) - core_jacobian([1, 0, -1], R(1, 3))
    assert D * sp.Matrix([1, -2, 1]) == sp.zeros(3, 1) and D * ones(3) == ones(3)


@settles("settled-gradient-sum", "True")
def test_the_sum_of_the_gradient_behind_and_in_front():
    W = sp.Matrix([[1, 0, 2], [0, 3, -1], [1, 1, 0]])
    D = sp.eye(3) + W * core_jacobian([1, 2, 6], R(1, 3))
    for g in ([1, 5, -2], [0, 0, 1]):
        assert close(sum(D.T * sp.Matrix(g)), sum(g))
    got = lnbook.vjp([1.0, 2, 6], [1.0, 5, -2])[0]
    assert abs(got.sum()) < 1e-15


@settles("settled-stream-exponential", "False")
@given(st.integers(0, 10**6))
def test_each_block_adds_a_bounded_length(seed):
    rng, longest = np.random.default_rng(seed), 0.0
    x = rng.normal(size=5)
    start, L = np.linalg.norm(x), 20
    for _ in range(L):
        W = rng.normal(size=(5, 5))
        longest = max(longest, np.linalg.norm(W, 2) * np.sqrt(5))
        x = x + W @ lnbook.normalize(x)
    assert np.linalg.norm(x) <= start + L * longest
    assert sp.Matrix([11, 22, 22]).norm() == (10 + 1) * 3


@settles("settled-output-norm", "False")
def test_an_output_norm_can_push_the_same_way_each_time():
    addend = core([100, -100, 100, -100], R(1, 10**5))
    assert addend.norm() < 2
    for depth in (12, 1200):
        assert (depth * addend).norm().evalf() > depth * 2 * 0.999


@settles("settled-no-final-norm", "True only if")
def test_the_head_sees_the_shift_unless_its_rows_have_one_sum():
    a, c = sp.Matrix(2, 3, sp.symbols("a1:7", real=True)), sp.Symbol("c", positive=True)
    moved = a * c * ones(3)
    difference = sp.expand(moved[0] - moved[1])
    assert sp.expand(difference - c * (sum(a[0, :]) - sum(a[1, :]))) == 0
    assert core([6, 7, 9], 1) == core([1, 2, 4], 1)


@settles("settled-second-norm", "True only if")
def test_a_second_norm():
    z, second = [1, 2, 6], R(7, 16)
    for gain, other in ((1, 0), (-1, 0), (R(3, 4), second), (R(-3, 4), second)):
        y = layer(z, [gain] * 3, [0, 0, 0], 0)
        assert close(core(list(y), other), y)
    for gain, bias, eps, other in (
        ([1, 1, 1], [0, 0, 0], 0, R(1, 10)),
        ([1, 1, 1], [0, 0, 0], R(1, 10), 0),
        ([2, 2, 2], [0, 0, 0], 0, 0),
        ([1, -1, 1], [0, 0, 0], 0, 0),
        ([1, 1, 1], [1, 0, -1], 0, 0),
    ):
        y = layer(z, gain, bias, eps)
        assert (core(list(y), other) - y).norm().evalf() > 0.01


@settles("settled-dropout", "False")
def test_dropout_in_front_changes_the_mean_core():
    z = [sp.Integer(1), sp.Integer(-1)]
    got = average(lambda case: core(case, 5)[0], z, R(1, 2))
    assert close(got, R(1, 6) + 1 / (2 * sp.sqrt(6))) and not close(got, core(z, 5)[0])
    assert average(variance, z, R(1, 2)) == 1 + R(1, 2)


@settles("settled-dead-relu", "True")
@given(st.lists(quarters, min_size=2, max_size=6))
def test_relu_behind_the_core(z):
    assume(len(set(z)) > 1)
    kept = relu(core([sp.Rational(x) for x in z], 1))
    assert any(entry > 0 for entry in kept) and any(entry == 0 for entry in kept)


@settles("settled-last-gradient", "False")
def test_the_last_gradient_over_the_depth():
    rows = [sp.Matrix(row) for row in ([1, 1, -1, -1], [1, -1, 1, -1])]
    w = sp.Matrix([1, -1, -1, 1])
    x, lengths = rows[0], []
    for depth in range(1, 4):
        total = (x + rows[depth % 2] - rows[depth % 2].dot(x) / 4 * x).evalf(50)
        f = total - x
        total = x + f / sp.sqrt(variance(list(f)))
        lengths.append((core_jacobian(list(total), 0) * w).norm() / w.norm())
        x = core(list(total), 0)
    assert close(lengths, [1 / sp.sqrt(2)] * 3)
    for L in (1, 12):
        stream = sp.sqrt(L + 1) * rows[0]
        assert close((core_jacobian(list(stream), 0) * w).norm() / w.norm(), 1 / sp.sqrt(L + 1))


@settles("settled-placement-lipschitz", "True only if")
def test_the_worst_cases_of_two_places():
    t, k = sp.Symbol("t", real=True), 3
    for eps in (R(1, 9), R(1), R(9)):
        slopes = {
            place: sp.diff(block(place, lambda y: k * y, t * sp.Matrix([1, -1]), eps)[0], t).subs(t, 0)
            for place in ("pre", "post")
        }
        assert (slopes["pre"] < slopes["post"]) == (eps < 1)

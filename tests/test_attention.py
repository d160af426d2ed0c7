"""Attention behind layer normalization: bounds of logits, folding, which keys can win, AdaLN and gates."""

from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from exact import core, layer, mean, ones, projection, symbols, vanishes, variance
from hypothesis import given
from hypothesis import strategies as st

import lnbook
from lnbook.pages.figures import attention_and_expressivity as picture

fact = pytest.mark.fact
R = sp.Rational
eps = sp.Symbol("eps", positive=True)
seeds = st.integers(0, 2**32 - 1)
NOTHING = R(1, 10**30)


def rms(z, eps):
    z = sp.Matrix(z)
    return z / sp.sqrt(z.dot(z) / len(z) + eps)


def logit(x, y):
    return x.dot(y) / sp.sqrt(len(x))


def softmax(logits):
    weights = [sp.exp(s) for s in logits]
    return [w / sum(weights) for w in weights]


def norm_of_symmetric(matrix):
    return max(abs(value) for value in matrix.eigenvals(multiple=True))


def close(a, b, within=NOTHING):
    return abs(sp.sympify(a - b).evalf(60)) < within


# QK-norm


@fact("attn-qk-definition", way="exact")
def test_the_logits_of_the_example_by_hand():
    a, keys = [3, 3, -3, -3], ([5, 5, -5, -5], [1, 1, 1, -3], [-5, -5, 5, 5])
    assert [logit(sp.Matrix(a), sp.Matrix(b)) for b in keys] == [30, 6, -30]
    assert [logit(core(a, 0), core(b, 0)) for b in keys] == [2, 2 / sp.sqrt(3), -2]
    assert [logit(core([10 * x for x in a], 0), core(b, 0)) for b in keys] == [2, 2 / sp.sqrt(3), -2]
    computed = lnbook.normalize(keys, eps=0) @ lnbook.normalize(a, eps=0) / 2
    assert computed == pytest.approx([2, 2 / 3**0.5, -2], rel=1e-14)


KAPPAS = [(1, 1), (2, -1), (1, 0, 0), (3, 3, 3), (1, -2, 0), (1, 0, 0, 0), (2, 2, -5, 1)]


@fact("attn-logit-bound", way="exact")
@pytest.mark.parametrize("kappa", KAPPAS)
def test_the_supremum_is_attained_at_eps_0_by_the_eigenvector_and_approached_beyond(kappa):
    d = len(kappa)
    M = projection(d) * sp.diag(*kappa) * projection(d)
    norm = norm_of_symmetric(M)
    assert norm.evalf(50) <= max(map(abs, kappa))
    if norm == 0:
        return
    size, _, vectors = max(M.eigenvects(), key=lambda found: abs(found[0]).evalf(50))
    w = vectors[0]
    assert close(sum(w), 0)
    at_0 = core(w, 0)
    assert close(abs(logit(sp.diag(*kappa) * at_0, at_0)), sp.sqrt(d) * norm)
    far = core(10**6 * w, 1)
    reached = abs(logit(sp.diag(*kappa) * far, far))
    assert close(reached, sp.sqrt(d) * norm, R(1, 10**9))
    assert (sp.sqrt(d) * norm - reached).evalf(60) > 0
    assert close(abs(size), norm)


@fact("attn-logit-bound", way="exact")
@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_supremum_for_equal_and_for_single_gains(d):
    P = projection(d)
    assert norm_of_symmetric(-3 * P) == 3
    assert norm_of_symmetric(P * sp.diag(1, *[0] * (d - 1)) * P) == R(d - 1, d)
    assert sp.sqrt(64) == 8


@fact("attn-logit-bound", way="exact")
def test_gains_of_opposite_sign_in_two_coordinates_have_the_logit_0():
    a, b = symbols(2), sp.Matrix(sp.symbols("b1:3", real=True))
    assert vanishes(logit(sp.diag(1, -1) * core(a, eps), core(b, eps)))


@fact("attn-logit-bound", way="exact")
@pytest.mark.parametrize("kappa", [(2,), (1, -3), (1, 0, 0)])
def test_the_rms_variant_reaches_the_largest_product_and_unit_vectors_the_factor(kappa):
    d, k = len(kappa), max(range(len(kappa)), key=lambda i: abs(kappa[i]))
    spike = sp.eye(d)[:, k]
    assert abs(logit(sp.diag(*kappa) * rms(spike, 0), rms(spike, 0))) == sp.sqrt(d) * abs(kappa[k])
    g, a = 7, sp.Matrix([3, 4])
    assert g * a.dot(a) / a.norm() ** 2 == g


@fact("attn-logit-bound", way="property")
@given(seeds)
def test_no_logit_passes_the_bound(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 9))
    gains, (a, b) = rng.normal(size=(2, d)), rng.normal(size=(2, d)) * 10.0 ** rng.integers(-6, 7)
    P = np.eye(d) - 1 / d
    bound = np.sqrt(d) * np.linalg.norm(P @ np.diag(gains[0] * gains[1]) @ P, 2)
    s = lnbook.layer_norm(a, gains[0]) @ lnbook.layer_norm(b, gains[1]) / np.sqrt(d)
    assert abs(s) <= bound * (1 + 1e-12) <= np.sqrt(d) * abs(gains[0] * gains[1]).max() * (1 + 1e-9)
    s = lnbook.rms_norm(a, gains[0]) @ lnbook.rms_norm(b, gains[1]) / np.sqrt(d)
    assert abs(s) <= np.sqrt(d) * abs(gains[0] * gains[1]).max() * (1 + 1e-12)


@fact("attn-logit-correlation", way="exact")
def test_a_logit_is_a_correlation_times_two_shares():
    a, b, c = sp.Matrix([1, 2, 4]), sp.Matrix([2, 1, 7]), sp.Symbol("c", real=True)
    centred = [x - mean(x) * ones(3) for x in (a, b)]
    rho = centred[0].dot(centred[1]) / (centred[0].norm() * centred[1].norm())
    shares = [variance(x) / (variance(x) + eps) for x in (a, b)]
    assert vanishes(logit(c * core(a, eps), core(b, eps)) - c * sp.sqrt(3) * rho * sp.sqrt(shares[0] * shares[1]))
    assert vanishes(logit(core(5 * a, 0), core(b, 0)) - sp.sqrt(3) * rho)
    assert float(rho) == pytest.approx(np.corrcoef(list(map(int, a)), list(map(int, b)))[0, 1], rel=1e-14)


@fact("attn-all-heads", way="exact")
@pytest.mark.parametrize(("heads", "d"), [(1, 2), (2, 2), (3, 4)])
def test_one_head_of_several_reaches_their_number_times_the_root(heads, d):
    z = [1, -1] + [0] * (heads * d - 2)
    for norm in (core, rms):
        head = norm(z, 0)[:d, :]
        assert logit(head, head) == heads * sp.sqrt(d)
    assert 12 * sp.sqrt(64) == 96


@fact("attn-all-heads", way="exact")
def test_with_one_coordinate_a_head_the_bound_is_not_sharp():
    spike = core([1, 0, 0], 0)
    assert spike[0] ** 2 == 2 < 3


@fact("attn-all-heads", way="property")
@given(seeds)
def test_the_logits_of_all_heads_share_one_budget(seed):
    rng = np.random.default_rng(seed)
    heads, d = (int(n) for n in rng.integers(1, 6, size=2))
    a, b, gain = rng.normal(size=(3, heads, d)) * 10.0 ** rng.integers(-3, 4, size=(3, 1, 1))
    a[rng.random(size=(heads, d)) < 0.5] *= 100
    for norm in (lnbook.normalize, lnbook.rms_norm):
        y, w = (norm(x.ravel()).reshape(heads, d) for x in (a, b))
        logits = (gain * y * w).sum(axis=1) / np.sqrt(d)
        assert abs(logits).sum() <= heads * np.sqrt(d) * abs(gain).max() * (1 + 1e-12)


@fact("attn-softmax-range", way="exact")
@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_extreme_weights_occur_and_bound_the_others(n):
    B = R(3, 2)
    low, high = 1 / (1 + (n - 1) * sp.exp(2 * B)), 1 / (1 + (n - 1) * sp.exp(-2 * B))
    assert close(softmax([B] + [-B] * (n - 1))[0], high)
    assert close(softmax([-B] + [B] * (n - 1))[0], low)
    weights = softmax([R(k, 2) - B for k in range(n)] if n < 7 else [])
    assert all(low.evalf(40) <= w.evalf(40) <= high.evalf(40) for w in weights)
    for one, other in pairwise(weights):
        assert (other / one).evalf(40) <= sp.exp(2 * B).evalf(40)


@fact("attn-softmax-range", way="exact")
@pytest.mark.parametrize(("B", "most"), [(8, 8886111), (1, 8)])
def test_how_many_keys_leave_half_of_the_weight_to_one(B, most):
    assert sp.floor(sp.exp(2 * B)) + 1 == most
    assert 1 / (1 + (most - 1) * sp.exp(-2 * B)) >= R(1, 2)
    assert 1 / (1 + most * sp.exp(-2 * B)) < R(1, 2)


def turn(angle):
    return sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])


@fact("attn-rope", way="exact")
def test_rms_norm_commutes_with_rotations_and_the_core_only_if_the_ones_are_kept():
    z, angle = symbols(2), sp.Symbol("theta", real=True)
    assert vanishes(rms(turn(angle) * z, eps) - turn(angle) * rms(z, eps))
    for Q in (sp.Matrix([[0, 1], [1, 0]]), -sp.eye(2), sp.Matrix([[0, 1, 0], [0, 0, 1], [1, 0, 0]])):
        z = symbols(Q.rows)
        assert vanishes(core(Q * z, eps) - Q * core(z, eps))
    for theta in (sp.pi / 2, sp.pi / 3):
        assert core(turn(theta) * ones(2), 1) != sp.zeros(2, 1)
        assert turn(theta) * core(ones(2), 1) == sp.zeros(2, 1)


@fact("attn-rope", way="exact")
def test_a_gain_commutes_with_a_turn_if_the_pair_has_one_gain():
    angle, first, second = sp.symbols("theta first second", real=True)
    D = sp.diag(first, second)
    difference = D * turn(angle) - turn(angle) * D
    assert vanishes(difference - (second - first) * sp.sin(angle) * sp.Matrix([[0, 1], [1, 0]]))


@fact("attn-rope", way="exact")
def test_with_a_turn_between_the_gains_the_products_do_not_bound():
    quarter = turn(sp.pi / 2)
    query, key = sp.diag(1, 0) * rms([1, 0], 0), sp.diag(0, 1) * rms([0, 1], 0)
    assert logit(query, key) == 0
    assert logit(quarter * query, key) == sp.sqrt(2)
    query, key = sp.diag(1, 0) * core([1, -1], 0), sp.diag(0, 1) * core([1, -1], 0)
    assert abs(logit(quarter * query, key)) == 1 / sp.sqrt(2)


# Folding


@fact("attn-key-constant", way="exact")
def test_a_vector_on_all_keys_changes_no_weight_and_one_on_the_query_does():
    a, h = sp.Matrix([1, 2, 0]), sp.Matrix([3, -1, 2])
    keys = [sp.Matrix(k) for k in ([1, 0, 1], [0, 1, 0], [2, -1, 1])]
    plain = [logit(a, k) for k in keys]
    assert [logit(a, k + h) - s for k, s in zip(keys, plain, strict=True)] == [a.dot(h) / sp.sqrt(3)] * 3
    moved = [logit(a + h, k) - s for k, s in zip(keys, plain, strict=True)]
    assert [sp.simplify(m * sp.sqrt(3)) for m in moved] == [h.dot(k) for k in keys] == [5, -1, 9]
    for one, other in zip(softmax(plain), softmax([logit(a, k + h) for k in keys]), strict=True):
        assert close(one, other)


@fact("attn-fold", way="property")
@given(seeds)
def test_gain_bias_and_centring_fold_into_attention(seed):
    rng = np.random.default_rng(seed)
    d, width, n = 4, 3, 5
    Wq, Wk, Wv = rng.normal(size=(3, width, d)) / 2
    bq, bk, bv = rng.normal(size=(3, width))
    gain, bias, z = rng.normal(size=d), rng.normal(size=d), rng.normal(size=(n, d))
    y, u, P = lnbook.layer_norm(z, gain, bias), lnbook.normalize(z), np.eye(d) - 1 / d
    G = np.diag(gain)
    logits = (y @ Wq.T + bq) @ (y @ Wk.T + bk).T
    A, c = P @ G @ Wq.T @ Wk @ G @ P, P @ G @ Wk.T @ (Wq @ bias + bq)
    folded = u @ A @ u.T + u @ c
    difference = logits - folded  # the same for all keys of a query
    assert np.ptp(difference, axis=1) == pytest.approx(0, abs=1e-9)
    weights = np.exp(folded - folded.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    output = weights @ (u @ (Wv @ G).T) + Wv @ bias + bv
    assert output == pytest.approx(weights @ (y @ Wv.T + bv), abs=1e-9)


@fact("attn-fold", way="exact")
def test_what_is_left_out_of_the_folded_logit_is_the_same_for_all_keys():
    gain, bias = sp.diag(2, -1, 3), sp.Matrix([1, 0, -1])
    Wq, Wk = sp.Matrix([[1, 2, 0], [0, 1, -1]]), sp.Matrix([[1, 0, 1], [2, -1, 0]])
    bq, bk = sp.Matrix([1, -2]), sp.Matrix([3, 5])
    P, u = projection(3), core([1, 2, 4], R(1, 3))
    A, c = P * gain * Wq.T * Wk * gain * P, P * gain * Wk.T * (Wq * bias + bq)
    left = []
    for z in ([1, 2, 3], [5, 0, 1], [0, 0, 1]):
        w = core(z, R(1, 3))
        logit = (Wq * (gain * u + bias) + bq).dot(Wk * (gain * w + bias) + bk)
        left.append(sp.simplify(logit - (u.T * A * w)[0] - c.dot(w)))
    assert left[0] == left[1] == left[2]


@fact("attn-norm-twice", way="exact")
@pytest.mark.parametrize("second", [0, R(1, 5), 3])
def test_a_norm_before_a_matrix_and_a_norm_changes_the_second_epsilon(second):
    W, G, eps = sp.Matrix([[1, 2, 0], [0, 1, 3], [1, 1, 1]]), sp.diag(2, -1, 3), R(1, 3)
    for z in ([1, 2, 4], [R(1, 10), 0, 0]):
        twice = core(W * G * core(z, eps), second)
        v = projection(3) * sp.Matrix(z)
        assert vanishes(twice - core(W * G * v, (variance(z) + eps) * second))
        assert vanishes(twice - core(W * G * v, second)) is (second == 0)
        square = sp.Matrix(z).dot(sp.Matrix(z)) / 3
        assert vanishes(rms(W * G * rms(z, eps), second) - rms(W * G * sp.Matrix(z), (square + eps) * second))


@fact("attn-qk-gains", way="property")
@given(seeds)
def test_the_gain_of_the_keys_may_go_to_the_queries(seed):
    rng = np.random.default_rng(seed)
    gain_q, bias_q, gain_k, bias_k, a = rng.normal(size=(5, 6))
    b = rng.normal(size=(4, 6))
    both = lnbook.layer_norm(b, gain_k, bias_k) @ lnbook.layer_norm(a, gain_q, bias_q)
    one = lnbook.normalize(b) @ lnbook.layer_norm(a, gain_k * gain_q, gain_k * bias_q)
    assert np.ptp(both - one) == pytest.approx(0, abs=1e-9)


@fact("attn-qk-gains", way="exact")
def test_with_a_rotation_between_them_the_gain_of_the_keys_must_commute():
    Q, x, w = turn(sp.pi / 3), sp.Matrix([1, 5]), sp.Matrix([2, -3])
    for gain, moves in (((2, 2), True), ((2, 3), False)):
        D = sp.diag(*gain)
        assert vanishes((Q * x).dot(D * w) - (Q * (D * x)).dot(w)) is moves


# Which keys can win


def can_win(keys, number):
    """Whether key `number` lies outside the hull of the others in the plane: some gap of directions exceeds pi."""
    others = np.delete(keys, number, axis=0) - keys[number]
    angles = np.sort(np.arctan2(others[:, 1], others[:, 0]))
    return max(np.diff([*angles, angles[0] + 2 * np.pi])) > np.pi


@fact("attn-win-hull", way="property")
@given(seeds)
def test_a_key_wins_for_some_query_if_it_lies_outside_the_hull(seed):
    rng = np.random.default_rng(seed)
    keys = rng.normal(size=(6, 2))
    angles = np.radians(np.arange(0, 360, 0.05))
    winners = (keys @ [np.cos(angles), np.sin(angles)]).argmax(axis=0)
    for number in set(range(6)) - set(winners):
        # what no query of a fine net finds lies inside or within the width of the net
        others = np.delete(keys, number, axis=0) - keys[number]
        gap = np.sort(np.arctan2(others[:, 1], others[:, 0]))
        assert max(np.diff([*gap, gap[0] + 2 * np.pi])) < np.pi + 2e-3
    assert all(can_win(keys, number) for number in set(winners))


@fact("attn-win-hull", way="exact")
def test_a_mean_of_keys_has_the_mean_of_their_logits():
    a = symbols(2)
    keys = [sp.Matrix(k) for k in ([4, 0], [0, 4], [-1, -1])]
    inside = sum(keys, sp.zeros(2, 1)) / 3
    assert inside == ones(2)
    assert vanishes(a.dot(inside) - sum(a.dot(k) for k in keys) / 3)


@fact("attn-win-sphere", way="exact")
def test_each_key_on_the_sphere_wins_with_its_core_over_the_gain():
    gain, bias = sp.Matrix([2, -1, 3]), sp.Matrix([1, 0, 5])
    inputs = [sp.Matrix(b) for b in ([1, 2, 3], [1, 2, 4], [0, 1, 0], [3, 2, 1])]
    for norm, ratio in ((core, lambda x: x - mean(x) * ones(3)), (rms, lambda x: x)):
        keys = [gain.multiply_elementwise(norm(b, 0)) + bias for b in inputs]
        for i, b in enumerate(inputs):
            query = norm(b, 0).multiply_elementwise(gain.applyfunc(lambda g: 1 / sp.sympify(g)))
            for j, other in enumerate(inputs):
                rho = ratio(b).dot(ratio(other)) / (ratio(b).norm() * ratio(other).norm())
                assert close(query.dot(keys[i]) - query.dot(keys[j]), 3 * (1 - rho))
                assert (i == j) == close(rho, 1)


@fact("attn-win-eps", way="exact")
def test_a_constant_input_between_two_opposite_ones_never_wins():
    b = symbols(3)
    assert core([5, 5, 5], eps) == sp.zeros(3, 1)
    assert vanishes(core(b, eps) + core(-b, eps))


@fact("attn-win-eps", way="property")
@given(seeds)
def test_the_key_of_the_largest_variance_and_each_that_is_not_too_similar_win(seed):
    rng = np.random.default_rng(seed)
    z, eps = rng.normal(size=(5, 4)) * 10.0 ** rng.uniform(-1, 1, size=(5, 1)), 0.3
    u, q = lnbook.normalize(z, eps=eps), lnbook.variance(z)
    products, rho = u @ u.T, np.corrcoef(z)
    assert products[q.argmax()].argmax() == q.argmax()
    enough = np.sqrt(q.min() / (q.min() + eps))
    for i in range(5):
        if np.delete(rho[i], i).max() < enough - 1e-9:
            assert products[i].argmax() == i


@fact("attn-win-eps", way="exact")
def test_the_condition_at_variance_1_and_the_usual_epsilon():
    assert close(sp.sqrt(1 / (1 + R(1, 10**5))), R(999995, 10**6), R(5, 10**7))


@fact("attn-win-head", way="exact")
def test_a_key_matrix_of_too_small_a_rank_hides_a_core_between_two_others():
    x, w, W = sp.Matrix([1, -1, 0]), sp.Matrix([1, 1, -2]), sp.Matrix([[1, -1, 0]])
    keys = [(W * core(b, 0))[0] for b in (x, -x, w)]
    assert keys == [sp.sqrt(6), -sp.sqrt(6), 0]
    assert core(x, 0).norm() == core(w, 0).norm() == sp.sqrt(3)
    wide = sp.Matrix([[1, -1, 0], [0, 1, 1]])
    assert (W * projection(3)).rank() == 1
    assert (wide * projection(3)).rank() == 2
    middle = wide * core(w, 0)
    assert sp.Matrix.hstack(wide * core(x, 0) - middle, wide * core(-x, 0) - middle).rank() == 2


@fact("attn-centre", way="exact")
def test_queries_that_see_all_keys_alike():
    z, c = symbols(3), sp.Symbol("c", real=True)
    gain, bias = [2, -1, 3], [1, 0, 5]
    query = sp.Matrix([c / g for g in gain])
    assert vanishes(query.dot(layer(z, gain, bias, eps)) - query.dot(sp.Matrix(bias)))
    along = c * ones(3)
    assert vanishes(along.dot(core(z, eps)))
    assert vanishes(along.dot(layer(z, [1, 1, 1], bias, eps)) - 6 * c)
    other = sp.Matrix([1, 0, 0])
    products = {other.dot(core(z, 1)) for z in ([1, 0, 0], [0, 0, 0])}
    assert len(products) == 2
    assert ones(3).dot(rms([1, 1, 1], 1)) != ones(3).dot(rms([0, 0, 0], 1)) == 0


def test_the_figure_fills_exactly_the_keys_that_can_win():
    across, up = np.array([1, -1, 0]) / np.sqrt(2), np.array([-1, -1, 2]) / np.sqrt(6)
    cores = lnbook.normalize(picture.KEYS[:, :1] * across + picture.KEYS[:, 1:] * up, eps=1e-2)
    plane = np.stack([cores @ across, cores @ up], axis=1)
    for keys, hull in ((picture.KEYS, picture.RAW_HULL), (plane, picture.NORMED_HULL)):
        assert {number for number in range(len(keys)) if can_win(keys, number)} == set(hull)


# AdaLN


@fact("attn-adaln", way="exact")
def test_gain_and_bias_go_into_scale_and_shift():
    u, gain, bias, s, t = (sp.Matrix(sp.symbols(f"{name}1:4", real=True)) for name in ("u", "g", "b", "s", "t"))
    one = ones(3)
    twice = (one + s).multiply_elementwise(gain.multiply_elementwise(u) + bias) + t
    scale, shift = gain.multiply_elementwise(one + s) - one, (one + s).multiply_elementwise(bias) + t
    assert vanishes(twice - (one + scale).multiply_elementwise(u) - shift)
    for entry in [*scale, *shift]:  # affine in s and t, so in the condition
        assert sp.Poly(entry, *s, *t).total_degree() <= 1
    assert 2 * core([1, 2], 1) != core([1, 2], 1)


@fact("attn-gate-zero", way="exact")
def test_with_a_gate_of_0_only_the_gate_has_a_gradient():
    x, e = symbols(2), sp.Matrix(sp.symbols("e1:3", real=True))
    theta, c = sp.symbols("theta c", real=True)
    g0, G = sp.Matrix(sp.symbols("g1:3", real=True)), sp.Matrix(sp.symbols("G1:3", real=True))
    F = theta * core(x, 1) + ones(2) * theta**2
    output = x + (G * c + g0).multiply_elementwise(F)
    at_0 = dict.fromkeys([*g0, *G], 0)
    loss = e.dot(output)
    assert output.subs(at_0) == x
    assert output.jacobian(x).subs(at_0) == sp.eye(2)
    assert sp.diff(loss, theta).subs(at_0) == 0
    for i in range(2):
        assert vanishes(sp.diff(loss, g0[i]).subs(at_0) - e[i] * F[i])
        assert vanishes(sp.diff(loss, G[i]).subs(at_0) - e[i] * F[i] * c)
        assert sp.diff(loss, g0[i]).subs(at_0).subs(theta, 0) == 0
        assert sp.diff(loss, G[i]).subs(at_0).subs(theta, 0) == 0

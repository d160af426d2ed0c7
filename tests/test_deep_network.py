"""Blocks in a stack: the skip path, the growth of the stream, its Jacobian, and the constants of the four places."""

from itertools import product

import numpy as np
import pytest
import sympy as sp
from exact import centered, core, core_jacobian, layer, ones, projection, symbols, variance
from hypothesis import given
from hypothesis import strategies as st

import lnbook
from lnbook.pages import deep

fact = pytest.mark.fact
R = sp.Rational
PLACES = ("post", "pre", "output", "sandwich")
seeds = st.integers(0, 10**6)


def hadamard(n):
    H = sp.Matrix([[1]])
    while H.rows < n:
        H = sp.Matrix(sp.BlockMatrix([[H, H], [H, -H]]))
    return [H[i, :].T for i in range(1, n)]


def block(place, F, x, eps, norm=core):
    """One block without gain and bias."""
    if place == "post":
        return norm(x + F(x), eps)
    return (
        x
        + {
            "pre": lambda: F(norm(x, eps)),
            "output": lambda: norm(F(x), eps),
            "sandwich": lambda: norm(F(norm(x, eps)), eps),
        }[place]()
    )


def normalize(z, eps):
    return lnbook.normalize(z, eps=eps)


# The places


@fact("deep-placements", "deep-example", way="exact")
def test_one_block_in_each_place():
    x, f, w = (sp.Matrix(row) for row in ([1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]))
    outputs = {place: block(place, lambda _: f, x, 2) for place in PLACES}
    assert outputs["post"] == sp.Matrix([1, 0, 0, -1])
    assert outputs["pre"] == sp.Matrix([2, 0, 0, -2])
    assert outputs["output"] == outputs["sandwich"] == x + f / sp.sqrt(3)
    z = symbols(4)
    moved = {
        place: block(place, lambda _: f, z, 2).jacobian(z).subs(dict(zip(z, x, strict=True))) * w for place in PLACES
    }
    assert sp.simplify(moved["post"] - w / 2) == sp.zeros(4, 1)
    assert moved["pre"] == moved["output"] == w


@fact("deep-placements", way="exact")
def test_the_four_places_are_four_maps():
    outputs = [block(place, lambda y: 3 * y, sp.Matrix([1, 2, 6]), 1) for place in PLACES]
    assert all((a - b).norm().evalf() > 0.01 for i, a in enumerate(outputs) for b in outputs[:i])


# The skip path


def close(a, b):
    return (sp.Matrix([a]) - sp.Matrix([b])).evalf(40).norm() < 1e-35


def post_norm_stack(x, branches, w, eps):
    """The end of a post-norm stack with constant branches, what its skip path makes of w, and all p, to 50 digits."""
    spread = []
    for f in branches:
        total = (x + f).evalf(50)
        w, x = core_jacobian(list(total), eps) * w, core(list(total), eps)
        spread.append(variance(list(total)))
    return x, w, spread


@fact("deep-skip-path", "deep-weights", way="exact")
@pytest.mark.parametrize("a", [1, 3])
def test_the_skip_path_over_orthogonal_branches(a):
    rows = hadamard(8)
    x0, branches, w = rows[0], [sp.sqrt(a) * row for row in rows[1:5]], rows[5]
    end, moved, spread = post_norm_stack(x0, branches, w, 0)
    assert close(spread, [1 + a] * 4)
    assert close(moved, w * R(1, (1 + a) ** 2))
    weights = [end.dot(row) / 8 for row in rows[:5]]
    if a == 1:
        assert close(weights, [R(1, 4), *(2 ** R(number - 5, 2) for number in range(1, 5))])
        assert close(weights[-1] ** 2, R(1, 2))
        pre = core(list(x0 + sum(branches, sp.zeros(8, 1))), 0)
        assert [pre.dot(row) / 8 for row in rows[:5]] == [1 / sp.sqrt(5)] * 5
    assert 2 ** R(-12, 2) == R(1, 64)


@fact("deep-skip-path", way="property")
@given(seeds)
def test_no_direction_passes_better_than_the_product(seed):
    rng, eps = np.random.default_rng(seed), 0.1
    x, w, factor = rng.normal(size=6), rng.normal(size=6), 1.0
    start, aligned = np.linalg.norm(w), []
    for _ in range(3):
        total = x + rng.normal(size=6)
        w, x = lnbook.jacobian(total, eps=eps) @ w, lnbook.normalize(total, eps=eps)
        factor /= np.sqrt(total.var() + eps)
        aligned.append(total - total.mean())
    assert np.linalg.norm(w) <= start * factor * (1 + 1e-12)
    across = np.linalg.svd(np.vstack([np.ones(6), *aligned]))[2][-1]
    moved = across
    for v in aligned:
        moved = lnbook.jacobian(v, eps=eps) @ moved
    np.testing.assert_allclose(moved, factor * across, atol=1e-12 * factor)


# Growth


@fact("deep-stream-variance", "deep-scaled-branches", way="exact")
def test_variances_of_orthogonal_branches_add_up():
    rows = hadamard(8)
    shifted = [c * row + 5 * ones(8) for c, row in zip((2, 1, 3, R(1, 2)), rows, strict=False)]
    assert variance(sum(shifted, sp.zeros(8, 1))) == 4 + 1 + 9 + R(1, 4)
    a, alpha = 9, 1 / sp.sqrt(4)
    stream = rows[0] + sum((alpha * 3 * row for row in rows[1:5]), sp.zeros(8, 1))
    assert variance(stream) == 1 + alpha**2 * 4 * a == 1 + a
    same = sum((2 * rows[0] for _ in range(5)), sp.zeros(8, 1))
    assert variance(same) == 5**2 * 4


@fact("deep-stream-variance", way="property")
@given(seeds)
def test_the_roots_of_the_variances_bound_the_stream(seed):
    parts = np.random.default_rng(seed).normal(size=(4, 3)) ** 3
    assert np.sqrt(parts.sum(0).var()) <= np.sqrt(parts.var(axis=1)).sum() * (1 + 1e-12)


def mean_over_signs(value, sizes):
    """The mean of value(W) over all matrices of entries plus or minus sizes[i][j]."""
    shape = np.shape(sizes)
    total = 0
    for signs in product((-1, 1), repeat=shape[0] * shape[1]):
        total += value(sp.Matrix(*shape, [s * e for s, e in zip(signs, np.ravel(sizes), strict=True)]))
    return sp.simplify(total / sp.Integer(2) ** (shape[0] * shape[1]))


@fact("deep-random-branches", way="exact")
def test_a_random_linear_branch_adds_its_variance_in_the_mean():
    x, a, eps, d = sp.Matrix([1, 4]), 3, R(4, 3), 2
    u = core(x, eps)
    got = mean_over_signs(lambda W: variance(list(x + W * u)), np.full((d, d), sp.sqrt(R(a, d))))
    q = variance(x)
    assert got == q + (1 - R(1, d)) * a * q / (q + eps)


@fact("deep-random-branches", way="exact")
def test_a_random_relu_branch_adds_as_much():
    x, a, eps, d, h = sp.Matrix([1, 3]), 3, R(1), 2, 2
    u, q = core(x, eps), variance(x)
    hidden = np.full((h, d), sp.sqrt(R(2, d)))

    def over_V(W):
        squares = sum(sp.Max(0, entry) ** 2 for entry in W * u)
        # Of a V of independent signs: the mean of variance(x + V r) is q + (1 - 1/d) (a / h) |r|^2
        r = (W * u).applyfunc(lambda entry: sp.Max(0, entry))
        exactly = mean_over_signs(lambda V: variance(list(x + V * r)), np.full((d, h), sp.sqrt(R(a, h))))
        assert sp.simplify(exactly - q - (1 - R(1, d)) * R(a, h) * squares) == 0
        return exactly

    assert mean_over_signs(over_V, hidden) == q + (1 - R(1, d)) * a * q / (q + eps)


@fact("deep-mean-square", way="exact")
def test_a_perturbation_grows_in_the_mean():
    x, w, a, eps, d = sp.Matrix([1, 4]), sp.Matrix([1, -3]), 3, R(1, 3), 2
    J, q = core_jacobian(x, eps), variance(x)
    got = mean_over_signs(lambda W: (w + W * (J * w)).dot(w + W * (J * w)), np.full((d, d), sp.sqrt(R(a, d))))
    moved = (J * w).dot(J * w)
    assert sp.simplify(got - w.dot(w) - a * moved) == 0
    assert w.dot(w) <= got <= (1 + a / (q + eps)) * w.dot(w)
    q0 = sp.Symbol("q0", positive=True)
    telescoped = sp.prod(1 + a / (q0 + before * a) for before in range(5))
    assert sp.simplify(telescoped - (q0 + 5 * a) / q0) == 0


@fact("deep-pre-growth", "deep-addend", way="property")
@given(seeds, st.sampled_from(PLACES[1:]))
def test_no_branch_makes_the_stream_longer_than_its_bound(seed, place):
    rng, d, L = np.random.default_rng(seed), 4, 5
    gain, bias = rng.normal(size=d), rng.normal(size=d)
    x = rng.normal(size=d)
    radius = np.sqrt(d) * np.abs(gain).max() + np.linalg.norm(bias)
    start, longest = np.linalg.norm(x), 0.0
    for _ in range(L):
        W = 10.0 ** rng.integers(-3, 4) * rng.normal(size=(d, d))
        longest = max(longest, np.linalg.norm(W, 2) * radius)
        x = block(place, lambda y: W @ y, x, 0.01, lambda z, eps: lnbook.layer_norm(z, gain, bias, eps=eps))  # noqa: B023
    assert np.linalg.norm(x) <= start + L * (longest if place == "pre" else radius)


@fact("deep-pre-growth", way="exact")
def test_constant_branches_attain_the_bound_and_no_layer_doubles():
    x0 = c = sp.Matrix([1, 2, 2])
    x = doubled = x0
    for _ in range(4):
        x, doubled = block("pre", lambda _: c, x, 1), doubled + doubled
    assert x.norm() == x0.norm() + 4 * c.norm() == 15
    assert doubled == 16 * x0


@fact("deep-addend", way="exact")
def test_what_an_output_norm_adds():
    z, eps = sp.Matrix([1, 2, 6]), R(1, 3)
    addend = block("output", lambda _: z, sp.zeros(3, 1), eps)
    assert sp.simplify(variance(list(addend)) - variance(z) / (variance(z) + eps)) == 0
    assert block("output", lambda _: z, z, eps, lambda y, e: layer(y, [0] * 3, [0] * 3, e)) == z


@fact("deep-share", way="exact")
@pytest.mark.parametrize("before", [0, 2])
def test_the_share_of_a_block(before):
    rows, a, q0 = hadamard(8), 4, 9
    x = 3 * rows[0] + sum((2 * row for row in rows[1 : 1 + before]), sp.zeros(8, 1))
    then = x + 2 * rows[1 + before]
    q, after = variance(x), variance(then)
    assert q == q0 + before * a and after == q0 + (before + 1) * a
    assert sp.sqrt(variance(2 * rows[1 + before]) / q) == sp.sqrt(R(a, q0 + before * a))
    assert sp.simplify(x.dot(then) / x.norm() / then.norm() - sp.sqrt(q / after)) == 0
    step = core(then, 0) - core(x, 0)
    assert sp.simplify(step.dot(step) - 2 * 8 * (1 - sp.sqrt(q / after))) == 0


# First and last norm


@fact("deep-final-norm", "deep-conserved", way="property")
@given(seeds, st.sampled_from(["pre", "sandwich"]))
def test_a_common_shift_passes_a_stack_and_a_final_norm_removes_it(seed, place):
    rng = np.random.default_rng(seed)
    matrices, x, c = rng.normal(size=(3, 4, 4)), rng.normal(size=4), 8.0
    D = np.eye(4)

    def stack(x):
        for W in matrices:
            x = block(place, lambda y: np.tanh(W @ y), x, 0.1, normalize)  # noqa: B023
        return x

    np.testing.assert_allclose(stack(x + c), stack(x) + c, atol=1e-12)
    final = lnbook.normalize(stack(x + c), eps=0.1)
    np.testing.assert_allclose(final, lnbook.normalize(stack(x), eps=0.1), atol=1e-12)
    assert np.linalg.norm(final) <= np.sqrt(4)
    step = 1e-6
    D = np.array([(stack(x + step * e) - stack(x - step * e)) / (2 * step) for e in np.eye(4)]).T
    np.testing.assert_allclose(D @ np.ones(4), 1, atol=1e-8)
    assert np.linalg.norm(D, 2) >= 1 - 1e-8


@fact("deep-final-norm", way="exact")
def test_softmax_sees_a_shift_unless_the_rows_have_one_sum():
    x, c = sp.Matrix([1, 2, 4]), 5
    for A, unseen in ((sp.Matrix([[1, 2, 0], [3, 0, 0]]), True), (sp.Matrix([[1, 2, 0], [0, 1, 1]]), False)):
        moved = A * (x + c * ones(3)) - A * x
        assert (moved[0] == moved[1]) == unseen


@fact("deep-conserved", way="exact")
def test_the_sum_of_the_gradient_is_the_same_in_front_of_a_block():
    x, g, eps = sp.Matrix([1, 2, 6]), sp.Matrix([1, 5, -2]), R(1, 3)
    A = sp.Matrix([[1, 0, 2], [0, 3, -1], [1, 1, 0]])
    gain = sp.diag(2, -1, 3)
    D = sp.eye(3) + A * gain * core_jacobian(x, eps)
    sandwich = sp.eye(3) + gain * core_jacobian(list(A * gain * core(x, eps)), eps) * A * gain * core_jacobian(x, eps)
    for jacobian in (D, sandwich):
        assert sp.simplify(sum(jacobian.T * g) - sum(g)) == 0
    assert sp.simplify(sum(core_jacobian(x, eps) * g)) == 0
    t = sp.Symbol("t", positive=True)
    rms_block = t + t / sp.sqrt(t**2 + eps)
    assert sp.diff(rms_block, t).subs(t, 1) > 1


@fact("deep-embedding-norm", way="exact")
def test_the_share_of_the_embedding():
    rows = hadamard(8)
    x = 3 * rows[0] + 2 * rows[1] + 2 * rows[2]
    assert variance(3 * rows[0]) / variance(x) == R(9, 9 + 2 * 4)
    q0, eps = R(2, 100) ** 2, R(1, 10**5)
    z = R(2, 100) * rows[0]
    normed = variance(list(core(z, eps)))
    assert sp.simplify(normed - q0 / (q0 + eps)) == 0
    assert q0 / (q0 + 1) == R(1, 2501) and sp.simplify(normed / (normed + 1)) == R(40, 81)


# Jacobians and gradients


@fact("deep-vanish", way="exact")
def test_a_block_whose_jacobian_is_singular():
    z = symbols(3)
    D = (z - core(z, R(1, 3))).jacobian(z).subs(dict(zip(z, (1, 0, -1), strict=True)))
    assert core([1, 0, -1], R(1, 3)) == sp.Matrix([1, 0, -1])
    assert sp.simplify(D * sp.Matrix([1, -2, 1])) == sp.zeros(3, 1)
    assert sp.simplify(D * sp.Matrix([1, 0, -1])) == R(2, 3) * sp.Matrix([1, 0, -1])
    assert sp.simplify(D * ones(3)) == ones(3)


@fact("deep-stack-jacobian", way="property")
@given(seeds)
def test_the_jacobian_of_a_stack_is_below_its_bound(seed):
    rng, eps = np.random.default_rng(seed), 0.05
    x, D, bound, k = rng.normal(size=4), np.eye(4), 1.0, 0.0
    matrices, gain = rng.normal(size=(4, 4, 4)), rng.normal(size=4)
    k = max(np.linalg.norm(W * gain, 2) for W in matrices)
    for W in matrices:
        step = (W * gain) @ lnbook.jacobian(x, eps=eps)
        assert np.linalg.norm(step, 2) <= k / np.sqrt(x.var() + eps) * (1 + 1e-12)
        D, bound = D + step @ D, bound * (1 + k / np.sqrt(x.var() + eps))
        x = x + W @ (gain * lnbook.normalize(x, eps=eps))
    assert np.linalg.norm(D, 2) <= bound * (1 + 1e-12)


@fact("deep-stack-jacobian", way="exact")
def test_the_sum_behind_the_exponential():
    for q0, a, L in ((1, 1, 1), (R(1, 10), 2, 7), (5, R(1, 3), 40)):
        roots = sum(1 / sp.sqrt(q0 + before * a) for before in range(L))
        assert roots.evalf(30) <= (1 / sp.sqrt(q0) + 2 * sp.sqrt(L / sp.sympify(a))).evalf(30)


@fact("deep-same-branch", way="exact")
def test_blocks_that_push_the_same_way():
    v0, w, s = sp.Matrix([1, 0, -1]), sp.Matrix([1, -2, 1]), 2
    for eps in (0, R(1, 3)):
        x, moved = v0.evalf(50), w
        for _ in range(3):
            q = variance(x)
            moved = moved + s * core_jacobian(x, eps) * moved
            x = x + s * core(x, eps)
            assert close(sp.sqrt(variance(x)), sp.sqrt(q) * (1 + s / sp.sqrt(q + eps)))
        ratio = sp.sqrt(variance(x) / variance(v0))
        assert close(moved, ratio * w)
        if eps == 0:
            assert close(ratio, 1 + 3 * s / sp.sqrt(variance(v0)))
    t, eps = sp.symbols("t eps", positive=True)
    one = 1 + s / sp.sqrt(t**2 * variance(v0) + eps)
    assert sp.limit(one, t, 0) == 1 + s / sp.sqrt(eps)


@fact("deep-last-block", way="exact")
def test_the_gradient_by_the_last_matrix():
    base, h, g, eps = sp.Matrix([1, 2, 6]), sp.Matrix([2, 1]), sp.Matrix([1, 5, -2]), R(1, 3)
    gain, W = sp.diag(2, -1, 3), sp.Matrix([[1, 0], [2, -1], [0, 3]])
    x, t = base + W * h, sp.Symbol("t", real=True)
    back = core_jacobian(x, eps) * gain * g
    gradient = back * h.T

    def slope(direction):
        return sp.diff(g.dot(gain * core(list(x + t * direction * h), eps)), t).subs(t, 0)

    for i, j in product(range(3), range(2)):
        unit = sp.zeros(3, 2)
        unit[i, j] = 1
        assert close(slope(unit), gradient[i, j])
    length = sp.sqrt(sum(entry**2 for entry in gradient))
    assert close(length, back.norm() * h.norm())
    assert length.evalf(30) <= ((gain * g).norm() * h.norm() / sp.sqrt(variance(x) + eps)).evalf(30)
    across = centered(x).cross(ones(3))
    assert close((core_jacobian(x, eps) * across).norm(), across.norm() / sp.sqrt(variance(x) + eps))
    assert close(slope(-gradient), -back.dot(back) * h.dot(h))
    assert sp.simplify(1 / sp.sqrt(1 + 1) / (1 / sp.sqrt(1 + 7)) - sp.sqrt(R(7 + 1, 2))) == 0


def test_the_gradients_of_the_experiment_are_those_of_its_networks():
    rng = np.random.default_rng(3)
    d, x, g = 5, rng.normal(size=5), rng.normal(size=5)
    matrices = deep.random_matrices(3, d, rng)
    for place in ("post", "pre"):

        def loss(V, at, place=place):
            changed = matrices.copy()
            changed[at, 0] = V
            end = deep.forward(place, x, changed)[2][-1]
            return g @ lnbook.normalize(end)

        for at, length in enumerate(deep.gradient_lengths(place, x, matrices, g)):
            numeric = np.zeros((d, d))
            for i, j in np.ndindex(d, d):
                step = np.zeros((d, d))
                step[i, j] = 1e-6
                numeric[i, j] = (loss(matrices[at, 0] + step, at) - loss(matrices[at, 0] - step, at)) / 2e-6
            np.testing.assert_allclose(np.linalg.norm(numeric), length, rtol=1e-6)


def test_the_experiment_shows_what_the_page_says():
    (q, post), (q_pre, pre) = (deep.experiment(place, 24, seeds=6) for place in ("post", "pre"))
    assert abs(q[:, -1].mean() - 2) < 0.6 and 18 < q_pre[:, -1].mean() < 32
    assert abs(post[:, -1].mean() - 1 / np.sqrt(2)) < 0.05 and abs(pre[:, -1].mean() - 1 / np.sqrt(25)) < 0.05
    assert post[:, 0].mean() > 0.3


# How strongly a block reacts


@fact("deep-lipschitz", way="exact")
@pytest.mark.parametrize("place", PLACES)
def test_the_constants_are_attained_at_constant_inputs(place):
    eps, k, t = R(1, 9), 3, sp.Symbol("t", real=True)
    x = t * sp.Matrix([1, -1])
    expected = {
        "post": (1 + k) / sp.sqrt(eps),
        "pre": 1 + k / sp.sqrt(eps),
        "output": 1 + k / sp.sqrt(eps),
        "sandwich": 1 + k / eps,
    }[place]
    assert sp.diff(block(place, lambda y: k * y, x, eps)[0], t).subs(t, 0) == expected
    constant = block(place, lambda y: k * y, 7 * ones(2), eps)
    assert constant == (sp.zeros(2, 1) if place == "post" else 7 * ones(2))


@fact("deep-lipschitz", way="property")
@given(seeds, st.sampled_from(PLACES))
def test_no_block_exceeds_its_constant(seed, place):
    rng, eps = np.random.default_rng(seed), 0.09
    W = rng.normal(size=(3, 3))
    k = np.linalg.norm(W, 2)
    a, b = 10.0 ** rng.integers(-3, 2) * rng.normal(size=(2, 3))
    most = {"post": (1 + k) / 0.3, "sandwich": 1 + k / eps}.get(place, 1 + k / 0.3)
    change = [block(place, lambda y: np.tanh(W @ y), x, eps, normalize) for x in (a, b)]
    assert np.linalg.norm(change[0] - change[1]) <= most * np.linalg.norm(a - b) * (1 + 1e-12)


@fact("deep-linear-branch", way="exact")
def test_a_linear_branch_that_is_worst_away_from_constant_inputs():
    e1, e2 = sp.Matrix([1, -1, 0]) / sp.sqrt(2), sp.Matrix([1, 1, -2]) / sp.sqrt(6)
    B = e1 * (e2 / 8 - e1).T
    x = sp.sqrt(45) * e1
    squares = []
    for J in (projection(3), core_jacobian(x, 1)):
        # The plane across 1 in its basis: two columns of the Jacobian there
        basis = sp.Matrix.hstack(e1, e2)
        D = (basis.T * (sp.eye(3) + B * J) * basis).evalf(50)
        trace, product_of_both = (D.T * D).trace(), D.det() ** 2
        squares.append((trace + sp.sqrt(trace**2 - 4 * product_of_both)) / 2)
    assert close(squares, [R(65, 64), (8069 + sp.sqrt(80665)) / 8192])


@fact("deep-linear-branch", way="property")
@given(seeds)
def test_at_two_coordinates_constant_inputs_are_the_worst(seed):
    rng, eps = np.random.default_rng(seed), 0.2
    B, x = 3 * rng.normal(size=(2, 2)), rng.normal(size=2)
    at_constant = np.linalg.norm(np.eye(2) + B @ (np.eye(2) - 0.5) / np.sqrt(eps), 2)
    assert at_constant >= 1 - 1e-12
    assert np.linalg.norm(np.eye(2) + B @ lnbook.jacobian(x, eps=eps), 2) <= at_constant * (1 + 1e-12)

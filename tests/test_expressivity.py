"""What matrices and layer normalization can compute, one coordinate as a sigmoid, and what a tanh leaves of it."""

import numpy as np
import pytest
import sympy as sp
from exact import centered, core, layer, mean, ones, symbols, vanishes, variance
from hypothesis import assume, given
from hypothesis import strategies as st
from mpmath import iv, mp

import lnbook

fact = pytest.mark.fact
R = sp.Rational
eps = sp.Symbol("eps", positive=True)
t = sp.Symbol("t", real=True)
seeds = st.integers(0, 2**32 - 1)

# Nowhere affine

SEGMENTS = [
    ((1, 2, 4), (1, 0, 0)),
    ((1, -1, 0), (1, -1, 0)),
    ((1, -1, 0), (2, -2, 0)),
    ((0, 1), (1, 0)),
    ((3, 1, 2, 2), (0, 0, 5, 1)),
]


@fact("expr-not-affine", way="exact")
@pytest.mark.parametrize(("z", "h"), SEGMENTS)
@pytest.mark.parametrize("number", [R(1, 3), 2])
def test_a_coordinate_is_affine_on_a_line_only_where_it_is_0(z, h, number):
    z, h = sp.Matrix(z), sp.Matrix(h)
    u = core(z + t * h, number)
    for i, entry in enumerate(u):
        curved = any(sp.diff(entry, t, 2).subs(t, at) != 0 for at in (0, R(1, 7), 3, 11))
        assert curved == bool(centered(z)[i] != 0 or centered(h)[i] != 0)


@fact("expr-not-affine", way="exact")
def test_at_eps_0_the_core_is_constant_on_the_rays_from_a_constant_input_and_nowhere_else():
    ray = core(5 * ones(3) + t * sp.Matrix([1, 2, 4]), 0)
    assert {tuple(ray.subs(t, at)) for at in (1, 2, R(1, 9))} == {tuple(core([1, 2, 4], 0))}
    assert ray.subs(t, -1) == -ray.subs(t, 1)
    other = core(sp.Matrix([1, 2, 4]) + t * sp.Matrix([1, 0, 0]), 0)
    assert all(sp.diff(entry, t, 2).subs(t, 0) != 0 for entry in other)


# Networks without biases, XOR, one layer


@fact("expr-no-bias", way="exact")
def test_a_chain_without_biases_is_odd_and_at_eps_0_sees_directions_only():
    first, second = sp.Matrix([[1, 2], [0, 1], [3, -1]]), sp.Matrix([[1, 0, 2], [0, 1, 5]])
    third = sp.Matrix([[1, 7]])

    def chain(x, number):
        return (third * core(second * core(first * sp.Matrix(x), number), number))[0]

    for number in (0, R(1, 3)):
        assert chain([-1, -3], number) == -chain([1, 3], number) != 0
    assert chain([5, 15], 0) == chain([1, 3], 0)
    assert chain([5, 15], 1) != chain([1, 3], 1)


@fact("expr-xor", way="exact")
@pytest.mark.parametrize(("x1", "x2"), [(1, 1), (1, -1), (-1, 1), (-1, -1)])
def test_one_core_of_three_coordinates_computes_xor(x1, x2):
    s = 3 * (x1 + x2)
    u = core([s + R(1, 2), -s + R(1, 2), -1], R(1, 2))
    assert u[2] == (-R(1, 5) if x1 == x2 else -1)
    assert R(5, 2) * u[2] + R(3, 2) == x1 * x2
    computed = lnbook.normalize([s + 0.5, -s + 0.5, -1], eps=0.5)
    assert 2.5 * computed[2] + 1.5 == pytest.approx(x1 * x2, rel=1e-14)


@fact("expr-xor", way="exact")
def test_with_two_coordinates_the_output_is_monotone_in_one_affine_function():
    r, number = sp.symbols("r number", positive=True)
    assert core([r, -r], number)[0] == -core([r, -r], number)[1]
    assert sp.simplify(sp.diff(core([r, -r], number)[0], r)).is_positive
    assert core([3, 1], eps) == core([1, -1], eps)  # only the difference of the two counts


@fact("expr-one-layer", way="exact")
def test_on_a_line_the_equation_for_a_value_has_the_degree_2():
    """f = r + (A + Bt) / sqrt(R(t)): the squared equation is a polynomial of degree at most 2 in t."""
    W, b, p = sp.Matrix([[1, 2], [0, 1], [3, -1], [1, 1]]), sp.Matrix([1, 0, 2, -1]), sp.Matrix([1, -2, 0, 3])
    z = W * sp.Matrix([1 + t, 2 - 3 * t]) + b
    numerator = p.dot(centered(z))
    value = sp.Symbol("value", real=True)
    squared = sp.Poly(sp.expand(numerator**2 - value**2 * (variance(z) + R(1, 2))), t)
    assert squared.degree() == 2
    assert vanishes(p.dot(core(z, R(1, 2))) - numerator / sp.sqrt(variance(z) + R(1, 2)))


@fact("expr-one-layer", way="property")
@given(seeds)
def test_no_value_is_crossed_three_times_on_a_line(seed):
    rng = np.random.default_rng(seed)
    W, b, p, x0, x1 = rng.normal(size=(6, 3)), *rng.normal(size=(2, 6)), *rng.normal(size=(2, 3))
    ts = np.tan(np.linspace(-1.55, 1.55, 801))
    f = lnbook.normalize((x0 + ts[:, None] * x1) @ W.T + b, eps=0.01) @ p
    for value in np.quantile(f, [0.1, 0.3, 0.5, 0.7, 0.9]):
        assert (np.diff(np.sign(f - value)) != 0).sum() <= 4  # a zero at a grid point counts twice
        strict = np.sign(f - value)
        assert (np.diff(strict[strict != 0]) != 0).sum() <= 2


# Pairs


@fact("expr-pairs", way="exact")
def test_the_core_of_a_pair_is_a_sigmoid():
    sigma = core([t, -t], eps)[0]
    assert core([t, -t], eps)[1] == -sigma
    assert vanishes(sigma - t / sp.sqrt(t**2 + eps))
    assert [sp.limit(sigma, t, end) for end in (-sp.oo, sp.oo)] == [-1, 1]
    assert vanishes(sigma.subs(t, -t) + sigma)
    slope = sp.diff(sigma, t)
    assert vanishes(slope - eps / (t**2 + eps) ** R(3, 2))
    assert slope.subs(t, 0) == 1 / sp.sqrt(eps)


def in_pairs(W, b, x, eps):
    """The first coordinates of the cores of all groups of two: (n, features) -> (n, groups)"""
    z = x @ W.T + b  # (n, 2 groups)
    return lnbook.normalize(z.reshape(len(x), -1, 2), eps=eps)[..., 0]


@fact("expr-universal", way="exact")
def test_groups_of_two_are_a_network_with_one_hidden_layer_of_sigmoids():
    x = symbols(2)
    w, b, p = [(1, 2), (3, -1)], [5, 0], [2, -7]
    total = 0
    for row, shift, weight in zip(w, b, p, strict=True):
        z = sp.Matrix(row).dot(x) + shift
        total += weight * core([z, -z], eps)[0]
    first, second = x[0] + 2 * x[1] + 5, 3 * x[0] - x[1]
    assert vanishes(total - 2 * first / sp.sqrt(first**2 + eps) + 7 * second / sp.sqrt(second**2 + eps))
    halved = (1 + core([t, -t], eps)[0]) / 2  # what Cybenko's theorem asks of an activation
    assert [sp.limit(halved, t, end) for end in (-sp.oo, sp.oo)] == [0, 1]


@fact("expr-universal", way="numeric")
def test_more_pairs_come_nearer_to_a_continuous_function():
    grid = np.linspace(-1, 1, 2001)
    errors = []
    for groups in (4, 16, 64):
        steps = np.linspace(-1, 1, groups + 1)
        middles, rises = (steps[1:] + steps[:-1]) / 2, np.diff(np.cos(3 * steps))
        W = 1e3 * np.tile([[1.0], [-1.0]], (groups, 1))
        b = -1e3 * np.stack([middles, -middles], axis=1).ravel()
        u = in_pairs(W, b, grid[:, None], 1e-3)
        f = np.cos(3 * steps[0]) + (rises * (1 + u) / 2).sum(axis=1)
        errors.append(abs(f - np.cos(3 * grid)).max())
    assert errors[0] < 1
    assert errors[1] < errors[0] / 3
    assert errors[2] < 0.06


@fact("expr-fit", way="exact")
@pytest.mark.parametrize("m", [1, 2, 3, 4, 6])
def test_the_matrix_of_signs_has_the_determinant_2_to_the_number_of_groups(m):
    rows = [[1, *(1 if i > k else -1 for k in range(m - 1))] for i in range(m)]
    assert sp.Matrix(rows).det() == 2 ** (m - 1)
    for i in range(m - 1):
        step = [b - a for a, b in zip(rows[i], rows[i + 1], strict=True)]
        assert step == [2 if k == i + 1 else 0 for k in range(m)]


@fact("expr-fit", way="property")
@given(seeds)
def test_one_pair_less_than_points_takes_any_labels(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 8))
    x, labels, w = rng.normal(size=(m, 3)), rng.normal(size=m), rng.normal(size=3)
    values = np.sort(x @ w)
    assume(np.diff(values).min() > 1e-3)
    middles = (values[1:] + values[:-1]) / 2
    W = 1e5 * np.stack([w, -w] * (m - 1))
    b = -1e5 * np.stack([middles, -middles], axis=1).ravel()
    features = np.column_stack([np.ones(m), in_pairs(W, b, x, 1.0)])
    assert features @ np.linalg.solve(features, labels) == pytest.approx(labels, abs=1e-9)
    assert features.shape == (m, m)


# One coordinate


@fact("expr-coordinate", way="exact")
@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("i", [0, 1])
def test_one_coordinate_against_the_others(d, i):
    z = symbols(d)
    others = [entry for place, entry in enumerate(z) if place != i]
    distance = z[i] - mean(others)
    square = d * variance(others) + R(d**2, d - 1) * eps
    u = core(z, eps)[i]
    assert vanishes(u - sp.sqrt(d - 1) * distance / sp.sqrt(distance**2 + square))
    along = u.subs(z[i], t + mean(others)).subs(dict(zip(others, range(d - 1), strict=True)))
    fixed = square.subs(dict(zip(others, range(d - 1), strict=True)))
    assert [sp.limit(along, t, end) for end in (-sp.oo, sp.oo)] == [-sp.sqrt(d - 1), sp.sqrt(d - 1)]
    assert vanishes(sp.diff(along, t).subs(t, 0) - sp.sqrt(d - 1) / sp.sqrt(fixed))


def difference(at, alpha):
    """sigma(t) - tanh(alpha t) in intervals that hold the true value; tanh by its exponentials."""
    at, alpha = iv.mpf(at), iv.mpf(alpha)
    shrink = iv.exp(-2 * alpha * at)
    return at / iv.sqrt(at**2 + 1) - (1 - shrink) / (1 + shrink)


@fact("expr-tanh", way="exact")
def test_no_factor_has_a_smaller_error():
    """sigma - tanh falls in alpha, so one point bounds the error for smaller factors, the other for larger ones."""
    assert difference("0.5", "0.85407") > iv.mpf("0.04437")
    assert -difference("2.335", "0.85407") > iv.mpf("0.04437")
    assert difference("0.5", "0.85405") > iv.mpf("0.04438")
    assert -difference("2.335", "0.85415") > iv.mpf("0.04438")


@fact("expr-tanh", way="numeric")
def test_the_best_factor_stays_within_the_error_on_a_fine_grid():
    grid = np.arange(0, 20, 1e-6)
    error = abs(grid / np.sqrt(grid**2 + 1) - np.tanh(0.85407 * grid)).max()
    assert 0.04437 < error < 0.044374
    assert error + 1e-6 < 0.04438
    assert 1 - mp.mpf(20) / mp.sqrt(401) < 0.002
    assert 1 - mp.tanh(20 * mp.mpf("0.85407")) < 0.002


@fact("expr-dyt", way="exact")
def test_a_tanh_is_diagonal_sees_shifts_and_has_its_own_constant():
    z = symbols(3)
    alpha, c = sp.symbols("alpha c", positive=True)
    gain, bias = sp.Matrix([2, 0, -3]), sp.Matrix([1, 5, 0])

    def dyt(x):
        return gain.multiply_elementwise(x.applyfunc(lambda entry: sp.tanh(alpha * entry))) + bias

    J = dyt(z).jacobian(z)
    assert J.is_diagonal()
    for i in range(3):
        assert vanishes(J[i, i] - gain[i] * alpha * (1 - sp.tanh(alpha * z[i]) ** 2))
    assert J.subs(dict.fromkeys(z, 0)) == alpha * sp.diag(2, 0, -3)
    assert sp.simplify(dyt(c * ones(3))[0] - dyt(sp.zeros(3, 1))[0]) == 2 * sp.tanh(alpha * c)
    assert [sp.limit(dyt(z)[2].subs(alpha, 1), z[2], end) for end in (-sp.oo, sp.oo)] == [3, -3]
    assert vanishes(layer(z + c * ones(3), gain, bias, eps) - layer(z, gain, bias, eps))

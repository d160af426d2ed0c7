"""Pre-norm and post-norm blocks, the layer repeated, and what folds into the linear layers beside it."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from exact import centered, core, core_jacobian, mean, ones, projection, symbols, vanishes, variance
from hypothesis import given
from hypothesis import strategies as st
from normalizations import (
    A33,
    GAIN,
    HALF,
    LAYER,
    Z123,
    R,
    W,
    bias3,
    column,
    differ,
    eps,
    gain3,
    quarters,
    rms,
    z3,
)
from test_cases import CASES

import lnbook

fact = pytest.mark.fact


# Pre-norm and post-norm


def block(x):
    """A map that is not linear, to stand for F."""
    return A33 * sp.Matrix([sp.sin(entry) for entry in x])


def post(x):
    return LAYER.layer(x + block(x), gain3, bias3, eps)


def pre(x):
    return x + block(LAYER.layer(x, gain3, bias3, eps))


@fact("pre-post", "pre-post-jacobian", way="exact")
def test_the_jacobians_of_the_blocks():
    values = dict(zip(z3, (1, 2, 4), strict=True)) | dict(zip(gain3, (2, -1, 3), strict=True))
    values |= dict(zip(bias3, (1, 0, -1), strict=True)) | {eps: 1}

    def at(expression):
        return expression.subs(values).evalf(30)

    x = column(1, 2, 4)
    slope = block(z3).jacobian(z3)
    gain = sp.diag(2, -1, 3)
    inner = at(LAYER.layer(z3, gain3, bias3, eps))
    expected_post = gain * core_jacobian(x + block(x), 1) * (sp.eye(3) + slope.subs(values))
    expected_pre = sp.eye(3) + slope.subs(dict(zip(z3, inner, strict=True))) * gain * core_jacobian(x, 1)
    assert (at(post(z3).jacobian(z3)) - expected_post.evalf(30)).norm() < 1e-25
    assert (at(pre(z3).jacobian(z3)) - expected_pre.evalf(30)).norm() < 1e-25


@fact("pre-post-jacobian", way="exact")
def test_what_a_common_shift_becomes():
    c = sp.Symbol("c", real=True)
    values = dict(zip(gain3, (2, -1, 3), strict=True)) | dict(zip(bias3, (1, 0, -1), strict=True)) | {eps: 1}
    shifted, plain = pre(Z123 + c * ones(3)).subs(values), pre(Z123).subs(values)
    assert vanishes(shifted - plain - c * ones(3))
    assert post(Z123 + ones(3)).subs(values).evalf() != post(Z123).subs(values).evalf()


@fact("pre-post-jacobian", way="property")
@given(st.lists(quarters, min_size=3, max_size=3), st.lists(quarters, min_size=3, max_size=3))
def test_the_output_of_a_post_norm_block_is_bounded(row, added):
    y = core(column(*row) + column(*added), 1)
    assert mean(y) == 0
    assert sum(entry**2 for entry in y) < 3


@fact("post-repeat", way="exact")
def test_the_layer_repeated():
    z, q = symbols(3), variance(symbols(3))
    u = z
    for k in range(1, 4):
        # the variance of what is normalized is given its name, so that SymPy need not find it again
        u = centered(u) / sp.sqrt(sp.simplify(variance(u)) + eps)
        s = sum(eps**j for j in range(k))
        expected = centered(z) / sp.sqrt(eps**k + s * q)
        numbers = {z[0]: 1, z[1]: R(5, 2), z[2]: -3, eps: R(2, 7)}
        assert abs((u - expected).subs(numbers).evalf(40).norm()) < 1e-35
        assert vanishes(sp.Matrix([x**2 for x in u]) - sp.Matrix([x**2 for x in expected]))


@fact("post-repeat", way="exact")
def test_the_derivative_of_the_repeated_layer():
    z, a, s = symbols(4), sp.Symbol("a", positive=True), sp.Symbol("s", positive=True)
    repeated = centered(z) / sp.sqrt(a + s * variance(z))
    D = repeated.jacobian(z).subs(dict(zip(z, (0, 1, 2, 3), strict=True)))
    v, q, w = centered(column(0, 1, 2, 3)), R(5, 4), column(1, -1, -1, 1)
    assert vanishes(D * v - a / (a + s * q) ** R(3, 2) * v)
    assert vanishes(D * w - w / sp.sqrt(a + s * q))


@fact("post-repeat", way="exact")
@pytest.mark.parametrize("small", [R(1, 10**5), R(1, 4), R(1, 2), 1, 2])
def test_the_limit_of_the_variance(small):
    q = R(5, 4)
    for _ in range(60):
        q = q / (q + small)
    limit = max(1 - small, 0)
    assert abs(q - limit) < (R(1, 10**10) if small != 1 else R(1, 60))


@fact("post-repeat", way="exact")
def test_at_eps_zero_twice_is_once():
    assert not differ(core(core(Z123, 0), 0), core(Z123, 0))


# Folding


def three_quarters():
    return st.lists(quarters.map(float), min_size=3, max_size=3).map(np.array)


@fact("fold", way="exact")
@given(three_quarters(), three_quarters(), st.tuples(three_quarters(), three_quarters()), quarters.map(float))
def test_gain_and_bias_fold_into_the_next_layer(gain, bias, matrix, c):
    z, eps, A = [1, 1, -2], 2, np.array(matrix)  # the core is (1/2, 1/2, -1): floats hold all of this exactly
    folded, folded_bias = A * gain, A @ bias + c  # (2, 3), (2,)
    after = A @ lnbook.layer_norm(z, gain, bias, eps=eps) + c
    assert after.tolist() == (folded @ lnbook.normalize(z, eps=eps) + folded_bias).tolist()
    assert not folded[:, gain == 0].any()


@fact("fold", way="exact")
def test_they_do_not_fold_through_a_nonlinearity():
    left, right = [], []
    for number in (-R(3, 4), -HALF, -R(1, 4)):
        z = column(1, -1) * number / sp.sqrt(1 - number**2)
        u = core(z, 1)
        assert u == column(number, -number)
        left.append(max(0, u[0] + HALF))
        right.append([max(0, entry) for entry in u])
    assert left == [0, 0, R(1, 4)]
    assert left[0] - 2 * left[1] + left[2] != 0
    assert [a - 2 * b + c for a, b, c in zip(*right, strict=True)] == [0, 0]


@fact("fold", "fold-centre", way="numeric")
def test_the_reported_fold():
    given, expected = CASES["B66"]["input"], CASES["B66"]["expected"]
    z, gain, bias, A, c = (np.array(given[name], float) for name in ("z", "gamma", "beta", "W", "b"))
    folded = (A * gain) @ (np.eye(3) - np.full((3, 3), 1 / 3))
    assert np.abs(A @ bias + c - expected["folded_bias"]).max() < 1e-15
    assert np.abs(folded @ lnbook.normalize(z, eps=given["eps"]) + A @ bias + c - expected["out"]).max() < 1e-14
    assert np.abs(A @ lnbook.layer_norm(z, gain, bias, eps=given["eps"]) + c - expected["out"]).max() < 1e-14


@fact("fold-centre", way="exact")
def test_centring_folds_both_ways():
    x, P = sp.Matrix(sp.symbols("x1:3", real=True)), projection(3)
    assert vanishes(core(W * x + bias3, eps) - rms(P * W * x + P * bias3, eps))
    u, A = core(z3, eps), A33
    assert vanishes(A * sp.diag(*gain3) * u - A * sp.diag(*gain3) * P * u)


@fact("fold-back", way="property")
@given(st.lists(quarters, min_size=1, max_size=5), st.fractions(Fraction(1, 100), 4, max_denominator=100))
def test_no_core_has_another_mean_or_is_as_long_as_root_d(row, small):
    u = core(column(*row), sp.Rational(small))
    assert mean(u) == 0
    assert sum(entry**2 for entry in u) < len(row)


@fact("fold-back", way="exact")
def test_the_example_cannot_be_folded_back_but_a_sign_can():
    y = LAYER.layer(column(1, 1, -2), GAIN, [0, 0, 0], 2)
    assert mean(y) == R(2, 3)
    x = sp.Matrix(sp.symbols("x1:3", real=True))
    assert vanishes(core(-W * x - bias3, eps) + core(W * x + bias3, eps))


@fact("fold-back", way="exact")
def test_what_the_layer_before_can_absorb_beyond_a_sign():
    """A constant output that is a core, and, where W has too low a rank, gains that change no variance."""
    beta = column(1, 0, -1)
    constant = beta * sp.sqrt(eps / (1 - beta.dot(beta) / 3))  # W' = 0, b' = the input whose core is beta
    assert vanishes(core(constant, eps) - beta)
    x, low, gain = sp.Symbol("x", real=True), column(1, 1, -2), column(sp.sqrt(3), -sp.sqrt(3), 0)
    moved = gain.multiply_elementwise(low)
    assert vanishes(core(moved * x, eps) - gain.multiply_elementwise(core(low * x, eps)))

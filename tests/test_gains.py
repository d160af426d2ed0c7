"""The facts on which gains keep what: the variance of every core, monotonicity, the gradient, a real spectrum."""

from itertools import product

import numpy as np
import pytest
import sympy as sp
from exact import core, core_jacobian, projection, symbols, vanishes, variance
from hypothesis import given
from hypothesis import strategies as st
from inputs import vectors

import lnbook

fact = pytest.mark.fact
R = sp.Rational
eps, x = sp.Symbol("eps", positive=True), sp.Symbol("x")


def zeros_of_the_slope(gain):
    return sp.roots(sp.prod(x - g for g in gain).diff(x), multiple=True)


def multiplies_every_variance_by(gain, c):
    """Whether (P diag(gain) P)^2 = c^2 P."""
    d = len(gain)
    M = projection(d) * sp.diag(*gain) * projection(d)
    return sp.simplify(M * M - c**2 * projection(d)) == sp.zeros(d, d)


@fact("gain-isometry", way="exact")
@pytest.mark.parametrize("d", [2, 3, 4])
def test_the_zeros_of_the_slope_are_the_eigenvalues_on_the_centred_vectors(d):
    gain = sp.symbols(f"a1:{d + 1}")
    M = projection(d) * sp.diag(*gain) * projection(d)
    assert sp.expand((x * sp.eye(d) - M).det() - x * sp.prod(x - g for g in gain).diff(x) / d) == 0


@fact("gain-isometry", way="exact")
@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_of_all_small_gains_those_of_the_list_keep_the_variance(d):
    for c in (0, 1, 3) if d < 5 else (3,):
        for gain in product({0, 1, -1, 2, -2, 3, -5} if d < 5 else {3, -3, R(-9, 2), R(9, 2)}, repeat=d):
            equal = set(gain) in ({c}, {-c})
            straying = any(
                sorted(gain) == sorted([sign * c] * (d - 1) + [-sign * c * R(d + 1, d - 1)]) for sign in (1, -1)
            )
            listed = {
                2: abs(sum(gain)) == 2 * c,
                3: equal or (sum(gain) == 0 and sum(g * g for g in gain) == 6 * c * c),
            }.get(d, equal or straying)
            # M^2 = c^2 P has the trace (d - 1) c^2: a quick way to see most that do not
            squares = sum(g * g for g in gain) * (1 - R(2, d)) + R(sum(gain) ** 2, d * d)
            keeps = squares == (d - 1) * c * c and multiplies_every_variance_by(gain, c)
            assert keeps == listed, (gain, c)
            if keeps:
                assert all(abs(zero) == c for zero in zeros_of_the_slope(gain))


@fact("gain-isometry", way="property")
@given(st.integers(4, 7).flatmap(vectors), st.sampled_from([1, -1]), st.integers(1, 5), st.booleans())
def test_one_straying_gain_multiplies_each_computed_variance(z, sign, c, strays):
    d = len(z)
    gain = np.full(d, sign * float(c))
    gain[1] = -gain[1] * (d + 1) / (d - 1) if strays else gain[1]
    before, after = lnbook.variance(lnbook.normalize(z)), lnbook.variance(lnbook.layer_norm(z, gain))
    assert after == pytest.approx(c**2 * before, rel=1e-12, abs=1e-300)


# Monotone and a gradient


@fact("gain-monotone", way="exact")
@pytest.mark.parametrize("gain", [(1, 2), (0, 1), (-1, -1), (1, 1, 1, 2), (3, -1)])
def test_with_other_gains_some_push_at_a_constant_input_is_answered_backwards(gain):
    d = len(gain)
    slope = sp.diag(*gain) * core_jacobian([7] * d, R(1, 4))
    assert not ((slope + slope.T) / 2).is_positive_semidefinite


@fact("gain-monotone", way="property")
@given(st.integers(2, 6).flatmap(vectors), st.data(), st.integers(0, 4))
def test_with_equal_gains_computed_outputs_are_monotone(a, data, c):
    b = data.draw(vectors(len(a)))
    gain, bias = np.full(len(a), float(c)), data.draw(vectors(len(a)))
    change = lnbook.layer_norm(a, gain, bias) - lnbook.layer_norm(b, gain, bias)
    assert change @ (a - b) >= -1e-12


@fact("gain-gradient-map", way="exact")
@pytest.mark.parametrize("d", [2, 3])
def test_the_function_whose_gradient_the_layer_is(d):
    z, c, bias = symbols(d), sp.Symbol("c"), sp.Matrix(sp.symbols(f"b1:{d + 1}"))
    function = c * d * sp.sqrt(variance(z) + eps) + bias.dot(z)
    assert vanishes(sp.Matrix([function.diff(entry) for entry in z]) - c * core(z, eps) - bias)


@fact("gain-gradient-map", way="exact")
@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_jacobian_at_a_constant_input_is_symmetric_with_equal_gains_only(d):
    gain = sp.symbols(f"a1:{d + 1}")
    slope = sp.diag(*gain) * core_jacobian([2] * d, 1)
    asymmetric = [entry for entry in slope - slope.T if entry != 0]
    assert all(vanishes(entry.subs({g: gain[0] for g in gain})) for entry in asymmetric)
    (solution,) = sp.solve(asymmetric, gain[:-1], dict=True)
    assert all(value == gain[-1] for value in solution.values())
    assert len(solution) == d - 1


# The spectrum


@fact("gain-spectrum", way="exact")
def test_two_opposite_gains_make_a_matrix_of_square_0():
    z = symbols(2)
    matrix = sp.diag(1, -1) * core_jacobian(z, eps)
    assert vanishes(matrix * matrix)
    assert not (sp.diag(1, -1) * core_jacobian([5, 5], 1)).is_diagonalizable()
    assert (sp.diag(1, -1) * core_jacobian([5, 2], 1)) != sp.zeros(2, 2)


@fact("gain-spectrum", way="exact")
@pytest.mark.parametrize(("z", "gain"), [((0, 1, 3), (2, 0, -1)), ((1, 1, -2), (1, 2, 3)), ((5, 5, 5), (-1, -2, -4))])
def test_the_eigenvalues_are_real_and_between_the_ends(z, gain):
    total = variance(z) + R(4, 9)
    matrix = sp.sqrt(total) * sp.diag(*gain) * core_jacobian(z, R(4, 9))
    values = sp.Poly(sp.simplify(matrix).charpoly(x).as_expr(), x)
    low, high = min(0, *gain), max(0, *gain)
    assert values.count_roots(low, high) == len(set(sp.real_roots(values)))
    assert len(sp.real_roots(values)) == 3
    if min(gain) * max(gain) > 0:
        assert len(set(sp.real_roots(values))) == 3  # three different ones: diagonalizable


@fact("gain-spectrum", way="property")
@given(st.integers(2, 6).flatmap(vectors), st.data(), st.sampled_from([1e-3, 0.25, 4]))
def test_computed_eigenvalues_are_real_and_between_the_ends(z, data, small):
    gain = data.draw(vectors(len(z)))
    values = np.linalg.eigvals(lnbook.jacobian(z, gain, eps=small))
    root = np.sqrt(lnbook.variance(z) + small)
    # a double eigenvalue is computed to half the digits
    assert np.abs(values.imag).max() * root < 1e-5
    assert min(0, *gain) - 1e-5 <= (values.real * root).min()
    assert (values.real * root).max() <= max(0, *gain) + 1e-5

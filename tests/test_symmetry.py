"""The geometry: what survives of an input, the symmetries of the core, steps that meet the bound, the inverse of J."""

from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from exact import centered, core, core_jacobian, mean, ones, projection, symbols, vanishes, variance
from hypothesis import assume, given
from hypothesis import strategies as st
from inputs import epsilons, vectors

import lnbook

fact = pytest.mark.fact
R = sp.Rational
eps = sp.Symbol("eps", positive=True)
some = st.integers(2, 6).flatmap(vectors)


@fact("two-points-attained", way="exact")
@pytest.mark.parametrize(
    ("a", "b", "small", "met"),
    [
        ([0, 2, 4], [4, 0, 2], 2, True),
        ([1, 3], [3, 1], 0, True),
        ([1, -1], [-3, 3], 0, True),
        ([1, 2, 4], [12, 9, 3], 0, True),  # v and -3 v around one mean, 7/3 and 8: not centred, so:
        ([1, -1], [-3, 3], R(1, 100), False),
        ([0, 2, 4], [5, 1, 3], 2, False),  # equal roots, a common shift
        ([1, 2, 4], [4, 2, 2], 1, False),
        ([1, -1], [3, -3], 0, False),
    ],
)
def test_which_steps_meet_the_bound(a, b, small, met):
    if a == [1, 2, 4] and small == 0:
        b = [R(7, 3) - 3 * (x - R(7, 3)) for x in a]
    u, w, step = core(a, small), core(b, small), sp.Matrix(a) - sp.Matrix(b)
    r, s = sp.sqrt(variance(a) + small), sp.sqrt(variance(b) + small)
    gap = (u - w).norm() / step.norm() - 2 / (r + s)
    assert (sp.simplify(gap) == 0) == met
    assert gap.evalf(30) < 1e-20
    centred_step = sum(step) == 0
    assert met == (centred_step and (vanishes(r - s) or (small == 0 and vanishes(u + w))))


@fact("invertible-no-eps", way="exact")
def test_without_eps_only_positive_multiples_have_the_same_core():
    rows = ([1, 2, 4], [3, 5, 9], [1, 2, 5], [-1, -2, -4], [10, 20, 40])
    for a in rows:
        for b in rows:
            ratios = {sp.Rational(x) / y for x, y in zip(centered(a), centered(b), strict=True)}
            assert vanishes(core(a, 0) - core(b, 0)) == (len(ratios) == 1 and min(ratios) > 0)


# Order


@fact("order", way="exact")
@pytest.mark.parametrize("d", [2, 3, 4])
def test_differences_are_those_of_the_input_over_the_root(d):
    z = symbols(d)
    u, root = core(z, eps), sp.sqrt(variance(z) + eps)
    assert all(vanishes(u[i] - u[0] - (z[i] - z[0]) / root) for i in range(d))


@fact("order", way="property")
@given(some, epsilons(), st.integers(1, 5))
def test_computed_cores_and_outputs_of_one_gain_keep_order_and_ties(z, small, gain):
    order = np.argsort(z, kind="stable")
    y = lnbook.layer_norm(z, np.full(len(z), float(gain)), np.ones(len(z)), eps=small)
    for row in (lnbook.normalize(z, eps=small), y):
        for i, j in pairwise(order):
            assert row[i] == row[j] if z[i] == z[j] else row[i] <= row[j]
    u = lnbook.normalize(z, eps=small)
    if np.ptp(z) > 0:
        np.testing.assert_allclose((u - u[0]) / np.ptp(u), (z - z[0]) / np.ptp(z), atol=1e-12)


# Symmetries


def reflection(normal):
    n = sp.Matrix(normal)
    return sp.eye(len(normal)) - 2 * n * n.T / n.dot(n)


@fact("symmetry", way="exact")
@pytest.mark.parametrize(
    ("Q", "passes"),
    [
        (-sp.eye(3), True),
        (reflection([1, -1, 0]), True),  # exchanges two coordinates
        (reflection([1, 1, -2]), True),
        (-reflection([2, -1, -1]), True),
        (reflection([1, 0, 0]), False),
        (sp.Matrix([[3, -4, 0], [4, 3, 0], [0, 0, 5]]) / 5, False),
        (reflection([1, 1, 1]), True),  # sends 1 to -1
    ],
)
def test_which_orthogonal_matrices_pass_through(Q, passes):
    assert sp.eye(3) == Q * Q.T
    z = symbols(3)
    assert vanishes(core(list(Q * z), eps) - Q * core(z, eps)) == passes
    assert passes == (Q * ones(3) in (ones(3), -ones(3)))
    if not passes:
        assert not vanishes(core(list(Q * ones(3)), 1))


@fact("symmetry", way="property")
@given(some, st.data(), epsilons())
def test_a_permutation_of_the_features_permutes_the_computed_core(z, data, small):
    order = np.array(data.draw(st.permutations(range(len(z)))))
    u = lnbook.normalize(z, eps=small)
    np.testing.assert_allclose(lnbook.normalize(z[order], eps=small), u[order], rtol=1e-13, atol=1e-15)
    gain, bias = data.draw(vectors(len(z))), data.draw(vectors(len(z)))
    moved = lnbook.layer_norm(z[order], gain[order], bias[order], eps=small)
    np.testing.assert_allclose(moved, lnbook.layer_norm(z, gain, bias, eps=small)[order], rtol=1e-12, atol=1e-13)


# Correlation and distance


@fact("correlation", way="exact")
def test_the_product_of_two_cores_is_their_correlation_times_a_factor():
    a, b = symbols(3), sp.Matrix(sp.symbols("b1:4", real=True))
    va, vb, qa, qb = centered(a), centered(b), variance(a), variance(b)
    rho = va.dot(vb) / (va.norm() * vb.norm())
    square = (rho**2 * qa * qb / ((qa + eps) * (qb + eps))).subs(dict(zip([*a, *b], [1, 2, 4, 0, 5, 1], strict=True)))
    product = core([1, 2, 4], eps).dot(core([0, 5, 1], eps)) / 3
    assert vanishes(product**2 - square)
    assert vanishes(va.dot(vb) - 3 * rho * sp.sqrt(va.dot(va) / 3) * sp.sqrt(vb.dot(vb) / 3))


@fact("correlation", way="property")
@given(some, st.data(), epsilons())
def test_computed_products_agree_with_numpys_correlation(a, data, small):
    b = data.draw(vectors(len(a)))
    assume(np.ptp(a) > 0 < np.ptp(b))
    rho, d = np.corrcoef(a, b)[0, 1], len(a)
    u, w = lnbook.normalize(a, eps=small), lnbook.normalize(b, eps=small)
    factor = np.sqrt(a.var() / (a.var() + small) * b.var() / (b.var() + small))
    assert u @ w / d == pytest.approx(rho * factor, abs=1e-12)
    u, w = lnbook.normalize(a, eps=0), lnbook.normalize(b, eps=0)
    assert (u - w) @ (u - w) == pytest.approx(2 * d * (1 - rho), abs=1e-11)


@fact("nearest-point", way="exact")
@pytest.mark.parametrize("d", [2, 3, 4])
def test_the_distance_from_an_input_to_its_core(d):
    z = sp.Matrix([3, 1, -2, 7][:d])
    distance = (z - core(z, 0)).norm() ** 2
    assert vanishes(distance - d * mean(z) ** 2 - d * (sp.sqrt(variance(z)) - 1) ** 2)


@fact("nearest-point", way="property")
@given(some, st.data())
def test_no_other_vector_of_mean_0_and_variance_1_is_as_near(z, data):
    other = data.draw(vectors(len(z)))
    assume(np.ptp(z) > 0 < np.ptp(other))
    x, u = (other - other.mean()) / other.std(), lnbook.normalize(z, eps=0)
    if np.abs(x - u).max() > 1e-6:
        assert np.linalg.norm(z - x) > np.linalg.norm(z - u)


# Determinant and inverse


@fact("jac-determinant", way="exact")
@pytest.mark.parametrize("z", [(0, 2), (1, 2, 3), (0, 1, 3), (4, 4, 4, 4), (5, 0, 1, 1, 2)])
@pytest.mark.parametrize("small", [R(1, 3), 2, 0])
def test_the_determinant_and_the_condition_on_the_centred_vectors(z, small):
    d, q = len(z), variance(z)
    if q + small == 0:
        return
    J = core_jacobian(z, small)
    # 1 in the place of the eigenvalue 0 of the all-ones vector
    determinant = (J + sp.ones(d, d) / d).det()
    assert vanishes(determinant - small * (q + small) ** R(-(d + 1), 2))
    assert vanishes(J.det())
    if small > 0:
        values = [value for value in J.eigenvals() if sp.simplify(value) != 0]
        ends = max(values, key=lambda e: e.evalf()), min(values, key=lambda e: e.evalf())
        assert vanishes(ends[0] / ends[1] - ((q + small) / small if d >= 3 else 1))


@fact("jac-pseudoinverse", way="exact")
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_pseudo_inverse(d):
    z = symbols(d)
    J, v = core_jacobian(z, eps), centered(z)
    plus = sp.sqrt(variance(z) + eps) * (projection(d) + v * v.T / (d * eps))
    assert vanishes(J * plus - projection(d))
    assert vanishes(plus * J - projection(d))
    assert vanishes(plus * ones(d))


@fact("jac-pseudoinverse", way="exact")
def test_the_smallest_step_that_changes_the_core_as_wanted():
    J, v = core_jacobian([1, 2, 3], R(1, 3)), sp.Matrix([-1, 0, 1])
    k = sp.Matrix([1, 0, -1])
    step = (projection(3) + v * v.T) * k
    assert J * step == k
    longer = step + 2 * ones(3)
    assert J * longer == k
    assert longer.norm().evalf() > step.norm().evalf()
    assert step == J.pinv() * k

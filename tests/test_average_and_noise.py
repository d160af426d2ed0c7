"""What a random step is amplified on average, and what rounding does to the product of gradient and centred vector."""

import ml_dtypes
import numpy as np
import pytest
import sympy as sp
from exact import centered, core, core_jacobian, variance
from hypothesis import given
from hypothesis import strategies as st
from inputs import vectors

import lnbook

fact = pytest.mark.fact
R = sp.Rational
POINTS = [((0, 2), 3), ((1, 2, 4), R(1, 3)), ((5, 5, 5), 2), ((0, 1, 1, 7), R(1, 9)), ((1, 2, 4), 0)]


def mean_square(matrix):
    """The mean of |M w|^2 over all w of length 1: over the d axes it is the same, and a half over each pair of them."""
    return sum(entry**2 for entry in matrix) / sp.Integer(matrix.cols)


@fact("sens-average", way="exact")
@pytest.mark.parametrize(("z", "small"), POINTS)
def test_the_mean_square_of_the_amplification(z, small):
    d, q, u = len(z), variance(z), core(z, small)
    J, tau = core_jacobian(z, small), q / (q + small)
    assert sp.simplify(mean_square(J) - (d - 2 + (small / (q + small)) ** 2) / (d * (q + small))) == 0
    gain = [3, -1, 0, 2][:d]
    terms = [g**2 * (1 - R(1, d) - (2 - tau) / d * x**2) for g, x in zip(gain, u, strict=True)]
    assert sp.simplify(mean_square(sp.diag(*gain) * J) - sum(terms) / (d * (q + small))) == 0


@fact("sens-average", way="exact")
def test_the_mean_over_the_circle_is_one_half_of_the_sum_of_squares():
    angle = sp.Symbol("angle", real=True)
    w = sp.Matrix([sp.cos(angle), sp.sin(angle)])
    for matrix in (core_jacobian([0, 2], 3), sp.Matrix([[1, 2], [-3, 5]])):
        moved = matrix * w
        assert (
            sp.simplify(sp.integrate(moved.dot(moved), (angle, 0, 2 * sp.pi)) / (2 * sp.pi) - mean_square(matrix)) == 0
        )
    assert mean_square(core_jacobian([0, 2], 3)) == R(9, 128)


@fact("sens-average", way="property")
@given(st.integers(2, 6).flatmap(vectors), st.sampled_from([1e-3, 0.25, 4]))
def test_computed_jacobians_have_that_sum_of_squares(z, small):
    d, total = len(z), z.var() + small
    expected = (d - 2 + (small / total) ** 2) / total
    assert (lnbook.jacobian(z, eps=small) ** 2).sum() == pytest.approx(expected, rel=1e-9)


@fact("vjp-noise", way="exact")
@pytest.mark.parametrize("g", [(1, 0, 0), (3, -1, 2)])
def test_the_worst_rounding_of_the_entries_moves_the_product_so_far(g):
    z, small, eta = (1, 2, 16), R(1, 10), R(1, 2**8)
    v, q = centered(z), variance(z)
    dz = core_jacobian(z, small) * sp.Matrix(g)
    assert q + small >= small / eta
    terms = [(a * b).evalf(40) for a, b in zip(dz, v, strict=True)]
    worst = [(1 + (eta if term >= 0 else -eta)) * term for term in terms]
    bound = eta * sum(abs(term) for term in terms)
    assert abs(sum(worst) - sum(terms) - bound) < 1e-30
    exact = small / (q + small) ** R(3, 2) * sp.Matrix(g).dot(v)
    assert abs(sum(terms) - exact.evalf(40)) < 1e-30
    assert abs(exact.evalf(40)) <= (eta * abs(sp.Matrix(g).dot(v)) / sp.sqrt(q + small)).evalf(40)


@fact("vjp-noise", way="exact")
def test_from_which_variance_on_the_product_is_no_larger_than_a_rounding():
    q, small, eta = sp.symbols("q small eta", positive=True)
    # eps/(q + eps) <= eta if and only if q + eps >= eps/eta
    assert sp.simplify((small / (q + small) - eta) * (q + small) / eta - (small / eta - (q + small))) == 0
    units = [2.0**-8, 2.0**-11, 2.0**-24, 2.0**-53]
    np.testing.assert_allclose([1e-5 / unit for unit in units], [0.0026, 0.02, 168, 9e10], rtol=0.03)


@fact("vjp-noise", way="property")
@pytest.mark.parametrize(
    ("dtype", "eta"), [(np.float32, 2.0**-24), (np.float16, 2.0**-11), (ml_dtypes.bfloat16, 2.0**-8)]
)
@given(z=st.integers(2, 6).flatmap(vectors), data=st.data(), power=st.integers(-3, 5))
def test_a_rounded_gradient_keeps_the_identity_so_far_and_no_further(dtype, eta, z, data, power):
    g, z = data.draw(vectors(len(z))), z * 2.0**power
    exact = lnbook.vjp(z, g)[0]  # in float64
    rounded = exact.astype(dtype).astype(float)
    v = lnbook.center(z)
    smallest = float(ml_dtypes.finfo(dtype).smallest_subnormal)
    assert abs((rounded - exact) @ v) <= (eta * np.abs(exact * v).sum() + smallest * np.abs(v).sum()) * (1 + 1e-9)
    if z.var() >= 1e-5 / eta:
        assert abs(exact @ v) <= (eta * abs(g @ v) / np.sqrt(z.var() + 1e-5)) + 1e-12 * np.abs(exact * v).sum()

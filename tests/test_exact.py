"""lnbook.pages.exact, which the pages take for the truth, against the exact arithmetic of the tests."""

import pytest
import sympy as sp
from exact import core, core_jacobian, layer, symbols, vanishes

from lnbook.pages import exact

eps = sp.Symbol("eps", positive=True)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_core_and_layer_are_the_formulas_for_all_inputs(d):
    z, gain, bias = symbols(d), sp.symbols(f"gain1:{d + 1}"), sp.symbols(f"bias1:{d + 1}")
    assert vanishes(exact.core(z, eps) - core(z, eps))
    assert vanishes(exact.layer_norm(z, gain, bias, eps) - layer(z, gain, bias, eps))


@pytest.mark.parametrize("z", [[5], [-1, 1], [3, 3, 3], [1, 2, 4], [0, 1, sp.Rational(-7, 2), 2]])
def test_the_jacobian_is_that_of_the_formula(z):
    assert vanishes(exact.jacobian(z, 3) - core_jacobian(z, 3))

"""RMSNorm and layer normalization in exact arithmetic, side by side, and the statements that are put to both.

Each statement is written once, as a function of the normalization. It must be true of layer normalization, or it says
something else than the fact; its truth for RMSNorm is the verdict of the register.
"""

from fractions import Fraction
from functools import cache

import sympy as sp
from exact import core, symbols
from hypothesis import strategies as st

quarters = st.integers(-16, 16).map(lambda k: Fraction(k, 4))
R = sp.Rational
eps = sp.Symbol("eps", positive=True)


def column(*entries):
    return sp.Matrix([sp.nsimplify(entry) for entry in entries])


def times(a, b):
    return sp.Matrix(a).multiply_elementwise(sp.Matrix(b))


def mean_square(z):
    return sum(x**2 for x in z) / sp.Integer(len(z))


def rms(z, eps):
    return sp.Matrix(z) / sp.sqrt(mean_square(z) + eps)


def rms_jacobian(z, eps):
    """The formula of fact rms-jacobian; that it is the derivative is for a test to show."""
    z, total = sp.Matrix(z), mean_square(z) + eps
    return (sp.eye(len(z)) - z * z.T / len(z) / total) / sp.sqrt(total)


def singular_values(matrix):
    """The singular values of a matrix of exact numbers, as floats of 30 digits."""
    square = matrix * matrix.T
    return [sp.sqrt(sp.N(value, 30)) for value in square.eigenvals(multiple=True)]


class Norm:
    """A normalization without parameters, in exact arithmetic; `jacobian` differentiates it entry by entry."""

    def __init__(self, core):
        self.core = core

    def layer(self, z, gain, bias, eps):
        return times(gain, self.core(z, eps)) + sp.Matrix(bias)

    @cache  # noqa: B019 - the two instances live as long as the tests
    def _general_jacobian(self, d):
        z = symbols(d)
        return self.core(z, eps).jacobian(z)

    def jacobian(self, z, at_eps):
        values = dict(zip(symbols(len(z)), z, strict=True)) | {eps: at_eps}
        return sp.simplify(self._general_jacobian(len(z)).subs(values))

    def largest_singular_value(self, z, at_eps, gain=None):
        J = self.jacobian(z, at_eps)
        return max(singular_values(J if gain is None else sp.diag(*gain) * J))


def apart(a, b):
    """Whether two vectors of exact numbers differ, at 30 digits: much faster than `differ`."""
    return (sp.Matrix(a) - sp.Matrix(b)).evalf(30).norm() > R(1, 10**20)


def differ(a, b):
    return sp.simplify(sp.Matrix(a) - sp.Matrix(b)) != sp.zeros(len(a), 1)


LAYER, RMS = Norm(core), Norm(rms)
Z123, PAIR, HALF, THIRD = column(1, 2, 3), column(-1, 1), R(1, 2), R(1, 3)
POINTS = [column(1, 2, 4), column(3, 3, 3), column(R(1, 10), 0, R(-1, 5)), column(-5, 0, 1)]
GAIN, BIAS = column(2, 0, -1), column(1, -1, 2)
z3 = symbols(3)
g3, gain3, bias3 = (sp.Matrix(sp.symbols(f"{name}1:4", real=True)) for name in ("g", "a", "b"))
t = sp.Symbol("t", positive=True)
W = sp.Matrix([[1, 2], [0, 1], [3, -1]])
A33 = sp.Matrix([[1, 0, 2], [0, 3, -1], [1, 1, 0]])

STATEMENTS, CHANGED = {}, {}


def says(name):
    """Register a fact's statement, a function of the normalization that says whether it is true of it."""

    def register(statement):
        STATEMENTS[name] = statement
        return statement

    return register


def instead(name):
    """Register what is true of RMSNorm in the place of a fact."""

    def register(statement):
        CHANGED[name] = statement
        return statement

    return register

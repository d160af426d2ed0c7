"""The letters of the book with their exact values at one input, and inputs of many kinds to try a formula on."""

from functools import partial

import exact
import sympy
from sympy import Matrix, Rational


def defined(eps, z):
    """Whether the root that divides is not 0."""
    return exact.variance(z) + eps != 0


def core(eps, z):
    assert defined(eps, z), f"no core at {z} without epsilon"
    return Matrix(exact.core(z, eps))


def layer(gain, bias, eps, z):
    return gain.multiply_elementwise(core(eps, z)) + bias


def diagonal(entries):
    return sympy.diag(*entries)


def setting(z, eps, gain=None, bias=None, **others):
    """The letters' values: numbers, columns and matrices of SymPy; `u()` is the core as a function of epsilon and z."""
    z, eps = Matrix(z), sympy.sympify(eps)
    d = len(z)
    gain, bias = Matrix(gain or [1] * d), Matrix(bias or [0] * d)
    u = Matrix(exact.core(z, eps))
    return {
        "d": sympy.Integer(d),
        "z": z,
        r"\varepsilon": eps,
        r"\mu": exact.mean(z),
        "v": Matrix(exact.centered(z)),
        "q": exact.variance(z),
        "u": u,
        "u()": core,
        r"u_\varepsilon": partial(core, eps),
        r"\gamma": gain,
        r"\beta": bias,
        "y": gain.multiply_elementwise(u) + bias,
        "P": Matrix(exact.projection(d)),
        "I": sympy.eye(d),
        "J": exact.core_jacobian(z, eps),
        r"\mathbf{1}": sympy.ones(d, 1),
        r"\operatorname{diag}": diagonal,
        r"\operatorname{LN}_\varepsilon": partial(layer, gain, bias, eps),
        **others,
    }


half = Rational(1, 2)
# Of three, four, two and one coordinates, and a constant one; gains are positive, zero and negative.
SETTINGS = [
    setting((1, 2, 4), half, (2, 0, -1), (1, -2, 3)),
    setting((0, 1, 2, 3), Rational(1, 4), (1, -1, 3, half), (0, 0, 1, 5)),
    setting((-1, 2), 3, (3, -1), (half, 4)),
    setting((5,), 2, (-2,), (7,)),
    setting((3, 3, 3), 2, (1, 2, -3), (4, 0, -1)),
]
VARIED = [names for names in SETTINGS if names["q"] > 0]
THREE = SETTINGS[0]

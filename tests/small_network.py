"""A linear map with the layer behind it and a loss, in exact arithmetic and in 50 digits: what trains in the tests.

Three coordinates, two positions with one raw input each: theta is the column of the three weights and the three biases.
"""

from functools import cache

import sympy as sp
from exact import core
from mpmath import mp
from normalizations import R, column, times

X = (R(2), R(-1))
TARGETS = (column(1, 0, 2), column(0, -1, 1))
GAIN = column(2, -1, 3)
THETA = column(1, 0, 3, 1, -2, 2)
SYMBOLS = sp.Matrix(sp.symbols("w1:7", real=True))
RAW = sp.Symbol("x", real=True)
EPS = sp.Symbol("eps", nonnegative=True)


def input_of(theta, x):
    """z = W x + b: (6, 1) -> (3, 1)"""
    return theta[:3, 0] * x + theta[3:, 0]


def loss(theta, eps, xs=X):
    """Half the squared distance of the outputs from their targets, over the positions: not linear in the outputs."""
    theta = sp.Matrix(theta)
    distances = [times(GAIN, core(input_of(theta, x), eps)) - t for x, t in zip(xs, TARGETS, strict=True)]
    return sum(distance.dot(distance) for distance in distances) / 2


@cache
def _gradient(eps):
    value = loss(SYMBOLS, eps)
    return sp.lambdify([*SYMBOLS, EPS], [value.diff(w) for w in SYMBOLS], "mpmath")


def digits_of(theta):
    return mp.matrix([w if isinstance(w, mp.mpf) else mp.mpf(sp.Rational(w).p) / sp.Rational(w).q for w in theta])


def gradient(theta, eps):
    """The gradient by theta in 50 digits, by differentiating the loss: (6, 1)"""
    return mp.matrix(_gradient(EPS if eps else 0)(*digits_of(theta), digits_of([eps])[0]))


def hessian(theta):
    """The second derivatives at eps = 0, by differences of the gradient: (6, 6), good to 20 digits."""
    theta, H, step = digits_of(theta), mp.matrix(6, 6), mp.mpf(10) ** -13
    for i in range(6):
        shift = mp.matrix([step * (i == k) for k in range(6)])
        H[:, i] = (gradient(theta + shift, 0) - gradient(theta - shift, 0)) / (2 * step)
    return H


def square(vector):
    return mp.fsum(entry**2 for entry in vector)


def product(a, b):
    return mp.fsum(x * y for x, y in zip(a, b, strict=True))


def path(theta, rate, steps, eps=0, decay=0, rule=lambda gradients, theta: gradients[-1]):
    """theta after 0, 1, ..., steps steps in 50 digits; `rule` makes the step of all gradients so far."""
    thetas, gradients = [theta], []
    for _ in range(steps):
        gradients.append(gradient(thetas[-1], eps))
        thetas.append((1 - rate * decay) * thetas[-1] - rate * rule(gradients, thetas[-1]))
    return thetas, gradients


def near(a, b, within=1e-38):
    return max(abs(x - y) for x, y in zip(a, b, strict=True)) < within

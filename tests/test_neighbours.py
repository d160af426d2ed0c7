"""The neighbours of the layer: RMSNorm fact by fact, shared statistics, pre- and post-norm, folding, weight decay."""

import re
import tomllib
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from exact import centered, core, core_jacobian, mean, ones, projection, symbols, vanishes, variance
from hypothesis import assume, given
from hypothesis import strategies as st
from inputs import vectors
from test_cases import CASES

import lnbook

fact = pytest.mark.fact
R = sp.Rational
eps = sp.Symbol("eps", positive=True)
ROOT = Path(__file__).parents[1]
CONCEPTS = {"layer-normalization", "bias", "gain", "epsilon", "jacobian", "sensitivity", "shift-invariance"}
quarters = st.integers(-16, 16).map(lambda k: Fraction(k, 4))


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


LAYER, RMS = Norm(core), Norm(rms)
Z123, PAIR, HALF, THIRD = column(1, 2, 3), column(-1, 1), R(1, 2), R(1, 3)
POINTS = [column(1, 2, 4), column(3, 3, 3), column(R(1, 10), 0, R(-1, 5)), column(-5, 0, 1)]


# RMSNorm itself


@fact("rms-definition", way="exact")
def test_rms_norm_by_hand():
    assert rms(Z123, THIRD) == Z123 / sp.sqrt(5)
    assert rms(column(3, 4), 0) == column(3, 4) * sp.sqrt(2) / 5


@pytest.mark.parametrize("name", ["B75", "B76"])
@fact("rms-definition", "rms-centred", way="numeric")
def test_the_reported_outputs_of_rms_norm(name):
    given, expected = CASES[name]["input"], CASES[name]["expected"]
    z, small = column(*given["z"]), sp.Rational(str(given["eps"]))
    got = np.array(rms(z, small).evalf(20), dtype=float).ravel()
    assert np.abs(got - expected.get("rms", expected.get("true_rms"))).max() < 1e-14
    if name == "B75":
        shifted = np.array(rms(z + 5 * ones(3), small).evalf(20), dtype=float).ravel()
        assert np.abs(shifted - expected["rms_shifted_by_5"]).max() < 1e-14
        of_centred = np.array(rms(centered(z), small).evalf(20), dtype=float).ravel()
        assert np.abs(of_centred - expected["ln"]).max() < 1e-14
    else:
        third_function = np.array((z / sp.sqrt(variance(z) + small)).evalf(20), dtype=float).ravel()
        assert np.abs(third_function - expected["published_wrong"]).max() < 5.01e-6


def test_a_numerator_that_is_not_centred_has_the_reported_mean():
    given, expected = CASES["B77"]["input"], CASES["B77"]["expected"]
    z = column(*given["z"])
    wrong = z / sp.sqrt(variance(z) + sp.Rational(str(given["eps"])))
    assert abs(float(mean(wrong)) - expected["wrong_mean"]) < 1e-14


@fact("rms-centred", way="exact")
def test_rms_norm_is_the_core_plus_what_the_mean_leaves():
    z = symbols(3)
    mu, q, root = mean(z), variance(z), sp.sqrt(variance(z) + eps)
    assert vanishes(mean_square(z) - mu**2 - q)
    assert vanishes(rms(projection(3) * z, eps) - core(z, eps))
    assert vanishes(rms(z, eps) - (mu * ones(3) + root * core(z, eps)) / sp.sqrt(mu**2 + q + eps))


@fact("rms-centred", way="property")
@given(st.lists(quarters, min_size=1, max_size=5))
def test_rms_norm_and_core_agree_exactly_at_mean_zero(row):
    z = column(*row)
    assert (rms(z, 1) == core(z, 1)) == (mean(z) == 0)


@fact("rms-jacobian", way="exact")
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_jacobian_of_rms_norm(d):
    z = symbols(d)
    assert vanishes(rms(z, eps).jacobian(z) - rms_jacobian(z, eps))
    m = mean_square(z)
    assert vanishes(rms_jacobian(z, eps) * z - eps / (m + eps) ** R(3, 2) * z)
    assert rms_jacobian(sp.zeros(d, 1), eps) == sp.eye(d) / sp.sqrt(eps)
    for k in range(1, d):
        w = sp.zeros(d, 1)
        w[0], w[k] = z[k], -z[0]
        assert vanishes(rms_jacobian(z, eps) * w - w / sp.sqrt(m + eps))


@fact("rms-jacobian", "rms-lipschitz", way="property")
@given(st.lists(quarters, min_size=1, max_size=4), st.data())
def test_no_step_is_amplified_more_than_the_bound(row, data):
    d = len(row)
    step, gain = (np.array(data.draw(st.lists(quarters, min_size=d, max_size=d)), float) for _ in range(2))
    assume(step.any())
    before, after = np.array(row, float), np.array(row, float) + step
    change = gain * (after / np.sqrt((after**2).mean() + 0.01) - before / np.sqrt((before**2).mean() + 0.01))
    assert np.linalg.norm(change) <= 10 * np.abs(gain).max() * np.linalg.norm(step) * (1 + 1e-12)


@fact("rms-lipschitz", way="exact")
def test_the_bound_of_rms_norm_is_approached_from_zero():
    t, gain = sp.Symbol("t", positive=True), column(1, -3, 2)
    slope = times(gain, rms(t * column(0, 1, 0), eps)).norm() / t
    assert sp.limit(slope, t, 0) == 3 / sp.sqrt(eps)


@fact("rms-lipschitz", way="exact")
def test_a_silenced_layer_norm_stays_below_that_bound():
    gain = sp.diag(1, 0, 0, 0)
    assert max(singular_values(gain * projection(4))) == sp.sqrt(R(3, 4)).evalf(30)
    best = projection(4)[:, 0]
    along = (gain * LAYER.jacobian(sp.zeros(4, 1), R(1, 100)) * best).norm() / best.norm()
    assert sp.simplify(along - 10 * sp.sqrt(R(3, 4))) == 0
    assert (gain * RMS.jacobian(sp.zeros(4, 1), R(1, 100)) * column(1, 0, 0, 0)).norm() == 10


# The table of facts: each statement is written once, as a function of the normalization. It must be true of layer
# normalization, or it says something else than the fact; its truth for RMSNorm is the verdict.

STATEMENTS, CHANGED = {}, {}


def says(name):
    def register(statement):
        STATEMENTS[name] = statement
        return statement

    return register


def instead(name):
    def register(statement):
        CHANGED[name] = statement
        return statement

    return register


GAIN, BIAS = column(2, 0, -1), column(1, -1, 2)
z3 = symbols(3)
g3, gain3, bias3 = (sp.Matrix(sp.symbols(f"{name}1:4", real=True)) for name in ("g", "a", "b"))
t = sp.Symbol("t", positive=True)


def apart(a, b):
    """Whether two vectors of exact numbers differ, at 30 digits: much faster than `differ`."""
    return (sp.Matrix(a) - sp.Matrix(b)).evalf(30).norm() > R(1, 10**20)


def differ(a, b):
    return sp.simplify(sp.Matrix(a) - sp.Matrix(b)) != sp.zeros(len(a), 1)


@says("def-output")
def _(norm):
    v, q = centered(z3), variance(z3)
    return vanishes(norm.layer(z3, gain3, bias3, eps) - times(gain3, v) / sp.sqrt(q + eps) - bias3)


@instead("def-output")
def _():
    return vanishes(RMS.layer(z3, gain3, bias3, eps) - times(gain3, z3) / sp.sqrt(mean_square(z3) + eps) - bias3)


@says("def-projection")
def _(norm):
    return not differ(norm.core(projection(3) * Z123, 1), norm.core(Z123, 1))


@says("def-core-mean")
def _(norm):
    return vanishes(mean(norm.core(z3, eps)))


@says("bias-offset")
def _(norm):
    return vanishes(norm.layer(z3, gain3, bias3, eps) - norm.layer(z3, gain3, sp.zeros(3, 1), eps) - bias3)


@says("bias-optional")
def _(norm):
    return vanishes(norm.layer(z3, gain3, sp.zeros(3, 1), eps) - times(gain3, norm.core(z3, eps)))


@says("bias-constant-input")
def _(norm):
    return vanishes(norm.layer(column(3, 3, 3), gain3, BIAS, eps) - BIAS)


@says("bias-mean")
def _(norm):
    return vanishes(mean(norm.layer(column(3, 3, 3), gain3, BIAS, eps)) - R(2, 3))


@says("bias-gradient")
def _(norm):
    loss = (g3.T * norm.layer(z3, gain3, bias3, eps))[0]
    return vanishes(sp.Matrix([loss.diff(b) for b in bias3]) - g3)


@says("bias-positions")
def _(norm):
    loss = (g3.T * norm.layer(z3, gain3, bias3, eps) + BIAS.T * norm.layer(Z123, gain3, bias3, eps))[0]
    return vanishes(sp.Matrix([loss.diff(b) for b in bias3]) - g3 - BIAS)


@says("bias-persists")
def _(norm):
    shifted = norm.layer(Z123 + 5 * ones(3), GAIN, BIAS, 1)
    return not differ(shifted, norm.layer(Z123, GAIN, [0, 0, 0], 1) + BIAS)


@says("bias-input-jacobian")
def _(norm):
    with_bias = norm.layer(z3, gain3, bias3, eps).jacobian(z3)
    return vanishes(with_bias - norm.layer(z3, gain3, [0, 0, 0], eps).jacobian(z3))


@says("gain-multiplier")
def _(norm):
    return vanishes(norm.layer(z3, GAIN, [0, 0, 0], eps) - sp.diag(*GAIN) * norm.core(z3, eps))


@says("gain-example")
def _(norm):
    z = column(1, 1, -2)
    return norm.core(z, 2) == column(HALF, HALF, -1) and norm.layer(z, GAIN, [0, 0, 0], 2) == column(1, 0, 1)


@says("gain-moments")
def _(norm):
    y = norm.layer(column(1, 1, -2), GAIN, [0, 0, 0], 2)
    equal = mean(norm.layer(Z123, [2, 2, 2], [0, 0, 0], eps))
    return mean(y) == R(2, 3) and variance(y) == R(2, 9) and vanishes(equal)


@says("gain-sign")
def _(norm):
    return all(
        u * y < 0
        for u, y in zip(
            norm.core(column(1, 2, 4), 1), norm.layer(column(1, 2, 4), [-1, -2, -3], [0, 0, 0], 1), strict=True
        )
    )


@says("gain-gradient")
def _(norm):
    loss = (g3.T * norm.layer(z3, gain3, bias3, eps))[0]
    return vanishes(sp.Matrix([loss.diff(a) for a in gain3]) - times(g3, norm.core(z3, eps)))


@says("gain-zero")
def _(norm):
    J = sp.diag(0, 1, 1) * norm.jacobian(column(1, 2, 4), 1)
    return norm.layer(column(1, 2, 4), [0, 1, 1], BIAS, 1)[0] == BIAS[0] and J[1, 0] != 0 and J[2, 0] != 0


@says("gain-input-jacobian")
def _(norm):
    return vanishes(norm.layer(z3, gain3, bias3, eps).jacobian(z3) - sp.diag(*gain3) * norm.core(z3, eps).jacobian(z3))


@says("eps-constant-input")
def _(norm):
    return norm.core(column(3, 3, 3), eps) == sp.zeros(3, 1)


@says("eps-variance")
def _(norm):
    q = variance(z3)
    return vanishes(variance(norm.core(z3, eps)) - q / (q + eps))


@instead("eps-variance")
def _():
    m = mean_square(z3)
    return vanishes(mean_square(rms(z3, eps)) - m / (m + eps))


def shortened(z, q):
    """(1 - delta) z / sqrt(eps), with the delta of q: fact linear-regime."""
    return (1 + q / eps) ** R(-1, 2) * z / sp.sqrt(eps)


@says("linear-regime")
def _(norm):
    return vanishes(norm.core(z3, eps) - shortened(centered(z3), variance(z3)))


@instead("linear-regime")
def _():
    return vanishes(rms(z3, eps) - shortened(z3, mean_square(z3)))


@says("eps-full-moments")
def _(norm):
    z = column(1, 2, 4)
    u = norm.core(z, 1)
    moved = [norm.layer(z, GAIN, [0, 0, 0], 1), norm.layer(z, [1, 1, 1], BIAS, 1)]
    return all(sp.simplify(f(y) - f(u)) != 0 for y in moved for f in (mean, variance))


@says("eps-example")
def _(norm):
    up = column(-1, 0, 1)
    return not differ(norm.core(Z123, THIRD), up) and not differ(norm.core(Z123, R(4, 3)), up / sp.sqrt(2))


@says("eps-scaling")
def _(norm):
    law = vanishes(norm.core(t * z3, eps) - norm.core(z3, eps / t**2))
    return law and differ(norm.core(2 * Z123, 1), norm.core(Z123, 1))


@says("eps-scaling-unstabilised")
def _(norm):
    return vanishes(norm.core(t * z3, 0) - norm.core(z3, 0))


@says("eps-jacobian")
def _(norm):
    return all(norm.jacobian(z, 2) == sp.simplify(core_jacobian(z, 2)) for z in POINTS)


@instead("eps-jacobian")
def _():
    return all(RMS.jacobian(z, 2) == sp.simplify(rms_jacobian(z, 2)) for z in POINTS)


@says("eps-eigen-shift")
def _(norm):
    return norm.jacobian(Z123, 1) * ones(3) == sp.zeros(3, 1)


@says("eps-eigen-radial")
def _(norm):
    v, q = centered(Z123), variance(Z123)
    return not differ(norm.jacobian(Z123, 1) * v, v / (q + 1) ** R(3, 2))


@instead("eps-eigen-radial")
def _():
    return not differ(RMS.jacobian(Z123, 1) * Z123, Z123 / (mean_square(Z123) + 1) ** R(3, 2))


@says("eps-eigen-orthogonal")
def _(norm):
    w = column(1, -2, 1)
    return not differ(norm.jacobian(Z123, 1) * w, w / sp.sqrt(variance(Z123) + 1))


@instead("eps-eigen-orthogonal")
def _():
    total = sp.sqrt(mean_square(Z123) + 1)
    return all(not differ(RMS.jacobian(Z123, 1) * w, w / total) for w in (column(2, -1, 0), column(3, 0, -1)))


@says("eps-jacobian-constant")
def _(norm):
    return norm.jacobian(column(3, 3, 3), 4) == projection(3) / 2


@instead("eps-jacobian-constant")
def _():
    return RMS.jacobian(column(0, 0, 0), 4) == sp.eye(3) / 2


@says("eps-norm-bound")
def _(norm):
    return all(norm.largest_singular_value(z, THIRD) <= sp.sqrt(3) * (1 + R(1, 10**20)) for z in POINTS)


def norms_are(norm, expected):
    """Whether the operator norm at eps = 1 is as expected: pairs of an input and the square of the norm there."""
    return all(abs(norm.largest_singular_value(z, 1) ** 2 - square) < R(1, 10**20) for z, square in expected)


@says("eps-norm-by-dimension")
def _(norm):
    three = [(z, 1 / (variance(z) + 1)) for z in (column(1, 2, 4), column(1, 0, 0, 3))]
    return norms_are(norm, [(column(5), 0), (column(3, 3, 3), 1), (PAIR, R(1, 8)), *three])


@instead("eps-norm-by-dimension")
def _():
    more = [(z, 1 / (mean_square(z) + 1)) for z in (PAIR, column(3, 3, 3), column(1, 2, 4))]
    return norms_are(RMS, [(column(0), 1), (column(0, 0), 1), (column(2), R(1, 125)), *more])


@says("eps-lipschitz")
def _(norm):
    pairs = [(a, b) for a in POINTS for b in POINTS if a != b]
    return all((norm.core(a, THIRD) - norm.core(b, THIRD)).norm() <= sp.sqrt(3) * (a - b).norm() for a, b in pairs)


@says("eps-full-bound")
def _(norm):
    pairs = [(a, b) for a in POINTS for b in POINTS if a != b]
    changes = [(times(GAIN, norm.core(a, THIRD) - norm.core(b, THIRD)), a - b) for a, b in pairs]
    return all(change.norm() <= 2 * sp.sqrt(3) * step.norm() for change, step in changes)


@says("eps-attained")
def _(norm):
    return norm.jacobian(column(3, 3, 3), 4) * column(1, -1, 0) == column(1, -1, 0) / 2


@instead("eps-attained")
def _():
    away = all(RMS.largest_singular_value(z, 4) < HALF for z in POINTS)
    return away and RMS.jacobian(column(0, 0, 0), 4) == sp.eye(3) / 2 and RMS.jacobian(column(0), 4) == column(HALF)


@says("eps-family")
def _(norm):
    h = norm.core([-t, 0, t], eps)[2]
    slope = eps / (2 * t**2 / 3 + eps) ** R(3, 2)
    formula = vanishes(h - t / sp.sqrt(2 * t**2 / 3 + eps)) and vanishes(h.diff(t) - slope)
    return formula and sp.limit(h, t, sp.oo) == sp.sqrt(R(3, 2))


@says("jac-entry")
def _(norm):
    z = column(1, 2, 4)
    slope = (norm.core([1, 2 + t, 4], 1)[0] - norm.core(z, 1)[0]) / t
    return sp.simplify(sp.limit(slope, t, 0) - norm.jacobian(z, 1)[0, 1]) == 0


@says("jac-example")
def _(norm):
    same_core = norm.core(PAIR, 3) == column(-HALF, HALF)
    return same_core and norm.jacobian(PAIR, 3) == R(3, 16) * sp.Matrix([[1, -1], [-1, 1]])


@says("jac-sums")
def _(norm):
    J = norm.jacobian(PAIR, 3)
    return J == J.T and J * ones(2) == sp.zeros(2, 1)


@says("jac-directions")
def _(norm):
    J = norm.jacobian(PAIR, 3)
    return J * ones(2) == sp.zeros(2, 1) and R(3, 8) * PAIR == J * PAIR


@says("jac-local")
def _(norm):
    J = norm.jacobian(PAIR, 3)
    gaps = [(norm.core((1 + s) * PAIR, 3) - norm.core(PAIR, 3) - s * J * PAIR).norm() / s for s in (R(1, 100), 1, 10)]
    return 0 < gaps[0] < gaps[1] < gaps[2] and gaps[0] < R(1, 100)


@says("jac-gain")
def _(norm):
    J = sp.diag(0, 2) * norm.jacobian(PAIR, 3)
    return J[0, :] == sp.zeros(1, 2) and J[1, 0] != 0


@says("jac-parameters")
def _(norm):
    y = norm.layer(z3, gain3, bias3, eps)
    return vanishes(y.jacobian(gain3) - sp.diag(*norm.core(z3, eps))) and y.jacobian(bias3) == sp.eye(3)


@says("sens-local")
def _(norm):
    J, largest = norm.jacobian(column(1, 2, 4), 1), norm.largest_singular_value(column(1, 2, 4), 1)
    steps = (column(*entries) for entries in product(range(-2, 3), repeat=3) if any(entries))
    amplified = [float((J * h).norm() / h.norm()) for h in steps]
    return 0.98 * float(largest) < max(amplified) <= float(largest) * (1 + 1e-12)


@says("sens-uniform")
def _(norm):
    below = all(norm.largest_singular_value(z, THIRD) < sp.sqrt(3) / 2 for z in (column(1, 2, 4), column(-5, 0, 1)))
    return STATEMENTS["eps-norm-bound"](norm) and below


@says("sens-finite")
def _(norm):
    z, h = column(7, 7), column(R(1, 1000), R(-1, 1000))
    squares = [((norm.core(z + h, e) - norm.core(z, e)).norm() / h.norm()) ** 2 for e in (R(1, 10**4), R(1, 100))]
    return [sp.simplify(s) for s in squares] == [1 / R("0.000101"), 1 / R("0.010001")]


@says("sens-full")
def _(norm):
    no_bias = norm.layer(z3, gain3, bias3, eps) - norm.layer(Z123, gain3, bias3, eps)
    cancels = vanishes(no_bias - times(gain3, norm.core(z3, eps) - norm.core(Z123, eps)))
    return STATEMENTS["eps-full-bound"](norm) and cancels


@says("sens-not-network")
def _(norm):
    J = norm.jacobian(column(0, 0, 0), 1)
    return (sp.diag(1, 1, 1) * 10 * J * column(1, -1, 0)).norm() > 9 * column(1, -1, 0).norm()


@says("sens-smaller")
def _(norm):
    largest = norm.largest_singular_value(PAIR, 3)
    return abs(largest - R(3, 8)) < R(1, 10**20)


@instead("sens-smaller")
def _():
    largest = RMS.largest_singular_value(PAIR, 3)
    return abs(largest - HALF) < R(1, 10**20) and 1 / sp.sqrt(3) > HALF


@says("shift-exact")
def _(norm):
    return vanishes(norm.layer(z3 + 5 * ones(3), gain3, bias3, eps) - norm.layer(z3, gain3, bias3, eps))


@says("shift-steps")
def _(norm):
    # what divides: |z| / |core| at eps = 0, squared, is the statistic of the norm
    z = column(1, 2, 4)
    statistic = [norm.core(point, 1).norm() ** 2 for point in (z, z + ones(3))]
    return sp.simplify(statistic[0] - statistic[1]) == 0


@says("shift-kernel")
def _(norm):
    return norm.jacobian(column(0, 0, 0), 1).nullspace() == [ones(3)]


@says("shift-example")
def _(norm):
    return not differ(norm.core(Z123, THIRD), norm.core(column(101, 102, 103), THIRD))


@says("shift-unequal")
def _(norm):
    return not differ(norm.core(column(1, 2, 4), THIRD), column(-4, -1, 5) / sp.sqrt(17))


@instead("shift-unequal")
def _():
    return not differ(RMS.core(column(1, 2, 4), THIRD), column(1, 2, 4) * sp.sqrt(R(3, 22)))


W = sp.Matrix([[1, 2], [0, 1], [3, -1]])
X = column(2, 1)


@says("shift-affine-bias")
def _(norm):
    return not differ(norm.core(W * X + column(1, 0, 0) + 5 * ones(3), 1), norm.core(W * X + column(1, 0, 0), 1))


W22 = sp.Matrix([[1, 2], [3, 4]])


@says("shift-raw-input")
def _(norm):
    unseen, seen = column(1, -1), column(1, 0)
    assert projection(2) * W22 * unseen == sp.zeros(2, 1) != projection(2) * W22 * seen
    moved = [differ(norm.core(W22 * (X + a), 1), norm.core(W22 * X, 1)) for a in (unseen, seen)]
    return moved == [False, True]


@instead("shift-raw-input")
def _():
    flat = sp.Matrix([[1, 1], [2, 2]])
    unseen = not differ(rms(flat * (X + column(1, -1)), 1), rms(flat * X, 1))
    return unseen and all(differ(rms(W22 * (X + a), 1), rms(W22 * X, 1)) for a in (column(1, -1), column(1, 0)))


@says("shift-weights")
def _(norm):
    return not differ(norm.core((W + ones(3) * column(10, -4).T) * X, 1), norm.core(W * X, 1))


def fills_a_ball(norm, target, small):
    """Whether `target` is the image of a multiple of itself, and no image is as long as sqrt(d)."""
    source = target * sp.sqrt(small / (1 - mean_square(target)))
    return not differ(norm.core(source, small), target) and all(mean_square(norm.core(z, small)) < 1 for z in POINTS)


@says("open-ball")
def _(norm):
    of_mean_zero = all(sp.simplify(mean(norm.core(z, 2))) == 0 for z in POINTS)
    return fills_a_ball(norm, column(HALF, HALF, -1), 2) and of_mean_zero


@instead("open-ball")
def _():
    return fills_a_ball(RMS, column(1, HALF, 1), 2) and fills_a_ball(RMS, column(R(9, 10), R(9, 10), R(9, 10)), 2)


@says("invertible")
def _(norm):
    u = norm.core(z3, eps)
    back = sp.simplify(mean_square(u) * eps / (1 - mean_square(u)))
    return vanishes(back - variance(z3))


@instead("invertible")
def _():
    n = rms(z3, eps)
    back = sp.simplify(eps / (1 - mean_square(n)))
    return vanishes(back - mean_square(z3) - eps)


def spike(norm, d):
    return sp.limit(norm.core([t] + [0] * (d - 1), 1)[0], t, sp.oo)


@says("largest-coordinate")
def _(norm):
    return [spike(norm, d) for d in (1, 2, 5)] == [0, 1, 2]


@instead("largest-coordinate")
def _():
    return [spike(RMS, d) for d in (1, 2, 5)] == [1, sp.sqrt(2), sp.sqrt(5)]


def lies_inside(norm, gain, half_axes, directions):
    """Whether outputs stay inside the ellipsoid with these half-axes, and large inputs come near its edge."""

    def size(y):
        return sum((y.dot(a) / a.norm() / half) ** 2 for a, half in zip(directions, half_axes, strict=True))

    inside = all(size(times(gain, norm.core(z, 1))).evalf(30) < 1 for z in POINTS)
    outputs = [times(gain, norm.core([10**6 * entry for entry in a], 1)) for a in np.eye(3, dtype=int).tolist()]
    return inside and max(float(size(y)) for y in outputs) > 1 - 1e-9


@says("ellipsoid")
def _(norm):
    # diag(2, 0, 0) P has one singular value, 2 sqrt(2/3): the ellipsoid is a segment of half-length 2 sqrt(2)
    return lies_inside(norm, column(2, 0, 0), [2 * sp.sqrt(2)], [column(1, 0, 0)])


@instead("ellipsoid")
def _():
    axes = [column(*row) for row in np.eye(3, dtype=int).tolist()]
    return lies_inside(RMS, column(2, -1, 3), [sp.sqrt(3) * g for g in (2, 1, 3)], axes)


def is_a_slope(norm, potential):
    slope = sp.Matrix([potential.diff(entry) for entry in z3])
    pairs = [(a, b) for a in POINTS for b in POINTS if a != b]
    changes = [(norm.core(a, 4) - norm.core(b, 4), a - b) for a, b in pairs]
    cocoercive = all((change.dot(step) - 2 * change.dot(change)).evalf(30) >= -R(1, 10**20) for change, step in changes)
    return vanishes(norm.core(z3, eps) - slope) and cocoercive


@says("gradient-map")
def _(norm):
    return is_a_slope(norm, 3 * sp.sqrt(variance(z3) + eps))


@instead("gradient-map")
def _():
    return is_a_slope(RMS, 3 * sp.sqrt(mean_square(z3) + eps))


def identity_of_two_points(norm, statistic):
    a, b = column(0, 0, 6), Z123
    u, w = norm.core(a, THIRD), norm.core(b, THIRD)
    r, s = (sp.sqrt(statistic(z) + THIRD) for z in (a, b))
    right = (r + s) / 2 * (u - w).dot(u - w) + 3 * THIRD * (r + s) * (r - s) ** 2 / (2 * r**2 * s**2)
    return sp.simplify((u - w).dot(a - b) - right) == 0


@says("two-points")
def _(norm):
    return identity_of_two_points(norm, variance)


@instead("two-points")
def _():
    return identity_of_two_points(RMS, mean_square)


@says("sharp-lipschitz")
def _(norm):
    # at d = 4 with a single gain the exact constant is sqrt(3/4) / sqrt(eps), the norm at constant inputs
    return abs(norm.largest_singular_value(sp.zeros(4, 1), 1, [1, 0, 0, 0]) - sp.sqrt(R(3, 4))) < R(1, 10**20)


@instead("sharp-lipschitz")
def _():
    return abs(RMS.largest_singular_value(sp.zeros(4, 1), 1, [1, 0, 0, 0]) - 1) < R(1, 10**20)


def table():
    """Fact -> verdict, of the table on the page."""
    text = (ROOT / "book" / "neighbours.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w-]+)`, \{prf:ref\}`\1` \| (\w+) \|", text, re.MULTILINE)
    assert len(dict(rows)) == len(rows)
    return dict(rows)


VERDICTS = table()


@fact("rms-facts", way="exact")
@pytest.mark.parametrize("name", VERDICTS)
def test_the_verdict_of_the_table(name):
    verdict, statement = VERDICTS[name], STATEMENTS[name]
    assert statement(LAYER), "not what the fact says of layer normalization"
    assert bool(statement(RMS)) == (verdict == "holds")
    assert verdict in {"holds", "changed", "fails"}
    assert (name in CHANGED) == (verdict == "changed")
    if name in CHANGED:
        assert CHANGED[name]()


def test_the_table_has_every_fact_of_the_concepts_and_the_geometry():
    facts = tomllib.loads((ROOT / "book" / "facts.toml").read_text("utf-8"))
    concepts = {name for name, entry in facts.items() if entry["page"] in CONCEPTS | {"geometry"}}
    assert {"without a row": sorted(concepts - VERDICTS.keys()), "no fact": sorted(VERDICTS.keys() - facts.keys())} == {
        "without a row": [],
        "no fact": [],
    }
    assert STATEMENTS.keys() == VERDICTS.keys()


@fact("rms-facts", way="exact")
def test_what_the_table_says_of_single_values():
    constant = RMS.layer(column(3, 3, 3), gain3, bias3, eps)
    assert vanishes(constant - 3 * gain3 / sp.sqrt(9 + eps) - bias3)
    assert vanishes(mean(rms(z3, eps)) - mean(z3) / sp.sqrt(mean_square(z3) + eps))
    assert rms(Z123, THIRD) == Z123 / sp.sqrt(5)
    assert rms(Z123, R(4, 3)) == Z123 / sp.sqrt(6)
    J = RMS.jacobian(PAIR, 3)
    assert R(1, 16) * sp.Matrix([[7, 1], [1, 7]]) == J
    assert R(3, 8) * PAIR == J * PAIR
    assert J * ones(2) == HALF * ones(2)
    assert (sp.diag(0, 2) * J)[1, :] == sp.Matrix([[R(1, 8), R(7, 8)]])
    at_zero = RMS.jacobian(column(0, 0, 0), THIRD)
    assert max(sum(abs(entry) for entry in at_zero[i, :]) for i in range(3)) == sp.sqrt(3)
    scale, offset = sp.symbols("scale offset", real=True)
    alike = RMS.layer(z3, scale * ones(3), offset * ones(3), eps)
    assert vanishes(mean(alike) - offset - scale * mean(z3) / sp.sqrt(mean_square(z3) + eps))
    c = sp.Symbol("c", real=True)
    assert vanishes(mean_square(z3 + c * ones(3)) - mean_square(z3) - 2 * c * mean(z3) - c**2)
    off_diagonal = rms(z3, eps)[1].diff(z3[0])
    assert vanishes(off_diagonal + z3[0] * z3[1] / 3 / (mean_square(z3) + eps) ** R(3, 2))
    z, h = column(7, 7), column(R(1, 1000), R(-1, 1000))
    for small in (R(1, 10**4), R(1, 100)):
        assert abs((rms(z + h, small) - rms(z, small)).norm() / h.norm() - R(1, 7)) < R(1, 5000)


@fact("rms-facts", way="property")
@given(st.lists(quarters, min_size=1, max_size=4), st.fractions(Fraction(1, 100), 4, max_denominator=100))
def test_rms_norm_is_one_to_one(row, small):
    m = sum(x**2 for x in row) / len(row)
    squares = [x**2 / (m + small) for x in row]  # of the entries of n
    back = sum(squares) / len(row)
    back = back * small / (1 - back)
    assert back == m
    assert [n2 * (back + small) for n2 in squares] == [x**2 for x in row]


# Shared statistics


SETS = {
    "batch": lambda n, c, s: (c,),
    "layer, over the channels": lambda n, c, s: (n, s),
    "layer, over the sample": lambda n, c, s: (n,),
    "instance": lambda n, c, s: (n, c),
    "group, two groups": lambda n, c, s: (n, c // 2),
}


@fact("norm-axes", way="exact")
@pytest.mark.parametrize("name", SETS)
def test_the_entries_that_share_statistics(name):
    from lnbook.pages.figures.neighbours import CHANNELS, NORMS, PLACES, SAMPLES

    x = np.arange(SAMPLES * CHANNELS * PLACES).reshape(SAMPLES, CHANNELS, PLACES) ** 2 % 13
    got = NORMS[name](x)
    for index in np.ndindex(x.shape):
        together = [other for other in np.ndindex(x.shape) if SETS[name](*other) == SETS[name](*index)]
        row = [int(x[other]) for other in together]
        expected = core(row, R(1, 10**5))[together.index(index)]
        assert abs(got[index] - float(expected)) < 1e-14


@fact("norm-axes", way="exact")
def test_the_picture_draws_the_shared_entries():
    from matplotlib.colors import to_hex

    from lnbook.pages.figures import shared_statistics
    from lnbook.pages.figures.style import CORE

    for axes, key in zip(shared_statistics().axes, SETS.values(), strict=True):
        lit = [to_hex(patch.get_facecolor()) == CORE for patch in axes.patches[::2]]
        assert lit == [key(*index) == key(0, 0, 0) for index in np.ndindex(2, 4, 3)]


@fact("group-ends", way="property")
@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_the_ends_of_group_normalization(n, channels, places, seed):
    x = np.random.default_rng(seed).normal(size=(n, channels, places))

    def group(groups):
        return lnbook.normalize(x.reshape(n, groups, channels // groups, places), axis=(2, 3)).reshape(x.shape)

    assert np.array_equal(group(1), lnbook.normalize(x, axis=(1, 2)))
    assert np.array_equal(group(channels), lnbook.normalize(x, axis=2))
    if places == 1:
        assert not group(channels).any()
    else:
        flagged = np.zeros_like(x)
        flagged[..., 0] = 2
        assert not lnbook.normalize(flagged, axis=1).any()
        assert lnbook.normalize(flagged, axis=(1, 2)).all()


@fact("batch-couples", way="exact")
def test_a_batch_of_two():
    assert core([1, 3], 3) == column(-HALF, HALF)
    assert LAYER.jacobian(column(1, 3), 3)[0, 1] == -R(3, 16)
    assert lnbook.normalize([[1.0], [3.0]], eps=3, axis=0).tolist() == [[-0.5], [0.5]]


@fact("batch-couples", way="property")
@given(st.integers(0, 2**32 - 1))
def test_only_batch_normalization_sees_the_other_samples(seed):
    x = np.random.default_rng(seed).normal(size=(3, 4, 5))
    other = x.copy()
    other[1:] += np.random.default_rng(seed + 1).normal(size=(2, 4, 5))
    for axis in (1, 2, (1, 2)):
        assert np.array_equal(lnbook.normalize(other, axis=axis)[0], lnbook.normalize(x, axis=axis)[0])
    assert not np.allclose(lnbook.normalize(other, axis=(0, 2))[0], lnbook.normalize(x, axis=(0, 2))[0])
    single = lnbook.layer_norm(x[:1, :, :1], None, None, axis=(0, 2))
    assert not single.any()


@fact("batch-fold", way="exact")
def test_stored_statistics_make_an_affine_map():
    x = sp.Matrix(sp.symbols("x1:3", real=True))
    means, variances = sp.Matrix(sp.symbols("m1:4")), sp.Matrix(sp.symbols("q1:4", positive=True))
    z = W * x + bias3
    plain = [a * (v - m) / sp.sqrt(q + eps) + b for a, v, m, q, b in zip(gain3, z, means, variances, BIAS, strict=True)]
    scale = sp.diag(*[a / sp.sqrt(q + eps) for a, q in zip(gain3, variances, strict=True)])
    assert vanishes(sp.Matrix(plain) - (scale * W * x + scale * (bias3 - means) + BIAS))


@fact("batch-fold", way="exact")
@pytest.mark.parametrize("d", [2, 3, 5])
def test_layer_normalization_is_not_affine(d):
    z = t * (sp.eye(d)[:, 0] - sp.eye(d)[:, 1])
    y = core(z, eps)[0]
    assert vanishes(y - t / sp.sqrt(2 * t**2 / d + eps))
    assert sp.limit(y, t, sp.oo) == sp.sqrt(R(d, 2))
    assert not vanishes(y.diff(t, 2))


@fact("batch-bias", way="property")
@given(st.lists(quarters, min_size=3, max_size=3), st.lists(quarters, min_size=3, max_size=3))
def test_the_bias_in_front(before, after):
    rows = [[0, 1, 5], [2, 2, 1], [3, 0, 0]]
    with_bias = [
        sp.Matrix([[x + b for x, b in zip(row, bias, strict=True)] for row in rows]) for bias in (before, after)
    ]
    for c in range(3):
        assert core(with_bias[0][:, c], 1) == core(with_bias[1][:, c], 1)
    shift = [b - a for a, b in zip(before, after, strict=True)]
    same = [not apart(core(with_bias[0][n, :], 1), core(with_bias[1][n, :], 1)) for n in range(3)]
    assert all(same) == (len(set(shift)) == 1) == any(same)


# Pre-norm and post-norm


A33 = sp.Matrix([[1, 0, 2], [0, 3, -1], [1, 1, 0]])


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


@fact("fold", way="exact")
def test_gain_and_bias_fold_into_the_next_layer():
    A, c, u = sp.Matrix(2, 3, sp.symbols("A1:7")), sp.Matrix(sp.symbols("c1:3")), z3
    assert vanishes(A * (times(gain3, u) + bias3) + c - (A * sp.diag(*gain3) * u + (A * bias3 + c)))
    assert (A * sp.diag(1, 0, 2))[:, 1] == sp.zeros(2, 1)


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


# Scaling the weights


@fact("scale-sign", way="exact")
def test_any_scale_with_its_sign():
    assert vanishes(core(t * z3, eps) - core(z3, eps / t**2))
    assert vanishes(core(-t * z3, eps) + core(z3, eps / t**2))
    large = sp.Symbol("large", positive=True)
    for sign in (1, -1):
        limit = core(sign * large * Z123, 1).applyfunc(lambda entry: sp.limit(entry, large, sp.oo))
        assert not differ(limit, sign * core(Z123, 0))
        assert differ(limit, core(Z123, 1))


@pytest.mark.parametrize("name", ["B59", "B60", "B64"])
@fact("scale-sign", way="numeric")
def test_the_reported_scales(name):
    given, expected = CASES[name]["input"], CASES[name]["expected"]
    alpha, small = sp.nsimplify(given["alpha"]), sp.Rational(str(given["eps"]))
    got = sp.sign(alpha) * core(column(*map(str, given["z"])), small / alpha**2)
    answer = expected.get("y_scaled", expected.get("LN_alpha_z", expected.get("y")))
    assert np.abs(np.array(got.evalf(20), dtype=float).ravel() - answer).max() < 1e-12


@fact("weight-scaling", way="exact")
def test_rescaling_needs_another_eps_and_recentring_none():
    x = sp.Matrix(sp.symbols("x1:3", real=True))
    z = W * x + bias3
    assert vanishes(core(t * W * x + t * bias3, eps) - core(z, eps / t**2))
    assert vanishes(core(t * W * x + t * bias3, t**2 * eps) - core(z, eps))
    r = sp.Matrix(sp.symbols("r1:3", real=True))
    assert vanishes(core((W + ones(3) * r.T) * x + bias3, eps) - core(z, eps))


@fact("weight-scaling", way="property")
@given(st.fractions(Fraction(1, 4), 4, max_denominator=8), st.lists(quarters, min_size=2, max_size=4))
def test_with_eps_fixed_only_the_scale_one_changes_nothing(scale, row):
    z = column(*row)
    assume(variance(z) > 0)
    assert apart(core(sp.Rational(scale) * z, 1), core(z, 1)) == (scale != 1)


@fact("weight-scaling", way="numeric")
def test_the_reported_recentring():
    given, expected = CASES["B63"]["input"], CASES["B63"]["expected"]
    weights, row, x = (np.array(given[name], float) for name in ("W", "c", "x"))
    assert row @ x == expected["shift"]
    for w in (weights, weights + row):
        assert np.abs(lnbook.normalize(w @ x, eps=given["eps"]) - expected["y"]).max() < 1e-15
    assert np.abs(lnbook.normalize(10 * weights @ x, eps=given["eps"]) - expected["y"]).max() > 1e-6


@fact("weight-radial", way="exact")
def test_the_gradient_along_the_weights():
    entries, x = sp.Matrix(3, 2, sp.symbols("w1:7", real=True)), column(2, 1)
    z = entries * x + bias3
    loss = (g3.T * times(gain3, core(z, eps)))[0]
    radial = sum(loss.diff(w) * w for w in [*entries, *bias3])
    v, q = centered(z), variance(z)
    expected = eps / (q + eps) ** R(3, 2) * times(gain3, g3).dot(v)
    numbers = dict(zip([*entries, *bias3, *g3, *gain3], (1, 2, 0, 1, 3, -1, 1, 0, 2, 1, 2, 4, 2, -1, 3), strict=True))
    for small in (R(1, 7), R(1, 10**5)):
        got, right = (value.subs(numbers | {eps: small}) for value in (radial, expected))
        assert sp.simplify(got - right) == 0 != right
    unstabilised = (g3.T * times(gain3, core(z, 0)))[0]
    assert sp.simplify(sum(unstabilised.diff(w) * w for w in [*entries, *bias3]).subs(numbers)) == 0


@fact("weight-radial", way="property")
@given(vectors(3), vectors(3), st.floats(0.01, 1))
def test_at_eps_zero_a_step_lengthens_the_weights(z, g, rate):
    assume(np.ptp(z) > 0)
    x = np.array([2.0, 1.0])
    weights = np.outer(z, [0.25, 0.5])  # weights @ x = z
    gradient = np.outer(lnbook.vjp(z, g, eps=0)[0], x)
    before, grown = (weights**2).sum(), rate**2 * (gradient**2).sum()
    assert ((weights - rate * gradient) ** 2).sum() == pytest.approx(before + grown, rel=1e-11)


# Weight decay


@fact("decay-gain", way="exact")
def test_ten_steps_of_decay():
    given, expected = CASES["B51"]["input"], CASES["B51"]["expected"]
    factor, steps = 1 - Fraction(str(given["lr_wd"])), given["steps"]
    gain, rest, bias = Fraction(given["gamma"]), Fraction(given["gamma"]) - 1, Fraction(0)
    for _ in range(steps):
        gain, rest, bias = gain * factor, rest * factor, bias * factor
    assert gain == Fraction(99, 100) ** 10
    assert abs(float(gain) - expected["gamma_after"]) < 1e-15
    assert 1 + rest == expected["zero_centred_gain_after"]
    assert bias == expected["beta_after_from_0"]


@fact("decay-gain", way="exact")
def test_a_gain_stored_less_one_means_another_output():
    given, expected = CASES["B48"]["input"], CASES["B48"]["expected"]
    gain = [1 + R(str(stored)) for stored in given["gamma_stored"]]
    y = times(gain, core(column(*given["z"]), R(str(given["eps"]))))
    assert np.abs(np.array(y.evalf(20), dtype=float).ravel() - expected["y"]).max() < 1e-14


@fact("decay-gain", way="exact")
def test_where_decay_leads():
    k, factor, gain = sp.Symbol("k", integer=True, positive=True), R(99, 100), sp.Symbol("gain")
    assert sp.limit(factor**k * gain, k, sp.oo) == 0
    assert sp.limit(1 + factor**k * (gain - 1), k, sp.oo) == 1


@fact("decay-balance", way="exact")
def test_gain_and_next_matrix_share_the_cost():
    c, s, length = sp.symbols("c s length", positive=True)
    assert vanishes(c**2 * s**2 + length**2 / c**2 - 2 * s * length - (c * s - length / c) ** 2)
    assert (c * s - length / c).subs(c, sp.sqrt(length / s)).simplify() == 0
    for sign in (1, -1):
        same = A33 / (sign * c) * (times(sign * c * gain3, z3) + sign * c * bias3)
        assert vanishes(same - A33 * (times(gain3, z3) + bias3))


@fact("decay-balance", way="property")
@given(st.lists(quarters, min_size=2, max_size=4), st.lists(quarters, min_size=2, max_size=4), quarters)
def test_no_factor_costs_less(parameters, matrix, c):
    assume(any(parameters) and any(matrix) and c != 0)
    s2, a2 = (sum(entry**2 for entry in part) for part in (parameters, matrix))
    assert (c**2 * s2 + a2 / c**2) ** 2 >= 4 * s2 * a2

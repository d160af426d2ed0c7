"""The facts of the book that say something about an implementation, each as a statement that a layer can be asked.

A statement computes some numbers through `layer.y`, `layer.dz`, `layer.dgain` and `layer.dbias`. Asked of the exact
layer it gives the numbers expected, asked of a layer under test the numbers got. So no expected value is typed in, and
each fact fails by itself: a wrong divisor does not break the rule that the core has mean 0.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from lnbook.conformance import exact

CONVENTION = "convention"
GRADIENT = "gradient"
FLOATING_POINT = "floating point"
KINDS = (CONVENTION, GRADIENT, FLOATING_POINT)


class Statement(NamedTuple):
    """`fact` is an id of the book's ledger; `name` is that id, with a part after a slash where a fact has two rows."""

    name: str
    kind: str
    says: str
    ask: object
    uses_vjp: bool
    stretch: float  # how much more the numbers asked for may be off than the outputs they are made of

    @property
    def fact(self):
        return self.name.partition("/")[0]


STATEMENTS = []


def states(name, kind, says, *, uses_vjp=False, stretch=1):
    def keep(ask):
        STATEMENTS.append(Statement(name, kind, says, ask, uses_vjp or kind == GRADIENT, stretch))
        return ask

    return keep


def array(values):
    """Numbers that stay exact: Python's ints and Fractions."""
    return np.array(values, dtype=object)


def together(*arrays):
    return np.concatenate([np.ravel(a) for a in arrays])


def excess(value, bound):
    """By how much a value is above its bound, relative to the bound; 0 where the bound holds."""
    return np.maximum(value / bound - 1, Fraction(0))


# Three rows of three entries: square on purpose, so that a parameter on the wrong axis still fits.
Z = array([[1, 2, 4], [3, 1, 0], [-2, 5, 1]])  # (n, d)
G = array([[1, 0, 2], [-1, 3, 1], [2, 1, -2]])  # (n, d), gradients by the output
GAIN = array([2, -1, Fraction(1, 2)])  # (d,)
BIAS = array([1, -1, 2])  # (d,)
ONE = array([1, 1, 1])
EPS = Fraction(1, 8)
THREES = array([[3, 3, 3]])
I2, I3 = array([[1, 0], [0, 1]]), array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])


def spread(d):
    """d numbers between -2 and 2, in no order, of variance about 4/3: multiples of 1/256."""
    return array([Fraction((i * 401) % 1021 - 510, 256) for i in range(1, d + 1)])


@states("def-output", CONVENTION, "y = gain * u + bias, with the divisor d, and eps inside the root")
def _(layer):
    return layer.y(Z, GAIN, BIAS, eps=EPS)


@states("def-output/rank-3", CONVENTION, "each row of an array of three axes is normalized by itself")
def _(layer):
    return layer.y(np.stack([Z[:2], 2 * Z[1:]]), GAIN, BIAS, eps=EPS)


@states("def-output/long", CONVENTION, "the same for rows of 5 and of 1000 entries, no power of two")
def _(layer):
    five = layer.y([[1, 2, 4, 0, 1], [0, 3, 1, 1, 2]], [1, 2, -1, 1, 3], [0, 1, 1, -1, 2], eps=EPS)
    return together(five, layer.y([1 + spread(1000), 1 - spread(1000)], 1 + spread(1000) / 4, spread(1000), eps=EPS))


@states("def-core-mean", CONVENTION, "the core has mean 0")
def _(layer):
    return exact.mean(layer.y(Z, eps=EPS))


@states("bias-offset", CONVENTION, "the bias is added last")
def _(layer):
    return layer.y(Z, GAIN, BIAS, eps=EPS) - layer.y(Z, GAIN, eps=EPS)


@states("bias-constant-input", CONVENTION, "at a constant input the output is the bias")
def _(layer):
    return layer.y(THREES, GAIN, BIAS, eps=EPS)


@states("bias-mean", CONVENTION, "the output's mean need not be 0: here it is 2/3")
def _(layer):
    return exact.mean(layer.y(THREES, GAIN, BIAS, eps=EPS))


@states("bias-persists", CONVENTION, "a common shift goes, the bias stays")
def _(layer):
    return layer.y(Z + 4, GAIN, BIAS, eps=EPS) - layer.y(Z, GAIN, eps=EPS)


@states("gain-multiplier", CONVENTION, "y = gain * u, coordinate by coordinate")
def _(layer):
    gain = array([2, 0, -1])
    return layer.y(Z, gain, eps=EPS) - gain * layer.y(Z, ONE, eps=EPS)


@states("gain-example", CONVENTION, "z = (1, 1, -2), eps = 2, gain = (2, 0, -1): y = (1, 0, 1)")
def _(layer):
    return layer.y([[1, 1, -2]], [2, 0, -1], eps=2)


@states("gain-moments", CONVENTION, "that output has mean 2/3 and variance 2/9")
def _(layer):
    y = layer.y([[1, 1, -2]], [2, 0, -1], eps=2)
    return together(exact.mean(y), exact.variance(y))


@states("gain-sign", CONVENTION, "a negative gain flips the sign of its coordinate")
def _(layer):
    return layer.y(Z, -GAIN, eps=EPS) + layer.y(Z, GAIN, eps=EPS)


@states("gain-zero", CONVENTION, "where the gain is 0 the output is the bias; the input still acts on the others")
def _(layer):
    silenced = layer.y([[1, 2, 4], [9, 2, 4]], [0, 1, 1], BIAS, eps=EPS)  # (2, d)
    return together(silenced[:, 0], silenced[1, 1:] - silenced[0, 1:])


@states("eps-constant-input", CONVENTION, "at a constant input the core is 0, even for a small eps and for d = 1")
def _(layer):
    rows = [layer.y(THREES, eps=eps) for eps in (1, 1e-5, 1e-12)]
    return together(*rows, layer.y([[5]], [2], [3], eps=1e-5))


@states("eps-variance", CONVENTION, "the core's variance is q / (q + eps): 64/65, 1/2 and 1/65")
def _(layer):
    return together(*(exact.variance(layer.y([[-1, 1]], eps=eps)) for eps in (Fraction(1, 64), 1, 64)))


@states("eps-full-moments", CONVENTION, "mean and variance of the output with unequal gain and bias")
def _(layer):
    y = layer.y(Z, GAIN, BIAS, eps=EPS)
    return together(exact.mean(y), exact.variance(y))


@states("eps-example", CONVENTION, "z = (1, 2, 3): (-1, 0, 1) at eps = 1/3, (-1, 0, 1)/sqrt 2 at eps = 4/3")
def _(layer):
    return together(*(layer.y([[1, 2, 3]], eps=eps) for eps in (Fraction(1, 3), Fraction(4, 3))))


@states("eps-scaling", CONVENTION, "u(2z) at 4 eps is u(z) at eps; u(2z) at eps is not")
def _(layer):
    u = layer.y(Z, eps=EPS)
    return together(layer.y(2 * Z, eps=4 * EPS) - u, layer.y(2 * Z, eps=EPS) - u)


@states("eps-scaling-unstabilised", CONVENTION, "at eps = 0 the core does not change under a scale")
def _(layer):
    return layer.y(2 * Z, eps=0) - layer.y(Z, eps=0)


@states("eps-lipschitz", CONVENTION, "no difference of cores is more than 1 / sqrt(eps) times that of the inputs")
def _(layer):
    return _stretching(layer, ONE, Fraction(1, 64))


@states("eps-full-bound", CONVENTION, "with a gain, no more than max|gain| / sqrt(eps) times")
def _(layer):
    return _stretching(layer, GAIN, Fraction(1, 64))


def _stretching(layer, gain, eps):
    step = array([[Fraction(1, 16), -Fraction(1, 16), 0]])
    pairs = [(THREES, THREES + step), (THREES, THREES + 16 * step), (Z[:1], Z[:1] + 16 * step)]
    changes = [
        exact.length(layer.y(b, gain, eps=eps) - layer.y(a, gain, eps=eps)) / exact.length(b - a) for a, b in pairs
    ]
    return together(*(excess(change, abs(gain).max() / exact.root(eps)) for change in changes))


@states("eps-family", CONVENTION, "z = (-t, 0, t): the last coordinate is t / sqrt(2 t^2 / 3 + eps)")
def _(layer):
    return together(*(layer.y([[-t, 0, t]], eps=Fraction(1, 4))[0, 2] for t in (Fraction(1, 4), 1, 4, 64)))


@states("jac-local", CONVENTION, "finite steps from z = (-1, 1): the output moves less and less than J says")
def _(layer):
    z = array([[-1, 1]])
    return together(*(layer.y(z + t * z, eps=3) - layer.y(z, eps=3) for t in (Fraction(1, 4), 1, 4)))


@states("sens-full", CONVENTION, "the bias changes no difference of outputs")
def _(layer):
    with_bias = layer.y(Z[:1], GAIN, BIAS, eps=EPS) - layer.y(Z[1:2], GAIN, BIAS, eps=EPS)
    return with_bias - (layer.y(Z[:1], GAIN, eps=EPS) - layer.y(Z[1:2], GAIN, eps=EPS))


@states("shift-exact", CONVENTION, "LN(z + c 1) = LN(z)")
def _(layer):
    return layer.y(Z + array([[1], [4], [-3]]), GAIN, BIAS, eps=EPS) - layer.y(Z, GAIN, BIAS, eps=EPS)


@states("shift-unequal", CONVENTION, "(1, 2, 4) at eps = 1/3 is (-4, -1, 5)/sqrt 17: an unequal shift stays")
def _(layer):
    return layer.y([[1, 2, 4]], eps=Fraction(1, 3))


@states("open-ball", CONVENTION, "the core is shorter than sqrt(d)")
def _(layer):
    spike = array([[9, 0, 0], [0, -9, 0], [8, -8, 0]])
    lengths = [exact.length(layer.y(t * spike, eps=EPS)) for t in (1, 8)]
    return excess(together(*lengths), exact.root(Fraction(3)))


@states("largest-coordinate", CONVENTION, "a spike among 10 stays below 3; at d = 2 a sign is left, at d = 1 nothing")
def _(layer):
    spike = layer.y([[9] + [0] * 9], eps=1e-5)
    return together(spike, layer.y([[3, -5]], eps=1e-5), layer.y([[7]], eps=1e-5))


W, B = array([[1, 2], [0, 1], [3, -1]]), array([1, 0, -1])  # (d, inputs), (d,)
X = array([[2, 1], [-1, 3]])  # (n, inputs)


@states("shift-affine-bias", CONVENTION, "z = Wx + b: b + c 1 gives what b gives")
def _(layer):
    return layer.y(X @ W.T + B + 3, eps=EPS) - layer.y(X @ W.T + B, eps=EPS)


@states("shift-raw-input", CONVENTION, "z = Wx + b: x + a is no common shift, and stays")
def _(layer):
    return layer.y((X + 1) @ W.T + B, eps=EPS) - layer.y(X @ W.T + B, eps=EPS)


@states("shift-weights", CONVENTION, "z = Wx: W + 1 r^T gives what W gives")
def _(layer):
    return layer.y(X @ (W + array([1, -2])).T, eps=EPS) - layer.y(X @ W.T, eps=EPS)


@states("bias-gradient", GRADIENT, "the gradient by the bias is the gradient by the output")
def _(layer):
    return layer.dbias(THREES, [[1, -1, 2]], GAIN, BIAS, eps=EPS)


@states("bias-positions", GRADIENT, "a shared bias gets the sum of the gradients of all positions")
def _(layer):
    return together(layer.dbias(Z, G, GAIN, BIAS, eps=EPS), layer.dbias([Z, 2 * Z], [G, G], GAIN, BIAS, eps=EPS))


@states("bias-input-jacobian", GRADIENT, "the bias adds nothing to the gradient by the input")
def _(layer):
    return layer.dz(Z, G, GAIN, BIAS, eps=EPS) - layer.dz(Z, G, GAIN, eps=EPS)


@states("gain-gradient", GRADIENT, "the gradient by the gain is g * u, summed over positions")
def _(layer):
    one = layer.dgain([[1, 1, -2]], [[1, 0, 1]], [2, 0, -1], eps=2)
    return together(one, layer.dgain(Z, G, GAIN, BIAS, eps=EPS), layer.dgain([Z, 2 * Z], [G, G], GAIN, eps=EPS))


@states("gain-input-jacobian", GRADIENT, "the gradient by the input is J (gain * g)")
def _(layer):
    return layer.dz(Z, G, GAIN, BIAS, eps=EPS)


@states("eps-jacobian", GRADIENT, "J = (q + eps)^(-1/2) (P - v v^T / (d (q + eps))), row by row")
def _(layer):
    return layer.dz([[1, 2, 4]] * 3, I3, eps=EPS)


@states("eps-eigen-shift", GRADIENT, "J 1 = 0: the gradient by the input sums to 0")
def _(layer):
    return layer.dz(Z, G, GAIN, eps=EPS).sum(axis=-1)


@states("eps-eigen-radial", GRADIENT, "J v = eps / (q + eps)^(3/2) v")
def _(layer):
    return layer.dz([[1, 2, 3], [0, 2, 4]], [[-1, 0, 1], [-2, 0, 2]], eps=2)


@states("eps-eigen-orthogonal", GRADIENT, "J w = (q + eps)^(-1/2) w for w orthogonal to 1 and v")
def _(layer):
    return layer.dz([[1, 2, 3]], [[1, -2, 1]], eps=2)


@states("eps-jacobian-constant", GRADIENT, "at a constant input J = P / sqrt(eps)")
def _(layer):
    return layer.dz([[2, 2, 2]] * 3, I3, eps=Fraction(1, 4))


@states("eps-norm-bound", GRADIENT, "|J g| is at most |g| / sqrt(eps)")
def _(layer):
    z = np.concatenate([Z, THREES + array([[Fraction(1, 8), 0, 0], [0, -1, 0]])])
    g = np.concatenate([G, I3[:2]])
    return excess(exact.length(layer.dz(z, g, eps=EPS)) / exact.length(g), 1 / exact.root(EPS))


@states("eps-attained", GRADIENT, "at a constant input |J w| = |w| / sqrt(eps) for every centred w")
def _(layer):
    w = array([[1, -2, 1], [3, 0, -3]])
    return exact.length(layer.dz([[2, 2, 2]] * 2, w, eps=Fraction(1, 4))) / exact.length(w)


@states("eps-family/slope", GRADIENT, "z = (-t, 0, t): the slope in t is eps / (2 t^2 / 3 + eps)^(3/2)")
def _(layer):
    times = (Fraction(1, 4), 1, 4)
    return together(*((layer.dz([[-t, 0, t]], [[0, 0, 1]], eps=Fraction(1, 4)) @ [-1, 0, 1]) for t in times))


@states("jac-example", GRADIENT, "z = (-1, 1), eps = 3: J = (3/16) [[1, -1], [-1, 1]]")
def _(layer):
    return layer.dz([[-1, 1]] * 2, I2, eps=3)


@states("jac-directions", GRADIENT, "that J sends (1, 1) to 0 and (-1, 1) to (3/8) (-1, 1)")
def _(layer):
    return layer.dz([[-1, 1]] * 2, [[1, 1], [-1, 1]], eps=3)


@states("jac-gain", GRADIENT, "with gain (0, 2), output 1 is silenced, yet input 1 still moves output 2")
def _(layer):
    return layer.dz([[-1, 1]] * 2, I2, [0, 2], eps=3)


@states("jac-parameters", GRADIENT, "the derivatives by gain and bias are diag(u) and I")
def _(layer):
    by_gain = [layer.dgain([[-1, 1]], [row], [2, 3], BIAS[:2], eps=3) for row in I2]
    return together(*by_gain, *(layer.dbias([[-1, 1]], [row], [2, 3], BIAS[:2], eps=3) for row in I2))


@states("sens-local", GRADIENT, "|J| at z = (1, 2, 3) is (q + eps)^(-1/2), reached at (1, -2, 1)")
def _(layer):
    w = array([[1, -2, 1]])
    return exact.length(layer.dz([[1, 2, 3]], w, eps=EPS)) / exact.length(w)


@states("sens-smaller", GRADIENT, "|J| at z = (-1, 1), eps = 3 is 3/8, less than 1 / sqrt 3")
def _(layer):
    w = array([[-1, 1]])
    return exact.length(layer.dz([[-1, 1]], w, eps=3)) / exact.length(w)


@states("jac-sums", GRADIENT, "J is symmetric, its rows and columns sum to 0")
def _(layer):
    J = layer.dz([[1, 2, 4]] * 3, I3, eps=EPS)
    return together(J - J.T, J.sum(axis=0), J.sum(axis=1))


@states(
    "vjp-example", GRADIENT, "z = (1, 1, -2), eps = 2, g = 1: (2, -1, -1)/3 with gain (2, 0, -1), 0 with equal gains"
)
def _(layer):
    return layer.dz([[1, 1, -2]], [[1, 1, 1]], [2, 0, -1], eps=2)


@states("vjp-kernel", GRADIENT, "where gain * g is a multiple of 1 the gradient by the input is 0")
def _(layer):
    return layer.dz(Z, [[1, -2, 4], [2, -4, 8], [-1, 2, -4]], GAIN, eps=EPS)


@states("positions-example", GRADIENT, "two positions of four coordinates: the sums for bias and gain")
def _(layer):
    z, g = [[1, 2, 4, 8], [3, 1, 0, 0]], [[1, 0, 2, -1], [Fraction(1, 2), 1, -1, 2]]
    return together(layer.dbias(z, g, eps=1e-5), layer.dgain(z, g, eps=1e-5))


@states("dgain-sum", GRADIENT, "if g is constant at each position, the gradient by the gain sums to 0")
def _(layer):
    return layer.dgain(Z, [[1, 1, 1], [-2, -2, -2], [3, 3, 3]], GAIN, eps=EPS).sum()


@states("shift-example", FLOATING_POINT, "(1, 2, 3) and (101, 102, 103) have the core (-1, 0, 1) at eps = 1/3")
def _(layer):
    return layer.y([[1, 2, 3], [101, 102, 103]], eps=Fraction(1, 3))


def _offset(layer, quarters):
    """A row at an offset that takes so many quarters of the digits."""
    return [spread(768) + 2 ** (quarters * layer.digits // 4)]


@states("shift-exact/near", FLOATING_POINT, "the same at an offset that takes a quarter of the digits")
def _(layer):
    return layer.y(_offset(layer, 1), eps=1e-5)


@states("shift-exact/middle", FLOATING_POINT, "the same at an offset that takes half of the digits")
def _(layer):
    return layer.y(_offset(layer, 2), eps=1e-5)


@states("shift-exact/far", FLOATING_POINT, "the same at an offset that takes three quarters of the digits")
def _(layer):
    return layer.y(_offset(layer, 3), eps=1e-5)


@states("eps-constant-input/large", FLOATING_POINT, "256 entries of 1234 have the core 0")
def _(layer):
    return layer.y([[1234] * 256], eps=1e-5)


@states("eps-scaling/large", FLOATING_POINT, "(1, 2, 3, 4) times a number whose square is too large for the dtype")
def _(layer):
    return layer.y([[c * 2.0 ** (layer.max_exponent * 25 // 32) for c in (1, 2, 3, 4)]], eps=1e-5)


@states("eps-scaling/small", FLOATING_POINT, "a small z with a small eps has the core of z with eps")
def _(layer):
    k = layer.max_exponent * 25 // 64
    return layer.y(Z * Fraction(1, 2**k), eps=EPS / 4**k)


STEP = Fraction(1, 1000)


@states(
    "sens-finite", FLOATING_POINT, "from (7, 7), the step (1, -1)/1000 is amplified 99.5 and 9.9995 times", stretch=708
)
def _(layer):
    moved = [[7 + STEP, 7 - STEP]]
    changes = [layer.y(moved, eps=eps) - layer.y([[7, 7]], eps=eps) for eps in (1e-4, 1e-2)]
    return together(*(exact.length(change) / (exact.root(Fraction(2)) * STEP) for change in changes))


@states("gain-input-jacobian/middle", FLOATING_POINT, "J (gain * g) at an offset of half of the digits", uses_vjp=True)
def _(layer):
    return layer.dz(_offset(layer, 2), [spread(1000)[-768:]], 1 + spread(768) / 4, eps=1e-5)


@states("sum-stalls", FLOATING_POINT, "the gradient by the bias over 4096 positions of 1 is 4096", uses_vjp=True)
def _(layer):
    return layer.dbias([[-1, 1]] * 4096, [[1, 1]] * 4096, eps=1)


@states("largest-coordinate/one", FLOATING_POINT, "at d = 1 the gradients by input and gain are 0", uses_vjp=True)
def _(layer):
    z, g = [[33333]], [[1]]
    return together(layer.dz(z, g, [2], [3], eps=1e-5), layer.dgain(z, g, [2], [3], eps=1e-5))

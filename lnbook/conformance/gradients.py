"""The facts about the derivatives, by input, gain and bias, at plain numbers."""

from fractions import Fraction

import numpy as np

from lnbook.conformance import exact
from lnbook.conformance.statements import (
    BIAS,
    EPS,
    GAIN,
    GRADIENT,
    I2,
    I3,
    LENGTHS,
    MANY,
    POSITIONS,
    THREES,
    G,
    Z,
    array,
    excess,
    positions,
    sparse_cotangent,
    spiked,
    spread,
    states,
    together,
)


@states("bias-gradient", GRADIENT, "the gradient by the bias is the gradient by the output")
def bias_gradient(layer):
    return layer.dbias(THREES, [[1, -1, 2]], GAIN, BIAS, eps=EPS)


@states("bias-positions", GRADIENT, "a shared bias gets the sum of the gradients of all positions")
def bias_positions(layer):
    return together(layer.dbias(Z, G, GAIN, BIAS, eps=EPS), layer.dbias([Z, 2 * Z], [G, G], GAIN, BIAS, eps=EPS))


@states("bias-input-jacobian", GRADIENT, "the bias adds nothing to the gradient by the input", stretch=2)
def bias_input_jacobian(layer):
    return layer.dz(Z, G, GAIN, BIAS, eps=EPS) - layer.dz(Z, G, GAIN, eps=EPS)


@states("gain-gradient", GRADIENT, "the gradient by the gain is g * u, summed over positions")
def gain_gradient(layer):
    one = layer.dgain([[1, 1, -2]], [[1, 0, 1]], [2, 0, -1], eps=2)
    return together(one, layer.dgain(Z, G, GAIN, BIAS, eps=EPS), layer.dgain([Z, 2 * Z], [G, G], GAIN, eps=EPS))


@states("gain-input-jacobian", GRADIENT, "the gradient by the input is J (gain * g)")
def gain_input_jacobian(layer):
    return layer.dz(Z, G, GAIN, BIAS, eps=EPS)


@states("eps-jacobian", GRADIENT, "J = (q + eps)^(-1/2) (P - v v^T / (d (q + eps))), row by row")
def eps_jacobian(layer):
    return layer.dz([[1, 2, 4]] * 3, I3, eps=EPS)


@states("eps-eigen-shift", GRADIENT, "J 1 = 0: the gradient by the input sums to 0", stretch=3)
def eps_eigen_shift(layer):
    return layer.dz(Z, G, GAIN, eps=EPS).sum(axis=-1)


@states("eps-eigen-radial", GRADIENT, "J v = eps / (q + eps)^(3/2) v")
def eps_eigen_radial(layer):
    return layer.dz([[1, 2, 3], [0, 2, 4]], [[-1, 0, 1], [-2, 0, 2]], eps=2)


@states("eps-eigen-orthogonal", GRADIENT, "J w = (q + eps)^(-1/2) w for w orthogonal to 1 and v")
def eps_eigen_orthogonal(layer):
    return layer.dz([[1, 2, 3]], [[1, -2, 1]], eps=2)


@states("eps-jacobian-constant", GRADIENT, "at a constant input J = P / sqrt(eps)")
def eps_jacobian_constant(layer):
    return layer.dz([[2, 2, 2]] * 3, I3, eps=Fraction(1, 4))


@states("eps-norm-bound", GRADIENT, "|J g| is at most |g| / sqrt(eps)")
def eps_norm_bound(layer):
    z = np.concatenate([Z, THREES + array([[Fraction(1, 8), 0, 0], [0, -1, 0]])])
    g = np.concatenate([G, I3[:2]])
    return excess(exact.length(layer.dz(z, g, eps=EPS)) / exact.length(g), 1 / exact.root(EPS))


@states("eps-attained", GRADIENT, "at a constant input |J w| = |w| / sqrt(eps) for every centred w")
def eps_attained(layer):
    w = array([[1, -2, 1], [3, 0, -3]])
    return exact.length(layer.dz([[2, 2, 2]] * 2, w, eps=Fraction(1, 4))) / exact.length(w)


@states("eps-family/slope", GRADIENT, "z = (-t, 0, t): the slope in t is eps / (2 t^2 / 3 + eps)^(3/2)", stretch=2)
def eps_family_slope(layer):
    times = (Fraction(1, 4), 1, 4)
    return together(*((layer.dz([[-t, 0, t]], [[0, 0, 1]], eps=Fraction(1, 4)) @ [-1, 0, 1]) for t in times))


@states("jac-example", GRADIENT, "z = (-1, 1), eps = 3: J = (3/16) [[1, -1], [-1, 1]]")
def jac_example(layer):
    return layer.dz([[-1, 1]] * 2, I2, eps=3)


@states("jac-directions", GRADIENT, "that J sends (1, 1) to 0 and (-1, 1) to (3/8) (-1, 1)")
def jac_directions(layer):
    return layer.dz([[-1, 1]] * 2, [[1, 1], [-1, 1]], eps=3)


@states("jac-gain", GRADIENT, "with gain (0, 2), output 1 is silenced, yet input 1 still moves output 2")
def jac_gain(layer):
    return layer.dz([[-1, 1]] * 2, I2, [0, 2], eps=3)


@states("jac-parameters", GRADIENT, "the derivatives by gain and bias are diag(u) and I")
def jac_parameters(layer):
    by_gain = [layer.dgain([[-1, 1]], [row], [2, 3], BIAS[:2], eps=3) for row in I2]
    return together(*by_gain, *(layer.dbias([[-1, 1]], [row], [2, 3], BIAS[:2], eps=3) for row in I2))


@states("sens-local", GRADIENT, "|J| at z = (1, 2, 3) is (q + eps)^(-1/2), reached at (1, -2, 1)")
def sens_local(layer):
    w = array([[1, -2, 1]])
    return exact.length(layer.dz([[1, 2, 3]], w, eps=EPS)) / exact.length(w)


@states("sens-smaller", GRADIENT, "|J| at z = (-1, 1), eps = 3 is 3/8, less than 1 / sqrt 3")
def sens_smaller(layer):
    w = array([[-1, 1]])
    return exact.length(layer.dz([[-1, 1]], w, eps=3)) / exact.length(w)


@states("jac-sums", GRADIENT, "J is symmetric, its rows and columns sum to 0", stretch=3)
def jac_sums(layer):
    J = layer.dz([[1, 2, 4]] * 3, I3, eps=EPS)
    return together(J - J.T, J.sum(axis=0), J.sum(axis=1))


@states(
    "vjp-example", GRADIENT, "z = (1, 1, -2), eps = 2, g = 1: (2, -1, -1)/3 with gain (2, 0, -1), 0 with equal gains"
)
def vjp_example(layer):
    return layer.dz([[1, 1, -2]], [[1, 1, 1]], [2, 0, -1], eps=2)


@states("vjp-kernel", GRADIENT, "where gain * g is a multiple of 1 the gradient by the input is 0")
def vjp_kernel(layer):
    return layer.dz(Z, [[1, -2, 4], [2, -4, 8], [-1, 2, -4]], GAIN, eps=EPS)


@states("positions-example", GRADIENT, "two positions of four coordinates: the sums for bias and gain")
def positions_example(layer):
    z, g = [[1, 2, 4, 8], [3, 1, 0, 0]], [[1, 0, 2, -1], [Fraction(1, 2), 1, -1, 2]]
    return together(layer.dbias(z, g, eps=1e-5), layer.dgain(z, g, eps=1e-5))


@states("dgain-sum", GRADIENT, "if g is constant at each position, the gradient by the gain sums to 0", stretch=3)
def dgain_sum(layer):
    return layer.dgain(Z, [[1, 1, 1], [-2, -2, -2], [3, 3, 3]], GAIN, eps=EPS).sum()


@states("gain-input-jacobian/lengths", GRADIENT, f"the gradients of rows of {', '.join(map(str, LENGTHS))} entries")
def gain_input_jacobian_lengths(layer):
    rows = ((spiked(d), spread(2 * d + 9)[9:].reshape(2, d), 1 + spread(d) / 4) for d in LENGTHS)
    return together(*(layer.gradients(z, g, gain, eps=EPS) for z, g, gain in rows))


@states("bias-positions/uneven", GRADIENT, "the sums over 1031 and over 1023 positions, which no block divides")
def bias_positions_uneven(layer):
    return together(*(layer.gradients(positions(n), sparse_cotangent(n), GAIN, eps=EPS) for n in POSITIONS))


@states("bias-positions/many", GRADIENT, f"the sums over {MANY} positions, more than 65535", thorough=True)
def bias_positions_many(layer):
    z, g = positions(MANY), sparse_cotangent(POSITIONS[0])
    g = np.concatenate([np.zeros((MANY - len(g), 3), dtype=object), g])
    return together(layer.dgain(z, g, GAIN, eps=EPS), layer.dbias(z, g, GAIN, eps=EPS))


@states("eps-jacobian/scales", GRADIENT, "J at z / 2^k and eps / 4^k is 2^k times J at z and eps, for k = 4 and 8")
def eps_jacobian_scales(layer):
    shrunk = ((layer.dz(Z * Fraction(1, 2**k), G, GAIN, BIAS, eps=EPS / 4**k), 2**k) for k in (4, 8))
    return together(*(dz / scale for dz, scale in shrunk))

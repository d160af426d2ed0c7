"""The facts about the output at plain numbers, where no digits get lost: what fails there is another function."""

from fractions import Fraction

import numpy as np

from lnbook.conformance import exact
from lnbook.conformance.statements import (
    BIAS,
    CONVENTION,
    EPS,
    GAIN,
    LENGTHS,
    MANY,
    ONE,
    POSITIONS,
    THREES,
    Z,
    array,
    excess,
    positions,
    spiked,
    spread,
    states,
    together,
)


@states("def-output", CONVENTION, "y = gain * u + bias, with the divisor d, and eps inside the root")
def def_output(layer):
    return layer.y(Z, GAIN, BIAS, eps=EPS)


@states("def-output/rank-3", CONVENTION, "each row of an array of three axes is normalized by itself")
def def_output_rank_3(layer):
    return layer.y(np.stack([Z[:2], 2 * Z[1:]]), GAIN, BIAS, eps=EPS)


@states("def-output/long", CONVENTION, "the same for rows of 5 and of 1000 entries, no power of two")
def def_output_long(layer):
    five = layer.y([[1, 2, 4, 0, 1], [0, 3, 1, 1, 2]], [1, 2, -1, 1, 3], [0, 1, 1, -1, 2], eps=EPS)
    return together(five, layer.y([1 + spread(1000), 1 - spread(1000)], 1 + spread(1000) / 4, spread(1000), eps=EPS))


@states("def-core-mean", CONVENTION, "the core has mean 0")
def def_core_mean(layer):
    return exact.mean(layer.y(Z, eps=EPS))


@states("bias-offset", CONVENTION, "the bias is added last", stretch=2)
def bias_offset(layer):
    return layer.y(Z, GAIN, BIAS, eps=EPS) - layer.y(Z, GAIN, eps=EPS)


@states("bias-constant-input", CONVENTION, "at a constant input the output is the bias")
def bias_constant_input(layer):
    return layer.y(THREES, GAIN, BIAS, eps=EPS)


@states("bias-mean", CONVENTION, "the output's mean need not be 0: here it is 2/3")
def bias_mean(layer):
    return exact.mean(layer.y(THREES, GAIN, BIAS, eps=EPS))


@states("bias-persists", CONVENTION, "a common shift goes, the bias stays", stretch=2)
def bias_persists(layer):
    return layer.y(Z + 4, GAIN, BIAS, eps=EPS) - layer.y(Z, GAIN, eps=EPS)


@states("gain-multiplier", CONVENTION, "y = gain * u, coordinate by coordinate", stretch=3)
def gain_multiplier(layer):
    gain = array([2, 0, -1])
    return layer.y(Z, gain, eps=EPS) - gain * layer.y(Z, ONE, eps=EPS)


@states("gain-example", CONVENTION, "z = (1, 1, -2), eps = 2, gain = (2, 0, -1): y = (1, 0, 1)")
def gain_example(layer):
    return layer.y([[1, 1, -2]], [2, 0, -1], eps=2)


@states("gain-moments", CONVENTION, "that output has mean 2/3 and variance 2/9")
def gain_moments(layer):
    y = layer.y([[1, 1, -2]], [2, 0, -1], eps=2)
    return together(exact.mean(y), exact.variance(y))


@states("gain-sign", CONVENTION, "a negative gain flips the sign of its coordinate", stretch=2)
def gain_sign(layer):
    return layer.y(Z, -GAIN, eps=EPS) + layer.y(Z, GAIN, eps=EPS)


@states(
    "gain-zero", CONVENTION, "where the gain is 0 the output is the bias; the input still acts on the others", stretch=2
)
def gain_zero(layer):
    silenced = layer.y([[1, 2, 4], [9, 2, 4]], [0, 1, 1], BIAS, eps=EPS)  # (2, d)
    return together(silenced[:, 0], silenced[1, 1:] - silenced[0, 1:])


@states("eps-constant-input", CONVENTION, "at a constant input the core is 0, even for a small eps and for d = 1")
def eps_constant_input(layer):
    rows = [layer.y(THREES, eps=eps) for eps in (1, 1e-5, 1e-12)]
    return together(*rows, layer.y([[5]], [2], [3], eps=1e-5))


@states("eps-variance", CONVENTION, "the core's variance is q / (q + eps): 64/65, 1/2 and 1/65", stretch=2)
def eps_variance(layer):
    return together(*(exact.variance(layer.y([[-1, 1]], eps=eps)) for eps in (Fraction(1, 64), 1, 64)))


@states("eps-full-moments", CONVENTION, "mean and variance of the output with unequal gain and bias", stretch=4)
def eps_full_moments(layer):
    y = layer.y(Z, GAIN, BIAS, eps=EPS)
    return together(exact.mean(y), exact.variance(y))


@states("eps-example", CONVENTION, "z = (1, 2, 3): (-1, 0, 1) at eps = 1/3, (-1, 0, 1)/sqrt 2 at eps = 4/3")
def eps_example(layer):
    return together(*(layer.y([[1, 2, 3]], eps=eps) for eps in (Fraction(1, 3), Fraction(4, 3))))


@states("eps-scaling", CONVENTION, "u(2z) at 4 eps is u(z) at eps; u(2z) at eps is not", stretch=2)
def eps_scaling(layer):
    u = layer.y(Z, eps=EPS)
    return together(layer.y(2 * Z, eps=4 * EPS) - u, layer.y(2 * Z, eps=EPS) - u)


@states("eps-scaling-unstabilised", CONVENTION, "at eps = 0 the core does not change under a scale", stretch=2)
def eps_scaling_unstabilised(layer):
    return layer.y(2 * Z, eps=0) - layer.y(Z, eps=0)


@states("eps-lipschitz", CONVENTION, "no difference of cores is more than 1 / sqrt(eps) times that of the inputs")
def eps_lipschitz(layer):
    return stretching(layer, ONE, Fraction(1, 64))


@states("eps-full-bound", CONVENTION, "with a gain, no more than max|gain| / sqrt(eps) times")
def eps_full_bound(layer):
    return stretching(layer, GAIN, Fraction(1, 64))


def stretching(layer, gain, eps):
    """How far differences of outputs exceed max|gain| / sqrt(eps) times those of the inputs, at three steps."""
    step = array([[Fraction(1, 16), -Fraction(1, 16), 0]])
    pairs = [(THREES, THREES + step), (THREES, THREES + 16 * step), (Z[:1], Z[:1] + 16 * step)]
    changes = [
        exact.length(layer.y(b, gain, eps=eps) - layer.y(a, gain, eps=eps)) / exact.length(b - a) for a, b in pairs
    ]
    return together(*(excess(change, abs(gain).max() / exact.root(eps)) for change in changes))


@states("eps-family", CONVENTION, "z = (-t, 0, t): the last coordinate is t / sqrt(2 t^2 / 3 + eps)")
def eps_family(layer):
    return together(*(layer.y([[-t, 0, t]], eps=Fraction(1, 4))[0, 2] for t in (Fraction(1, 4), 1, 4, 64)))


@states("jac-local", CONVENTION, "finite steps from z = (-1, 1): the output moves less and less than J says", stretch=2)
def jac_local(layer):
    z = array([[-1, 1]])
    return together(*(layer.y(z + t * z, eps=3) - layer.y(z, eps=3) for t in (Fraction(1, 4), 1, 4)))


@states("sens-full", CONVENTION, "the bias changes no difference of outputs", stretch=4)
def sens_full(layer):
    with_bias = layer.y(Z[:1], GAIN, BIAS, eps=EPS) - layer.y(Z[1:2], GAIN, BIAS, eps=EPS)
    return with_bias - (layer.y(Z[:1], GAIN, eps=EPS) - layer.y(Z[1:2], GAIN, eps=EPS))


@states("shift-exact", CONVENTION, "LN(z + c 1) = LN(z)", stretch=2)
def shift_exact(layer):
    return layer.y(Z + array([[1], [4], [-3]]), GAIN, BIAS, eps=EPS) - layer.y(Z, GAIN, BIAS, eps=EPS)


@states("shift-unequal", CONVENTION, "(1, 2, 4) at eps = 1/3 is (-4, -1, 5)/sqrt 17: an unequal shift stays")
def shift_unequal(layer):
    return layer.y([[1, 2, 4]], eps=Fraction(1, 3))


@states("open-ball", CONVENTION, "the core is shorter than sqrt(d)")
def open_ball(layer):
    spike = array([[9, 0, 0], [0, -9, 0], [8, -8, 0]])
    lengths = [exact.length(layer.y(t * spike, eps=EPS)) for t in (1, 8)]
    return excess(together(*lengths), exact.root(Fraction(3)))


@states("largest-coordinate", CONVENTION, "a spike among 10 stays below 3; at d = 2 a sign is left, at d = 1 nothing")
def largest_coordinate(layer):
    spike = layer.y([[9] + [0] * 9], eps=1e-5)
    return together(spike, layer.y([[3, -5]], eps=1e-5), layer.y([[7]], eps=1e-5))


W, B = array([[1, 2], [0, 1], [3, -1]]), array([1, 0, -1])  # (d, inputs), (d,)
X = array([[2, 1], [-1, 3]])  # (n, inputs)


@states("shift-affine-bias", CONVENTION, "z = Wx + b: b + c 1 gives what b gives", stretch=2)
def shift_affine_bias(layer):
    return layer.y(X @ W.T + B + 3, eps=EPS) - layer.y(X @ W.T + B, eps=EPS)


@states("shift-raw-input", CONVENTION, "z = Wx + b: x + a is no common shift, and stays", stretch=2)
def shift_raw_input(layer):
    return layer.y((X + 1) @ W.T + B, eps=EPS) - layer.y(X @ W.T + B, eps=EPS)


@states("shift-weights", CONVENTION, "z = Wx: W + 1 r^T gives what W gives", stretch=2)
def shift_weights(layer):
    return layer.y(X @ (W + array([1, -2])).T, eps=EPS) - layer.y(X @ W.T, eps=EPS)


@states("def-output/lengths", CONVENTION, f"the same for rows of {', '.join(map(str, LENGTHS))} entries")
def def_output_lengths(layer):
    return together(*(layer.y(spiked(d), 1 + spread(d) / 4, spread(d), eps=EPS) for d in LENGTHS))


@states("def-output/positions", CONVENTION, "the same for 1031 and 1023 positions, which no block divides")
def def_output_positions(layer):
    return together(*(layer.y(positions(n), GAIN, BIAS, eps=EPS) for n in POSITIONS))


@states(
    "def-output/every-length", CONVENTION, "the same for rows of 1 to 130, and of 2047 to 4097 entries", thorough=True
)
def def_output_every_length(layer):
    lengths = (*range(1, 131), 2047, 2048, 2049, 4095, 4096, 4097)
    return together(*(layer.y(spiked(d), 1 + spread(d) / 4, spread(d), eps=EPS) for d in lengths))


@states("def-output/many-positions", CONVENTION, f"the same for {MANY} positions, more than 65535", thorough=True)
def def_output_many_positions(layer):
    return layer.y(positions(MANY), GAIN, BIAS, eps=EPS)


@states("eps-scaling/scales", CONVENTION, "z / 2^k at eps / 4^k has the core of z at eps, for k = 4, 8, 12 and 20")
def eps_scaling_scales(layer):
    return together(*(layer.y(Z * Fraction(1, 2**k), GAIN, BIAS, eps=EPS / 4**k) for k in (4, 8, 12, 20)))

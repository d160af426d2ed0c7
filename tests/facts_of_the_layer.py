"""The facts of the pages on the layer, bias, gain and epsilon, as statements put to a normalization."""

import sympy as sp
from exact import centered, mean, ones, projection, vanishes, variance
from normalizations import (
    BIAS,
    GAIN,
    HALF,
    PAIR,
    RMS,
    THIRD,
    Z123,
    R,
    bias3,
    column,
    differ,
    eps,
    g3,
    gain3,
    instead,
    mean_square,
    rms,
    says,
    t,
    times,
    z3,
)


@says("def-output")
def the_output_is_gain_times_centred_over_root_plus_bias(norm):
    v, q = centered(z3), variance(z3)
    return vanishes(norm.layer(z3, gain3, bias3, eps) - times(gain3, v) / sp.sqrt(q + eps) - bias3)


@instead("def-output")
def the_output_of_rms_norm():
    return vanishes(RMS.layer(z3, gain3, bias3, eps) - times(gain3, z3) / sp.sqrt(mean_square(z3) + eps) - bias3)


@says("def-projection")
def projecting_the_input_changes_nothing(norm):
    return not differ(norm.core(projection(3) * Z123, 1), norm.core(Z123, 1))


@says("def-core-mean")
def the_mean_is_zero(norm):
    return vanishes(mean(norm.core(z3, eps)))


@says("bias-offset")
def the_bias_is_added_last(norm):
    return vanishes(norm.layer(z3, gain3, bias3, eps) - norm.layer(z3, gain3, sp.zeros(3, 1), eps) - bias3)


@says("bias-optional")
def without_a_bias_the_output_is_gain_times_core(norm):
    return vanishes(norm.layer(z3, gain3, sp.zeros(3, 1), eps) - times(gain3, norm.core(z3, eps)))


@says("bias-constant-input")
def a_constant_input_gives_the_bias(norm):
    return vanishes(norm.layer(column(3, 3, 3), gain3, BIAS, eps) - BIAS)


@says("bias-mean")
def the_mean_at_a_constant_input_is_that_of_the_bias(norm):
    return vanishes(mean(norm.layer(column(3, 3, 3), gain3, BIAS, eps)) - R(2, 3))


@says("bias-gradient")
def the_gradient_by_the_bias_is_the_cotangent(norm):
    loss = (g3.T * norm.layer(z3, gain3, bias3, eps))[0]
    return vanishes(sp.Matrix([loss.diff(b) for b in bias3]) - g3)


@says("bias-positions")
def two_positions_add_their_gradients_of_the_bias(norm):
    loss = (g3.T * norm.layer(z3, gain3, bias3, eps) + BIAS.T * norm.layer(Z123, gain3, bias3, eps))[0]
    return vanishes(sp.Matrix([loss.diff(b) for b in bias3]) - g3 - BIAS)


@says("bias-persists")
def a_shift_goes_and_the_bias_stays(norm):
    shifted = norm.layer(Z123 + 5 * ones(3), GAIN, BIAS, 1)
    return not differ(shifted, norm.layer(Z123, GAIN, [0, 0, 0], 1) + BIAS)


@says("bias-input-jacobian")
def the_input_jacobian_holds_no_bias(norm):
    with_bias = norm.layer(z3, gain3, bias3, eps).jacobian(z3)
    return vanishes(with_bias - norm.layer(z3, gain3, [0, 0, 0], eps).jacobian(z3))


@says("gain-multiplier")
def the_gain_multiplies_the_core(norm):
    return vanishes(norm.layer(z3, GAIN, [0, 0, 0], eps) - sp.diag(*GAIN) * norm.core(z3, eps))


@says("gain-example")
def the_example_of_the_gain(norm):
    z = column(1, 1, -2)
    return norm.core(z, 2) == column(HALF, HALF, -1) and norm.layer(z, GAIN, [0, 0, 0], 2) == column(1, 0, 1)


@says("gain-moments")
def unequal_gains_move_the_moments_of_the_example_and_equal_ones_keep_the_mean(norm):
    y = norm.layer(column(1, 1, -2), GAIN, [0, 0, 0], 2)
    equal = mean(norm.layer(Z123, [2, 2, 2], [0, 0, 0], eps))
    return mean(y) == R(2, 3) and variance(y) == R(2, 9) and vanishes(equal)


@says("gain-sign")
def negative_gains_flip_signs(norm):
    return all(
        u * y < 0
        for u, y in zip(
            norm.core(column(1, 2, 4), 1), norm.layer(column(1, 2, 4), [-1, -2, -3], [0, 0, 0], 1), strict=True
        )
    )


@says("gain-gradient")
def the_gradient_by_the_gain_is_cotangent_times_core(norm):
    loss = (g3.T * norm.layer(z3, gain3, bias3, eps))[0]
    return vanishes(sp.Matrix([loss.diff(a) for a in gain3]) - times(g3, norm.core(z3, eps)))


@says("gain-zero")
def a_silenced_coordinate_acts_on_the_others(norm):
    J = sp.diag(0, 1, 1) * norm.jacobian(column(1, 2, 4), 1)
    return norm.layer(column(1, 2, 4), [0, 1, 1], BIAS, 1)[0] == BIAS[0] and J[1, 0] != 0 and J[2, 0] != 0


@says("gain-input-jacobian")
def the_input_jacobian_of_the_layer_is_gain_times_that_of_the_core(norm):
    return vanishes(norm.layer(z3, gain3, bias3, eps).jacobian(z3) - sp.diag(*gain3) * norm.core(z3, eps).jacobian(z3))


@says("gain-isometry")
def the_gains_3_and_minus_1_keep_each_variance(norm):
    products = [(norm.core(z, 1), times(column(3, -1), norm.core(z, 1))) for z in (column(1, 2), column(5, 0))]
    return all(variance(product) == variance(u) for u, product in products)


@instead("gain-isometry")
def gains_of_one_size_multiply_the_mean_square():
    return vanishes(mean_square(times(column(2, -2, 2), rms(z3, eps))) - 4 * mean_square(rms(z3, eps)))


def symmetric_part(norm, gain):
    slope = sp.diag(*gain) * norm.jacobian(column(10, 10), 1)
    return (slope + slope.T) / 2


@says("gain-monotone")
def unequal_gains_push_something_backwards(norm):
    return symmetric_part(norm, (1, 2)).det() < 0 <= min(symmetric_part(norm, (2, 2)).eigenvals())


@says("gain-gradient-map")
def the_jacobian_is_symmetric_with_equal_gains_only(norm):
    J = norm.jacobian(column(10, 10), 1)
    return J.is_symmetric() and not (sp.diag(1, 2) * J).is_symmetric()


@says("gain-spectrum")
def two_opposite_gains_make_a_square_of_0(norm):
    return sp.simplify((sp.diag(1, -1) * norm.jacobian(PAIR, 3)) ** 2) == sp.zeros(2, 2)


@instead("gain-spectrum")
def the_spectrum_is_real_and_the_matrix_diagonalizable():
    matrix = sp.diag(1, -1) * RMS.jacobian(PAIR, 3)
    end = 1 / sp.sqrt(mean_square(PAIR) + 3)
    return matrix.is_diagonalizable(reals_only=True) and all(-end <= value <= end for value in matrix.eigenvals())


@says("eps-constant-input")
def a_constant_input_has_the_core_zero(norm):
    return norm.core(column(3, 3, 3), eps) == sp.zeros(3, 1)


@says("eps-variance")
def the_variance_of_the_core(norm):
    q = variance(z3)
    return vanishes(variance(norm.core(z3, eps)) - q / (q + eps))


@instead("eps-variance")
def the_mean_square_of_rms_norm():
    m = mean_square(z3)
    return vanishes(mean_square(rms(z3, eps)) - m / (m + eps))


def shortened(z, q):
    """(1 - delta) z / sqrt(eps), with the delta of q: fact linear-regime."""
    return (1 + q / eps) ** R(-1, 2) * z / sp.sqrt(eps)


@says("linear-regime")
def the_core_is_the_centred_input_shortened(norm):
    return vanishes(norm.core(z3, eps) - shortened(centered(z3), variance(z3)))


@instead("linear-regime")
def rms_norm_is_the_input_shortened():
    return vanishes(rms(z3, eps) - shortened(z3, mean_square(z3)))


@says("eps-full-moments")
def gains_and_biases_move_mean_and_variance(norm):
    z = column(1, 2, 4)
    u = norm.core(z, 1)
    moved = [norm.layer(z, GAIN, [0, 0, 0], 1), norm.layer(z, [1, 1, 1], BIAS, 1)]
    return all(sp.simplify(f(y) - f(u)) != 0 for y in moved for f in (mean, variance))


@says("eps-example")
def the_example_at_two_epsilons(norm):
    up = column(-1, 0, 1)
    return not differ(norm.core(Z123, THIRD), up) and not differ(norm.core(Z123, R(4, 3)), up / sp.sqrt(2))


@says("eps-scaling")
def scaling_the_input_is_dividing_epsilon(norm):
    law = vanishes(norm.core(t * z3, eps) - norm.core(z3, eps / t**2))
    return law and differ(norm.core(2 * Z123, 1), norm.core(Z123, 1))


@says("eps-scaling-unstabilised")
def at_epsilon_zero_no_scale_is_seen(norm):
    return vanishes(norm.core(t * z3, 0) - norm.core(z3, 0))


def have_one_core(norm, a, b):
    return not differ(norm.core(a, 0), norm.core(b, 0))


@says("invertible-no-eps")
def a_positive_multiple_of_the_centred_vector_has_the_same_core(norm):
    return have_one_core(norm, Z123, 2 * Z123 + 5 * ones(3)) and not have_one_core(norm, Z123, column(1, 2, 4))


@instead("invertible-no-eps")
def a_positive_multiple_of_the_input_has_the_same_rms_norm():
    return have_one_core(RMS, Z123, 2 * Z123) and not have_one_core(RMS, Z123, Z123 + ones(3))


def mean_square_of_the_amplification(norm):
    return sum(entry**2 for entry in norm.jacobian(Z123, 1)) / 3


@says("sens-average")
def the_average_amplification(norm):
    q = variance(Z123)
    return sp.simplify(mean_square_of_the_amplification(norm) - (1 + 1 / (q + 1) ** 2) / (3 * (q + 1))) == 0


@instead("sens-average")
def the_average_amplification_of_rms_norm():
    m = mean_square(Z123)
    return sp.simplify(mean_square_of_the_amplification(RMS) - (2 + 1 / (m + 1) ** 2) / (3 * (m + 1))) == 0

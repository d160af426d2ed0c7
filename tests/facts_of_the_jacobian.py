"""The facts on derivatives, steps, shifts and the image of the core, as statements put to a normalization."""

from itertools import product

import numpy as np
import sympy as sp
from exact import centered, core_jacobian, mean, ones, projection, vanishes, variance
from normalizations import (
    GAIN,
    HALF,
    PAIR,
    POINTS,
    RMS,
    THIRD,
    Z123,
    R,
    W,
    apart,
    bias3,
    column,
    differ,
    eps,
    gain3,
    instead,
    mean_square,
    rms,
    rms_jacobian,
    says,
    t,
    times,
    z3,
)


@says("eps-jacobian")
def the_jacobian_is_that_of_the_core(norm):
    return all(norm.jacobian(z, 2) == sp.simplify(core_jacobian(z, 2)) for z in POINTS)


@instead("eps-jacobian")
def the_jacobian_of_rms_norm():
    return all(RMS.jacobian(z, 2) == sp.simplify(rms_jacobian(z, 2)) for z in POINTS)


@says("eps-eigen-shift")
def a_common_shift_is_sent_to_zero(norm):
    return norm.jacobian(Z123, 1) * ones(3) == sp.zeros(3, 1)


@says("eps-eigen-radial")
def the_centred_input_is_an_eigenvector(norm):
    v, q = centered(Z123), variance(Z123)
    return not differ(norm.jacobian(Z123, 1) * v, v / (q + 1) ** R(3, 2))


@instead("eps-eigen-radial")
def the_input_is_an_eigenvector():
    return not differ(RMS.jacobian(Z123, 1) * Z123, Z123 / (mean_square(Z123) + 1) ** R(3, 2))


@says("eps-eigen-orthogonal")
def what_is_orthogonal_to_both_is_multiplied_by_one_number(norm):
    w = column(1, -2, 1)
    return not differ(norm.jacobian(Z123, 1) * w, w / sp.sqrt(variance(Z123) + 1))


@instead("eps-eigen-orthogonal")
def what_is_orthogonal_to_the_input_is_multiplied_by_one_number():
    total = sp.sqrt(mean_square(Z123) + 1)
    return all(not differ(RMS.jacobian(Z123, 1) * w, w / total) for w in (column(2, -1, 0), column(3, 0, -1)))


@says("eps-jacobian-constant")
def the_jacobian_at_a_constant_input(norm):
    return norm.jacobian(column(3, 3, 3), 4) == projection(3) / 2


@instead("eps-jacobian-constant")
def the_jacobian_of_rms_norm_at_zero():
    return RMS.jacobian(column(0, 0, 0), 4) == sp.eye(3) / 2


@says("eps-norm-bound")
def the_operator_norm_is_at_most_one_over_root_epsilon(norm):
    return all(norm.largest_singular_value(z, THIRD) <= sp.sqrt(3) * (1 + R(1, 10**20)) for z in POINTS)


def norms_are(norm, expected):
    """Whether the operator norm at eps = 1 is as expected: pairs of an input and the square of the norm there."""
    return all(abs(norm.largest_singular_value(z, 1) ** 2 - square) < R(1, 10**20) for z, square in expected)


@says("eps-norm-by-dimension")
def the_operator_norm_by_dimension(norm):
    three = [(z, 1 / (variance(z) + 1)) for z in (column(1, 2, 4), column(1, 0, 0, 3))]
    return norms_are(norm, [(column(5), 0), (column(3, 3, 3), 1), (PAIR, R(1, 8)), *three])


@instead("eps-norm-by-dimension")
def the_operator_norm_of_rms_norm_by_dimension():
    more = [(z, 1 / (mean_square(z) + 1)) for z in (PAIR, column(3, 3, 3), column(1, 2, 4))]
    return norms_are(RMS, [(column(0), 1), (column(0, 0), 1), (column(2), R(1, 125)), *more])


@says("eps-lipschitz")
def no_step_is_amplified_beyond_the_bound(norm):
    pairs = [(a, b) for a in POINTS for b in POINTS if a != b]
    return all((norm.core(a, THIRD) - norm.core(b, THIRD)).norm() <= sp.sqrt(3) * (a - b).norm() for a, b in pairs)


@says("eps-full-bound")
def no_step_of_the_layer_is_amplified_beyond_its_bound(norm):
    pairs = [(a, b) for a in POINTS for b in POINTS if a != b]
    changes = [(times(GAIN, norm.core(a, THIRD) - norm.core(b, THIRD)), a - b) for a, b in pairs]
    return all(change.norm() <= 2 * sp.sqrt(3) * step.norm() for change, step in changes)


@says("eps-attained")
def a_constant_input_attains_the_bound_in_a_centred_direction(norm):
    return norm.jacobian(column(3, 3, 3), 4) * column(1, -1, 0) == column(1, -1, 0) / 2


@instead("eps-attained")
def zero_alone_attains_the_bound():
    away = all(RMS.largest_singular_value(z, 4) < HALF for z in POINTS)
    return away and RMS.jacobian(column(0, 0, 0), 4) == sp.eye(3) / 2 and RMS.jacobian(column(0), 4) == column(HALF)


@says("eps-family")
def the_family_along_one_line(norm):
    h = norm.core([-t, 0, t], eps)[2]
    slope = eps / (2 * t**2 / 3 + eps) ** R(3, 2)
    formula = vanishes(h - t / sp.sqrt(2 * t**2 / 3 + eps)) and vanishes(h.diff(t) - slope)
    return formula and sp.limit(h, t, sp.oo) == sp.sqrt(R(3, 2))


@says("jac-entry")
def an_entry_is_the_slope_of_one_output_by_one_input(norm):
    z = column(1, 2, 4)
    slope = (norm.core([1, 2 + t, 4], 1)[0] - norm.core(z, 1)[0]) / t
    return sp.simplify(sp.limit(slope, t, 0) - norm.jacobian(z, 1)[0, 1]) == 0


@says("jac-example")
def the_example_of_the_jacobian(norm):
    same_core = norm.core(PAIR, 3) == column(-HALF, HALF)
    return same_core and norm.jacobian(PAIR, 3) == R(3, 16) * sp.Matrix([[1, -1], [-1, 1]])


@says("jac-sums")
def the_jacobian_is_symmetric_with_rows_of_sum_zero(norm):
    J = norm.jacobian(PAIR, 3)
    return J == J.T and J * ones(2) == sp.zeros(2, 1)


@says("jac-directions")
def the_two_directions_of_the_example(norm):
    J = norm.jacobian(PAIR, 3)
    return J * ones(2) == sp.zeros(2, 1) and R(3, 8) * PAIR == J * PAIR


@says("jac-local")
def the_gap_to_the_linear_response_grows_with_the_step(norm):
    J = norm.jacobian(PAIR, 3)
    gaps = [(norm.core((1 + s) * PAIR, 3) - norm.core(PAIR, 3) - s * J * PAIR).norm() / s for s in (R(1, 100), 1, 10)]
    return 0 < gaps[0] < gaps[1] < gaps[2] and gaps[0] < R(1, 100)


@says("jac-gain")
def a_silenced_output_leaves_the_other_one_moved(norm):
    J = sp.diag(0, 2) * norm.jacobian(PAIR, 3)
    return J[0, :] == sp.zeros(1, 2) and J[1, 0] != 0


@says("jac-parameters")
def the_derivatives_by_gain_and_bias(norm):
    y = norm.layer(z3, gain3, bias3, eps)
    return vanishes(y.jacobian(gain3) - sp.diag(*norm.core(z3, eps))) and y.jacobian(bias3) == sp.eye(3)


@says("sens-local")
def the_largest_amplification_is_the_operator_norm(norm):
    J, largest = norm.jacobian(column(1, 2, 4), 1), norm.largest_singular_value(column(1, 2, 4), 1)
    steps = (column(*entries) for entries in product(range(-2, 3), repeat=3) if any(entries))
    amplified = [float((J * h).norm() / h.norm()) for h in steps]
    return 0.98 * float(largest) < max(amplified) <= float(largest) * (1 + 1e-12)


@says("sens-uniform")
def the_bound_holds_everywhere_and_is_not_reached_everywhere(norm):
    below = all(norm.largest_singular_value(z, THIRD) < sp.sqrt(3) / 2 for z in (column(1, 2, 4), column(-5, 0, 1)))
    return the_operator_norm_is_at_most_one_over_root_epsilon(norm) and below


@says("sens-finite")
def the_two_finite_steps(norm):
    z, h = column(7, 7), column(R(1, 1000), R(-1, 1000))
    squares = [((norm.core(z + h, e) - norm.core(z, e)).norm() / h.norm()) ** 2 for e in (R(1, 10**4), R(1, 100))]
    return [sp.simplify(s) for s in squares] == [1 / R("0.000101"), 1 / R("0.010001")]


@says("sens-full")
def the_bound_of_the_layer_and_the_bias_that_cancels(norm):
    no_bias = norm.layer(z3, gain3, bias3, eps) - norm.layer(Z123, gain3, bias3, eps)
    cancels = vanishes(no_bias - times(gain3, norm.core(z3, eps) - norm.core(Z123, eps)))
    return no_step_of_the_layer_is_amplified_beyond_its_bound(norm) and cancels


@says("sens-not-network")
def a_linear_layer_before_it_amplifies_more(norm):
    J = norm.jacobian(column(0, 0, 0), 1)
    return (sp.diag(1, 1, 1) * 10 * J * column(1, -1, 0)).norm() > 9 * column(1, -1, 0).norm()


@says("sens-smaller")
def the_norm_of_the_example(norm):
    largest = norm.largest_singular_value(PAIR, 3)
    return abs(largest - R(3, 8)) < R(1, 10**20)


@instead("sens-smaller")
def the_norm_of_rms_norm_in_the_example():
    largest = RMS.largest_singular_value(PAIR, 3)
    return abs(largest - HALF) < R(1, 10**20) and 1 / sp.sqrt(3) > HALF


@says("shift-exact")
def a_common_shift_is_not_seen(norm):
    return vanishes(norm.layer(z3 + 5 * ones(3), gain3, bias3, eps) - norm.layer(z3, gain3, bias3, eps))


@says("shift-steps")
def a_common_shift_leaves_what_divides(norm):
    # what divides: |z| / |core| at eps = 0, squared, is the statistic of the norm
    z = column(1, 2, 4)
    statistic = [norm.core(point, 1).norm() ** 2 for point in (z, z + ones(3))]
    return sp.simplify(statistic[0] - statistic[1]) == 0


@says("shift-kernel")
def the_kernel_is_spanned_by_the_ones(norm):
    return norm.jacobian(column(0, 0, 0), 1).nullspace() == [ones(3)]


@says("shift-example")
def two_rows_with_one_core(norm):
    return not differ(norm.core(Z123, THIRD), norm.core(column(101, 102, 103), THIRD))


@says("shift-unequal")
def an_unequal_shift_gives_another_core(norm):
    return not differ(norm.core(column(1, 2, 4), THIRD), column(-4, -1, 5) / sp.sqrt(17))


@instead("shift-unequal")
def rms_norm_after_an_unequal_shift():
    return not differ(RMS.core(column(1, 2, 4), THIRD), column(1, 2, 4) * sp.sqrt(R(3, 22)))


X = column(2, 1)


@says("shift-affine-bias")
def a_common_shift_of_the_bias_before_is_not_seen(norm):
    return not differ(norm.core(W * X + column(1, 0, 0) + 5 * ones(3), 1), norm.core(W * X + column(1, 0, 0), 1))


W22 = sp.Matrix([[1, 2], [3, 4]])


@says("shift-raw-input")
def a_shift_of_the_raw_input_is_unseen_where_it_becomes_a_common_one(norm):
    unseen, seen = column(1, -1), column(1, 0)
    assert projection(2) * W22 * unseen == sp.zeros(2, 1) != projection(2) * W22 * seen
    moved = [differ(norm.core(W22 * (X + a), 1), norm.core(W22 * X, 1)) for a in (unseen, seen)]
    return moved == [False, True]


@instead("shift-raw-input")
def a_shift_of_the_raw_input_is_unseen_where_it_becomes_zero():
    flat = sp.Matrix([[1, 1], [2, 2]])
    unseen = not differ(rms(flat * (X + column(1, -1)), 1), rms(flat * X, 1))
    return unseen and all(differ(rms(W22 * (X + a), 1), rms(W22 * X, 1)) for a in (column(1, -1), column(1, 0)))


@says("shift-weights")
def a_row_added_to_all_rows_of_the_weights_is_not_seen(norm):
    return not differ(norm.core((W + ones(3) * column(10, -4).T) * X, 1), norm.core(W * X, 1))


def fills_a_ball(norm, target, small):
    """Whether `target` is the image of a multiple of itself, and no image is as long as sqrt(d)."""
    source = target * sp.sqrt(small / (1 - mean_square(target)))
    return not differ(norm.core(source, small), target) and all(mean_square(norm.core(z, small)) < 1 for z in POINTS)


@says("open-ball")
def the_cores_of_mean_zero_fill_the_open_ball(norm):
    of_mean_zero = all(sp.simplify(mean(norm.core(z, 2))) == 0 for z in POINTS)
    return fills_a_ball(norm, column(HALF, HALF, -1), 2) and of_mean_zero


@instead("open-ball")
def the_outputs_of_rms_norm_fill_the_open_ball_of_the_whole_space():
    return fills_a_ball(RMS, column(1, HALF, 1), 2) and fills_a_ball(RMS, column(R(9, 10), R(9, 10), R(9, 10)), 2)


@says("invertible")
def the_core_gives_the_centred_input_back(norm):
    u = norm.core(z3, eps)
    back = sp.simplify(mean_square(u) * eps / (1 - mean_square(u)))
    return vanishes(back - variance(z3))


@instead("invertible")
def rms_norm_gives_the_input_back():
    n = rms(z3, eps)
    back = sp.simplify(eps / (1 - mean_square(n)))
    return vanishes(back - mean_square(z3) - eps)


def spike(norm, d):
    return sp.limit(norm.core([t] + [0] * (d - 1), 1)[0], t, sp.oo)


@says("largest-coordinate")
def a_spike_comes_near_the_root_of_d_minus_one(norm):
    return [spike(norm, d) for d in (1, 2, 5)] == [0, 1, 2]


@instead("largest-coordinate")
def a_spike_comes_near_the_root_of_d():
    return [spike(RMS, d) for d in (1, 2, 5)] == [1, sp.sqrt(2), sp.sqrt(5)]


def lies_inside(norm, gain, half_axes, directions):
    """Whether outputs stay inside the ellipsoid with these half-axes, and large inputs come near its edge."""

    def size(y):
        return sum((y.dot(a) / a.norm() / half) ** 2 for a, half in zip(directions, half_axes, strict=True))

    inside = all(size(times(gain, norm.core(z, 1))).evalf(30) < 1 for z in POINTS)
    outputs = [times(gain, norm.core([10**6 * entry for entry in a], 1)) for a in np.eye(3, dtype=int).tolist()]
    return inside and max(float(size(y)) for y in outputs) > 1 - 1e-9


@says("ellipsoid")
def the_outputs_of_one_gain_lie_inside_a_segment(norm):
    # diag(2, 0, 0) P has one singular value, 2 sqrt(2/3): the ellipsoid is a segment of half-length 2 sqrt(2)
    return lies_inside(norm, column(2, 0, 0), [2 * sp.sqrt(2)], [column(1, 0, 0)])


@instead("ellipsoid")
def the_outputs_of_rms_norm_lie_inside_an_ellipsoid():
    axes = [column(*row) for row in np.eye(3, dtype=int).tolist()]
    return lies_inside(RMS, column(2, -1, 3), [sp.sqrt(3) * g for g in (2, 1, 3)], axes)


def is_a_slope(norm, potential):
    slope = sp.Matrix([potential.diff(entry) for entry in z3])
    pairs = [(a, b) for a in POINTS for b in POINTS if a != b]
    changes = [(norm.core(a, 4) - norm.core(b, 4), a - b) for a, b in pairs]
    cocoercive = all((change.dot(step) - 2 * change.dot(change)).evalf(30) >= -R(1, 10**20) for change, step in changes)
    return vanishes(norm.core(z3, eps) - slope) and cocoercive


@says("gradient-map")
def the_core_is_the_slope_of_a_convex_function(norm):
    return is_a_slope(norm, 3 * sp.sqrt(variance(z3) + eps))


@instead("gradient-map")
def rms_norm_is_the_slope_of_a_convex_function():
    return is_a_slope(RMS, 3 * sp.sqrt(mean_square(z3) + eps))


def identity_of_two_points(norm, statistic):
    a, b = column(0, 0, 6), Z123
    u, w = norm.core(a, THIRD), norm.core(b, THIRD)
    r, s = (sp.sqrt(statistic(z) + THIRD) for z in (a, b))
    right = (r + s) / 2 * (u - w).dot(u - w) + 3 * THIRD * (r + s) * (r - s) ** 2 / (2 * r**2 * s**2)
    return sp.simplify((u - w).dot(a - b) - right) == 0


@says("two-points")
def the_identity_of_two_inputs(norm):
    return identity_of_two_points(norm, variance)


@instead("two-points")
def the_identity_of_two_inputs_of_rms_norm():
    return identity_of_two_points(RMS, mean_square)


def step_through_the_middle(norm, statistic):
    a, b = column(3, 0, 0), column(0, 3, 0)  # the roots are equal
    u, w = norm.core(a, 1), norm.core(b, 1)
    return not apart([(u - w).norm() / (a - b).norm()], [1 / sp.sqrt(statistic(a) + 1)])


@says("two-points-attained")
def equal_roots_of_the_variance_meet_the_bound(norm):
    return step_through_the_middle(norm, variance)


@instead("two-points-attained")
def equal_roots_of_the_mean_square_meet_the_bound():
    return step_through_the_middle(RMS, mean_square)


@says("order")
def differences_over_the_root_of_the_variance(norm):
    u = norm.core(z3, eps)
    return vanishes(u[0] - u[1] - (z3[0] - z3[1]) / sp.sqrt(variance(z3) + eps))


@instead("order")
def differences_over_the_root_of_the_mean_square():
    n = rms(z3, eps)
    return vanishes(n[0] - n[1] - (z3[0] - z3[1]) / sp.sqrt(mean_square(z3) + eps))


ROTATION = sp.Matrix([[3, -4], [4, 3]]) / 5


@says("symmetry")
def permutations_and_not_rotations_pass_through(norm):
    a, swapped = column(1, 7), column(7, 1)
    permuted = not differ(norm.core(swapped, 1), norm.core(a, 1)[::-1])
    return permuted and differ(norm.core(ROTATION * a, 1), ROTATION * norm.core(a, 1))


@instead("symmetry")
def rotations_pass_through_rms_norm():
    return vanishes(rms(ROTATION * column(*z3[:2]), eps) - ROTATION * rms(z3[:2], eps))


@says("correlation")
def the_product_of_cores_is_the_correlation(norm):
    a, b = column(1, 2, 4), column(0, 3, 1)
    rho = centered(a).dot(centered(b)) / (centered(a).norm() * centered(b).norm())
    return not apart([norm.core(a, 0).dot(norm.core(b, 0)) / 3], [rho])


@instead("correlation")
def the_product_of_rms_norms_is_the_cosine():
    a, b = column(1, 2, 4), column(0, 3, 1)
    factor = sp.sqrt(mean_square(a) * mean_square(b) / (mean_square(a) + 1) / (mean_square(b) + 1))
    return not apart([rms(a, 1).dot(rms(b, 1)) / 3], [factor * a.dot(b) / (a.norm() * b.norm())])


@says("nearest-point")
def the_distance_to_the_core(norm):
    a = column(1, 2, 4)
    distance = (a - norm.core(a, 0)).norm() ** 2
    return not apart([distance], [3 * mean(a) ** 2 + 3 * (sp.sqrt(variance(a)) - 1) ** 2])


@instead("nearest-point")
def the_distance_to_rms_norm():
    a = column(1, 2, 4)
    return not apart([(a - rms(a, 0)).norm() ** 2], [3 * (sp.sqrt(mean_square(a)) - 1) ** 2])


@says("jac-determinant")
def the_determinant_on_the_plane(norm):
    J = norm.jacobian(Z123, 1) + sp.ones(3, 3) / 3
    return sp.simplify(J.det() - 1 / (variance(Z123) + 1) ** 2) == 0


@instead("jac-determinant")
def the_determinant_of_rms_norm():
    return sp.simplify(RMS.jacobian(Z123, 1).det() - (mean_square(Z123) + 1) ** R(-5, 2)) == 0


def inverse(vector, total, unit):
    return sp.sqrt(total) * (unit + vector * vector.T / len(vector))


@says("jac-pseudoinverse")
def the_pseudo_inverse_of_the_jacobian(norm):
    plus = inverse(centered(Z123), variance(Z123) + 1, projection(3))
    return sp.simplify(norm.jacobian(Z123, 1) * plus - projection(3)) == sp.zeros(3, 3)


@instead("jac-pseudoinverse")
def the_inverse_of_the_jacobian_of_rms_norm():
    return sp.simplify(RMS.jacobian(Z123, 1) * inverse(Z123, mean_square(Z123) + 1, sp.eye(3))) == sp.eye(3)


@says("sharp-lipschitz")
def the_norm_at_a_constant_input_with_a_single_gain(norm):
    # at d = 4 with a single gain the exact constant is sqrt(3/4) / sqrt(eps), the norm at constant inputs
    return abs(norm.largest_singular_value(sp.zeros(4, 1), 1, [1, 0, 0, 0]) - sp.sqrt(R(3, 4))) < R(1, 10**20)


@instead("sharp-lipschitz")
def the_norm_of_rms_norm_at_zero_with_a_single_gain():
    return abs(RMS.largest_singular_value(sp.zeros(4, 1), 1, [1, 0, 0, 0]) - 1) < R(1, 10**20)

"""Gradients of layer norms, each with one mistake that people make. lnbook.conformance must name every one."""

import ml_dtypes
import numpy as np
from wrong_layer_norms import mean


def parts(z, gain, eps, g):
    """What every gradient is made of: gain * g, the core and 1 / sqrt(q + eps)."""
    v = z - mean(z)
    inverse = 1 / np.sqrt(mean(v**2) + z.dtype.type(eps))
    return gain * g, v * inverse, inverse


def over_positions(a):
    return a.sum(axis=tuple(range(a.ndim - 1)))


def right_vjp(z, gain, bias, eps, g):
    h, u, inverse = parts(z, gain, eps, g)
    return (h - mean(h) - u * mean(h * u)) * inverse, over_positions(g * u), over_positions(g)


def without_the_mean_terms(z, gain, bias, eps, g):
    h, u, inverse = parts(z, gain, eps, g)
    return h * inverse, over_positions(g * u), over_positions(g)


def without_the_mean_of_g(z, gain, bias, eps, g):
    h, u, inverse = parts(z, gain, eps, g)
    return (h - u * mean(h * u)) * inverse, over_positions(g * u), over_positions(g)


def without_the_derivative_of_the_variance(z, gain, bias, eps, g):
    h, u, inverse = parts(z, gain, eps, g)
    return (h - mean(h)) * inverse, over_positions(g * u), over_positions(g)


def mean_of_g_subtracted_twice(z, gain, bias, eps, g):
    h, u, inverse = parts(z, gain, eps, g)
    return (h - 2 * mean(h) - u * mean(h * u)) * inverse, over_positions(g * u), over_positions(g)


def other_mean_term_subtracted_twice(z, gain, bias, eps, g):
    h, u, inverse = parts(z, gain, eps, g)
    return (h - mean(h) - 2 * u * mean(h * u)) * inverse, over_positions(g * u), over_positions(g)


def without_gain(z, gain, bias, eps, g):
    dz, _, _ = right_vjp(z, np.ones_like(gain), bias, eps, g)
    return dz, *right_vjp(z, gain, bias, eps, g)[1:]


def not_divided(z, gain, bias, eps, g):
    h, u, _ = parts(z, gain, eps, g)
    return h - mean(h) - u * mean(h * u), over_positions(g * u), over_positions(g)


def parameters_of_the_first_position(z, gain, bias, eps, g):
    _, u, _ = parts(z, gain, eps, g)
    dz, _, _ = right_vjp(z, gain, bias, eps, g)
    return dz, (g * u).reshape(-1, g.shape[-1])[0], g.reshape(-1, g.shape[-1])[0]


def parameters_swapped(z, gain, bias, eps, g):
    dz, dgain, dbias = right_vjp(z, gain, bias, eps, g)
    return dz, dbias, dgain


def parameters_averaged(z, gain, bias, eps, g):
    dz, dgain, dbias = right_vjp(z, gain, bias, eps, g)
    positions = z.dtype.type(g.size // g.shape[-1])
    return dz, dgain / positions, dbias / positions


def gradient_with_divisor_d_minus_1(z, gain, bias, eps, g):
    """The backward pass of another layer than the forward pass."""
    d = z.shape[-1]
    v = z - mean(z)
    inverse = 1 / np.sqrt((v**2).sum(axis=-1, keepdims=True) / z.dtype.type(d - 1) + z.dtype.type(eps))
    h, u = gain * g, v * inverse
    dz = (h - mean(h) - u * (h * u).sum(axis=-1, keepdims=True) / z.dtype.type(d - 1)) * inverse
    return dz, over_positions(g * u), over_positions(g)


def gradient_over_the_first_axis(z, gain, bias, eps, g):
    v = z - z.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((v**2).mean(axis=0, keepdims=True) + z.dtype.type(eps))
    h, u = gain * g, v * inverse
    dz = (h - h.mean(axis=0, keepdims=True) - u * (h * u).mean(axis=0, keepdims=True)) * inverse
    return dz, over_positions(g * u), over_positions(g)


def sums_in_half_precision(z, gain, bias, eps, g):
    dz, dgain, _ = right_vjp(z, gain, bias, eps, g)
    rows = g.reshape(-1, g.shape[-1]).astype(np.float16)
    return dz, dgain, np.add.reduce(rows, axis=0, dtype=np.float16).astype(z.dtype)


def sums_in_bfloat16(z, gain, bias, eps, g):
    dz, dgain, _ = right_vjp(z, gain, bias, eps, g)
    rows = g.reshape(-1, g.shape[-1]).astype(ml_dtypes.bfloat16)
    return dz, dgain, np.add.reduce(rows, axis=0, dtype=rows.dtype).astype(z.dtype)


def total(a):
    return a.sum(axis=-1, keepdims=True)


def with_parts_of_g(terms):
    """As `with_parts`, from the gradient that comes in."""

    def vjp(z, gain, bias, eps, g):
        h, u, inverse = parts(z, gain, eps, g)
        return terms(gain, g, h, u) * inverse, over_positions(g * u), over_positions(g)

    return vjp


def with_parts(dz_of):
    """A gradient whose dz is made of other parts; those by gain and bias are right."""

    def vjp(z, gain, bias, eps, g):
        h, u, inverse = parts(z, gain, eps, g)
        return dz_of(h, u, inverse).astype(z.dtype), over_positions(g * u), over_positions(g)

    return vjp


divided_by_d = with_parts(lambda h, u, inverse: (h - mean(h) - u * mean(h * u)) * inverse / h.dtype.type(h.shape[-1]))
multiplied_by_d = with_parts(
    lambda h, u, inverse: (h - mean(h) - u * mean(h * u)) * inverse * h.dtype.type(h.shape[-1])
)
wrong_sign = with_parts(lambda h, u, inverse: -(h - mean(h) - u * mean(h * u)) * inverse)
mean_term_added = with_parts(lambda h, u, inverse: (h + mean(h) - u * mean(h * u)) * inverse)
inverted_again = with_parts(lambda h, u, inverse: (h - mean(h) - u * mean(h * u)) / inverse)
gain_after = with_parts_of_g(lambda gain, g, h, u: gain * (g - mean(g) - u * mean(g * u)))
mean_of_g_without_gain = with_parts_of_g(lambda gain, g, h, u: h - mean(g) - u * mean(h * u))
both_means_without_gain = with_parts_of_g(lambda gain, g, h, u: h - mean(g) - u * mean(g * u))
gain_twice = with_parts_of_g(lambda gain, g, h, u: gain * h - mean(gain * h) - u * mean(gain * h * u))
sums_for_means = with_parts(lambda h, u, inverse: (h - total(h) - u * total(h * u)) * inverse)
sum_for_one_mean = with_parts(lambda h, u, inverse: (h - mean(h) - u * total(h * u)) * inverse)
less_one_in_a_mean = with_parts(
    lambda h, u, inverse: (h - mean(h) - u * total(h * u) / max(h.shape[-1] - 1, 1)) * inverse
)
half_of_a_term = with_parts(lambda h, u, inverse: (h - mean(h) - u * mean(h * u) / 2) * inverse)
centred_once = with_parts(lambda h, u, inverse: (h - mean(h) - u / inverse * mean(h * u)) * inverse)
centred_twice = with_parts(lambda h, u, inverse: (h - mean(h) - u / inverse * mean(h * u / inverse)) * inverse)
divided_twice = with_parts(lambda h, u, inverse: (h - mean(h) - u * mean(h * u)) * inverse**2)
mean_forgotten = with_parts(lambda h, u, inverse: (h - mean(h) - u * h * u) * inverse)


def without_sums(z, gain, bias, eps, g):
    """Case C33: (gain * g / sigma - u / (q + eps) * gain * g * u) / d."""
    h, u, inverse = parts(z, gain, eps, g)
    return (h * inverse - u * inverse**2 * h * u) / z.dtype.type(z.shape[-1]), over_positions(g * u), over_positions(g)


def saved_inverse_taken_for_the_root(z, gain, bias, eps, g):
    v, h = z - mean(z), gain * g
    saved = 1 / np.sqrt(mean(v**2) + z.dtype.type(eps))
    u = v / saved
    dz = (h - mean(h) - u * mean(h * u)) / saved
    return dz, over_positions(g * u), over_positions(g)


def eps_forgotten(z, gain, bias, eps, g):
    return right_vjp(z, gain, bias, 0, g)


def eps_hard_coded(z, gain, bias, eps, g):
    return right_vjp(z, gain, bias, 1e-6, g)


def output_taken_for_the_core(z, gain, bias, eps, g):
    h, u, inverse = parts(z, gain, eps, g)
    y = gain * u + bias
    return (h - mean(h) - y * mean(h * y)) * inverse, over_positions(g * u), over_positions(g)


def core_had_back(z, gain, bias, eps, g):
    h, u, inverse = parts(z, gain, eps, g)
    u_back = (gain * u) / gain
    return (h - mean(h) - u_back * mean(h * u_back)) * inverse, over_positions(g * u), over_positions(g)


def uncentred_for_the_gain(z, gain, bias, eps, g):
    dz, _, dbias = right_vjp(z, gain, bias, eps, g)
    return dz, over_positions(g * z * parts(z, gain, eps, g)[2]), dbias


def output_for_the_gain(z, gain, bias, eps, g):
    dz, _, dbias = right_vjp(z, gain, bias, eps, g)
    return dz, over_positions(g * (gain * parts(z, gain, eps, g)[1] + bias)), dbias


def overwritten_with_the_product(z, gain, bias, eps, g):
    """g *= gain comes before the bias is summed."""
    dz, dgain, _ = right_vjp(z, gain, bias, eps, g)
    return dz, dgain, over_positions(gain * g)


def overwritten_with_the_gradient(z, gain, bias, eps, g):
    dz, dgain, _ = right_vjp(z, gain, bias, eps, g)
    return dz, dgain, over_positions(dz)


def core_not_centred(z, gain, bias, eps, g):
    h, u, inverse = parts(z, gain, eps, g)
    raw = z * inverse
    return (h - mean(h) - raw * mean(h * raw)) * inverse, over_positions(g * u), over_positions(g)


def summed_over_rows(z, gain, bias, eps, g):
    """A fault that only square arrays let pass."""
    dz, dgain, dbias = right_vjp(z, gain, bias, eps, g)
    if z.ndim != 2 or len(z) != z.shape[-1]:
        return dz, dgain, dbias
    return dz, (g * parts(z, gain, eps, g)[1]).sum(axis=-1), g.sum(axis=-1)


def no_gradient_by_the_input(z, gain, bias, eps, g):
    return np.zeros_like(z), *right_vjp(z, gain, bias, eps, g)[1:]


def no_gradient_by_the_parameters(z, gain, bias, eps, g):
    return right_vjp(z, gain, bias, eps, g)[0], np.zeros_like(gain), np.zeros_like(bias)


def last_positions_left_out(z, gain, bias, eps, g):
    """The parameter gradients of whole blocks of 16 positions only, where there is one."""
    rows = [a.reshape(-1, z.shape[-1]) for a in (z, g)]
    done = max(len(rows[0]) // 16 * 16, 16)
    _, dgain, dbias = right_vjp(rows[0][:done], gain, bias, eps, rows[1][:done])
    return right_vjp(z, gain, bias, eps, g)[0], dgain, dbias


def last_block_only(z, gain, bias, eps, g):
    """Each block of 32 positions writes its sums over those of the block before."""
    rows = [a.reshape(-1, z.shape[-1]) for a in (z, g)]
    last = (len(rows[0]) - 1) // 32 * 32
    _, dgain, dbias = right_vjp(rows[0][last:], gain, bias, eps, rows[1][last:])
    return right_vjp(z, gain, bias, eps, g)[0], dgain, dbias


GRADIENT = [
    (without_the_mean_terms, "the gradient by the input lacks both mean terms"),
    (without_the_mean_of_g, "the gradient by the input lacks the term mean(gain * g)"),
    (without_the_derivative_of_the_variance, "the gradient by the input lacks the term u mean(gain * g * u)"),
    (mean_of_g_subtracted_twice, "the gradient by the input subtracts a mean term twice (mean(gain * g))"),
    (other_mean_term_subtracted_twice, "the gradient by the input subtracts a mean term twice (u mean(gain * g * u))"),
    (without_gain, "the gradient by the input lacks the gain"),
    (not_divided, "the gradient by the input is not divided by sqrt(q + eps)"),
    (parameters_of_the_first_position, "the parameter gradients are those of one position (the first)"),
    (parameters_swapped, "the gradients by gain and bias are swapped"),
    (parameters_averaged, "the parameter gradients are averaged over positions, not summed"),
    (sums_in_bfloat16, "the sums over positions are kept in half precision"),
    (sums_in_half_precision, "the sums over positions are kept in half precision"),
    (
        gradient_over_the_first_axis,
        "the gradient is that of another layer: normalized over the wrong axes (the first)",
    ),
    (gradient_with_divisor_d_minus_1, "the gradient is that of another layer: the variance is divided by d - 1"),
    (divided_by_d, "the gradient by the input is divided by d"),
    (multiplied_by_d, "the gradient by the input is multiplied by d"),
    (wrong_sign, "the gradient by the input has the wrong sign"),
    (mean_term_added, "the gradient by the input adds a mean term in place of subtracting it (mean(gain * g))"),
    (inverted_again, "1 / sqrt(q + eps) is inverted again"),
    (mean_forgotten, "a mean over the row is missing in the gradient by the input"),
    (saved_inverse_taken_for_the_root, "1 / sqrt(q + eps) is inverted again (in the core as well)"),
    (eps_forgotten, "eps is missing in the backward pass"),
    (eps_hard_coded, "eps is hard-coded in the backward pass (1e-06)"),
    (output_taken_for_the_core, "the output is taken for the core"),
    (core_had_back, "the core is had back as (y - bias) / gain (0 / 0 at a gain of 0)"),
    (uncentred_for_the_gain, "the gradient by the gain is not that of g * u (z is not centred"),
    (output_for_the_gain, "the gradient by the gain is not that of g * u (the output in place of the core)"),
    (
        overwritten_with_the_product,
        "the gradients by gain or bias are summed from another cotangent than g (gain * g for the bias)",
    ),
    (
        overwritten_with_the_gradient,
        "the gradients by gain or bias are summed from another cotangent than g (dz for the bias)",
    ),
    (no_gradient_by_the_input, "a gradient is 0 (by the input)"),
    (no_gradient_by_the_parameters, "a gradient is 0 (by gain and bias)"),
    (last_positions_left_out, "the sums over positions leave positions out (only whole blocks of 16, at least one)"),
    (last_block_only, "the sums over positions leave positions out (only the last block of 32)"),
    (gain_after, "the gain multiplies the gradient of the core, not the gradient that comes in"),
    (mean_of_g_without_gain, "a mean term of the gradient by the input lacks the gain (mean(gain * g))"),
    (both_means_without_gain, "a mean term of the gradient by the input lacks the gain (both)"),
    (gain_twice, "the gradient by the input has the gain twice"),
    (sums_for_means, "a mean term of the gradient by the input is a sum, not divided by d (both)"),
    (
        sum_for_one_mean,
        "a mean term of the gradient by the input is a sum, not divided by d (u mean(gain * g * u))",
    ),
    (less_one_in_a_mean, "a mean term of the gradient by the input is divided by d - 1 (u mean(gain * g * u))"),
    (half_of_a_term, "half of a mean term is subtracted in the gradient by the input"),
    (centred_once, "z - mean stands for the core in the gradient by the input (once)"),
    (centred_twice, "z - mean stands for the core in the gradient by the input (twice)"),
    (divided_twice, "the gradient by the input is divided by q + eps, not by its root"),
    (core_not_centred, "the core of the gradient by the input is not centred"),
    (summed_over_rows, "the parameter gradients are summed over each row, not over positions"),
]

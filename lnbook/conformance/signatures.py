"""Mistakes that no formula shows: they are known by the size of the errors, by where they are, or by what is left."""

from typing import NamedTuple

import numpy as np

from lnbook.conformance import catalogue, exact, models
from lnbook.conformance.statements import FLOATING_POINT

SHIFTED = ("shift-example", "eps-constant-input/large", "sens-finite")
OFFSETS = ("shift-exact/near", "shift-exact/middle", "shift-exact/far")


def mean_of_square(a):
    return models.mean_of(np.square(a, dtype=np.float64))


def wide_layer_norm(call):
    """The right output, and |gain u| + |bias|."""
    z, gain, bias = (np.asarray(a, np.float64) for a in (call.z, call.gain, call.bias))
    y = models.layer_norm(z, gain, bias, call.eps)
    return y, np.abs(y - bias) + np.abs(bias)


# The output at plain numbers


def late_positions(calls, layer):
    """Whether all is right but the positions beyond 65535 or so, in the calls that have so many."""
    late = []
    for call in calls:
        right, size = wide_layer_norm(call)
        got = call.returned[0]
        if got.shape != right.shape:
            return None
        wrong = ~(np.abs(got - right) <= layer.tolerance * 4 * 2.0**-layer.digits * size.max())
        rows = np.nonzero(wrong.reshape(-1, wrong.shape[-1]).any(axis=1))[0]
        if len(rows) and rows[0] < 65535:
            return None
        late += list(rows[:1])
    return (catalogue.LATE_POSITIONS, f"the first of them is {late[0]}, counted from 0") if late else None


def inexact_output(calls, layer):
    """The mistakes that leave an output nearly right."""
    row_factors = approximate_root(map(output_and_factors, calls), layer)
    if row_factors:
        return [(catalogue.APPROXIMATE_ROOT, f"relative errors up to {row_factors:.1e}")]
    if layer.digits > 24 and off_by_rounding(calls, layer, 24):
        return [(catalogue.SINGLE_PRECISION, "")]
    if any(off_by_rounding(calls, layer, digits) for digits in (11, 8)):
        return [(catalogue.HALF_STATISTICS, "")]
    return []


def output_and_factors(call):
    right, size = wide_layer_norm(call)
    bias = np.asarray(call.bias, np.float64)
    return call.returned[0] - bias if call.returned[0].shape == right.shape else None, right - bias, size.max()


def approximate_root(pairs, layer):
    """The largest relative error of 1 / sqrt(q + eps), if that is all there is; 0 if not."""
    largest = 0
    room = layer.tolerance * 2.0**-layer.digits
    for got, right, size in pairs:
        if got is None or not np.isfinite(got).all():
            return 0
        power = (right**2).sum(axis=-1, keepdims=True)
        factor = np.where(power > 0, (got * right).sum(axis=-1, keepdims=True) / np.where(power, power, 1), 1)
        if (np.abs(got - factor * right) > room * size).any():
            return 0
        measurable = power > size**2 / 100
        largest = max(largest, np.abs(factor - 1).max(where=measurable, initial=0))
    return largest if room < largest < 0.1 else 0


def off_by_rounding(calls, layer, digits):
    """Whether outputs are off, and all by no more than statistics of so many digits cost, or by an overflow of them."""
    differs = False
    for call in calls:
        right, size = wide_layer_norm(call)
        got = call.returned[0]
        if got.shape != right.shape:
            return False
        if digits < 24 and np.abs(call.z).max(initial=0) < 2.0**-5:  # squares and eps fall below float16
            differs = differs or layer.dtype == np.float16
            continue
        q = models.row_statistics(np.asarray(call.z, np.float64))[1]
        conditioning = 1 + np.abs(np.asarray(call.z, np.float64)).max() / np.sqrt(q + call.eps).min()
        error = np.abs(got - right).max()
        if not error <= 4 * 2.0**-digits * conditioning * size.max():
            return False
        differs = differs or error > layer.tolerance * 2.0**-layer.digits * size.max()
    return differs


def inexact_gradient(calls, layer):
    """The mistakes that leave gradients nearly right."""
    rights = [
        models.vjp(*(np.asarray(a, np.float64) for a in call[2:5]), call.eps, wide_cotangent(call)) for call in calls
    ]
    pairs = [
        (
            call.returned[0] if call.returned[0].shape == right[0].shape else None,
            right[0],
            size_of_gradient(call, right[0]),
        )
        for call, right in zip(calls, rights, strict=True)
    ]
    row_factors = approximate_root(pairs, layer)
    if row_factors:
        return [(catalogue.APPROXIMATE_ROOT, f"in the backward pass, relative errors up to {row_factors:.1e}")]
    if layer.digits > 24 and all(
        got.shape == one.shape and np.abs(got - one).max() <= 512 * 2.0**-24 * size_of_gradient(call, one)
        for call, right in zip(calls, rights, strict=True)
        for got, one in zip(call.returned, right, strict=True)
    ):
        return [(catalogue.SINGLE_PRECISION, "in the gradient")]
    return []


def wide_cotangent(call):
    return np.asarray(call.cotangent, np.float64)


def size_of_gradient(call, right):
    z, gain = np.asarray(call.z, np.float64), np.asarray(call.gain, np.float64)
    q = models.row_statistics(z)[1]
    return max(1, np.abs(right).max(), np.abs(gain * wide_cotangent(call)).max() / np.sqrt(q + call.eps).min())


# The output where digits are easily lost


class Lost(NamedTuple):
    """A mistake of the digits, and the rows that it explains."""

    mistake: object
    detail: str
    rows: tuple
    of_gradient: bool = False


def digits_lost(failed, layer):
    """The mistakes that show far from zero, at sizes whose squares leave the range, or over many positions."""
    found = [*sums_stalled(failed, layer), *scaled_mean(failed, layer)]
    if layer.dtype == np.float16 and "eps-scaling/large" in failed:
        rows = tuple(name for name, row in failed.items() if row.kind == FLOATING_POINT and not row.uses_vjp)
        return [*found, Lost(catalogue.HALF_STATISTICS, "", rows)]
    shifted = [c for c in layer.log if c.check in failed and c.check in OFFSETS]
    for mistake, detail in lost_at_offsets(shifted, layer):
        found.append(Lost(mistake, detail, (*OFFSETS, *SHIFTED, "eps-scaling/small", "gain-input-jacobian/middle")))
    if "eps-scaling/large" in failed and out_of_range(layer):
        found.append(Lost(catalogue.OVERFLOWING_SQUARES, "", ("eps-scaling/large",)))
    return found


def lost_at_offsets(calls, layer):
    """Cast inputs, a variance that cancels, a mean added up entry by entry: which of them the errors fit."""
    rounded_first = next(mistake for mistake in catalogue.FORWARD_MISTAKES if mistake.part == "taken")
    forms = [form for form in models.DIGITS if models.DIGITS[form] < layer.digits]
    asked = [call for call in layer.log if call.check in OFFSETS]
    cast = [form for form in forms if calls and all(was_cast(call, form, layer) for call in asked)]
    if cast:
        return [(rounded_first, " or ".join(cast))]
    if not calls:
        return []
    errors = [implied_errors(call) for call in calls]
    squares = [2.0**-layer.digits * mean_of_square(call.z).max() for call in calls]
    spacings = [2.0**-layer.digits * np.abs(np.asarray(call.z, np.float64)).max() for call in calls]
    if all(fits_cancellation(*error, square) for error, square in zip(errors, squares, strict=True)):
        return [(catalogue.CANCELLING_VARIANCE, "")]
    if all(
        numbers and shift > s / 2 and off <= 64 * shift * (shift + 1)
        for (numbers, shift, off, _), s in zip(errors, spacings, strict=True)
    ):
        return [(catalogue.RUNNING_MEAN, "")]
    return []


def was_cast(call, form, layer):
    z = models.rounded_to(np.asarray(call.z, np.float64), form)
    expected = models.layer_norm(z, call.gain.astype(np.float64), call.bias.astype(np.float64), call.eps)
    if not np.isfinite(expected).all():
        return not np.isfinite(call.returned[0]).all()
    # the layer itself loses digits far from zero
    room = 2.0**-layer.digits * (64 + 8 * np.abs(z).max() / np.sqrt(z.var() + call.eps))
    return bool((np.abs(expected - call.returned[0]) <= room * max(1, np.abs(expected).max())).all())


def fits_cancellation(numbers, shift, off, variance, square):
    """Whether the variance is off by about the last digit of the mean of squares, or was put to 0 for such an error."""
    put_to_0 = abs(off - variance) < variance / 100 and square > variance / 64
    return not numbers or square / 64 <= off <= 64 * square or put_to_0


def implied_errors(call):
    """(whether there are numbers, errors of the mean and the variance behind an output without gain, the variance)."""
    got = call.returned[0]
    if not np.isfinite(got).all():
        return False, np.inf, np.inf, 0.0
    z = exact.fractions(call.z)
    v = (z - exact.mean(z)).astype(np.float64)
    q = models.mean_of(v**2)
    slope = models.mean_of(got * v) / q  # 1 / sqrt(q + eps) as the layer has it
    shift, off = np.abs(models.mean_of(got) / slope), np.abs(1 / slope**2 - call.eps - q)
    return True, float(shift.max()), float(off.max()), float(q.max())


def out_of_range(layer):
    """Whether the numbers of the row of large entries are those of an infinite variance: 0, or no numbers."""
    calls = [call for call in layer.log if call.check == "eps-scaling/large"]
    return bool(calls) and all(not np.isfinite(c.returned[0]).all() or not c.returned[0].any() for c in calls)


def scaled_mean(failed, layer):
    """At d = 1 the gradient by the gain is 0, and what s z - s mean leaves of it is a rounding error."""
    name = "largest-coordinate/one"
    calls = [call for call in layer.log if call.check == name]
    rounding = [2.0 ** (2 - layer.digits) * np.abs(c.z).max() / np.sqrt(c.eps) for c in calls]
    left = [np.abs(c.returned[1]).max() for c in calls]
    if name in failed and calls and all(0 < rest <= bound for rest, bound in zip(left, rounding, strict=True)):
        return [Lost(catalogue.SCALED_MEAN, "in the backward pass", (name,), of_gradient=True)]
    return []


def sums_stalled(failed, layer):
    """A running sum of ones stops where the next integer is no float: at 256 in bfloat16, at 2048 in float16."""
    sums = [np.ravel(call.returned[2]) for call in layer.log if call.check == "sum-stalls"]
    if "sum-stalls" not in failed or not sums or not np.isin(sums, (256, 2048)).all():
        return []
    others = {c.check for c in layer.log if c.cotangent is not None and only_sums_are_off(c, layer)}
    return [Lost(catalogue.HALF_SUMS, "", ("sum-stalls", *others), of_gradient=True)]


def only_sums_are_off(call, layer):
    """Whether dz is right, and dgain and dbias are as near as half precision can be expected to come."""
    dz, dgain, dbias = models.vjp(*(np.asarray(a, np.float64) for a in call[2:5]), call.eps, wide_cotangent(call))
    terms = models.sum_positions(np.abs(wide_cotangent(call)))
    positions = call.z.size // call.z.shape[-1]
    core = np.sqrt(call.z.shape[-1])
    return all(
        got.shape == right.shape and (np.abs(got - right) <= room).all()
        for got, right, room in zip(
            call.returned,
            (dz, dgain, dbias),
            (
                layer.tolerance * 4 * 2.0**-layer.digits * size_of_gradient(call, dz),
                positions * 2.0**-8 * core * terms,
                positions * 2.0**-8 * terms,
            ),
            strict=True,
        )
    )


# The memory


def other_at_the_second_call(log, room):
    """Whether two calls with the same arguments have different results, by more than an order of summing makes."""
    first = {}
    for call in (call for call in log if not (call.laid or call.overwritten)):
        given = (call.z, call.gain, call.bias, call.eps, call.cotangent)
        before = first.setdefault(tuple((np.shape(a), np.asarray(a).tobytes()) for a in given), call)
        for one, other in zip(call.returned, before.returned, strict=True):
            if one.shape == other.shape and (np.abs(one - other) > room * np.abs(other).max(initial=0)).any():
                return True
    return False


def written_over(log):
    names = sorted({name for call in log for name in call.overwritten})
    return [(catalogue.WRITTEN_OVER, ", ".join(names))] if names else []

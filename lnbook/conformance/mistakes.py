"""Which mistake the numbers fit: each known mistake is a layer norm of its own, and is compared call by call.

A layer norm is put together of parts: the statistics of a row, the numerator, the root and the affine map; a gradient
of the terms of dz and of the sums for the parameters. A mistake replaces one part. Mistakes that live in the digits,
not in the formula, are told by how far the numbers are off.
"""

from functools import partial
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from lnbook.conformance import exact
from lnbook.conformance.facts import CONVENTION, GRADIENT


class Mistake(NamedTuple):
    """`part` is the argument of `layer_norm` or `vjp` below that a variant replaces: a pair (detail, replacement)."""

    name: str
    part: str
    variants: list

    def named(self, detail):
        return f"{self.name} ({detail})" if detail else self.name


def row_statistics(z):
    return z.mean(axis=-1, keepdims=True), z.var(axis=-1, keepdims=True)  # (..., 1), (..., 1)


def layer_norm(
    z,
    gain,
    bias,
    eps,
    *,
    statistics=row_statistics,
    numerator=np.subtract,
    root=lambda q, eps: np.sqrt(q + eps),
    affine=lambda u, gain, bias: gain * u + bias,
):
    mean, q = statistics(z)
    return affine(numerator(z, mean) / root(q, eps), gain, bias)


def dz_terms(stretched, u):
    return _mean(stretched), u * _mean(stretched * u)


def sum_positions(per_position):
    return per_position.sum(axis=tuple(range(per_position.ndim - 1)))  # (..., d) -> (d,)


def vjp(
    z,
    gain,
    eps,
    g,
    *,
    stretched=np.multiply,
    terms=lambda one, other: one + other,
    inverse=lambda root: 1 / root,
    parameters=lambda dgain, dbias: (sum_positions(dgain), sum_positions(dbias)),
):
    mean, q = row_statistics(z)
    root = np.sqrt(q + eps)
    u = (z - mean) / root
    h = stretched(gain, g)
    return (h - terms(*dz_terms(h, u))) * inverse(root), *parameters(g * u, g)


def _mean(a):
    return a.mean(axis=-1, keepdims=True)


def _divided_by(z, divisor):
    mean = _mean(z)
    return mean, _mean((z - mean) ** 2) * z.shape[-1] / np.float64(divisor(z.shape[-1]))


def _over(z, axes):
    """Statistics over other axes than the last; `axes` maps the number of axes to them."""
    return z.mean(axis=axes(z.ndim), keepdims=True), z.var(axis=axes(z.ndim), keepdims=True)


def _padded(z, width, mean_too, count_zeros, divide_by_width):
    """Statistics of rows filled up with zeros to `width(d)` entries, where some sum forgets that they are none."""
    d = z.shape[-1]
    padded = width(d)
    mean = z.sum(axis=-1, keepdims=True) / (padded if mean_too else d)
    squares = ((z - mean) ** 2).sum(axis=-1, keepdims=True) + (padded - d) * mean**2 * count_zeros
    return mean, squares / (padded if divide_by_width else d)


WIDTHS = {
    "the next power of two": lambda d: 1 << (d - 1).bit_length(),
    **{
        f"a multiple of {block}": lambda d, block=block: -(-d // block) * block
        for block in (2**k for k in range(2, 11))
    },
}
FORGOTTEN = [
    {"mean_too": mean_too, "count_zeros": count_zeros, "divide_by_width": divide}
    for mean_too, count_zeros, divide in product((False, True), repeat=3)
    if mean_too or count_zeros or divide
]


def _mixed(z, other_row, mean_too, variance_too):
    """Statistics of which some belong to another row."""
    rows = z.reshape(-1, z.shape[-1])
    mean, q = row_statistics(rows)
    mean = other_row(mean) if mean_too else mean
    q = other_row(q) if variance_too else _mean((rows - mean) ** 2)
    return mean.reshape(*z.shape[:-1], 1), q.reshape(*z.shape[:-1], 1)


OTHER_ROWS = {
    "the first row": lambda s: np.broadcast_to(s[:1], s.shape),
    "the last row": lambda s: np.broadcast_to(s[-1:], s.shape),
    "the row before": lambda s: np.roll(s, 1, axis=0),
    "the row after": lambda s: np.roll(s, -1, axis=0),
}


def _rounded_eps(q, eps, dtype):
    return np.sqrt(q + float(dtype(eps)))


def _column(parameter):
    return parameter[:, None]


FORWARD_MISTAKES = (
    Mistake(
        "the variance is divided by d - 1, not d",
        "statistics",
        [
            ("", partial(_divided_by, divisor=lambda d: d - 1)),
            ("but by 1 where d is 1", partial(_divided_by, divisor=lambda d: max(d - 1, 1))),
        ],
    ),
    Mistake("eps is outside the root", "root", [("", lambda q, eps: np.sqrt(q) + eps)]),
    Mistake(
        "max(q, eps) in place of q + eps",
        "root",
        [
            ("", lambda q, eps: np.sqrt(np.maximum(q, eps))),
            ("of the root", lambda q, eps: np.maximum(np.sqrt(q), eps)),
        ],
    ),
    Mistake("eps is squared", "root", [("", lambda q, eps: np.sqrt(q + eps**2))]),
    Mistake("eps is missing", "root", [("", lambda q, eps: np.sqrt(q))]),
    Mistake("eps is rounded to zero in half precision", "root", [("", partial(_rounded_eps, dtype=np.float16))]),
    Mistake("eps is rounded to single precision", "root", [("", partial(_rounded_eps, dtype=np.float32))]),
    Mistake(
        "not centred, as in RMSNorm",
        "statistics",
        [
            ("", lambda z: (0 * _mean(z), _mean(z**2))),
            ("the variance about 0, the numerator centred", lambda z: (_mean(z), _mean(z**2))),
        ],
    ),
    Mistake("not centred, as in RMSNorm", "numerator", [("in the numerator only", lambda z, mean: z)]),
    Mistake("the stored gain is taken for gain - 1", "affine", [("", lambda u, gain, bias: (1 + gain) * u + bias)]),
    Mistake("the gain is dropped", "affine", [("", lambda u, gain, bias: u + bias)]),
    Mistake("the bias is dropped", "affine", [("", lambda u, gain, bias: gain * u)]),
    Mistake("gain and bias are dropped", "affine", [("", lambda u, gain, bias: u)]),
    Mistake("gain and bias are swapped", "affine", [("", lambda u, gain, bias: bias * u + gain)]),
    Mistake("the bias is added before the gain multiplies", "affine", [("", lambda u, gain, bias: gain * (u + bias))]),
    Mistake("the bias is subtracted", "affine", [("", lambda u, gain, bias: gain * u - bias)]),
    Mistake("the gain is on the wrong axis", "affine", [("", lambda u, gain, bias: _column(gain) * u + bias)]),
    Mistake("the bias is on the wrong axis", "affine", [("", lambda u, gain, bias: gain * u + _column(bias))]),
    Mistake(
        "gain and bias are on the wrong axis", "affine", [("", lambda u, gain, bias: _column(gain) * u + _column(bias))]
    ),
    Mistake(
        "normalized over the wrong axes",
        "statistics",
        [
            ("all of them", partial(_over, axes=lambda ndim: tuple(range(ndim)))),
            ("all but the first", partial(_over, axes=lambda ndim: tuple(range(1, ndim)))),
            ("the first", partial(_over, axes=lambda ndim: 0)),
            ("the last but one", partial(_over, axes=lambda ndim: -2)),
            ("all but the last, as in batch normalization", partial(_over, axes=lambda ndim: tuple(range(ndim - 1)))),
        ],
    ),
    Mistake(
        "padding is counted in the mean or the variance",
        "statistics",
        [
            (f"rows padded to {words}", partial(_padded, width=width, **forgotten))
            for words, width in WIDTHS.items()
            for forgotten in FORGOTTEN
        ],
    ),
    Mistake(
        "rows are mixed",
        "statistics",
        [
            (f"{what} of {words}", partial(_mixed, other_row=row, mean_too=mean_too, variance_too=variance_too))
            for what, mean_too, variance_too in (
                ("mean and variance", True, True),
                ("the mean", True, False),
                ("the variance", False, True),
            )
            for words, row in OTHER_ROWS.items()
        ],
    ),
)

GRADIENT_MISTAKES = (
    Mistake("the gradient by the input lacks both mean terms", "terms", [("", lambda one, other: 0 * other)]),
    Mistake("the gradient by the input lacks the term mean(gain * g)", "terms", [("", lambda one, other: other)]),
    Mistake(
        "the gradient by the input lacks the term u mean(gain * g * u)",
        "terms",
        [("", lambda one, other: one + 0 * other)],
    ),
    Mistake(
        "the gradient by the input subtracts a mean term twice",
        "terms",
        [
            ("mean(gain * g)", lambda one, other: 2 * one + other),
            ("u mean(gain * g * u)", lambda one, other: one + 2 * other),
        ],
    ),
    Mistake("the gradient by the input lacks the gain", "stretched", [("", lambda gain, g: g)]),
    Mistake("the gradient by the input is not divided by sqrt(q + eps)", "inverse", [("", lambda root: 1)]),
    Mistake(
        "the parameter gradients are averaged over positions, not summed",
        "parameters",
        [("", lambda dgain, dbias: tuple(p.reshape(-1, p.shape[-1]).mean(axis=0) for p in (dgain, dbias)))],
    ),
    Mistake(
        "the parameter gradients are those of one position",
        "parameters",
        [
            ("the first", lambda dgain, dbias: tuple(p.reshape(-1, p.shape[-1])[0] for p in (dgain, dbias))),
            ("the last", lambda dgain, dbias: tuple(p.reshape(-1, p.shape[-1])[-1] for p in (dgain, dbias))),
        ],
    ),
    Mistake(
        "the gradients by gain and bias are swapped",
        "parameters",
        [("", lambda dgain, dbias: (sum_positions(dbias), sum_positions(dgain)))],
    ),
)


CANCELLING_VARIANCE = "the variance is computed as E[z^2] - E[z]^2"
HALF_STATISTICS = "the statistics are computed in half precision"
HALF_SUMS = "the sums over positions are kept in half precision"


def known_mistakes():
    """The names of the mistakes that a report can name."""
    in_the_formulas = [mistake.name for mistake in (*FORWARD_MISTAKES, *GRADIENT_MISTAKES)]
    return tuple(dict.fromkeys([*in_the_formulas, CANCELLING_VARIANCE, HALF_STATISTICS, HALF_SUMS]))


def diagnose(rows, layer):
    """The names of the mistakes that explain the wrong numbers in the log of the layer; none if nothing does."""
    with np.errstate(all="ignore"):
        failed = {row.name for row in rows if not row.holds}
        kinds = {row.kind for row in rows if not row.holds}
        named = []
        recipe = {}
        if CONVENTION in kinds:
            calls = [call for call in layer.log if call.kind == CONVENTION]
            named, recipe = _explain(FORWARD_MISTAKES, calls, _forward_model, _tolerance(layer))
            if not named and _half_statistics(calls):
                named = [HALF_STATISTICS]
        else:
            named += _digits(failed, layer)
        if GRADIENT in kinds:
            named += _explain_gradient([call for call in layer.log if call.kind == GRADIENT], recipe, layer)
        elif "sum-stalls" in failed:
            named += _stalled_sums(layer)
        return tuple(named)


def _tolerance(layer):
    """More than rounding makes of outputs of about 1, less than any of the mistakes does."""
    return max(32 * 2.0**-layer.digits, 1e-9)


def _explain(mistakes, calls, model, tolerance):
    """The one mistake, otherwise the two mistakes, with which the model gives every number of the calls."""
    choices = [(mistake, variant) for mistake in mistakes for variant in mistake.variants]
    for size in (1, 2):
        for chosen in combinations(choices, size):
            recipe = {mistake.part: replacement for mistake, (_, replacement) in chosen}
            if len(recipe) == size and _fits(calls, model, recipe, tolerance):
                return [mistake.named(detail) for mistake, (detail, _) in chosen], recipe
    return [], {}


def _fits(calls, model, recipe, tolerance):
    """Whether every call has the numbers of the model, some of them other than the right ones.

    A call that the model cannot answer in the right shape says nothing.
    """
    differs = False
    for call in calls:
        try:
            numbers = model(call, **recipe)
        except ValueError:
            continue
        right = model(call)
        if any(n.shape != r.shape for n, r in zip(numbers, right, strict=True)):
            continue
        size = max(1, *(np.abs(a).max(where=np.isfinite(a), initial=0) for a in (*numbers, *right)))
        if not _close(numbers, call.returned, tolerance * size):
            return False
        differs = differs or not _close(right, call.returned, tolerance * size)
    return differs


def _close(numbers, others, tolerance):
    return all(
        a.shape == b.shape and np.allclose(a, b, rtol=0, atol=tolerance, equal_nan=True)
        for a, b in zip(numbers, others, strict=True)
    )


def _wide(call):
    return (np.asarray(a, np.float64) for a in (call.z, call.gain, call.bias))


def _forward_model(call, **recipe):
    z, gain, bias = _wide(call)
    return (layer_norm(z, gain, bias, call.eps, **recipe),)


def _gradient_model(call, **recipe):
    z, gain, _ = _wide(call)
    return vjp(z, gain, call.eps, call.cotangent.astype(np.float64), **recipe)


def _derivative_model(call, **recipe):
    """The gradients of a layer norm put together of other parts, by central differences."""
    arguments = list(_wide(call))
    g = call.cotangent.astype(np.float64)
    gradients = []
    for which, argument in enumerate(arguments):
        gradient = np.zeros_like(argument)
        for index in np.ndindex(argument.shape):
            changes = []
            for step in (1e-5, -1e-5):
                moved = argument.copy()
                moved[index] += step
                changes.append(
                    (g * layer_norm(*arguments[:which], moved, *arguments[which + 1 :], call.eps, **recipe)).sum()
                )
            gradient[index] = (changes[0] - changes[1]) / 2e-5
        gradients.append(gradient)
    return tuple(gradients)


def _explain_gradient(calls, recipe, layer):
    tolerance = _tolerance(layer)
    if recipe and _fits(calls, _derivative_model, recipe, max(tolerance, 1e-6)):
        return []  # the right gradient of the wrong layer, which is named already
    named, _ = _explain(GRADIENT_MISTAKES, calls, _gradient_model, tolerance)
    if named or recipe:
        return named
    for mistake in FORWARD_MISTAKES:
        for detail, replacement in mistake.variants:
            if _fits(calls, _derivative_model, {mistake.part: replacement}, max(tolerance, 1e-6)):
                return [f"the gradient is that of another layer: {mistake.named(detail)}"]
    return []


def _half_statistics(calls):
    """Whether outputs are off, and all of them by no more than half precision costs, or overflow where it does."""
    differs = False
    for call in calls:
        z, gain, bias = _wide(call)
        right = layer_norm(z, gain, bias, call.eps)
        got = call.returned[0]
        if got.shape != right.shape:
            return False
        if call.eps < np.finfo(np.float16).smallest_subnormal:
            continue
        conditioning = 1 + np.abs(z).max() / np.sqrt(row_statistics(z)[1] + call.eps).min()
        size = (np.abs(right - bias) + np.abs(bias)).max()
        error = np.abs(got - right).max()
        if not error <= 4 * 2.0**-11 * conditioning * size:
            return False
        differs = differs or error > 2.0**-14 * size
    return differs


def _digits(failed, layer):
    """The mistakes that show only where digits are lost."""
    shifted = [call for call in layer.log if call.check in failed and call.check.startswith("shift-")]
    shifted = [call for call in shifted if _squares_fit(call)]
    if shifted and all(_variance_cancels(call, layer.digits) for call in shifted):
        return [CANCELLING_VARIANCE]
    if layer.dtype == np.float16 and "eps-scaling/large" in failed:
        return [HALF_STATISTICS]
    return []


def _stalled_sums(layer):
    """A running sum of ones stops where the next integer is no float: at 256 in bfloat16, at 2048 in float16."""
    sums = np.ravel([call.returned[2] for call in layer.log if call.check == "sum-stalls"])
    stalled = sums.size and np.isin(sums, (256, 2048)).all()
    return [HALF_SUMS] if stalled else []


def _squares_fit(call):
    """Whether the sum of squares stays in the range of the dtype, so that an overflow explains nothing."""
    return bool(np.isfinite(np.square(call.z).sum()))


def _variance_cancels(call, digits):
    """Whether the variance behind these outputs is off by about the last digit of the mean of squares."""
    got = call.returned[0]
    if not np.isfinite(got).all():
        return True
    z = exact.fractions(call.z)
    v = (z - exact.mean(z)).astype(np.float64)
    q = _mean(v**2)
    slope = _mean(got * v) / q
    implied = 1 / slope**2 - call.eps
    return bool((np.abs(implied - q) <= 64 * 2.0**-digits * _mean(call.z.astype(np.float64) ** 2)).all())

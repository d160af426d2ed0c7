"""Which mistakes the numbers fit: every mistake of the catalogue is tried on every call, and all that fit are named."""

from functools import partial
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from lnbook.conformance import models, signatures
from lnbook.conformance.catalogue import (
    FORWARD_MISTAKES,
    GRADIENT_MISTAKES,
    OUTPUT_REUSED,
    STATEFUL,
    STRIDES_IGNORED,
    Mistake,
)
from lnbook.conformance.statements import CONVENTION, GRADIENT, MEMORY

SMALL = 64  # entries of an input whose derivatives are taken by differences


class Cause(NamedTuple):
    """A mistake, and in which of its forms it was made."""

    mistake: Mistake
    detail: str = ""
    before: str = ""

    def __str__(self):
        return f"{self.before}{self.mistake.name}" + (f" ({self.detail})" if self.detail else "")


class Finding(NamedTuple):
    """What explains some of the wrong numbers: one cause, or several that make the same numbers."""

    causes: tuple

    def __str__(self):
        return ", or ".join(map(str, self.causes))

    @property
    def places(self):
        """Where to look."""
        return tuple(dict.fromkeys(cause.mistake.place for cause in self.causes))


class Asked(NamedTuple):
    """Calls of the function under test, and how near the numbers of a model must come to theirs."""

    calls: list
    model: object
    tolerance: float


class Diagnosis(NamedTuple):
    """The findings, and the names of the rows whose wrong numbers none of them explains."""

    findings: tuple
    unexplained: tuple


def diagnose(rows, layer):
    """What explains the wrong numbers in the log of the layer. The digits are judged once the formula is right."""
    failed = {row.name: row for row in rows if not row.holds and not row.without_numbers}
    kinds = {row.kind for row in failed.values()}
    calls = {kind: [c for c in layer.log if c.kind == kind] for kind in (CONVENTION, GRADIENT, MEMORY)}
    recipe, found = {}, {}
    with np.errstate(all="ignore"):
        if failed and signatures.other_at_the_second_call(layer.log, tolerance(layer)):
            return Diagnosis((one_cause(STATEFUL),), ())  # such numbers say nothing about the formula
        if CONVENTION in kinds:
            found[CONVENTION], recipe = explained_output(calls[CONVENTION], layer)
        output_as_found, gradient_as_found = partial(forward_model, **recipe), gradient_model
        if GRADIENT in kinds:
            found[GRADIENT], gradient_as_found = explained_gradient(calls[GRADIENT], recipe, layer)
        digits = [
            one
            for one in signatures.digits_lost(failed, layer)
            if (not found.get(GRADIENT) if one.of_gradient else CONVENTION not in kinds)
        ]
        in_the_memory = in_memory(failed, calls, output_as_found, gradient_as_found, layer)
    right_of_wrong = bool(recipe) and GRADIENT in kinds and not found[GRADIENT]
    explained = {name for one in digits for name in one.rows}
    if found.get(CONVENTION):
        explained |= {name for name, row in failed.items() if not row.uses_vjp}
    if found.get(GRADIENT) or right_of_wrong:
        explained |= {name for name, row in failed.items() if row.uses_vjp}
    if in_the_memory:
        explained |= {name for name, row in failed.items() if row.kind == MEMORY}
    findings = [
        *found.get(CONVENTION, []),
        *found.get(GRADIENT, []),
        *(one_cause(one.mistake, one.detail) for one in digits),
        *in_the_memory,
    ]
    return Diagnosis(tuple(dict.fromkeys(findings)), tuple(name for name in failed if name not in explained))


def gradient_tolerance(layer):
    """The terms of a gradient may be larger than their sum."""
    return tolerance(layer) * (8 if layer.digits > 11 else 2)


def one_cause(mistake, detail=""):
    return Finding((Cause(mistake, detail),))


def tolerance(layer):
    """More than rounding makes of outputs of about 1, less than any of the mistakes does."""
    return max(layer.tolerance * 2 * 2.0**-layer.digits, 1e-9)


# The output


def explained_output(calls, layer):
    late = signatures.late_positions(calls, layer)
    if late:
        return [one_cause(*late)], {}
    asked = Asked(calls, forward_model, tolerance(layer))
    findings, recipe = explained(FORWARD_MISTAKES, asked)
    if findings:
        return findings, recipe
    return [one_cause(*found) for found in signatures.inexact_output(calls, layer)], {}


def explained(mistakes, asked):
    """The one mistake, otherwise the two, with which the model gives every number of the calls, and its recipe."""
    first = ("def-output", "gain-input-jacobian")  # these rule out most
    asked = asked._replace(calls=sorted(asked.calls, key=lambda call: (call.check not in first, call.z.size)))
    right = [asked.model(call) for call in asked.calls]
    fitting = []
    for mistake in mistakes:
        for detail, replacement in mistake.variants:
            if fits(asked, right, {mistake.part: replacement}):
                fitting.append((Cause(mistake, detail), {mistake.part: replacement}))
    if fitting:
        return [Finding(joined([cause for cause, _ in fitting]))], fitting[0][1]
    return explained_by_two(mistakes, asked, right)


def joined(causes):
    """The causes with all details of one mistake in one."""
    details = {}
    for cause in causes:
        details.setdefault((cause.mistake.name, cause.before), (cause.mistake, []))[1].append(cause.detail)
    return tuple(Cause(mistake, shortened(found), before) for (_, before), (mistake, found) in details.items())


def shortened(details):
    """A plain variant says enough; of many others, the first three."""
    if "" in details:
        return ""
    return " or ".join(details[:3]) + (f" or {len(details) - 3} others" if len(details) > 3 else "")


def explained_by_two(mistakes, asked, right):
    """Pairs of mistakes of different parts; those of one mistake are joined."""
    fitting = []
    first = asked._replace(calls=asked.calls[:1])
    for ones, others in combinations(alike(mistakes, first), 2):
        if is_pair(ones[0], others[0]) and fits(first, right[:1], recipe_of(ones[0], others[0])):
            fitting += [
                pair for pair in product(ones, others) if is_pair(*pair) and fits(asked, right, recipe_of(*pair))
            ]
    if not fitting:
        return [], {}
    causes = ([Cause(mistake, detail) for mistake, detail, _ in side] for side in zip(*fitting, strict=True))
    return [Finding(joined(side)) for side in causes], recipe_of(*fitting[0])


def is_pair(one, other):
    return one[0].part != other[0].part


def recipe_of(*choices):
    return {mistake.part: replacement for mistake, _, replacement in choices}


def alike(mistakes, first):
    """Groups of variants of one part which the first call cannot tell apart."""
    groups = {}
    for mistake in mistakes:
        for detail, replacement in mistake.variants:
            choice = (mistake, detail, replacement)
            try:
                numbers = first.model(first.calls[0], **recipe_of(choice))
            except (ValueError, IndexError):
                groups[choice] = [choice]
            else:
                key = (mistake.part, *(np.round(n, 12).tobytes() for n in numbers))
                groups.setdefault(key, []).append(choice)
    return list(groups.values())


def fits(asked, right, recipe):
    """Whether every call has the numbers of the model, some of them other than the right ones.

    A call that the model cannot answer in the right shape says nothing.
    """
    differs = False
    flips = rounding_of(recipe)
    for call, correct in zip(asked.calls, right, strict=True):
        try:
            numbers = asked.model(call, **recipe)
        except (ValueError, IndexError):
            continue
        if any(n.shape != r.shape for n, r in zip(numbers, correct, strict=True)):
            continue
        sizes = [size_of(n, r) for n, r in zip(numbers, correct, strict=True)]
        if not close(numbers, call.returned, asked.tolerance, sizes, flips):
            return False
        differs = differs or not close(correct, call.returned, asked.tolerance, sizes)
    return differs


def rounding_of(recipe):
    """How far a number jumps that lies between two numbers of the narrower format to which the recipe rounds."""
    forms = [r.keywords["form"] for part, r in recipe.items() if part in ("kept", "given") and "form" in keywords(r)]
    return max((models.UNITS[form] for form in forms), default=0)


def keywords(replacement):
    return replacement.keywords if isinstance(replacement, partial) else {}


def size_of(*arrays):
    return max(1, *(np.abs(a).max(where=np.isfinite(a), initial=0) for a in arrays))


def close(numbers, others, tolerance, sizes, flips=0):
    """Where one is no number, the other must be none either; a few may be off by a rounding of the other kind."""
    return all(
        a.shape == b.shape
        and np.array_equal(np.isfinite(a), np.isfinite(b))
        and all_but_flips(np.abs(a - b)[np.isfinite(a)] / size, tolerance, flips)
        for a, b, size in zip(numbers, others, sizes, strict=True)
    )


def all_but_flips(errors, tolerance, flips):
    off = errors > tolerance
    return not off.any() or (off.sum() <= 1 + errors.size // 50 and errors.max() <= tolerance + flips)


def wide(call):
    return (np.asarray(a, np.float64) for a in (call.z, call.gain, call.bias))


def forward_model(call, **recipe):
    return (models.layer_norm(*wide(call), call.eps, **recipe),)


def gradient_model(call, **recipe):
    return models.vjp(*wide(call), call.eps, call.cotangent.astype(np.float64), **recipe)


# The gradient


def derivative_model(call, **recipe):
    """The gradients of a layer norm put together of other parts, by central differences."""
    arguments = list(wide(call))
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
                    (
                        g * models.layer_norm(*arguments[:which], moved, *arguments[which + 1 :], call.eps, **recipe)
                    ).sum()
                )
            gradient[index] = (changes[0] - changes[1]) / 2e-5
        gradients.append(gradient)
    return tuple(gradients)


def explained_gradient(calls, recipe, layer):
    """The findings of the gradient, and the model of it that they make.

    There are none if it is the right gradient of the wrong layer, which is named already.
    """
    differentiated, right = asked_of_derivatives(calls, layer)
    if recipe and fits(differentiated, right, recipe):
        return [], partial(derivative_model, **recipe)
    found, parts = explained(GRADIENT_MISTAKES, Asked(calls, gradient_model, gradient_tolerance(layer)))
    if found:
        return found, partial(gradient_model, **parts)
    fitting = [
        (Cause(mistake, detail, "the gradient is that of another layer: "), {mistake.part: replacement})
        for mistake in FORWARD_MISTAKES
        for detail, replacement in mistake.variants
        if mistake.part != "given" and fits(differentiated, right, {mistake.part: replacement})
    ]
    if fitting:
        return [Finding(joined([cause for cause, _ in fitting]))], partial(derivative_model, **fitting[0][1])
    return [one_cause(*found) for found in signatures.inexact_gradient(calls, layer)], gradient_model


def asked_of_derivatives(calls, layer):
    small = [
        call for call in calls if call.z.size <= SMALL and call.z.shape[-1] > 1 and call.check != "eps-jacobian/scales"
    ]
    asked = Asked(small, derivative_model, max(tolerance(layer), 1e-6))
    return asked, [gradient_model(call) for call in small]


# The memory


def in_memory(failed, calls, output_as_found, gradient_as_found, layer):
    """What the layout of arrays changes, beside what is wrong with contiguous ones."""
    found = signatures.written_over(layer.log)
    if "def-output/kept" in failed and "def-output" not in failed:
        found.append((OUTPUT_REUSED, ""))
    misread = set()
    for plain, kind, model in (
        ("def-output", CONVENTION, output_as_found),
        ("gain-input-jacobian", GRADIENT, gradient_as_found),
    ):
        known = max((distance(call, model) for call in calls[kind] if call.check == plain), default=0)
        laid = [call for call in calls[MEMORY] if call.laid and (call.cotangent is not None) == (kind == GRADIENT)]
        misread |= {
            f"{array} {layout}"
            for call in laid
            if call.check in failed and distance(call, model) > 4 * known + gradient_tolerance(layer)
            for array, layout in call.laid.items()
        }
    if misread:
        found.append((STRIDES_IGNORED, ", ".join(sorted(misread))))
    return [one_cause(*one) for one in found]


def distance(call, model):
    """How far the numbers of a call are from those of the model, relative to their size."""
    numbers = model(call)
    if any(n.shape != r.shape for n, r in zip(numbers, call.returned, strict=True)):
        return np.inf
    differences = [np.abs(n - r).max() / size_of(n) for n, r in zip(numbers, call.returned, strict=True)]
    return max(np.nan_to_num(differences, nan=np.inf))

"""The mistakes of the gradient: each replaces one part of `models.vjp`, in one variant or several."""

from functools import partial

import numpy as np

from lnbook.conformance import models
from lnbook.conformance.mistake import ADDED, BLOCKS, USUAL_EPS, Mistake


def along_core(h, u):
    return u * models.mean_of(h * u)


def without_one(row):
    """What d - 1 in place of d makes of a mean; at d = 1 the divisor stays 1."""
    d = row.shape[-1]
    return d / max(d - 1, 1)


def of_gradient(name, place, part, *variants, reports=()):
    return Mistake(name, place, part, variants, reports)


GRADIENT_MISTAKES = (
    of_gradient(
        "the gradient by the input lacks both mean terms",
        "mean and variance depend on z, too",
        "terms",
        ("", lambda h, u, r, gain, g: 0 * h),
    ),
    of_gradient(
        "the gradient by the input lacks the term mean(gain * g)",
        "the derivative of the mean",
        "terms",
        ("", lambda h, u, r, gain, g: along_core(h, u)),
    ),
    of_gradient(
        "the gradient by the input lacks the term u mean(gain * g * u)",
        "the derivative of the variance",
        "terms",
        ("", lambda h, u, r, gain, g: models.mean_of(h)),
    ),
    of_gradient(
        "the gradient by the input subtracts a mean term twice",
        "the terms of dz",
        "terms",
        ("mean(gain * g)", lambda h, u, r, gain, g: 2 * models.mean_of(h) + along_core(h, u)),
        ("u mean(gain * g * u)", lambda h, u, r, gain, g: models.mean_of(h) + 2 * along_core(h, u)),
        reports=("tt-metal-53204",),
    ),
    of_gradient(
        "the gradient by the input adds a mean term in place of subtracting it",
        "the signs of the terms of dz",
        "terms",
        ("mean(gain * g)", lambda h, u, r, gain, g: along_core(h, u) - models.mean_of(h)),
        ("u mean(gain * g * u)", lambda h, u, r, gain, g: models.mean_of(h) - along_core(h, u)),
        ("both", lambda h, u, r, gain, g: -models.mean_of(h) - along_core(h, u)),
    ),
    of_gradient(
        "a mean over the row is missing in the gradient by the input",
        "the sums over the row in dz",
        "terms",
        ("u g u in place of u mean(g u)", lambda h, u, r, gain, g: models.mean_of(h) + u * h * u),
        ("u g u, and no mean(g)", lambda h, u, r, gain, g: u * h * u),
        ("u g u / sqrt(q + eps), and no mean(g)", lambda h, u, r, gain, g: u * h * u / r),
        reports=("page 'LayerNormBackward' (in nvidia/Nemotron-CC-Math-v1)",),
    ),
    of_gradient(
        "a mean term of the gradient by the input is a sum, not divided by d",
        "the sums over the row in dz: `sum` for `mean`",
        "terms",
        ("mean(gain * g)", lambda h, u, r, gain, g: h.shape[-1] * models.mean_of(h) + along_core(h, u)),
        ("u mean(gain * g * u)", lambda h, u, r, gain, g: models.mean_of(h) + h.shape[-1] * along_core(h, u)),
        ("both", lambda h, u, r, gain, g: h.shape[-1] * models.both_terms(h, u, r, gain, g)),
    ),
    of_gradient(
        "a mean term of the gradient by the input is divided by d - 1",
        "the divisor of the sums in dz",
        "terms",
        ("u mean(gain * g * u)", lambda h, u, r, gain, g: models.mean_of(h) + without_one(u) * along_core(h, u)),
        ("both", lambda h, u, r, gain, g: without_one(u) * models.both_terms(h, u, r, gain, g)),
    ),
    of_gradient(
        "half of a mean term is subtracted in the gradient by the input",
        "the factor 2 of the derivative of a square",
        "terms",
        ("u mean(gain * g * u)", lambda h, u, r, gain, g: models.mean_of(h) + along_core(h, u) / 2),
    ),
    of_gradient(
        "z - mean stands for the core in the gradient by the input",
        "the term u mean(gain * g * u): each u in it is divided by sqrt(q + eps)",
        "terms",
        ("once", lambda h, u, r, gain, g: models.mean_of(h) + along_core(h, u) * r),
        ("twice", lambda h, u, r, gain, g: models.mean_of(h) + along_core(h, u) * r**2),
    ),
    of_gradient(
        "a mean term of the gradient by the input lacks the gain",
        "g in place of gain * g within the means",
        "terms",
        ("mean(gain * g)", lambda h, u, r, gain, g: models.mean_of(g) + along_core(h, u)),
        ("u mean(gain * g * u)", lambda h, u, r, gain, g: models.mean_of(h) + along_core(g, u)),
        ("both", lambda h, u, r, gain, g: models.mean_of(g) + along_core(g, u)),
    ),
    of_gradient(
        "the gain multiplies the gradient of the core, not the gradient that comes in",
        "the order: gain * g first, then the terms with the means",
        "terms",
        ("", lambda h, u, r, gain, g: gain * (models.mean_of(g) + along_core(g, u))),
    ),
    of_gradient(
        "the gradient by the input lacks the gain", "the product gain * g in dz", "stretched", ("", lambda gain, g: g)
    ),
    of_gradient(
        "the gradient by the input has the gain twice",
        "whether a caller has multiplied g by the gain already",
        "stretched",
        ("", lambda gain, g: gain * gain * g),
    ),
    of_gradient(
        "the gradient by the input is not divided by sqrt(q + eps)",
        "the last factor of dz",
        "inverse",
        ("", lambda root: 1),
    ),
    of_gradient(
        "the gradient by the input is divided by q + eps, not by its root",
        "the last factor of dz",
        "inverse",
        ("", lambda root: 1 / root**2),
    ),
    of_gradient(
        "1 / sqrt(q + eps) is inverted again",
        "what the forward pass has saved: the root, or 1 over the root",
        "inverse",
        ("", lambda root: root),
    ),
    of_gradient(
        "1 / sqrt(q + eps) is inverted again",
        "what the forward pass has saved: the root, or 1 over the root",
        "root",
        ("in the core as well", lambda q, eps: 1 / np.sqrt(q + eps)),
    ),
    of_gradient(
        "the gradient by the input is divided by d",
        "the factor before the terms of dz: the means have it already",
        "scaled",
        ("", lambda dz, d: dz / d),
    ),
    of_gradient(
        "the gradient by the input is multiplied by d",
        "the factor before d * h - sum(h) - u * sum(h * u)",
        "scaled",
        ("", lambda dz, d: dz * d),
    ),
    of_gradient("the gradient by the input has the wrong sign", "the sign of dz", "scaled", ("", lambda dz, d: -dz)),
    of_gradient(
        "eps is missing in the backward pass",
        "the root that the backward pass uses or computes again",
        "root",
        ("", lambda q, eps: np.sqrt(q)),
    ),
    of_gradient(
        "eps is hard-coded in the backward pass",
        "the root that the backward pass uses or computes again",
        "root",
        *((f"{c:.4g}", lambda q, eps, c=c: np.sqrt(q + c)) for c in USUAL_EPS),
    ),
    of_gradient(
        "the output is taken for the core",
        "what is saved for the backward pass: u, or y = gain * u + bias",
        "core",
        ("", lambda z, v, root, gain, bias: gain * v / root + bias),
    ),
    of_gradient(
        "the core of the gradient by the input is not centred",
        "the mean, which the backward pass must have saved or computed again",
        "core",
        ("", lambda z, v, root, gain, bias: z / root),
    ),
    of_gradient(
        "the core is had back as (y - bias) / gain",
        "gains that are 0: nothing of the core is left in y there",
        "core",
        ("0 / 0 at a gain of 0", lambda z, v, root, gain, bias: np.where(gain == 0, np.nan, v / root)),
        ("0 at a gain of 0", lambda z, v, root, gain, bias: np.where(gain == 0, 0, v / root)),
        reports=("apex-1715",),
    ),
    of_gradient(
        "the gradient by the gain is not that of g * u",
        "the core in dgain = sum(g * u)",
        "for_gain",
        ("z is not centred: g * z / sqrt(q + eps)", lambda z, v, root, y: z / root),
        ("not divided by the root: g * (z - mean)", lambda z, v, root, y: v),
        ("z in place of the core", lambda z, v, root, y: z),
        ("the output in place of the core", lambda z, v, root, y: y),
    ),
    of_gradient(
        "the gradients by gain or bias are summed from another cotangent than g",
        "whether g was written over, with gain * g or with dz, before the sums",
        "cotangents",
        ("gain * g for the bias", lambda g, h, dz: (g, h)),
        ("gain * g for the gain", lambda g, h, dz: (h, g)),
        ("gain * g for both", lambda g, h, dz: (h, h)),
        ("dz for the bias", lambda g, h, dz: (g, dz)),
        ("dz for the gain", lambda g, h, dz: (dz, g)),
        ("dz for both", lambda g, h, dz: (dz, dz)),
    ),
    of_gradient(
        "a gradient is 0",
        "the chain from the loss to the argument: `detach`, `no_grad`, an operation without backward",
        "finished",
        ("by the input", lambda dz, dgain, dbias: (0 * dz, dgain, dbias)),
        ("by the gain", lambda dz, dgain, dbias: (dz, 0 * dgain, dbias)),
        ("by the bias", lambda dz, dgain, dbias: (dz, dgain, 0 * dbias)),
        ("by gain and bias", lambda dz, dgain, dbias: (dz, 0 * dgain, 0 * dbias)),
        ("by all three", lambda dz, dgain, dbias: (0 * dz, 0 * dgain, 0 * dbias)),
        reports=("huggingface/candle PR#3012", "harvard-edge/cs249r_book PR#1504"),
    ),
    of_gradient(
        "the gradients by gain and bias are swapped",
        "the order of what is returned",
        "finished",
        ("", lambda dz, dgain, dbias: (dz, dbias, dgain)),
    ),
    of_gradient(
        "the parameter gradients are averaged over positions, not summed",
        "the sums over positions: `mean` for `sum`",
        "sums",
        ("", lambda p: p.reshape(-1, p.shape[-1]).mean(axis=0)),
    ),
    of_gradient(
        "the parameter gradients are summed over each row, not over positions",
        "the axes of the sums: all but the last",
        "sums",
        ("", lambda p: p.reshape(-1, p.shape[-1]).sum(axis=-1)),
    ),
    of_gradient(
        "the parameter gradients are those of one position",
        "the sums over positions",
        "sums",
        ("the first", lambda p: p.reshape(-1, p.shape[-1])[0]),
        ("the last", lambda p: p.reshape(-1, p.shape[-1])[-1]),
    ),
    of_gradient(
        "the sums over positions leave positions out",
        "the last, smaller block of positions",
        "sums",
        *((f"only {words}", partial(models.sum_of_some, marks=marks)) for words, marks in ADDED.items()),
        *(
            (f"only the last block of {b}", partial(models.sum_of_some, marks=partial(models.last_block, block=b)))
            for b in BLOCKS
        ),
        reports=("BobMcDear/attorch#18",),
    ),
)

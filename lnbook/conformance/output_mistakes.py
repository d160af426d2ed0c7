"""The mistakes of the output: each replaces one part of `models.layer_norm`, in one variant or several."""

from functools import partial
from itertools import product

import numpy as np

from lnbook.conformance import models
from lnbook.conformance.mistake import ADDED, USUAL_EPS, Mistake

WIDTHS = {
    "the next power of two": lambda d: 1 << (d - 1).bit_length(),
    **{f"a multiple of {2**k}": lambda d, block=2**k: -(-d // block) * block for k in range(2, 11)},
}
FORGOTTEN = [
    {"mean_too": mean_too, "count_zeros": count_zeros, "divide_by_width": divide}
    for mean_too, count_zeros, divide in product((False, True), repeat=3)
    if mean_too or count_zeros or divide
]
UNPAIRED = {
    **{f"sums of {w} entries are exchanged pairwise": partial(models.paired_warps, warp=w) for w in (32, 64)},
    "the upper half is added to the lower, again and again": models.halved,
}
WHICH_SUM = (("of mean and variance", True, True), ("of the mean", True, False), ("of the variance", False, True))
OTHER_ROWS = {
    "the first row": lambda s: np.broadcast_to(s[:1], s.shape),
    "the last row": lambda s: np.broadcast_to(s[-1:], s.shape),
    "the row before": lambda s: np.roll(s, 1, axis=0),
    "the row after": lambda s: np.roll(s, -1, axis=0),
}
NARROW = ("float16", "bfloat16", "float32")


def column(parameter):
    return parameter[:, None]


def partial_statistics(added):
    """The variants of a sum that leaves entries of the row out."""
    return tuple(
        (f"{words}; the sum {of_what}", partial(models.partial_sums, added=marks, mean_too=mean, variance_too=variance))
        for words, marks in added.items()
        for of_what, mean, variance in WHICH_SUM
    )


def rounded(part_of):
    """One variant for each narrower format; `part_of` makes the replacement from the format."""
    return tuple((form, part_of(form)) for form in NARROW)


def rounding(form):
    return partial(models.rounded_to, form=form)


FORWARD_MISTAKES = (
    Mistake(
        "the variance is divided by d - 1, not d",
        "the function of the variance: `ddof`, `unbiased`, `correction`",
        "statistics",
        (
            ("", partial(models.divided_by, divisor=lambda d: d - 1)),
            ("but by 1 where d is 1", partial(models.divided_by, divisor=lambda d: max(d - 1, 1))),
        ),
        ("annotated-119",),
    ),
    Mistake(
        "the squares are summed, not averaged",
        "the variance: mean(v^2), not the squared length of v",
        "statistics",
        (("", partial(models.divided_by, divisor=lambda d: 1)),),
    ),
    Mistake(
        "the mean of |v| stands for the root of the variance",
        "the scale of the row: squares, their mean, and its root",
        "root",
        (
            ("", lambda q, eps, v: np.sqrt(models.mean_of(np.abs(v)) ** 2 + eps)),
            ("with eps outside the root", lambda q, eps, v: models.mean_of(np.abs(v)) + eps),
        ),
    ),
    Mistake(
        "the root is missing",
        "the denominator: sqrt(q + eps), not q + eps",
        "root",
        (("", lambda q, eps, v: q + eps),),
    ),
    Mistake(
        "the root is taken twice",
        "whether a function returns the variance or its root: `var`, `std`",
        "root",
        (
            ("eps is added to the first", lambda q, eps, v: np.sqrt(np.sqrt(q) + eps)),
            ("eps is added to q", lambda q, eps, v: np.sqrt(np.sqrt(q + eps))),
        ),
    ),
    Mistake(
        "v is multiplied by the root, not divided by it",
        "the last step of the core, and whether the root or 1 over it is at hand",
        "root",
        (("", lambda q, eps, v: 1 / np.sqrt(q + eps)),),
    ),
    Mistake(
        "eps is outside the root",
        "the denominator: sqrt(q + eps), not sqrt(q) + eps",
        "root",
        (("", lambda q, eps, v: np.sqrt(q) + eps), ("and inside as well", lambda q, eps, v: np.sqrt(q + eps) + eps)),
        ("bert-pytorch-30", "burn-2185", "microsoft/CNTK#3816"),
    ),
    Mistake(
        "max(q, eps) in place of q + eps",
        "the denominator: `max`, `maximum`, `clamp`, `clip`",
        "root",
        (
            ("", lambda q, eps, v: np.sqrt(np.maximum(q, eps))),
            ("of the root", lambda q, eps, v: np.maximum(np.sqrt(q), eps)),
        ),
        ("jax-33496",),
    ),
    Mistake(
        "eps is squared",
        "the denominator: eps is added to the variance as it is",
        "root",
        (("", lambda q, eps, v: np.sqrt(q + eps**2)),),
    ),
    Mistake(
        "eps is missing",
        "the denominator, and whether eps is handed on to it",
        "root",
        (("", lambda q, eps, v: np.sqrt(q)),),
        ("timvx-589",),
    ),
    Mistake(
        "eps is hard-coded",
        "the default of eps: the layer uses it in place of the eps that it is given",
        "root",
        tuple((f"{c:.4g}", lambda q, eps, v, c=c: np.sqrt(q + c)) for c in USUAL_EPS),
        ("keras-hub-642",),
    ),
    Mistake(
        "eps is added after z was divided by a scale",
        "the scaling against overflow: eps must be divided by the square of the scale",
        "root",
        (
            ("by max|z - mean|", lambda q, eps, v: scaled_root(q, eps, np.abs(v))),
            ("by the next power of two", lambda q, eps, v: scaled_root(q, eps, np.exp2(np.frexp(np.abs(v))[1]))),
        ),
    ),
    Mistake(
        "eps is added to a sum, not to a mean of squares",
        "the order of dividing by d and adding eps",
        "root",
        (
            ("divided by d after it was added", lambda q, eps, v: np.sqrt(q + eps / v.shape[-1])),
            ("to a sum that d has yet to divide", lambda q, eps, v: np.sqrt(q + eps * v.shape[-1])),
        ),
    ),
    Mistake(
        "eps is rounded to half precision, in which a small one is zero",
        "the format of eps where it is added or stored",
        "root",
        tuple((f, lambda q, eps, v, f=f: np.sqrt(q + models.rounded_to(eps, f))) for f in ("float16", "bfloat16")),
        ("pytorch-41527", "deepspeed-581", "pytorch-86580"),
    ),
    Mistake(
        "eps is rounded to single precision",
        "the format of eps where it is stored, as in a file of the model",
        "root",
        (("", lambda q, eps, v: np.sqrt(q + float(np.float32(eps)))),),
    ),
    Mistake(
        "q + eps or its root is rounded to a narrower format",
        "the format of the statistics that are stored or handed on",
        "root",
        (
            *rounded(lambda f: lambda q, eps, v: 1 / models.rounded_to(1 / np.sqrt(q + eps), f)),
            *rounded(lambda f: lambda q, eps, v: np.sqrt(models.rounded_to(q + eps, f))),
            *rounded(lambda f: lambda q, eps, v: models.rounded_to(np.sqrt(q + eps), f)),
        ),
    ),
    Mistake(
        "z is rounded to a narrower format first",
        "casts of the input, automatic mixed precision",
        "taken",
        rounded(rounding),
    ),
    Mistake(
        "the core is rounded to a narrower format before the gain multiplies",
        "a cast between normalizing and the gain",
        "kept",
        rounded(rounding),
        ("bigscience-workshop/Megatron-DeepSpeed PR#281",),
    ),
    Mistake("the output is rounded to a narrower format", "a cast of the output", "given", rounded(rounding)),
    Mistake(
        "not centred, as in RMSNorm",
        "the subtraction of the mean",
        "statistics",
        (
            ("", lambda z: (0 * models.mean_of(z), models.mean_of(z**2))),
            ("the variance about 0, the numerator centred", lambda z: (models.mean_of(z), models.mean_of(z**2))),
        ),
        ("transformers-14772",),
    ),
    Mistake(
        "not centred, as in RMSNorm",
        "the subtraction of the mean",
        "numerator",
        (("in the numerator only", lambda z, mean: z),),
        ("keras-21234",),
    ),
    Mistake(
        "the stored gain is taken for gain - 1",
        "the `1 +` at the gain",
        "affine",
        (("", lambda u, gain, bias: (1 + gain) * u + bias),),
        ("mold-1074",),
    ),
    Mistake(
        "1 is missing: the gain is stored less 1",
        "the `1 +` at the gain, which this model's file needs",
        "affine",
        (("", lambda u, gain, bias: (gain - 1) * u + bias),),
        ("executorch-19901",),
    ),
    Mistake("the gain is dropped", "whether the gain is handed on", "affine", (("", lambda u, gain, bias: u + bias),)),
    Mistake("the bias is dropped", "whether the bias is handed on", "affine", (("", lambda u, gain, bias: gain * u),)),
    Mistake(
        "gain and bias are dropped", "whether gain and bias are handed on", "affine", (("", lambda u, gain, bias: u),)
    ),
    Mistake(
        "gain and bias are swapped",
        "the order of the arguments",
        "affine",
        (("", lambda u, gain, bias: bias * u + gain),),
    ),
    Mistake(
        "the bias is added before the gain multiplies",
        "the order of the last two steps",
        "affine",
        (("", lambda u, gain, bias: gain * (u + bias)),),
        ("apple/ml-ane-transformers PR#2",),
    ),
    Mistake("the bias is subtracted", "the sign of the bias", "affine", (("", lambda u, gain, bias: gain * u - bias),)),
    Mistake(
        "gain or bias is applied twice",
        "whether both a kernel and its caller apply them",
        "affine",
        (
            ("the gain", lambda u, gain, bias: gain * gain * u + bias),
            ("the bias", lambda u, gain, bias: gain * u + 2 * bias),
            ("both", lambda u, gain, bias: gain * (gain * u + bias) + bias),
        ),
    ),
    Mistake(
        "z is added to the output",
        "a residual connection within the function",
        "joined",
        (("", lambda y, z: y + z),),
    ),
    Mistake(
        "mean and variance are not those of the row, but 0 and 1",
        "stored statistics, as batch normalization has them before it is trained: `running_mean`, `eval`",
        "statistics",
        (("", lambda z: (0 * models.mean_of(z), 0 * models.mean_of(z) + 1)),),
    ),
    Mistake(
        "the gain is on the wrong axis",
        "the shape to which the gain is broadcast",
        "affine",
        (("", lambda u, gain, bias: column(gain) * u + bias),),
        ("xlnet-227",),
    ),
    Mistake(
        "the bias is on the wrong axis",
        "the shape to which the bias is broadcast",
        "affine",
        (("", lambda u, gain, bias: gain * u + column(bias)),),
        ("xlnet-227",),
    ),
    Mistake(
        "gain and bias are on the wrong axis",
        "the shape to which gain and bias are broadcast",
        "affine",
        (("", lambda u, gain, bias: column(gain) * u + column(bias)),),
        ("xlnet-227",),
    ),
    Mistake(
        "one entry of gain or bias is used for all",
        "the index with which gain and bias are read",
        "affine",
        (
            ("the first gain", lambda u, gain, bias: gain[0] * u + bias),
            ("the first bias", lambda u, gain, bias: gain * u + bias[0]),
            ("both first ones", lambda u, gain, bias: gain[0] * u + bias[0]),
        ),
    ),
    Mistake(
        "normalized over the wrong axes",
        "the axes of mean and variance: the last one, and no other",
        "statistics",
        (
            ("all of them", partial(models.over, axes=lambda ndim: tuple(range(ndim)))),
            ("all but the first", partial(models.over, axes=lambda ndim: tuple(range(1, ndim)))),
            ("the first", partial(models.over, axes=lambda ndim: 0)),
            ("the last but one", partial(models.over, axes=lambda ndim: -2)),
            (
                "all but the last, as in batch normalization",
                partial(models.over, axes=lambda ndim: tuple(range(ndim - 1))),
            ),
        ),
        ("microsoft/onnxruntime PR#15844", "mlcvnets-34"),
    ),
    Mistake(
        "mean or variance has lost its axis, and is spread along the wrong one",
        "`keepdims`, `keepdim`, `keep_dims`",
        "statistics",
        tuple(
            (of_what.removeprefix("of "), partial(models.axis_lost, of_the_mean=mean, of_the_variance=variance))
            for of_what, mean, variance in WHICH_SUM
        ),
        ("microsoft/onnxruntime#30513", "microsoft/onnxruntime PR#31144"),
    ),
    Mistake(
        "padding is counted in the mean or the variance",
        "the mask of a block that is wider than the row, and the divisor",
        "statistics",
        tuple(
            (f"rows padded to {words}", partial(models.padded, width=width, **forgotten))
            for words, width in WIDTHS.items()
            for forgotten in FORGOTTEN
        ),
    ),
    Mistake(
        "the sums over a row leave entries out",
        "the loop over the blocks of a row, and its last, smaller block",
        "statistics",
        partial_statistics(ADDED),
    ),
    Mistake(
        "partial sums are added in pairs, although they are no power of two",
        "the reduction over warps or threads: masks of shuffles, halves of an odd number",
        "statistics",
        partial_statistics(UNPAIRED),
        ("xlite-dev/LeetCUDA#357",),
    ),
    Mistake(
        "rows are mixed",
        "the index of the row with which the statistics are read",
        "statistics",
        tuple(
            (f"{what} of {words}", partial(models.mixed, other_row=row, mean_too=mean_too, variance_too=variance_too))
            for what, mean_too, variance_too in (
                ("mean and variance", True, True),
                ("the mean", True, False),
                ("the variance", False, True),
            )
            for words, row in OTHER_ROWS.items()
        ),
    ),
    Mistake(
        "the last positions are not computed",
        "the number of blocks that are launched: it must be rounded up",
        "given",
        tuple((f"only {words}", partial(models.rows_done, marks=marks)) for words, marks in ADDED.items()),
    ),
)


def scaled_root(q, eps, sizes):
    largest = sizes.max(axis=-1, keepdims=True)
    scale = np.where(largest > 0, largest, 1)
    return scale * np.sqrt(q / scale**2 + eps)

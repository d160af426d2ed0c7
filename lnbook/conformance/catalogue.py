"""The mistakes that people make: what each is called, where to look for it, and who reported one.

Those of the formulas stand in `output_mistakes` and `gradient_mistakes`. Those below live in the digits or in the
memory, and no formula shows them: `signatures` tells how they are known.
"""

from lnbook.conformance.gradient_mistakes import GRADIENT_MISTAKES
from lnbook.conformance.mistake import Mistake
from lnbook.conformance.output_mistakes import FORWARD_MISTAKES

CANCELLING_VARIANCE = Mistake(
    "the variance is computed as E[z^2] - E[z]^2",
    "the formula of the variance, or an option such as `use_fast_variance`",
    reports=("onnxruntime-28463", "labml-layernorm", "pytorch-51102"),
)
RUNNING_MEAN = Mistake(
    "the mean is kept entry by entry, in a running sum or by Welford's recurrence",
    "the loop that adds up the row: pairwise sums, or a second centring, keep the digits",
    reports=("microsoft/onnxruntime PR#31973", "tenstorrent/tt-metal PR#47791"),
)
SCALED_MEAN = Mistake(
    "the core is computed as s z - s mean, with s = 1 / sqrt(q + eps)",
    "the order of multiplying and subtracting: subtract the mean first",
    reports=("pytorch-188375",),
)
OVERFLOWING_SQUARES = Mistake(
    "the squares leave the range of the dtype",
    "the sum of squares: scale z first, or add in a wider format",
    reports=("pytorch-178123", "onnxruntime-31626"),
)
HALF_STATISTICS = Mistake(
    "the statistics are computed in half precision",
    "the format in which mean and variance are added up",
    reports=("onnx-8439", "onnxruntime-17692"),
)
SINGLE_PRECISION = Mistake(
    "the layer computes in single precision inside", "a cast to float32, or a library whose default it is"
)
APPROXIMATE_ROOT = Mistake(
    "1 / sqrt(q + eps) is an approximation",
    "the reciprocal root: `rsqrt`, a table, a Newton step too few",
    reports=("Xilinx/finn PR#1667", "Tencent/ncnn PR#6903"),
)
HALF_SUMS = Mistake(
    "the sums over positions are kept in half precision",
    "the format of the accumulators of dgain and dbias",
    reports=("llmc-476", "liger-950"),
)
STRIDES_IGNORED = Mistake(
    "an array that is not contiguous is misread",
    "the strides of the arguments",
    reports=("microsoft/DirectML#588", "ModelTC/LightLLM#1467"),
)
WRITTEN_OVER = Mistake("an argument is written over", "operations in place", reports=("microsoft/onnxruntime#20623",))
STATEFUL = Mistake(
    "a call depends on the calls before it",
    "what is kept between calls: a buffer of gradients that is added to, statistics that run along",
)
OUTPUT_REUSED = Mistake("the output is written over by the next call", "a buffer that is used again")
LATE_POSITIONS = Mistake(
    "positions from 65535 on are wrong",
    "the limits of an index or of a grid: 65535 blocks along an axis",
    reports=("NVIDIA/apex#411",),
)

SIGNATURES = (
    CANCELLING_VARIANCE,
    RUNNING_MEAN,
    SCALED_MEAN,
    OVERFLOWING_SQUARES,
    HALF_STATISTICS,
    SINGLE_PRECISION,
    APPROXIMATE_ROOT,
    HALF_SUMS,
    STRIDES_IGNORED,
    WRITTEN_OVER,
    OUTPUT_REUSED,
    STATEFUL,
    LATE_POSITIONS,
)


MISTAKES = (*FORWARD_MISTAKES, *GRADIENT_MISTAKES, *SIGNATURES)


def known_mistakes():
    """The names of the mistakes that a report can name."""
    return tuple(dict.fromkeys(mistake.name for mistake in MISTAKES))

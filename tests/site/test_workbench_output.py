"""The workbench's verdict on an output: right in every dtype where it is right, else named, and never guessed."""

import ml_dtypes
import numpy as np
import pytest
from workbench_tab import ask, fill, verdict

from lnbook.conformance import known_mistakes
from lnbook.conformance.catalogue import MISTAKES

DTYPES = {"float64": np.float64, "float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
# Three rows of three, so that gain and bias can lie on either axis, with other means and variances in each.
Z, EPS = np.array([[1.0, 2, 4], [3, 0, 1], [2, 7, 2]]), 0.3
GAIN, BIAS = np.array([2.0, -1, 0.5]), np.array([3.0, 1, -2])
U = (Z - Z.mean(axis=1, keepdims=True)) / np.sqrt(Z.var(axis=1, keepdims=True) + EPS)
V = Z - Z.mean(axis=1, keepdims=True)
Q = Z.var(axis=1, keepdims=True)
POWERS = np.array([[2], [2], [4]])  # above 5/3, 5/3 and 10/3
MOST = np.abs(V).max(axis=1, keepdims=True)


def affine(u):
    return GAIN * u + BIAS


def after(root):
    return affine(V / root)


SCALED = "eps is added after z was divided by a scale"
ONE_FOR_ALL = "one entry of gain or bias is used for all"
SUMMED = "eps is added to a sum, not to a mean of squares"
RMS = "not centred, as in RMSNorm"
AXES = "normalized over the wrong axes"
MEANS_OF_SQUARES = (Z**2).mean(axis=1, keepdims=True)
# name and detail: the numbers, by formulas of their own.
WRONG = {
    ("the variance is divided by d - 1, not d", ""): after(np.sqrt(Z.var(axis=1, ddof=1, keepdims=True) + EPS)),
    ("eps is outside the root", ""): after(np.sqrt(Q) + EPS),
    ("eps is squared", ""): after(np.sqrt(Q + EPS**2)),
    (SUMMED, "divided by d after it was added"): after(np.sqrt(((V**2).sum(axis=1, keepdims=True) + EPS) / 3)),
    (SUMMED, "to a sum that d has yet to divide"): after(np.sqrt(((V**2).sum(axis=1, keepdims=True) + 9 * EPS) / 3)),
    (SCALED, "by max|z - mean|"): affine(
        V / MOST / np.sqrt(((V / MOST) ** 2).mean(axis=1, keepdims=True) + EPS),
    ),
    (SCALED, "by the next power of two"): affine(
        V / POWERS / np.sqrt(((V / POWERS) ** 2).mean(axis=1, keepdims=True) + EPS),
    ),
    (RMS, ""): affine(Z / np.sqrt(MEANS_OF_SQUARES + EPS)),
    (RMS, "the variance about 0, the numerator centred"): after(np.sqrt(MEANS_OF_SQUARES + EPS)),
    (RMS, "in the numerator only"): affine(Z / np.sqrt(Q + EPS)),
    (AXES, "all of them"): affine((Z - Z.mean()) / np.sqrt(Z.var() + EPS)),
    (AXES, "the first"): affine((Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + EPS)),
    ("the gain is dropped", ""): U + BIAS,
    ("the bias is dropped", ""): GAIN * U,
    ("gain and bias are dropped", ""): U,
    ("gain and bias are swapped", ""): BIAS * U + GAIN,
    ("the stored gain is taken for gain - 1", ""): affine(U) + U,
    ("1 is missing: the gain is stored less 1", ""): affine(U) - U,
    ("the bias is added before the gain multiplies", ""): GAIN * (U + BIAS),
    ("the bias is subtracted", ""): GAIN * U - BIAS,
    ("the gain is on the wrong axis", ""): (GAIN * U.T).T + BIAS,
    ("the bias is on the wrong axis", ""): (GAIN * U).T.__add__(BIAS).T,
    ("gain and bias are on the wrong axis", ""): affine(U.T).T,
    (ONE_FOR_ALL, "the first gain"): 2 * U + BIAS,
    (ONE_FOR_ALL, "the first bias"): GAIN * U + 3,
}
LARGEST = "max(q, eps) in place of q + eps"
ROUNDED = "eps is rounded to half precision, in which a small one is zero"
HARD, HALF = "eps is hard-coded", "the statistics are computed in half precision"
# Those that show at inputs of their own, below.
ELSEWHERE = {
    ("eps is missing", ""),
    *((LARGEST, detail) for detail in ("", "of the root")),
    *((ROUNDED, detail) for detail in ("float16", "bfloat16")),
    *((HALF, detail) for detail in ("float16", "bfloat16")),
}
OWN = {"the gain is applied last in the gradient by the input"}


def named(name, detail):
    return f"{name} ({detail})" if detail else name


@pytest.mark.parametrize(("name", "detail"), WRONG)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_each_mistake_is_named_and_no_other(tab, name, detail, dtype):
    output = WRONG[name, detail].astype(DTYPES[dtype]).astype(float)
    ask(tab, z=Z, eps=EPS, gain=GAIN, bias=BIAS, output=output, dtype=dtype)
    assert verdict(tab) == (False, [named(name, detail)])
    place = next(mistake.place for mistake in MISTAKES if mistake.name == name)
    assert tab.locator("#wb-verdict-output .wb-place").text_content() == f"Look at: {place.replace('`', '')}."


def test_every_mistake_that_the_workbench_knows_is_tried_here_and_bears_the_name_of_the_checker(tab):
    known = tab.evaluate(
        """() => ["STATISTICS", "DIVISORS", "ROOTS", "AFFINE"].flatMap(part => workbench[part])
            .filter(one => one.name).map(one => [one.name, one.detail ?? ""])"""
    )
    assert {tuple(one) for one in known} == WRONG.keys() | ELSEWHERE
    gradients = set(tab.evaluate("workbench.GRADIENT_MISTAKES.map(one => one.name)"))
    assert {name for name, _ in known} | gradients | {HARD} <= set(known_mistakes()) | OWN
    assert tab.evaluate("workbench.mistakes") == {mistake.name: mistake.place for mistake in MISTAKES}


# ---- right outputs


def as_torch(y, dtype):
    rows = ",\n        ".join("[" + ", ".join(f"{float(x):.4f}" for x in row) + "]" for row in y)
    named = "" if dtype == "float32" else f", dtype=torch.{dtype}"
    return f"tensor([{rows}]{named}, device='cuda:0', grad_fn=<NativeLayerNormBackward0>)"


def as_numpy(y, dtype):
    return repr(y)


def as_jax(y, dtype):
    named = "" if ", dtype=" in repr(y) else f", dtype={dtype}"
    return repr(y).replace("array(", "Array(").removesuffix(")") + f"{named})"


PRINTERS = {"torch": as_torch, "jax": as_jax, "numpy": as_numpy}


@pytest.mark.parametrize("printer", PRINTERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_right_outputs_are_right_in_each_dtype_and_print_out(tab, dtype, printer):
    """Computed in float64 from inputs of the dtype, and rounded once, as a layer with statistics in float32 does."""
    kind = DTYPES[dtype]
    rng = np.random.default_rng(5)
    z, gain, bias = (
        rng.standard_normal(shape).astype(kind).astype(float) * scale for shape, scale in (((2, 8), 1), (8, 1), (8, 1))
    )
    v = z - z.mean(axis=1, keepdims=True)
    y = (gain * v / np.sqrt((v**2).mean(axis=1, keepdims=True) + 1e-5) + bias).astype(kind)
    ask(tab, z=z, eps="1e-5", gain=gain, bias=bias, output=PRINTERS[printer](y, dtype))
    right, _ = verdict(tab)
    assert right
    y[1, 2] = kind(float(y[1, 2]) * 1.04)
    ask(tab, z=z, eps="1e-5", gain=gain, bias=bias, output=PRINTERS[printer](y, dtype))
    assert not verdict(tab)[0]


@pytest.mark.parametrize(
    ("dtype", "how"), [("bfloat16", "digits"), ("float16", "digits"), ("bfloat16", "field"), ("float16", "field")]
)
def test_dtype_is_seen_from_the_digits_or_chosen(tab, dtype, how):
    y = WRONG["the bias is dropped", ""].astype(DTYPES[dtype]).astype(float)
    chosen = {"dtype": dtype} if how == "field" else {}
    output = y.tolist() if how == "digits" else np.round(y, 4)
    ask(tab, z=Z, eps=EPS, gain=GAIN, output=output, **chosen)
    assert verdict(tab)[0]
    words = tab.locator("#wb-verdict-output > .wb-help").text_content()
    assert words == f"Judged as {dtype}: {'as chosen' if chosen else 'as the digits show'}."
    if how == "field":
        ask(tab, z=Z, eps=EPS, gain=GAIN, output=output, dtype="float64")
        assert not verdict(tab)[0]


def test_dtype_named_in_the_print_out_sets_the_tolerance(tab):
    """u = (-4, -1, 5) / sqrt(14): a bfloat16's distance from it is wrong in float32."""
    for dtype, right in (("bfloat16", True), ("float32", False)):
        ask(tab, z="1, 2, 4", eps="1e-5", output=f"tensor([-1.0710, -0.2681,  1.3359], dtype=torch.{dtype})")
        assert verdict(tab)[0] == right
        assert f"Judged as {dtype}: as the print-out says." in tab.locator("#wb-verdict-output").text_content()


def in_torch(y, dtype="float32"):
    return as_torch(np.atleast_2d(y), dtype)


def test_parameters_that_pytorch_shows_with_four_decimals_are_taken_as_shown(tab):
    """Right outputs are right, and mistakes are those that were made, where all but z is a print-out."""
    rng = np.random.default_rng(3)
    z, gain, bias = (rng.standard_normal(shape) for shape in ((8, 8), 8, 8))
    z = z.round(1)
    shown = {"z": z, "gain": in_torch(gain), "bias": in_torch(bias)}
    v, rms = z - z.mean(axis=1, keepdims=True), np.sqrt((z**2).mean(axis=1, keepdims=True) + 1e-5)
    root = np.sqrt(z.var(axis=1, keepdims=True) + 1e-5)
    for y, expected in (
        (gain * v / root + bias, True),
        (bias * v / root + gain, ["gain and bias are swapped"]),
        (
            gain * v / np.sqrt(z.var(axis=1, ddof=1, keepdims=True) + 1e-5) + bias,
            ["the variance is divided by d - 1, not d"],
        ),
        (gain * z / rms + bias, [RMS]),
        ((gain * (v / root).T).T + bias, ["the gain is on the wrong axis"]),
    ):
        ask(tab, **shown, eps="1e-5", output=in_torch(y))
        assert (verdict(tab)[0] or verdict(tab)[1]) == expected
    ask(tab, **shown | {"bias": ""}, eps="1e-5", output=in_torch(gain * v / root))
    assert verdict(tab)[0]
    # Typed, the same numbers are the parameters themselves, and the output is not theirs.
    ask(tab, z=z, gain=gain.round(4), bias=bias.round(4), eps="1e-5", output=in_torch(gain * v / root + bias))
    assert not verdict(tab)[0]


def test_small_numbers_of_float16_lie_nearer_together_than_pytorch_shows(tab):
    """At 0.03 float16 has a number every 0.000015, and four decimals one every 0.0001."""
    z = np.array([0.03, 0.04136, 0.01776, 0.02625]).astype(np.float16).astype(float)
    y = ((z - z.mean()) / np.sqrt(z.var() + 1e-5)).astype(np.float16)
    ask(tab, z=in_torch(z, "float16"), eps="1e-5", output=in_torch(y, "float16"))
    assert verdict(tab)[0]


def test_input_that_pytorch_shows_with_four_decimals_is_taken_as_shown(tab):
    """Row and output in full are right; shown with four decimals each, they are no further apart than that allows."""
    z = np.array([0.01234567, 0.02345678, 0.04567891])
    y = (z - z.mean()) / np.sqrt(z.var() + 1e-5)
    shown = [f"tensor([{', '.join(f'{x:.4f}' for x in a)}])" for a in (z, y)]
    ask(tab, z=shown[0], eps="1e-5", output=shown[1])
    assert verdict(tab)[0]
    ask(tab, z=shown[0].removeprefix("tensor(").rstrip(")"), eps="1e-5", output=shown[1])
    assert not verdict(tab)[0]


# ---- epsilon


@pytest.mark.parametrize(("eps", "written"), [(1e-3, "1e-3"), (1e-12, "1e-12"), (2.0**-23, "1.192e-7")])
def test_another_usual_epsilon_is_solved_for_and_named(tab, eps, written):
    z = 1e-5 * Z if eps < 1e-8 else 1e-2 * Z
    y = (z - z.mean(axis=1, keepdims=True)) / np.sqrt(z.var(axis=1, keepdims=True) + eps)
    ask(tab, z=z, eps="1e-5", output=y)
    assert verdict(tab) == (False, [f"{HARD} (agrees with eps = {written})"])


def test_an_unusual_epsilon_is_solved_for_and_named_with_its_range(tab):
    ask(tab, z=Z, eps=EPS, gain=GAIN, bias=BIAS, output=np.round(after(np.sqrt(Q + 0.37)), 6))
    assert verdict(tab) == (False, [f"{HARD} (agrees with eps = 0.37)"])
    assert "only ε = 0.37 fits" in tab.locator("#wb-verdict-output").text_content()


def test_at_one_row_any_root_is_that_of_an_epsilon_and_the_page_says_so(tab):
    """sqrt(14/9) + 3/10 is the root of 14/9 + e for e = 9/100 + sqrt(14)/5 = 0.8383..."""
    z, v, q = Z[0], V[0], Q[0, 0]
    ask(tab, z=z, eps=EPS, output=v / (np.sqrt(q) + EPS))
    assert verdict(tab) == (False, ["eps is outside the root"])
    said = tab.locator("#wb-verdict-output").text_content()
    assert "At a single row only ε = 0.8383 inside the root gives the same" in said


def test_missing_epsilon_is_told_from_the_smallest_in_use(tab):
    """A row of variance 1.6e-18 does it; float64's spacing at 1, 2.2e-16, is the smallest epsilon in use."""
    z = Z * np.array([[1], [1e-9], [1]])
    v = z - z.mean(axis=1, keepdims=True)
    ask(tab, z=z, eps=EPS, output=v / np.sqrt((v**2).mean(axis=1, keepdims=True)))
    assert verdict(tab) == (False, ["eps is missing"])


def test_largest_of_variance_and_epsilon_is_named(tab):
    """At q = 14/9 and 1/64 of it, eps = 1/2: the larger is q in one row, eps in the other."""
    z = np.stack([Z[0], Z[0] / 8])
    v, q = z - z.mean(axis=1, keepdims=True), np.array([[14 / 9], [14 / 9 / 64]])
    ask(tab, z=z, eps="0.5", output=v / np.sqrt(np.maximum(q, 0.5)))
    assert verdict(tab) == (False, [LARGEST])
    ask(tab, z=z, eps="0.5", output=v / np.maximum(np.sqrt(q), 0.5))
    assert verdict(tab) == (False, [f"{LARGEST} (of the root)"])


def test_epsilon_that_half_precision_rounds_is_named(tab):
    """0.1 is 0.0999755859375 in float16 and 0.10009765625 in bfloat16."""
    for form, rounded in (("float16", 0.0999755859375), ("bfloat16", 0.10009765625)):
        ask(tab, z=Z, eps="0.1", output=V / np.sqrt(Q + rounded))
        assert verdict(tab) == (False, [f"{ROUNDED} ({form})"])


# ---- statistics in half precision


def test_overflow_of_the_variance_is_named(tab):
    """The page `conventions`: 300^2 is infinite in float16, the core 0, the output the bias."""
    half = "tensor([0.2500, 0.2500, 0.2500, 0.2500], dtype=torch.float16)"
    ask(tab, z="300, -200, -50, -50", eps="1e-5", gain="2", bias="0.25", output=half)
    assert verdict(tab) == (False, [f"{HALF} (float16)"])


@pytest.mark.parametrize("form", ["float16", "bfloat16"])
def test_statistics_in_half_precision_are_named_where_the_rest_is_not(tab, form):
    kind = DTYPES[form]
    z = np.array([[1.1, 2.3, 4.7, 6.9], [9.1, 17.3, 30.7, 8.9]])
    mean = z.mean(axis=1, keepdims=True).astype(kind).astype(float)
    v = (z - mean).astype(kind).astype(float)
    q = (v**2).astype(kind).astype(float).mean(axis=1, keepdims=True).astype(kind).astype(float)
    ask(tab, z=z, eps="0.5", output=v / np.sqrt(q + 0.5), dtype="float64")
    assert verdict(tab) == (False, [f"{HALF} ({form})"])


def test_errors_of_that_size_are_said_to_be_so(tab):
    """One number is off by 1/100, as no formula makes it, and by no more than half precision can."""
    off = U.copy()
    off[0, 0] += 0.01
    ask(tab, z=Z, eps=EPS, output=off)
    text = tab.locator("#wb-verdict-output").text_content()
    assert "none of the known mistakes makes this output" in text
    assert "largest difference from the right output is 0.01." in text
    assert f"perhaps {HALF}" in text


# ---- more than one answer


def test_three_mistakes_at_once_are_all_named(tab):
    output = GAIN * V / (np.sqrt(Z.var(axis=1, ddof=1, keepdims=True)) + EPS)
    ask(tab, z=Z, eps=EPS, gain=GAIN, bias=BIAS, output=output)
    names = ["the variance is divided by d - 1, not d", "eps is outside the root", "the bias is dropped"]
    assert verdict(tab) == (False, ["; and ".join(names)])


def test_answers_that_the_digits_do_not_tell_apart_are_all_named_and_an_input_that_does(tab):
    """z = (1, 0, 0, 0): 3/4 over 3 is 1/4, and so is the mean square 1/4; at mean 0 they part."""
    ask(tab, z="1, 0, 0, 0", eps="1e-5", output="tensor([ 1.5000, -0.5000, -0.5000, -0.5000])")
    right, names = verdict(tab)
    assert not right
    assert names == ["the variance is divided by d - 1, not d", f"{RMS} (the variance about 0, the numerator centred)"]
    text = tab.locator("#wb-verdict-output").text_content()
    assert "2 answers fit, and these numbers do not tell them apart" in text
    assert "To tell them apart, run your layer at z = (0, 0.0032, 0.013, 0.0063)" in text
    z = np.array([0, 0.0032, 0.013, 0.0063])
    v = z - z.mean()
    for root in (np.sqrt(z.var(ddof=1) + 1e-5), np.sqrt((z**2).mean() + 1e-5)):
        assert f"({', '.join(f'{x:.3g}' for x in v / root)})".replace("-", "−") in text


def test_right_output_says_what_its_digits_leave_open(tab):
    """At a variance of 14/9 and eps = 1e-5, four decimals cannot show where epsilon is."""
    ask(tab, z="1, 2, 4", eps="1e-5", output="tensor([-1.0690, -0.2673,  1.3363])")
    right, names = verdict(tab)
    assert right
    assert {"eps is outside the root", "eps is missing"} <= set(names)
    text = tab.locator("#wb-verdict-output").text_content()
    assert "any ε from 0 to 0.00014" in text
    assert "Without the gain and the bias nothing is said" in text
    ask(tab, z=Z, eps=EPS, gain=GAIN, bias=BIAS, output=affine(U))
    assert verdict(tab) == (True, [])
    assert "nothing is said" not in tab.locator("#wb-verdict-output").text_content()


def test_two_formats_with_two_answers_are_both_told(tab):
    """At d = 2 every output is a multiple of (-1, 1): right in float16, another epsilon in float32."""
    y = float(np.float16(1 / np.sqrt(1.5)))
    ask(tab, z="1, 3", eps="0.5", output=f"[{-y}, {y}]")
    assert verdict(tab)[0]
    text = tab.locator("#wb-verdict-output").text_content()
    assert "Judged as float16: as the digits show." in text


def test_whole_numbers_are_taken_as_exact(tab):
    """At mean 0 centring changes nothing: the right one and uncentred ones make the output, and no rounding others."""
    ask(tab, z="1, 1, -2", eps="2", gain="2, 0, -1", output="1, 0, 1")
    right, names = verdict(tab)
    assert right
    assert names == [f"{LARGEST} (of the root)", RMS, f"{HALF} (float16 or bfloat16)"]  # max(sqrt(2), 2) is sqrt(2 + 2)
    ask(tab, z="1, 1, -2", eps="2", gain="2, 0, -1", output="1, 0, 2")
    assert verdict(tab) == (False, [])


# ---- where it stands


@pytest.mark.parametrize("width", [1280, 360])
def test_verdict_stands_below_the_field_that_asked_for_it(tab, width):
    tab.set_viewport_size({"width": width, "height": 640})
    ask(tab, z="1, 2, 4", eps="1e-5")
    for name, which, more in (("output", "output", {}), ("dbias", "gradients", {"g": "1, 0, 0"})):
        fill(tab, **more)
        fill(tab, **{name: "1, 2, 3"})
        field, box = (
            tab.locator(selector).bounding_box() for selector in (f"#wb-{name}", f"#wb-verdict-{which} > .wb-wrong")
        )
        assert field["y"] >= 0
        assert 0 <= box["y"] - (field["y"] + field["height"]) < 60
        assert box["y"] + box["height"] <= 640

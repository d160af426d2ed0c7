"""The workbench's script in a browser: its numbers are lnbook's, and what is typed is read, explained and kept."""

import gzip
import json
import re
from itertools import product

import ml_dtypes
import numpy as np
import pytest
from inputs import extreme_rows
from record import ROOT
from scripts import text_of
from workbench_tab import NAMES, ask, fill, settled

import lnbook

TOLERANCE = 1e-12
# Rows of cases.json without a vector to normalize: a sum, an array without entries, a complex input, a gain alone.
WITHOUT_A_VECTOR = {"B43", "B51", "B55", "B56", "B63", "B71"}


@pytest.fixture
def page(tab):
    """The page as it is opened, with the vector that stands there at first."""
    ask(tab, z="1, 1, -2", eps="2", gain="2, 0, -1")
    return tab


# ---- the numbers


def problem(z, eps, gain=None, bias=None):
    as_list = [None if a is None else np.asarray(a, np.float64).tolist() for a in (z, gain, bias)]
    return {"z": as_list[0], "eps": float(eps), "gain": as_list[1], "bias": as_list[2]}


def vectors_of(given):
    """The vectors of a row of cases.json, as the values stored there."""
    if "z_const" in given:
        return [np.full(given["d"], given["z_const"])]
    if "pattern" in given:
        assert given["pattern"] == "alternating +-1"
        return [(-1.0) ** np.arange(given["d"])]
    z = np.array(given["z"], np.float64)
    return list(z.reshape(-1, z.shape[-1]))


def problems_of_cases():
    rows = json.loads((ROOT / "tests" / "cases.json").read_text("utf8"))["cases"]
    found = {}
    for row in rows:
        given = row["input"]
        if row["id"] in WITHOUT_A_VECTOR:
            continue
        for z, eps in product(vectors_of(given), np.atleast_1d(given.get("eps", 1e-5))):
            gain, bias = (given.get(name) for name in ("gamma", "beta"))
            bias = bias if np.shape(bias) == z.shape else None
            found.setdefault(row["id"], []).append(problem(z, eps, gain, bias))
    assert found.keys() | WITHOUT_A_VECTOR == {row["id"] for row in rows}
    return [given for problems in found.values() for given in problems]


def random_problems():
    rng = np.random.default_rng(20)
    found = []
    for number in range(250):
        d = int(rng.choice([1, 2, 3, 4, 7, 16, 40, 120]))
        z = rng.standard_normal(d) * 10 ** rng.uniform(-8, 8) + rng.choice([0, 1, 10 ** rng.uniform(0, 8)])
        gain = rng.standard_normal(d) * (rng.random(d) < rng.choice([0.3, 1])) if number % 3 else None
        bias = rng.standard_normal(d) if number % 2 else None
        found.append(problem(z, 10 ** rng.uniform(-12, 2), gain, bias))
    return found


def extreme_problems():
    rows = [row for row in extreme_rows(np.float64).values()]
    spike = problem([1, 0, 0], 1.7e-7, gain=[0.65, 0, 0])  # a gain alone in a direction that J almost removes
    sharp = problem([0, 0, 0, 0], 1e-6, gain=[1, 0, 0, 0])  # B71
    return [problem(row, eps) for row, eps in product(rows, (1e-12, 1e-5, 1e6))] + [spike, sharp]


def close(got, expected, scale):
    """Equal to 1e-12 of the scale, and infinite where lnbook is infinite."""
    got, expected = np.asarray(got, np.float64), np.asarray(expected, np.float64)
    assert got.shape == expected.shape
    finite = np.isfinite(expected)
    assert (got[~finite] == expected[~finite]).all()
    assert np.abs(got[finite] - expected[finite]).max(initial=0) <= TOLERANCE * scale


@pytest.mark.parametrize("problems", [problems_of_cases, random_problems, extreme_problems])
def test_numbers_are_those_of_lnbook(page, problems):
    given = problems()
    answers = page.evaluate(
        """problems => problems.map(({z, eps, gain, bias}) => {
            const result = workbench.compute(z, eps, gain, bias);
            return {...result, jacobian: z.length <= 40 ? workbench.jacobian(result, gain) : null};
        })""",
        given,
    )
    for a_problem, answer in zip(given, answers, strict=True):
        agrees_with_lnbook(answer, **a_problem)


def agrees_with_lnbook(answer, z, eps, gain, bias):
    u, spectrum = lnbook.normalize(z, eps=eps), lnbook.spectrum(z, eps=eps)
    most = 1.0 if gain is None else np.abs(gain).max()
    of_core, of_jacobian = np.abs(u).max(), spectrum.eigenvalues[2]
    y, v, q = lnbook.layer_norm(z, gain, bias, eps=eps), lnbook.center(z), lnbook.variance(z)
    with np.errstate(over="ignore"):
        mean = np.mean(z)
    if np.isfinite(mean):
        close(answer["mean"], mean, np.abs(z).max())
    close(answer["centered"], v, np.abs(v[np.isfinite(v)]).max())
    close(answer["variance"], q, q)
    close(answer["u"], u, of_core)
    close(answer["y"], y, most * of_core + (0 if bias is None else np.abs(bias).max()))
    close(answer["coreVariance"], np.mean(u**2), np.mean(u**2))
    for got, value in zip(answer["eigenvalues"], spectrum.eigenvalues, strict=True):
        close(got, value, value)
    assert answer["multiplicities"] == spectrum.multiplicities.tolist()
    close(answer["coreNorm"], lnbook.operator_norm(z, eps=eps), lnbook.operator_norm(z, eps=eps))
    close(answer["norm"], lnbook.operator_norm(z, gain, eps=eps), most * of_jacobian)
    if answer["jacobian"]:
        close(answer["jacobian"], lnbook.jacobian(z, gain, eps=eps), most * of_jacobian)
    if eps > 0:
        for name, with_gain in (("coreBound", None), ("bound", gain)):
            bound = lnbook.lipschitz_constant(len(z), with_gain, eps=eps)
            close(answer[name], bound, bound)


def test_epsilon_zero_at_a_constant_vector_is_explained(page):
    fill(page, z="3, 3, 3", eps="0", gain="")
    assert "ε = 0" in page.locator("#wb-eps-error").text_content()


def numbers(text):
    return [float(word) for word in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text.replace("−", "-"))]


def test_page_shows_what_was_computed(page):
    z, gain, eps = [1, 2, 4], [2, -1, 0.5], 0.1
    fill(page, z="1 2 4", eps="0.1", gain="2 -1 0.5", bias="1")
    J = lnbook.jacobian(z, gain, eps=eps)
    cells = page.locator(".wb-heat td").all_text_contents()
    assert [numbers(cell)[0] for cell in cells] == pytest.approx(J.ravel(), rel=5e-4)
    signs = page.locator(".wb-heat td").evaluate_all("cells => cells.map(cell => cell.className)")
    assert signs == ["wb-negative" if x < 0 else "wb-positive" for x in J.ravel()]
    expected = float(lnbook.operator_norm(z, gain, eps=eps)), lnbook.lipschitz_constant(3, gain, eps=eps)
    assert numbers(page.get_by_role("status").text_content())[-2:] == pytest.approx(expected, rel=5e-4)
    page.get_by_text("The output in full").click()
    y = json.loads(page.locator("pre").text_content())
    assert y == pytest.approx(lnbook.layer_norm(z, gain, [1, 1, 1], eps=eps), rel=1e-14)


def test_of_rows_the_first_is_shown_and_the_page_says_so(page):
    fill(page, z="1 2 4\n0 1 5", eps="0.1", gain="")
    assert page.get_by_role("status").text_content().startswith("2 rows, d = 3, mean 2.333,")
    assert page.get_by_text("the first of 2 rows").count() == 1


def test_large_jacobian_is_not_drawn_and_the_page_says_so(page):
    fill(page, z=" ".join(map(str, range(17))), gain="")
    assert page.locator(".wb-heat").count() == 0
    assert page.get_by_text("17 × 17").count() == 1


# ---- what is typed


@pytest.mark.parametrize(
    "text",
    [
        "1, -2.5, 4e3",
        "1 -2.5 4000",
        "[1, -2.5, 4_000]",
        "(1, −2.5, 4e+3)",
        "1\n-2.5\n4000.",
        "array([ 1.e+00, -2.5e+00,  4.e+03], dtype=float32)",
        "np.array([[1., -2.5, 4000.]])",
        "[np.float64(1.0), np.float64(-2.5), np.float64(4000.0)]",
        "tensor([ 1.0000e+00, -2.5000e+00,  4.0000e+03], device='cuda:0', grad_fn=<NativeLayerNormBackward0>)",
        "tensor([[1.0, -2.5, 4000.0]], dtype=torch.float64, requires_grad=True)",
        "Parameter containing:\ntensor([1., -2.5, 4000.], requires_grad=True)",
        "<tf.Tensor: shape=(3,), dtype=float32, numpy=array([ 1. , -2.5,  4000. ], dtype=float32)>",
        "Array([ 1.0e+00, -2.5e+00,\n        4.0e+03], dtype=float32, weak_type=True)",
        "tensor([ 1.0000, -2.5000,\n        4000.0000], dtype=torch.bfloat16)",
        "1,-2.5,4000",
        "2/2; -5/2; 8000/2",
        ">>> z\ntensor([ 1.0000, -2.5000, 4000.0000])",
        ">>> torch.tensor([1, -2.5, 4000])",
        "In [4]: z\nOut[4]: array([ 1. , -2.5,  4000. ])",
        "z = np.array([1, -2.5, 4000])",
        '{"z": [1, -2.5, 4000]}',
        "{1.f, -2.5f, 4e3f}",
        " 1.0000\n-2.5000\n 4000.0000\n[ CPUFloatType{3} ]",
        " 1.0000 -2.5000  4000.0000\n[ CUDABFloat16Type{1,3} ]",
    ],
)
def test_print_outs_are_read(page, text):
    assert page.evaluate("text => workbench.parse(text).rows", text) == [[1, -2.5, 4000]]


@pytest.mark.parametrize(
    "text",
    [
        "1 2 3\n4 5 6",
        "1, 2, 3\n4, 5, 6",
        "1,2,3\n4,5,6\n",
        "1 2 3; 4 5 6",
        "[[1, 2, 3], [4, 5, 6]]",
        "[[1,2,3],[4,5,6]]",
        "array([[1., 2., 3.],\n       [4., 5., 6.]], dtype=float32)",
        "tensor([[[1., 2., 3.]],\n\n        [[4., 5., 6.]]], device='cuda:0')",
        "Array([[1., 2., 3.],\n       [4., 5., 6.]], dtype=bfloat16)",
    ],
)
def test_rows_are_read(page, text):
    assert page.evaluate("text => workbench.parse(text).rows", text) == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("tensor([1.], dtype=torch.bfloat16)", "bfloat16"),
        ("tensor([1.], dtype=torch.half)", "float16"),
        ("array([1.], dtype=float16)", "float16"),
        ("Array([1.], dtype=float32)", "float32"),
        ("[np.float64(1.0)]", "float64"),
        ("tensor([1.])", ""),
        ("tensor([1], dtype=torch.int64)", ""),
        ("1.0000\n[ CUDAHalfType{1} ]", "float16"),
        ("1.0000\n[ CPUBFloat16Type{1} ]", "bfloat16"),
    ],
)
def test_dtype_of_a_print_out_is_read(page, text, dtype):
    assert page.evaluate("text => workbench.parse(text).dtype", text) == dtype


@pytest.mark.parametrize("text", ["1,5 2,5", "1,5; 2,5", "1,5\n2,5", "0,05", "[1,5 2,5]", "1,5 2"])
def test_decimal_commas_are_refused_and_the_page_says_so(page, text):
    fill(page, z=text)
    assert page.locator("#wb-z-error").text_content().startswith("Decimal commas are not read: write 1.5 for 1,5")


def test_formats_round_as_numpy_rounds(page):
    """To even, into the range below the normal numbers, and to infinity."""
    rng = np.random.default_rng(8)
    values = [
        *(rng.standard_normal(400) * 10 ** rng.uniform(-9, 6, 400)),
        0,
        1 + 2**-9,
        1 + 3 * 2**-9,
        65520,
        65519,
        3e-8,
    ]
    for name, dtype in (("float16", np.float16), ("bfloat16", ml_dtypes.bfloat16), ("float32", np.float32)):
        rounded = page.evaluate("([values, name]) => values.map(x => String(workbench.round(x, name)))", [values, name])
        with np.errstate(over="ignore"):
            expected = np.array(values).astype(dtype).astype(float)
        assert [float(x.replace("Infinity", "inf")) for x in rounded] == expected.tolist()


@pytest.mark.parametrize(
    ("field", "text", "reason"),
    [
        ("z", "", "at least one number"),
        ("z", "1, two, 3", "“two” (entry 2) is not a number"),
        ("z", "1, nan", "not finite"),
        ("output", "tensor([nan, nan, nan])", "From finite numbers the layer makes finite ones"),
        ("output", "output\n1 2 3", "“output” (entry 1) is not a number"),
        ("z", "1, 1e999", "larger than a float"),
        ("z", "[[1, 2], [3]]", "unequal length"),
        ("z", "1 2 3\n4 5", "unequal length"),
        ("z", "tensor([0.1, 0.2, ..., 0.3])", "left out"),
        ("z", "array([[1., 2.], dtype=float8_e4m3fn)", "float8_e4m3fn is none the workbench knows"),
        ("eps", "-1e-5", "not be negative"),
        ("eps", "1 2", "one number, and here are 2"),
        ("eps", "", "one number, and here are 0"),
        ("eps", "0,5", "decimal comma is not read"),
        ("gain", "1, 2", "2 numbers here, but a row of z has 3"),
        ("bias", "1, x, 2", "“x”"),
        ("shift", "1 1", "one number"),
        ("output", "1", "1 number here, but z has 3"),
        ("output", "1, 2, inf", "not finite"),
        ("output", "1\n2\n3 4", "unequal length"),
        ("g", "1, 2", "2 numbers here, but z has 3"),
        ("dgain", "1, 2", "2 numbers here, but a row of z has 3"),
    ],
)
def test_bad_input_is_explained_in_place_and_nothing_is_lost(page, field, text, reason):
    fill(page, z="1, 2, 4", gain="1, 2, 3")
    fill(page, **{field: text})
    assert reason in page.locator(f"#wb-{field}-error").text_content()
    assert page.locator(f"#wb-{field}").get_attribute("aria-invalid") == "true"
    assert page.locator(f"#wb-{field}").input_value() == text
    fill(page, **{field: {"z": "1, 2, 4", "eps": "1"}.get(field, "")})
    assert page.locator("#wb-gain").input_value() == ("" if field == "gain" else "1, 2, 3")
    assert page.locator(".wb-error:not(:empty)").count() == 0
    assert page.locator(".wb-heat").count() == 1


def test_address_holds_the_state(page, browser):
    gradients = {"g": "1 0 0", "dz": "[1, 2, 3]", "dgain": "1 0 0", "dbias": "1 0 0"}
    fill(page, z="[1, 2, 4]", eps="1/3", gain="2", bias="0 0 1", shift="7", output="tensor([1., 2., 3.])", **gradients)
    page.select_option("#wb-dtype", "float16")
    settled(page)
    context = browser.new_context()
    other = context.new_page()
    other.goto(page.url)
    for name in NAMES:
        assert other.locator(f"#wb-{name}").input_value() == page.locator(f"#wb-{name}").input_value()
    for place in (".wb-results", "#wb-verdict-output", "#wb-verdict-gradients"):
        assert other.locator(place).inner_html() == page.locator(place).inner_html() != ""
    other.evaluate("location.hash = 'z=5,6&eps=1'")
    other.wait_for_function("document.getElementById('wb-z').value === '5,6'")
    assert "d = 2" in other.get_by_role("status").text_content()
    context.close()


def test_all_is_reached_and_worked_by_keyboard(page):
    page.locator("button").first.focus()
    buttons = page.locator(".wb-examples button").count()
    reached = []
    for _ in range(buttons - 1 + len(NAMES)):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
    assert reached[buttons - 1 :] == [f"wb-{name}" for name in NAMES]
    page.locator("button", has_text="constant input").focus()
    page.keyboard.press("Enter")
    assert page.locator("#wb-z").input_value() == "3, 3, 3"
    assert "variance 0" in page.get_by_role("status").text_content()


@pytest.mark.parametrize(
    ("example", "verdict"),
    [
        ("whose convention?", "Not right. 2 answers fit"),
        ("right in bfloat16?", "Right: the layer of this book and of PyTorch"),
        ("wrong gradient", "Not right. This makes it:the gradient by the input lacks the term u mean(gain * g * u)"),
    ],
)
def test_examples_show_their_verdicts(page, example, verdict):
    page.locator("button", has_text=example).click()
    shown = page.locator(".wb-verdict:not(:empty)")
    assert shown.text_content().startswith(verdict)
    assert shown.locator(".wb-right, .wb-wrong").bounding_box()["y"] >= 0


# ---- a common shift


def test_common_shift_changes_nothing_where_nothing_is_rounded(page):
    fill(page, z="1, 2, 4", gain="", shift="16")
    assert page.get_by_text("the same to the last bit").count() == 1


def test_common_shift_that_is_rounded_is_explained(page):
    fill(page, z="1, 2, 4", gain="", shift="1e17")
    assert page.get_by_text("had to be rounded to floats").count() == 1


# ---- in the book


def test_script_is_small_and_on_its_own_page_only(built):
    assert len(gzip.compress(text_of("workbench.js").encode())) < 23_000
    with_script = [page.name for page in built.rglob("*.html") if "workbench.js" in page.read_text("utf8")]
    assert with_script == ["workbench.html"]


def test_workbench_of_the_book_works_from_a_folder_on_a_small_screen(visit):
    tab = visit("book/workbench.html", width=360, from_file=True)
    fill(tab, z=" ".join(map(str, range(16))), gain="", shift="3", output="1 " * 16)
    assert tab.locator(".wb-heat td").count() == 256
    assert tab.locator("#wb-verdict-output .wb-wrong").is_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("width", [1280, 360])
def test_verdict_is_seen_beside_its_field_in_the_book(visit, width):
    """The field, the verdict below it and the bar at the top of the page do not cover each other."""
    tab = visit("book/workbench.html", width=width)
    tab.set_viewport_size({"width": width, "height": 640})
    fill(tab, z="1, 2, 4", eps="1e-5", gain="", output="tensor([-1.0703, -0.2676,  1.3359], dtype=torch.bfloat16)")
    for selector in ("#wb-output", "#wb-verdict-output > .wb-right"):
        box = tab.locator(selector).bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 640
        seen = tab.evaluate(
            "([x, y]) => document.elementFromPoint(x, y).closest('.wb-field')?.className", [box["x"] + 5, box["y"] + 5]
        )
        assert "wb-field-output" in seen


def test_without_javascript_the_page_says_so_and_shows_an_example(visit):
    tab = visit("book/workbench.html", java_script_enabled=False)
    assert tab.get_by_text("needs JavaScript").is_visible()
    assert tab.get_by_text("(1, 0, 1)").first.is_visible()

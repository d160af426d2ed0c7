"""The workbench's script in a browser: its numbers are lnbook's, and what is typed is read, explained and kept."""

import gzip
import json
import re
from itertools import product

import numpy as np
import pytest
from inputs import extreme_rows
from record import ROOT
from scripts import FOLDER, text_of

import lnbook

ASSETS = ROOT / "book" / "_assets"
TOLERANCE = 1e-12
# Rows of cases.json without a vector to normalize: a sum, an array without entries, a complex input, a gain alone.
WITHOUT_A_VECTOR = {"B43", "B51", "B55", "B56", "B63", "B71"}


@pytest.fixture(scope="module")
def lone_page(tmp_path_factory):
    """A page that holds the workbench and nothing else."""
    page = tmp_path_factory.mktemp("workbench") / "page.html"
    script = (FOLDER / "book" / "dom.js").read_text(encoding="utf8") + text_of("workbench.js")
    page.with_name("workbench.js").write_text(script, encoding="utf8")
    page.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>'
        f'<link rel="stylesheet" href="{(ASSETS / "workbench.css").as_uri()}">'
        '<script defer src="workbench.js"></script>'
        f'<div id="workbench">without JavaScript</div></html>',
        encoding="utf8",
    )
    return page.as_uri()


@pytest.fixture
def page(browser, lone_page):
    context = browser.new_context()
    tab = context.new_page()
    faults = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    tab.goto(lone_page)
    yield tab
    context.close()
    assert faults == []


def settled(tab):
    """Wait until the address holds what the fields hold: the results are drawn before it is written."""
    tab.wait_for_function(
        """() => ["z", "eps", "gain", "bias", "shift", "output"].every(name =>
            (new URLSearchParams(location.hash.slice(1)).get(name) ?? "")
                === document.getElementById(`wb-${name}`).value.trim())"""
    )


def fill(tab, **fields):
    for name, text in fields.items():
        tab.fill(f"#wb-{name}", text)
    settled(tab)


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
        "2/2; -5/2; 8000/2",
    ],
)
def test_print_outs_are_read(page, text):
    assert page.evaluate("text => workbench.parse(text).values", text) == [1, -2.5, 4000]


@pytest.mark.parametrize(
    ("field", "text", "reason"),
    [
        ("z", "", "at least one number"),
        ("z", "1, two, 3", "“two” (entry 2) is not a number"),
        ("z", "1, nan", "not finite"),
        ("z", "1, 1e999", "larger than a float"),
        ("z", "[[1, 2], [3, 4]]", "2 rows"),
        ("z", "tensor([0.1, 0.2, ..., 0.3])", "left out"),
        ("eps", "-1e-5", "not be negative"),
        ("eps", "1 2", "one number, and here are 2"),
        ("eps", "", "one number, and here are 0"),
        ("gain", "1, 2", "2 numbers here, but z has 3"),
        ("bias", "1, x, 2", "“x”"),
        ("shift", "1 1", "one number"),
        ("output", "1", "1 number here, but z has 3"),
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
    fill(page, z="[1, 2, 4]", eps="1/3", gain="2", bias="0 0 1", shift="7", output="tensor([1., 2., 3.])")
    context = browser.new_context()
    other = context.new_page()
    other.goto(page.url)
    for name in ("z", "eps", "gain", "bias", "shift", "output"):
        assert other.locator(f"#wb-{name}").input_value() == page.locator(f"#wb-{name}").input_value()
    assert other.locator(".wb-results").inner_html() == page.locator(".wb-results").inner_html()
    other.evaluate("location.hash = 'z=5,6&eps=1'")
    other.wait_for_function("document.getElementById('wb-z').value === '5,6'")
    assert "d = 2" in other.get_by_role("status").text_content()
    context.close()


def test_all_is_reached_and_worked_by_keyboard(page):
    reached = []
    for _ in range(10):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
    assert reached[4:] == [f"wb-{name}" for name in ("z", "eps", "gain", "bias", "shift", "output")]
    page.locator("button", has_text="constant input").focus()
    page.keyboard.press("Enter")
    assert page.locator("#wb-z").input_value() == "3, 3, 3"
    assert "variance 0" in page.get_by_role("status").text_content()


# ---- a common shift


def test_common_shift_changes_nothing_where_nothing_is_rounded(page):
    fill(page, z="1, 2, 4", gain="", shift="16")
    assert page.get_by_text("the same to the last bit").count() == 1


def test_common_shift_that_is_rounded_is_explained(page):
    fill(page, z="1, 2, 4", gain="", shift="1e17")
    assert page.get_by_text("had to be rounded to floats").count() == 1


# ---- whose convention


def by_convention(z, eps, gain, centered, sample, inside, plus_one):
    v = z - z.mean() if centered else z
    square = (v**2).sum() / (len(z) - sample)
    root = np.sqrt(square + eps) if inside else np.sqrt(square) + eps
    return (gain + plus_one) * v / root


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_each_convention_is_found(page, dtype):
    z, eps, gain = np.array([1.0, 2.0, 4.0]), 0.01, np.array([2.0, -1.0, 0.5])
    fill(page, z="1, 2, 4", eps="0.01", gain="2, -1, 0.5")
    for centered, sample, inside, plus_one in product([True, False], repeat=4):
        output = by_convention(z, eps, gain, centered, sample, inside, plus_one).astype(dtype)
        fill(page, output=str(output.tolist()))
        names = page.locator(".wb-results li").all_text_contents()
        assert len(names) == 1
        assert ("not centred" in names[0]) != centered
        assert ("divisor d − 1" in names[0]) == sample
        assert ("ε inside the root" in names[0]) == inside
        assert ("1 + the given gain" in names[0]) == plus_one
        assert ("PyTorch" in names[0]) == (centered and not sample and inside and not plus_one)


def test_conventions_that_the_digits_cannot_tell_apart_are_all_named(page):
    page.locator("button", has_text="whose convention?").click()
    names = page.locator(".wb-results li").all_text_contents()
    assert len(names) == 2
    assert all("divisor d − 1" in name for name in names)


def test_whole_numbers_are_taken_as_exact(page):
    """At mean 0 centring changes nothing: two conventions make the output, and no rounding adds others."""
    page.locator("button", has_text="gain that turns a sign").click()
    fill(page, output="1, 0, 1")
    assert page.locator(".wb-results li").count() == 2
    fill(page, output="1, 0, 2")
    assert page.locator(".wb-results li").count() == 0


def test_output_of_no_convention_is_called_so(page):
    fill(page, z="1, 2, 4", eps="0.01", gain="", output="-1.0687, -0.2672, 1.4")
    assert page.get_by_text("None of the conventions makes this output.").count() == 1
    assert page.get_by_text("The nearest is: centred, divisor d, ε inside the root").count() == 1


# ---- in the book


def test_script_is_small_and_on_its_own_page_only(built):
    assert len(gzip.compress(text_of("workbench.js").encode())) < 20_000
    with_script = [page.name for page in built.rglob("*.html") if "workbench.js" in page.read_text("utf8")]
    assert with_script == ["workbench.html"]


def test_workbench_of_the_book_works_from_a_folder_on_a_small_screen(visit):
    tab = visit("book/workbench.html", width=360, from_file=True)
    fill(tab, z=" ".join(map(str, range(16))), gain="", shift="3", output="1 " * 16)
    assert tab.locator(".wb-heat td").count() == 256
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360


def test_without_javascript_the_page_says_so_and_shows_an_example(visit):
    tab = visit("book/workbench.html", java_script_enabled=False)
    assert tab.get_by_text("needs JavaScript").is_visible()
    assert tab.get_by_text("(1, 0, 1)").first.is_visible()

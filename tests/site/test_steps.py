"""The figure of the first page: dragged by mouse, finger and keyboard, it shows every step of the layer exactly."""

import ast
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from picture import ROOT
from scripts import FOLDER, text_of

NAMES = ["input", "centred", "core", "stretched", "output"]
LEAST, MOST = -3, 7


def numbers_of_the_picture():
    """z, gain, bias and epsilon of the picture that stands without a script, as the page's own cell gives them."""
    for line in (ROOT / "book" / "index.md").read_text(encoding="utf8").splitlines():
        if line.startswith("figures.steps("):
            return [ast.literal_eval(argument) for argument in ast.parse(line).body[0].value.args]
    raise AssertionError("the first page shows figures.steps no more")


def layer(z, eps):
    """The vectors of the five panels; all is exact but the root."""
    _, gain, bias, _ = numbers_of_the_picture()
    z = [Fraction(str(x)) for x in z]
    mean = sum(z) / len(z)
    v = [x - mean for x in z]
    root = sqrt(sum(x * x for x in v) / len(v) + Fraction(str(eps)))
    u = [float(x) / root for x in v]
    stretched = [g * x for g, x in zip(gain, u, strict=True)]
    return [z, v, u, stretched, [x + b for x, b in zip(stretched, bias, strict=True)]]


@pytest.fixture(scope="module")
def lone_page(tmp_path_factory):
    page = tmp_path_factory.mktemp("steps") / "page.html"
    script = (FOLDER / "book" / "dom.js").read_text(encoding="utf8") + text_of("steps.js")
    page.with_name("steps.js").write_text(script, encoding="utf8")
    page.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>'
        f'<link rel="stylesheet" href="{(FOLDER.parent / "_assets" / "steps.css").as_uri()}">'
        '<script defer src="steps.js"></script>'
        '<figure id="fig-steps"><svg class="ln-figure"></svg><figcaption>caption</figcaption></figure>',
        encoding="utf8",
    )
    return page.as_uri()


@pytest.fixture
def tab(browser, lone_page):
    context = browser.new_context(has_touch=True)
    page = context.new_page()
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(lone_page)
    yield page
    context.close()
    assert faults == []


def drawn(tab):
    """The vectors that the five panels show, from where their marks stand between the ticks −5 and 5."""
    return tab.locator(".panel > svg").evaluate_all("""panels => panels.map(panel => {
        const [low, , high] = [...panel.querySelectorAll("text")].map(tick => Number(tick.getAttribute("y")) - 4);
        const place = mark => mark.transform.baseVal[0].matrix.f;
        return [...panel.querySelectorAll("g[transform]")].map(mark => 10 * (place(mark) - low) / (high - low) - 5);
    })""")


def words(tab):
    return [text.replace("\n", ", ") for text in tab.locator(".numbers").all_text_contents()]


def assert_shows(tab, z, eps):
    vectors = layer(z, eps)
    for name, seen, expected in zip(NAMES, drawn(tab), vectors, strict=True):
        assert seen == pytest.approx([float(x) for x in expected], abs=1e-6), name
    for text, vector in zip(words(tab), vectors, strict=True):
        mean = sum(vector) / len(vector)
        variance = sum((x - mean) ** 2 for x in vector) / len(vector)
        printed = [float(word) for word in text.replace("−", "-").replace(",", "").split()[1::2]]
        assert printed == pytest.approx([float(mean), float(variance)], rel=5.1e-6, abs=1e-12), text
    labels = tab.locator(".panel > svg[aria-label]").evaluate_all("all => all.map(e => e.ariaLabel)")
    for name, label, vector in zip(NAMES[1:], labels, vectors[1:], strict=True):
        spoken, _, said = label.partition(": ")
        assert spoken == name
        said = [float(x.replace("minus ", "-")) for x in said.split(", ")]
        assert said == pytest.approx([float(x) for x in vector], rel=5.1e-4, abs=1e-9)


def entry(tab, number):
    return tab.get_by_role("slider", name=f"entry {number} of the input")


def middle(tab, number):
    box = entry(tab, number).locator("path").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_begins_with_the_numbers_of_the_picture(tab):
    z, _, _, eps = numbers_of_the_picture()
    assert_shows(tab, z, eps)
    assert float(tab.get_by_label("ε").input_value()) == eps
    assert tab.locator(".ln-figure").count() == 0 and tab.get_by_text("caption").is_visible()


def test_keys_move_one_entry_and_stop_at_the_ends(tab):
    z, _, _, eps = numbers_of_the_picture()
    steps = [("ArrowUp", 0.1), ("ArrowRight", 0.1), ("ArrowDown", -0.1), ("ArrowLeft", -0.1), ("PageUp", 1)]
    for key, step in [*steps, ("PageDown", -1), ("PageDown", -1), ("ArrowDown", -0.1)]:
        entry(tab, 3).press(key)
        z[2] = round(z[2] + step, 1)
        assert_shows(tab, z, eps)
    for end, beyond, value in (("Home", "ArrowDown", LEAST), ("End", "PageUp", MOST)):
        entry(tab, 1).press(end)
        entry(tab, 1).press(beyond)
        z[0] = value
        assert_shows(tab, z, eps)


def test_each_entry_is_a_slider_that_speaks(tab):
    z, _, _, eps = numbers_of_the_picture()
    for number in range(1, 6):
        attributes = {name: entry(tab, number).get_attribute(f"aria-{name}") for name in ("valuemin", "valuemax")}
        assert attributes == {"valuemin": str(LEAST), "valuemax": str(MOST)}
        entry(tab, number).press("PageDown")
        z[number - 1] -= 1
        assert float(entry(tab, number).get_attribute("aria-valuenow")) == z[number - 1]
        said = entry(tab, number).get_attribute("aria-valuetext").replace("minus ", "-").split(", ")
        _, _, core, _, output = layer(z, eps)
        expected = (z[number - 1], core[number - 1], output[number - 1])
        assert [float(part.split()[-1]) for part in said] == pytest.approx(expected, rel=5.1e-4, abs=1e-9)


def test_a_mouse_drags_an_entry(tab):
    z, _, _, eps = numbers_of_the_picture()
    (x, y), (_, other) = middle(tab, 2), middle(tab, 5)
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x, other, steps=3)
    tab.mouse.up()
    tab.mouse.move(x, y)
    z[1] = z[4]
    assert_shows(tab, z, eps)


def test_a_finger_drags_an_entry(tab):
    z, _, _, eps = numbers_of_the_picture()
    (x, y), (_, other) = middle(tab, 5), middle(tab, 1)
    touch = tab.context.new_cdp_session(tab)
    for kind, points in (("Start", [{"x": x, "y": y}]), ("Move", [{"x": x, "y": other}]), ("End", [])):
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    z[4] = z[0]
    assert_shows(tab, z, eps)


@pytest.mark.parametrize("eps", ["0.1", "1", "10"])
def test_epsilon_is_chosen(tab, eps):
    z, _, _, first = numbers_of_the_picture()
    tab.get_by_label("ε").select_option(eps)
    assert_shows(tab, z, eps)
    tab.get_by_role("button", name="Start again").click()
    assert_shows(tab, z, first)


def test_a_common_shift_moves_the_input_alone(tab):
    z, _, _, eps = numbers_of_the_picture()
    up, down = (tab.get_by_role("button", name=f"All {way} by 1") for way in ("up", "down"))
    before = drawn(tab)
    up.click()
    assert_shows(tab, [x + 1 for x in z], eps)
    assert np.array(drawn(tab)[1:]) == pytest.approx(np.array(before[1:]), abs=1e-6)
    assert up.is_disabled()
    for number in range(1, 5):
        down.click()
        assert_shows(tab, [x + 1 - number for x in z], eps)
    assert not up.is_disabled()
    entry(tab, 1).press("Home")
    assert down.is_disabled()


def test_equal_entries_give_the_bias(tab):
    z, _, bias, eps = numbers_of_the_picture()
    tab.get_by_role("button", name="All equal").click()
    assert_shows(tab, [3] * len(z), eps)
    assert drawn(tab)[-1] == pytest.approx(bias, abs=1e-6)


def test_the_first_page_has_it_at_each_width_and_in_place_of_the_picture(visit):
    for width in (1280, 360):
        tab = visit("book/index.html", width=width, from_file=True)
        assert tab.locator("#fig-steps .ln-figure").count() == 0
        tops = [panel.bounding_box()["y"] for panel in tab.locator(".panel").all()]
        assert len(set(tops)) == (1 if width == 1280 else 3)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        sizes = tab.locator(".steps-alive :is(p, text, button)").evaluate_all(
            "all => all.map(e => parseFloat(getComputedStyle(e).fontSize))"
        )
        assert min(sizes) >= 11
        entry(tab, 1).press("ArrowRight")
        assert entry(tab, 1).get_attribute("aria-valuenow") == "3.1"
        assert tab.url.endswith("index.html")


def test_its_place_is_free_before_it_is_there(visit):
    """Nothing below the figure jumps when the script draws it."""
    for width in (1280, 360):
        tab = visit("book/index.html", width=width)
        kept, taken = tab.locator(".steps-alive").evaluate("""figure => {
            const kept = parseFloat(getComputedStyle(figure).minHeight);
            figure.style.minHeight = 0;
            return [kept, figure.offsetHeight];
        }""")
        assert taken <= kept <= taken + 20


def test_without_a_script_the_picture_stands(visit):
    tab = visit("book/index.html", java_script_enabled=False)
    assert tab.locator("#fig-steps .ln-figure").is_visible() and tab.locator(".steps-alive").count() == 0

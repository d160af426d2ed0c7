"""The sliders in a browser: each moves by keyboard, shows lnbook's numbers, speaks, and stands without JavaScript."""

import gzip
import re
from fractions import Fraction
from math import cos, log10, radians, sin, sqrt

import pytest

from lnbook.pages import figures
from lnbook.pages.figures.slider import one_two_five
from lnbook.pages.figures.style import COLOURS, themed_svg

NAMES = [name for name in figures.__all__ if name.endswith("_slider")]
POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
NUMBER = r"-?\d+(?:\.\d+)?"


def numbers(text):
    """The numbers of a line of text, in print (−1.2·10⁻⁵) or as spoken (minus 1.2 times ten to the minus 5)."""
    text = re.sub(r"\b10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", r"1·10\1", text).replace("1·1·", "1·")
    text = re.sub(r"(\d)·1·10", r"\1·10", text)
    text = text.replace("minus ", "-").replace(" times ten to the ", "e").replace("·10", "e").translate(POWERS)
    return [float(number) for number in re.findall(rf"{NUMBER}(?:e-?\d+)?", text)]


def core(z, eps):
    """The definition, in plain Python."""
    mean = sum(z) / len(z)
    v = [x - mean for x in z]
    root = sqrt(sum(x * x for x in v) / len(v) + eps)
    return [x / root for x in v]


def epsilon_numbers(frame):
    eps = one_two_five(-4, 1)[frame]
    return [eps, 0, 1 / sqrt(eps), 1, 1 / sqrt(2 / 3 + eps)]


def variance_numbers(frame):
    ratio = one_two_five(-4, 4)[frame]
    return [ratio, ratio / (ratio + 1), sqrt(3 * ratio / (ratio + 1))]


def distance_numbers(frame):
    t = one_two_five(-5, 0)[frame]
    return [t, 1 / sqrt(t * t + 1e-4), 100, 1 / sqrt(t * t + 1e-2), 10]


def shift_numbers(frame):
    c = -3 + frame / 4
    return [c, -1, 0, 1, *core([1, 2, 3 + c], 1 / 3)]


def gain_bias_numbers(frame):
    gain_share, bias_share = min(frame, 10) / 10, max(frame - 10, 0) / 10
    gain = [1 + gain_share * (g - 1) for g in (1.2, 0.5, -0.8)]
    bias = [bias_share * b for b in (0.4, 1.6, 0.6)]
    # The marked input lies at 40 degrees in the plane of the pictures, from (1, -1, 0) towards (-1, -1, 2).
    across, up = cos(radians(40)) / sqrt(2), sin(radians(40)) / sqrt(6)
    u = core([across - up, -across - up, 2 * up], 0)
    return [*gain, *bias, *(g * x + b for g, x, b in zip(gain, u, bias, strict=True))]


def one_entry_numbers(frame):
    z = [3, 1, -2 + frame / 2]
    mean = sum(z) / 3
    return [*z, mean, sum((x - mean) ** 2 for x in z) / 3, *core(z, 1 / 3)]


def direction_numbers(frame):
    angle = radians(7.5 * frame)
    v, w = cos(angle) / 3 / sqrt(2), sin(angle) / sqrt(6)
    return [7.5 * frame, sqrt(cos(angle) ** 2 / 9 + sin(angle) ** 2), w - v, -2 * w, w + v]


def offset_numbers(frame):
    c = Fraction(2) ** (frame - 2)
    stored = [in_float16(Fraction(x) / 10 + c) - c for x in (3, 13, 24)]
    return [c, *stored, *core(stored, 1e-5)]


def in_float16(x):
    """The nearest number of eleven bits to a positive one; round() breaks a tie towards the even one, as IEEE 754."""
    spacing = Fraction(1, 2**10)
    while x >= 2**11 * spacing:
        spacing *= 2
    while x < 2**10 * spacing:
        spacing /= 2
    return round(x / spacing) * spacing


EXPECTED = {
    "epsilon_slider": epsilon_numbers,
    "variance_slider": variance_numbers,
    "distance_slider": distance_numbers,
    "shift_slider": shift_numbers,
    "gain_bias_slider": gain_bias_numbers,
    "one_entry_slider": one_entry_numbers,
    "direction_slider": direction_numbers,
    "offset_slider": offset_numbers,
}


@pytest.fixture(scope="module")
def slider_page(tmp_path_factory):
    """The address of a page with each slider twice."""
    # Its style sheet reaches the sliders, as on a page of the book.
    picture = f"<div hidden>{themed_svg(figures.where('layer'))}</div>"
    body = picture + "".join(2 * getattr(figures, name)().html() for name in NAMES)
    page = tmp_path_factory.mktemp("sliders") / "page.html"
    page.write_text(f'<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>{body}', encoding="utf8")
    return page.as_uri()


@pytest.fixture
def tab(browser, slider_page):
    context = browser.new_context()
    page = context.new_page()
    faults = []

    def note(error):
        faults.append(str(error))

    page.on("pageerror", note)
    page.goto(slider_page)
    yield page
    context.close()
    assert faults == []


def slider(tab, name, copy=0):
    return tab.locator(".ln-slider").nth(2 * NAMES.index(name) + copy)


FRAME = """(control) => {
  const printed = control.closest(".ln-slider").querySelector(".value").textContent;
  return [Number(control.value), printed, control.ariaValueText, Number(control.max)];
}"""


def frames(figure):
    """(frame, text in print, text spoken) of all frames, from the first to the last by keyboard."""
    control = figure.get_by_role("slider").element_handle()
    control.press("Home")
    while True:
        *seen, last = control.evaluate(FRAME)
        yield seen
        if seen[0] == last:
            return
        figure.page.keyboard.press("ArrowRight")


@pytest.mark.parametrize("name", NAMES)
def test_each_frame_says_the_numbers(tab, name):
    seen = list(frames(slider(tab, name)))
    assert len(seen) > 15
    assert len({printed for _, printed, _ in seen}) == len({spoken for *_, spoken in seen}) == len(seen)
    for frame, printed, spoken in seen:
        expected = EXPECTED[name](frame)
        # four significant digits; three in the figure of gain and bias
        close = {"rel": 5.1e-3 if name == "gain_bias_slider" else 5.1e-4, "abs": 1e-12}
        assert numbers(printed) == pytest.approx(expected, **close)
        if name == "epsilon_slider":
            expected = expected[::2]  # its words say "at zero" and "of one"
        assert numbers(spoken)[: len(expected)] == pytest.approx(expected, **close)


def points(mark):
    """The points of a moving line, in tenths of a point, from the top left."""
    x, y, found = 0, 0, []
    for letter, written in re.findall("([A-Za-z])([^A-Za-z]*)", mark.get_attribute("d")):
        steps = iter([int(n) for n in re.findall(r"-?\d+", written)])
        for step in steps:
            if letter == "M":
                x, y = step, next(steps)
            else:
                x += step if letter in "hl" else 0
                y += {"h": 0, "v": step}[letter] if letter in "hv" else next(steps)
            found.append((x, y))
    return found


def ticks(panel):
    """Where the ticks stand: those of the horizontal axis from the left, those of the vertical axis from below."""
    drawn = "".join(path.get_attribute("d") for path in panel.locator("path.faint:not([data-mark])").all())
    across = [int(x) for x in re.findall(r"M(\d+) \d+v35(?!\d)", drawn)]
    up = [int(y) for y in re.findall(r"M\d+ (\d+)h-35(?!\d)", drawn)]
    assert across == sorted(across) and up == sorted(up, reverse=True)
    return across, up


def shares(panel, mark, x_ticks, y_ticks):
    """The points of a mark, 0 at the first and 1 at the second of two ticks of an axis, counted from its beginning."""
    across, up = ticks(panel)
    (left, right), (low, high) = (across[i] for i in x_ticks), (up[i] for i in y_ticks)
    return [((x - left) / (right - left), (y - low) / (high - low)) for x, y in points(mark)]


@pytest.mark.parametrize("frame", [0, 9, 15])
def test_epsilon_curves_are_drawn_where_the_formulas_are(tab, frame):
    figure, eps = slider(tab, "epsilon_slider"), one_two_five(-4, 1)[frame]
    figure.get_by_role("slider").fill(str(frame))
    left, right = figure.locator("svg").all()
    curve, derivative = (panel.locator("[data-mark]").first for panel in (left, right))
    across, _ = ticks(left)
    rounding = 3 / (across[6] - across[3])  # of t: a point and a tick each stand within half a unit of their place
    for x, y in shares(left, curve, (3, 6), (1, 2)):  # 0 and 3; 0 and √(3/2)
        low, high = (t / sqrt(2 * t * t / 3 + eps) for t in (3 * x - rounding, 3 * x + rounding))
        assert low - 0.002 <= sqrt(3 / 2) * y <= high + 0.002
    for x, y in shares(right, derivative, (3, 6), (5, 7)):  # 0 and 3; 1 and 100
        farther, nearer = 3 * abs(x) + rounding, max(0, 3 * abs(x) - rounding)
        far, near = (log10(eps / (2 * t * t / 3 + eps) ** 1.5) for t in (farther, nearer))
        assert far - 0.005 <= 2 * y <= near + 0.005


def test_variance_dot_is_drawn_where_the_formula_is(tab):
    figure = slider(tab, "variance_slider")
    panel = figure.locator("svg").first
    for frame, _, _ in frames(figure):
        (x, y), _ = shares(panel, panel.locator("[data-mark]"), (2, 4), (0, 2))  # 1 and 10⁴; 0 and 1
        ratio = one_two_five(-4, 4)[frame]
        assert 4 * x == pytest.approx(log10(ratio), abs=0.01)
        assert y == pytest.approx(ratio / (1 + ratio), abs=0.002)


def test_shift_dots_are_drawn_where_the_formula_is(tab):
    figure = slider(tab, "shift_slider")
    figure.get_by_role("slider").fill("20")  # c = 2
    for panel, moved in zip(figure.locator("svg").all(), ([3, 4, 5], [1, 2, 5]), strict=True):
        _, dots, _, core_dots = panel.locator("[data-mark]").all()
        for mark, values in ((dots, moved), (core_dots, core(moved, 1 / 3))):
            drawn = shares(panel, mark, (0, 2), (2, 3))[::2]  # coordinates 1 and 3; 0 and 1
            assert [x for x, _ in drawn] == pytest.approx([0, 0.5, 1], abs=0.001)
            assert [y for _, y in drawn] == pytest.approx(values, abs=0.02)


def test_dots_are_seen_beside_other_pictures(tab):
    """A line of length 0 is drawn where its ends are round."""
    caps = tab.locator("[data-mark][stroke-width]").evaluate_all(
        "dots => dots.map(dot => getComputedStyle(dot).strokeLinecap)"
    )
    assert len(caps) > 20 and set(caps) == {"round"}


def test_each_path_has_a_colour_of_the_figures(tab):
    paths = tab.locator(".ln-slider svg path")
    classes, fixed = paths.evaluate_all("""paths => [
        paths.map(path => path.classList[0]),
        paths.filter(path => path.matches("[style], [fill], [stroke]")).length,
    ]""")
    assert set(classes) <= set(COLOURS) and fixed == 0


def test_two_copies_move_by_themselves(tab):
    first, second = slider(tab, "shift_slider", 0), slider(tab, "shift_slider", 1)
    before = second.inner_html()
    drawing = first.locator("svg").first.inner_html()
    first.get_by_role("slider").press("End")
    assert first.locator("svg").first.inner_html() != drawing
    assert second.inner_html() == before


def test_each_is_labelled_and_described(tab):
    for figure in tab.locator(".ln-slider").all():
        assert figure.get_by_role("slider", name=re.compile("^(Move|Let|Turn)")).count() == 1
        assert len(figure.get_by_role("img").get_attribute("aria-label")) > 100
    assert tab.locator(".ln-slider [id]").count() == 0


def test_without_javascript_a_frame_stands_and_the_text_says_so(browser, slider_page):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(slider_page)
    for name in NAMES:
        figure = slider(page, name)
        assert all(figure.locator("path").evaluate_all("paths => paths.map(path => path.getAttribute('d'))"))
        assert figure.locator(".value").is_visible()
        assert figure.get_by_text("with JavaScript a slider shows the others").is_visible()
        assert not figure.locator("input").is_visible()
    context.close()


def test_with_javascript_nothing_says_that_it_lacks(tab):
    assert tab.get_by_text("with JavaScript").count() == 0


def test_print_shows_the_frame_without_its_control(tab):
    tab.emulate_media(media="print")
    for figure in tab.locator(".ln-slider").all():
        assert figure.locator("svg").first.is_visible() and figure.locator(".value").is_visible()
        assert not figure.locator("input").is_visible()


def test_small_screen_holds_each_figure(tab):
    tab.set_viewport_size({"width": 360, "height": 700})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    for figure in tab.locator(".ln-slider").all():
        upper, lower = (svg.bounding_box() for svg in figure.locator("svg").all())
        assert lower["y"] >= upper["y"] + upper["height"]


@pytest.mark.parametrize("name", NAMES)
def test_output_is_small_and_the_same_each_time(name):
    html = getattr(figures, name)().html()
    assert html == getattr(figures, name)().html()
    assert len(gzip.compress(html.encode())) < 15_000


PAGES = {
    "epsilon": 2,
    "floating-point": 1,
    "gain": 1,
    "jacobian": 1,
    "layer-normalization": 1,
    "sensitivity": 1,
    "shift-invariance": 1,
}


@pytest.mark.parametrize("name", PAGES)
def test_sliders_of_the_book_move(visit, name):
    tab = visit(f"book/{name}.html", width=360, from_file=True)
    assert tab.locator(".ln-slider.alive").count() == PAGES[name]
    for figure in tab.locator(".ln-slider").all():
        before = figure.locator(".value").text_content()
        figure.get_by_role("slider").press("ArrowLeft")
        assert figure.locator(".value").text_content() != before
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360


def test_dark_pages_put_no_light_box_behind_a_slider(visit):
    tab = visit("book/gain.html", color_scheme="dark")
    for part in tab.locator(":is(.cell_output, .output):has(.ln-slider)").all():
        assert part.evaluate("e => getComputedStyle(e).backgroundColor") == "rgba(0, 0, 0, 0)"

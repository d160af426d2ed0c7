"""The pictures: their colours can be told apart, follow the theme, and each is on a page with words."""

import itertools
import re

import jupytext
import numpy as np
import pytest
from matplotlib.path import Path as MatplotlibPath
from picture import PICTURE, on_paper, shown
from pictures import difference
from record import RECORDS, pages

from lnbook.pages import figures
from lnbook.pages.figures.outlines import outline
from lnbook.pages.figures.slider import Slider, drawn, moving_dots, path_of
from lnbook.pages.figures.style import COLOURS, CORE, new_figure, picture

# How red, green and blue light mix for the three kinds of colour blindness: Machado, Oliveira and Fernandes (2009),
# "A physiologically-based model for simulation of color vision deficiency", severity 1.
VISIONS = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
THINGS = ["input", "centred", "core", "gain", "bias", "epsilon", "bound"]
SRGB_TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def light(colour):
    """The linear red, green and blue of a colour such as "#0064a8" (IEC 61966-2-1)."""
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(a, b):
    """The contrast ratio of WCAG 2."""
    low, high = sorted(float(SRGB_TO_XYZ[1] @ light(c)) for c in (a, b))
    return (high + 0.05) / (low + 0.05)


def lab(rgb):
    """CIE L*a*b* of linear light, white point D65."""
    xyz = SRGB_TO_XYZ @ np.clip(rgb, 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_each_colour_can_be_read_on_its_page(theme):
    paper = COLOURS["paper"][theme]
    assert {name: c[theme] for name, c in COLOURS.items() if name != "paper" and contrast(c[theme], paper) < 4.5} == {}


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_no_two_things_look_alike(theme, vision):
    """A distance of 20 in L*a*b* is about ten times what an eye just tells apart side by side."""
    seen = {name: lab(np.array(VISIONS[vision]) @ light(COLOURS[name][theme])) for name in THINGS}
    alike = [pair for pair in itertools.combinations(THINGS, 2) if np.linalg.norm(seen[pair[0]] - seen[pair[1]]) < 20]
    assert alike == []


def calls():
    """(page, cell, name) of each figure that a page shows."""
    for page in pages():
        for cell in jupytext.read(page).cells:
            if cell.cell_type == "code":
                for name in re.findall(r"\bfigures\.(\w+)\(", cell.source):
                    yield page, cell, name


def test_each_figure_is_on_a_page_and_each_page_asks_for_figures_there_are():
    assert {name for _, _, name in calls()} == set(figures.__all__)


def test_the_file_of_a_figure_is_named_after_its_page():
    for page, _, name in calls():
        file = "every_page" if name == "where" else page.stem.replace("-", "_")
        assert getattr(figures, name).__module__ == f"lnbook.pages.figures.{file}"


def test_each_figure_has_words():
    """A slider brings its own words; a picture takes them from its cell."""
    for page, cell, name in calls():
        if not name.endswith("_slider"):
            options = cell.metadata.get("mystnb", {})
            assert options["image"]["alt"].endswith("."), (page.stem, name)
            assert name == "where" or options["figure"]["caption"].endswith("."), (page.stem, name)


def test_no_colour_of_a_picture_is_fixed():
    """Whatever the theme does not set would be lost on one of the two pages."""
    for path in RECORDS.glob("*.ipynb"):
        for svg in re.findall(r'"<svg.*?</svg>', path.read_text(encoding="utf8"), re.DOTALL):
            assert re.findall(r"(?<!, )#[0-9a-f]{6}\b", svg) == [], path.stem


def test_the_picture_of_the_readme_is_the_one_of_the_index():
    kept = PICTURE.read_text(encoding="utf8")
    assert difference(kept, on_paper(shown())) is None, "out of date: python tools/picture.py"


def path_in_units(points, codes=None, height=10):
    """The `d` of a path in a picture that is `height` points high."""
    return outline(MatplotlibPath(points, codes).iter_segments(simplify=False), height)


def test_an_outline_counts_tenths_of_a_point_from_the_top():
    assert path_in_units([(0, 0), (1, 0), (3, 0), (3, 2), (3, 1), (2.06, 1.94)]) == "M0 100h30v-20 10l-9-9"


def test_an_outline_keeps_curves_and_closed_shapes():
    points = [(1, 1), (2, 2), (3, 1), (4, 0), (5, 2), (6, 1), (1, 1)]
    assert path_in_units(points, [1, 3, 3, 4, 4, 4, 79]) == "M10 90q10-10 20 0c10 10 20-10 30 0z"


def test_a_point_of_an_outline_is_a_dot():
    assert path_in_units([(1, 1), (1, 1), (2, 3), (2, 3)], [1, 2, 1, 2]) == "M10 90h0M20 70h0"


def test_a_tie_by_design_is_rounded_alike_on_every_processor():
    assert path_in_units([(0.25 - 1e-12, 0), (0.25 + 1e-12, 5)]) == "M2 100v-50"


@picture
def test_a_moving_line_that_leaves_its_axes_is_cut_off():
    figure, axes = new_figure()
    (line,) = axes.plot([0, 1, 2], [0, 1, 2], color=CORE)
    axes.set(xlim=(0, 2), ylim=(0, 1))
    drawn(figure)
    within, beyond = (np.array(re.findall(r"-?\d+", path_of(line, ([0, end], [0, end]))), int) for end in (1, 2))
    assert np.abs(within[2:]).min() > 1000
    assert np.abs(beyond - within).max() <= 10  # matplotlib cuts one point outside of the axes


@picture
def test_a_colour_that_no_theme_knows_is_refused():
    figure, axes = new_figure()
    axes.plot([0, 1], color="red")
    with pytest.raises(KeyError, match="#ff0000"):
        drawn(figure)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"values": ["one"]}, "one entry a frame, got [1, 2]"),
        ({"spoken": ["one", "two", "three"]}, "one entry a frame, got [2, 3]"),
        ({"start": 2}, "start must be a frame from 0 to 1, got 2"),
        ({"start": -1}, "start must be a frame from 0 to 1, got -1"),
    ],
)
def test_a_slider_refuses_frames_that_are_not_there(change, named):
    figure, axes = new_figure()
    moving = [moving_dots(axes, [(0, 0), (1, 1)], CORE)]
    texts = {"label": "Move", "values": ["one", "two"], "spoken": ["one", "two"], "start": 1, "alt": "A dot."}
    Slider([figure], moving, **texts)
    with pytest.raises(ValueError, match=re.escape(named)):
        Slider([figure], moving, **(texts | change))

"""The pictures: their colours can be told apart, follow the theme, and each is on a page with words."""

import itertools
import re

import jupytext
import numpy as np
import pytest
from picture import PICTURE, on_paper, shown
from pictures import difference
from record import RECORDS, pages

from lnbook.pages import figures
from lnbook.pages.figures.style import COLOURS

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

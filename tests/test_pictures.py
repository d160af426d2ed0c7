"""How recorded pictures are compared (tests/pictures.py): what must be seen is seen, and named; last digits are not."""

import re
import subprocess
import sys
from xml.etree import ElementTree

import nbformat
import pytest
from pictures import Drawing, difference
from record import ROOT

from lnbook.pages import figures
from lnbook.pages.figures.style import themed_svg


@pytest.fixture(scope="module")
def svg():
    return themed_svg(panels().pictures[1])


def panels():
    return figures.shift_before_and_after([1, 2, 3], 4, [1, -1, 2], eps=1 / 3)


@pytest.fixture(scope="module")
def slider():
    return figures.gain_bias_slider().html()


def moved(text, pattern, by):
    """The text with the number that is the first group of the pattern moved by a length."""
    found = re.search(pattern, text)
    return f"{text[: found.start(1)]}{float(found[1]) + by:.6f}{text[found.end(1) :]}"


LINE = r'<path d="M \d+\.\d+ \d+\.\d+ \nL (\d+\.\d+)'


@pytest.mark.parametrize("by", [0.01, -0.01, 0.004])
def test_a_hundredth_of_a_point_is_not_seen(svg, by):
    assert moved(svg, LINE, by) != svg
    assert difference(svg, moved(svg, LINE, by)) is None


@pytest.mark.parametrize("by", [0.011, -0.011, 5])
def test_a_moved_line_is_seen_and_named(svg, by):
    found = difference(svg, moved(svg, LINE, by))
    assert re.fullmatch(r"<path> number \d+, d: number 3 of \d+ was recorded as [\d.]+ and is drawn as [\d.]+", found)


def test_a_hundredth_is_seen_where_no_length_stands(svg):
    assert "stroke-width: 2" in svg
    assert "style" in difference(svg, svg.replace("stroke-width: 2", "stroke-width: 2.01", 1))


def test_other_names_of_ids_are_not_seen_other_references_are(svg):
    renamed = re.sub(r'(\bid="|href="#|url\(#)', r"\1other-", svg)
    assert renamed != svg and difference(svg, renamed) is None
    first, second = re.findall(r'href="#([^"]+)"', svg)[:2]
    assert first != second
    assert "href" in difference(svg, svg.replace(f'href="#{first}"', f'href="#{second}"', 1))


def test_a_changed_word_is_seen(svg):
    assert "<!-- coordinate -->" in svg
    assert difference(svg, svg.replace("<!-- coordinate -->", "<!-- coordinates -->", 1)) == (
        "the words, text: “coordinate” was recorded, “coordinates” is drawn"
    )


def test_a_changed_colour_is_seen(svg):
    changed = svg.replace("var(--ln-core, #113aa2)", "var(--ln-bias, #8f0165)", 1)
    assert "--ln-core" in difference(svg, changed) and "--ln-bias" in difference(svg, changed)


@pytest.mark.parametrize("element", [r"<path[^>]*/>", r"<use[^>]*/>"])
def test_a_changed_count_is_seen(svg, element):
    found = re.search(element, svg)[0]
    assert "in its place" in difference(svg, svg.replace(found, "", 1))
    assert "in its place" in difference(svg, svg.replace(found, found + found, 1))


def test_a_picture_cut_short_is_seen(svg):
    assert "the end" in difference(svg, svg[: svg.rindex("<g")])


def test_an_attribute_more_is_seen(svg):
    assert difference(svg, svg.replace("<path ", '<path opacity="0.5" ', 1))


def test_a_slider_is_compared_frame_by_frame(slider):
    assert difference(slider, slider) is None
    stored = slider.rindex('"M')
    step = re.search(r"[hlv](-?\d+)", slider[stored:])
    start = stored + step.start(1)
    changed = slider[:start] + str(int(step[1]) + 1) + slider[stored + step.end(1) :]
    assert re.match(r"moving line \d+, frame \d+, d: number 3 of", difference(slider, changed))


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('"values":["γ = (1, 1, 1)', '"values":["γ = (1, 1, 2)', "frame 0, values"),
        ('"spoken":["gain 1, 1, 1', '"spoken":["gain 1, 1, 2', "frame 0, spoken"),
        ('class="bias"', 'class="gain"', "class"),
        ("Let the gain act", "Let the bias act", "<span> number 1, text"),
        ("--ln-core:#91baff", "--ln-core:#91bafe", "<style> number 1, text"),
        ("input.value", "input.min", "<script> number 2, text"),
    ],
)
def test_any_other_change_of_a_slider_is_seen(slider, old, new, named):
    assert old in slider
    assert named in difference(slider, slider.replace(old, new, 1))


def test_drawings_are_equal_where_nothing_is_seen(svg):
    near, far = Drawing(moved(svg, LINE, 0.01)), Drawing(moved(svg, LINE, 0.02))
    assert (Drawing(svg) == near, Drawing(svg) != near) == (True, False)
    assert (Drawing(svg) == far, Drawing(svg) != far) == (False, True)


def test_nbval_takes_pictures_as_pictures_and_text_as_text(tmp_path):
    """Four cells, each with a record that is off: by 0.01 in a picture, by 0.02, by a digit in text, and a slider's."""
    shown = [
        ("image/svg+xml", '<svg><path d="M 1.5 2"/></svg>', '<svg><path d="M 1.51 2"/></svg>'),
        ("image/svg+xml", '<svg><path d="M 1.5 2"/></svg>', '<svg><path d="M 1.52 2"/></svg>'),
        ("text/plain", "1.5", "1.51"),
        ("text/html", '<div class="ln-slider"><path d="M1 2"></div>', '<div class="ln-slider"><path d="M1 3"></div>'),
    ]
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    for number, (kind, now, recorded) in enumerate(shown):
        source = f"from IPython.display import display\ndisplay({{{kind!r}: {now!r}}}, raw=True)"
        output = nbformat.v4.new_output("display_data", {kind: recorded})
        cell = nbformat.v4.new_code_cell(source, id=f"cell-{number}", execution_count=number + 1, outputs=[output])
        notebook.cells.append(cell)
    nbformat.write(notebook, tmp_path / "record.ipynb")
    options = ["--nbval", "--nbval-current-env", "-c", ROOT / "pyproject.toml", "-n", "0", "-rA", "--color=no"]
    command = [sys.executable, "-m", "pytest", *options, tmp_path / "record.ipynb"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert re.findall(r"^(PASSED|FAILED) \S*::Cell (\d)", run.stdout, re.MULTILINE) == [
        ("PASSED", "0"), ("FAILED", "1"), ("FAILED", "2"), ("FAILED", "3")
    ], run.stdout  # fmt: skip
    assert "<path> number 1, d: number 1 of 2 was recorded as 1.52 and is drawn as 1.5" in run.stdout
    assert "<path> number 1, d: number 2 of 2 was recorded as 3 and is drawn as 2" in run.stdout


def test_a_printed_picture_has_short_numbers_and_only_ids_that_are_referred_to(svg):
    assert re.findall(r"\d\.\d{3,}", re.sub(r"scale\(.*?\)", "", svg)) == []
    ids, references = re.findall(r' id="(.*?)"', svg), re.findall(r'(?:href="|url\()#([^")]+)', svg)
    assert ids == [f"i{number}" for number in range(1, len(ids) + 1)]
    assert set(ids) == set(references)


def test_panels_are_one_image_in_which_each_keeps_its_size_and_ids():
    """Three panels of 2.4 by 3.6 inches, in points."""
    row = ElementTree.fromstring(panels()._repr_mimebundle_()[0]["image/svg+xml"])
    sides = [{name: panel.get(name) for name in ("x", "width", "height")} for panel in row]
    assert sides == [{"x": x, "width": "172.8", "height": "259.2"} for x in ("0", "172.8", "345.6")]
    assert (row.get("width"), row.get("height"), row.get("viewBox")) == ("518.4pt", "259.2pt", "0 0 518.4 259.2")
    ids = [element.get("id") for element in row.iter() if element.get("id")]
    assert len(ids) == len(set(ids)) and {name[0] for name in ids} == set("ijk")

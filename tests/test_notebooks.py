"""The recorded notebooks are those of the pages as they stand, complete, and survive a round through JupyterLab."""

import re

import jupytext
import nbformat
import pytest
import yaml
from record import RECORDS, ROOT, notebook_of, pages, record_of

PAGES = pages()


@pytest.fixture(params=PAGES, ids=lambda page: page.stem)
def page(request):
    return request.param


def without_outputs(notebook):
    return [(cell.cell_type, cell.source, dict(cell.metadata)) for cell in notebook.cells]


def test_each_page_has_its_record_and_no_other_lies_there():
    assert {record_of(page) for page in PAGES} == set(RECORDS.glob("*.ipynb"))


def test_record_is_of_the_page_as_it_stands(page):
    recorded = nbformat.read(record_of(page), as_version=4)
    assert without_outputs(recorded) == without_outputs(notebook_of(page)), "out of date: make record"


def test_each_cell_was_run_in_order(page):
    """nbval compares only cells with an execution count."""
    cells = [cell for cell in nbformat.read(record_of(page), as_version=4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))


def test_outputs_hold_no_error_and_no_object_address(page):
    for cell in nbformat.read(record_of(page), as_version=4).cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output
            text = output.get("text", "") + output.get("data", {}).get("text/plain", "")
            for leak in (" at 0x", "np.float64(", "<Figure"):
                assert leak not in text, text


def test_no_name_of_a_formula_brings_an_equals_sign_or_a_colon_of_its_own(page):
    for cell in nbformat.read(record_of(page), as_version=4).cells:
        for output in cell.get("outputs", []):
            assert not re.search(r"[:=]\}* *&=", output.get("data", {}).get("text/latex", "")), cell.source


def test_saving_in_jupyterlab_changes_no_cell(page):
    """The header lets Lab open the page as a notebook; jupytext's filters in pyproject.toml keep the cells' options."""
    header = yaml.safe_load(page.read_text(encoding="utf8").split("---\n")[1])  # jupytext guesses what it does not say
    assert header["jupytext"]["text_representation"]["format_name"] == "myst"
    notebook = jupytext.read(page)
    assert notebook.metadata["kernelspec"]["name"] == "python3"
    saved = jupytext.writes(
        notebook, fmt="md:myst", config=jupytext.config.load_jupytext_configuration_file(str(ROOT / "pyproject.toml"))
    )
    assert without_outputs(jupytext.reads(saved, fmt="md:myst")) == without_outputs(notebook)


def test_no_line_of_code_is_wider_than_the_page(page):
    """82 characters are what a screen of 1280 pixels shows beside the contents; what is longer must be scrolled."""
    for cell in notebook_of(page).cells:
        if cell.cell_type == "code" and "remove-input" not in cell.metadata.get("tags", []):
            assert [line for line in cell.source.splitlines() if len(line) > 82] == []

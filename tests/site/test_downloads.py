"""What a reader takes along opens: each page's notebook and source, and the book as a zip."""

import re
import sys
import tomllib
import zipfile

import jupytext
import nbformat
import pytest
from conftest import ROOT
from record import pages as notebook_pages

# What only MyST reads: roles, directives, labels, classes.
RAW = re.compile(r"\{[a-z][a-z:-]*\}`[^`]*`|^[`:]{3,}\{.*|^:{3,}.*|^\([\w-]+\)=|^:[a-z]+:.*|\{\.[\w-]+\}", re.MULTILINE)


@pytest.mark.parametrize("page", notebook_pages(), ids=lambda page: page.stem)
def test_a_page_offers_its_notebook_with_outputs_and_its_source(built, page):
    html = (built / "book" / f"{page.stem}.html").read_text(encoding="utf8")
    links = {text: href for href, text in re.findall(r'<a href="([^"]+)" title="[^"]+" download>([^<]+)</a>', html)}
    notebook = nbformat.read(built / "book" / links["Notebook"], as_version=4)
    nbformat.validate(notebook)
    needs, install, *cells = notebook.cells
    assert "Python 3.11" in needs.source and "pip install" in needs.source and "%pip install" in install.source
    assert any(cell.outputs for cell in cells if cell.cell_type == "code")
    assert code_of(cells) == code_of(jupytext.read(page).cells)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert RAW.findall(text) == []
    assert (built / "book" / links["Source"]).read_bytes() == page.read_bytes()


def code_of(cells):
    return [cell.source for cell in cells if cell.cell_type == "code"]


def test_a_notebook_that_cannot_get_the_module_stops_at_its_first_cell(built, monkeypatch):
    install = nbformat.read(built / "notebooks" / "gain.ipynb", as_version=4).cells[1].source
    monkeypatch.setitem(sys.modules, "lnbook", None)  # as if it were not there,
    monkeypatch.setitem(sys.modules, "lnbook.pages", None)
    with pytest.raises(ImportError):
        exec(re.sub("%pip.*", "pass", install), {})  # and pip found none


def test_what_a_notebook_needs_lies_beside_it_and_is_what_pip_installs(built, tmp_path):
    with zipfile.ZipFile(built / "notebooks" / "lnbook.zip") as archive:
        archive.extractall(tmp_path)
    modules = {
        path.relative_to(ROOT)
        for path in (ROOT / "lnbook").rglob("*")
        if not {"__pycache__", ".ruff_cache"} & set(path.parts)
    }
    there = {path.relative_to(tmp_path / "lnbook") for path in (tmp_path / "lnbook" / "lnbook").rglob("*")}
    assert there == modules
    project = tomllib.loads((tmp_path / "lnbook" / "pyproject.toml").read_text(encoding="utf8"))["project"]
    assert {"pages"} <= project["optional-dependencies"].keys()
    assert all((tmp_path / "lnbook" / name).exists() for name in project["license-files"])


def test_a_click_takes_the_notebook_along(visit, built):
    tab = visit("book/gain.html")
    with tab.expect_download() as download:
        tab.get_by_role("link", name="Notebook", exact=True).click()
    assert download.value.suggested_filename == "gain.ipynb"
    assert download.value.path().read_bytes() == (built / "notebooks" / "gain.ipynb").read_bytes()


def test_the_zip_holds_the_book_and_opens_from_a_folder(built, browser, tmp_path):
    with zipfile.ZipFile(built / "downloads" / "layer-normalization-book.zip") as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path)
    book = tmp_path / "layer-normalization-book"
    in_site = {path.relative_to(built) for path in built.rglob("*") if path.is_file()}
    in_zip = {path.relative_to(book) for path in book.rglob("*") if path.is_file()}
    assert in_zip == {path for path in in_site if path.parts[0] != "downloads"}
    tab = browser.new_page()
    tab.goto((book / "index.html").as_uri())
    tab.wait_for_url("**/book/index.html")
    assert tab.locator("h1").inner_text().startswith("Layer normalization, settled")
    tab.close()

"""What a reader takes along opens: each page's notebook and source, the book as a zip and as a PDF."""

import re
import subprocess
import sys
import tomllib
import zipfile

import jupytext
import nbformat
import pytest
from conftest import ROOT
from pypdf import PdfReader
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


@pytest.mark.usefixtures("browser")
def test_the_pdf_is_whole(tmp_path):
    command = [sys.executable, ROOT / "tools" / "pdf.py", tmp_path]
    subprocess.run(command, check=True, capture_output=True)
    folder = tmp_path / "_build" / "pdf"
    pdf = PdfReader(folder / "layer-normalization-book.pdf")
    assert pdf.metadata.title == "Layer normalization, settled"
    outline = {entry.title for entry in flat(pdf.outline)}
    titles = {page.read_text(encoding="utf8").split("\n# ", 1)[1].split("\n", 1)[0] for page in notebook_pages()}
    assert titles <= outline
    assert len(pdf.pages) > 3 * len(titles)
    for number in (1, len(pdf.pages) // 2, len(pdf.pages)):
        assert str(number) in pdf.pages[number - 1].extract_text().split()
    # A letter that no font of the book has is this sign.
    text = "\n".join(page.extract_text() for page in pdf.pages)
    assert "\ufffd" not in text
    (sheet,) = PdfReader(folder / "layer-normalization-one-page.pdf").pages
    assert "Numbers to check" in sheet.extract_text()


def flat(outline):
    for entry in outline:
        if isinstance(entry, list):
            yield from flat(entry)
        else:
            yield entry

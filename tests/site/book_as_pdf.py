"""The PDFs that `make pdf` has made, which runs this: whole, with titles to jump to, page numbers and all letters."""

import pytest
from conftest import ROOT
from pypdf import PdfReader
from record import pages as notebook_pages

MADE = ROOT / "_build" / "pdf"


@pytest.fixture(scope="module")
def pdf():
    return PdfReader(MADE / "layer-normalization-book.pdf")


def test_every_page_of_the_book_is_in_it(pdf):
    assert pdf.metadata.title == "Layer normalization, settled"
    titles = {page.read_text(encoding="utf8").split("\n# ", 1)[1].split("\n", 1)[0] for page in notebook_pages()}
    assert titles <= {entry.title for entry in flat(pdf.outline)}
    assert len(pdf.pages) > 3 * len(titles)


def flat(outline):
    for entry in outline:
        if isinstance(entry, list):
            yield from flat(entry)
        else:
            yield entry


def test_its_pages_are_numbered_and_no_letter_is_missing(pdf):
    texts = [page.extract_text() for page in pdf.pages]
    for number in (1, len(texts) // 2, len(texts)):
        assert str(number) in texts[number - 1].split()
    # A letter that no font of the book has is this sign.
    assert "\ufffd" not in "".join(texts)


def test_the_cheat_sheet_is_one_page():
    (sheet,) = PdfReader(MADE / "layer-normalization-one-page.pdf").pages
    assert "Numbers to check" in sheet.extract_text()

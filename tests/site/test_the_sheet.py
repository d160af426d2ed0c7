"""The cheat sheet in a browser: one sheet of paper, and readable on a phone."""

import io

from pypdf import PdfReader


def test_it_prints_on_one_sheet(visit):
    tab = visit("book/one-page.html")
    printed = tab.pdf(prefer_css_page_size=True)
    assert len(PdfReader(io.BytesIO(printed)).pages) == 1
    assert tab.get_by_role("button", name="Print on one sheet").is_visible()
    tab.emulate_media(media="print")
    smallest = tab.locator("td").evaluate_all(
        "cells => Math.min(...cells.map(c => parseFloat(getComputedStyle(c).fontSize)))"
    )
    assert smallest >= 7 * 96 / 72  # seven points
    assert tab.locator("td").last.is_visible() and not tab.locator(".print").is_visible()


def test_a_phone_shows_it_without_moving_the_page_sideways(visit):
    tab = visit("book/one-page.html", width=360, from_file=True)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360

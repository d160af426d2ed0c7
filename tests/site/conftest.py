"""A real browser for the tests of the built book."""

import os

import pytest
from browser import ADVICE, found, launch
from playwright.sync_api import sync_playwright


@pytest.fixture(scope="session")
def browser():
    if not found():
        (pytest.fail if "CI" in os.environ else pytest.skip)(ADVICE)
    with sync_playwright() as playwright:
        chromium = launch(playwright)
        yield chromium
        chromium.close()

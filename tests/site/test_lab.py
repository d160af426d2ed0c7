"""JupyterLab, started as `make lab` does: a page opens as a notebook, runs without error and is saved unharmed."""

import os
import re
import shutil
import subprocess
import sys

import jupytext
import pytest
from record import ROOT


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab over a copy of the pages, and the copy."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "book", folder / "book")
    shutil.copy(ROOT / "pyproject.toml", folder)
    options = re.search(r"/jupyter lab (.*)", (ROOT / "Makefile").read_text(encoding="utf8"))[1].split()
    # The test needs no window of its own and must also run as root, as in a container.
    options += ["--no-browser", "--allow-root", "--ServerApp.port=0", "--IdentityProvider.token=book"]
    with subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *options],
        cwd=folder,
        env={**os.environ, "JUPYTER_CONFIG_PATH": str(ROOT / ".jupyter"), "JUPYTER_CONFIG_DIR": str(folder / "config")},
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        for line in server.stderr:
            if found := re.search(r"http://localhost:\d+", line):
                break
        yield found[0], folder
        server.terminate()


@pytest.fixture(scope="module")
def tab(browser):
    """One tab for all pages: what JupyterLab loads once it need not load again."""
    tab = browser.new_page()
    yield tab
    tab.close()


def cells(path):
    return [(cell.cell_type, cell.source, dict(cell.metadata)) for cell in jupytext.read(path).cells]


@pytest.mark.parametrize("page", ["gain", "shift-invariance"])
def test_a_page_runs_as_a_notebook_and_is_saved_unharmed(lab, tab, page):
    address, folder = lab
    before = cells(folder / "book" / f"{page}.md")
    tab.goto(f"{address}/lab/tree/book/{page}.md?reset&token=book")
    tab.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=60_000)
    tab.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)
    tab.get_by_text("Run", exact=True).click()
    tab.get_by_text("Run All Cells", exact=True).click()
    number_of_code_cells = sum(kind == "code" for kind, *_ in before)
    tab.get_by_text(f"[{number_of_code_cells}]:", exact=True).wait_for(timeout=90_000)
    assert tab.locator("[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
    assert tab.locator(".jp-OutputArea-output svg, .jp-OutputArea-output img").count() > 0
    tab.keyboard.press("Control+s")
    tab.locator(".jp-mod-dirty").first.wait_for(state="detached", timeout=30_000)
    assert cells(folder / "book" / f"{page}.md") == before

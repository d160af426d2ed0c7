"""Records the pages as executed notebooks: `make record`. nbval runs them again and compares every output."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jupytext
import nbformat
import yaml
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
RECORDS = ROOT / "book" / "_records" / "notebooks"


def pages():
    """The pages of _toc.yml that are notebooks: those that begin with a header."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf8"))
    chapters = toc.get("chapters", []) + [c for part in toc.get("parts", []) for c in part["chapters"]]
    files = [ROOT / f"{entry}.md" for entry in [toc["root"], *(chapter["file"] for chapter in chapters)]]
    return [file for file in files if file.read_text(encoding="utf8").startswith("---")]


def notebook_of(page):
    """The page as a notebook without outputs, the same each time."""
    notebook = jupytext.read(page)
    notebook.metadata = nbformat.from_dict({"kernelspec": dict(notebook.metadata["kernelspec"])})
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    return notebook


def record_of(page):
    return RECORDS / f"{page.stem}.ipynb"


def record(page):
    notebook = notebook_of(page)
    NotebookClient(
        notebook,
        resources={"metadata": {"path": str(page.parent)}},
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
    ).execute()
    notebook.metadata.pop("language_info", None)
    nbformat.write(notebook, record_of(page))
    return page.stem


def main(names):
    """Records the pages with these names, or all of them."""
    there = pages()
    if unknown := set(names) - {page.stem for page in there}:
        sys.exit(f"no page with cells is named {', '.join(sorted(unknown))}")
    RECORDS.mkdir(exist_ok=True)
    for old in set(RECORDS.glob("*.ipynb")) - {record_of(page) for page in there}:
        old.unlink()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in pool.map(record, [page for page in there if not names or page.stem in names]):
            print("recorded", name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

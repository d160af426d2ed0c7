"""Executes the pages side by side before Sphinx reads them, and never shows an output of another version of the code.

MyST-NB executes one page after the other, and its cache looks at a page's cells only: a change in lnbook would leave
old outputs on the pages. Here each page's cache lies in a folder named by a hash of all that its outputs rest on, and
it is filled with one kernel a processor core, with a line of progress a page.
"""

import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from imports import Code
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from myst_nb.core.read import create_nb_reader
from sphinx.errors import ExtensionError
from sphinx.util import logging

logger = logging.getLogger(__name__)


def start(app):
    """`env.page_names` holds the names that each page's cells use, `env.page_versions` the hash that follows."""
    for kept in ("page_names", "page_versions", "known_modules"):
        if not hasattr(app.env, kept):
            setattr(app.env, kept, {})
    app.code = Code(Path(app.srcdir), app.env.known_modules)


def pages_of_changed_code(app, env, added, changed, removed):
    for docname in removed:
        env.page_names.pop(docname, None)
    return [page for page, names in env.page_names.items() if app.code.version(names) != env.page_versions[page]]


def execute_pages(app, env, docnames):
    waiting = {}
    for docname in docnames:
        path = Path(env.doc2path(docname))
        text = path.read_text(encoding="utf8")
        reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)
        env.page_names.pop(docname, None)
        if reader is None:
            continue
        notebook = reader.read(text)
        cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
        env.page_names[docname] = app.code.names(cells)
        env.page_versions[docname] = app.code.version(env.page_names[docname])
        if not has_record(cache_of(env, docname), notebook):
            waiting[docname] = notebook
    if not waiting:
        return
    failures = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {pool.submit(execute, env, docname, notebook): docname for docname, notebook in waiting.items()}
        for done, run in enumerate(as_completed(runs), start=1):
            docname, result = runs[run], run.result()
            if result.err is None:
                logger.info("executed page %d of %d: %s (%.1f s)", done, len(runs), docname, result.time)
                bundle = CacheBundleIn(result.nb, env.doc2path(docname), data={"execution_seconds": result.time})
                cache_of(env, docname).cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
            else:
                failures += 1
                logger.error("a cell failed:\n%s", result.err, location=(docname, line_of_failure(result.nb)))
    if failures:
        raise ExtensionError(f"{failures} of {len(runs)} executed pages failed; each is named above with its line")


def folder_of(env, docname):
    return str(Path(env.srcdir, "_build", "executed", env.page_versions[docname]))


def cache_of(env, docname):
    return get_cache(folder_of(env, docname))


def choose_cache(app, docname, source):
    """MyST-NB looks for the page's outputs where they were put."""
    if docname in app.env.page_names:
        changes = {"execution_cache_path": folder_of(app.env, docname)}
        app.env.mystnb_config = app.env.mystnb_config.copy(**changes)


def has_record(cache, notebook):
    try:
        cache.match_cache_notebook(notebook)
    except KeyError:
        return False
    return True


def execute(env, docname, notebook):
    folder = str(Path(env.doc2path(docname)).parent)
    timeout = env.mystnb_config.execution_timeout
    # What a cell prints arrives in pieces, cut differently from run to run: nbclient puts them together.
    options = {"coalesce_streams": True, "extra_arguments": ["--log-level=ERROR"]}
    return single_nb_execution(notebook, cwd=folder, timeout=timeout, allow_errors=False, **options)


def line_of_failure(notebook):
    """The line of the first cell that holds an error, or 1 where a cell ran out of time and holds none."""
    for cell, line in zip(notebook.cells, notebook.metadata["source_map"], strict=True):
        if any(output.output_type == "error" for output in cell.get("outputs", [])):
            return line + 1
    return 1


def setup(app):
    app.connect("builder-inited", start)
    app.connect("env-get-outdated", pages_of_changed_code)
    app.connect("env-before-read-docs", execute_pages)
    app.connect("source-read", choose_cache)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Executes the pages side by side before Sphinx reads them, and never shows an output of another version of the code.

MyST-NB executes one page after the other, and its cache looks at a page's cells only: a change in lnbook would leave
old outputs on the pages. Here the cache lives in a folder named by a hash of all that the outputs depend on, and it is
filled with one kernel a processor core, with a line of progress a page.
"""

import hashlib
import os
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from myst_nb.core.read import create_nb_reader
from sphinx.errors import ExtensionError
from sphinx.util import logging

logger = logging.getLogger(__name__)


def version_of_outputs(root):
    """A hash of what the outputs of a page depend on beside its own cells: lnbook, the pins and the Python version."""
    digest = hashlib.sha256(sys.version.encode())
    for path in [*sorted((root / "lnbook").rglob("*.py")), root / "requirements.txt"]:
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def choose_cache(app, config):
    root = Path(app.srcdir)
    config.nb_execution_cache_path = str(root / "_build" / "executed" / version_of_outputs(root))


def execute_pages(app, env, docnames):
    cache = get_cache(env.mystnb_config.execution_cache_path)
    waiting = {}
    for docname in docnames:
        path = Path(env.doc2path(docname))
        text = path.read_text(encoding="utf8")
        reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)
        notebook = reader.read(text) if reader else None
        if notebook and not has_record(cache, notebook):
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
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
            else:
                failures += 1
                logger.error("a cell failed:\n%s", result.err, location=(docname, line_of_failure(result.nb)))
    if failures:
        raise ExtensionError(f"{failures} of {len(runs)} executed pages failed; each is named above with its line")


def has_record(cache, notebook):
    try:
        cache.match_cache_notebook(notebook)
    except KeyError:
        return False
    return True


def execute(env, docname, notebook):
    folder = str(Path(env.doc2path(docname)).parent)
    timeout = env.mystnb_config.execution_timeout
    result = single_nb_execution(
        notebook, cwd=folder, timeout=timeout, allow_errors=False, extra_arguments=["--log-level=ERROR"]
    )
    join_streams(result.nb)
    return result


def join_streams(notebook):
    """What a cell prints arrives in pieces, cut differently from run to run: put consecutive pieces together."""
    for cell in notebook.cells:
        joined = []
        for output in cell.get("outputs", []):
            if joined and output.output_type == joined[-1].output_type == "stream" and output.name == joined[-1].name:
                joined[-1].text += output.text
            else:
                joined.append(output)
        if cell.cell_type == "code":
            cell.outputs = joined


def line_of_failure(notebook):
    """The line of the first cell that holds an error, or 1 where a cell ran out of time and holds none."""
    for cell, line in zip(notebook.cells, notebook.metadata["source_map"], strict=True):
        if any(output.output_type == "error" for output in cell.get("outputs", [])):
            return line + 1
    return 1


def setup(app):
    app.connect("config-inited", choose_cache)
    app.connect("env-before-read-docs", execute_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

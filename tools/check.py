"""What the edit of a page asks for, in a minute: `make check`.

The pins of all statements and the lock; and of each page that is not as on the main branch the readings, the record,
run again, and the tests of its facts. A page has changed with its text, its record or its figures. Where a reading or
what it computes with has changed, all readings run.
"""

import re
import subprocess
import sys

from record import RECORDS, ROOT, pages, record_of

ALWAYS = ["tests/test_statements.py", "tests/test_lock.py", "tests/test_notebooks.py"]


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout


def changed_files():
    base = git("merge-base", "HEAD", "main").strip() or "HEAD"
    named = git("diff", "--name-only", "-z", base) + git("ls-files", "-z", "--others", "--exclude-standard")
    return {ROOT / name for name in named.split("\0") if name}


def changed_pages():
    changed = changed_files()
    figures = {path.stem.replace("_", "-") for path in changed if path.parent == ROOT / "lnbook" / "pages" / "figures"}
    return [page for page in pages() if page.stem in figures or changed & {page, record_of(page)}]


def facts_of(some_pages):
    """The labels of their statements; some of these are ids of facts."""
    return {
        label for page in some_pages for label in re.findall(r"^:label: (\S+)", page.read_text("utf8"), re.MULTILINE)
    }


def files_that_name(facts):
    """The files of tests that name one of the facts: to collect all would take ten seconds."""
    named = re.compile("|".join(f'"{re.escape(fact)}"' for fact in sorted(facts)) or r"\b\B")
    return [
        path for path in sorted((ROOT / "tests").glob("test_*.py")) if named.search(path.read_text(encoding="utf8"))
    ]


def labels_read_again(some_pages):
    """The labels whose readings run: of the changed pages; of all, None, where the tests or the module have changed."""
    from statements import statements_of

    code = {ROOT / "tests", ROOT / "lnbook"}
    if any(path.suffix == ".py" and code & {*path.parents} for path in changed_files()):
        return None
    return {label for page in some_pages for label in statements_of(page.stem, page.read_text("utf8"))}


def pytest_collection_modifyitems(config, items):
    """For pytest, which loads this module as a plugin: of the facts' files only the tests of the facts."""
    changed = changed_pages()
    facts, read_again = facts_of(changed), labels_read_again(changed)
    whole = {ROOT / name for name in ALWAYS}

    def wanted(item):
        if item.name.startswith("test_the_text_says") and read_again is not None:
            return item.callspec.params["label"] in read_again
        marked = {fact for mark in item.iter_markers("fact") for fact in mark.args}
        return item.path in whole or item.path.parent == RECORDS or marked & facts

    left_out = [item for item in items if not wanted(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def main():
    changed = changed_pages()
    print("changed pages:", ", ".join(page.stem for page in changed) or "none", flush=True)
    files = dict.fromkeys([*(ROOT / name for name in ALWAYS), *files_that_name(facts_of(changed))])
    records = [record_of(page) for page in changed if record_of(page).exists()]
    # A file keeps to one process: the cells of a notebook need those before them.
    processes = ["-n", "auto", "--dist", "loadfile"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "check", *processes, "--nbval", "--nbval-current-env"]
    run = subprocess.run([*command, *files, *records], cwd=ROOT, check=False)
    sys.exit(run.returncode)


if __name__ == "__main__":
    main()

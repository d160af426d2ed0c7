"""The build itself: a fault stops it and names its place, and two builds of one commit are the same byte for byte."""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from conftest import ROOT, build


def copy_of_the_sources(target):
    """The files of the repository, what npm installed for them, the PDF, if made, and the pages' outputs.

    That they are the same when they are computed again the records hold (test_notebooks.py).
    """
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    for made in ("npm", "pdf", "executed"):
        if (ROOT / "_build" / made).exists():
            shutil.copytree(ROOT / "_build" / made, target / "_build" / made, symlinks=True)
    return target


def digests(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_two_builds_are_the_same_byte_for_byte_and_so_is_a_second_in_the_same_folder(built, tmp_path):
    source = copy_of_the_sources(tmp_path / "elsewhere")
    run = build(source, tmp_path / "out")
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    assert digests(tmp_path / "out" / "_build" / "html") == digests(built)
    # A page is read and written again, and a comment in lnbook executes none.
    os.utime(source / "book" / "gain.md", (2**31, 2**31))
    with (source / "lnbook" / "forward.py").open("a", encoding="utf8") as file:
        file.write("# A remark.\n")
    run = build(source, tmp_path / "out")
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    assert "reading sources" in run.stdout and "executed page" not in run.stdout
    again, first = digests(tmp_path / "out" / "_build" / "html"), digests(built)
    # The remark goes into these two, since they hold the module.
    for name in ("notebooks/lnbook.zip", "downloads/layer-normalization-book.zip"):
        assert again.pop(name) != first.pop(name)
    assert again == first


def test_a_bad_formula_stops_the_build_and_names_its_line(built, tmp_path):
    source = copy_of_the_sources(tmp_path / "source")
    for page in (source / "book").glob("*.md"):
        page.unlink()
    (source / "_toc.yml").write_text("format: jb-book\nroot: book/index\n", encoding="utf8")
    page = "# Faulty\n\nText with $x$\nand $\\frac{1}{$ and $\\nosuch$.\n\n$$\na + \\\\\n\\end{b}\n$$\n"
    (source / "book" / "index.md").write_text(page, encoding="utf8")
    run = build(source, tmp_path / "out")
    found = re.findall(r"index\.md:(\d+): WARNING: KaTeX", run.stderr)
    assert run.returncode != 0
    assert sorted(found) == ["4", "4", "7"], run.stderr


def env_version(extensions):
    """What Sphinx compares with the version of what it kept of the pages; if they differ, it reads all anew."""
    spec = importlib.util.spec_from_file_location("pages_elsewhere", extensions / "pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.setup(Mock())["env_version"]


def test_every_file_of_the_extensions_counts_for_what_sphinx_kept(tmp_path):
    extensions = shutil.copytree(
        ROOT / "book" / "_ext", tmp_path / "_ext", ignore=shutil.ignore_patterns("__pycache__")
    )
    versions = [env_version(extensions)]
    files = sorted(path for path in extensions.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    for file in files:
        file.write_bytes(file.read_bytes() + b"\n")
        versions.append(env_version(extensions))
    assert len(set(versions)) == len(files) + 1 > 2
    assert env_version(extensions) == versions[-1]  # what Python compiled meanwhile does not count


@pytest.mark.parametrize(
    ("old", "new", "again"),
    [
        ("# Gain", "# Gains", True),
        ("A title", "Another", True),
        ("label: one", "label: other", True),
        ("Prose", "Words", False),
    ],
)
def test_the_pages_that_list_facts_are_read_again_where_a_title_or_a_name_has_changed(tmp_path, old, new, again):
    from facts import pages_of_titles

    page, text = tmp_path / "gain.md", "# Gain\n\nProse.\n\n```{prf:theorem} A title\n:label: one\n\nProse.\n```\n"
    env = SimpleNamespace(found_docs={"book/gain"}, doc2path=lambda name: page, pages_with_facts={"book/index"})
    page.write_text(text, encoding="utf8")
    pages_of_titles(None, env, set(), set(), set())
    page.write_text(text.replace(old, new), encoding="utf8")
    assert set(pages_of_titles(None, env, set(), set(), set())) == ({"book/index"} if again else set())

"""The tests outside the browser as they run for others: `make anywhere`, on Linux.

Another locale and time zone, a folder whose name has a blank, a user who cannot write to the installed package, an old
processor, tests in random order. What is given on the command line goes to pytest.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from browser import is_root
from uv import find_uv_bin

ROOT = Path(__file__).parent.parent
PYTEST = ["-q", "-n", "auto", "--dist", "loadfile", "-p", "no:cacheprovider"]
# A cell needs the cells before it, in their order and in one process: only the tests are shuffled.
RUNS = (
    ["-p", "randomly", "--ignore=tests/site", "tests"],
    ["--nbval", "--nbval-current-env", "book/_records/notebooks"],
)


def on_an_old_processor():
    """NumPy, OpenBLAS and Numba compute as on a Nehalem; tools/processors.sh tries the records on others."""
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    return {
        "NPY_DISABLE_CPU_FEATURES": " ".join(found),
        "OPENBLAS_CORETYPE": "Nehalem",
        "NUMBA_CPU_NAME": "nehalem",
    }


def elsewhere(folder):
    """The environment of somebody in Kolkata whose computer speaks German."""
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], check=True)
    (folder / "home").mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "CI", "HYPOTHESIS_PROFILE") if name in os.environ}
    return {**kept, "HOME": str(folder / "home"), "LOCPATH": str(folder), "LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Kolkata"}


def copy_of_the_checkout(target):
    """All files that git knows or would add, without the module: it is installed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)


def install(environment, checkout):
    """The locked environment, with lnbook installed as readers do, and nothing in it that its user may change."""
    lock = checkout / "requirements.txt"
    pins = checkout.parent / "pins.txt"
    pins.write_text(lock.read_text(encoding="utf8").replace("-e .\n", ""), encoding="utf8")
    run = [find_uv_bin(), "pip", "install", "--quiet", "--python", environment]
    # Python in a home of its own could not be run by another user.
    python = shutil.which("python3", path=os.defpath) if is_root() else sys.executable
    subprocess.run([find_uv_bin(), "venv", "--quiet", "--python", python, environment], check=True)
    subprocess.run([*run, "-r", pins], check=True)
    subprocess.run([*run, "--no-deps", checkout], check=True)
    subprocess.run(["chmod", "-R", "a-w", environment], check=True)


def as_another_user(folder):
    """For subprocess: root may write everywhere, so that the tests of root are run by nobody."""
    if not is_root():
        return {}
    subprocess.run(["chown", "-R", "nobody", folder], check=True)
    return {"user": "nobody", "extra_groups": []}


def main(arguments):
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="any where ") as name:
        folder = Path(name)
        checkout, environment = folder / "the book", folder / "environment"
        copy_of_the_checkout(checkout)
        install(environment, checkout)
        variables = {**elsewhere(folder), **on_an_old_processor()}
        somebody = {"cwd": checkout, "env": variables, "check": False, **as_another_user(folder)}
        pytest = [environment / "bin" / "pytest", *PYTEST, *arguments]
        runs = [subprocess.run([*pytest, *what], **somebody) for what in RUNS]
        subprocess.run(["chmod", "-R", "u+w", environment], check=True)
    sys.exit(any(run.returncode for run in runs))


if __name__ == "__main__":
    main(sys.argv[1:])

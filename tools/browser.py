"""A browser for the tests and the PDF: one found on the machine, else Playwright's own, else Debian's package.

`python tools/browser.py` gets one and says which. Where none can be had it says what to install, and fails under CI.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge"]
PLACES = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
]
ADVICE = "no browser found: install Chromium or Google Chrome, or run `playwright install chromium` in the environment"
# For each window Chromium prepares two pages for the list below its address, which nobody sees. The other features are
# those that Playwright leaves out, since this option takes the place of its own.
UNSEEN = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"]
LEFT_OUT_BY_PLAYWRIGHT = [
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "MediaRouter"),
    *("PaintHolding", "ThirdPartyStoragePartitioning", "Translate", "LensOverlay"),
    *("OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled"),
]
# No look-ups of the browser's own: the tests watch for requests that leave the site.
QUIET = [
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"),
    f"--disable-features={','.join(UNSEEN + LEFT_OUT_BY_PLAYWRIGHT)}",
]


def found():
    """The path of a browser that is already here, or None."""
    here = [path for name in NAMES if (path := shutil.which(name))]
    here += [place for place in PLACES if Path(place).exists()]
    if not here:
        with sync_playwright() as playwright:
            here = [path for path in [playwright.chromium.executable_path] if Path(path).exists()]
    return here[0] if here else None


def get():
    """The path of a browser, installed if need be, or None where none can be had."""
    install_own = [sys.executable, "-m", "playwright", "install", "chromium"]
    if not found() and subprocess.run(install_own, check=False).returncode and shutil.which("apt-get") and is_root():
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        subprocess.run(["apt-get", "install", "-y", "-qq", "chromium"], check=False)
    return found()


def is_root():
    return hasattr(os, "geteuid") and os.geteuid() == 0


def launch(chromium, *switches):
    """A headless browser. Playwright leaves the sandbox off unless told; Chromium refuses to start with it as root."""
    return chromium.launch(executable_path=found(), args=[*QUIET, *switches], chromium_sandbox=not is_root())


if __name__ == "__main__":
    path = get()
    print(f"browser: {path}" if path else ADVICE)
    sys.exit(not path and "CI" in os.environ)

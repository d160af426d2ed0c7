"""The workbench on a page of its own, and how a test asks it: through the address, as a link does."""

from urllib.parse import urlencode

from record import ROOT
from scripts import FOLDER, text_of

ASSETS = ROOT / "book" / "_assets"
NAMES = ("z", "eps", "gain", "bias", "output", "dtype", "shift", "g", "dz", "dgain", "dbias")


def write_page(folder):
    """A page that holds the workbench and nothing else; its address."""
    page = folder / "page.html"
    script = (FOLDER / "book" / "dom.js").read_text(encoding="utf8") + text_of("workbench.js")
    page.with_name("workbench.js").write_text(script, encoding="utf8")
    page.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>'
        f'<link rel="stylesheet" href="{(ASSETS / "workbench.css").as_uri()}">'
        '<script defer src="workbench.js"></script>'
        '<div id="workbench">without JavaScript</div></html>',
        encoding="utf8",
    )
    return page.as_uri()


def settled(tab):
    """Wait until the address holds what the fields hold: the results are drawn before it is written."""
    tab.wait_for_function(
        """names => names.every(name =>
            (new URLSearchParams(location.hash.slice(1)).get(name) ?? "")
                === document.getElementById(`wb-${name}`).value.trim())""",
        arg=list(NAMES),
    )


def fill(tab, **fields):
    """Type into the fields, as a reader does."""
    for name, text in fields.items():
        tab.fill(f"#wb-{name}", text)
    settled(tab)


def ask(tab, **fields):
    """The fields as given and all others empty, at once; what is shown follows the address."""
    address = urlencode({name: as_text(value) for name, value in fields.items()})
    tab.evaluate(
        """address => new Promise(done => {
            window.addEventListener("hashchange", () => setTimeout(done), {once: true});
            history.replaceState(null, "", "#");
            location.hash = address;
        })""",
        address,
    )
    assert tab.input_value("#wb-z") == as_text(fields["z"])


def as_text(value):
    """Rows of numbers as one line each; all digits."""
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    return str(value)


def verdict(tab, which="output"):
    """Whether the verdict says right, and the names in its list."""
    place = tab.locator(f"#wb-verdict-{which}")
    names = place.locator("li > strong").all_text_contents()
    assert place.locator(".wb-right, .wb-wrong").count() == 1, place.text_content()
    return place.locator(".wb-right").count() == 1, names

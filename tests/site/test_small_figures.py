"""Figures on a phone: what is written in them is large enough to be read, and nothing leaves the page."""

POINTS = 10  # the size of the letters in the strip of steps

# How many pixels a point of each picture takes, and in how many rows the panels of each figure stand.
PIXELS = """() => [...document.querySelectorAll(".ln-figure, .ln-slider svg")]
  .map((svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width * (svg.closest(".ln-slider") ? 10 : 1))"""
ROWS = """() => [...document.querySelectorAll("figure .panels")]
  .map((row) => new Set([...row.children].map((panel) => panel.getBoundingClientRect().top)).size)"""


def test_the_strip_of_steps_is_readable(visit):
    tab = visit("book/gain.html", width=360)
    scale = tab.locator(".ln-figure").first.evaluate(
        "svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width"
    )
    assert POINTS * scale >= 11


def test_figures_fit_and_their_panels_go_below_each_other(visit, built):
    """The letters of figures have 11 points. Only the first page's picture is wider, and a script takes its place."""
    wide = {page.stem for page in (built / "book").glob("*.html") if '"scroll wide"' in page.read_text("utf8")}
    assert wide == {"index"}
    tab = visit("book/geometry.html")
    assert tab.evaluate(ROWS) == [1, 1, 1]
    tab.set_viewport_size({"width": 360, "height": 900})
    assert tab.evaluate(ROWS) == [2, 2, 2]
    for page in ("geometry", "epsilon", "neighbours"):
        tab.goto(tab.url.replace(tab.url.split("/")[-1], f"{page}.html"))
        assert min(tab.evaluate(PIXELS)) >= 1, page

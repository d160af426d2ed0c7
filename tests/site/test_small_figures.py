"""Figures on a phone: what is written in them is large enough to be read, and nothing leaves the page."""

POINTS = 10  # the size of the letters in the strip of steps


def test_the_strip_of_steps_is_readable(visit):
    tab = visit("book/gain.html", width=360)
    scale = tab.locator(".ln-figure").first.evaluate(
        "svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width"
    )
    assert POINTS * scale >= 11

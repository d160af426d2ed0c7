"""Code and figures are made of few elements, since each costs a phone time before the page can be used."""

import re

FIGURE = re.compile('<svg class="ln-figure".*?</svg>', re.DOTALL)


def test_only_what_has_a_colour_in_code_is_an_element(visit):
    tab = visit("book/settled.html")
    shades = tab.locator("pre").evaluate_all("""(all) => all.flatMap((code) =>
      [...code.querySelectorAll("span:not(.held)")].map((word) =>
        [word.className, getComputedStyle(word).color === getComputedStyle(code).color]))""")
    assert len(shades) > 1000 and [name for name, plain in shades if plain] == []


def test_a_figure_has_no_rule_for_the_whole_page_and_no_group_of_nothing(built):
    figures = [
        (path.name, figure) for path in built.glob("book/*.html") for figure in FIGURE.findall(path.read_text("utf8"))
    ]
    assert len(figures) > 50
    for name, figure in figures:
        assert "<style" not in figure and "<g>" not in figure and "<!--" not in figure, name

"""What a cell prints: each value beside its name, and no name that reads as one equation with the value."""

import pytest
import sympy

from lnbook.pages.show import grouped, in_lines, tex_of

HALF = sympy.Rational(1, 2)


@pytest.mark.parametrize(
    ("parts", "text", "formulas"),
    [
        (("rank at eps = 1/4", 3), "rank at eps = 1/4: 3", [r"\text{rank at eps = 1/4:} &\; 3"]),
        (
            ("gain", 2, "J at t = 1", HALF),
            "gain 2   J at t = 1: 1/2",
            [r"\text{gain} &= 2", r"\text{J at t = 1:} &\; \frac{1}{2}"],
        ),
        (("P P is P:", True), "P P is P: True", [r"\text{P P is P:} &\; \text{True}"]),
        (("a word alone, x = 1",), "a word alone, x = 1", [r"\text{a word alone, x = 1} &\; "]),
    ],
)
def test_a_name_that_holds_an_equation_ends_in_a_colon(parts, text, formulas):
    groups = grouped(parts)
    assert in_lines(groups, 6, 72) == text
    assert [tex_of(group, 6) for group in groups] == formulas

"""Shows numbers with their names: floats as text with fixed digits, exact values as a formula."""

import re

import sympy
from IPython.display import display


def line(*parts, digits=6, width=72):
    """Show numbers with their names, on one line, or a name a line where that would be longer than `width`.

    If one of the values is exact (a SymPy number or matrix), all of them are shown as a formula, a name a line.

    Parameters
    ----------
    parts : text and values
        A text is a name; it opens a group, and the values after it belong to it.
    digits : int
        Decimals of a float; trailing zeros are left out.
    width : int
        Characters of the longest line that holds more than one group.
    """
    groups = grouped(parts)
    plain = in_lines(groups, digits, width)
    data = {"text/plain": plain}
    if any(is_exact(part) for part in parts):
        rows = r" \\ ".join(tex_of(group, digits) for group in groups)
        data["text/latex"] = rf"$$\begin{{aligned}} {rows} \end{{aligned}}$$"
    # Not printed, since a notebook gathers what a cell prints before the first formula that it shows.
    display(data, raw=True)


def grouped(parts):
    """Each name with its values; a name that holds an equation ends in a colon, as in "at t = 1: 2"."""
    groups = []
    for part in parts:
        if isinstance(part, str) or not groups:
            groups.append([])
        elif len(groups[-1]) == 1 and "=" in str(name := groups[-1][0]) and not name.endswith(":"):
            groups[-1][0] = f"{name}:"
        groups[-1].append(part)
    return groups


def in_lines(groups, digits, width):
    """One line where it is short enough, else a name a line, with the values below each other."""
    texts = [[text(part, digits) for part in group] for group in groups]
    whole = "   ".join(" ".join(parts) for parts in texts)
    if "\n" not in whole and len(whole) <= width:
        return whole
    name = max((len(parts[0]) for parts in texts if len(parts) > 1 and "\n" not in "".join(parts)), default=0)
    return "\n".join(
        "\n".join(parts) if "\n" in "".join(parts) else " ".join([parts[0].ljust(name), *parts[1:]]) for parts in texts
    )


def tex_of(group, digits):
    """`\\text{name} &= value`, or without the sign behind a colon; a comma between several values."""
    name, values = (group[0], group[1:]) if isinstance(group[0], str) else ("", group)
    values = ", ".join(tex(value, digits) for value in values)
    equals = "=" if name and values and not name.endswith(":") else r"\;"
    return rf"{named(name)} &{equals} {values}"


def is_exact(value):
    """Whether the value holds a SymPy number that is no integer: an integer looks the same in both ways."""
    if isinstance(value, list | tuple):
        return any(is_exact(entry) for entry in value)
    return isinstance(value, sympy.MatrixBase) or (isinstance(value, sympy.Basic) and not value.is_Integer)


def plain_lists(value):
    """Arrays and matrices as nested lists, a column as the list of its entries."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        value = [plain_lists(entry) for entry in value]
        if all(isinstance(row, list) and len(row) == 1 for row in value):
            return [row[0] for row in value]
    return value


def text(value, digits=6):
    """A number, a vector in parentheses, or the rows of a matrix, one below the other."""
    value = plain_lists(value)
    if isinstance(value, list):
        if any(isinstance(row, list) for row in value):
            return "\n".join(aligned(value, digits))
        return f"({', '.join(text(entry, digits) for entry in value)})"
    return float_text(value, digits) if isinstance(value, float) else str(value)


def aligned(rows, digits):
    """The rows of a matrix with their entries below each other; rows of a deeper array as they are."""
    cells = [[text(entry, digits) for entry in row] for row in rows]
    if len({len(row) for row in cells}) > 1 or any("\n" in cell for row in cells for cell in row):
        return [text(row, digits) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [f"({', '.join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))})" for row in cells]


def tex(value, digits=6):
    """What `text` says, as TeX; a matrix as a matrix."""
    value = plain_lists(value)
    if isinstance(value, list):
        if value and all(isinstance(row, list) for row in value):
            rows = r" \\[0.4em] ".join(" & ".join(tex(entry, digits) for entry in row) for row in value)
            return rf"\begin{{pmatrix}} {rows} \end{{pmatrix}}"
        entries = r",\, ".join(tex(entry, digits) for entry in value)
        return rf"\left({entries}\right)"
    if isinstance(value, sympy.Basic):
        return sympy.latex(value)
    if isinstance(value, float):
        digits, _, exponent = float_text(value, digits).partition("e")
        return rf"{digits} \cdot 10^{{{int(exponent)}}}" if exponent else digits
    return named(str(value)) if isinstance(value, bool) or not isinstance(value, int) else str(value)


def named(words):
    """Words within a formula."""
    escaped = re.sub("[_%#&$]", lambda sign: "\\" + sign[0], words).replace("^", r"\textasciicircum{}")
    return rf"\text{{{escaped}}}"


def float_text(value, digits):
    """Fixed decimals without trailing zeros; a power of ten where fixed decimals would say 0 or be very long."""
    if value == 0:
        return "0"
    if max(10.0**-digits, 1e-4) <= abs(value) < 1e7:
        return f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return f"{value:.{digits}g}"

"""Prints numbers as a page shows them: vectors in parentheses, exact values as they are, floats with fixed digits."""


def show(*values, digits=6):
    """Print each value on a line: numbers, vectors, matrices (a row a line); exact numbers stay exact.

    Parameters
    ----------
    values : numbers, arrays, nested lists, SymPy numbers and matrices, or text
    digits : int
        Decimals of a float; trailing zeros are left out.
    """
    for value in values:
        print(text(value, digits))


def line(*parts, digits=6, width=72):
    """Print numbers with their names on one line, or a name a line where that would be longer than `width`.

    Parameters
    ----------
    parts : text and values
        A text is a name; it opens a group, and the values after it belong to it.
    digits : int
        As for `show`.
    width : int
        Characters of the longest line that holds more than one group.
    """
    groups = []
    for part in parts:
        if groups and not isinstance(part, str):
            groups[-1] += f" {text(part, digits)}"
        else:
            groups.append(text(part, digits))
    whole = "   ".join(groups)
    print(whole if len(whole) <= width else "\n".join(groups))


def text(value, digits=6):
    """What `show` prints for one value."""
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        if any(isinstance(row, list | tuple) for row in value):
            column = all(isinstance(row, list | tuple) and len(row) == 1 for row in value)
            return text([row[0] for row in value], digits) if column else "\n".join(text(row, digits) for row in value)
        return f"({', '.join(text(entry, digits) for entry in value)})"
    return float_text(value, digits) if isinstance(value, float) else str(value)


def float_text(value, digits):
    """Fixed decimals without trailing zeros; a power of ten where fixed decimals would say 0 or be very long."""
    if value == 0:
        return "0"
    if 10.0**-digits <= abs(value) < 1e7:
        return f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return f"{value:.{digits}g}"

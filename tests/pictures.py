"""A pytest plugin: nbval compares the pictures of a recorded notebook as pictures, and all else as text.

Two processors draw the same picture with other last digits. So a picture is the recorded one if its elements, words
and colours are the same, and no length differs by more than a hundredth of a point; ids may have other names. A slider
counts in whole tenths of a point, so its lengths must be the same.
"""

import functools
import json
import re
from html.parser import HTMLParser
from itertools import zip_longest

TOLERANCE = 0.01
LENGTHS = {"d", "transform", "x", "y", "width", "height", "viewbox"}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
ID = re.compile(r'(\bid="|href="#|url\(#)([^")]+)')


class Parts(HTMLParser):
    """What a picture is made of, in order: `parts` holds triples (where, what, value)."""

    def __init__(self, picture):
        super().__init__()
        self.parts, self.counts, self.open = [], {}, []
        self.feed(picture)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        where = f"<{tag}> number {self.counts[tag]}"
        if tag != "input":  # the only element without an end
            self.open.append((where, dict(attrs).get("type")))
        self.parts.append((where, "element", " ".join(name for name, _ in attrs)))
        self.parts.extend((where, name, value or "") for name, value in attrs)

    def handle_endtag(self, tag):
        self.parts.append((f"<{tag}> number {self.counts[tag]}", "end", ""))
        self.open.pop()

    def handle_data(self, data):
        where, kind = self.open[-1] if self.open else ("the picture", None)
        if kind == "application/json":
            self.parts.extend(frames(json.loads(data)))
        elif data.strip():
            self.parts.append((where, "text", data.strip()))

    def handle_comment(self, data):
        self.parts.append(("the words", "text", data.strip()))


def frames(stored):
    """The parts of a slider's frames: of each moving line its path in each frame, and the lines of text."""
    for number, paths in enumerate(stored["frames"]):
        yield from ((f"moving line {number}, frame {frame}", "d", d) for frame, d in enumerate(paths))
    for kind in ("values", "spoken"):
        yield from ((f"frame {frame}", kind, text) for frame, text in enumerate(stored[kind]))


def with_counted_ids(picture):
    """The picture with ids named by the order in which they first appear."""
    names = {}

    def counted(found):
        return found[1] + names.setdefault(found[2], f"id {len(names) + 1}")

    return ID.sub(counted, picture)


def difference(recorded, drawn):
    """The first difference of two pictures as a sentence; None where they are the same picture."""
    nothing = ("the end", "element", "")
    pairs = zip_longest(*(Parts(with_counted_ids(picture)).parts for picture in (recorded, drawn)), fillvalue=nothing)
    for (where, what, before), (where_now, what_now, after) in pairs:
        if (where, what) != (where_now, what_now):
            return f"{where} ({what}) was recorded, {where_now} ({what_now}) is drawn in its place"
        if before != after and (found := difference_of_values(before, after, what)):
            return f"{where}, {what}: {found}"
    return None


def difference_of_values(before, after, what):
    """Where two values of one attribute differ by more than they may; None where they do not."""
    numbers, numbers_now = (NUMBER.findall(value) for value in (before, after))
    if what not in LENGTHS or NUMBER.split(before) != NUMBER.split(after):
        places = (place for place, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
        place = next(places, min(len(before), len(after)))
        return f"“{around(place, before)}” was recorded, “{around(place, after)}” is drawn"
    for place, (a, b) in enumerate(zip(numbers, numbers_now, strict=True), start=1):
        if abs(float(a) - float(b)) > TOLERANCE * (1 + 1e-9):
            return f"number {place} of {len(numbers)} was recorded as {a} and is drawn as {b}"
    return None


def around(place, value):
    """A few words of a value before and after a place."""
    start, end = max(0, place - 30), place + 40
    return f"{'…' * (start > 0)}{value[start:end]}{'…' * (end < len(value))}"


class Drawing(str):
    """The text of a picture, equal to that of any picture that shows the same."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return difference(str(self), str(other)) is None

    def __ne__(self, other):
        return not self == other


def as_drawing(sanitize, output):
    """What nbval compares: a picture as a Drawing, any other output as it was."""
    value = sanitize(output)
    shows = isinstance(value, str) and value.startswith(("<svg", '<div class="ln-slider"'))
    return Drawing(value) if shows else value


def pytest_itemcollected(item):
    if item.path.suffix == ".ipynb":
        item.sanitize = functools.partial(as_drawing, item.sanitize)


def pytest_assertrepr_compare(left, right):
    if isinstance(left, Drawing) or isinstance(right, Drawing):
        return ["the picture is not the recorded one:", difference(str(left), str(right))]
    return None

"""A matplotlib renderer for pictures inside HTML: all is outlines on whole tenths of a point, without a single id.

matplotlib's own SVG refers to letters, markers and clipping areas by id, so it cannot stand twice on a page.
"""

import numpy as np
from matplotlib.backend_bases import RendererBase
from matplotlib.colors import to_hex
from matplotlib.path import Path

from lnbook.pages.figures.style import COLOURS, STYLE

# Whole tenths of a point need no decimal point.
UNIT = 10
LETTERS = {Path.MOVETO: "M", Path.LINETO: "l", Path.CURVE3: "q", Path.CURVE4: "c", Path.CLOSEPOLY: "z"}
NAMES = {light: name for name, (light, _) in COLOURS.items()}


class Outlines(RendererBase):
    """Keeps what a figure draws in `parts`: for each path its SVG attributes, its `d`, and the gid of its artist."""

    def __init__(self, figure):
        super().__init__()
        self.width, self.height = figure.bbox.size
        self.parts, self.gid = [], None

    def get_canvas_width_height(self):
        return self.width, self.height

    def open_group(self, s, gid=None):
        self.gid = gid

    def close_group(self, s):
        self.gid = None

    def draw_path(self, gc, path, transform, rgbFace=None):
        face = rgbFace if len(path) > 2 else None
        if face is None and not gc.get_linewidth():
            return
        # Only a polyline can leave its axes.
        axes = gc.get_clip_rectangle() if path.codes is None else None
        d = outline(path.iter_segments(transform, clip=axes and axes.extents, simplify=False), self.height)
        self.parts.append((attributes(gc, face), d, self.gid))

    def svg(self):
        """The <svg> element; a path whose artist has a gid is marked with it, the others are joined where they can."""
        body, before = "", None
        for look, d, gid in self.parts:
            if gid is None and look == before:
                body = body.removesuffix('"/>') + f'{d}"/>'
            else:
                mark = "" if gid is None else f' data-mark="{gid}"'
                body += f'<path{look}{mark} d="{d}"/>'
            before = look if gid is None else None
        size = f"0 0 {round(self.width * UNIT)} {round(self.height * UNIT)}"
        return f'<svg viewBox="{size}" aria-hidden="true" style="flex:1 1 {round(self.width)}px">{body}</svg>'


def attributes(gc, face):
    """How a path is drawn, as SVG attributes: a class for its colour, and what differs from a full line."""
    classes = [NAMES[to_hex(gc.get_rgb() if gc.get_linewidth() else face)]]
    classes += ["filled"] * (face is not None)
    # A class, not an attribute: the pictures beside it bring a style sheet that would overrule one.
    classes += ["round"] * (gc.get_capstyle() == "round")
    text = f' class="{" ".join(classes)}"'
    if gc.get_linewidth() != STYLE["lines.linewidth"]:
        text += f' stroke-width="{round(gc.get_linewidth() * UNIT)}"'
    if gc.get_dashes()[1] is not None:
        text += f' stroke-dasharray="{" ".join(str(round(dash * UNIT)) for dash in gc.get_dashes()[1])}"'
    return text if gc.get_alpha() == 1 else f'{text} opacity="{gc.get_alpha():g}"'


def outline(segments, height):
    """The value of an SVG path's `d`: relative steps between points on whole units; steps straight on are one."""
    steps, here = [], np.zeros(2, int)
    for points, code in segments:
        corners = whole(np.reshape(points, (-1, 2)), height)  # (k, 2)
        letter = LETTERS[code]
        if letter == "z":
            steps.append((letter, []))
        elif letter == "M":
            steps.append((letter, corners))
        elif letter == "l" and steps[-1][0] == "l" and straight_on(steps[-1][1][0], corners[0] - here):
            steps[-1] = (letter, steps[-1][1] + corners - here)
        else:
            steps.append((letter, corners - here))
        here = corners[-1]
    return joined(written(letter, np.ravel(numbers).tolist()) for letter, numbers in steps)


def whole(points, height):
    """Points in whole units, counted from the top: (k, 2) -> (k, 2)

    After the first rounding, what is half a unit by design is so on every processor.
    """
    return np.rint(np.round((np.array([0, height]) + points * [1, -1]) * UNIT, 6)).astype(int)


def straight_on(a, b):
    """Whether step b goes on in the direction of step a; a step of length 0 does."""
    return a[0] * b[1] == a[1] * b[0] and a @ b >= 0


def written(letter, numbers):
    """A command with its numbers as text: ("l", "3 -4"), or shorter ("h", "3") along an axis."""
    if letter == "l" and numbers[1] == 0:
        return "h", str(numbers[0])
    if letter == "l" and numbers[0] == 0:
        return "v", str(numbers[1])
    return letter, " ".join(map(str, numbers))


def joined(commands):
    """The commands as one text; a letter stands only where it changes."""
    d, before = "", None
    for letter, numbers in commands:
        d += f" {numbers}" if letter == before else letter + numbers
        before = letter
    return d.replace(" -", "-")

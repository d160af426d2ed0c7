"""Figures with a slider: each frame is drawn beforehand from lnbook's numbers, and a few lines of script swap them.

A cell that shows a `Slider` puts out HTML that needs nothing from elsewhere: it works in the book, from a file and in
JupyterLab. What stays is drawn once; only what moves is kept frame by frame. Without JavaScript one frame stands.
"""

import json
from functools import cache
from html import escape
from itertools import pairwise

import numpy as np
from matplotlib.font_manager import findfont, get_font
from matplotlib.ft2font import LoadFlags
from matplotlib.path import Path

from lnbook.pages.figures.style import COLOURS

# Coordinates of the SVG are whole tenths of a pixel, so that no decimal point has to be stored.
UNIT = 10
FONT_SIZE = 12
DASHES = {"-": "", "--": "60 40", ":": "20 40", "-.": "90 35 20 35"}

SCRIPT = """
for (const figure of document.querySelectorAll(".ln-slider:not(.alive)")) {
  const input = figure.querySelector("input");
  const marks = figure.querySelectorAll("[data-mark]");
  const {frames, values, spoken} = JSON.parse(figure.querySelector("script").textContent);
  const draw = () => {
    const number = Number(input.value);
    marks.forEach((mark, i) => mark.setAttribute("d", frames[i][number]));
    figure.querySelector(".value").textContent = values[number];
    input.setAttribute("aria-valuetext", spoken[number]);
  };
  input.addEventListener("input", draw);
  input.closest("label").hidden = false;
  figure.querySelector(".still").remove();
  figure.classList.add("alive");
  draw();
}
"""


def style_sheet():
    """The rules that a slider brings along: JupyterLab has no other, and the book's themes only set the colours."""
    colours = "".join(f".ln-slider .{name}{{--c:var(--ln-{name},{light})}}" for name, (light, _) in COLOURS.items())
    dark = "".join(f"--ln-{name}:{value};" for name, (_, value) in COLOURS.items())
    return f"""
.ln-slider{{max-width:720px;margin:0 auto;color:var(--ln-ink,{COLOURS["ink"][0]})}}
.ln-slider .panels{{display:flex;flex-wrap:wrap;gap:.5rem;justify-content:center;align-items:end}}
.ln-slider svg{{max-width:460px;fill:none;stroke-width:{2 * UNIT}}}
.ln-slider path{{stroke:var(--c);stroke-linejoin:round}}
.ln-slider .dot{{stroke-width:{9 * UNIT};stroke-linecap:round}}
.ln-slider .thin{{stroke-width:{UNIT}}}
.ln-slider .words{{fill:var(--c);stroke:none}}
.ln-slider label{{display:flex;flex-wrap:wrap;gap:.3rem 1rem;align-items:center}}
.ln-slider label[hidden]{{display:none}}
.ln-slider input{{flex:1 1 200px;min-width:0;accent-color:var(--ln-core,{COLOURS["core"][0]})}}
.ln-slider p{{margin:.3rem 0}}
{colours}
[data-jp-theme-light=false] .ln-slider{{{dark}}}
html[data-theme=dark] .bd-content div.cell_output .output.text_html:has(.ln-slider){{background:none;padding:0}}
@media print{{.ln-slider label{{display:none}}}}
"""


@cache
def letter(character):
    """The outline of a letter, relative to where it stands on the line, and its advance, in units of the SVG.

    Words are drawn as outlines, as in the book's other figures: they look alike on every machine.
    """
    font = get_font(findfont("DejaVu Sans"))
    font.set_size(FONT_SIZE * UNIT, 72)
    advance = font.load_char(ord(character), flags=LoadFlags.NO_HINTING).linearHoriAdvance / 65536
    d, here, begin = "", (0, 0), (0, 0)
    for points, code in Path(*font.get_path()).iter_segments(simplify=False):
        if code == Path.CLOSEPOLY:
            d, here = d + "z", begin
            continue
        corners = np.rint(points.reshape(-1, 2) * [1, -1]).astype(int).tolist()
        steps = " ".join(f"{x - here[0]} {y - here[1]}" for x, y in corners)
        d += {Path.MOVETO: "m", Path.LINETO: "l", Path.CURVE3: "q"}[code] + steps
        here = corners[-1]
        begin = here if code == Path.MOVETO else begin
    return d.replace(" -", "-"), advance


class Panel:
    """Axes of one slider figure, to be drawn into.

    Parameters
    ----------
    x, y : (low, high)
        What the axes span; both positive where the axis is logarithmic.
    x_ticks, y_ticks : dict from position to words
    x_label, y_label, title : str
        One line each; y_label stands above its axis.
    log : str
        The logarithmic axes: "", "x", "y" or "xy".
    equal : bool
        One unit is as long across as up: the height follows.
    """

    def __init__(
        self,
        x,
        y,
        *,
        x_ticks=(),
        y_ticks=(),
        x_label="",
        y_label="",
        title="",
        log="",
        width=340,
        height=250,
        equal=False,
    ):
        self.spans, self.log = (x, y), log
        self.left, self.right = (52 if y_ticks else 12), width - 14
        self.top = 8 + 20 * bool(title) + 20 * bool(y_label)
        foot = 20 * bool(x_label) + 20 * bool(x_ticks) + 6
        if equal:
            height = self.top + foot + (self.right - self.left) * (y[1] - y[0]) / (x[1] - x[0])
        self.width, self.height, self.bottom = width, height, height - foot
        self.parts, self.frames = [], []
        if title:
            self._words(self.left, 14, title, "ink", "start")
        if y_label:
            self._words(4, self.top - 8, y_label, "ink", "start")
        if x_label:
            self._words((self.left + self.right) / 2, height - 8, x_label, "ink", "middle")
        if x_ticks:
            self._stays(f"M{self._at(self.left, self.bottom)}L{self._at(self.right, self.bottom)}", "faint thin")
        if y_ticks:
            self._stays(f"M{self._at(self.left, self.top)}L{self._at(self.left, self.bottom)}", "faint thin")
        for position, words in dict(x_ticks).items():
            across, _ = self.place(position, y[0])
            self._stays(f"M{self._at(across, self.bottom)}v{4 * UNIT}", "faint thin")
            self._words(across, self.bottom + 17, words, "ink", "middle")
        for position, words in dict(y_ticks).items():
            _, up = self.place(x[0], position)
            self._stays(f"M{self._at(self.left, up)}h{-4 * UNIT}", "faint thin")
            self._words(self.left - 7, up + 4, words, "ink", "end")

    def place(self, x, y):
        """Pixels from the left and from the top; what lies beyond the axes is held at a margin outside the picture."""
        shares = []
        for values, (low, high), axis in zip((x, y), self.spans, "xy", strict=True):
            values = np.asarray(values, dtype=float)
            if axis in self.log:
                values, low, high = np.log(values), np.log(low), np.log(high)
            shares.append(np.clip((values - low) / (high - low), -0.5, 1.5))
        return (
            self.left + shares[0] * (self.right - self.left),
            self.bottom - shares[1] * (self.bottom - self.top),
        )

    def path(self, x, y):
        """The polyline through the points as the value of an SVG path's `d`; points that round to one are one."""
        across, down = (np.rint(np.atleast_1d(a) * UNIT).astype(int) for a in self.place(x, y))
        points = list(zip(across.tolist(), down.tolist(), strict=True))
        steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(points)]
        moves = " ".join(f"{dx} {dy}" for dx, dy in steps if dx or dy)
        return f"M{points[0][0]} {points[0][1]}l{moves or '0 0'}".replace(" -", "-")

    def line(self, x, y, colour, dash="-", kind=""):
        """A line that stays in all frames; kind is "", "thin" or "dot" (which draws its points, not a line)."""
        self._stays(self.path(x, y), f"{colour} {kind}".strip(), dash)

    def text(self, x, y, words, colour="ink", anchor="start"):
        """Words at a point, in all frames."""
        self._words(*self.place(x, y), words, colour, anchor)

    def moving_line(self, lines, colour, dash="-", kind=""):
        """A line that each frame draws anew: one pair (x, y) of arrays a frame."""
        self.frames.append([self.path(x, y) for x, y in lines])
        self.parts.append((self._path_tag(f"{colour} {kind}".strip(), dash), len(self.frames) - 1))

    def svg(self, start):
        """The <svg> element with frame number `start` drawn."""
        body = "".join(part if isinstance(part, str) else self._filled(*part, start) for part in self.parts)
        size = f"0 0 {round(self.width * UNIT)} {round(self.height * UNIT)}"
        return f'<svg viewBox="{size}" aria-hidden="true" style="flex:1 1 {round(0.8 * self.width)}px">{body}</svg>'

    def _filled(self, tag, mark, start):
        return f'{tag} data-mark="" d="{self.frames[mark][start]}"/>'

    def _stays(self, d, classes, dash="-"):
        self.parts.append(f'{self._path_tag(classes, dash)} d="{d}"/>')

    def _words(self, across, down, words, colour, anchor):
        length = sum(advance for _, advance in map(letter, words))
        x = float(across) * UNIT - length * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        d = ""
        for outline, advance in map(letter, words):
            d += f"M{round(x)} {round(float(down) * UNIT)}{outline}" if outline else ""
            x += advance
        if d:
            self.parts.append(f'<path class="{colour} words" d="{d}"/>')

    @staticmethod
    def _path_tag(classes, dash):
        pattern = f' stroke-dasharray="{DASHES[dash]}"' if DASHES[dash] else ""
        return f'<path class="{classes}"{pattern}'

    @staticmethod
    def _at(across, down):
        return f"{round(across * UNIT)} {round(down * UNIT)}"


class Slider:
    """A figure whose frames follow a slider.

    Parameters
    ----------
    panels : list of Panel
        Side by side where there is room, below each other where there is not.
    label : str
        What the slider changes.
    values : list of str
        A line of text for each frame: the slider's value and the numbers that the frame shows.
    spoken : list of str
        The same for the ear, without signs that a screen reader may leave out.
    start : int
        The frame that is drawn first, and alone where there is no JavaScript.
    alt : str
        What is seen, for those who do not see it.

    Raises
    ------
    ValueError
        The panels, values and spoken texts do not have equally many frames.
    """

    def __init__(self, panels, *, label, values, spoken, start, alt):
        self.panels, self.label, self.values, self.spoken = panels, label, list(values), list(spoken)
        self.start, self.alt = start, alt
        self.frames = [frames for panel in panels for frames in panel.frames]
        counts = {len(frames) for frames in [*self.frames, self.values, self.spoken]}
        if len(counts) > 1:
            raise ValueError(f"all marks, values and spoken texts must have one entry a frame, got {sorted(counts)}")
        if not 0 <= start < len(self.values):
            raise ValueError(f"start must be a frame from 0 to {len(self.values) - 1}, got {start}")

    def html(self):
        """The figure as HTML without a single id, so that it can stand twice on a page; the same each time."""
        data = {"frames": self.frames, "values": self.values, "spoken": self.spoken}
        stored = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
        pictures = "".join(panel.svg(self.start) for panel in self.panels)
        # JupyterLab takes the arrow keys for itself, unless an element says that it needs them.
        return f"""<div class="ln-slider"><style>{style_sheet()}</style>
<div class="panels" role="img" aria-label="{escape(self.alt)}">{pictures}</div>
<p class="value">{escape(self.values[self.start])}</p>
<label hidden><span>{escape(self.label)}</span>
<input type="range" min="0" max="{len(self.values) - 1}" value="{self.start}" autocomplete="off"
 data-lm-suppress-shortcuts="true" aria-valuetext="{escape(self.spoken[self.start])}"></label>
<p class="still">This is one of {len(self.values)} frames; with JavaScript a slider shows the others.</p>
<script type="application/json">{stored}</script>
<script>{SCRIPT}</script></div>"""

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html(), "text/plain": f"(a figure with a slider: {self.label})"}

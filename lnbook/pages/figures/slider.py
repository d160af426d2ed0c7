"""Figures with a slider: each frame is drawn beforehand from lnbook's numbers, and a few lines of script swap them.

A cell that shows a `Slider` puts out HTML that needs nothing from elsewhere: it works in the book, from a file and in
JupyterLab. What stays is drawn once; only what moves is kept frame by frame. Without JavaScript one frame stands.
"""

import json
from html import escape

import matplotlib
import numpy as np

from lnbook.pages.figures.outlines import UNIT, Outlines
from lnbook.pages.figures.style import COLOURS, STYLE

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# A line of length 0 with round ends.
DOT = {"linewidth": 7, "solid_capstyle": "round", "clip_on": False}

SCRIPT = """
for (const figure of document.querySelectorAll(".ln-slider:not(.alive)")) {
  const input = figure.querySelector("input");
  const marks = figure.querySelectorAll("[data-mark]");
  const {frames, values, spoken} = JSON.parse(figure.querySelector("script").textContent);
  const draw = () => {
    const number = Number(input.value);
    marks.forEach((mark) => mark.setAttribute("d", frames[mark.dataset.mark][number]));
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
.ln-slider .filled{{fill:var(--c)}}
.ln-slider .round{{stroke-linecap:round}}
.ln-slider label{{display:flex;flex-wrap:wrap;gap:.3rem 1rem;align-items:center}}
.ln-slider label[hidden]{{display:none}}
.ln-slider input{{flex:1 1 200px;min-width:0;accent-color:var(--ln-core,{COLOURS["core"][0]})}}
.ln-slider p{{margin:.3rem 0}}
{colours}
[data-jp-theme-light=false] .ln-slider{{{dark}}}
html[data-theme=dark] .bd-content div.cell_output .output.text_html:has(.ln-slider){{background:none;padding:0}}
@media print{{.ln-slider label{{display:none}}}}
"""


def moving_line(axes, frames, *style, **options):
    """A line that each frame draws anew: itself and, for each frame, its pair (x, y)."""
    (line,) = axes.plot(*frames[0], *style, **options)
    return line, frames


def moving_dots(axes, frames, colour):
    """Dots on the points (x, y) of each frame."""
    return moving_line(axes, [(dotted(x), dotted(y)) for x, y in frames], color=colour, **DOT)


def dotted(values):
    """Each value twice and then a gap, (n,) -> (3 n,): what a line draws through such points are dots on them."""
    return np.repeat(np.atleast_1d(values).astype(float), 3) + np.tile([0, 0, np.nan], np.size(values))


class Slider:
    """A figure whose frames follow a slider.

    Parameters
    ----------
    figures : list of Picture
        Side by side where there is room, below each other where there is not.
    moving : list of (line, frames)
        What `moving_line` and `moving_dots` return.
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
        The moving lines, values and spoken texts do not have equally many frames, or `start` is none of them.
    """

    def __init__(self, figures, moving, *, label, values, spoken, start, alt):
        self.figures, self.moving, self.label, self.values, self.spoken = figures, moving, label, values, spoken
        self.start, self.alt = start, alt
        counts = {len(frames) for frames in [*(frames for _, frames in moving), values, spoken]}
        if len(counts) > 1:
            raise ValueError(
                f"all moving lines, values and spoken texts must have one entry a frame, got {sorted(counts)}"
            )
        if not 0 <= start < len(values):
            raise ValueError(f"start must be a frame from 0 to {len(values) - 1}, got {start}")

    def draw(self):
        """The <svg> elements with frame `start` drawn, and the `d` of each moving line in each frame."""
        for mark, (line, frames) in enumerate(self.moving):
            line.set_gid(str(mark))
            line.set_data(*frames[self.start])
        with matplotlib.rc_context(STYLE):
            pictures = [drawn(figure).svg() for figure in self.figures]
            return pictures, [[path_of(line, frame) for frame in frames] for line, frames in self.moving]

    def html(self):
        """The figure as HTML without a single id, so that it can stand twice on a page; the same each time."""
        pictures, frames = self.draw()
        data = {"frames": frames, "values": self.values, "spoken": self.spoken}
        stored = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
        # JupyterLab takes the arrow keys for itself, unless an element says that it needs them.
        return f"""<div class="ln-slider"><style>{style_sheet()}</style>
<div class="panels" role="img" aria-label="{escape(self.alt)}">{"".join(pictures)}</div>
<p class="value">{escape(self.values[self.start])}</p>
<label hidden><span>{escape(self.label)}</span>
<input type="range" min="0" max="{len(self.values) - 1}" value="{self.start}" autocomplete="off"
 data-lm-suppress-shortcuts="true" aria-valuetext="{escape(self.spoken[self.start])}"></label>
<p class="still">This is one of {len(self.values)} frames; with JavaScript a slider shows the others.</p>
<script type="application/json">{stored}</script>
<script>{SCRIPT}</script></div>"""

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html(), "text/plain": f"(a figure with a slider: {self.label})"}


def drawn(figure):
    """The figure's outlines."""
    figure.set_dpi(72)  # a pixel of matplotlib is then a point
    outlines = Outlines(figure)
    figure.draw(outlines)
    return outlines


def path_of(line, frame):
    """The `d` of the line in that frame."""
    line.set_data(*frame)
    outlines = Outlines(line.figure)
    line.draw(outlines)
    ((_, d, _),) = outlines.parts
    return d


def one_two_five(low, high):
    """1, 2, 5 times the powers of ten from 10**low to 10**high."""
    return [float(f"{digit}e{e}") for e in range(low, high) for digit in (1, 2, 5)] + [10.0**high]


def number(x, digits=4):
    """Significant digits as text: 0.7746, −1.225, 1.2·10⁻⁵."""
    written, _, exponent = f"{x:.{digits}g}".partition("e")
    if not exponent:
        return written.replace("-", "−")
    power = f"10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    return power if written == "1" else f"{written}·{power}".replace("-", "−")


def vector(values, digits=4):
    """A vector as text: (−1.225, 0, 1.225)."""
    return f"({', '.join(number(x, digits) for x in values)})"


def spoken(x, digits=4):
    """The same digits for a screen reader: minus 1.225, 1.2 times ten to the minus 5; a vector entry by entry."""
    if np.ndim(x):
        return ", ".join(spoken(entry, digits) for entry in x)
    written, _, exponent = f"{x:.{digits}g}".partition("e")
    power = f" times ten to the {int(exponent)}" if exponent else ""
    return (written + power).replace("-", "minus ")

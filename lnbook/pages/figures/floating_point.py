"""Floating point: what storing a shifted row costs, and what each algorithm adds to it."""

import numpy as np

from lnbook import normalize
from lnbook.pages.algorithms import CORES
from lnbook.pages.figures.slider import Slider, moving_dots, moving_line, number, spoken, vector
from lnbook.pages.figures.style import (
    BIAS,
    CENTRED,
    CORE,
    EPSILON,
    FAINT,
    GAIN,
    INK,
    INPUT,
    new_figure,
    new_panels,
    picture,
)

LINES = dict(
    zip(
        CORES,
        ((EPSILON, "-", "s"), (BIAS, "-.", "v"), (GAIN, ":", "D"), (CENTRED, "--", "^"), (CORE, "-", "o")),
        strict=True,
    )
)


@picture
def error_over_offset(formats, d=64, rows=32, eps=1e-5):
    """The error of five algorithms over the offset of the input, one panel a format.

    `formats` holds (name, dtype, significant bits, largest power of two that is used as offset). Drawn is the median
    over the rows of the largest error in a row, against the exact core of the stored row.
    """
    x = np.random.default_rng(0).standard_normal((rows, d))  # (rows, d)
    panels, axes_of = new_panels(len(formats), 3.6, 4.6)
    for axes, (name, dtype, bits, highest) in zip(axes_of, formats, strict=True):
        offsets = 2.0 ** np.arange(highest + 1)
        stored = [(x + offset).astype(dtype) for offset in offsets]
        exact = [normalize(z.astype(np.float64), eps=eps) for z in stored]
        rounding = [_largest(u - normalize(x, eps=eps)) for u in exact]
        axes.plot(offsets, rounding, color=INPUT, linewidth=1.2, dashes=(2, 2), label="storing the input")
        for algorithm, core in CORES.items():
            errors = [_largest(core(z, eps).astype(float) - u) for z, u in zip(stored, exact, strict=True)]
            colour, line, marker = LINES[algorithm]
            axes.plot(offsets, errors, line, color=colour, marker=marker, markersize=3.5, linewidth=1.6,
                      markevery=2, label=algorithm)  # fmt: skip
        axes.set(title=f"{name}, {bits} bits", xscale="log", yscale="log", xlabel=r"offset, $|\mu|/\sigma$",
                 ylim=(5e-8, 1e4), xlim=(0.7, 2.0**highest * 1.4))  # fmt: skip
        axes.set_xscale("log", base=2)
        axes.set_ylabel("largest error of the core")
        axes.grid(axis="y")
        axes.figure.legend(loc="outside lower center", ncols=2)
    return panels


@picture
def stored_after_shift(z, offsets, dtype):
    """Where the coordinates of z + c lie, seen from c, after storing them: one line of marks for each offset c."""
    z = np.asarray(z)  # (d,)
    figure, axes = new_figure(4.3, 3.0)
    low, high = z.min() - 0.6, z.max() + 0.6
    for x in z:
        axes.axvline(x, color=FAINT, linewidth=1, linestyle=":")
    for level, offset in enumerate(offsets):
        grid = np.unique((offset + np.linspace(low, high, 4001)).astype(dtype).astype(float)) - offset
        grid = grid[(grid >= low) & (grid <= high)]
        axes.plot(grid, np.full(len(grid), -level), "|", color=FAINT, markersize=9)
        stored = (z + offset).astype(dtype).astype(float) - offset  # (d,)
        axes.plot(stored, np.full(len(z), -level), "o", color=INPUT, markersize=7)
    axes.set(xlabel="stored coordinate, minus $c$", xlim=(low, high), ylim=(0.6 - len(offsets), 0.6))
    axes.set_yticks(-np.arange(len(offsets)), [f"$c = {offset:g}$" for offset in offsets], color=INK)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return figure


def _largest(errors):
    """The median over the rows of the largest error of a row; NaN, which a plot leaves out, where it is not finite."""
    largest = np.abs(errors).max(axis=-1)  # (rows,)
    median = np.median(np.where(np.isfinite(largest), largest, np.inf))
    return median if np.isfinite(median) else np.nan


@picture
def offset_slider():
    """The row (0.3, 1.3, 2.4) + c stored in float16, minus c, and the core of what is stored; c doubles."""
    z, index = np.array([0.3, 1.3, 2.4]), np.array([1, 2, 3])  # (d,)
    powers = range(-2, 15)
    offsets = 2.0 ** np.array(powers)  # (n,)
    stored = (z + offsets[:, None]).astype(np.float16).astype(float) - offsets[:, None]  # (n, d)
    cores = normalize(stored, eps=1e-5)  # (n, d)
    figures, moving = [], []
    for title, wanted, vectors, colour, reach in (
        ("stored, minus $c$", z, stored, INPUT, (-0.6, 5)),
        ("core of what is stored", normalize(z, eps=1e-5), cores, CORE, (-1.6, 1.6)),
    ):
        figure, axes = new_figure(3.6, 3.6)
        axes.axhline(0, color=FAINT, linewidth=1)
        axes.plot(index, wanted, "--", color=INK, label="without rounding")
        frames = [(index, row) for row in vectors]
        moving.append(moving_line(axes, frames, color=colour, label="stored in float16"))
        moving.append(moving_dots(axes, frames, colour))
        axes.set(title=title, xlabel="coordinate", ylabel="value", xlim=(0.7, 3.3), ylim=reach, xticks=index)
        figure.legend(loc="outside lower center")
        figures.append(figure)
    frames = list(zip(offsets, stored, cores, strict=True))
    return Slider(
        figures,
        moving,
        label="Move c, the offset",
        values=[f"c = {number(c, 5)}: stored minus c {vector(s, 6)}, core {vector(u)}" for c, s, u in frames],
        spoken=[f"c {spoken(c, 5)}. Stored, minus c: {spoken(s, 6)}. Core: {spoken(u)}" for c, s, u in frames],
        start=powers.index(11),
        alt="Left, the row (0.3, 1.3, 2.4) + c after storing it in float16, minus c; right, the core of what is "
        "stored, at ε = 10⁻⁵. Dashed lines show both without rounding. Up to about c = 64 the full lines lie close "
        "to them; then the stored coordinates jump by different amounts, and from c = 8192 on all three are equal and "
        "the core is 0.",
    )

"""In production: what padding inside a row and one outlier do."""

import numpy as np

from lnbook import center, normalize
from lnbook.pages.figures.style import BOUND, CORE, FAINT, INPUT, new_figure, picture


@picture
def padded_core(real, eps, most=14):
    """The core of the real entries and of the zeros behind them, over the number of zeros."""
    zeros = np.arange(most + 1)
    cores = [normalize(np.array([*real, *[0.0] * count]), eps=eps) for count in zeros]
    figure, axes = new_figure(4.3, 3.6)
    axes.axhline(0, color=FAINT, linewidth=1)
    for place, (entry, line) in enumerate(zip(real, ("-", "-."), strict=True)):
        values = [core[place] for core in cores]
        axes.plot(zeros, values, line, marker="o", markersize=4, color=CORE)
        axes.axhline(values[0], linestyle="--", color=FAINT)
        axes.annotate(f"the entry {entry}", (most, values[-1]), (-4, -20), textcoords="offset points", ha="right")
    axes.plot(zeros[1:], [core[-1] for core in cores[1:]], ":", marker="s", markersize=4, color=INPUT)
    axes.annotate("the zeros", (most, cores[-1][-1]), (-4, -20), textcoords="offset points", ha="right", color=INPUT)
    axes.set(xlabel="zeros that fill up the row", ylabel="core", xticks=zeros[::2])
    return figure


@picture
def outlier_codes(d=768, seeds=5):
    """The number of different 8-bit codes among d - 1 normal entries, over the outlier beside them."""
    sizes = np.geomspace(3, 1e5, 40)  # (n,)
    figure, axes = new_figure(4.3, 3.6)
    for seed in range(seeds):
        others = np.random.default_rng(seed).standard_normal(d - 1)  # (d - 1,)
        rows = center(np.column_stack([sizes, np.tile(others, (len(sizes), 1))]))  # (n, d)
        codes = np.rint(127 * rows / np.abs(rows).max(axis=1, keepdims=True))  # (n, d)
        counts = [len(np.unique(row[1:])) for row in codes]
        axes.plot(sizes, counts, "o", markersize=3, color=CORE, label="others' codes, counted" if seed == 0 else None)
        if seed == 0:
            apart = 127 * np.ptp(others) / ((1 - 1 / d) * (sizes - others.mean()))  # (n,)
            largest = sizes > np.abs(others).max() + 1
            axes.plot(sizes[largest], apart[largest] + 1, "--", color=BOUND, label="distance of the outermost, plus 1")
    axes.set(xscale="log", yscale="log", xlabel="outlier", ylabel="different codes of the others")
    figure.legend(loc="outside lower center")
    axes.grid(True)
    return figure

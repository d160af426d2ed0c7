"""Inputs of the property tests: rows over the whole range of each dtype, the extreme rows always among them."""

from typing import NamedTuple

import numpy as np
from hypothesis import example
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

FLOATS = (np.float16, np.float32, np.float64)


class Case(NamedTuple):
    z: np.ndarray
    eps: float
    axis: int | tuple[int, ...] = -1


def extreme_rows(dtype):
    """Name -> row, of the rows on which layer norms are known to break."""
    info = np.finfo(dtype)
    last_digits = 2.0 ** (info.nmant - 1)
    rows = {
        "constant": [3.3] * 7,
        "outlier": [0, 0, 0, 0, 1000],
        "alternating": [0.1, -0.1] * 4,
        "subnormal": info.smallest_subnormal * np.array([1, 2, 0, 5], dtype),
        "near overflow": info.max * np.array([1, -1, 0.5, -0.25], dtype),
        "constant near overflow": [info.max] * 3,
        "last digits": last_digits + np.array([0, 1, 2, 3]),
        "single": [1.5],
        "pair": [-2, 1],
    }
    return {name: np.asarray(row, dtype) for name, row in rows.items()}


def with_extreme_rows(*more, dtypes=FLOATS, names=None):
    """Decorate a property test of (case, *more) so that it always runs on the extreme rows as well."""

    def decorate(test):
        for dtype in dtypes:
            for name, row in extreme_rows(dtype).items():
                for eps in (1e-12, 1e6):
                    if names is None or name in names:
                        test = example(Case(row, eps), *more)(test)
        return test

    return decorate


def epsilons():
    return st.floats(-12, 6).map(lambda power: 10.0**power)


@st.composite
def cases(draw, dtypes=FLOATS, vectors=False, axes=True):
    """Arrays of any shape and axis; `vectors`: one row (d,); offsets and scales as far as the dtype holds them."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=1 if vectors else 3, max_side=8 if vectors else 4))
    info = np.finfo(dtype)
    digit = st.one_of(st.integers(-3, 3).map(lambda k: k / 4), st.floats(-1, 1, allow_subnormal=False))
    base = draw(hnp.arrays(np.float64, shape, elements=digit))
    offset_power = draw(st.none() | st.integers(0, info.nmant))
    offset = 0.0 if offset_power is None else draw(st.sampled_from([-1.0, 1.0])) * 2.0**offset_power
    highest = int(info.maxexp) - 2 - (offset_power or 0)
    scale = draw(st.just(0) | st.integers(int(info.minexp) - int(info.nmant), highest))
    z = np.ldexp(base + offset, scale).astype(dtype)
    every = range(-len(shape), len(shape))
    axis = -1
    if axes and not vectors:
        some = st.lists(st.sampled_from(every), min_size=1, unique_by=lambda a: a % len(shape)).map(tuple)
        axis = draw(st.sampled_from(every) | some)
    return Case(z, draw(epsilons()), axis)


def vectors(d, low=-4, high=4):
    """Small numbers of quarter steps, exact in every dtype: gains, biases, cotangents."""
    return st.lists(st.integers(4 * low, 4 * high).map(lambda k: k / 4), min_size=d, max_size=d).map(np.array)


def rows_of(array, axis):
    """The rows (n, d) of an array that are normalized together, by NumPy alone."""
    axes = sorted(a % array.ndim for a in (axis if isinstance(axis, tuple) else (axis,)))
    kept = [a for a in range(array.ndim) if a not in axes]
    d = int(np.prod([array.shape[a] for a in axes]))
    return array.transpose(kept + axes).reshape(-1, d)


def normalized_shape(z, axis):
    axes = sorted(a % z.ndim for a in (axis if isinstance(axis, tuple) else (axis,)))
    return tuple(z.shape[a] for a in axes)

"""Arguments checked, an array seen as rows, and extreme rows scaled: what all of lnbook stands on."""

import math
import numbers
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

# The bits of the fraction and the bias of the exponent of the formats that the loops know through their bits.
BIT_FORMATS = {"float16": (10, 15), "bfloat16": (7, 127)}
NATIVE = frozenset({np.dtype(np.float32), np.dtype(np.float64)})
# Rows are cut into parts by their shape alone, so that sums over rows do not depend on the number of threads.
PARTS, ROWS_OF_A_PART = 16, 32
# The entries from which on threads save more than they cost, and those of 16 bits that are widened in one go.
THREADED_ENTRIES, WIDENED_ENTRIES = 1 << 18, 1 << 16


@cache
def kernels():
    """The module of the loops, which imports Numba: not before the first computation."""
    from lnbook import _kernels

    return _kernels


def real_array(name, value):
    """`value` as an array of floats; integers become float64. A TypeError names what else came."""
    if type(value) is np.ndarray and value.dtype in NATIVE:
        return value
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be an array without a mask, got a masked array: fill or select its values first")
    array = np.asarray(value)
    if array.dtype.kind in "iu":
        return exact_floats(name, array)
    native = array.dtype.newbyteorder("=")
    if native not in (np.float16, np.float32, np.float64) and native.name != "bfloat16":  # of ml_dtypes
        raise TypeError(f"{name} must hold float16, bfloat16, float32, float64 or integers, got dtype {array.dtype}")
    return array.astype(native, copy=False)


def exact_floats(name, integers):
    """Integers as float64, exactly: one that float64 does not hold is refused."""
    floats = integers.astype(np.float64)
    far = np.abs(floats) >= 2.0**53
    for whole, number in zip(integers[far].tolist(), floats[far].tolist(), strict=True):
        if whole != number:
            raise ValueError(f"{name} must hold integers that float64 holds exactly, got {whole}")
    return floats


def check_eps(eps, *, zero="allowed"):
    """eps as a Python float; it must be a finite number, not negative (and positive where zero="refused")."""
    if type(eps) is float and 0 < eps < np.inf:
        return eps
    if not isinstance(eps, numbers.Real) or isinstance(eps, bool | np.bool_):
        raise TypeError(f"eps must be one real number, got {eps!r}")
    try:
        number = float(eps)
    except OverflowError:
        number = np.inf
    if not 0 <= number < np.inf or (zero == "refused" and number == 0):
        raise ValueError(f"eps must be finite and {'positive' if zero == 'refused' else 'not negative'}, got {eps!r}")
    return number


def check_axes(axis, ndim):
    """`axis`, an int or a tuple of ints, as a sorted tuple of different axes counted from 0."""
    if type(axis) is int and -ndim <= axis < ndim:
        return (axis % ndim,)
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not axes:
        raise ValueError("axis must name at least one axis, got ()")
    for a in axes:
        if not isinstance(a, numbers.Integral) or isinstance(a, bool):
            raise TypeError(f"axis must be an int or a tuple of ints, got {axis!r}")
        if not -ndim <= a < ndim:
            raise ValueError(f"axis must lie in [{-ndim}, {ndim}) for an array of {ndim} dimensions, got {axis!r}")
    counted = tuple(sorted(int(a) % ndim for a in axes))
    if len(set(counted)) < len(counted):
        raise ValueError(f"axis must name each axis once, got {axis!r}")
    return counted


def check_defined(defined, what="a row of z"):
    if not defined:
        raise ValueError(f"eps must be positive where {what} is constant: at eps = 0 its core is undefined")


class Rows:
    """The array z seen as n rows of the d entries that are normalized together: `values` (n, d)."""

    def __init__(self, z, axis=-1):
        z = real_array("z", z)
        if z.ndim == 0:
            raise ValueError(f"z must have at least one axis, got the single number {z[()]}")
        self.axes = check_axes(axis, z.ndim)
        self.shape, self.dtype = z.shape, z.dtype
        self.last = self.axes == (z.ndim - 1,)
        self.kept = z.shape[:-1] if self.last else tuple(n for a, n in enumerate(z.shape) if a not in self.axes)
        self.normalized_shape = tuple([z.shape[a] for a in self.axes])
        self.d = math.prod(self.normalized_shape)
        if self.d == 0:
            raise ValueError(f"z must have an entry to normalize, got shape {z.shape} and axis {axis!r}")
        self.values = self._in_rows(z)
        self.n = len(self.values)
        self.format = BIT_FORMATS.get(self.dtype.name) if self.dtype.itemsize == 2 else None

    def _in_rows(self, array):
        if not self.last:
            array = np.moveaxis(array, self.axes, range(-len(self.axes), 0))
        array = array.reshape(-1, self.d)  # (n, d)
        # The loops are compiled for arrays of one kind; one that is read-only or has gaps is copied.
        return array if array.flags.carray else array.copy()

    def like(self, name, other):
        """Rows of `other`, which must have the shape of z; in float64 where its dtype is not that of z."""
        other = real_array(name, other)
        if other.shape != self.shape:
            raise ValueError(f"{name} must have the shape {self.shape} of z, got {other.shape}")
        return self._in_rows(other if other.dtype == self.dtype else other.astype(np.float64))

    def parameter(self, name, value):
        """gain or bias as d entries of float64, or None for None."""
        if value is None:
            return None
        value, shape = real_array(name, value), self.normalized_shape
        if value.shape != shape:
            raise ValueError(f"{name} must have the shape {shape} of the normalized axes, got {value.shape}")
        return value.astype(np.float64, copy=not value.flags.carray).reshape(self.d)

    def rest(self):
        """What the loops keep low parts in; None for the formats that they compute in float64."""
        return np.zeros((3, kernels().LANES)) if self.dtype == np.float64 else None

    def each_part(self, compute):
        """[compute(part) for each part], in threads where there is enough to do.

        Python's threads, since the loops hold no lock, and not those of Numba: its portable ones end the program where
        two threads call at once, and those of GNU OpenMP after a fork.
        """
        step = max(ROWS_OF_A_PART, -(-self.n // PARTS))
        parts = [slice(start, start + step) for start in range(0, self.n, step)]
        threads = min(kernels().THREADS, len(parts)) if self.n * self.d >= THREADED_ENTRIES else 1
        if threads == 1:
            with np.errstate(all="ignore"):  # which the loops raise without Numba
                return [compute(part) for part in parts]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(compute, parts))

    def run(self, loop, *arrays):
        """Call loop(*arrays), the last of which takes the results, on rows in a format that the loop knows.

        Rows of 16 bits are widened to float32 on the way in, and the results rounded from float64 on the way out.
        """
        if self.format is None:
            loop(*arrays)
            return
        step = max(1, WIDENED_ENTRIES // self.d)
        for start in range(0, len(arrays[-1]), step):
            *inputs, out = (a[start : start + step] for a in arrays)
            result = np.empty(out.shape)
            loop(*(self._widened(a) if a.dtype == self.dtype else a for a in inputs), result)
            kernels().to_bits(result, *self.format, out.view(np.uint16))

    def _widened(self, rows):
        wide = np.empty(rows.shape, np.float32)
        kernels().from_bits(rows.view(np.uint16), *self.format, wide)
        return wide

    def restore(self, rows):
        if self.last:
            return rows.reshape(self.shape)
        moved = rows.reshape(self.kept + self.normalized_shape)
        return np.ascontiguousarray(np.moveaxis(moved, range(-len(self.axes), 0), self.axes))

    def rounded(self, values):
        """float64 in the dtype of z, rounded once; infinite where it is beyond that dtype."""
        with np.errstate(all="ignore"):
            if self.format is None:
                return values.astype(self.dtype)
            out = np.empty(values.shape, self.dtype)
            flat = np.ascontiguousarray(values, np.float64).reshape(1, -1)
            kernels().to_bits(flat, *self.format, out.view(np.uint16).reshape(1, -1))
            return out


# For results of which speed is not asked: rows scaled by powers of two, which round nothing


def exponent(x):
    """The least integer e with |x| < 2**e; 0 for NaN and infinity; below all others for 0, which sets no scale."""
    return np.where(x == 0, -5000, np.where(np.isfinite(x), np.frexp(x)[1], 0))


def scaled(a):
    """a / 2**scale in float64, no entry above 1, and the scale of each row: (..., d) -> (..., d), (...)"""
    a = a.astype(np.float64)
    scale = exponent(np.abs(a).max(axis=-1))
    return np.ldexp(a, -scale[..., None]), scale


def row_mean(a, b):
    """mean_i a_i b_i of each row of float64, as good as rounded once: (n, d), (n, d) -> (n,)"""
    means = np.empty(len(a))
    kernels().row_means(a, b, means)
    return means


def scaled_center_rows(z):
    """v / 2**scale, in [-1, 1] and in float64, and the integer scale of each row: (n, d) -> (n, d), (n,)"""
    with np.errstate(all="ignore"):
        x, first = scaled(z)  # (n, d), (n,)
        v = np.empty(x.shape)
        kernels().center(x, np.zeros((3, kernels().LANES)), v, np.empty(len(x)))
        v, second = scaled(v)
        return v, first + second


def directions(v):
    """v / sqrt(q) of each row, its entries squared 1 on average; 0 where v is 0: (n, d) -> (n, d)"""
    root = np.sqrt(row_mean(v, v))  # (n,)
    return v / np.where(root == 0, 1, root)[:, None]


def scaled_rows(v, scale, eps):
    """v * 2**scale, its q, and eps, in units of 2**common in which no square is above 1, and common"""
    common = np.maximum(scale, exponent(np.sqrt(eps)))
    v = np.ldexp(v, (scale - common)[:, None])
    q, eps = row_mean(v, v), np.ldexp(eps, -2 * common)
    check_defined((q + eps != 0).all())
    return v, q, eps, common


def scaled_core_rows(v, scale, eps):
    """The core u, and sqrt(q + eps) as root * 2**common, whose inverse may be out of range: (n, d), (n,), (n,)"""
    v, q, eps, common = scaled_rows(v, scale, eps)
    return v / np.sqrt(q + eps)[:, None], np.sqrt(q + eps), common

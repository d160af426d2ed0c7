"""Arguments checked, an array seen as rows, and extreme rows scaled: what all of lnbook stands on."""

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


def is_bfloat16(dtype):
    """Whether it is bfloat16 of ml_dtypes, known by its name: whoever has such an array has imported ml_dtypes."""
    return dtype.name == "bfloat16" and dtype.itemsize == 2


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
    if native not in (np.float16, np.float32, np.float64) and not is_bfloat16(native):
        raise TypeError(f"{name} must hold float16, bfloat16, float32, float64 or integers, got dtype {array.dtype}")
    return array.astype(native, copy=False)


def exact_floats(name, integers):
    """Integers as float64, exactly: one that float64 does not hold is refused."""
    floats = integers.astype(np.float64)
    if integers.dtype.itemsize == 8:
        for i in zip(*np.nonzero(np.abs(floats) >= 2.0**53), strict=True):
            if int(integers[i]) != int(floats[i]):
                raise ValueError(f"{name} must hold integers that float64 holds exactly, got {integers[i]}")
    return floats


def check_eps(eps, *, zero="allowed"):
    """eps as a Python float; it must be a finite number, not negative (and positive where zero="refused")."""
    if not isinstance(eps, numbers.Real) or isinstance(eps, bool | np.bool_):
        raise TypeError(f"eps must be one real number, got {eps!r}")
    try:
        number = float(eps)
    except OverflowError:
        number = np.inf
    if not 0 <= number < np.inf or (zero == "refused" and number == 0):
        allowed = "positive" if zero == "refused" else "not negative"
        raise ValueError(f"eps must be finite and {allowed}, got {eps!r}")
    return number


def check_axes(axis, ndim):
    """`axis`, an int or a tuple of ints, as a sorted tuple of different axes counted from 0."""
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
    """A ValueError where a row is constant and eps is 0."""
    if not defined:
        raise ValueError(f"eps must be positive where {what} is constant: at eps = 0 its core is undefined")


class Rows:
    """The array z seen as n rows of the d entries that are normalized together.

    `values` has shape (n, d) and `dtype`, which is that of the results too.
    """

    def __init__(self, z, axis=-1):
        z = real_array("z", z)
        if z.ndim == 0:
            raise ValueError(f"z must have at least one axis, got the single number {z[()]}")
        self.axes = check_axes(axis, z.ndim)
        self.shape, self.dtype = z.shape, z.dtype
        self.last = self.axes == (z.ndim - 1,)
        self.kept = tuple(size for a, size in enumerate(z.shape) if a not in self.axes)
        self.normalized_shape = tuple(z.shape[a] for a in self.axes)
        self.d = int(np.prod(self.normalized_shape)) if len(self.axes) > 1 else self.normalized_shape[0]
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
        value = real_array(name, value)
        if value.shape != self.normalized_shape:
            raise ValueError(
                f"{name} must have the shape {self.normalized_shape} of the normalized axes, got {value.shape}"
            )
        return value.astype(np.float64).reshape(self.d)

    def work(self):
        """What the loops keep low parts in, None for formats that they compute in float64."""
        return np.empty((3, kernels().LANES)) if self.dtype == np.float64 else None

    def parts(self):
        """Slices that cut the rows into at most PARTS, by the shape of z alone."""
        step = max(ROWS_OF_A_PART, -(-self.n // PARTS))
        return [slice(start, start + step) for start in range(0, self.n, step)]

    def each_part(self, compute):
        """[compute(part) for each part], in threads where there is enough to do.

        Python's threads, since the loops hold no lock, and not those of Numba: its portable ones end the program where
        two threads call at once, and those of GNU OpenMP after a fork.
        """
        parts, compute = self.parts(), np.errstate(all="ignore")(compute)
        threads = min(kernels().THREADS, len(parts)) if self.n * self.d >= THREADED_ENTRIES else 1
        if threads == 1:
            return [compute(part) for part in parts]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(compute, parts))

    def run(self, loop, *arrays):
        """Call loop(part, *arrays) on rows of arrays, the last of which takes the results, in a format the loop knows.

        Rows of 16 bits are widened to float32 on the way in, and the results rounded from float64 on the way out.
        """
        if self.format is None:
            return loop(*arrays)
        *inputs, out = arrays
        step = max(1, WIDENED_ENTRIES // self.d)
        for start in range(0, len(out), step):
            block = slice(start, start + step)
            result = np.empty(out[block].shape)
            loop(*(self.widened(a[block]) for a in inputs), result)
            kernels().to_bits(result, *self.format, out[block].view(np.uint16))

    def widened(self, rows):
        """Rows of a 16-bit format in float32, which holds them all."""
        if rows.dtype != self.dtype:
            return rows
        wide = np.empty(rows.shape, np.float32)
        kernels().from_bits(rows.view(np.uint16), *self.format, wide)
        return wide

    def restore(self, rows):
        """Rows (n, d) back in the shape of z."""
        if self.last:
            return rows.reshape(self.shape)
        moved = rows.reshape(self.kept + self.normalized_shape)
        return np.ascontiguousarray(np.moveaxis(moved, range(-len(self.axes), 0), self.axes))

    def rounded(self, values):
        """float64 in the dtype of z, rounded once; infinite where it is beyond that dtype."""
        if self.format is None:
            with np.errstate(over="ignore"):
                return values.astype(self.dtype)
        out = np.empty(values.shape, self.dtype)
        kernels().to_bits(
            np.ascontiguousarray(values, np.float64).reshape(1, -1), *self.format, out.view(np.uint16).reshape(1, -1)
        )
        return out


# Rows whose squares would leave the range of float64: scaled by powers of two, which round nothing


def exponent(x):
    """The least integer e with |x| < 2**e; 0 for NaN and infinity; below all others for 0, which sets no scale."""
    return np.where(x == 0, -5000, np.where(np.isfinite(x), np.frexp(x)[1], 0))


def scaled(a):
    """a / 2**scale in float64, no entry above 1, and the scale of each row: (..., d) -> (..., d), (...)"""
    scale = exponent(np.abs(a).max(axis=-1))
    return np.ldexp(a.astype(np.float64), -scale[..., None]), scale


def scaled_with_eps(z, eps, centred):
    """A row z / 2**scale and eps / 4**common: u is then too small by 2**(common - scale), and the root by 2**common.

    Where common is not scale, eps is so far above q that q does not count.
    """
    if centred and (z == z[0, 0]).all():
        z = np.zeros_like(z)
    x, scale = scaled(z)  # (1, d), (1,)
    common = np.maximum(scale, exponent(np.sqrt(eps)) - 200)
    return x, float(np.ldexp(eps, -2 * common[0])), int(scale[0]), int(common[0])


def scaled_layer_norm(z, gain, bias, eps, centred, work, y):
    """`_kernels.layer_norm` of one extreme row: (1, d) -> (1, d)"""
    x, eps, scale, common = scaled_with_eps(z, eps, centred)
    gain, power = (None, 0) if gain is None else scaled(gain)
    check_defined(kernels().layer_norm(x, gain, None, eps, centred, work, y, np.empty(1, np.int8)) != 2)
    y[...] = np.ldexp(y, scale - common + power)
    if bias is not None:
        y += bias


def scaled_product(z, h, before, after, eps, centred, work, out, sums):
    """`_kernels.jacobian_product` of one extreme row: (1, d), (1, d) -> (1, d)"""
    x, scaled_eps, _, common = scaled_with_eps(z, eps, centred)
    mantissa, powers = np.frexp(h)  # (1, d)
    if before is not None:
        before, more = np.frexp(before)
        powers = powers + more
    powers = np.where(mantissa * (1 if before is None else before) == 0, -5000, powers)
    top = powers.max()
    after, power = (None, 0) if after is None else scaled(after)
    w = np.ldexp(mantissa, powers - top)
    state = kernels().jacobian_product(x, w, before, after, scaled_eps, centred, work, out, None, np.empty(1, np.int8))
    check_defined(state != 2)
    out[...] = np.ldexp(out, top - common + power)
    if sums is not None:
        u = np.empty_like(z)
        scaled_layer_norm(z, None, None, eps, centred, work, u)
        kernels().add_terms(h[0], u[0], sums)


# For results of which speed is not asked, all rows are scaled


def row_mean(a, b=None):
    """mean_i a_i b_i of each row of float64 (b = 1 if not given), as good as rounded once: (n, d) -> (n,)"""
    means = np.empty(len(a))
    kernels().row_means(a, np.ones(a.shape) if b is None else b, means)
    return means


def scaled_center_rows(z):
    """v / 2**scale, in [-1, 1] and in float64, and the integer scale of each row: (n, d) -> (n, d), (n,)"""
    with np.errstate(all="ignore"):
        x, first = scaled(z)  # (n, d), (n,)
        v, work = np.empty(x.shape), np.empty((3, kernels().LANES))
        kernels().center(x, True, work, v, np.empty(len(x)), np.empty(len(x), np.int8))
        v, second = scaled(v)
        return v, first + second


def direction_rows(z):
    """v / sqrt(q) of each row, in float64, its entries squared 1 on average; 0 where the row is constant."""
    v, _ = scaled_center_rows(z)  # (n, d)
    root = np.sqrt(row_mean(v, v))  # (n,)
    return v / np.where(root == 0, 1, root)[:, None]


def scaled_rows(v, scale, eps):
    """v * 2**scale, its q, and eps, in units of 2**common in which no square is above 1, and common

    v and scale are as from scaled_center_rows: (n, d), (n,) -> (n, d), (n,), (n,), (n,)
    """
    common = np.maximum(scale, exponent(np.sqrt(eps)))
    v = np.ldexp(v, (scale - common)[:, None])
    q, eps = row_mean(v, v), np.ldexp(eps, -2 * common)
    check_defined((q + eps != 0).all())
    return v, q, eps, common


def scaled_core_rows(v, scale, eps):
    """The core u, and sqrt(q + eps) as root * 2**common, whose inverse may be out of range: (n, d), (n,), (n,)"""
    v, q, eps, common = scaled_rows(v, scale, eps)
    root = np.sqrt(q + eps)
    return v / root[:, None], root, common

"""Arguments checked, an array seen as rows, and the rows normalized: what all of lnbook stands on."""

import numbers

import numpy as np

# A block of rows small enough to stay in the processor's cache from its first pass to its last.
BLOCK_ENTRIES = 1 << 18
# The numbers added up in one go: the sums of more are taken from the sums of pieces, which keeps the last digits.
PIECE = 128
# Where a mean square of float64 lies between these, no square that it shows has left the range.
SQUARES = (2.0**-600, 2.0**600)


def real_array(name, value):
    """`value` as an array of float16, float32, float64 or integers; a TypeError names what else came."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be an array without a mask, got a masked array: fill or select its values first")
    array = np.asarray(value)
    if array.dtype.kind not in "iu" and array.dtype.newbyteorder("=") not in (np.float16, np.float32, np.float64):
        raise TypeError(f"{name} must hold float16, float32, float64 or integers, got dtype {array.dtype}")
    return array


def result_dtype(array):
    """The dtype a result has: that of the input, float64 for integers, always in native byte order."""
    return np.dtype(np.float64) if array.dtype.kind in "iu" else array.dtype.newbyteorder("=")


def working_dtype(dtype):
    """What a block is computed from: float16 goes the way of float32, which is another than that of float64."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


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

    `values` has shape (n, d) and the dtype of z; `dtype` is that of the results, `work` that of the computation.
    """

    def __init__(self, z, axis=-1):
        z = real_array("z", z)
        if z.ndim == 0:
            raise ValueError(f"z must have at least one axis, got the single number {z[()]}")
        self.axes = check_axes(axis, z.ndim)
        self.dtype = result_dtype(z)
        self.work = working_dtype(self.dtype)
        self.shape = z.shape
        self.normalized_shape = tuple(z.shape[a] for a in self.axes)
        self.d = int(np.prod(self.normalized_shape))
        if self.d == 0:
            raise ValueError(f"z must have an entry to normalize, got shape {z.shape} and axis {axis!r}")
        self.values = np.moveaxis(z, self.axes, range(-len(self.axes), 0)).reshape(-1, self.d)  # (n, d)
        self.n = len(self.values)

    def like(self, name, other):
        """Rows of `other`, which must have the shape of z, in the dtype that they are computed from."""
        other = real_array(name, other)
        if other.shape != self.shape:
            raise ValueError(f"{name} must have the shape {self.shape} of z, got {other.shape}")
        rows = np.moveaxis(other, self.axes, range(-len(self.axes), 0)).reshape(-1, self.d)  # (n, d)
        return rows.astype(working_dtype(result_dtype(other)), copy=False)

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

    def parts(self):
        """Slices that cut the rows into blocks of about BLOCK_ENTRIES."""
        step = max(1, BLOCK_ENTRIES // self.d)
        return (slice(start, start + step) for start in range(0, self.n, step))

    def blocks(self, out):
        """For each block of rows: its slice, its z in the working dtype, and an array for its results.

        What the loop leaves in that array is in `out`, rounded once, when the loop goes on.
        """
        for part in self.parts():
            z = np.ascontiguousarray(self.values[part], self.work)  # (rows, d)
            if self.work == self.dtype:
                yield part, z, out[part]
            else:
                result = np.empty(z.shape)
                yield part, z, result
                with np.errstate(over="ignore"):
                    out[part] = result

    def restore(self, rows):
        """Rows (n, d) back in the shape of z."""
        kept = tuple(size for a, size in enumerate(self.shape) if a not in self.axes)
        moved = rows.reshape(kept + self.normalized_shape)
        return np.ascontiguousarray(np.moveaxis(moved, range(-len(self.axes), 0), self.axes))

    def reduced(self, per_row):
        """One number a row (n,), in the shape of z without the normalized axes; infinite where the dtype ends."""
        kept = tuple(size for a, size in enumerate(self.shape) if a not in self.axes)
        with np.errstate(over="ignore"):
            return per_row.astype(self.dtype).reshape(kept)


def row_mean(a, b=None):
    """mean_i a_i b_i of each row of float64 (b = 1 if not given): (n, d) -> (n,)

    A number is split into its first 20 bits, whose products add up without rounding, and the rest.
    """
    high, low = _split(a)
    if b is None:
        return (_row_sum(high) + _row_sum(low)) / a.shape[1]
    high_b, low_b = _split(b)
    return (_row_sum(high, high_b) + _row_sum(high, low_b) + _row_sum(low, b)) / a.shape[1]


def _split(a):
    """a = high + low, where high is a multiple of 2^-20 max|a| in each row."""
    lift = np.ldexp(1.5, exponent(np.abs(a).max(axis=-1)) + 32)[:, None]  # (n, 1) its last place is that multiple
    high = (a + lift) - lift  # (n, d)
    return high, a - high


def _row_sum(a, b=None):
    """Dot products of pieces of rows, so that no row's result depends on the rows around it, not even in a bit."""
    n, d = a.shape
    whole = d - d % PIECE
    pieces = (n, whole // PIECE, PIECE)
    total = np.vecdot(a[:, whole:], np.ones(d - whole) if b is None else b[:, whole:])  # (n,)
    if whole:
        other = np.ones(PIECE) if b is None else b[:, :whole].reshape(pieces)
        total += np.vecdot(a[:, :whole].reshape(pieces), other).sum(axis=-1)
    return total


def center_rows(z):
    """v = z - mean(z) and q of rows of float64: (n, d) -> (n, d), (n,)

    Centred twice, because the first mean leaves a rest where the offset is large. A rest too small to show is left.
    """
    v = z - row_mean(z)[:, None]  # (n, d)
    rest, q = row_mean(v), row_mean(v, v)  # (n,), (n,)
    rest[np.abs(rest) <= 2.0**-57 * np.sqrt(q)] = 0
    if rest.any():
        v -= rest[:, None]
        q = row_mean(v, v)
    return v, q


def core_rows(z, eps, out):
    """Write the core u = v / sqrt(q + eps) of rows of float64 to out, in scaled form where squares leave the range.

    A row of NaN or infinity becomes NaN.
    """
    with np.errstate(all="ignore"):
        v, q = center_rows(z)
        np.divide(v, np.sqrt(q + eps)[:, None], out=out)
        extreme = ~((q > SQUARES[0]) & (q < SQUARES[1]))  # (n,) where q is NaN too
        if extreme.any():
            out[extreme], _, _ = scaled_core_rows(*scaled_center_rows(z[extreme]), eps)


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


def scaled_center_rows(z):
    """v / 2**scale, in [-1, 1] and in float64, and the integer scale of each row: (n, d) -> (n, d), (n,)

    Powers of two scale without rounding, so this is exact where z - mean(z) or its square would leave the range.
    """
    with np.errstate(all="ignore"):
        first = exponent(np.abs(z).max(axis=-1))  # (n,)
        v, _ = center_rows(np.ldexp(z.astype(np.float64), -first[:, None]))  # (n, d)
        second = exponent(np.abs(v).max(axis=-1))
        return np.ldexp(v, -second[:, None]), first + second


def direction_rows(z):
    """v / sqrt(q) of each row, in float64, its entries squared 1 on average; 0 where the row is constant."""
    v, _ = scaled_center_rows(z)  # (n, d)
    root = np.sqrt(row_mean(v, v))  # (n,)
    return v / np.where(root == 0, 1, root)[:, None]


def exponent(x):
    """The least integer e with |x| < 2**e; 0 for NaN and infinity; below all others for 0, which sets no scale."""
    return np.where(x == 0, -5000, np.where(np.isfinite(x), np.frexp(x)[1], 0))

"""Arguments checked, an array seen as rows, and the rows normalized: what all of lnbook stands on."""

import numbers

import numpy as np

# A block of rows small enough to stay in the processor's cache from its first pass to its last.
BLOCK_ENTRIES = 1 << 16
# The entries that one dot product adds up before its sum goes on in float64.
PIECE = 4096


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
    """float16 computes in float32; float32 and float64 compute in themselves."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def check_eps(eps, *, zero="allowed"):
    """eps as a Python float; it must be a finite number, not negative (and positive where zero="refused")."""
    if not isinstance(eps, numbers.Real) or isinstance(eps, bool | np.bool_):
        raise TypeError(f"eps must be one real number, got {eps!r}")
    if not 0 <= eps < np.inf or (zero == "refused" and eps == 0):
        raise ValueError(f"eps must be finite and {'positive' if zero == 'refused' else 'not negative'}, got {eps!r}")
    return float(eps)


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


def blocks(n, d):
    """Slices that cut n rows of d entries into blocks of about BLOCK_ENTRIES."""
    step = max(1, BLOCK_ENTRIES // d)
    return (slice(start, start + step) for start in range(0, n, step))


class Rows:
    """The array z seen as n rows of the d entries that are normalized together.

    `values` has shape (n, d) and the dtype of z; `dtype` is that of the results, `work` that of the computation.
    """

    def __init__(self, z, axis=-1, name="z"):
        z = real_array(name, z)
        if z.ndim == 0:
            raise ValueError(f"{name} must have at least one axis, got the single number {z[()]}")
        self.axes = check_axes(axis, z.ndim)
        self.dtype = result_dtype(z)
        self.work = working_dtype(self.dtype)
        self.shape = z.shape
        self.normalized_shape = tuple(z.shape[a] for a in self.axes)
        self.d = int(np.prod(self.normalized_shape))
        if self.d == 0:
            raise ValueError(f"{name} must have an entry to normalize, got shape {z.shape} and axis {axis!r}")
        self.values = np.moveaxis(z, self.axes, range(-len(self.axes), 0)).reshape(-1, self.d)  # (n, d)
        self.n = len(self.values)

    def like(self, name, other):
        """Rows of `other`, which must have the shape of z, in the working dtype of z."""
        other = real_array(name, other)
        if other.shape != self.shape:
            raise ValueError(f"{name} must have the shape {self.shape} of z, got {other.shape}")
        return np.moveaxis(other, self.axes, range(-len(self.axes), 0)).reshape(-1, self.d)  # (n, d)

    def parameter(self, name, value):
        """gain or bias as d entries of the working dtype, or None for None."""
        if value is None:
            return None
        value = real_array(name, value)
        if value.shape != self.normalized_shape:
            raise ValueError(
                f"{name} must have the shape {self.normalized_shape} of the normalized axes, got {value.shape}"
            )
        return value.astype(self.work).reshape(self.d)

    def blocks(self):
        return blocks(self.n, self.d)

    def restore(self, rows):
        """Rows (n, d) back in the shape of z."""
        kept = tuple(size for a, size in enumerate(self.shape) if a not in self.axes)
        moved = rows.reshape(kept + self.normalized_shape)
        return np.ascontiguousarray(np.moveaxis(moved, range(-len(self.axes), 0), self.axes))

    def reduced(self, per_row):
        """One number a row (n,), in the shape of z without the normalized axes."""
        kept = tuple(size for a, size in enumerate(self.shape) if a not in self.axes)
        return per_row.astype(self.dtype).reshape(kept)


def row_mean(a, b=None):
    """mean_i a_i b_i of each row (b = 1 if not given), in float64: (n, d) -> (n,)

    One dot product a row, so that no row's result depends on the rows around it, not even in its last bit.
    """
    d = a.shape[-1]
    ones = np.ones(min(d, PIECE), a.dtype)
    total = np.zeros(len(a))
    for start in range(0, d, PIECE):
        piece = a[:, start : start + PIECE]
        other = ones[: piece.shape[1]] if b is None else b[:, start : start + PIECE]
        total += np.vecdot(piece, other)
    return total / d


def center_rows(z, out=None):
    """v = z - mean(z), centred twice: the first mean leaves a rest where the offset is large; the second takes it."""
    v = np.subtract(z, row_mean(z).astype(z.dtype)[:, None], out=out)  # (n, d)
    q = row_mean(v, v)  # (n,)
    rest = row_mean(v)  # (n,)
    rest[np.abs(rest) <= np.finfo(z.dtype).eps / 4 * np.sqrt(q)] = 0
    if rest.any():
        v -= rest.astype(z.dtype)[:, None]
        q = row_mean(v, v)
    return v, q


def core_rows(z, eps, out=None):
    """The core u = v / sqrt(q + eps) and 1 / sqrt(q + eps) of each row: (n, d) -> (n, d), (n,)

    z is float32 or float64. A row whose squares leave the range of the dtype is computed in scaled form.
    """
    with np.errstate(all="ignore"):  # NaN and infinity stay in their row, and make no noise
        v, q = center_rows(z, out)
        inverse_std = 1 / np.sqrt(q + eps)  # (n,)
        u = np.multiply(v, inverse_std.astype(z.dtype)[:, None], out=v)
        high = float(np.finfo(z.dtype).max) ** 0.6
        extreme = ~((q > 1 / high) & (q < high))  # (n,) true for NaN as well
        if extreme.any():
            u[extreme], inverse_std[extreme] = scaled_core_rows(z[extreme], eps)
    return u, inverse_std


def scaled_core_rows(z, eps):
    """What core_rows computes, with every square at most 1: in units of 2**common, v and sqrt(eps) are at most 1."""
    v, scale = scaled_center_rows(z)  # (n, d), (n,)
    common = np.maximum(scale, exponent(np.sqrt(eps)))
    v = np.ldexp(v, (scale - common)[:, None])
    root = np.sqrt(row_mean(v, v) + np.ldexp(eps, -2 * common))  # (n,)
    if (root == 0).any():
        raise ValueError("eps must be positive where a row of z is constant: at eps = 0 its core is undefined")
    return v / root[:, None], np.ldexp(1 / root, -common)


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
    with np.errstate(all="ignore"):
        root = np.sqrt(row_mean(v, v))  # (n,)
        return v / np.where(root == 0, 1, root)[:, None]


def shrink(inverse_std, eps):
    """eps / (q + eps): the share of a change along v that eps leaves alive, from 0 (eps = 0) to 1 (q = 0)."""
    return eps * inverse_std * inverse_std


def exponent(x):
    """The least integer e with |x| < 2**e; 0 for NaN and infinity; below all others for 0, which sets no scale."""
    return np.where(x == 0, -5000, np.where(np.isfinite(x), np.frexp(x)[1], 0))

"""The loops over rows: the formulas once, for every format, compiled by Numba where it can be imported.

The formats differ in how numbers are added and multiplied. Rows of float32 (and of float16 and bfloat16, widened) are
computed in float64: `pairs` is None, and low parts are neither read nor written. Rows of float64 are scaled by a power
of two and computed in pairs of float64, a number and what rounding left: `pairs` is True. The sums are those of Ogita,
Rump and Oishi (2005), LANES side by side, STEPS of each in registers where there are no pairs, in one order, so that
results are the same bits on every processor, in any number of threads and without Numba. Nothing may be fused or
reordered here (no fastmath): the low parts live on that. No loop writes to an array it reads from, which is slow.

Why the promises hold, with the roundoff u = 2^-53 and n = d / LANES + 12:
1. Where max|v| < max|z| / 4, all entries lie within a factor of 2, so they are multiples of one number and their sum is
   exact: in float32 up to 2^28 entries, in pairs up to 2^26 in a lane. Else it is right to n u, in pairs n^2 u^2, times
   max|z| <= 4 max|v|. The quotient by d keeps its remainder: the mean is right to 8 n u, in pairs 8 n^2 u^2, of max|v|.
2. A sum of squares does not cancel: q is right to the relative error (n + 3) u, in pairs (n^2 + 10) u^2.
3. So the core is right to (9 n + 9) u max|u|, below 0.01 units of float32 up to 2^20 entries, in pairs far below, and
   rounded once: 0.51 units. Product with gain and sum with bias are rounded once each: 1.5 units of float64.
4. In J w no term is above 2 max|w| + max|J w| sqrt(q + eps), since u mean(w * u) is what w less its mean is more than
   the result. In pairs nothing is rounded but the difference, the root and two products: 2 units. In float32
   mean(w * u) is right to n u max|w|, times max|u| <= sqrt(d): below 0.01 units up to 2^18 entries.

Arrays: z, h, y, v, out (n, d) of float32 or float64; gain, bias, before, after (d,) of float64, None for 1, 0, 1 and 1.
"""

import math

import numpy as np

try:
    from numba import config, njit
except ImportError:
    njit = None

THREADS = 1 if njit is None else config.NUMBA_NUM_THREADS
# The sums below are written out one by one: a function that is handed to another is neither inlined nor kept.
LANES, STEPS = 16, 8


def compiled(function, **options):
    if njit is None:
        return function
    try:
        return njit(error_model="numpy", nogil=True, cache=True, **options)(function)
    except RuntimeError:  # there is no place where compiled code could be kept
        return njit(error_model="numpy", nogil=True, **options)(function)


def inlined(function):
    """For loops of LANES steps, which are fast only where their number is known when they are compiled."""
    return compiled(function, inline="always")


@compiled
def layer_norm(z, gain, bias, eps, centred, pairs, y):
    """y = gain * u + bias, u = (z - m) / sqrt(q + eps); m = 0 unless centred. Whether u is defined in every row."""
    d, total, defined = z.shape[1], np.zeros((2, LANES)), True
    buffer, v, v_low = np.empty(d), np.empty(d), np.empty(d)
    for i in range(len(z)):
        x, scale = scaled(z[i], buffer, pairs)
        subtract_mean(x, centred, total, pairs, v, v_low)
        q, q_low = mean_product(v, v_low, v, v_low, total, pairs)
        r, r_low, common = inverse_root(q, q_low, eps, scale, pairs)
        defined &= q != 0 or eps != 0
        shrink = 1.0 if pairs is None else np.ldexp(1.0, min(scale - common, 0))
        for j in range(d):
            u, u_low = times(v[j], v_low[j], r, r_low, pairs)
            y_j = u if pairs is None else (u + u_low) * shrink
            if gain is not None:
                y_j *= gain[j]
            if bias is not None:
                y_j += bias[j]
            y[i, j] = y_j
    return defined


@compiled
def jacobian_product(z, h, before, after, power, eps, centred, pairs, out, sums):
    """out = 2**power * after * J (before * h), where J w = (w - mean(w) - u mean(w * u)) / sqrt(q + eps).

    m = mean(w) = 0 unless centred. before and after are at most 1. sums is None or takes the sums over all rows of
    h * u and of h, each with its low parts, which are 0 but in pairs: (2, 2, d). Whether J is defined in every row.
    """
    d, total, defined = z.shape[1], np.zeros((2, LANES)), True
    buffer, v, v_low, w, w_low = np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    totals, (up, last) = np.zeros((2, 2, LANES)), thirds(power)
    for i in range(len(z)):
        x, scale = scaled(z[i], buffer, pairs)
        subtract_mean(x, centred, total, pairs, v, v_low)
        q, q_low = mean_product(v, v_low, v, v_low, total, pairs)
        r, r_low, common = inverse_root(q, q_low, eps, scale, pairs)
        defined &= q != 0 or eps != 0
        shrink = 1.0 if pairs is None else np.ldexp(1.0, min(scale - common, 0))
        g, scale_g = scaled(h[i], buffer, pairs)
        if pairs is not None:
            up, last = thirds(power + scale_g - common)
        r_up = r * up
        multiply(g, before, centred, pairs, w, w_low)
        w_mean, w_mean_low, along, along_low = means_with(w, w_low, v, v_low, totals, pairs)
        if not centred:
            w_mean = w_mean_low = 0.0
        along, along_low = times(along, along_low, r, r_low, pairs)
        for j in range(d):
            u, u_low = times(v[j], v_low[j], r, r_low, pairs)
            part, part_low = times(u, u_low, along, along_low, pairs)
            entry, entry_low = minus(w[j], w_low[j], w_mean, w_mean_low, pairs)
            entry, _ = minus(entry, entry_low, part, part_low, pairs)
            entry *= r_up if after is None else r_up * after[j]
            out[i, j] = entry * up * last
            if sums is not None:
                v[j] = u if pairs is None else (u + u_low) * shrink
        if sums is not None:
            add_terms(h[i], v, sums, pairs)
    return defined


@compiled
def center(z, pairs, v, q):
    """v = z - mean(z), unless v is None, and q = mean(v^2) of each row: (n, d), (n,)"""
    d, total = z.shape[1], np.zeros((2, LANES))
    buffer, row, row_low = np.empty(d), np.empty(d), np.empty(d)
    for i in range(len(z)):
        x, scale = scaled(z[i], buffer, pairs)
        subtract_mean(x, True, total, pairs, row, row_low)
        square, square_low = mean_product(row, row_low, row, row_low, total, pairs)
        q[i] = np.ldexp(square + square_low, 2 * scale)
        if v is not None:
            up, last = thirds(scale)
            for j in range(d):
                v[i, j] = row[j] * up * up * last


@compiled
def row_means(a, b, out):
    """mean(a * b) of each row of float64: (n, d), (n, d) -> (n,)"""
    total, pairs = np.zeros((2, LANES)), True
    for i in range(len(a)):
        out[i], _ = mean_product(a[i], None, b[i], None, total, pairs)


@compiled
def multiply(h, factor, centred, pairs, w, w_low):
    """w = factor * h, less its first entry where J is centred: J does not see that, and equal ones give 0 exactly."""
    start, start_low = product_at(0, h, None, factor, None, pairs) if centred else (0.0, 0.0)
    for j in range(len(h)):
        entry, entry_low = product_at(j, h, None, factor, None, pairs)
        w[j], entry_low = minus(entry, entry_low, start, start_low, pairs)
        if pairs is not None:
            w_low[j] = entry_low


@compiled
def subtract_mean(x, centred, total, pairs, v, v_low):
    """v = x - mean(x); v = x unless centred."""
    m, m_low = mean_product(x, None, None, None, total, pairs) if centred else (0.0, 0.0)
    for j in range(len(x)):
        v[j], entry_low = minus(np.float64(x[j]), 0.0, m, m_low, pairs)
        if pairs is not None:
            v_low[j] = entry_low


@compiled
def mean_product(a, a_low, b, b_low, total, pairs):
    """mean(a * b), where b = None is 1"""
    d = len(a)
    steps = STEPS if pairs is None else 1
    blocks, lanes = d - d % (LANES * steps), d - d % LANES
    for first in range(0, blocks, LANES * steps):
        add_products(a, a_low, b, b_low, first, LANES, steps, total, pairs)
    for first in range(blocks, lanes, LANES):
        add_products(a, a_low, b, b_low, first, LANES, 1, total, pairs)
    add_products(a, a_low, b, b_low, lanes, d - lanes, 1, total, pairs)
    return divided(d, total, pairs)


@inlined
def add_products(a, a_low, b, b_low, first, count, steps, total, pairs):
    for k in range(count):
        s = s_low = 0.0
        for j in range(steps):
            term, term_low = product_at(first + LANES * j + k, a, a_low, b, b_low, pairs)
            s, s_low = plus(s, s_low, term, term_low, pairs)
        add(s, s_low, total, k, pairs)


@compiled
def means_with(w, w_low, v, v_low, totals, pairs):
    """mean(w) and mean(w * v), in one go: each addition waits for the one before it in its lane."""
    d = len(w)
    steps = STEPS if pairs is None else 1
    blocks, lanes = d - d % (LANES * steps), d - d % LANES
    for first in range(0, blocks, LANES * steps):
        add_products(w, w_low, None, None, first, LANES, steps, totals[0], pairs)
        add_products(w, w_low, v, v_low, first, LANES, steps, totals[1], pairs)
    for first in range(blocks, lanes, LANES):
        add_products(w, w_low, None, None, first, LANES, 1, totals[0], pairs)
        add_products(w, w_low, v, v_low, first, LANES, 1, totals[1], pairs)
    add_products(w, w_low, None, None, lanes, d - lanes, 1, totals[0], pairs)
    add_products(w, w_low, v, v_low, lanes, d - lanes, 1, totals[1], pairs)
    w_mean, w_mean_low = divided(d, totals[0], pairs)
    along, along_low = divided(d, totals[1], pairs)
    return w_mean, w_mean_low, along, along_low


@compiled
def product_at(j, a, a_low, b, b_low, pairs):
    if b is None:
        return np.float64(a[j]), low_part(a_low, j)
    return times(np.float64(a[j]), low_part(a_low, j), b[j], low_part(b_low, j), pairs)


@compiled
def low_part(low, j):
    if low is None:
        return 0.0
    return low[j]


@compiled
def inverse_root(q, q_low, eps, scale, pairs):
    """(q + eps)^(-1/2) in units of 2**-common, and common: scale, or more where q does not count beside eps."""
    common = scale
    if pairs is not None:
        above = np.int64(math.frexp(np.sqrt(eps))[1]) - 60 if eps > 0 else -5000
        common = max(scale, above) if q != 0 else above
    t, low = two_sum(q, np.ldexp(eps, -2 * common))
    t, low = two_sum(t, low + q_low)
    r = 1 / np.sqrt(t)
    square, square_low = two_product(r, r)
    product, product_low = two_product(t, square)
    # What the rounded root leaves of 1 gives the low part.
    left = ((1 - product) - product_low) - (t * square_low + low * square)
    r, low = two_sum(r, 0.0 if pairs is None else r * left / 2)
    return r, low, common


@compiled
def scaled(row, buffer, pairs):
    """row / 2**scale, no entry above 1, and scale; in float64 alone nothing leaves the range, and the row stays."""
    scale = np.int64(0)
    if pairs is None:
        return row, scale
    bits, largest = row.view(np.int64), np.int64(0)
    for j in range(len(row)):
        largest = max(largest, bits[j] & 0x7FFFFFFFFFFFFFFF)
    if 0 < largest < 0x7FF << 52:  # neither all zeros, nor infinity, nor NaN
        scale = max((largest >> 52) - 1022, -1021)
    down, last = thirds(-scale)
    for j in range(len(row)):
        buffer[j] = row[j] * down * down * last
    return buffer, scale


@compiled
def thirds(power):
    """Two powers of two: the first twice and the second once make 2**power."""
    power = min(max(power, -2400), 2400)
    return np.ldexp(1.0, power // 3), np.ldexp(1.0, power - 2 * (power // 3))


@compiled
def add_terms(h, u, sums, pairs):
    """Add one row's h * u and h to the sums of all rows before."""
    for j in range(len(u)):
        add(np.float64(h[j]) * u[j], 0.0, sums[0], j, pairs)
        add(np.float64(h[j]), 0.0, sums[1], j, pairs)


@compiled
def minus(a, a_low, b, b_low, pairs):
    if pairs is None:
        return (a - b) - b_low, 0.0
    s, low = two_sum(a, -b)
    return two_sum(s, low + (a_low - b_low))


@compiled
def times(a, a_low, b, b_low, pairs):
    if pairs is None:
        return a * b, 0.0
    p, low = two_product(a, b)
    return p, low + (a * b_low + a_low * b)


@compiled
def two_sum(a, b):
    """a + b, rounded, and what rounding left, exactly (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@compiled
def two_product(a, b):
    """a * b, rounded, and what rounding left, exactly where nothing leaves the range (Dekker, Veltkamp)."""
    p = a * b
    c = 134217729.0 * a  # 2^27 + 1
    a_high = c - (c - a)
    a_low = a - a_high
    c = 134217729.0 * b
    b_high = c - (c - b)
    b_low = b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@compiled
def plus(s, s_low, x, x_low, pairs):
    """s + x, and the low parts added up beside it, the new one to the old ones"""
    if pairs is None:
        return s + x, 0.0
    s, low = two_sum(s, x)
    return s, s_low + (low + x_low)


@compiled
def add(x, x_low, total, k, pairs):
    total[0, k], low = plus(total[0, k], total[1, k], x, x_low, pairs)
    if pairs is not None:
        total[1, k] = low


@compiled
def divided(d, total, pairs):
    """The sum over the lanes, halves first, divided by d; the lanes are left empty."""
    fold(LANES // 2, total, pairs)
    fold(LANES // 4, total, pairs)
    fold(LANES // 8, total, pairs)
    fold(LANES // 16, total, pairs)
    row_sum, low = two_sum(total[0, 0], total[1, 0])
    total[:] = 0.0
    quotient = row_sum / d
    product, product_low = two_product(quotient, np.float64(d))
    return quotient, (((row_sum - product) - product_low) + low) / d


@inlined
def fold(half, total, pairs):
    for k in range(half):
        add(total[0, k + half], total[1, k + half], total, k, pairs)


@compiled
def from_bits(bits, fraction, bias, x):
    """A 16-bit format, of `fraction` bits and exponents offset by `bias`, as float32: (n, d) -> (n, d)"""
    up, infinity = math.ldexp(1.0, 127 - bias), (2 * bias + 1) << fraction
    for i in range(len(bits)):
        row, raw = x[i], x[i].view(np.int32)
        for j in range(len(row)):
            raw[j] = np.int32(bits[i, j] & 0x7FFF) << (23 - fraction)  # the number divided by `up`
        for j in range(len(row)):
            code = bits[i, j] & 0x7FFF
            size = np.float64(row[j]) * up
            if code >= infinity:
                size = np.inf if code == infinity else np.nan
            row[j] = -size if bits[i, j] & 0x8000 else size


@compiled
def to_bits(x, fraction, bias, bits):
    """The bits of float64 in a 16-bit format, rounded once, to nearest, ties to even: (n, d) -> (n, d)"""
    down, infinity = math.ldexp(1.0, bias - 1023), math.ldexp(1.0, bias + 1)
    exponents, lowest = 0x7FF << 52, (1024 - bias) << 52  # lowest: of the smallest normal number
    drop = 52 - fraction
    size, lift = np.empty(x.shape[1]), np.empty(x.shape[1])
    raw, lift_raw = size.view(np.int64), lift.view(np.int64)
    for i in range(len(x)):
        row = x[i]
        for j in range(len(row)):
            size[j] = infinity if abs(row[j]) > infinity else abs(row[j])
        for j in range(len(row)):
            # Beside this power of two, float64 has as many bits left for a number as the format has.
            lift_raw[j] = max(raw[j] & exponents, lowest) + (drop << 52)
        for j in range(len(row)):
            size[j] = ((size[j] + lift[j]) - lift[j]) * down  # the bits of the format, followed by zeros
        for j in range(len(row)):
            code = 0x7FFF if row[j] != row[j] else raw[j] >> drop
            bits[i, j] = code | (0x8000 if np.signbit(row[j]) else 0)

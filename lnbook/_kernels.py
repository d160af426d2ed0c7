"""The loops over rows: the formulas once, for every format, compiled by Numba where it can be imported.

The formats differ in how numbers are added and multiplied. Rows of float32 (and of float16 and bfloat16, widened) are
computed in float64: `rest` is None, and low parts are 0. Rows of float64 are scaled by a power of two and computed in
pairs of float64, a number and what rounding left: `rest` (3, LANES) takes the low parts of sums. The sums are those of
Ogita, Rump and Oishi (2005), LANES side by side, STEPS of each in registers where there are no pairs, in one order, so
that results are the same bits on every processor, in any number of threads and without Numba. Nothing may be fused or
reordered here but what `fma` fuses (no fastmath): the low parts live on that.

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
    from numba.extending import intrinsic
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


if njit is None:

    def fma(a, b, c):
        """a * b + c, where c is -(a * b), rounded once: the fractions split in halves (Dekker, Veltkamp)."""
        (a, e), (b, f) = np.frexp(a), np.frexp(b)
        a_high, b_high = (134217729.0 * x - (134217729.0 * x - x) for x in (a, b))  # 2^27 + 1
        a_low, b_low, c = a - a_high, b - b_high, np.ldexp(c, -e - f)
        return np.ldexp(((a_high * b_high + c) + a_high * b_low + a_low * b_high) + a_low * b_low, e + f)
else:

    @intrinsic
    def fma(typing, a, b, c):
        """a * b + c, rounded once, in one instruction instead of sixteen where the processor has it."""
        return a(a, b, c), lambda context, builder, signature, arguments: builder.fma(*arguments)


@compiled
def layer_norm(z, gain, bias, eps, centred, rest, y):
    """y = gain * u + bias, u = (z - m) / sqrt(q + eps); m = 0 unless centred. Whether u is defined in every row."""
    defined, total, buffers = True, np.zeros((3, LANES)), np.empty((3, z.shape[1]))
    for i in range(len(z)):
        x, scale = scaled(z[i], buffers[0], rest)
        m, m_low = mean(x, total, rest) if centred else (0.0, 0.0)
        x, x_low = centred_pairs(x, m, m_low, buffers[1:], rest)
        q, q_low = mean(x, total, rest, x_low, m)
        r, r_low, common = inverse_root(q, q_low, eps, scale, rest)
        defined &= q != 0 or eps != 0
        shrink = 1.0 if rest is None else np.ldexp(1.0, min(scale - common, 0))
        for j in range(len(x)):
            v, v_low = centred_entry(x, x_low, m, m_low, j)
            u, u_low = times(v, v_low, r, r_low, rest)
            y_j = u if rest is None else (u + u_low) * shrink
            if gain is not None:
                y_j *= gain[j]
            if bias is not None:
                y_j += bias[j]
            y[i, j] = y_j
    return defined


@compiled
def jacobian_product(z, h, before, after, power, eps, centred, rest, out, sums):
    """out = 2**power * after * J (before * h), where J w = (w - mean(w) - u mean(w * u)) / sqrt(q + eps).

    m = mean(w) = 0 unless centred. before and after are at most 1. sums is None or takes the sums over all rows of
    h * u and of h, and in pairs their low parts: (4, d). Whether J is defined in every row.
    """
    defined, total, buffers = True, np.zeros((3, LANES)), np.empty((6, z.shape[1]))
    common_power = thirds(power)
    for i in range(len(z)):
        x, scale = scaled(z[i], buffers[0], rest)
        g, scale_g = scaled(h[i], buffers[1], rest)
        m, m_low = mean(x, total, rest) if centred else (0.0, 0.0)
        x, x_low = centred_pairs(x, m, m_low, buffers[4:], rest)
        # J does not see a common shift of w: without its first entry w0, equal entries give 0 exactly.
        w0, w0_low = factored(np.float64(g[0]), before, 0, rest) if centred else (0.0, 0.0)
        m_w, m_w_low, along, along_low, q, q_low = means_with(g, before, w0, w0_low, x, x_low, m, m_low, total, rest)
        r, r_low, common = inverse_root(q, q_low, eps, scale, rest)
        defined &= q != 0 or eps != 0
        shrink = 1.0 if rest is None else np.ldexp(1.0, min(scale - common, 0))
        up, last = common_power if rest is None else thirds(power + scale_g - common)
        r_up = r * up
        along, along_low = times(along, along_low, r, r_low, rest)
        if not centred:
            m_w = m_w_low = 0.0
        for j in range(len(x)):
            v, v_low = centred_entry(x, x_low, m, m_low, j)
            u, u_low = times(v, v_low, r, r_low, rest)
            w, w_low = factored(np.float64(g[j]), before, j, rest)
            w, w_low = minus(w, w_low, w0, w0_low, rest)
            w, w_low = minus(w, w_low, m_w, m_w_low, rest)
            part, part_low = times(u, u_low, along, along_low, rest)
            w, w_low = minus(w, w_low, part, part_low, rest)
            w *= r_up if after is None else r_up * after[j]
            out[i, j] = w * up * last
            buffers[2 + i % 2, j] = u if rest is None else (u + u_low) * shrink
        if sums is not None and (i % 2 == 1 or i == len(z) - 1):
            add_terms(h[i - i % 2 : i + 1], buffers[2 : 3 + i % 2], sums, rest)
    return defined


@compiled
def center(z, rest, v, q):
    """v = z - mean(z), unless v is None, and q = mean(v^2) of each row: (n, d), (n,)"""
    total, buffers = np.zeros((3, LANES)), np.empty((3, z.shape[1]))
    for i in range(len(z)):
        x, scale = scaled(z[i], buffers[0], rest)
        m, m_low = mean(x, total, rest)
        x, x_low = centred_pairs(x, m, m_low, buffers[1:], rest)
        square, square_low = mean(x, total, rest, x_low, m)
        q[i] = np.ldexp(square + square_low, 2 * scale)
        if v is not None:
            up, last = thirds(scale)
            for j in range(len(x)):
                v[i, j] = centred_entry(x, x_low, m, m_low, j)[0] * up * up * last


@compiled
def row_means(a, b, out):
    """mean(a * b) of each row of float64: (n, d), (n, d) -> (n,)"""
    total, rest, low = np.zeros((3, LANES)), np.zeros((3, LANES)), np.zeros(a.shape[1])
    for i in range(len(a)):
        out[i] = means_with(a[i], None, 0.0, 0.0, b[i], low, 0.0, 0.0, total, rest)[2]


@compiled
def mean(x, total, rest, low=None, m=None):
    """mean(x), or mean((x - m)^2) where m is given; in pairs x is centred then, with its low parts."""
    d, steps = len(x), STEPS if rest is None else 1
    blocks, lanes = d - d % (LANES * steps), d - d % LANES
    for first in range(0, blocks, LANES * steps):
        add_entries(x, low, m, first, LANES, steps, total, rest)
    for first in range(blocks, lanes, LANES):
        add_entries(x, low, m, first, LANES, 1, total, rest)
    add_entries(x, low, m, lanes, d - lanes, 1, total, rest)
    return divided(0, d, total, rest)


@inlined
def add_entries(x, low, m, first, count, steps, total, rest):
    for k in range(count):
        s = s_low = 0.0
        for j in range(steps):
            v, v_low = centred_entry(x, low, m, None, first + LANES * j + k)
            if m is not None:
                v, v_low = times(v, v_low, v, v_low, rest)
            s, s_low = plus(s, s_low, v, v_low, rest)
        add(s, s_low, 0, k, total, rest)


@compiled
def centred_pairs(x, m, m_low, v, rest):
    """In pairs x - m and its low parts, in v; else x and None: a row is read again faster than a copy of it."""
    if rest is None:
        return x, None
    for j in range(len(x)):
        v[0, j], v[1, j] = minus(x[j], 0.0, m, m_low, rest)
    return v[0], v[1]


@compiled
def centred_entry(x, low, m, m_low, j):
    """x[j] - m - m_low, None for 0; in x already where there are low parts"""
    if low is not None:
        return x[j], low[j]
    v = np.float64(x[j])
    if m is not None:
        v -= m
    if m_low is not None:
        v -= m_low
    return v, 0.0


@compiled
def means_with(h, factor, w0, w0_low, x, low, m, m_low, total, rest):
    """mean(w), mean(w * v) and mean(v^2), where w = factor * h - w0 and v = x - m: two passes fewer than alone"""
    d, steps = len(x), STEPS if rest is None else 1
    blocks, lanes = d - d % (LANES * steps), d - d % LANES
    for first in range(0, blocks, LANES * steps):
        add_directions(h, factor, w0, w0_low, x, low, m, m_low, first, LANES, steps, total, rest)
    for first in range(blocks, lanes, LANES):
        add_directions(h, factor, w0, w0_low, x, low, m, m_low, first, LANES, 1, total, rest)
    add_directions(h, factor, w0, w0_low, x, low, m, m_low, lanes, d - lanes, 1, total, rest)
    return divided(0, d, total, rest) + divided(1, d, total, rest) + divided(2, d, total, rest)


@inlined
def add_directions(h, factor, w0, w0_low, x, low, m, m_low, first, count, steps, total, rest):
    for k in range(count):
        s = s_low = t = t_low = p = p_low = 0.0
        for j in range(steps):
            i = first + LANES * j + k
            w, w_low = factored(np.float64(h[i]), factor, i, rest)
            w, w_low = minus(w, w_low, w0, w0_low, rest)
            v, v_low = centred_entry(x, low, m, m_low, i)
            s, s_low = plus(s, s_low, w, w_low, rest)
            along, along_low = times(w, w_low, v, v_low, rest)
            t, t_low = plus(t, t_low, along, along_low, rest)
            square, square_low = times(v, v_low, v, v_low, rest)
            p, p_low = plus(p, p_low, square, square_low, rest)
        add(s, s_low, 0, k, total, rest)
        add(t, t_low, 1, k, total, rest)
        add(p, p_low, 2, k, total, rest)


@compiled
def inverse_root(q, q_low, eps, scale, rest):
    """(q + eps)^(-1/2) in units of 2**-common, and common: scale, or more where q does not count beside eps."""
    if rest is None:
        t, low = two_sum(q, eps)  # low is NaN where q is infinite, and then so is the row
        return 1 / np.sqrt(t + low), 0.0, scale
    above = np.int64(math.frexp(np.sqrt(eps))[1]) - 60 if eps > 0 else -5000
    common = max(scale, above) if q != 0 else above
    t, low = two_sum(q, np.ldexp(eps, -2 * common))
    t, low = two_sum(t, low + q_low)
    r = 1 / np.sqrt(t)
    square, square_low = two_product(r, r)
    product, product_low = two_product(t, square)
    # What the rounded root leaves of 1 gives the low part.
    left = ((1 - product) - product_low) - (t * square_low + low * square)
    r, low = two_sum(r, r * left / 2)
    return r, low, common


@compiled
def scaled(row, buffer, rest):
    """row / 2**scale, no entry above 1, and scale; in float64 alone nothing leaves the range, and the row stays."""
    if rest is None:
        return row, np.int64(0)
    bits, largest, scale = row.view(np.int64), np.int64(0), np.int64(0)
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
def add_terms(h, u, sums, rest):
    """Add h * u and h of one row or two to the sums of all rows before; two at a time are quicker in float32."""
    if rest is None and len(h) == 2:
        for j in range(sums.shape[1]):
            first, second = np.float64(h[0, j]), np.float64(h[1, j])
            sums[0, j] += first * u[0, j] + second * u[1, j]
            sums[1, j] += first + second
        return
    low = None if rest is None else sums[2:]
    for row in range(len(h)):
        for j in range(sums.shape[1]):
            add(np.float64(h[row, j]) * u[row, j], 0.0, 0, j, sums, low)
            add(np.float64(h[row, j]), 0.0, 1, j, sums, low)


@compiled
def minus(a, a_low, b, b_low, rest):
    if rest is None:
        return (a - b) - b_low, 0.0
    s, low = two_sum(a, -b)
    return two_sum(s, low + (a_low - b_low))


@compiled
def times(a, a_low, b, b_low, rest):
    if rest is None:
        return a * b, 0.0
    p, low = two_product(a, b)
    return p, low + (a * b_low + a_low * b)


@compiled
def factored(h, factor, j, rest):
    """factor * h as a pair"""
    if factor is None:
        return h, 0.0
    return times(factor[j], 0.0, h, 0.0, rest)


@compiled
def two_sum(a, b):
    """a + b, rounded, and what rounding left, exactly (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@compiled
def two_product(a, b):
    """a * b, rounded, and what rounding left, exactly where nothing leaves the range."""
    p = a * b
    return p, fma(a, b, -p)


@compiled
def plus(s, s_low, x, x_low, rest):
    """s + x, and the low parts added up beside it, the new one to the old ones"""
    if rest is None:
        return s + x, 0.0
    s, low = two_sum(s, x)
    return s, s_low + (low + x_low)


@compiled
def add(x, x_low, s, k, total, rest):
    if rest is None:
        total[s, k] += x
    else:
        total[s, k], rest[s, k] = plus(total[s, k], rest[s, k], x, x_low, rest)


@compiled
def divided(s, d, total, rest):
    """Sum s over the lanes, halves first, divided by d; the lanes are left empty."""
    fold(s, LANES // 2, total, rest)
    fold(s, LANES // 4, total, rest)
    fold(s, LANES // 8, total, rest)
    fold(s, LANES // 16, total, rest)
    row_sum, low = two_sum(total[s, 0], 0.0 if rest is None else rest[s, 0])
    for k in range(LANES):
        total[s, k] = 0.0
        if rest is not None:
            rest[s, k] = 0.0
    quotient = row_sum / d
    product, product_low = two_product(quotient, np.float64(d))
    return quotient, (((row_sum - product) - product_low) + low) / d


@inlined
def fold(s, half, total, rest):
    for k in range(half):
        add(total[s, k + half], 0.0 if rest is None else rest[s, k + half], s, k, total, rest)


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

"""The loops over rows: the formulas once, for every format, compiled by Numba where it can be imported.

The formats differ in how numbers are added and multiplied. Rows of float16, bfloat16 and float32 are computed in
float64, which holds their squares and, where they have one offset, their sums exactly: `rest` is None, and the low
parts are 0. Rows of float64 are computed in pairs of float64, a number and what rounding left of it: `rest` is an array.

Sums are taken in LANES at a time, in one order, so that results are the same bits on every processor, in any number of
threads and without Numba. No operation may be fused or reordered here (no fastmath): the low parts live on that.

Arrays: z, h, y, out (n, d) of float32 or float64; gain, bias, before, after (d,) of float64, None for 1, 0, 1 and 1;
state (n,); rest (3, LANES) to work in, or None.
"""

import math

import numpy as np

try:
    from numba import config, njit

    THREADS = config.NUMBA_NUM_THREADS

    def compiled(function, **options):
        try:
            return njit(error_model="numpy", nogil=True, cache=True, **options)(function)
        except RuntimeError:  # there is no place where compiled code could be kept
            return njit(error_model="numpy", nogil=True, **options)(function)

    def inlined(function):
        """For loops of LANES steps, which are fast only where their number is known when they are compiled."""
        return compiled(function, inline="always")
except ImportError:
    THREADS = 1

    def compiled(function):
        return function

    inlined = compiled

LANES = 64
# Between these, no square, no square's low part and no inverse leaves the range of float64.
LOW, HIGH = 2.0**-600, 2.0**600
FINE, EXTREME, UNDEFINED = 0, 1, 2


@compiled
def layer_norm(z, gain, bias, eps, centred, rest, y, state):
    """y = gain * u + bias, u = (z - m) / sqrt(q + eps); m = 0 unless centred. The state of each row; the largest."""
    n, d = z.shape
    total = np.empty((3, LANES))
    worst = FINE
    for i in range(n):
        x, out = z[i], y[i]
        m, m_low = mean(x, centred, total, rest)
        q, q_low = mean_square(x, m, m_low, total, rest)
        r, r_low = inverse_root(q, q_low, eps)
        for j in range(d):
            v, v_low = minus(np.float64(x[j]), 0.0, m, m_low, rest)
            u, u_low = times(v, v_low, r, r_low, rest)
            out[j] = stretched(joined(u, u_low, rest), gain, bias, j)
        state[i] = row_state(x, centred, q, eps, rest)
        worst = max(worst, state[i])
    return worst


@compiled
def jacobian_product(z, h, before, after, eps, centred, rest, out, sums, state):
    """out = after * J (before * h), where J w = (w - mean(w) - u mean(w * u)) / sqrt(q + eps), mean(w) 0 unless centred.

    sums is None or takes the sums over all fine rows of h * u and of h, and their low parts: (4, d)
    """
    n, d = z.shape
    total = np.empty((3, LANES))
    core = np.empty(d)
    worst = FINE
    for i in range(n):
        x, g, result = z[i], h[i], out[i]
        m, m_low = mean(x, centred, total, rest)
        q, q_low = mean_square(x, m, m_low, total, rest)
        r, r_low = inverse_root(q, q_low, eps)
        w_mean, w_low, a, a_low, size = means_with(g, before, x, m, m_low, total, rest)
        a, a_low = times(a, a_low, r, r_low, rest)
        if not centred:
            w_mean = w_low = 0.0
        for j in range(d):
            v, v_low = minus(np.float64(x[j]), 0.0, m, m_low, rest)
            u, u_low = times(v, v_low, r, r_low, rest)
            w, low = factored(np.float64(g[j]), before, j, rest)
            w, low = minus(w, low, w_mean, w_low, rest)
            along, along_low = times(u, u_low, a, a_low, rest)
            w, low = minus(w, low, along, along_low, rest)
            result[j] = stretched(w * r, after, None, j)
            core[j] = joined(u, u_low, rest)
        state[i] = max(row_state(x, centred, q, eps, rest), direction_state(g, size, rest))
        worst = max(worst, state[i])
        if state[i] == FINE:
            add_terms(g, core, sums)
    return worst


@compiled
def center(z, centred, rest, v, q, state):
    """v = z - m, or nothing for v None, and q = mean(v^2) of each row: (n, d), (n,)"""
    n, d = z.shape
    total = np.empty((3, LANES))
    worst = FINE
    for i in range(n):
        x = z[i]
        m, m_low = mean(x, centred, total, rest)
        q[i], _ = mean_square(x, m, m_low, total, rest)
        if v is not None:
            for j in range(d):
                v[i, j], _ = minus(np.float64(x[j]), 0.0, m, m_low, rest)
        state[i] = row_state(x, centred, q[i], 1.0, rest)
        worst = max(worst, state[i])
    return worst


@compiled
def row_means(a, b, out):
    """mean(a * b) of each row of float64, in pairs: (n, d), (n, d) -> (n,)"""
    total, rest = np.empty((3, LANES)), np.empty((3, LANES))
    for i in range(len(a)):
        _, _, out[i], _, _ = means_with(a[i], None, b[i], 0.0, 0.0, total, rest)


# Means, as pairs


@compiled
def mean(x, centred, total, rest):
    """mean(x); 0 unless centred."""
    if not centred:
        return 0.0, 0.0
    d = len(x)
    whole = d - d % LANES
    start(total, rest)
    for first in range(0, whole, LANES):
        add_entries(x, first, LANES, total, rest)
    add_entries(x, whole, d - whole, total, rest)
    return divided(0, d, total, rest)


@inlined
def add_entries(x, first, count, total, rest):
    for k in range(count):
        add(np.float64(x[first + k]), 0.0, 0, k, total, rest)


@compiled
def mean_square(x, m, m_low, total, rest):
    """mean((x - m)^2)"""
    d = len(x)
    whole = d - d % LANES
    start(total, rest)
    for first in range(0, whole, LANES):
        add_squares(x, m, m_low, first, LANES, total, rest)
    add_squares(x, m, m_low, whole, d - whole, total, rest)
    return divided(0, d, total, rest)


@inlined
def add_squares(x, m, m_low, first, count, total, rest):
    for k in range(count):
        v, v_low = minus(np.float64(x[first + k]), 0.0, m, m_low, rest)
        add_product(v, v_low, v, v_low, 0, k, total, rest)


@compiled
def means_with(h, factor, x, m, m_low, total, rest):
    """mean(w) and mean(w * (x - m)), where w = factor * h, and mean|w| (0 in float64 alone)."""
    d = len(x)
    whole = d - d % LANES
    start(total, rest)
    for first in range(0, whole, LANES):
        add_directions(h, factor, x, m, m_low, first, LANES, total, rest)
    add_directions(h, factor, x, m, m_low, whole, d - whole, total, rest)
    w, w_low = divided(0, d, total, rest)
    along, along_low = divided(1, d, total, rest)
    return w, w_low, along, along_low, 0.0 if rest is None else divided(2, d, total, rest)[0]


@inlined
def add_directions(h, factor, x, m, m_low, first, count, total, rest):
    for k in range(count):
        w, w_low = factored(np.float64(h[first + k]), factor, first + k, rest)
        v, v_low = minus(np.float64(x[first + k]), 0.0, m, m_low, rest)
        add(w, w_low, 0, k, total, rest)
        add_product(w, w_low, v, v_low, 1, k, total, rest)
        add_size(abs(w) + abs(w_low), k, total, rest)


@compiled
def inverse_root(q, q_low, eps):
    """1 / sqrt(q + eps): what the rounded root leaves of 1 gives the low part."""
    t, low = two_sum(q, eps)
    t, low = two_sum(t, low + q_low)
    r = 1 / np.sqrt(t)
    square, square_low = two_product(r, r)
    product, product_low = two_product(t, square)
    left = ((1 - product) - product_low) - (t * square_low + low * square)
    return two_sum(r, r * left / 2)


# Sums over positions


@compiled
def add_terms(g, u, sums):
    """Add one row's g * u and g to the sums of all rows before."""
    if sums is not None:
        for j in range(len(u)):
            sums[0, j], low = two_sum(sums[0, j], g[j] * u[j])
            sums[2, j] += low
            sums[1, j], low = two_sum(sums[1, j], np.float64(g[j]))
            sums[3, j] += low


@compiled
def added_sums(parts):
    """The sums over all rows from those over parts of them, one after the other: (parts, 4, d) -> (2, d)"""
    sums = parts[0].copy()
    for part in parts[1:]:
        for j in range(sums.shape[1]):
            for k in range(2):
                sums[k, j], low = two_sum(sums[k, j], part[k, j])
                sums[2 + k, j] += low + part[2 + k, j]
    for j in range(sums.shape[1]):
        for k in range(2):
            if np.isfinite(sums[k, j]):
                sums[k, j] += sums[2 + k, j]
    return sums[:2]


# What a row is: an extreme one is left to be computed once more, scaled by powers of two


@compiled
def row_state(x, centred, q, eps, rest):
    if rest is None:
        return UNDEFINED if q + eps == 0 else FINE
    if q == 0 and is_constant(x) and (centred or x[0] == 0):
        return UNDEFINED if eps == 0 else FINE if LOW < eps < HIGH else EXTREME
    return FINE if q > LOW and q + eps < HIGH else EXTREME


@compiled
def direction_state(g, size, rest):
    if rest is None or LOW < size**2 < HIGH or (size == 0 and not g.any()):
        return FINE
    return EXTREME


@compiled
def is_constant(x):
    for entry in x:
        if entry != x[0]:
            return False
    return True


# Arithmetic of pairs; where `rest` is None, of float64


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
def joined(a, a_low, rest):
    if rest is None:
        return a
    return a + a_low


@compiled
def factored(h, factor, j, rest):
    """factor * h as a pair"""
    if factor is None:
        return h, 0.0
    return times(factor[j], 0.0, h, 0.0, rest)


@compiled
def stretched(u, gain, bias, j):
    """gain * u + bias, rounded twice"""
    if gain is not None:
        u *= gain[j]
    if bias is not None:
        u += bias[j]
    return u


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


# Sums in lanes: total (3, LANES), and their low parts in rest


@compiled
def start(total, rest):
    total[:] = 0
    if rest is not None:
        rest[:] = 0


@compiled
def add(x, x_low, s, k, total, rest):
    if rest is None:
        total[s, k] += x
    else:
        total[s, k], low = two_sum(total[s, k], x)
        rest[s, k] += low + x_low


@compiled
def add_product(a, a_low, b, b_low, s, k, total, rest):
    if rest is None:
        total[s, k] += a * b
    else:
        p, p_low = times(a, a_low, b, b_low, rest)
        add(p, p_low, s, k, total, rest)


@compiled
def add_size(size, k, total, rest):
    if rest is not None:
        total[2, k] += size


@compiled
def divided(s, d, total, rest):
    """Sum s over the lanes, halves first, divided by d."""
    half = LANES // 2
    while half > 0:
        for k in range(half):
            add(total[s, k + half], 0.0 if rest is None else rest[s, k + half], s, k, total, rest)
        half //= 2
    sum_, low = two_sum(total[s, 0], 0.0 if rest is None else rest[s, 0])
    quotient = sum_ / d
    product, product_low = two_product(quotient, np.float64(d))
    return quotient, (((sum_ - product) - product_low) + low) / d


# The 16-bit formats, of `fraction` bits behind the point and exponents offset by `bias`, through their bits


@compiled
def from_bits(bits, fraction, bias, x):
    """The numbers of a 16-bit format in float32: (n, d) -> (n, d)"""
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
        signs = row.view(np.int64)
        for j in range(len(row)):
            size[j] = infinity if abs(row[j]) > infinity else abs(row[j])
        for j in range(len(row)):
            # Beside this power of two, float64 has as many bits left for a number as the format has.
            lift_raw[j] = max(raw[j] & exponents, lowest) + (drop << 52)
        for j in range(len(row)):
            size[j] = ((size[j] + lift[j]) - lift[j]) * down  # the bits of the format, followed by zeros
        for j in range(len(row)):
            code = 0x7FFF if row[j] != row[j] else raw[j] >> drop
            bits[i, j] = code | (0x8000 if signs[j] < 0 else 0)

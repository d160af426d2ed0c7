"""A layer norm and its gradient put together of parts, in float64, so that a mistake can replace one part.

The parts of the output, in the order in which they are used, each with what it gets and gives:

    taken       z -> z                                 the input as the layer takes it
    statistics  z -> mean, q                           (..., d) -> (..., 1), (..., 1)
    numerator   z, mean -> v
    root        q, eps, v -> sqrt(q + eps)             (..., 1)
    kept        u -> u                                 the core as the layer keeps it
    affine      u, gain, bias -> y
    joined      y, z -> y                              the output and what is added to it
    given       y -> y                                 the output as the layer gives it back

and of the gradients, where h is gain * g, u the core, and r the root:

    root        q, eps -> r
    core        z, v, r, gain, bias -> u               the core that is used for dz
    stretched   gain, g -> h
    terms       h, u, r, gain, g -> what is subtracted from h
    inverse     r -> 1 / r
    scaled      dz, d -> dz
    for_gain    z, v, r, y -> u                        the core that is used for dgain
    cotangents  g, h, dz -> g, g                       what is summed for dgain and for dbias
    sums        (..., d) -> (d,)                       over positions
    finished    dz, dgain, dbias -> dz, dgain, dbias
"""

import numpy as np

DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24}
UNITS = {form: 2.0 ** (1 - digits) for form, digits in DIGITS.items()}  # the distance of neighbours at 1


def mean_of(a):
    return a.mean(axis=-1, keepdims=True)  # (..., d) -> (..., 1)


def row_statistics(z):
    return mean_of(z), z.var(axis=-1, keepdims=True)  # (..., 1), (..., 1)


def keep(a):
    return a


def stable_root(q, eps, v):
    return np.sqrt(q + eps)


def gain_and_bias(u, gain, bias):
    return gain * u + bias


def output_alone(y, z):
    return y


def layer_norm(
    z,
    gain,
    bias,
    eps,
    *,
    taken=keep,
    statistics=row_statistics,
    numerator=np.subtract,
    root=stable_root,
    kept=keep,
    affine=gain_and_bias,
    joined=output_alone,
    given=keep,
):
    z = taken(z)
    mean, q = statistics(z)
    v = numerator(z, mean)
    return given(joined(affine(kept(v / root(q, eps, v)), gain, bias), z))


def core_of(z, v, root, gain, bias):
    return v / root


def core_for_gain(z, v, root, y):
    return v / root


def both_terms(h, u, r, gain, g):
    return mean_of(h) + u * mean_of(h * u)


def inverse_of(root):
    return 1 / root


def not_scaled(dz, d):
    return dz


def same_cotangents(g, h, dz):
    return g, g


def sum_positions(per_position):
    return per_position.sum(axis=tuple(range(per_position.ndim - 1)))  # (..., d) -> (d,)


def as_they_are(dz, dgain, dbias):
    return dz, dgain, dbias


def vjp(
    z,
    gain,
    bias,
    eps,
    g,
    *,
    taken=keep,
    root=lambda q, eps: np.sqrt(q + eps),
    core=core_of,
    stretched=np.multiply,
    terms=both_terms,
    inverse=inverse_of,
    scaled=not_scaled,
    for_gain=core_for_gain,
    cotangents=same_cotangents,
    sums=sum_positions,
    finished=as_they_are,
):
    z = taken(z)
    mean, q = row_statistics(z)
    v, r = z - mean, root(q, eps)
    u, h = core(z, v, r, gain, bias), stretched(gain, g)
    dz = scaled((h - terms(h, u, r, gain, g)) * inverse(r), z.shape[-1])
    g_for_gain, g_for_bias = cotangents(g, h, dz)
    dgain = g_for_gain * for_gain(z, v, r, gain * u + bias)
    return finished(dz, sums(dgain), sums(g_for_bias))


# Statistics that are not those of the row


def divided_by(z, divisor):
    mean = mean_of(z)
    return mean, ((z - mean) ** 2).sum(axis=-1, keepdims=True) / np.float64(divisor(z.shape[-1]))


def over(z, axes):
    """Statistics over other axes than the last; `axes` maps the number of axes to them."""
    return z.mean(axis=axes(z.ndim), keepdims=True), z.var(axis=axes(z.ndim), keepdims=True)


def axis_lost(z, of_the_mean, of_the_variance):
    """Statistics of shape (n,) against z of shape (n, d): they are spread along the row, if they fit at all."""
    mean, q = row_statistics(z)
    wrong_mean = mean[..., 0] if of_the_mean else mean
    if of_the_mean and not of_the_variance:
        q = ((z - wrong_mean) ** 2).mean(axis=-1, keepdims=True)
    return wrong_mean, q[..., 0] if of_the_variance else q


def padded(z, width, mean_too, count_zeros, divide_by_width):
    """Statistics of rows filled up with zeros to `width(d)` entries, where some sum forgets that they are none."""
    d = z.shape[-1]
    wide = width(d)
    mean = z.sum(axis=-1, keepdims=True) / (wide if mean_too else d)
    squares = ((z - mean) ** 2).sum(axis=-1, keepdims=True) + (wide - d) * mean**2 * count_zeros
    return mean, squares / (wide if divide_by_width else d)


def partial_sums(z, added, mean_too, variance_too):
    """Sums over those entries only that `added(d)` marks, divided by d as if they were all."""
    d = z.shape[-1]
    marks = added(d)  # (d,), 0 or 1
    mean = (z * marks if mean_too else z).sum(axis=-1, keepdims=True) / d
    squares = (z - mean) ** 2
    return mean, (squares * marks if variance_too else squares).sum(axis=-1, keepdims=True) / d


def whole_blocks(n, block):
    """1 for the entries of whole blocks, 0 for those of a last, smaller one."""
    return (np.arange(n) < n // block * block).astype(float)


def first_blocks(n, block):
    """As `whole_blocks`, where one block is done in any case."""
    return (np.arange(n) < max(n // block * block, block)).astype(float)


def paired_warps(d, warp):
    """Warps that exchange their sums pairwise: those beyond the largest power of two have no partner."""
    warps = -(-d // warp)
    return (np.arange(d) < (1 << (warps.bit_length() - 1)) * warp).astype(float)


def halved(d):
    """A tree that adds the upper half to the lower, n // 2 at a time, forgets the odd one out."""
    holders = [[i] for i in range(d)]
    while len(holders) > 1:
        half = len(holders) // 2
        holders = [holders[i] + holders[i + half] for i in range(half)]
    marks = np.zeros(d)
    marks[holders[0]] = 1
    return marks


def mixed(z, other_row, mean_too, variance_too):
    """Statistics of which some belong to another row."""
    rows = z.reshape(-1, z.shape[-1])
    mean, q = row_statistics(rows)
    mean = other_row(mean) if mean_too else mean
    q = other_row(q) if variance_too else mean_of((rows - mean) ** 2)
    return mean.reshape(*z.shape[:-1], 1), q.reshape(*z.shape[:-1], 1)


# Numbers in narrower formats


def rounded_to(a, form):
    """The numbers next to `a` in a narrower format; bfloat16 without its package, and without its limits of range."""
    if form in ("float16", "float32"):
        return np.asarray(a, dtype=form).astype(np.float64)
    fraction, exponent = np.frexp(a)
    return np.ldexp(np.rint(np.ldexp(fraction, DIGITS[form])), exponent - DIGITS[form])


# The positions that a kernel comes to


def rows_done(y, marks):
    """An output of which some positions were never written, and are 0."""
    rows = y.reshape(-1, y.shape[-1])
    return (rows * marks(len(rows))[:, None]).reshape(y.shape)


def sum_of_some(per_position, marks):
    rows = per_position.reshape(-1, per_position.shape[-1])
    return (rows * marks(len(rows))[:, None]).sum(axis=0)


def last_block(n, block):
    """1 for the entries of the last block, whole or not."""
    return (np.arange(n) >= (n - 1) // block * block).astype(float)


def up_to(n, limit):
    return (np.arange(n) < limit).astype(float)

"""Cores over sets of entries in fractions: what the tests of batch, layer, instance and group normalization share."""

from fractions import Fraction
from itertools import product

KEYS = {
    "batch": lambda n, c, s: c,
    "channels": lambda n, c, s: (n, s),
    "sample": lambda n, c, s: n,
    "instance": lambda n, c, s: (n, c),
}


def key_of(name, channels=1, groups=1):
    """What the entries of one set have in common, as a function of sample, channel and place."""
    return KEYS.get(name) or (lambda n, c, s: (n, c * groups // channels))


def sets_of(name, shape, groups=1):
    """The sets of a layer on an array of a shape (N, C, S)."""
    found = {}
    for index in product(*map(range, shape)):
        found.setdefault(key_of(name, shape[1], groups)(*index), []).append(index)
    return frozenset(map(frozenset, found.values()))


def signed_square(row, place, eps):
    """The core at one place of a row as sign(u) u^2, which is a fraction where the core is a root."""
    n = len(row)
    v = [Fraction(x) - Fraction(sum(row), 1) / n for x in row]
    square = v[place] ** 2 / (sum(x * x for x in v) / n + eps)
    return square if v[place] > 0 else -square


def core_over(array, sets, eps=Fraction(1)):
    """Of an array {entry: number} the core over sets, each value as sign(u) u^2."""
    found = {}
    for entries in sets:
        ordered = sorted(entries)
        row = [array[entry] for entry in ordered]
        found |= {entry: signed_square(row, place, eps) for place, entry in enumerate(ordered)}
    return found


def partitions(entries):
    """All ways to divide a list into sets."""
    if not entries:
        yield frozenset()
        return
    first, rest = entries[0], entries[1:]
    for smaller in partitions(rest):
        yield smaller | {frozenset([first])}
        for one in smaller:
            yield (smaller - {one}) | {one | {first}}

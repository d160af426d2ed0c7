"""How a fact of the book is stated so that a layer can be asked for it.

A statement computes some numbers through `layer.y`, `layer.dz`, `layer.dgain` and `layer.dbias`. Asked of the exact
layer it gives the numbers expected, asked of a layer under test the numbers got. So no expected value is typed in, and
each fact fails by itself: a wrong divisor does not break the rule that the core has mean 0.
"""

from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np

CONVENTION = "convention"
GRADIENT = "gradient"
FLOATING_POINT = "floating point"
MEMORY = "memory"
KINDS = (CONVENTION, GRADIENT, FLOATING_POINT, MEMORY)


class Statement(NamedTuple):
    """`fact` is an id of the book's ledger; `name` is that id, with a part after a slash where a fact has two rows."""

    name: str
    kind: str
    says: str
    ask: object
    uses_vjp: bool
    stretch: float  # how much more the numbers asked for may be off than the outputs they are made of
    thorough: bool  # asked in a thorough run only

    @property
    def fact(self):
        return self.name.partition("/")[0]


STATEMENTS = []


def states(name, kind, says, *, uses_vjp=False, stretch=1, thorough=False):
    def keep(ask):
        STATEMENTS.append(Statement(name, kind, says, ask, uses_vjp or kind == GRADIENT, stretch, thorough))
        return ask

    return keep


def array(values):
    """Numbers that stay exact: Python's ints and Fractions."""
    return np.array(values, dtype=object)


def together(*arrays):
    return np.concatenate([np.ravel(a) for a in arrays])


def excess(value, bound):
    """By how much a value is above its bound, relative to the bound; 0 where the bound holds."""
    return np.maximum(value / bound - 1, Fraction(0))


# Three rows of three entries: square on purpose, so that a parameter on the wrong axis still fits.
Z = array([[1, 2, 4], [3, 1, 0], [-2, 5, 1]])  # (n, d)
G = array([[1, 0, 2], [-1, 3, 1], [2, 1, -2]])  # (n, d), gradients by the output
GAIN = array([2, -1, Fraction(1, 2)])  # (d,)
BIAS = array([1, -1, 2])  # (d,)
ONE = array([1, 1, 1])
EPS = Fraction(1, 8)
THREES = array([[3, 3, 3]])
I2, I3 = array([[1, 0], [0, 1]]), array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])


@cache
def spread(d):
    """d numbers between -2 and 2, in no order, of variance about 4/3: multiples of 1/256."""
    numbers = array([Fraction((i * 401) % 1021 - 510, 256) for i in range(1, d + 1)])
    numbers.setflags(write=False)
    return numbers


LENGTHS = (1, 2, 3, 31, 33, 96, 1025)  # beside a power of two, three warps of 32, one more than a full block
POSITIONS = (1031, 1023)  # 2^10 + 7 and 2^10 - 1: no block divides them, and each block leaves another rest
MANY = 70001  # a prime beyond the 65535 blocks that one axis of a grid may have


def spiked(d):
    """Two rows of d numbers about 1 whose last entry is large: whoever leaves it out has another variance."""
    rows = 1 + spread(2 * d).reshape(2, d)
    rows[:, -1] = [16, -16]
    return rows


def positions(n):
    """n rows of three entries."""
    return spread(3 * n).reshape(n, 3)


def sparse_cotangent(n):
    """(n, 3): 0 at most positions, so that the sums are small, but at no position of the last, uneven block."""
    g = np.zeros((n, 3), dtype=object)
    for row in (*range(0, n, 8), *range(n - 7, n)):
        g[row] = [1 + row % 3, -1, row % 5]
    return g


def offset(layer, quarters):
    """A row at an offset that takes so many quarters of the digits."""
    return [spread(768) + 2 ** (quarters * layer.digits // 4)]

"""What is known of a mistake that people make, and the numbers that several of them share."""

from functools import partial
from typing import NamedTuple

from lnbook.conformance import models


class Mistake(NamedTuple):
    """`reports` are ids of the book's bibliography, or an issue (#) or pull request (PR#) of a repository on GitHub."""

    name: str
    place: str
    part: str = ""
    variants: tuple = ()
    reports: tuple = ()


BLOCKS = [2**k for k in range(1, 11)]
ADDED = {  # which entries of a row, or which positions, are added up at all
    **{f"whole blocks of {b}": partial(models.whole_blocks, block=b) for b in BLOCKS},
    **{f"whole blocks of {b}, at least one": partial(models.first_blocks, block=b) for b in BLOCKS},
    **{f"the first {b}": partial(models.up_to, limit=b) for b in BLOCKS},
}
USUAL_EPS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12, 1e-15, 2.0**-23, 2.0**-52)

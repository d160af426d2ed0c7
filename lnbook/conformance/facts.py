"""All facts of the book that say something about an implementation, in the order in which they are asked."""

from lnbook.conformance import conventions, floating, gradients, memory
from lnbook.conformance.statements import CONVENTION, FLOATING_POINT, GRADIENT, KINDS, MEMORY, STATEMENTS, Statement

__all__ = [
    "CONVENTION",
    "FLOATING_POINT",
    "GRADIENT",
    "KINDS",
    "MEMORY",
    "STATEMENTS",
    "Statement",
    "conventions",
    "floating",
    "gradients",
    "memory",
]

"""One function per figure of the book; each returns a matplotlib Figure. Only this folder imports matplotlib."""

from lnbook.figures.definition import positions, steps
from lnbook.figures.overview import where
from lnbook.figures.parameters import gain_and_bias

__all__ = ["gain_and_bias", "positions", "steps", "where"]

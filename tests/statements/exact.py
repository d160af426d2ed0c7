"""Mean, variance and output in exact arithmetic, for vectors that a text holds."""

import exact
from sympy import Rational


def mean(entries):
    return Rational(1, len(entries)) * sum(entries)


def variance(entries):
    return mean([(entry - mean(entries)) ** 2 for entry in entries])


def output(z, gain, eps):
    """gain * u, entry by entry"""
    return tuple(exact.layer(z, gain, [0] * len(z), eps))

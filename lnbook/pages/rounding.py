"""Number formats with fewer bits than NumPy has: round to nearest, ties to even, as every such format does."""

import numpy as np

# Significant bits, the leading one included.
BITS = {"bfloat16": 8, "float16": 11, "float32": 24}


def round_to(x, bits):
    """x with `bits` significant bits, at most 53. The range of exponents is not limited."""
    mantissa, exponent = np.frexp(x)
    return np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits)


def running_sum(terms, bits):
    """The sums of the first 1, 2, ... terms, each addition rounded to `bits` significant bits: (n,) -> (n,)"""
    sums, total = np.empty(len(terms)), 0.0
    for n, term in enumerate(terms):
        total = sums[n] = round_to(total + term, bits)
    return sums

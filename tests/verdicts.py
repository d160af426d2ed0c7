"""What the tests of the verdicts share: the register of them, the cases, and numbers out of SymPy's matrices."""

import numpy as np
import sympy as sp
from test_cases import CASES

R = sp.Rational
eps = sp.Symbol("eps", positive=True)
TESTS = {}


def settles(name, verdict):
    """Register the test of an entry, with the verdict it proves."""

    def register(test):
        assert name not in TESTS, f"{name} has two tests"
        TESTS[name] = (verdict, test)
        return test

    return register


def case(name):
    return CASES[name]["input"], CASES[name]["expected"]


def numbers(matrix):
    return np.array(matrix.tolist(), dtype=float).squeeze()

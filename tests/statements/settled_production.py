"""Readings of the verdicts on production."""

import re

import numpy as np
import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, layer, same, term, value

R = Rational


def core(z, eps):
    return layer(z, eps)["u"]


def variance(entries):
    mean = sum(entries, R(0)) / len(entries)
    return sum(((entry - mean) ** 2 for entry in entries), R(0)) / len(entries)


@reads("settled-padding-inside")
def zeros_in_the_row(statement):
    for real, zeros in (((1, 3), 6), ((-2, 5, 9), 1)):
        padded = layer((*real, *[0] * zeros), R(1, 3))
        names = {"k": len(real), "n": len(real) + zeros, r"\mu": sum(real) / R(len(real)), "q": variance(real)}
        assert same(padded[r"\mu"], term(statement, "the mean becomes", names))
        assert same(padded["q"], term(statement, "and the variance", names))
        assert padded["u"][: len(real), :] != core(real, R(1, 3))
    only = term(statement, "all real entries are")
    assert core((only, only, only), 1)[:2, :] == core((only, only), 1)
    assert only == 0
    assert chain_holds(statement.tex("to a row with"), {r"\varepsilon": 1})
    statement.says("one entry for each of the $n$ places")


@reads("settled-frozen")
def frozen_parameters(statement):
    for gain in ((0, 0, 0), (1, 0, 0)):
        y = [layer((k, 0, 0), 1, gain)["y"] for k in (0, 1, 2)]
        assert same(y[0] + y[2], 2 * y[1]) == chain_holds(statement.tex("only if**"), {r"\gamma": Matrix(gain)})
    statement.says("does not freeze mean and variance", "is the same as before", "for experiments to decide")


@reads("settled-frozen-root")
def a_frozen_root(statement):
    names = layer((1, 2, 6), R(1, 3)) | {r"\sigma": R(5)}
    factor = term(statement, "the core comes out", names)
    assert same(factor * names["u"], names["v"] / 5)
    statement.says("fold and the division stays", "then rose by $0.03$", "times as long as it should")


@reads("settled-shards")
def shards_and_partial_sums(statement):
    shards = [[1, 3], [0, 8]]
    means = [sum(shard) / R(2) for shard in shards]
    assert variance(shards[0] + shards[1]) == sum(map(variance, shards)) / 2 + variance(means)
    statement.says(
        "of equal size", "the mean of their variances plus the variance of their means", "No covariances occur"
    )
    statement.says("They occur for partial *sums*", "must be added up first")


@reads("settled-sum-squares")
def sums_of_squares(statement):
    shard = np.array([int(entry) for entry in term(statement, "two ranks with")], np.float32)
    n, total, squares = np.float32(4), 2 * shard.sum(), 2 * (shard * shard).sum()
    got, right = term(statement, "each get"), term(statement, "for the variance")
    assert int(squares / n - (total / n) * (total / n)) == got
    assert variance([R(int(x)) for x in shard] * 2) == right
    statement.says("In float32", "two numbers as well")


@reads("settled-sequence-parallel")
def a_sum_over_ranks(statement):
    statement.says("If whole rows are split", "the sum of what the ranks have", "each rank has some of them")


@reads("settled-int8")
def the_codes_of_the_core(statement):
    for eps in (0, 5):
        names = layer((1000, 1, 2, 3, 4), eps)
        u, v = (w / max(abs(entry) for entry in w) for w in (names["u"], names["v"]))
        assert same(u, v)
    statement.says("one scale for each row", "takes it out again", "a gain can change that, the division cannot")


@reads("settled-rsqrt")
def an_inexact_root(statement):
    rho = sympy.Symbol("rho")
    names = layer((1, 2, 6), R(1, 3)) | {r"\rho": R(1, 100)}
    factor = term(statement, "multiplies the core by", names)
    assert same(factor / sqrt(names["q"] + R(1, 3)), (1 + R(1, 100)) / sqrt(names["q"] + R(1, 3)))
    after = (1 + rho) * (3 - (1 + rho) ** 2) / 2 - 1
    about = value(re.search(r"into about \$(.*?)\$", statement.text)[1], {r"\rho": rho})
    assert sympy.limit(after / about, rho, 0) == 1

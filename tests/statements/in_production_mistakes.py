"""Readings of the corrections and the exercises on production."""

import re

import numpy as np
import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import close, given, layer, term, value
from statements.in_production import codes, core, variance

R = Rational


# What people get wrong


@reads("in-production-wrong-padding-changes-the-output-of-bert")
def the_length_of_the_batch(statement):
    statement.says("the function does not do that", "shows in the last digits", "look at the attention mask")


@reads("in-production-wrong-then-padding-is-harmless-in-every")
def statistics_with_padding(statement):
    row = (1, 2, 3)
    assert tuple(term(statement, "Below,")) == row
    padded = core((*row, 0, 0), R(1, 10**5))[:3, :]
    assert not close(padded, core(row, R(1, 10**5)), R(1, 10))
    statement.says(
        "It is, per token", "take the zeros into their statistics", "leaves the statistics wrong", "two entries"
    )


@reads("in-production-wrong-a-masked-mean-is-the-mean")
def nan_times_0(statement):
    zero = float(re.search(r": \$(\d)\$ times NaN", statement.text)[1])
    assert zero == 0
    assert np.isnan(zero * np.nan)
    statement.says("the padding must not hold NaN or infinity", "times NaN is NaN", "before adding")


@reads("in-production-wrong-autocast-runs-layer-norm-in-float32")
def autocast(statement):
    """What PyTorch does was run, and is no computation; formats have their sizes."""
    assert np.dtype(np.float32).itemsize == 2 * np.dtype(np.float16).itemsize
    statement.says("On CUDA it does, and returns float32, which doubles the bytes", "On a CPU, PyTorch 2.13 did not")
    statement.says("bfloat16 went in and bfloat16 came out", "belongs to the device")


@reads("in-production-wrong-the-all-reduce-of-the-gain")
def what_is_split_decides(statement):
    z, g = Matrix([1, 2, 4]), Matrix([1, 0, 2])
    own = g.multiply_elementwise(core(z, 1))
    assert own + own != own  # whole rows on each of two ranks: adding would multiply
    statement.says(
        "each has the same $d\\gamma$ already, and adding would multiply it", "each has a part, and not adding is"
    )
    statement.says("decided by what is split", "not by the name")


@reads("in-production-wrong-average-the-variances-of-the-shards")
def averaged_variances(statement):
    assert (variance([1, 3]) + variance([101, 103])) / 2 < variance([1, 3, 101, 103])
    assert (variance([1, 3]) + variance([3, 1])) / 2 == variance([1, 3, 3, 1])
    statement.says(
        "forgets how the means differ", "For shards of the same size", "too small, unless all means are equal"
    )


@reads("in-production-wrong-a-layer-norm-with-a-huge")
def a_layer_that_is_switched_off(statement):
    eps, gain = value(statement.tex("sets").split("=")[1]), term(statement, "and the gain to")
    assert gain == sqrt(eps) == 10**6
    names = layer((1, 2, 6), eps, (gain, gain, gain))
    for entry, v in zip(names["y"], names["v"], strict=True):
        if v:
            assert abs(entry / v - 1) < term(statement, "relative error below", names)
    assert close(names["y"], term(statement, "that is", {"v": names["v"], r"\gamma": sympy.ones(3, 1)}), R(1, 10**10))
    assert not close(names["y"], names["z"], 1)
    statement.says("the root is gone, the *centring* stays", "is right only if")


@reads("in-production-wrong-layer-norm-tames-outliers-before-quantization")
def the_length_is_bounded(statement):
    for eps in (0, 1):
        names = layer((10**9, 0, 0, 0), eps)
        bound = term(statement, "no entry of the core exceeds", names)
        assert bound - R(1, 10**6) < names["u"][0] <= bound
        assert codes(list(names["u"])) == codes(list(names["v"]))
    statement.says("dividing by the root changes no code")


@reads("in-production-wrong-a-float16-engine-may-square-in")
def squares_in_float16(statement):
    first = int(term(statement, "overflows from"))
    assert first**2 > int(np.finfo(np.float16).max) > (first - 1) ** 2
    statement.says("before anything is divided", "computes in float32 unless it is told otherwise")


# Exercises


@reads("prod-ex-fill")
def the_largest_variance(statement):
    real = list(term(statement, "be added to"))
    by_count = {n: variance([*real, *[0] * (n - 2)]) for n in range(2, 12)}
    best = max(by_count, key=by_count.get)
    assert best == given(statement, "n") == 3
    x = sympy.Symbol("x")
    formula = statement.tex("the variance is").split("=")
    for n in (2, 3, 5):
        assert [value(side, {"x": R(2, n)}) for side in formula] == [by_count[n]] * 2
    polynomial = value(formula[1], {"x": x})
    assert polynomial.diff(x).subs(x, value(statement.tex("largest at").split("=")[1])) == 0
    for number, n in enumerate((3, 4)):
        assert given(statement, "n", number) == n
        assert value(statement.tex(f"$n = {n}$ gives").split("=")[1]) == R(2, n)
        assert term(statement, f"$n = {n}$ gives", number=1) == by_count[n]
    assert value(statement.tex("With").split("=")[1], {"n": 7}) == R(2, 7)
    assert term(statement, "So one zero:") == by_count[3]
    statement.says("one zero", r"$x = k/n$")


def merge(a, b):
    (n_a, mu_a, m_a), (n_b, mu_b, m_b) = a, b
    n, delta = n_a + n_b, mu_b - mu_a
    return n, mu_a + R(delta * n_b, n), m_a + m_b + R(delta**2 * n_a * n_b, n)


@reads("prod-ex-merge")
def four_ranks(statement):
    text = statement.tex("Four ranks hold").split("=")[1]
    told = [tuple(value(text)), *[tuple(term(statement, "Four ranks hold", number=number)) for number in (1, 2, 3)]]
    low, high = merge(*told[:2]), merge(*told[2:])
    assert told[0] == told[1]
    assert told[2] == told[3]
    assert low == tuple(term(statement, "The first two make"))
    assert high == tuple(term(statement, "the others"))
    assert given(statement, r"\delta") == high[1] - low[1]
    assert term(statement, "then $\\delta$ is") == 0
    n, _, m = merge(low, high)
    chain = statement.tex("Then", 1).split("=")
    assert [value(side) for side in chain[1:]] == [m, m]
    assert value(chain[1].split("+")[0]) == low[2]
    assert [value(side) for side in statement.tex("so", 0).split("=")[1:]] == [m / n, m / n]
    statement.says("$\\delta$ is $0$ twice")


@reads("prod-ex-frozen")
def half_of_the_core(statement):
    calibrated = term(statement, "rows of the variance")
    sigma = given(statement, r"\sigma")
    assert sigma == sqrt(calibrated)
    assert statement.tex("alone, at") == r"\varepsilon = 0"
    for words, factor_after in (("A row of the variance", "the factor is"), ("For a row of the variance", "it is")):
        q = term(statement, words)
        assert sqrt(q) / sigma == term(statement, factor_after)
    percent = R(re.search(r"an error of \$(\d+)\$ percent", statement.text)[1])
    assert percent == 100 * (1 - sqrt(term(statement, "A row of the variance")) / sigma)
    statement.says("half of the core")


@reads("prod-ex-fuse")
def one_pass_or_two(statement):
    names = {"N": 3, "d": 5, "s": 2}
    apart, fused = (term(statement, words, names) for words in ("write $y$:", "$z$ and $y$:"))
    array = 3 * 5 * 2
    assert (apart, fused) == (5 * array, 4 * array)
    assert 1 - R(fused, apart) == R(1, 5)
    statement.says(
        "a fifth less", "read $x$ and $f$, write $z$; read $z$, write $y$", "read $x$ and $f$, write $z$ and $y$"
    )


@reads("prod-ex-newton")
def how_many_steps(statement):
    rho = value(statement.tex("the relative error").split("=")[1])
    wanted = term(statement, "last place of float32,")
    assert wanted == R(float(np.finfo(np.float32).eps)) / 2
    once = rho**2 * (3 + rho) / 2
    twice = once**2 * (3 - once) / 2
    assert twice < wanted < once
    after = term(statement, "After one step the error is")
    assert after < once < after * R(10002, 10000)
    assert term(statement, "which is above") == wanted
    statement.says("two steps are needed", r"At $\rho = 0$ the step changes nothing")


@reads("prod-ex-project")
def the_missed_share(statement):
    kinds = [term(statement, "exactly the variances", number=number) for number in (0, 1, 2)]
    deviations = [term(statement, "a standard deviation of", number=number) for number in (0, 1, 2)]
    assert kinds == [s**2 for s in deviations] == [1, 4, 16]
    t = R(sum(deviations), sum(kinds))
    assert [value(side) for side in statement.tex("it would be $\\tfrac29$ at $\\varepsilon = 0$:").split("=")[1:]] == [
        t,
        t,
    ]
    each = sum(q * (t - 1 / s) ** 2 for q, s in zip(kinds, deviations, strict=True)) / len(kinds)
    assert each == term(statement, "it would be")
    chain = statement.tex("\\tfrac13$ and").split("=")
    assert [value(side) for side in chain] == [each, each]
    low, high = (term(statement, "it is between", number=number) for number in (0, 1))
    d = value(statement.tex("a third of the rows each,").split("=")[1])
    for seed in range(5):
        rows = np.repeat([1, 2, 4], 100)[:, None] * np.random.default_rng(seed).standard_normal((300, int(d)))
        q = rows.var(axis=1)
        assert low < 1 - np.sqrt(q).sum() ** 2 / (len(q) * q.sum()) < high
    q, r = Matrix(kinds), Matrix([1 / s for s in deviations])
    share = value(
        statement.tex("The missed share is").replace(r"\sum_j", r"\sum_j "), {"d": 3, "q": q, "r": r, "t": t, "j": 1}
    )
    assert share == each * len(kinds) / sum(x * y**2 for x, y in zip(q, r, strict=True))
    statement.says("five seeds", r"$t = 1/\sigma$")

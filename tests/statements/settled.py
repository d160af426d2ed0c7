"""Readings of the verdicts on what comes out of the layer and what it does not see."""

import re

import sympy
import test_settled  # noqa: F401 - registers the tests of all verdicts
from sympy import Matrix, Rational, sqrt
from verdicts import TESTS

from statements import reads
from statements import statements as all_statements
from statements.evaluate import chain_holds, close, holds, layer, same, term

R = Rational
VERDICT = re.compile(r"\*\*(True only if|True|False)\.?\*\*")
SPREAD, SMALL, FLAT = (1, 2, 4), (R(1, 100), 0, R(-1, 100)), (3, 3, 3)


def core(z, eps):
    return layer(z, eps)["u"]


def the_verdict_is_the_one_whose_test_passes(statement):
    proved, _ = TESTS[statement.label]
    assert VERDICT.findall(statement.text) == [proved]


for label, statement in all_statements().items():
    if statement.kind == "verdict" and label in TESTS:
        reads(label)(the_verdict_is_the_one_whose_test_passes)


@reads("settled-mean")
def the_output_has_the_mean_of_its_bias_where_gains_are_equal(statement):
    statement.says("has the mean 0, for every input", "only if** all gains are equal")
    bias = (1, 2, -3)
    assert sum(bias) == term(statement, "biases add up to")
    for z in (SPREAD, FLAT, (0, 0, 5)):
        assert sum(layer(z, 1, (4, 4, 4), bias)["y"]) == sum(bias)
        assert sum(core(z, 1)) == term(statement, "core has the mean")
    assert sum(layer(SPREAD, 1, (4, 4, 5), bias)["y"]) != term(statement, "promises a mean near")


@reads("settled-variance")
def the_variance_of_the_core_is_1_without_epsilon(statement):
    statement.says("of every input that is not constant has the variance 1.")
    for names in (layer(SPREAD, 0), layer(SPREAD, 2), layer(SMALL, R(1, 9))):
        u = names["u"]
        assert same(u.dot(u) / 3, term(statement, "It is", names))
        assert close(u.dot(u) / 3, 1) == (names[r"\varepsilon"] == 0)
    holds(statement, 1, layer(SPREAD, 0), end="It is")


@reads("settled-divisor")
def the_sample_deviation_shortens_the_core(statement):
    statement.says("**False.** The divisor is $d$", "the worst at $d = 2$")
    factors = []
    for z in ((0, 2), SPREAD, (1, 2, 3, 5)):
        names = layer(z, 0)
        other = names["v"] / sqrt(names["v"].dot(names["v"]) / term(statement, "squares divided by", names))
        factors.append(term(statement, "by the factor", names))
        assert same(other, factors[-1] * names["u"])
    assert factors == sorted(factors)
    d, times = re.search(r"at \$d = (\d+)\$ the right output is \$([\d.]+)\$ times that", statement.text).groups()
    assert abs(R(times) * term(statement, "by the factor", {"d": int(d)}) - 1) < R(1, 2 * 10**4)


@reads("settled-eps-max")
def the_third_function_is_the_core_nowhere_else(statement):
    for z, eps in ((SPREAD, 1), (SMALL, 1), ((1, -1), 1)):
        names = layer(z, eps)
        other = term(statement, "| *", names)
        q = names["q"]
        assert same(other, term(statement, "Below the kink it is" if q < eps else "above it", names))
        assert not close(other, names["u"])
        assert other.norm() / names["v"].norm() <= term(statement, "the bound", names)
    holds(statement, 1, layer((1, -1), 1), start="with a kink at", end="Below")
    holds(statement, 1, layer(SMALL, 1), start="at any input with", end="What")
    statement.says("neither at any input")


@reads("settled-constant")
def a_constant_row_divides_by_0_only_without_epsilon(statement):
    holds(statement, 1, {r"\varepsilon": 0, "q": 0}, end="With $")
    names = layer(FLAT, 1, (5, -7, 2), (1, -1, 2))
    holds(statement, 1, names, start="With $", end="the core is")
    assert all(entry == term(statement, "the core is") for entry in names["u"])
    assert names["y"] == names[r"\beta"]


@reads("settled-one-feature")
def one_feature_leaves_the_bias(statement):
    for names in (layer([10**6], 1, [2], [3]), layer([-1], R(1, 3), [0], [5])):
        holds(statement, 2, names, end="The gradients")
        assert names["y"] == names[r"\beta"]
        gradients = (*names["J"], *names["u"])
        assert all(entry == term(statement, "input and gain are") for entry in gradients)


@reads("settled-numerator")
def an_uncentred_numerator_has_a_mean(statement):
    names = layer(SPREAD, 2)
    wrong = term(statement, "| *", names)
    assert not close(wrong, names["u"])
    assert same(sum(wrong) / 3, term(statement, "with the mean", names))


@reads("settled-circular")
def the_circular_equation_has_one_solution(statement):
    names = layer(SPREAD, R(1, 3))
    names[r"\sigma"] = sqrt(names["q"])
    solution = term(statement, "every pixel:", names)
    statement.says("has one solution, the same number for every pixel")
    assert holds(statement, 2, names | {r"\hat x": solution})
    assert not chain_holds(statement.tex("Taken literally, where"), names | {r"\sigma": 1, r"\varepsilon": 0})


@reads("settled-start")
def gains_start_at_1(statement):
    gain, bias = (
        int(word == "ones")
        for word in re.findall(r"starts \$.alpha\$ at (\w+) and \$.beta\$ at (\w+)", statement.text)[0]
    )
    claimed = [int(digit) for digit in re.findall(r"gains start at (\d) and the biases at (\d)\.", statement.text)[0]]
    assert claimed == [gain, bias]
    assert [term(statement, "Gains start at"), term(statement, "biases at", number=1)] == [1 - gain, 1 - bias]
    names = layer(SPREAD, 1)
    assert (names["J"] * sympy.diag(gain, gain, gain)).is_zero_matrix
    statement.says("no gradient would reach")


@reads("settled-shift")
def a_common_shift_changes_nothing(statement):
    statement.says("one number to all coordinates", "changes no output", "for every $")
    for eps in (0, R(1, 3), 5):
        assert core(SPREAD, eps) == core([entry + 100 for entry in SPREAD], eps)


@reads("settled-features")
def another_shift_changes_the_core(statement):
    statement.says(
        "each by a number of its own, changes no output", "one number added to all features", "no other shift"
    )
    for eps in (0, R(1, 3)):
        assert core(SPREAD, eps) == core([entry + 7 for entry in SPREAD], eps)
        assert core(SPREAD, eps) != core((1, 2, 5), eps)


@reads("settled-raw-shift")
def a_shift_of_the_raw_input_acts_through_the_weights(statement):
    statement.says("for every $x$", "makes $Wa$ a {term}`common shift`", "need not")
    W, x = Matrix([[1, 2], [3, 4]]), Matrix([0, 1])
    for a in ((0, 0), (1, -1), (1, 1)):
        common = len(set(W * Matrix(a))) == 1
        assert (core(W * (x + Matrix(a)), 1) == core(W * x, 1)) == common
    assert holds(statement, 1, {"a": Matrix([1, 1]), r"\mathbf{1}": Matrix([1, 1])}, start="Even")


@reads("settled-scale")
def a_scale_divides_epsilon(statement):
    statement.says("changes no core", "contain no $")
    holds(statement, 1, layer(SPREAD, 0), end="The paper")
    for a in (R(1, 2), 3):
        names = layer(SPREAD, 2, a=a)
        holds(statement, 1, names, start="scaling by", end="is dividing")
        scaled = core(a * names["z"], 2)
        assert same(scaled, core(SPREAD, 2 / term(statement, "dividing $\\varepsilon$ by", names)))
        assert not close(scaled, names["u"])
        assert close(core(a * names["z"], 0), core(SPREAD, 0))


@reads("settled-negative")
def a_negative_scale_flips_the_sign(statement):
    statement.says("for every $", "For positive $", "a negative $")
    names = layer(SPREAD, 0, **{r"\alpha": R(-1, 2)})
    holds(statement, 1, names, end="A textbook")
    assert close(core(R(-1, 2) * names["z"], 0), -names["u"])
    big = layer([1000 * entry for entry in SPREAD], 1, **{r"\alpha": 2})
    assert term(statement, "where $q$ and", big) == layer(2 * big["z"], 1)["q"] > 100
    assert close(core(2 * big["z"], 1), big["u"], R(1, 10**5))


@reads("settled-limit")
def large_scales_tend_to_the_core_without_epsilon(statement):
    statement.says("but not what $x$ itself gives", "times the sign of")
    holds(statement, 1, layer(SPREAD, 0), start="the core at", end="two large")
    for alpha in (10**30, -(10**30)):
        assert close(core([alpha * entry for entry in SPREAD], 1), sympy.sign(alpha) * core(SPREAD, 0), R(1, 10**20))
    assert not close(core(SPREAD, 1), core(SPREAD, 0), R(1, 10))


@reads("settled-recentre")
def one_row_added_to_all_rows_of_the_weights(statement):
    statement.says("Adding one row", "to every row", "changes no output", "for every $")
    names = {"W": Matrix([[1, 2], [0, 1], [3, -1]]), "p": Matrix([10, -4]), "x": Matrix([2, 1])}
    names[r"\mathbf{1}"] = sympy.ones(3, 1)
    weights, shift = term(statement, "for every $\\varepsilon$:", names), term(statement, "the common shift", names)
    assert weights * names["x"] == names["W"] * names["x"] + shift
    for eps in (0, R(1, 2)):
        assert core(weights * names["x"], eps) == core(names["W"] * names["x"], eps)


@reads("settled-rescale")
def scaled_weights_keep_the_core_with_a_scaled_epsilon(statement):
    statement.says("changes no core")
    holds(statement, 1, {r"\varepsilon": 0}, end="becomes")
    for delta in (R(1, 2), 3):
        names = layer(SPREAD, 2, **{r"\delta": delta})
        factor = term(statement, r"$W$ and $b$ become", names | {"W": 1, "b": 1})
        assert factor == term(statement, r"$W$ and $b$ become", names | {"W": 1, "b": 1}, 1) == delta
        holds(statement, 1, names, start=r"$\delta b$,", end="(")
        assert same(core(factor * names["z"], term(statement, r"$\varepsilon$ becomes", names)), names["u"])
        assert not close(core(factor * names["z"], 2), names["u"])


@reads("settled-linear-bias")
def the_bias_in_front_loses_its_mean(statement):
    statement.says("has no effect", "only if** all its entries are equal")
    for bias in ((5, 5, 5), (1, 0, 0), (1, -1, 0)):
        assert (core(Matrix(SPREAD) + Matrix(bias), 1) == core(SPREAD, 1)) == (len(set(bias)) == 1)


@reads("settled-rms")
def a_mean_of_0_in_the_variance_too(statement):
    names = layer(SPREAD, 0, **{r"\mu": 0})
    z = names["z"]
    title = [R(word) for word in re.findall(r"set to (\d)", statement.text)]
    assert title == [0, 0]
    rms = z / sqrt(z.dot(z) / 3)
    assert term(statement, "becomes") == 0
    assert close(rms, z / sqrt(z.dot(z) / 3 - names[r"\mu"] ** 2))
    assert not close(rms, z / sqrt(names["q"]))
    holds(statement, 1, names, start="with $\\mu")


@reads("settled-rms-shift")
def rms_norm_sees_a_common_shift(statement):
    statement.says("It does not centre", "does not change when one number is added to all coordinates")
    z = Matrix(SPREAD)
    assert z / sqrt(z.dot(z)) != (z + 5 * sympy.ones(3, 1)) / sqrt(
        (z + 5 * sympy.ones(3, 1)).dot(z + 5 * sympy.ones(3, 1))
    )


@reads("settled-twice")
def the_core_of_the_core(statement):
    for names in (layer(SPREAD, 0), layer(SPREAD, 2), layer((1, -1, 0), R(1, 3)), layer(FLAT, 1)):
        if names["q"] > 0 or names[r"\varepsilon"] > 0:
            twice = core(names["u"], names[r"\varepsilon"])
            assert same(twice, term(statement, "in a row are", names))
            fixed = names["q"] == 0 or names[r"\varepsilon"] == 0 or names["q"] + names[r"\varepsilon"] == 1
            assert close(twice, names["u"]) == fixed
    holds(statement, 1, layer(SPREAD, 0), end="Two cores")
    holds(statement, 2, layer((1, -1, 0), R(1, 3)), start="; with")
    statement.says("only constant inputs and those", "changes nothing")


@reads("settled-ex-invariance")
def lengths_and_signs_of_cores(statement):
    statement.says(
        "All three",
        "(a) $u(-z) = u(z)$ only for",
        "For every input that is not constant",
        "the same core have the same variance",
        "only if $u(z) = 0$",
        "are false",
    )
    for z in (SPREAD, (1, -1), FLAT):
        for a in (2, 3):
            names = layer(z, R(1, 2), a=a)
            names["u"] = lambda w: core(w, R(1, 2)) if isinstance(w, sympy.MatrixBase) else None
            assert close(core(-names["z"], R(1, 2)), -core(names["z"], R(1, 2)))
            names |= {r"\|u(az)\|": core(a * names["z"], R(1, 2)).norm(), r"\|u\|": core(z, R(1, 2)).norm()}
            constant = len(set(z)) == 1
            assert chain_holds(statement.tex("All three. (a)"), names)
            assert (
                chain_holds(statement.tex("Which of these are true for every $\\varepsilon > 0$? (a)"), names)
                == constant
            )
            assert chain_holds(statement.tex("equals $u(z)$ only if"), names) == constant
            assert chain_holds(statement.tex("only if $u(z) = 0$, that is"), names) == constant
            assert chain_holds(statement.tex("$v = 0$. (b)"), names)
            assert chain_holds(statement.tex("as long as"), names) == (not constant)
            assert chain_holds(statement.tex("$q > 0$. (c)"), names)
    holds(statement, 1, {r"\varepsilon": R(1, 2)}, end="?")
    holds(statement, 1, {r"\varepsilon": 0}, start="tells $q$. At", end="(b)")
    twice = term(statement, "input that is not constant,", {"z": Matrix(SPREAD), "u": lambda w: core(w, 0)})
    assert close(twice, core(SPREAD, 0))
    assert (
        term(statement, "input that is not constant,", {"z": Matrix(SPREAD), "u": lambda w: core(w, 1)}).norm()
        > core(SPREAD, 1).norm()
    )
    assert same(twice, core([2 * entry for entry in SPREAD], 0))


@reads("settled-ex-signs")
def signs_of_the_jacobian(statement):
    statement.says(
        "(a) Every diagonal entry",
        "is positive",
        "(b) Every other entry is negative",
        "(c) The entries of every row",
        "(a) is true",
        "(b) is false",
        "(c) is true",
    )
    for names in (layer((1, -1), R(1, 16)), layer((1, -1, 0, 0), R(1, 16), i=1, j=2)):
        J, d = names["J"], names["d"]
        for i in range(d):
            names |= {"i": i + 1}
            scale = J[i, i] / term(statement, "positive number times", names)
            assert J[i, i] > 0
            assert scale > 0
            assert sum(J[i, :]) == term(statement, "add up to")
            assert chain_holds(statement.tex("positive number times", 1), names)
            for j in set(range(d)) - {i}:
                names |= {"j": j + 1}
                assert sympy.sign(J[i, j]) == sympy.sign(term(statement, "has the sign of", names))
    end = term(statement, "the two ends of")
    names = layer(end, R(1, 16), i=1, j=2)
    assert (list(end).index(max(end)), list(end).index(min(end))) == (0, 1)
    holds(statement, 1, names, start="which is positive where", end=", as")
    assert names["J"][0, 1] > 0
    holds(statement, 2, layer((1, -1), R(1, 16)), end="?")

"""Readings of the statements on conventions: each table entry and default computed from the input."""

import re

import numpy as np
import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, given, holds, layer, part, same, term, value

R = Rational


def cells(statement):
    """The rows of the table of a statement, each a list of its cells."""
    rows = re.findall(r"\| ([^|]+) \| ([^|]+) \| ([^|]+) (?=\|)", part(statement, "|---|---|---|"))
    return [[cell.strip() for cell in row] for row in rows]


@reads("convention-probe")
def each_convention_of_the_probe(statement):
    z, eps, stored = given(statement, "z"), given(statement, r"\varepsilon"), term(statement, "stored gain")
    names = layer(z, eps, stored)
    v, q, last, w = names["v"], names["q"], names["z"][1], stored[1]
    sample = v.dot(v) / (2 - 1)
    expected = [
        names["y"][1],
        w * v[1] / (sqrt(q) + eps),
        w * v[1] / sqrt(sample + eps),
        w * v[1] / (sqrt(sample) + eps),
        w * v[1] / sqrt(max(q, eps)),
        w * v[1] / sqrt(q),
        w * v[1] / sqrt(q + eps**2),
        w * last / sqrt(z.dot(z) / 2 + eps),
        (1 + w) * names["u"][1],
        names["u"][1],
    ]
    rows = cells(statement)
    assert given(statement, r"\beta") == 0
    for (_, exactly, decimals), number in zip(rows, expected, strict=True):
        assert same(value(exactly.strip("$")), number)
        assert close(value(decimals.strip("$")), number, R(1, 2000))
        assert re.fullmatch(r"\$\d\.\d{3}\$", decimals)
    equal = [(i, j) for j in range(10) for i in range(j) if close(expected[i], expected[j])]
    assert equal == [(1, 9)]
    other = term(statement, "a stored gain of")
    assert not close(other * v[1] / (sqrt(q) + eps), names["u"][1])
    assert other not in (w, 1)
    statement.says("divisor $d - 1$ |", "divisor $d - 1$ and", "q + \\varepsilon$ |", "stored gain means $1 + w$")
    statement.says("Only the second and the last agree", "stored gain of $3$", "ten conventions", "| no centring")


@reads("eps-mismatch")
def the_factor_of_another_epsilon(statement):
    for q, eps, other in ((0, 1, 2), (R(1, 9), 2, R(1, 2)), (5, 1, 3), (R(1, 10**50), 2, R(1, 2))):
        factor = term(statement, "is multiplied by", {"q": q, r"\varepsilon": eps, r"\varepsilon'": other})
        z = (sqrt(q), -sqrt(q))
        assert close(factor * layer(z, eps)["u"], layer(z, other)["u"])
        names = {"q": q, r"\varepsilon": eps, r"\varepsilon'": other}
        ends = sorted([term(statement, "lies between", names, n).evalf(60) for n in (0, 1)])
        assert ends[0] <= factor <= ends[1]
        if q > 0:
            assert abs(factor - term(statement, "differs from", names)) <= term(statement, "by at most", names)
        if q < R(1, 10**40):
            assert close(factor, term(statement, "lies between", names, 1), R(1, 10**30))
    assert "q \\to 0" in statement.tex("latter as")
    assert chain_holds(statement.tex("/(2q)$ if"), {"q": R(1, 2)})
    statement.says("by at most")


@reads("eps-defaults")
def each_default_on_the_small_row(statement):
    z = given(statement, "z")
    text = part(statement, "coordinate is", "")
    found = re.findall(r"\$([^$]+)\$ at \$(?:\\varepsilon = )?10\^\{(-\d+)\}\$", text)
    assert [int(power) for _, power in found] == [-12, -7, -6, -5, -3]
    for shown, power in found:
        eps = R(10) ** int(power)
        u = layer(z, eps)["u"][-1]
        assert same(u, term(statement, "last core coordinate is", {r"\varepsilon": eps}))
        *exactly, decimals = shown.split(r" \approx ")
        assert re.fullmatch(r"\d\.\d{6}", decimals)
        assert close(value(decimals), u, R(1, 2 * 10**6))
        assert all(same(value(tex), u) for tex in exactly)
    assert holds(statement, 3, {r"\varepsilon": R(10) ** -12}, start="coordinate is")


@reads("eps-outside")
def the_two_forms_agree_for_one_epsilon_alone(statement):
    for q, eps in ((0, 2), (1, 2), (R(1, 4), R(1, 3))):
        names = layer((sqrt(q), -sqrt(q)), eps)
        inside = value(statement.tex("agree, if $v \\ne 0$, exactly for").partition("=")[2], names)
        names |= {r"\varepsilon'": inside}
        if q:
            forms = [term(statement, "the forms", names, n) for n in (0, 1)]
            assert same(*forms)
            assert not close(forms[1], term(statement, "the forms", names | {r"\varepsilon'": inside + 1}, 1))
            assert chain_holds(statement.tex("agree, if"), names)
        assert chain_holds(statement.tex("exactly for"), names)
        assert holds(statement, 3, names, end="At a row")
    step = R(1, 10**30) * Matrix([1, -1])
    names |= {"v": step, "q": step.dot(step) / 2}
    for number, jacobian in enumerate(("the first form has", "the second")):
        derivative = term(statement, "the forms", names, number) / R(1, 10**30)
        assert close(derivative, term(statement, jacobian, names) * Matrix([1, -1]), R(1, 10**20))
    statement.says("exactly for", "So no $", "serves all rows, not even")


@reads("divisor-convert")
def the_other_divisor_is_another_epsilon(statement):
    for z, eps in (((0, 2), 3), ((1, 2, 4), R(1, 3))):
        names = layer(z, eps)
        names["q_1"] = value(statement.tex("With").partition("=")[2], names)
        assert names["q_1"] == names["v"].dot(names["v"]) / (len(z) - 1)
        names["c"] = value(statement.tex("and", 0).partition("=")[2], names)
        # the definitions themselves, the hypothesis and the two displayed equations
        assert holds(statement, 5, names)
        ours = layer(z, term(statement, "with the gain", names, 1))["u"]
        gain = term(statement, "with the gain", names | {r"\gamma": 2})
        assert close(gain * ours, 2 * names["v"] / sqrt(names["q_1"] + eps))
    assert holds(statement, 1, layer((0, 2), 3), end="and $c")
    statement.says("So a layer with divisor $d - 1$", "The divisor d − 1")


@reads("axes-example")
def one_axis_or_two(statement):
    rows = [
        [[R(n) for n in re.findall(r"-?\d+", row)] for row in matrix.split(r"\\")]
        for matrix in re.findall(r"\\begin\{pmatrix\}(.*?)\\end\{pmatrix\}", statement.text)
    ]
    whole, by_rows, both = rows
    assert [list(layer(row, 0)["u"]) for row in whole] == by_rows
    factor = value(re.search(r"\\tfrac1\{\\sqrt\{\d+\}\}", statement.text)[0])
    assert close(
        layer([entry for row in whole for entry in row], 0)["u"],
        factor * Matrix([entry for row in both for entry in row]),
    )
    assert holds(statement, 1, {r"\varepsilon": 0})


@reads("one-plus-gain")
def what_a_stored_gain_less_one_does(statement):
    names = layer((1, 2, 4), 1, bias=(1, -1, 2), w=Matrix([R(1, 2), 0, -3]))
    ones, u, w = sympy.ones(3, 1), names["u"], names["w"]
    right = value(statement.tex("compute").replace("(1 +", r"(\mathbf{1} +"), names)
    used = w.multiply_elementwise(u) + names[r"\beta"]
    assert right - used == u
    stored = value(statement.tex("if the gain"), {"w": 2})
    added = term(statement, f"{statement.tex('if the gain')}$ is stored and")
    assert stored + added - 3 == added == 1
    start = value(statement.tex("usual start,").partition("=")[2])
    assert (start * ones).multiply_elementwise(u) + names[r"\beta"] == names[r"\beta"]
    small = float(np.float16(0.1003)), float(np.float16(1.1003))
    names = {"w": R("0.1003"), "p": 11}
    names[r"\zeta"] = value(statement.tex("|1 + w|$, with").partition("=")[2], names)
    bounds = [term(statement, "wrong by at most", names), term(statement, "and a stored gain by at most", names)]
    errors = [abs(R(small[0]) - R("0.1003")), abs(R(small[1]) - R("1.1003"))]
    assert all(error <= bound for error, bound in zip(errors, bounds, strict=True))
    assert bounds[0] < errors[1]
    assert names[r"\zeta"] == R(float(np.finfo(np.float16).eps)) / 2
    statement.says(
        "lacks exactly $u$", "wrong by at most", "stored gain by at most", "means 1 + w", "gain $1 + w$ is stored and"
    )
    assert chain_holds(statement.tex("usual start,"), {"w": 0})


@reads("half-decomposed")
def squares_overflow_from_256_on(statement):
    least = re.search(r"\|v_i\| \\ge (\d+)", statement.text)[1]
    names = {"v_i": int(least)}
    assert holds(statement, 1, names)
    with np.errstate(over="ignore"):
        v = np.array([int(least), -int(least)], np.float16)
        variance = (v * v).mean(dtype=np.float16)
        below = np.nextafter(v[:1], np.float16(0))
        assert np.isinf(variance)
        assert np.isfinite(below * below)
        assert (v / np.sqrt(variance) == float(term(statement, "its core"))).all()
    statement.says("Let all computed")


@reads("conventions-ex-unknown")
def the_unknown_layer(statement):
    stored, z, eps = term(statement, "stored gain"), given(statement, "z"), given(statement, r"\varepsilon")
    returned = term(statement, "returns")
    rms = z / sqrt(z.dot(z) / 2 + eps)
    assert given(statement, r"\beta") == returned[0] == term(statement, "The first coordinate is") == z[0]
    assert close(stored[1] * rms[1], term(statement, "RMSNorm would give"), R(1, 2000))
    assert close((1 + stored[1]) * rms[1], returned[1], R(1, 2000))
    assert term(statement, "RMSNorm would give", number=1) == returned[1]
    assert (1 + stored[1]) / stored[1] == term(statement, "RMSNorm would give", number=2)
    assert stored[0] == stored[1] == term(statement, "means", {"w": stored[0]}) - 1
    statement.says("no centring", "the convention of Gemma")


@reads("conventions-ex-annotated")
def the_annotated_layer(statement):
    d = given(statement, "d")
    c, eps = sqrt((d - 1) / d), R(1, 10**6)
    names = {"d": d, "c": c, r"\varepsilon": eps, "q": 1}
    assert same(c, value(re.search(r"c = (\\sqrt\{\d+/\d+\})", statement.text)[1]))
    other = value(re.search(r"\\varepsilon' = (.*?) \\approx", statement.text)[1], names)
    assert same(other, (c * eps) ** 2 + 2 * c * eps)
    assert close(other, value(re.search(r"\\approx ([^$]*)\$", statement.text)[1]), R(1, 10**8))
    names[r"\varepsilon'"] = other
    assert same(term(statement, "it is", names | {"v": 3}), c * 3 / (1 + c * eps))
    least = value(re.search(r"by less than \$([^$]*)\$", statement.text)[1])
    at = [value(tex) for tex in re.findall(r"q = (\\tfrac12|\d+)\$", part(statement, "two is"))]
    errors = [
        abs(term(statement, "ratio of the two is", names | {"q": q}) - term(statement, "differs from")) for q in at
    ]
    assert least - R(1, 10**7) < max(error.evalf(30) for error in errors) < least
    assert (
        sorted(at)
        == [term(statement, "variances between"), term(statement, "variances between", number=1)]
        == [R(1, 2), 2]
    )
    assert abs(term(statement, "ratio of the two is", names) - 1) < R(1, 10**12)
    assert chain_holds(statement.tex("agree with it at"), {"q": 1})


@reads("conventions-ex-max")
def the_factor_of_the_third_function(statement):
    for q, eps in ((R(1, 2), 1), (1, 1), (3, 1), (2, 5)):
        names = layer((sqrt(q), -sqrt(q)), eps)
        other = term(statement, "For which $q$ do", names)
        factor = term(statement, "The factor is", names)
        assert close(factor * names["u"], other)
        assert same(factor, term(statement, "The factor is", names, 1 if q <= eps else 3))
        top = term(statement, "where it is")
        assert (top - factor).evalf(50) >= -R(1, 10**40)
        assert close(factor, top) == (q == eps) == chain_holds(statement.tex("It is largest at"), names)
        assert chain_holds(statement.tex("up to"), names) == (q == eps)


@reads("conventions-wrong-i-copied-the-weights-so-the")
def the_difference_of_two_defaults(statement):
    first, second = (term(statement, "PyTorch and Flax" + " {cite}`flax-2195`:", number=n) for n in (0, 1))
    variance = term(statement, "On rows of variance")
    ratio = sqrt((variance + first) / (variance + second))
    assert close(ratio - 1, term(statement, "the difference is"), R(1, 10**8))
    tolerance = term(statement, "half of the tolerance")
    assert close((ratio - 1) / tolerance, R(1, 2), R(6, 100))
    limit = term(statement, "on rows of a variance below")
    beyond = [sqrt((q + first) / (q + second)) - 1 > tolerance for q in (limit, limit * R(12, 10))]
    assert beyond == [True, False]
    bert, default = term(statement, "whose $\\varepsilon$ is"), term(statement, "with the default")
    assert (bert, default) == (R(1, 10**12), first)


@reads("conventions-wrong-the-weights-of-the-norm-are")
def a_stored_one_added_twice(statement):
    added = [int(n) for n in re.findall(r"add(?:s|ed)?:? \$?(\d)", statement.text)]
    w = R(1, 100)
    gain = value(re.search(r"means \$(1 \+ w)\$", statement.text)[1], {"w": w})
    assert added == [gain - w] * len(added)
    assert len(added) == 3
    assert term(statement, "A stored value near") == 0
    assert term(statement, "; one near") == term(statement, "A stored value near") + gain - w
    assert re.match(r"The weights of the norm are about (\d) too small", statement.text)[1] == "1"


@reads("conventions-wrong-rms-scaling-true-makes-it-rmsnorm")
def the_option_is_a_third_function(statement):
    z, eps = given(statement, "z"), value(re.search(r"\\varepsilon = (\d+)", statement.text)[1])
    names = layer(z, eps)
    assert z / sqrt(names["q"] + eps) == term(statement, "it gives")
    assert close(z / sqrt(z.dot(z) / 2 + eps), term(statement, "it gives", number=1), R(1, 2000))
    statement.says("subtracts no mean")


@reads("conventions-wrong-an-unused-bias-does-no-harm")
def a_bias_of_0_adds_nothing(statement):
    assert given(statement, r"\beta") == 0
    statement.says("An unused bias does no harm", "in general does not stay zero")


@reads("conventions-wrong-the-export-passed-its-test-so")
def an_epsilon_rounded_away(statement):
    lost, small = int(np.float16(1e-12) > 0), np.float16(1e-5)
    assert lost == term(statement, "of float16 models to")
    assert small > 0
    assert re.search(r"since operator set \$(\d+)\$", statement.text)[1] == "17"
    statement.says("the output stayed finite and was wrong", "with statistics in float32 unless told otherwise")

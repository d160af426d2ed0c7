"""Readings of the statements on production, the second half: frozen roots, codes, roots, the backward pass."""

import re

import numpy as np
import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, given, holds, layer, part, same, term, value
from statements.in_production import codes, core, variance

R = Rational


# Frozen


@reads("prod-frozen-root")
def a_frozen_root(statement):
    A, c = Matrix([[1, 0, 2], [0, 3, -1]]), Matrix([1, -1])
    for z, eps, sigma in (((1, 2, 6), R(1, 3), R(2)), ((0, 0, 1), 0, R(1, 5))):
        names = layer(z, eps, (2, 1, -1), (1, 0, 5), A=A, c=c)
        names |= {r"\sigma": sigma, r"\tilde u": names["v"] / sigma}
        names[r"\operatorname{diag}"] = lambda v: sympy.diag(*v)
        assert holds(statement, 1, names, start="The core becomes", end="which has")
        assert holds(statement, 1, names, start="differs from it by", end="The layer and")
        assert holds(statement, 1, names, start="one affine map")
        assert holds(statement, 1, names, end="for all inputs")


@reads("prod-best-root")
def the_root_with_the_least_error(statement):
    t = sympy.Symbol("t", positive=True)
    for q, eps in (((1, 9), R(1, 4)), ((0, 2, 5), 3)):
        above, below = re.search(r"\\sigma = \\frac\{(.*?)\}\{(.*?)\} \.", statement.text).groups()
        totals = []
        for text in (above, below):
            each = [value(text.replace(r"\sum_j", ""), {"q_j": one, r"\varepsilon": eps}) for one in q]
            totals.append(sum(each))
        best = totals[0] / totals[1]
        loss = sum(one * (t - 1 / sqrt(one + eps)) ** 2 for one in q)
        assert close(loss.diff(t).subs(t, 1 / best), 0)
        assert sqrt(min(q) + eps) <= best <= sqrt(max(q) + eps)
    rows = [term(statement, "of the variances", number=number) for number in (0, 1)]
    assert rows == [1, 9]
    limit = sum(rows) / sum(sqrt(q) for q in rows)
    assert limit == value(re.search(r"the best \$\\sigma = (.*?)\$", statement.text)[1])
    assert sum(sqrt(q) for q in rows) / 2 == term(statement, "the mean of the roots would be")
    assert holds(statement, 1, {r"\varepsilon": 1}, start="the cores", end="the sum of")
    assert re.search(r"not all \$(\d)\$", statement.text)[1] == "0"
    statement.says("is least at", "between the smallest and the largest root")


@reads("prod-frozen-parameters")
def what_stays_when_the_parameters_are_frozen(statement):
    for gain in ((0, 0), (0, 2)):
        outputs = [layer((k, 0), 1, gain, (1, 5))["y"] for k in (0, 1, 2)]
        affine = close(outputs[0] + outputs[2], 2 * outputs[1])
        assert affine == (chain_holds(statement.tex("is affine if and only if"), {r"\gamma": Matrix(gain)}) is True)
    names = layer((1, 2), 1, (0, 2), g=Matrix([1, 3]), i=2)
    names["dz"] = names["J"] * names[r"\gamma"].multiply_elementwise(names["g"])
    assert chain_holds(statement.tex("The gradient"), names | {"J": lambda v: layer((1, 2), 1)["J"] * v})
    assert chain_holds(statement.tex("with", 0), names)
    assert chain_holds(re.search(r"\$(d [^$]*)\$", statement.text)[1], {"d": 2})
    assert chain_holds(re.search(r"\$(d [^$]*)\$", statement.text)[1], {"d": 1}) is False
    assert holds(statement, 1, {r"\varepsilon": 1}, start="and $\\varepsilon", end="An output")
    statement.says("is no affine function", "does not depend on whether", "the same function in training and in use")


# Eight bits


@reads("prod-codes")
def the_codes_of_a_row(statement):
    x = Matrix([-3, 5, 0])
    scale = value(re.search(r"\\Delta = (.*?)\$", statement.text)[1], {"x": x, "d": 3})
    assert scale == R(5, 127)
    assert value(r"x_i/\Delta", {"x": x, r"\Delta": scale, "i": 2}) == 127
    assert re.search(r"row \$x \\ne (\d)\$", statement.text)[1] == "0"
    statement.says("the even one of two", "$\\Delta$ times the code")


@reads("prod-int8")
def the_codes_of_the_core(statement):
    for eps in (0, 3, 100):
        names = layer((1, 2, 4, 9), eps)
        assert codes(list(names["u"])) == codes(list(names["v"]))
        assert chain_holds(statement.tex("for every"), names)
        step = max(abs(entry) for entry in names["u"]) / 127
        bound = term(statement, "differs from it by at most", names)
        assert all(abs(step * code - u) <= bound for code, u in zip(codes(list(names["u"])), names["u"], strict=True))
        assert close(bound, sqrt(len(names["u"]) - 1) / 127 / 2)
    bound = term(statement, "differs from it by at most", {"d": given(statement, "d")})
    assert close(bound, term(statement, "in each entry,"), R(1, 2000))
    assert re.search(r"Let \$v \\ne (\d)\$", statement.text)[1] == "0"
    assert given(statement, "d") == 768
    statement.says("has the codes of $v$", "do not change if $z$ is scaled by a positive number or shifted")


@reads("prod-outlier")
def what_an_outlier_does(statement):
    others = (1, 2, 3, 4)
    m, s2 = R(5, 2), variance(others)
    for t in (R(20), R(-300)):
        d, eps = 5, R(1, 3)
        names = layer((m + t, *others), eps, t=t, m=m, s=sqrt(s2), i=2, j=5)
        assert holds(statement, 1, names, start="The row has the variance", end="the variance of the others")
        assert same(variance(list(names["u"][1:])), term(statement, "in the core is", names))
        apart = term(statement, "$z_j$, lie", names)
        step = max(abs(entry) for entry in names["u"]) / 127
        assert same(apart, abs(names["u"][1] - names["u"][4]) / step)
    far = layer((R(10) ** 9, *others), 0)
    got = set(codes(list(far["v"]))[1:])
    at = R(re.search(r"\\mp(\d+)/", statement.text)[1]) / (d - 1)
    assert len(got) <= 2
    assert all(abs(code + at) <= 1 for code in got)
    assert re.search(r"\\mp127/\(d - (\d)\)", statement.text)[1] == "1"
    assert chain_holds(re.search(r"Let \$(d[^$]*)\$", statement.text)[1], {"d": 3})
    assert chain_holds(re.search(r"Let \$(d[^$]*)\$", statement.text)[1], {"d": 2}) is False
    assert term(statement, "that tends to") == 0
    statement.says("at most two different codes", "the largest of the row")


# Roots, rounding, epsilon


@reads("prod-root")
def an_error_of_the_root(statement):
    for rho in (R(1, 10), R(-1, 2)):
        names = layer((1, 2, 6), R(1, 3), (2, 1, -1), (1, 0, 5), **{r"\rho": rho})
        names["r"] = 1 / sqrt(names["q"] + R(1, 3))
        wrong = (1 + rho) * names["r"]
        assert same(term(statement, "a kernel use", names), wrong)
        assert chain_holds(statement.tex("with"), names)
        assert chain_holds(statement.tex("in place of"), names)
        assert same(term(statement, "It returns", names), wrong * names["v"])
        output = names[r"\gamma"].multiply_elementwise(wrong * names["v"]) + names[r"\beta"]
        assert same(term(statement, "for the core and", names), output)
        assert same(term(statement, "the relative error", names), abs(rho))
        other = value(statement.tex("It is the layer with").split("=")[1], names)
        assert same(wrong, 1 / sqrt(names["q"] + other))
    assert chain_holds(statement.tex("with"), {r"\rho": -1}) is False
    assert term(statement, "the mean of the core stays") == 0
    statement.says("its direction stays")


@reads("prod-newton")
def one_step(statement):
    x = R(2, 3)
    for rho in (R(1, 256), R(-1, 3), 1, -3):
        r = 1 / sqrt(x)
        names = {"x": x, r"\rho": rho, "r": r, r"\tilde r": (1 + rho) * r}
        names["r'"] = names[r"\tilde r"] * (3 - x * names[r"\tilde r"] ** 2) / 2
        assert holds(statement, 2, names, start="From an estimate", end="makes a value")
        error = names["r'"] / r - 1
        assert error <= 0
        assert chain_holds(statement.tex("for every"), names)
        if abs(rho) <= 1:
            assert abs(error) <= term(statement, "relative error of at most", names)
            assert chain_holds(statement.tex("at most $2\\rho^2$ for"), names)
    assert chain_holds(statement.tex("for every"), {r"\rho": R(-31, 10)}) is False
    start = value(re.search(r"From \$\\lvert\\rho\\rvert \\le (.*?)\$", statement.text)[1])
    once = start**2 * (3 + start) / 2
    twice = once**2 * (3 + once) / 2
    for error, words in ((once, "it is below"), (twice, "after one step and below")):
        bound = term(statement, words)
        assert R(95, 100) * bound < error < bound
    assert holds(statement, 2, {"x": x, "q": R(1, 3), r"\varepsilon": R(1, 3), "r": 1 / sqrt(x)}, end="From an")


def bfloat16(x):
    step = R(1, 2**20)
    while abs(x) >= 256 * step:
        step *= 2
    return round(x / step) * step


@reads("prod-round-once")
def rounding_the_core_first(statement):
    eps, z = given(statement, r"\varepsilon"), given(statement, "z")
    gain, bias = given(statement, r"\gamma"), given(statement, r"\beta")
    names = layer(z, eps, gain, bias)
    first, _, after = statement.tex("the core of", 1).partition("(")
    assert same(value(first) * value("(" + after), names["u"])
    assert names["y"][1] == term(statement, "the second output is")
    rounded = bfloat16(names["y"][1])
    assert rounded == term(statement, "at the end, it is")
    assert abs(rounded / names["y"][1] - 1) < term(statement, "within") / 100
    assert bfloat16(names["u"][1]) == term(statement, "it becomes")
    assert gain[1] * bfloat16(names["u"][1]) + bias[1] == term(statement, "and the output")


@reads("prod-eps-carried")
def an_epsilon_carried_by_the_input(statement):
    for needed, fixed in ((1, 9), (R(1, 4), R(1, 9))):
        names = layer((1, 2, 6), needed) | {r"\varepsilon'": fixed, r"\alpha": sqrt(fixed / sympy.S(needed))}
        assert chain_holds(statement.tex("With"), names)
        right = statement.tex("With", 2)
        assert right == r"u_{\varepsilon'}(\alpha z) = u_\varepsilon(z)"
        assert same(core(names[r"\alpha"] * names["z"], fixed), core(names["z"], needed))
        assert not same(core(2 * names[r"\alpha"] * names["z"], fixed), core(names["z"], needed))
    small = {r"\varepsilon": value(statement.tex("does. For").split("=")[1])}
    small[r"\varepsilon'"] = value(statement.tex("does. For", 1).split("=")[1])
    assert sqrt(small[r"\varepsilon'"] / small[r"\varepsilon"]) == given(statement, r"\alpha", 1)
    assert small[r"\varepsilon"] == R(1, 10**12)
    assert holds(statement, 1, {r"\varepsilon": 1}, start="needs", end="With")
    statement.says("for every $z$", r"for $d \ge 2$ no other positive factor does")


@reads("prod-order")
def two_orders(statement):
    row = [np.float32(int(entry)) for entry in term(statement, "the sum of")]
    left, right = (row[0] + row[1]) + row[2], row[0] + (row[1] + row[2])
    assert int(left) == term(statement, "the sum of", number=1) == 2**24
    assert int(right) == term(statement, "from the left and")
    assert (int(right) - int(left)) / R(3) == term(statement, "differ by")
    statement.says("In float32", "from the right")


# The backward pass


@reads("prod-double-backward")
def the_gradient_of_the_vjp(statement):
    x = sympy.symbols("z1:4", real=True)
    for z, eps, w, h in (((1, 2, 4), R(1, 3), (2, 0, -1), (0, 3, 1)), ((0, 5, 1), 2, (1, 1, 3), (2, -1, 0))):
        names = layer(z, eps, (2, 3, 5), g=Matrix(w), h=Matrix(h), r=1 / sqrt(variance(z) + eps))
        weighted = names[r"\gamma"].multiply_elementwise(names["g"])
        names |= {r"\hat g": weighted, r"\operatorname{mean}": lambda v: sum(v) / R(len(v))}
        for name in "abc":
            text = next(piece for piece in re.findall(r"\$([^$]*)\$", statement.text) if piece.startswith(f"{name} ="))
            names[name] = value(text.split("=")[1], names)
        J = core(x, eps).jacobian(Matrix(x))
        s = (names["h"].T * J * weighted)[0]
        at = dict(zip(x, z, strict=True))
        formulas = part(statement, "are").split("$$")[1].split(r"\qquad")
        by_z, by_g, by_gain = (value(text.strip(" ,."), names) for text in formulas)
        assert close(by_z, Matrix([s.diff(symbol) for symbol in x]).subs(at))
        back = names["J"] * names["h"]
        assert close(by_g, names[r"\gamma"].multiply_elementwise(back))
        assert close(by_gain, names["g"].multiply_elementwise(back))
        assert chain_holds(statement.tex(r"in place of $\hat g$:"), names)
        assert chain_holds(statement.tex("by $dz$, and let"), names)
    statement.says("by $z$, $g$ and $\\gamma$ are", "is the second derivative")


@reads("prod-per-sample")
def per_sample_gradients(statement):
    g = Matrix([1, -2, 3])
    for eps in (0, R(1, 3)):
        names = layer((1, 2, 6), eps, g=g)
        both = [*g.multiply_elementwise(names["u"]), *g]
        length = sum(entry**2 for entry in both)
        assert same(length, term(statement, "of both together is", names))
        assert length < term(statement, "less than", names)
    assert term(statement, "samples they take", {"N": 5, "d": 3}) == 5 * 2 * 3
    assert term(statement, "in place of", {"d": 3}) == 6
    assert re.search(r"For \$T = (\d)\$", statement.text)[1] == "1"
    assert re.search(r"for \$g \\ne (\d)\$", statement.text)[1] == "0"
    statement.says("over the samples they add up to")

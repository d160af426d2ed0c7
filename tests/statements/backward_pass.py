"""Readings of the statements on the backward pass: gradients and derivatives along lines in exact arithmetic."""

import re
from functools import cache

import exact
import numpy as np
import sympy
from sympy import Matrix, Rational, sqrt

from lnbook.pages.rounding import BITS, running_sum
from statements import reads
from statements import statements as all_statements
from statements.evaluate import chain_holds, close, given, holds, layer, part, same, term, value

R = Rational
T = sympy.Symbol("t", real=True)


def gradient(names, g):
    """dz of a loss with the gradient g by the output."""
    return exact.core_jacobian(list(names["z"]), names[r"\varepsilon"]).T * names[r"\gamma"].multiply_elementwise(
        Matrix(g)
    )


def the_sum_of_two_coordinates():
    """s(t) of the example with two coordinates, from the definition of the layer."""
    return sum(exact.layer([T, 0], [1, 2], [0, 0], R(1, 4)))


@cache
def along(order, t):
    return the_sum_of_two_coordinates().diff(T, order).subs(T, t) if order else the_sum_of_two_coordinates().subs(T, t)


@cache
def frozen(t):
    """The second derivative along (1, 0) with mean and root held constant, of the sum of the outputs."""
    mu, r = sympy.symbols("mu r")
    z, w = Matrix([T, 0]), Matrix([R(1, 2), -R(1, 2)])
    u = r * (z - mu * sympy.ones(2, 1))
    first = r * (w - u * w.dot(u) / 2)
    root = {mu: t / 2, r: 1 / sqrt(t**2 / 4 + R(1, 4))}
    return (first.diff(T)[0] + 2 * first.diff(T)[1]).subs(root).subs(T, t)


@reads("vjp-example")
def the_gradient_of_the_sum(statement):
    z, eps, gain = (given(statement, name) for name in ("z", r"\varepsilon", r"\gamma"))
    names = layer(z, eps, gain)
    names["dz"] = gradient(names, (1, 1, 1))
    assert holds(statement, 6, names | {r"\ell": sum(names["y"])})
    assert sum(names["dz"]) == term(statement, "add up to")
    assert gradient(layer(z, eps, (5, 5, 5)), (1, 1, 1)) == term(statement, "With equal gains it is")


@reads("vjp")
def the_two_products_of_the_gradient(statement):
    for z, eps in (((1, 2, 4), R(1, 3)), ((0, 1), 0)):
        names = layer(z, eps, (2, -1, 3)[: len(z)], g=Matrix((1, 2, 5)[: len(z)]))
        names |= {r"\hat g": names[r"\gamma"].multiply_elementwise(names["g"]), "dz": gradient(names, names["g"])}
        assert holds(statement, 4, names)


@reads("jvp")
def the_change_along_a_direction(statement):
    names = layer((1, 2, 4), R(1, 3), (2, -1, 3), g=Matrix((1, 2, 5)), h=Matrix((1, 0, -3)))
    names |= {"r": 1 / sqrt(names["q"] + R(1, 3)), r"\operatorname{mean}": lambda w: sum(w) / 3}
    assert holds(statement, 2, names)
    J = exact.core_jacobian([1, 2, 4], R(1, 3))
    expected = names[r"\gamma"].multiply_elementwise(J * names["h"])
    first, second = re.search(r"input is \$(.*?) = (.*?)\$", statement.text).groups()
    assert close(value(second, names), expected)
    assert first == r"\gamma \odot Jh"
    statement.says("for all $g$ and $h$", "operations proportional to $d$: no $d \\times d$ matrix")


@reads("vjp-kernel")
def which_cotangents_come_back_as_nothing(statement):
    statement.says(
        "if and only if $\\hat g$ is a multiple", "if and only if all gains are equal", "At $\\varepsilon = 0$"
    )
    statement.says("$dz = 0$ if and only if $\\hat g$ is a combination")
    for eps in (1, 0):
        names = layer((1, 2, 4), eps)
        claims = [value(found) for found in re.findall(r"dz = (\d)", statement.text)]
        for g, returns in (((5, 5, 5), True), (tuple(names["v"]), eps == 0), ((1, 0, 0), False)):
            dz = gradient(names, g)
            assert all(close(dz, claim) == returns for claim in claims)
        assert len(claims) == 2
        assert gradient(names, (1, 1, 1)) == term(statement, "by $z$ is") * sympy.ones(3, 1)
        start, end = ("", "In") if eps else ("At", ",")
        assert holds(statement, 1 if eps else 2, names, start=start, end=end)
    assert not gradient(layer((1, 2, 4), 1, (1, 2, 2)), (1, 1, 1)).is_zero_matrix


@reads("vjp-store")
def root_and_core_from_what_is_kept(statement):
    names = layer((1, 2, 4), R(1, 3), (2, -1, 3), (1, 1, 5))
    names["r"] = 1 / sqrt(names["q"] + R(1, 3))
    assert holds(statement, 2, names, end="Of an output")
    back = names["y"] - names[r"\beta"]
    assert Matrix([entry / gain for entry, gain in zip(back, names[r"\gamma"], strict=True)]) == names["u"]
    entries = {
        name: names[key][1] for name, key in (("u", "u"), ("y", "y"), (r"\beta", r"\beta"), (r"\gamma", r"\gamma"))
    }
    assert holds(statement, 1, entries, start="the core is", end="coordinate by")
    assert same(names["u"][0], -names["u"][1] - names["u"][2])
    assert term(statement, "exactly one gain is") == 0
    statement.says("if exactly one gain is", "is minus the sum of the others")


@reads("positions-example")
def the_gradients_of_two_positions(statement):
    eps = given(statement, r"\varepsilon")
    rows = [term(statement, "positions be", number=n) for n in (0, 1)]
    cotangents = [term(statement, "cotangents", number=n) for n in (0, 1)]
    bias = given(statement, r"d\beta")
    assert sum(cotangents[1:], cotangents[0]) == bias
    gain = sympy.zeros(4, 1)
    for row, g in zip(rows, cotangents, strict=True):
        gain += g.multiply_elementwise(layer(row, eps)["u"])
    shown = value(re.search(r"d\\gamma \\approx ([^$]*)\$", statement.text)[1])
    assert close(gain, shown, R(1, 2 * 10**6))
    assert gain[1] == term(statement, "second entry is exactly") == shown[1]
    statement.says("is exactly $")


@reads("dgain-sum")
def equal_cotangents_give_gains_without_a_sum(statement):
    total = sum((3 * layer((1, 2, 4), 1)["u"]) + 5 * layer((0, 1, 7), 1)["u"])
    assert close(total, value(re.search(r"d\\gamma_i = (\d)", statement.text)[1]))
    assert r"$\sum_i d\gamma_i = 0$" in statement.text
    statement.says("at each position all entries")


@reads("sum-stalls")
def a_running_sum_of_ones_stops(statement):
    stops = re.findall(r"\$([\d\\,]+)\$ in (\w+) \(\$p = (\d+)\$\)", statement.text)
    assert [name for _, name, _ in stops] == ["bfloat16", "float16", "float32"]
    for shown, name, p in stops:
        limit = term(statement, "correctly up to", {"p": int(p)})
        assert value(shown) == limit
        if name == "float32":
            assert int(np.float32(limit) + np.float32(1)) == limit
            assert int(np.float32(limit - 1) + np.float32(1)) == limit
        else:
            assert BITS[name] == int(p)
            sums = running_sum(np.ones(3000), BITS[name])
            assert int(sums[-1]) == int(sums[int(limit) - 1]) == limit
    assert int(running_sum(np.ones(9), 2)[-1]) == 4
    assert holds(statement, 1, {"p": 2}, end="rounding")
    assert term(statement, "after the other to") == 0


@cache
def core_derivatives(z, h, eps):
    """The core and its first four derivatives along a line, by differentiating it."""
    u = exact.core([entry + T * step for entry, step in zip(z, h, strict=True)], eps)
    return [u.diff(T, n).subs(T, 0) if n else u.subs(T, 0) for n in range(5)]


def line(z, h, eps):
    """The names of the statement on derivatives along a line, its p_n and c_n by differentiating the core."""
    names = layer(z, eps)
    w = names["P"] * Matrix(h)
    names |= {
        "w": w,
        "h": Matrix(h),
        "r": 1 / sqrt(names["q"] + eps),
        r"\operatorname{mean}": lambda x: sum(x) / len(z),
    }
    names |= {"a": w.dot(names["u"]) / len(z), "m": w.dot(w) / len(z)}
    names["derivatives"] = core_derivatives(tuple(z), tuple(h), eps)
    names |= {"u" + "'" * n: names["derivatives"][n] for n in (1, 2, 3)}
    return names


@reads("line-derivatives")
def the_recurrence_and_the_first_three_derivatives(statement):
    recurrence = re.search(r"\\\\ (\(n \+ 1\).*?) \. \\end", statement.text)[1].replace("&", "")
    start = re.search(r"p_\{-1\} = (\d),\\ p_0 = (\d)", statement.text).groups()
    coefficient = re.search(r"c_n &= (.*?), \\qquad", statement.text)[1]
    left, right = recurrence.split("=")
    for z, h, eps in (((0, 1), (1, 0), R(1, 4)), ((1, 1, -2), (1, 0, 3), 2)):
        names = line(z, h, eps)
        assert holds(statement, 7, names)
        p = [int(start[0]), int(start[1])]
        for n in range(5):
            now = names | {"n": n, "p_n": p[n + 1], "p_{n-1}": p[n]}
            assert close(value(coefficient, now), names["derivatives"][n] / sympy.factorial(n))
            p.append(value(right, now) / value(left, now | {"p_{n+1}": 1}))
    converges = part(statement, "for $r", "with")
    assert chain_holds(re.search(r"\$([^$]*)\$", converges)[1], names | {"t": 0})
    assert not chain_holds(re.search(r"\$([^$]*)\$", converges)[1], names | {"t": 1 / (names["r"] * sqrt(names["m"]))})
    assert r"u(z + th) = \sum_n c_n t^n" in statement.text
    assert "all at $t = 0$" in statement.text and "derivatives at $t = 0$" in statement.text


@reads("line-legendre")
def legendre_polynomials(statement):
    for z, h, eps in (((0, 1), (1, 0), R(1, 4)), ((1, 1, -2), (1, 0, 3), 2)):
        names = line(z, h, eps)
        x = names["a"] / sqrt(names["m"])
        p = [sympy.S.Zero, sympy.S.One]
        for n in range(4):
            p.append(
                (-(2 * n + 1) * names["r"] * names["a"] * p[n + 1] - n * names["r"] ** 2 * names["m"] * p[n]) / (n + 1)
            )
            now = names | {
                "n": n,
                "p_n": p[n + 1],
                "P_n": lambda at, n=n: sympy.legendre(n, at),
                "n!": sympy.factorial(n),
            }
            assert holds(statement, 2, now)
            assert close(now["P_n"](x) * (-names["r"] * sqrt(names["m"])) ** n, p[n + 1])
            assert names["derivatives"][n].norm().evalf(30) < term(statement, "is shorter than", now).evalf(30)
    factors = re.search(r"shorter than \$(\d)\\sqrt\{d\}", statement.text)[1]
    assert factors == "2"


@reads("line-example")
def the_derivatives_of_two_coordinates(statement):
    assert [given(statement, name) for name in (r"\varepsilon", r"\beta")] == [R(1, 4), 0]
    assert given(statement, r"\gamma") == Matrix([1, 2])
    z = given_with(statement, "z", {"t": T})
    assert z == Matrix([T, 0])
    formulas = [
        re.search(r"s\(t\) = ([^$]*)\$, with", statement.text)[1],
        *[found.replace("&", "") for found in re.findall(r"s'+ &= (.*?)(?:, \\\\| \\end)", statement.text)],
    ]
    assert len(formulas) == 4
    for t in (R(3, 4), R(-2, 3), 2):
        for order, formula in enumerate(formulas):
            assert same(value(formula, {"t": t}), along(order, t))
    at = value(re.search(r"At \$t = (\\tfrac34|[^$]*)\$, \$s, s'", statement.text)[1])
    shown = [
        value(tex) for tex in re.findall(r"\$([^$]*)\$", re.search(r"s'''\$ are (.*?)\. At", statement.text)[1])[:4]
    ]
    assert shown == [along(order, at) for order in range(4)]
    last = part(statement, "15625}$. At")
    t = value(re.search(r"t = ([^$]*)\$", last)[1])
    for order, decimals in re.findall(r"s('+) \\approx (-?[\d.]+)", last):
        assert close(value(decimals), along(len(order), t), R(1, 2 * 10**6))
    assert len(re.findall(r"\\approx", last)) == 2


def given_with(statement, name, names):
    found = re.search(rf"\${re.escape(name)} = ([^$]*)\$", statement.text)
    return value(found[1], names)


def the_frozen_derivative(text):
    """Checks the sentences that both the property and the correction have."""
    shown = re.search(r"held constant gives \$([^$]*)\$", text)[1]
    for t in (R(7, 10), R(1, 3)):
        names = line((t, 0), (1, 0), R(1, 4))
        vector = value(shown, names)
        assert same(vector[0] + 2 * vector[1], frozen(t))
        formula = re.search(r"then gets \$([^$]*)\$", text)[1]
        assert same(value(formula, {"t": t}), frozen(t))
        assert same(value(re.search(r"Differentiating \$([^$]*)\$", text)[1], names), names["u'"])
    decimals, at, right = re.search(r"which is \$([^$]*)\$ at \$t = ([^$]*)\$, instead of \$([^$]*)\$", text).groups()
    assert close(value(decimals), frozen(value(at)), R(1, 2 * 10**6))
    assert close(value(right), along(2, value(at)), R(1, 2 * 10**6))


@reads("line-frozen")
def frozen_statistics(statement):
    the_frozen_derivative(statement.text)


@reads("backward-pass-wrong-autodiff-gives-any-derivative")
def what_frozen_statistics_return(statement):
    the_frozen_derivative(statement.text)
    at = value(re.search(r"float64 at \$t = ([^$]*)\$", statement.text)[1])
    rows = re.findall(r"\| (second|third), [^|]+ \| ([^|]+) \| ([^|]+) \| ([^|]+) (?=\|)", statement.text)
    assert len(rows) == 7
    for order, *cells in rows:
        exact_one, torch, jax = (R(cell.strip("* ").replace("−", "-")) for cell in cells)
        right = along({"second": 2, "third": 3}[order], at)
        assert close(exact_one, right, R(1, 2 * 10**6))
        assert exact_one == jax
        assert ("**" in cells[1]) == (torch != exact_one)
        if order == "second" and torch != exact_one:
            assert close(torch, frozen(at), R(1, 2 * 10**6))
    for t in (at, R(1, 3)):
        names = line((t, 0), (1, 0), R(1, 4)) | {"t": t}
        names["r"] = value(re.search(r"In the example \$r = ([^$]*)\$", statement.text)[1], names)
        assert holds(statement, 4, names, start="In the example $r", end="The weights")
        weights = term(statement, "The weights")
        shown = part(statement, "so the sum is", "```")
        assert chain_holds(re.search(r"\$([^$]*)\$", shown)[1], names)
        assert same(value(re.search(r"is \$([^$=]*)", shown)[1], names), frozen(t))
        assert weights.dot(names["u"]) == term(statement, "make", names)
        assert weights.dot(names["h"]) == term(statement, "of $u$ and")
        change = value(re.search(r"changes by \$(-r\([^$]*)\$", statement.text)[1], names)
        vector = value(re.search(r"held constant gives \$([^$]*)\$", statement.text)[1], names)
        assert same(change, vector)


@reads("backward-ex-silenced")
def the_gradient_of_a_silenced_output(statement):
    names = layer(given(statement, "z"), given(statement, r"\varepsilon"), given(statement, r"\gamma"))
    matrix = re.search(r"J = (.*?)\\begin\{pmatrix\}(.*?)\\end", statement.text)
    rows = [[R(n) for n in re.findall(r"-?\d+", row)] for row in matrix[2].split(r"\\")]
    assert value(matrix[1]) * Matrix(rows) == names["J"] == exact.core_jacobian(list(names["z"]), names[r"\varepsilon"])
    asked = [value(tex) for tex in re.findall(r"g = (\([^$]*\))\$", part(statement, "Compute", "by hand"))]
    answers = [value(tex) for tex in re.findall(r"For \$g = (\([^$]*\))\$", statement.text)]
    assert asked == answers
    for number, g in enumerate(answers):
        hat = value(re.findall(r"\\hat g = ([^$]*)\$", statement.text)[number])
        dz = value(re.findall(r"dz = ([^$]*)\$", statement.text)[number])
        assert close(names[r"\gamma"].multiply_elementwise(g), hat)
        assert close(gradient(names, g), dz)
    assert names["y"][0] == 0


@reads("backward-ex-flat")
def even_derivatives_vanish_at_a_constant_row(statement):
    eps = R(1, 3)
    names = line((2, 2, 2), (1, 0, 3), eps)
    shown = term(statement, "that the third is", names)
    assert same(shown, names["u'''"])
    assert names["derivatives"][2].is_zero_matrix
    assert names["derivatives"][4].is_zero_matrix
    assert close(names["u"], 0)
    chain = statement.tex("The third derivative is")
    assert chain_holds(chain, names | {"p_2": -(names["r"] ** 2) * names["m"] / 2})
    assert holds(statement, 3, names | {"r": 1 / sqrt(eps)}, start="There $u", end="and $c_n")
    recurrence = statement.tex("the recurrence is")
    p = [1, 0, -(names["r"] ** 2) * names["m"] / 2, 0]
    for n in (1, 2):
        assert chain_holds(recurrence, names | {"n": n, "p_{n+1}": p[n + 1], "p_{n-1}": p[n - 1]})
    assert value(re.search(r"so \$p_1 = (\d)", statement.text)[1]) == p[1]
    for n in (1, 2, 3):
        assert same(
            value(re.search(r"c_n = ([^$]*)\$", statement.text)[1], names | {"p_{n-1}": p[n - 1]}) * sympy.factorial(n),
            names["derivatives"][n],
        )
    direction = given(statement, "w")
    family = layer((0, 0, 0), eps, t=0)
    assert close(given_with(statement, "z", {"t": 5}), 5 * direction)
    assert direction.dot(direction) / 3 == value(re.search(r"and \$m = ([^$]*)\$, so", statement.text)[1])
    third = exact.core(list(T * direction), eps)[2]
    assert same(
        value(re.search(r"f\(t\) = ([^$]*)\$", statement.text)[1], {"t": T, r"\varepsilon": eps}).subs(T, 5),
        third.subs(T, 5),
    )
    assert same(third.diff(T, 3).subs(T, 0), value(re.search(r"f'''\(0\) = ([^$]*)\$", statement.text)[1], family))
    statement.says(
        "all even derivatives along every line are $0$", "at $t = 0$", "all odd $p_n$ vanish", "all even $c_n$"
    )


@reads("backward-ex-lost")
def two_lost_coordinates(statement):
    u, eps, r = (
        given(statement, "u"),
        value(re.search(r"at \$\\varepsilon = ([^$]*)\$, \$r", statement.text)[1]),
        given(statement, "r"),
    )
    gain = given(statement, r"\gamma")
    names = layer((1, 1, -2), eps, gain, r=r)
    assert names["u"] == u
    assert same(r, 1 / sqrt(names["q"] + eps))
    assert same(term(statement, "sum of their squares is", names), u.dot(u))
    assert list(gain).count(0) == 2
    assert sum(u) == term(statement, "Two gains are")
    statement.says("all others are not", "but not which is which", "not enough, unless")
    assert holds(statement, 1, {r"\varepsilon": 1}, end="is known")
    dz = gradient(names, (1, 5, 7))
    assert dz[1] != dz[2]
    assert close(gradient(names, (0, 5, 7)), value(re.search(r"\\hat g_i = (\d)", statement.text)[1]))


@reads("backward-pass-wrong-the-gradient-is-zero-so-the")
def a_gradient_of_0_times_a_number(statement):
    factor = R(re.search(r"\$([\d.]+) \\sum y\$", statement.text)[1])
    gradient_of_sum = gradient(layer((1, 2, 4), 1), (1, 1, 1))
    assert close(gradient_of_sum, term(statement, ". The gradient is"))
    assert close(factor * gradient_of_sum, term(statement, "times $0$ is"))
    assert R(re.search(r"and \$([\d.]+)\$ times \$(\d)\$", statement.text)[1]) == factor
    assert close(gradient_of_sum, value(re.search(r"and \$([\d.]+)\$ times \$(\d)\$", statement.text)[2]))
    assert chain_holds(statement.tex("unequal gains and"), {r"\varepsilon": 1})
    for z, gains in (((1, 2, 4), (1, 2, 3)), ((1, 4), (2, -1))):
        zero = term(statement, "$ the gradient is not")
        assert not close(gradient(layer(z, 1, gains), (1,) * len(z)), zero)
        assert len(z) > 2 or close(gradient(layer(z, 0, gains), (1,) * len(z)), zero)
    statement.says("With unequal gains and", "the gradient is not $")


def the_example():
    """The layer of vjp-example with the gradient 1 at every output."""
    example = all_statements()["vjp-example"]
    return layer(given(example, "z"), given(example, r"\varepsilon"), given(example, r"\gamma"), g=sympy.ones(3, 1))


@reads("backward-pass-wrong-multiply-dz-by-the-gain-at")
def gain_last(statement):
    names = the_example()
    names["Jg"] = names["J"] * names["g"]
    assert holds(statement, 1, names, start="gain last would give")
    assert not close(gradient(names, names["g"]), 0)
    ones = term(statement, "with gains other than")
    assert close(
        gradient(layer((1, 2, 4), 1, (ones, ones, ones)), (1, 2, 5)), layer((1, 2, 4), 1)["J"] * Matrix((1, 2, 5))
    )
    for gains, same_vector in (((3, 3, 3), True), ((3, 1, 3), False)):
        names = layer((1, 2, 4), 1, gains, g=Matrix((1, 2, 5)))
        gain_at_the_end = names[r"\gamma"].multiply_elementwise(names["J"] * names["g"])
        assert close(gradient(names, names["g"]), gain_at_the_end) == same_vector
        assert not close(gradient(names, names["g"]), names["J"] * names["g"])
    statement.says("A gain left out shows only with gains other than $", "put at the end shows only with unequal gains")


@reads("backward-pass-wrong-a-mean-taken-away-twice")
def a_mean_taken_twice(statement):
    names = the_example()
    names[r"\hat g"] = names[r"\gamma"]
    twice = gradient(names, names["g"]) - sympy.ones(3, 1) * sum(names[r"\hat g"]) / 3 / sqrt(
        names["q"] + names[r"\varepsilon"]
    )
    shown = term(statement, "in a right $dz$ and", names)
    assert same(sum(twice), shown, term(statement, "in this one, which is"))
    assert sum(gradient(names, names["g"])) == term(statement, "$: it is")
    assert term(statement, r"unless the $\hat g_i$ add up to") == 0
    statement.says("finds it, unless the")


@reads("backward-pass-wrong-the-optimizer-works-in-float32-so")
def running_sums_in_half_formats(statement):
    found = re.search(
        r"over \$(\d+)\$ positions, returns \$d\\beta_i = (\d+)\$ with one thread and \$(\d+)\$ with two, "
        r"one running sum each, instead of \$(\d+)\$",
        statement.text,
    )
    positions, one, two, right = map(int, found.groups())
    stop = int(running_sum(np.ones(positions), BITS["bfloat16"])[-1])
    half = int(running_sum(np.ones(positions // 2), BITS["bfloat16"])[-1])
    assert (one, two, right) == (stop, 2 * half, positions)
    many, one, two = re.search(
        r"with \$([\d\\,]+)\$ positions in float16 it returns \$(\d+)\$ and \$(\d+)\$", statement.text
    ).groups()
    assert int(running_sum(np.ones(3000), BITS["float16"])[-1]) == int(one) == int(two) // 2
    assert value(many) // 2 > int(one)
    statement.says("do not change this")

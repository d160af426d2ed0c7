"""Readings of the statements on sharp bounds about finite steps: mirror steps, the sum norm, bends, all derivatives."""

import re
from functools import partial
from itertools import product

import sympy
from mpmath import mp
from sympy import Matrix, Rational, legendre, sqrt

from lnbook.pages import exact
from statements import reads
from statements.evaluate import RELATION, chain_holds, close, given, holds, layer, same, term, value
from statements.sharp_bounds import X

R = Rational
HALF_STEP = (R(1, 3), R(-1, 7), R(2, 5))


def core(z, eps):
    return exact.core(list(z), eps)


def displays(statement):
    return re.findall(r"\$\$ (.*?) [.,]? ?\$\$", statement.text)


@reads("lipschitz-outside")
def the_mirror_step_attains_the_constant(statement):
    for z, eps in (((-1, 1), R(1, 4)), ((1, 2, 4), 2), ((0, 0, 3), 0)):
        names = layer(z, eps)
        names["q_0"] = names["q"]
        constant = term(statement, "Lipschitz constant of the core is", names)
        step, mirror = term(statement, "the step", names), term(statement, "its mirror image", names)
        assert close(names["z"] + step, mirror)
        assert same((core(tuple(mirror), eps) - names["u"]).norm() / step.norm(), constant)
        assert holds(statement, 3, names, names | {"d": 3, "q_0": 0, r"\varepsilon": R(1, 2)}, end="Among")
        assert holds(statement, 1, names, start="If $", end="the step")
        near = Matrix(mirror) * R(11, 10)
        ratio = (core(tuple(near), eps) - names["u"]).norm() / (near - names["z"]).norm()
        assert ratio.evalf(30) < constant.evalf(30)
    assert chain_holds(statement.tex("If"), {"q_0": 0}) is False
    statement.says("whose variance is at least $q_0$", "with the variance $q_0$", "the least Lipschitz constant")


def sums_of_columns(gain, u, tau, eps):
    d = len(gain)
    J = sqrt((1 - tau) / eps) * (sympy.eye(d) - sympy.ones(d, d) / d - u * u.T / d)
    return [sum(abs(gain[i] * J[i, j]) for i in range(d)).evalf(40) for j in range(d)]


@reads("sharp-sum-norm")
def the_constant_in_the_sum(statement):
    A_text, B_text = re.search(r"A = (.*?) , \\qquad B = (.*?) \\ge 0 \.", statement.text).groups()
    body = re.search(r"largest value of \$([^$]*)\$", statement.text)[1]
    at_zero, condition, otherwise = re.search(
        r"it is \$([^$]*)\$ if \$([^$]*)\$, and \$([^$]*)\$ otherwise", statement.text
    ).groups()
    for gain in ((1, 2, 3), (3, 0, -1), (2, -5)):
        d, eps, found = len(gain), R(1, 4), []
        for signs in product((1, -1), repeat=d):
            for j in range(1, d + 1):
                names = layer(gain, 1, j=j, c=Matrix([s * g for s, g in zip(signs, gain, strict=True)]))
                A = (names["P"] * names["c"])[j - 1]
                assert same(value(A_text.replace("(Pc)", "w"), names | {"w": names["P"] * names["c"]}), A)
                names |= {"A": A}
                B = value(B_text, names)
                assert B.evalf(40) >= 0
                best = value(at_zero if chain_holds(condition, names | {"B": B}) else otherwise, names | {"B": B})
                for tau in (0, R(1, 5), R(9, 10)):
                    assert value(body, names | {"B": B, r"\tau": tau}).evalf(40) <= best.evalf(40) + R(1, 10**30)
                found.append((best.evalf(40), B, A, names["c"], j))
        constant = max(entry[0] for entry in found)
        shown = value(
            re.search(r"\$(K/\\sqrt\{\\varepsilon\})\$", statement.text)[1], {"K": constant, r"\varepsilon": eps}
        )
        sums = sums_of_columns(gain, sympy.zeros(d, 1), 0, eps)
        assert close(max(sums), shown, R(1, 10**20))  # for few gains the constant inputs are the worst
    wide = (1,) * 40 + (2,) * 40 + (3,)
    c = Matrix([1] * 20 + [-1] * 20 + [2] * 20 + [-2] * 20 + [3])
    names = layer(wide, 1, j=81, c=c)
    A = (names["P"] * c)[80]
    B = value(B_text, names | {"A": A})
    assert not chain_holds(condition, {"A": A, "B": B})
    x, y = names["P"] * c, names["P"][:, 80]
    u = x / x.norm() - y / y.norm()
    tau = (2 * B - A) / (3 * B)
    u = (u / u.norm() * sqrt(81 * tau)).evalf(40)
    signed = sum(c[i] * sqrt(1 - tau) * ((1 if i == 80 else 0) - R(1, 81) - u[i] * u[80] / 81) for i in range(81))
    assert close(signed, value(otherwise, {"A": A, "B": B}), R(1, 10**20))
    assert close(value(body, {"A": A, "B": B, r"\tau": tau}), value(otherwise, {"A": A, "B": B}), R(1, 10**20))
    assert re.search(r"c_i = \\pm\\gamma_i", statement.text)
    assert [chain_holds(statement.tex("over"), {r"\tau": tau}) for tau in (0, R(1, 2), 1)] == [True, True, False]
    assert holds(statement, 2, {"d": 2, r"\varepsilon": R(1, 2)}, {"d": 3, r"\varepsilon": 1}, end="the least")
    statement.says(
        r"the norm $\|\cdot\|_1$ is",
        "over the coordinates $j$ and over the vectors $c$",
        "the least Lipschitz constant of the full layer",
    )


def bend(z, h, eps):
    """The length of the second derivative along h, by differentiating."""
    t = sympy.Symbol("t", real=True)
    along = core([a + t * b for a, b in zip(z, h, strict=True)], eps)
    return along.diff(t, 2).subs(t, 0).norm()


def cases_of_the_bend(statement):
    """(value, condition) twice, as TeX."""
    (display,) = displays(statement)
    first, second = display.split(r", \qquad")
    return [re.search(r"k\(z\) = (.*?) \\quad\\text\{if \} (.*)", text).groups() for text in (first, second)]


@reads("curvature")
def the_two_cases_of_the_bend(statement):
    (first, when_first), (second, when_second) = cases_of_the_bend(statement)
    for z, eps in (((-1, 1), 4), ((-1, 1), R(1, 9)), ((-1, 0, 1), 4), ((-1, 0, 1), R(1, 3)), ((5, 1, 0, 2), 1)):
        names = layer(z, eps)
        is_two, below = when_first.split(r"\text{ or }")
        three, above = when_second.split(r"\text{ and }")
        if chain_holds(is_two, names) or chain_holds(below, names):
            shown, direction = value(first, names), names["v"] / names["v"].norm()
        else:
            assert chain_holds(three, names)
            assert chain_holds(above, names)
            shown = value(second, names)
            across = names["P"] * Matrix(HALF_STEP + (0,) * (len(z) - 3))
            across -= names["v"] * across.dot(names["v"]) / names["v"].dot(names["v"])
            cosine = sqrt((names["q"] + eps) / (3 * names["q"]))
            direction = cosine * names["v"] / names["v"].norm() + sqrt(1 - cosine**2) * across / across.norm()
        assert close(bend(z, direction, eps), shown, R(1, 10**30))
        edges = [value(RELATION.split(text)[1], names) for text in (below, above)]
        assert same(*edges, eps / 2)
        assert chain_holds(statement.tex("and"), names)
        other = Matrix(((1, 2, -1, 0) + (0,) * len(z))[: len(z)])
        assert (bend(z, other / other.norm(), eps) - shown).evalf(40) < R(1, 10**20)
    assert re.search(r"directions \$h\$ of length \$(\d)\$", statement.text)[1] == "1"
    most, place = re.search(r"over all inputs is \$([^$]*)\$, at \$q = ([^$]*)\$", statement.text).groups()
    for d, eps in ((2, R(1, 3)), (4, 5)):
        names = {"d": d, r"\varepsilon": eps}
        q = value(place, names)
        assert close(value(first, names | {"q": q}), value(most, names))
        assert all(
            value(first, names | {"q": q * factor}).evalf(40) < value(most, names).evalf(40)
            for factor in (R(9, 10), R(11, 10))
        )
        assert value(second, names | {"q": eps / 2}).evalf(40) < value(most, names).evalf(40)
    assert holds(statement, 1, {"d": 2}, {"d": 3}, end="and $q")
    assert holds(statement, 1, {r"\varepsilon": 1, "q": 0}, start="For $\\varepsilon", end="the largest")
    statement.says(
        "of $u(z + th)$ by $t$ at $t = 0$ is at most $k(z)$ long, and in one direction it is as long",
        "Over all directions",
        "h$ along $v$",
        "and nowhere else",
    )


@reads("trust-radius")
def the_error_of_the_prediction(statement):
    (display,) = displays(statement)
    left, right = display.split(r"\;\le\;")
    for z, h, eps in (((-1, 1), (-1, 1), 4), ((1, 2, 4), (0, 1, -3), R(1, 2)), ((5, 5), (1, 0), R(1, 9))):
        names = layer(z, eps, h=Matrix(h)) | {"u": lambda z, eps=eps: core(tuple(z), eps)}
        assert chain_holds(display, names)
        assert not chain_holds(display.replace(r"\le", "="), names)
    small = R(1, 10**12)
    names = layer((-1, 1), 4, h=small * Matrix([-1, 1])) | {"u": lambda z: core(tuple(z), 4)}
    assert close((value(left, names) / value(right, names)).evalf(60), 1, R(1, 10**10))
    exactly, decimals = re.search(r"smaller than \$(.*?) \\approx ([\d.]+)\$", statement.text).groups()
    assert close(value(exactly), value(decimals), R(1, 2 * 10**6))
    assert close(value(right, {"P": sympy.eye(2), "h": Matrix([1, 0]), r"\varepsilon": 1, "d": 1}), value(exactly))
    last = re.search(r"the error is at most \$([^$]*)\$", statement.text)[1]
    condition = statement.tex("attains it. If")
    for z, h in (((1, 2, 4), (0, 1, -3)), ((0, 9), (1, 0)), ((0, 0, 9), (1, -1, 0))):
        names = layer(z, R(1, 2), h=Matrix(h)) | {"u": lambda z: core(tuple(z), R(1, 2))}
        names["q_1"] = min(layer(tuple(Matrix(z) + R(k, 8) * Matrix(h)), 1)["q"] for k in range(9))
        assert chain_holds(condition, names)
        assert value(left, names).evalf(40) <= value(last, names).evalf(40)
    edge = layer((-1, 0, 1), R(4, 3), h=small * Matrix([-1, 0, 1])) | {"u": lambda z: core(tuple(z), R(4, 3))}
    assert close((value(left, edge) / value(last, edge | {"q_1": R(2, 3)})).evalf(60), 1, R(1, 10**10))
    assert chain_holds(condition, {"q": 1, "q_1": R(1, 2), r"\varepsilon": 1})
    assert chain_holds(condition, {"q": 1, "q_1": R(49, 100), r"\varepsilon": 1}) is False
    assert chain_holds(statement.tex("step with"), names | {"h": Matrix(h)})
    assert holds(statement, 2, {"d": 2, r"\varepsilon": R(1, 2)}, {"d": 3, r"\varepsilon": 1}, end="For every")
    statement.says(
        "For every input and every step",
        "no single step with",
        "on the whole way from $z$ to $z + h$",
        "with $Ph \\ne 0$ attains it",
        "will do",
    )


@reads("jac-lipschitz")
def the_change_of_the_jacobian(statement):
    (display,) = displays(statement)
    for a, b, eps in (((-1, 1), (-2, 2), 4), ((1, 2, 4), (1, 0, 1), R(1, 2))):
        names = layer(a, eps, a=Matrix(a), b=Matrix(b)) | {"J": lambda z, eps=eps: layer(tuple(z), eps)["J"]}
        assert chain_holds(display, names)
    left, right = display.split(r"\;\le\;")
    step = R(1, 10**12)
    names |= {"a": Matrix([-1, 1]) * (1 + step), "b": Matrix([-1, 1]), r"\varepsilon": 4, "d": 2}
    names |= {"J": lambda z: layer(tuple(z), 4)["J"], "P": layer((0, 1), 1)["P"]}
    assert close((value(left, names) / value(right, names)).evalf(60), 1, R(1, 10**10))
    assert holds(statement, 2, {"d": 2, r"\varepsilon": R(1, 2)}, {"d": 3, r"\varepsilon": 1}, end="For all")
    statement.says("For all inputs $a$ and $b$", "and no smaller constant will do")


def derivative(z, h, eps, n):
    """The length of the n-th derivative along h, in 80 digits."""
    with mp.workdps(80):
        z, h = ([mp.mpf(str(sympy.N(entry, 80))) for entry in vector] for vector in (z, h))

        def entry(i, t):
            moved = [a + t * b for a, b in zip(z, h, strict=True)]
            mean = sum(moved) / len(moved)
            total = sum((b - mean) ** 2 for b in moved) / len(moved) + mp.mpf(eps.p) / eps.q
            return (moved[i] - mean) / mp.sqrt(total)

        entries = [mp.diff(partial(entry, i), 0, n) for i in range(len(z))]
        return sympy.Float(str(mp.norm(entries)), 60)


@reads("line-sharp")
def the_factor_of_each_derivative(statement):
    factor = re.search(r"where \$s_n = \|(P_\{n-1\}\(\\xi_n\))\|", statement.text)[1]
    assert factor == r"P_{n-1}(\xi_n)"
    shown = {
        int(n): value(found)
        for n, found in re.findall(r"s_(\d) = (\\frac\{1\}\{\\sqrt3\}|\\frac\d+|1) ", statement.text)
    }
    zeros = {n: min((abs(zero) for zero in sympy.real_roots(legendre(n, X))), key=float) for n in range(1, 6)}
    s = {n: abs(legendre(n - 1, X).subs(X, zeros[n])) for n in range(1, 6)}
    assert set(shown) == {1, 2, 3, 5}
    assert all(close(shown[n], s[n]) for n in shown)
    assert all(close(s[n], abs(legendre(n - 1, 0))) == (n % 2 == 1) for n in s)
    assert re.search(r"For odd \$n\$, \$(\\xi_n = 0)\$ and \$s_n = \|P_\{n-1\}\(0\)\|\$", statement.text)
    assert all(chain_holds(r"S \le 1", {"S": entry}) for entry in s.values())
    assert re.search(r"\| \\le (\d)\$", statement.text)[1] == "1"
    bound = re.search(r"is at most \$([^$]*)\$ long", statement.text)[1]
    for z, eps in (((-1, 0, 1), R(1, 3)), ((0, 1, 5), R(0))):
        names = layer(z, eps)
        v, u = names["v"], names["u"]
        across = names["P"] * Matrix(HALF_STEP)
        across -= v * across.dot(v) / v.dot(v)
        for n in (1, 2, 3, 4):
            attained = chain_holds(
                re.search(r"3\$ and \$([^$]*)\$, some", statement.text)[1], names | {r"\xi_n": zeros[n]}
            )
            assert attained
            cosine = zeros[n] / sqrt(u.dot(u) / 3)
            h = cosine * v / v.norm() + sqrt(1 - cosine**2) * across / across.norm()
            more = names | {"h": h, "n": n, "s_n": s[n], "r": 1 / sqrt(names["q"] + eps)}
            more["m"] = value(re.search(r"\$m = ([^$]*)\$", statement.text)[1], more)
            assert close(more["r"], value(re.search(r"\$r = ([^$]*)\$", statement.text)[1], more))
            length = derivative(z, h, eps, n)
            natural = value(bound.replace("n!", "N"), more | {"N": sympy.factorial(n)})
            assert close(length, natural, R(1, 10**20))
    small = {"d": 2, "n": 1, "q": 0, r"\varepsilon": R(1, 2), r"\xi_n": 0}
    assert holds(statement, 4, small, small | {"d": 3, "n": 2, r"\xi_n": zeros[2]}, end="be the zero")
    assert chain_holds(statement.tex("If"), {"d": 3})
    assert chain_holds(statement.tex("If"), {"d": 2}) is False
    statement.says(
        "nearest to $0$",
        "$n$-th derivative",
        "some $h$ with $m > 0$ attains the bound",
        "Every derivative",
        "$u(z + th)$ by $t$ at $t = 0$",
        "For odd $n$",
    )
    assert given(statement, r"\xi_n") == 0

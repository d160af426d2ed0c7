"""Readings of the statements on geometry about what survives: symmetries, order, correlation, distance, inverse."""

import re

import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, holds, layer, part, same, term, value

R = Rational
ROWS = ((0, 1), (1, 2, 4), (1, 1, -2, 5))


def core(z, eps):
    return layer(tuple(z), eps)["u"]


@reads("two-points-attained")
def steps_that_meet_the_bound(statement):
    display, text = part(statement, "", "if and only if"), part(statement, "if and only if")
    first, second = re.search(r"either \$([^$]*)\$, or \$([^$]*)\$ and", text).groups()
    for a, b, eps in (
        ((0, 2, 4), (4, 0, 2), 2),
        ((0, 2, 4), (5, 1, 3), 2),
        ((1, -1), (-3, 3), 0),
        ((1, -1), (-3, 3), 1),
        ((1, -1), (3, -3), 0),
        ((1, 2, 4), (4, 2, 2), 0),
    ):
        one, two = layer(a, eps), layer(b, eps)
        names = {"s_a": sqrt(one["q"] + eps), "s_b": sqrt(two["q"] + eps), r"\varepsilon": eps}
        names |= {"a": Matrix(a), "b": Matrix(b), "u": lambda z, eps=eps: core(z, eps)}
        step = names["a"] - names["b"]
        bound = value(re.search(r"amplification is \$([^$]*)\$", display)[1], names)
        met = close((one["u"] - two["u"]).norm() / step.norm(), bound)
        turned = chain_holds(second, names) and chain_holds(re.search(r"\$(u\(a\) = [^$]*)\$", text)[1], names)
        centred = sum(step) == 0
        assert met == (centred and (chain_holds(first, names) or bool(turned)))
        assert chain_holds(statement.tex("inputs"), names)
    assert "Let $s_a, s_b > 0$" in statement.text
    statement.says("is centred and either", "Steps that meet the bound")


@reads("order")
def differences_survive(statement):
    (display,) = re.findall(r"\$\$ (.*?) \. \$\$", statement.text)
    ratio = re.search(r"the ratio \$([^$]*)\$ is \$([^$]*)\$", statement.text).groups()
    for z in ((1, 2, 4), (5, 0, 0, 3)):
        names = layer(z, R(1, 3), (2,) * len(z), (5,) * len(z))
        for i in range(1, len(z) + 1):
            assert chain_holds(display, names | {"i": i, "j": 2})
            more = names | {"i": i, "j": 1, "k": 1, "l": 2}
            assert chain_holds(statement.tex("where"), more)
            assert same(value(ratio[0], more), value(ratio[1], more))
        assert holds(statement, 1, names, end="For all")
        y = names["y"]
        assert same((y[2] - y[0]) / (y[0] - y[1]), R(z[2] - z[0], z[0] - z[1]))
    assert chain_holds(statement.tex("With one gain"), {"c": R(1, 2)})
    assert chain_holds(statement.tex("With one gain"), {"c": -1}) is False
    assert chain_holds(statement.tex("where"), layer((1, 1), 1, k=1, l=2)) is False
    statement.says(
        "For all $i$ and $j$", "with the same ties", "in the order of the input's", "for all coordinates and one bias"
    )


@reads("symmetry")
def the_orthogonal_matrices_that_pass_through(statement):
    equation = re.search(r"Then \$([^$]*)\$ for all", statement.text)[1]
    conditions = re.search(r"if and only if \$([^$]*)\$ or \$([^$]*)\$", statement.text).groups()
    swap, turn = sympy.eye(3)[[1, 0, 2], :], sympy.Matrix([[3, -4, 0], [4, 3, 0], [0, 0, 5]]) / 5
    mirror = sympy.eye(3) - R(2, 3) * sympy.ones(3, 3)
    listed = value(re.search(r"among them, and \$([^$]*)\$", statement.text)[1], {"I": sympy.eye(3)})
    for Q, passes in ((swap, True), (listed, True), (mirror, True), (turn, False), (sympy.eye(3), True)):
        names = layer((1, 2, 4), R(1, 3), Q=Q) | {"u": lambda z: core(z, R(1, 3))}
        always = all(chain_holds(equation, names | {"z": Matrix(z)}) for z in ((1, 2, 4), (5, 5, 5), (0, 1, 0)))
        assert always == passes
        assert any(chain_holds(condition, names) for condition in conditions) == passes
    assert [chain_holds(condition, names | {"Q": listed}) for condition in conditions] == [False, True]
    assert [chain_holds(condition, names | {"Q": swap}) for condition in conditions] == [True, False]
    assert holds(statement, 1, {r"\varepsilon": R(1, 2)}, end="be an orthogonal")
    statement.says("for all $z$ if and only if", "Permutations are among them")


@reads("correlation")
def the_product_of_two_cores(statement):
    (display,) = re.findall(r"\$\$ (.*?) \. \$\$", statement.text)
    for a, b in (((1, 2, 4), (0, 5, 1)), ((0, 1), (3, 1))):
        va, vb = layer(a, 1)["v"], layer(b, 1)["v"]
        names = {"d": len(a), "a": Matrix(a), "b": Matrix(b), r"\rho": va.dot(vb) / va.norm() / vb.norm()}
        names |= {"q_a": layer(a, 1)["q"], "q_b": layer(b, 1)["q"]}
        for eps in (R(1, 3), 2):
            assert chain_holds(display, names | {r"\varepsilon": eps, "u": lambda z, eps=eps: core(z, eps)})
        names |= {r"\varepsilon": 0, "u": lambda z: core(z, 0)}
        last = part(statement, "At $\\varepsilon")
        assert holds(statement, 2, names, start="At $\\varepsilon")
        left = value(display.split("=")[0], names)
        assert same(left, value(re.search(r"it is \$([^$]*)\$", last)[1], names))
    assert chain_holds(statement.tex("and the correlation $\\rho$, and"), {r"\varepsilon": 0})
    assert "q_a, q_b > 0$" in statement.text
    statement.says("is a correlation")


@reads("nearest-point")
def the_nearest_vector(statement):
    for z in ROWS:
        names = layer(z, 0) | {"u_0": lambda z: core(z, 0)}
        assert chain_holds(re.search(r"the core \$([^$]*)\$", statement.text)[1], names)
        nearest = names["u"]
        distance = (names["z"] - nearest).norm() ** 2
        assert close(distance, term(statement, "squared distance is", names))
        other = core(tuple(reversed(z)), 0)
        assert (names["z"] - other).norm().evalf(30) > (names["z"] - nearest).norm().evalf(30)
        mean, variance = re.search(r"with the mean \$(\d)\$ and the variance \$(\d)\$", statement.text).groups()
        assert sum(nearest) / len(z) == int(mean)
        assert same(nearest.dot(nearest) / len(z), int(variance))
        assert holds(statement, 1, names, end="Among")
    assert re.search(r"of mean (\d) and variance (\d) \|", statement.text).groups() == ("0", "1")
    assert chain_holds(statement.tex("Let"), {"q": 0}) is False
    assert chain_holds(statement.tex("Let"), {"q": R(1, 2)})
    statement.says("Among all vectors", "and the only one that is as near")


@reads("jac-determinant")
def the_determinant_on_the_plane(statement):
    for z in ROWS:
        names = layer(z, R(1, 3))
        d = len(z)
        J = names["J"]
        determinant = (J + sympy.ones(d, d) / d).det()
        assert close(determinant, term(statement, "has the determinant", names))
        assert J.rank() == term(statement, "a space of dimension", names)
        values = sorted((entry.evalf(50) for entry in J.eigenvals() if entry.evalf(50) > R(1, 10**9)), key=float)
        ratio = term(statement, "largest eigenvalue there is", names)
        assert close(values[-1] / values[0], ratio if d >= 3 else 1, R(1, 10**20))
        conditions = [chain_holds(found, names) for found in re.findall(r"if \$(d [^$]*)\$", statement.text)]
        assert conditions == [d >= 3, d == 2]
        assert holds(statement, 2, names, end="On the")
    assert chain_holds(statement.tex("2$ and"), {"q": R(1, 2), r"\varepsilon": 0})
    assert chain_holds(statement.tex("For"), {r"\varepsilon": R(1, 2)})
    statement.says("On the centred vectors", "its smallest one", "and they are equal if")


@reads("jac-pseudoinverse")
def the_inverse_on_the_plane(statement):
    (display,) = re.findall(r"\$\$ (.*?) \. \$\$", statement.text)
    left, right = display.split(" = ")
    assert left == "J^+"
    for z in ROWS:
        names = layer(z, R(1, 3))
        plus = value(right, names)
        more = names | {"J^+": plus}
        first, second = re.findall(r"Then \$([^$]*)\$ and \$([^$]*)\$", statement.text)[0]
        assert chain_holds(first, more)
        assert chain_holds(second, more)
        k = names["P"] * Matrix([1] + [0] * (len(z) - 1))
        step = value(re.search(r"first order`, is \$([^$]*)\$", statement.text)[1], more | {"k": k})
        assert close(names["J"] * step, k)
        assert close(sum(step), 0)
        assert holds(statement, 1, names, end="and")
    assert chain_holds(statement.tex("Let"), {r"\varepsilon": R(1, 2)})
    statement.says("The smallest step that changes the core by the centred vector")


@reads("invertible-no-eps")
def what_is_lost_without_epsilon(statement):
    factor = statement.tex("centred vector is")
    for a in (2, R(1, 3), -1):
        same_core = close(core((1, 2, 4), 0), core([a * x + 5 for x in (1, 2, 4)], 0))
        assert same_core == chain_holds(factor, {"a": a})
    assert not close(core((1, 2, 4), 0), core((1, 2, 5), 0))
    assert not close(core((1, 2, 4), 1), core((2, 4, 8), 1))
    assert chain_holds(statement.tex("Let"), {r"\varepsilon": 0})
    assert chain_holds(statement.tex("inputs with"), {"q": R(1, 2)})
    statement.says("if and only if the one's centred vector is")

"""Readings of the statements on which gains keep what: variance, monotonicity, the gradient, a real spectrum."""

import re

import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, given, holds, layer, term, value
from statements.sharp_bounds import X

R = Rational
INPUTS = ((1, 2, 4), (0, 5, 1), (3, 3, 0))


def variance(entries):
    mean = sum(entries) / sympy.Integer(len(entries))
    return sum((entry - mean) ** 2 for entry in entries) / len(entries)


def ratios(gain):
    """The variance after over the variance before, at inputs along each axis and between them."""
    d = len(gain)
    rows = [[int(i in (j, k)) for i in range(d)] for j in range(d) for k in range(j + 1)]
    pairs = [(core := layer(row, 1)["u"], core.multiply_elementwise(Matrix(gain))) for row in rows if len(set(row)) > 1]
    return {sympy.simplify(variance(after) / variance(before)) for before, after in pairs}


@reads("gain-isometry")
def the_list_of_gains(statement):
    inside = re.search(r"\\prod_i \(([^$]*)\)\$", statement.text)[1]
    factor = term(statement, "The variance of $\\gamma \\odot u$ is", {"c": 3})
    straying = re.search(r"gains \$c\$ and one gain \$([^$]*)\$", statement.text)[1]
    lists = [((3, -1), 1), ((-5, -1), 3), ((1, 1, -2), 1), ((-1, -1, 2), 1)]
    lists += [((3,) * (d - 1) + (value(straying, {"c": 3, "d": d}),), 3) for d in (4, 5)]
    for gain, c in lists:
        d = len(gain)
        assert ratios(gain) == {factor * R(c * c, 9)}
        p = sympy.prod(value(inside, {"x": X, r"\gamma_i": g}) for g in gain)
        assert all(abs(zero) == c for zero in sympy.real_roots(p.diff(X)))
        names = {r"\gamma": Matrix(gain), "c": c, "d": d}
        if d == 2:
            left, right = re.search(r"- \$(\\gamma_1 \+ \\gamma_2) = \\pm(\d?c)\$ for", statement.text).groups()
            assert abs(value(left, names)) == value(right, names)
        if d == 3:
            both = re.search(r", or \$(\\sum_i\\gamma_i = \d)\$ and \$([^$]*)\$, for", statement.text).groups()
            assert all(chain_holds(relation, names) for relation in both)
            assert not chain_holds(both[1], names | {r"\gamma": Matrix([1, 2, -3])})
        assert chain_holds(re.findall(r"for \$(d [^$]*)\$", statement.text)[min(d, 4) - 2], names)
    assert [chain_holds(found, {"d": 5}) for found in re.findall(r"for \$(d [^$]*)\$", statement.text)] == [0, 0, 1]
    assert len(ratios((3, 3, -5))) > 1
    assert len(ratios((1, 1, 2, 2))) > 1
    for d in (3, 4):
        assert ratios((-2,) * d) == {4}
    assert statement.text.count(r"\gamma = \pm c\mathbf{1}$, or") == 2
    assert "$d - 1$ gains $c$" in statement.text
    assert holds(statement, 2, {"d": 2, "c": 0}, {"d": 3, "c": R(1, 2)}, end="The variance")
    statement.says(
        "of every core", "for every core $u$ if and only if all zeros of $p'$ are $c$ or $-c$", "one sign for all"
    )


@reads("gain-monotone")
def monotone_or_not(statement):
    display = re.search(r"The layer is monotone, \$([^$]*)\$", statement.text)[1]

    def always(gain):
        inputs = [(7, 7, 7), (9, 8, 7), (6, 7, 7), (7, 9, 7), (1, 2, 4), (8, 7, 9)]
        bias = (1, 5, -2)
        return all(
            chain_holds(display, {"y": lambda z: layer(tuple(z), 1, gain, bias)["y"], "a": Matrix(a), "b": Matrix(b)})
            for a in inputs
            for b in inputs
        )

    assert [always(gain) for gain in ((1, 1, 1), (4, 4, 4), (0, 0, 0))] == [True] * 3
    assert [always(gain) for gain in ((1, 2, 9), (-1, -1, -1), (0, 3, 0))] == [False] * 3
    assert holds(statement, 2, {"d": 2, r"\varepsilon": R(1, 2)}, {"d": 3, r"\varepsilon": 1}, end="The layer")
    statement.says(
        "for all inputs", "if and only if all gains are equal and not negative", "Monotone only with equal gains"
    )


@reads("gain-gradient-map")
def the_function_with_the_gradient(statement):
    entries = sympy.symbols("z1:4", real=True)
    mean = sum(entries) / 3
    for z in INPUTS:
        names = layer(z, R(1, 3), (5, 5, 5), (1, -2, 3))
        function = term(
            statement,
            "that function is",
            names | {"c": 5, "z": Matrix(entries), "q": sum((x - mean) ** 2 for x in entries) / 3},
        )
        slope = Matrix([function.diff(x) for x in entries]).subs(dict(zip(entries, z, strict=True)))
        assert close(slope, names["y"])
    names = layer((4, 4, 4), 1, (1, 1, 2))
    matrix = sympy.diag(*names[r"\gamma"]) * names["J"]
    assert matrix != matrix.T
    assert chain_holds(statement.tex("With"), {r"\gamma": Matrix([3, 3]), "c": 3, r"\mathbf{1}": sympy.ones(2, 1)})
    assert holds(statement, 2, {"d": 2, r"\varepsilon": R(1, 2)}, {"d": 3, r"\varepsilon": 1}, end="The layer")
    statement.says(r"z \mapsto \gamma \odot u(z) + \beta", "if and only if all gains are equal", "A gradient only")


@reads("gain-spectrum")
def the_real_spectrum(statement):
    ends = re.search(r"between \$\\min\(([^)]*)\)/([^$]*)\$ and \$\\max\(([^)]*)\)/([^$]*)\$", statement.text).groups()
    assert ends[0] == ends[2]
    first = value(ends[0].split(",")[0])
    assert ends[0].split(",")[1].strip() == r"\gamma_1"
    for z, gain in (((1, 2, 4), (2, 0, -1)), ((3, 3, 3), (1, 2, 5)), ((0, 0, 3), (-1, -2, -2))):
        names = layer(z, R(1, 3), gain)
        matrix = sympy.diag(*gain) * names["J"]
        values = [entry.evalf(50) for entry in matrix.eigenvals(multiple=True)]
        assert all(abs(sympy.im(entry)) < R(1, 10**30) for entry in values)
        low, high = min(first, *gain) / value(ends[1], names), max(first, *gain) / value(ends[3], names)
        assert all(low.evalf(40) - R(1, 10**20) <= sympy.re(entry) <= high.evalf(40) + R(1, 10**20) for entry in values)
        assert holds(statement, 1, names, end="All")
    for z, end in (((3, 3, 3), 2), ((3, 3, 3), -2)):
        names = layer(z, R(1, 3), (end,) * 3)
        reached = {
            entry * sqrt(names["q"] + R(1, 3)) for entry in (sympy.diag(*names[r"\gamma"]) * names["J"]).eigenvals()
        }
        assert end in reached
    gain = given(statement, r"\gamma")
    for z in ((0, 1), (5, 5)):
        matrix = sympy.diag(*gain) * layer(z, 2)["J"]
        assert close(matrix * matrix, term(statement, "its square is"))
        assert not close(matrix, 0)
    without = layer((0, 1), 0)
    assert close(without["J"], 0)
    statement.says(
        "are real and lie", "If all gains are positive", "it is not: with", "$ its square is $0$ at every input"
    )
    statement.says(r"$\gamma = (1, -1)$ and $\varepsilon > 0$", "All eigenvalues", "or all are negative")

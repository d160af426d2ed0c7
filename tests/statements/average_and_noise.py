"""Readings: the average amplification of a random step, and the noise in the product of gradient and centred vector."""

import re

import sympy
from sympy import Matrix, Rational

from statements import reads
from statements.evaluate import chain_holds, close, holds, layer, same, term, value

R = Rational


@reads("sens-average")
def the_average_amplification(statement):
    first, second = re.findall(r"\$\$ (.*?) [.,] \$\$", statement.text)
    for z, eps in (((0, 1), 3), ((1, 2, 4), R(1, 3)), ((7, 7, 7), 2)):
        names = layer(z, eps, (3, -1, 2)[: len(z)])
        d = len(z)
        names[r"\tau"] = value(re.search(r"\\tau = ([^$]*)\$", statement.text)[1], names)
        J = names["J"]
        names["A"] = sum(entry**2 for entry in J) / d
        assert chain_holds(first, names)
        full = sympy.diag(*names[r"\gamma"]) * J
        assert same(sum(entry**2 for entry in full) / d, value(second, names))
        assert holds(statement, 3, names, end="For a direction")
        # over a set of directions whose second moments are those of the sphere: the axes, both ways
        axes = [sign * Matrix([int(i == j) for i in range(d)]) for j in range(d) for sign in (1, -1)]
        assert same(sum((J * w).norm() ** 2 for w in axes) / len(axes), names["A"])
    assert chain_holds(statement.tex("Let"), {"d": 3})
    assert re.search(r"\$w\$ of length \$(\d)\$ drawn at random, all directions", statement.text)[1] == "1"
    statement.says("one $d$-th of the sum of the squares of all entries of $J$")


@reads("vjp-noise")
def the_noise_of_the_product(statement):
    (display,) = re.findall(r"\$\$ (.*?) , \$\$", statement.text)
    left, right = re.sub(r"\\Bigl\||\\Bigr\|", "", display).split(r"\;\le\;")
    condition = statement.tex("0$ and")
    small = re.search(r"what cancels in it: \$([^$]*)\$", statement.text)[1]
    for z, g, eta in (((1, 2, 6), (1, 0, 0), R(1, 2**8)), ((1, 2, 60), (3, -1, 2), R(1, 2**24))):
        names = layer(z, R(1, 100), **{r"\hat g": Matrix(g), r"\zeta": eta})
        names["dz"] = names["J"] * Matrix(g)
        terms = [a * b for a, b in zip(names["dz"], names["v"], strict=True)]
        worst = [eta if (entry >= 0) == True else -eta for entry in terms]  # noqa: E712 - a relation of SymPy
        more = names | {r"\delta": Matrix(worst)}
        assert close(abs(value(left, more)), value(right, more))
        assert chain_holds(statement.tex("rounded entries").replace(r"\delta_i", "e"), {"e": -eta, r"\zeta": eta})
        assert chain_holds(statement.tex("Let"), names)
        reached = chain_holds(condition, names)
        assert reached == (names["q"] + R(1, 100) >= R(1, 100) / eta)
        assert chain_holds(small, names) == reached
    assert chain_holds(statement.tex("If"), names)
    assert term(statement, "the exact gradient and", {"dz": Matrix([2]), "i": 1, r"\delta": Matrix([R(1, 4)])}) == R(
        5, 2
    )
    statement.says("and for some $\\delta_i$ it is equal", "no larger than one rounding")

"""Readings of the statements on weight normalization and on the scales that each layer ignores."""

import sympy
from shared_sets import signed_square
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.batch_norm_or_layer_norm import EPS, conditions, core, found, mean
from statements.evaluate import chain_holds, close, given, holds, part, term, value

R = Rational


@reads("wn-definition")
def weight_normalization(statement):
    v = Matrix([3, 4, 12])
    names = {"a": v, "s": 5, "k": 3, "w": 5 * v / 13, "n_0": lambda x: x / sqrt(x.dot(x) / 3)}
    assert chain_holds(statement.tex("is written"), names)
    assert chain_holds(statement.tex("used on weights:"), names)
    assert chain_holds(statement.tex("with a vector"), names)
    assert not chain_holds(statement.tex("with a vector"), {"a": Matrix([0, 0, 0])})
    assert chain_holds(statement.tex("RMSNorm's formula at"), {r"\varepsilon": 0})


@reads("wn-gradient")
def the_gradient_of_weight_normalization(statement):
    symbols = Matrix(sympy.symbols("v1:4", real=True))
    p, v, g, at = Matrix([1, -2, 5]), Matrix([3, 4, 12]), R(5), {}
    at = dict(zip(symbols, v, strict=True))
    loss = g * p.dot(symbols) / sqrt(symbols.dot(symbols))
    by_v = Matrix([loss.diff(x).subs(at) for x in symbols])
    by_g = p.dot(v) / 13
    names = {"p": p, "a": v, "s": g, "c": 3, r"\eta": R(1, 7), r"\partial\ell/\partial a": by_v}
    names |= {r"\frac{\partial\ell}{\partial s}": by_g, r"\frac{\partial\ell}{\partial a}": by_v}
    assert holds(statement, 2, names, start="$$", end="The second")
    step = v - R(1, 7) * by_v
    assert close(term(statement, "the squared length $\\|a\\|^2$ into", names), step.dot(step))
    assert close(term(statement, "turns the squared length", names), v.dot(v))
    row, length, by_w = given(statement, "a"), given(statement, "s"), given(statement, "p", 1)
    first, second = found(statement, r"the gradients are \$([^$]*)\$ and \$([^$]*)\$")
    unit = row / row.norm()
    assert given(statement, "w") == length * unit
    assert (value(first), value(second)) == (by_w.dot(unit), length / row.norm() * (by_w - by_w.dot(unit) * unit))
    assert conditions(part(statement, "with $c >", "leaves"), {"c": 3})
    statement.says("is orthogonal to $a$", "never shortens", "leaves $w$ alone")


@reads("wn-reparametrization")
def what_is_a_reparametrization(statement):
    statement.says("Weight normalization makes an affine function of $x$, and every affine function is obtained.")
    statement.says("with stored statistics and gains other than $0$ makes an affine function of $x$, and every affine")
    statement.says("if and only if each set has one entry, and is then $0$", "RMSNorm is never one", "are no reparam")
    assert core([7], 1)[0] == 0
    assert core([2, 0], 1)[0] != 2 * core([1, 0], 1)[0]
    assert conditions(part(statement, "over sets, $", "is an affine"), EPS)


@reads("wn-batch")
def batch_normalization_as_weight_normalization(statement):
    X, w, b = Matrix([[1, 2], [3, 0], [2, 7]]), Matrix([2, -5]), 4
    centre = Matrix([mean(list(X[:, j])) for j in range(2)])
    away = X - sympy.ones(3, 1) * centre.T
    sigma = away.T * away / 3
    u = core(X * w + b * sympy.ones(3, 1), R(1, 2))
    for i in range(3):
        names = {"w": w, "x": X[i, :].T, r"\bar x": centre, r"\Sigma": sigma, r"\varepsilon": R(1, 2)}
        assert close(term(statement, "and bias $b$ is", names), u[i])
    round_one = {"w": w, "x": Matrix([1, 2]), r"\bar x": Matrix([0, 0]), "s": R(1, 3), r"\sigma": 3, "I": sympy.eye(2)}
    round_one |= {r"\Sigma": 9 * sympy.eye(2)}
    assert close(term(statement, "It is", round_one), w.dot(Matrix([1, 2])) / sqrt((w.T * round_one[r"\Sigma"] * w)[0]))
    assert chain_holds(statement.tex("and then"), round_one)
    assert chain_holds(statement.tex("if and only if"), round_one)
    assert chain_holds(statement.tex("if and only if", 1), round_one)
    assert chain_holds(statement.tex("$s$ for every $w$ with"), round_one)
    assert chain_holds(statement.tex("s = 1/\\sigma$, or"), {r"\Sigma": sympy.zeros(2, 2)})
    assert holds(statement, 1, {r"\varepsilon": 0}, start="At $", end="it is weight")
    assert value(statement.tex("of the centred input with"), round_one) == 3 * w.norm()
    statement.says("for every $w$ with", "and every $x$ if and only if")


@reads("bn-invisible")
def the_changes_that_a_core_does_not_see(statement):
    z = (1, 2, 5)
    assert close(core([3 * x + 4 for x in z], 0), core(z, 0))
    for scales, shifts in (((1, 1, 2), (0, 0, 0)), ((1, 1, 1), (0, 0, 3))):
        changed = [a * x + b for a, x, b in zip(scales, z, shifts, strict=True)]
        assert not close(core(changed, 0), core(z, 0))
        assert (
            value(statement.tex("the core of the entries"), {"a_i": scales[2], "z_i": z[2], "b_i": shifts[2]})
            == changed[2]
        )
    assert not close(core([3 * x for x in z], 1), core(z, 1))
    assert conditions(part(statement, "Let a set have $n", "entries"), {"n": 2})
    assert not conditions(part(statement, "Let a set have $n", "entries"), {"n": 1})
    assert conditions(part(statement, "and let $a_i", "and $b_i"), {"a_i": R(1, 2)})
    assert not conditions(part(statement, "and let $a_i", "and $b_i"), {"a_i": 0})
    first, second = found(statement, r"At \$([^$]*)\$ the core.*At \$([^$]*)\$ it is so")
    assert chain_holds(first, {r"\varepsilon": 0})
    assert chain_holds(second, EPS)
    assert not chain_holds(second, {r"\varepsilon": 0})
    assert chain_holds(statement.tex("it is so if and only if all"), {"a_i": 1})
    statement.says("wherever both are defined, if and only if all $a_i$ are equal and all $b_i$ are equal")
    statement.says("if and only if all $a_i = 1$ and all $b_i$ are equal")


@reads("bn-rows")
def which_rows_may_be_scaled(statement):
    assert conditions(part(statement, "by $\\delta_c", ". At"), {r"\delta_c": R(1, 2)})
    assert holds(statement, 1, {r"\varepsilon": 0}, start="At $", end=", for $z$")
    for letter in "SC":
        condition = found(statement, rf"with \$({letter} [^$]*)\$")[0]
        assert chain_holds(condition, {letter: 2})
        assert not chain_holds(condition, {letter: 1})
    column, row = [1, 4, 2], [1, 5, 2]
    assert all(signed_square(column, i, 0) == signed_square([7 * x for x in column], i, 0) for i in range(3))
    assert signed_square(row, 0, 0) != signed_square([1, 50, 6], 0, 0)
    statement.says("change no core", "if and only if $\\delta$ is the same in all channels of each group")
    statement.says("if and only if it is the same in all channels", "does not see the length of any row")

"""Readings of the verdicts on attention, AdaLN, and what matrices and norms can compute."""

import re
from itertools import pairwise

import sympy
from mpmath import mp
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.attention_and_expressivity import core, found, projected, rms, turned
from statements.evaluate import chain_holds, close, layer, operator_norm, same, term, value

R = Rational
T = sympy.Symbol("t", real=True)


@reads("settled-qk-bound")
def the_norm_decides(statement):
    condition = statement.tex("only if**").replace(r"\operatorname{diag}(\gamma \odot \gamma')", "D")
    for kappa, true in (((1, 1, 1), True), ((2, 2, 2), False), ((5, -5), True)):
        names = layer((0,) * len(kappa), 1) | {"D": sympy.diag(*kappa)}
        assert chain_holds(condition, names) == true == (operator_norm(projected(kappa)) <= 1)
    first, second = term(statement, "this norm"), term(statement, "and gains of $1$, and")
    d = int(found(statement, r"\$d = (\d+)\$"))
    gains = [int(n) for n in re.findall(r"gains of \$(\d)\$", statement.text)]
    assert gains == [1, 1, 3]
    assert (first, second) == (sqrt(d), sqrt(d) * gains[2] ** 2)
    statement.says(
        "in each head, without biases", "every logit is below √d", "The supremum is $\\sqrt d$ times this norm"
    )


@reads("settled-qk-heads")
def the_bound_of_one_head_of_several(statement):
    together, alone, heads, d = (
        int(found(statement, pattern))
        for pattern in (r"as large, \$(\d+)\$", r"not \$(\d+)\$ for", r"for \$(\d+)\$ heads", r"of \$(\d+)\$ coord")
    )
    assert alone == sqrt(d)
    assert together == heads * alone
    assert found(statement, r"and gains of \$(\d)\$") == "1"
    statement.says("with $H$ heads", "is $H$ times as large")
    statement.says("Only the mean size")


@reads("settled-qk-rope")
def norm_and_rotation(statement):
    z, quarter = Matrix([3, 1]), turned(sympy.pi / 2)
    for gain in ((2, 2), (1, 2)):
        D = sympy.diag(*gain)
        assert close(D * rms(quarter * z, 1), quarter * D * rms(z, 1)) == (gain[0] == gain[1])
    assert not close(core(quarter * z, 1), quarter * core(z, 1))
    assert found(statement, r"for gains other than \$(\d)\$") == "0"
    statement.says("the norm is RMSNorm", "are equal", "no multiples of π", "only with those that mix equal gains")
    statement.says("only with orthogonal matrices that keep $\\mathbf{1}$ up to its sign")


@reads("settled-key-bias")
def a_bias_on_the_keys(statement):
    a, h = Matrix([1, 2, 0]), Matrix([3, -1, 2])
    keys = [Matrix([1, 0, 1]), Matrix([0, 1, 0])]
    assert len({a.dot(k + h) - a.dot(k) for k in keys}) == 1
    normed = [a.dot(core(k + h, 1)) - a.dot(core(k, 1)) for k in keys]
    assert not close(*normed)
    statement.says(
        "added to every key changes no attention weight", "does change the weights", "the same number to all logits"
    )


@reads("settled-norm-twice")
def the_first_of_two_norms(statement):
    W = Matrix([[1, 2, 0], [0, 1, 3], [1, 1, 1]])
    zero = int(found(statement, r"has the epsilon \$(\d)\$"))
    assert zero == 0
    names = layer((-1, 0, 1), R(1, 3))
    assert chain_holds(found(statement, r"\(or \$([^$]*)\$"), names)
    assert close(core(W * names["u"], 7), core(W * names["v"], 7))
    names = layer((1, 2, 4), R(1, 3))
    assert not close(core(W * names["u"], 7), core(W * names["v"], 7))
    assert close(core(W * names["u"], 7), core(W * names["v"], 7 * term(statement, "of the second by", names)))
    statement.says("is so up to the epsilon", "changes no output")


@reads("settled-win")
def which_keys_win(statement):
    assert core((2, 2, 2), 1) == (core((1, -1, 0), 1) + core((-1, 1, 0), 1)) / 2
    equal, positive = re.findall(r"[At|ith] \$(\\varepsilon [^$]*)\$", statement.text)[:2]
    assert chain_holds(equal, {r"\varepsilon": 0})
    assert chain_holds(positive, {r"\varepsilon": 1})
    assert not chain_holds(positive, {r"\varepsilon": 0})
    assert found(statement, r"without gains of \$(\d)\$") == "0"
    assert found(statement, r"even at \$\\varepsilon = (\d)\$") == "0"
    statement.says("none of them is a weighted mean", "this is always so", "may be such a mean")


@reads("settled-adaln")
def what_scale_and_shift_absorb(statement):
    ones = sympy.ones(3, 1)
    names = layer((1, 2, 4), 1, (2, 3, 1), (1, 0, -1), s=Matrix([2, 0, -1]), t=Matrix([5, 1, 2]), E=ones)
    scale = found(statement, r"\$s' = ([^$]*)\$").replace("(1 + s) - 1", "(E + s) - E")
    shift = found(statement, r"\$t' = ([^$]*)\$").replace("(1 + s)", "(E + s)")
    u, gain, bias = names["u"], names[r"\gamma"], names[r"\beta"]
    twice = (ones + names["s"]).multiply_elementwise(gain.multiply_elementwise(u) + bias) + names["t"]
    assert close(twice, (ones + value(scale, names)).multiply_elementwise(u) + value(shift, names))
    assert re.search(r"at the condition \$0\$ the scale is \$1\$", statement.text)
    statement.says("with learned constants", "Without the constants this is not so", "add no functions")


@reads("settled-gate")
def the_gradient_of_a_gate(statement):
    gate, weight = sympy.symbols("gate weight")
    e, u = 3, 5
    gradient = sympy.diff(e * gate * weight * u, gate).subs(gate, 0)
    stated = statement.tex("has the gradient").replace("F(x)", "F").replace(r"\odot", r"\cdot")
    assert gradient.subs(weight, 1) == value(stated, {"e": e, "F": u})
    assert gradient.subs(weight, 0) == int(found(statement, r"own output is \$(\d)\$"))
    statement.says("only gradients of 0", "only if the block's own output", "learns")


@reads("settled-piecewise")
def the_core_bends(statement):
    u = core(Matrix([1 + T, 2, 4]), R(1, 2))
    assert all(sympy.diff(entry, T, 2).subs(T, 0) != 0 for entry in u)
    d = int(found(statement, r"and \$d = (\d)\$ alone"))
    eps = int(found(statement, r"At \$\\varepsilon = (\d)\$"))
    assert {tuple(core([5 + x] + [5] * (d - 1), eps)) for x in (1, 3)} == {(1, -1)}
    statement.says("On no segment", "unless it is $0$ on all of it", "an open set")


@reads("settled-one-norm")
def a_value_twice(statement):
    labels = [int(n) for n in found(statement, r"values \$(\d, \d, \d, \d)\$").split(", ")]
    assert sum(a != b for a, b in pairwise(labels)) == 3
    y = sympy.Symbol("y")
    assert (
        sympy.Poly((2 + 3 * T) ** 2 - y**2 * (5 + T + T**2), T).degree()
        == {"twice": 2}[found(statement, r"at most (\w+)")]
    )
    statement.says("is constant or takes each value at most twice", "whatever the width", "Two times suffice")


@reads("settled-universal")
def a_pair_is_a_sigmoid(statement):
    names = {"t": 3, r"\varepsilon": R(1, 3)}
    pair = value(found(statement, r"A pair \$([^$]*)\$"), names)
    entry = value(found(statement, r"becomes \$\\pm ([^$]*)\$"), names)
    assert close(core(pair, R(1, 3)), Matrix([entry, -entry]))
    assert value(found(statement, r"labels need \$([^$]*)\$ pairs"), {"m": 4}) == 3
    statement.says("pairs at most", "in groups of two", "a bounded closed set")


@reads("settled-tanh")
def an_algebraic_sigmoid(statement):
    d, z = 4, (5, 1, 2, 2)
    others = layer(z[1:], R(1, 3))
    names = {"d": d, "t": z[0] - others[r"\mu"], r"\omega": sqrt(d * others["q"] + R(d**2, d - 1) * R(1, 3))}
    assert same(core(z, R(1, 3))[0], term(statement, "It is", names))
    percent = mp.mpf(found(statement, r"misses by \$([\d.]+)\$ percent"))
    t = mp.mpf("0.5")
    assert abs(100 * (t / mp.sqrt(t**2 + 1) - mp.tanh(mp.mpf("0.8541") * t)) - percent) < mp.mpf("0.05")
    statement.says("one factor for all rows", "no coordinate in it acts", "the row's own")

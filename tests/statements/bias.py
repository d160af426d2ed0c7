"""Readings of the statements on the bias."""

import numpy as np
import sympy
from sympy import Integer, Matrix, Rational, Symbol

from statements import reads
from statements.settings import SETTINGS, core, setting
from statements.terms import check, check_relations, evaluate, given, same, value, words

EXAMPLE = {"z": Matrix([3, 3, 3]), r"\beta": Matrix([1, -1, 2])}


def at_a_constant_input(gain, bias):
    return setting(EXAMPLE["z"], 1, gain, bias)


@reads("bias-constant-input")
def the_bias_alone_is_left(statement):
    z, bias = given(statement, "z", {}), given(statement, r"\beta", {})
    assert len(set(z)) == 1
    for eps in (Rational(1, 3), 2):
        for gain in ([1, 2, 3], [0, -1, 5]):
            names = setting(z, eps, gain, list(bias))
            check(statement, "every", names)
            check(statement, "the output is", names)
            assert len(gain) == int(words(statement, r"\\gamma \\in \\mathbb\{R\}\^(\d)")[0])
    statement.says(r"every $\varepsilon", r"every $\gamma", "exactly")


@reads("bias-mean")
def the_mean_of_the_output(statement):
    y = at_a_constant_input([1, 2, 3], list(EXAMPLE[r"\beta"]))["y"]
    assert value(statement, "has the mean", {}) == sum(y) / Integer(3)
    for names in SETTINGS:
        assert same(value(statement, "its core has the mean", {}), sum(names["u"]) / names["d"])
        assert same(value(statement, "output's mean is", names), sum(names["y"]) / names["d"])
    equal = setting((1, 2, 4), 1, [3, 3, 3], [1, 5, 0])
    assert same(sum(equal["y"]) / 3, sum(equal[r"\beta"]) / 3)
    assert not same(sum(SETTINGS[0]["y"]) / 3, sum(SETTINGS[0][r"\beta"]) / 3)
    statement.says("need not be zero", "with equal gains it is the mean of")


@reads("bias-offset")
def core_gain_and_bias(statement):
    for names in SETTINGS:
        check(statement, "coordinate by coordinate:", names)
    assert given(statement, r"\beta", {}) == 0


@reads("bias-optional")
def without_a_bias(statement):
    for names in SETTINGS:
        check(statement, "without it", {**names, "y": names["y"] - names[r"\beta"]})
    same_function = given(statement, r"\beta", {})
    assert same_function == 0
    statement.says("No bias is the same function", "`bias=False` leaves out $\\beta$ alone")


@reads("bias-gradient")
def the_gradient_of_half_the_square(statement):
    names = at_a_constant_input([1, 2, 3], list(EXAMPLE[r"\beta"]))
    lengths = sympy.symbols("y1:4", real=True)
    loss = evaluate(statement.tex("For").split(" = ")[1], {"y": Matrix(lengths)})
    g = Matrix([loss.diff(y) for y in lengths]).subs(dict(zip(lengths, names["y"], strict=True)))
    assert same(value(statement, "the example <bias-constant-input>` it is", {}), g)
    for names in SETTINGS:
        for i in range(1, names["d"] + 1):
            weights = Matrix([Symbol(f"w{k}") for k in range(1, names["d"] + 1)])
            bias = sympy.symbols(f"b1:{names['d'] + 1}")
            by_bias = (weights.T * (names["u"] + Matrix(bias)))[0].diff(bias[i - 1])
            check(
                statement, "At one position", {"i": Integer(i), r"\partial\ell/\partial\beta_i": by_bias, "g": weights}
            )
    statement.says("epsilon enter through $g$ alone")


@reads("bias-positions")
def the_sum_over_positions(statement):
    gradients = Matrix([2, -5, 7])
    names = {"N": Integer(3), "d": Integer(3), r"\partial\ell/\partial\beta": sum(gradients)}
    text = statement.tex("is the sum of theirs:").replace("g^{(n)}", "g_n")
    first, last = words(statement, r"\\sum_\{n=(\d)\}\^(\w)")
    assert (first, last) == ("1", "N")
    check_text(text.replace("_{n=1}^N", "_n"), {**names, "g": gradients})
    statement.says(r"$n = 1, \dots, N$")


def check_text(text, names):
    assert " = " in text
    left, right = text.split(" = ")
    assert same(evaluate(left, names), evaluate(right, names))


@reads("bias-persists")
def a_shift_before_and_after(statement):
    for names in SETTINGS:
        for c in (3, Rational(-1, 2)):
            shifted = {**names, "c": sympy.sympify(c), "b": c * names[r"\mathbf{1}"]}
            check(statement, "Let $c$ be a number and", shifted)
            check(statement, "changes nothing:", shifted)
            check(statement, "for every input, and", shifted)
            moved = setting(names["z"], names[r"\varepsilon"], list(names[r"\gamma"]), list(names[r"\beta"] + shifted["b"]))
            assert same(moved["y"] - names["y"], shifted["b"])
    statement.says("before normalization, changes nothing", "for every input", "is no exception")


@reads("bias-input-jacobian")
def the_derivative_by_the_input(statement):
    for names in SETTINGS:
        derivative = Matrix(
            [[g * names["J"][i, j] for j in range(names["d"])] for i, g in enumerate(names[r"\gamma"])]
        )
        assert same(value(statement, "The derivative of $y$ by $z$ is", names), derivative)
        other = setting(names["z"], names[r"\varepsilon"], list(names[r"\gamma"]), [9] * names["d"])
        moved = [[n[r"\gamma"].multiply_elementwise(core(1, z)) + n[r"\beta"] for z in (n["z"], 2 * n["z"])] for n in (names, other)]
        assert same(moved[0][0] - moved[0][1], moved[1][0] - moved[1][1])
    statement.says(r"for every $\beta$", "and every bound on it", "row $i$ times $\\gamma_i$", r"same with every $\beta$")


@reads("bias-ex-mean")
def which_biases_leave_the_mean_zero(statement):
    gain = value(statement, "same for", {r"\gamma": Integer(0)}) if False else given(statement, r"\gamma", {})
    assert gain == given(statement, r"\gamma", {}, 1)
    z, eps = value(statement, "for a constant input", {}) if False else None, None
    z, eps = value(statement, "For a constant input it is", {}, 1), given(statement, r"\varepsilon", {})
    u = core(eps, z)
    assert same(value(statement, "at $", {}) if False else value(statement, "it is", {}, 0) * 0 + gain.dot(u) / 3, gain.dot(u) / 3)

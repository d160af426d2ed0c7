"""Readings of the statements on the bias."""

import numpy as np
import sympy
from sympy import Integer, Matrix, Rational, Symbol

import lnbook
from statements import reads
from statements.exact import mean
from statements.settings import SETTINGS, VARIED, core, setting
from statements.terms import check, computed_below, evaluate, given, relations, same, value, words

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
    statement.says("A layer without a bias computes the same", "it moves", "`bias=False` leaves out $\\beta$ alone")


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
            moved = setting(
                names["z"], names[r"\varepsilon"], list(names[r"\gamma"]), list(names[r"\beta"] + shifted["b"])
            )
            assert same(moved["y"] - names["y"], shifted["b"])
    statement.says("before normalization, changes nothing", "for every input", "is no exception")


@reads("bias-input-jacobian")
def the_derivative_by_the_input(statement):
    for names in SETTINGS:
        derivative = Matrix([[g * names["J"][i, j] for j in range(names["d"])] for i, g in enumerate(names[r"\gamma"])])
        assert same(value(statement, "The derivative of $y$ by $z$ is", names), derivative)
        other = setting(names["z"], names[r"\varepsilon"], list(names[r"\gamma"]), [9] * names["d"])
        moved = [
            [n[r"\gamma"].multiply_elementwise(core(1, z)) + n[r"\beta"] for z in (n["z"], 2 * n["z"])]
            for n in (names, other)
        ]
        assert same(moved[0][0] - moved[0][1], moved[1][0] - moved[1][1])
    statement.says(
        r"for every $\beta$", "and every bound on it", "row $i$ times $\\gamma_i$", r"same with every $\beta$"
    )


@reads("bias-ex-mean")
def which_biases_leave_the_mean_zero(statement):
    gain = given(statement, r"\gamma", {})
    assert gain == given(statement, r"\gamma", {}, 1)
    assert len(set(gain)) > 1
    constant = setting((3, 3, 3), 2, list(gain), [0, 0, 0])
    other = setting(
        value(statement, "For a constant input it is", {}, 1), given(statement, r"\varepsilon", {}), list(gain)
    )
    assert same(value(statement, "For a constant input it is", {}), mean(constant["y"]))
    assert same(value(statement, "For a constant input it is", {}, 3), mean(other["y"]))
    assert not same(mean(constant["y"]), mean(other["y"]))
    zero = value(statement, "does the output have mean", {})
    for bias in ([1, -1, 0], [2, 0, 0]):
        names = setting((1, 2, 4), 1, [5, 5, 5], bias)
        (left, _, right, _), *_ = relations(statement.tex("exactly those with"), names)
        assert same(left, right) == same(mean(names["y"]), zero) == (sum(bias) == 0)
    check(statement, "exactly those with", setting((1, 2, 4), 1, [5, 5, 5], [1, -1, 0]))
    statement.says(
        "All gains are equal", "for every input", "there is none", "cannot cancel them all", "the mean of $\\beta$"
    )


@reads("bias-ex-cancel")
def the_bias_that_cancels(statement):
    for names in SETTINGS:
        bias = evaluate(statement.tex("````").split(" = ")[1], names)
        assert same(names[r"\gamma"].multiply_elementwise(names["u"]) + bias, value(statement, "makes the output", {}))
    check(statement, "````", {**names, r"\beta": bias})
    constant = setting((3, 3, 3), 1, [5, -2, 7])
    assert same(constant["y"], value(statement, "It is", {}))
    assert value(statement, "has to be", {}) == value(statement, "coordinate is not", {}) == 0
    check(statement, "everywhere. For", {"d": Integer(3)})
    assert all(entry != 0 for entry in core(1, [0, 1]))
    one = given(statement, "d", {})
    alone = setting([4] * one, 1, [-3] * one, [0] * one)
    assert same(alone["y"], value(statement, "the core is always", {}))
    gain, bias = given(statement, r"\gamma", {}), given(statement, r"\beta", {}, 1)
    assert gain == bias == given(statement, r"\beta", {}, 2) == 0
    statement.says(
        "One $\\beta$ for all inputs needs", "for all inputs?", "the same for all of them", r"for every $\gamma$"
    )


@reads("bias-ex-step")
def one_step_of_descent(statement):
    eta = given(statement, r"\eta", {})
    names = {**at_a_constant_input([1, 2, 3], list(EXAMPLE[r"\beta"])), r"\eta": eta}
    y = Matrix(sympy.symbols("y1:4", real=True))
    loss = evaluate(statement.tex("with").split(" = ")[1], {"y": y})

    def at(place):
        return loss.subs(dict(zip(y, place, strict=True)))

    gradient = Matrix([loss.diff(entry) for entry in y]).subs(dict(zip(y, names["y"], strict=True)))
    names |= {r"\partial\ell/\partial\beta": gradient, "g": gradient}
    names[r"\partial\ell/\partial\gamma"] = gradient.multiply_elementwise(names["u"])
    assert same(
        names[r"\beta"] - eta * gradient,
        evaluate(statement.tex("take one gradient step").split(r"\leftarrow")[1], names),
    )
    check(statement, "````", names)
    check(statement, "becomes", names)
    before, after = value(statement, "The loss falls from", {}), value(statement, "The loss falls from", {}, 1)
    assert (before, after) == (at(names["y"]), at(names["y"] - eta * gradient))
    check(statement, "by the factor", names)
    assert evaluate(statement.tex("by the factor").split(" = ")[1], {}) == after / before
    check(statement, "stays as it is:", names)
    statement.says("The gain stays as it is", "What does the same step do to $\\gamma$?")


@reads("bias-wrong-the-output-has-a-mean-near")
def the_moments_before_training(statement):
    gain, bias = given(statement, r"\gamma", SETTINGS[0]), given(statement, r"\beta", {})
    names = setting((1000, 2000, 4000), Rational(1, 100), list(gain), [bias] * 3)
    assert mean(names["y"]) == 0
    deviation = sympy.N(sympy.sqrt(mean([entry**2 for entry in names["y"]])))
    assert 0.999 < deviation < 1
    assert [int(n) for n in words(statement, r"mean near (\d) and a standard deviation near (\d)")] == [0, 1]
    with_ones = setting((1, 2, 4), 1, [1, 1, 1], list(given(statement, r"\beta", SETTINGS[0], 1)))
    assert same(mean(with_ones["y"]), value(statement, "the mean is", {}))


@reads("bias-wrong-re-centring-gets-rid-of-the")
@reads("shift-invariance-wrong-re-centring-gets-rid-of-the")
def what_centring_leaves_of_a_bias(statement):
    names = setting((0, 0, 0), 1)
    gone, left = given(statement, "b", {}), given(statement, "b", {}, 1)
    assert same(names["P"] * gone, Integer(0))
    assert len(set(left)) == 2
    assert sum(left) == max(left) == 1
    assert same(names["P"] * left, left - mean(left) * value(statement, "along", names))
    assert any("only" in word.lower() for word in words(statement, r"(mean only|Only the component)"))
    computed_below(statement, gone, left)


@reads("bias-wrong-gain-and-bias-have-one-entry")
def one_entry_for_each_coordinate(statement):
    layer = lnbook.layer_norm(np.ones((5, 3)), gain=np.ones(3), bias=np.zeros(3))
    assert layer.shape == (5, 3)
    statement.says(
        "one entry for each normalized coordinate, the same at all positions", "axes that are *not* normalized"
    )


@reads("bias-wrong-sum-the-gradient-in-whatever-format")
def sums_one_by_one(statement):
    bits, count, bfloat_end = (value(statement, "bfloat16, which has", {}, k) for k in range(3))
    next_one, rounds_to, half_end = (value(statement, "because", {}, k) for k in range(3))

    def ends_at(significant):
        total = 0
        while total < 10**5 and rounded(total + 1, int(significant)) != total:
            total = rounded(total + 1, int(significant))
        return total

    assert min(ends_at(bits), count) == bfloat_end == rounds_to == next_one - 1
    computed_below(statement, count)
    assert ends_at(np.finfo(words(statement, r"in (float\d+) the sum ends")[0]).nmant + 1) == half_end
    statement.says(r"$256 + 1$ rounds to")


def rounded(number, significant):
    """A whole number rounded to so many binary digits, ties to even."""
    spacing = 2 ** max(number.bit_length() - significant, 0)
    return round_half_even(number, spacing) * spacing


def round_half_even(number, spacing):
    low, rest = divmod(number, spacing)
    return low + (2 * rest > spacing or (2 * rest == spacing and low % 2))


@reads("bias-wrong-gain-and-bias-can-be-moved")
def moved_into_the_layer_after(statement):
    for names in SETTINGS:
        d = int(names["d"])
        more = {**names, "W": Matrix(2, d, range(1, 2 * d + 1)), "b": Matrix([3, -5])}
        check(statement, "the one *after*:", more)
    one, minus, bias = (
        value(statement, "and all gains are", {}),
        value(statement, "or all are", {}),
        given(statement, r"\beta", {}),
    )
    for gain in (one, minus):
        for names in VARIED:
            turned = core(names[r"\varepsilon"], gain * names["z"])
            assert same(turned, gain * names["u"] + bias * names[r"\mathbf{1}"])
    assert one > minus
    assert not same(core(1, [2, 4, 8]), 2 * core(1, [1, 2, 4]))
    assert same(value(statement, "the core has mean", {}), mean(names["u"]))
    assert mean(SETTINGS[0]["y"]) != 0
    statement.says("need not", "in general it cannot")


@reads("bias-ex-read")
def the_bias_read_at_a_constant_row(statement):
    bias = given(statement, r"\beta", {})
    assert given(statement, "y", {}) == bias
    rows = [value(statement, "for the rows", {}, number) for number in range(2)]
    assert given(statement, "d", {}) == len(bias)
    for row in (*rows, Matrix([0, 0, 0])):
        for gain, eps in (([9, -4, 2], 1), ([0, 1, 3], Rational(1, 7))):
            assert same(setting(row, eps, gain, list(bias))["y"], bias)
    assert same(setting(rows[0], 1)["u"], Matrix([1, 1, 1]) * value(statement, "row the core is", {}))
    statement.says("for every $\\gamma$ and every $\\varepsilon > 0$", "All three rows are constant")


@reads("bias-ex-project")
def the_folded_matrix(statement):
    for names in SETTINGS:
        d = int(names["d"])
        W, b = Matrix(2, d, range(1, 2 * d + 1)), Matrix([3, -5])
        more = {**names, "W": W, "b": b, "W'": W * sympy.diag(*names[r"\gamma"])}
        more["b'"] = W * names[r"\beta"] + b
        check(statement, "such that", more)
        check(statement, "````", more)
        check(statement, "````", more, 1)
        check(statement, "and note that", more)
    column = int(words(statement, r"let \$\\gamma_(\d) =")[0])
    assert words(statement, r"what can\s*\$\\beta_(\d)\$") == (str(column),)
    assert words(statement, r"With \$\\gamma_(\d) =") == (str(column),)
    gain = Matrix([5, -2, 7])
    gain[column - 1] = given(statement, r"\gamma_2", {})
    W = Matrix(2, 3, range(1, 7))
    assert set((W * sympy.diag(*gain))[:, column - 1]) == {value(statement, "of $W'$ is", {})}
    assert W * Matrix([0, 11, 0]) == 11 * W[:, 1]
    statement.says("the second column of $W'$", "the same for every input", "adds $\\beta_2$ times the second column")

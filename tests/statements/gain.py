"""Readings of the statements on the gain: the numbers and terms of the text beside exact arithmetic."""

import re

import exact
import numpy as np
import sympy
from sympy import Integer, Matrix, Rational, Symbol, sqrt

from statements import reads
from statements.exact import mean, output, variance
from statements.settings import SETTINGS, THREE, VARIED, core, setting
from statements.terms import (
    approximately,
    check,
    computed_below,
    evaluate,
    given,
    holds,
    related,
    relations,
    same,
    value,
    words,
)


@reads("gain-example")
def each_number_of_the_example(statement):
    z, eps, gain = statement.value("z"), statement.value(r"\varepsilon"), statement.value(r"\gamma")
    u = tuple(exact.core(z, eps))
    assert (statement.value(r"\mu"), statement.value("q"), statement.value("u")) == (mean(z), variance(z), u)
    assert statement.value(r"\beta") == 0
    assert statement.value("y") == output(z, gain, eps)


@reads("gain-sign")
def a_negative_gain_turns_the_sign(statement):
    statement.says(r"If $\gamma_i < 0$ and $u_i \neq 0$", "has the sign opposite to that of $u_i$")
    for u in (-2, Rational(1, 3)):
        product = statement.formula("then").subs({Symbol("gamma_{i}"): -3, Symbol("u_{i}"): u})
        assert sympy.sign(product) == -sympy.sign(u)


@reads("gain-moments")
def the_moments_of_the_example(statement):
    y, u = output((1, 1, -2), (2, 0, -1), 2), tuple(exact.core((1, 1, -2), 2))
    after = "the example <gain-example>` the output"
    assert [statement.formula(after, number) for number in range(5)] == [y, mean(y), variance(y), mean(u), variance(u)]
    s, gains = Symbol("s"), statement.formula("the gains")
    products = [gain * entry for gain, entry in zip(gains, (s, -s), strict=True)]
    assert sympy.expand(variance(products)) == s**2
    assert sympy.expand(mean(products)) != 0
    statement.says("leave the variance of every core as it is, though not its mean")
    statement.says("It vanishes for every core if and only if all gains are equal")


@reads("gain-multiplier")
def coordinate_by_coordinate(statement):
    for names in SETTINGS:
        product = names[r"\gamma"].multiply_elementwise(names["u"])
        for i, entry in enumerate(product, start=1):
            holds(
                statement.tex("coordinate by coordinate,").replace(r"(\gamma \odot u)_i", "w_i"),
                {**names, "w": product, "i": Integer(i)},
            )
            assert same(product[i - 1], entry)
    assert given(statement, r"\gamma", THREE) == THREE[r"\mathbf{1}"]
    statement.says("be zero, or be negative")


@reads("gain-moments")
def the_mean_of_any_output(statement):
    for names in SETTINGS:
        bar = sum(names[r"\gamma"]) / names["d"]
        with_bar = {**names, r"\bar\gamma": bar}
        check(statement, "with", with_bar)
        product = names[r"\gamma"].multiply_elementwise(names["u"])
        assert same(sum(product) / names["d"], value(statement, "has the mean", with_bar))


@reads("gain-gradient")
def the_gradient_of_half_the_square(statement):
    names = setting((1, 1, -2), 2, (2, 0, -1))
    y = Matrix(sympy.symbols("y1:4", real=True))
    loss = evaluate(statement.tex("For").split(" = ")[1], {"y": y})
    g = Matrix([loss.diff(entry) for entry in y]).subs(dict(zip(y, names["y"], strict=True)))
    gain = sympy.symbols("a1:4")
    output = Matrix(gain).multiply_elementwise(names["u"])
    by_gain = Matrix([(g.T * output)[0].diff(a) for a in gain])
    assert same(value(statement, "the example <gain-example>` it is", {}), by_gain)
    for i in (1, 2, 3):
        more = {**names, "g": g, "i": Integer(i), r"\partial\ell/\partial\gamma_i": by_gain[i - 1]}
        check(statement, "At one position", more)
        assert value(statement, "receives the sum of", more) == by_gain[i - 1]


@reads("gain-zero")
def what_a_gain_of_zero_leaves(statement):
    gain, bias = [0, 2, -1], [4, 5, 6]
    for z in ((1, 2, 4), (7, 2, 4)):
        names = setting(z, 1, gain, bias, i=Integer(1))
        check(statement, "If", names)
        check(statement, "then", names)
    derivative = sympy.diag(*gain) * names["J"]
    for j in (2, 3):
        more = {**names, "j": Integer(j), r"\partial y_j/\partial z_i": derivative[j - 1, 0]}
        check(statement, r"through $\mu$ and $q$:", more)
        check(statement, "and for", more)
    # Zero entries of J: where 1 + u_i u_j vanishes, and nowhere else at this input.
    names = setting((2, -1, -1, 0), Rational(1, 2), i=Integer(1))
    for j in (2, 3, 4):
        (vanishing,) = relations(statement.tex(r"\gamma_j = 0$ or"), {**names, "j": Integer(j)})
        assert related(*vanishing) == (names["J"][j - 1, 0] == 0)
    check(statement, "only where", {"j": Integer(1), r"\gamma": Matrix([0])})
    statement.says("for every input", "zero only where")


@reads("gain-input-jacobian")
def rows_times_gains(statement):
    for names in SETTINGS:
        rows = Matrix.vstack(*(a * names["J"].row(i) for i, a in enumerate(names[r"\gamma"])))
        assert same(rows, value(statement, "The derivative of $y$ by $z$ is", names))
    statement.says("row $i$ of", "holds no $J$")


@reads("gain-ex-sum")
def gains_that_leave_the_mean_zero(statement):
    wanted = value(statement, "have mean", {})
    free = sympy.symbols("a1:4")
    names = setting((1, 1, -2), 2, free)
    written = value(statement, "The mean is", names)
    assert same(written, sum(names["y"]) / 3)
    assert value(statement, "It is", {}) == wanted == given(statement, r"\beta", {})
    last = evaluate(statement.tex("exactly if").split(" = ")[1], names)
    assert statement.tex("exactly if").startswith(r"\gamma_3 = ")
    assert same(sympy.solve(written - wanted, free[2])[0], last)
    one = value(statement, "so does", {})
    check(statement, "exactly if", {r"\gamma": one})
    check(statement, "exactly if", {r"\gamma": Matrix([5, 5, 5])})
    assert same(written.subs(dict(zip(free, one, strict=True))), wanted)
    assert words(statement, r"\\mathbb\{R\}\^(\d)") == (str(len(one)),)
    assert len(set(one)) == 3 and max(one) == one[1]


@reads("gain-ex-variance")
def equal_gains(statement):
    for z, eps in (((1, 2, 4), 1), ((0, 1, 2, 3), Rational(1, 4))):
        c = Rational(-3, 2)
        names = setting(z, eps, [c] * len(z), c=c)
        check(statement, "The mean is", names)
        assert same(evaluate(statement.tex("The mean is").split(" = ")[1], {}), mean(list(names["y"])))
        assert same(value(statement, "that of the core,", names), variance(list(names["y"])))
        assert same(value(statement, "The variance is", names) * variance(list(names["u"])), variance(list(names["y"])))
    equal = {"q": Integer(2), r"\varepsilon": Integer(2), "c": sqrt(2)}
    check(statement, "At", equal)
    check(statement, "an input with", equal)
    assert same(value(statement, "it is", equal), value(statement, "that of the core,", equal))
    _, size = re.fullmatch(r"c = (\\pm)(.*)", statement.tex("so")).groups()
    assert evaluate(size, {}) ** 2 / 2 == value(statement, "makes the variance exactly", {})
    last = setting(given(statement, "z", {}), 2)
    holds(statement.tex("sqrt2$. For", 1), last)
    statement.says("All gains are equal", "exactly")


@reads("gain-ex-cancel")
def two_positions_that_cancel(statement):
    one, other = (value(statement, "positions hold", {}, k) for k in (0, 1))
    g = given(statement, "g", {})
    terms = [evaluate(statement.tex("the two terms"), {"g": g, "u": core(1, z)}) for z in (one, other)]
    assert same(terms[0] + terms[1], value(statement, "the gradient is", {}) * sympy.ones(3, 1))
    assert not same(
        g.multiply_elementwise(core(1, one)) + Matrix([1, 1, 1]).multiply_elementwise(core(1, other)), Integer(0)
    )
    statement.says("need not cancel", "the same gradient")


@reads("gain-ex-read")
def the_gain_read_from_one_row(statement):
    u, silent = value(statement, "has the core", {}), value(statement, "a row with the core", {})
    bias, y = given(statement, r"\beta", {}), given(statement, "y", {})
    one = {"i": Integer(1), "y": y, r"\beta": bias, "u": u}
    solved = statement.tex("````").split(" = ")[1]
    gain = Matrix([evaluate(solved, {**one, "i": Integer(i)}) for i in (1, 2, 3)])
    assert same(given(statement, r"\gamma", {}), gain)
    assert same(gain.multiply_elementwise(u) + bias, y) and sum(u) == sum(silent) == 0
    for i in (1, 2, 3):
        check(statement, "Solve", {**one, r"\gamma": gain, "i": Integer(i)})
    (vanishing,) = relations(statement.tex("Where"), {"u": silent, "i": Integer(2)})
    assert related(*vanishing)
    for asked in (r"say about \$\\gamma_(\d)\$\?", r"says nothing about \$\\gamma_(\d)\$"):
        assert words(statement, asked) == ("2",)
    statement.says("the output is $\\beta_i$ whatever $\\gamma_i$ is")


@reads("gain-ex-project")
def the_gain_and_bias_from_two_calls(statement):
    check(statement, "you know $d$ and", {r"\varepsilon": Rational(1, 7)})
    gain, bias, eps = (2, 0, -1, 3), (1, 1, 0, 5), Rational(1, 1000)
    for d in (2, 3, 4):
        assert same(setting([0] * d, eps, gain[:d], bias[:d])["y"], Matrix(bias[:d]))
        first, *others = re.fullmatch(r"z = \((\d), (\d), \\dots, (\d)\)", statement.tex("The spike")).groups()
        names = setting([int(first)] + [int(others[0])] * (d - 1), eps, gain[:d], bias[:d])
        assert len(set(others)) == 1 and 0 not in names["u"]
        for i in range(1, d + 1):
            check(statement, "A second row $z$ gives", {**names, "i": Integer(i)})
        check(statement, "do for every", {"d": Integer(d)})
    assert same(setting((5,), eps, (2,), (7,))["y"], Matrix([7]))
    assert 0 in setting((1, 2, 3), eps)["u"]
    assert evaluate(re.fullmatch(r"d = (\d)", statement.tex("At"))[1], {}) == 1
    statement.says("no coordinate of the core may be $0$", "no entry of $z$ may be equal to the mean", "no row shows")


@reads("gain-wrong-the-stored-number-is-the-gain")
def a_stored_number_taken_for_the_gain(statement):
    stored = value(statement, "Read a stored", {})
    gain = sympy.solve(value(statement, "Some models store", {r"\gamma": Symbol("a")}) - stored)[0]
    assert gain / stored == {"ten": 10, "eleven": 11, "twelve": 12}[words(statement, r"is (\w+) times too small")[0]]
    z = given(statement, "z", {})
    computed_below(statement, z, stored)


@reads("gain-wrong-the-gradient-of-the-output-s")
def the_sum_with_unequal_gains(statement):
    gain = given(statement, r"\gamma", {})
    for z in ((1, 2, 4), (0, 3, 5)):
        names = setting(z, 1, list(gain))
        gradient = names["J"].T * gain
        assert not same(gradient, Integer(0)) and same(sum(gradient), Integer(0))
        assert same(names["J"].T * Matrix([2, 2, 2]), Integer(0))
        assert same(sum(names["u"]), value(statement, "the core's sum is", {}))
    computed_below(statement, gain)
    statement.says(
        "as long as the gains are equal",
        "the sum is no constant",
        "is not zero; only the gradient's own sum is",
        "for every input",
        "cannot change",
    )


@reads("gain-wrong-the-gain-may-come-last-in")
def the_order_of_the_factors(statement):
    for names in VARIED:
        g = Matrix([1, 4, -2, 5][: names["d"]])
        right = (sympy.diag(*names[r"\gamma"]) * names["J"]).T * g
        assert same(value(statement, "second:", {**names, "g": g}), right)
        assert not same(names[r"\gamma"].multiply_elementwise(names["J"] * g), right)
    ones = value(statement, "had only gains of", {})
    assert same(ones * (THREE["J"] * Matrix([1, 4, -2])), THREE["J"] * (ones * Matrix([1, 4, -2])))
    statement.says("had only gains of")


@reads("gain-wrong-the-core-can-be-recovered-from")
def digits_that_are_gone(statement):
    for names in SETTINGS:
        if 0 not in names[r"\gamma"]:
            divided = Matrix(
                [(y - b) / a for y, b, a in zip(names["y"], names[r"\beta"], names[r"\gamma"], strict=True)]
            )
            assert same(divided, names["u"])
    assert statement.tex("computes") == r"u = (y - \beta)/\gamma"
    check(statement, "Where", {"i": Integer(1), r"\gamma": Matrix([0])})
    size = value(statement, "the last place` of", {})
    half_unit = Rational(float(np.spacing(np.float32(size)))) / 2
    assert approximately(half_unit / value(statement, "divided by", {}), statement.tex("divided by", 1))
    assert np.finfo(words(statement, r"in (float\d+)")[0]).bits == 32


@reads("gain-wrong-weight-decay-on-the-gain-is")
def ten_steps_of_decay(statement):
    decay, start = value(statement, "times decay", {}), value(statement, "from a gain of", {})
    steps = {"Ten": 10}[words(statement, r"(\w+) steps at learning rate")[0]]
    shown = start
    for _ in range(steps):
        shown -= decay * shown
    stored = value(statement, "if it is", {r"\gamma": start})
    kept = stored * (1 - decay) ** steps + 1
    computed_below(statement, decay)
    assert (
        value(statement, "number to", {}) == 0
        and value(statement, "the gain is pulled to", {}) == kept == start > shown
    )


@reads("gain-wrong-the-gain-starts-at-0-and")
def taken_literally(statement):
    gain, bias = (int(n) for n in words(statement, r"The gain starts at (\d) and the bias at (\d)"))
    swapped = (value(statement, "gives gains", {}), value(statement, "and biases", {}))
    assert swapped == (bias, gain)
    names = setting((1, 2, 4), 1, [gain] * 3, [bias] * 3)
    assert same(names["y"], value(statement, "the output would be", names))
    assert same(sympy.diag(*names[r"\gamma"]) * names["J"], Integer(0))
    statement.says("for every input", "no gradient would reach", "equation 15", "section 6")

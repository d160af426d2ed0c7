"""Readings of the statements on the gain: the numbers and terms of the text beside exact arithmetic."""

import sympy
from sympy import Rational, Symbol

from lnbook.pages import exact
from statements import reads
from statements.exact import mean, output, variance


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

"""Readings of the verdicts on why the layer works."""

import re

from mpmath import mp
from small_network import THETA, digits_of, gradient, near, product, square
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, holds, layer, same, term, value

R = Rational
EXAMPLE, G4 = (1, -1, 1, -1), Matrix([4, 0, 0, 0])


def no_epsilon(statement):
    """The condition behind the verdict, at the epsilons 0 and 1."""
    text = statement.tex("only if**")
    return [chain_holds(text, {r"\varepsilon": eps}) for eps in (0, 1)] == [True, False]


@reads("settled-why-scale")
def half_the_weights(statement):
    words = {"two": 2, "twice": 2, "four": 4}
    factor = words[re.search(r"the effect of (\w+) times the learning rate", statement.text)[1]]
    divided = term(statement, "has to be divided by")
    theta, rate, eps = digits_of(THETA), mp.mpf(1) / 5, mp.mpf(1) / 3
    half = theta / 2 - rate / factor * gradient(theta / 2, eps)
    assert near(2 * half, theta - rate * gradient(theta, eps * int(divided)))
    assert not near(2 * half, theta - rate * gradient(theta, eps))
    assert no_epsilon(statement)
    assert term(statement, "its own epsilon at") == 0
    statement.says("Halving $W$ and $b$", "it is twice instead of four times the rate", "in gradient descent")


@reads("settled-why-growth")
def only_without_epsilon(statement):
    theta = digits_of(THETA)
    step = gradient(theta, 0)
    rate = mp.mpf(1) / 5
    names = {r"\eta": R(1, 5), "G": Matrix([3, 4])}
    assert term(statement, "the squared length grows by", names) == R(1, 25) * 25
    assert abs(square(theta - rate * step) - square(theta) - rate**2 * square(step)) < 1e-40
    after = Matrix(EXAMPLE) - layer(EXAMPLE, 3)["J"] * G4 / 2
    assert after.dot(after) < 4 and no_epsilon(statement)
    statement.says("without decay never shortens", "can outweigh that")


@reads("settled-why-turn")
def a_right_angle(statement):
    assert [chain_holds(statement.tex("only if**"), {r"\varepsilon": eps}) for eps in (0, 1)] == [False, True]
    assert chain_holds(statement.tex("right angle.* **True only if**", 1), {r"\varepsilon": 0})
    theta = digits_of(THETA)
    step = gradient(theta, 0)
    after = theta - 3 * step
    cosine = product(theta, after) / mp.sqrt(square(theta) * square(after))
    names = {r"\eta": 3, r"\|G\|": sqrt(R(square_text(step))), r"\|\theta\|": sqrt(R(square_text(theta)))}
    tangent = term(statement, "has the tangent", names)
    assert close(tangent, R(square_text([mp.sqrt(mp.sqrt(1 / cosine**2 - 1))])), R(1, 10**20))
    statement.says("by more than a right angle", "stays below a right angle for every")


def square_text(entries):
    return mp.nstr(square(entries), 45)


@reads("settled-why-decay")
def prefers_only_with_epsilon(statement):
    assert [chain_holds(statement.tex("only if**"), {r"\varepsilon": eps}) for eps in (0, 1)] == [False, True]
    assert same(layer(EXAMPLE, 0)["u"], layer([R(entry, 10) for entry in EXAMPLE], 0)["u"])
    assert chain_holds(statement.tex("only if**", 1), {r"\varepsilon": 0})
    rate, decay = R(1), R(2, 5)  # (5, 0) - 2/5 (5, 0) - (0, 4) = (3, -4)
    assert term(statement, "with the cosine", {r"\eta": rate, r"\lambda": decay}) == R(3, 5)
    statement.says("has no least value", "can be had at any length")


@reads("settled-why-adam")
def one_of_two_powers(statement):
    adam, descent = (
        term(statement, words, {r"\eta": 6, r"\delta": 3})
        for words in ("acts like the {term}`learning rate`", "instead of")
    )
    theta, signs = digits_of(THETA), mp.matrix([mp.sign(entry) for entry in gradient(THETA, 0)])
    far = 3 * theta - 6 * signs
    assert near(far, 3 * (theta - int(adam) * signs))
    assert near(3 * theta - 6 * gradient(3 * theta, 0), 3 * (theta - 6 * gradient(theta, 0) / 9), 1e-30)
    assert descent == R(6, 9)
    assert chain_holds(statement.tex("two powers"), {r"\varepsilon": 0})
    statement.says("**False.**", "one of the two powers", "does not matter")


@reads("settled-why-detach")
def another_gradient(statement):
    names = layer((1, 2, 4), R(1, 3))
    names[r"\hat g"] = Matrix([1, 0, 0])
    left = term(statement, "It leaves", names)
    assert left.norm().evalf(30) > (names["J"] * names[r"\hat g"]).norm().evalf(30)
    assert same(left, names[r"\hat g"] / sqrt(names["q"] + R(1, 3)))
    assert [chain_holds(re.search(r"for \$(d \\ge \d)\$", statement.text)[1], {"d": d}) for d in (2, 3)] == [
        False,
        True,
    ]
    statement.says("at least as long", "is not noticed by $W$ and $b$", "the gradient of no function")


@reads("settled-why-longer")
def never_longer(statement):
    for g in ((1, 0, 0), (2, -3, 1)):
        names = layer((1, 2, 4), R(1, 3))
        detached = (Matrix(g) / sqrt(names["q"] + R(1, 3))).norm()
        full = (names["J"] * Matrix(g)).norm()
        assert close(full, detached) or full.evalf(30) < detached.evalf(30)
    statement.says("is never longer than with mean and variance detached", "large $d$")


@reads("settled-why-smaller")
def only_with_enough_variance(statement):
    condition = statement.tex("only if**")
    gains = term(statement, "with all gains")
    for eps in (R(1, 2), R(1, 3), R(1, 4)):
        names = layer((1, 0, -1), eps, (gains,) * 3)
        norm = max(names["J"].eigenvals(multiple=True))
        assert (norm <= 1) == chain_holds(condition, names)
    assert gains == 1
    assert holds(statement, 1, {"d": 3}, end="and with") and not chain_holds(statement.tex("For"), {"d": 2})
    statement.says("no gradient by the input is longer", "where the variance is large", "where it is small")


@reads("settled-why-shift")
def any_mean(statement):
    claim, low, high = (
        term(statement, words, {"d": 5}) for words in ("one position the mean is", "any mean between", "$ and")
    )
    far = layer((10**30, 0, 0, 0, 0), R(1, 3))["u"]
    assert close(sum(far), claim)
    assert close(far[0], high, R(1, 10**20)) and same(-low, high)
    assert re.search(r"has the mean (\d), whatever", statement.text)[1] == "0"
    statement.says("**False.** Over the coordinates of one position", "is disputed")


@reads("settled-why-convex")
def bends_both_ways(statement):
    slope = statement.tex("the core coordinate")
    first = [value(slope, {"t": t, r"\varepsilon": 1}) for t in (0, 1, 2, -1, -2)]
    assert first[1] > (first[0] + first[2]) / 2 and first[3] < (first[0] + first[4]) / 2
    z = value(re.search(r"of \$z = ([^$]*)\$", statement.text)[1], {"t": 3})
    assert same(layer(z, 1)["u"][0], value(slope, {"t": 3, r"\varepsilon": 1}))
    assert chain_holds(statement.tex("**False.** At"), {r"\varepsilon": 0})
    assert value(re.search(r"gradient is not \$(\d)\$", statement.text)[1]) == 0
    statement.says("it is convex in $W$ and $b$", "convex near no")


@reads("settled-why-theorem")
def one_and_two_features(statement):
    assert layer([7], 1, [3], [4])["y"] == Matrix([4])
    assert same(layer((9, 2), 0)["u"], Matrix([1, -1])) and same(layer((2, 9), 0)["u"], Matrix([-1, 1]))
    assert chain_holds(re.search(r"with two and \$([^$]*)\$", statement.text)[1], {r"\varepsilon": 0})
    statement.says("**False.** With one feature", "nothing in front of it learns", "only a sign passes")

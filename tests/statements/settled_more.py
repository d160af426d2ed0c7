"""Readings of the verdicts on order, symmetry, gains, finite steps, shapes and bits."""

import re

import numpy as np
import sympy
from exact import variance
from sympy import Matrix, Rational, sqrt

import lnbook
from statements import reads
from statements.evaluate import chain_holds, close, holds, layer, same, term, value

R = Rational


def core(z, eps):
    return layer(tuple(z), eps)["u"]


@reads("settled-order")
def the_order_of_the_core(statement):
    statement.says("in the order of the input's, with the same ties", "one positive number and all biases are equal")
    u = core((3, 1, 1, 7), 1)
    assert u[1] == u[2] < u[0] < u[3]


@reads("settled-token")
def one_mean_for_each_position(statement):
    shape = re.search(r"of the shape \((\d), (\d), (\d)\)", statement.text).groups()
    means, variances = re.search(r"has (\d+) means and (\d+) variances", statement.text).groups()
    assert int(means) == int(variances) == lnbook.variance(np.ones([int(n) for n in shape])).size
    statement.says("along its last axis", "and none for a feature")


@reads("settled-per-position")
def the_number_of_parameters(statement):
    for d in (3, 5):
        _, dgain, dbias = lnbook.vjp(np.ones((4, d)), np.ones((4, d)))
        assert term(statement, "of a row,", {"d": d}) == dgain.size + dbias.size
    statement.says("one for each coordinate of a row", "every position uses the same ones")


@reads("settled-rotation")
def which_rotations_pass(statement):
    texts = re.search(r"sends \$([^$]*)\$ to \$([^$]*)\$ or to \$([^$]*)\$", statement.text).groups()
    for Q in (sympy.eye(2), -sympy.eye(2), Matrix([[0, 1], [1, 0]]), Matrix([[3, -4], [4, 3]]) / 5):
        ones = {r"\mathbf{1}": sympy.ones(2, 1)}
        image = Q * value(texts[0], ones)
        listed = image in [value(text, ones) for text in texts[1:]]
        assert listed == all(close(core(Q * Matrix(z), 1), Q * core(z, 1)) for z in ((5, 0), (1, 1)))
    statement.says("for every input.", "{term}`RMSNorm` passes every $Q$")


@reads("settled-permutation")
def which_permutations_pass(statement):
    gain, bias = (1, 10, 1), (5, 0, 5)
    y = layer((1, 2, 4), 1, gain, bias)["y"]
    assert close(layer((4, 2, 1), 1, gain, bias)["y"], Matrix([y[2], y[1], y[0]]))
    assert not close(layer((2, 1, 4), 1, gain, bias)["y"], Matrix([y[1], y[0], y[2]]))
    assert close(layer((2, 1, 4), 1, (10, 1, 1), (0, 5, 5))["y"], Matrix([y[1], y[0], y[2]]))
    statement.says("it exchanges features of equal gain and equal bias only", "for every input.", "prefers no order")


@reads("settled-cosine")
def the_correlation_of_two_inputs(statement):
    a, b = layer((1, 2, 4), 0), layer((0, 3, 1), 0)
    inner = a["u"].dot(b["u"]) / 3
    assert close(inner, a["v"].dot(b["v"]) / a["v"].norm() / b["v"].norm())
    assert not close(inner, a["z"].dot(b["z"]) / a["z"].norm() / b["z"].norm())
    assert chain_holds(statement.tex("At"), {r"\varepsilon": 0})
    assert abs(core((1, 2, 4), 1).dot(core((0, 3, 1), 1)) / 3).evalf() < abs(inner).evalf()
    assert term(statement, "nearer to") == 0
    assert chain_holds(statement.tex("; with"), {r"\varepsilon": R(1, 2)})
    statement.says(
        "the cosine of the two centred inputs", "the cosine of the two inputs.", "nearer to $0$, unless it is"
    )


@reads("settled-real")
def the_ends_of_the_spectrum(statement):
    statement.says(
        "between the least and the largest of $0$ and the gains", "All eigenvalues", "need not be symmetric, nor"
    )
    names = layer((1, 2, 4), R(1, 3), (2, 2, 2))
    largest = max((sympy.re(e.evalf(40)) for e in (2 * names["J"]).eigenvals()), key=float)
    assert close(largest, 2 / term(statement, "the gains, over", names), R(1, 10**20))


@reads("settled-symmetric")
def equal_gains_make_it_symmetric(statement):
    for gain, symmetric in (((2, 2, 2), True), ((1, 2, 2), False)):
        J = sympy.diag(*gain) * layer((7, 7, 7), 1)["J"]
        assert (J == J.T) == symmetric
    statement.says("only if** all gains are equal", "at every input", "otherwise of none")


@reads("settled-monotone")
def equal_gains_make_it_monotone(statement):
    for gain, monotone in (((2, 2), True), ((1, 2), False), ((-1, -1), False)):
        h = Matrix([3, 2]) / 10**6
        change = layer(tuple(h), 1, gain)["y"]
        assert (change.dot(h).evalf(30) >= 0) == monotone
    statement.says("only if** all gains are equal and not negative", "never have a negative inner product")


@reads("settled-determinant")
def the_determinant_on_the_centred_vectors(statement):
    for z in ((1, 2, 3), (0, 1, 1, 5)):
        names = layer(z, R(1, 3))
        assert close(names["J"] * term(statement, "It sends", names), term(statement, r"$\mathbf{1}$ to"))
        determinant = (names["J"] + sympy.ones(len(z), len(z)) / len(z)).det()
        assert close(determinant, term(statement, "with the determinant", names))
        assert holds(statement, 1, names)
    statement.says("On the centred vectors")


@reads("settled-gradient-size")
def the_size_of_the_gradient(statement):
    factor, times = re.search(
        r"constant by (\d+) multiplies the gradient by the input by (\d+)", statement.text
    ).groups()
    z, tenth = Matrix([1, 2, 4]), Matrix([1, 2, 4]) / int(factor)
    eps = R(re.search(r"varepsilon = (\d)\$", statement.text)[1])
    assert close(layer(tuple(tenth), eps)["J"], int(times) * layer(tuple(z), eps)["J"])
    assert not close(layer(tuple(tenth), 1)["J"], int(times) * layer(tuple(z), 1)["J"])
    a = R(1, 7)
    other = term(statement, "is that at $z$ with", {r"\varepsilon": 1, "a": a})
    assert close(layer(tuple(a * z), 1)["J"], layer(tuple(z), other)["J"] / a)
    growth = [term(statement, "grows as", {"q": q}) for q in (1, R(1, 100))]
    assert growth[1] == 10 * growth[0]
    statement.says("for every gradient by the output", "and no further")


@reads("settled-constant-gain")
def a_constant_row_and_the_gain(statement):
    names = layer((3, 3, 3), 1, g=Matrix([1, 2, 4]))
    assert close(term(statement, "That gradient is", names), term(statement, "the core is"))
    statement.says("adds nothing to the gradient of the gain")


@reads("settled-first-order")
def the_best_number(statement):
    t = R(1, 10**12)
    for eps in (4, R(1, 9)):
        size = sqrt(eps) / 2
        names = layer((-size, size), eps)
        h = t * names["v"]
        error = core(names["z"] + h, eps) - names["u"] - names["J"] * h
        best = term(statement, "best such number is", names)
        assert close((error.norm() / h.dot(h) / best).evalf(60), 1, R(1, 10**10))
    assert re.search(r"errors as \$(\d)\$ to \$(\d)\$", statement.text).groups() == ("4", "1")
    assert re.search(r"times \$\\\|h\\\|\^(\d)\$", statement.text)[1] == "2"
    statement.says("the same for all inputs and steps", "is at most some number", "Short steps $h$ and $h/2$")


@reads("settled-random-step")
def the_mean_square_of_a_random_step(statement):
    for z in ((-1, 1), (-1, 1, -1, 1)):
        names = layer(z, 0)
        assert holds(statement, 2, names, end="a random")
        mean_square = sum(entry**2 for entry in names["J"]) / len(z)
        assert same(mean_square, term(statement, "is multiplied by", names))
    assert 1 - value("(d-2)/d", {"d": int(re.search(r"For \$d = (\d+)\$", statement.text)[1])}) < R(1, 300)
    assert value("(d-2)/d", {"d": int(re.search(r"for \$d = (\d)\$ nothing", statement.text)[1])}) == 0
    statement.says("keeps its length in mean square", "two of $d$ directions")


@reads("settled-spread-rows")
def rows_of_some_variance(statement):
    q = int(re.search(r"inputs of variance at least (\d)", statement.text)[1])
    a, b = (-1, 1), (1, -1)
    assert variance(a) == q
    for eps in (0, R(1, 4)):
        ratio = (core(a, eps) - core(b, eps)).norm() / (Matrix(a) - Matrix(b)).norm()
        assert same(ratio, term(statement, "{term}`Lipschitz constant` is", {r"\varepsilon": eps}))
        assert chain_holds(statement.tex("for every"), {r"\varepsilon": eps})
        assert ratio <= 1
    small = R(1, 100)
    assert (2 * core((-small, small), R(1, 10**5))).norm() > 2 * small
    statement.says("nearer to each other than they are, or as near")


@reads("settled-eps-exchanged")
def the_price_of_exchanging_eps(statement):
    new, old = (
        value(text)
        for text in re.search(
            r"at least 1, \$([^$]*)\$ in place of \$\\varepsilon = ([^$]*)\$", statement.text
        ).groups()
    )
    part = R(int(re.search(r"at most \$(\d)\$ millionths", statement.text)[1]), 10**6)
    factor = [term(statement, "by the factor", {"q": q}) for q in (1, R(1, 10**5))]
    for q, shown in zip((1, R(1, 10**5)), factor, strict=True):
        u, w = (core((-sqrt(q), sqrt(q)), eps)[1] for eps in (old, new))
        assert same(w / u, shown)
    assert part * R(8, 10) < (factor[0] - 1).evalf(30) < part
    assert value(re.search(r"Where the variance is \$([^$]*)\$", statement.text)[1]) == R(1, 10**5)
    assert abs(factor[1].evalf(20) - 1 - R(1, 3)) < R(2, 100)
    statement.says("For inputs of variance at least 1", "the same exchange costs a third")


@reads("settled-vjp-test")
def the_identity_in_float32(statement):
    eps, q = re.search(r"With \$\\varepsilon = ([^$]*)\$ .*? from \$q = (\d+)\$", statement.text).groups()
    assert round(value(eps) * 2**24) == int(q)
    names = layer((1, 2, 6), R(1, 3), **{r"\hat g": Matrix([1, 0, 2])})
    names["dz"] = names["J"] * names[r"\hat g"]
    assert chain_holds(statement.tex("fulfils"), names)
    statement.says("to one percent.", "The identity holds on paper")


@reads("settled-undo")
def gain_and_bias_for_one_input(statement):
    names = layer((1, 2, 4), 1)
    gain = value(re.search(r"\$\\gamma = ([^$]*)\$", statement.text)[1], names)
    bias = value(re.search(r"\$\\beta = ([^$]*)\$", statement.text)[1], names)
    assert close(layer((1, 2, 4), 1, tuple(gain), tuple(bias))["y"], Matrix([1, 2, 4]))
    assert not close(layer((10, 20, 40), 1, tuple(gain), tuple(bias))["y"], Matrix([10, 20, 40]))
    statement.says("returns every input as it is", "serve all inputs", "For a single input with different coordinates")


@reads("settled-kept-variance")
def other_gains_that_keep_it(statement):
    total, d = re.search(r"at \$d = (?P<d>\d)\$ all with the sum \$(\d)\$", statement.text).group(2, 1)
    found = re.findall(r"\$(\([^$]*\))\$ at \$d = (\d)\$", statement.text)
    lists = [((5, int(total) - 5), int(d)), *((tuple(value(text)), int(d)) for text, d in found)]
    assert [d for _, d in lists] == [2, 3, 4]
    for gain, d in lists:
        assert len(gain) == d
        for z in ((1, 2, 4, 0), (0, 1, 0, 0)):
            u = core(z[:d], 1)
            assert sympy.simplify(variance(u.multiply_elementwise(Matrix(gain))) - variance(u)) == 0
        assert set(map(abs, gain)) != {1}
    statement.says("all gains are 1 or all are −1.")

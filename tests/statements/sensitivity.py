"""Readings of the statements on sensitivity."""

import itertools

import sympy
from sympy import Integer, Matrix, Rational, Symbol, oo, sqrt

from statements import reads
from statements.settings import SETTINGS, VARIED, core, setting
from statements.terms import (
    approximately,
    check,
    computed_below,
    evaluate,
    given,
    norm,
    number,
    related,
    relations,
    right_of,
    same,
    value,
    words,
)


def amplification(eps, z, h):
    """How much longer the core's step is than the input's."""
    return norm(core(eps, z + h) - core(eps, z)) / norm(h)


def operator_norm(matrix):
    return norm(matrix) if matrix.cols > 1 else abs(matrix[0])


@reads("sens-finite")
def two_small_steps(statement):
    z, h = given(statement, "z", {}), given(statement, "h", {})
    for k, (after, bound) in enumerate([("this is", "under the bound"), ("it is", "it is")]):
        eps = given(statement, r"\varepsilon", {}, k)
        names = {r"\varepsilon": eps}
        exact = amplification(eps, z, h)
        assert same(value(statement, "has the amplification", names), exact)
        left, decimal = statement.tex(after).split(r" \approx ")
        assert same(evaluate(left, {}), exact)
        assert approximately(exact, decimal)
        limit = value(statement, bound, {}, k)
        assert limit == 1 / sqrt(eps) > exact


@reads("sens-local")
def the_largest_first_order_amplification(statement):
    for names in VARIED:
        check(statement, "Let", names)
        tiny = Rational(1, 10**8)
        for direction in (Matrix([1, -1, 3, 2][: names["d"]]), names["v"]):
            w = direction / norm(direction)
            wanted = value(statement, "tends to", {**names, "J(z)": names["J"], "w": w}, 4)
            assert abs(number(amplification(names[r"\varepsilon"], names["z"], tiny * w) - wanted)) < 1e-6
            assert number(wanted) <= number(value(statement, "tends to", {**names, "J(z)": names["J"]})) + Rational(
                1, 10**30
            )
            assert same(norm(w), value(statement, "one direction $w$ of length", {}))
    assert statement.tex("tends to", 1) == r"s \to 0"
    statement.says("over all steps of length")


@reads("sens-uniform")
def one_bound_for_all(statement):
    for names in SETTINGS:
        more = {**names, "J(z)": names["J"]}
        check(statement, "For", names)
        ((left, _, right, _),) = relations(statement.tex("For", 1), more)
        check(statement, "For", more, 1)
        assert same(left, right) == (names["q"] == 0 and names["d"] > 1)
        assert same(right, value(statement, "with the constant", names))
    check(statement, "(for", {"d": Integer(2)})
    assert not relation_holds(statement, "(for", {"d": Integer(1)})
    for z, h in (([1, 1], [1, -1]), ([0, 1], [1, 0]), ([5], [1])):
        assert number(amplification(1, Matrix(z), Matrix(h))) < 1
    eps = Rational(1, 3)
    for z in (Matrix([1, 2, 4]), Matrix([-1, 1])):
        q = right_of(statement, "at each input: at", {r"\varepsilon": eps})
        scaled = z * sqrt(q / setting(z, eps)["q"])
        names = setting(scaled, eps)
        check(statement, "at each input: at", names)
        ratio = operator_norm(names["J"]) * sqrt(eps)
        assert number(ratio) <= Rational(1, 10) + Rational(1, 10**30)
        assert same(ratio, Rational(1, 10)) == (len(z) > 2)
    statement.says(
        "at every $z$",
        "exactly at the constant inputs",
        "every step is strictly below",
        "at most a tenth of it",
        "for all inputs",
        "not the amplification at each",
    )


def relation_holds(statement, after, names):
    (relation,) = relations(statement.tex(after), names)
    return related(*relation)


@reads("sens-full")
def the_full_layer(statement):
    for names, step in itertools.product(SETTINGS, (Rational(1, 5), 6)):
        h = Matrix([step, -step, 2 * step, 0][: names["d"]])
        moved = names[r"\gamma"].multiply_elementwise(core(names[r"\varepsilon"], names["z"] + h) - names["u"])
        assert number(norm(moved)) <= number(value(statement, "by at most", names) * norm(h))
    pair = setting((4, 4), 3, [2, -2])
    assert same(norm(sympy.diag(2, -2) * pair["J"]), value(statement, "by at most", pair))
    statement.says("every step", "by at most", "changes no difference")


@reads("sens-smaller")
def below_the_bound(statement):
    names = setting(given(statement, "z", {}), given(statement, r"\varepsilon", {}))
    check(statement, "jac-example>`,", names)
    left, decimal = statement.tex("while the bound is").split(r" \approx ")
    assert same(evaluate(left, {}), 1 / sqrt(names[r"\varepsilon"])) and approximately(evaluate(left, {}), decimal)
    assert number(norm(names["J"])) < number(evaluate(left, {}))


@reads("sens-not-network")
def what_stands_around_the_layer(statement):
    for d, eps in itertools.product((2, 3, 4), (Rational(1, 4), 2)):
        names = setting([5] * d, eps)
        check(statement, "For", names)
        W = Matrix(2, d, range(1, 2 * d + 1))
        bound = operator_norm(names["J"])
        assert number(norm(W * names["J"])) <= number(bound * value(statement, "by up to", {"W": W}))
        centred = names["v"] + Matrix([1, -1] + [0] * (d - 2))
        residual = centred + names["J"] * centred
        assert same(norm(residual) / norm(centred), value(statement, "in centred directions is", names))
        direction = centred / norm(centred)
        z = names["z"]
        for k in (1, 2, 3):
            direction, z = setting(z, eps)["J"] * direction, core(eps, z)
            assert same(norm(direction), value(statement, "cores in a row it is", {**names, "k": Integer(k)}))
        largest = max(sum(abs(x) for x in names["J"].row(i)) for i in range(d))
        assert same(largest, value(statement, "the norm of $J$ is", names))
        above = value(statement, "above", names)
        assert (largest > above) == relation_holds(statement, "above $\\varepsilon^{-1/2}$ for", names)
    assert value(statement, "with a residual connection,", {"z": 1, "u(z)": 5}) == 6
    statement.says(
        "does not by itself bound", "to first order at a constant input", ", above $", "not the bound of a network"
    )
    assert words(statement, r"(\d)\. a linear map .* (\d)\. with a residual .* (\d)\. for .* (\d)\. measured") == tuple(
        "1234"
    )


@reads("sens-ex-half")
def half_of_the_bound(statement):
    for eps in (Integer(1), Rational(1, 3)):
        names = {r"\varepsilon": eps}
        three = {**names, "q": right_of(statement, "gives", names)}
        two = {**names, "q": evaluate(re_between(statement.tex(", so")), names)}
        for at, after, d in ((three, "````", 3), (two, "3\\varepsilon$. For", 2)):
            check(statement, after, {"d": Integer(d)})
            check(statement, after, at, 1)
            z = Matrix([1, -1] + [0] * (d - 2))
            z = z * sqrt(at["q"] / setting(z, eps)["q"])
            assert same(operator_norm(setting(z, eps)["J"]), value_right(statement, after, at))
            assert same(value_right(statement, after, at), 1 / sqrt(eps) / 2)
        check(statement, "gives", three)
        check(statement, "gives", two, 3)
        check(statement, ", so", two)
    check(statement, "half of the bound, for", {"d": Integer(3)})
    check(statement, "and for", {"d": Integer(2)})
    eps = right_of(statement, "With")
    assert 1 / sqrt(eps) == value(statement, "where the bound is", {}) == eps
    statement.says("exactly half")


def re_between(text):
    """The term between the equality and the approximation."""
    return text.split("=")[1].split(r"\approx")[0]


def value_right(statement, after, names):
    return evaluate(statement.tex(after, 1).split("=")[1], names)


@reads("sens-ex-length")
def how_short_a_step(statement):
    d, eps = Integer(2), given(statement, r"\varepsilon", {})
    assert given(statement, "d", {}) == d
    names = {"d": d, r"\varepsilon": eps}
    limit = evaluate(statement.tex("that is").split(r"\le")[1], names)
    direction = Matrix([1, -1]) / sqrt(2)
    share = value(statement, "at least", {})
    at = setting((7, 7), eps, h=limit * direction, q_h=limit**2 / 2)
    assert same(amplification(eps, at["z"], at["h"]), share / sqrt(eps))
    assert same(core(eps, at["z"] + at["h"]), value(statement, "moves from", at, 1))
    assert same(at["u"], value(statement, "moves from", at))
    check(statement, "with", at)
    check(statement, "the condition is", at)
    check(statement, "that is", at)
    for factor, kept in ((Rational(9, 10), True), (Rational(11, 10), False)):
        shorter = {**at, "h": factor * at["h"], "q_h": factor**2 * at["q_h"]}
        assert (
            relation_holds(statement, "the condition is", shorter)
            == relation_holds(statement, "that is", shorter)
            == kept
        )
        assert (number(amplification(eps, at["z"], shorter["h"])) >= number(share / sqrt(eps))) == kept
    decimal = statement.tex(", about").split(r"\sqrt")[0]
    assert approximately(limit / sqrt(d * eps), decimal)
    assert statement.tex(", about").endswith(r"\sqrt{d\,\varepsilon}")
    computed_below(statement, eps)
    statement.says("by at least $99")


@reads("sens-ex-two-gains")
def two_largest_gains(statement):
    m, eps = Integer(3), Rational(1, 5)
    names = setting((4, 4, 4), eps, [-3, 1, 3], i=Integer(1), j=Integer(3), m=m)
    check(statement, "Let", names)
    check(statement, "be the largest,", names)
    w = Matrix([right_of(statement, "direction $w$ with"), 0, right_of(statement, "direction $w$ with", number=1)])
    holds_entries = {**names, "w": w}
    check(statement, "direction $w$ with", holds_entries, count=2)
    assert same(norm(w), value(statement, "has length", {})) and sum(w) == 0
    sent = names[r"\gamma"].multiply_elementwise(names["J"] * w)
    assert same(sent, value(statement, "to first order, to", holds_entries))
    assert same(norm(sent), value(statement, "whose length is", names))
    assert same(norm(sent), value(statement, "are equal, then", names))
    unequal = setting((4, 4), 1, [1, 0])
    assert number(norm(sympy.diag(1, 0) * unequal["J"])) < 1


@reads("sens-ex-default")
def the_bound_for_two_layers(statement):
    eps, distance = given(statement, r"\varepsilon", {}), value(statement, "Two inputs are", {})
    gain = value(statement, "and the gains", {})
    left, right = statement.tex("The bound is").split(" = ")
    assert evaluate(left, {}) == evaluate(right, {}) == max(map(abs, gain)) / sqrt(eps)
    assert value(statement, "times the distance:", {}) == evaluate(right, {}) * distance
    replaced = value(statement, "if the second gain is", {})
    assert (value(statement, "With", {}), value(statement, "With", {}, 1)) == (replaced, gain[1])
    largest = max(abs(gain[0]), abs(replaced), abs(gain[2]))
    assert largest == value(statement, "the largest gain in size is", {})
    assert value(statement, "and the bound is", {}) == largest / sqrt(eps) * distance


@reads("sens-ex-project")
def the_search_for_the_worst_step(statement):
    eps = given(statement, r"\varepsilon", {})
    assert given(statement, "d", {}) == 3
    for after in ("does it come to", "Can it pass", "never passes"):
        assert value(statement, after, {}) == 1 / sqrt(eps)
    short = Matrix([1, -1, 0]) / 1000
    near = amplification(eps, short, short)
    assert Rational(99, 10) < number(near) < 10
    assert statement.tex("an input with") == r"\sqrt q \ll \sqrt\varepsilon"
    statement.says("never passes", "nearly centred")


@reads("sensitivity-wrong-layer-norm-tames-whatever-comes-in")
def a_constant_row_with_a_tiny_epsilon(statement):
    eps = given(statement, r"\varepsilon", {})
    one = operator_norm(setting((3, 3, 3), eps)["J"])
    assert one == value(statement, "has the amplification", {})
    layers = {"two": 2, "three": 3, "four": 4}[words(statement, r"(\w+) layers in a row")[0]]
    assert one**layers == value(statement, "layers in a row", {})
    assert value(statement, "cured it with", {}) == Rational(1, 1000)
    computed_below(statement, eps)


@reads("sensitivity-wrong-the-norm-of-the-jacobian-is")
def the_norm_at_two_coordinates(statement):
    names = setting(given(statement, "z", {}), given(statement, r"\varepsilon", {}))
    factor = value(statement, "smaller by the factor", names)
    claimed = value(statement, "The norm of the Jacobian is", names)
    assert same(norm(names["J"]), factor * claimed)
    assert 99_000 < 1 / factor < 101_000
    assert given(statement, "d", {}) == len(names["z"])
    for names in VARIED:
        if names["d"] > 1:
            claimed = value(statement, "The norm of the Jacobian is", names)
            assert same(norm(names["J"]), claimed) == relation_holds(statement, "True for", names)
    check(statement, "True for", {"d": Integer(3)})
    ones = value(statement, "orthogonal to both", setting((-1, 1), 1))
    for v in ([-1, 1], [0, 0]):
        assert (Matrix([list(ones), v]).nullspace() == []) == relation_holds(
            statement, "orthogonal to both $\\mathbf{1}$ and a", {"v": Matrix(v)}
        )
    statement.says("for $d \\ge 3$ only", "there is no direction", "a hundred thousand times")
    computed_below(statement, given(statement, r"\varepsilon", {}))


@reads("sensitivity-wrong-the-output-of-layer-norm-has")
def the_length_of_the_core(statement):
    for names in SETTINGS:
        check(statement, "It does not:", names)
        bound = value(statement, "the length is below", names)
        assert number(norm(names["u"])) < number(bound)
    d = given(statement, "d", {})
    assert value(statement, "the length is below", {"d": d}) == value(statement, "that is", {})
    near = core(Rational(1, 1000), Matrix([1, 2, 4]) * 100)
    assert 0.999 < number(norm(near) / sqrt(3)) < 1
    at_most = int(words(statement, r"has length at most (\d)")[0])
    assert value(statement, "is not bounded by", {}) == at_most == 1
    for d in (2, 3, 4):
        # The largest coordinate of any core of d coordinates without epsilon: that of a spike.
        beyond = max(core(0, [1] + [0] * (d - 1))) > at_most
        assert beyond == relation_holds(statement, "that is $16$. For", {"d": Integer(d)})
    count = {"nine": 9, "ten": 10}[words(statement, r"spike among (\w+) coordinates")[0]]
    left = statement.tex("comes out").split("=")[0]
    check(statement, "comes out", {"d": Integer(count)})
    spike = core(given(statement, r"\varepsilon", {}), Matrix([1] + [0] * (count - 1)))
    assert same(max(spike), evaluate(left, {}))
    statement.says("is below", "whenever $q$ is well above", "has length at most")


@reads("sensitivity-wrong-layer-norm-is-not-lipschitz")
def turning_a_pair_around(statement):
    s = Rational(1, 7)
    zero = given(statement, r"\varepsilon", {})
    z, step = value(statement, "Turn", {"s": s}), value(statement, "by the step", {"s": s})
    assert same(z + step, -z)
    assert same(core(zero, z), value(statement, "the core goes from", {}))
    assert same(core(zero, z + step), value(statement, "the core goes from", {}, 1))
    assert same(amplification(zero, z, step), value(statement, "the amplification is", {"s": s}))
    eps = given(statement, r"\varepsilon", {}, 1)
    limit = value(statement, "it stays below", {})
    assert limit > number(1 / sqrt(eps)) and approximately(1 / sqrt(eps), statement.tex("it stays below"))
    s = Symbol("s", positive=True)
    assert sympy.limit(value(statement, "the amplification is", {"s": s}), s, 0) is oo
    statement.says("It holds at $\\varepsilon = 0$ only", "is not Lipschitz", "it stays below")


@reads("sensitivity-wrong-max-i-gamma-i-sqrt-varepsilon")
def a_bound_that_is_beaten(statement):
    gain, eps = given(statement, r"\gamma", {}), Rational(1, 3)
    names = setting([5] * len(gain), eps, list(gain))
    largest = value(statement, "", names)
    exact = value(statement, "the exact constant is", names)
    assert same(exact, norm(sympy.diag(*gain) * names["J"]))
    assert same(exact, largest * value(statement, "by the factor", {}))
    step = Matrix([1, 0, 0, 0]) * Rational(1, 10**8)
    assert number(norm(gain.multiply_elementwise(core(eps, names["z"] + step) - names["u"])) / norm(step)) < number(
        exact
    )
    computed_below(statement, gain)
    statement.says("only centred steps count")

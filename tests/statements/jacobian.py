"""Readings of the statements on the Jacobian."""

import itertools
import re
from functools import partial

import numpy as np
import sympy
from sympy import Integer, Matrix, Rational, Symbol, oo, sqrt

from statements import reads
from statements.settings import SETTINGS, THREE, VARIED, core, setting
from statements.terms import (
    approximately,
    check,
    check_relations,
    computed_below,
    evaluate,
    given,
    holds,
    norm,
    number,
    relations,
    right_of,
    same,
    value,
    words,
)

EXAMPLE = setting((-1, 1), 3)


@reads("jac-example")
def the_example(statement):
    check_relations(statement, setting(given(statement, "z", {}), given(statement, r"\varepsilon", {})))


@reads("jac-entry")
def a_small_change_of_one_input(statement):
    s = Symbol("s", real=True)
    for i, j in itertools.product((1, 2, 3), repeat=2):
        z = THREE["z"] + s * Matrix([int(k == j) for k in (1, 2, 3)])
        u_i = core(THREE[r"\varepsilon"], z)[i - 1]
        names = {
            **THREE,
            "i": Integer(i),
            "j": Integer(j),
            "s": s,
            r"\partial u_i / \partial z_j": u_i.diff(s).subs(s, 0),
        }
        check(statement, "", names)
        rest = u_i - u_i.subs(s, 0) - value(statement, "$u_i$ changes by", names)
        assert same(rest.subs(s, 0), Integer(0))
        assert same(rest.diff(s).subs(s, 0), Integer(0))


@reads("jac-sums")
def rows_and_columns(statement):
    for names in SETTINGS:
        zero = value(statement, "sums to", names)
        assert same(names["J"], names["J"].T)
        assert same(names["J"] * names[r"\mathbf{1}"], zero * names[r"\mathbf{1}"])
        assert same(names[r"\mathbf{1}"].T * names["J"], zero * names[r"\mathbf{1}"].T)
    statement.says("each row and each column")


@reads("jac-directions")
def two_directions(statement):
    names = setting(given(statement, "z", {}), given(statement, r"\varepsilon", {}))
    check_relations(statement, names)
    assert same(names["z"], EXAMPLE["z"])


@reads("jac-local")
def a_local_answer(statement):
    t = Symbol("t", real=True)
    for names in SETTINGS:
        h = Matrix([1, -3, 2, 5][: names["d"]])
        rest = core(names[r"\varepsilon"], names["z"] + t * h) - names["u"] - t * names["J"] * h
        at = {t: Rational(1, 3)}
        more = {**names, "h": h, "t": at[t], "R": partial(rest.subs, t)}
        check(statement, "(with", more)
        holds(statement.tex("at $z$)").split(r"\qquad")[0], more)
        tiny = rest.subs(t, Rational(1, 10**12))
        assert number(norm(tiny)) * 10**12 < 10 ** -Integer(8)
        assert statement.tex("at $z$)").endswith(r"\frac{\|R(t)\|}{|t|} \to 0 \quad (t \to 0)")
    h = given(statement, "h", {})
    names = {"t": t}
    predicted, exact = (value(statement, after, names) for after in ("is predicted as", "but is"))
    assert (
        sympy.simplify((core(3, EXAMPLE["z"] + t * h)[1]).subs(t, Rational(2, 7)) - exact.subs(t, Rational(2, 7))) == 0
    )
    assert same(predicted, EXAMPLE["u"][1] + t * (EXAMPLE["J"] * h)[1])
    gap = predicted - exact
    assert same(sympy.series(gap, t, 0, 3).removeO(), value(statement, "gap between the two is", names))
    check(statement, "higher order; for", {"t": Integer(2)})
    sizes = [number(gap.subs(t, x)) for x in (0, Rational(1, 10), 1, 10, 1000)]
    assert sizes == sorted(sizes) and sympy.limit(gap, t, oo) is oo
    statement.says("For every $z$ and $h$", "no rule for finite changes", "beyond all bounds")


@reads("jac-gain")
def an_output_silenced(statement):
    gain = given(statement, r"\gamma", {})
    names = setting((-1, 1), 3, list(gain))
    check(statement, "the example <jac-example>`", names)
    product = sympy.diag(*gain) * names["J"]
    silenced, still, moved = (
        value(statement, after, {}) for after in ("zero: output", "is not: input", "still moves output")
    )
    assert same(product.row(silenced - 1), Integer(0)) and product[moved - 1, still - 1] != 0
    assert still == silenced
    statement.says("The first row is zero", "The first column is not")
    assert same(product.row(0), Integer(0)) and not same(product.col(0), Integer(0))


@reads("jac-parameters")
def the_derivatives_by_the_parameters(statement):
    for names in SETTINGS:
        d = int(names["d"])
        gain, bias = sympy.symbols(f"a1:{d + 1}"), sympy.symbols(f"b1:{d + 1}")
        y = Matrix(gain).multiply_elementwise(names["u"]) + Matrix(bias)
        more = {
            **names,
            r"\frac{\partial y}{\partial z}": names["J"].multiply_elementwise(
                names[r"\gamma"] * names[r"\mathbf{1}"].T
            ),
            r"\frac{\partial y}{\partial \gamma}": y.jacobian(Matrix(gain)),
            r"\frac{\partial y}{\partial \beta}": y.jacobian(Matrix(bias)),
        }
        check_relations(statement, more)
    statement.says("hold no $J$")


@reads("jac-ex-zero")
def where_entries_vanish(statement):
    z = given(statement, "z", {})
    eps = right_of(statement, "only at")
    names = setting(z, eps)
    zeros = {(i + 1, j + 1) for i, j in itertools.product(range(4), repeat=2) if same(names["J"][i, j], Integer(0))}
    places = [tuple(value(statement, "in the places", {}, k)) for k in (0, 1)]
    assert zeros == {(a, b) for a, b in places} | {(b, a) for a, b in places}
    check(statement, "For which", names)
    assert value(statement, "The mean is", {}) == names[r"\mu"]
    check(statement, "The mean is $0$ and", names)
    for i, j in places:
        more = {**names, "i": i, "j": j}
        check(statement, "is zero if", more)
        check(statement, "that is", more)
    written = {value(statement, "different entries are", {}, k) for k in range(3)}
    assert written == {names["v"][i] * names["v"][j] for i, j in itertools.combinations(range(4), 2)}
    check(statement, "so", names)
    left = sympy.solve(
        evaluate(statement.tex("$0$, so").split("=")[0], {r"\varepsilon": Symbol("e")}) - right_of(statement, "$0$, so")
    )
    assert left == [eps]
    assert right_of(statement, "$0$, so") == -min(written)
    text = statement.tex("On the diagonal an entry is zero if")
    assert (
        evaluate(text.split("=")[1], names)
        == right_of(statement, "On the diagonal an entry is zero if")
        == names["d"] - 1
    )
    assert relations(text, {**names, "i": Integer(1)})[0][1] == "="
    least = evaluate(statement.tex("On the diagonal an entry is zero if", 1).split(r"\ge")[1], {})
    factor = evaluate(
        statement.tex("On the diagonal an entry is zero if", 1).split("=")[1].split(r"\ge")[0], setting(z, 0)
    )
    assert factor == least == 3 * setting(z, 0)["q"]
    assert statement.tex("On the diagonal an entry is zero if", 1).startswith("v_i^2 = 3")
    assert value(statement, "but the largest $v_i^2$ is", {}) == max(x**2 for x in names["v"]) < least
    statement.says("only at")


@reads("jac-ex-two")
def two_coordinates(statement):
    for s, eps in itertools.product((Integer(2), Rational(-1, 3), Integer(0)), (Integer(2), Rational(1, 3))):
        names = setting(given(statement, "z", {"s": s}), eps, s=s)
        check(statement, "for every $s$ and", names)
        check(statement, "````", names, count=2)
        check(statement, "that matrix sends it to", names, 1)
        shape = value(statement, "is a multiple of", {})
        direction = value(statement, "It sends", {})
        factor = value(statement, "It sends", names, 1)
        assert same(names["J"] * direction, factor * value(statement, "times", {}))
        assert same(shape * direction, value(statement, "that matrix sends it to", {}))
    s, eps = Symbol("s", positive=True), Symbol("e", positive=True)
    entry = jacobian_of_two(s, eps)
    zero = statement.tex("As")
    assert zero == r"\varepsilon \to 0" == statement.tex("What is left of it as")
    assert sympy.limit(entry, eps, 0) == 0
    check(statement, "it vanishes at", {"s": Integer(2)})
    check(statement, "What is left of it as $\\varepsilon \\to 0$, at", {"s": Integer(2)})
    check(statement, "and at", {"s": Integer(0)})
    growth = value(statement, "grows like", {r"\varepsilon": eps})
    assert same(sympy.limit(entry, s, 0), growth)
    check(statement, "grows like", {"s": Integer(0)}, 1)
    assert sympy.limit(core(eps, [-s, s])[1], eps, 0) == 1
    statement.says("for every $s$")


def jacobian_of_two(s, eps):
    a, b = sympy.symbols("a b", real=True)
    return core(eps, [a, b])[0].diff(a).subs({a: -s, b: s})


@reads("jac-ex-trace")
def the_sum_of_the_diagonal(statement):
    for names in [*VARIED, setting((3, 3, 3), 2)]:
        if names["d"] > 1:
            assert same(names["J"].trace(), value(statement, "it is", names))
            check(statement, "every $z$ with", names)
        if names["q"] > 0:
            check(statement, "eigenvalues. For", names)
        else:
            assert same(names["J"].trace(), value(statement, "At a constant input it is", names))
            check(statement, "the same formula at", names)
    names = setting(given(statement, "z", {}), given(statement, r"\varepsilon", {}))
    check(statement, "For the example", names, count=2)
    check(statement, "so it is", names)
    assert same(right_of(statement, "so it is"), names["J"].trace())
    assert same(
        evaluate(statement.tex("so it is").split("+")[0], {}), names[r"\varepsilon"] / sqrt(Rational(3, 2)) ** 3
    )
    computed_below(statement, names["z"])


@reads("jacobian-wrong-the-norm-of-j-is-1")
def the_norm_at_two_coordinates(statement):
    for names in VARIED:
        if names["d"] >= 3:
            check(statement, "For", names)
            assert same(norm(names["J"]), value(statement, "The norm of J is", names))
    z, eps = given(statement, "z", {}), given(statement, r"\varepsilon", {})
    names = setting(z, eps)
    check(statement, "and at", names)
    check(statement, "with", names)
    left = value(statement, "what is left is", names)
    assert same(norm(names["J"]), left)
    factor = value(statement, "The norm of J is", names) / left
    assert 99_000 < number(factor) < 101_000
    statement.says("a hundred thousand")
    assert given(statement, "d", {}) == 2
    check(statement, "For", {"d": Integer(3)})
    computed_below(statement, eps)


@reads("jacobian-wrong-all-inputs-act-on-all-outputs")
def entries_that_vanish(statement):
    z, eps = value(statement, "opposite signs in", {}), given(statement, r"\varepsilon", {})
    names = setting(z, eps)
    for i, j in itertools.permutations(range(1, 5), 2):
        ((left, _, right, _),) = relations(statement.tex("vanishes where"), {**names, "i": Integer(i), "j": Integer(j)})
        assert same(left, right) == same(names["J"][i - 1, j - 1], Integer(0)) == (z[i - 1] * z[j - 1] < 0)
    check(statement, "vanishes where", {**names, "i": Integer(1), "j": Integer(2)})
    with_epsilon = setting((2, -1, -1, 0), Rational(1, 2))
    assert same(with_epsilon["J"][0, 1], Integer(0))
    statement.says("All inputs act on all outputs", "no zero entries")


@reads("jacobian-wrong-j-loses-two-dimensions")
def the_rank(statement):
    zero = given(statement, r"\varepsilon", {})
    lost = {"two": 2}[words(statement, r"J loses (\w+) dimensions")[0]]
    without = setting((0, 1, 2, 3), zero)
    assert len(without["J"].nullspace()) == lost
    assert same(without["J"] * value(statement, "it does, along", without), Integer(0))
    check(statement, "and along", without)
    assert same(without["J"] * without["v"], Integer(0))
    names = setting(given(statement, "z", {}), given(statement, r"\varepsilon", {}, 1))
    check(statement, "With", names)
    assert same(names["J"] * value(statement, "0$ only", names), Integer(0))
    assert names["J"].rank() == value(statement, "the rank is", names)
    zero, along, across = (value(statement, "the eigenvalues are", {}, k) for k in range(3))
    assert same(names["J"] * names[r"\mathbf{1}"], zero * names[r"\mathbf{1}"])
    assert same(names["J"] * names["v"], along * names["v"])
    for w in Matrix([names[r"\mathbf{1}"].T, names["v"].T]).nullspace():
        assert same(names["J"] * w, across * w)
    statement.says("twice")


@reads("jacobian-wrong-the-gradient-of-the-sum-of")
def the_gradient_of_the_sum(statement):
    factor = value(statement, "multiplying the sum by", {})
    for names in SETTINGS:
        holds(statement.tex(r"\sum_i u_i$ is"), names)
        assert same(value(statement, "no bug: the gradient of", names), value(statement, "the sum is", names))
        assert same(factor * names["J"].T * names[r"\mathbf{1}"], Integer(0))
    assert value(statement, "The gradient of", {}) == factor == Rational(99, 100)
    assert not same(THREE["J"].T * THREE[r"\gamma"], Integer(0))
    statement.says("at every input")


@reads("jacobian-wrong-if-the-first-derivative-is-right")
def a_second_derivative(statement):
    t = Symbol("t", real=True)
    z, gain, eps = (
        given(statement, "z", {"t": t}),
        given(statement, r"\gamma", {}),
        given(statement, r"\varepsilon", {}),
    )
    total = sum(a * x for a, x in zip(gain, core(eps, z), strict=True))
    assert same(total.subs(t, Rational(7, 10)), value(statement, "the outputs sum to", {"t": Rational(7, 10)}))
    assert same(total.subs(t, Integer(2)), value(statement, "the outputs sum to", {"t": Integer(2)}))
    at = given(statement, "t", {})
    second = number(total.diff(t, 2).subs(t, at))
    # What the reported mistake makes: the first derivative once more, with mean and root held constant.
    names = setting(z.subs(t, at), eps)
    h, w = z.diff(t), names["P"] * z.diff(t)
    frozen = -(w.dot(names["u"]) * h + w.dot(w) * names["u"]) / names["d"] / (names["q"] + eps)
    assert approximately(gain.dot(frozen), statement.tex("was reported to give"))
    assert not approximately(second, statement.tex("was reported to give"))


@reads("jac-ex-entry")
def two_entries_of_a_row(statement):
    names = setting(given(statement, "z", {}), given(statement, r"\varepsilon", {}))
    J = names["J"]
    assert same(value(statement, "The core is", {}), names["u"])
    assert same(value(statement, "the root is", {}), sqrt(names["q"] + names[r"\varepsilon"]))
    for place, column in ((0, 0), (1, 2), (3, 1)):
        sides = statement.tex("````", place).split(" = ")
        assert sides[0] == f"J_{{1{column + 1}}}"
        assert all(same(evaluate(side, {}), J[0, column]) for side in sides[1:])
    assert same(sum(J[0, :]), value(statement, "The row sums to", {}))
    assert max(range(3), key=lambda column: abs(J[0, column])) == 0
    statement.says("The first input moves it most", "an entry's size is what counts")


@reads("jac-ex-project")
def central_differences(statement):
    z, eps = Matrix([1, 2, 4]), Integer(2)
    names = {"z": z, "s": Rational(1, 1000), "e_j": Matrix([1, 0, 0])}

    def u(z):
        return core(eps, z)

    quotient = statement.tex("by central differences").replace(r"\bigl", "").replace(r"\bigr", "")
    plus, minus = (evaluate(part, names) for part in re.findall(r"u\((.*?)\)", quotient))
    assert same(plus - z, z - minus)
    assert quotient.endswith(f"/({2}s)")
    column = (u(plus) - u(minus)) / (2 * names["s"])
    wrong = sympy.N((column - setting(z, eps)["J"][:, 0]).norm())
    assert wrong < names["s"] ** 2
    powers = words(statement, r"s = 10\^\{-(\d)\}, 10\^\{-(\d)\}, \\dots, 10\^\{-(\d)\}")
    assert powers == ("1", "2", "9")
    assert int(powers[2]) > 5
    # Rounding of 1e-16 over 2 s meets s^2 near the cube root.
    assert 4.5 < -np.log10((1e-16 / 2) ** (1 / 3)) < 5.5
    statement.says("lies near $10^{-5}$", "falls like $s^2$", "is divided by $2s$", "about a hundredfold", "tenfold")

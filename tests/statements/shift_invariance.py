"""Readings of the statements on common shifts."""

import re

import numpy as np
import sympy
from sympy import Integer, Matrix, Rational, Symbol, sqrt

from statements import reads
from statements.settings import SETTINGS, VARIED, core, defined, setting
from statements.terms import (
    cells,
    check,
    check_relations,
    computed_below,
    evaluate,
    given,
    norm,
    number,
    relations,
    same,
    value,
    words,
)


@reads("shift-example")
def a_hundred_more(statement):
    names = setting(given(statement, "z", {}), given(statement, r"\varepsilon", {}))
    check_relations(statement, names)
    shifted = value(statement, "The input", {})
    assert same(shifted, names["z"] + 100 * names[r"\mathbf{1}"])
    assert same(core(names[r"\varepsilon"], shifted), names["u"])


@reads("shift-steps")
def step_by_step(statement):
    for names in SETTINGS:
        more = {**names, "c": Rational(-7, 2)}
        shifted = evaluate(statement.tex("Under").split(r"\mapsto")[1], more)
        after = setting(shifted, names[r"\varepsilon"])
        assert same(after[r"\mu"], value(statement, "the mean becomes", more))
        assert same(after["v"], names["v"])
        assert same(after["q"], names["q"])
    statement.says("and the variance $q$ do not change")


@reads("shift-kernel")
def the_kernel_of_centring(statement):
    for names in SETTINGS:
        (kernel,) = names["P"].nullspace()
        assert same(kernel / kernel[0], names[r"\mathbf{1}"])
        common = Integer(5)
        assert same(names["P"] * (common * names[r"\mathbf{1}"]), value(statement, "sends $a$ to", {}))
        check(statement, "if and only if", {**names, "c": common, "a": 5 * names[r"\mathbf{1}"]})
        assert names["d"] == 1 or not same(names["P"] * Matrix(range(names["d"])), Integer(0))
    statement.says("Only common shifts", "if and only if", "spans the kernel of $P$")


@reads("shift-exact")
def the_layer_does_not_see_a_common_shift(statement):
    for names in SETTINGS:
        for c in (3, Rational(-1, 2)):
            more = {**names, "c": sympy.sympify(c)}
            check(statement, "number $c$, every", more)
            check(statement, "$\\beta$,", more)
    for names in VARIED:
        zero = setting(names["z"], 0)
        check(statement, "At", zero)
        check(statement, "that is for", zero)
        assert same(core(0, names["z"] + 9 * names[r"\mathbf{1}"]), zero["u"])
    assert not defined(0, [3, 3, 3])
    statement.says("For every input $z$, every number $c$, every", "and every fixed gain", "exact")


@reads("shift-unequal")
def an_unequal_shift(statement):
    eps = given(statement, r"\varepsilon", {})
    z, a = given(statement, "z", {}), given(statement, "a", {})
    check(statement, "Let", {r"\varepsilon": eps})
    check(statement, "is no common shift, then", {**setting(z, eps), "a": a})
    assert same(core(eps, z), value(statement, "the core moves from", {}))
    assert same(core(eps, z + a), value(statement, "the core moves from", {}, 1))
    for names in VARIED:
        unequal = Matrix([0] * (names["d"] - 1) + [2])
        check(statement, "is no common shift, then", {**names, "a": unequal})
    # Without epsilon another multiple of the same v goes unseen.
    assert same(core(0, 2 * z), core(0, z))
    statement.says("If $a$ is no common shift")


@reads("shift-affine-bias")
def a_redundant_direction(statement):
    for names in SETTINGS:
        more = {**names, "b": names["z"], "c": Integer(4)}
        moved = value(statement, "Replacing $b$ by", more)
        assert same(core(names[r"\varepsilon"], moved), names["u"])
        assert len(names["P"].columnspace()) == value(statement, "uses at most", names)
        g = Matrix([2, -1, 5, 3][: names["d"]])
        by_bias = names["J"].T * g
        assert same(sum(by_bias), value(statement, "sum to", {}))
    statement.says("changes no output, for any $x$", "at most", "For every loss")


@reads("shift-raw-input")
def a_shift_of_the_raw_input(statement):
    W, x, b, a = Matrix([[1, 2], [3, 4]]), Matrix([1, 5]), Matrix([0, 3]), Matrix([2, -7])
    names = {**setting((0, 1), 1), "W": W, "a": a, "x": x, "b": b}
    moved = value(statement, "Replacing $x$ by", names)
    assert same(W * moved + b - (W * x + b), value(statement, "adds", names))
    check(statement, "For", names)
    for a in (Matrix([1, -1]), Matrix([1, 1]), Matrix([3, 0])):
        names |= {"a": a, "c": Integer(1)}
        ((left, sign, right, _),) = relations(statement.tex("if and only if"), names)
        assert sign == "="
        assert same(left, right) == same(core(1, W * (x + a) + b), core(1, W * x + b))
    common = {**names, "a": Matrix([1, 1])}
    check(statement, "not even for", common)
    assert not same(names["P"] * W * common["a"], Integer(0))
    statement.says("does not change if and only if", "in general does not hold", "not even for")


@reads("shift-weights")
def the_same_row_for_each_row(statement):
    W, x, p = Matrix([[1, 2], [3, 4], [0, -1]]), Matrix([1, 5]), Matrix([2, -7])
    names = {**setting((0, 1, 3), 1), "W": W, "p": p, "x": x}
    moved = value(statement, "Replacing $W$ by", names)
    row = value(statement, "the same row", names)
    assert all(same(moved.row(i) - W.row(i), row) for i in range(3))
    added = evaluate(statement.tex("adds"), names)
    assert same(moved * x - W * x, added)
    for eps in (Rational(1, 9), Integer(2)):
        check(statement, "This holds for every", {r"\varepsilon": eps})
        assert same(core(eps, moved * x), core(eps, W * x))
    statement.says("for every $\\varepsilon", "another common shift for each $x$, removed for each $x$")


@reads("shift-ex-mean-zero")
def the_bias_of_mean_zero(statement):
    b = given(statement, "b", {})
    bar = sum(b) / Integer(len(b))
    names = {"b": b, r"\bar b": bar, r"\mathbf{1}": sympy.ones(3, 1)}
    found = evaluate(statement.tex("````").split("=")[2], names)
    check(statement, "````", {**names, "b'": found})
    assert (
        sum(found)
        == value(statement, "Find the vector $b'$ with mean", {})
        == value(statement, "two vectors of mean", {})
    )
    c = Symbol("c")
    check(statement, "only one: with", {r"\varepsilon": Rational(1, 9)})
    (only,) = sympy.solve(sum(found + value(statement, "that differ by", {**names, "c": c})), c)
    assert only == evaluate(statement.tex("have").split("=")[1], {})
    check(statement, "have", {"c": only})
    statement.says("only common shifts go unseen", "It is the only one")


@reads("shift-ex-raw")
def the_shifts_no_core_shows(statement):
    W = given(statement, "W", {})
    first, second, s = sympy.symbols("a1 a2 s")
    names = {"W": W, "a": Matrix([first, second])}
    check(statement, "````", names)
    entries = W * names["a"]
    left, right = (evaluate(side, names) for side in statement.tex("if both entries are equal:").split("="))
    assert same(left - right, entries[1] - entries[0])
    shift = evaluate(statement.tex("So").split("=")[1], {"s": s})
    check(statement, "So", {"s": s, "a": shift})
    assert same(left.subs({first: shift[0], second: shift[1]}), right)
    added = W * shift
    assert same(added[0], added[1]) and same(added[0], value(statement, "which adds", {"s": s}))
    statement.says("find all shifts", "no core shows")


@reads("shift-ex-descent")
def the_mean_stays(statement):
    eta = given(statement, r"\eta", {})
    target = Matrix([int(n) for n in words(statement, r"y - \((\d), (\d), (\d)\)")])
    y = Matrix(sympy.symbols("y1:4", real=True))
    loss = evaluate(statement.tex("the gradient of").split("=")[1], {"y": y})
    names = setting((1, 2, 4), 1)
    g = Matrix([loss.diff(entry) for entry in y]).subs(dict(zip(y, names["y"], strict=True)))
    assert same(g, names["y"] - target)
    by_bias = names["J"].T * g
    step = value(statement, "Each step adds", {r"\eta": eta, r"\partial\ell/\partial b": by_bias})
    assert same(step, -eta * by_bias)
    assert same(sum(step), value(statement, "sum to", {}))
    assert given(statement, "x", {}) == 0
    computed_below(statement, eta, target)
    W, x, b = Matrix([[1, 2], [3, 4]]), Matrix([1, 5]), Matrix([0, 3])
    check(statement, "trains $b$ in", {"W": W, "x": x, "b": b, "z": W * x + b})
    statement.says("never changes", "no weight decay")


@reads("shift-invariance-wrong-the-layer-is-invariant-to-shifting")
def one_feature_moved(statement):
    step = value(statement, "adding", {})
    moved = core(Rational(1, 3), Matrix([1, 2, 3 + step])) - core(Rational(1, 3), [1, 2, 3])
    assert all(entry != 0 for entry in moved)
    statement.says("for a common shift only", "to the last of the three features above has moved every coordinate")


@reads("shift-invariance-wrong-the-theorem-is-exact-so-the")
def digits_an_algorithm_loses(statement):
    def two_powers(z, dtype):
        z = np.array([float(entry) for entry in z], dtype)
        size = dtype(len(z))
        return np.sum(z * z, dtype=dtype) / size - (np.sum(z, dtype=dtype) / size) ** 2

    z = value(statement, "On", {})
    assert re.search("comes out negative", statement.text) and two_powers(z, np.float32) < 0
    steps = Matrix([0, 1, 2, 3])
    assert same(z - z[0] * sympy.ones(4, 1), steps)
    computed_below(statement, z)
    zero = value(statement, "it comes out as", {})
    for place, dtype in enumerate((np.float32, np.float64)):
        first = value(statement, "as NaN", {}, place)
        assert f"[{first}, {first + 1}, " in cells(statement.page)
        assert two_powers(first * sympy.ones(4, 1) + steps, dtype) == float(zero)
    names = setting(z, 1)
    assert names["q"] == value(statement, "The right variance is", {})
    centred = np.array([float(x) for x in names["v"]], np.float32)
    assert np.mean(centred * centred) == float(names["q"])
    holds_at = {**names, r"\overline{z^2}": sum(x**2 for x in z) / Integer(4)}
    assert same(value(statement, "The variance as", holds_at), names["q"])
    assert abs(value(statement, "numbers near", holds_at) / holds_at[r"\overline{z^2}"] - 1) < Rational(1, 10**6)
    statement.says("in float32 it comes out negative", "no algorithm brings")


@reads("shift-invariance-wrong-t5-s-layer-norm-forgets-the")
def without_centring(statement):
    for names in VARIED:

        def other(z, names=names):
            return value(statement, "{term}`RMSNorm`:", {**names, "z": z})

        assert same(other(names["v"]), names["u"])
        assert not same(other(names["z"] + names[r"\mathbf{1}"]), other(names["z"]))
    statement.says("It sees a common shift")


@reads("shift-invariance-wrong-it-is-invariant-to-every-scale")
def turned_around(statement):
    check(statement, "large factors", {r"\alpha": Integer(-3)})
    for names in VARIED:
        check(statement, "turns the core around:", names)
        assert not same(-names["u"], names["u"])


@reads("shift-invariance-wrong-the-jacobian-shrinks-with-the-length")
def a_long_input_with_the_same_jacobian(statement):
    eps = given(statement, r"\varepsilon", {})
    z = Matrix([1, 2, 4])
    near = setting(z, eps)
    far = setting(z + 10**6 * sympy.ones(3, 1), eps)
    assert same(near["J"], far["J"])
    bounds = []
    for names in (near, far):
        bound = evaluate(re.search(r"O\((.*)\)", statement.tex("says"))[1], {**names, "x": names["z"]})
        bounds.append(number(bound))
        assert same(sqrt(3) / norm(names["v"]), norm(names["J"]))
    assert bounds[0] > 10**5 * bounds[1]
    statement.says("Only the second of the two quotients below")
    assert statement.tex("says").startswith(r"\|J\|_2 = O")
    # A mean far below zero is at most any multiple of the root, but the input is as long: the size counts.
    below = setting(z - 10**6 * sympy.ones(3, 1), eps)
    spread = value(statement, "fixed multiple of", below)
    assert number(below[r"\mu"]) < number(spread) < number(value(statement, "among inputs whose", below))
    assert number(norm(below["z"])) > 10**5 * number(norm(near["z"]))
    statement.says("at most a fixed multiple", "holds only among inputs")


@reads("shift-ex-which")
def which_inputs_share_a_core(statement):
    z = given(statement, "z", {})
    rows = [value(statement, "1$:", {}, number) for number in range(4)]
    eps = given(statement, r"\varepsilon", {})
    zero = given(statement, r"\varepsilon", {}, 1)
    centred = [value(statement, "The centred vectors are", {}, 0)]
    centred += [value(statement, "for $z$, then", {}, number) for number in range(4)]
    for row, v in zip([z, *rows], centred, strict=True):
        assert same(setting(row, 1)["v"], v)
    assert given(statement, r"\varepsilon", {}, 2) == eps
    assert given(statement, r"\varepsilon", {}, 3) == zero
    assert [same(core(eps, row), core(eps, z)) for row in rows] == [True, False, True, False]
    assert [same(core(zero, row), core(zero, z)) for row in rows] == [True, True, True, False]
    assert same(core(zero, rows[3]), -core(zero, z))
    statement.says(
        "the first and the third", "no other has", "the second has it too", "the fourth has the opposite core"
    )


@reads("shift-ex-project")
def weights_without_their_mean(statement):
    rows, columns = (int(n) for n in words(statement, r"a random \$(\d+) \\times (\d+)\$ matrix"))
    assert rows != columns
    names = setting((1, 2, 4), 1)
    W, b, x = Matrix(3, 2, range(1, 7)), Matrix([3, -1, 5]), Matrix([2, -7])
    z = W * x + b
    more = {**setting(z, 1), "W": W, "b": b, "x": x}
    check(statement, "````", more)
    assert same(value(statement, "which is", more), names["P"] * z)
    check(statement, "so the factor is", {"d": Integer(rows)})
    entries = Matrix(sympy.symbols("w1:4"))
    kept = sympy.expand((names["P"] * entries).dot(names["P"] * entries))
    squares = sum(kept.coeff(entry, 2) for entry in entries)
    assert squares / 3 == Rational(2, 3) == 1 - Rational(1, 3)
    statement.says("a $d$-th of the squared length on average", "the core is the same")

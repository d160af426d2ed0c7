"""Readings of the statements on epsilon."""

import itertools
from functools import partial

import numpy as np
import sympy
from sympy import Integer, Matrix, Rational, Symbol, oo, sqrt

from statements import reads
from statements.exact import mean, variance
from statements.settings import SETTINGS, THREE, VARIED, core, setting
from statements.terms import (
    approximately,
    check,
    check_relations,
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


@reads("eps-example")
def two_cores_of_one_input(statement):
    check_relations(statement, setting(given(statement, "z", {}), 1))
    small, large = (relations(statement.tex("where", number), setting((1, 2, 3), 1))[0] for number in (1, 2))
    assert not same(small[2], large[2])
    assert words(statement, r"(u_\{1/3\}).*(u_\{4/3\})")


@reads("eps-constant-input")
def nothing_is_left(statement):
    for eps, c, bias in itertools.product((Rational(1, 3), 5), (0, -2), ([1, 2, 3], [0, 0, -4])):
        names = setting([c] * 3, eps, [2, 0, -1], bias, c=Integer(c))
        check_relations(statement, names)
        assert same(names["u"], value(statement, "the core", names))
        assert same(names["y"], value(statement, "the output", names))
    statement.says(r"Every $\varepsilon > 0$", "whatever $c$ and the gain")


@reads("eps-variance")
def the_variance_that_is_left(statement):
    for names in SETTINGS:
        assert same(variance(list(names["u"])), value(statement, "has the variance", names))
        assert variance(list(names["u"])) < value(statement, "It is never", {})
    eps, q = sympy.symbols("e q", positive=True)
    names = {"q": q, r"\varepsilon": eps}
    left = value(statement, "has the variance", names)
    assert left.limit(q, oo) == value(statement, "It is near", {}) == value(statement, "It is never", {})
    assert left.limit(q, 0) == value(statement, "and near", {})
    check(statement, "tfrac12$ at", {"q": eps, r"\varepsilon": eps})
    assert same(left.subs(q, eps), value(statement, "exactly", {}))
    statement.says(r"for $q \gg", r"for $q \ll", "exactly", "never")


@reads("linear-regime")
def far_below_epsilon(statement):
    for names in VARIED:
        names = {**names, r"\delta": given(statement, r"\delta", names)}
        check_relations(statement, names)
    tiny = setting((0, Rational(1, 1000)), 1)
    delta = given(statement, r"\delta", tiny)
    bound = evaluate(statement.tex("For", 1).split("<")[-1], tiny)
    assert Rational(999, 1000) < sympy.N(delta / bound, 30) < 1


@reads("eps-full-moments")
def equal_and_unequal_gains(statement):
    for z, eps in (((1, 2, 4), 1), ((0, 1, 2, 3), Rational(1, 4))):
        c, b = Rational(-3, 2), Integer(7)
        names = setting(z, eps, [c] * len(z), [b] * len(z), c=c, b=b)
        check(statement, "With equal gains", names)
        check(statement, "and equal biases", names)
        assert same(value(statement, "the output has the mean", names), mean(names["y"]))
        assert same(value(statement, "and the variance", names), variance(list(names["y"])))
    u = given(statement, "u", {})
    assert (value(statement, "with mean", {}), value(statement, "with mean", {}, 1)) == (mean(u), variance(u))
    gained = value(statement, "the gain", {}).multiply_elementwise(u)
    moved = u + value(statement, "the bias", {})
    for changed, first in ((gained, 0), (moved, 3)):
        assert value(statement, "alone makes them", {}, first) == mean(changed)
        assert value(statement, "alone makes them", {}, first + 1) == variance(changed)


@reads("eps-scaling")
def scaling_is_dividing_epsilon(statement):
    for names, a in itertools.product(VARIED, (Integer(3), Rational(1, 2))):
        more = {**names, "a": a}
        check(statement, "For every", more)
        check(statement, "and every", more)
        check(statement, "with", more, count=2)
        check(statement, "If", more)
        check(statement, "and", more, 2)
        assert not same(core(names[r"\varepsilon"], a * names["z"]), names["u"])
    zero = setting((1, 2, 4), 0, a=Integer(3))
    check(statement, "and every", zero)
    check(statement, "with", zero, count=2)
    check(statement, "only for", {"a": Integer(1)})
    assert same(value(statement, "this equals", zero), core(0, 3 * zero["z"]))
    statement.says("For every $a > 0$ and every", "only for")


@reads("eps-scaling-unstabilised")
def no_scale_is_left(statement):
    for names, a in itertools.product(VARIED, (Integer(3), Rational(1, 2))):
        zero = setting(names["z"], 0, a=a)
        check_relations(statement, zero)
        assert not same(core(0, -a * zero["z"]), zero["u"])
        assert not same(core(1, 3 * zero["z"]), core(1, zero["z"]))
    statement.says("exactly the same for every scale", "for all $a > 0$")


@reads("eps-family")
def the_family_along_a_line(statement):
    t, eps = Symbol("t", real=True), Symbol("e", positive=True)
    names = {"t": t, r"\varepsilon": eps}
    line = given(statement, "z", names)
    curve = core(eps, list(line))[2]
    h, slope = curve, curve.diff(t)
    at_many = [{t: x, eps: e} for x in (Rational(-3, 2), 0, 2) for e in (1, Rational(1, 3))]
    for at in at_many:
        numbers = {"t": at[t], r"\varepsilon": at[eps]}
        functions = {
            r"f_\varepsilon": partial(h.subs(eps, at[eps]).subs, t),
            r"f_\varepsilon'": partial(slope.subs(eps, at[eps]).subs, t),
        }
        check(statement, "its derivative by $t$ are", {**numbers, **functions})
        assert sympy.N(slope.subs(at)) > 0
    check(statement, "steepest at", {"t": Integer(0)})
    steepest = value(statement, "with slope", names)
    assert same(slope.subs(t, 0), steepest)
    assert all(sympy.N(slope.subs({t: x, eps: 1})) < 1 for x in (-1, Rational(1, 10)))
    ends = statement.tex("tends to").removeprefix(r"\pm")
    assert evaluate(ends, {}) == sympy.limit(h.subs(eps, 1), t, oo) == -sympy.limit(h.subs(eps, 1), t, -oo)
    statement.says(r"$t \to \pm\infty$", "grows everywhere", "for every", r"to $\pm")


@reads("eps-jacobian")
def the_derivative_of_the_core(statement):
    for names in [*SETTINGS, setting((1, 2, 4), 0), setting((-1, 2), 0)]:
        check(statement, "If", names)
        check(statement, "differentiable at", names, 1)
        check(statement, "differentiable at", {**names, r"D u_\varepsilon(z)": names["J"]}, 2)
        equal, otherwise = right_of(statement, "Entry by entry, with"), value(statement, "Entry by entry, with", {}, 2)
        for i, j in itertools.product(range(1, names["d"] + 1), repeat=2):
            indices = {"i": Integer(i), "j": Integer(j)}
            (diagonal,) = relations(statement.tex("Entry by entry, with", 1), indices)
            delta = equal if related(*diagonal) else otherwise
            check(statement, "otherwise,", {**names, **indices, r"\delta_{ij}": delta})
    statement.says(r"with $\delta_{ij} = ")


def across(names):
    """A vector orthogonal to the ones and to v, another for each d."""
    return Matrix([names[r"\mathbf{1}"].T, names["v"].T]).nullspace()


@reads("eps-eigen-shift")
def a_common_shift_is_lost(statement):
    for names in SETTINGS:
        check_relations(statement, names)
        assert names["d"] != 3 or not same(names["J"] * Matrix([1, 2, 5]), Integer(0))
    statement.says("all coordinates by the same amount changes nothing")


@reads("eps-eigen-radial")
def along_the_centred_vector(statement):
    for names in VARIED:
        check_relations(statement, names)


@reads("eps-eigen-orthogonal")
def across_the_centred_vector(statement):
    for names in VARIED:
        for w in across(names):
            check(statement, "and to", {**names, "w": w}, 1)
        check(statement, "For", names)
        assert value(statement, "a space of", names) == len(across(names))
    assert "= " in statement.tex("and to", 1)
    assert value(statement, "orthogonal to", THREE) == THREE[r"\mathbf{1}"]


@reads("eps-jacobian-constant")
def at_a_constant_input(statement):
    for d, eps in itertools.product((1, 2, 3), (2, Rational(1, 3))):
        names = setting([5] * d, eps)
        check_relations(statement, names)
        for w in names["P"].columnspace():
            assert same(names["J"] * w, w * value(statement, "stretched by the same", names))
    statement.says("every centred direction")


@reads("eps-norm-bound")
def a_bound_for_all(statement):
    for names in SETTINGS:
        check_relations(statement, {**names, "J(z)": names["J"]})
    statement.says("for every $z$", "for every input")


@reads("eps-norm-by-dimension")
def the_norm_by_dimension(statement):
    for names in [*SETTINGS, setting((4, 4), 3)]:
        length, d = norm(names["J"]) if names["d"] > 1 else abs(names["J"][0]), names["d"]
        if d == given(statement, "d", {}):
            assert same(length, value(statement, "The norm is", names))
            check(statement, "where", names)
        elif d == given(statement, "d", {}, 1):
            ((left, _, right, _),) = relations(statement.tex("no direction lies across a"), names)
            assert related(left, "!=", right) == (across(names) == [])
            assert same(length, value(statement, "; it is", names))
        else:
            check(statement, "for", names)
            assert same(length, value(statement, "and it is", names))
        if names["q"] == 0 and d > 1:
            assert same(length, value(statement, "the last two are both", names))


@reads("eps-lipschitz")
def two_inputs(statement):
    for names, step in itertools.product(SETTINGS, (Rational(1, 9), 4)):
        other = names["z"] + Matrix([step * k**2 for k in range(names["d"])])
        check(statement, "For all", {**names, "z'": other}, 1)
    statement.says("For all $z, z'")


@reads("eps-full-bound")
def gain_times_bound(statement):
    for names in SETTINGS:
        full = sympy.diag(*names[r"\gamma"]) * names["J"]
        length = norm(full) if names["d"] > 1 else abs(full[0])
        assert number(length) <= number(value(statement, "with the constant", names))
    pair = setting((4, 4), 3, [2, -2])
    assert same(norm(sympy.diag(2, -2) * pair["J"]), value(statement, "with the constant", pair))


@reads("eps-attained")
def a_step_from_a_constant_input(statement):
    for d, eps in itertools.product((2, 3), (2, Rational(1, 3))):
        for h in ([1, -1] + [0] * (d - 2), [Rational(1, 10), Rational(-1, 10)] + [0] * (d - 2)):
            names = setting([7] * d, eps, h=Matrix(h), c=Integer(7))
            check_relations(statement, names)
            factor = evaluate(statement.tex("amplified exactly").split(" = ")[1], names)
            assert sympy.N(factor) < sympy.N(value(statement, "as close to", names))
    tiny = setting([7, 7], 1, h=Matrix([Rational(1, 10**6), -Rational(1, 10**6)]))
    factor = evaluate(statement.tex("amplified exactly").split(" = ")[1], tiny)
    assert sympy.N(value(statement, "as close to", tiny) - factor, 30) < Rational(1, 10**11)
    assert norm(setting([7], 1)["J"]) == 0
    statement.says("in every centred direction", "amplified exactly", "stays below it")


@reads("eps-ex-nine-tenths")
def an_epsilon_for_nine_tenths(statement):
    names = setting(given(statement, "z", {}), right_of(statement, "hence"))
    wanted = value(statement, "the variance", {})
    assert same(variance(list(names["u"])), wanted)
    assert value(statement, "The mean is", {}) == names[r"\mu"]
    check(statement, "so", names, count=2)
    assert right_of(statement, "we need") == wanted
    check(statement, "we need", names)
    check(statement, "hence", names)
    top = Rational(statement.tex("we need").split("/")[0])
    assert top == names["q"]


@reads("eps-ex-units")
def metres_and_millimetres(statement):
    old, a = given(statement, r"\varepsilon", {}), given(statement, "a", {})
    assert a == 1000
    new = right_of(statement, ", so")
    names = setting((1, 2, 4), old, **{"a": a, r"\varepsilon'": new})
    names[r"u_{\varepsilon'}"] = partial(core, new)
    check(statement, "By {prf:ref}`eps-scaling`", names)
    check(statement, ", so", names)
    assert same(core(new, a * names["z"]), names["u"])
    statement.says("metres with", "millimetres", "every output")


@reads("eps-ex-half-slope")
def half_of_the_largest_slope(statement):
    t, e = sympy.symbols("t e", positive=True)
    slope = core(e, [-t, 0, t])[2].diff(t)
    for eps in (Integer(1), Rational(1, 3)):
        names = {r"\varepsilon": eps}
        at = right_of(statement, "so", names=names, number=1)
        names["t"] = at
        assert same(slope.subs({t: at, e: eps}), slope.subs(e, eps).limit(t, 0) / 2)
        check(statement, "For which", names)
        check(statement, "We need", names)
        check(statement, "it says", names)
        check(statement, "so", names, count=2)
        assert same(
            value(statement, "Multiplied by", names) * right_of(statement, "We need", names=names),
            right_of(statement, "it says"),
        )
        reach = value(statement, "reaches about", names)
        assert Rational(1, 2) < sympy.N(at / reach) < Rational(3, 2)
    statement.says("half of its largest value", "about")


@reads("epsilon-wrong-epsilon-is-added-to-the-denominator")
def inside_and_outside(statement):
    z, eps = given(statement, "z", {}), given(statement, r"\varepsilon", {})
    names = setting(z, eps)
    outside, inside = names["v"] / (sqrt(names["q"]) + eps), names["u"]
    assert approximately(outside[0] / inside[0], statement.tex("outside version is"))
    check(statement, "its slope at zero is", names)
    left, right = statement.tex("in place of").split(" = ")
    assert approximately(evaluate(left, names), right)
    s = Symbol("s", positive=True)
    assert sympy.limit((s / (s + eps)).diff(s), s, 0) == right_of(statement, "its slope at zero is")
    assert same(sympy.limit((s / sqrt(s**2 + eps)).diff(s), s, 0), evaluate(left, names))


@reads("epsilon-wrong-outside-the-root-it-is-just")
def the_chain_rule_outside_the_root(statement):
    eps = Rational(1, 10**5)
    names = setting((3, 3, 3), eps, **{r"\partial q/\partial z": Integer(0)})
    check(statement, "Forward, yes:", names)
    q = Symbol("q", positive=True)
    zero = right_of(statement, "the derivative of", number=1)
    assert sympy.limit(value(statement, "the derivative of", {"q": q}).diff(q), q, zero) is oo
    direction = Matrix([1, 4, -2])
    s = Symbol("s", positive=True)
    v = s * names["P"] * direction
    moved = v / (sqrt(variance(list(s * direction))) + eps)
    slope = Matrix([sympy.limit(entry, s, 0) for entry in moved.diff(s)])
    assert same(slope, value(statement, "has a derivative there,", names) * direction)
    z = Matrix(sympy.symbols("z1:4", real=True))
    gradient = Matrix([variance(list(z)).diff(x).subs({y: 3 for y in z}) for x in z])
    assert same(gradient, right_of(statement, "which is infinite, times"))
    statement.says("is just as safe", "does not find it")


@reads("epsilon-wrong-one-might-as-well-take-max")
def the_larger_of_variance_and_epsilon(statement):
    eps = Integer(1)

    def third(z):
        return (z - mean(z) * sympy.ones(len(z), 1)) / sqrt(max(variance(list(z)), eps))

    z = Matrix([1, 2, 4])
    names = setting(z, eps)
    check(statement, "other values at every", names)
    assert not same(third(z), names["u"]) and not same(third(z / 100), core(eps, z / 100))
    assert variance(list(third(z))) == value(statement, "has the variance", {}) != variance(list(third(z / 100)))
    assert same(third(3 * z), third(z))
    at_kink = z / sqrt(variance(list(z)))
    check(statement, "a kink at", setting(at_kink, eps))
    s = Symbol("s", real=True)
    below, above = at_kink[0] * (1 + s), at_kink[0] * (1 + s) / sqrt((1 + s) ** 2)
    assert below.diff(s).subs(s, 0) != sympy.limit(above.diff(s), s, 0)
    bound = value(statement, "The bound", names)
    assert norm(third(2 * z) - third(z / 2)) <= norm(z * Rational(3, 2)) * bound
    assert bound == 1 / sqrt(eps)
    statement.says(
        "other values at every", "longer depends on", "there is no derivative", "The bound $1/\\sqrt\\varepsilon$ stays"
    )


@reads("epsilon-wrong-its-value-is-unimportant-it-matters")
def the_epsilons_of_libraries(statement):
    built_in, layer, function = (
        value(statement, after, {}) for after in ("TensorFlow, with", "Keras takes", "layer and")
    )
    sizes = [1 / sqrt(setting((0, Rational(1, 100)), 0)["q"] + eps) for eps in (built_in, layer, function)]
    assert sizes[0] > sizes[2] > sizes[1]
    computed_below(statement, built_in, layer, function)
    statement.says("wherever $q$ is not much larger")


@reads("epsilon-wrong-the-smaller-the-better")
def from_a_tiny_epsilon_to_a_larger_one(statement):
    small, large = (value(statement, "was raised from", {}, k) for k in (0, 1))
    computed_below(statement, small, large)
    assert small < large


@reads("epsilon-wrong-epsilon-is-there-so-it-cannot")
def an_epsilon_rounded_away(statement):
    smallest = Rational(float(np.finfo(np.float16).smallest_subnormal))
    left, right = statement.tex("float16 is").split(r" \approx ")
    assert evaluate(left, {}) == smallest and approximately(smallest, right)
    tiny = value(statement, "$, so", {})
    assert Rational(float(np.float16(float(tiny)))) == value(statement, "becomes", {})
    computed_below(statement, tiny)
    assert tiny < smallest / 2
    assert statement.tex("a row of zeros") == "0/0"


@reads("epsilon-wrong-if-the-input-fits-the-format")
def squares_beyond_the_format(statement):
    check(statement, "input's size.", {})
    square, largest = right_of(statement, "input's size."), value(statement, "whose largest number is", {})
    assert largest == Rational(float(np.finfo(np.float16).max)) < square
    z = value(statement, "computed there,", {})
    assert variance(list(z)) == square
    assert value(statement, "a variance of", {}) > largest
    assert int(value(statement, "a variance of", {})) == 246419
    statement.says("is beyond float16")


@reads("epsilon-wrong-a-tiny-variance-can-be-taken")
def a_variance_taken_for_zero(statement):
    eps, d = given(statement, r"\varepsilon", {}), given(statement, "d", {})
    assert statement.tex("the core is") == r"v/\sqrt{\varepsilon}"
    size = value(statement, "entries of size", {})
    largest = value(statement, "the core is", {"v": size, r"\varepsilon": eps})
    assert largest == value(statement, "comes out as", {})
    bound = value(statement, "has one above", {})
    assert bound == sqrt(d - 1)
    assert 0.999 < sympy.N(max(core(Rational(1, 10**6), [0] * (d - 1) + [1000])) / bound) < 1
    statement.says("no core")


@reads("epsilon-wrong-layer-normalization-does-not-see-the")
def a_scale_that_is_seen(statement):
    names = setting((1, 2, 4), given(statement, r"\varepsilon", {}))
    check(statement, "for any", {r"\alpha": Integer(-2)})
    check(statement, "For", {r"\alpha": value(statement, "multiplied by", {})})
    assert value(statement, "multiplied by", {}) == 10
    assert names[r"\varepsilon"] == Rational(1, 10**5)
    flipped = core(names[r"\varepsilon"], -3 * names["z"])
    assert flipped[0] > 0 > names["u"][0]
    limit = given(statement, r"\varepsilon", {}, 1)
    large = core(1, 10**9 * names["z"])
    assert abs(sympy.N(large[0] - core(limit, names["z"])[0])) < 1e-15
    statement.says("A negative", "stays positive", "not $\\mathrm{LN}(x)$", r"for any $\alpha")


@reads("eps-ex-defaults")
def two_defaults_on_one_input(statement):
    z = given(statement, "z", {})
    small, large = (given(statement, r"\varepsilon", {}, k) for k in range(2))
    q = setting(z, small)["q"]
    assert same(given(statement, "q", {}), q)
    for share in (Rational(1, 3), Integer(2), q):
        assert same(value(statement, "The quotient is", {"q": share}), sympy.sqrt((share + large) / (share + small)))
    assert same(value(statement, "it is", {}), sympy.sqrt((q + large) / (q + small)))
    assert approximately(sympy.sqrt((q + large) / (q + small)), statement.tex("about"))
    most = value(statement, "It is at most", {})
    assert value(statement, "within one per cent of", {}) + Rational(1, 100) == most
    least = given(statement, "q", {}, 1)
    assert same((least + large) / (least + small), most**2)
    check(statement, "if", {"q": least, "z": z})
    assert approximately(least, statement.tex("on, about"))
    assert approximately(sympy.sqrt(least), statement.tex("deviations from about"))


@reads("eps-ex-project")
def epsilon_from_one_output(statement):
    for t, eps in ((Integer(2), Rational(1, 3)), (Rational(1, 5), Integer(4))):
        s = core(eps, [t, -t])[0]
        names = {"t": t, "s": s, r"\varepsilon": eps}
        check(statement, "(s, -s)$ with", names)
        check(statement, "One number is enough:", names)
        assert same(value(statement, "the core is", names), core(eps, given(statement, "z", names)))
    t, eps = Integer(2), Integer(5)
    assert 1 / core(eps, [t, -t])[0] ** 2 >= value(statement, "is at least", {})
    assert 1 / core(eps, [sympy.sqrt(eps), -sympy.sqrt(eps)])[0] ** 2 == value(statement, "is at least", {})
    statement.says("far above $\\varepsilon$, $s$ is near $1$", "at most $\\varepsilon$")

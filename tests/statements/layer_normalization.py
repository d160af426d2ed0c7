"""Readings of the definition, its first consequences, its exercises and what people get wrong."""

import math

import sympy
from sympy import Integer, Matrix, Rational

from statements import reads
from statements.exact import variance
from statements.settings import SETTINGS, VARIED, core, defined, setting
from statements.terms import approximately, cells, check, check_relations, evaluate, given, same, value, words


@reads("def-output")
def the_output_and_its_divisor(statement):
    for names in SETTINGS:
        check(statement, "the output is", names)
        check(statement, r"$\beta \in \mathbb{R}^d$ and a number", names)
    z = Matrix([1, 2, 4])
    wanted, other = (value(statement, after, {"d": Integer(3)}) for after in ("variance $q$ is", "not"))
    squares = sum((entry - Rational(7, 3)) ** 2 for entry in z)
    assert squares / wanted == setting(z, 1)["q"] != squares / other
    assert wanted - other == 1
    check(statement, "At", {r"\varepsilon": Integer(0)})
    check(statement, "holds where", setting(z, 0))
    assert not defined(0, [3, 3, 3])
    statement.says(r"is $d$, not $d - 1$")


@reads("def-projection")
def centring_projects(statement):
    for names in SETTINGS:
        check(statement, "Let", names)
        entry = value(statement, "all of whose entries are", names)
        assert names["P"] == names["I"] - entry * sympy.ones(names["d"], names["d"])
        check(statement, "Then", names, count=5)
    statement.says("the matrix all of whose entries")


@reads("def-core-mean")
def the_core_adds_up_to_zero(statement):
    for names in SETTINGS:
        check(statement, "every $z$ and every", names)
        assert same(sum(names["u"]), value(statement, "add up to", names))
    for names in VARIED:
        zero = setting(names["z"], 0)
        check(statement, "(and at", zero)
        check(statement, "where", zero)
        assert same(sum(zero["u"]), Integer(0))
    statement.says("For every $z$ and every")


@reads("ln-ex-undo")
def the_layer_that_gives_its_input_back(statement):
    names = setting(given(statement, "z", {}), given(statement, r"\varepsilon", {}))
    check(statement, "```` ", names, count=5)
    gain, bias = given(statement, r"\sqrt{q + \varepsilon}", names), given(statement, r"\beta_i = \mu", names)
    whole = {r"\gamma_i": gain, r"\beta_i": bias}
    check(statement, "With every", {**names, **whole})
    check(statement, "and every", {**names, **whole})

    def layer(z):
        return gain * core(names[r"\varepsilon"], z) + bias * sympy.ones(3, 1)

    check(statement, "the output is", names)
    assert same(layer(names["z"]), names["z"])
    back, not_back = (value(statement, "It returns", {}, number) for number in (0, 1))
    assert [value(statement, "Does that layer return", {}, number) for number in (0, 1)] == [back, not_back]
    assert same(layer(back), back)
    assert not same(layer(not_back), not_back)
    statement.says("but not $(0, 0, 6)$", "which has the same mean and variance")
    assert (setting(back, 1)[r"\mu"], setting(back, 1)["q"]) == (names[r"\mu"], names["q"])


@reads("ln-ex-pythagoras")
def the_square_of_the_length(statement):
    for names in SETTINGS:
        check_relations(statement, names)
        assert same(sum(names["v"]), value(statement, "coordinates add up to", names))


@reads("ln-ex-shapes")
def means_and_gains_of_a_shape(statement):
    shape = tuple(int(n) for n in words(statement, r"has the shape \((\d+), (\d+), (\d+)\)"))
    check(statement, "Last axis:", {})
    factors = [int(n) for n in statement.tex("Last axis:").split(" = ")[0].split(r"\cdot")]
    assert tuple(factors) == shape[:2]
    assert value(statement, "one mean each, and", {}) == shape[2]
    assert value(statement, "Last two:", {}) == value(statement, "positions,", {}, 2) == shape[0]
    check(statement, "means, and", {})
    assert evaluate(statement.tex("means, and").split(" = ")[1], {}) == math.prod(shape[1:])
    assert statement.tex("means, and").startswith(rf"{shape[1]} \cdot {shape[2]}")
    assert tuple(value(statement, "in the shape", {})) == shape[1:]


@reads("layer-normalization-wrong-dividing-by-d-1-is-the")
def the_divisor_one_less(statement):
    def factor(d):
        z = Matrix([1] + [0] * (d - 1))
        divisor = value(statement, "Dividing by", {"d": Integer(d)})
        assert value(statement, "with the divisor", {"d": Integer(d)}) == divisor
        q = variance(z)
        return sympy.sqrt(q / (q * d / divisor))

    for d in (2, 3, 7):
        assert same(factor(d), value(statement, "too small by the factor", {"d": Integer(d)}))
    check(statement, "(for", {r"\varepsilon": Integer(0)})
    worst = given(statement, "d", {})
    assert worst == min((2, 3, 4, 5), key=factor)
    one = given(statement, "d", {}, 1)
    assert value(statement, "Dividing by", {"d": one}) == value(statement, "the divisor is", {}) == 0
    large = given(statement, "d", {}, 2)
    written = statement.tex("the factor is")
    assert approximately(sympy.sqrt((large - 1) / large), written)
    # The spacing of float32 just below 1 is 2**-24.
    assert 1000 < (1 - sympy.sqrt((large - 1) / large)) * 2**24 < 10_000 * 2
    statement.says("thousands of", "no $\\varepsilon$ helps", "Every coordinate is then too small")


@reads("layer-normalization-wrong-epsilon-beside-the-root-does-the")
def two_codes_of_a_thread(statement):
    z, eps = value(statement, "two outputs for", {}), Rational(1, 10**6)
    v, q, d = sympy.Matrix([x - sum(z) / 4 for x in z]), variance(z), Integer(len(z))
    outside, inside = v / (sympy.sqrt(q * d / (d - 1)) + eps), core(eps, z)
    for exact, written in zip((outside, inside), statement_vectors(statement, "about"), strict=True):
        assert all(approximately(x, decimal) for x, decimal in zip(exact, written, strict=True))
    factor = value(statement, "a factor", {})
    assert same(factor, sympy.sqrt(d / (d - 1)))
    assert Rational(99, 100) < sympy.log(factor) / sympy.log(inside[0] / outside[0]) < Rational(101, 100)
    assert same(value(statement, "has the divisor", {"d": d}), d - 1)


def statement_vectors(statement, after):
    """Two vectors behind the words, their entries as they are written."""
    return [statement.tex(after, number).strip("()").split(",") for number in (0, 1)]


@reads("layer-normalization-wrong-because-epsilon-is-so-small")
def the_place_of_a_small_epsilon(statement):
    z = given(statement, "z", {})
    names = setting(z, value(statement, "outside the root", {}))
    check(statement, "has", names)
    root, eps, q = sympy.sqrt(names["q"]), names[r"\varepsilon"], names["q"]
    assert value(statement, "is added to", {}) == root
    assert value(statement, "instead of to", {}) == q
    assert value(statement, "a variance near", {}) == 1
    assert approximately(sympy.sqrt(q + eps) / (root + eps), statement.tex("by a factor of"))


@reads("layer-normalization-wrong-a-lower-limit-is-as-good")
def the_larger_of_two_is_a_third_function(statement):
    for q in (Rational(1, 3), Integer(1), Integer(4)):
        names = {"q": q, r"\varepsilon": Integer(1), r"\max": max}
        assert value(statement, "Replacing", names) != value(statement, "by", names)
        check(statement, "at every", names)
    at_zero = {"q": Integer(0), r"\varepsilon": Integer(1), r"\max": max}
    assert value(statement, "Replacing", at_zero) == value(statement, "by", at_zero)
    q = sympy.Symbol("q", real=True)
    names = {"q": q, r"\varepsilon": Integer(1), r"\max": sympy.Max}
    limit = value(statement, "by", names)
    kinks = [at for at in (1, 2) if sympy.limit(limit.diff(q), q, at, "+") != sympy.limit(limit.diff(q), q, at, "-")]
    (kink,) = kinks
    check(statement, "a kink at", {"q": Integer(kink), r"\varepsilon": Integer(1)})
    statement.says("at every $q")


@reads("layer-normalization-wrong-layer-normalization-of-an-image-goes")
def the_axes_decide(statement):
    numbers = {"one": 1, "two": 2}
    images, channels, pixels = words(statement, r"(\w+) image with (\w+) channels and (\w+) pixels:")
    image = Matrix([[1, 2], [3, 6]])
    assert (numbers[images.lower()], numbers[channels], numbers[pixels]) == (1, *image.shape)
    assert "np.array([[[1, 2]], [[3, 6]]])" in cells(statement.page)
    whole = core(Rational(1, 10**6), list(image))
    by_pixel = [core(Rational(1, 10**6), list(image.col(pixel))) for pixel in range(2)]
    assert whole[0] != by_pixel[0][0]
    statement.says("all its pixels", "Both are in use", "does not decide it", "they have to be stated")


@reads("layer-normalization-wrong-the-mean-is-not-subtracted-a")
def the_uncentred_function(statement):
    for names in VARIED:
        output = names["z"] / value(statement, "divided by", names)
        assert same(sum(output) / names["d"], value(statement, "has mean", names))
    statement.says("does not centre", r"with $z$ above instead of $v$")


@reads("layer-normalization-wrong-an-epsilon-that-rounds-to-zero")
def a_constant_row_without_epsilon(statement):
    eps = value(statement, "turned it into", {})
    assert not defined(eps, [3, 3, 3])
    assert core(Rational(1, 10**6), [3, 3, 3])[0] == value(statement, "gives", {})
    check(statement, "refuses", {r"\varepsilon": eps})
    statement.says("does no harm")


@reads("ln-ex-divisor")
def the_layer_of_a_colleague(statement):
    z, d = given(statement, "z", {}), given(statement, "d", {}, 1)
    v = Matrix([entry - sum(z) / len(z) for entry in z])
    squares, other = sum(entry**2 for entry in v), given(statement, "d - 1", {})
    assert given(statement, "v", {}) == v
    assert value(statement, "The sum of squares is", {}) == value(statement, "add up to", {}) == squares
    assert (d, other) == (len(z), len(z) - 1)
    assert given(statement, "q", {}) == squares / d == setting(z, 0)["q"]
    root = sympy.sqrt(value(statement, "d - 1 = 1$ they give", {}))
    assert root**2 == squares / other
    assert approximately(1 / root, statement.tex(", and").split(" = ")[1])
    theirs = statement.tex("returns").strip("()").split(",")
    assert all(approximately(entry / root, written) for entry, written in zip(v, theirs, strict=True))
    assert same(value(statement, "The layer of this page returns", {}), core(0, z))
    for number in (2, 3, 7):
        factor = value(statement, "too small by the factor", {"d": Integer(number)})
        assert same(factor, sympy.sqrt(Rational(number - 1, number)))
    large = given(statement, "d", {})
    assert given(statement, "d", {}, 2) == large
    quotient, written = statement.tex("$ the factor").split(" = ")
    assert same(evaluate(quotient, {}), sympy.sqrt(large / (large - 1)))
    assert approximately(sympy.sqrt(large / (large - 1)), written)
    check(statement, "and every", {"d": Integer(2)})
    statement.says("too small")


@reads("ln-ex-project")
def a_layer_of_ones_own(statement):
    assert value(statement, "with the divisor", {"d": Integer(5)}) == 4
    statement.says("whose last axis is normalized", "The checker calls the layer with many arrays", "exact values")

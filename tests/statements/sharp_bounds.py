"""Readings of the statements on sharp bounds: constants and norms from eigenvalues, in exact arithmetic."""

import re

import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, given, holds, layer, operator_norm, part, same, term, value

R = Rational
X = sympy.Symbol("x", real=True)


def weighted(gain):
    """diag(gain) P"""
    return sympy.diag(*gain) * layer(tuple(gain), 1)["P"]


def largest_square(gain):
    """The largest zero of p', from the norm of diag(gain) P."""
    return operator_norm(weighted(gain)) ** 2


@reads("sharp-ex-plain")
def two_equal_squares(statement):
    gain, eps = term(statement, "The gains are"), given(statement, r"\varepsilon")
    squares = sorted((g**2 for g in gain), reverse=True)
    s_1, s_2, same_square = re.search(r"\$s_1 = s_2 = ([^$]*)\$(), so \$\\lambda = ([^$]*)\$", statement.text).groups()
    assert value(s_1) == value(same_square) == squares[0] == squares[1] == largest_square(tuple(gain)) and not s_2
    left, right = statement.tex("and the constant is").split(" = ")
    assert value(left) == value(right) == operator_norm(weighted(gain)) / sqrt(eps)
    step = term(statement, "The step")
    assert sum(step) == 0 and (weighted(gain) * step).norm() / step.norm() / sqrt(eps) == value(right)
    statement.says("touches only the first two coordinates")


@reads("sharp-ex-project")
def the_sign_that_tells_the_half(statement):
    total = re.search(r"The sum \$([^$]*)\$", statement.text)[1]
    gain = (1, 2, 3)
    at = [value(total, {r"\gamma": Matrix(gain), "d": 3, "x": x}) for x in (R(41, 10), 6, 7, 8, R(89, 10))]
    assert at == sorted(at) and at[0] < 0 < at[-1] and at[2] == 0 and largest_square(gain) == 7
    assert statement.tex("negative just above") == "s_2" and statement.tex("positive just below") == "s_1"
    assert term(statement, "The matrix has", {"d": 20}) == weighted(range(20)).rows ** 2
    assert term(statement, "the halving keeps", {"d": 20}) == 20
    statement.says(r"$100$ random gains of $\mathbb{R}^{20}$", "increases with $x$, from below $0$ to above")


@reads("sharp-example")
def the_three_gains(statement):
    gain, eps = given(statement, r"\gamma"), R(1, 4)
    names = layer((0, 0, 0), eps, tuple(gain))
    constant = operator_norm(weighted(gain)) / sqrt(eps)
    exactly, decimals = re.search(
        r"constant is \$(.*?) \\approx ([\d.]+)/\\sqrt\\varepsilon\$", statement.text
    ).groups()
    assert same(value(exactly, names), constant)
    assert close(value(decimals), constant * sqrt(eps), R(1, 2 * 10**4))
    assert chain_holds(statement.tex("while"), names)
    h = term(statement, "the direction")
    step = R(1, 10**20) * h
    assert close((sympy.diag(*gain) * layer(tuple(step), eps)["u"]).norm() / step.norm(), constant, R(1, 10**15))
    assert sum(h) == 0


@reads("sharp-lipschitz")
def the_norm_at_a_constant_row_is_not_attained(statement):
    gain, eps = (1, 2, 3), R(1, 4)
    bound = operator_norm(weighted(gain)) / sqrt(eps)
    names = layer((5, 5, 5), eps, gain)
    assert close(operator_norm(sympy.diag(*gain) * names["J"]), bound)
    for step in ((-1, -2, 3), (1, 0, -1), (-R(1, 100), -R(2, 100), R(3, 100))):
        move = sympy.diag(*gain) * layer(step, eps)["u"]
        assert move.norm().evalf(50) < bound.evalf(50) * Matrix(step).norm().evalf(50)
    assert holds(statement, 2, layer((0, 1), eps))
    assert re.search(r"If not all gains are \$(\d)\$", statement.text)[1] == "0"
    statement.says(
        "norm of the {term}`Jacobian` at every constant input",
        "If not all gains are",
        "of every single step is below it",
    )


@reads("sharp-polynomial")
def the_polynomial_of_the_gains(statement):
    for gain in ((1, 2, 3), (2, 2, 1), (3, 7)):
        d = len(gain)
        inside = re.search(r"\\prod_i \(([^$]*)\)\$", statement.text)[1]
        p = sympy.prod(value(inside, {"x": X, r"\gamma_i": number}) for number in gain)
        slope = p.diff(X)
        claimed = value(
            re.search(r"diag\}\(\\gamma\)\$ is \$(x\\,p'\(x\)/d)\$", statement.text)[1],
            {"x": X, "p'(x)": slope, "d": d},
        )
        centre = layer(gain, 1)["P"]
        matrix = value(
            re.search(r"polynomial of \$([^$]*)\$", statement.text)[1], {r"\gamma": Matrix(gain), "P": centre}
        )
        assert sympy.expand((X * sympy.eye(d) - matrix).det() - claimed) == 0
        root = max(sympy.Poly(slope, X).nroots(60))
        names = layer(gain, 1, gain) | {r"\lambda": largest_square(gain), "x": largest_square(gain)}
        squares = sorted((number**2 for number in gain), reverse=True)
        names |= {"s_1": squares[0], "s_2": squares[1]}
        assert close(root, names[r"\lambda"], R(1, 10**20))
        assert holds(statement, 1, names, start="So $", end="is the largest")
        assert holds(statement, 2, names, start="With the two", end="If $")
        assert chain_holds(statement.tex("If"), names) == (squares[0] == squares[1])
        assert chain_holds(statement.tex("then"), names) == (squares[0] == squares[1])
        if squares[0] > squares[1]:
            assert chain_holds(re.search(r"\$\$ (.*?) \. \$\$", statement.text)[1], names)
        assert holds(statement, 1, layer((0, 1), 1), end="and")
    statement.says("the largest zero of", "the only solution between", "the two largest squares")


@reads("sharp-direction")
def the_worst_direction(statement):
    gain = (1, 2, 3)
    squares = [number**2 for number in gain]
    names = layer(gain, 1, gain) | {r"\lambda": largest_square(gain), "s_1": squares[2], "s_2": squares[1]}
    entry = re.search(r"h_i = ([^$]*)\$", statement.text)[1]
    h = Matrix([value(entry, names | {"i": i}) for i in (1, 2, 3)])
    assert close(sum(h), 0)
    assert holds(statement, 2, names | {"h": h}, start="If $s_1 > s_2", end="If $s_1 = s_2")
    assert not chain_holds(statement.tex("is centred, and").replace("h", "z"), names | {"z": Matrix([1, 0, -1])})
    twice = layer((2, 2, 1), 1, (2, 2, 1)) | {r"\lambda": 4, "s_1": 4, "s_2": 4, "i": 1, "j": 2}
    twice |= {"e_i": Matrix([1, 0, 0]), "e_j": Matrix([0, 1, 0])}
    twice["h"] = value(re.search(r"\$h = ([^$]*)\$", statement.text)[1], twice)
    assert holds(statement, 3, twice, start="If $s_1 = s_2")
    assert chain_holds(statement.tex("is centred, and"), twice)
    assert sum(twice["h"]) == 0


@reads("sharp-ratio")
def the_price_between_its_ends(statement):
    for gain in ((1, 2, 3), (3, -3, 1), (0, 2, 0), (5, 0), (1, 1)):
        names = layer(gain, 1, gain)
        sizes = sorted(abs(number) for number in gain)
        ratio = sizes[-1] / operator_norm(weighted(gain))
        assert chain_holds(re.search(r"\$\$ (.*?) \. \$\$", statement.text)[1], names)
        assert close(ratio, term(statement, "It is")) == (sizes[-1] == sizes[-2])
        assert close(ratio, term(statement, "at least twice, and", names)) == (sizes[-2] == 0)
    assert holds(statement, 2, layer((5, 0), 1, (5, 0)))
    assert (
        re.search(r"gains not all \$(\d)\$", statement.text)[1]
        == re.search(r"one gain is not \$(\d)\$", statement.text)[1]
        == "0"
    )
    statement.says(
        "It is $1$ if and only if", "occurs at least twice", "$ if and only if only one gain is not", "gains not all"
    )


@reads("sharp-typical")
def the_bound_over_the_norm(statement):
    for z in ((0, 1), (1, 2, 4), (1, 2, 4, 8)):
        gain = tuple((-1) ** i * 5 for i in range(len(z)))
        names = layer(z, R(1, 3), gain, i=1, c=5)
        quotient = operator_norm(weighted(gain)) / sqrt(R(1, 3)) / operator_norm(sympy.diag(*gain) * names["J"])
        assert close(quotient, term(statement, "the bound is", names)) == (len(z) >= 3)
        assert close(quotient, term(statement, "ge 3$, and", names)) == (len(z) == 2)
        conditions = [chain_holds(found, names) for found in re.findall(r"for \$(d [^$]*)\$", statement.text)]
        assert conditions == [len(z) >= 3, len(z) == 2]
        assert holds(statement, 1, names, end="the bound")


@reads("sharp-between")
def the_norm_lies_between(statement):
    gains_and_inputs = (
        ((1, 2, 3), (1, 2, 4)),
        ((1, 2, 3), (-1, -2, 3)),
        ((3, 3, 3), (0, 1, 5)),
        ((0, 0, 2), (5, 5, 5)),
        ((3, 3, 3), (5, 5, 5)),
    )
    for gain, z in gains_and_inputs:
        singular = sorted(
            ((weighted(gain).T * weighted(gain)).eigenvals(multiple=True)), key=lambda e: -sympy.re(e.evalf(50))
        )
        names = layer(z, R(1, 3), gain) | {r"\sigma_1": sqrt(singular[0]), r"\sigma_2": sqrt(singular[1])}
        assert holds(statement, 3, names)
        p = sympy.prod(X - number**2 for number in gain).diff(X)
        zeros = sorted(sympy.real_roots(p), reverse=True)
        assert close(singular[1], zeros[1])
    statement.says("At every input", "two largest singular values", "the roots of the two largest zeros")


@reads("sharp-coordinate")
def the_constant_of_one_coordinate(statement):
    for z in ((10**6, 0, 0), (1, 0)):
        names = layer(z, R(1, 3), tuple(range(-3, len(z) - 3)), i=1)
        row = operator_norm(sympy.diag(*names[r"\gamma"])[0, :] * names["P"] / sqrt(R(1, 3)))
        assert same(row, value(re.search(r"L_i = ([^$]*)\$", statement.text)[1], names))
        others = {"y_i(a)": names["y"][0], "y_i(b)": 0, "L_i": row, r"\|a - b\|": names["v"].norm()}
        assert chain_holds(statement.tex("least constant with"), names | others)
    assert holds(statement, 1, layer((1, 0), 1), end="the least")
    statement.says("for all $a, b$")


def inner(d, m):
    a, b = sympy.Rational(2 * m, d), (sqrt(m * m + m * (d - 1 - m) * d) - m) / d
    points = [sympy.S.Zero] + ([(2 * b - a) / (3 * b)] if b > 0 and 2 * b > a else [])
    return a, b, max((sqrt(1 - t) * (a + b * t) for t in points), key=lambda e: e.evalf(30))


def worst_block(d):
    """The m of the largest inner maximum, in floating point."""

    def top(m):
        a, b = 2 * m / d, ((m * m + m * (d - 1 - m) * d) ** 0.5 - m) / d
        return 2 * (a + b) ** 1.5 / (3 * (3 * b) ** 0.5) if 2 * b > a else a

    return max(range(1, d), key=top)


def constant(d):
    """K_d, the inner maximum at the zero of its derivative."""
    return inner(d, worst_block(d))[2].evalf(30)


@reads("sharp-max-norm")
def the_constant_in_the_largest_coordinate(statement):
    texts = {name: re.search(rf"{name}_m &?= (.*?)(?:, \\\\| \. \\end)", statement.text)[1] for name in "AB"}
    for d in (2, 3, 5, 60):
        for m in {1, d // 2, d - 1}:
            a, b, top = inner(d, m)
            names = {"d": d, "m": m, "A_m": a, "B_m": b}
            assert same(value(texts["A"], names), a)
            assert same(value(texts["B"], names), b)
            condition = chain_holds(re.search(r"if \$(2B_m[^$]*)\$", statement.text)[1], names)
            shown = re.search(
                r"maximum is \$([^$]*)\$ if \$[^$]*\$, and \$([^$]*)\$ otherwise", statement.text
            ).groups()
            assert close(value(shown[0] if condition else shown[1], names), top)
            for tau in (0, R(1, 3), R(99, 100)):
                body = re.search(r"\\ (\\sqrt\{1-\\tau\}.*?), \\\\", statement.text)[1]
                at = value(body, names | {r"\tau": tau})
                assert (at - top).evalf(30) < R(1, 10**20)
                assert close(at, sqrt(1 - tau) * (a + b * tau))
                assert chain_holds(re.search(r"\\max_\{(0 [^}]*)\}", statement.text)[1], {r"\tau": tau})
            assert chain_holds(re.search(r"\\max_\{(1 [^}]*)\}", statement.text)[1], names)
    assert not chain_holds(re.search(r"\\max_\{(0 [^}]*)\}", statement.text)[1], {r"\tau": 1})
    edges = [chain_holds(re.search(r"\\max_\{(1 [^}]*)\}", statement.text)[1], {"d": 5, "m": m}) for m in (0, 5)]
    assert edges == [False, False]
    assert holds(statement, 2, {"d": 2, r"\varepsilon": 1}, end="the least")
    h = Matrix([1, -2, 3])
    assert chain_holds(statement.tex("and also in").replace(r"\|h\|_1", "N"), {"d": 3, "h": h, "N": 6})


@reads("sharp-max-norm-growth")
def the_growth_of_the_constant(statement):
    display = re.search(r"\$\$ (.*?) \. \$\$", statement.text)[1]
    value_text = re.search(r"K_d = ([^$]*)\$", statement.text)[1]
    bound = re.search(r"if and only if \$([^$]*)\$", statement.text)[1]
    for d in (2, 3, 27, 57, 58, 80):
        names = {"d": d, "K_d": constant(d)}
        assert chain_holds(display, names)
        assert close(value(value_text, names), names["K_d"], R(1, 10**20)) == chain_holds(bound, names)
    assert chain_holds(statement.tex("For every"), {"d": 2})
    statement.says("For every $d", "if and only if $d")


@reads("sharp-residual")
def the_constant_of_a_residual_connection(statement):
    first, second = re.findall(r"is \$([^$]*)\$ if \$([^$]*)\$", statement.text)[0]
    larger = re.search(r"the larger of \$([^$]*)\$ and \$([^$]*)\$ if \$([^$]*)\$", statement.text).groups()
    eps = R(1, 4)
    for s in (3, 0, -R(1, 2), -R(1, 10), -1, -5):
        names = {"s": s, r"\varepsilon": eps, "d": 2}
        slopes = [1, 1 + s / sqrt(eps), *[1 + s * eps / sqrt(k * k + eps) ** 3 for k in range(1, 9)]]
        exact_constant = max(abs(slope) for slope in slopes)
        positive = chain_holds(second, names)
        assert positive == (s >= 0) != chain_holds(larger[2], names)
        shown = value(first, names) if positive else max(value(text, names) for text in larger[:2])
        assert close(shown, exact_constant)
    assert chain_holds(statement.tex("For"), {"d": 2})


@reads("sharp-product")
def a_bias_between_two_layers(statement):
    d, eps = given(statement, "d"), given(statement, r"\varepsilon")
    bias = term(statement, "the bias")
    k = sympy.Symbol("k", real=True)
    chain = (k / sqrt(k * k + eps) + bias[1]) / sqrt((k / sqrt(k * k + eps) + bias[1]) ** 2 + eps)
    slope = sympy.lambdify(k, chain.diff(k), "math")
    largest = max(slope(n / 500) for n in range(-2000, 2000))
    exactly, decimals = re.search(r"chain is \$(.*) \\approx ([\d.]+)\$", statement.text).groups()
    assert close(value(exactly), R(str(largest)), R(1, 10**5))
    assert close(value(exactly), value(decimals), R(1, 2 * 10**6))
    one = operator_norm(layer((0,) * int(d), eps)["J"])
    assert one * one == value(re.search(r"two least constants is \$([^$]*)\$", statement.text)[1])
    assert bias[0] == -bias[1]


@reads("sharp-ex-two")
def two_gains(statement):
    for gain in ((1, 7), (-2, 3)):
        names = layer(gain, R(1, 4), gain) | {"x": X}
        slope = sympy.prod(X - number**2 for number in gain).diff(X)
        assert sympy.expand(value(re.search(r"p' = ([^$]*)\$", statement.text)[1], names) - slope) == 0
        assert same(value(re.search(r"\\lambda = ([^$]*)\$", statement.text)[1], names), largest_square(gain))
    gain = tuple(term(statement, "For", number=0))
    assert Matrix(gain) == given(statement, r"\gamma")
    names = layer(gain, R(1, 4))
    constant_of_both = operator_norm(weighted(gain)) / sqrt(R(1, 4))
    assert same(largest_square(gain), value(re.search(r"it is \$([^$]*)\$: the", statement.text)[1]))
    assert same(constant_of_both, term(statement, ": the constant is", names))
    assert same(max(gain) / sqrt(R(1, 4)), value(re.search(r"\$, not \$([^$]*)\$", statement.text)[1], names))
    assert chain_holds(statement.tex("Show that at"), {"d": 2})
    statement.says("$, not $")


@reads("sharp-ex-outlier")
def one_outlier(statement):
    formula = re.search(r"so \$\\lambda = ([^$]*)\$", statement.text)[1]
    p_text, slope_text = re.search(r"\$p = ([^$]*)\$ and \$p' = ([^$]*)\$", statement.text).groups()
    for d, g in ((3, 10), (5, 2)):
        names = {"d": d, "c": g, "x": X}
        p = (X - g * g) * (X - 1) ** (d - 1)
        assert sympy.expand(value(p_text, names) - p) == 0
        assert sympy.expand(value(slope_text, names) - p.diff(X)) == 0
        assert same(value(formula, names), largest_square((g,) + (1,) * (d - 1)))
        assert chain_holds(statement.tex("One gain of a layer is"), names)
        assert term(statement, "of a layer is $c > 1$, all", names) == d - 1
    asked = re.findall(r"\$c = (\d+)\$ and \$d = (\d+)\$", statement.text)
    assert asked[0] == asked[1]
    names = {"c": int(asked[0][0]), "d": int(asked[0][1])}
    exactly, decimals = re.search(r"it is \$(.*?) \\approx ([\d.]+)\$", statement.text).groups()
    assert value(exactly) == value(formula, names)
    assert close(value(exactly), value(decimals), R(1, 2 * 10**4))
    assert re.search(r"others are \$(\d)\$", statement.text)[1] == "1"
    assert chain_holds(statement.tex("One gain of a layer is"), {"c": R(3, 2)})
    statement.says("all $d - 1$ others")


@reads("sharp-ex-invertible")
def which_branches_are_one_to_one(statement):
    eps = R(1, 4)
    slope = re.search(r"derivative \$([^$]*)\$", statement.text)[1]
    ray = re.search(r"\\mapsto (k\\,\([^$]*)\$", statement.text)[1]
    condition = re.search(r"Exactly for \$([^$]*)\$", statement.text)[1]
    k = sympy.Symbol("k", real=True)
    for s in (2, 0, -R(1, 4), -R(1, 2), -1, -3):
        names = {"s": s, r"\varepsilon": eps, "d": 2}
        map_of_k = k + s * k / sqrt(k * k + eps)
        assert close(value(ray, names | {"k": k}).subs(k, 3), map_of_k.subs(k, 3))
        assert close(value(slope, names | {"k": k}).subs(k, 3), map_of_k.diff(k).subs(k, 3))
        one_to_one = min(map_of_k.diff(k).subs(k, at) for at in (0, 1, 5)) >= 0
        assert chain_holds(condition, names) == one_to_one
        assert chain_holds(statement.tex("^{3/2}$. For"), names) == one_to_one
        assert chain_holds(statement.tex("one-to-one. For"), names) == (not one_to_one)
        if not one_to_one:
            names["k"] = value(re.search(r"\$k = (\\sqrt\{s\^2[^$]*)\$", statement.text)[1], names)
            assert close(map_of_k.subs(k, names["k"]), term(statement, "is sent to"))
        assert map_of_k.subs(k, value(re.search(r"as is \$k = (\d)", statement.text)[1])) == 0
        core = layer((0, 2), eps)
        assert close(core["v"] + s * core["u"], term(statement, "sends $v$ to", names | core))
        assert chain_holds(statement.tex("theorem grants it for"), names) == (abs(s) < R(1, 2))
    assert operator_norm(layer((0, 0), eps)["J"]) * sqrt(eps) == term(statement, "Lipschitz constant below")
    assert chain_holds(statement.tex("u(z)$ one-to-one ("), {"d": 2})
    last = part(statement, "as is $k", "")
    eps, s, k_text = re.search(r"At \$\\varepsilon = (\d+)\$ and \$s = (-?\d+)\$, \$k = ([^$]*)\$", last).groups()
    at = value(k_text)
    assert close(at + int(s) * at / sqrt(at**2 + int(eps)), 0)
    assert close(
        (1 + s_slope(-R(1, 2), R(1, 4), 0)),
        value(re.search(r"and \$(\d)\$ at most at \$k = (\d)\$", statement.text)[1]),
    )
    assert re.search(r"at most at \$k = (\d)\$", statement.text)[1] == "0"
    statement.says("Exactly for", "it is not negative", "constant below $")


def s_slope(s, eps, k):
    return s * eps / sqrt(k * k + eps) ** 3


@reads("sharp-bounds-wrong-the-operator-norm-is-max-i")
def the_bound_over_the_norm_at_one_input(statement):
    gain, z = given(statement, r"\gamma"), given(statement, "z")
    for eps in (given(statement, r"\varepsilon"),):
        names = layer(z, eps, gain, i=1)
        claim = value(statement.tex(""), names)
        ratio = claim / operator_norm(sympy.diag(*gain) * names["J"])
        shown = value(re.search(r"it is \$([\d.]+)\$ times too large", statement.text)[1])
        assert close(ratio, shown, R(1, 200))
    statement.says("only coordinates of largest gain")


@reads("sharp-bounds-wrong-the-lipschitz-constant-is-1-sqrt")
def the_norm_on_a_row_of_variance_1(statement):
    names = layer((1, -1, 1, -1), R(1, 10**5))
    assert same(
        operator_norm(layer((0, 0, 0), R(1, 9))["J"]),
        term(statement, "The Lipschitz constant is", {r"\varepsilon": R(1, 9)}),
    )
    assert names["q"] == term(statement, "On a row of variance")
    assert operator_norm(names["J"]) < term(statement, "the norm is below")
    assert close(operator_norm(names["J"]), term(statement, "the norm is below"), R(1, 10**5))
    assert holds(statement, 1, names)
    statement.says("because it is not Lipschitz")


@reads("sharp-bounds-wrong-one-norm-is-as-good-as")
def two_norms_at_the_worst_input(statement):
    d = int(given(statement, "d"))
    a, b, best = inner(d, worst_block(d))
    tau = (2 * b - a) / (3 * b)
    euclidean, largest = re.search(r"norm \$([\d.]+)\$ and the norm \$([\d.]+)\$", statement.text).groups()
    assert close(best, value(largest), R(1, 20))
    # tau = q/(q + eps), and the norm of J is 1/sqrt(q + eps)
    assert close(sqrt(1 - tau), value(euclidean), R(1, 20))
    assert close(
        operator_norm(layer((0, 0, 0), R(1, 9))["J"]), term(statement, "both times", {r"\varepsilon": R(1, 9)})
    )


@reads("sharp-bounds-wrong-subtracting-a-branch-costs-as-much")
def a_subtracted_branch(statement):
    eps = R(1, 4)
    s = value(re.search(r"s = ([^$]*)\$", statement.text)[1], {r"\varepsilon": eps})
    assert 1 + abs(s) / sqrt(eps) == term(statement, "the bound says")
    slopes = [1, *[1 + s_slope(s, eps, k) for k in range(9)]]
    assert max(abs(slope) for slope in slopes) == term(statement, "the constant is")
    statement.says("gives the same bound for both, but the constants differ")

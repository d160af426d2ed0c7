"""Readings of what statements presuppose: the maps that they name, the ends of their conditions, their indices."""

import re

import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads, tex
from statements.evaluate import chain_holds, close, layer, term, value
from statements.neighbours import core

R = Rational
W, X, B = Matrix([[1, 2], [0, 1], [3, -1]]), Matrix([2, 5]), Matrix([1, 0, -4])
AFFINE = {"W": W, "x": X, "b": B}


def one(statement, pattern):
    """The one part in parentheses of a pattern that the text must hold."""
    found = re.search(pattern, statement.text)
    assert found, f"{statement.label} no longer says {pattern!r}"
    return found[1]


def bound_by(condition, name, last, beyond, **others):
    """Whether a condition is true of the last value of a name that it allows, and false of the next."""
    return [chain_holds(condition, {name: at, **others}) for at in (last, beyond)] == [True, False]


def is_affine(statement, pattern=r"z = (Wx [^$]*)\$"):
    return close(value(one(statement, pattern), AFFINE), W * X + B)


@reads("fold-back")
def when_the_layer_before_can_do_it(statement):
    assert is_affine(statement)
    assert bound_by(one(statement, r"Let \$(d [^$]*)\$, \$z"), "d", 2, 1)
    assert (
        value(one(statement, r"have the rank \$([^$]*)\$"), {"d": 3}) == (Matrix.eye(3) - sympy.ones(3, 3) / 3).rank()
    )
    before, after = one(statement, r"with \$(u_\\varepsilon\(W'x.*?)\$ for every \$x\$ if").split(" = ")
    primed = {"W'": -W, "b'": -B, "x": X}
    assert close(value(re.search(r"\(([^)]*)\)", before)[1], primed), -(W * X + B))
    u = core(W * X + B, R(1, 3))
    assert close(value(re.search(r"u_\\varepsilon\(([^)]*)\)", after)[1], AFFINE), W * X + B)
    output = re.sub(r"u_\\varepsilon\([^)]*\)", "u", after)
    names = {r"\gamma": Matrix([-1, -1, -1]), r"\beta": Matrix([1, 2, 3]), "u": u}
    assert close(value(output, names), Matrix([1, 2, 3]) - u)
    first = one(statement, r"If for some input \$([^$]*)\$ has")
    assert close(value(first, names), Matrix([1, 2, 3]) - u)
    no_bias, turned, unmoved = (
        one(statement, pattern)
        for pattern in (
            r"only if - \$(\\beta = \d)\$",
            r"For \$(\\gamma = [^$]*)\$ and",
            r"\$ and \$(\\beta = \d)\$, \$W",
        )
    )
    for relation in (no_bias, unmoved):
        assert bound_by(relation, r"\beta", sympy.zeros(3, 1), Matrix([1, 0, 0]))
    assert bound_by(turned, r"\gamma", Matrix([-1, -1, -1]), Matrix([1, 1, 1]), **{r"\mathbf{1}": sympy.ones(3, 1)})
    statement.says(
        "do not fold backwards", "or - the output is one core, the same for every $x$: $", "for every $W$ and"
    )
    statement.says("+ \\beta$ for every $x$ if and only if")


@reads("fold")
def what_a_nonlinearity_keeps(statement):
    left, right = one(statement, r"with \$(\\operatorname\{ReLU\}\(u_1 .*?)\$ for all cores").split(" = ")
    inner = re.search(r"ReLU\}\((.*)\)", left)[1]
    assert value(inner, {"u": Matrix([R(1, 4), R(-1, 4)]), r"\beta": Matrix([2, 0])}) == R(9, 4)
    names = {"A'": Matrix([[2, 3], [1, 1]]), "c'": Matrix([7, 8]), "x": Matrix([5, 1])}
    assert close(value(right.replace(r"\operatorname{ReLU}(u)", "x"), names), Matrix([20, 14]))
    assert bound_by(one(statement, r"of an \$(\\varepsilon [^$]*)\$"), r"\varepsilon", R(1, 10**9), 0)


@reads("weight-scaling")
@reads("weight-radial")
@reads("batch-fold")
@reads("batch-bias")
def the_linear_layer_before(statement):
    assert is_affine(statement)


@reads("weight-scaling")
def at_which_inputs_the_core_changes(statement):
    small, varied = re.findall(
        r"\$((?:\\varepsilon|q) > [^$]*)\$", statement.text[statement.text.index("fixed") - 30 :]
    )[:2]
    assert bound_by(small, r"\varepsilon", R(1, 10**9), 0) and bound_by(varied, "q", R(1, 10**9), 0)
    names = {"W": W, r"\mathbf{1}": sympy.ones(3, 1), r"p^\top": Matrix([[3, -1]])}
    assert close(
        value(one(statement, r"W \\to ([^$]*)\$, changes nothing"), names), W + sympy.ones(3, 1) * Matrix([[3, -1]])
    )


@reads("deep-ex-two")
def the_weights_of_two_blocks(statement):
    first, second = (one(statement, pattern) for pattern in (r"\$x_1 = ([^$]*)\$", r"\$x_2 = ([^$]*)\$"))
    names = {"x_0": R(3), "f_1": R(5), "f_2": R(11)}
    names["x_1"] = value(first, names)
    assert same_value(second, names) and close(names["x_1"], (R(3) + 5) / sqrt(2))
    assert one(statement, r"with \$(x_\d)\$ and the two branches") == "x_0"
    assert one(statement, r"blocks at \$(\\varepsilon [^$]*)\$") == r"\varepsilon = 0"
    assert one(statement, r"and of variance \$(\d)\$") == "1"
    assert one(statement, r"Which weights have (.*) in the output") == "$x_0$, $f_1$ and $f_2$"


def same_value(chain, names):
    """Whether all terms of "a = b = c" have one value."""
    return close(*(value(side, names) for side in chain.split(" = ")))


@reads("deep-ex-relu")
def what_silences_every_input(statement):
    names = layer((4, 0, 0, 0), 0, b=2)
    assert bound_by(
        one(statement, r"with \$(\\gamma [^$]*)\$"),
        r"\gamma",
        sympy.ones(4, 1),
        sympy.ones(4, 1) * 2,
        **{r"\mathbf{1}": sympy.ones(4, 1)},
    )
    assert bound_by(one(statement, r"and \$(\\beta = \d)\$ is"), r"\beta", 0, 1)
    assert bound_by(one(statement, r"every input, at \$(\\varepsilon [^$]*)\$"), r"\varepsilon", 0, 1)
    one_above = term(statement, "at or below it, as")
    assert sorted(one_above) == [0, 0, 0, 4] == [R(one(statement, r"make all entries \$(\d)\$"))] * 3 + [4]
    silent = value(one(statement, r"so \$\\beta = ([^$]*)\$ silences"), names)
    assert max(core([4, 0, 0, 0], 0) + silent) < 0
    statement.says("exactly one entry of the result not $0$", "for every input", "so $\\beta = ")


@reads("deep-stream-variance")
def the_sum_that_is_the_stream(statement):
    stream = one(statement, r"Let \$x_L = ([^$]*)\$").replace(r" + \dots", "")
    assert value(stream, {"x_0": 2, "f_1": 3, "f_L": 7}) == 12
    listed = one(statement, r"centred vectors of \$([^$]*)\$ are orthogonal")
    assert listed == r"x_0, f_1, \dots, f_L" and r"Let $x_L = x_0 + f_1 + \dots + f_L$" in statement.text
    statement.says("if they all are multiples")


@reads("deep-random-branches")
def what_the_stack_is(statement):
    ones = {r"\mathbf{1}": sympy.ones(3, 1)}
    assert bound_by(one(statement, r"with \$(\\gamma [^$]*)\$"), r"\gamma", sympy.ones(3, 1), sympy.zeros(3, 1), **ones)
    assert bound_by(one(statement, r"\$(\\beta = \d)\$ let"), r"\beta", 0, 1)
    branches = re.findall(r"\$F_l\(y\) = ([^$]*)\$", statement.text)
    assert close(value(branches[0], {"W_l": W, "y": X}), W * X)
    positive = one(statement, r"For \$(q_\{l-1\} [^$]*)\$")
    assert bound_by(positive, "q_{l-1}", R(1, 10**9), 0, **{r"\varepsilon": 0})
    assert one(statement, r"given \$(x_\{[^$]*\})\$") == "x_{l-1}"
    statement.says("of all that came before", r"$F_l(y) = V\max(0, Wy)$")


@reads("attn-ex-labels")
def the_sum_of_three_pairs(statement):
    names = {"p_0": R(2), "p_1": R(3), "p_2": R(5), "p_3": R(7), r"\sigma_1": 1, r"\sigma_2": -1, r"\sigma_3": 11}
    assert value(one(statement, r"such that \$([^$]*)\$ has"), names) == 2 + 3 - 5 + 77
    assert one(statement, r"Find numbers (.*) such that") == "$p_0$, $p_1$, $p_2$, $p_3$"
    places = [int(n) for n in one(statement, r"at \$x = (\d, \d, \d, \d)\$").split(", ")]
    half = value(one(statement, r"the sign of \$x - k \+ ([^$]*)\$"))
    crossings = [k - half for k in (1, 2, 3)]
    assert [sum(bool(crossing < x) for crossing in crossings) for x in places] == [0, 1, 2, 3]
    assert all(2 * (x - crossing) in (-5, -3, -1, 1, 3, 5) for x in places for crossing in crossings)
    steps = re.findall(r"\$2(p_\d) = (-?\d)\$", statement.text)
    weights = {name: R(step) / 2 for name, step in steps}
    assert list(weights) == ["p_1", "p_2", "p_3"]
    p_0 = value(one(statement, r": \$p_0 = ([^$]*)\$"))
    labels = [int(n) for n in one(statement, r"has the values \$(\d, \d, \d, \d)\$").split(", ")]
    for x, label in zip(places, labels, strict=True):
        signs = {rf"\sigma_{k}": sympy.sign(x - k + half) for k in (1, 2, 3)}
        assert value(one(statement, r"such that \$([^$]*)\$ has"), {"p_0": p_0, **weights, **signs}) == label


@reads("expr-one-layer")
def the_function_and_the_line(statement):
    product = one(statement, r"Let \$f\(x\) = ([^$]*)\$")
    inner = re.search(r"u_\\varepsilon\(([^)]*)\)", product)[1]
    assert close(value(inner, AFFINE), W * X + B)
    around = re.sub(r"\\langle p, .*?\\rangle", "t", product)
    assert value(around, {"t": 5, "p_0": 3}) == 8
    assert close(value(one(statement, r"\$x = (x_0 [^$]*)\$"), {"x_0": R(3), "t": R(2), "x_1": R(7)}), 17)
    assert r"Let $f(x) = " in statement.text and "line, $x = x_0" in statement.text
    labels = tex.formulas(statement.text[statement.text.index("the values") :])[0]
    assert labels == "0, 1, 0, 1"


@reads("why-growth")
def lengths_that_grow(statement):
    """One step with the gradient of length C at a point of length 1 is where both bounds of the length are sharp."""
    low, high, falls = (
        one(statement, pattern)
        for pattern in (
            r"Then \$\$ (.*?) \. \$\$",
            r"then \$(\\\|\\theta_t\\\|\^4 \\le .*?)\$",
            r"then \$(\\eta/.*?)\$",
        )
    )
    square, eta, G, t = R(3), R(1, 2), R(5), 1  # |theta_0|^2; the gradient at theta_0 has the length G / |theta_0|
    after = square + eta**2 * G**2 / square
    names = {r"\|\theta_0\|": sqrt(square), r"\|\theta_t\|": sqrt(after), r"\eta": eta, "C": G, "c": G, "t": R(t)}
    low, names["S"] = low.replace(r"\sum_{s<t} \|\tilde G_s\|^2", "S"), G**2
    assert chain_holds(low, names) and chain_holds(high, names) and chain_holds(falls, names)
    lower, upper = value(low.split(r"\ge")[1], names), value(high.split(r"\le")[1], names)
    assert close(upper, after**2) and close(after**2 - lower, eta**4 * G**4 / square**2)
    assert not chain_holds(high, names | {r"\|\theta_t\|": sqrt(after) * R(1001, 1000)})
    assert close(value(falls.split("<")[1], names | {"t": R(8)}), 1 / (4 * G))
    assert one(statement, r"go from \$([^$]*)\$ through") == r"\theta_0"
    assert one(statement, r"through \$([^$]*)\$") == r"\theta_1, \dots, \theta_t"
    for condition, name in ((r"constant \$(\\eta [^$]*)\$", r"\eta"), (r"\\ge (c > \d)\$", "c")):
        assert bound_by(one(statement, condition), name, R(1, 10**9), 0)
    assert bound_by(one(statement, r"for \$(t [^$]*)\$, whatever"), "t", 1, 0)
    assert bound_by(one(statement, r"Let \$(\\varepsilon [^$]*)\$"), r"\varepsilon", 0, 1)
    statement.says(r"If $\|\tilde G_s\| \ge c > 0$ for all $s < t$", r"If $\|\tilde G_s\| \le C$ for all $s < t$")


@reads("settled-ex-signs")
def the_signs_of_the_entries(statement):
    factor = one(statement, r"a positive number times \$([^$]*)\$")
    assert value(factor, {"d": 7, "u_i": 2}) == 7 - 1 - 2**2
    below = one(statement, r"and \$(u_i\^\d < [^$]*)\$")
    assert bound_by(below, "u_i", sqrt(6) - R(1, 10**9), sqrt(6), d=7)
    positive = one(statement, r"which is positive where \$([^$]*)\$")
    z = term(statement, "the two ends of")
    names = layer(list(z), R(1, 100))
    high, low = list(z).index(max(z)), list(z).index(min(z))
    u, J = names["u"], names["J"]
    assert J[high, low] > 0 and sorted(z) == [-1, 0, 0, 1]
    assert chain_holds(positive.replace("u_iu_j", "p"), {"p": u[high] * u[low]})
    assert bound_by(positive.replace("u_iu_j", "p"), "p", R(-101, 100), -1)
    assert same_sign(
        J[high, low], value(one(statement, r"has the sign of \$([^$]*)\$"), {"u_i": u[high], "u_j": u[low]})
    )


def same_sign(a, b):
    return sympy.sign(a) == sympy.sign(b)


@reads("gain-ex-sum")
def the_core_of_the_hint(statement):
    core_of_the_example = term(statement, "with the core")
    assert close(core_of_the_example, layer((1, 1, -2), 2)["u"])
    assert one(statement, r"solve for \$([^$]*)\$") == r"\gamma_3" and r"exactly if $\gamma_3 = " in statement.text


@reads("bn-train-eval")
def where_both_roots_are(statement):
    of_the_batch, stored = re.findall(r"\$([^$]*\+ \\varepsilon > [^$]*)\$", statement.text)
    assert bound_by(of_the_batch, "q", R(1, 10**9), 0, **{r"\varepsilon": 0})
    assert bound_by(stored, r"\bar q", R(1, 10**9), 0, **{r"\varepsilon": 0})
    assert bound_by(of_the_batch, r"\varepsilon", R(1, 10**9), 0, q=0)
    assert bound_by(stored, r"\varepsilon", R(1, 10**9), 0, **{r"\bar q": 0})
    enough, varied = one(statement, r"with \$(n [^$]*)\$ and"), one(statement, r"and \$(q > \d)\$, give")
    assert bound_by(enough, "n", 2, 1) and bound_by(varied, "q", R(1, 10**9), 0)
    statement.says("Stored statistics of exactly this batch")

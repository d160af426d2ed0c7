"""Readings of the first and the last exercises of four pages: prerequisites, backward pass, conventions, neighbours."""

import re

import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, given, layer, part, same, term, value
from statements.terms import evaluate

R = Rational


def found(statement, pattern):
    """The groups of a pattern in the text; an AssertionError that names the label where it is gone."""
    match = re.search(pattern, statement.text)
    assert match, f"{statement.label} no longer says {pattern}"
    return match.groups()


def norm(matrix):
    return sqrt(max((matrix.T * matrix).eigenvals()))


@reads("before-ex-norms")
def two_operator_norms(statement):
    diagonal = sympy.diag(*(R(n) for n in found(statement, r"diag\}\((-?\d), (-?\d)\)\$")))
    a, b = given(statement, "a"), given(statement, "b")
    assert term(statement, "without its sign:") == norm(diagonal)
    names = {"a": a, "b": b}
    chain = statement.tex("So the norm is")
    assert chain_holds(chain, names)
    assert value(chain.split("=")[-1], names) == norm(a * b.T)
    first, second = found(statement, r"= (\d) \\cdot (\d) =")
    assert (int(first), int(second)) == (a.norm(), b.norm())
    h = Matrix([2, -1])
    assert close((a * b.T * h).norm(), term(statement, "has the length", names | {"h": h}))
    assert chain_holds(statement.tex("$(ab^\\top)h = (b^\\top h)\\,a$ has"), names) is not False
    assert (a * b.T * b).norm() == value(r"\|b\|\,\|h\|\,\|a\|", names | {"h": b})
    statement.says(r"at most $\|b\|\,\|h\|\,\|a\|$, with equality for $h = b$")


@reads("before-ex-project")
def repeated_multiplication(statement):
    A = evaluate(found(statement, r"Try it on \$A = ([^$]*)\$")[0], {})
    lost = Matrix([R(n) for n in found(statement, r"the start \$\((\d), (\d)\)\$ is")])
    start = Matrix([R(n) for n in found(statement, r"From \$\((\d), (\d)\)\$")])
    assert A.T * A * lost == sympy.zeros(2, 1)
    step = A.T * A * start
    assert same(
        (A * step).norm() / step.norm(), norm(A), value(found(statement, r"the answer is \$([^$]*?) \\approx")[0])
    )
    decimal = found(statement, r"\\approx ([\d.]+)\$")[0]
    assert close(norm(A), R(decimal), R(1, 10**6))
    statement.says(
        "one step is enough", "is sent to $0$", "It fails if $h$ has no such part", r"by its eigenvalue $\sigma_k^2$"
    )


@reads("backward-ex-two-directions")
def along_the_centred_vector_and_across(statement):
    z, eps = given(statement, "z"), value(found(statement, r"\\varepsilon = (\d)\$ and gains")[0])
    names = layer(z, eps)
    assert found(statement, r"gains of \$(\d)\$") == ("1",)
    along, across = (value(g) for g in found(statement, r"by hand for \$g = ([^$]*)\$ and for \$g = ([^$]*)\$"))
    solution = part(statement, "Both $g$ have the mean")
    shown = re.findall(r"\$dz = [^$=]* = ([^$=]*)\$: the factor is \$([^$]*)\$", solution)
    factors = re.search(r"where the factor is \$([^$]*)\$, the second .* where it is \$([^$]*)\$", solution).groups()
    for g, (dz, times), factor in zip((along, across), shown, factors, strict=True):
        assert value(dz) == names["J"] * g == value(times) * g
        assert same(value(times), value(factor, names))
        assert sum(g) == 0
    assert term(statement, "Both $g$ have the mean") == 0
    assert along.dot(names["u"]) / 3 == term(statement, "products with the core have the mean")
    assert across.dot(names["u"]) / 3 == term(statement, "that mean is") == across.dot(names["v"]) / 3
    assert close(along, names["v"])
    assert chain_holds(
        found(statement, r"and \$(dz = \\tfrac12\(g[^$]*)\$")[0], names | {"g": along, "dz": names["J"] * along}
    )
    assert chain_holds(
        found(statement, r"and \$(dz = \\tfrac12g[^$]*)\$")[0], names | {"g": across, "dz": names["J"] * across}
    )
    assert value(found(statement, r"and the core \$([^$]*)\$")[0]) == names["u"]
    assert term(statement, "The root is") == sqrt(names["q"] + eps)


@reads("backward-ex-project")
def a_test_that_can_fail(statement):
    g = Matrix([1, 0, 3])
    names = layer((1, 2, 4), R(1, 3), g=sympy.ones(3, 1)) | {r"\operatorname{mean}": lambda x: sum(x) / 3}
    assert chain_holds(found(statement, r"sum y\$, \$(\\hat g = [^$]*)\$: without")[0], names | {r"\hat g": names["g"]})
    assert close(names["g"] - sympy.ones(3, 1), value(found(statement, r"without its mean it is \$(\d)\$")[0]))
    assert chain_holds(found(statement, r"the third term is \$([^$]*)\$ as well")[0], names)
    right = int(found(statement, r"the right code and the wrong one return \$(\d)\$")[0])
    assert close(names["J"] * names["g"], right)
    assert names["u"].dot(g) != int(found(statement, r"gains the third term is not \$(\d)\$")[0])
    statement.says("gains of $1$ and $\\ell = \\sum y$", "the test sees nothing", "has the gradient $g$ at the output")


@reads("conventions-ex-default")
def the_variance_of_a_tenth(statement):
    names = {r"\varepsilon": value(found(statement, r"trained with \$\\varepsilon = ([^$]*)\$")[0])}
    names[r"\varepsilon'"] = value(found(statement, r"runs with \$\\varepsilon' = ([^$]*)\$")[0])
    exact, about = found(statement, r"so \$q = (.*?) \\approx ([\d.]+)\$")
    q = value(exact, names)
    assert close(q, R(about), R(1, 20000))
    factor = term(statement, "The factor is", names | {"q": q})
    assert same(factor, term(statement, ". It is"), R(9, 10), 1 - R(1, 10))
    assert chain_holds(statement.tex("where"), names | {"q": q})
    assert close(sqrt(q), term(statement, "a standard deviation of"), R(1, 2000))
    smaller, limit = (term(statement, "The factor is", names | {"q": x}) for x in (q / 2, 0))
    assert limit < smaller < factor
    chain = statement.tex("down to the factor")
    assert chain_holds(chain, names) and same(limit, value(chain.split("=")[0], names))
    assert same(R(9, 10) ** 2, term(statement, "Set its square to"))
    statement.says("a tenth too small", "Rows of smaller variance are off by more", "The factor grows with $q$")


@reads("conventions-ex-project")
def two_questions_tell_ten_conventions(statement):
    first, second = (int(n) for n in found(statement, r"stored gains \$(\d)\$ and \$(\d)\$"))

    def answers(w):
        return [
            R(w, 2), R(w, 4), w / sqrt(5), w / (sqrt(2) + 3), w / sqrt(3),
            R(w), w / sqrt(10), 2 * w / sqrt(5), R(1 + w, 2), R(1, 2),
        ]  # fmt: skip

    at_first, at_second = answers(first), answers(second)
    outside, none = 1, 9
    assert same(at_first[outside], at_first[none], term(statement, "a gain left out both give"))
    assert same(at_second[outside], term(statement, "the first gives"))
    assert same(at_second[none], term(statement, "and the second still"))
    assert len(set(at_first)) == 9 and len(set(zip(at_first, at_second, strict=True))) == 10
    assert f"With $w = {first}$ two of them agree" in statement.text
    statement.says("no other two lines agree at both")


@reads("neighbours-ex-both")
def one_pair_by_hand(statement):
    z = value(found(statement, r"the core of \$z = ([^$]*)\$")[0])
    names = layer(z, value(found(statement, r"at \$\\varepsilon = (\d)\$")[0]))
    chain = statement.tex("The mean square is").split("=")
    assert value(chain[0]) == value(chain[1]) == z.dot(z) / 2
    assert term(statement, "so RMSNorm gives") == z / sqrt(z.dot(z) / 2)
    assert term(statement, "The mean is") == names[r"\mu"]
    assert term(statement, "the centred vector") == names["v"]
    assert term(statement, "the variance") == names["q"]
    assert value(found(statement, r"and the core \$(\([^$]*\))\$")[0]) == names["u"]
    added = term(statement, ": add")
    moved = z + added * sympy.ones(2, 1)
    assert sum(moved) / 2 == term(statement, "if and only if the mean is")
    assert moved / sqrt(moved.dot(moved) / 2) == names["u"]


@reads("neighbours-ex-project")
def the_layer_replaced(statement):
    eps = R(1, 3)
    W, b, x = Matrix([[1, 2], [0, 1], [3, -1]]), Matrix([1, 0, 2]), Matrix([2, 1])
    names = layer(W * x + b, eps, (2, -1, 3), (1, 0, 5), A=Matrix([[1, 2, 0], [0, 1, -1]]), c=Matrix([4, 7]), W=W, b=b)
    front, shift = found(statement, r"In front: \$([^$]*)\$ and \$([^$]*)\$")
    behind, constant = found(statement, r"Behind: \$([^$]*)\$ and \$([^$]*)\$")
    z = value(front, names) * x + value(shift, names)
    n = z / sqrt(z.dot(z) / 3 + eps)
    assert close(value(behind, names) * n + value(constant, names), names["A"] * names["y"] + names["c"])
    d = int(found(statement, r"at \$d = (\d+)\$")[0])
    assert chain_holds(statement.tex("Gain and bias are gone,"), {"d": d})
    statement.says("for every $\\varepsilon > 0$, if RMSNorm keeps the $\\varepsilon$ of the layer")

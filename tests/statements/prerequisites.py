"""Readings of the exercises of the page on what a reader needs before."""

import sympy
from sympy import Integer, Matrix

from statements import reads
from statements.settings import setting
from statements.terms import check, evaluate, given, norm, same, value


@reads("before-ex-centre")
def two_vectors(statement):
    names = setting(given(statement, "z", {}), 1)
    check(statement, "````", names, count=3)
    second = setting(value(statement, "Then those of", names), 1)
    check(statement, "By the two rules the others are", names)
    assert same(value_of_all(statement, "By the two rules the others are", names), second[r"\mu"])
    check(statement, "By the two rules the others are", names, 1)
    assert same(value_of_all(statement, "By the two rules the others are", names, 1), second["v"])
    check(statement, "By the two rules the others are", names, 2)
    assert same(value_of_all(statement, "By the two rules the others are", names, 2), second["q"])
    squares = statement.tex("````", 2)
    written = [Integer(n) for n in squares.split("{")[1].split("}")[0].split(" + ")]
    assert written == [x**2 for x in names["v"]]
    assert statement.tex("By the two rules the others are").startswith(r"-3\cdot4 ")
    assert second[r"\mu"] == evaluate(r"-3\cdot4 + 1", {})


def value_of_all(statement, after, names, number=0):
    """The first and last term of a chain of equations, which are equal."""
    terms = statement.tex(after, number).split("=")
    first, last = evaluate(terms[0], names), evaluate(terms[-1], names)
    assert same(first, last)
    return last


@reads("before-ex-rank-one")
def a_projection_along_a_vector(statement):
    example = evaluate(statement.tex("for $d = 1$. For").split("=")[1], {})
    for v in (example, Matrix([3, 4]) / 5, Matrix([1])):
        d = Integer(len(v))
        names = {"v": v, "I": sympy.eye(d), "d": d}
        assert same(norm(v), value(statement, "have length", {}))
        matrix = value(statement, "all eigenvalues of", names)
        if d > 1:
            check(statement, "````", names)
        across = [] if d == 1 else Matrix([list(v)]).nullspace()
        for w in across:
            check(statement, "````", {**names, "w": w}, 1)
            assert v.dot(w) == 0
        zero, one = value(statement, "So", {}), value(statement, "once and", {})
        found = matrix.eigenvals()
        assert found.get(zero) == 1
        assert found.get(one, 0) == value(statement, "with multiplicity", names) == len(across)
        largest = norm(matrix) if d > 1 else abs(matrix[0])
        after = "The norm is" if d >= 2 else "d \\ge 2$ and"
        assert same(largest, value(statement, after, {}))
        check(statement, "The norm is" if d >= 2 else "d \\ge 2$ and", names, 1)
    assert r"w \perp v" in statement.tex("````", 2)
    statement.says("all eigenvalues")


@reads("before-ex-chain")
def length_and_direction(statement):
    a, b = sympy.symbols("a b", positive=True)
    length = evaluate(statement.tex("Let").split("=")[1], {"z": Matrix([a, b])})
    z = given(statement, "z", {})
    direction = evaluate(statement.tex("Let", 1).split("=")[1], {"z": Matrix([a, b])})
    at = dict(zip((a, b), z, strict=True))
    names = {"z": z, "I": sympy.eye(2), r"\partial f/\partial z": Matrix([length.diff(x) for x in (a, b)]).subs(at)}
    jacobian = direction.jacobian([a, b]).subs(at)
    check(statement, "for", names)
    check(statement, "so", names)
    assert same(Matrix([(length**2).diff(x) for x in (a, b)]).subs(at), value(statement, "has the gradient", names))
    t = sympy.Symbol("t", positive=True)
    assert same(sympy.sqrt(t).diff(t).subs(t, norm(z) ** 2), value(statement, "the derivative", names))
    assert same(norm(z) ** 2, value(statement, "````", names))
    assert same(jacobian, value(statement, "The product rule gives", names))
    assert same(z, value(statement, "At", {}))
    check(statement, "with", names)
    assert same(names[r"\partial f/\partial z"], value(statement, "with", {}, 1))
    assert same(jacobian, value(statement, "with", {}, 2))

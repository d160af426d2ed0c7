"""Readings of the statements on geometry: ball, ellipsoid, inverse and slope, in exact arithmetic."""

import re

import exact
import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, given, holds, layer, operator_norm, same, term, value

R = Rational
ROWS = ((0, 1), (1, 2, 4), (1, 1, -2, 5))


def core(z, eps):
    return layer(z, eps)["u"]


@reads("open-ball")
def the_ball_and_its_sphere(statement):
    for z in ROWS:
        assert holds(statement, 4, layer(z, R(1, 3)), end="At $")
        assert holds(statement, 4, layer(z, 0), start="At $")
        names = layer(z, 2)
        inside = R(99, 100) * core(z, 0)
        back = inside * sqrt(2 / (1 - inside.dot(inside) / len(z)))
        assert close(core(back, 2), inside)
        assert inside.norm() < value(re.search(r"ball of radius \$([^$]*)\$", statement.text)[1], names)
    assert sum(names["u"]) == term(statement, "plane of mean")
    statement.says("cores of all inputs are exactly the vectors", "all inputs with $q > 0$ are exactly its sphere")


@reads("invertible")
def the_centred_vector_from_the_core(statement):
    for z in ROWS:
        names = layer(z, R(1, 3))
        assert holds(statement, 2, names, end="Two inputs")
        assert holds(statement, 1, names, start="For $q", end="At $")
        assert core([entry + 5 for entry in z], R(1, 3)) == names["u"]
        step = R(1, 10**30)
        longer = (1 + step) * names["u"]
        back = longer * sqrt(R(1, 3) / (1 - longer.dot(longer) / len(z)))
        change = (back.norm() / names["v"].norm() - 1) / step
        assert close(change, term(statement, "the relative error", names | {r"\delta": 1}), R(1, 10**20))
        assert close(core(3 * names["v"], 0), core(z, 0))
        assert not close(core(3 * names["v"], 1), core(z, 1))
    assert holds(statement, 2, layer((1, 2, 4), 0, a=R(1, 10)), start="At $")
    statement.says("if and only if they differ by a {term}`common shift`", "Only the mean is lost")


@reads("largest-coordinate")
def the_bound_of_one_coordinate(statement):
    for z, equal in (((5, 0, 0), True), ((5, 0, 1), False), ((0, 1), True), ((3, 1, 1, 1), True)):
        for eps in (R(1, 3), 0):
            names = layer(z, eps, i=1)
            assert holds(statement, 1, names, start="Then", end="with equality")
            first = statement.tex("Then")
            assert chain_holds(first.replace(r"\le", "="), names) == equal
            if eps:
                assert holds(statement, 2, names, start="So $", end="and $|u_i|")
            else:
                assert chain_holds(statement.tex("0$, and"), names)
                assert chain_holds(statement.tex("0$, and").replace(r"\le", "="), names) == equal
                assert holds(statement, 2, names, start="and $|u_i|", end="The spike")
    far = layer((10**30, 0, 0), 2, i=1)
    assert close(far["u"][0], sqrt(2), R(1, 10**20))
    assert close(core((7, 0, 0), 0)[0], sqrt(2))
    assert chain_holds(statement.tex("attains it at"), layer((7, 0, 0), 0))
    two = layer((5, 2), R(1, 3))
    two["s"] = value(re.search(r"with \$s = ([^$]*)\$", statement.text)[1], two)
    assert close(two["u"], term(statement, "the core is", two))
    assert holds(statement, 2, two, start="At $d = 2", end="; for")
    assert sympy.sign(term(statement, "only the sign of", two)) == sympy.sign(two["u"][0])
    assert core((9, 0), 0) == core((5, 2), 0)
    one = layer([4], 3, [2], [5]) | {r"\partial\ell/\partial\gamma": layer([4], 3)["u"] * 7}
    assert holds(statement, 4, one, start="At $d = 1")
    assert close(one["u"], term(statement, r"\varepsilon > 0$, it is"))
    assert one["y"] == one[r"\beta"]
    assert holds(statement, 1, layer((0, 1), 1), end="Then")
    statement.says("if and only if the other coordinates", "it tells only", "below the root of d − 1")


@reads("ellipsoid")
def the_ellipsoid_of_the_outputs(statement):
    for z, gain in (((10**6, 0, 0), (3, 1, 2)), ((1, 2, 4), (1, -1, 5)), ((0, 1), (2, 7))):
        names = layer(z, R(1, 9), gain, (1, -2, 3)[: len(z)], i=1, m=1)
        assert holds(statement, 3, names, start="In particular", end="If no gain")
        assert holds(statement, 2, names, start="If no gain", end="If $m")
        shape = sympy.diag(*gain) * names["P"]
        assert shape.rank() == term(statement, "it has dimension", names)
        silenced = sympy.diag(0, *gain[1:]) * names["P"]
        assert silenced.rank() == value(re.findall(r"it has dimension \$([^$]*)\$", statement.text)[1], names)
        assert holds(statement, 1, names, start="If $m", end="gains")
        half_axis = term(statement, "half-axes are", names) * operator_norm(shape)
        assert (names["y"] - names[r"\beta"]).norm() < half_axis
    assert (sympy.diag(0, 0, 1) * layer((1, 2, 4), 1)["P"]).rank() == 3 - 2
    assert term(statement, "and not all gains be") == term(statement, "If no gain is") == 0
    assert re.search(r"gains are \$(\d)\$, it has", statement.text)[1] == "0"
    statement.says("not all gains be", "The outputs of all inputs are exactly the points", "If no gain is")


@reads("gradient-map")
def the_core_is_a_slope(statement):
    symbols = sympy.symbols("z1:4", real=True)
    eps = R(1, 3)
    for a, b in (((1, 2, 4), (0, 5, 1)), ((0, 0, 0), (R(1, 10**6), 0, -R(1, 10**6)))):
        names = layer(a, eps, a=Matrix(a), b=Matrix(b))
        names["u"] = lambda z: core(z, eps)
        assert holds(statement, 3, names)
        potential = value(re.search(r"\\varphi\(z\) = ([^$]*)\$", statement.text)[1], symbolic(symbols, eps))
        slope = Matrix([potential.diff(symbol) for symbol in symbols]).subs(dict(zip(symbols, a, strict=True)))
        assert close(slope, core(a, eps))
        assert holds(statement, 1, layer((0, 1), eps), start="For $d")
    tiny = names["u"](Matrix(a)) - names["u"](Matrix(b))
    quotient = tiny.dot(Matrix(a) - Matrix(b)) / tiny.dot(tiny)
    assert close(quotient, term(statement, "no constant larger than", names), R(1, 10**10))
    J = exact.core_jacobian([1, 2, 4], eps)
    assert J.T == J
    statement.says("for all inputs $a$ and $b$", "no constant larger than")


def symbolic(symbols, eps):
    d = len(symbols)
    mean = sum(symbols) / d
    return {"d": d, "q": sum((symbol - mean) ** 2 for symbol in symbols) / d, r"\varepsilon": eps}


@reads("two-points")
def the_identity_of_two_inputs(statement):
    for a, b, eps in (((1, 2, 4), (0, 5, 1), R(1, 3)), ((0, 1), (1, 0), 0), ((0, 3, 3), (3, 0, 3), 2)):
        first, second = layer(a, eps), layer(b, eps)
        names = {
            "d": len(a),
            "a": Matrix(a),
            "b": Matrix(b),
            r"\varepsilon": eps,
            "q_a": first["q"],
            "q_b": second["q"],
        }
        names |= {"s_a": sqrt(first["q"] + eps), "s_b": sqrt(second["q"] + eps), "u": lambda z, eps=eps: core(z, eps)}
        display = re.search(r"\$\$ (.*?) \. \$\$", statement.text)[1]
        assert chain_holds(display, names)
        roots = re.search(r"the roots \$([^$]*)\$ and \$([^$]*)\$", statement.text)
        assert chain_holds(roots[1], names)
        assert chain_holds(roots[2], names)
        step = (names["a"] - names["b"]).norm()
        amplified = (first["u"] - second["u"]).norm() / step
        bound = term(statement, "is at most", names)
        assert (amplified - bound).evalf(50) <= R(1, 10**40)
        if first["q"] == second["q"]:
            assert same(amplified, bound, term(statement, "it is exactly", names))
            assert chain_holds(statement.tex("For a centred step with"), names)
    assert chain_holds(statement.tex("Let"), {r"\varepsilon": 0})
    statement.says("is at most", "is exactly $")


@reads("geo-ex-sums")
def sums_of_coordinates(statement):
    for d in (2, 3, 5):
        for k in range(1, d):
            w = Matrix([1] * k + [0] * (d - k))
            names = layer(tuple(w), 0, k=k, w=w)
            bound = term(statement, "is below", names)
            assert close(w.dot(names["u"]), bound)
            assert w.dot(layer(tuple(w), 1)["u"]) < bound
            assert close(w.dot(layer(tuple(10**30 * w), 1)["u"]), bound, R(1, 10**20))
            assert close((names["P"] * w).norm() * sqrt(d), bound)
            assert same(sum(w) / d, term(statement, "mean of $w$ is", names))
            assert holds(statement, 1, names, start="so $", end="The case")
            inside = layer(tuple(3 * w), 1, k=k, w=w)
            assert chain_holds(statement.tex("The sum is"), inside)
    assert re.search(r"be \$(\d)\$ on the \$k\$ places and \$(\d)\$ elsewhere", statement.text).groups() == ("1", "0")
    assert chain_holds(statement.tex("The case"), {"k": 1})
    assert chain_holds(statement.tex("attains it at"), {r"\varepsilon": 0})
    statement.says("is below")


@reads("geo-ex-flat")
def the_flat_ellipse(statement):
    gain, d = given(statement, r"\gamma"), given(statement, "d")
    assert d == len(gain)
    assert given(statement, r"\beta") == 0
    names = layer((1, 2, 4), R(1, 3), gain)
    y = names["y"]
    assert close(names["u"], Matrix([y[0], y[1], -y[0] - y[1]]))
    assert chain_holds(re.search(r"and \$(u = [^$]*)\$", statement.text)[1], names)
    assert chain_holds(re.search(r"\$(y_3 = \d)\$", statement.text)[1], names)
    ball = re.search(r"exactly if \$([^$]*)\$", statement.text)[1]
    assert chain_holds(ball, names)
    found = re.findall(
        r"long \$(\([^$]*\))\$ (?:this|it) is \$([^$]*)\$ for \$y = ([^$]*)\$: the half-axis is \$([^$]*)\$",
        statement.text,
    )
    root = sqrt(3)
    singular = [
        value(tex) for tex in re.search(r"singular values \$([^$]*)\$ and \$([^$]*)\$", statement.text).groups()
    ]
    assert same(value(re.search(r"These are \$([^$]*)\$ times", statement.text)[1]), sqrt(d))
    shape = sympy.diag(*gain) * names["P"]
    for (direction, condition, point, half), number in zip(found, singular, strict=True):
        direction, half = value(direction), value(half)
        assert same(half, root * number)
        h = Matrix([*direction, 0])
        assert close(shape * shape.T * h, number**2 * h)
        edge = half / direction.norm()
        at = value(point, {"t": edge})
        assert close(at, edge * direction)
        assert chain_holds(condition.replace("<", "="), {"t": edge})
        assert chain_holds(condition, {"t": edge / 2})
        assert chain_holds(ball, {"y_1": at[0] / 2, "y_2": at[1] / 2})
        assert chain_holds(ball.replace("<", "="), {"y_1": at[0], "y_2": at[1]})
    statement.says("set of all outputs", "is a core exactly if")


@reads("geo-ex-conjugate")
def the_conjugate_function(statement):
    eps = R(1, 3)
    symbols = Matrix(sympy.symbols("u1:4", real=True))
    for z in ((1, 2, 4), (0, 1, 1)):
        names = layer(z, eps)
        u = names["u"]
        squared = sum(entry**2 for entry in symbols)
        at = dict(zip(symbols, u, strict=True))
        psi_text = re.search(r"\\psi\(u\) = ([^$]*)\$\. What", statement.text)[1]
        psi = value(psi_text.replace(r"\|u\|^2", "S"), names | {"S": squared})
        slope = Matrix([psi.diff(symbol) for symbol in symbols]).subs(at)
        assert close(slope, names["v"])
        psi_value = psi.subs(at)
        names |= {
            r"\nabla\psi": slope,
            r"\psi(u)": psi_value,
            r"\varphi": 3 * sqrt(names["q"] + eps),
            r"\psi": psi_value,
        }
        assert holds(statement, 4, names, start="so $\\nabla")
        inner = Matrix([(1 - squared / 3).diff(symbol) for symbol in symbols]).subs(at)
        assert close(inner, value(re.search(r"\^2/d\$ is \$([^$]*)\$", statement.text)[1], names))
        assert same(1 - u.dot(u) / 3, value(re.search(r"gradient of \$([^$]*)\$", statement.text)[1], names))


@reads("geo-ex-back")
def the_centred_vector_of_one_core(statement):
    u, eps, v = given(statement, "u"), given(statement, r"\varepsilon"), given(statement, "v")
    names = layer(tuple(v), eps)
    assert names["u"] == u and names["q"] == term(statement, "Its variance is")
    root = re.search(r"\$(\\sqrt\{[^=]*) = ([^$]*)\$, so", statement.text)
    assert value(root[1]) == value(root[2]) and same(value(root[2]) * u, v)
    assert value(root[1]) == sqrt(eps / (1 - u.dot(u) / len(u)))
    assert chain_holds(statement.tex("and indeed"), names) and names["q"] / (names["q"] + eps) == u.dot(u) / len(u)
    assert term(statement, "squared length of $u$ is") == u.dot(u)
    statement.says("a row of four numbers")


@reads("geo-ex-project")
def the_input_recovered(statement):
    formula = re.search(r"then \$v = ([^$]*)\$", statement.text)[1]
    for z, eps in (((1, 2, 4), Rational(1, 3)), ((0, 3, 3, 1), 2)):
        names = layer(z, eps, (2, -1, 3, 5)[: len(z)], (1, 0, 4, 2)[: len(z)])
        assert same(value(formula, names), names["v"])
        growth = term(statement, "is multiplied by", names)
        assert growth == (names["q"] + eps) / eps
    eps, lost = given(statement, r"\varepsilon"), term(statement, "A relative error of about")
    grown = [lost * (1 + layer((size, 2 * size, 4 * size), eps)["q"] / eps) for size in (Rational(1, 1000), 1, 1000)]
    assert grown[0] < Rational(1, 10**6) and Rational(1, 1000) < grown[1] < Rational(1, 10) and grown[2] > 1
    assert [term(statement, "of the sizes", number=n) for n in range(3)] == [Rational(1, 1000), 1, 1000]
    assert [term(statement, words) for words in ("at the size", "costs percents at", "and at")] == [
        Rational(1, 1000),
        1,
        1000,
    ]
    statement.says("whose gains are not $0$")


@reads("geometry-wrong-layer-norm-scales-all-vectors-to")
def lengths_below_the_root_of_d(statement):
    equal = layer((1, -1, 0), R(2, 3))
    assert holds(statement, 1, equal, start="At $q")
    assert close(equal["u"].norm(), value(re.search(r"the length is \$([^$]*)\$", statement.text)[1], equal))
    without = layer((1, 2, 4), 0)
    assert holds(statement, 1, without, start="right at", end=", and")
    assert close(without["u"].norm(), term(statement, "to the length", without))
    assert holds(statement, 1, equal, start="With $", end="every length")
    assert equal["u"].norm() < term(statement, "every length below", equal)
    statement.says("scales all vectors", "every length below")


@reads("geometry-wrong-whatever-the-input-the-output-has")
def what_an_output_with_two_lost_coordinates_tells(statement):
    gain = given(statement, r"\gamma")
    first = layer((5, 1, 0), 1, gain)
    assert list(gain).count(0) == 2
    u = first["u"]
    other = Matrix([u[0], -u[0] / 2, -u[0] / 2])
    back = other * sqrt(1 / (1 - other.dot(other) / 3))
    second = layer(back, 1, gain)
    assert close(second["y"], first["y"])
    assert not close(second["q"], first["q"])
    assert term(statement, "at most one gain is") == 0
    assert holds(statement, 1, first, end="the core has")
    assert gain[0] == 1
    statement.says("at most one gain is", "has no memory of its scale")


@reads("geometry-wrong-layer-norm-over-one-feature-is")
def one_feature(statement):
    z = value(re.search(r"as reported for \$z = ([^$]*)\$", statement.text)[1])
    names = layer([z], 1, [2], [3])
    assert z == 10**6
    assert holds(statement, 1, names, start="report {", end="leaves")
    assert names["y"] == names[r"\beta"]
    assert names["u"].is_zero_matrix


@reads("geometry-wrong-the-coordinates-of-the-output-add")
def the_plane_of_the_outputs(statement):
    names = layer((1, 2, 4), 1, (2, -1, 3), (1, 5, 7))
    assert r"$(1/\gamma_1, \dots, 1/\gamma_d)$" in statement.text
    inverse = Matrix([1 / entry for entry in names[r"\gamma"]])
    assert close(inverse.dot(names["y"] - names[r"\beta"]), 0)
    assert term(statement, "if no gain is") == 0
    statement.says("if no gain is")

"""Readings of the statements on Jacobians and gradients in a deep network, and on how strongly a block can react."""

import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, given, holds, layer, operator_norm, same, term, value
from statements.in_a_deep_network import ROWS, core, found, jacobian, mean_over_signs, variance

R = Rational


@reads("deep-conserved")
def the_conserved_sum(statement):
    x, eps, A = Matrix([1, 2, 6]), R(1, 3), Matrix([[1, 0, 2], [0, 3, -1], [1, 1, 0]])
    D = sympy.eye(3) + A * jacobian(x, eps)
    assert chain_holds(statement.tex("Then"), {"D": D, r"\mathbf{1}": sympy.ones(3, 1)})
    bound = found(statement, r"so \$\\\|D\\\|_2 (\\ge \d)\$")[0]
    assert chain_holds("x " + bound, {"x": operator_norm(sympy.eye(3))}) and not chain_holds(
        "x " + bound, {"x": R(99, 100)}
    )
    g = Matrix([1, 5, -2])
    assert close(sum(D.T * g), sum(g))
    assert close(sum(jacobian(x, eps) * g), term(statement, "that sum is"))
    assert chain_holds(statement.tex("differentiable branches and"), {r"\varepsilon": eps})
    statement.says("the same sum for every $l$", "through a final norm only", "for each position", "it fails")


@reads("deep-vanish")
def a_gradient_that_vanishes(statement):
    x, eps = given(statement, "x"), given(statement, r"\varepsilon")
    D = sympy.eye(3) - jacobian(x, eps)
    assert close(core(x, eps), x) and found(statement, r"F\(y\) = (-y)\$")
    assert close(x - core(x, eps), term(statement, "sends $x$ to") * x)
    w, at_w, at_x, at_1 = found(
        statement, r"multiplies \$([^$]*)\$ by \$([^$]*)\$, \$x\$ by \$([^$]*)\$ and .* by \$(\d)\$"
    )
    assert close(D * value(w), value(at_w) * value(w))
    assert close(D * x, value(at_x) * x) and close(D * sympy.ones(3, 1), value(at_1) * sympy.ones(3, 1))
    assert found(statement, r"Jacobian \$(I - J)\$") and given(statement, r"\beta") == 0


@reads("deep-stack-jacobian")
def the_jacobian_of_a_stack(statement):
    factor = found(statement, r"\\Bigl\((1 .*?)\\Bigr\)")[0]
    x, eps, k = Matrix([1, 2, 6]), R(1, 3), 5
    names = {"k": k, "q_l": variance(x), r"\varepsilon": eps, "q_{l-1}": variance(x)}
    across = layer(tuple(x), eps)["v"].cross(sympy.ones(3, 1))
    assert same(value(factor, names), (across + k * jacobian(x, eps) * across).norm() / across.norm())
    off = found(statement, r"by at most \$([^$]*)\$ in the norm")[0]
    assert same(value(off, names), (k * jacobian(x, eps) * across).norm() / across.norm())
    exponent = found(statement, r"\\exp\\bigl\((.*?)\\bigr\)")[0]
    for q0, a, L in ((1, 4, 1), (R(1, 10), 2, 9)):
        roots = sum(k / sqrt(q0 + n * a) for n in range(L))
        bound = value(exponent, {"k": k, "q_0": q0, "L": L, "a": a})
        assert roots.evalf(30) <= bound.evalf(30)
        assert same(bound, k / sqrt(q0) + 2 * k * sqrt(R(L) / a))
    assert r"\prod_{l=0}^{L-1}" in statement.text
    condition = found(statement, r"If \$(q_l [^$]*)\$ with \$([^$]*)\$ and \$([^$]*)\$")
    assert chain_holds(condition[0], {"q_l": 9, "q_0": 1, "l": 2, "a": 4})
    assert not chain_holds(condition[0], {"q_l": 8, "q_0": 1, "l": 2, "a": 4})
    assert chain_holds(condition[1], {"q_0": 1}) and chain_holds(condition[2], {"a": 1})
    assert not chain_holds(condition[1], {"q_0": 0}) and not chain_holds(condition[2], {"a": 0})
    assert chain_holds(statement.tex("Let"), {r"\varepsilon": 1})
    statement.says("at most the norm", "this is at most", "\\le k$ wherever")


@reads("deep-same-branch")
def the_same_branch(statement):
    w, s = Matrix([1, -2, 1]), 2
    law = found(statement, r"\$\$ (.*?) , \$\$")[0]
    for eps in (0, R(1, 3)):
        x, moved, q0 = Matrix([1, 0, -1]).evalf(60), w, R(2, 3)
        for _ in range(2):
            after = x + s * core(x, eps)
            moved = moved + s * jacobian(x, eps) * moved
            names = {"q_{l+1}": variance(after), "q_l": variance(x), "s": s, r"\varepsilon": eps}
            assert chain_holds(law, names)
            x = after
        ratio = value(found(statement, r"\$v_0\$ by \$([^$]*)\$")[0], {"q_L": variance(x), "q_0": q0})
        assert close(moved, ratio * w)
    at_0 = found(statement, r"that is \$([^$]*)\$")[0]
    q_L = (sqrt(q0) + 5 * s) ** 2
    assert same(sqrt(q_L / q0), value(at_0, {"L": 5, "s": s, "q_0": q0}))
    limit = term(statement, "it tends to", {"s": s, r"\varepsilon": R(1, 9), "L": 3})
    assert limit == (1 + s / sqrt(R(1, 9))) ** 3
    assert [chain_holds(found(statement, r"with \$(s [^$]*)\$")[0], {"s": n}) for n in (0, -1)] == [True, False]
    statement.says(
        "every $w$ orthogonal to", "At $\\varepsilon = 0$", "q_0 \\to 0$ at $\\varepsilon > 0$", "at $q_0 > 0$"
    )


@reads("deep-mean-square")
def the_mean_square(statement):
    x, w, a, d, eps = Matrix([1, 3]), Matrix([2, 1]), 3, 2, R(1, 3)
    J = jacobian(x, eps)
    got = mean_over_signs(lambda W: (w + W * J * w).dot(w + W * J * w), sqrt(R(a, d)), (d, d))
    names = {"w_{l-1}": w, "a": a, "J": J, "q_{l-1}": variance(x), r"\varepsilon": eps}
    assert close(got, value(found(statement, r"\\\|w_l\\\|\^2\$ is \$([^$]*)\$")[0], names))
    low, high = found(statement, r"between \$\$ (.*?) \\quad.*?\\quad (.*?) \. \$\$")
    assert value(low, names).evalf(30) <= got.evalf(30) <= value(high, names).evalf(30)
    assert same(value(low, names), w.dot(w)) and same(value(high, names), (1 + a / (variance(x) + eps)) * w.dot(w))
    factors = [1 + R(a) / (5 + n * a) for n in range(4)]
    assert sympy.prod(factors) == term(statement, "product of the upper factors is", {"q_0": 5, "L": 4, "a": a})
    assert chain_holds(found(statement, r"If \$(q_l = [^$]*)\$")[0], {"q_l": 11, "q_0": 5, "l": 2, "a": 3})
    assert term(statement, "is never below") == 1 and "and $\\varepsilon = 0$" in statement.text


@reads("deep-last-block")
def the_last_gradient(statement):
    z, eps, gain, g, h = (1, 2, 6), R(1, 3), (2, -1, 3), Matrix([1, 5, -2]), Matrix([2, 1])
    names = layer(z, eps, gain) | {r"\hat g": Matrix(gain).multiply_elementwise(g), "h": h, r"\eta": R(1, 10)}
    back = names["J"] * names[r"\hat g"]
    gradient = value(found(statement, r"\\partial W = (\(J.*?)\$")[0].replace(r"\,", ""), names)
    assert close(gradient, back * h.T)
    length = sqrt(sum(entry**2 for entry in gradient))
    assert same(length, term(statement, "its length is", names))
    display = found(statement, r"\$\$ (.*?) , \$\$")[0]
    assert chain_holds(display, names)
    across = names | {r"\hat g": names["v"].cross(sympy.ones(3, 1))}
    left, right = (value(side, across) for side in display.split(r"\le"))
    assert same(left, right)
    change = term(statement, "changes the loss by", names)
    assert same(change, -names[r"\eta"] * length**2)
    post, pre = found(statement, r"post-norm has \$q = ([^$]*)\$ there, .* final norm \$q = ([^$]*)\$")
    a, q0, L = 1, 1, 7
    assert same(value(post, {"a": 3}), variance(ROWS[0] + sqrt(3) * ROWS[1]))
    assert value(pre, {"q_0": 2, "L": 5, "a": 3}) == 2 + 5 * 3
    ratio = sqrt(value(pre, {"q_0": q0, "L": L, "a": a}) / value(post, {"a": a}))
    assert same(ratio, term(statement, "the first bound is", {"L": L}))
    assert found(statement, r"with \$q_0 = a = (\d)\$")[0] == "1"
    statement.says("with equality for", "at every depth", "to first order", "at $\\varepsilon = 0$")


@reads("deep-lipschitz")
def the_constants(statement):
    t, k = sympy.Symbol("t", real=True), 3
    post, pre, sandwich = found(
        statement,
        r"- \$([^$]*)\$ for post-norm, - \$([^$]*)\$ for pre-norm and for the output norm, "
        r"- \$([^$]*)\$ for the sandwich",
    )
    for eps in (R(1, 9), R(4)):
        names = {"k": k, r"\varepsilon": eps}
        u = t / sqrt(t**2 + eps)
        slopes = [
            (1 + k) * sympy.diff(u, t).subs(t, 0),
            1 + k * sympy.diff(u, t).subs(t, 0),
            1 + sympy.diff(u.subs(t, k * u), t).subs(t, 0),
        ]
        assert [same(value(text, names), slope) for text, slope in zip((post, pre, sandwich), slopes, strict=True)] == [
            True
        ] * 3
    assert holds(statement, 3, {"d": 2, r"\varepsilon": 1, "k": 0}, end="and let all")
    assert not chain_holds(statement.tex("Let"), {"d": 1})
    assert (
        found(statement, r"all gains be \$(\d)\$")[0] == "1" and found(statement, r"with \$\\beta = (\d)\$")[0] == "0"
    )
    statement.says(
        "The least {term}`Lipschitz constant` that serves",
        "of all $F$",
        "$F(y) = ky$ attains it",
        "the $L$-th power",
        "at constant inputs",
    )


@reads("deep-linear-branch")
def a_linear_branch(statement):
    e1, e2 = given(statement, "e_1"), given(statement, "e_2")
    eps, d = (int(n) for n in found(statement, r"let \$\\varepsilon = (\d)\$, \$d = (\d)\$"))
    names = {"e_1": e1, "e_2": e2}
    B = value(found(statement, r"\$B = (e_1[^$]*)\$")[0], names)
    x = value(found(statement, r"at \$x = ([^$]*)\$")[0], names)
    basis = Matrix.hstack(e1, e2)
    shown = [
        *found(statement, r"the norm is \$([^$]*?) \\approx ([\d.]+)\$"),
        *found(statement, r"\$\$ (.*?) \\approx ([\d.]+) \. \$\$"),
    ]
    claimed = found(statement, r"at least \$(.*?) \\ge (\d)\$")
    for number, z in enumerate((Matrix([0] * d), x)):
        D = (basis.T * (sympy.eye(d) + B * jacobian(z, eps)) * basis).evalf(60)
        trace, det = (D.T * D).trace(), D.det() ** 2
        norm = sqrt((trace + sqrt(trace**2 - 4 * det)) / 2)
        assert close(norm, value(shown[2 * number]), R(1, 10**30))
        assert close(norm, R(shown[2 * number + 1]), R(1, 2 * 10**4))
    names = {"B": sympy.diag(2, 3), "P": layer((0, 0), 1)["P"], "I": sympy.eye(2), r"\varepsilon": R(1, 4)}
    assert same(value(claimed[0], names), operator_norm(sympy.eye(2) + sympy.diag(2, 3) * jacobian((0, 0), R(1, 4))))
    assert claimed[1] == "1"
    assert chain_holds(statement.tex("diag}(\\gamma)$,"), {r"\varepsilon": 1})
    two, more = found(statement, r"For \$(d = \d)\$ this is the least constant\. For \$(d \\ge \d)\$")
    assert chain_holds(two, {"d": 2}) and chain_holds(more, {"d": 3}) and not chain_holds(more, {"d": 2})
    statement.says("Every Lipschitz constant", "it need not be", "at constant inputs")

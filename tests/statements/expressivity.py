"""Readings of attention-and-expressivity: what networks of matrices and norms compute, DyT, and the exercises."""

import re
from itertools import pairwise

import sympy
from mpmath import mp
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.attention_and_expressivity import core, found, rms
from statements.evaluate import chain_holds, close, given, layer, same, term, value

R = Rational
T = sympy.Symbol("t", real=True)


@reads("expr-not-affine")
def where_a_coordinate_is_affine(statement):
    for z, h, eps in (((1, -1, 0), (2, -2, 0), R(1, 3)), ((1, 2, 4), (1, 0, 0), R(1, 3))):
        names = layer(z, eps) | {"h": Matrix(h)}
        assert chain_holds(statement.tex("Let"), names)
        assert re.search(r"with \$Ph \\ne 0\$", statement.text)
        u = core(Matrix(z) + T * Matrix(h), eps)
        for i in range(3):
            bends = any(sympy.diff(u[i], T, 2).subs(T, at) != 0 for at in (0, R(1, 7), 3))
            assert bends != (names["v"][i] == (names["P"] * names["h"])[i] == 0)
    ray = core(5 * sympy.ones(3, 1) + T * Matrix([1, 2, 4]), 0)
    assert ray.subs(T, 1) == ray.subs(T, 9)
    assert re.search(r"if \$\(Pz\)_i = \(Ph\)_i = 0\$\. At \$\\varepsilon = 0\$, with \$q > 0\$", statement.text)
    statement.says("if and only if it is $0$ for all $t$", "the core is constant", "passes through a constant input")


@reads("expr-no-bias")
def odd_and_blind_to_lengths(statement):
    first, last = Matrix([[1, 2], [0, 1], [3, -1]]), Matrix([[1, 7, 0]])

    def f(x, eps):
        return (last * core(first * Matrix(x), eps))[0]

    for eps in (0, R(1, 3)):
        assert chain_holds(found(statement, r"For every \$([^$]*)\$ it is odd"), {r"\varepsilon": eps})
        names = {"f": lambda x, eps=eps: f(x, eps), "x": Matrix([1, 3]), "t": 5}
        assert chain_holds(statement.tex("it is odd,"), names)
        assert chain_holds(statement.tex("directions only,"), names) == (eps == 0)
    assert chain_holds(found(statement, r"At \$([^$]*)\$ it sees"), {r"\varepsilon": 0})
    assert chain_holds(found(statement, r"for \$(t [^$]*)\$"), {"t": 5})
    assert not chain_holds(found(statement, r"for \$(t [^$]*)\$"), {"t": -5})
    statement.says("without any bias", "output other than $0$", "contains a core")


@reads("expr-xor")
def xor_by_one_core(statement):
    eps = given(statement, r"\varepsilon")
    one, other = re.findall(r"is \$(-[^$]*)\$ if", statement.text)[0], found(statement, r"and \$(-[^$]*)\$ if")
    total = found(statement, r"So \$([^$]*)\$\.")
    for x1, x2 in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        t = value(found(statement, r"\$t = ([^$]*)\$ and"), {"x_1": x1, "x_2": x2})
        names = layer(value(found(statement, r"input \$z = ([^$]*)\$"), {"t": t}), eps) | {"x_1": x1, "x_2": x2}
        different = chain_holds(found(statement, r"\$ if \$(x_1 \\ne x_2)\$"), names)
        assert different == (x1 != x2)
        assert same(names["u"][2], value(one if different else other))
        assert chain_holds(total, names)
    assert re.search(r"\$-\\tfrac15\$ if \$x_1 = x_2\$", statement.text)
    assert re.search(r"the third coordinate", statement.text)
    assert int(found(statement, r"With \$d = (\d)\$ no matrices")) == 2
    assert found(statement, r"be \$(1)\$ or \$-1\$") == "1"
    statement.says("no matrices and biases before and behind one core compute it, at any $\\varepsilon > 0$")


@reads("expr-one-layer")
def a_value_twice_on_a_line(statement):
    labels = [int(n) for n in found(statement, r"the values \$(\d, \d, \d, \d)\$").split(", ")]
    crossings = sum(a != b for a, b in pairwise(labels))
    assert crossings == 3
    assert chain_holds(statement.tex("with", 0), {r"\varepsilon": 1})
    y = sympy.Symbol("y")
    equation = sympy.Poly((2 + 3 * T) ** 2 - y**2 * (5 + T + T**2), T)
    assert equation.degree() == {"once": 1, "twice": 2}[found(statement, r"at most (once|twice)")]
    statement.says(
        "On every line", "is constant or it takes each value at most twice", "at four points", "any $d$, any $W$"
    )


@reads("expr-pairs")
def a_pair_is_a_sigmoid(statement):
    eps = R(1, 3)
    sigma = found(statement, r"\\sigma\(t\) = (t[^$]*)\$")
    slope = found(statement, r"\\sigma'\(t\) = ([^$]*)\$")
    for t in (-2, 0, R(1, 2), 10**25):
        names = {"t": t, r"\varepsilon": eps, r"\sigma": lambda at: value(sigma, {"t": at, r"\varepsilon": eps})}
        pair = value(found(statement, r"The core of \$([^$]*)\$"), names)
        assert close(core(pair, eps), value(found(statement, r"\$ is \$(\(\\sigma[^$]*\))\$ with"), names))
        exact = sympy.diff(T / sqrt(T**2 + eps), T).subs(T, t)
        assert same(exact, value(slope, names))
        assert exact <= term(statement, "the largest slope", names)
    assert same(value(slope, {"t": 0, r"\varepsilon": eps}), term(statement, "the largest slope", names))
    low, high = found(statement, r"limits \$(-?\d)\$ and \$(-?\d)\$")
    assert [sympy.limit(T / sqrt(T**2 + eps), T, end) for end in (-sympy.oo, sympy.oo)] == [int(low), int(high)]
    assert chain_holds(found(statement, r"For \$([^$]*)\$, \$\\sigma\$ is odd"), {r"\varepsilon": eps})
    statement.says("strictly increasing", "is odd")


@reads("expr-universal")
def groups_of_two_are_universal(statement):
    rows = value(found(statement, r"a matrix \$W\$ with \$([^$]*)\$ rows"), {"m": 3})
    assert rows == 2 * 3
    assert re.search(
        r"\$\|\\langle p, u\(Wx \+ b\)\\rangle \+ p_0 - f\(x\)\| < \\delta\$ for all \$x\$ in \$K\$", statement.text
    )
    assert chain_holds(found(statement, r"\$(\\delta > 0)\$ and"), {r"\delta": R(1, 9)})
    assert chain_holds(found(statement, r"and \$(\\varepsilon > 0)\$\."), {r"\varepsilon": R(1, 9)})
    statement.says("closed and bounded", "each group of two coordinates by itself", "continuous function on $K$")


@reads("expr-fit")
def a_pair_less_than_labels(statement):
    for m in (2, 4):
        groups = int(value(found(statement, r"with \$(m[^$]*)\$ groups of two"), {"m": m}))
        signs = Matrix([[1, *(1 if i > k else -1 for k in range(groups))] for i in range(m)])
        assert signs.shape == (m, m)
        assert signs.det() != 0
    assert chain_holds(found(statement, r"and \$(\\varepsilon > 0)\$\."), {r"\varepsilon": 1})
    statement.says("different points", "any real labels", "exactly these labels")


@reads("expr-coordinate")
def one_coordinate_against_the_others(statement):
    for z, i, eps in (((5, 1, 2), 0, R(1, 3)), ((0, 4, 4, 1), 2, 2), ((1, 7), 1, R(1, 2)), ((1, 0, 3), 2, 0)):
        d, others = len(z), [x for place, x in enumerate(z) if place != i]
        names = layer(others, eps)
        names = {"d": d, "m_o": names[r"\mu"], "q_o": names["q"], r"\varepsilon": eps, "z_i": z[i]}
        names["t"] = value(found(statement, r"With \$t = ([^$]*)\$"), names)
        names[r"\omega"] = sqrt(value(found(statement, r"\\omega\^2 = (.*?) , \$\$"), names))
        assert same(core(z, eps)[i], value(found(statement, r"u_i = (.*?) , \\qquad"), names))
        assert chain_holds(statement.tex("if"), names) or chain_holds(found(statement, r"if \$(q_o [^$]*)\$"), names)
        slope = sympy.diff(sqrt(d - 1) * T / sqrt(T**2 + names[r"\omega"] ** 2), T).subs(T, 0)
        assert same(slope, term(statement, "and the slope", names))
        assert same(sqrt(d - 1), value(found(statement, r"limits \$\\pm([^$]*)\$"), names))
        assert chain_holds(statement.tex("Let"), names)
        assert same(value(found(statement, r"divisor \$([^$]*)\$"), names), len(others))
    assert found(statement, r"at \$t = (\d)\$") == "0"
    statement.says("odd in $t$ and strictly increasing", "held fixed")


@reads("expr-tanh")
def the_best_tanh(statement):
    alpha = mp.mpf(found(statement, r"\\alpha \\approx ([\d.]+)\$"))
    error = mp.mpf(found(statement, r"and is \$([\d.]+)\$ there"))

    def largest(factor):
        return max(abs(t / mp.sqrt(t**2 + 1) - mp.tanh(factor * t)) for t in (mp.mpf(k) / 100 for k in range(1, 800)))

    assert abs(largest(alpha) - error) < 1e-4 / 2
    assert largest(alpha) < min(largest(alpha - mp.mpf("0.0003")), largest(alpha + mp.mpf("0.0003")))
    sigma = value(found(statement, r"\\sigma\(t\) = ([^$]*)\$"), {"t": 2})
    assert same(sigma, 2 / sqrt(5))
    assert found(statement, r"the best factor is \$([^$]*)\$") == r"\alpha/\omega"
    statement.says(
        "is least at", "to four decimals", "of $|\\sigma(t) - \\tanh(\\alpha t)|$", "the supremum over all $t$"
    )


@reads("expr-dyt")
def what_a_tanh_leaves_out(statement):
    names = {r"\tanh": lambda x: sympy.tanh(x), r"\gamma_i": -3, r"\alpha": R(1, 2), "z_i": R(2, 3), r"\beta_i": 1}
    entry = -3 * sympy.tanh(T / 2) + 1
    slope = value(
        found(statement, r"with the entries \$([^$]*)\$").replace(
            r"(\alpha z_i)^2", r"(\alpha z_i) \cdot \tanh(\alpha z_i)"
        ),
        names,
    )
    assert same(sympy.diff(entry, T).subs(T, R(2, 3)), slope)
    assert same(entry.subs(T, R(2, 3)), value(found(statement, r"\$y_i = ([^$]*)\$"), names))
    constant = term(statement, "Lipschitz constant` is", {r"\alpha": R(-1, 2), "d": 2, r"\gamma": Matrix([-3, 2])})
    assert same(constant, abs(sympy.diff(entry, T).subs(T, 0)))
    for t in (-9, 0, 9):
        assert chain_holds(found(statement, r"and \$(\|y_i [^$]*)\$ where"), names | {"y_i": entry.subs(T, t)})
    assert chain_holds(found(statement, r"with \$(\\alpha [^$]*)\$ and some"), names)
    statement.says("some gain other than $0$", "Its Jacobian is diagonal", "Every {term}`common shift` $c \\ne 0$")
    statement.says(
        "for every $d$", "it is no layer normalization, for any gains, biases and $\\varepsilon > 0$", "For $d \\ge 1$"
    )


@reads("attn-ex-bound")
def the_supremum_for_128_coordinates(statement):
    d = int(found(statement, r"\$d = (\d+)\$ coordinates"))
    kappa = value(found(statement, r"query gains are all \$([^$]*)\$")) * value(
        found(statement, r"key gains all \$([^$]*)\$")
    )
    heads = int(found(statement, r"And if (\d+) such heads"))
    assert int(found(statement, r"\$\\kappa_i = (\d)\$")) == kappa
    for after, number in (("so it is", d), ("times that,", heads**2 * d)):
        text = statement.tex(after)
        assert chain_holds(text, {})
        assert same(value(re.split(r"=|\\approx", text)[0]), kappa * sqrt(number))
    assert int(found(statement, r"and \$(\d+)\$ times that")) == heads


@reads("attn-ex-hull")
def the_mean_of_three_keys(statement):
    keys = [value(text) for text in re.findall(r"\$(\([^$]*\))\$", statement.text)[:4]]
    assert sum(keys[:3], sympy.zeros(2, 1)) / 3 == keys[3] == term(statement, "the first three is")
    for key in keys:
        assert same(rms(key, 0).norm(), term(statement, "all four have the length"))
    assert len({tuple(rms(key, 0)) for key in keys}) == 4
    assert found(statement, r"\\varepsilon = (\d)\$\?") == "0"
    statement.says("so it never exceeds them all", "and each can win")


@reads("attn-ex-adaln")
def gain_and_bias_in_scale_and_shift(statement):
    for c in (0, 3):
        names = {"c": c}
        gain, bias = given(statement, r"\gamma"), given(statement, r"\beta")
        s, t = (value(found(statement, rf"AdaLN has .*?\${name} = (\([^$]*\))\$"), names) for name in "st")
        scale, shift = (value(found(statement, rf"\${name}' = (\([^$]*\))\$"), names) for name in "st")
        ones = sympy.ones(2, 1)
        assert scale == gain.multiply_elementwise(ones + s) - ones
        assert shift == (ones + s).multiply_elementwise(bias) + t
        u = Matrix([5, 7])
        outputs = [
            value(term_, names | {"u": u}) for term_ in found(statement, r"output is \$([^$]*)\$ and \$([^$]*)\$")
        ]
        assert Matrix(outputs) == (ones + s).multiply_elementwise(gain.multiply_elementwise(u) + bias) + t


@reads("attn-ex-labels")
def four_labels_by_three_signs(statement):
    labels = [int(n) for n in found(statement, r"has the values \$(\d, \d, \d, \d)\$").split(", ")]
    places = [int(n) for n in found(statement, r"at \$x = (\d, \d, \d, \d)\$").split(", ")]
    p_0 = value(found(statement, r": \$p_0 = ([^$]*)\$"))
    p = []
    for left, right in re.findall(r"\$(2p_\d) = (-?\d)\$", statement.text):
        p.append(value(right) / int(left[0]))
    assert len(p) == 3
    shift = value(found(statement, r"the sign of \$x - k \+ ([^$]*)\$"))
    for x, label in zip(places, labels, strict=True):
        signs = [sympy.sign(x - k + shift) for k in (1, 2, 3)]
        assert p_0 + sum(weight * sign for weight, sign in zip(p, signs, strict=True)) == label
    assert chain_holds(found(statement, r"so \$(p_0 [^$]*)\$"), {"p_0": p_0})
    assert found(statement, r"pairs at \$\\varepsilon = (\d)\$") == "0"
    statement.says("At $x = 0$ all signs are $-1$", "from $-1$ to $1$", "only one sign changes")


@reads("attn-ex-sigmoid")
def the_formula_for_two_coordinates(statement):
    eps = R(1, 2)
    z = (5, 2)
    t = value(found(statement, r"with \$t = ([^$]*)\$"), {"z_1": z[0], "z_2": z[1]})
    names = {"t": t, r"\varepsilon": eps, "s": t / 2}
    assert same(core(z, eps)[0], value(found(statement, r"\$u_1 = ([^$]*)\$"), names))
    assert same(core(z, eps)[0], value(found(statement, r"pair has \$([^$]*)\$ with"), names))
    assert same(value(found(statement, r"with \$s = ([^$]*)\$"), names), names["s"])
    d = int(found(statement, r"For \$d = (\d)\$"))
    assert value(found(statement, r"\\omega\^2 = ([^$]*)\$"), names) == R(d**2, d - 1) * eps
    assert found(statement, r"\$q_o = (\d)\$") == "0"
    assert found(statement, r"variance of one number is \$(\d)\$") == "0"


@reads("attn-ex-alpha")
def two_parameters_of_a_tanh(statement):
    error, A, alpha = (
        mp.mpf(x)
        for x in found(statement, r"finds \$([\d.]+)\$ at \$A \\approx ([\d.]+)\$ and \$\\alpha \\approx ([\d.]+)\$")
    )

    def largest(A, alpha):
        inside = max(
            abs(t / mp.sqrt(t**2 + 1) - A * mp.tanh(alpha * t)) for t in (mp.mpf(k) / 50 for k in range(1, 600))
        )
        return max(inside, abs(1 - A))

    assert abs(largest(A, alpha) - error) < mp.mpf("0.0003")
    step = mp.mpf("0.004")
    assert largest(A, alpha) < min(largest(A - step, alpha), largest(A + step, alpha))
    assert largest(A, alpha) < min(largest(A, alpha - step), largest(A, alpha + step))
    assert abs(1 - error / mp.mpf("0.0444") - mp.mpf(1) / 3) < mp.mpf("0.02")
    statement.says("a third less", "Far out the error is $1 - A$", "the limits are wrong now")

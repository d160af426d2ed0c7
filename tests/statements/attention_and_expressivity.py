"""Readings of attention-and-expressivity: bounds of logits, folding, keys that win, AdaLN, and the corrections."""

import re

import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, holds, layer, operator_norm, same, term, value

R = Rational
T = sympy.Symbol("t", real=True)


def core(z, eps):
    """The core of numbers, or of entries that hold the symbol t."""
    v = Matrix(z) - sympy.ones(len(z), 1) * sum(z) / len(z)
    return v / sqrt(v.dot(v) / len(z) + eps)


def rms(z, eps):
    z = Matrix(z)
    return z / sqrt(z.dot(z) / len(z) + eps)


def turned(angle):
    return Matrix([[sympy.cos(angle), -sympy.sin(angle)], [sympy.sin(angle), sympy.cos(angle)]])


def found(statement, pattern):
    match = re.search(pattern, statement.text)
    assert match, f"{statement.label} no longer says {pattern}"
    return match.groups() if len(match.groups()) > 1 else match[1]


@reads("attn-qk-definition")
def the_logit_of_a_head(statement):
    eps, a, b = R(1, 3), Matrix([1, 2, 4]), Matrix([2, 0, 1])
    names = layer(a, eps, (2, -1, 1), (1, 0, 3))
    names |= {r"\gamma'": Matrix([1, 3, 2]), r"\beta'": Matrix([0, 1, -1]), "a": a, "b": b, r"\alpha": 7}
    names["u"] = lambda z: core(z, eps)
    query = names[r"\gamma"].multiply_elementwise(core(a, eps)) + names[r"\beta"]
    key = names[r"\gamma'"].multiply_elementwise(core(b, eps)) + names[r"\beta'"]
    display = found(statement, r"\$\$ s = (.*?) , \$\$")
    front, left, right = re.fullmatch(r"(\\frac.*?)\\,\\langle (.*),\\; (.*) \\rangle", display).groups()
    product = value(left, names).dot(value(right, names))
    assert same(value(front, names) * product, query.dot(key) / sqrt(3))
    assert same(term(statement, "unit vectors the logit is", names), 7 * a.dot(b) / (a.norm() * b.norm()))
    statement.says("In the RMS variant $n_\\varepsilon$ stands for $u_\\varepsilon$", "one head")
    statement.says("bias of the queries", "those of the keys")


def projected(kappa):
    P = layer((0,) * len(kappa), 1)["P"]
    return P * sympy.diag(*kappa) * P


@reads("attn-logit-bound")
def the_largest_logit(statement):
    for kappa in ((1, 1), (1, -2, 0), (3, 1, 1), (2, -1)):
        names = layer((0,) * len(kappa), R(1, 9)) | {r"\kappa": Matrix(kappa)}
        names["s"] = sqrt(len(kappa)) * operator_norm(projected(kappa))
        display = found(statement, r"\$\$ (\|s\|.*?) \. \$\$").replace(r"\le \sqrt d\,\|P", r"= \sqrt d\,\|P", 1)
        assert chain_holds(display, names)
        assert chain_holds(statement.tex("Let"), names) is True
        assert holds(statement, 2, names, start="Let $d \\ge 2$, ", end="and $")
    names = layer((0, 0, 0, 0), 1, c=-3)
    assert same(term(statement, "equal to $c$, it is", names), 2 * operator_norm(projected((-3,) * 4)))
    single = found(statement, r"\\kappa = \((\d), (\d), \\dots, (\d)\)")
    kappa = [int(single[0]), int(single[1]), int(single[1]), int(single[2])]
    assert same(term(statement, "\\dots, 0)$ it is", names), 2 * operator_norm(projected(kappa)))
    spike = rms((0, 5, 0), 0)
    largest = term(statement, "the supremum is", {"d": 3, r"\kappa": Matrix([1, -2, 1])})
    assert same(spike.dot(2 * spike) / sqrt(3), largest)
    assert same(term(statement, "the largest logit is", {r"\alpha": -7}), 7)
    assert chain_holds(re.findall(r"for every \$(d [^$]*)\$", statement.text)[0], {"d": 1})
    assert chain_holds(re.search(r"attained at \$([^$]*)\$", statement.text)[1], {r"\varepsilon": 0})
    assert chain_holds(re.search(r"and for \$([^$]*)\$ only if it is \$0\$", statement.text)[1], {r"\varepsilon": 1})
    assert re.search(r"and \$\\beta = \\beta' = 0\$\. Every logit", statement.text)
    statement.says("is the supremum over all", "If all $\\kappa_i$ are equal")


@reads("attn-logit-correlation")
def a_logit_by_the_correlation(statement):
    for a, b in (((1, 2, 4), (2, 1, 7)), ((1, 0, 0), (1, 1, -5))):
        first, second = layer(a, R(1, 3)), layer(b, R(1, 3))
        rho = first["v"].dot(second["v"]) / (first["v"].norm() * second["v"].norm())
        names = {"c": -2, "d": 3, r"\rho": rho, "q_a": first["q"], "q_b": second["q"], r"\varepsilon": R(1, 3)}
        names |= {r"\tau_a": first["q"] / (first["q"] + R(1, 3)), r"\tau_b": second["q"] / (second["q"] + R(1, 3))}
        names["s"] = -2 * first["u"].dot(second["u"]) / sqrt(3)
        joined = statement.text.replace(r"\sqrt{\tau_a\tau_b}", r"\sqrt{\tau_a \cdot \tau_b}")
        display = re.search(r"\$\$ (.*?) \$\$", joined)[1]
        for part in re.split(
            r" ,(?: \\qquad| \\quad)? ", display.replace(", \\qquad", " , ").replace(", \\quad", " , ")
        ):
            assert chain_holds(part.strip(" .,"), names)
        assert term(statement, "between") <= rho <= term(statement, "between", number=1)
        assert holds(statement, 1, names | {r"q_a, q_b": None}, start="and $q_a", end="be the var") is not None
    assert chain_holds(statement.tex("At", 0), {r"\varepsilon": 0})
    statement.says("do not count", "the logit of $\\lambda a$ is $\\lambda$ times the logit of $a$", "Without QK-norm")


@reads("attn-all-heads")
def the_budget_of_all_heads(statement):
    heads, d = 3, 2
    names = {"H": heads, "d": d, "K": 5, "c": -5}
    part = core([1, -1, 0, 0, 0, 0], 0)[:d, :]
    one = 5 * part.dot(part) / sqrt(d)
    bound = found(statement, r"\$\$ \|s_1\| \+ \\dots \+ \|s_H\| \\le (.*?) \. \$\$")
    assert same(value(bound, names), one)
    assert same(term(statement, "one logit alone is bounded by", names), one)
    assert same(term(statement, "their mean size by", names), one / heads)
    assert same(term(statement, "the supremum of one logit is", names), one)
    assert chain_holds(found(statement, r"heads of \$([^$]*)\$ coordinates"), names)
    assert not chain_holds(found(statement, r"heads of \$([^$]*)\$ coordinates"), {"d": 1})
    statement.says(
        "without biases", "over $Hd$ coordinates", "the largest of all", "The same is true in the RMS variant"
    )
    assert chain_holds(found(statement, r"with \$(\\varepsilon [^$]*)\$\."), {r"\varepsilon": 1})


@reads("attn-softmax-range")
def the_extreme_weights(statement):
    low, high = found(statement, r"\$\$ (\\frac.*?) \\le w \\le (.*?) , \$\$")
    for n, B in ((2, 1), (5, R(3, 2))):
        names = {"n": n, "B": B, "e": sympy.E}
        assert same(value(low, names), sympy.exp(-B) / (sympy.exp(-B) + (n - 1) * sympy.exp(B)))
        assert same(value(high, names), sympy.exp(B) / (sympy.exp(B) + (n - 1) * sympy.exp(-B)))
        assert same(term(statement, "two weights is at most", names), sympy.exp(B) / sympy.exp(-B))
    condition = statement.tex("possible exactly if")
    half = value(found(statement, r"A weight of \$([^$]*)\$ or more"))
    for n, B in re.findall(r"up to \$(\d+)\$ keys for \$B = (\d)\$", statement.text):
        n, B = int(n), int(B)
        for keys in (n, n + 1):
            best = 1 / (1 + (keys - 1) * sympy.exp(-2 * B))
            assert (best >= half) == chain_holds(condition, {"n": keys, "B": B, "e": sympy.E}) == (keys == n)
    assert len(re.findall(r"up to \$\d+\$ keys for", statement.text)) == 2
    statement.says("lie between $-B$ and $B$", "both values occur")


@reads("attn-rope")
def norms_and_rotations(statement):
    eps, z, gain = R(1, 3), Matrix([3, 1]), Matrix([2, 2])
    names = {"Q": turned(sympy.pi / 3), "z": z, r"\varepsilon": eps, r"\gamma": gain}
    names |= {r"n_\varepsilon": lambda x: rms(x, eps), r"u_\varepsilon": lambda x: core(x, eps)}
    first, second, third = re.findall(r"- \$([^$]*)\$ for every \$z\$", statement.text)
    left, right = third.split("=")
    assert chain_holds(first, names)
    assert chain_holds(second, names) is False
    assert chain_holds(f"{left} = {right}", names)
    assert chain_holds(f"{left} = {right}", names | {r"\gamma": Matrix([1, 2])}) is False
    for sign, Q in ((1, Matrix([[0, 1], [1, 0]])), (-1, -sympy.eye(2))):
        allowed = found(statement, r"if and only if \$(Q\\mathbf\{1\} [^$]*)\$ or \$([^$]*)\$")
        held = [chain_holds(one, {"Q": Q, r"\mathbf{1}": sympy.ones(2, 1)}) for one in allowed]
        assert held == [sign == 1, sign == -1]
        assert chain_holds(second, names | {"Q": Q})
    bound, other = re.findall(r"\$(\|s\| [^$]*)\$", statement.text)
    query, key = turned(sympy.pi / 2) * sympy.diag(1, 0) * rms([1, 0], 0), sympy.diag(0, 1) * rms([0, 1], 0)
    names = {"s": query.dot(key) / sqrt(2), "d": 2, r"\kappa": Matrix([0, 0])}
    names |= {r"\gamma": Matrix([1, 0]), r"\gamma'": Matrix([0, 1])}
    assert chain_holds(bound, names)
    assert chain_holds(bound.replace(r"\le", "="), names)
    assert chain_holds(other, names) is False
    statement.says("and in general not $", "the two gains of each pair are equal", "no multiples of $\\pi$")
    statement.says("if and only if $Q$ commutes", "RMSNorm without gain may come before or after")
    assert chain_holds(found(statement, r"matrix and \$([^$]*)\$\. Then"), {r"\varepsilon": eps})


@reads("attn-key-constant")
def one_vector_on_all_keys(statement):
    a, h, keys = Matrix([1, 2, 0]), Matrix([3, -1, 2]), [Matrix(k) for k in ([1, 0, 1], [0, 1, 0])]
    names = {"a": a, "h": h, "d": 3, "k_j": keys[0], "k_i": keys[1]}
    for k in keys:
        assert same(a.dot(k + h) / sqrt(3) - a.dot(k) / sqrt(3), term(statement, "every logit grows by", names))
    assert same((a + h).dot(keys[0]) / sqrt(3) - a.dot(keys[0]) / sqrt(3), term(statement, "$k_j$ grows by", names))
    assert chain_holds(statement.tex("ratio only if"), names) is False
    assert chain_holds(statement.tex("ratio only if"), names | {"k_i": keys[0]})
    statement.says("all $n$ keys", "no weight changes", "keep their ratio only if")


@reads("attn-fold")
def the_folded_logit(statement):
    gain, bias, eps = (2, -1, 3), (1, 0, -1), R(1, 3)
    names = layer((1, 2, 4), eps, gain, bias)
    names |= {"W_q": Matrix([[1, 2, 0], [0, 1, -1]]), "W_k": Matrix([[1, 0, 1], [2, -1, 0]])}
    names |= {
        "W_v": Matrix([[1, 1, 0], [0, 2, 5]]),
        "b_q": Matrix([1, -2]),
        "b_k": Matrix([3, 5]),
        "b_v": Matrix([7, 1]),
    }
    names["G"] = value(found(statement, r"\\\\ G = (.*?) \. \\end"), names)
    A = value(found(statement, r"\\\\ A = (.*?) , \\\\ c"), names)
    c = value(found(statement, r"\\\\ c = (.*?) , \\\\ G"), names)
    plain, folded = statement.tex("positions $i$ and $j$ be"), found(statement, r"gathered\} (u_i.*?) , \\\\ A")
    left, right = re.fullmatch(r"\\langle (.*),\\; (.*)\\rangle", plain).groups()
    differences = []
    for z in ((1, 2, 3), (5, 0, 1)):
        key = layer(z, eps, gain, bias)
        both = names | {"y_i": names["y"], "u_i": names["u"], "y_j": key["y"], "u_j": key["u"], "A": A, "c": c}
        logit = value(left, both).dot(value(right, both))
        differences.append(logit - value(folded, both))
        before = value(found(statement, r"w_\{ij\}(\(W_v y_j \+ b_v\))"), both)
        after = value(found(statement, r"w_\{ij\}\\,(W_v G\\,u_j)"), both)
        assert close(before, after + value(found(statement, r"u_j \+ (\(W_v[^$]*\))\$"), both))
    assert close(*differences)
    assert close(A * sympy.ones(3, 1), 0)
    assert close(sum(c), 0)
    statement.says("are the softmax over $j$")


@reads("attn-norm-twice")
def a_norm_before_a_matrix_and_a_norm(statement):
    W, gain = Matrix([[1, 2, 0], [0, 1, 3], [1, 1, 1]]), (2, -1, 3)
    left, right, second = found(
        statement, r"\$\$ u_\{\\varepsilon'\}(.*?) = u_\{\\varepsilon''\}(.*?) , \\qquad \\varepsilon'' = (.*?) \. \$\$"
    )
    for z, other in (((1, 2, 4), R(1, 5)), ((1, 0, 0), 0)):
        names = layer(z, R(1, 3), gain) | {"W": W, r"\varepsilon'": other, r"u_\varepsilon": lambda x: core(x, R(1, 3))}
        names["G"] = value(found(statement, r"\$G = ([^$]*)\$"), names)
        epsilon = value(second, names)
        assert close(core(value(left, names), other), core(value(right, names), epsilon))
        assert same(epsilon / other, term(statement, "the second epsilon by", names)) if other else epsilon == 0
    assert chain_holds(found(statement, r"So at \$([^$]*)\$"), {r"\varepsilon'": 0})
    assert chain_holds(found(statement, r"For \$([^$]*)\$ it multiplies"), {r"\varepsilon'": 1})
    assert chain_holds(found(statement, r"with \$(q [^$]*)\$\. Where"), layer((1, 2), 0))
    statement.says("another number for each row", "the mean square for $q$ and without $P$")


@reads("attn-qk-gains")
def the_gain_of_the_keys_at_the_queries(statement):
    eps = R(1, 3)
    names = {r"\gamma": Matrix([2, -1, 3]), r"\gamma'": Matrix([1, 5, 2]), r"\beta": Matrix([1, 1, 0])}
    pair = found(statement, r"are those with \$\(([^$]*)\)\$ for the queries")
    gain, bias = (value(part, names) for part in pair.split(r",\;"))
    x = core((1, 2, 4), eps)
    differences = []
    for z in ((1, 2, 3), (5, 0, 1)):
        w = core(z, eps)
        query = names[r"\gamma"].multiply_elementwise(x) + names[r"\beta"]
        key = names[r"\gamma'"].multiply_elementwise(w) + Matrix([7, 0, 1])
        differences.append(query.dot(key) - (gain.multiply_elementwise(x) + bias).dot(w))
    assert close(*differences)
    assert re.search(r"and \$\\beta' = 0\$\.$", statement.text)
    statement.says("neither gain nor bias for the keys", "if $Q$ commutes with")


@reads("attn-win-hull")
def a_key_inside_the_hull(statement):
    keys = [Matrix([4, 0]), Matrix([0, 4]), Matrix([-1, -1])]
    inside = sum(keys, sympy.zeros(2, 1)) / 3
    a = Matrix(sympy.symbols("a1:3"))
    mean = sum(a.dot(k) for k in keys) / 3
    assert sympy.expand(a.dot(inside) - mean) == 0
    total = found(statement, r"\\sum_\{j \\ge 2\} \\lambda_j = (\d)\$")
    assert int(total) == sum([R(1, 3)] * 3)
    assert chain_holds(found(statement, r"no \$(\\lambda_j [^$]*)\$"), {r"\lambda_j": 0})
    assert not chain_holds(found(statement, r"no \$(\\lambda_j [^$]*)\$"), {r"\lambda_j": -1})
    outside = Matrix([2, 2]) + Matrix([R(1, 9), 0])
    names = {"a": outside - Matrix([2, 2]), "k_1": outside + Matrix([0, R(1, 9)]), "k_j": keys[0]}
    names["a"] = Matrix([1, 1])
    for k in keys:
        assert chain_holds(statement.tex("There is an $a$ with"), names | {"k_j": k})
    assert re.search(
        r"for all \$j \\ge 2\$ if and only if \$k_1\$ is no weighted mean of \$k_2, \\dots, k_n\$", statement.text
    )
    assert "$k_1 = \\sum_{j \\ge 2} \\lambda_j k_j$" in statement.text
    statement.says("at most the largest of the others', for every query", "that is, if there are no")


@reads("attn-win-sphere")
def each_key_wins_on_the_sphere(statement):
    gain, bias, d = Matrix([2, -1, 3]), Matrix([1, 0, 5]), 3
    u, w = core((1, 2, 3), 0), core((1, 2, 4), 0)
    rho = u.dot(w) / d
    query = Matrix([x / g for x, g in zip(u, gain, strict=True)])
    keys = [gain.multiply_elementwise(x) + bias for x in (u, w)]
    names = {"a": query, "k_i": keys[0], "k_j": keys[1], "d": d, r"\rho_{ij}": rho, r"\varepsilon": 0, "q": R(2, 3)}
    assert chain_holds(statement.tex("coordinate by coordinate,"), names)
    assert chain_holds(statement.tex("with the correlation"), names)
    assert chain_holds(statement.tex("Let"), names)
    assert chain_holds(statement.tex("Let", 1), names)
    statement.says(
        "no gain $0$", "the cores different from each other", "each of the keys", "For the query $u(b_i)/\\gamma$"
    )
    statement.says("with the cosine for")


@reads("attn-win-eps")
def keys_of_small_variance(statement):
    assert core((5, 5, 5), 1) == (core((1, 2, 4), 1) + core((-1, -2, -4), 1)) / 2
    eps, q0 = R(1, 5), R(1, 2)
    limit = term(statement, "each other input is below", {"q_0": q0, r"\varepsilon": eps})
    # |u_i| / sqrt(d) of the least variance is the limit: no other core is longer than sqrt(d)
    u = core((sqrt(q0), -sqrt(q0)), eps)
    assert same(u.norm() / sqrt(2), limit)
    assert chain_holds(statement.tex("Let"), {r"\varepsilon": eps})
    assert chain_holds(statement.tex("Let", 1), {"d": 2})
    assert chain_holds(found(statement, r"at least \$([^$]*)\$ and the"), {"q_0": q0})
    statement.says(
        "the last never wins",
        "of the largest variance can win",
        "if all variances",
    )
    statement.says("with its own core for a query", "at least $q_0")


@reads("attn-win-head")
def a_key_matrix_of_small_rank(statement):
    x, w, W = Matrix([1, -1, 0]), Matrix([1, 1, -2]), Matrix([[1, -1, 0]])
    keys = [(W * core(b, 0))[0] for b in (x, -x, w)]
    assert keys[2] == (keys[0] + keys[1]) / 2
    names = {"d": 3, r"\varepsilon": 0}
    assert chain_holds(statement.tex("Let"), names)
    assert not chain_holds(statement.tex("Let"), {"d": 2})
    assert chain_holds(statement.tex("Let", 1), names)
    full = term(statement, "has the rank", names)
    assert (Matrix([[1, -1, 0], [0, 1, 1]]) * layer((0, 0, 0), 1)["P"]).rank() == full
    assert (W * layer((0, 0, 0), 1)["P"]).rank() == W.rows < term(statement, "as with fewer than", names) == full
    statement.says("each of different cores can win", "a smaller rank", "three different cores of which one cannot win")


@reads("attn-centre")
def queries_that_see_all_keys_alike(statement):
    gain, bias, c = Matrix([2, -1, 3]), Matrix([1, 0, 5]), 7
    a = Matrix([R(c, g) for g in gain])
    for z in ((1, 2, 4), (0, 5, 1)):
        names = layer(z, R(1, 3), tuple(gain), tuple(bias)) | {"a": a, "c": c}
        assert chain_holds(statement.tex("if and only if"), names)
        logit = value(found(statement, r"The logit \$(\\langle[^$]*)\$"), names)
        assert same(logit, term(statement, "then it is", names), a.dot(bias))
    other = names | {"a": Matrix([1, 0, 0])}
    assert chain_holds(statement.tex("if and only if"), other) is False
    assert re.search(r"for all inputs if and only if \$\\gamma \\odot a = 0\$", statement.text)
    assert sympy.ones(3, 1).dot(rms((1, 1, 1), 1)) != sympy.ones(3, 1).dot(rms((0, 0, 0), 1))
    for z in ((1, 2, 4), (0, 5, 1)):
        names = layer(z, R(1, 3), (1, 1, 1), tuple(bias)) | {"a": other["a"], "c": c}
        more = (c * sympy.ones(3, 1)).dot(names["y"])
        assert same(more, term(statement, "of the query adds", names)) and more != 0
    statement.says(
        "the same for all cores $u$",
        "a component $c\\,\\mathbf{1}$ of the query",
        "nothing if there is no bias",
        "the multiples of $\\mathbf{1}$",
        "For gains of $1$",
    )


@reads("attn-adaln")
def scale_and_shift_absorb(statement):
    ones = sympy.ones(3, 1)
    names = layer((1, 2, 4), R(1, 3), (2, 3, 1), (1, 0, -1), s=Matrix([2, 0, -1]), t=Matrix([5, 1, 2]))
    text = re.sub(
        r"(?<![\w'])1(?= \+ s)|(?<=- )1(?= ,)|(?<=\()1(?= \+ s)", "E", found(statement, r"gathered\} (.*?) \\end")
    )
    names["E"] = ones
    equation, scale, shift = re.fullmatch(r"(.*?) , \\\\ s' = (.*) , \\\\ t' = (.*) ,", text).groups()
    names |= {"s'": value(scale, names), "t'": value(shift, names)}
    names["u"] = Matrix(names["u"])
    assert chain_holds(equation.replace(r"\\ =", "="), names)
    assert re.search(
        r"\$S = 0\$, \$T = 0\$ and \$\\gamma = 2 \\cdot \\mathbf\{1\}\$ the left side is \$2u\$ at \$c = 0\$",
        statement.text,
    )
    assert not close(2 * names["u"], names["u"])
    statement.says("For every $\\gamma$", "are again affine in $c$", "Without the constants $s_0$ and $t_0$ it has not")
    assert chain_holds(found(statement, r"with \$(d [^$]*)\$"), {"d": 2})
    statement.says(
        "$s(c) = Sc + s_0$",
        "$t(c) = Tc + t_0$",
        "has the same functions",
        "and $(1 + S'c) \\odot u + T'c$ is $u$ there",
    )


@reads("attn-gate-zero")
def gradients_at_a_gate_of_0(statement):
    gate, Phi, theta = sympy.symbols("gate Phi theta")
    c, e, x, F = 3, 5, 2, 7 * theta
    loss = e * (x + (Phi * c + gate) * F)
    zero = {gate: 0, Phi: 0}
    names = {"e": e, "F": F, r"c^\top": c}
    first, second, third = found(
        statement,
        r"\\partial\\theta\} = (.*?) , \\qquad .*?\\varphi_0\} = (.*?) , \\qquad .*?\\partial \\Phi\} = (.*?) \. \$\$",
    )
    second, third = (text.replace(r"(x, \theta)", "").replace(r"\odot", r"\cdot") for text in (second, third))
    assert sympy.diff(loss, theta).subs(zero) == int(first)
    assert sympy.expand(sympy.diff(loss, gate).subs(zero) - value(second, names)) == 0
    assert sympy.expand(sympy.diff(loss, Phi).subs(zero) - value(third, names)) == 0
    assert all(sympy.diff(loss, by).subs(zero).subs(theta, 0) == 0 for by in (gate, Phi, theta))
    assert re.search(r"at \$\\Phi = 0\$ and \$\\varphi_0 = 0\$", statement.text)
    assert re.search(r"If \$F\(x, \\theta\) = 0\$ as well", statement.text)
    assert re.search(r"matrix and bias are \$0\$, all these gradients are \$0\$", statement.text)
    statement.says("the output is $x$", "by $x$ is $I$", "only the gate learns", "learns nothing in any step")


CORRECTION = "attention-and-expressivity-wrong-"


@reads(CORRECTION + "qk-norm-caps-the-logits-at")
def gains_raise_the_bound(statement):
    gains = int(found(statement, r"With gains of \$(\d)\$"))
    times = {"nine": 9}[found(statement, r"it is (\w+) times as large")]
    assert operator_norm(projected((gains**2,) * 4)) == times
    names = {"d": 4, r"\kappa": Matrix([9, 9, 9, 9])}
    assert same(term(statement, "the bound is", names), 2 * times)
    statement.says("a term that the norm does not touch")


@reads(CORRECTION + "qk-norm-and-the-rotary-embedding")
def unequal_gains_do_not_commute(statement):
    gains = [int(n) for n in found(statement, r"gains \$(\d)\$ and \$(\d)\$")]
    D, Q = sympy.diag(*gains), turned(1)
    assert not close(D * Q, Q * D)
    statement.says("It holds without gain, or with equal gains in each turned pair", "two different vectors")


@reads(CORRECTION + "with-layer-normalization-every-key-can")
def three_conditions(statement):
    assert found(statement, r"hold: \$(\\varepsilon = \d)\$") == r"\varepsilon = 0"
    assert found(statement, r"no gain of \$(\d)\$") == "0"
    assert value(found(statement, r"fewer than \$([^$]*)\$ rows"), {"d": 3}) == 2
    statement.says("Three things must hold", "is enough to lose it")


@reads(CORRECTION + "the-affine-norm-before-adaln-does")
def nothing_for_the_functions(statement):
    statement.says(
        "It adds nothing to the set of functions", "affinely with a constant", "where the constant is missing"
    )


@reads(CORRECTION + "a-second-norm-behind-adaln-is")
def what_a_second_norm_removes(statement):
    u = core((1, 2, 4), 0)
    assert core(3 * u + 5 * sympy.ones(3, 1), 0) == u
    statement.says("a common shift wholly", "a common scale up to $\\varepsilon$", "in common to all coordinates")


@reads(CORRECTION + "layer-normalization-is-linear-so-only")
def layer_normalization_is_not_linear(statement):
    a, b = core((1, 2, 4), 1), core((0, 1, 0), 1)
    assert not close(core((1, 3, 4), 1), a + b)
    statement.says("It computes XOR", "it is universal", "On no region is it affine")


@reads(CORRECTION + "dyt-is-layer-normalization-without-the")
def the_shape_of_one_coordinate(statement):
    statement.says("one coordinate of one row", "What it does not have is the coupling", "the rows of one spread")


@reads(CORRECTION + "a-branch-whose-gate-starts-at")
def one_factor_of_0_and_two(statement):
    gate, weight = sympy.symbols("gate weight")
    gradients = [sympy.diff(gate * weight, by) for by in (gate, weight)]
    assert [g.subs({gate: 0, weight: 1}) for g in gradients] == [1, 0]
    assert [g.subs({gate: 0, weight: 0}) for g in gradients] == [0, 0]
    assert re.findall(r"factors? of \$(\d)\$", statement.text) == ["0", "0"]
    statement.says("With one factor", "the gate has a gradient in the first step", "Two factors", "are never left")

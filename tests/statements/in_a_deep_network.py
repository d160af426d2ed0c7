"""Readings of the statements on layers in a deep network: places, growth, gradients, constants, dropout, ReLU."""

import re
from itertools import product

import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, given, holds, layer, same, term, value

R = Rational
ROWS = [Matrix(row) for row in ((1, 1, -1, -1), (1, -1, 1, -1), (1, -1, -1, 1))]
L_ = r"\operatorname{LN}"


def core(z, eps):
    return layer(tuple(z), eps)["u"]


def jacobian(z, eps):
    return layer(tuple(z), eps)["J"]


def variance(z):
    return layer(tuple(z), 1)["q"]


def found(statement, pattern):
    """The groups of a pattern that the text must hold."""
    match = re.search(pattern, statement.text)
    assert match, f"{statement.label} no longer says {pattern!r}"
    return match.groups()


@reads("deep-example")
def one_block_both_ways(statement):
    x, f, w, eps = (given(statement, name) for name in ("x", "f", "w", r"\varepsilon"))
    post, pre = core(x + f, eps), x + f
    outputs = [value(text) for text in re.findall(r"block has the output \$([^$]*)\$", statement.text)]
    assert [close(a, b) for a, b in zip(outputs, (post, pre), strict=True)] == [True, True]
    by_post, by_pre = found(statement, r"multiplies \$w = [^$]*\$ by \$([^$]*)\$.*multiplies \$w\$ by \$([^$]*)\$")
    assert close(jacobian(x + f, eps) * w, value(by_post) * w) and value(by_pre) == 1
    assert r"\gamma = \mathbf{1}" in statement.text
    assert given(statement, r"\beta") == 0


@reads("deep-placements")
def four_places(statement):
    x, eps = Matrix([1, 2, 6]), 1
    A, first, second = 3 * sympy.eye(3), (1, 2, 3), (2, -1, 1)
    names = {"x": x, "F": lambda y: A * y}
    names[L_] = lambda y: sympy.diag(*first) * core(y, eps)
    names[L_ + "'"] = lambda y: sympy.diag(*second) * core(y, eps)
    text = found(statement, r"\\begin\{aligned\} (.*?) \\end\{aligned\}")[0]
    shown = re.findall(r"(?:^|& |\\\\ )(.*?) *&?\\quad\\text\{\(([\w -]+)\)\}", text)
    shown = {name: body.lstrip(" &").rstrip(" ,&") for body, name in shown}
    expected = {
        "post-norm": names[L_](x + A * x),
        "pre-norm": x + A * names[L_](x),
        "output norm": x + names[L_](A * x),
        "sandwich": x + names[L_ + "'"](A * names[L_](x)),
    }
    assert set(shown) == set(expected), shown
    for name, output in expected.items():
        assert close(value(shown[name], names), output), name
    statement.says("x_0, x_1, \\dots, x_L", "final norm is a layer applied to $x_L$", "one that makes $x_0$")


@reads("deep-skip-path")
def the_skip_path(statement):
    eps, x, w = R(1, 3), ROWS[0], ROWS[2]
    total = x + 2 * ROWS[1]
    second = core(total, eps).evalf(60) + 3 * ROWS[1]
    K, p_1, p_2 = jacobian(second, eps) * jacobian(total, eps), variance(total), variance(second)
    text = found(statement, r"\$\$ (.*?) \$\$")[0].replace(r"\cdots(p_L", "(p_L")
    names = {"K": K, "p_1": p_1, "p_L": p_2, r"\varepsilon": eps}
    for direction in (w, Matrix([1, 2, 3, 4])):
        names["w"] = direction
        assert chain_holds(text, names)
        left, right = (value(side, names) for side in text.split(r"\le"))
        assert close(left, right) == (direction == w)
    assert [chain_holds(statement.tex("exists if"), {"d": d, "L": 3}) for d in (5, 4)] == [True, False]
    a = 3
    root = variance(x + sqrt(a) * ROWS[1])
    assert same(root, value(found(statement, r"p_l = ([^$]*)\$")[0], {"a": a}))
    assert same(root ** R(-5, 2), term(statement, "the factor is", {"a": a, "L": 5}))
    a, L, factors = found(statement, r"For \$a = (\d+)\$ and \$L = (\d+)\$ it is \$([^$]*)\$")
    assert all(same((1 + int(a)) ** R(-int(L), 2), value(factor)) for factor in factors.split("="))
    assert found(statement, r"q_0 = (\d)\$")[0] == "1" and found(statement, r"with \$(\d)\$ for the")[0] == "0"
    assert "At $\\varepsilon = 0$" in statement.text and "J_L \\cdots J_1" in statement.text
    assert holds(statement, 2, layer((0, 1), 1), end="let $p_l")
    statement.says(
        "for every $w$, with equality if",
        "the skip path is the identity",
        "\\gamma = \\mathbf{1}$ and $\\varepsilon > 0$",
    )


@reads("deep-weights")
def weights_at_the_end(statement):
    names = {"x_0": ROWS[0], "f_l": 0}
    display = found(statement, r"x_L = (.*?) \$\$")[0]
    first, rest = re.match(r"(.*?)\\,x_0 \+ \\sum_\{l=1\}\^\{L\} (.*?) f_l", display).groups()
    end = core(core(ROWS[0] + ROWS[1], 0) + ROWS[2], 0)
    expected = value(first, {"L": 2}) * ROWS[0]
    for number in (1, 2):
        expected += value(rest, {"L": 2, "l": number}) * ROWS[number]
    assert close(end, expected)
    total = value(
        found(statement, r"in \$(\(x_0 .*?L\+1\})\$")[0].replace(r" + \dots", ""),
        names | {"f_1": ROWS[1], "f_L": ROWS[2], "L": 2},
    )
    assert close(total, core(ROWS[0] + ROWS[1] + ROWS[2], 0))
    share = found(
        statement, r"one half in post-norm and \$([^$]*)\$ in pre-norm; the input has \$([^$]*)\$ and \$([^$]*)\$"
    )
    for L in (1, 4):
        last = value(rest, {"L": L, "l": L}) ** 2
        assert last == R(1, 2) and value(share[0], {"L": L}) == R(1, L + 1) == value(share[2], {"L": L})
        assert same(value(first, {"L": L}) ** 2, value(share[1], {"L": L}))
    assert holds(statement, 3, layer((0, 1), 0), end="and let")
    assert found(statement, r"of variance \$(\d)\$")[0] == "1" and given(statement, r"\beta") == 0


@reads("deep-stream-variance")
def sums_of_variances(statement):
    parts = [2 * ROWS[0], 3 * ROWS[1], ROWS[2]]
    total = variance(sum(parts, sympy.zeros(4, 1)))
    names = {"q_L": total, "q_0": 4, "q(f_1)": 9, "q(f_L)": 1}
    equation = statement.tex("to each other,").replace(r" + \dots", "")
    assert chain_holds(equation, names)
    bound = found(statement, r"\$\$ (.*?) , \$\$")[0].replace(r" + \dots", "")
    assert chain_holds(bound, names)
    names["q_L"] = variance((2 + 3 + 1) * ROWS[0])
    left, right = bound.split(r"\le")
    assert same(value(left, names), value(right, names))
    start, orthogonal, most = found(statement, r"from \$q_0 = (\d)\$, .* make \$([^$]*)\$ if .* at most \$([^$]*)\$")
    assert start == "0"
    assert value(orthogonal, {"L": 2, "a": 9}) == variance(3 * ROWS[0] + 3 * ROWS[1])
    assert value(most, {"L": 2, "a": 9}) == variance(3 * ROWS[0] + 3 * ROWS[0])
    statement.says("multiples, not negative, of one vector", "In every case", "and at most")


def mean_over_signs(measure, sizes, shape):
    cases = [Matrix(*shape, [s * sizes for s in signs]) for signs in product((-1, 1), repeat=shape[0] * shape[1])]
    return sum(measure(case) for case in cases) / len(cases)


@reads("deep-random-branches")
def random_branches(statement):
    x, a, d = Matrix([1, 3]), 3, 2
    claimed = found(statement, r"is \$\$ (.*?) \. \$\$")[0]
    spread = found(statement, r"the mean \$0\$ and the variance \$([^$]*)\$")[0]
    for eps in (1, R(1, 3)):
        u, q = core(x, eps), variance(x)
        size = sqrt(value(spread, {"a": a, "d": d}))
        got = mean_over_signs(lambda W, u=u: variance(x + W * u), size, (d, d))
        names = {"q_{l-1}": q, "d": d, "a": a, r"\varepsilon": eps}
        assert close(got, value(claimed, names))
        assert chain_holds(found(statement, r"For \$(q_\{l-1\} .*?)\$")[0], names)
    at_0 = term(statement, "is on average", {"q_0": 5, "d": 4, "L": 7, "a": 2})
    assert at_0 == 5 + (1 - R(1, 4)) * 7 * 2
    of_V, of_W = found(
        statement, r"have the mean \$0\$ and the variance \$(a/h)\$, and those of \$W\$ .* variance \$([^$]*)\$"
    )
    eps, h = 1, 1
    u = core(x, eps)

    def mean_over_V(W):
        hidden = (W * u).applyfunc(lambda entry: sympy.Max(0, entry))
        return mean_over_signs(lambda V: variance(x + V * hidden), sqrt(value(of_V, {"a": a, "h": h})), (d, h))

    got = mean_over_signs(mean_over_V, sqrt(value(of_W, {"d": d})), (h, d))
    assert close(got, value(claimed, {"q_{l-1}": variance(x), "d": d, "a": a, r"\varepsilon": eps}))
    assert r"V\max(0, Wy)" in statement.text and re.findall(r"the mean \$(\d)\$", statement.text) == ["0", "0"]
    assert "At $\\varepsilon = 0$, if no $x_l$ is constant" in statement.text


@reads("deep-pre-growth")
def bounded_branches(statement):
    gain, bias = (2, -3, 1), (1, 0, 2)
    names = layer((9, -9, 1), R(1, 10**6), gain, bias)
    names["i"] = 1
    radius = value(found(statement, r"\\\|y\\\| \\le (.*?)\$")[0], names)
    assert names["y"].norm().evalf(30) <= radius.evalf(30)
    assert same(radius, sqrt(3) * 3 + sqrt(5))
    x0, c = Matrix([1, 2, 2]), Matrix([2, 4, 4])
    x = x0
    for _ in range(4):
        x += c
    names = {"x_L": x, "x_0": x0, "L": 4, "M": c.norm()}
    bound = statement.tex("Then")
    assert chain_holds(bound, names)
    left, right = bound.split(r"\le")
    assert same(value(left, names), value(right, names))
    assert close(term(statement, "makes", {"L": 4, "x_0": x0}), 16 * x0)
    statement.says(
        "for every $l$ and every $y$", "for every $x_0$", "Every continuous", "with $F(x) = x$", "positive multiple of"
    )


@reads("deep-addend")
def what_is_added(statement):
    gain, bias = (2, -3, 1), (1, 0, 2)
    for z in ((9, -9, 1), (3, 3, 3)):
        names = layer(z, R(1, 10**6), gain, bias)
        names["i"] = 1
        assert chain_holds(found(statement, r"\$\$ (.*?) \$\$")[0], names)
        assert chain_holds(statement.tex("For"), {r"\gamma": Matrix(gain)})
        plain = layer(z, R(1, 3))
        assert same(variance(plain["u"]), term(statement, "addend has the variance", plain))
    names |= {"x_0": Matrix([1, 2, 2]), "x_L": Matrix([1, 2, 2]) + 5 * names["y"], "L": 5}
    assert chain_holds(statement.tex("every $x$, so"), names)
    right = value(statement.tex("every $x$, so").split(r"\le")[1], names)
    assert same(right, 3 + 5 * (sqrt(3) * 3 + sqrt(5)))
    assert re.search(r"near \$1\$ as soon as", statement.text)
    assert re.search(r"With \$\\gamma = 0\$ and \$\\beta = 0\$ the block is the identity", statement.text)
    assert re.search(r"With \$\\gamma = \\mathbf\{1\}\$ and \$\\beta = 0\$", statement.text)
    assert chain_holds(statement.tex("sandwich block with"), {r"\varepsilon": 1})
    statement.says("for every $F$ and every $x$", "growth at most linear")


@reads("deep-share")
def the_share(statement):
    a, q0 = 4, 9
    x = 3 * ROWS[0] + 2 * ROWS[1]
    after = x + 2 * ROWS[2]
    names = {"a": a, "q_0": q0, "l": 1, "q_l": variance(x), "q_{l+1}": variance(after), "d": 4}
    assert value(found(statement, r"so \$q_l = ([^$]*)\$")[0], names) == variance(x)
    assert same(term(statement, "over that of the stream is", names), sqrt(R(4) / variance(x)))
    cosine = x.dot(after) / x.norm() / after.norm()
    assert same(cosine, value(found(statement, r"x_\{l\+1\}\$ is \$([^$]*)\$")[0], names))
    step = core(after, 0) - core(x, 0)
    assert same(step.dot(step), value(found(statement, r"\\\|\^2 = (.*?) \. \$\$")[0], names))
    assert same(term(statement, "the share is", {"l": 3}), sqrt(R(4) / (4 + 3 * 4)))
    assert found(statement, r"for block \$([^$]*)\$,")[0] == "l + 1"
    assert chain_holds(statement.tex("orthogonal to each other, with"), {"q_0": 1})
    statement.says("At $\\varepsilon = 0$", "For $q_0 = a$")


@reads("deep-final-norm")
def the_last_norm(statement):
    eps, c, x = R(1, 3), 5, Matrix([1, 2, 6])
    names = layer(tuple(x), eps, (2, -3, 1), (1, 0, 2)) | {"c": c, "x_L": x, "x_0": x, "i": 1}
    shifted = term(statement, "the stack leads to", names)
    assert close(shifted, x + c * sympy.ones(3, 1))
    branch = 2 * sympy.eye(3)
    start = term(statement, "as it is: from", names)
    assert close(start + branch * core(start, eps) - (x + branch * core(x, eps)), c * sympy.ones(3, 1))
    A = Matrix([[1, 2, 0], [0, 1, 1]])
    assert close(A * (shifted - x), term(statement, "then moves by", names | {"A": A}))
    assert chain_holds(found(statement, r"\$(\\\|y - \\beta\\\| \\le [^$]*)\$")[0], names)
    assert same(value(found(statement, r"\\le ([^$]*)\$ at every depth")[0], names), sqrt(3) * 3)
    assert chain_holds(statement.tex("pre-norm stack with"), names)
    statement.says("for every $c$ if and only if all rows of $A$ have one sum", "for all branches", "at every depth")


@reads("deep-embedding-norm")
def the_embedding(statement):
    share = found(statement, r"has the share \$([^$]*)\$")[0]
    normed = found(statement, r"puts \$([^$]*)\$ for")[0]
    x = 3 * ROWS[0] + 2 * ROWS[1] + 2 * ROWS[2]
    assert value(share, {"q_0": 9, "L": 2, "a": 4}) == variance(3 * ROWS[0]) / variance(x)
    assert same(variance(core(3 * ROWS[0], R(1, 3))), value(normed, {"q_0": 9, r"\varepsilon": R(1, 3)}))
    deviation, q0 = found(statement, r"standard deviation \$([\d.]+)\$ have \$q_0 = ([^$]*)\$")
    assert value(q0) == R(deviation) ** 2
    a, plain, eps, better = found(
        statement, r"variance \$(\d)\$ their share is \$([^$]*)\$.*\\varepsilon = ([^$]*)\$ it is \$([^$]*)\$"
    )
    names = {"q_0": value(q0), "L": 1, "a": int(a), r"\varepsilon": value(eps)}
    assert value(plain) == value(share, names)
    assert value(better) == value(share, names | {"q_0": value(normed, names)})
    assert found(statement, r"\\gamma = (\\mathbf\{1\})")


def cases_of_dropout(z, p):
    for mask in product((0, 1), repeat=len(z)):
        weight = p ** sum(mask) * (1 - p) ** (len(z) - sum(mask))
        yield weight, Matrix([entry * keep / p for entry, keep in zip(z, mask, strict=True)])


@reads("deep-dropout-before")
def dropout_before(statement):
    x, f, p = Matrix([1, 0, 5]), Matrix([2, -1, 3]), R(3, 4)
    got = sum(weight * variance(x + case) for weight, case in cases_of_dropout(f, p))
    names = {"q(x + f)": variance(x + f), "d": 3, "p": p, "m": f.dot(f) / 3}
    assert same(got, value(found(statement, r"is \$\$ (.*?) \. \$\$")[0], names))
    alone = sum(weight * variance(case) for weight, case in cases_of_dropout(f, p))
    assert same(alone, term(statement, "on average the variance", layer(tuple(f), 1) | {"p": p}))
    z, p, eps = given(statement, "z"), given(statement, "p"), given(statement, r"\varepsilon")
    cases = list(cases_of_dropout(z, p))
    shown, mean, use = found(statement, r"have the variances \$([^$]*)\$, on average \$([^$]*)\$ and not \$(\d)\$")
    assert sorted(variance(case) for _, case in cases) == sorted(int(n) for n in shown.split(","))
    assert sum(weight * variance(case) for weight, case in cases) == value(mean) and variance(z) == value(use)
    first = sum(weight * core(case, eps)[0] for weight, case in cases)
    exact, decimals, plain, plain_decimals = found(
        statement, r"is on average \$(.*?) \\approx ([\d.]+)\$, and \$(.*?) \\approx ([\d.]+)\$ without"
    )
    assert same(first, value(exact)) and close(first, R(decimals), R(1, 2 * 10**4))
    assert same(core(z, eps)[0], value(plain)) and close(core(z, eps)[0], R(plain_decimals), R(1, 2 * 10**4))
    assert chain_holds(found(statement, r"probability \$(p > \d)\$")[0], {"p": R(1, 100)})
    assert not chain_holds(found(statement, r"probability \$(p > \d)\$")[0], {"p": 0})
    assert found(statement, r"set to \$(\d)\$ otherwise")[0] == "0"
    statement.says("divided by $p$", "each entry, by itself", "in training and $q$ in use")


@reads("deep-dropout-after")
def dropout_after(statement):
    z, p, eps = (2, -1, 5), R(3, 4), R(1, 3)
    names = layer(z, eps) | {"p": p}
    cases = list(cases_of_dropout(names["u"], p))
    assert close(sum((weight * case for weight, case in cases), sympy.zeros(3, 1)), names["u"])
    square = sum(weight * (sum(case) / 3) ** 2 for weight, case in cases)
    assert same(square, term(statement, "its square is on average", names))
    assert close(sum(weight * sum(case) for weight, case in cases), term(statement, "mean of the dropped core is"))
    assert found(statement, r"dropped coordinate is \$(\d)\$ and not its bias")[0] == "0"
    statement.says("leaves it as it is on average", "but not in each case")


def relu(z):
    return Matrix([sympy.Max(0, entry) for entry in z])


@reads("deep-relu")
def relu_and_the_layer(statement):
    low, high = found(statement, r"between \$(\d)\$ and \$(d - \d)\$ entries")
    for z in ((9, 0, 0, 0), (1, 1, 1, 0), (2, -1)):
        names = layer(z, R(1, 3))
        kept = relu(names["u"])
        number = sum(entry != 0 for entry in kept)
        assert int(low) <= number <= value(high, names)
        assert same(sum(kept), sum(abs(entry) for entry in names["u"]) / 2)
        bound = term(statement, "half the mean of $|u_i|$, at most", names)
        assert (sum(kept) / len(z)).evalf(30) <= bound.evalf(30) + R(1, 10**20)
        assert same(bound, sqrt(variance(names["u"])) / 2)
    assert int(low) == 1 and value(high, {"d": 4}) == 3
    first, second, eps, one, other = found(
        statement,
        r": \$([^$]*)\$ and \$([^$]*)\$ have one core, and with \$\\varepsilon = (\d)\$ their .* are "
        r"\$([^$]*)\$ and \$([^$]*)\$",
    )
    assert close(core(value(first), 2), core(value(second), 2))
    for z, result in ((first, one), (second, other)):
        assert close(core(relu(value(z)), int(eps)), value(result))
    assert found(statement, r"ReLU\}\(t\) = (\\max\(0, t\))\$")
    assert found(statement, r"u\(\\operatorname\{ReLU\}\(z\)\)\$ has the mean \$(\d)\$") == ("0",)
    assert found(statement, r"\\varepsilon > 0\$ it is \$(\d)\$ for every \$z\$ without a positive entry") == ("0",)
    assert given(statement, r"\beta") == 0 and r"\gamma = \mathbf{1}" in statement.text
    statement.says(
        "If $z$ is not constant, at least one entry of $u$ is positive and at least one negative",
        "that are not $0$",
        "does not see a common shift",
        "half the mean",
    )


@reads("deep-parallel")
def one_core_for_two(statement):
    statement.says(
        "have the same core",
        "begin with linear layers",
        "serves both: nothing is lost",
        "sees another vector",
        "computes its statistics anew at each",
    )
    assert r"x + F(\operatorname{LN}(x)) + G(\operatorname{LN}'(x))" in statement.text
    assert r"is the sum of $g \odot u$ over the places" in statement.text
    x, A = Matrix([1, 2, 6]), Matrix([[1, 0, 2], [0, 3, -1], [1, 1, 0]])
    behind = value(
        found(statement, r"In \$x' = ([^$]*)\$")[0], {"x": x, "F": lambda y: A * y, L_: lambda y: core(y, 1)}
    )
    assert close(behind, x + A * core(x, 1)) and not close(core(behind, 1), core(x, 1))


@reads("deep-scaled-branches")
def scaled_branches(statement):
    a, alpha, L = 3, R(1, 2), 2
    stream = ROWS[0] + sum((alpha * sqrt(a) * row for row in ROWS[1:]), sympy.zeros(4, 1))
    names = {"q_0": 1, r"\alpha": alpha, "L": L, "a": a}
    assert close(variance(stream), term(statement, "ends with the variance", names))
    scale, kept = found(statement, r"for \$\\alpha = ([^$]*)\$ it is \$([^$]*)\$ at every depth")
    names[r"\alpha"] = value(scale, names)
    assert same(term(statement, "ends with the variance", names), value(kept, names))
    block, most = found(statement, r"With the factor \$([^$]*)\$ in block \$l\$ it is at most \$(.*?)\$")
    harmonic = 1 + sum(a * value(block, {"l": n}) ** 2 for n in range(1, 9))
    assert same(harmonic, 1 + sum(R(a, n) for n in range(1, 9)))
    bound = value(most.replace(r"\ln L", "N"), {"q_0": 1, "a": a, "N": sympy.log(8)})
    assert harmonic <= bound.evalf(30) and same(bound, 1 + a * (1 + sympy.log(8)))
    factor = found(statement, r"multiplied by \$([^$]*)\$")[0]
    for scale in (1, R(3)):
        total = scale * ROWS[0] + sqrt(a) * ROWS[1]
        one = scale / sqrt(variance(total))
        assert same(one**5, value(factor, {"a": a, r"\alpha": scale, "L": 5}))
        least = value(
            found(statement, r"which is at least \$(.*?)\$")[0], {"e": sympy.E, "a": a, "L": 5, r"\alpha": scale}
        )
        assert (one**5).evalf(30) >= least.evalf(30) and same(least, sympy.exp(-R(5 * a) / (2 * scale**2)))
    last = found(statement, r"for \$\\alpha\^2 = aL\$ at least \$(.*?)\$")[0]
    assert same(value(last, {"e": sympy.E}), sympy.exp(-R(1, 2)))
    assert chain_holds(found(statement, r"\$(\\alpha > 0)\$")[0], {r"\alpha": 1})
    assert found(statement, r"at \$\\varepsilon = (\d)\$ and \$q_0 = (\d)\$") == ("0", "1")
    statement.says("at every depth", "it is at most")

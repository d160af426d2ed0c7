"""Readings of the statements on neighbours: RMSNorm, shared statistics, blocks, folding and decay."""

import re

import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, given, holds, layer, operator_norm, same, term, value

R = Rational
T = sympy.Symbol("t", real=True)


def core(z, eps):
    return layer(z, eps)["u"]


def rms(z, eps):
    z = Matrix(z)
    return z / sqrt(z.dot(z) / len(z) + eps)


def with_rms(z, eps, **more):
    names = layer(z, eps, **more)
    names |= {"m": names["z"].dot(names["z"]) / len(z), r"n_\varepsilon": lambda x: rms(x, eps)}
    return names | {r"u_\varepsilon": lambda x: core(x, eps)}


@reads("rms-definition")
def the_mean_square(statement):
    for z, eps in (((1, 2), R(1, 3)), ((0, 0), 2)):
        names = with_rms(z, eps)
        assert holds(statement, 2, names, start="$n_", end="With a")
        assert holds(statement, 1, names, end="(or")
    assert holds(statement, 2, with_rms((1, 2), 0), start="(or", end=")")


@reads("rms-centred")
def rms_norm_and_the_core(statement):
    for z in ((1, 2, 4), (1, -1), (0, 3)):
        names = with_rms(z, R(1, 3))
        assert holds(statement, 4, names, end="The two agree")
        agree = close(rms(z, R(1, 3)), core(z, R(1, 3)))
        assert agree == chain_holds(statement.tex("The two agree,"), names)
        assert agree == chain_holds(statement.tex("if and only if"), names)
    statement.says("if and only if $\\mu")


@reads("rms-jacobian")
def the_jacobian_of_rms_norm(statement):
    symbols = sympy.symbols("z1:4", real=True)
    for z, eps in (((1, 2, 4), R(1, 3)), ((1, 0, -1), 2)):
        names = with_rms(z, eps)
        names["R"] = rms(symbols, eps).jacobian(Matrix(symbols)).subs(dict(zip(symbols, z, strict=True)))
        w = Matrix([z[1], -z[0], 0])
        assert holds(statement, 3, names, end="; at")
        assert close(names["R"] * names["z"], term(statement, "0$ by", names) * names["z"])
        assert close(names["R"] * w, term(statement, "orthogonal to $z$ by", names) * w)
        assert holds(statement, 2, names, start="So $")
    at_0 = rms(symbols, eps).jacobian(Matrix(symbols)).subs(dict.fromkeys(symbols, 0))
    assert close(at_0, term(statement, "it is", names))
    assert re.search(r"at \$z = (\d)\$ it is", statement.text)[1] == "0"
    statement.says("every $w$ orthogonal")


@reads("rms-lipschitz")
def the_constant_of_rms_norm(statement):
    for gain in ((3,), (1, -5), (2, 2, 7)):
        names = layer((0,) * len(gain), R(1, 9), gain)
        at_0 = sympy.diag(*gain) / sqrt(R(1, 9))
        assert close(operator_norm(at_0), value(re.search(r"is \$(\\max_i[^$]*)\$", statement.text)[1], names))
    assert holds(statement, 2, layer([0], R(1, 9)))
    statement.says("every $d \\ge 1$")


@reads("norm-axes")
def the_sets_of_shared_entries(statement):
    statement.says("all entries of the channel $c$", "all channels of the sample $n$ at the place $s$")
    statement.says("all channels and places of the sample", "all places of the sample $n$ and the channel $c$")
    statement.says("all places of all channels in the group")


@reads("group-ends")
def the_ends_of_group_normalization(statement):
    image = Matrix([[1, 2], [3, 6]])
    C, S = image.shape

    def groups(number):
        rows = [image[start : start + C // number, :] for start in range(0, C, C // number)]
        return [entry for block in rows for entry in core(list(block), 1)]

    one, channels = (int(n) if n.isdigit() else C for n in re.findall(r"\$G = (\d|C)\$", statement.text))
    assert groups(one) == list(core(list(image), 1))
    assert groups(channels) == [*core(list(image[0, :]), 1), *core(list(image[1, :]), 1)]
    over_channels = [core(list(image[:, place]), 1) for place in range(S)]
    assert [over_channels[place][c] for c in range(C) for place in range(S)] != groups(one)
    assert chain_holds(statement.tex("as soon as"), {"S": S})
    assert not chain_holds(statement.tex("as soon as"), {"S": 1})
    single = int(re.search(r"with \$S = (\d)\$", statement.text)[1])
    assert close(core([7] * single, 1), term(statement, "the core is"))
    assert single == 1


@reads("batch-couples")
def two_samples_of_a_channel(statement):
    pair = [term(statement, "with the values", number=n) for n in (0, 1)]
    eps = given(statement, r"\varepsilon")
    outputs = re.search(r"has the outputs \$([^$]*)\$ and \$([^$]*)\$", statement.text).groups()
    names = layer(tuple(pair), eps)
    assert Matrix([value(text) for text in outputs]) == names["u"]
    assert names["J"][0, 1] == term(statement, "by the second input is")
    assert holds(statement, 1, {"N": 1, "S": 1}, start="($N")
    assert core([5], 1).is_zero_matrix
    statement.says("for every input")


@reads("batch-fold")
def stored_statistics_make_an_affine_map(statement):
    names = {
        r"\gamma_c": 3,
        r"\bar q_c": R(1, 2),
        r"\varepsilon": R(1, 3),
        r"\bar\mu_c": 5,
        "b_c": 7,
        r"\beta_c": -2,
        "(Wx)_c": 11,
    }
    names["y_c"] = 3 * (11 + 7 - 5) / sqrt(R(5, 6)) - 2
    assert holds(statement, 1, names)
    middle = core((1, 0), 1)
    assert not close(2 * middle, core((2, 0), 1) + core((0, 0), 1))
    assert core((9,), 1).is_zero_matrix
    assert holds(statement, 1, layer((1, 0), 1), start="normalization with")
    assert term(statement, "any gain other than") == 0
    statement.says("is no affine map")


@reads("batch-bias")
def which_change_of_the_bias_in_front_is_seen(statement):
    z = Matrix([1, 2, 4])
    for change, common in (((5, 5, 5), True), ((1, 0, 0), False)):
        assert (core(z + Matrix(change), 1) == core(z, 1)) == common
    names = layer((1, 2, 4), 1, **{"b'": Matrix([6, 6, 6]), "b": Matrix([1, 1, 1]), "c": 5})
    assert holds(statement, 2, names)
    assert core(z, 1)[0] * int(re.search(r"no gain \$(\d)\$", statement.text)[1]) == 0
    statement.says("no gain $", "changes no output", "$ only.")


@reads("pre-post-jacobian")
def the_jacobians_of_both_blocks(statement):
    post, pre = re.search(r"\$\$ (.*?) \\quad\\text\{\(post\)\}, \\qquad (.*?) \\quad\\text", statement.text).groups()
    symbols = Matrix(sympy.symbols("x1:3", real=True))
    at = dict(zip(symbols, (1, 3), strict=True))
    A, gain, eps = Matrix([[1, 2], [0, -1]]), (2, 5), R(1, 3)

    def norm(z):
        return sympy.diag(*gain) * core(z, eps)

    after = norm(symbols + A * symbols).jacobian(symbols).subs(at)
    before = (symbols + A * norm(symbols)).jacobian(symbols).subs(at)
    x = Matrix([1, 3])
    assert close(value(post, layer(x + A * x, eps, gain) | {"DF": A}), after)
    assert close(value(pre, layer(x, eps, gain) | {"DF": A}), before)
    names = layer(x, eps)
    assert sum(names["u"]) == term(statement, "outputs of mean", names)
    assert names["u"].norm() < term(statement, "length below", names)
    assert close(term(statement, "length below", names), core((1, 3), 0).norm())
    places = re.search(
        r"\$J\$ at \$(.*?)\$ and \$DF\$ at \$(.*?)\$ for post.*?\$J\$ at \$(.*?)\$ and \$DF\$ at \$(.*?)\$ for pre",
        statement.text,
    )
    assert places.groups() == ("x + F(x)", "x", "x", r"\operatorname{LN}(x)")
    assert holds(statement, 1, names, start="Let $", end="If $F")
    assert chain_holds(statement.tex("A post-norm block with"), names)
    assert chain_holds(statement.tex("A post-norm block with", 1), names)
    shifted = x + 4 * sympy.ones(2, 1) + A * norm(x + 4 * sympy.ones(2, 1))
    assert close(shifted, x + A * norm(x) + 4 * sympy.ones(2, 1))
    statement.says("$c\\,\\mathbf{1}$, for every $F$", "for every $F$.")


@reads("post-repeat")
def the_core_repeated(statement):
    eps, z = R(1, 3), (1, 2, 4)
    display = re.search(r"\$\$ u\^\{\(k\)\} = (.*?), \\qquad s_k = (.*?) \. \$\$", statement.text)
    names = layer(z, eps)
    times = names["u"]
    for k in (1, 2, 3):
        names |= {"k": k, "s_k": sum(eps**power for power in range(k))}
        assert close(times, value(display[1], names))
        first, second, last = re.fullmatch(
            r"(\d) \+ (\\varepsilon) \+ \\dots \+ (\\varepsilon\^\{k-1\})", display[2]
        ).groups()
        assert [value(first, names), value(second, names)] == [eps**0, eps**1]
        assert value(last, names) == eps ** (k - 1)
        times = core(times, eps)
    symbols = Matrix(sympy.symbols("z1:4", real=True))
    twice = core(core(symbols, eps), eps).jacobian(symbols).subs(dict(zip(symbols, z, strict=True)))
    names |= {"k": 2, "s_k": 1 + eps}
    w = Matrix([names["v"][1] - names["v"][2], names["v"][2] - names["v"][0], names["v"][0] - names["v"][1]])
    assert close(
        twice * names["v"], value(re.search(r"v \\ne 0\$ by \$([^$]*)\$", statement.text)[1], names) * names["v"]
    )
    assert close(twice * w, value(re.search(r"and \$v\$ by \$([^$]*)\$", statement.text)[1], names) * w)
    for eps in (R(1, 3), 1, 2):
        q = R(1)
        for _ in range(300):
            q = (q / (q + eps)).evalf(40)
        names[r"\varepsilon"] = eps
        small, large = re.search(r"tends to \$([^$]*)\$ for \$([^$]*)\$ and to \$", statement.text).groups()
        assert (
            chain_holds(large, names)
            == (eps < 1)
            != chain_holds(re.search(r"and to \$\d\$ for \$([^$]*)\$", statement.text)[1], names)
        )
        limit = value(small if eps < 1 else re.search(r"and to \$(\d)\$ for", statement.text)[1], names)
        assert close(q, limit, R(1, 100))
    assert close(core(core(z, 0), 0), core(z, 0))
    assert chain_holds(re.search(r"At \$([^$]*)\$ normalizing", statement.text)[1], {r"\varepsilon": 0})
    assert chain_holds(statement.tex("of the core of …,"), {"k": 1})
    assert chain_holds(statement.tex("For"), {r"\varepsilon": R(1, 9)})
    assert chain_holds(re.search(r"infty\$ with \$([^$]*)\$", statement.text)[1], {"q": R(1, 9)})
    assert re.search(r"multiplies \$(v \\ne 0)\$", statement.text)
    statement.says("every $w$ orthogonal to")


@reads("fold")
def what_folds_and_what_does_not(statement):
    names = layer((1, 2, 4), 1, (2, 0, 3), (1, -1, 5), A=Matrix([[1, 2, 3], [0, 1, -1]]), c=Matrix([4, 7]), i=2)
    display = re.search(r"\$\$ (.*?) \. \$\$", statement.text)[1]
    assert chain_holds(display, names)
    folded = names["A"] * sympy.diag(2, 0, 3)
    assert close(folded[:, 1], value(re.search(r"is \$(\d)\$, and \$A\$ cannot", statement.text)[1]))
    assert chain_holds(statement.tex("If"), names)
    bias = given(statement, r"\beta")
    d = given(statement, "d")

    def relu(t):
        return value(re.search(r"ReLU\}\(t\) = ([^$]*)\$", statement.text)[1], {"t": t})

    outputs = [relu(u + bias[0]) for u in (-R(9, 10), -R(1, 4), R(1, 4))]
    kept = [(relu(u), relu(-u)) for u in (-R(9, 10), -R(1, 4), R(1, 4))]
    assert outputs == [0, R(1, 4), R(3, 4)]
    rows = Matrix([[a, b, 1] for a, b in kept] + [[0, 0, 1]])
    augmented = rows.row_join(Matrix([*outputs, relu(bias[0])]))
    assert augmented.rank() > rows.rank()
    assert len(bias) == d == 2
    assert bias[1] == 0
    statement.says("For every matrix", "there are no $A'$", "do not fold", "for all cores $u$")


@reads("fold-centre")
def centring_folds_both_ways(statement):
    names = with_rms((1, 2, 4), R(1, 3), gain=(2, -1, 5))
    names |= {
        "W": Matrix([[1, 2], [0, 3], [5, -1]]),
        "x": Matrix([2, 1]),
        "b": Matrix([1, 0, 4]),
        "A": Matrix([[1, 2, 3]]),
    }
    names["z"] = names["W"] * names["x"] + names["b"]
    assert holds(statement, 3, names)
    statement.says("for every $x$ and", "for every core $u$")


@reads("fold-back")
def what_the_layer_before_cannot_give(statement):
    names = layer((1, 2, 4), R(1, 3), (-1, -1, -1))
    assert sum(names["u"]) == value(re.search(r"mean other than \$(\d)\$", statement.text)[1])
    assert names["u"].norm() < value(re.search(r"length of \$([^$]*)\$ or more", statement.text)[1], names)
    assert close(core(-names["z"], R(1, 3)), names["y"])
    assert chain_holds(statement.tex("Let"), names)
    sign, other = (
        value(gain) for gain in re.search(r"all gains are \$(\d)\$ or all are \$(-\d)\$", statement.text).groups()
    )
    for gain in (sign, other):
        assert close(core(gain * names["z"], R(1, 3)), gain * names["u"])
    statement.says("if and only if", "for no input", "the entries of $\\beta$ add up to $0$", r"$\|\beta\| < \sqrt d$")
    assert r"$W \to -W$, $b \to -b$ does it" in statement.text


@reads("fold-back")
def a_constant_core_can_be_had(statement):
    """beta of sum 0 and shorter than the root of d is the core of beta sqrt(eps / (1 - |beta|^2 / d))."""
    eps, gain = R(1, 3), value(re.search(r"\$\\gamma = (\d)\$, the entries", statement.text)[1])
    beta = sympy.Matrix([1, 0, -1])
    assert gain * beta + beta == beta
    assert close(core(beta * sympy.sqrt(eps / (1 - beta.dot(beta) / 3)), eps), beta)


@reads("scale-sign")
def any_scale_with_its_sign(statement):
    eps = R(1, 3)
    for alpha in (-2, R(1, 2)):
        names = layer((1, 2, 4), eps, **{r"\alpha": alpha})
        names |= {
            r"u_\varepsilon": lambda z: core(z, eps),
            r"u_{\varepsilon/\alpha^2}": lambda z, a=alpha: core(z, eps / a**2),
        }
        assert holds(statement, 3, names, end="As $")
        assert holds(statement, 1, names, start="with $q", end="it tends")
        far = core([alpha * 10**30 * entry for entry in (1, 2, 4)], eps)
        assert close(far, term(statement, "it tends to", names), R(1, 10**20))
        assert holds(statement, 1, layer((1, 2, 4), 0), start="the core at", end="up to sign")
        assert not close(far, names["u"], R(1, 100))
    statement.says("and not to")
    assert r"$u_{\varepsilon/\alpha^2}" in statement.text or r"u_{\varepsilon/\alpha^2}(z)" in statement.text


@reads("weight-scaling")
def scaled_and_recentred_weights(statement):
    for delta in (R(1, 2), 3, 1):
        names = layer((1, 2, 4), 2, **{r"\delta": delta})
        scaled = delta * names["z"]
        assert close(
            core(scaled, 2), core(names["z"], value(re.search(r"by \$([^$]*)\$: the core", statement.text)[1], names))
        )
        assert close(
            core(scaled, value(re.search(r"becomes \$([^$]*)\$ at the same", statement.text)[1], names)), names["u"]
        )
        assert holds(statement, 1, names, start="and $", end=". Replacing")
        assert close(core(scaled, 2), names["u"]) == chain_holds(statement.tex("unless"), names)
        assert holds(statement, 2, names, start="With $", end=", unless")
    statement.says("for every $x$", "at every $x$", "changes nothing at any")
    W, x, p = Matrix([[1, 2], [0, 3], [5, -1]]), Matrix([2, 1]), Matrix([1, 7])
    changed = value(
        re.search(r"W \\to ([^$]*)\$", statement.text)[1], {"W": W, "p": p, r"\mathbf{1}": sympy.ones(3, 1)}
    )
    assert close(core(changed * x, 1), core(W * x, 1))


@reads("weight-radial")
def the_gradient_along_the_weights(statement):
    right = re.search(r"\\Bigr\\rangle = (\\frac.*?) \. \$\$", statement.text)[1]
    for eps in (R(1, 3), 0):
        names = layer((1, 2, 4), eps, (2, -1, 3))
        g = Matrix((1, 5, -2))
        names[r"\hat g"] = names[r"\gamma"].multiply_elementwise(g)
        dz = names["J"] * names[r"\hat g"]
        W, x = Matrix([[1, 0], [0, 1], [1, 1]]), Matrix([1, 2])
        b = names["z"] - W * x
        product = sum((dz * x.T).multiply_elementwise(W)) + dz.dot(b)
        assert close(product, value(right, names))
        if eps == 0:
            assert close(product, value(re.search(r"At \$\\varepsilon = 0\$ it is \$(\d)\$", statement.text)[1]))
            eta = R(1, 10)
            longer = sum(e**2 for e in W - eta * dz * x.T) + (b - eta * dz).norm() ** 2
            growth = longer - sum(e**2 for e in W) - b.norm() ** 2
            squared = sum(e**2 for e in dz * x.T) + dz.norm() ** 2
            assert close(growth, term(statement, "grows by", {r"\eta": eta}) * squared)
    assert r"\frac{\partial\ell}{\partial W}, W \Bigr\rangle + \Bigl\langle" in statement.text
    statement.says("sum of the products of all entries", "never shortens")


@reads("decay-gain")
def where_decay_pulls(statement):
    kept, less = (
        re.search(r"into \$([^$]*)\$", statement.text)[1],
        re.search(r"the gain is \$([^$]*)\$", statement.text)[1],
    )
    gain, rate = R(5), R(1, 10)
    stored, shifted = gain, gain - 1
    for k in range(4):
        names = {r"\gamma": gain, r"\eta": rate, r"\lambda": 1, "k": k}
        assert value(kept, names) == stored
        assert value(less, names) == 1 + shifted
        assert term(statement, "The bias is multiplied by", names) * gain == stored
        stored, shifted = stored * (1 - rate), shifted * (1 - rate)
    far = names | {"k": 2000}
    assert close(value(kept, far), value(re.search(r"tends to \$(\d)\$ for", statement.text)[1]))
    assert close(value(less, far), value(re.search(r"tends to \$(\d)\$\.", statement.text)[1]))
    assert close(value(statement.tex("If"), names), gain - 1)
    assert chain_holds(re.search(r"for \$([^$]*)\$\.", statement.text)[1], names)
    assert not chain_holds(re.search(r"for \$([^$]*)\$\.", statement.text)[1], names | {r"\eta": 1})
    assert not chain_holds(re.search(r"for \$([^$]*)\$\.", statement.text)[1], names | {r"\eta": 0})
    rate = R(re.search(r"with \$\\eta\\lambda = ([\d.]+)\$", statement.text)[1])
    start, power, decimals = re.search(r"gain \$(\d)\$ into \$(.*) \\approx ([\d.]+)\$", statement.text).groups()
    assert value(power) == int(start) * (1 - rate) ** 10
    assert close(value(power), R(decimals), R(1, 2 * 10**6))
    stays = re.search(r"a gain \$(\d)\$ stored as \$(\d)\$ stays, and so does a bias \$(\d)\$", statement.text).groups()
    assert [int(n) for n in stays] == [1, 1 - 1, 0]


@reads("decay-balance")
def the_cost_is_shared(statement):
    A, gain, bias = Matrix([[1, 2], [3, 0]]), Matrix([2, 1]), Matrix([0, 3])
    length, s = sqrt(sum(e**2 for e in A)), sqrt(gain.dot(gain) + bias.dot(bias))
    names = {r"\|A\|": length, "s": s, r"\gamma": gain, r"\beta": bias}
    best = value(re.search(r"least at \$c\^2 = ([^$]*)\$", statement.text)[1], names)
    cost = re.search(r"sum of squares \$([^$]*)\$", statement.text)[1]

    def at(square):
        return value(cost, names | {"c": sqrt(square)})

    for square in (best, 2, R(1, 3)):
        c = sqrt(square)
        assert same(at(square), (c * gain).norm() ** 2 + (c * bias).norm() ** 2 + sum(e**2 for e in A / c))
        assert (at(best) - at(square)).evalf(50) <= R(1, 10**40)
    assert same(at(best), value(re.search(r"and is \$([^$]*)\$ there", statement.text)[1], names))
    assert chain_holds(statement.tex("(\\gamma, \\beta, A)$. If"), names)
    assert chain_holds(statement.tex("For every"), {"c": -2})
    assert chain_holds(re.search(r"and \$(A \\neq 0)\$", statement.text)[1], {"A": A})
    statement.says("For every $c")


@reads("neighbours-ex-rms")
def shifts_that_rms_norm_does_not_see(statement):
    first, second = (value(text) for text in re.findall(r"z = (\([^$]*\))\$", statement.text))
    condition = re.search(r"for every \$([^$]*)\$", statement.text)[1]
    for c in (-3, -1, -R(1, 2), 0, 5):
        ones = sympy.ones(2, 1)
        if c != -1:
            assert close(rms(first + c * ones, 0), rms(first, 0)) == chain_holds(condition, {"c": c})
        assert close(rms(second + c * ones, 0), rms(second, 0)) == chain_holds(
            re.search(r"so \$(c = \d)\$", statement.text)[1], {"c": c}
        )
        assert close(first + c * ones, value(re.search(r"\$(\(1 \+ c, 1 \+ c\))\$", statement.text)[1], {"c": c}))
        assert close(second + c * ones, value(re.search(r"\$(\(1 \+ c, 2 \+ c\)) =", statement.text)[1], {"c": c}))
        asked = re.search(r"asks for \$([^$]*)\$", statement.text)[1]
        assert chain_holds(asked, {"c": c}) == (c == 0)
        left, right = asked.split("=")
        slope = second[1] / second[0]
        assert value(left, {"c": c}) - value(right, {"c": c}) == slope * (second[0] + c) - (second[1] + c)
    assert not chain_holds(condition, {"c": -1})
    assert close(value(re.search(r"= s\\,(\([^$]*\))\$", statement.text)[1]), second)
    assert close(rms(2 * second, 0), rms(second, 0))
    assert not close(rms(-second, 0), rms(second, 0))
    assert re.findall(r"\\varepsilon = (\d)", statement.text) == ["0", "0"]
    assert "n_0(z + c\\,\\mathbf{1}) = n_0(z)" in statement.text and "n_0(a) = n_0(b)" in statement.text
    statement.says("exactly if $b$ is a positive multiple", "is one for every")


@reads("neighbours-ex-fold")
def gain_bias_and_centring_folded_by_hand(statement):
    gain, bias = given(statement, r"\gamma"), given(statement, r"\beta")
    A, c = given(statement, "A").T, given(statement, "c")
    folded = A * sympy.diag(*gain)
    centred = folded * layer((0, 0, 0), 1)["P"]
    assert folded == value(re.search(r"diag\}\(\\gamma\) = ([^$]*)\$", statement.text)[1]).T
    assert sum(folded) / 3 == term(statement, "with the mean")
    assert centred == term(statement, "; centred,").T
    expanded, result = re.search(r"A\\beta \+ c = ([^=$]*) = ([^$]*)\$", statement.text).groups()
    assert value(expanded) == value(result) == (A * bias)[0] + c
    assert [int(n) for n in re.findall(r"-?\d", expanded.replace("- ", "-"))] == list(bias)
    u = layer((1, 2, 5), R(1, 3))
    assert close(term(statement, "So the whole is", u), (A * gain.multiply_elementwise(u["u"]))[0])


@reads("neighbours-ex-twice")
def variances_of_repeated_steps(statement):
    eps = value(re.search(r"At \$\\varepsilon = ([^$]*)\$ the", statement.text)[1])
    names = layer(given(statement, "z"), eps)
    assert given(statement, "q") == names["q"]
    chains = re.search(r"One step gives \$([^$]*)\$, two \$([^$]*)\$, three \$([^$]*)\$", statement.text).groups()
    q = names["q"]
    for chain in chains:
        terms = chain.split("=")
        q = q / (q + eps)
        assert all(same(value(text, names), q) for text in terms)
    assert holds(statement, 1, names | {}, start="The limit is")
    for _ in range(200):
        q = (q / (q + eps)).evalf(40)
    assert close(q, value(statement.tex("The limit is").split("=")[0], names), R(1, 10**30))


@reads("neighbours-wrong-a-stored-0-1-is-a")
def a_stored_gain(statement):
    stored = re.match(r"A stored \$([\d.]+)\$ is a gain of \$([\d.]+)\$", statement.text).groups()
    assert stored[0] == stored[1]
    assert R(re.search(r"it is a gain of \$([\d.]+)\$", statement.text)[1]) == 1 + R(stored[0])


@reads("neighbours-wrong-dividing-by-the-root-of-the")
def an_uncentred_numerator(statement):
    names = layer((1, 2, 4), R(1, 3))
    wrong = names["z"] / sqrt(names["q"] + R(1, 3))
    assert same(sum(wrong) / 3, term(statement, "has the mean", names))
    assert not close(wrong, names["u"])
    assert not close(wrong, rms((1, 2, 4), R(1, 3)))
    centred = layer((-1, 0, 1), R(1, 3))
    unless = re.search(r"is not the core unless \$(\\mu [^$]*)\$", statement.text)[1]
    assert [chain_holds(unless, names), chain_holds(unless, centred)] == [False, True]
    assert close(centred["z"] / sqrt(centred["q"] + R(1, 3)), centred["u"])
    statement.says("was not centred")

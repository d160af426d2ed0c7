"""Readings of the statements on why the layer works: detached statistics, lengths of gradients, smoothing."""

import re

import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, holds, layer, same, term, value

R = Rational
INPUTS = [((1, 2, 4), (3, -1, 2)), ((3, 0, 0, 1), (0, 0, 1, 5)), ((-1, 1), (2, 1))]


def backward(z, g, eps, **more):
    """The names of the backward pass at one input: g hat, r, a, tau and dz beside those of the layer."""
    names = layer(z, eps, **more)
    g, d, q = Matrix(g), len(z), names["q"]
    names |= {r"\hat g": g, "r": 1 / sqrt(q + eps), "a": g.dot(names["u"]) / d, r"\tau": q / (q + eps)}
    return names | {"dz": names["J"] * g, r"\operatorname{mean}": lambda w: sum(w) / d}


@reads("why-two-terms")
def what_is_left(statement):
    z, g, eps = (1, 2, 4), (3, -1, 2), R(1, 2)
    names = backward(z, g, eps)
    assert holds(statement, 3, names, end="The term with")
    symbols, m = sympy.symbols("z1:4", real=True), sympy.Symbol("m")
    mu = sum(symbols) / 3
    about = sum((entry - m) ** 2 for entry in symbols) / 3 + eps
    at = dict(zip(symbols, z, strict=True)) | {m: names[r"\mu"]}
    for after, centre, total in (
        (r"$\mu$ as a constant, it computes", m, about),
        ("treats $q$ as one,", mu, names["q"] + eps),
        ("if both,", m, names["q"] + eps),
    ):
        loss = sum(c * (entry - centre) for c, entry in zip(g, symbols, strict=True)) / sqrt(total)
        dz = Matrix([loss.diff(entry) for entry in symbols]).subs(at)
        assert close(dz, term(statement, after, names))
    statement.says(
        r"The term with $\operatorname{mean}(\hat g)$ is the derivative through $\mu$", "$a$ the one through $q$"
    )


@reads("why-length")
def how_long(statement):
    for z, g in INPUTS:
        for eps in (0, R(1, 3)):
            names = backward(z, g, eps)
            assert holds(statement, 4, names, end="For $q")
            short = re.search(r"and \$(\(1-\\tau\)[^$]*)\$", statement.text)[1]
            shortest = value(short.split(r"\le")[0], names)
            assert close(names["dz"].norm(), shortest) == (len(z) == 2)
    across = backward((1, 2, 4), (2, -3, 1), R(1, 3))
    assert across["a"] == value(re.search(r"if and only if \$a = (\d)\$", statement.text)[1])
    assert close(across["dz"].norm(), across["r"] * across[r"\hat g"].norm())
    assert sum(across[r"\hat g"]) == value(re.search(r"mean\}\(\\hat g\) = (\d)\$\.", statement.text)[1])
    along = backward((1, 2, 4), tuple(layer((1, 2, 4), 1)["v"] + 5 * sympy.ones(3, 1)), R(1, 3))
    assert close(along["dz"].norm(), value(short.split(r"\le")[0], along))
    assert chain_holds(re.search(r"always at \$([^$]*)\$", statement.text)[1], {"d": 2})
    assert chain_holds(statement.tex("For"), along)
    statement.says("the first is an equality if and only if", "is a multiple of $v$", "the second if and only if")


@reads("why-average-length")
def the_average(statement):
    texts = re.search(r"is \$(r\^2s\^2[^$]*)\$, that of .* is \$(r\^2s\^2[^$]*)\$", statement.text).groups()
    for z, _ in INPUTS:
        for eps in (0, R(1, 3)):
            names = backward(z, z, eps, s=2)
            J, d = names["J"], len(z)
            expected = 4 * sum(entry**2 for entry in J)
            full, detached = (value(text, names) for text in texts)
            assert close(expected, full)
            assert close(4 * names["r"] ** 2 * d, detached)
            assert chain_holds(re.search(r"and \$(q > 0)\$", statement.text)[1], names)
    size = value(re.search(r"At \$d = (\d+)\$", statement.text)[1])
    at = {"d": size, "r": 1, "s": 1, r"\tau": 1}
    ratio = term(statement, "the ratio is")
    assert ratio == value(texts[0], at) / value(texts[1], at)
    assert holds(statement, 2, layer((1, 2), 0) | {"d": 768}, start="At $d", end="the ratio")
    statement.says("independent, of mean $0$ and variance $s^2$")


@reads("why-detach-mean")
def the_mean_is_not_noticed(statement):
    for eps in (0, R(1, 3)):
        names = backward((1, 2, 4), (3, -1, 2), eps, W=Matrix([[1, 2], [0, 1], [3, -1]]))
        without = names["r"] * (names[r"\hat g"] - names["a"] * names["u"])
        changed = names["W"].T * (without - names["dz"])
        assert close(changed, term(statement, "The gradient by $x$ changes by", names))
        assert close(names["P"] * (without - names["dz"]), 0)
        centred = names | {"W": names["P"] * names["W"]}
        assert close(term(statement, "The gradient by $x$ changes by", centred), 0)
    mean, product = re.search(r"have the mean \$(\d)\$ or \$[^$]* = (\d)\$", statement.text).groups()
    assert [mean, product] == ["0", "0"]
    statement.says("At every $", "the same $PW$, $Pb$, outputs and loss", "only where")


@reads("why-detached-descent")
def the_detached_step(statement):
    for z, g in INPUTS:
        for eps in (0, R(1, 3)):
            names = backward(z, g, eps)
            assert holds(statement, 1, names, end="So to")
            assert holds(statement, 2, names, start="are given by")
            along = names["r"] * names["dz"].dot(names[r"\hat g"])
            assert close(along, 0) == (eps == 0 and len(z) == 2)
    assert chain_holds(statement.tex(r"the loss. At"), {r"\varepsilon": 0})
    statement.says("never raises the loss", "if and only if $P\\hat g$ is a multiple of $v$")


@reads("why-detached-no-gradient")
def the_gradient_of_nothing(statement):
    def symmetric(g):
        z = Matrix(sympy.symbols(f"z1:{len(g) + 1}", real=True))
        q = layer(z, 1)["q"]
        J = (Matrix(g) / sqrt(q + 1)).jacobian(z).subs(dict(zip(z, range(1, 2 * len(g), 2), strict=False)))
        J2 = (Matrix(g) / sqrt(q + 1)).jacobian(z).subs(dict(zip(z, (4, 1, 2), strict=False)))
        return close(J - J.T, 0) and close(J2 - J2.T, 0)

    patterns = (r"For \$([^$]*)\$", r"At \$([^$]*)\$ it", r"and at \$([^$]*)\$")
    never, pair, single = (re.search(pattern, statement.text)[1] for pattern in patterns)
    for g in ((1, 0, 0), (1, -2, 1), (1, -1), (2, 1), (3,)):
        d = {"d": len(g)}
        expected = chain_holds(single, d) or (chain_holds(pair, d) and sum(g) == 0)
        assert symmetric(g) == expected
        assert chain_holds(never, d) == (len(g) == 3)
    assert chain_holds(statement.tex("Let"), {r"\hat g": Matrix([1, 0])})
    statement.says("on no open set the gradient of a function", "if and only if $\\hat g$ is centred")


@reads("why-step")
def one_step(statement):
    x, rate = Matrix([2, 1]), sympy.Symbol("eta", positive=True)
    for eps in (0, R(1, 3)):
        names = backward((1, 2, 4), (3, -1, 2), eps, x=x)
        W = Matrix([[0, 1], [1, 0], [2, 0]])  # W x = (1, 2, 4)
        step_W, step_b = names["dz"] * x.T, names["dz"]
        after = (W - rate * step_W) * x - rate * step_b
        change = Matrix([entry.diff(rate) for entry in layer(after, eps)["u"]]).subs(rate, 0)
        names[r"\eta"] = R(1, 10)
        loss, core = (term(statement, after, names) for after in ("the loss changes by", "and the core by"))
        assert close(change / 10, core) and close(names[r"\hat g"].dot(change) / 10, loss)
        assert core.norm().evalf(30) <= term(statement, "which is at most", names).evalf(30)
        at_0 = term(statement, "the change of the core is", names)
        assert close(core, at_0) == (eps == 0)
    assert chain_holds(statement.tex("long. At"), {r"\varepsilon": 0})
    names = backward((1, 2, 4), (2, -3, 1), 0, x=x) | {r"\eta": 1}
    assert close(term(statement, "and the core by", names).norm(), term(statement, "which is at most", names))
    step = {r"\theta": Matrix([5, 1]), r"\theta^+": Matrix([1, 1]), r"\eta": 2, "G": Matrix([2, 0])}
    assert chain_holds(statement.tex("At one position let"), step)
    statement.says("nothing else change", "To first order in $\\eta$", "at most")


@reads("why-next")
def the_next_matrix(statement):
    e, A = Matrix([2, -1]), Matrix([[1, 2, 3], [0, 1, -1]])
    for gain, bias in (((2, -5, 1), (0, 3, 4)), ((3, 3, 3), (0, 0, 0))):
        names = layer((10**9, -(10**9), 0), R(1, 9), gain, bias, e=e, A=A, c=Matrix([4, 7]))
        names |= {"s": A * names["y"] + names["c"], r"\|\partial\ell/\partial A\|": (e * names["y"].T).norm()}
        assert chain_holds(re.search(r"by \$(s = [^$]*)\$", statement.text)[1], names)
        assert chain_holds(statement.tex("At one position"), names)
        assert chain_holds(re.search(r"\$\$ (.*?) , \$\$", statement.text)[1], names)
    bound = value(re.search(r"\\le (.*?) , \$\$", statement.text)[1], names)
    assert close(bound, names["y"].norm(), R(1, 10**15))  # equal gains, no bias, a large input: nearly attained
    names |= {r"\|\partial\ell/\partial A\|": (e * names["z"].T).norm()}
    assert chain_holds(statement.tex("where $y$ is $z$,"), names)
    statement.says("whatever $W$, $b$ and $x$ are", "grows with the scale")


@reads("why-smoother")
def where_it_smooths(statement):
    pattern = r"if and only if \$([^$]*)\$; at \$d = 2\$ if and only if \$([^$]*)\$"
    three, two = re.search(pattern, statement.text).groups()
    for z, eps in (
        ((1, 0, -1), R(1, 2)),
        ((1, 0, -1), R(1, 3)),
        ((1, 0, -1), R(1, 4)),
        ((1, -1), 3),
        ((R(1, 10), R(-1, 10)), R(1, 100)),
        ((R(1, 2), R(-1, 2)), R(1, 4)),
        ((R(1, 5), R(-1, 5)), R(1, 4)),
    ):
        names = layer(z, eps)
        largest = max(value.evalf(30) for value in names["J"].eigenvals(multiple=True))
        assert (largest > 1 + R(1, 10**20)) == chain_holds(two if len(z) == 2 else three, names)
    assert chain_holds(statement.tex("For"), {"d": 3}) and not chain_holds(statement.tex("For"), {"d": 2})
    longer = {"dz": Matrix([2, 0]), "g": Matrix([1, 0])}
    assert chain_holds(re.search(r"there is a \$g\$ with \$([^$]*)\$", statement.text)[1], longer)
    assert term(statement, "Let all gains be") == 1


@reads("why-covariate")
def any_mean_of_a_feature(statement):
    for d, m in ((2, R(9, 10)), (5, R(-19, 10)), (5, 0)):
        eps = R(1, 3)
        names = layer((1, *[0] * (d - 1)), eps, m=m)
        assert holds(statement, 2, names, end="For every number")
        assert chain_holds(statement.tex("For every number $m$ with"), names)
        t = sympy.sign(m) * sqrt(m**2 * eps / (R(d - 1, d) ** 2 - m**2 * R(d - 1, d**2)))
        u = layer((t, *[0] * (d - 1)), eps)["u"]
        assert close(u[0], m)
        assert close(sum(u), term(statement, "the mean over the coordinates of one position,"))
        assert chain_holds(statement.tex("and the bound"), layer((t + 1, *[0] * (d - 1)), eps))
    assert not chain_holds(statement.tex("For every number $m$ with"), {"m": 2, "d": 5})
    statement.says("at every position, whatever the inputs are", "coordinate $1$ of the core is $m$")


@reads("why-it-works-wrong-layer-norm-always-makes-gradients-smaller")
def it_may_divide_by_less_than_one(statement):
    assert value(statement.tex("divides by"), {"q": R(1, 9), r"\varepsilon": 0}) == R(1, 3)
    assert term(statement, "less than") == 1


@reads("why-it-works-wrong-it-keeps-the-distribution-of-each")
def between_the_two_ends(statement):
    low, high = (term(statement, after, {"d": 5}) for after in ("any mean between", r"\sqrt{d-1}$ and"))
    far = layer((10**30, 0, 0, 0, 0), R(1, 3))["u"][0]
    assert same(-low, high) and close(far, high, R(1, 10**20))


@reads("why-it-works-wrong-the-derivative-of-the-variance-through")
def the_term_is_there_and_is_0(statement):
    z, m = sympy.symbols("z1:4", real=True), sympy.Symbol("m")
    slope = (sum((entry - m) ** 2 for entry in z) / 3).diff(m)
    at = dict(zip(z, (1, 2, 4), strict=True))
    names = {"d": 3, "z": Matrix([1, 2, 4]), r"\mu": 5}
    factor = re.search(r"its factor is \$(.*?)\\sum_i\(z_i - \\mu\)\$", statement.text)[1]
    assert value(factor, names) * (1 + 2 + 4 - 3 * 5) == slope.subs(at | {m: 5})
    assert slope.subs(at | {m: R(7, 3)}) == term(statement, "and is") == term(statement, "entries add up to")


@reads("why-it-works-wrong-mean-and-variance-are-just-numbers")
def never_shorter(statement):
    names = backward((1, 2, 4), (1, 0, 0), 0)
    assert value(statement.tex("$dz$ is"), names).norm().evalf(30) > names["dz"].norm().evalf(30)
    statement.says("never shorter than the gradient")

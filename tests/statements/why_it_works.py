"""Readings of the statements on why the layer works: the scale of the weights, decay, epsilon and curvature."""

import re

import sympy
from mpmath import mp
from small_network import EPS, THETA, gradient, loss
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, given, holds, layer, same, term, value

R = Rational
ALTERNATING = (1, -1, 1, -1)


def G(theta, eps=0):
    """The gradient of the small network in 48 digits."""
    return Matrix([sympy.Float(mp.nstr(entry, 48), 48) for entry in gradient(theta, eps)])


def network(eps, **more):
    """The names of the small network at theta, delta = 3: the loss and its gradient at two epsilons."""
    scale = 3
    small = sympy.sympify(eps) / scale**2
    return {
        r"\delta": scale,
        r"\theta": THETA,
        r"\varepsilon": sympy.sympify(eps),
        r"\ell_\varepsilon": lambda t: loss(t, eps),
        r"\ell_{\varepsilon/\delta^2}": lambda t: loss(t, small),
        r"G_\varepsilon": lambda t: G(t, eps),
        r"G_{\varepsilon/\delta^2}": lambda t: G(t, small),
        r"\ell_0": lambda t: loss(t, 0),
        "G_0": G,
        **more,
    }


@reads("why-example")
def one_step_and_one_from_twice_the_weights(statement):
    W, g, eps = given(statement, "W"), given(statement, "g"), given(statement, r"\varepsilon")
    x, b = given(statement, "x"), given(statement, "b")
    dz, far = layer(x * W, eps)["J"] * g, layer(2 * W, eps)["J"] * g
    assert (x, b, x * dz) == (1, 0, term(statement, "the gradient by $W$ is"))
    assert dz.dot(W) == term(statement, "Its product with $W$ is")
    rate, larger = given(statement, r"\eta"), given(statement, r"\eta", 1)
    after = W - rate * dz
    assert after == term(statement, "leads to")
    lengths = re.search(r"length goes from \$(\d)\$ to \$(\d)\$", statement.text).groups()
    assert [int(length) for length in lengths] == [W.dot(W), after.dot(after)]
    assert far == term(statement, "At $2W$ the gradient is") == dz / 2
    assert 2 * W - larger * far == term(statement, "leads from $2W$ to") == 2 * after
    assert larger == 4 * rate
    statement.says("half as long", "four times as large", "twice the weights of before, and the same core")


@reads("why-setting")
def the_letters_of_the_weights(statement):
    theta, step = Matrix([2, 3]), Matrix([1, 7])
    names = {"W": 2, "b": 3, "x": 5, "z": 13, r"\theta": theta, r"\eta": R(1, 2), "G": step, r"\varepsilon": 0, "q": 1}
    names |= {r"\theta^+": theta - step / 2, "G_0": lambda t: step, r"\tilde G": sqrt(13) * step}
    assert holds(statement, 7, names)
    assert term(statement, "*effective step* is", names) == R(1, 26)


@reads("why-gradient-scale")
def the_gradient_is_divided(statement):
    for eps in (R(1, 2), 0):
        assert holds(statement, 3, network(eps), end="So at")
    assert holds(statement, 2, network(0), start="So at")
    statement.says("by $x$, by gain and bias, and by all that follows are the same", "do not see the scale at all")


@reads("why-run")
def two_runs(statement):
    for eps in (R(1, 2), 0):
        names = network(eps, **{r"\eta": R(1, 5), r"\lambda": R(1, 2)})
        assert holds(statement, 2, names, end="So a run")
        rate, kept = (term(statement, after, names) for after in ("starts at $\\theta$ with", "the same"))
        small = term(statement, "the same $1 - \\eta\\lambda$, and", names)
        theta, scale = THETA, 3
        after = R(9, 10) * scale * theta - R(1, 5) * G(scale * theta, eps)
        assert close(after, scale * (kept * theta - rate * G(theta, small)))
    assert holds(statement, 1, network(0), start="At $", end="the length")
    one = {r"\eta": 8, r"\theta": Matrix([2, 0]), r"\lambda": 3}
    assert [term(statement, words, one) for words in ("matter through", r"$\eta/\|\theta\|^2$ and")] == [2, 24]
    statement.says("every $\\eta$ and every weight decay", "are equal in both runs, and so is the loss")


@reads("why-angle")
def the_tangent(statement):
    for rate in (R(1, 10), 7):
        step = G(THETA)
        after = THETA - rate * step
        cosine = THETA.dot(after) / THETA.norm() / after.norm()
        names = {r"\varepsilon": 0, "G": step, r"\theta": THETA, r"\eta": rate, r"\theta^+": after}
        names |= {r"\tan\alpha": sqrt(1 / cosine**2 - 1), r"\tilde G": THETA.norm() * step}
        assert holds(statement, 5, names)
        assert cosine > 0
    statement.says("However large $\\eta$ is", "less than a right angle")


@reads("why-growth")
def how_the_effective_step_falls(statement):
    total = r"\sum_{s<t} \|\tilde G_s\|^2"
    assert total in statement.text
    for start in (THETA / 10, 3 * THETA):
        for rate in (R(1, 10**6), R(1, 50), 5):
            thetas, turns = [start], []
            for _ in range(3):
                step = G(thetas[-1])
                turns.append(thetas[-1].norm() * step.norm())
                thetas.append((thetas[-1] - rate * step).evalf(48))
            names = {r"\theta_0": start, r"\theta_t": thetas[-1], "S": sum(t**2 for t in turns), r"\eta": rate, "t": 3}
            names |= {"c": min(turns), "C": max(turns)}
            assert chain_holds(statement.tex("Then").replace(total, "S"), names)
            assert chain_holds(re.search(r"then \$(\\eta/[^$]*)\$", statement.text)[1], names)
            assert chain_holds(re.search(r"then \$(\\\|\\theta_t\\\|\^4 \\le[^$]*)\$", statement.text)[1], names)
    end = 1 + R(1, 10**9)
    tight = {r"\theta_0": Matrix([1, 0]), r"\theta_t": Matrix([end, 0]), r"\eta": R(1, 10**4), "t": 1}
    kept = 4 * R(1, 10**9) / (2 * R(1, 10**8))  # what the growth of the fourth power says of the sum, nearly
    assert not chain_holds(statement.tex("Then").replace(total, "S"), tight | {"S": kept * R(11, 10)})
    assert chain_holds(statement.tex("Then").replace(total, "S"), tight | {"S": kept})
    assert [chain_holds(statement.tex("constant"), {r"\eta": rate}) for rate in (0, 1)] == [False, True]
    assert chain_holds(statement.tex("Let"), {r"\varepsilon": 0})
    assert chain_holds(re.search(r"for \$(t \\ge 1)\$", statement.text)[1], {"t": 1})
    statement.says("whatever $\\eta$ and $\\theta_0$ are", r"\ge c > 0$ for all", r"\le C$ for all")


@reads("why-decay-angle")
def the_balance(statement):
    rate, decay, c = R(1), R(2, 5), R(4)
    theta, step = Matrix([5, 0]), Matrix([0, 4])  # the step leads to (3, -4), of the same length
    after = (1 - rate * decay) * theta - rate * step
    names = {r"\varepsilon": 0, r"\eta": rate, r"\lambda": decay, r"\theta": theta, "G": step, r"\theta^+": after}
    names |= {"c": c, r"\tilde G": Matrix([c, 0])}
    assert after.norm() == theta.norm()
    assert theta.dot(after) / theta.norm() ** 2 == term(statement, "with the cosine", names)
    assert holds(statement, 3, names, end="A step that")
    assert chain_holds(re.search(r"If \$([^$]*)\$ at every", statement.text)[1], names)
    level = re.search(r"\$\$ \\\|\\theta\\\|\^4 = (.*?) , \$\$ where the effective step is", statement.text)[1]
    effective = re.search(r"where the effective step is \$\$ (.*?) \$\$", statement.text)[1]
    s = sqrt(value(level, names))
    assert close((1 - rate * decay) ** 2 * s + rate**2 * c**2 / s, s)
    assert chain_holds(effective, names | {r"\|\theta\|^2": s})
    for product in (R(1, 2), R(1, 100)):
        bound = re.search(r"for \$(\\eta\\lambda \\le [^$]*)\$", statement.text)[1]
        assert chain_holds(bound, {r"\eta": product, r"\lambda": 1})
    assert not chain_holds(bound, {r"\eta": R(51, 100), r"\lambda": 1})
    statement.says("whatever the loss", "can stay the same only at", "it tends to that from every start")


@reads("why-exponential")
def a_rate_that_grows(statement):
    names = {r"\eta": R(1, 10), r"\lambda": 2, "p": R(4, 5), r"\varepsilon": 0}
    assert holds(statement, 3, names, end=". If")
    theta = phi = THETA
    for t in range(4):
        names |= {"t": t, r"\theta_t": theta, r"\phi_t": phi}
        assert chain_holds(statement.tex(r"and the decay $\lambda$, then"), names)
        rate = term(statement, r"in the step from $\phi_t$ is", names)
        theta, phi = (R(4, 5) * theta - G(theta) / 10).evalf(48), (phi - rate * G(phi)).evalf(48)
    statement.says("a run without decay", "the same directions, outputs and losses")


@reads("why-penalty")
def nobody_pays(statement):
    assert holds(statement, 3, {r"\varepsilon": 0, r"\lambda": 2, "q": 1}, end="at every position is")
    theta = THETA / 10**12
    total = term(statement, "The infimum of", network(0, **{r"\lambda": 2, r"\theta": theta}))
    assert close(total, loss(theta, 0) + theta.dot(theta))
    assert 0 < (total - loss(THETA, 0)).evalf(50) < R(1, 10**20)
    alone = term(statement, "at every position is that of", network(0, **{r"\theta": theta}))
    assert close(alone, loss(THETA, 0))
    statement.says("over all $\\theta$ with", "and no $\\theta$ attains it")


@reads("why-optimizers")
def powers_of_the_scale(statement):
    rates = re.findall(r"- \$([^$]*)\$, if", statement.text)
    scale, rate = 3, R(1, 7)
    rules = (
        lambda step, theta: step,
        lambda step, theta: step.applyfunc(sympy.sign),
        lambda step, theta: theta.norm() * step / step.norm(),
    )
    for text, rule in zip(rates, rules, strict=True):
        small = value(text, {r"\eta": rate, r"\delta": scale})
        far = scale * THETA - rate * rule(G(scale * THETA), scale * THETA)
        assert close(far, scale * (THETA - small * rule(G(THETA), THETA)))
    names = {r"\varepsilon": 0, r"\theta": THETA, "A": THETA, r"\eta": 2, r"\theta^+": -THETA, "c": 1}
    assert holds(statement, 3, names)
    assert term(statement, "an epsilon of its own of") == 0
    statement.says("with momentum or without", "multiplied by $\\|\\theta\\|$", "Adam with")


@reads("why-per-layer")
def rows_have_no_scale(statement):
    equation = re.search(r"Then \$([^$]*)\$", statement.text)[1]
    for scales, unseen in (((2, 2, 2), True), ((2, 1, 2), False), ((1, 1, 3), False)):
        names = layer((1, 2, 4), 0, s=Matrix(scales)) | {"u_0": lambda z: layer(z, 0)["u"]}
        assert chain_holds(equation, names) == unseen
    assert holds(statement, 2, layer((1, 2), 0), end="and $s_1")
    assert not chain_holds(statement.tex("Let"), {"d": 1})
    found = re.search(r"are \$(-?\d)\$, \$(-?\d)\$, \$(-?\d)\$ and \$(-?\d)\$: their sum is \$(\d)\$", statement.text)
    gradients = layer(ALTERNATING, 0)["J"] * Matrix([4, 0, 0, 0])
    products = gradients.multiply_elementwise(Matrix(ALTERNATING))
    assert [int(digit) for digit in found.groups()] == [*products, sum(products)]
    statement.says("if and only if all $s_i$ are equal", "they are not", r"s_d > 0$")


@reads("why-column-means")
def columns_add_up(statement):
    for eps in (0, R(1, 2)):
        step = G(THETA, eps)
        assert close(sum(step[:3]), term(statement, "add up to")) and close(sum(step[3:]), 0)
    factor = term(statement, "each step multiplies them by", {r"\eta": R(1, 5), r"\lambda": R(1, 2)})
    after = R(9, 10) * THETA - R(1, 5) * G(THETA)
    assert close(sum(after[:3]), factor * sum(THETA[:3]))
    statement.says(
        "At every $\\varepsilon$",
        "with momentum or without",
        "do not depend on them",
        "mean of every column",
        "the entries of each column of $\\partial\\ell/\\partial W$",
    )


@reads("why-epsilon-derivative")
def along_the_weights(statement):
    for eps in (R(1, 2), 3):
        names = network(eps)
        by_eps = loss(THETA, EPS).diff(EPS).subs(EPS, eps)
        names[r"\frac{\partial\ell_\varepsilon}{\partial\varepsilon}"] = lambda theta, slope=by_eps: slope
        assert holds(statement, 2, names, end="At one")
    bound = re.search(r"\\rvert \\le ([^$]*)\$", statement.text)[1]
    for z in ((1, 2, 4), (-1, 1)):
        q = layer(z, 1)["q"]
        names = layer(z, 2 * q)
        names |= {r"\hat g": names["v"]}
        assert holds(statement, 2, names, start="with equality", end="Along")
        assert close(names["z"].dot(names["J"] * names["v"]), value(bound, names))
        for eps in (q, 3 * q):
            assert names["z"].dot(layer(z, eps)["J"] * names["v"]).evalf(30) < value(bound, names).evalf(30)
    theta, flow = Matrix([2, 3]), Matrix([-1, 5])
    names = {r"\theta": theta, "G": -flow, r"\dot\theta": flow, r"\varepsilon": 0}
    assert chain_holds(statement.tex("the gradient flow"), names)
    assert term(statement, "changes at the rate", names) == 2 * theta.dot(flow)
    assert chain_holds(statement.tex("changes at the rate", 1), names)
    statement.says("For $\\varepsilon > 0$", "every $\\varepsilon > 0$ and every input", "it is constant")


@reads("why-small-weights")
def two_regimes(statement):
    g, x, z, rate = Matrix([1, 0, -3]), Matrix([2, 0]), Matrix([1, 2, 4]), R(1, 3)
    theta = Matrix([*(z - Matrix([1, 0, 1])) / 2, 1, 0, 1])  # W x + b = z

    def step(scale, eps):
        dz = layer(scale * z, eps)["J"] * g
        return Matrix([*(2 * dz), *dz])

    def relative(scale, eps):
        return (rate * step(scale, eps).norm() / (scale * theta).norm()).evalf(50)

    names = {r"\theta": theta, r"\eta": rate, "x": x, r"\hat g": g, "P": layer(z, 1)["P"], "G_0": lambda t: step(1, 0)}
    large = re.search(r"\$\\delta\^2\\varrho\(\\delta\) \\to ([^$]*)\$", statement.text)[1]
    small = re.search(r"\\delta\\,\\varrho\(\\delta\) \\to (.*?) , \$\$", statement.text)[1]
    defined = re.search(r"write \$([^$]*)\$", statement.text)[1]
    for eps in (0, R(1, 9)):
        names |= {r"\varepsilon": eps, r"\delta": 2, r"\varrho": lambda scale, e=eps: relative(scale, e)}
        names |= {r"G_\varepsilon": lambda t, e=eps: step(2, e)}
        assert chain_holds(defined, names)
        assert close(R(10**40) * relative(R(10**20), eps), value(large, names), R(1, 10**15))
        assert close(4 * relative(2, eps), value(large, names), R(1, 10**15)) == (eps == 0)
    tiny = R(1, 10**20)
    assert close(tiny * relative(tiny, R(1, 9)), value(small, names), R(1, 10**15))
    assert chain_holds(statement.tex("For every"), names) and holds(statement, 1, {"q": 1}, end=", and write")
    assert re.search(r"at \$\\varepsilon = 0\$ they are equal\. For \$\\varepsilon > 0\$, as", statement.text)
    assert term(statement, "taken at the core") == 0
    statement.says(r"as $\delta \to \infty$", r"as $\delta \to 0$", "depends continuously")


@reads("why-hessian")
def not_convex(statement):
    w = sympy.symbols("w1:5", real=True)
    mean = sum(w) / 4
    function = 4 * (w[0] - mean) / sqrt(sum((entry - mean) ** 2 for entry in w) / 4)
    theta = Matrix(ALTERNATING)

    def second(at):
        return sympy.hessian(function, w).subs(dict(zip(w, at, strict=True)))

    H = second(theta)
    names = {r"\varepsilon": 0, r"\delta": 3, r"\theta": theta, "H": H, "G": Matrix([2, 0, -2, 0])}
    names |= {r"H(\delta\theta)": second(3 * theta), r"H(\theta)": H}
    assert holds(statement, 6, names, end=", $H$ has")
    values = sorted(H.eigenvals(multiple=True))
    assert values[0] < 0 < values[-1]
    assert -values[0] * values[-1] == term(statement, "is at least", names)
    statement.says("a positive and a negative eigenvalue", "convex near no $\\theta$ that is not stationary")


@reads("why-ex-double")
def three_times_the_weights(statement):
    answers = re.search(r"so \$(\d)\$, \$(\d)\$ and \$(\d)\$", statement.text).groups()
    equations = re.search(r"satisfy \$([^$]*)\$, \$([^$]*)\$ and \$([^$]*)\$", statement.text).groups()
    for answer, equation, power in zip(answers, equations, (2, 1, 0), strict=True):
        assert int(answer) == 3**power
        assert chain_holds(equation, {r"\eta'": int(answer), r"\eta": 1})
    statement.says("three times as large", "at $3\\theta$", "for gradient descent, for steps of signs, for LARS")


@reads("why-ex-angle")
def sixty_degrees(statement):
    theta, step = Matrix(ALTERNATING), Matrix([2, 0, -2, 0])
    names = {r"\theta": theta, "G": step, r"\|\theta\|": theta.norm(), r"\|G\|": step.norm()}
    hint = re.search(
        r"with \$([^$]*)\$ and \$([^$]*)\$; the tangent of \$(\d+)\$ degrees is \$([^$]*)\$", statement.text
    )
    assert all(chain_holds(text, {r"\theta": theta, "G": step}) for text in hint.groups()[:2])
    assert close(value(hint[4]), sympy.tan(sympy.pi * int(hint[3]) / 180))
    assert re.search(r"by exactly \$(\d+)\$ degrees\? Which by \$(\d+)\$", statement.text).groups() == (hint[3], "90")
    rate = value(re.search(r"for \$\\eta = ([^$]*)\$", statement.text)[1])
    names |= {r"\eta": rate, r"\tan\alpha": sqrt(3)}
    assert chain_holds(re.search(r"\$(\\tan[^$]*)\$", statement.text)[1], names)
    after = theta - rate * step
    assert close(theta.dot(after) / theta.norm() / after.norm(), R(1, 2))
    assert close(term(statement, ", which is"), value(hint[4]))
    statement.says("No learning rate reaches $90$ degrees")


@reads("why-ex-effective")
def a_thousandth_of_the_weights(statement):
    eps, scale, q = given(statement, r"\varepsilon"), given(statement, r"\delta"), given(statement, "q")
    solved = statement.text.split("::: |")[-1]
    assert chain_holds(
        re.search(r"\$(\\varepsilon/\\delta\^2 = [^$]*)\$", solved)[1], {r"\varepsilon": eps, r"\delta": scale}
    )
    shown = re.search(r"the variance is \$([^$]*) = ([^$]*)\$", statement.text).groups()
    u = layer((scale, -scale), eps)["u"]
    assert same(u.dot(u) / 2, *(value(text) for text in shown)) and q == 1
    assert layer((1, -1), eps)["q"] == q
    statement.says("instead of nearly $1$", "a thousandth")


@reads("why-ex-detach")
def four_gradients(statement):
    z, g, eps = given(statement, "z"), given(statement, r"\hat g"), given(statement, r"\varepsilon")
    names = layer(z, eps)
    mean, a = sum(g) / 4, g.dot(names["u"]) / 4
    assert names["u"] == z and [mean, a] == [given(statement, r"\operatorname{mean}(\hat g)"), given(statement, "a")]
    assert given(statement, "r") == 1
    ones = names[r"\mathbf{1}"]
    for name, dz in (
        ("Full:", g - mean * ones - a * z),
        ("Mean detached:", g - a * z),
        ("Variance detached:", g - mean * ones),
        ("Both:", g),
    ):
        assert term(statement, name) == dz
        assert term(statement, name, number=1) == dz.dot(dz)
    assert holds(statement, 1, names, start="takes away", end="here")
    factor, length = re.search(r"factor is \$(\d)\$.*squared length \$(\d)\$", statement.text).groups()
    assert int(factor) == mean == a and int(length) == z.dot(z) == ones.dot(ones)


@reads("why-ex-rms")
def which_hold_for_rms_norm(statement):
    statement.says("(a) holds:", "(b) does not:", "(c) holds:")
    z, g, eps = Matrix([1, 2, 4]), Matrix([1, 0, -2]), R(2)
    m = z.dot(z) / 3
    n = z / sqrt(m + eps)
    a, r = g.dot(n) / 3, 1 / sqrt(m + eps)
    dz = r * (g - a * n)
    symbols = Matrix(sympy.symbols("z1:4", real=True))
    made = (symbols / sqrt(symbols.dot(symbols) / 3 + eps)).jacobian(symbols).subs(dict(zip(symbols, z, strict=True)))
    assert close(made.T * g, dz) and not close(sum(dz), 0)
    names = {
        "dz": dz,
        "r": r,
        r"\hat g": g,
        "d": 3,
        "a": a,
        "n": n,
        "m": m,
        r"\varepsilon": eps,
        r"\tau": m / (m + eps),
    }
    for text in re.findall(r"\$([^$]*=[^$]*)\$", statement.text):
        if "delta" not in text:
            assert chain_holds(text, names), text
    names = {r"n_\varepsilon": lambda w: w / sqrt(w.dot(w) / 3 + eps), r"\delta": 3, "z": z}
    names[r"n_{\varepsilon/\delta^2}"] = lambda w: w / sqrt(w.dot(w) / 3 + eps / 9)
    assert chain_holds(statement.tex("(a) holds:"), names)
    assert term(statement, "add up to") == 0


@reads("why-ex-project")
def two_runs_of_one_product(statement):
    product = value(re.search(r"and \$\\eta\\lambda = ([\d.]+)\$", statement.text)[1])
    pairs = re.findall(r"\$\\eta = ([\d.]+)\$, \$\\lambda = ([\d.]+)\$", statement.text)
    (rate, decay), (rate2, decay2) = ((R(a), R(b)) for a, b in pairs)
    assert rate * decay == rate2 * decay2 == product
    assert 1 - product == term(statement, "with the cosine")
    quotient = (rate / decay) / (rate2 / decay2)
    assert quotient == term(statement, ", which is")
    root, decimal = re.search(r"by the factor \$([^$]*) \\approx ([\d.]+)\$", statement.text).groups()
    assert close(value(root) ** 4, quotient) and close(value(root), R(decimal), R(1, 200))
    names = {r"\eta": R(1, 2), r"\lambda": R(1, 3), "c": 2}
    s = sqrt(value(re.search(r"\\theta\\\|\^4 = ([^$]*)\$", statement.text)[1], names))
    assert close(R(25, 36) * s + 1 / s, s)
    assert value(statement.tex("has the factor"), names) == R(3, 2)


@reads("why-it-works-wrong-training-found-a-flat-minimum")
def flat_by_scale(statement):
    assert chain_holds(statement.tex("Training found a flat minimum"), {r"\varepsilon": 0})
    statement.says("shrink with the square")


@reads("why-it-works-wrong-normalizing-the-weights-now-and-then")
def the_effective_step_jumps(statement):
    names = {"W": Matrix([3, 4])}
    assert term(statement, "multiplies the effective step by", names) == 25
    assert chain_holds(statement.tex("changes nothing. |"), {r"\varepsilon": 0})
    statement.says("At $\\varepsilon = 0$ it does not change the function")


@reads("why-it-works-wrong-weight-decay-on-the-matrix-in")
def no_function_pays(statement):
    statement.says("no function pays the penalty")
    assert chain_holds(statement.tex("weight decay"[1:]), {r"\varepsilon": 0})

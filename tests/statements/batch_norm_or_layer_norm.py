"""Readings of the statements on batch, layer, instance and group normalization: sets, leaks, training and use."""

import re
from itertools import product

import sympy
from shared_sets import sets_of
from sympy import Matrix, Rational, sqrt

from statements import reads, tex
from statements.evaluate import chain_holds, close, given, holds, layer, part, term, value

R = Rational
EPS = {r"\varepsilon": R(1, 9)}
SHAPES = list(product((1, 2, 3), (1, 2, 4), (1, 2, 3)))


def core(z, eps):
    return layer(z, eps)["u"]


def mean(entries):
    return sum(entries) / R(len(entries))


def variance(entries):
    return mean([(entry - mean(entries)) ** 2 for entry in entries])


def found(statement, pattern):
    match = re.search(pattern, statement.text)
    assert match, f"{statement.label} no longer says {pattern!r}"
    return match.groups()


def conditions(text, names):
    """Whether all relations of a text hold, at least one of them."""
    relations = [chain_holds(formula, names) for formula in tex.formulas(text)]
    relations = [relation for relation in relations if relation is not None]
    assert relations
    return all(relations)


@reads("bn-sets")
def each_set_is_a_core(statement):
    for z in ((1, 2, 4), (5,)):
        names = layer(z, R(1, 3))
        for i, entry in enumerate(z):
            assert close(term(statement, "an entry $x_e$ becomes", names | {"x_e": entry}), names["u"][i])
        assert holds(statement, 1, {"n": len(z), "d": len(z)}, start="layer normalization at")
    statement.says("of its own set")


@reads("bn-counts")
def the_table_of_sets_and_parameters(statement):
    rows = [
        [cell.strip(" $") for cell in row.split(" | ")]
        for row in re.findall(r"\| ([a-z][^|]*\|[^|]*\|[^|]*\|[^|]*) \|", statement.text)
    ]
    table = {row[0].split(", $")[0]: row[1:] for row in rows}
    names = {"batch": "batch", "layer, over the channels": "channels", "layer, over the sample": "sample"}
    names |= {"instance": "instance", "group": "group"}
    for (n, c, s), groups in product(SHAPES, (1, 2)):
        if c % groups == 0:
            letters = {"N": n, "C": c, "S": s, "G": groups}
            for words, name in names.items():
                sets = sets_of(name, (n, c, s), groups)
                number, entries, parameters = (value(cell, letters) for cell in table[words])
                assert (number, {entries}) == (len(sets), set(map(len, sets)))
                assert parameters == (2 * c * s if name == "sample" else 2 * c)
    letters = {"N": 5, "C": 7, "S": 3}
    assert term(statement, "over the channels has", letters) == 15
    assert term(statement, "mean squares and", letters) == 7
    assert term(statement, "stores", letters) == 14
    statement.says("one mean and one variance", "the others store none")


@reads("bn-partition")
def the_sets_are_the_function(statement):
    statement.says("for every array if and only if they are the same sets")
    assert holds(statement, 1, EPS)
    first, second = ((0, 1), (2,)), ((0, 1, 2),)
    unit = (0, 0, 1)
    cores = [next(core([unit[e] for e in one], 1) for one in sets if 0 in one)[0] for sets in (first, second)]
    assert cores[0] == 0 != cores[1]


@reads("bn-coincide")
def when_two_layers_coincide(statement):
    pairs = [
        [("batch", "instance")],
        [("channels", "sample")],
        [("sample", "instance")],
        [("batch", "sample"), ("batch", "channels")],
        [("group", "batch"), ("group", "channels")],
    ]
    bullets = statement.text.split(" - ")[1:]
    assert holds(statement, 1, EPS, end=", without")
    for bullet, compared in zip(bullets, pairs, strict=True):
        clauses = bullet.split("if and only if")[1:]
        for clause, (a, b) in zip(clauses, compared, strict=True):
            for (n, c, s), groups in product(SHAPES, (1, 2, 4)):
                if c % groups == 0:
                    same = sets_of(a, (n, c, s), groups) == sets_of(b, (n, c, s), groups)
                    assert conditions(clause, {"N": n, "C": c, "S": s, "G": groups}) == same
    statement.says("For all arrays", "in training", "without gain and bias")


@reads("bn-order")
def which_orders_do_not_matter(statement):
    statement.says("for every array, if and only if the permutation maps each set onto a set")
    statement.says("every permutation of the samples and of the places, and of the places of each sample by itself")
    statement.says("every permutation of the positions, and of the channels of each position by itself")
    assert holds(statement, 1, EPS)


@reads("bn-any")
def the_others_choose_the_output(statement):
    for n, t, own in ((2, R(1, 2), 0), (4, R(-3, 2), 7)):
        names = {"n": n, "t": t, r"\varepsilon": R(1, 3)}
        s = value(statement.tex("take them all equal to $z_1 - s$ with").split("=", 1)[1], names)
        assert close(core([own] + [own - s] * (n - 1), R(1, 3))[0], t)
        assert chain_holds(found(statement, r"every number \$t\$ with \$([^$]*)\$")[0], names)
    for n in (2, 5):
        condition = found(statement, r"every number \$t\$ with \$([^$]*)\$")[0]
        assert not chain_holds(condition, {"n": n, "t": sqrt(n - 1)})
        assert chain_holds(condition, {"n": n, "t": sqrt(n - 1) - R(1, 100)})
    assert value(statement.tex("take them all equal to"), {"z_1": 7, "s": 2}) == 5
    assert conditions(part(statement, "Let $", "entries"), EPS | {"n": 2})
    assert not conditions(part(statement, "let a set have", "entries"), {"n": 1})
    statement.says("For every first entry", "Other values of $u_1$ do not occur")


@reads("bn-felt")
def every_entry_is_felt(statement):
    up, down = found(
        statement, r"tends to \$([^$]*)\$ as \$z_j \\to \\infty\$ and to \$([^$]*)\$ as \$z_j \\to -\\infty\$"
    )
    for n, eps in ((2, 0), (4, R(1, 3))):
        for far, limit in ((10**30, up), (-(10**30), down)):
            assert close(core([*range(1, n), far], eps)[0], value(limit, {"n": n}), R(1, 10**20))
    derivative = statement.tex("To first order, where $q + \\varepsilon > 0$,").split("=", 1)[1]
    for z in ((1, 2, 4), (0, 3)):
        names = layer(z, R(1, 3), n=len(z), i=1, j=2)
        assert close(value(derivative, names), names["J"][0, 1])
        assert holds(statement, 1, names, start="where $q +", end="$$")
    silent = layer((1, -1, 0, 0), R(1, 2), n=4, i=1, j=2)
    assert silent["J"][0, 1] == term(statement, "which is") == 0
    assert chain_holds(statement.tex("$0$ only where"), silent)
    assert conditions(part(statement, "| Let $", " and $i"), {"n": 2, r"\varepsilon": 0})
    assert not conditions(part(statement, "| Let $", ", $\\varepsilon"), {"n": 1})
    statement.says("for no values of the others does $u_i$ ignore", "$0$ only where")


@reads("bn-gradient")
def the_gradient_through_the_statistics(statement):
    g = Matrix([3, 0, -1])
    names = layer((1, 2, 5), R(1, 3), g=g)
    u = names["u"]
    names |= {r"\bar g": mean(list(g)), "m": mean([g[i] * u[i] for i in range(3)]), r"\gamma": 3}
    exact = names["J"] * 3 * g
    formula = statement.tex("the gradient by the inputs is").split("=", 1)[1]
    for i in range(3):
        assert close(value(formula, names | {"i": i + 1}), exact[i])
    assert close(term(statement, "An entry with $g_i = 0$ gets", names | {"i": 2}), exact[1])
    assert chain_holds(statement.tex("An entry with"), {"g_i": 0})
    assert term(statement, "it adds up to") == sum(exact).simplify() == term(statement, "has the gradient")
    example = layer(given(statement, "z"), given(statement, r"\varepsilon"))
    assert example["J"] * given(statement, r"\gamma") * given(statement, "g") == term(
        statement, "$g = (1, 0)$ the gradient is"
    )
    statement.says("for every loss")


@reads("bn-accumulate")
def micro_batches_add_up_or_not(statement):
    whole = term(statement, "for the entries")
    eps, loss = given(statement, r"\varepsilon"), statement.tex("and the loss")
    parts = [term(statement, "for the micro-batches"), term(statement, "for the micro-batches", number=1)]
    assert list(whole) == [*parts[0], *parts[1]]
    assert close(value(loss, {"y": core(whole, eps)}), term(statement, "the gradient by the gain is"))
    apart = Matrix([*core(parts[0], eps), *core(parts[1], eps)])
    assert close(value(loss, {"y": apart}), term(statement, "for the whole batch and"))
    assert term(statement, "gain") == 1
    statement.says("If every set lies within one sample", "all shared parameters", "need not be")


@reads("bn-copies")
def a_batch_repeated(statement):
    row = [1, 2, 7]
    names = {"n": 3, "m": 2, "q": variance(row)}
    once, twice = (sum((x - mean(r)) ** 2 for x in r) / R(len(r) - 1) for r in (row, row * 2))
    assert term(statement, "The estimate", names) == once != twice == term(statement, "does change, to", names)
    assert core(row * 2, 1)[:3] == list(core(row, 1))
    assert conditions(part(statement, "if $q", "."), names)
    assert not conditions(part(statement, "if $q", "."), names | {"m": 1})
    assert core([4], 1)[0] == 0
    assert holds(statement, 1, {"S": 1}, start="and the bias if", end=". The estimate")
    statement.says("repeating the batch $m$ times changes no output")


@reads("bn-separate")
def real_and_fake(statement):
    real, fake, gain = [4, 6, 8], [0, 1, 5], 5
    together = core(real + fake, 1)
    names = {r"\gamma": gain, "a": 6, "b": 2, "q_a": variance(real), "q_b": variance(fake), r"\varepsilon": 1}
    difference, spread = statement.tex("the output means differ by").split(r", \qquad ")
    Q = value(spread.split("=")[1], names)
    assert variance(real + fake) == Q
    expected = gain * (mean(list(together[:3])) - mean(list(together[3:])))
    assert close(value(difference, names | {"Q": Q}), expected)
    statement.says("in training, the mean of every output channel is $\\beta$ in both", "every affine function")
    statement.says("equally many entries")


@reads("bn-causal")
def the_causal_leak(statement):
    z = (3, -1, 2)
    names = layer(z, R(1, 2), n=3)
    first, second = statement.tex("one other entry:").split(r", \qquad ")
    assert first.count(r"u_1 + \dots + u_{n-1}") == 1
    assert chain_holds(first.replace(r"u_1 + \dots + u_{n-1}", "u_1 + u_2"), names)
    assert chain_holds(second, names)
    assert holds(statement, 1, EPS, end=" and give")
    size = statement.tex("$z_1, \\dots, z_n$ with")
    assert chain_holds(size, {"n": 2})
    assert not chain_holds(size, {"n": 1})
    statement.says("no output depends on an input of a later time if and only if no set holds entries of two different")


@reads("bn-padding")
def what_padding_does(statement):
    for real, padding, p in (((1, 2, 6), 2, 0), ((4, 0), 3, -5)):
        k, n = len(real), len(real) + padding
        padded = [*real, *[p] * padding]
        alone, together = core(real, 1), core(padded, 1)
        a = (together[1] - together[0]) / (alone[1] - alone[0])
        names = {"n": n, "k": k, "p": p, r"\mu": mean(real), "q": variance(real), r"\varepsilon": R(1)}
        names |= {r"\mu'": mean(padded), "q'": variance(padded), "a": a, "b": together[0] - a * alone[0]}
        assert holds(statement, 2, names, start="together have", end="With $")
        assert holds(statement, 3, names, start="With $\\varepsilon", end="All real")
        assert not chain_holds(statement.tex("if and only if"), names)
        assert close(term(statement, "among the real ones gets", names | {"u": alone[1]}), together[1])
    assert chain_holds(statement.tex("if and only if"), {"k": 3, "n": 3})
    assert conditions(part(statement, "entries of a set, $k", "are real"), {"k": 1})
    assert value(statement.tex("are real, with the mean $\\mu$ and the variance $q$, and"), {"n": 5, "k": 2}) == 3
    statement.says(
        "All real entries keep their cores if and only if", "or all real entries are $p$", "all equal to $p$"
    )


@reads("bn-running")
def the_running_average(statement):
    alpha, start, s = R(1, 3), R(5), Matrix([7, 11])
    names = {r"\alpha": alpha, "m_0": start, "s": s, "T": 2, "m": R(4), r"\tau": R(3)}
    one = (1 - alpha) * start + alpha * s[0]
    two = (1 - alpha) * one + alpha * s[1]
    step = statement.tex("From a start $m_0$ let")
    assert chain_holds(step, {r"\alpha": alpha, "m_T": two, "m_{T-1}": one, "s_T": s[1]})
    formula = statement.tex("Then").split("=", 1)[1]
    summed = r"\sum_{k=1}^T (1 - \alpha)^{T-k} s_k"
    assert formula.count(summed) == 1
    spelled = formula.replace(summed, r"((1 - \alpha)^{T-1} s_1 + (1 - \alpha)^{T-2} s_2)")
    assert value(spelled, names) == two
    weight = term(statement, "The start keeps the weight", names)
    assert weight == (1 - alpha) ** 2
    cases = re.findall(r"after \$(\d+)\$(?: steps)? at \$\\alpha = ([\d.]+)\$", statement.text)
    assert len(cases) == 2
    for steps, rate in cases:
        assert (1 - R(rate)) ** int(steps) < R(1, 10) < (1 - R(rate)) ** (int(steps) - 1)
    weights = [alpha * (1 - alpha), alpha]
    assert term(statement, "then $m_T$ has the mean", names) == weight * start + sum(weights) * 4
    spread = value(found(statement, r"and the variance \$(\\tau\^2\\,[^$]*)\$")[0], names)
    assert spread == 9 * sum(w**2 for w in weights)
    assert conditions(part(statement, "with $0 <", ". Then"), names)
    statement.says("below a tenth", "are independent")


@reads("bn-estimators")
def what_batch_statistics_estimate(statement):
    values, n = (0, 1, 5), 3
    batches = list(product(values, repeat=n))
    kappa = mean([(x - mean(values)) ** 4 for x in values])
    names = {"n": n, "m": mean(values), r"\sigma": sqrt(variance(values)), r"\kappa": kappa}
    means, variances = [mean(batch) for batch in batches], [variance(batch) for batch in batches]
    scaled = [value(r"\tfrac{n}{n-1}q", {"n": n, "q": q}) for q in variances]
    assert term(statement, "Their mean $\\mu$ has the mean", names) == mean(means)
    assert term(statement, "has the mean $m$ and the variance", names) == variance(means)
    assert term(statement, "Their variance $q$ has the mean", names) == mean(variances)
    assert [term(statement, "The estimate", {"n": n, "q": q}) for q in variances] == scaled
    assert value(found(statement, r"\}q\$ has the mean \$([^$]*)\$")[0], names) == mean(scaled)
    spread = statement.tex("has the mean $\\sigma^2$ and the variance")
    assert value(spread, names) == variance(scaled)
    normal = names | {r"\kappa": 3 * names[r"\sigma"] ** 4}
    assert value(spread, normal) == term(statement, "which is", normal)
    assert chain_holds(statement.tex("normal distribution, where"), normal)
    assert conditions(part(statement, "Let the $n", "entries"), {"n": 2})
    assert not conditions(part(statement, "Let the $n", "entries"), {"n": 1})
    statement.says("independent draws from one distribution")


@reads("bn-train-eval")
def the_same_batch_in_training_and_in_use(statement):
    z, stored, stored_mean, gain, bias = (1, 2, 5), R(7, 2), R(1, 3), R(-3, 2), 4
    names = layer(z, R(1, 2))
    in_use = gain * (z[2] - stored_mean) / sqrt(stored + R(1, 2)) + bias
    names |= {"u": names["u"][2], r"\gamma": gain, r"\beta": bias, r"\bar\mu": stored_mean, r"\bar q": stored}
    names |= {"a": sqrt((names["q"] + R(1, 2)) / 4), r"\bar y": in_use, "y": gain * names["u"] + bias}
    names["b"] = (names[r"\mu"] - stored_mean) / 2
    assert holds(statement, 6, names, end="Stored statistics")
    pair = {"n": 2, "q": 3, r"\bar q": 6, r"\mu": 5, r"\bar\mu": 5, r"\varepsilon": 0, "b": 0, "a": sqrt(R(1, 2))}
    assert holds(statement, 8, pair, start="Stored statistics")
    assert close(term(statement, "by the factor"), pair["a"])
    statement.says("every core is too short")


@reads("bn-between")
def the_variance_between_batches(statement):
    batches = [(1, 2), (4, 8), (0, 3)]
    means, entries = [mean(b) for b in batches], [x for b in batches for x in b]
    names = {"K": 3, r"\mu": Matrix(means), "q": Matrix([variance(b) for b in batches]), "M": mean(means)}
    formula = statement.tex("have the mean $M$ and the variance").split("=", 1)[1]
    for k_th in ("q_k", r"(\mu_k - M)^2"):
        summed = rf"\sum_{{k=1}}^K {k_th}"
        assert formula.count(summed) == 1
        formula = formula.replace(summed, f"({' + '.join(k_th.replace('_k', f'_{k}') for k in (1, 2, 3))})")
    assert value(formula, names) == variance(entries)
    pairs = [term(statement, "Batches"), term(statement, "Batches", number=1)]
    assert mean([variance(list(pair)) for pair in pairs]) == term(statement, "the average variance")
    assert variance([x for pair in pairs for x in pair]) == value(found(statement, r"while \$Q = (\d)\$")[0])
    statement.says("is less than $Q$ unless all batch means are equal")


@reads("bn-bounded")
def bounded_in_training(statement):
    trained, over_features = found(statement, r"satisfies \$([^$]*)\$, whatever.*satisfies \$([^$]*)\$ in both")
    row, eps = (0, 0, 0, 1), R(1, 10**12)
    y = -3 * core(row, eps)[3] - 2
    names = {"y": y, "n": 4, "d": 4, r"\gamma": -3, r"\beta": -2}
    assert chain_holds(trained, names)
    names |= {"y": Matrix([y] * 4), r"\gamma": Matrix([-3] * 4), r"\beta": Matrix([-2] * 4), "i": 4}
    assert chain_holds(over_features, names)
    assert conditions(part(statement, "| Let $", ". In training"), EPS | {"n": 2, r"\gamma": 1})
    assert not chain_holds(statement.tex("| Let", 1), {"n": 1})
    assert not chain_holds(statement.tex("| Let", 2), {r"\gamma": 0})
    assert conditions(part(statement, "over $d", "coordinates"), {"d": 2})
    assert conditions(part(statement, "in both, where"), {r"\gamma": Matrix([1, 2]), "i": 1})
    statement.says("every output", "$y$ takes every real value")


@reads("bn-recurrence")
def a_recurrence_under_each_normalization(statement):
    gain, bias = Matrix([1, -3, 2]), Matrix([1, 0, 2])
    h = gain.multiply_elementwise(core((0, 90, 1), R(1, 9))) + bias
    names = {"h_t": h, "d": 3, r"\gamma": gain, r"\beta": bias}
    assert chain_holds(found(statement, r"not all gains \$0\$, \$([^$]*)\$ for")[0], names)
    a, b, start = (int(x) for x in found(statement, r"For \$a = (\d)\$, \$b = (\d)\$ and \$h_0 = (\d)\$"))
    states = [start]
    for _ in range(10):
        states.append(a * states[-1] + b)
    assert holds(statement, 1, {"h_{10}": states[10]}, start="and $h_0 = 0$, $", end=". In training")
    for t in (1, 3):
        names = {"a": R(2), "b": R(1), "t": t, "h_0": R(5)}
        states = [R(5)]
        for _ in range(3):
            states.append(2 * states[-1] + 1)
        names |= {"h_t": states[t], "h_{t-1}": states[t - 1]}
        assert chain_holds(statement.tex("one unit the step is"), names)
        assert chain_holds(statement.tex("so that"), names)
        assert chain_holds(statement.tex("so that", 1), names)
    assert not chain_holds(statement.tex("so that", 1), {"a": 1})
    assert conditions(part(statement, "over $d", "units"), {"d": 2})
    assert chain_holds(statement.tex("a single sequence is left ("), {"N": 1, "S": 1})
    assert holds(statement, 1, EPS, start="units, $", end=" and not")
    statement.says("not all gains $0$", "for every matrix $A$, every start and every $t$", "whatever the state")


@reads("gn-pixels")
def one_group_against_pixel_by_pixel(statement):
    places = [(1, 2, 6), (0, 4, -1)]
    entries = [x for place in places for x in place]
    together = core(entries, R(1, 2))
    for s, place in enumerate(places):
        names = {"q_s": variance(place), "u_s": core(place, R(1, 2)), r"\mu_s": mean(place), r"\mu": mean(entries)}
        names |= {"q": variance(entries), r"\varepsilon": R(1, 2), r"\mathbf{1}": sympy.ones(3, 1)}
        assert close(term(statement, "Its core at the place $s$ is", names), together[3 * s : 3 * s + 3, :])
    assert variance(entries) == mean([variance(p) for p in places]) + variance([mean(p) for p in places])
    same = [(1, 2, 6), (2, 6, 1)]
    assert close(core([*same[0], *same[1]], 1)[:3, :], core(same[0], 1))
    assert holds(statement, 1, EPS, end="At the place")
    statement.says(
        "the mean of the $q_s$ plus the variance of the $\\mu_s$", "if and only if all $\\mu_s$ are equal and all"
    )


@reads("gn-pooling")
def pooling_after_normalization(statement):
    image = [(1, 2, 9), (4, 0, 5)]
    assert all(mean(list(core(channel, 1))) == 0 for channel in image)
    together = core([*image[0], *image[1]], 1)
    assert close(mean(list(together[:3])) + mean(list(together[3:])), term(statement, "each group add up to"))
    assert mean(list(together[:3])) != 0
    statement.says("returns $\\beta_c$ in every channel, for every image", "those of all channels")
    statement.says("the mean of a pooled channel over the batch is $\\beta_c$")

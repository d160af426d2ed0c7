"""Readings of the statements on production: padding, counts, ranks, frozen roots, codes, roots, the backward pass."""

import re

import numpy as np
import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, given, holds, layer, part, same, term, value

R = Rational
PAIR = (1, 3)


def core(z, eps):
    return layer(z, eps)["u"]


def moments(entries):
    mean = sum(entries, R(0)) / len(entries)
    return len(entries), mean, sum(((entry - mean) ** 2 for entry in entries), R(0))


def variance(entries):
    n, _, squares = moments(entries)
    return squares / n


def numbers(statement, pattern):
    """The numbers in the groups of a pattern that the text must hold."""
    found = re.search(pattern, statement.text)
    assert found, f"{statement.label} no longer says {pattern!r}"
    return [value(group) for group in found.groups()]


# Padding and masks


@reads("prod-rows")
def a_row_of_equal_numbers(statement):
    names = layer((3, 3, 3), R(1, 4), (2, 1, -1), (1, 0, 5), g=Matrix([1, 0, 2]))
    names[r"\hat g"] = names[r"\gamma"].multiply_elementwise(names["g"])
    names["dz"] = names["J"] * names[r"\hat g"]
    assert holds(statement, 3, names, start="A row of equal", end="If the loss")
    assert names["y"] == term(statement, "has the output", names) == names[r"\beta"]
    u = names["u"]
    assert close(names["g"].multiply_elementwise(u), term(statement, "it adds"))
    assert close(names["g"], term(statement, r"to $d\gamma$ and", names))
    assert holds(statement, 1, layer((1, 2), 1, g=0), start="leaves the row out")
    assert term(statement, "the row adds") == 0
    statement.says("depend on no other row", "to all three")


@reads("prod-padding")
def zeros_in_the_row(statement):
    for real, zeros in ((PAIR, 6), ((1, 2, 6), 1), ((-2, 5), 2)):
        k, n, eps = len(real), len(real) + zeros, R(1, 3)
        padded = layer((*real, *[0] * zeros), eps)
        names = {"k": k, "n": n, r"\varepsilon": eps, "q": variance(real), r"\mu": sum(real) / R(k)}
        names |= {r"\tilde\mu": padded[r"\mu"], r"\tilde q": padded["q"], "z": Matrix(real), "i": 2}
        assert holds(statement, 4, names, end="In the core")
        assert same(padded["u"][1], term(statement, "a real entry", names, number=1))
        assert same(padded["u"][k], term(statement, "and a zero becomes", names))
        assert holds(statement, 2, names, start="For $k", end="the real entries get")
        assert [int(digit) for digit in re.findall(r"all of them are \$(\d)\$", statement.text)] == [0]
    centred = (-3, 3)
    for eps, zeros in ((0, 2), (R(1, 3), 5)):
        padded = layer((*centred, *[0] * zeros), eps)
        names = {"k": 2, "n": 2 + zeros, r"\varepsilon": eps, "q": 9, r"\mu": R(0), r"\tilde q": padded["q"]}
        factor = term(statement, "they get it times", names)
        assert close(factor * core(centred, eps), padded["u"][:2, :])
        low, high = (term(statement, words, names) for words in ("of at least", "at most"))
        assert low <= factor <= high
        assert (factor == high) == (eps == 0)
        assert chain_holds(statement.tex("If", 0), names)
    assert low == 1
    statement.says("if and only if all of them are")


@reads("prod-masked")
def statistics_under_a_mask(statement):
    z, mask, eps = (1, 7, 3, -4), (1, 0, 1, 0), R(3)
    real = [entry for entry, m in zip(z, mask, strict=True) if m]
    k, n = len(real), len(z)
    mu, q = sum(real) / R(k), variance(real)
    text = statement.text.replace(r"\sum_{i=1}^n", r"\sum_i")
    names = {"d": n, "z": Matrix(z), "m": Matrix(mask), "k": k, "n": n, r"\mu": mu, "q": q, r"\varepsilon": eps}
    for formula, wanted in ((r"\\mu = (.*?) ,", mu), (r" q = (.*?) , \\qquad u", q)):
        assert same(value(re.search(formula, text)[1], names), wanted)
    u = [value(re.search(r"u_i = (.*?) \.", text)[1], names | {"i": i}) for i in range(1, n + 1)]
    masked = [0 if not m else core(real, eps)[real.index(entry)] for entry, m in zip(z, mask, strict=True)]
    assert same(Matrix(u), Matrix(masked))
    zeroed = [entry * m for entry, m in zip(z, mask, strict=True)]
    names |= {r"\tilde\mu": sum(zeroed) / R(n), r"\tilde q": variance(zeroed)}
    assert holds(statement, 2, names, start="it can be had as")
    assert numbers(statement, r"\$m_i\$ be \$(\d)\$ at \$k \\ge (\d)\$ real entries and \$(\d)\$") == [1, 1, 0]
    assert [
        int(d) for d in re.findall(r"at the others it is \$(\d)\$|with \$m_i = (\d)\$", statement.text)[0] if d
    ] == [0]
    assert numbers(statement, r"entries with \$m_i = (\d)\$") == [0]
    statement.says("is the core of these entries alone", "does not depend on", "no gradient goes to them")


@reads("prod-lengths")
def a_row_repeated(statement):
    for times in (1, 3):
        assert core(PAIR * times, 3) == Matrix(list(core(PAIR, 3)) * times)
    statement.says(
        "every number of entries", "repeated $r$ times is the core repeated $r$ times", "fixes the number of places"
    )
    statement.says("whose place $i$ is real, and nothing from the others", "over all real places", "fits every length")
    g, u = Matrix([2, 5]), Matrix([3, -1])
    assert term(statement, "receives", {"d": 2, "g": g, "u": u, r"\sum": 1, "i": 2}) == g[1] * u[1]


# Counts


@reads("prod-parameters")
def the_parameters_of_gpt2(statement):
    sizes = {"L": 12, "d": 768, "V": 50257, "T": 1024}
    for name, size in sizes.items():
        assert given(statement, name) == size
    L, d, V, T = sizes.values()
    attention, feed_forward = (3 * d * d + 3 * d) + (d * d + d), (4 * d * d + 4 * d) + (4 * d * d + d)
    total = V * d + T * d + L * (attention + feed_forward + 4 * d) + 2 * d
    assert term(statement, "coordinates has", sizes) == 2 * d
    assert term(statement, "places has", sizes) == 2 * L + 1 == term(statement, "these are")
    assert term(statement, "they hold", sizes) == 2 * d * (2 * L + 1) == term(statement, "layers with")
    assert term(statement, "of its", sizes) == total == term(statement, "layers with", number=1)
    assert term(statement, "parameters,") == R(31, 1000)
    assert abs(R(100 * 2 * d * (2 * L + 1), total) - R(31, 1000)) < R(1, 2000)


@reads("prod-operations")
def the_operations_of_one_row(statement):
    for d in (1, 2, 9):
        names = {"d": d}
        mean = {"add": d - 1, "over": 1}
        forward = {"add": mean["add"] + d + mean["add"] + 1 + d, "times": 3 * d, "over": 2 * mean["over"] + 1}
        assert term(statement, "of one row takes", names) == forward["add"]
        assert term(statement, "of one row takes", names, number=1) == forward["times"]
        assert term(statement, "of one row takes", names, number=2) == forward["over"]
        assert term(statement, "of one row takes", names, number=3) == 1
        assert term(statement, "root:", names) == sum(forward.values()) + 1
        back = {"add": d + 2 * mean["add"] + 2 * d, "times": 5 * d, "over": 2}
        after = r"$r$ takes"
        assert [term(statement, after, names, number=i) for i in range(3)] == list(back.values())
        assert term(statement, "divisions,", names) == sum(back.values())
        assert term(statement, "for $dz$, and", names) == 3 * d


@reads("prod-intensity")
def operations_for_each_byte(statement):
    for N, d, s in ((3, 5, 2), (4, 4, 4)):
        names = {"N": N, "d": d, "s": s}
        moved = 2 * N * d * s
        assert term(statement, "write the output,", names) == moved
        assert chain_holds(statement.tex("does at most"), names)
        first = value(statement.tex("does at most").split("=")[0], names)
        assert first == R(N * (7 * d + 3), moved)
        product = sum(d + (d - 1) for _ in range(N * d))
        assert term(statement, "reads and writes", names) == (N * d + N * d + d * d) * s
        assert term(statement, "bytes at least and does", names) == product
        if d == N:
            assert chain_holds(statement.tex("operations; at"), names)
            assert term(statement, "operations; at", names, number=1) == R(product, 3 * d * d * s)
    d, s = given(statement, "d"), given(statement, "s")
    assert (d, s) == (768, 2)
    low, high = term(statement, "the layer does less than"), term(statement, "the product more than")
    assert R(7 * d + 3, 2 * d * s) < low < R(7 * d + 3, 2 * d * s) + R(1, 100)
    assert high < R(2 * d - 1, 3 * s) < high + 1
    statement.says("must read the input and write the output", "whatever $N$ is")


@reads("prod-kept")
def the_bytes_that_are_kept(statement):
    d, s = given(statement, "d"), given(statement, "s")
    single = np.dtype(np.float32).itemsize
    assert term(statement, r"$\mu$ and $r$ in") == single == term(statement, "beside it,")
    assert term(statement, "a position takes", {"d": d, "s": s}) == d * s + 2 * single == term(statement, "these are")
    percent = R(re.search(r"less than \$([\d.]+)\$ percent", statement.text)[1])
    assert percent - R(1, 10) < R(100 * 2 * single, d * s + 2 * single) < percent
    assert term(statement, "of a block keep", {"N": 5, "d": d}) == 2 * 5 * (2 * d + 2 * single)
    assert term(statement, "positions in") == 2 == s
    assert term(statement, "as long as no gain is") == 0
    assert (d, s) == (768, 2)
    statement.says("no more than $r$")


# Ranks and shards


def parts_of(a, b):
    (n_a, mu_a, m_a), (n_b, mu_b, m_b) = moments(a), moments(b)
    n, mu, m = moments([*a, *b])
    names = {"n": n, "n_a": n_a, "n_b": n_b, r"\mu_a": mu_a, r"\mu_b": mu_b, "M_a": m_a, "M_b": m_b}
    return names | {r"\mu": mu, "M": m, r"\delta": mu_b - mu_a, "q": m / n}


@reads("merge-moments")
def two_parts_are_merged(statement):
    for a, b in (([1, 3], [0] * 6), ([2], [5, 7, -1]), ([4, 4], [9])):
        names = parts_of(a, b)
        assert holds(statement, 5, names, start="If $a$", end="Parts may")
        assert chain_holds(statement.tex("so that"), names)
    whole = Matrix([1, 3, 0])
    names = {"z": whole, r"\mu": R(4, 3), "d": 3, "M": moments(list(whole))[2]}
    assert chain_holds(statement.tex("the mean $\\mu$ let"), names)
    assert holds(statement, 2, parts_of([1, 2], [9]), start="With $n_b")
    assert term(statement, "no term of $M$ is below") == 0
    statement.says("in any order and grouping", "Welford's recurrence")


@reads("merge-shards")
def the_variance_of_shards(statement):
    for shards in ([[1, 3], [0, 8]], [[1], [2, 4, 9], [0, 5]]):
        row = [entry for shard in shards for entry in shard]
        sizes = Matrix([len(shard) for shard in shards])
        names = {"d": len(shards), "n_j": None, r"\mu": moments(row)[1], "n": len(row)}
        text = part(statement, "Then").replace(r"\sum_{j=1}^K", r"\sum_j")
        left, right = text.split("$$")[1].split("=", 1)
        assert left.strip() == "q"
        total = R(0)
        for j, shard in enumerate(shards):
            own = {"n_j": sizes[j], "q_j": variance(shard), r"\mu_j": moments(shard)[1]}
            total += value(right.replace(r"\sum_j", "").strip(" ."), names | own)
        assert total == variance(row)
    equal = [[1, 3], [0, 8]]
    means, variances = [moments(s)[1] for s in equal], [variance(s) for s in equal]
    assert variance([1, 3, 0, 8]) == sum(variances) / 2 + variance(means)
    statement.says("is the mean of their variances plus the variance of their means", "do not occur")


@reads("merge-local")
def what_a_shard_knows(statement):
    for shards in ([[1, 3], [0, 4]], [[1, 3], [1, 3]], [[0, 2], [5, 7]], [[2, 2], [1, 3]]):
        row = [*shards[0], *shards[1]]
        averaged = (variance(shards[0]) + variance(shards[1])) / 2
        same_means = moments(shards[0])[1] == moments(shards[1])[1]
        assert averaged <= variance(row)
        assert (averaged == variance(row)) == same_means
        agree = Matrix([*core(shards[0], 1), *core(shards[1], 1)]) == core(row, 1)
        assert agree == (same_means and variance(shards[0]) == variance(shards[1]))
    statement.says(
        "their variances is at most $q$", "if and only if all their means are equal", "is group normalization"
    )
    statement.says("if and only if all shards have the same mean and the same variance", r"At $\varepsilon > 0$")


@reads("prod-partial-sums")
def a_sum_of_two_rows(statement):
    x, choices = given(statement, "x"), [given(statement, "y", number) for number in (0, 1)]
    assert choices[0] == x == -choices[1]
    for y, number in zip(choices, (0, 2), strict=True):
        names = {"x": x, "y": y, "z": x + y, "P": layer(x, 1)["P"], r"\mu": lambda v: sum(v) / R(len(v))}
        names |= {"q": lambda v: variance(list(v)), r"\operatorname{mean}": lambda v: sum(v) / R(len(v))}
        assert holds(statement, 3, names, end="No function")
        assert sum(y) == term(statement, "have the mean")
        assert variance(list(y)) == term(statement, "and the variance")
        assert variance(list(x + y)) == term(statement, "$q(z)$ is", number=number // 2)
    statement.says("No function of the means and variances")


@reads("prod-ranks")
def the_formulas_of_a_rank(statement):
    z, eps = (1, 2, 4, 9), R(1, 3)
    names = layer(z, eps, (2, 1, -1, 3), g=Matrix([1, 0, 2, -1]), r=1 / sqrt(variance(z) + eps))
    weighted = names[r"\gamma"].multiply_elementwise(names["g"])
    names |= {r"\hat g": weighted, "S": sum(weighted), "T": weighted.dot(names["u"])}
    dz = names["J"] * weighted
    for i in range(1, 5):
        here = names | {"i": i}
        right = part(statement, "each rank has").split("$$")[1]
        terms = [piece.split("=")[1] for piece in right.split(r"\qquad")]
        assert same(value(terms[0].strip(" ,"), here), dz[i - 1])
        assert same(value(terms[1].strip(" ,"), here), names["g"][i - 1] * names["u"][i - 1])
        assert same(value(terms[2].strip(" ,"), here), names["g"][i - 1])
    assert same(value(r"\hat g_i u_i", names | {"i": 2}), weighted[1] * names["u"][1])
    statement.says("needs two numbers of each rank and position", "needs two sums of each rank and position")
    statement.says("nothing else is exchanged", "need no exchange", "are the sums of what the ranks have")


@reads("prod-rank-mean")
def one_token_and_three(statement):
    sizes = [given(statement, f"N_{j}") for j in (1, 2)]
    gradients = [given(statement, f"D_{j}") for j in (1, 2)]
    right = value(statement.tex("the loss is").split("=")[1].replace(r"\sum_j", ""), {"N_j": 3, "N": 4, "D_j": 8})
    assert right == 6
    true = sum(n * g for n, g in zip(sizes, gradients, strict=True)) / R(sum(sizes))
    assert true == term(statement, "the gradient is")
    assert sum(gradients) / R(2) == term(statement, "of the two is")
    assert (sizes, gradients) == ([1, 3], [4, 0])
    statement.says("for all $D_j$ if and only if all $N_j$ are equal", r"$N_j \ge 1$")


@reads("prod-sums-of-squares")
def two_ranks_in_float32(statement):
    shard = list(term(statement, "holds the entries"))
    n, mu, m = moments(shard)
    assert given(statement, r"\mu_j") == mu
    assert given(statement, "M_j") == m
    assert given(statement, "M") == 2 * m
    assert given(statement, "q") == 2 * m / (2 * n) == variance(shard * 2)
    squares = 2 * sum(entry**2 for entry in shard)
    assert term(statement, "are exact as well,") == 2 * sum(shard)
    assert term(statement, "of the entries and") == squares
    assert term(statement, "so is the mean square") == squares / 4
    assert all(int(np.float32(int(x))) == x for x in (2 * sum(shard), squares, squares / 4))
    assert given(statement, r"\mu^2") == mu**2
    stored = int(np.float32(int(mu**2)))
    assert term(statement, "it becomes") == stored != mu**2
    assert squares / 4 - stored == term(statement, "and the variance")
    statement.says("is no float32")


# Frozen


@reads("prod-frozen-root")
def a_frozen_root(statement):
    A, c = Matrix([[1, 0, 2], [0, 3, -1]]), Matrix([1, -1])
    for z, eps, sigma in (((1, 2, 6), R(1, 3), R(2)), ((0, 0, 1), 0, R(1, 5))):
        names = layer(z, eps, (2, 1, -1), (1, 0, 5), A=A, c=c)
        names |= {r"\sigma": sigma, r"\tilde u": names["v"] / sigma}
        names[r"\operatorname{diag}"] = lambda v: sympy.diag(*v)
        assert holds(statement, 1, names, start="The core becomes", end="which has")
        assert holds(statement, 1, names, start="differs from it by", end="The layer and")
        assert holds(statement, 1, names, start="one affine map")
        assert holds(statement, 1, names, end="for all inputs")


@reads("prod-best-root")
def the_root_with_the_least_error(statement):
    t = sympy.Symbol("t", positive=True)
    for q, eps in (((1, 9), R(1, 4)), ((0, 2, 5), 3)):
        above, below = re.search(r"\\sigma = \\frac\{(.*?)\}\{(.*?)\} \.", statement.text).groups()
        totals = []
        for text in (above, below):
            each = [value(text.replace(r"\sum_j", ""), {"q_j": one, r"\varepsilon": eps}) for one in q]
            totals.append(sum(each))
        best = totals[0] / totals[1]
        loss = sum(one * (t - 1 / sqrt(one + eps)) ** 2 for one in q)
        assert close(loss.diff(t).subs(t, 1 / best), 0)
        assert sqrt(min(q) + eps) <= best <= sqrt(max(q) + eps)
    rows = [term(statement, "of the variances", number=number) for number in (0, 1)]
    assert rows == [1, 9]
    limit = sum(rows) / sum(sqrt(q) for q in rows)
    assert limit == value(re.search(r"the best \$\\sigma = (.*?)\$", statement.text)[1])
    assert sum(sqrt(q) for q in rows) / 2 == term(statement, "the mean of the roots would be")
    assert holds(statement, 1, {r"\varepsilon": 1}, start="the cores", end="the sum of")
    assert re.search(r"not all \$(\d)\$", statement.text)[1] == "0"
    statement.says("is least at", "between the smallest and the largest root")


@reads("prod-frozen-parameters")
def what_stays_when_the_parameters_are_frozen(statement):
    for gain in ((0, 0), (0, 2)):
        outputs = [layer((k, 0), 1, gain, (1, 5))["y"] for k in (0, 1, 2)]
        affine = close(outputs[0] + outputs[2], 2 * outputs[1])
        assert affine == (chain_holds(statement.tex("is affine if and only if"), {r"\gamma": Matrix(gain)}) is True)
    names = layer((1, 2), 1, (0, 2), g=Matrix([1, 3]), i=2)
    names["dz"] = names["J"] * names[r"\gamma"].multiply_elementwise(names["g"])
    assert chain_holds(statement.tex("The gradient"), names | {"J": lambda v: layer((1, 2), 1)["J"] * v})
    assert chain_holds(statement.tex("with", 0), names)
    assert chain_holds(re.search(r"\$(d [^$]*)\$", statement.text)[1], {"d": 2})
    assert chain_holds(re.search(r"\$(d [^$]*)\$", statement.text)[1], {"d": 1}) is False
    assert holds(statement, 1, {r"\varepsilon": 1}, start="and $\\varepsilon", end="An output")
    statement.says("is no affine function", "does not depend on whether", "the same function in training and in use")


# Eight bits


def codes(x):
    scale = max(abs(entry) for entry in x) / R(127)
    return [round(sympy.nsimplify(sympy.simplify(entry / scale))) for entry in x]


@reads("prod-codes")
def the_codes_of_a_row(statement):
    x = Matrix([-3, 5, 0])
    scale = value(re.search(r"\\Delta = (.*?)\$", statement.text)[1], {"x": x, "d": 3})
    assert scale == R(5, 127)
    assert value(r"x_i/\Delta", {"x": x, r"\Delta": scale, "i": 2}) == 127
    assert re.search(r"row \$x \\ne (\d)\$", statement.text)[1] == "0"
    statement.says("the even one of two", "$\\Delta$ times the code")


@reads("prod-int8")
def the_codes_of_the_core(statement):
    for eps in (0, 3, 100):
        names = layer((1, 2, 4, 9), eps)
        assert codes(list(names["u"])) == codes(list(names["v"]))
        assert chain_holds(statement.tex("for every"), names)
        step = max(abs(entry) for entry in names["u"]) / 127
        bound = term(statement, "differs from it by at most", names)
        assert all(abs(step * code - u) <= bound for code, u in zip(codes(list(names["u"])), names["u"], strict=True))
        assert close(bound, sqrt(len(names["u"]) - 1) / 127 / 2)
    bound = term(statement, "differs from it by at most", {"d": given(statement, "d")})
    assert close(bound, term(statement, "in each entry,"), R(1, 2000))
    assert re.search(r"Let \$v \\ne (\d)\$", statement.text)[1] == "0"
    assert given(statement, "d") == 768
    statement.says("has the codes of $v$", "do not change if $z$ is scaled by a positive number or shifted")


@reads("prod-outlier")
def what_an_outlier_does(statement):
    others = (1, 2, 3, 4)
    m, s2 = R(5, 2), variance(others)
    for t in (R(20), R(-300)):
        d, eps = 5, R(1, 3)
        names = layer((m + t, *others), eps, t=t, m=m, s=sqrt(s2), i=2, j=5)
        assert holds(statement, 1, names, start="The row has the variance", end="the variance of the others")
        assert same(variance(list(names["u"][1:])), term(statement, "in the core is", names))
        apart = term(statement, "$z_j$, lie", names)
        step = max(abs(entry) for entry in names["u"]) / 127
        assert same(apart, abs(names["u"][1] - names["u"][4]) / step)
    far = layer((R(10) ** 9, *others), 0)
    got = set(codes(list(far["v"]))[1:])
    at = R(re.search(r"\\mp(\d+)/", statement.text)[1]) / (d - 1)
    assert len(got) <= 2
    assert all(abs(code + at) <= 1 for code in got)
    assert re.search(r"\\mp127/\(d - (\d)\)", statement.text)[1] == "1"
    assert chain_holds(re.search(r"Let \$(d[^$]*)\$", statement.text)[1], {"d": 3})
    assert chain_holds(re.search(r"Let \$(d[^$]*)\$", statement.text)[1], {"d": 2}) is False
    assert term(statement, "that tends to") == 0
    statement.says("at most two different codes", "the largest of the row")


# Roots, rounding, epsilon


@reads("prod-root")
def an_error_of_the_root(statement):
    for rho in (R(1, 10), R(-1, 2)):
        names = layer((1, 2, 6), R(1, 3), (2, 1, -1), (1, 0, 5), **{r"\rho": rho})
        names["r"] = 1 / sqrt(names["q"] + R(1, 3))
        wrong = (1 + rho) * names["r"]
        assert same(term(statement, "a kernel use", names), wrong)
        assert chain_holds(statement.tex("with"), names)
        assert chain_holds(statement.tex("in place of"), names)
        assert same(term(statement, "It returns", names), wrong * names["v"])
        output = names[r"\gamma"].multiply_elementwise(wrong * names["v"]) + names[r"\beta"]
        assert same(term(statement, "for the core and", names), output)
        assert same(term(statement, "the relative error", names), abs(rho))
        other = value(statement.tex("It is the layer with").split("=")[1], names)
        assert same(wrong, 1 / sqrt(names["q"] + other))
    assert chain_holds(statement.tex("with"), {r"\rho": -1}) is False
    assert term(statement, "the mean of the core stays") == 0
    statement.says("its direction stays")


@reads("prod-newton")
def one_step(statement):
    x = R(2, 3)
    for rho in (R(1, 256), R(-1, 3), 1, -3):
        r = 1 / sqrt(x)
        names = {"x": x, r"\rho": rho, "r": r, r"\tilde r": (1 + rho) * r}
        names["r'"] = names[r"\tilde r"] * (3 - x * names[r"\tilde r"] ** 2) / 2
        assert holds(statement, 2, names, start="From an estimate", end="makes a value")
        error = names["r'"] / r - 1
        assert error <= 0
        assert chain_holds(statement.tex("for every"), names)
        if abs(rho) <= 1:
            assert abs(error) <= term(statement, "relative error of at most", names)
            assert chain_holds(statement.tex("at most $2\\rho^2$ for"), names)
    assert chain_holds(statement.tex("for every"), {r"\rho": R(-31, 10)}) is False
    start = value(re.search(r"From \$\\lvert\\rho\\rvert \\le (.*?)\$", statement.text)[1])
    once = start**2 * (3 + start) / 2
    twice = once**2 * (3 + once) / 2
    for error, words in ((once, "it is below"), (twice, "after one step and below")):
        bound = term(statement, words)
        assert R(95, 100) * bound < error < bound
    assert holds(statement, 2, {"x": x, "q": R(1, 3), r"\varepsilon": R(1, 3), "r": 1 / sqrt(x)}, end="From an")


def bfloat16(x):
    step = R(1, 2**20)
    while abs(x) >= 256 * step:
        step *= 2
    return round(x / step) * step


@reads("prod-round-once")
def rounding_the_core_first(statement):
    eps, z = given(statement, r"\varepsilon"), given(statement, "z")
    gain, bias = given(statement, r"\gamma"), given(statement, r"\beta")
    names = layer(z, eps, gain, bias)
    first, _, after = statement.tex("the core of", 1).partition("(")
    assert same(value(first) * value("(" + after), names["u"])
    assert names["y"][1] == term(statement, "the second output is")
    rounded = bfloat16(names["y"][1])
    assert rounded == term(statement, "at the end, it is")
    assert abs(rounded / names["y"][1] - 1) < term(statement, "within") / 100
    assert bfloat16(names["u"][1]) == term(statement, "it becomes")
    assert gain[1] * bfloat16(names["u"][1]) + bias[1] == term(statement, "and the output")


@reads("prod-eps-carried")
def an_epsilon_carried_by_the_input(statement):
    for needed, fixed in ((1, 9), (R(1, 4), R(1, 9))):
        names = layer((1, 2, 6), needed) | {r"\varepsilon'": fixed, r"\alpha": sqrt(fixed / sympy.S(needed))}
        assert chain_holds(statement.tex("With"), names)
        right = statement.tex("With", 2)
        assert right == r"u_{\varepsilon'}(\alpha z) = u_\varepsilon(z)"
        assert same(core(names[r"\alpha"] * names["z"], fixed), core(names["z"], needed))
        assert not same(core(2 * names[r"\alpha"] * names["z"], fixed), core(names["z"], needed))
    small = {r"\varepsilon": value(statement.tex("does. For").split("=")[1])}
    small[r"\varepsilon'"] = value(statement.tex("does. For", 1).split("=")[1])
    assert sqrt(small[r"\varepsilon'"] / small[r"\varepsilon"]) == given(statement, r"\alpha", 1)
    assert small[r"\varepsilon"] == R(1, 10**12)
    assert holds(statement, 1, {r"\varepsilon": 1}, start="needs", end="With")
    statement.says("for every $z$", r"for $d \ge 2$ no other positive factor does")


@reads("prod-order")
def two_orders(statement):
    row = [np.float32(int(entry)) for entry in term(statement, "the sum of")]
    left, right = (row[0] + row[1]) + row[2], row[0] + (row[1] + row[2])
    assert int(left) == term(statement, "the sum of", number=1) == 2**24
    assert int(right) == term(statement, "from the left and")
    assert (int(right) - int(left)) / R(3) == term(statement, "differ by")
    statement.says("In float32", "from the right")


# The backward pass


@reads("prod-double-backward")
def the_gradient_of_the_vjp(statement):
    x = sympy.symbols("z1:4", real=True)
    for z, eps, w, h in (((1, 2, 4), R(1, 3), (2, 0, -1), (0, 3, 1)), ((0, 5, 1), 2, (1, 1, 3), (2, -1, 0))):
        names = layer(z, eps, (2, 3, 5), g=Matrix(w), h=Matrix(h), r=1 / sqrt(variance(z) + eps))
        weighted = names[r"\gamma"].multiply_elementwise(names["g"])
        names |= {r"\hat g": weighted, r"\operatorname{mean}": lambda v: sum(v) / R(len(v))}
        for name in "abc":
            text = next(piece for piece in re.findall(r"\$([^$]*)\$", statement.text) if piece.startswith(f"{name} ="))
            names[name] = value(text.split("=")[1], names)
        J = core(x, eps).jacobian(Matrix(x))
        s = (names["h"].T * J * weighted)[0]
        at = dict(zip(x, z, strict=True))
        formulas = part(statement, "are").split("$$")[1].split(r"\qquad")
        by_z, by_g, by_gain = (value(text.strip(" ,."), names) for text in formulas)
        assert close(by_z, Matrix([s.diff(symbol) for symbol in x]).subs(at))
        back = names["J"] * names["h"]
        assert close(by_g, names[r"\gamma"].multiply_elementwise(back))
        assert close(by_gain, names["g"].multiply_elementwise(back))
        assert chain_holds(statement.tex(r"in place of $\hat g$:"), names)
        assert chain_holds(statement.tex("by $dz$, and let"), names)
    statement.says("by $z$, $g$ and $\\gamma$ are", "is the second derivative")


@reads("prod-per-sample")
def per_sample_gradients(statement):
    g = Matrix([1, -2, 3])
    for eps in (0, R(1, 3)):
        names = layer((1, 2, 6), eps, g=g)
        both = [*g.multiply_elementwise(names["u"]), *g]
        length = sum(entry**2 for entry in both)
        assert same(length, term(statement, "of both together is", names))
        assert length < term(statement, "less than", names)
    assert term(statement, "samples they take", {"N": 5, "d": 3}) == 5 * 2 * 3
    assert term(statement, "in place of", {"d": 3}) == 6
    assert re.search(r"For \$T = (\d)\$", statement.text)[1] == "1"
    assert re.search(r"for \$g \\ne (\d)\$", statement.text)[1] == "0"
    statement.says("over the samples they add up to")

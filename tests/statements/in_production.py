"""Readings of the statements on production, the first half: padding, counts, ranks."""

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


def codes(x):
    scale = max(abs(entry) for entry in x) / R(127)
    return [round(sympy.nsimplify(sympy.simplify(entry / scale))) for entry in x]


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
    assert holds(statement, 2, names, start="they follow as")
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
        "every number of entries", "repeated $k$ times is the core repeated $k$ times", "fixes the number of places"
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

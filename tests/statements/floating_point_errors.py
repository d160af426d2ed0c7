"""Readings of the error bounds: what a small format really does to a row, beside what the statements allow."""

import re

import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, given, layer, part, parts, same, value
from statements.floating_point import mean, rounded

R = Rational
ROWS = ((1, 2, 4), (21, 22, 25), (5, -7, 9, 30), (100, 101))
P = 10
T = sympy.Symbol("T")
# The roundings that a number goes through: T + 1 in a mean, one more in a difference from it or in a square.
MEAN = T + 1
CENTRED = MEAN + 1
OF_SQUARES = MEAN + 1
CENTRED_SQUARES = OF_SQUARES + 2
ONE_PASS = OF_SQUARES + (2 * MEAN + 1) + 1


def indices(text):
    """The n of each zeta_n of a text, in turn, with T as a symbol."""
    return [value(n.strip("{}"), {"T": T}) for n in re.findall(r"\\zeta_(\{[^}]*\}|\w)", text)]


def with_zeta(text, names):
    """The text with a number in place of each zeta_n."""

    def zeta(match):
        n = value(match[1].strip("{}"), names)
        share = n * names[r"\zeta"] / (1 - n * names[r"\zeta"])
        return rf"\frac{{{share.p}}}{{{share.q}}}"

    return re.sub(r"\\zeta_(\{[^}]*\}|\w)", zeta, text.replace(r"\textstyle", ""))


def allowed(text, names):
    """An AssertionError unless each relation of a formula can be read and is true."""
    for one in parts(re.sub(r"\\q?quad", " ", with_zeta(text, names))):
        assert chain_holds(one, names), f"{one} does not hold"


def as_computed(row):
    """The names of the book for a row, and what a machine with P bits makes of it, adding in turn."""
    names = layer(row, 0, T=len(row) - 1)
    computed_mean = mean([R(entry) for entry in row], P)
    centred = Matrix([rounded(entry - computed_mean, P) for entry in row])
    names |= {r"\zeta": R(1, 2**P), r"\hat\mu": computed_mean, r"\delta": names[r"\mu"] - computed_mean}
    names |= {r"\kappa": sqrt(sum(R(entry) ** 2 for entry in row) / len(row) / names["q"]), r"\hat v": centred}
    names |= {r"\sum_i |z_i|": sum(abs(entry) for entry in names["z"]), "i": 1}
    return names | {r"\hat q": mean([rounded(entry**2, P) for entry in centred], P)}


def display(statement):
    return re.search(r"\$\$ (.*?) \$\$", statement.text)[1].rstrip(" .,")


@reads("rounding-products")
def products_of_roundings(statement):
    eta, n = R(1, 10**6), 5
    names = {r"\zeta": eta, r"\delta_i": eta, "n": n, "j": 2, "k": 3, "i": 1}
    names[r"\xi"] = (1 + eta) ** n - 1
    allowed(statement.tex("If"), names)
    allowed(statement.tex("and"), names)
    start = re.search(r"prod_\{i=(\d)\}\^\{n\} \(([^)]*)\) = ([^$]*)\$ with \$([^$]*)\$", statement.text)
    assert start[1] == "1" and same(value(start[2], names) ** n, value(start[3], names))
    allowed(start[4], names)
    assert not chain_holds(with_zeta(start[4], names | {"n": n - 1}), names)
    allowed(statement.tex("And if"), names)
    first, second = re.search(r"then \$([^$]*zeta_k\)[^$]*)\$, so that also \$([^$]*)\$", statement.text).groups()
    for relation in (first, second):
        allowed(relation, names)
        left, right = (value(side, names) for side in with_zeta(relation, names).split(r"\le"))
        assert abs(right - left) < R(1, 10**10)


@reads("mean-error")
def the_error_of_the_mean(statement):
    text = display(statement)
    for row in ROWS:
        names = as_computed(row)
        allowed(text, names)
        allowed(re.search(r"\$(\(T[^$]*)\$, the computed", statement.text)[1], names)
        changed = [(1 + R(1, 2**P)) * entry for entry in row]
        names |= {
            r"\delta_i": R(1, 2**P),
            r"\sum_i z_i (1 + \delta_i)": sum(changed),
            r"\hat\mu": sum(changed) / len(row),
        }
        allowed(statement.tex("changed a little,"), names)
        allowed(re.search(r"with \$(\|\\delta_i[^$]*)\$, and", statement.text)[1], names)
    assert set(indices(statement.text)) == {MEAN}
    allowed(statement.tex("the last where"), {"q": R(1, 9), r"\zeta": R(1)})


@reads("one-pass")
def the_error_of_one_pass(statement):
    for row in ROWS:
        names = as_computed(row)
        entries = [R(entry) for entry in row]
        names[r"\hat q"] = rounded(
            mean([rounded(entry**2, P) for entry in entries], P) - rounded(mean(entries, P) ** 2, P), P
        )
        allowed(display(statement), names)
        allowed(statement.tex("Let"), names)
        allowed(re.search(r"\$, \$([^$]*)\$ and", statement.text)[1], names)
    assert indices(display(statement)) == [ONE_PASS]
    assert value(re.search(r"\$\(([^$]*)\)\\zeta < 1\$", statement.text)[1], {"T": T}) == ONE_PASS


@reads("two-pass")
def the_errors_of_two_passes(statement):
    for row in ROWS:
        names = as_computed(row)
        names[r"\xi"] = names[r"\hat q"] / (names["q"] + names[r"\delta"] ** 2) - 1
        names |= {r"\hat v_i": names[r"\hat v"][0], "v_i": names["v"][0]}
        allowed(display(statement), names)
        allowed(re.search(r"Then \$([^$]*)\$", statement.text)[1], names)
        allowed(statement.tex("Let"), names)
        allowed(re.search(r"\$q > \d\$ and \$([^$]*)\$\. Let", statement.text)[1], names)
        of_variance = value(with_zeta(statement.tex("variance is at most"), names), names)
        assert abs(names[r"\hat q"] / names["q"] - 1) <= of_variance
        of_vector = value(statement.tex("that of the centred vector"), names)
        assert (
            of_vector.evalf() <= value(with_zeta(statement.tex("that of the centred vector", 1), names), names).evalf()
        )
    assert value(re.search(r"= ([^$]*)\$ be the computed mean", statement.text)[1], names) == names[r"\hat\mu"]
    assert (
        value(re.search(r"the computed \$(z_i[^$]*)\$", statement.text)[1], names | {"z_i": R(9)})
        == 9 - names[r"\hat\mu"]
    )
    assert indices(statement.text) == [MEAN, CENTRED_SQUARES, CENTRED_SQUARES, CENTRED_SQUARES, MEAN, CENTRED]
    assert value(re.search(r"and \$\(([^$]*)\)\\zeta < 1\$", statement.text)[1], {"T": T}) == CENTRED_SQUARES
    # (1 + xi)(1 + delta^2 / q) - 1, with delta^2 / q at most zeta_{T+1}^2 kappa^2
    a, b, kappa = sympy.symbols("a b kappa")
    terms = statement.tex("variance is at most").replace(r"\zeta_{T+4}", "a").replace(r"\zeta_{T+1}", "b")
    assert sympy.expand(value(terms, {"a": a, "b": b, r"\kappa": kappa}) - ((1 + a) * (1 + b**2 * kappa**2) - 1)) == 0


@reads("recentre-twice")
def the_error_of_centring_twice(statement):
    conditions = re.search(r"If \$([^$]*)\$, \$([^$]*)\$, \$([^$]*)\$ and \$([^$]*)\$", statement.text).groups()
    for row in ROWS:
        names = as_computed(row)
        again = mean(list(names[r"\hat v"]), P)
        twice = Matrix([rounded(entry - again, P) for entry in names[r"\hat v"]])
        names[r"\max_i |\hat v_i - v_i|"] = max(abs(entry) for entry in twice - names["v"])
        names[r"\max_i |v_i|"] = max(abs(entry) for entry in names["v"])
        for condition in conditions:
            allowed(condition, names)
        allowed(display(statement), names)
    assert indices(statement.text) == [MEAN, CENTRED_SQUARES]
    assert value(re.search(r"\$\(([^$]*)\)\\zeta < 1\$", statement.text)[1], {"T": T}) == MEAN
    unit = value(re.search(r"eta \\le ([^$]*)\$, then", statement.text)[1])
    assert 5 * unit + 4 * unit**2 <= 6 * unit and 2 * (1 + unit) ** 4 <= 4 < 2 * (1 + 2 * unit) ** 4
    factor = value(re.search(r"\\le (\d)\\,\\zeta", statement.text)[1])
    assert factor**2 == 4


@reads("affine-form")
def a_row_far_from_0(statement):
    row = given(statement, "z")
    product = re.search(r"\$\\hat r = (1 - [^=]*) = 1/", statement.text)[1]
    r, p = value(product), 24
    computed = rounded(rounded(row[1] * r, p) - rounded(sum(row) / 2 * r, p), p)
    names = layer(list(row), 1 / r**2 - 1)
    assert names["q"] == 1 and rounded(r, p) == r
    kappa = sqrt(row.dot(row) / 2)
    off = (abs(computed - names["u"][1]) * 2**p / kappa).evalf()
    least = value(re.search(r"more than \$([\d.]+)\\,", statement.text)[1])
    assert least < off < least + R(1, 100)
    assert re.search(r"with two factors \$([^$]*)\$", statement.text)[1] == r"1 + \delta"
    assert re.search(r"is off by|and yet \$\\hat u_(\d)\$", statement.text)[1] == "2"
    assert chain_holds(re.search(r"where \$([^$]*)\$ and", statement.text)[1], {r"\hat r": r})
    assert not chain_holds(re.search(r"where \$([^$]*)\$ and", statement.text)[1], {r"\hat r": -r})
    assert value(re.search(r"it gives \$([^$]*)\$", statement.text)[1], {r"\hat r": 3, "z_i": 7, r"\hat\mu": 5}) == 6


@reads("scaled-statistics")
def every_divisor_and_a_power_of_two(statement):
    below_s, twice, *rest = re.search(r"For \$(s \\le S) (< 2s)\$", statement.text).groups()
    low, high = re.search(r"the sum lies between \$([^$]*)\$ and \$(\d)\$", statement.text).groups()
    kept = re.findall(r"\$([^$]*\\le[^$]*)\$", part(statement, "for instance,", "stay"))
    assert len(kept) == 3 and not rest
    for v, eps in (((3, -1, -1, -1), R(0)), ((1, -1), R(1)), ((1, -1), R(9)), ((0, 0), R(4))):
        s = sympy.Max(*[abs(x) for x in v], sqrt(eps))
        for S in (s, s * R(199, 100)):
            names = {"s": s, "S": S, r"\varepsilon": eps, "v_i": R(v[0]), "d": len(v)}
            assert chain_holds(below_s, names) and chain_holds(f"S {twice}", names)
            assert all(chain_holds(relation, names) for relation in kept)
            total = sum(R(x) ** 2 for x in v) / S**2 / len(v) + eps / S**2
            assert value(low, names) <= total <= value(high)
    assert not chain_holds(f"S {twice}", {"s": 1, "S": R(2)})
    assert value(high) == 2
    assert value(low, {"d": 4}) == R(1, 3) / 4 * R(3, 4)
    assert chain_holds(re.search(r"for every \$([^$]*)\$ in place", statement.text)[1], {"S": R(1, 100)})
    statement.says("The formula for $u$ holds for every", "changes no digit, short of underflow")


@reads("welford")
def blocks_are_merged(statement):
    first, second = (R(1), R(5)), (R(2), R(11), R(-3))
    means = [sum(block) / len(block) for block in (first, second)]
    squares = [sum((x - m) ** 2 for x in block) for block, m in zip((first, second), means, strict=True)]
    names = {"a": len(first), "a'": len(second), "m": means[0], "m'": means[1], "M": squares[0], "M'": squares[1]}
    names["b"] = value(re.search(r"and let \$b = ([^$]*)\$\. On", statement.text)[1], names)
    both = [*first, *second]
    mean_text, square_text = re.search(r"On paper \$(m \+[^$]*)\$ and \$([^$]*)\$ belong", statement.text).groups()
    assert value(mean_text, names) == sum(both) / len(both)
    assert value(square_text, names) == sum((x - sum(both) / len(both)) ** 2 for x in both)
    assert value(re.search(r"sum of \$([^$]*)\$ over", statement.text)[1], {"z_i": 7, "m_k": 5}) == 4
    assert chain_holds("x" + re.search(r"whatever number \$([^$]*)\$", statement.text)[1], {"x": 0})
    statement.says("the mean of the first $k$ entries", "at least $M$ and at least $M'$", "never negative")


@reads("floating-ex-third")
def nothing_is_left_to_gain(statement):
    assert set(indices(statement.text)) == {MEAN}
    mean_left, deviation, kappa = re.search(
        r"at most about \$([^$]*)\$ and nearly the deviation \$([^$]*)\$, so \$\\kappa\$ is nearly \$(\d)\$",
        statement.text,
    ).groups()
    names = {r"\zeta": R(1, 2**P), "T": 3, "q": R(9)}
    left, spread = (value(with_zeta(text, names), names) for text in (mean_left, deviation))
    assert abs(sqrt(left**2 + spread**2) / spread - int(kappa)) < R(1, 1000)
    error = value(with_zeta(statement.tex("make an error of the same"), names), names)
    assert same(error, left)
    divisor = value(with_zeta(statement.tex("divides what is left by about"), names), names)
    assert divisor == spread / left > 1
    statement.says("Nothing is gained", "much larger than $\\sqrt{q}$", "at most about", "$ or more")


@reads("floating-point-wrong-two-passes-or-welford-then-it")
def digits_lost_to_the_mean(statement):
    numbers = {"three": 3, "five": 5}
    first, at, second, beyond = re.search(
        r"loses (\w+) digits at \$10\^(\d)\$ and (\w+) at \$10\^(\d)\$", statement.text
    ).groups()
    for lost, power in ((first, int(at)), (second, int(beyond))):
        z = [R(10) ** power + k for k in range(4)]
        computed = mean(z, 24)
        spacing = R(2) ** (int(sympy.floor(sympy.log(R(10) ** power, 2))) - 23)
        assert abs(computed - sum(z) / 4) <= spacing
        assert numbers[lost] == power - 1
    assert set(indices(statement.text)) == {MEAN}
    assert re.search(r"rows around \$(\d+)\$", statement.text)[1] == "2000"
    statement.says("as two passes in float32 do there, because of the mean")

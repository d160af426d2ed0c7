"""Readings of the statements on floating point: each example rounded step by step, in exact arithmetic."""

import re
from fractions import Fraction

import numpy as np
import sympy
from sympy import Matrix, Rational, sqrt

from lnbook.pages.algorithms import one_pass_variance
from statements import reads
from statements.evaluate import chain_holds, close, given, holds, layer, part, same, term, value

R = Rational
BITS = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}


def rounded(x, p):
    """x to nearest in p significant bits, ties to even, without a limit of the exponent."""
    x = Fraction(int(R(x).p), int(R(x).q))
    if x == 0:
        return sympy.S.Zero
    exponent = 0
    while abs(x) * Fraction(2) ** -exponent >= 2**p:
        exponent += 1
    while abs(x) * Fraction(2) ** -exponent < 2 ** (p - 1):
        exponent -= 1
    whole = round(x * Fraction(2) ** -exponent)
    return R(whole) * R(2) ** exponent


def mean(entries, p):
    total = sympy.S.Zero
    for entry in entries:
        total = rounded(total + entry, p)
    return rounded(total / len(entries), p)


def one_pass(entries, p):
    squares = [rounded(entry**2, p) for entry in entries]
    return rounded(mean(squares, p) - rounded(mean(entries, p) ** 2, p), p)


def pair(statement, name, p):
    return value(re.search(rf"\${name} = (\([^$]*\))\$", statement.text)[1], {"p": p})


@reads("one-pass-example")
def one_rounding_doubles_the_variance(statement):
    variance = value(re.search(r"has the variance \$(\d+)\$", statement.text)[1])
    computed = value(re.search(r"computes \$(\d+)\$: ", statement.text)[1])
    for p in (4, 8, 24):
        z = pair(statement, "z", p)
        assert layer(z, 0)["q"] == variance
        assert one_pass(list(z), p) == computed
    assert one_pass(list(pair(statement, "z", 2)), 2) != computed
    assert chain_holds(re.search(r"bits, \$(p [^$]*)\$ even", statement.text)[1], {"p": 4})
    shown = re.findall(r"\$(\(\d+, \d+\))\$ in (\w+)", statement.text)
    assert [name for _, name in shown] == ["bfloat16", "float32", "bfloat16"]
    for text, name in shown[:2]:
        assert value(text) == pair(statement, "z", BITS[name])
    row = value(shown[2][0])
    assert layer(row, 0)["q"] == value(re.search(r"whose variance is \$([^$]*)\$", statement.text)[1])
    assert one_pass(list(row), 8) == value(re.search(r"it computes \$([^$]*)\$", statement.text)[1])


@reads("two-pass-example")
def a_mean_rounded_away(statement):
    row, found, again = re.findall(r"\$(\([^$]*\))\$", statement.text)[:3]
    for p in (3, 8, 11, 24):
        z = list(value(row, {"p": p}))
        first = mean(z, p)
        assert first == term(statement, "computed mean", {"p": p})
        centred = [rounded(entry - first, p) for entry in z]
        assert Matrix(centred) == value(found)
        second = mean(centred, p)
        exact_one = [rounded(entry - second, p) for entry in centred]
        assert Matrix(exact_one) == value(again) == layer(z, 0)["v"]
    least = re.search(r"of \$(p [^$]*)\$ significant bits", statement.text)[1]
    assert [chain_holds(least, {"p": p}) for p in (1, 3)] == [False, True]
    statement.says("gives the exact one")


@reads("float-model")
def the_unit_roundoff(statement):
    for name, p in BITS.items():
        eta = value(re.search(r"\\zeta = ([^$]*)\$", statement.text)[1], {"p": p})
        if name != "bfloat16":
            assert eta == R(float(np.finfo(name).eps)) / 2
        for x in (R(1, 3), R(10, 7), 1 + eta, R(5, 9) ** 20):
            delta = rounded(x, p) / x - 1
            assert chain_holds(statement.tex(r"(1 + \delta)$ with"), {r"\delta": delta, r"\zeta": eta})
            assert same(term(statement, "exact result times", {r"\delta": delta}) * x, rounded(x, p))
    assert term(statement, "last place` of") == 1


@reads("sterbenz")
def close_numbers_subtract_exactly(statement):
    condition = re.search(r"with \$(b/2 [^$]*)\$", statement.text)[1]
    numbers = [R(n) * R(2) ** e for n in range(4, 8) for e in range(-2, 3)]
    for a in numbers:
        for b in numbers:
            near = chain_holds(condition, {"a": a, "b": b})
            assert near == (b <= 2 * a <= 4 * b)
            assert not near or rounded(a - b, 3) == a - b
    assert term(statement, "within a factor of") == 2
    statement.says("subtracts without error", "the only error in them")


@reads("input-rounding")
def a_stored_shift(statement):
    p, eps = 8, R(1, 3)
    for c in (1000, 2**8):
        for z in ((1, 2, 4), (0, 1)):
            stored = [rounded(entry + c, p) for entry in z]
            e = Matrix(stored) - Matrix(z) - c * sympy.ones(len(z), 1)
            first, second = layer(z, eps), layer(stored, eps)
            names = first | {"e": e, "c": c, "i": 1, r"\zeta": R(1, 2**p), "u'": second["u"]}
            names |= {"s": sqrt(first["q"] + eps), "s'": sqrt(second["q"] + eps)}
            display = re.search(r"\$\$ (.*?) \. \$\$", statement.text)[1]
            assert chain_holds(display, names)
            assert chain_holds(statement.tex("+ e$ with"), names)
    assert value(re.search(r"At \$c = ([^$]*)\$", statement.text)[1], {"p": p}) == c
    row = value(re.search(r"the pair \$([^$]*)\$", statement.text)[1])
    stored = [rounded(entry + c, p) for entry in row]
    assert len(set(stored)) == 1
    text = re.search(r"core \$\\pm([^$]*)\$ becomes \$(\d)\$", statement.text)
    assert same(value(text[1], {r"\varepsilon": eps}), layer(row, eps)["u"][1])
    assert close(layer(stored, eps)["u"], value(text[2]))


@reads("wrong-mean")
def a_wrong_mean_in_variance_and_core(statement):
    for delta, eps in ((R(1, 7), R(1, 3)), (-2, 0)):
        names = layer((1, 2, 4), eps, **{r"\delta": delta})
        m = value(re.search(r"\$m = ([^$]*)\$", statement.text)[1], names)
        names |= {"m": m, "w": names["z"] - m * sympy.ones(3, 1), r"\operatorname{mean}(w^2)": None}
        names[r"\operatorname{mean}(w^2)"] = sum(entry**2 for entry in names["w"]) / 3
        assert holds(statement, 4, names, start="$m =")
    statement.says("Subtract any number")


@reads("mean-error")
def how_many_additions_an_entry_takes_part_in(statement):
    in_turn = re.search(r"\$T = (d[^$]*)\$ when", statement.text)[1]
    for d in (2, 3, 8):
        assert value(in_turn, {"d": d}) == d - 1
    assert r"\lceil \log_2 d \rceil" in statement.text
    statement.says("at most $T$ additions")


@reads("welford")
def the_recurrence_of_welford(statement):
    z = [R(entry) for entry in (1, 2, 4, 9)]
    first = {name: value(text) for name, text in {"M": re.search(r"M_1 = (\d)", statement.text)[1]}.items()}
    b_text, m_text, M_text = re.search(
        r"let \$b = ([^$]*)\$, \$m_k = ([^$]*)\$ and \$M_k = ([^$]*)\$", statement.text
    ).groups()
    start = re.search(r"For \$k = (\d), \\dots, d\$", statement.text)[1]
    assert r"$m_1 = z_1$" in statement.text
    m, M = z[0], first["M"]
    for k in range(int(start), len(z) + 1):
        names = {"k": k, "z_k": z[k - 1], "m_{k-1}": m, "M_{k-1}": M}
        names["b"] = value(b_text, names)
        m = value(m_text, names)
        M = value(M_text, names | {"m_k": m})
        mu = sum(z[:k]) / k
        assert (m, M) == (mu, sum((entry - mu) ** 2 for entry in z[:k]))
    assert same(M / len(z), layer(z, 0)["q"])
    assert chain_holds(statement.tex("over them, so").replace("M_d", "M"), {"M": M, "d": 4, "q": layer(z, 0)["q"]})
    assert int(start) == 2
    statement.says("never decreases", "is never negative")


@reads("affine-form")
def the_affine_form_on_paper(statement):
    names = layer((1, 2, 4), R(1, 3), (2, -1, 5), (1, 0, 3))
    names["r"] = 1 / sqrt(names["q"] + R(1, 3))
    names["a"] = value(re.search(r"\$a = ([^$]*)\$", statement.text)[1], names)
    names["b"] = value(re.search(r"and \$b = ([^$]*)\$", statement.text)[1], names)
    assert close(value(re.search(r"output as \$([^$]*)\$", statement.text)[1], names), names["y"])
    assert re.search(r"For \$\\gamma = (\d)\$ and \$\\beta = (\d)\$", statement.text).groups() == ("1", "0")
    mu, r, z, p = R(100), R(3, 7), R(201, 2), 8
    r = rounded(r, p)
    product, shift = rounded(z * r, p), rounded(-mu * r, p)
    rho = product + shift - r * (z - mu)
    result = {
        r"\rho_i": rho,
        r"\zeta": R(1, 2**p),
        r"\hat r": r,
        "z_i": z,
        r"\hat\mu": mu,
        r"\hat u_i": rounded(product + shift, p),
    }
    result[r"\delta_i"] = result[r"\hat u_i"] / (r * (z - mu) + rho) - 1
    display = re.search(r"\$\$ (.*?) \$\$", statement.text)[1]
    for relation in re.split(r",\s*\\q?quad", display):
        assert chain_holds(relation.rstrip(" .,"), result)


@reads("square-range")
def where_squares_leave_the_range(statement):
    large = part(statement, "Numbers $a", "Numbers $0")
    powers = re.findall(r"\\ge (2\^\{\d+\})(?: \\approx ([^$]*))?\$ in (\w+)(?: and (\w+))?", large)
    tops = {"float16": 16, "float32": 128, "bfloat16": 128, "float64": 1024}
    assert [name for *_, first, second in powers for name in (first, second) if name] == list(tops)
    for power, about, *names in powers:
        for name in filter(None, names):
            assert value(power) ** 2 == R(2) ** tops[name]
        if about:
            assert close(value(power), value(about), R(10) ** 18 / 2)
    small = part(statement, "Numbers $0")
    found = re.findall(r"\\le (2\^\{-[\d.]+\}) \\approx ([\d.]+) \\cdot (10\^\{-\d+\})\$ in (\w+)", small)
    lowest = {"float16": 24, "float32": 149}
    assert [name for *_, name in found] == list(lowest)
    for power, digits, scale, name in found:
        assert value(power) ** 2 == R(2) ** -(lowest[name] + 1)
        assert close(value(power) / value(scale), R(digits), R(1, 20))
        below = np.dtype(name).type(float(value(power)) * (1 - 2**-9))
        assert float(below * below) == int(re.search(r"square \$(\d)\$", small)[1]) == 0
    assert chain_holds(re.search(r"\$(0 < a)", statement.text)[1], {"a": R(1, 9)})
    assert chain_holds(re.search(r"Numbers \$(a [^$]*)\$", large)[1], {"a": 2**8})


@reads("scaled-statistics")
def the_scaled_form(statement):
    for z, eps in (((1, 2, 4), R(1, 3)), ((0, 0, 0), 2), ((1, -1), 0)):
        names = layer(z, eps, i=1)
        scale = sympy.Max(*[abs(entry) for entry in names["v"]], sqrt(sympy.sympify(eps)))
        names |= {
            "s": scale,
            "v'": names["v"] / scale,
            r"\operatorname{mean}(v'^2)": sum(e**2 for e in names["v"]) / scale**2 / len(z),
        }
        display = re.search(r"\$\$ (.*?) \. \$\$", statement.text)[1]
        for relation in re.split(r",\s*\\qquad", display):
            assert chain_holds(relation, names)
        assert chain_holds(re.search(r"and \$(v' = [^$]*)\$", statement.text)[1], names)
        assert chain_holds(re.search(r"\$(s = [^$]*)\$", statement.text)[1], names)


@reads("eps-absorbed")
def an_absorbed_epsilon(statement):
    condition = re.search(r"and \$(0 [^$]*)\$, the computed", statement.text)[1]
    for p in (3, 8):
        for q in (R(1), R(3, 2), 1 + R(2) ** (1 - p), R(7, 4)):
            top = R(2) ** -p * q / 2
            for eps in (0, top):
                assert chain_holds(condition, {r"\varepsilon": eps, r"\zeta": R(2) ** -p, "q": q})
                assert rounded(q + eps, p) == q
            assert not chain_holds(condition, {r"\varepsilon": top * 2, r"\zeta": R(2) ** -p, "q": q})
    chain = re.search(
        r"\\varepsilon \\le (2\^\{-\d+\}) \\approx ([^$]*)\$ is stored in float16 as \$(\d)\$", statement.text
    ).groups()
    assert np.float16(float(value(chain[0]))) == int(chain[2]) == 0
    assert np.float16(float(value(chain[0])) * 1.001) > 0
    assert close(value(chain[0]), value(chain[1]), R(5, 10**9))
    assert chain_holds(statement.tex("If"), {"q": R(1, 9)})


@reads("floating-ex-seventeen")
def the_arithmetic_in_bfloat16(statement):
    z = given(statement, "z")
    squares = [term(statement, "The squares", number=n) for n in (0, 1)]
    assert squares == [entry**2 for entry in z]
    start, spacing = (
        value(re.search(r"from \$(\d+)\$ on", statement.text)[1]),
        value(re.search(r"multiples of \$(\d+)\$", statement.text)[1]),
    )
    assert rounded(start + spacing, 8) == start + spacing and rounded(start + spacing / 2, 8) == start
    tie, to = re.search(r"\$(1\d+ = [\d.]+ \\cdot \d+)\$ is a tie and goes to \$(\d+)\$", statement.text).groups()
    assert chain_holds(tie, {})
    assert value(tie.split("=")[0]) == squares[1]
    assert value(tie.split("=")[1].split(r"\cdot")[1]) == spacing
    assert rounded(squares[1], 8) == value(to)
    total, half = re.search(
        r"The sum \$([^$]*)\$ is in the format, and so is its half \$(\d+)\$", statement.text
    ).groups()
    assert chain_holds(total, {})
    assert (
        value(total.split("=")[0])
        == rounded(squares[0], 8) + value(to)
        == rounded(squares[0] + value(to), 8)
        == 2 * value(half)
    )
    mu, square, goes = re.search(r"The mean is \$(\d+)\$; \$([^$]*)\$ goes to \$(\d+)\$", statement.text).groups()
    assert value(mu) == sum(z) / 2
    assert chain_holds(square, {})
    assert value(square.split("=")[0]) == value(mu) ** 2
    assert rounded(value(mu) ** 2, 8) == value(goes)
    assert one_pass(list(z), 8) == term(statement, "The difference is")
    eps = value(re.search(r"with \$\\varepsilon = ([^$]*)\$", statement.text)[1])
    names = layer(z, eps)
    assert 300 < (names["v"].norm() / sqrt(eps) / names["u"].norm()).evalf(20) < 400


@reads("floating-ex-power")
def a_power_of_two_changes_no_digit(statement):
    for k, p in ((3, 8), (-2, 5)):
        for x in (R(1, 3), R(22, 7)):
            names = {"k": k, "x": x, r"\hat x": rounded(x, p)}
            moved = value(re.search(r"then \$([^$]*)\$ rounds", statement.text)[1], names)
            assert rounded(moved, p) == value(re.search(r"rounds to \$(2[^$]*)\$", statement.text)[1], names)
        scaled = re.findall(r"u_\{(4\^k\\varepsilon)\}\((2\^k z)\)", statement.text)
        assert len(scaled) == 2
        names = {"k": k, r"\varepsilon": R(1, 3), "z": Matrix([1, 2, 4])}
        assert all(
            close(layer(value(z, names), value(eps, names))["u"], layer((1, 2, 4), R(1, 3))["u"]) for eps, z in scaled
        )
        factors = [value(text, {"k": k}) for text in re.findall(r"\$(\d\^k)\$", statement.text)]
        assert factors == [2 ** R(k), 4 ** R(k), 2 ** R(k)]
    statement.says("by every algorithm of this page")


@reads("floating-ex-kappa")
def what_the_first_lines_promise(statement):
    mean, q = term(statement, "has the mean"), term(statement, "and the variance")
    root, decimal = re.search(r"\$\\kappa = (.*?) \\approx (\d+)\$", statement.text).groups()
    kappa = sqrt(1 + mean**2 / q)
    assert value(root) == kappa and close(kappa, value(decimal), Rational(1, 2))
    power, about = re.search(r"\\zeta = ([^$]*) \\approx ([^$]*)\$", statement.text).groups()
    eta = value(power)
    assert eta == Rational(1, 2) ** 24 and close(eta, value(about), Rational(1, 2 * 10**8))
    names = {r"\kappa": kappa, r"\zeta": eta}
    one, two = term(statement, "One pass:", names), term(statement, "Two passes:", names)
    assert close(one, term(statement, "One pass:", number=1), Rational(1, 200))
    assert close(two, term(statement, "Two passes:", number=1), Rational(1, 2 * 10**5))
    assert round(100 * one) == {"five": 5, "six": 6, "seven": 7}[re.search(r"(\w+) percent", statement.text)[1]]


@reads("floating-ex-project")
def centred_once_and_twice(statement):
    offsets = [term(statement, "around the offsets", number=number) for number in range(3)]
    rows = np.random.default_rng(1).standard_normal((20, 768))
    for offset in offsets:
        z = (float(offset) + rows).astype(np.float32)
        exact = z.astype(float) - z.astype(float).mean(axis=1, keepdims=True)
        once = z - z.mean(axis=1, keepdims=True)
        twice = once - once.mean(axis=1, keepdims=True)
        errors = [np.abs(centred - exact).max() / np.spacing(np.float32(2)) for centred in (once, twice)]
        assert errors[1] < 8 and (errors[0] > 100) == (offset >= term(statement, "passes a hundred units at"))
    statement.says("within a few units", "whatever the offset", "grows with the offset")


@reads("floating-point-wrong-a-variance-below-0-is-put")
def clamping_leaves_the_error(statement):
    row = term(statement, "On")
    assert layer(row, 0)["q"] == term(statement, "the variance", number=0)
    z = np.array([int(entry) for entry in row], np.float32)
    got = float((z * z).mean() - z.mean() ** 2)
    assert got <= term(statement, "comes out as") == 0
    assert 300 < (1 / sqrt(R(1, 10**5))).evalf() < 400
    for digit in re.findall(r"(?:below|put to|or below) \$?(\d)", statement.text):
        assert digit == "0"
    assert re.search(r"; \$(\d)\$ makes", statement.text)[1] == "0"
    statement.says("A variance below 0", "or below $0$", "is not caught at all")


@reads("floating-point-wrong-float64-settles-it")
def the_limits_of_both_formats(statement):
    for p, text in ((53, r"\\kappa \\approx ([^$]*)\$"), (24, r"instead of \$(\d+)\$")):
        limit = value(re.search(text, statement.text)[1])
        kappa = sqrt(R(2) ** p)
        assert close(limit / kappa, 1, R(1, 10))
        relation = statement.tex("the limits:")
        assert chain_holds(relation, {r"\kappa": kappa, r"\zeta": R(2) ** -p})
    near = value(re.search(r"Near \$([^$]*)\$", statement.text)[1])
    row = float(near) + np.arange(-1, 3)
    assert int(one_pass_variance(row)[0]) == value(re.search(r"computes the variance \$(\d)\$", statement.text)[1])


@reads("floating-point-wrong-inputs-in-bfloat16-cannot-need-more")
def one_coordinate_that_differs(statement):
    mu, d = R(255), 1000
    spacing = value(re.search(r"lie \$([^$]*)\$ or more", statement.text)[1], {r"\mu": mu})
    assert rounded(mu + 1, 8) == mu + 1
    assert spacing <= 1 and spacing > R(99, 100)
    difference = value(re.search(r"by \$(\\mu/\d+)\$", statement.text)[1], {r"\mu": mu})
    variance = difference**2 / d * (1 - R(1, d))
    shown = value(re.search(r"is about \$([^$]*)\$", statement.text)[1], {r"\mu": mu, "d": d})
    assert R(99, 100) < shown / variance < R(101, 100)
    statement.says("if only one of")


@reads("floating-point-wrong-an-overflow-means-that-the-input")
def a_row_of_large_numbers(statement):
    row, scale = re.search(r"\$(\([\d, ]+\)) \\cdot (10\^\{\d+\})\$", statement.text).groups()
    other = re.search(r"that of \$(\([\d, ]+\))\$", statement.text)[1]
    eps = value(re.search(r"\\varepsilon = ([^$]*)\$", statement.text)[1])
    assert close(layer(value(row) * value(scale), R(1, 10**5))["u"], layer(value(other), eps)["u"], R(1, 10**70))
    assert eps == R(1, 10**5) / value(scale) ** 2
    assert 4 * value(scale) < R(float(np.finfo(np.float32).max)) < value(scale) ** 2
    statement.says("needs no wider format")


@reads("floating-point-wrong-a-smaller-epsilon-is-more-exact")
def a_small_epsilon_in_float16(statement):
    eps = term(statement, "an epsilon of")
    assert int(np.float16(float(eps)) > 0) == term(statement, "an epsilon of", number=1) == 0
    assert eps == R(1, 10**12)
    assert float(np.float32(float(eps))) > 0

"""Readings of the conditions on the page on floating point, and of what programs make of the rows that it names."""

import re

import numpy as np
import sympy
from sympy import Matrix, Rational

from lnbook import normalize
from lnbook.pages.algorithms import core_one_pass
from statements import reads
from statements.evaluate import chain_holds, layer, part, same, term, value
from statements.floating_point import BITS, rounded

R = Rational


def conditions(statement, start, end=""):
    """The relations with a sign of order between two phrases, as TeX."""
    return re.findall(r"\$([^$]*(?:<|>|\\le|\\ge)[^$]*)\$", part(statement, start, end))


def bound_by(condition, name, last, beyond, **others):
    """Whether a condition is true of the last value of a name that it allows, and false of the next."""
    return [chain_holds(condition, {name: at, **others}) for at in (last, beyond)] == [True, False]


@reads("float-model")
def where_one_rounding_is_enough(statement):
    smallest = np.finfo(np.float16).smallest_normal
    least = term(statement, "the exact one is")
    assert least == 0 and float(np.float16(smallest * np.float16(1.5)) / (smallest * 1.5)) == 1
    below = float(smallest) * (1 + 2**-9) / 2**4
    assert abs(float(np.float16(below)) / below - 1) > 2.0 ** -BITS["float16"]
    x, y, z = R(3, 2), R(5, 4), R(7)
    assert term(statement, "the fused", {"x": x, "y": y, "z": z}) == x * y + z
    statement.says("or at least the smallest normal number", "does not overflow and does not underflow")


@reads("sterbenz")
def on_both_sides_of_0(statement):
    near, beyond_0 = re.search(r"with \$(b/2 [^$]*)\$ or \$([^$]*)\$, then", statement.text).groups()
    difference = re.search(r"then \$([^$]*)\$ is a number of the format", statement.text)[1]
    numbers = [sign * R(n) * R(2) ** e for sign in (1, -1) for n in range(4, 8) for e in range(-2, 3)]
    for a in numbers:
        for b in numbers:
            names = {"a": a, "b": b}
            assert chain_holds(beyond_0, names) == chain_holds(near, {"a": -a, "b": -b}) == (2 * b <= a <= b / 2)
            if chain_holds(beyond_0, names) or chain_holds(near, names):
                assert value(difference, names) == rounded(a - b, 3)
    all_exact = statement.tex("$, all")
    assert value(all_exact, {"z_i": R(7), r"\hat\mu": R(4)}) == 3
    assert term(statement, "on its side of") == 0
    statement.says("subtract exactly", "all $z_i")


@reads("input-rounding")
def how_a_shifted_pair_is_stored(statement):
    z, c, e = Matrix([1, 2, 4]), R(1000), Matrix([R(1, 8), 0, R(-1, 4)])
    names = layer(z, R(1, 3), c=c, e=e)
    shifted, stored = term(statement, "Stored,", names), term(statement, "becomes", names)
    assert same(shifted, z + c * sympy.ones(3, 1)) and same(stored, shifted + e)
    assert same(term(statement, "for", names), sympy.sqrt(names["q"] + R(1, 3)))
    p_least, eps_least = conditions(statement, "At $c", "the pair")
    assert bound_by(p_least, "p", 2, 1)
    for p in (1, 2, 3, 8):
        together = rounded(R(2) ** p + 1, p) == R(2) ** p
        assert together == (p != 1) == chain_holds(p_least, {"p": p})
    assert bound_by(eps_least, r"\varepsilon", R(1, 10**9), 0)
    step = Matrix([0, 0, R(1, 10**6)])
    first, second = layer((1, -1, 0), 0), layer((1, -1, step[2]), 0)
    roots = {"s": sympy.sqrt(first["q"]), "s'": sympy.sqrt(second["q"])}
    bound = value(re.search(r"\$\$ (.*?) \. \$\$", statement.text)[1].split(r"\le")[1], first | roots | {"e": step})
    assert R(99, 100) < (second["u"] - first["u"]).norm() / bound <= 1
    statement.says("in general they are no common shift")


@reads("rounding-products")
def as_many_roundings_as_fit(statement):
    size, few, both = conditions(statement, "If", "then $\\prod") + conditions(statement, "And if", ", then")
    zeta = R(1, 8)
    assert bound_by(size, r"\delta_i", -zeta, 2 * zeta, **{"i": 1, r"\zeta": zeta})
    assert bound_by(few, "n", 7, 8, **{r"\zeta": zeta})
    assert bound_by(both, "j", 4, 5, **{"k": 3, r"\zeta": zeta})


@reads("mean-error")
def as_many_additions_as_fit(statement):
    few = re.search(r"If \$([^$]*)\$, the computed mean is", statement.text)[1]
    assert bound_by(few, "T", 6, 7, **{r"\zeta": R(1, 8)})
    statement.says(r"$T = \lceil \log_2 d \rceil$ when they are added in pairs of pairs")


@reads("wrong-mean")
def where_there_is_a_root(statement):
    root = re.search(r"Let \$([^$]*)\$\. Subtract", statement.text)[1]
    assert bound_by(root, "q", R(1, 10**9), 0, **{r"\varepsilon": 0})
    assert bound_by(root, r"\varepsilon", R(1, 10**9), 0, q=0)
    statement.says("forgives a wrong mean, the core does not")


@reads("one-pass")
def what_one_pass_computes(statement):
    z = layer((1, 2, 4), 0)
    formula = re.search(r"\\hat q\$ be \$([^$]*)\$ as computed", statement.text)[1]
    mean_of_squares = sum(entry**2 for entry in z["z"]) / 3
    assert value(formula, {r"\overline{z^2}": mean_of_squares, r"\mu": z[r"\mu"]}) == z["q"]


@reads("one-pass-example")
def what_the_example_computes(statement):
    z = layer((25, 26), 0)
    formula = re.search(r"and \$(\\overline[^$]*)\$ computes", statement.text)[1]
    mean_of_squares = sum(entry**2 for entry in z["z"]) / 2
    assert value(formula, {r"\overline{z^2}": mean_of_squares, r"\mu": z[r"\mu"]}) == z["q"]
    least = re.search(r"bits, \$(p [^$]*)\$ even", statement.text)[1]
    assert bound_by(least, "p", 4, 3)


@reads("two-pass-example")
def from_two_bits_on(statement):
    least = re.search(r"of \$(p [^$]*)\$ significant bits", statement.text)[1]
    assert bound_by(least, "p", 2, 1)
    for p in (1, 2):
        total = rounded(R(2) ** (p + 1) + 2, p)
        assert (total == R(2) ** (p + 1)) == chain_holds(least, {"p": p})


@reads("recentre-twice")
def what_is_centred_and_when(statement):
    z, mean_of_z, mean_of_c = Matrix([5, 8]), R(6), R(1, 2)
    names = layer(list(z), 0, **{r"\hat\mu": mean_of_z, r"\hat\mu_c": mean_of_c})
    c = term(statement, "be the computed", names)
    assert same(c, z - mean_of_z * sympy.ones(2, 1))
    again = value(re.search(r"\\hat v\$ the computed \$([^$]*)\$", statement.text)[1], names | {"c": c})
    assert same(again, c - mean_of_c * sympy.ones(2, 1))
    *_, near, coarse = conditions(statement, "If", "then")
    plain = near.replace(r"\zeta_{T+1}", "t")
    assert bound_by(plain, "t", R(1, 7), R(1, 7) + R(1, 100), **{r"\kappa": 7})
    assert bound_by(coarse, r"\zeta", R(1, 8), R(1, 8) + R(1, 100))


@reads("scaled-statistics")
def bounds_that_are_attained(statement):
    entry, total = re.search(r"\\qquad (\|v'_i\| [^$]*?) , \\qquad (\\frac1d .*?) \. \$\$", statement.text).groups()
    assert bound_by(entry, "v'_i", -1, R(-11, 10))
    low, _, high = re.split(r"(\\le \\operatorname.*\\le)", total)
    middle = re.search(r"\\le (.*) \\le", total)[1]
    means = r"\operatorname{mean}(v'^2)"
    assert value(middle, {means: R(1, 5), r"\varepsilon": 3, "s": 2}) == R(1, 5) + R(3, 4)
    assert (value(low, {"d": 7}), value(high)) == (R(1, 7), 2)
    kept = conditions(statement, "for instance,", "stay")
    assert bound_by(kept[0], "v_i", 3, R(31, 10), S=3)
    assert bound_by(kept[2], r"\varepsilon", 9, R(91, 10), S=3)


@reads("two-pass")
def the_sign_of_the_error(statement):
    mean_text = re.search(r"Let \$\\hat\\mu = ([^$]*)\$ be the computed mean", statement.text)[1]
    assert value(mean_text, {r"\mu": 5, r"\delta": 2}) == 3
    centred = re.search(r"\\hat v_i\$ the computed \$([^$]*)\$", statement.text)[1]
    assert value(centred, {"z_i": 9, r"\hat\mu": 3}) == 6
    error = re.search(r"\|\\hat v_i - v_i\| \\le ([^$]*?) \. \$\$", statement.text)[1]
    assert value(error, {"v_i": 4, r"\delta": 2, r"\zeta": R(1, 10), "i": 1}) == 2 + R(4 + 2, 10)
    squares = re.search(r"the computed mean of the \$([^$]*)\$", statement.text)[1]
    assert value(squares, {r"\hat v_i": 3, "i": 1}) == 9
    statement.says(r"\|v\|$ at most $\zeta_{T+2}")


@reads("vjp-noise")
def the_rounded_entries(statement):
    size = re.search(r"its rounded entries, \$([^$]*)\$", statement.text)[1]
    assert bound_by(size, r"\delta_i", R(-1, 8), R(1, 4), **{r"\zeta": R(1, 8), "i": 1})
    large = re.search(r"and \$(q [^$]*)\$, the product", statement.text)[1]
    assert bound_by(large, "q", 7, R(69, 10), **{r"\varepsilon": 1, r"\zeta": R(1, 8)})


@reads("eps-absorbed")
def the_sum_that_is_rounded(statement):
    assert term(statement, ", the computed", {"q": 5, r"\varepsilon": 2}) == 7
    statement.says("An epsilon that is not there")


@reads("affine-form")
def the_root_of_the_example(statement):
    root = re.search(r"= (1/\\sqrt[^$]*)\$, mean and root are exact", statement.text)[1]
    assert value(root, {"q": 3, r"\varepsilon": 1}) == R(1, 2)
    factor = re.search(r"\\bigr\)(\(1 [^)]*\))", statement.text)[1]
    assert value(factor, {r"\delta_i": R(1, 4)}) == R(5, 4)
    statement.says("has no $\\rho_i$")


@reads("welford")
def a_last_term_of_0(statement):
    assert bound_by("x" + re.search(r"whatever number \$([^$]*)\$", statement.text)[1], "x", 0, -1)


@reads("floating-ex-seventeen")
def the_squares_of_the_hint(statement):
    row = value(re.search(r"for \$z = ([^$]*)\$ in", statement.text)[1])
    near = [value(text) for text in re.search(r"near \$(\d+)\$ and near \$(\d+)\$", statement.text).groups()]
    assert near == [row[1] ** 2, (sum(row) / 2) ** 2]


@reads("floating-ex-power")
def only_exponents_change(statement):
    statement.says("changes only exponents", "depends only on the digits")


@reads("floating-ex-project")
def three_offsets(statement):
    offsets = [term(statement, "around the offsets", number=number) for number in range(3)]
    rows = np.random.default_rng(0).standard_normal((5, 768))
    kappas = [sympy.sympify(float(offset) / rows.std()) for offset in offsets]
    assert [int(sympy.floor(sympy.log(kappa, 10) + R(1, 2))) for kappa in kappas] == [2, 4, 6]
    statement.says("All numbers must stay float32")


@reads("floating-point-wrong-a-variance-below-0-is-put")
def a_variance_that_is_only_wrong(statement):
    start, step, wrong, right = re.search(
        r"row \$(\d+) \+ i/(\d+)\$ \{cite\}`burn-5607` then begins with \$(-[\d.]+)\$ instead of \$(-[\d.]+)\$",
        statement.text,
    ).groups()
    row = (int(start) + np.arange(16) / int(step)).astype(np.float32)
    assert abs(float(core_one_pass(row, 1e-5)[0]) - float(wrong)) < 0.005
    assert abs(float(normalize(row)[0]) - float(right)) < 0.005
    assert start == "100"
    statement.says("not the error", "a variance that is wrong but positive is not caught at all")


@reads("floating-point-wrong-inputs-in-bfloat16-cannot-need-more")
def the_ratio_that_grows(statement):
    power = re.search(r"\$(\\kappa\^\d)\$ grows with \$d\$", statement.text)[1]
    kappas = []
    for d in (64, 4096):
        names = layer([129, *[128] * (d - 1)], 0) if d < 100 else None
        q = names["q"] if names else R(1, d) * (1 - R(1, d))
        kappas.append(value(power, {r"\kappa": sympy.sqrt(1 + (128 + R(1, d)) ** 2 / q)}))
    assert abs(kappas[1] / kappas[0] / 64 - 1) < R(2, 100)
    spacing = value(re.search(r"lie \$([^$]*)\$ or more", statement.text)[1], {r"\mu": 256})
    assert spacing == 1


@reads("floating-point-wrong-float64-settles-it")
def both_limits(statement):
    old, near = (
        value(re.search(pattern, statement.text)[1]) for pattern in (r"instead of \$(\d+)\$", r"Near \$([^$]*)\$")
    )
    limit = value(re.search(r"\\kappa \\approx ([^$]*)\$", statement.text)[1])
    assert round(2**12, -3) == old and near == limit == 10**8


@reads("floating-point-wrong-a-smaller-epsilon-is-more-exact")
def the_sum_in_float32(statement):
    assert term(statement, "and the sum", {"q": 5, r"\varepsilon": 2}) == 7

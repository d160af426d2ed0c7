"""The cheat sheet: each relation on it is computed, at inputs of many kinds, and each line leads to its fact."""

import re
import tomllib
from functools import partial
from itertools import product
from pathlib import Path

import pytest
import sympy
from exact import core_jacobian as jacobian
from statements.evaluate import judge, operator_norm, value
from statements.settings import SETTINGS, VARIED, core, half, layer, setting
from sympy import Matrix, Rational, eye, sqrt

BOOK = Path(__file__).parents[1] / "book"
ROW = re.compile(r"^\| (?!\|)(?P<name>.*?) \| (?P<formula>.*?) \| (?P<facts>.*?) \|$", re.MULTILINE)
# Within a table a norm cannot be written with its bars.
PAGE = re.sub(r"\\[lr]Vert ?", r"\\|", (BOOK / "one-page.md").read_text(encoding="utf8"))
ROWS = {row["name"]: row for row in ROW.finditer(PAGE)}


def mean(vector):
    return sum(vector) / len(vector)


def completed(names, g=None):
    """The names of a setting and those of the sheet, each from its definition or by differentiation."""
    z, eps, gain, bias, d = (names[name] for name in ("z", r"\varepsilon", r"\gamma", r"\beta", "d"))
    g = Matrix(g or [3, -1, 2, 5][:d])
    h = Matrix([1, 4, -2, half][:d])
    derivative = sympy.diag(*gain) * names["J"]
    gains = Matrix(sympy.symbols(f"g1:{d + 1}"))
    loss = g.dot(gains.multiply_elementwise(names["u"]) + bias)
    other = z + h / 100
    across = [*Matrix([[1] * d, list(names["v"])]).nullspace(), Matrix([0] * d)]
    return names | {
        "r": 1 / sqrt(names["q"] + eps),
        "g": g,
        r"\hat g": sympy.diag(*gain) * g,
        r"\operatorname{mean}": mean,
        r"\delta": eye(d),
        "J_y": derivative,
        "w": across[0],
        "h": h,
        "dz": derivative.T * g,
        r"d\gamma": Matrix([loss.diff(x) for x in gains]),
        r"d\beta": g,
        "dy": derivative * h,
        "L": max(abs(x) for x in gain),
        "L_0": None if eps == 0 else operator_norm(sympy.diag(*gain) * jacobian((0,) * d, eps)),
        "z'": other,
        "y'": None if eps == 0 else layer(gain, bias, eps, other),
        "c": Rational(-5, 2),
        "a": Rational(3, 2),
        r"u_{\varepsilon/a^2}": partial(core, eps / Rational(3, 2) ** 2),
    }


# A vector of one entry is a number to who reads the formulas: it can be read where no vector must be one.
WITH_ONE = [completed(names) for names in SETTINGS]
BY_DIMENSION = {d: [names for names in WITH_ONE if names["d"] == d] for d in (1, 2, 3, 4)}
FROM_TWO = BY_DIMENSION[2] + BY_DIMENSION[3] + BY_DIMENSION[4]
FROM_THREE = BY_DIMENSION[3] + BY_DIMENSION[4]
CONSTANT = [names for names in FROM_TWO if names["q"] == 0]
EQUAL = [completed(setting((1, 3), 1)), completed(setting((0, 2, 4), Rational(8, 3), (1, 2, 0)))]
AT_ZERO = [completed(setting(names["z"], 0)) for names in VARIED]


def example():
    """The numbers that the sheet gives, and all that follows from them by definition."""
    given = dict(re.findall(r"\$(\S+) = (.+?)\$", ROWS["given"]["formula"]))
    numbers = {name: value(text) for name, text in given.items()}
    names = setting(numbers["z"], numbers[r"\varepsilon"], numbers[r"\gamma"])
    return [completed(names | {r"\beta": names[r"\beta"] * numbers[r"\beta"]}, numbers["g"])]


# the first words of a line: at which inputs its relations hold, and how many there are
READ = {
    "mean": (WITH_ONE, 1),
    "centred vector": (WITH_ONE, 2),
    "variance": (WITH_ONE, 1),
    "core": (WITH_ONE, 2),
    "output": (FROM_TWO, 1),
    "other conventions": (WITH_ONE, 0),
    "of the core": (WITH_ONE, 1),
    "along a common shift": (WITH_ONE, 1),
    "along the centred vector": (WITH_ONE, 1),
    "along $w$": (FROM_THREE, 1),
    "of the whole layer": (FROM_TWO, 1),
    "by the input": (FROM_TWO, 1),
    "by the gain": (FROM_TWO, 1),
    "by the bias": (WITH_ONE, 1),
    "along a direction": (FROM_TWO, 1),
    "to check them with": (FROM_TWO, 2),
    "norm of $J$": (FROM_TWO, 1),
    "at one input, $d \\ge 3$": (FROM_THREE, 2),
    "at one input, $d = 2$": (BY_DIMENSION[2], 2),
    "two outputs": (FROM_TWO, 2),
    "the least such constant": (FROM_TWO, 2),
    "variance of the core": (FROM_TWO, 1),
    "a common shift": (FROM_TWO, 1),
    "a scale": (FROM_TWO, 2),
    "only the mean is lost": (FROM_TWO, 1),
    "$d = 1$": (BY_DIMENSION[1], 4),
    "constant input": (CONSTANT, 3),
    "$q = \\varepsilon$": (EQUAL, 2),
    "$\\varepsilon = 0$": (AT_ZERO, 5),
    "given": (example(), 5),
    "forward": (example(), 4),
    "backward": (example(), 3),
    "norms": (example(), 2),
}
# Lines about an entry, which are read for each entry.
ENTRIES = {"entry": 1, "one coordinate": 2}


def row_of(start):
    (name,) = [name for name in ROWS if re.match(rf"{re.escape(start)}(?!\w)", name) and chosen(name) == start]
    return ROWS[name]


def chosen(name):
    """The longest of the beginnings above that fits a line."""
    return max((start for start in [*READ, *ENTRIES] if name.startswith(start)), key=len, default=None)


def test_each_line_is_read():
    assert sorted(map(str, map(chosen, ROWS))) == sorted([*READ, *ENTRIES])


@pytest.mark.parametrize("start", READ)
def test_each_relation_is_true(start):
    inputs, relations = READ[start]
    row = row_of(start)
    assert inputs
    for names in inputs:
        assert judge(f"{row['name']} {row['formula']}", names) == relations, names


def test_each_entry_of_the_jacobian_is_as_written():
    row = row_of("entry")
    for names in WITH_ONE:
        for i, j in product(range(1, names["d"] + 1), repeat=2):
            text = f"{row['name']} {row['formula']}" if i == j else row["formula"]
            at = names | {"i": sympy.Integer(i), "j": sympy.Integer(j)}
            assert judge(text, at) == (3 if i == j else 1)


def test_each_coordinate_is_below_its_bound():
    row = row_of("one coordinate")
    for names in FROM_TWO:
        for i in range(1, names["d"] + 1):
            assert judge(f"{row['name']} {row['formula']}", names | {"i": sympy.Integer(i)}) == 2
    # No smaller bound would do: a spike comes near.
    spike = completed(setting((1000, 0, 0), Rational(1, 1000))) | {"i": sympy.Integer(1)}
    assert judge(row["formula"], spike) == 1 and spike["u"][0] > sqrt(2) * Rational(99999, 100000)


def test_far_inputs_keep_the_bound_of_two_outputs():
    for names in FROM_TWO:
        opposite = names["h"] / 100 - names["z"]
        image = layer(names[r"\gamma"], names[r"\beta"], names[r"\varepsilon"], opposite)
        assert judge(row_of("two outputs")["formula"], names | {"z'": opposite, "y'": image}) == 1


def test_the_variance_of_the_core_comes_as_near_to_its_bound_as_one_likes():
    *_, bound = row_of("variance of the core")["formula"].strip("$").split("<")
    large = setting((10**6, 0), 1)
    assert value(bound) - Rational(1, 10**9) < large["q"] / (large["q"] + 1) < value(bound)


def test_the_bounds_are_the_least():
    """The bound for any input is attained at a constant one, and that of the whole layer is no more than the other."""
    (constant,) = CONSTANT
    bound = row_of("norm of $J$")["formula"].strip("$").split(r"\le")[1]
    assert operator_norm(constant["J"]) == 1 / sqrt(constant[r"\varepsilon"]) == value(bound, constant)
    assert all(names["L_0"] <= names["L"] / sqrt(names[r"\varepsilon"]) for names in FROM_TWO)


def test_the_words_name_divisor_and_place_of_epsilon():
    names = " ".join(ROWS)
    other = row_of("other conventions")["formula"]
    assert all(words in other for words in ("divisor $d - 1$", r"$\varepsilon$ outside", "the gain stored minus $1$"))
    for words in ("divisor $d$ and not $d - 1$", r"$\varepsilon$ inside the root", "summed over positions"):
        assert words in names


def test_each_line_leads_to_its_fact():
    facts = tomllib.loads((BOOK / "facts.toml").read_text(encoding="utf8"))
    for name, row in ROWS.items():
        found = re.findall(r"\{(prf:ref|doc)\}`([\w-]+)`", row["facts"])
        assert found, name
        for kind, label in found:
            assert label in facts if kind == "prf:ref" else (BOOK / f"{label}.md").exists(), name

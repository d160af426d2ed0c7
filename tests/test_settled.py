"""The verdicts of the page Settled: one test an entry, tied to it by its permanent name and by the verdict itself."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from exact import centered, core, core_jacobian, layer, mean, projection, symbols, vanishes, variance
from hypothesis import given
from hypothesis import strategies as st
from inputs import epsilons
from test_cases import CASES, differs, same

import lnbook
from lnbook.pages.algorithms import CORES
from lnbook.pages.rounding import BITS, running_sum
from lnbook.pages.show import line

PAGE = Path(__file__).parents[1] / "book" / "settled.md"
ENTRY = re.compile(r"^\((settled-[\w-]+)\)=\n### [^\n]+\?\n\n(.*?)(?=^\(settled-|^## )", re.MULTILINE | re.DOTALL)
VERDICT = re.compile(r"\*\*(True only if|True|False)\.?\*\*")
R = sp.Rational
eps = sp.Symbol("eps", positive=True)
TESTS = {}


def entries():
    """(name, text) of the entries of the page, in order."""
    return ENTRY.findall(PAGE.read_text("utf-8"))


def settles(name, verdict):
    """Register the test of an entry, with the verdict it proves."""

    def register(test):
        assert name not in TESTS, f"{name} has two tests"
        TESTS[name] = (verdict, test)
        return test

    return register


def case(name):
    return CASES[name]["input"], CASES[name]["expected"]


def numbers(matrix):
    return np.array(matrix.tolist(), dtype=float).squeeze()


# The page and its tests


def test_each_entry_has_a_test_of_its_verdict_and_each_test_its_entry():
    on_the_page = {}
    for name, words in entries():
        assert name not in on_the_page, f"{name} stands twice"
        on_the_page[name] = VERDICT.match(words)[1]
    assert on_the_page == {name: verdict for name, (verdict, _) in TESTS.items()}


def test_the_test_of_each_entry_is_collected():
    """A function whose name another one takes would be registered and never run."""
    for _, test in TESTS.values():
        assert test.__name__.startswith("test_")
        assert globals()[test.__name__] is test


def test_no_entry_escapes_the_pattern():
    text = PAGE.read_text("utf-8")
    labels = [label for label in re.findall(r"^\((settled-[\w-]+)\)=$", text, re.MULTILINE) if label != "settled-field"]
    assert labels == [name for name, _ in entries()]
    assert len(re.findall(r"^### ", text, re.MULTILINE)) == len(labels) >= 40


@pytest.mark.parametrize(("name", "words"), entries(), ids=[name for name, _ in entries()])
def test_each_entry_gives_one_verdict_a_link_to_its_proof_and_a_computed_line(name, words):
    assert len(VERDICT.findall(words)) == 1
    assert re.search(r"\{(prf:ref|doc)\}`", words)
    assert words.count("```{code-cell}") == 1
    assert "line(" in words


def test_numbers_stand_on_one_line_with_their_names_or_a_name_a_line(capsys):
    line("core", np.array([1.0, -0.5]), "mean", R(1, 3), 2)
    assert capsys.readouterr().out == "core (1, -0.5)   mean 1/3 2\n"
    line([1, 2], "core", 0.123456789, digits=3)
    assert capsys.readouterr().out == "(1, 2)   core 0.123\n"
    line("core", 1, "mean", 2, width=14)
    assert capsys.readouterr().out == "core 1\nmean 2\n"
    line("core", 1, "mean", 2, width=15)
    assert capsys.readouterr().out == "core 1   mean 2\n"


# What comes out


@settles("settled-mean", "True only if")
def test_mean():
    gain, first, second = sp.symbols("gain first second", real=True)
    y = layer(symbols(3), [gain] * 3, [first, second, -first - second], eps)
    assert vanishes(mean(y))
    # Biases of another sum show at a constant input, unequal gains at (1,1,-2)
    assert mean(layer([5, 5, 5], [1, 1, 1], [1, 1, 1], eps)) == 1
    assert mean(layer([1, 1, -2], [2, 0, -1], [0, 0, 0], 2)) == R(2, 3)
    same(lnbook.layer_norm([1, 1, -2], [2, 0, -1], eps=2).mean(), 2 / 3)


@settles("settled-variance", "True only if")
def test_variance():
    z, e = symbols(3), sp.Symbol("e", nonnegative=True)
    q = sp.Symbol("q", positive=True)
    assert vanishes(variance(core(z, eps)) - variance(z) / (variance(z) + eps))
    assert sp.solve(q / (q + e) - 1, e) == [0]
    same(lnbook.variance(lnbook.normalize([1, 2, 3], eps=2 / 3)), 0.5)


@settles("settled-divisor", "False")
def test_divisor():
    given, expected = case("B04")
    same(lnbook.normalize(given["z"], eps=0), expected["y"])
    differs(expected["y"], expected["ddof1_y"])
    assert list(core(given["z"], 0)) == [-1, 1]


@settles("settled-eps-denominator", "False")
def test_eps_in_the_denominator():
    given, expected = case("B05")
    z = np.array(given["z"])
    same(lnbook.normalize(z, eps=given["eps"]), expected["y"])
    same(z / (z.std() + given["eps"]), expected["outside_y"])
    differs(expected["y"], expected["outside_y"])


@settles("settled-eps-max", "False")
def test_max_of_variance_and_eps():
    given, expected = case("B08")
    z = np.array(given["z"])
    same(lnbook.normalize(z, eps=given["eps"]), expected["y"])
    same(z / np.sqrt(max(z.var(), given["eps"])), expected["clamp_y"])
    differs(expected["y"], expected["clamp_y"])


@settles("settled-constant", "True only if")
def test_constant_row():
    assert list(layer([3, 3, 3], [5, -7, 2], [1, -1, 2], eps)) == [1, -1, 2]
    assert (variance([3, 3, 3]), list(centered([3, 3, 3]))) == (0, [0, 0, 0])  # 0/0 at eps = 0, 0/root(eps) else
    for small in (1e-300, 1e-5, 1e6):
        assert lnbook.layer_norm([3, 3, 3], [5, -7, 0.1], [1, -1, 2], eps=small).tolist() == [1, -1, 2]
    with pytest.raises(ValueError, match="eps"):
        lnbook.normalize([3, 3, 3], eps=0)


@settles("settled-one-feature", "True")
def test_one_feature():
    gain, bias = sp.symbols("gain bias", real=True)
    assert list(layer(symbols(1), [gain], [bias], eps)) == [bias]
    given, expected = case("B36")
    assert lnbook.layer_norm(given["z"], given["gamma"], given["beta"], eps=given["eps"]).tolist() == expected["y"]
    dz, dgain, dbias = lnbook.vjp(given["z"], given["dy"], given["gamma"], eps=given["eps"])
    assert [dz.tolist(), dgain.tolist(), dbias.tolist()] == [expected[key] for key in ("dz", "dgamma", "dbeta")]


@settles("settled-numerator", "False")
def test_numerator():
    given, expected = case("B77")
    z = np.array(given["z"])
    wrong = z / np.sqrt(z.var() + given["eps"])
    same(lnbook.normalize(z, eps=given["eps"]), expected["y"])
    same(wrong.mean(), expected["wrong_mean"])
    symbolic = symbols(3)
    uncentred = sp.Matrix(symbolic) / sp.sqrt(variance(symbolic) + eps)
    assert vanishes(mean(uncentred) - mean(symbolic) / sp.sqrt(variance(symbolic) + eps))


@settles("settled-circular", "False")
def test_circular_formula():
    x, mu, root = sp.symbols("x mu root", positive=True)
    (solution,) = sp.solve(sp.Eq(x, (x - mu) / root), x)
    assert vanishes(solution - mu / (1 - root))
    given, expected = case("B78")
    right = np.ravel(lnbook.normalize(given["z"], eps=given["eps"], axis=(0, 1, 2)))
    same(right, expected["y_flat"])
    differs(right, 2.5 / (1 - np.sqrt(1.25 + given["eps"])))


@settles("settled-rows", "False")
def test_rows():
    given, expected = case("B58")
    rows = np.array(given["z"])
    same(lnbook.normalize(rows, eps=given["eps"]), expected["rows"])
    for n in range(3):
        others = rows * 1000
        others[n] = rows[n]
        assert np.array_equal(lnbook.normalize(others)[n], lnbook.normalize(rows[n]))


@settles("settled-image", "True only if")
def test_image():
    given, expected = case("B52")
    same(lnbook.normalize(given["z"], eps=given["eps"], axis=(1, 2, 3)), expected["over_CHW"])
    same(lnbook.normalize(given["z"], eps=given["eps"], axis=tuple(given["axes"])), expected["y"])
    differs(expected["over_CHW"], expected["y"])


@settles("settled-start", "False")
def test_start():
    given, expected = case("B82")
    y = lnbook.layer_norm(given["z"], given["gamma"], given["beta"], eps=given["eps"])
    assert y.tolist() == expected["y"]
    assert lnbook.vjp(given["z"], given["dy"], given["gamma"], eps=given["eps"])[0].tolist() == expected["dz"]
    assert numbers(core_jacobian(given["z"], R(1, 10**5))).any()


# What it does not see


@settles("settled-shift", "True")
def test_common_shift():
    z, c = symbols(4), sp.Symbol("c", real=True)
    gain, bias = sp.symbols("gain1:5", real=True), sp.symbols("bias1:5", real=True)
    assert vanishes(layer([x + c for x in z], gain, bias, eps) - layer(z, gain, bias, eps))
    same(lnbook.normalize([101, 102, 103], eps=1 / 3), [-1, 0, 1])


@settles("settled-features", "False")
def test_shift_of_one_feature():
    assert list(core([1, 2, 3], R(1, 3))) == [-1, 0, 1]
    moved = core([1, 2, 4], R(1, 3))
    assert vanishes(moved - sp.Matrix([-4, -1, 5]) / sp.sqrt(17))
    same(lnbook.normalize([1, 2, 4], eps=1 / 3), numbers(moved))


@settles("settled-raw-shift", "True only if")
def test_shift_of_the_raw_input():
    W, x = sp.Matrix([[1, 2], [3, 4]]), sp.Matrix(sp.symbols("x1:3", real=True))
    a = sp.Matrix(sp.symbols("a1:3", real=True))
    # Wa is a common shift exactly along (1,-1)
    assert (projection(2) * W).nullspace() == [sp.Matrix([-1, 1])]
    assert vanishes((core(W * (x + a), eps) - core(W * x, eps)).subs({a[0]: 7, a[1]: -7}))
    ones = core(W * sp.Matrix([1, 2]), 1) - core(W * sp.Matrix([0, 1]), 1)
    assert not vanishes(ones)


@settles("settled-scale", "True only if")
def test_scale():
    z, a = symbols(3), sp.Symbol("a", positive=True)
    assert vanishes(core(a * z, eps) - core(z, eps / a**2))
    assert vanishes(core(a * z, 0) - core(z, 0))
    given, expected = case("B64")
    row = np.array(given["z"])
    same(lnbook.normalize(row, eps=given["eps"]), expected["y"])
    same(lnbook.normalize(given["alpha"] * row, eps=given["eps"]), expected["y_scaled"])
    same(lnbook.normalize(row, eps=given["eps"] / given["alpha"] ** 2), expected["y_scaled"])
    differs(expected["y"], expected["y_scaled"])


@settles("settled-negative", "False")
def test_negative_scale():
    given, expected = case("B59")
    z, alpha = np.array(given["z"]), given["alpha"]
    same(lnbook.normalize(alpha * z, eps=given["eps"]), expected["y"])
    same(-lnbook.normalize(-alpha * z, eps=given["eps"]), expected["y"])
    assert np.dot(expected["y"], lnbook.normalize(z, eps=given["eps"])) < 0
    assert vanishes(core(-symbols(3), eps) + core(symbols(3), eps))


@settles("settled-limit", "False")
def test_limit_of_large_scales():
    given, expected = case("B60")
    z = np.array(given["z"])
    same(lnbook.normalize(z, eps=given["eps"]), expected["LN_z"])
    same(lnbook.normalize(given["alpha"] * z, eps=given["eps"]), expected["LN_alpha_z"])
    differs(expected["LN_z"], expected["limit"])
    a = sp.Symbol("a", positive=True)
    limit = core([a, 2 * a, 3 * a], 1).applyfunc(lambda x: sp.limit(x, a, sp.oo))
    assert limit == core([1, 2, 3], 0)
    same(numbers(limit), expected["limit"])


@settles("settled-recentre", "True")
def test_recentred_weights():
    W, x = sp.Matrix(3, 2, sp.symbols("w1:7", real=True)), sp.Matrix(sp.symbols("x1:3", real=True))
    r = sp.Matrix([sp.symbols("r1:3", real=True)])
    assert vanishes(core((W + sp.ones(3, 1) * r) * x, eps) - core(W * x, eps))
    given, expected = case("B63")
    W, x, c = (np.array(given[key]) for key in ("W", "x", "c"))
    same(lnbook.normalize((W + c) @ x, eps=given["eps"]), expected["y_shifted"])
    same(lnbook.normalize(W @ x, eps=given["eps"]), expected["y"])


@settles("settled-rescale", "True only if")
def test_rescaled_weights():
    z, delta = sp.Matrix(sp.symbols("z1:4", real=True)), sp.Symbol("delta", positive=True)
    assert vanishes(core(delta * z, delta**2 * eps) - core(z, eps))
    assert vanishes(core(delta * z, 0) - core(z, 0))
    z = [4, 1, 5]
    assert not vanishes(core([10 * x for x in z], 1) - core(z, 1))
    same(lnbook.normalize(10 * np.array(z), eps=100), numbers(core(z, 1)))


@settles("settled-linear-bias", "True only if")
def test_bias_of_the_linear_layer_before():
    given, expected = case("B62")
    for b, y in zip(given["bias"], expected["y"], strict=True):
        same(lnbook.normalize(np.add(given["z"], b), eps=given["eps"]), y)
    same(lnbook.normalize(given["z"], eps=given["eps"]), expected["base"])
    same(expected["y"][0], expected["base"])
    differs(expected["y"][1], expected["base"])
    # No other bias goes unseen: the core tells the centred vector
    z = symbols(3)
    u = core(z, eps)
    assert vanishes(u * sp.sqrt(eps / (1 - u.dot(u) / 3)) - centered(z))


def rms(z, e):
    z = sp.Matrix(z)
    return z / sp.sqrt(z.dot(z) / len(z) + e)


@settles("settled-rms", "True only if")
def test_rms_norm():
    given, expected = case("B76")
    z, e = given["z"], R(1, 1000)
    same(numbers(rms(z, e)), expected["true_rms"])
    numerator_alone = numbers(sp.Matrix(z) / sp.sqrt(variance(z) + e))
    assert np.abs(numerator_alone - expected["published_wrong"]).max() <= 5.01e-6
    differs(numerator_alone, expected["true_rms"])
    # With epsilon 0 as well it is not what a layer with an epsilon gives
    differs(numbers(rms(z, 0)), expected["true_rms"])


@settles("settled-rms-shift", "False")
def test_rms_norm_under_a_shift():
    given, expected = case("B75")
    z, e = given["z"], R(1, 10**6)
    same(numbers(rms(z, e)), expected["rms"])
    same(numbers(rms([x + 5 for x in z], e)), expected["rms_shifted_by_5"])
    differs(expected["rms"], expected["rms_shifted_by_5"])
    assert vanishes(rms(centered(symbols(3)), eps) - core(symbols(3), eps))


@settles("settled-twice", "True only if")
def test_normalizing_twice():
    z, e, w = symbols(2), sp.Symbol("e", nonnegative=True), sp.Symbol("w", positive=True)
    assert vanishes(core(core(z, eps), eps) - centered(z) / sp.sqrt(eps**2 + (1 + eps) * variance(z)))
    assert vanishes(core(core([1, 2, 4], 0), 0) - core([1, 2, 4], 0))
    # Both roots squared differ by e (e + w - 1), for the variance w: 0 for every w only if e = 0
    assert sp.factor(e**2 + (1 + e) * w - (e + w)) == e * (e + w - 1)
    same(lnbook.normalize(lnbook.normalize([1, 1, -2], eps=2), eps=2), np.array([1, 1, -2]) / np.sqrt(10))


# What its derivatives are like


@settles("settled-zero-entry", "False")
def test_zero_entries():
    assert list(core_jacobian([1, -1, 1, -1], 0)[0, :]) == [R(1, 2), 0, R(-1, 2), 0]
    J = core_jacobian([2, -1, -1, 0], R(1, 2))
    assert (J[0, 1], J[0, 2]) == (0, 0)
    same(lnbook.jacobian([2, -1, -1, 0], eps=0.5), numbers(J))


@settles("settled-own-output", "True")
@given(st.lists(st.integers(-50, 50), min_size=2, max_size=6), st.integers(0, 5), st.integers(1, 1000), epsilons())
def test_own_output(z, i, rise, e):
    i %= len(z)
    raised = [x + rise * (j == i) for j, x in enumerate(z)]
    # The sign of u' - u by squares of fractions: no rounding
    before, after = ([Fraction(x) for x in row] for row in (z, raised))
    assert signed_square(before, i, e) < signed_square(after, i, e)


def signed_square(row, i, e):
    """u_i |u_i|, which grows with u_i."""
    mu = sum(row) / len(row)
    q = sum((x - mu) ** 2 for x in row) / len(row)
    return (row[i] - mu) * abs(row[i] - mu) / (q + Fraction(e))


@settles("settled-rank", "True only if")
def test_rank():
    given, expected = case("B72")
    assert core_jacobian(given["z"], R(1, 4)).rank() == expected["rank"] == 3
    assert core_jacobian(given["z"], 0).rank() == 2
    values, _, times = lnbook.spectrum(given["z"], eps=given["eps"])
    assert (values > 0) @ times == 3


@settles("settled-norm", "True only if")
def test_norm():
    given, expected = case("B69")
    same(lnbook.operator_norm(given["z"], eps=given["eps"]), expected["opnorm"])
    differs(expected["opnorm"], expected["claimed"])
    for z in ([1, 2, 4], [0, 1, 2, 3], [5, 0, 0, 1, 1]):
        values = core_jacobian(z, 2).eigenvals()
        claim = 1 / sp.sqrt(variance(z) + 2)
        assert min(abs(sp.N(value - claim, 40)) for value in values) < 1e-35
        assert max(sp.re(sp.N(value, 40)) for value in values) < sp.N(claim, 40) + sp.Float("1e-35")
        same(lnbook.operator_norm(z, eps=2), float(claim))
    assert core_jacobian([3, 3], 4) == projection(2) / 2


@settles("settled-norm-length", "True only if")
def test_norm_by_the_length():
    near, far = [-1, 0, 1], [999, 1000, 1001]
    assert core_jacobian(near, 0) == core_jacobian(far, 0)
    for z in (near, far):
        same(lnbook.operator_norm(z, eps=0), np.sqrt(3 / 2))
    same(np.sqrt(3) / np.linalg.norm(near), np.sqrt(3 / 2))
    differs(np.sqrt(3) / np.linalg.norm(far), np.sqrt(3 / 2))


@settles("settled-sum-bug", "False")
def test_gradient_of_the_sum():
    assert vanishes(sp.ones(1, 3) * core(symbols(3), eps).jacobian(symbols(3)))
    given, expected = case("B35")
    same(lnbook.vjp(given["z"], given["dy"], given["gamma"], eps=given["eps"])[0], expected["dz"])
    assert np.abs(expected["dz"]).min() > 0.05
    given, expected = case("B34")
    assert np.abs(lnbook.vjp(given["z"], given["dy"], eps=given["eps"])[0]).max() < 1e-15


@settles("settled-dz-sum", "True")
def test_sum_of_the_gradient():
    gain, g = (sp.Matrix(sp.symbols(f"{name}1:4", real=True)) for name in ("gain", "g"))
    dz = core_jacobian(symbols(3), eps) * gain.multiply_elementwise(g)
    assert vanishes(sum(dz))
    given, expected = case("B46")
    got = lnbook.vjp(given["z"], given["dy"], given["gamma"], eps=given["eps"])[0]
    same(got, expected["dz"])
    assert abs(got.sum()) < 1e-15


@settles("settled-dz-orthogonal", "True only if")
def test_gradient_across_the_input():
    z, g, q = symbols(3), sp.Matrix(sp.symbols("g1:4", real=True)), variance(symbols(3))
    product = z.dot(core_jacobian(z, eps) * g)
    assert vanishes(product - eps / (q + eps) ** R(3, 2) * g.dot(centered(z)))
    assert vanishes(z.dot(core_jacobian(z, 0) * g))
    assert sp.Matrix([1, 1, -2]).dot(core_jacobian([1, 1, -2], 2) * sp.Matrix([2, 0, -1])) == 1
    same(lnbook.vjp([1, 1, -2], [1, 1, 1], [2, 0, -1], eps=2)[0] @ [1, 1, -2], 1.0)


@settles("settled-silenced", "False")
def test_silenced_output():
    assert sp.diag(0, 2) * core_jacobian([-1, 1], 3) == sp.Matrix([[0, 0], [R(-3, 8), R(3, 8)]])
    assert lnbook.jacobian([-1, 1], [0, 2], eps=3).tolist() == [[0, 0], [-3 / 8, 3 / 8]]


@settles("settled-gain-last", "True only if")
def test_gain_last():
    given, expected = case("B46")
    gain = np.array(given["gamma"])
    same(lnbook.vjp(given["z"], given["dy"], gain, eps=given["eps"])[0], expected["dz"])
    differs(gain * lnbook.vjp(given["z"], given["dy"], eps=given["eps"])[0], expected["dz"])
    # diag(gain) and J = P / sqrt(eps) commute only if all gains are equal
    gains = sp.symbols("gain1:4", real=True)
    commutator = sp.diag(*gains) * projection(3) - projection(3) * sp.diag(*gains)
    assert sp.solve(list(commutator), gains[:2]) == {gains[0]: gains[2], gains[1]: gains[2]}


@settles("settled-second", "False")
def test_second_derivative():
    given, expected = case("B38")
    t = sp.Symbol("t", real=True)
    u = core([t, 0], R(1, 4))
    second = float((u[0] + 2 * u[1]).diff(t, 2).subs(t, R(7, 10)))
    same(second, expected["second"])
    same(2 * lnbook.taylor(given["z"], given["direction"], 2, given["gamma"], eps=given["eps"])[2].sum(), second)
    frozen = float((-t / (1 + t**2) ** R(3, 2)).subs(t, R(7, 10)))
    same(frozen, expected["published_wrong"])
    differs(second, frozen)


@settles("settled-half-sum", "False")
def test_sums_in_half_precision():
    given, expected = case("B43")
    ones = np.ones(3000)
    assert running_sum(ones[: given["N"]], BITS["bfloat16"])[-1] == expected["bf16_sequential"] != expected["right"]
    assert running_sum(ones, BITS["float16"])[-1] == 2048
    assert float(sum(np.ones(3000, np.float16), np.float16(0))) == 2048
    assert lnbook.vjp(np.zeros((3000, 2), np.float16), np.ones((3000, 2)))[2].tolist() == [3000, 3000]


@settles("settled-recover", "True only if")
def test_core_from_the_output():
    z = symbols(3)
    u = core(z, eps)
    assert vanishes(u[0] + u[1] + u[2])  # one lost coordinate is minus the sum of the others
    # Two gains of 0: two cores, one output
    one, other = core([1, 2, 5], 1), core([2, 1, 5], 1)
    assert one != other
    assert layer([1, 2, 5], [0, 0, 3], [1, 1, 1], 1) == layer([2, 1, 5], [0, 0, 3], [1, 1, 1], 1)
    given, expected = case("B50")
    gain, bias = np.float32(given["gamma"][1]), np.float32(given["beta"][1])
    recovered = (gain * np.float32(expected["u"][1]) + bias - bias) / gain
    assert 1e-4 < abs(recovered - expected["u"][1]) <= 3.9e-3


# How strongly it reacts


@settles("settled-lipschitz", "True only if")
def test_lipschitz():
    s = sp.Symbol("s", positive=True)
    turned = (core([s, -s], 0) - core([-s, s], 0)).norm() / sp.Matrix([2 * s, -2 * s]).norm()
    assert vanishes(turned - 1 / s)
    amplified = (core([s, -s], eps) - core([-s, s], eps)).norm() / sp.Matrix([2 * s, -2 * s]).norm()
    assert sp.limit(amplified, s, 0) == 1 / sp.sqrt(eps)
    same(lnbook.lipschitz_constant(2, eps=1e-5), np.sqrt(1e5))
    same(lnbook.amplification([1e-6, -1e-6], [-2e-6, 2e-6], eps=0), 1e6)
    assert lnbook.amplification([1e-6, -1e-6], [-2e-6, 2e-6], eps=1e-5) < np.sqrt(1e5)


@settles("settled-tame", "False")
def test_amplification_at_a_constant_row():
    given, expected = case("B12")
    for e, norm in zip(given["eps"], expected["opnorm"], strict=True):
        same(lnbook.operator_norm(given["z"], eps=e), norm)
    assert core_jacobian([3, 3, 3, 3], eps) == projection(4) / sp.sqrt(eps)


@settles("settled-max-gain", "True only if")
def test_largest_gain():
    given, expected = case("B71")
    same(lnbook.lipschitz_constant(4, given["gamma"], eps=given["eps"]), expected["sharp"])
    differs(expected["sharp"], expected["max_gamma_over_sqrt_eps"])
    same(lnbook.lipschitz_constant(4, [1, 1, 0, 0], eps=given["eps"]), 1000.0)

    def attains_the_largest(gains):
        """Whether the square of the largest gain is an eigenvalue of P diag(gain)^2 P."""
        square = projection(len(gains)) * sp.diag(*[g**2 for g in gains]) * projection(len(gains))
        return (square - max(g**2 for g in gains) * sp.eye(len(gains))).det() == 0

    for gains in ([3, 1, 2], [1, 0, 0, 0], [5, -4, 4, 1]):
        assert not attains_the_largest(gains)
    for gains in ([3, 3, 2], [3, -3, 0, 1], [2, 2, 2]):
        assert attains_the_largest(gains)


@settles("settled-length", "False")
def test_length():
    given, expected = case("B67")
    u = lnbook.normalize(np.resize([1.0, -1.0], given["d"]), eps=given["eps"])
    same(np.sqrt(u @ u), expected["norm"])
    assert 1 < expected["norm"] < expected["sqrt_d"] == 16


@settles("settled-coordinate", "False")
def test_largest_coordinate():
    given, expected = case("B73")
    assert list(core([9] + 9 * [0], 0)) == [3] + 9 * [R(-1, 3)]
    same(lnbook.normalize(given["z"], eps=0).max(), expected["max_abs"])
    # With the others free and of sum -u_1, the least |u|^2 is u_1^2 d / (d - 1): so d bounds u_1^2 by d - 1
    first, *others = sp.symbols("u1:5", real=True)
    length = first**2 + sum(x**2 for x in others)
    multiplier = sp.Symbol("m", real=True)
    least = sp.solve(
        [sp.diff(length + multiplier * (first + sum(others)), x) for x in others] + [first + sum(others)],
        [*others, multiplier],
    )
    assert sp.simplify(length.subs(least) - first**2 * R(4, 3)) == 0


@settles("settled-sphere", "True only if")
def test_sphere():
    z, q = symbols(3), variance(symbols(3))
    u = core(z, eps)
    assert vanishes(u.dot(u) - 3 * q / (q + eps))
    assert vanishes(core(z, 0).dot(core(z, 0)) - 3)
    lengths = [np.linalg.norm(lnbook.normalize(np.sqrt(w) * np.array([1, -1, 1, -1]))) for w in (1, 1e-5, 1e-7)]
    np.testing.assert_allclose(lengths, [np.sqrt(4 * w / (w + 1e-5)) for w in (1, 1e-5, 1e-7)], rtol=1e-14)


@settles("settled-scale-lost", "True only if")
def test_scale_is_kept():
    u = core([11, 11, 8], 2)
    assert u * sp.sqrt(2 / (1 - u.dot(u) / 3)) == sp.Matrix([1, 1, -2])
    assert core([11, 11, 8], 0) == core([22, 22, 16], 0)


@settles("settled-finite", "True")
def test_finite_step():
    step = (core([1, -1], eps) - core([-1, 1], eps)).norm() / sp.sqrt(8)
    norm = (core_jacobian([-1, 1], eps) * sp.Matrix([1, -1])).norm() / sp.sqrt(2)
    assert vanishes(step / norm - (1 + eps) / eps)
    same(lnbook.amplification([-1, 1], [2, -2], eps=0.25), 1 / np.sqrt(1.25))
    same(lnbook.operator_norm([-1, 1], eps=0.25), 0.25 / 1.25**1.5)


@settles("settled-network", "False")
def test_several_layers():
    J = core_jacobian([3, 3, 3], eps)
    assert core([3, 3, 3], eps) == sp.zeros(3, 1)  # again a constant input
    for k in (1, 2, 3):
        assert J**k == projection(3) * eps ** R(-k, 2)
        norm = np.linalg.norm(np.linalg.matrix_power(lnbook.jacobian([3, 3, 3], eps=1e-4), k), 2)
        np.testing.assert_allclose(norm, 100.0**k, rtol=1e-14)


@settles("settled-linear", "True")
@pytest.mark.fact("linear-regime", way="exact")
def test_linear_where_the_variance_is_small():
    z, x = symbols(3), sp.Symbol("x", positive=True)
    q = variance(z)
    delta = 1 - (1 + q / eps) ** R(-1, 2)
    assert vanishes(core(z, eps) - (1 - delta) * centered(z) / sp.sqrt(eps))
    # 0 < delta < x / 2: 1 - x / 2 is the tangent at 0, the slope only rises from there
    left = (1 + x) ** R(-1, 2)
    assert sp.limit(left, x, 0) == 1
    assert vanishes(left.diff(x, 2) - R(3, 4) * (1 + x) ** R(-5, 2))
    assert sp.limit(left.diff(x), x, 0) == R(-1, 2)
    small = 1e-4 * np.array([-1.0, 0.0, 1.0])
    error = 1 - lnbook.normalize(small, eps=1e-5)[2] / (small[2] / np.sqrt(1e-5))
    assert 0.9 * lnbook.variance(small) / 2e-5 < error < lnbook.variance(small) / 2e-5


@settles("settled-affine", "False")
def test_no_affine_map():
    a, b = [0, 0, 0], [2, 0, -2]
    middle = core([1, 0, -1], eps) - (core(a, eps) + core(b, eps)) / 2
    assert sp.simplify(middle.subs(eps, R(1, 3))[0]) == 1 - 1 / sp.sqrt(3)
    difference = lnbook.normalize([1, 0, -1], eps=1 / 3) - lnbook.normalize(b, eps=1 / 3) / 2
    np.testing.assert_allclose(difference, [1 - 3**-0.5, 0, 3**-0.5 - 1], atol=1e-15)


# Which epsilon


@settles("settled-eps-value", "False")
def test_value_of_eps():
    given, expected = case("B09")
    for e, y in zip(given["eps"], expected["y"], strict=True):
        same(lnbook.normalize(given["z"], eps=e), y)
    differs(expected["y"][0], expected["y"][-1])


@settles("settled-eps-half", "True only if")
def test_eps_in_float16():
    given, expected = case("B15")
    assert np.float16(given["eps"]) == expected["float16_of_eps"] == np.float16(2.0**-25) == 0
    assert np.float16(np.nextafter(2.0**-25, 1)) == 2.0**-24 > 0
    with np.errstate(invalid="ignore"):
        native = np.float16(0) / np.sqrt(np.float16(0) + np.float16(given["eps"]))
    assert np.isnan(native)
    assert lnbook.normalize(np.array(given["z"], np.float16), eps=given["eps"]).tolist() == expected["y"]


@settles("settled-outside-safe", "False")
def test_eps_outside_the_root():
    given, expected = case("B06")
    same(lnbook.jacobian(given["z"], eps=given["eps"]), expected["J"])
    q = sp.Symbol("q", positive=True)
    assert sp.limit(sp.sqrt(q).diff(q), q, 0) == sp.oo
    assert sp.oo * 0 is sp.nan
    assert core_jacobian([2, 2, 2], eps) == projection(3) / sp.sqrt(eps)
    t = sp.Symbol("t", positive=True)
    v = sp.Matrix([t, -t, 0])  # on the way to the constant input: v / (root(q) + eps) is v / eps to first order
    slope = sp.limit((v / (sp.sqrt(variance(v)) + eps))[0] / t, t, 0)
    assert vanishes(slope - 1 / eps)


@settles("settled-tiny", "False")
def test_tiny_variance():
    given, expected = case("B26")
    z = np.array(given["z"], np.float32)
    same(lnbook.normalize(z, eps=given["eps"]), expected["y"])
    assert float(z[-1]) / np.sqrt(given["eps"]) == pytest.approx(expected["published_wrong"], rel=1e-6)
    assert expected["published_wrong"] > np.sqrt(3) > max(expected["y"])


# On a machine


@settles("settled-machine-shift", "False")
def test_shift_on_a_machine():
    z = np.array([0.1, 0.2, 0.4], np.float32)
    stored = z + np.float32(1e6)
    assert stored.tolist() == [1000000.125, 1000000.1875, 1000000.375]
    # The exact core of what is stored: (-5, -2, 7)/48 centred, whatever computes it
    exactly = numbers(core([R(x) for x in (1, 1.5, 3)], R(64, 10**5)))
    same(lnbook.normalize(stored), exactly)
    differs(lnbook.normalize(z), exactly)


@settles("settled-one-pass", "False")
def test_one_pass():
    given, expected = case("B22")
    z = np.array(given["z"], np.float32)
    assert (z * z).mean() - z.mean() ** 2 < 0
    same(lnbook.normalize(z, eps=given["eps"]), expected["y"])
    assert lnbook.variance(z) == 1.25
    assert vanishes(variance(symbols(4)) - (sum(x**2 for x in symbols(4)) / 4 - mean(symbols(4)) ** 2))


@settles("settled-two-pass", "False")
def test_two_passes():
    z = np.array([2**24, 2**24 + 2], np.float32)
    assert z.astype(int).tolist() == [2**24, 2**24 + 2]
    # The mean 2^24 + 1 is no float32: it becomes 2^24, and stays as 1 in both coordinates
    v = z - (z[0] + z[1]) / np.float32(2)
    assert v.tolist() == [0, 2]
    same(CORES["two pass"](z, 0), [0, np.sqrt(2)])
    assert (v - (v[0] + v[1]) / np.float32(2)).tolist() == [-1, 1]
    assert list(centered([2**24, 2**24 + 2])) == list(core([2**24, 2**24 + 2], 0)) == [-1, 1]
    for right in (CORES["centred twice"](z, 0), lnbook.normalize(z, eps=0)):
        assert right.tolist() == [-1, 1]


@settles("settled-range", "False")
def test_range_of_the_format():
    given, expected = case("B17")
    z = np.array(given["z"], np.float16)
    with np.errstate(over="ignore"):
        assert (z / np.sqrt((z * z).mean())).tolist() == [0, 0]
    assert lnbook.normalize(z, eps=given["eps"]).tolist() == expected["y"] == [1, -1]


# Beside other layers


@settles("settled-fold-next", "True")
def test_fold_into_the_next_layer():
    A, c = sp.Matrix(2, 3, sp.symbols("a1:7")), sp.Matrix(sp.symbols("c1:3"))
    gain, bias, u = (sp.Matrix(sp.symbols(f"{name}1:4")) for name in ("gain", "bias", "u"))
    assert vanishes(A * (gain.multiply_elementwise(u) + bias) + c - (A * sp.diag(*gain) * u + A * bias + c))
    given, expected = case("B66")
    W, b, gain, bias = (np.array(given[key]) for key in ("W", "b", "gamma", "beta"))
    same(W @ bias + b, expected["folded_bias"])
    same((W * gain) @ lnbook.normalize(given["z"], eps=given["eps"]) + expected["folded_bias"], expected["out"])


@settles("settled-fold-back", "False")
def test_fold_into_the_layer_before():
    assert vanishes(mean(core(symbols(3), eps)))
    given, _ = case("B66")
    y = lnbook.layer_norm(given["z"], given["gamma"], given["beta"], eps=given["eps"])
    exactly = layer([1, 2, 4], [2, R(1, 2), 1], [R(1, 10), R(-1, 5), R(3, 10)], R(1, 10**5))
    same(y, numbers(exactly))
    assert abs(y.mean()) > 0.2


@settles("settled-decay", "True only if")
def test_weight_decay():
    given, expected = case("B51")
    kept = Fraction(99, 100) ** given["steps"]
    same(float(kept), expected["gamma_after"])
    assert 1 + 0 * kept == expected["zero_centred_gain_after"]
    shrink, steps = sp.Symbol("shrink", positive=True), sp.Symbol("steps", integer=True)
    assert sp.limit((shrink / (1 + shrink)) ** steps, steps, sp.oo) == 0


@settles("settled-stored", "True only if")
def test_stored_weight():
    given, expected = case("B48")
    stored = np.array(given["gamma_stored"])
    same(lnbook.layer_norm(given["z"], 1 + stored, eps=given["eps"]), expected["y"])
    differs(lnbook.layer_norm(given["z"], stored, eps=given["eps"]), expected["y"])


@settles("settled-group", "True only if")
def test_group_normalization():
    given, expected = case("B52")
    image = np.array(given["z"])[0]  # (C, H, W)
    one_group = lnbook.normalize(image.reshape(1, -1), eps=given["eps"]).reshape(image.shape)
    same(one_group, expected["over_CHW"][0])
    differs(one_group, expected["y"][0])
    # A gain of one number a channel cannot make the gain of one number an entry
    gain = np.array([[[1.0, 2.0]], [[1.0, 1.0]]])
    assert not np.allclose(gain[0, 0, 0], gain[0, 0, 1])
    differs(lnbook.layer_norm(image, gain, eps=given["eps"], axis=(0, 1, 2)), expected["over_CHW"][0])

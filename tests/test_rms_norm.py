"""RMSNorm: its definition, its Jacobian, its bound, and which facts of layer normalization hold for it."""

import tomllib
from fractions import Fraction
from pathlib import Path

import facts_of_the_jacobian  # noqa: F401 - these two register the statements
import facts_of_the_layer  # noqa: F401
import numpy as np
import pytest
import sympy as sp
from exact import centered, core, mean, ones, projection, symbols, vanishes, variance
from hypothesis import assume, given
from hypothesis import strategies as st
from normalizations import (
    CHANGED,
    HALF,
    LAYER,
    PAIR,
    RMS,
    STATEMENTS,
    THIRD,
    Z123,
    R,
    bias3,
    column,
    eps,
    gain3,
    mean_square,
    quarters,
    rms,
    rms_jacobian,
    singular_values,
    times,
    z3,
)
from test_cases import CASES

fact = pytest.mark.fact
ROOT = Path(__file__).parents[1]

# RMSNorm itself


@fact("rms-definition", way="exact")
def test_rms_norm_by_hand():
    assert rms(Z123, THIRD) == Z123 / sp.sqrt(5)
    assert rms(column(3, 4), 0) == column(3, 4) * sp.sqrt(2) / 5


@pytest.mark.parametrize("name", ["B75", "B76"])
@fact("rms-definition", "rms-centred", way="numeric")
def test_the_reported_outputs_of_rms_norm(name):
    given, expected = CASES[name]["input"], CASES[name]["expected"]
    z, small = column(*given["z"]), sp.Rational(str(given["eps"]))
    got = np.array(rms(z, small).evalf(20), dtype=float).ravel()
    assert np.abs(got - expected.get("rms", expected.get("true_rms"))).max() < 1e-14
    if name == "B75":
        shifted = np.array(rms(z + 5 * ones(3), small).evalf(20), dtype=float).ravel()
        assert np.abs(shifted - expected["rms_shifted_by_5"]).max() < 1e-14
        of_centred = np.array(rms(centered(z), small).evalf(20), dtype=float).ravel()
        assert np.abs(of_centred - expected["ln"]).max() < 1e-14
    else:
        third_function = np.array((z / sp.sqrt(variance(z) + small)).evalf(20), dtype=float).ravel()
        assert np.abs(third_function - expected["published_wrong"]).max() < 5.01e-6


def test_a_numerator_that_is_not_centred_has_the_reported_mean():
    given, expected = CASES["B77"]["input"], CASES["B77"]["expected"]
    z = column(*given["z"])
    wrong = z / sp.sqrt(variance(z) + sp.Rational(str(given["eps"])))
    assert abs(float(mean(wrong)) - expected["wrong_mean"]) < 1e-14


@fact("rms-centred", way="exact")
def test_rms_norm_is_the_core_plus_what_the_mean_leaves():
    z = symbols(3)
    mu, q, root = mean(z), variance(z), sp.sqrt(variance(z) + eps)
    assert vanishes(mean_square(z) - mu**2 - q)
    assert vanishes(rms(projection(3) * z, eps) - core(z, eps))
    assert vanishes(rms(z, eps) - (mu * ones(3) + root * core(z, eps)) / sp.sqrt(mu**2 + q + eps))


@fact("rms-centred", way="property")
@given(st.lists(quarters, min_size=1, max_size=5))
def test_rms_norm_and_core_agree_exactly_at_mean_zero(row):
    z = column(*row)
    assert (rms(z, 1) == core(z, 1)) == (mean(z) == 0)


@fact("rms-jacobian", way="exact")
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_jacobian_of_rms_norm(d):
    z = symbols(d)
    assert vanishes(rms(z, eps).jacobian(z) - rms_jacobian(z, eps))
    m = mean_square(z)
    assert vanishes(rms_jacobian(z, eps) * z - eps / (m + eps) ** R(3, 2) * z)
    assert rms_jacobian(sp.zeros(d, 1), eps) == sp.eye(d) / sp.sqrt(eps)
    for k in range(1, d):
        w = sp.zeros(d, 1)
        w[0], w[k] = z[k], -z[0]
        assert vanishes(rms_jacobian(z, eps) * w - w / sp.sqrt(m + eps))


@fact("rms-jacobian", "rms-lipschitz", way="property")
@given(st.lists(quarters, min_size=1, max_size=4), st.data())
def test_no_step_is_amplified_more_than_the_bound(row, data):
    d = len(row)
    step, gain = (np.array(data.draw(st.lists(quarters, min_size=d, max_size=d)), float) for _ in range(2))
    assume(step.any())
    before, after = np.array(row, float), np.array(row, float) + step
    change = gain * (after / np.sqrt((after**2).mean() + 0.01) - before / np.sqrt((before**2).mean() + 0.01))
    assert np.linalg.norm(change) <= 10 * np.abs(gain).max() * np.linalg.norm(step) * (1 + 1e-12)


@fact("rms-lipschitz", way="exact")
def test_the_bound_of_rms_norm_is_approached_from_zero():
    t, gain = sp.Symbol("t", positive=True), column(1, -3, 2)
    slope = times(gain, rms(t * column(0, 1, 0), eps)).norm() / t
    assert sp.limit(slope, t, 0) == 3 / sp.sqrt(eps)


@fact("rms-lipschitz", way="exact")
def test_a_silenced_layer_norm_stays_below_that_bound():
    gain = sp.diag(1, 0, 0, 0)
    assert max(singular_values(gain * projection(4))) == sp.sqrt(R(3, 4)).evalf(30)
    best = projection(4)[:, 0]
    along = (gain * LAYER.jacobian(sp.zeros(4, 1), R(1, 100)) * best).norm() / best.norm()
    assert sp.simplify(along - 10 * sp.sqrt(R(3, 4))) == 0
    assert (gain * RMS.jacobian(sp.zeros(4, 1), R(1, 100)) * column(1, 0, 0, 0)).norm() == 10


# The verdicts of the register


FACTS = tomllib.loads((ROOT / "book" / "facts.toml").read_text("utf-8"))
VERDICTS = {name: entry["rms"]["verdict"] for name, entry in FACTS.items() if "rms" in entry}
PAGES = {"layer-normalization", "bias", "gain", "epsilon", "jacobian", "sensitivity", "shift-invariance", "geometry"}


@fact("rms-facts", way="exact")
@pytest.mark.parametrize("name", VERDICTS)
def test_the_verdict(name):
    verdict, statement = VERDICTS[name], STATEMENTS[name]
    assert statement(LAYER), "not what the fact says of layer normalization"
    assert bool(statement(RMS)) == (verdict == "holds")
    assert verdict in {"holds", "changed", "fails"}
    assert (name in CHANGED) == (verdict == "changed")
    if name in CHANGED:
        assert CHANGED[name]()


def test_every_fact_of_the_concepts_and_the_geometry_has_a_verdict_and_each_verdict_its_statement():
    assert [name for name, entry in FACTS.items() if entry["page"] in PAGES and name not in VERDICTS] == []
    assert STATEMENTS.keys() == VERDICTS.keys()


@fact("rms-facts", way="exact")
def test_what_the_table_says_of_single_values():
    constant = RMS.layer(column(3, 3, 3), gain3, bias3, eps)
    assert vanishes(constant - 3 * gain3 / sp.sqrt(9 + eps) - bias3)
    assert vanishes(mean(rms(z3, eps)) - mean(z3) / sp.sqrt(mean_square(z3) + eps))
    assert rms(Z123, THIRD) == Z123 / sp.sqrt(5)
    assert rms(Z123, R(4, 3)) == Z123 / sp.sqrt(6)
    J = RMS.jacobian(PAIR, 3)
    assert R(1, 16) * sp.Matrix([[7, 1], [1, 7]]) == J
    assert R(3, 8) * PAIR == J * PAIR
    assert J * ones(2) == HALF * ones(2)
    assert (sp.diag(0, 2) * J)[1, :] == sp.Matrix([[R(1, 8), R(7, 8)]])
    at_zero = RMS.jacobian(column(0, 0, 0), THIRD)
    assert max(sum(abs(entry) for entry in at_zero[i, :]) for i in range(3)) == sp.sqrt(3)
    scale, offset = sp.symbols("scale offset", real=True)
    alike = RMS.layer(z3, scale * ones(3), offset * ones(3), eps)
    assert vanishes(mean(alike) - offset - scale * mean(z3) / sp.sqrt(mean_square(z3) + eps))
    c = sp.Symbol("c", real=True)
    assert vanishes(mean_square(z3 + c * ones(3)) - mean_square(z3) - 2 * c * mean(z3) - c**2)
    off_diagonal = rms(z3, eps)[1].diff(z3[0])
    assert vanishes(off_diagonal + z3[0] * z3[1] / 3 / (mean_square(z3) + eps) ** R(3, 2))
    z, h = column(7, 7), column(R(1, 1000), R(-1, 1000))
    for small in (R(1, 10**4), R(1, 100)):
        assert abs((rms(z + h, small) - rms(z, small)).norm() / h.norm() - R(1, 7)) < R(1, 5000)


@fact("rms-facts", way="property")
@given(st.lists(quarters, min_size=1, max_size=4), st.fractions(Fraction(1, 100), 4, max_denominator=100))
def test_rms_norm_is_one_to_one(row, small):
    m = sum(x**2 for x in row) / len(row)
    squares = [x**2 / (m + small) for x in row]  # of the entries of n
    back = sum(squares) / len(row)
    back = back * small / (1 - back)
    assert back == m
    assert [n2 * (back + small) for n2 in squares] == [x**2 for x in row]

"""lnbook.conformance names each mistake by its cause, and by no other; and it says so where nothing fits."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import wrong_digits
import wrong_gradients
import wrong_layer_norms as wrong
from mistakes_table import BY_OTHER_TESTS, EVERY_FACT, TABLE, demonstrations, facts_broken, recorded, table
from right_layer_norms import of_lnbook, vjp_of_lnbook

from lnbook import conformance
from lnbook.conformance import catalogue, diagnosis, models, signatures
from lnbook.conformance.facts import CONVENTION, FLOATING_POINT, GRADIENT, KINDS, MEMORY
from lnbook.conformance.layers import Call, ExactLayer

ROOT = Path(__file__).parents[1]
OUTPUT = (CONVENTION, FLOATING_POINT)
DERIVATIVES = (GRADIENT, FLOATING_POINT)


def one_mistake(report, words):
    """One finding with one cause, all wrong numbers explained; and its places are shown."""
    assert not report.ok
    assert len(report.findings) == 1, report
    assert report.mistakes[0].startswith(words), report
    assert len(report.findings[0].causes) == 1, report
    assert report.unexplained == ()
    assert f"the numbers fit this mistake: {words}" in str(report)
    for place in report.findings[0].places:
        assert f"    look at: {place}" in str(report).splitlines()


def test_the_table_in_the_book_is_made_of_the_catalogue():
    facts = recorded()
    assert facts.keys() == set(conformance.known_mistakes()) == {*demonstrations(), *BY_OTHER_TESTS}
    made = table(facts)
    for path, text in zip((TABLE, EVERY_FACT), made, strict=True):
        assert path.read_text("utf-8") == f"{text.rstrip()}\n", "out of date: python tests/mistakes_table.py"


@pytest.mark.parametrize("name", demonstrations())
def test_the_facts_that_the_book_says_a_mistake_breaks_are_those_it_breaks(name):
    assert facts_broken(conformance.check(**demonstrations()[name])) == recorded()[name]


@pytest.mark.parametrize(("layer_norm", "dtype", "words"), wrong.FORWARD)
def test_each_mistake_of_the_layer_is_named(layer_norm, dtype, words):
    one_mistake(conformance.check(layer_norm, dtype=dtype, kinds=OUTPUT), words)


@pytest.mark.parametrize(("layer_norm", "dtype", "words"), wrong_digits.DIGITS)
def test_each_mistake_of_the_digits_is_named(layer_norm, dtype, words):
    """Plain NumPy lets the squares overflow as well, and is told so; that apart, one name."""
    report = conformance.check(layer_norm, dtype=dtype, kinds=OUTPUT)
    others = [words] if words == wrong_digits.OVERFLOWS else [m for m in report.mistakes if m != wrong_digits.OVERFLOWS]
    assert len(others) == 1, report
    assert others[0].startswith(words), report
    assert report.unexplained == ()


@pytest.mark.parametrize(("layer_norm", "words"), wrong_digits.MEMORY)
def test_each_mistake_of_the_memory_is_named(layer_norm, words):
    report = conformance.check(layer_norm, kinds=(CONVENTION, MEMORY))
    assert {row.kind for row in report.rows if not row.holds} == {MEMORY}
    one_mistake(report, words)


@pytest.mark.parametrize(("vjp", "words"), wrong_gradients.GRADIENT)
def test_each_mistake_of_the_gradient_is_named(vjp, words):
    one_mistake(conformance.check(of_lnbook, vjp=vjp, kinds=DERIVATIVES), words)


@pytest.mark.parametrize(("vjp", "words"), wrong_gradients.GRADIENT[::7])
def test_mistakes_of_the_gradient_are_named_in_float64(vjp, words):
    one_mistake(conformance.check(of_lnbook, vjp=vjp, dtype="float64", kinds=DERIVATIVES), words)


def test_gradients_that_are_added_to_those_of_the_call_before_are_named():
    kept = {}

    def vjp(z, gain, bias, eps, g):
        dz, dgain, dbias = vjp_of_lnbook(z, gain, bias, eps, g)
        before = kept.get(len(gain), (0, 0))
        kept[len(gain)] = before[0] + dgain, before[1] + dbias
        return dz, *kept[len(gain)]

    report = conformance.check(of_lnbook, vjp=vjp)
    assert {"bias-positions", "gain-gradient"} <= {row.fact for row in report.rows if not row.holds}
    one_mistake(report, catalogue.STATEFUL.name)


def test_positions_beyond_65535_are_asked_in_a_thorough_run():
    report = conformance.check(wrong_digits.wrong_from_65536_on, kinds=(CONVENTION,), thorough=True)
    assert [row.name for row in report.rows if not row.holds] == ["def-output/many-positions"]
    one_mistake(report, "positions from 65535 on are wrong (the first of them is 65536, counted from 0)")
    assert conformance.check(wrong_digits.wrong_from_65536_on, kinds=(CONVENTION,)).ok


def test_sums_over_more_than_65535_positions_are_asked_in_a_thorough_run():
    def vjp(z, gain, bias, eps, g):
        rows = [a.reshape(-1, z.shape[-1])[:65535] for a in (z, g)]
        dz, _, _ = wrong_gradients.right_vjp(z, gain, bias, eps, g)
        return dz, *wrong_gradients.right_vjp(rows[0], gain, bias, eps, rows[1])[1:]

    check = next(c for c in conformance.checks(GRADIENT, thorough=True) if str(c) == "bias-positions/many")
    assert check.run(of_lnbook, vjp=wrong_gradients.right_vjp).holds
    assert not check.run(of_lnbook, vjp=vjp).holds


def test_each_mistake_that_can_be_named_is_made_by_one_of_them():
    lists = (wrong.FORWARD, wrong_digits.DIGITS, wrong_digits.MEMORY, wrong_gradients.GRADIENT)
    made = [case[-1] for cases in lists for case in cases]
    elsewhere = BY_OTHER_TESTS.keys()  # each has a test of its own
    known = conformance.known_mistakes()
    assert {name for name in known if not any(words.startswith(name) for words in made)} == elsewhere
    assert len(known) > 60


def test_each_mistake_has_a_place_and_each_report_is_one_that_the_book_knows():
    sources = {
        part.strip()
        for case in json.loads((ROOT / "tests" / "cases-2.json").read_text("utf-8"))["cases"]
        for part in re.split("[;,]", re.sub(r" \(#\d+\)", "", case["source"]))
    }
    repositories = {source.split("#")[0].removesuffix(" PR") for source in sources if "#" in source}
    keys = set(re.findall(r"^@\w+\{([^,]+),", (ROOT / "book" / "references.bib").read_text("utf-8"), re.MULTILINE))
    for mistake in catalogue.MISTAKES:
        assert mistake.place
        for report in mistake.reports:
            repository = report.split("#")[0].removesuffix(" PR")
            number = report.rpartition("#")[2]
            known = report in keys or report in sources
            assert known or any(repository in r and f"#{number}" in s for r in repositories for s in sources), report


@pytest.mark.parametrize(("layer_norm", "names"), wrong.TWO_MISTAKES)
def test_two_mistakes_are_both_named(layer_norm, names):
    report = conformance.check(layer_norm, kinds=OUTPUT)
    assert not report.ok
    assert set(report.mistakes) == names


def test_a_variance_that_cancels_and_a_sum_that_stalls_are_both_named():
    report = conformance.check(
        wrong_digits.mean_of_squares_minus_square_of_mean, vjp=wrong_gradients.sums_in_half_precision
    )
    assert set(report.mistakes) == {
        catalogue.CANCELLING_VARIANCE.name,
        catalogue.HALF_SUMS.name,
        catalogue.OVERFLOWING_SQUARES.name,
    }


def test_two_mistakes_of_the_gradient_are_both_named():
    def vjp(z, gain, bias, eps, g):
        dz = wrong_gradients.without_the_mean_of_g(z, np.ones_like(gain), bias, eps, g)[0]
        return dz, *wrong_gradients.right_vjp(z, gain, bias, eps, g)[1:]

    assert set(conformance.check(of_lnbook, vjp=vjp, kinds=DERIVATIVES).mistakes) == {
        "the gradient by the input lacks the term mean(gain * g)",
        "the gradient by the input lacks the gain",
    }


def test_the_published_formula_of_case_c33_is_taken_apart():
    report = conformance.check(of_lnbook, vjp=wrong_gradients.without_sums, kinds=DERIVATIVES)
    assert set(report.mistakes) == {
        "a mean over the row is missing in the gradient by the input (u g u / sqrt(q + eps), and no mean(g))",
        "the gradient by the input is divided by d",
    }


def test_the_right_gradient_of_a_wrong_layer_is_no_second_mistake():
    report = conformance.check(wrong.gain_stored_less_one, vjp=gradient_with_stored_gain)
    one_mistake(report, "the stored gain is taken for gain - 1")
    assert any(row.kind == GRADIENT and not row.holds for row in report.rows)


def gradient_with_stored_gain(z, gain, bias, eps, g):
    return wrong_gradients.right_vjp(z, 1 + gain, bias, eps, g)


def test_a_mistake_of_the_layer_and_one_of_the_gradient_are_both_named():
    report = conformance.check(wrong.gain_stored_less_one, vjp=wrong_gradients.without_the_mean_terms)
    assert set(report.mistakes) == {
        "the stored gain is taken for gain - 1",
        "the gradient by the input lacks both mean terms",
    }


def test_a_gradient_by_the_gain_that_cancels_at_one_coordinate_is_named():
    """As PyTorch has it on a CPU: dgain = sum(g * (s z + b)) with b = -s mean."""

    def vjp(z, gain, bias, eps, g):
        dz, _, dbias = vjp_of_lnbook(z, gain, bias, eps, g)
        s = 1 / np.sqrt(z.var(axis=-1, keepdims=True) + z.dtype.type(eps))
        b = -s * wrong.mean(z)
        # one rounding for s z + b, as a fused multiply-add has
        core = (s.astype(np.float64) * z.astype(np.float64) + b.astype(np.float64)).astype(z.dtype)
        return dz, wrong_gradients.over_positions(g * core), dbias

    report = conformance.check(of_lnbook, vjp=vjp)
    assert [row.name for row in report.rows if not row.holds] == ["largest-coordinate/one"]
    one_mistake(report, f"{catalogue.SCALED_MEAN.name} (in the backward pass)")


def test_two_causes_with_the_same_numbers_are_both_named():
    """Where only one row is asked for, the first row, the last one and the one before are the same."""
    layer = ExactLayer("float64")
    z = np.array([[1.0, 2, 4], [3, 1, 0]])
    one, zero = np.ones(3), np.zeros(3)
    y = models.layer_norm(z, one, zero, 1.0, statistics=lambda z: models.row_statistics(z[::-1]))
    call = Call("def-output", CONVENTION, z, one, zero, 1.0, None, (y,), {}, ())
    findings, _ = diagnosis.explained_output([call], layer)
    assert (
        str(findings[0]) == "rows are mixed (mean and variance of the row before or mean and variance of the row after)"
    )
    eps = 1e-3
    y = models.layer_norm(z, one, zero, 0.0)
    call = Call("def-output", CONVENTION, z, one, zero, eps, None, (y,), {}, ())
    findings, _ = diagnosis.explained_output([call], ExactLayer("float32"))
    assert [cause.mistake.name for cause in findings[0].causes] == [
        "max(q, eps) in place of q + eps",
        "eps is squared",
        "eps is missing",
        "eps is hard-coded",
    ]
    assert str(findings[0]).count(", or ") == 3


def test_the_models_of_padding_and_of_mixed_rows_do_not_depend_on_how_rows_are_stacked():
    z, one, zero = np.random.default_rng(0).normal(size=(2, 3, 5)), np.ones(5), np.zeros(5)
    for mistake in catalogue.FORWARD_MISTAKES:
        if mistake.name.startswith(("padding", "rows are mixed", "the sums over a row", "partial sums")):
            for detail, statistics in mistake.variants:
                stacked, flat = (
                    models.layer_norm(a, one, zero, 1, statistics=statistics) for a in (z, z.reshape(6, 5))
                )
                assert np.array_equal(stacked, flat.reshape(z.shape)), detail


def squashed(z, gain, bias, eps):
    return np.tanh(wrong.right(z, gain, bias, eps))


def confused(z, gain, bias, eps):
    """Wrong far from zero only, in no way that a mistake known here explains."""
    u = of_lnbook(z, np.ones_like(gain), np.zeros_like(bias), eps)
    return (gain * np.where(z.min(axis=-1, keepdims=True) > 60, 0.9 * u, u) + bias).astype(z.dtype)


def small_ones_lost(z, gain, bias, eps):
    return of_lnbook(np.where(np.abs(z) < 1e-12, z.dtype.type(0), z), gain, bias, eps)


@pytest.mark.parametrize("layer_norm", [squashed, confused, small_ones_lost])
def test_a_mistake_nobody_made_yet_fails_and_the_report_says_that_nothing_fits(layer_norm):
    report = conformance.check(layer_norm)
    assert not report.ok
    assert report.mistakes == ()
    assert str(report).splitlines()[-1] == "the numbers fit none of the mistakes known here"
    assert set(report.unexplained) == {row.name for row in report.rows if not row.holds}


def test_what_a_mistake_does_not_explain_is_said_beside_it():
    def vjp(z, gain, bias, eps, g):
        dz, dgain, dbias = vjp_of_lnbook(z, gain, bias, eps, g)
        return dz, dgain * dgain, dbias

    report = conformance.check(wrong.right, vjp=vjp)
    assert report.mistakes == (wrong_digits.OVERFLOWS,)
    assert str(report).splitlines()[-1].startswith("the numbers of these rows fit none of the mistakes known here: ")
    assert "gain-gradient" in report.unexplained


def test_every_report_of_a_failure_ends_with_a_diagnosis():
    for function in (squashed, wrong.rms_norm, lambda z, gain, bias, eps: None, small_ones_lost):
        for kinds in ((kind,) for kind in KINDS):
            report = conformance.check(function, kinds=kinds)
            words = ("the numbers fit", "    look at", "the numbers of these rows", "where there are no numbers")
            assert report.ok or str(report).splitlines()[-1].startswith(words), report


def call_that_is_off(error, eps=3):
    """Two rows, of the roots 2 and sqrt(67), whose first output is off."""
    z, gain, bias = np.array([[4, 2, 4, 2], [-10, 6, -10, 6]]), np.array([4, 1, 1, 1]), np.array([-3.5, 0, 0, 0])
    y = models.layer_norm(z, gain, bias, eps)
    y[0, 0] += error
    return Call("def-output", CONVENTION, z, gain, bias, eps, None, (y,), {}, ())


def test_half_precision_explains_errors_of_its_own_size_only():
    size = 4 * 8 / 67**0.5 + 3.5
    most = 4 * 2.0**-11 * size * (1 + 10 / 2)
    least = 16 * 2.0**-24 * size
    layer = ExactLayer("float32")
    off = {name: call_that_is_off(error) for name, error in (("fits", most / 2), ("not", 0), ("too far", 1.001 * most))}
    for expected, calls in {
        True: [[call_that_is_off(0.999 * most)], [call_that_is_off(1.001 * least)], [off["not"], off["fits"]]],
        False: [[call_that_is_off(0.999 * least)], [off["not"]], [off["fits"], off["too far"]]],
    }.items():
        assert [bool(signatures.off_by_rounding(some, layer, 11)) for some in calls] == [expected] * 3


def returning(*numbers):
    returned = tuple(np.array(n, float) for n in numbers)
    return Call("def-output", CONVENTION, None, None, None, 1, None, returned, {}, ())


@pytest.mark.parametrize("scale", [1, 100])
def test_a_model_fits_where_all_numbers_are_its_own_and_some_are_not_the_right_ones(scale):
    def model(call, factor=1, fails_at=None, reshapes_at=None):
        if call is fails_at:
            raise ValueError
        numbers = factor * np.array([scale, 0])
        return (numbers[None] if call is reshapes_at else numbers,)

    nonsense, right, nearly, twice = (returning([x * scale, 0]) for x in (7, 1, 1.0005, 2))
    for recipe, calls, fits in (
        ({"factor": 2}, [twice], True),
        ({"factor": 2}, [twice, nonsense], False),
        ({"factor": 2}, [nonsense, twice], False),
        ({"factor": 2, "fails_at": nonsense}, [nonsense, twice], True),
        ({"factor": 2, "reshapes_at": nonsense}, [nonsense, twice], True),
        ({"factor": 2, "fails_at": nonsense}, [nonsense], False),
        ({}, [right, right], False),
        ({}, [right, nearly], False),
        ({"factor": 1.0005}, [nearly], False),
    ):
        asked = diagnosis.Asked(calls, model, 1e-3)
        assert diagnosis.fits(asked, [model(call) for call in calls], recipe) is fits


def test_a_rounding_may_flip_for_one_number_but_not_for_many():
    one = (np.zeros(100),)
    few, many = np.zeros(100), np.zeros(100)
    few[:3], many[:4] = 1e-3, 1e-3
    assert diagnosis.close(one, (few,), 1e-6, [1], flips=2**-9)
    assert not diagnosis.close(one, (many,), 1e-6, [1], flips=2**-9)
    assert not diagnosis.close(one, (few,), 1e-6, [1])
    assert not diagnosis.close(one, (4 * few,), 1e-6, [1], flips=2**-9)

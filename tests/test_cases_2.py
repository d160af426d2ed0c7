"""Every row of cases-2.json, inputs from public reports: on lnbook, and on the exact arithmetic of the checker."""

import json
from fractions import Fraction
from math import factorial
from pathlib import Path

import numpy as np
import pytest
from test_cases import same

import lnbook
from lnbook.conformance import exact
from lnbook.conformance.statements import spread

CASES = {row["id"]: row for row in json.loads(Path(__file__).with_name("cases-2.json").read_text("utf-8"))["cases"]}
CHECKS = {}


def case(*ids):
    """Register the check of the rows with these ids; it is called with the row's input and its expected answers."""

    def register(check):
        for name in ids:
            assert name not in CHECKS
            CHECKS[name] = check
        return check

    return register


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    row = CASES[name]
    CHECKS[name](row["input"], row["expected"])


def test_every_row_has_a_check_and_every_check_its_row():
    assert CHECKS.keys() == CASES.keys()


def test_every_row_says_who_reported_it_or_is_our_own():
    assert {name for name, row in CASES.items() if not row["source"]} == {"E01", "E02"}


def z_of(given):
    return np.asarray(given["z"], given["dtype"])


def axis_of(given):
    axis = given.get("axis", -1)
    return tuple(axis) if isinstance(axis, list) else axis


def output(given, z=None):
    z = z_of(given) if z is None else z
    return lnbook.layer_norm(z, given.get("gamma"), given.get("beta"), eps=given["eps"], axis=axis_of(given))


def gradients(given, z=None, g=None):
    z, g = (given[k] if a is None else a for k, a in (("z", z), ("dy", g)))
    z, g = np.asarray(z, given["dtype"]), np.asarray(g, given["dtype"])
    return lnbook.vjp(z, g, given.get("gamma"), eps=given["eps"])


def exactly(given, z=None):
    """The output in the checker's own arithmetic."""
    z = exact.fractions(z_of(given) if z is None else z)
    u, _ = exact.core(z, Fraction(given["eps"]))
    gain, bias = (exact.fractions(np.array(given[k])) if k in given else x for k, x in (("gamma", 1), ("beta", 0)))
    return gain * u + bias


@case("C04", "C12", "C14", "C18", "C20", "C22", "C30", "C32")
def forward(given, expected):
    same(output(given), expected["y"])
    np.testing.assert_allclose(exactly(given).astype(float), np.array(expected["y"], float), rtol=1e-15, atol=1e-30)


@case("C01", "C02")
def arrays_that_are_not_contiguous(given, expected):
    z = z_of(given)
    wide = np.full([2 * n for n in z.shape], 7, z.dtype)
    every_second = wide[(slice(None, None, 2),) * z.ndim]
    every_second[...] = z
    backwards = (slice(None, None, -1),) * z.ndim
    for view in (z, every_second, np.asfortranarray(z), z[backwards].copy()[backwards]):
        same(output(given, view), expected["y"])


@case("C05", "C35")
def refused(given, expected):
    with pytest.raises(ValueError, match="gain must have the shape" if "gamma" in given else "axis must name"):
        output(given)


@case("C08")
def more_than_65535_rows(given, expected):
    z = np.array([[1, 2, 4, 8]] * 65536 + [[0, 0, 1, 5]], given["dtype"])
    y = output(given, z)
    same(y[-1], expected["y"])
    assert (y[:-1] == y[0]).all()


@case("C09")
def positions_that_no_block_divides(given, expected):
    random = np.random.default_rng(0)
    z, g = random.integers(-8, 9, (1031, 2)), random.integers(-3, 4, (1031, 2))
    _, dgain, dbias = gradients(given, z, g)
    same(dgain, expected["dgamma"])
    same(dbias, expected["dbeta"])


@case("C10")
def higher_derivatives(given, expected):
    coefficients = lnbook.taylor(given["z"], given["tangent"], 3, given["gamma"], eps=given["eps"])
    for order, name in ((2, "second"), (3, "third")):
        terms = factorial(order) * coefficients[order] * given["loss_gradient"]
        same(terms.sum(), expected[name], of=terms)


@case("C16", "C17", "C33")
def gradient(given, expected):
    for got, name in zip(gradients(given), ("dz", "dgamma", "dbeta"), strict=True):
        same(got, expected[name], of=np.maximum(1, np.abs(np.array(expected[name], float))))
    z, gain, g = (exact.fractions(np.array(given[k], float)) for k in ("z", "gamma", "dy"))
    u, inverse_std = exact.core(z, Fraction(given["eps"]))
    dz = exact.input_gradient(u, inverse_std, gain * g)
    np.testing.assert_allclose(dz.astype(float), np.array(expected["dz"], float), rtol=1e-14)
    np.testing.assert_allclose(
        exact.sum_positions(g * u).astype(float), np.array(expected["dgamma"], float), rtol=1e-14
    )


@case("C19")
def three_warps(given, expected):
    z = spread(given["d"]).astype(float).astype(given["dtype"])
    same(output(given, z), expected["y"])
    np.testing.assert_allclose(exactly(given, z).astype(float), np.array(expected["y"], float), rtol=1e-13)


@case("C21")
def all_axes(given, expected):
    same(output(given), expected["y"])


def first_and_last(given, expected, z):
    y = output(given, z.astype(given["dtype"]))
    largest = np.abs(exactly(given, z.astype(given["dtype"])).astype(float)).max()
    for got, name in ((y[0], "first"), (y[-1], "last")):
        same(got, expected[name], of=largest)


@case("C23")
def far_from_zero_with_a_small_spread(given, expected):
    first_and_last(given, expected, 1e5 + 0.01 * np.random.default_rng(1).standard_normal(4096))


@case("C24")
def at_a_million(given, expected):
    first_and_last(given, expected, 1e6 + np.random.default_rng(2).standard_normal(1024))


@case("C31")
def in_float16(given, expected):
    first_and_last(given, expected, np.float16(0.1) * np.random.default_rng(3).random(128).astype(np.float16))


@case("C25")
def two_coordinates(given, expected):
    same(output(given), expected["y"])
    dz, _, _ = gradients(given, given["z"], np.ones(2))
    assert dz.tolist() == [float(x) for x in expected["dz"]] == [0, 0]


@case("C28")
def gain_of_each_position(given, expected):
    with pytest.raises(ValueError, match="gain must have the shape"):
        output(given)
    same(np.float32(given["gamma"]) * lnbook.normalize(z_of(given), eps=given["eps"]), expected["y"])


@case("E01")
def integers_beyond_float64(given, expected):
    """The checker's arithmetic is exact for them; what lnbook does with them its own tests say."""
    z = np.array([Fraction(x) for x in given["z"]])
    assert [str(x) for x in z - exact.mean(z)] == expected["center"]
    u, _ = exact.core(z, Fraction(given["eps"]))
    np.testing.assert_allclose(u.astype(float), np.array(expected["normalize"], float), rtol=1e-15)


@case("E02")
def an_entry_that_is_nearly_0(given, expected):
    same(gradients(given)[1], expected["dgamma"])

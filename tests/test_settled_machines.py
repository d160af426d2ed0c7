"""The verdicts on the choice of epsilon, on computing with floats, and on the layers beside it."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from exact import centered, core, core_jacobian, layer, mean, projection, symbols, vanishes, variance
from test_cases import differs, same
from verdicts import R, case, eps, numbers, settles

import lnbook
from lnbook.pages.algorithms import CORES

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


@settles("settled-tiny", "True only if")
def test_tiny_variance():
    given, expected = case("B26")
    z = np.array(given["z"], np.float32)
    same(lnbook.normalize(z, eps=given["eps"]), expected["y"])
    assert float(z[-1]) / np.sqrt(given["eps"]) == pytest.approx(expected["published_wrong"], rel=1e-6)
    assert expected["published_wrong"] > np.sqrt(3) > max(expected["y"])
    for ratio in (R(1, 10**6), R(1, 100), 1):
        short_by = 1 - core([-1, 1], 1 / ratio)[1] * sp.sqrt(1 / ratio)  # q = 1, eps = 1 / ratio
        assert 0 < short_by < ratio / 2


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


@settles("settled-fold-next", "True only if")
def test_fold_into_the_next_layer():
    A, c = sp.Matrix(2, 3, sp.symbols("a1:7")), sp.Matrix(sp.symbols("c1:3"))
    gain, bias, u = (sp.Matrix(sp.symbols(f"{name}1:4")) for name in ("gain", "bias", "u"))
    assert vanishes(A * (gain.multiply_elementwise(u) + bias) + c - (A * sp.diag(*gain) * u + A * bias + c))
    given, expected = case("B66")
    W, b, gain, bias = (np.array(given[key]) for key in ("W", "b", "gamma", "beta"))
    same(W @ bias + b, expected["folded_bias"])
    differs(lnbook.layer_norm(given["z"], gain, bias, eps=given["eps"]), lnbook.normalize(given["z"], eps=given["eps"]))
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

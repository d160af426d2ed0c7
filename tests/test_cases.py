"""Every row of cases.json, the inputs people reported trouble with, to 2 eps(dtype) max|expected|."""

import json
from pathlib import Path

import numpy as np
import pytest
from exact import core_jacobian_product, digits
from mpmath import mp

import lnbook

CASES = {row["id"]: row for row in json.loads(Path(__file__).with_name("cases.json").read_text("utf-8"))["cases"]}
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


def same(got, expected, of=None):
    """`got` is right to two units of the dtype times the largest expected number."""
    got, exact = np.asarray(got), np.asarray(expected, dtype=np.float64)
    assert got.shape == exact.shape
    eps = float(np.finfo(got.dtype).eps) if got.dtype.kind == "f" else 0.0
    scale = np.abs(exact if of is None else np.asarray(of, dtype=np.float64)).max(initial=0.0)
    assert np.isfinite(got).all()
    assert np.abs(got.astype(np.float64) - exact).max(initial=0.0) <= 2 * eps * scale


def differs(got, wrong):
    """`got` is nowhere near what wrong code gives."""
    assert np.abs(np.asarray(got, np.float64) - wrong).max() > 1e-4


def z_of(given):
    return np.asarray(given["z"], given.get("dtype"))


def output(given):
    z = z_of(given)
    return lnbook.layer_norm(z, given.get("gamma"), given.get("beta"), eps=given["eps"])


def gradients(given):
    return lnbook.vjp(given["z"], given["dy"], given.get("gamma"), eps=given["eps"])


@case("B01", "B02", "B04", "B05", "B08", "B11", "B14", "B15", "B17", "B18", "B20", "B22", "B25", "B26", "B28", "B30")
@case("B24a", "B24b", "B31", "B77", "B80")
def forward(given, expected):
    got = output(given)
    same(got, expected["y"])
    for name in ("not_y", "outside_y", "clamp_y", "ddof1_y", "wrong_mean", "published_wrong"):
        if name in expected:
            differs(got, expected[name])
    if "published" in expected:
        assert np.abs(got - expected["published"]).max() <= 5.01e-6
    if "same_as" in expected:
        same(lnbook.normalize(np.asarray(expected["same_as"], got.dtype), eps=given["eps"]), expected["y"])
    if "float16_of_eps" in expected:
        assert np.float16(given["eps"]) == expected["float16_of_eps"]
    if "q" in expected and given["dtype"] == "float32":
        same(lnbook.variance(z_of(given)), expected["q"])
    if "q" in expected and given["dtype"] == "float16":
        same(lnbook.variance(z_of(given).astype(np.float32)), expected["q"])
        assert lnbook.variance(z_of(given)) == np.inf
    if "ratio" in expected:
        z = z_of(given)
        ratio = got * np.std(z, ddof=1) / (z - z.mean())
        same(ratio, np.full(len(z), expected["ratio"]))
        assert abs(expected["limit"] - np.sqrt(4 / 3)) < 1e-15
    if "inv_std" in expected:
        assert 1 / np.sqrt(float(lnbook.variance(z_of(given).astype(np.float32)))) == expected["inv_std"]


@case("B06", "B69", "B72")
def jacobians(given, expected):
    z, eps = given["z"], given["eps"]
    same(lnbook.jacobian(z, eps=eps), expected["J"])
    if "y" in expected:
        same(output(given), expected["y"])
    if "opnorm" in expected:
        same(lnbook.operator_norm(z, eps=eps), expected["opnorm"])
    if "claimed" in expected:
        differs(lnbook.operator_norm(z, eps=eps), expected["claimed"])
        assert lnbook.spectrum(z, eps=eps).eigenvalues[2] == pytest.approx(expected["claimed"], rel=4.5e-16)
    if "eig" in expected:
        values, _, multiplicities = lnbook.spectrum(z, eps=eps)
        same(np.repeat(values, multiplicities), expected["eig"])
        assert (values > 0) @ multiplicities == expected["rank"]


@case("B09", "B10")
def several_eps(given, expected):
    for eps, y in zip(given["eps"], expected["y"], strict=True):
        same(lnbook.normalize(given["z"], eps=eps), y)


@case("B12")
def norms_at_a_constant_row(given, expected):
    for eps, norm in zip(given["eps"], expected["opnorm"], strict=True):
        same(lnbook.operator_norm(given["z"], eps=eps), norm)


@case("B23")
def constant_row(given, expected):
    z = np.full(given["d"], given["z_const"], given["dtype"])
    same(lnbook.normalize(z, eps=given["eps"]), np.full(given["d"], expected["y_const"]))


@case("B33")
def eps_added_to_the_standard_deviation(given, expected):
    z = np.array(given["z"])
    v, q = lnbook.center(z), lnbook.variance(z)
    same(v[-1] / (np.sqrt(q) + given["eps"]), expected["outlier"])
    assert np.abs(lnbook.normalize(z, eps=given["eps"])).max() < np.sqrt(len(z) - 1) == 3


@case("B34", "B35", "B36", "B41", "B42", "B45", "B46", "B82")
def gradient(given, expected):
    dz, dgain, dbias = gradients(given)
    for name, got in (("dz", dz), ("dgamma", dgain), ("dbeta", dbias)):
        if name in expected:
            same(got, expected[name])
    if "y" in expected:
        same(output(given), expected["y"])
    if "J" in expected:
        same(lnbook.jacobian(given["z"], given["gamma"], eps=given["eps"]), expected["J"])
    if "sum_dgamma" in expected:
        same(np.sum(dgain), expected["sum_dgamma"], of=dgain)


@case("B38", "B39")
def derivatives_along_a_line(given, expected):
    # With d = 2 and v = (t, -t)/2: sum y = -t / (2 sqrt(t^2/4 + eps)), whose derivatives mpmath takes
    def total(t):
        return -t / (2 * mp.sqrt(t * t / 4 + mp.mpf(given["eps"])))

    t, along, gain = mp.mpf(given["z"][0]), given["direction"], given["gamma"]
    exact = dict(zip(("value", "first", "second", "third"), mp.diffs(total, t, 3), strict=True))
    for name, value in exact.items():
        if name in expected:
            same(float(value), expected[name])
    slope = digits(gain) * core_jacobian_product(given["z"], along, given["eps"])
    assert abs(slope.sum() - exact["first"]) < 1e-30
    if "first" in expected:
        y, dy = output(given), lnbook.jvp(given["z"], along, gain, eps=given["eps"])
        same(y.sum(), expected["value"])
        same(dy.sum(), expected["first"], of=dy)
        differs(float(exact["second"]), expected["published_wrong"])


@case("B43")
def sums_in_bfloat16(given, expected):
    def to_bfloat16(x):
        """Round a float32 to 8 significant bits, ties to even."""
        bits = int(np.float32(x).view(np.uint32))
        return np.uint32((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)

    in_bfloat16, in_float16 = np.float32(0), np.float16(0)
    for _ in range(given["N"]):
        in_bfloat16 = to_bfloat16(in_bfloat16 + np.float32(given["dy_value"]))
        in_float16 = np.float16(in_float16 + np.float16(given["dy_value"]))
    assert (in_bfloat16, in_float16) == (expected["bf16_sequential"], expected["fp16_sequential"])
    z = np.tile(np.array([0, 1], np.float16), (given["N"], 1))
    _, _, dbias = lnbook.vjp(z, np.full_like(z, given["dy_value"]))
    assert dbias.tolist() == [expected["right"]] * 2


@case("B44")
def derivative_by_the_bias(given, expected):
    for gain in (None, [3.0, -0.5]):
        rows = [lnbook.vjp(given["z"], g, gain, eps=given["eps"])[2].tolist() for g in np.eye(2)]
        assert rows == expected["dy_dbeta"]


@case("B48")
def gain_stored_less_one(given, expected):
    gain = 1 + np.array(given["gamma_stored"])
    same(lnbook.layer_norm(given["z"], gain, eps=given["eps"]), expected["y"])


@case("B50")
def core_recovered_from_the_output(given, expected):
    y = output(given)
    same(lnbook.normalize(z_of(given), eps=given["eps"]), expected["u"])
    gain, bias = np.array(given["gamma"], np.float32), np.array(given["beta"], np.float32)
    assert y[0] == bias[0]  # gain 0: nothing of u is left
    recovered = (y[1:] - bias[1:]) / gain[1:]
    assert 1e-4 < abs(recovered[0] - expected["u"][1]) <= 3.9e-3
    same(recovered[1:], expected["u"][2:])


@case("B51")
def weight_decay(given, expected):
    gain, zero_centred, bias = given["gamma"], 0.0, 0.0
    for _ in range(given["steps"]):
        gain, zero_centred, bias = (p * (1 - given["lr_wd"]) for p in (gain, zero_centred, bias))
    assert gain == pytest.approx(expected["gamma_after"], abs=expected["tol"])
    assert (1 + zero_centred, bias) == (expected["zero_centred_gain_after"], expected["beta_after_from_0"])


@case("B52")
def channels_first(given, expected):
    same(lnbook.normalize(given["z"], eps=given["eps"], axis=tuple(given["axes"])), expected["y"])
    same(lnbook.normalize(given["z"], eps=given["eps"], axis=(1, 2, 3)), expected["over_CHW"])


@case("B53")
def last_axis_or_both(given, expected):
    for axes, y in zip(given["axes"], expected["y"], strict=True):
        same(lnbook.normalize(given["z"], eps=given["eps"], axis=tuple(axes)), y)


@case("B55")
def no_rows(given, expected):
    z = np.zeros(given["shape"])
    dz, dgain, dbias = lnbook.vjp(z, z, eps=given["eps"])
    assert list(lnbook.normalize(z, eps=given["eps"]).shape) == list(dz.shape) == expected["shape"]
    assert (dgain.tolist(), dbias.tolist()) == (expected["dgamma"], expected["dbeta"])
    with pytest.raises(ValueError, match="z must have an entry to normalize"):
        lnbook.normalize(z.T)


@case("B56")
def complex_numbers(given, expected):
    assert expected["raises"] == "TypeError or ValueError"
    with pytest.raises(TypeError, match="complex64"):
        lnbook.normalize(np.ones(3, given["z"]))


@case("B58")
def rows_apart(given, expected):
    same(lnbook.normalize(given["z"], eps=given["eps"]), expected["rows"])
    for z, y in zip(given["z"], expected["rows"], strict=True):
        same(lnbook.normalize(z, eps=given["eps"]), y)


@case("B59")
def negative_scale(given, expected):
    z, alpha = np.array(given["z"]), given["alpha"]
    same(lnbook.normalize(alpha * z, eps=given["eps"]), expected["y"])
    same(-lnbook.normalize(z, eps=given["eps"] / alpha**2), expected["minus_LN_alpha2"])


@case("B60")
def large_scale(given, expected):
    z = np.array(given["z"])
    same(lnbook.normalize(z, eps=given["eps"]), expected["LN_z"])
    same(lnbook.normalize(given["alpha"] * z, eps=given["eps"]), expected["LN_alpha_z"])
    same(lnbook.normalize(z, eps=0), expected["limit"])


@case("B62")
def biases_before(given, expected):
    z = np.array(given["z"])
    same(lnbook.normalize(z, eps=given["eps"]), expected["base"])
    for bias, y in zip(given["bias"], expected["y"], strict=True):
        same(lnbook.normalize(z + bias, eps=given["eps"]), y)


@case("B63")
def weights_recentred(given, expected):
    W, c, x = (np.array(given[name]) for name in ("W", "c", "x"))
    assert c @ x == expected["shift"]
    same(lnbook.normalize(W @ x, eps=given["eps"]), expected["y"])
    same(lnbook.normalize((W + c) @ x, eps=given["eps"]), expected["y_shifted"])


@case("B64")
def scale_and_eps(given, expected):
    z, alpha = np.array(given["z"]), given["alpha"]
    same(lnbook.normalize(z, eps=given["eps"]), expected["y"])
    same(lnbook.normalize(alpha * z, eps=given["eps"]), expected["y_scaled"])
    same(lnbook.normalize(z, eps=given["eps"] / alpha**2), expected["y_scaled_eps"])


@case("B66")
def folding(given, expected):
    gain, bias, W, b = (np.array(given[name]) for name in ("gamma", "beta", "W", "b"))
    same(W @ output(given) + b, expected["out"])
    folded_bias = W @ bias + b
    same(folded_bias, expected["folded_bias"])
    same((W * gain) @ lnbook.normalize(given["z"], eps=given["eps"]) + folded_bias, expected["out"])


@case("B67")
def alternating(given, expected):
    u = lnbook.normalize(np.resize([1.0, -1.0], given["d"]), eps=given["eps"])
    same(np.sqrt(u @ u), expected["norm"])
    assert np.sqrt(given["d"]) == expected["sqrt_d"]
    same(np.sqrt(given["d"] - 1.0), expected["max_abs_bound"])


@case("B71")
def sharp_constant(given, expected):
    d = len(given["gamma"])
    same(lnbook.lipschitz_constant(d, given["gamma"], eps=given["eps"]), expected["sharp"])
    same(lnbook.lipschitz_constant(d, eps=given["eps"]), expected["max_gamma_over_sqrt_eps"])
    assert expected["lean_sup_norm_bound"] > expected["max_gamma_over_sqrt_eps"]


@case("B73")
def spike(given, expected):
    u = output(given)
    same(u, expected["y"])
    same(u.max(), expected["max_abs"])


def rms(z, eps):
    return z / np.sqrt(np.mean(z * z) + eps)


@case("B75")
def beside_rms_norm(given, expected):
    z = np.array(given["z"], dtype=float)
    same(lnbook.normalize(z, eps=given["eps"]), expected["ln"])
    same(rms(z, given["eps"]), expected["rms"])
    same(rms(z + 5, given["eps"]), expected["rms_shifted_by_5"])
    same(rms(lnbook.center(z), given["eps"]), expected["ln"])


@case("B76")
def neither_of_the_two(given, expected):
    z = np.array(given["z"], dtype=float)
    uncentred = z / np.sqrt(lnbook.variance(z) + given["eps"])
    np.testing.assert_allclose(uncentred, expected["published_wrong"], rtol=0, atol=5.01e-6)
    same(rms(z, given["eps"]), expected["true_rms"])


@case("B78")
def all_axes(given, expected):
    same(np.ravel(lnbook.normalize(given["z"], eps=given["eps"], axis=(0, 1, 2))), expected["y_flat"])

"""The verdicts on what comes out of the layer, and on what it does not see."""

import numpy as np
import pytest
import sympy as sp
from exact import centered, core, core_jacobian, layer, mean, projection, symbols, vanishes, variance
from normalizations import rms
from test_cases import differs, same
from verdicts import R, case, eps, numbers, settles

import lnbook

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

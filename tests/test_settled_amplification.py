"""The verdicts on the derivatives of the layer, and on how strongly it reacts."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from exact import centered, core, core_jacobian, layer, projection, symbols, vanishes, variance
from hypothesis import given
from hypothesis import strategies as st
from inputs import epsilons
from test_cases import differs, same
from verdicts import R, case, eps, numbers, settles

import lnbook
from lnbook.pages.rounding import BITS, running_sum

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


@settles("settled-tame", "True only if")
def test_amplification_at_a_constant_row():
    for e in (R(1, 4), R(99, 100), 1, 2):
        # From a constant input the centred step (s, -s) becomes (s, -s) / sqrt(s^2 + eps)
        grows = [s for s in (R(1, 1000), R(1, 10), R(1, 2)) if core([7 + s, 7 - s], e)[0] > s]
        assert bool(grows) == (e < 1)
        assert (lnbook.lipschitz_constant(2, eps=float(e)) > 1) == (e < 1)
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

"""The sensitivity: spectrum, operator norm, Lipschitz constants and the amplification of a finite step."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from exact import (
    core,
    core_digits,
    core_jacobian,
    core_jacobian_digits,
    digits,
    error_in_units,
    fractions,
    largest,
    layer,
    projection,
    promised,
    symbols,
    vanishes,
    variance,
)
from hypothesis import assume, example, given
from hypothesis import strategies as st
from inputs import FLOATS, cases, epsilons, vectors, with_extreme_rows
from mpmath import mp

import lnbook

fact = pytest.mark.fact
eps = sp.Symbol("eps", positive=True)
R = sp.Rational
seeds = st.integers(0, 2**32 - 1)
WIDE = (np.float32, np.float64)  # 1 / sqrt(eps) is finite in them at every eps of the tests


def exact_norm(matrix):
    """The operator norm of a matrix of numbers: the root of the largest eigenvalue of A A^T, at 100 digits."""
    with mp.workdps(100):
        square = mp.matrix((matrix @ matrix.T).tolist())
        return mp.sqrt(max(mp.eigsy(square, eigvals_only=True)))


def exact_eigenvalues(z, eps):
    """0, eps / (q + eps)^(3/2), (q + eps)^(-1/2) of one row."""
    _, root = core_digits(z, eps)
    return [mp.mpf(0), mp.mpf(eps) / root**3, 1 / root]


def exact_amplification(z, step, gain, eps):
    """|LN(z + step) - LN(z)| / |step| of one row, the sum z + step in fractions, and max(r, s) of the two roots."""

    def core_of(row):
        d = len(row)
        v = [x - sum(row) / d for x in row]
        root = mp.sqrt(as_digits(sum(x * x for x in v) / d + Fraction(eps)))
        return [as_digits(x) / root for x in v], root

    with mp.workdps(900):  # the difference of two outputs loses what the step is smaller than the input
        before, r = core_of(fractions(z))
        after, s = core_of([a + b for a, b in zip(fractions(z), fractions(step), strict=True)])
        change = [g * (b - a) for g, a, b in zip(digits(gain), before, after, strict=True)]
        return mp.norm(change) / mp.norm(digits(step).tolist()), max(r, s)


def as_digits(fraction):
    return mp.mpf(fraction.numerator) / fraction.denominator


# Spectrum


@fact("eps-eigen-shift", "eps-eigen-radial", "eps-eigen-orthogonal", way="numeric")
@with_extreme_rows()
@given(cases(vectors=True))
def test_the_spectrum_is_right_to_four_units(case):
    z, d, dtype = case.z, len(case.z), case.z.dtype
    got = lnbook.spectrum(z, eps=case.eps)
    expected = exact_eigenvalues(z, case.eps)
    assert got.eigenvalues[0] == 0
    for value, exact in zip(got.eigenvalues[1:], expected[1:], strict=True):
        assert error_in_units(value[None], [exact], exact, dtype) <= promised(dtype, 4)
    constant = len(set(z.tolist())) == 1
    assert got.multiplicities.tolist() == ([1, 0, d - 1] if constant else [1, 1, d - 2])
    u, _ = core_digits(z, 0) if not constant else (digits(np.zeros(d)), None)
    along_one, along_v = np.full(d, 1 / mp.sqrt(d), object), u / mp.sqrt(d)
    assert error_in_units(got.directions[0], along_one, mp.mpf(1), dtype) <= 1
    assert error_in_units(got.directions[1], along_v, mp.mpf(1), dtype) <= 2


def test_the_spectrum_of_a_stack_is_the_stack_of_spectra():
    z = np.array([[[1, 2, 4], [0, 0, 0]], [[9, 1, 1], [2, 3, 4]]], np.float32)
    stack = lnbook.spectrum(z, eps=0.5)
    assert (stack.eigenvalues.shape, stack.directions.shape, stack.multiplicities.shape) == (
        (2, 2, 3),
        (2, 2, 2, 3),
        (2, 2, 3),
    )
    for i in np.ndindex(2, 2):
        for all_rows, one_row in zip(stack, lnbook.spectrum(z[i], eps=0.5), strict=True):
            np.testing.assert_array_equal(all_rows[i], one_row, strict=True)
    assert np.issubdtype(stack.multiplicities.dtype, np.integer)


# The operator norm


@fact("sens-local", way="exact")
@pytest.mark.parametrize("z", [[-1, 1], [0, 1, 3], [2, 0, 0, -5]])
def test_the_largest_first_order_amplification_is_the_largest_eigenvalue_that_occurs(z):
    J = core_jacobian(z, 3)
    assert J.T == J  # so the largest |J h| / |h| is the largest |eigenvalue|
    norm = max(float(value) for value in J.eigenvals())
    assert lnbook.operator_norm(z, eps=3) == pytest.approx(norm, rel=4.5e-16)


@fact("sens-local", way="exact")
@pytest.mark.parametrize(
    ("z", "w", "eps"),
    [([-1, 1], [1, 0], 3), ([1, 2, 4], [1, -1, 0], 2), ([1, 2, 4], [0, 0, 1], 0), ([7, 7], [1, -1], 3), ([5], [1], 2)],
)
def test_the_amplification_in_a_direction_tends_to_that_of_the_jacobian_as_the_step_tends_to_0(z, w, eps):
    s, w = sp.Symbol("s", positive=True), sp.Matrix(w)
    change = core(sp.Matrix(z) + s * w, eps) - core(z, eps)
    limit = sum(sp.limit(entry / s, s, 0, "+") ** 2 for entry in change)
    assert sp.simplify(limit - (core_jacobian(z, eps) * w).dot(core_jacobian(z, eps) * w)) == 0


@fact("sens-local", way="numeric")
@pytest.mark.parametrize("z", [[-1, 1], [0, 1, 3], [7, 7, 7]])
def test_the_largest_amplification_of_steps_of_one_length_tends_to_the_norm(z):
    """The steps of a length: in the plane of centred vectors, which at d = 3 one angle runs through."""
    d, norm = len(z), max(float(value) for value in core_jacobian(z, 3).eigenvals())
    axes = (
        np.array([[1, -1], [1, 1]]) / np.sqrt(2)
        if d == 2
        else np.array([[1, -1, 0], [1, 1, -2]]) / [[2**0.5], [6**0.5]]
    )
    gaps = []
    for length in (1e-1, 1e-3, 1e-5):
        steps = [length * (np.cos(a) * axes[0] + np.sin(a) * axes[1]) for a in np.linspace(0, 2 * np.pi, 721)]
        gaps.append(abs(max(lnbook.amplification(z, step, eps=3) for step in steps) - norm))
    assert gaps[0] < 0.05 and gaps[1] < 1e-3 and gaps[2] < 2e-5


@fact("sens-local", "sens-smaller", "eps-norm-by-dimension", way="numeric")
@with_extreme_rows()
@given(cases(vectors=True))
def test_the_operator_norm_is_right_to_four_units(case):
    z, d = case.z, len(case.z)
    _, radial, orthogonal = exact_eigenvalues(z, case.eps)
    constant = len(set(z.tolist())) == 1
    expected = mp.mpf(0) if d == 1 else radial if d == 2 and not constant else orthogonal
    got = lnbook.operator_norm(z, eps=case.eps)
    assert error_in_units(np.array([got]), [expected], expected, z.dtype) <= promised(z.dtype, 4)


@fact("eps-norm-by-dimension", way="exact")
@pytest.mark.parametrize(
    ("z", "norm"),
    [
        ([5], 0),
        ([7, 7], 1 / sp.sqrt(3)),
        ([7, 7, 7, 7], 1 / sp.sqrt(3)),
        ([-1, 1], R(3, 8)),
        ([-5, -3], R(3, 8)),
        ([0, 1, 2], 1 / sp.sqrt(R(2, 3) + 3)),
        ([0, 2, 0, 2], R(1, 2)),
    ],
)
def test_the_norm_in_each_dimension(z, norm):
    eigenvalues = core_jacobian(z, 3).eigenvals()
    assert vanishes(max(eigenvalues, key=sp.N) - norm)
    assert lnbook.operator_norm(z, eps=3) == pytest.approx(float(norm), rel=4.5e-16)


@fact("sens-local", "sens-full", way="numeric")
@pytest.mark.parametrize("eps", [1e-12, 1e-5, 0.5])
@pytest.mark.parametrize("z", [[5], [1, 1], [-1, 1], [0, 3, 1], [1e8, 1e8 + 1, 1e8 + 5], [1e-9, 0, 0, 2e-9]])
def test_the_operator_norm_with_gain_is_the_largest_singular_value(z, eps):
    for gain in ([1] * len(z), [2, -1, 0, 0.5][: len(z)], [0] * len(z)):
        expected = exact_norm(digits(gain)[:, None] * core_jacobian_digits(z, eps))
        got = lnbook.operator_norm(z, gain, eps=eps)
        _, root = core_digits(z, eps)
        assert error_in_units(got[None], [expected], largest(digits(gain)) / root, np.float64) <= 8


@fact("sens-local", way="property")
@given(cases(dtypes=(np.float64,), vectors=True), seeds)
def test_no_direction_is_amplified_more_than_the_operator_norm(case, seed):
    h = np.random.default_rng(seed).normal(size=len(case.z))
    norm = lnbook.operator_norm(case.z, eps=case.eps)
    response = lnbook.jvp(case.z, h, eps=case.eps)
    _, root = core_digits(case.z, case.eps)
    rounding = len(case.z) * 8 * 2.3e-16 * largest(digits(h)) / root
    assert mp.norm(digits(response).tolist()) <= norm * mp.norm(digits(h).tolist()) + rounding


@fact("sens-smaller", way="exact")
def test_the_norm_in_the_example_is_three_eighths_below_its_bound():
    J = core_jacobian([-1, 1], 3)
    assert max(J.eigenvals()) == R(3, 8)
    assert lnbook.operator_norm([-1, 1], eps=3) == 3 / 8
    assert lnbook.operator_norm([-1, 1], [1, 1], eps=3) == pytest.approx(3 / 8, rel=3e-16)
    assert lnbook.lipschitz_constant(2, eps=3) == pytest.approx(float(1 / mp.sqrt(3)), rel=2.3e-16)
    assert R(3, 8) < 1 / sp.sqrt(3)


# Bounds


@fact("eps-norm-bound", "sens-uniform", way="exact")
def test_no_eigenvalue_exceeds_one_over_root_eps():
    q = sp.Symbol("q", nonnegative=True)
    radial, orthogonal = eps / (q + eps) ** R(3, 2), 1 / sp.sqrt(q + eps)
    assert sp.simplify(radial / orthogonal - eps / (q + eps)) == 0  # a share of 1
    assert sp.simplify(sp.diff(orthogonal, q) + (q + eps) ** R(-3, 2) / 2) == 0  # falling in q
    assert orthogonal.subs(q, 0) == radial.subs(q, 0) == 1 / sp.sqrt(eps)


@fact("eps-norm-bound", "sens-uniform", way="property")
@with_extreme_rows(dtypes=WIDE)
@given(cases(dtypes=WIDE))
def test_the_operator_norm_never_exceeds_one_over_root_eps(case):
    norms = lnbook.operator_norm(case.z, eps=case.eps).astype(np.float64)
    assert norms.max() <= float(1 / mp.sqrt(mp.mpf(case.eps))) * (1 + 2 * float(np.finfo(case.z.dtype).eps))


@fact("sens-uniform", way="exact")
def test_the_uniform_bound_is_a_worst_case():
    norms = [lnbook.operator_norm([-t, 0, t], eps=1) for t in (0, 1, 10, 100)]
    assert norms[0] == 1
    assert all(a > b for a, b in pairwise(norms))
    assert norms[3] == pytest.approx(float(sp.sqrt(R(3, 20003))), rel=3e-16)


@fact("sens-uniform", way="property")
@given(st.integers(2, 5).flatmap(lambda d: st.tuples(*[st.lists(st.integers(-9, 9), min_size=d, max_size=d)] * 2)))
def test_each_step_stays_strictly_below_the_bound_also_from_a_constant_input(rows):
    eps = mp.mpf(1) / 7
    for a, b in (rows, (rows[0], [0] * len(rows[0]))):
        assume(a != b)
        u, w = (core_digits(np.array(row, float), eps)[0] for row in (a, b))
        assert mp.norm(list(u - w)) < mp.norm([mp.mpf(x - y) for x, y in zip(a, b, strict=True)]) / mp.sqrt(eps)


@fact("sens-uniform", way="exact")
@pytest.mark.parametrize(
    ("z", "attained"), [([7, 7], True), ([7, 7, 7], True), ([7, 8], False), ([7, 7, 8], False), ([7], False)]
)
def test_the_bound_is_attained_to_first_order_exactly_at_constant_inputs(z, attained):
    norm = max(core_jacobian(z, 4).eigenvals(), key=sp.N)
    assert (norm == R(1, 2)) == attained and norm <= R(1, 2)
    assert lnbook.operator_norm(z, eps=4) <= 0.5 and (lnbook.operator_norm(z, eps=4) == 0.5) == attained


@fact("sens-uniform", way="exact")
def test_at_99_times_epsilon_the_norm_is_a_tenth_of_the_bound():
    z = [-sp.sqrt(R(3, 2) * 99), 0, sp.sqrt(R(3, 2) * 99)]
    assert variance(z) == 99
    assert max(core_jacobian(z, 1).eigenvals(), key=sp.N) == R(1, 10)


@fact("eps-lipschitz", way="numeric")
@pytest.mark.parametrize(("start", "step"), [([0, 0, 0], [1, -1, 0]), ([1, 2, 4], [-3, 0, 1]), ([5, 5, 5], [1, 1, -2])])
def test_the_jacobian_integrated_along_a_segment_is_the_difference(start, step):
    eps, h = mp.mpf("0.3"), [mp.mpf(x) for x in step]

    def at(t):
        z = [a + t * b for a, b in zip(start, h, strict=True)]
        v = [x - sum(z) / 3 for x in z]
        return v, mp.sqrt(sum(x * x for x in v) / 3 + eps)

    def slope(t, i):
        v, root = at(t)
        centred_h = h[i] - sum(h) / 3
        return centred_h / root - v[i] * sum(a * b for a, b in zip(v, h, strict=True)) / (3 * root**3)

    (v0, root0), (v1, root1) = at(0), at(1)
    change = [b / root1 - a / root0 for a, b in zip(v0, v1, strict=True)]
    integral = [mp.quad(lambda t, i=i: slope(t, i), [0, 0.25, 0.5, 0.75, 1]) for i in range(3)]
    assert max(abs(a - b) for a, b in zip(change, integral, strict=True)) < 1e-25
    assert mp.norm(change) <= mp.norm(h) / mp.sqrt(eps)
    got = lnbook.amplification(start, step, eps=0.3)
    assert got == pytest.approx(float(mp.norm(change) / mp.norm(h)), rel=1e-14)


@fact("eps-lipschitz", "eps-full-bound", "sens-uniform", "sens-full", way="property")
@with_extreme_rows(0, 0, dtypes=WIDE)
@given(cases(dtypes=WIDE, vectors=True), seeds, st.integers(-30, 30))
def test_no_finite_step_is_amplified_beyond_the_bounds(case, seed, power):
    d, dtype = len(case.z), case.z.dtype
    rng = np.random.default_rng(seed)
    step, gain = np.ldexp(rng.normal(size=d), power), rng.integers(-8, 9, d) / 4
    slack = 1 + 4 * float(np.finfo(dtype).eps)
    root = float(mp.sqrt(mp.mpf(case.eps)))
    assert lnbook.amplification(case.z, step, eps=case.eps) <= slack / root
    full = lnbook.amplification(case.z, step, gain, eps=case.eps)
    assert full <= np.abs(gain).max() / root * slack
    assert full <= lnbook.lipschitz_constant(d, gain, eps=case.eps) * slack
    assert lnbook.operator_norm(case.z, gain, eps=case.eps) <= np.abs(gain).max() / root * slack


@fact("eps-full-bound", "sens-full", way="exact")
def test_the_gain_stretches_no_difference_more_than_its_largest_entry_and_the_bias_drops_out():
    z, other, gain, bias = (sp.symbols(f"{name}:3", real=True) for name in "zwgb")
    difference = layer(z, gain, bias, eps) - layer(other, gain, bias, eps)
    assert vanishes(difference - sp.diag(*gain) * (core(z, eps) - core(other, eps)))
    # |diag(gain) x| <= max |gain| |x|: equal for x along the largest entry, smaller otherwise
    assert sp.diag(2, 0, -3).norm(2) == 3


@fact("eps-attained", way="exact")
@pytest.mark.parametrize("d", [2, 3, 4])
def test_the_bound_is_attained_at_constant_inputs_in_every_centred_direction(d):
    w = projection(d) * symbols(d)
    response = core_jacobian([7] * d, eps) * w
    assert vanishes(response.dot(response) - w.dot(w) / eps)


@fact("eps-attained", way="property")
@given(st.integers(2, 9), st.floats(-1e9, 1e9), epsilons(), st.sampled_from(FLOATS))
@example(1, 3.0, 1e-5, np.float64)
def test_the_computed_norm_at_a_constant_input_is_one_over_root_eps(d, c, eps, dtype):
    z = np.full(d, np.clip(c, np.finfo(dtype).min, np.finfo(dtype).max), dtype)
    expected = 1 / mp.sqrt(mp.mpf(eps)) if d > 1 else mp.mpf(0)
    got = np.asarray(lnbook.operator_norm(z, eps=eps))
    assert error_in_units(got[None], [expected], expected, dtype) <= 1


@fact("sens-finite", way="exact")
def test_the_finite_step_from_a_constant_pair():
    h = R(1, 1000)
    for eps, square in ((R(1, 10_000), 1 / R(101, 1_000_000)), (R(1, 100), 1 / R(10_001, 1_000_000))):
        change = core([7 + h, 7 - h], eps) - core([7, 7], eps)
        assert change.dot(change) / (2 * h**2) == square
        got = lnbook.amplification([7, 7], [1e-3, -1e-3], eps=float(eps))
        assert got == pytest.approx(float(sp.sqrt(square)), rel=4.5e-16)
        assert got < lnbook.lipschitz_constant(2, eps=float(eps)) < got * 1.006


@fact("sens-finite", "eps-lipschitz", way="numeric")
@with_extreme_rows(0, 0)
@given(cases(vectors=True), seeds, st.integers(-60, 60))
def test_the_amplification_is_right_to_four_units(case, seed, power):
    z, d, dtype = case.z, len(case.z), case.z.dtype
    rng = np.random.default_rng(seed)
    step, gain = np.ldexp(rng.integers(1, 64, d) * 1.0, power), rng.integers(-8, 9, d) / 4
    expected, root = exact_amplification(z, step, gain, case.eps)
    got = lnbook.amplification(z, step, gain, eps=case.eps)
    assert error_in_units(got[None], [expected], largest(digits(gain)) / root, dtype) <= promised(dtype, 4)


@fact("sens-full", way="property")
@given(st.integers(2, 5).flatmap(lambda d: st.tuples(*[vectors(d)] * 4)), epsilons())
def test_the_bias_changes_no_difference_of_outputs(rows, eps):
    z, step, gain, bias = rows
    assume(step.any())
    with_bias = lnbook.layer_norm(z + step, gain, bias, eps=eps) - lnbook.layer_norm(z, gain, bias, eps=eps)
    length = mp.norm(digits(with_bias).tolist()) / mp.norm(digits(step).tolist())
    got = lnbook.amplification(z, step, gain, eps=eps)
    rounding = 1e-14 * (1 + np.abs(bias).max() + np.abs(gain).max() * len(z)) / np.abs(step).max()
    assert abs(got - length) <= rounding


@fact("sens-not-network", way="exact")
@pytest.mark.parametrize("d", [2, 3, 4])
def test_a_matrix_after_the_core_a_branch_and_cores_in_a_row_to_first_order(d):
    s, constant = sp.Symbol("s", real=True), sp.Matrix([7] * d)

    def slope(f, w):
        """The derivative of f along w at the constant input."""
        return f(constant + s * w).diff(s).subs(s, 0)

    def one(z):
        return core(z, eps)

    w = sp.Matrix([1, -1] + [0] * (d - 2))
    W = sp.diag(10, *[1] * (d - 1))
    assert vanishes(slope(lambda z: 10 * one(z), w) - 10 * w / sp.sqrt(eps))  # 10 I attains the bound
    assert vanishes(slope(lambda z: W * one(z), w) - W * w / sp.sqrt(eps))
    assert vanishes(slope(lambda z: z + one(z), w) - (1 + 1 / sp.sqrt(eps)) * w)
    assert vanishes(slope(lambda z: z + one(z), sp.ones(d, 1)) - sp.ones(d, 1))
    assert vanishes(slope(lambda z: one(one(z)), w) - w / eps)


@fact("sens-not-network", way="numeric")
@pytest.mark.parametrize("k", [1, 2, 3])
def test_computed_steps_through_a_matrix_a_branch_and_cores_in_a_row(k):
    """Steps so short that the next order is lost: from a constant input in a centred direction, at eps = 1 / 100."""
    z, w, bound = np.full(3, 2.0), np.array([1.0, -1, 0]) * 1e-9, lnbook.lipschitz_constant(3, eps=0.01)

    def amplified(f):
        return np.linalg.norm(f(w) - f(0 * w)) / np.linalg.norm(w)

    def in_a_row(w):
        for core_number in range(k):
            w = lnbook.normalize(w if core_number else z + w, eps=0.01)
        return w

    assert amplified(in_a_row) == pytest.approx(0.01 ** (-k / 2), rel=1e-6)
    assert amplified(lambda w: 10 * lnbook.normalize(z + w, eps=0.01)) == pytest.approx(10 * bound, rel=1e-6)
    assert amplified(lambda w: z + w + lnbook.normalize(z + w, eps=0.01)) == pytest.approx(1 + bound, rel=1e-6)


@fact("sens-not-network", way="exact")
@pytest.mark.parametrize("d", [2, 3, 7])
def test_the_bound_in_the_largest_coordinate_is_another(d):
    rows = [sum(abs(entry) for entry in projection(d).row(i)) for i in range(d)]
    assert max(rows) == 2 * (1 - R(1, d)) and (max(rows) > 1) == (d >= 3)
    signs = sp.Matrix([1] + [-1] * (d - 1))
    assert max(abs(entry) for entry in projection(d) * signs) == max(rows)


@pytest.mark.parametrize(
    ("gain", "square"),
    [
        ([1, 0, 0, 0], R(3, 4)),
        ([1, 1, 1], 1),
        ([1, 1], 1),
        ([3, 4], R(25, 2)),
        ([1, -1, 0], 1),
        ([0, 0], 0),
        ([5], 0),
    ],
)
def test_the_sharp_lipschitz_constant_is_the_norm_of_gain_times_projection(gain, square):
    d = len(gain)
    matrix = sp.diag(*gain) * projection(d)
    assert max((matrix * matrix.T).eigenvals(), key=lambda x: float(x)) == square
    expected = mp.sqrt(mp.mpf(sp.Rational(square).p) / sp.Rational(square).q / mp.mpf(0.25))
    got = lnbook.lipschitz_constant(d, gain, eps=0.25)
    assert type(got) is float
    assert error_in_units(np.array([got]), [expected], expected, np.float64) <= 2


@given(st.integers(2, 7).flatmap(vectors), st.integers(-1000, 1000))
def test_the_sharp_lipschitz_constant_is_a_singular_value_at_every_size_of_gains(gain, power):
    expected = exact_norm(digits(gain)[:, None] * digits(np.eye(len(gain)) - mp.mpf(1) / len(gain)))
    expected = mp.ldexp(expected, power)
    got = lnbook.lipschitz_constant(len(gain), np.ldexp(gain, power), eps=1)
    assert error_in_units(np.array([got]), [expected], expected, np.float64) <= 4


def test_the_amplification_of_large_rows_and_of_rows_whose_ratio_leaves_the_range():
    z, h = np.array([1e200, 2e200, 4e200]), np.array([1e199, 0, 0])
    small = lnbook.amplification(z / 2.0**600, h / 2.0**600, eps=0)
    assert lnbook.amplification(z, h, eps=0) * 2.0**600 == pytest.approx(float(small), rel=1e-12)
    tiny = float(np.finfo(np.float64).smallest_subnormal)
    assert lnbook.amplification(np.array([1, 2, 4]) * tiny, np.array([1, 0, 0]) * tiny, eps=0) == np.inf


@pytest.mark.parametrize(("z", "step"), [([3, 3], [1, -1]), ([1, 2], [1, 0])])
def test_the_amplification_needs_eps_where_either_end_is_constant(z, step):
    for rows in (slice(0, 1), slice(0, 2), slice(1, None, -1)):
        with pytest.raises(ValueError, match="where z or z \\+ step is constant"):
            lnbook.amplification(np.array([z, [1, 5]])[rows], np.array([step, [1, 3]])[rows], eps=0)


def test_a_lipschitz_constant_beyond_the_range_is_infinite_and_of_a_gain_that_is_none_nan():
    assert lnbook.lipschitz_constant(3, [1e300, 1, 1], eps=1e-320) == np.inf
    assert np.isnan(lnbook.lipschitz_constant(3, [np.nan, 1, 1]))
    assert np.isnan(lnbook.lipschitz_constant(3, [np.inf, 1, 1]))

"""What every function of lnbook refuses, and what its errors say."""

import math
import re
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from functions import ALONE, BESIDE, FUNCTIONS, SECOND, WITH_AXIS, WITH_EPS, WITH_GAIN, G, over, sample
from inputs import FLOATS

import lnbook
from lnbook.pages import max_norm


@over(FUNCTIONS)
@pytest.mark.parametrize(
    "z",
    [
        np.ones((2, 4), complex),
        np.ones((2, 4), bool),
        np.array([["a"] * 4]),
        np.array([[None] * 4]),
        np.array([[1, 2, 3, 10**30]], object),
        np.zeros((2, 4), "M8[s]"),
    ],
    ids=lambda z: str(z.dtype),
)
def test_another_dtype_is_refused_by_name(f, z):
    message = f"z must hold float16, bfloat16, float32, float64 or integers, got dtype {z.dtype}"
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        f(z)


@over(FUNCTIONS)
def test_a_masked_array_is_refused(f):
    with pytest.raises(TypeError, match=r"^z must be an array without a mask"):
        f(np.ma.masked_array(np.ones((2, 4)), mask=np.eye(2, 4)))


@over(FUNCTIONS)
def test_a_single_number_is_refused(f):
    with pytest.raises(ValueError, match=r"^z must have at least one axis, got the single number 3\.5$"):
        f(np.float64(3.5))


@over(FUNCTIONS)
def test_a_row_without_entries_is_refused(f):
    with pytest.raises(ValueError, match=r"^z must have an entry to normalize, got shape \(2, 0\)"):
        f(np.ones((2, 0)))


@over(
    {
        **{name: partial(f, sample()) for name, f in ALONE.items() if name in WITH_EPS},
        **{name: partial(f, sample(), sample()[::-1]) for name, f in BESIDE.items()},
        "lipschitz_constant": partial(lnbook.lipschitz_constant, 5),
        "max_norm_constant": partial(max_norm.max_norm_constant, 5),
        "max_norm_worst_input": partial(max_norm.max_norm_worst_input, 100),
    }
)
def test_eps_is_one_hundred_thousandth_if_it_is_not_given(f):
    for got, expected in zip(f(), f(eps=1e-5), strict=True):
        np.testing.assert_array_equal(got, expected)
    assert any(not np.array_equal(got, other) for got, other in zip(f(), f(eps=2e-5), strict=True))


@over(WITH_EPS)
@pytest.mark.parametrize("eps", [-1e-5, -0.5, math.inf, math.nan, -math.inf])
def test_eps_must_be_finite_and_not_negative(f, eps):
    with pytest.raises(ValueError, match=f"^eps must be finite and not negative, got {eps}$"):
        f(sample(), eps=eps)


@over({**WITH_EPS, "lipschitz_constant": lambda z, eps: lnbook.lipschitz_constant(4, eps=eps)})
@pytest.mark.parametrize("eps", ["1e-5", None, 1j, True, [1e-5], np.array([1e-5, 1e-5])])
def test_eps_must_be_one_real_number(f, eps):
    with pytest.raises(TypeError, match=r"^eps must be one real number, got "):
        f(sample(), eps=eps)


@over(WITH_EPS)
@pytest.mark.parametrize("eps", [np.float32(0.5), np.float64(0.5), 0.5])
def test_eps_may_be_any_real_scalar(f, eps):
    for got, expected in zip(f(sample(), eps=eps), f(sample(), eps=0.5), strict=True):
        np.testing.assert_array_equal(got, expected, strict=True)


@over(WITH_EPS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_eps_zero_is_refused_at_a_constant_row_only(f, dtype):
    z = sample(dtype)
    f(z, eps=0)
    z[1] = 7
    with pytest.raises(ValueError, match=r"^eps must be positive where .* constant"):
        f(z, eps=0)


def test_an_eps_beyond_the_floats_is_refused_and_one_below_them_is_zero():
    for eps in (10**400, Fraction(10**400), np.longdouble("1e4000")):
        with pytest.raises(ValueError, match="eps must be finite and not negative, got "):
            lnbook.normalize([1, 2], eps=eps)
    with pytest.raises(ValueError, match="eps must be finite and positive, got "):
        lnbook.lipschitz_constant(3, eps=Fraction(1, 10**400))
    assert lnbook.normalize([1, 3], eps=Fraction(1, 10**400)).tolist() == [-1, 1]


def test_the_error_at_a_constant_row_says_what_to_do():
    with pytest.raises(ValueError) as error:
        lnbook.normalize([3, 3], eps=0)
    assert str(error.value) == "eps must be positive where a row of z is constant: at eps = 0 its core is undefined"


@pytest.mark.parametrize("eps", [0, -1, math.inf])
def test_the_lipschitz_constant_needs_a_positive_eps(eps):
    with pytest.raises(ValueError, match=f"^eps must be finite and positive, got {eps}$"):
        lnbook.lipschitz_constant(3, eps=eps)


@pytest.mark.parametrize("d", [0, -2])
def test_the_lipschitz_constant_needs_a_dimension(d):
    with pytest.raises(ValueError, match=f"^d must be at least 1, got {d}$"):
        lnbook.lipschitz_constant(d)


@pytest.mark.parametrize("d", [2.0, "3", None, True])
def test_the_dimension_is_an_int(d):
    with pytest.raises(TypeError, match=r"^d must be an int, got "):
        lnbook.lipschitz_constant(d)


def test_the_dimension_may_be_a_numpy_int():
    assert lnbook.lipschitz_constant(np.int32(3), eps=0.25) == 2


@over(WITH_AXIS)
@pytest.mark.parametrize("axis", [2, -3, (0, 2), 99])
def test_an_axis_out_of_range_is_refused(f, axis):
    with pytest.raises(ValueError, match=r"^axis must lie in \[-2, 2\) for an array of 2 dimensions, got "):
        f(sample(), axis=axis)


@over(WITH_AXIS)
@pytest.mark.parametrize("axis", [(1, 1), (1, -1), (0, 1, 0)])
def test_an_axis_named_twice_is_refused(f, axis):
    with pytest.raises(ValueError, match=r"^axis must name each axis once, got "):
        f(sample(), axis=axis)


@over(WITH_AXIS)
def test_no_axis_is_refused(f):
    with pytest.raises(ValueError, match=r"^axis must name at least one axis, got \(\)$"):
        f(sample(), axis=())


@over(WITH_AXIS)
@pytest.mark.parametrize("axis", [1.0, "1", None, True, (0, 1.0), [0, 1]])
def test_an_axis_that_is_no_int_is_refused(f, axis):
    with pytest.raises(TypeError, match=r"^axis must be an int or a tuple of ints, got "):
        f(sample(), axis=axis)


@over(WITH_GAIN)
@pytest.mark.parametrize("gain", [np.ones(3), np.ones((4, 1)), np.ones((2, 4)), 2.0], ids=lambda g: str(np.shape(g)))
def test_a_gain_of_another_shape_is_refused(f, gain):
    with pytest.raises(ValueError, match=r"^gain must have the shape \(4,\).*, got \("):
        f(sample(shape=(2, 4)), gain)


@over(WITH_GAIN)
@pytest.mark.parametrize("gain", [np.ones(4, complex), np.ones(4, bool), ["a"] * 4])
def test_a_gain_that_is_no_number_is_refused(f, gain):
    with pytest.raises(TypeError, match=r"^gain must hold float16, bfloat16, float32, float64 or integers, got dtype "):
        f(sample(), gain)


def test_a_bias_is_checked_like_a_gain():
    with pytest.raises(ValueError, match=r"^bias must have the shape \(3, 4\) of the normalized axes, got \(4,\)$"):
        lnbook.layer_norm(sample(), np.ones((3, 4)), G, axis=(0, 1))
    with pytest.raises(TypeError, match=r"^bias must hold "):
        lnbook.layer_norm(sample(), bias=np.ones(4, complex))


@pytest.mark.parametrize("name", BESIDE)
def test_the_second_array_is_checked_by_its_own_name(name):
    f, argument = BESIDE[name], SECOND[name]
    with pytest.raises(ValueError, match=rf"^{argument} must have the shape \(3, 4\) of z, got \(4,\)$"):
        f(sample(), G)
    with pytest.raises(TypeError, match=f"^{argument} must hold "):
        f(sample(), np.ones((3, 4), complex))


def test_a_step_of_zero_is_refused():
    step = np.ones((3, 4))
    step[1] = 0
    with pytest.raises(ValueError, match=r"^step must not be zero"):
        lnbook.amplification(sample(), step)
    with pytest.raises(ValueError, match=r"^eps must be positive where z or z . step is constant"):
        lnbook.amplification([1, 2], [1, 0], eps=0)

"""bfloat16 and RMSNorm: what joins the formats and the functions of the core with the same loops and promises."""

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from exact import core_digits, core_jacobian_product, digits, error_in_units, largest
from functions import FUNCTIONS, over
from mpmath import mp

import lnbook

BF16 = ml_dtypes.bfloat16
FORMATS = (np.float16, BF16, np.float32, np.float64)
each_format = pytest.mark.parametrize("dtype", FORMATS)


@over(FUNCTIONS)
def test_bfloat16_in_is_bfloat16_out_and_computed_in_float64(f):
    z = np.random.default_rng(7).normal(3, 1, (3, 4)).astype(BF16)
    for got, wide in zip(f(z), f(z.astype(np.float64)), strict=True):
        assert got.dtype == (BF16 if wide.dtype.kind == "f" else wide.dtype)
        off = np.abs(got.astype(np.float64) - wide)
        assert (off <= 0.51 * float(ml_dtypes.finfo(BF16).eps) * np.abs(wide)).all()


@pytest.mark.parametrize("dtype", [np.float16, BF16])
def test_every_number_of_a_16_bit_format_goes_in_and_out_unchanged(dtype):
    """dbias of one position is the cotangent: all 65,536 bit patterns, infinities and the sign of zero among them."""
    z = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    got = lnbook.vjp(np.zeros(z.shape, dtype), z)[2]
    with np.errstate(invalid="ignore"):
        expected = z.astype(np.float64) + 0.0  # a sum of zeros has the sign +
    np.testing.assert_array_equal(got.astype(np.float64), expected)


@pytest.mark.parametrize("dtype", [np.float16, BF16])
def test_results_between_two_numbers_of_a_16_bit_format_go_to_the_nearest_and_at_ties_to_the_even(dtype):
    with np.errstate(invalid="ignore"):
        every = np.arange(1 << 15, dtype=np.uint16).view(dtype).astype(np.float64)
    every = every[np.isfinite(every)]
    top = 2 * every[-1] - every[-2]  # the first power of two beyond the format
    steps = np.append(every, top)
    middle = (steps[:-1] + steps[1:]) / 2
    for bias, expected in (
        (middle, np.where(np.arange(len(middle)) % 2, steps[1:], steps[:-1])),
        (np.nextafter(middle, 0), steps[:-1]),
        (np.nextafter(middle, np.inf), steps[1:]),
    ):
        for sign in (1, -1):
            y = lnbook.layer_norm(np.zeros(len(bias), dtype), bias=sign * bias).astype(np.float64)
            np.testing.assert_array_equal(y, sign * np.where(expected == top, np.inf, expected))


def test_lnbook_does_not_import_ml_dtypes():
    program = "import sys, lnbook, numpy; lnbook.normalize(numpy.float16([1, 2])); print('ml_dtypes' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.strip() == "False", run.stderr


# RMSNorm


def exact_rms(z, eps):
    """z / root and root = sqrt(mean(z^2) + eps), in 50 digits."""
    z = digits(z)
    root = mp.sqrt((z * z).sum() / len(z) + mp.mpf(eps))
    return z / root, root


def rms_rows(dtype, rng):
    for d in (1, 2, 3, 64, 130):
        row = rng.normal(1, 2, d)
        info = ml_dtypes.finfo(dtype)
        yield row.astype(dtype)
        yield (row * float(info.smallest_normal) * 4).astype(dtype)
        yield (row * (float(info.max) / 16)).astype(dtype)


@pytest.mark.fact("rms-definition", way="numeric")
@each_format
def test_rms_norm_is_right_to_the_units_promised(dtype):
    rng = np.random.default_rng(4)
    for z in rms_rows(dtype, rng):
        u, _ = exact_rms(z, 1e-5)
        assert error_in_units(lnbook.rms_norm(z), u, largest(u), dtype) <= 0.51
        gain = rng.normal(size=len(z))
        expected = digits(gain) * u
        scale = largest(digits(gain)) * largest(u)
        assert error_in_units(lnbook.rms_norm(z, gain), expected, scale, dtype) <= (1 if dtype == np.float64 else 0.51)


@pytest.mark.fact("rms-jacobian", way="numeric")
@each_format
def test_the_derivatives_of_rms_norm_are_right_to_the_units_promised(dtype):
    rng = np.random.default_rng(5)
    for z in rms_rows(dtype, rng):
        h, gain = rng.normal(size=len(z)).astype(dtype), rng.normal(size=len(z)).astype(dtype)
        u, root = exact_rms(z, 1e-5)
        promise = 2 if dtype == np.float64 else 0.51

        def product(w, u=u, root=root):
            return (w - u * ((w * u).sum() / len(u))) / root

        exact = digits(gain) * product(digits(h))
        scale = largest(digits(gain)) * max(largest(digits(h)) / root, largest(product(digits(h))))
        assert error_in_units(lnbook.rms_jvp(z, h, gain), exact, scale, dtype) <= promise
        w = digits(gain) * digits(h)
        dz, dgain = lnbook.rms_vjp(z, h, gain)
        assert error_in_units(dz, product(w), max(largest(w) / root, largest(product(w))), dtype) <= promise
        assert error_in_units(dgain, digits(h) * u, largest(digits(h)) * largest(u), dtype) <= promise


@pytest.mark.fact("rms-centred", way="numeric")
@each_format
def test_rms_norm_of_the_centred_row_is_the_core(dtype):
    z = np.array([1, 5, 2, -8], dtype)  # mean 0
    np.testing.assert_array_equal(lnbook.rms_norm(z, eps=2), lnbook.normalize(z, eps=2), strict=True)
    h = np.array([1, -1, 2, -2], dtype)  # mean 0
    np.testing.assert_array_equal(lnbook.rms_jvp(z, h, eps=2), lnbook.jvp(z, h, eps=2), strict=True)
    u, _ = core_digits(z, 2)
    assert error_in_units(lnbook.rms_jvp(z, h, eps=2), core_jacobian_product(z, h, 2), largest(u), dtype) <= 1


def test_rms_norm_is_undefined_at_a_row_of_zeros_only():
    assert lnbook.rms_norm([[3, 3], [3, -3]], eps=0).tolist() == [[1, 1], [1, -1]]
    assert lnbook.rms_norm([5e-324, 5e-324], eps=0).tolist() == [1, 1]
    for f in (
        lnbook.rms_norm,
        lambda z, eps: lnbook.rms_vjp(z, z, eps=eps),
        lambda z, eps: lnbook.rms_jvp(z, z, eps=eps),
    ):
        with pytest.raises(ValueError, match="eps must be positive"):
            f([[1, 2], [0, 0]], eps=0)


def test_rms_norm_takes_axes_and_refuses_what_the_layer_refuses():
    z = np.random.default_rng(3).normal(size=(2, 3, 4))
    np.testing.assert_array_equal(lnbook.rms_norm(z, axis=(0, 2))[:, 1].ravel(), lnbook.rms_norm(z[:, 1].ravel()))
    for bad, message in (
        ({"axis": 3}, "axis must lie in"),
        ({"eps": -1}, "eps must be finite"),
        ({"gain": [1]}, "gain"),
    ):
        with pytest.raises(ValueError, match=message):
            lnbook.rms_norm(z, **bad)

"""What every function of lnbook promises beside its numbers: dtypes, shapes, NaN, and leaving inputs alone."""

import math

import numpy as np
import pytest
from functions import BESIDE, FUNCTIONS, WITH_AXIS, G, all_results, over, sample
from inputs import FLOATS, extreme_rows

import lnbook

# Dtypes and shapes


@over(FUNCTIONS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_the_dtype_of_the_input_is_the_dtype_of_the_result(f, dtype):
    for result in f(sample(dtype)):
        assert result.dtype == dtype or result.dtype.kind == "i"


@over(FUNCTIONS)
@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8"])
def test_integers_compute_in_float64(f, dtype):
    z = np.array([[1, 2, 4, 9], [3, 0, 0, 1]], dtype)
    for got, expected in zip(f(z), f(z.astype(np.float64)), strict=True):
        np.testing.assert_array_equal(got, expected, strict=True)


@over(FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4"])
def test_byte_order_and_memory_order_do_not_matter(f, dtype):
    z = np.round(8 * sample(shape=(2, 3, 4))).astype(dtype)
    wide = np.zeros((4, 6, 8), dtype)
    wide[::2, ::-2, 1::2] = z
    others = [z.astype(">" + dtype), np.asfortranarray(z), wide[::2, ::-2, 1::2]]
    if dtype == "f8":
        others.append(z.tolist())
    for other in others:
        for got, expected in zip(f(other), f(z), strict=True):
            np.testing.assert_array_equal(got, expected, strict=True)
            assert got.dtype.isnative
            assert got.flags.c_contiguous


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4"])
@pytest.mark.parametrize("of_z", ["f2", "f4", "f8"])
def test_the_other_arguments_may_be_of_any_dtype_byte_order_and_memory_order(of_z, dtype):
    z, second = sample(of_z, (3, 4)), np.round(8 * sample())[::-1].astype(dtype)
    gain = np.array([4, 1, -2, 3], dtype)
    for name, f in BESIDE.items():
        expected = all_results(f)(z, second.astype(np.float64), gain=gain.astype(np.float64))
        for change in (
            lambda a: a,
            lambda a: a.astype(a.dtype.newbyteorder()),
            lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
        ):
            for got, wanted in zip(all_results(f)(z, change(second), gain=change(gain)), expected, strict=True):
                np.testing.assert_array_equal(got, wanted, err_msg=name, strict=True)
    expected = lnbook.layer_norm(z, gain.astype(np.float64), gain.astype(np.float64))
    np.testing.assert_array_equal(lnbook.layer_norm(z, gain.astype(gain.dtype.newbyteorder()), gain), expected)


def test_arguments_beyond_the_dtype_of_z_are_silent_and_lose_nothing():
    z, huge = np.array([[1, 2, 4, 8], [3, 3, 3, 3]], np.float32), np.array([1e300, 1, 1e-300, 1])
    wide = z.astype(np.float64)
    with np.errstate(over="ignore"):
        for f in (lambda z: lnbook.layer_norm(z, huge, huge), lambda z: lnbook.jvp(z, np.tile(huge, (2, 1)), 1 / huge)):
            expected = f(wide)
            np.testing.assert_allclose(expected.astype(np.float32), f(z), rtol=1e-6)
            assert not np.isnan(f(z)).any()
    assert lnbook.layer_norm(wide[0], np.full(4, 1.7e308)).tolist()[3] == np.inf
    assert lnbook.vjp(wide, np.full(z.shape, 1e308))[2].tolist() == [np.inf] * 4
    for f in (lnbook.jvp, lambda *arguments, **keywords: lnbook.vjp(*arguments, **keywords)[0]):
        assert f(z[1], np.zeros(4), eps=5e-309).tolist() == [0] * 4  # 1 / (q + eps) is out of range


def test_float16_is_not_rounded_to_float32_on_the_way():
    gain = np.array([1, 1 + 2.0**-11 + 2.0**-40])  # a hair above the middle of two float16, and the middle in float32
    y = lnbook.layer_norm(np.array([-1, 1], np.float16), gain, eps=0)
    assert y.tolist() == [-1, 1 + 2.0**-10]


@over(FUNCTIONS)
def test_float16_computes_in_more_digits_and_rounds_once(f):
    z = sample(np.float16)
    for got, wide in zip(f(z), f(z.astype(np.float64)), strict=True):
        exact = wide.astype(got.dtype)
        near = np.abs(got.astype(np.float64) - wide) <= np.abs(np.spacing(exact).astype(np.float64)) * 0.51
        assert (near if got.dtype == np.float16 else got == exact).all()


@over(WITH_AXIS)
def test_no_rows_give_no_rows(f):
    for result in f(np.zeros((0, 4), np.float32)):
        assert result.dtype == np.float32
        assert result.shape in ((0, 4), (0,), (4,))
        assert not result.any()


@over(FUNCTIONS)
@pytest.mark.parametrize("lead", [(0,), (2, 0), (1,), (2, 3)])
def test_a_stack_gives_the_stack_of_results(f, lead):
    z = sample(np.float32, (*lead, 4))
    results = f(z)
    for all_rows, one_row in zip(results, f(sample(np.float32, (4,))), strict=True):
        assert all_rows.dtype == one_row.dtype
        assert all_rows.shape in ((*lead, *one_row.shape), one_row.shape)
    for i in np.ndindex(lead):
        for all_rows, one_row in zip(results, f(z[i]), strict=True):
            if all_rows.shape[: len(lead)] == lead:  # the parameters' gradients are sums
                np.testing.assert_array_equal(all_rows[i], one_row, strict=True)


@over(WITH_AXIS)
@pytest.mark.parametrize(
    ("axis", "same_as"),
    [(-1, 2), ((2,), 2), ((1, 2), (-1, -2)), ((2, 0), (0, 2)), (0, -3), ((0, 1, 2), (2, 1, 0)), (np.int64(1), 1)],
)
def test_an_axis_may_be_named_in_any_way(f, axis, same_as):
    z = sample(shape=(2, 3, 4))
    for got, expected in zip(f(z, axis=axis), f(z, axis=same_as), strict=True):
        np.testing.assert_array_equal(got, expected, strict=True)


def test_the_axes_are_normalized_together_and_the_parameters_lie_along_them():
    z, gain = sample(shape=(2, 3, 4)), np.arange(8.0).reshape(2, 4)
    got = lnbook.layer_norm(z, gain, -gain, axis=(2, 0))
    for k in range(3):
        row = lnbook.layer_norm(z[:, k].ravel(), gain.ravel(), -gain.ravel())
        np.testing.assert_array_equal(got[:, k].ravel(), row)
    assert lnbook.variance(z, axis=(0, 2)).shape == (3,)
    assert lnbook.variance(z, axis=(0, 1, 2)).shape == ()
    dz, dgain, dbias = lnbook.vjp(z, z, gain, axis=(0, 2))
    assert (dz.shape, dgain.shape, dbias.shape) == ((2, 3, 4), (2, 4), (2, 4))
    np.testing.assert_allclose(dbias, z.sum(axis=1), rtol=1e-15)


# Rows stay apart


@over(FUNCTIONS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_row_does_not_depend_on_its_neighbours_in_any_bit(f, dtype):
    rows = [sample(dtype, (4,)), 1000 + sample(dtype, (4,)), *(np.resize(r, 4) for r in extreme_rows(dtype).values())]
    z = np.array(rows * 3)
    alone = [f(row) for row in z]
    for k, all_rows in enumerate(f(z)):
        if len(all_rows) == len(z):
            np.testing.assert_array_equal(all_rows, np.array([results[k] for results in alone]), strict=True)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("d", [3, 33, 5000])
def test_long_rows_do_not_depend_on_their_neighbours_in_any_bit(dtype, d):
    z = (100 * np.random.default_rng(d).normal(size=(40, d))).astype(dtype)
    whole = lnbook.normalize(z)
    np.testing.assert_array_equal(whole[::-1], lnbook.normalize(z[::-1]))
    for k in (0, 17, 39):
        np.testing.assert_array_equal(whole[k], lnbook.normalize(z[k]))
        np.testing.assert_array_equal(whole[k:], lnbook.normalize(z[k:]))
        np.testing.assert_array_equal(lnbook.vjp(z, z)[0][k], lnbook.vjp(z[k], z[k])[0])


@pytest.mark.parametrize(("dtype", "units"), [(np.float16, 0.51), (np.float32, 0.51), (np.float64, 8)])
def test_rows_beyond_one_block_are_computed_alike(dtype, units):
    z = sample(dtype, (70_001, 4))  # more entries than lnbook takes at a time
    for name, f in {**WITH_AXIS, "jvp": lambda z: lnbook.jvp(z, np.ones(z.shape))}.items():
        whole, end = (np.asarray(all_results(f)(part)[0]) for part in (z, z[123:]))
        np.testing.assert_array_equal(whole[123:], end, err_msg=name)
    g = z - dtype(3)
    _, dgain, dbias = lnbook.vjp(z, g)
    terms = g.astype(np.float64) * lnbook.normalize(z.astype(np.float64))
    for got, summands in ((dgain, terms), (dbias, g.astype(np.float64))):
        exact = [math.fsum(column) for column in summands.T]
        one_unit = np.finfo(dtype).eps * np.abs(summands).sum(axis=0).max()
        assert np.abs(got - exact).max() <= units * one_unit


@over(FUNCTIONS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinity_stay_in_their_row(f, bad, dtype):
    z = sample(dtype)
    clean = f(z)
    z[1, 2] = bad
    for got, expected in zip(f(z), clean, strict=True):
        if len(got) == 3 and got.dtype.kind == "f":
            np.testing.assert_array_equal(got[[0, 2]], expected[[0, 2]])
            per_row = got[1].ravel()
            assert np.isnan(per_row[-1])
            assert np.isnan(per_row).sum() >= per_row.size / 2


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_with_nan_or_infinity_is_nan_in_full(bad, dtype):
    z, ones = np.array([[1, bad, 3, 4], [1, 2, 3, 4]], dtype), np.ones((2, 4))
    layers = (lnbook.center(z), lnbook.normalize(z), lnbook.layer_norm(z, G, G), lnbook.rms_norm(z, G))
    for result in (*layers, lnbook.jvp(z, ones), lnbook.rms_jvp(z, ones), lnbook.rms_vjp(z, ones)[0]):
        assert np.isnan(result[0]).all()
        assert np.isfinite(result[1]).all()
    assert np.isnan(lnbook.jacobian(z)[0]).all()
    assert np.isnan(lnbook.variance(z)[0])
    assert np.isnan(lnbook.operator_norm(z)[0])
    dz, dgain, dbias = lnbook.vjp(z, ones)
    assert np.isnan(dz[0]).all()
    assert np.isfinite(dz[1]).all()
    assert np.isnan(dgain).all()
    assert dbias.tolist() == [2] * 4


# Inputs


@over(FUNCTIONS)
def test_inputs_are_not_changed_and_may_be_read_only(f):
    z = sample(shape=(50, 4))
    before = z.copy()
    z.flags.writeable = False
    results = f(z)
    np.testing.assert_array_equal(z, before)
    assert all(not np.shares_memory(result, z) for result in results)
    assert all(result.flags.writeable for result in results)


def test_parameters_and_directions_are_not_changed_and_not_shared():
    arguments = {"z": sample(), "g": sample(), "gain": G.copy(), "bias": G.copy()}
    for array in arguments.values():
        array.flags.writeable = False
    z, g, gain, bias = arguments.values()
    results = [
        lnbook.layer_norm(z, gain, bias),
        lnbook.jvp(z, g, gain),
        *lnbook.vjp(z, g, gain),
        *lnbook.vjp(z, g),
        lnbook.jacobian(z, gain),
        lnbook.amplification(z, g, gain),
    ]
    assert not any(np.shares_memory(result, array) for result in results for array in arguments.values())
    one_row = np.array([1.0, 2.0, 4.0])
    assert not np.shares_memory(lnbook.vjp(one_row, one_row)[2], one_row)


# Names


def test_the_public_names_are_the_documented_ones_and_each_has_a_docstring():
    assert sorted(lnbook.__all__) == sorted(
        [
            "Spectrum",
            "amplification",
            "center",
            "jacobian",
            "jvp",
            "layer_norm",
            "lipschitz_constant",
            "normalize",
            "operator_norm",
            "rms_jvp",
            "rms_norm",
            "rms_vjp",
            "spectrum",
            "taylor",
            "variance",
            "vjp",
        ]
    )
    for name in lnbook.__all__:
        assert getattr(lnbook, name).__doc__

"""The numbers that WebNN, candle, burn and TensorFlow.js test their own layer norms with, on lnbook.

WebNN writes gain and bias in the order in which its axes are named, which need not be that of the input.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import lnbook

OTHERS = json.loads(Path(__file__).with_name("others.json").read_text("utf-8"))


@pytest.mark.parametrize("case", OTHERS["cases"], ids=lambda case: f"{case['of']}-{case['id']}")
def test_the_outputs_that_others_expect(case):
    shape, axes = case["shape"], case["axes"]
    numbers = OTHERS["inputs"][case["z"]] if isinstance(case["z"], str) else case["z"]
    last = range(len(shape) - len(axes), len(shape))
    z = np.moveaxis(np.array(numbers, np.float32).reshape(shape), axes, last)
    gain, bias = (
        np.array(case[name], np.float32).reshape([shape[axis] for axis in axes]) if name in case else None
        for name in ("gain", "bias")
    )
    if axes:
        y = lnbook.layer_norm(z, gain, bias, eps=case["eps"], axis=tuple(last))
    else:  # each entry is its own mean
        y = lnbook.layer_norm(z[..., None], gain, bias, eps=case["eps"])[..., 0]
    assert y.dtype == np.float32
    expected = np.array(case["y"]).reshape(shape)
    largest = np.abs(expected).max()
    room = 0.51 * 10.0 ** -case["digits"] + 4 * np.finfo(np.float32).eps * largest
    np.testing.assert_allclose(np.moveaxis(y, last, axes), expected, rtol=0, atol=room)


def test_the_gradients_that_burn_expects():
    """Of the sum of the outputs, through a product of two matrices in front."""
    a, b = np.array([[0.0, 1], [3, 4]]), np.array([[6.0, 7], [9, 10]])
    dz, dgain, dbias = lnbook.vjp(a @ b, np.ones((2, 2)))
    assert np.abs(dgain - [-2, 2]).max() < 1e-3
    assert dbias.tolist() == [2, 2]
    assert np.abs(dz @ b.T).max() < 1e-3 > np.abs(a.T @ dz).max()

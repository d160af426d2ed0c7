"""The table of the page on conventions is what the peers, as they are locked, do."""

import pytest

NAMES = (
    "torch.nn.LayerNorm", "torch.nn.RMSNorm", "flax.linen.LayerNorm", "flax.nnx.LayerNorm",
    "keras.layers.LayerNormalization", "keras.ops.layer_normalization", "keras.layers.RMSNormalization",
    "LayerNormalization",
)  # fmt: skip


@pytest.fixture(scope="module")
def conventions():
    import conventions

    return conventions


@pytest.mark.fact("convention-probe", "eps-defaults", way="peer")
@pytest.mark.parametrize("name", NAMES)
def test_a_row_of_the_table(conventions, name):
    (layer,) = (layer for layer in conventions.LAYERS if layer.name.split("`")[1] == name)
    assert f"| {' | '.join(conventions.row(layer))} |\n" in conventions.RECORD.read_text("utf-8")
    assert conventions.normalizes_the_last_axis(layer)
    assert conventions.statistics_are_wider(layer)


def test_the_table_has_these_rows_and_no_other(conventions):
    assert [layer.name.split("`")[1] for layer in conventions.LAYERS] == list(NAMES)
    assert len(conventions.RECORD.read_text("utf-8").splitlines()) == 2 + len(NAMES)


def test_pytorch_takes_the_spacing_at_1_for_rms_norm():
    import torch

    assert torch.finfo(torch.float32).eps == 2.0**-23


def test_the_deprecated_rms_scaling_of_keras_is_neither_layer_norm_nor_rms_norm():
    """It subtracts no mean, but divides by the standard deviation: case B76."""
    import os

    os.environ["KERAS_BACKEND"] = "jax"
    import keras
    import numpy as np

    with pytest.warns(UserWarning, match="rms_scaling=True"):
        layer = keras.layers.LayerNormalization(rms_scaling=True, epsilon=3.0)
    z = np.array([[0.0, 2.0]], np.float32)
    with pytest.warns(UserWarning, match="rms_scaling=True"):
        assert np.asarray(layer(z)) == pytest.approx(z / 2, abs=1e-6)  # q + eps = 4

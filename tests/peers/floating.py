"""Where the peers lose digits: the table of the page on floating point, recorded by `make record-peers`."""

import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from exact import core_digits

import lnbook

RECORD = Path(__file__).parents[2] / "book" / "_records" / "floating-point.txt"
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
HEADS = ("offset 10²", "offset 10⁴", "offset 10⁶", "(1, 2, 3, 4)·10³⁰", "float16: (256, −256)", "float16: zeros")


def inputs():
    """(row, eps) of each column; the first three are float32 with 768 coordinates of standard deviation 1."""
    x = np.random.default_rng(0).standard_normal(768)
    rows = [((x + offset).astype(np.float32), 1e-5) for offset in (1e2, 1e4, 1e6)]
    rows.append((np.array([1, 2, 3, 4], np.float32) * np.float32(1e30), 1e-5))
    rows.append((np.array([256, -256], np.float16), 1e-5))
    rows.append((np.zeros(4, np.float16), 1e-12))
    return rows


def error(layer_norm, z, eps):
    """The largest error, in units in the last place of the output's scale, and the output."""
    expected = np.array(core_digits(z, eps)[0], np.float64)
    one, zero = np.ones_like(z), np.zeros_like(z)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # overflow and 0 / 0 are what is measured
        got = np.asarray(layer_norm(z[None], one, zero, eps))[0].astype(np.float64)
    unit = float(np.spacing(z.dtype.type(max(np.abs(expected).max(), 1))))
    return float(np.abs(got - expected).max() / unit), got


def cell(layer_norm, z, eps):
    units, got = error(layer_norm, z, eps)
    if np.isnan(units):
        return "NaN"
    if units <= 2:
        return "right"
    if not got.any():
        return "zeros"
    digit, power = f"{units:.0e}".split("e+")
    return (
        f"{units:.1g}"
        if units < 10
        else f"{int(digit) * 10 ** int(power)}"
        if units < 1e5
        else f"{digit}·10{power.translate(RAISED).lstrip('⁰')}"
    )


def flax_two_pass(z, gain, bias, eps):
    from flax import linen

    layer = linen.LayerNorm(epsilon=eps, use_fast_variance=False)
    return layer.apply({"params": {"scale": gain, "bias": bias}}, z)


def numpy_two_pass(z, gain, bias, eps):
    v = z - z.mean(axis=-1, keepdims=True)
    return gain * (v / np.sqrt((v * v).mean(axis=-1, keepdims=True) + z.dtype.type(eps))) + bias


def peers():
    """name -> layer norm, as the reports take it."""
    from lnbook.conformance.adaptors import flax_linen, keras_ops, onnx_runtime, pytorch

    return {
        f"PyTorch {release('torch')}": pytorch.layer_norm,
        f"Flax {release('flax')}, as it comes": flax_linen.layer_norm,
        f"Flax {release('flax')}, `use_fast_variance=False`": flax_two_pass,
        f"Keras {release('keras')} on JAX {release('jax')}": keras_ops.layer_norm,
        f"ONNX Runtime {release('onnxruntime')}": onnx_runtime.layer_norm,
        f"plain formula in NumPy {release('numpy')}": numpy_two_pass,
        "`lnbook`": lambda z, gain, bias, eps: lnbook.layer_norm(z, gain, bias, eps=eps),
    }


def release(package):
    return version(package).partition("+")[0]


def table():
    lines = [("peer", *HEADS), ("---",) * (len(HEADS) + 1)]
    for name, layer_norm in peers().items():
        lines.append((name, *(cell(layer_norm, z, eps) for z, eps in inputs())))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    RECORD.write_text(table(), encoding="utf-8")
    print("recorded floating-point")

"""What the peers do unless told otherwise: the table of the page on conventions, recorded by `make record-peers`."""

import inspect
import os
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

os.environ["KERAS_BACKEND"] = "jax"

import flax.linen
import flax.nnx
import jax
import keras
import numpy as np
import onnx
import onnxruntime
import torch

RECORD = Path(__file__).parents[2] / "book" / "_records" / "conventions.txt"
HEADS = ("layer", "epsilon by default", "computes", "gain", "bias", "two axes", "float16 gives")
# The last coordinate of the core of (0, 2) at eps = 3, by what computes it: fact convention-probe
FORMS = {
    "the core": 1 / 2,
    "$\\varepsilon$ outside": 1 / 4,
    "divisor $d - 1$": 1 / 5**0.5,
    "$\\max(q, \\varepsilon)$": 1 / 3**0.5,
    "RMSNorm": 2 / 5**0.5,
}


class Layer(NamedTuple):
    name: str
    package: str
    eps: float | None
    build: object  # (normalized shape, rank of the input, eps or None for the default) -> (function, parameters)


def torch_module(cls):
    def build(shape, rank, eps):
        module = cls(shape) if eps is None else cls(shape, eps=eps)
        return (
            lambda z: module.to(torch.from_numpy(z).dtype)(torch.from_numpy(z)).detach().numpy(),
            {name: p.detach().numpy() for name, p in module.named_parameters()},
        )

    return build


def linen(shape, rank, eps):
    axes = tuple(range(-len(shape), 0))
    options = {"reduction_axes": axes, "feature_axes": axes} if len(shape) > 1 else {}
    module = flax.linen.LayerNorm(**options, **({} if eps is None else {"epsilon": eps}))
    variables = module.init(jax.random.key(0), np.zeros((1,) * (rank - len(shape)) + shape))
    return lambda z: module.apply(variables, z), variables["params"]


def nnx(shape, rank, eps):
    options = {} if eps is None else {"epsilon": eps}
    if len(shape) > 1:
        options["reduction_axes"] = tuple(range(-len(shape), 0))
    module = flax.nnx.LayerNorm(shape[-1], rngs=flax.nnx.Rngs(0), **options)
    return module, {"scale": module.scale[...], "bias": module.bias[...]}


def keras_layer(cls):
    def build(shape, rank, eps):
        options = {} if eps is None else {"epsilon": eps}
        if len(shape) > 1:
            options["axis"] = tuple(range(-len(shape), 0))

        def layer(dtype):
            made = cls(**options, dtype=dtype)
            made.build((None,) * (rank - len(shape)) + shape)
            return made

        weights = {w.name: np.asarray(w) for w in layer("float32").weights}
        return lambda z: np.asarray(layer(str(z.dtype))(z)), weights

    return build


def keras_op(op):
    def build(shape, rank, eps):
        options = {} if eps is None else {"epsilon": eps}
        if len(shape) > 1:
            options["axis"] = tuple(range(-len(shape), 0))
        return lambda z: np.asarray(op(z, **options)), {}

    return build


def onnx_node(shape, rank, eps):
    """The operator, with a gain of 1, which it requires."""

    def run(z):
        element = onnx.helper.np_dtype_to_tensor_dtype(z.dtype)
        values = [onnx.helper.make_tensor_value_info(n, element, None) for n in ("z", "gain", "y")]
        options = {} if eps is None else {"epsilon": eps}
        if len(shape) > 1:
            options["axis"] = -len(shape)
        node = onnx.helper.make_node("LayerNormalization", ["z", "gain"], ["y"], **options)
        graph = onnx.helper.make_graph([node], "layer_norm", values[:2], values[2:])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=10)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return session.run(None, {"z": z, "gain": np.ones(shape, z.dtype)})[0]

    return run, {}


def default(layer, name):
    return inspect.signature(layer.__init__).parameters[name].default


def onnx_default():
    (attribute,) = (a for a in onnx.defs.get_schema("LayerNormalization").attributes.values() if a.name == "epsilon")
    return float(f"{attribute.default_value.f:.6g}")


LAYERS = [
    Layer("`torch.nn.LayerNorm`", "torch", default(torch.nn.LayerNorm, "eps"), torch_module(torch.nn.LayerNorm)),
    Layer("`torch.nn.RMSNorm`", "torch", default(torch.nn.RMSNorm, "eps"), torch_module(torch.nn.RMSNorm)),
    Layer("`flax.linen.LayerNorm`", "flax", default(flax.linen.LayerNorm, "epsilon"), linen),
    Layer("`flax.nnx.LayerNorm`", "flax", default(flax.nnx.LayerNorm, "epsilon"), nnx),
    Layer(
        "`keras.layers.LayerNormalization`",
        "keras",
        default(keras.layers.LayerNormalization, "epsilon"),
        keras_layer(keras.layers.LayerNormalization),
    ),
    Layer("`keras.ops.layer_normalization`", "keras", None, keras_op(keras.ops.layer_normalization)),
    Layer(
        "`keras.layers.RMSNormalization`",
        "keras",
        default(keras.layers.RMSNormalization, "epsilon"),
        keras_layer(keras.layers.RMSNormalization),
    ),
    Layer("`LayerNormalization` in ONNX Runtime", "onnxruntime", onnx_default(), onnx_node),
]


def measured_eps(layer):
    """The default that a result shows: z = (-t, t) with t^2 = 1e-7 has the core t / sqrt(t^2 + eps)."""
    run, _ = layer.build((2,), 2, None)
    t = 1e-7**0.5
    u = float(np.asarray(run(np.array([[-t, t]], np.float32)))[0, 1])
    return float(f"{t * t / u**2 - t * t:.2g}")


def form(layer):
    run, _ = layer.build((2,), 2, 3.0)
    u = float(np.asarray(run(np.array([[0, 2]], np.float32)))[0, 1])
    (name,) = (name for name, value in FORMS.items() if abs(u - value) < 1e-6)
    return name


def normalizes_the_last_axis(layer):
    """A change in one coordinate of a (2, 2, 2) array is seen in its own row, and in no other."""
    run, _ = layer.build((2,), 3, 1.0)
    z = np.arange(8, dtype=np.float32).reshape(2, 2, 2) ** 2
    moved = z.copy()
    moved[0, 0, 0] += 5
    seen = np.asarray(run(z)) != np.asarray(run(moved))
    return seen.tolist() == [[[True, True], [False, False]], [[False, False], [False, False]]]


def parameter(layer, position):
    _, parameters = layer.build((3,), 2, None)
    names = {"gain": ("weight", "scale", "gamma"), "bias": ("bias", "beta")}[position]
    found = [(name, np.asarray(value)) for name, value in parameters.items() if name in names]
    if not parameters:
        required = {"gain": "required input", "bias": "optional input"}
        return required[position] if layer.build is onnx_node else "given"
    if not found:
        return "none"
    ((name, value),) = found
    assert value.shape == (3,)
    (start,) = set(value.tolist())
    return f"`{name}`, {start:g}"


def two_axes(layer):
    """Whether the last two axes can be normalized together, with a gain for each of their entries."""
    run, parameters = layer.build((2, 3), 3, 1.0)
    z = np.arange(24, dtype=np.float32).reshape(4, 2, 3) ** 2
    v = z if form(layer) == "RMSNorm" else z - z.mean(axis=(1, 2), keepdims=True)
    assert np.allclose(np.asarray(run(z)), v / np.sqrt((v * v).mean(axis=(1, 2), keepdims=True) + 1), atol=1e-4)
    shapes = {np.shape(p) for p in parameters.values()}
    return "yes" if shapes <= {(2, 3)} else "gain along the last" if shapes == {(3,)} else str(shapes)


def statistics_are_wider(layer):
    """256^2 is no float16: with statistics in float16 the core of (256, -256) would be 0."""
    run, _ = layer.build((2,), 2, 1.0)
    return np.allclose(np.asarray(run(np.array([[256, -256]], np.float16))), [[1, -1]], atol=1e-3)


def float16(layer):
    run, _ = layer.build((2,), 2, 1.0)
    return str(np.asarray(run(np.array([[256, -256]], np.float16))).dtype)


def release(package):
    return version(package).partition("+")[0]


def power(eps):
    if eps is None:
        return "–"
    digits, exponent = f"{eps:.1e}".split("e")
    return f"$10^{{{int(exponent)}}}$" if float(digits) == 1 else f"${float(digits):g} \\cdot 10^{{{int(exponent)}}}$"


def row(layer):
    found = measured_eps(layer)
    assert layer.eps is None or abs(found / layer.eps - 1) < 0.06
    eps = layer.eps if layer.eps is not None else found
    name = f"{layer.name}, {release(layer.package)}"
    parameters = parameter(layer, "gain"), parameter(layer, "bias")
    return name, power(eps), form(layer), *parameters, two_axes(layer), float16(layer)


def table():
    lines = [HEADS, ("---",) * len(HEADS), *map(row, LAYERS)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    RECORD.write_text(table(), encoding="utf-8")
    print("recorded conventions")

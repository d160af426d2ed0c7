"""ONNX Runtime: a model of one LayerNormalization node, in the form lnbook.conformance asks for.

It has no gradients: the package onnxruntime holds no training.
"""

from functools import lru_cache

import onnxruntime
from onnx import helper


def layer_norm(z, gain, bias, eps):
    run = session(z.ndim, z.dtype, eps).run
    return run(None, {"z": z, "gain": gain, "bias": bias})[0]


@lru_cache
def session(rank, dtype, eps):
    element = helper.np_dtype_to_tensor_dtype(dtype)
    array = [helper.make_tensor_value_info(name, element, [None] * rank) for name in ("z", "y")]
    row = [helper.make_tensor_value_info(name, element, [None]) for name in ("gain", "bias")]
    node = helper.make_node("LayerNormalization", ["z", "gain", "bias"], ["y"], axis=-1, epsilon=eps)
    graph = helper.make_graph([node], "layer_norm", [array[0], *row], [array[1]])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])

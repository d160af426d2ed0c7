"""The layer-normalization tests that ONNX, PyTorch and Keras keep for themselves, run through lnbook."""

import importlib

import numpy as np
import pytest

import lnbook


def test_all_57_node_cases_of_onnx():
    """Each with its output, mean and inverse standard deviation, at ONNX's own tolerances."""
    importlib.import_module("onnx.backend.test.case.node.layernormalization")
    cases = {case.name: case for case in importlib.import_module("onnx.backend.test.case.node")._NodeTestCases}
    cases = {name: case for name, case in cases.items() if name.startswith("test_layer_normalization")}
    assert len(cases) == 57
    for name, case in cases.items():
        # An expanded case has the data of the case of one node, and its attributes spread over many nodes.
        node = cases[name.partition("_expanded")[0]].model.graph.node[0]
        attributes = {a.name: a.f if a.name == "epsilon" else a.i for a in node.attribute}
        eps, first = attributes.get("epsilon", 1e-5), attributes.get("axis", -1)
        ((z, gain, bias), (y, mean, inverse_std)), *more = case.data_sets
        assert more == []
        axes = tuple(range(first % z.ndim, z.ndim))
        shape = tuple(z.shape[a] for a in axes)
        close = {"rtol": case.rtol, "atol": case.atol, "err_msg": name}
        ours = lnbook.layer_norm(z, gain.reshape(shape), bias.reshape(shape), eps=eps, axis=axes)
        assert ours.dtype == y.dtype
        np.testing.assert_allclose(ours, y, **close)
        our_mean = (z - lnbook.center(z, axis=axes)).mean(axis=axes, keepdims=True)
        np.testing.assert_allclose(our_mean, mean, **close)
        our_inverse_std = 1 / np.sqrt(lnbook.variance(z, axis=axes) + eps)
        np.testing.assert_allclose(our_inverse_std.reshape(inverse_std.shape), inverse_std, **close)


def operator(name):
    methods = importlib.import_module("torch.testing._internal.common_methods_invocations")
    (found,) = [op for op in methods.op_db if op.name == name]
    return found


def arguments(sample):
    """z, axes, gain, bias and eps of a sample, as lnbook takes them."""
    names = ("normalized_shape", "weight", "bias", "eps")
    given = dict(zip(names, sample.args, strict=False)) | sample.kwargs
    arrays = [None if t is None else t.detach().numpy() for t in (sample.input, given.get("weight"), given.get("bias"))]
    return arrays, tuple(given["normalized_shape"]), given.get("eps", 1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    ("name", "count", "refused"), [("nn.functional.layer_norm", 6, 1), ("native_layer_norm", 20, 4)]
)
def test_the_samples_of_pytorch(name, count, refused, dtype):
    import torch

    op = operator(name)
    samples = list(op.sample_inputs("cpu", getattr(torch, dtype), requires_grad=True))
    assert len(samples) == count
    negative = 0
    for sample in samples:
        (z, gain, bias), shape, eps = arguments(sample)
        axes = tuple(range(-len(shape), 0))
        if eps < 0:  # the variance plus such an eps may be negative: lnbook refuses it on purpose
            negative += 1
            with pytest.raises(ValueError, match="eps must be finite and not negative"):
                lnbook.layer_norm(z, gain, bias, eps=eps, axis=axes)
            continue
        theirs = op(sample.input, *sample.args, **sample.kwargs)
        theirs, *statistics = theirs if isinstance(theirs, tuple) else (theirs,)
        ours = lnbook.layer_norm(z, gain, bias, eps=eps, axis=axes)
        assert ours.dtype == dtype
        unit = np.finfo(dtype).eps
        np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=8 * unit, atol=64 * unit)
        if statistics:
            mean, inverse_std = (s.detach().numpy() for s in statistics)
            half = dtype == "float16"  # then PyTorch may round the statistics to it
            close = {"rtol": 1e-3 if half else 64 * unit, "atol": 1e-3 if half else 64 * unit}
            wide = z.astype(np.float64)
            our_mean = (wide - lnbook.center(wide, axis=axes)).mean(axis=axes)
            np.testing.assert_allclose(our_mean.reshape(mean.shape), mean, **close)
            our_inverse_std = 1 / np.sqrt(lnbook.variance(wide, axis=axes) + eps)
            np.testing.assert_allclose(our_inverse_std.reshape(inverse_std.shape), inverse_std, **close)
        cotangent = np.linspace(-1, 1, z.size).reshape(z.shape).astype(dtype)
        wanted = [t for t in (sample.input, *sample.args, *sample.kwargs.values()) if isinstance(t, torch.Tensor)]
        gradients = torch.autograd.grad(theirs, wanted, torch.from_numpy(cotangent))
        dz, dgain, dbias = lnbook.vjp(z, cotangent, gain, eps=eps, axis=axes)
        ours = [dz, *(d for d, p in ((dgain, gain), (dbias, bias)) if p is not None)]
        for one, other in zip(ours, gradients, strict=True):
            np.testing.assert_allclose(one, other.numpy(), rtol=64 * unit, atol=64 * unit * max(1, eps**-0.5))
    assert negative == refused


def test_the_error_samples_of_pytorch():
    """What PyTorch refuses, lnbook refuses. lnbook names axes, so the shape is told by the gain it would have."""
    errors = list(operator("native_layer_norm").error_inputs("cpu"))
    assert len(errors) == 4
    for error in errors:
        (z, gain, bias), shape, eps = arguments(error.sample_input)
        gain = np.ones(shape, z.dtype) if gain is None else gain
        with pytest.raises(ValueError, match=r"axis must name|gain must have the shape|bias must have the shape"):
            lnbook.layer_norm(z, gain, bias, eps=eps, axis=tuple(range(-len(shape), 0)))


def test_the_golden_row_of_keras():
    y = lnbook.layer_norm(np.arange(5, dtype=np.float32), np.ones(5), np.ones(5), eps=1e-3)
    np.testing.assert_allclose(y, [-0.41386, 0.29307, 1.0, 1.70693, 2.41386], rtol=0, atol=5e-6)

"""PyTorch: torch.nn.functional.layer_norm and its derivatives by autograd, in the form lnbook.conformance asks for."""

import torch
from torch.nn.functional import layer_norm as torch_layer_norm


def layer_norm(z, gain, bias, eps):
    z, gain, bias = map(torch.from_numpy, (z, gain, bias))
    return torch_layer_norm(z, z.shape[-1:], gain, bias, eps).numpy()


def vjp(z, gain, bias, eps, g):
    inputs = [torch.from_numpy(a).requires_grad_() for a in (z, gain, bias)]
    y = torch_layer_norm(inputs[0], z.shape[-1:], *inputs[1:], eps)
    return tuple(d.numpy() for d in torch.autograd.grad(y, inputs, torch.from_numpy(g)))


def jvp(z, gain, bias, eps, tangents):
    def layer(z, gain, bias):
        return torch_layer_norm(z, z.shape[-1:], gain, bias, eps)

    inputs = tuple(map(torch.from_numpy, (z, gain, bias)))
    return torch.func.jvp(layer, inputs, tuple(map(torch.from_numpy, tangents)))[1].numpy()

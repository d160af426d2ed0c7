"""Faults of the locked releases that the book speaks of. Where one is mended, its test fails: then mend the book."""

import numpy as np
import pytest

import lnbook
from lnbook import conformance

# Case B38: z = (t, 0), gain (1, 2), eps = 1/4 has the output sum -t / sqrt(1 + t^2); at t = 0.7 its second derivative
SECOND = 3 * 0.7 / (1 + 0.7**2) ** 2.5


def output_sum(torch):
    def f(t):
        z = torch.stack([t, torch.zeros_like(t)])
        gain = torch.tensor([1.0, 2.0], dtype=t.dtype)
        return torch.nn.functional.layer_norm(z, (2,), gain, None, 0.25).sum()

    return f


def test_pytorch_forward_mode_twice_gives_a_wrong_second_derivative():
    import torch

    f, t = output_sum(torch), torch.tensor(0.7, dtype=torch.float64)

    def forward(h):
        return lambda t: torch.func.jvp(h, (t,), (torch.ones_like(t),))[1]

    grad = torch.func.grad
    assert forward(forward(f))(t).item() == pytest.approx(-0.38487405661968344, abs=1e-12)  # wrong
    assert grad(forward(f))(t).item() == pytest.approx(-0.38487405661968344, abs=1e-12)  # wrong
    assert forward(grad(f))(t).item() == pytest.approx(SECOND, abs=1e-12)
    assert grad(grad(f))(t).item() == pytest.approx(SECOND, abs=1e-12)


def test_pytorch_gradient_by_the_gain_is_not_0_at_one_coordinate():
    import torch

    z = np.array([[1e6]], np.float32)
    inputs = [torch.tensor(z), torch.tensor([2.0], requires_grad=True)]
    y = torch.nn.functional.layer_norm(inputs[0], (1,), inputs[1], torch.tensor([3.0]), 1e-5)
    assert y.item() == 3
    assert torch.autograd.grad(y.sum(), inputs[1])[0].item() > 1  # wrong
    assert lnbook.vjp(z, np.ones_like(z), np.array([2.0]), eps=1e-5)[1] == 0


def test_flax_loses_every_digit_at_a_moderate_offset():
    """Case B22: E[z^2] - E[z]^2 is below 0 in float32 and clamped at 0."""
    from lnbook.conformance.adaptors.flax_linen import layer_norm

    z = np.array([[40000, 40001, 40002, 40003]], np.float32)
    one, zero = np.ones(4, np.float32), np.zeros(4, np.float32)
    assert np.abs(layer_norm(z, one, zero, 1e-5)).max() > 100  # wrong
    assert np.abs(lnbook.layer_norm(z, eps=1e-5)[0] - np.array([-3, -1, 1, 3]) / np.sqrt(5)).max() < 1e-5


def test_flax_keeps_the_digits_without_its_fast_variance():
    from flax import linen

    def layer_norm(z, gain, bias, eps):
        layer = linen.LayerNorm(epsilon=eps, use_fast_variance=False)
        return np.asarray(layer.apply({"params": {"scale": gain, "bias": bias}}, z))

    report = conformance.check(layer_norm)
    assert [row.name for row in report.rows if not row.holds] == ["eps-scaling/large"]
    assert report.mistakes == ("the squares leave the range of the dtype",)

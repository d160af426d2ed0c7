"""A CUDA or Triton kernel of your own.

`launch(z, gain, bias, eps, out)` stands for your launcher: it takes
tensors on the device, z and out of shape (rows, d), and fills out.
For Triton it is a line like
`my_kernel[(len(z),)](z, gain, bias, out, eps, z.shape[1], BLOCK=1024)`.
"""

import torch


def adapt(launch, device="cuda"):
    def layer_norm(z, gain, bias, eps):
        rows = z.reshape(-1, z.shape[-1])  # (rows, d)
        inputs = [torch.from_numpy(a).to(device) for a in (rows, gain, bias)]
        out = torch.empty_like(inputs[0])
        launch(*inputs, eps, out)
        return out.cpu().numpy().reshape(z.shape)

    return layer_norm

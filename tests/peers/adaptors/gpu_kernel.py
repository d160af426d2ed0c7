"""A CUDA or Triton kernel of your own, in the form lnbook.conformance asks for.

`launch(z, gain, bias, eps, out)` stands for your launcher: it takes tensors on the device, z and out of two axes
(rows, d), and fills out. A Triton launcher would be
`def launch(z, gain, bias, eps, out): my_kernel[(len(z),)](z, gain, bias, out, eps, z.shape[1], BLOCK=...)`.
"""

import torch


def adapt(launch, device="cuda"):
    def layer_norm(z, gain, bias, eps):
        rows, gain, bias = (torch.from_numpy(a).to(device) for a in (z.reshape(-1, z.shape[-1]), gain, bias))
        out = torch.empty_like(rows)
        launch(rows, gain, bias, eps, out)
        return out.cpu().numpy().reshape(z.shape)

    return layer_norm

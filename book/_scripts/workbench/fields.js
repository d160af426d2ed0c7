// The fields of the workbench, and examples that fill them.
{
  workbench.FIELDS = [
    {
      name: "z",
      label: "z, the vector",
      rows: 2,
      start: "1, 1, -2",
      help: "Numbers, rows of numbers, or a print-out of Python, NumPy, PyTorch or JAX.",
    },
    { name: "eps", label: "ε", start: "2", help: "As PyTorch’s eps; 1e-5 is its default." },
    {
      name: "gain",
      label: "γ, the gain",
      rows: 1,
      start: "2, 0, -1",
      help: "Left empty: 1 for each entry. One number stands for all.",
    },
    {
      name: "bias",
      label: "β, the bias",
      rows: 1,
      start: "",
      help: "Left empty: 0 for each entry. One number stands for all.",
    },
    {
      name: "output",
      label: "Output of your own layer",
      rows: 2,
      start: "",
      wide: true,
      help: "For this z. The verdict says whether it is right, or which mistake makes it.",
    },
    {
      name: "dtype",
      label: "Dtype of output and gradients",
      options: ["", "float64", "float32", "float16", "bfloat16"],
      start: "",
      help: "Sets the tolerance. As printed: the dtype named in the print-out, or seen from its digits.",
    },
    { name: "shift", label: "c, a common shift", start: "", help: "Added to all entries of z." },
    {
      name: "g",
      label: "g, the gradient that arrives",
      rows: 2,
      start: "",
      wide: true,
      help: "The derivative of the loss by the output y, of the shape of z. With it, paste what your backward pass returns:",
    },
    { name: "dz", label: "Your dz", rows: 2, start: "", wide: true, help: "The gradient by z." },
    { name: "dgain", label: "Your dγ", rows: 1, start: "", help: "The gradient by the gain, summed over rows." },
    { name: "dbias", label: "Your dβ", rows: 1, start: "", help: "The gradient by the bias, summed over rows." },
  ];

  workbench.EXAMPLES = {
    "gain that turns a sign": { z: "1, 1, -2", eps: "2", gain: "2, 0, -1" },
    "constant input": { z: "3, 3, 3", eps: "1e-5", bias: "1, -1, 2" },
    "whose convention?": { z: "1, 0, 0, 0", eps: "1e-5", output: "tensor([ 1.5000, -0.5000, -0.5000, -0.5000])" },
    "right in bfloat16?": {
      z: "1, 2, 4",
      eps: "1e-5",
      output: "tensor([-1.0703, -0.2676,  1.3359], dtype=torch.bfloat16)",
    },
    "wrong gradient": { z: "1, 2, 4", eps: "1/3", g: "1, 0, 0", dz: "0.48507, -0.24254, -0.24254" },
    "far from zero": { z: "99999999, 100000000, 100000001, 100000002", eps: "1e-5", shift: "0.5" },
  };
}

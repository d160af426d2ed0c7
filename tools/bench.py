"""One table from one run: errors, times and memory of lnbook beside the plain NumPy formulas and the peers there are.

`make bench` runs it. NumPy is enough; PyTorch, flax, Keras and ONNX Runtime get a column each where they can be
imported. All of it runs on one thread, in processor time, but for the last table, which is in wall time and says its
threads; the best of several turns taken in rotation.
"""

import math
import os
import time
import tracemalloc
from importlib import import_module
from importlib.metadata import version

for pool in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM"):
    os.environ[f"{pool}_NUM_THREADS"] = "1"
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402 (reads the number of threads when it is imported)

import lnbook  # noqa: E402
from lnbook import _kernels  # noqa: E402

EPS = 1e-5
PEERS = {"PyTorch": "pytorch", "flax": "flax_linen", "Keras": "keras_ops", "ONNX Runtime": "onnx_runtime"}
PACKAGES = {"PyTorch": "torch", "flax": "flax", "Keras": "keras", "ONNX Runtime": "onnxruntime"}
SHAPES = [(8192, 768), (4096, 4096), (64, 1 << 20)]
# What is timed, and how many times as long as PyTorch lnbook may take: forward, and forward and backward together
TIMED = [
    ((8192, 768), "float32", (1.3, 1)),
    ((8192, 768), "float64", (2.5, 2.5)),
    ((8192, 768), "float16", (4, None)),
    ((8192, 768), "bfloat16", (4, None)),
    ((4096, 4096), "float32", (None, None)),
    ((64, 1 << 20), "float32", (None, None)),
    ((1, 768), "float32", (None, None)),
    ((1, 768), "float64", (None, None)),
]
ROWS = {  # what is made of rows of standard normal numbers
    "offset 0": lambda x: x,
    "offset 1e2": lambda x: x + 1e2,
    "offset 1e4": lambda x: x + 1e4,
    "offset 1e6": lambda x: x + 1e6,
    "scale 1e-30": lambda x: x * 1e-30,
    "scale 1e30": lambda x: x * 1e30,
}


def plain_layer_norm(z, gain, bias, eps):
    v = z - z.mean(axis=-1, keepdims=True)  # (n, d)
    q = (v * v).mean(axis=-1, keepdims=True)  # (n, 1)
    return v / np.sqrt(q + eps) * gain + bias


def plain_vjp(z, gain, bias, eps, g):
    v = z - z.mean(axis=-1, keepdims=True)  # (n, d)
    root = np.sqrt((v * v).mean(axis=-1, keepdims=True) + eps)  # (n, 1)
    u, h = v / root, g * gain
    dz = (h - h.mean(axis=-1, keepdims=True) - u * (h * u).mean(axis=-1, keepdims=True)) / root
    return dz, (g * u).sum(axis=0), g.sum(axis=0)


def lnbook_layer_norm(z, gain, bias, eps):
    return lnbook.layer_norm(z, gain, bias, eps=eps)


def lnbook_vjp(z, gain, bias, eps, g):
    return lnbook.vjp(z, g, gain, eps=eps)


def implementations():
    """Name -> (layer_norm, vjp or None), of all that are there."""
    found = {"lnbook": (lnbook_layer_norm, lnbook_vjp), "plain NumPy": (plain_layer_norm, plain_vjp)}
    for name, adaptor in PEERS.items():
        try:
            module = import_module(f"lnbook.conformance.adaptors.{adaptor}")
        except ImportError:
            continue
        found[name] = (module.layer_norm, getattr(module, "vjp", None))
    if "PyTorch" in found:
        import_module("torch").set_num_threads(1)
    return found


def exact(z, gain, bias, g):
    """y and dz of one float32 row in float64, every sum taken exactly: right to 1e-9 units and better."""
    z, h = z.astype(np.float64), g.astype(np.float64) * gain
    scale = 2.0 ** -np.frexp(np.abs(z).max())[1]  # a power of two: no square leaves the range
    eps, z, d = EPS * scale**2, z * scale, len(z)
    v = z - math.fsum(z) / d
    v -= math.fsum(v) / d
    root = math.sqrt(math.fsum(v * v) / d + eps)
    u = v / root
    w = h - math.fsum(h) / d
    return u * gain + bias, (w - u * (math.fsum(w * u) / d)) / root * scale


def units(got, expected):
    """The largest error over all rows, in units eps(float32) max|expected| of each row."""
    size = np.abs(expected).max(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        error = np.abs(got - expected) / size / np.finfo(np.float32).eps
    return math.inf if np.isnan(error).any() else float(error.max())


def errors(found):
    rng = np.random.default_rng(0)
    gain, bias = rng.normal(size=(2, 768)).astype(np.float32)
    print("\nLargest error in units in the last place, float32, 64 rows of 768 (y, dz); inf: NaN or infinity")
    print_row("", found)
    for name, make in ROWS.items():
        z = make(rng.normal(size=(64, 768))).astype(np.float32)
        g = rng.normal(size=z.shape).astype(np.float32)
        y, dz = (np.array(rows) for rows in zip(*(exact(z[i], gain, bias, g[i]) for i in range(64)), strict=True))
        cells = []
        for layer_norm, vjp in found.values():
            with np.errstate(all="ignore"):
                cell = f"{units(layer_norm(z, gain, bias, EPS), y):.3g}"
                if vjp:
                    cell += f", {units(vjp(z, gain, bias, EPS, g)[0], dz):.3g}"
            cells.append(cell)
        print_row(name, cells)


def fastest(calls, turns, clock=time.process_time):
    """The best time of each call, in seconds."""
    best = dict.fromkeys(calls, math.inf)
    for _ in range(turns):
        for name, call in calls.items():
            start = clock()
            call()
            best[name] = min(best[name], clock() - start)
    return best


def inputs(shape, dtype):
    """z, g, gain, bias"""
    rng = np.random.default_rng(0)
    z, g = (rng.standard_normal(shape, np.float32).astype(dtype) for _ in range(2))
    return z, g, *rng.standard_normal((2, shape[1]), np.float32).astype(dtype)


def torch_calls(z, g, gain, bias):
    """PyTorch's forward, and its forward and backward together, on tensors that are there."""
    import torch

    def tensor(array):
        if array.dtype == ml_dtypes.bfloat16:
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(array)

    z, g, gain, bias = map(tensor, (z, g, gain, bias))
    leaves = [t.clone().requires_grad_() for t in (z, gain, bias)]

    def forward(z, gain, bias):
        return torch.nn.functional.layer_norm(z, z.shape[-1:], gain, bias, EPS)

    return lambda: forward(z, gain, bias), lambda: torch.autograd.grad(forward(*leaves), leaves, g)


def calls(shape, dtype, with_torch):
    """What is called -> name of the implementation -> call."""
    z, g, gain, bias = inputs(shape, dtype)
    forward = {"lnbook": lambda: lnbook.layer_norm(z, gain, bias, eps=EPS)}
    vjp = {"lnbook": lambda: lnbook.vjp(z, g, gain, eps=EPS)}
    if z.dtype in (np.float32, np.float64):
        forward["plain NumPy"] = lambda: plain_layer_norm(z, gain, bias, EPS)
        vjp["plain NumPy"] = lambda: plain_vjp(z, gain, bias, EPS, g)
    if with_torch:
        forward["PyTorch"], vjp["PyTorch"] = torch_calls(z, g, gain, bias)
    return {"forward": forward, "vjp": vjp}


def times(with_torch):
    print("\nTime of lnbook in ms, and how many times as long as the others it takes, with gain and bias")
    print_row("", ["lnbook", "of plain NumPy", "of PyTorch", "at most (PyTorch)"])
    for shape, dtype, limits in TIMED:
        for (what, named), limit in zip(calls(shape, dtype, with_torch).items(), limits, strict=True):
            best = fastest(named, max(3, min(2000, 100_000_000 // math.prod(shape))))
            ratios = [
                f"{best['lnbook'] / best[name]:.2f}" if name in best else "" for name in ("plain NumPy", "PyTorch")
            ]
            print_row(f"{what} {shape} {dtype}", [f"{1e3 * best['lnbook']:.3f}", *ratios, limit or ""])


def threads(with_torch):
    print("\nTime of lnbook in ms at (8192, 768), and how many times as long as PyTorch's, in threads of both")
    print_row("", ["1 thread", "of PyTorch", "2 threads", "of PyTorch"])
    for dtype in ("float32", "float64"):
        for what, named in calls((8192, 768), dtype, with_torch).items():
            named.pop("plain NumPy")
            cells = []
            for count in (1, 2):
                _kernels.THREADS = count
                if with_torch:
                    import_module("torch").set_num_threads(count)
                best = fastest(named, 15, time.perf_counter)
                cells += [f"{1e3 * best['lnbook']:.1f}"]
                cells += [f"{best['lnbook'] / best['PyTorch']:.2f}" if "PyTorch" in best else ""]
            print_row(f"{what} {dtype}", cells)


def memory():
    print("\nPeak memory beyond inputs and results, in sizes of z, float32")
    print_row("", ["lnbook", "plain NumPy"])
    for shape in SHAPES[:2]:
        z = np.ones(shape, np.float32) * np.arange(shape[1], dtype=np.float32)
        gain = bias = np.ones(shape[1], np.float32)
        for what, ours, plain, rest in (
            ("forward", lnbook_layer_norm, plain_layer_norm, ()),
            ("vjp", lnbook_vjp, plain_vjp, (z,)),
        ):
            cells = []
            for f in (ours, plain):
                tracemalloc.start()
                results = f(z, gain, bias, EPS, *rest)
                kept, peak = tracemalloc.get_traced_memory()
                tracemalloc.stop()
                cells.append(f"{(peak - kept) / z.nbytes:.2f}")
                del results
            print_row(f"{what} {shape}", cells)


def growth():
    sizes = [10**4, 10**5, 10**6, 10**7]
    print("\nTime in ms of one row of d numbers in float32, and the exponent of its growth")
    print_row("", [*(f"d = {d:.0e}" for d in sizes), "exponent"])
    rng = np.random.default_rng(0)
    for what, f in (("jvp", lnbook.jvp), ("vjp", lnbook.vjp)):
        spent = []
        for d in sizes:
            z, h = rng.standard_normal((2, d), np.float32)
            spent.append(fastest({what: lambda f=f, z=z, h=h: f(z, h)}, max(3, 3 * 10**7 // d))[what])
        exponent = np.polyfit(np.log(sizes), np.log(spent), 1)[0]
        print_row(what, [*(f"{1e3 * s:.2f}" for s in spent), f"{exponent:.2f}"])


def print_row(name, cells):
    print(f"{name:32}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


if __name__ == "__main__":
    there = implementations()
    versions = [f"{PACKAGES[name]} {version(PACKAGES[name])}" for name in there if name in PACKAGES]
    print(f"numpy {version('numpy')}, {', '.join(versions) or 'no peers'}; one thread")
    _kernels.THREADS = 1
    errors(there)
    times("PyTorch" in there)
    memory()
    growth()
    threads("PyTorch" in there)

"""One table from one run: errors, times and memory of lnbook beside the plain NumPy formulas and the peers there are.

`make bench` runs it. NumPy is enough; PyTorch, flax, Keras and ONNX Runtime get a column each where they can be
imported. All of it runs on one thread; times are processor time, the best of several turns taken in rotation.
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

import numpy as np  # noqa: E402 (reads the number of threads when it is imported)

import lnbook  # noqa: E402

EPS = 1e-5
PEERS = {"PyTorch": "pytorch", "flax": "flax_linen", "Keras": "keras_ops", "ONNX Runtime": "onnx_runtime"}
PACKAGES = {"PyTorch": "torch", "flax": "flax", "Keras": "keras", "ONNX Runtime": "onnxruntime"}
SHAPES = [(8192, 768), (4096, 4096), (64, 1 << 20)]
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


def fastest(calls, turns):
    """The best processor time of each call, in seconds."""
    best = dict.fromkeys(calls, math.inf)
    for _ in range(turns):
        for name, call in calls.items():
            start = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - start)
    return best


def times(found):
    timed = {name: found[name] for name in ("lnbook", "plain NumPy", "PyTorch") if name in found}
    print("\nTime of lnbook in ms, and how many times as long the others take, float32 with gain and bias")
    print_row("", ["lnbook", *(name for name in timed if name != "lnbook")])
    for shape in SHAPES:
        rng = np.random.default_rng(0)
        z, g = (rng.standard_normal(shape, np.float32) for _ in range(2))
        gain, bias = rng.standard_normal((2, shape[1]), np.float32)
        turns = max(3, 100_000_000 // z.size)
        for what, index, inputs in (("forward", 0, (z, gain, bias, EPS)), ("vjp", 1, (z, gain, bias, EPS, g))):
            calls = {name: lambda f=both[index], inputs=inputs: f(*inputs) for name, both in timed.items()}
            best = fastest(calls, turns)
            ours = best.pop("lnbook")
            print_row(f"{what} {shape}", [f"{1e3 * ours:.1f}", *(f"{other / ours:.2f}" for other in best.values())])


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
            spent.append(fastest({what: lambda f=f, z=z, h=h: f(z, h)}, 3 * 10**7 // d)[what])
        exponent = np.polyfit(np.log(sizes), np.log(spent), 1)[0]
        print_row(what, [*(f"{1e3 * s:.2f}" for s in spent), f"{exponent:.2f}"])


def print_row(name, cells):
    print(f"{name:22}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


if __name__ == "__main__":
    there = implementations()
    versions = [f"{PACKAGES[name]} {version(PACKAGES[name])}" for name in there if name in PACKAGES]
    print(f"numpy {version('numpy')}, {', '.join(versions) or 'no peers'}; one thread")
    errors(there)
    times(there)
    memory()
    growth()

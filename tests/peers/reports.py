"""The conformance reports of the peers, recorded with their versions: `make record-peers` writes them again."""

import re
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from lnbook import conformance

RECORDS = Path(__file__).parents[2] / "book" / "_records" / "peers"
PEERS = {  # record: (adaptor, title, packages, dtype)
    "pytorch": ("pytorch", "torch.nn.functional.layer_norm", ("torch",), "float32"),
    "flax": ("flax_linen", "flax.linen.LayerNorm", ("flax", "jax"), "float32"),
    "keras": ("keras_ops", "keras.ops.layer_normalization on JAX", ("keras", "jax"), "float32"),
    "onnx-runtime": ("onnx_runtime", "LayerNormalization in ONNX Runtime", ("onnxruntime",), "float32"),
    "onnx-runtime-float64": ("onnx_runtime", "LayerNormalization in ONNX Runtime", ("onnxruntime",), "float64"),
}
ROW = re.compile(r"^(holds|weak|FAILS) +(\S+) +(\S+) ", re.MULTILINE)


def report(peer):
    adaptor, title, packages, dtype = PEERS[peer]
    functions = import_module(f"lnbook.conformance.adaptors.{adaptor}")
    # The build of a version, as in 2.13.0+cpu, is the machine's affair.
    versions = ", ".join(f"{package} {version(package).partition('+')[0]}" for package in packages)
    asked = conformance.check(
        functions.layer_norm, vjp=getattr(functions, "vjp", None), dtype=dtype, title=f"{title} ({versions})"
    )
    return f"{asked}\n"


def findings(text):
    """What of a report is the same on every machine: what was asked of which version, what failed, and the mistakes.

    Near the tolerance of 16 units the last digits decide between "holds" and "weak": below 64 both are one verdict.
    """
    title = text.partition("\n")[0]
    verdicts = {
        name: "holds" if verdict == "weak" and float(error) < 64 else verdict
        for verdict, name, error in ROW.findall(text)
    }
    return title, verdicts, [line for line in text.splitlines() if line.startswith("the numbers fit")]


def errors(text):
    """The error of each row, of which the last digits depend on the machine."""
    return {name: float(error) for _, name, error in ROW.findall(text)}


if __name__ == "__main__":
    for peer in PEERS:
        (RECORDS / f"{peer}.txt").write_text(report(peer), encoding="utf-8")
        print("recorded", peer)

"""`python -m lnbook.conformance package.module:function`: the report of a layer norm, for the command line."""

import argparse
import importlib
import sys

from lnbook.conformance.facts import KINDS
from lnbook.conformance.report import check


def imported(name):
    """The callable that `package.module:function` names."""
    module, colon, path = name.partition(":")
    if not (module and colon and path):
        raise argparse.ArgumentTypeError(f"{name!r} must have the form package.module:function")
    try:
        found = importlib.import_module(module)
    except Exception as error:
        raise argparse.ArgumentTypeError(f"{module!r} cannot be imported: {type(error).__name__}: {error}") from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise argparse.ArgumentTypeError(f"{module!r} has no {path!r}")
        found = getattr(found, part)
    if not callable(found):
        raise argparse.ArgumentTypeError(f"{name!r} is not callable: it is of type {type(found).__name__}")
    return found


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m lnbook.conformance",
        description="Check a layer norm f(z, gain, bias, eps) against the facts of the book.",
        epilog="Exit status: 0 if no fact fails, 1 if one does, 2 if the function cannot be called at all.",
    )
    parser.add_argument("layer_norm", metavar="package.module:function", type=imported)
    parser.add_argument("--vjp", metavar="package.module:function", type=imported, help="vjp(z, gain, bias, eps, g)")
    parser.add_argument(
        "--dtype", default="float32", help="float16, float32 (the default), float64, or bfloat16, which needs ml_dtypes"
    )
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS, help="the kinds of facts to ask")
    parser.add_argument(
        "--thorough", action="store_true", help="ask for every length up to 130 and for 70001 positions as well"
    )
    chosen = parser.parse_args(arguments)
    try:
        report = check(
            chosen.layer_norm, vjp=chosen.vjp, dtype=chosen.dtype, kinds=tuple(chosen.only), thorough=chosen.thorough
        )
    except (TypeError, ValueError) as error:
        parser.error(str(error))
    print(report)
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())

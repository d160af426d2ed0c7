"""Layer normalization: the function, its derivatives and its sensitivity, as the book computes them."""

from lnbook.derivatives import jacobian, jvp, vjp
from lnbook.forward import center, layer_norm, normalize, variance
from lnbook.sensitivity import Spectrum, amplification, lipschitz_constant, operator_norm, spectrum
from lnbook.taylor import taylor

__all__ = [
    "Spectrum",
    "amplification",
    "center",
    "jacobian",
    "jvp",
    "layer_norm",
    "lipschitz_constant",
    "normalize",
    "operator_norm",
    "spectrum",
    "taylor",
    "variance",
    "vjp",
]

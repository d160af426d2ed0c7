"""Layer normalization: the function, its derivatives and its sensitivity, as the book computes them."""

from lnbook.derivatives import jacobian, jvp, rms_jvp, rms_vjp, vjp
from lnbook.forward import center, layer_norm, normalize, rms_norm, variance
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
    "rms_jvp",
    "rms_norm",
    "rms_vjp",
    "spectrum",
    "taylor",
    "variance",
    "vjp",
]

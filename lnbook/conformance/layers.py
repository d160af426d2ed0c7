"""The two layers that each fact is stated for: the exact one, and the one under test."""

import warnings
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from lnbook.conformance import exact

# The binary digits of a float and the exponent its values stay below.
FORMATS = {"float16": (11, 16), "bfloat16": (8, 128), "float32": (24, 128), "float64": (53, 1024)}


class NoNumbersError(Exception):
    """The function under test gave no numbers to compare: it raised, or returned something else."""


class Call(NamedTuple):
    """One call of the function under test: the arguments, as arrays of its dtype, and what it returned."""

    check: str
    kind: str
    z: np.ndarray
    gain: np.ndarray
    bias: np.ndarray
    eps: float
    cotangent: np.ndarray | None
    returned: tuple  # (y,) or (dz, dgain, dbias)


class Layer:
    """What the statement of a fact may use: the output y and the gradients dz, dgain and dbias, as exact fractions.

    Arguments are plain numbers. They are rounded to the dtype first, so that both layers see the same input.
    """

    def __init__(self, dtype):
        try:
            self.dtype = np.dtype(dtype)
        except TypeError:
            known = "bfloat16 only where ml_dtypes has been imported"
            raise ValueError(f"dtype must be one of {', '.join(FORMATS)}, {known}, got {dtype!r}") from None
        if self.dtype.name not in FORMATS:
            raise ValueError(f"dtype must be one of {', '.join(FORMATS)}, got {self.dtype}")
        self.digits, self.max_exponent = FORMATS[self.dtype.name]

    def rounded(self, values):
        return np.vectorize(float, otypes=[np.float64])(np.asarray(values)).astype(self.dtype)

    def arguments(self, z, gain, bias, cotangent=None):
        z = self.rounded(z)
        gain = self.rounded(np.ones(z.shape[-1]) if gain is None else gain)
        bias = self.rounded(np.zeros(z.shape[-1]) if bias is None else bias)
        return z, gain, bias, None if cotangent is None else self.rounded(np.broadcast_to(cotangent, z.shape))


class ExactLayer(Layer):
    """Layer normalization itself. It keeps the largest scale of the results, and what the rounding of inputs costs.

    `cost` is how far a change of every input by half a unit in its last place can move a result.
    """

    def __init__(self, dtype):
        super().__init__(dtype)
        self.scale = Fraction(0)
        self.cost = Fraction(0)

    def y(self, z, gain=None, bias=None, *, eps):
        z, gain, bias, _ = (a if a is None else exact.fractions(a) for a in self.arguments(z, gain, bias))
        u, inverse_std = exact.core(z, Fraction(float(eps)))
        spread = 1 - Fraction(1, z.shape[-1])  # centring moves a coordinate by no more than 2 * spread half units
        self.scale = max(self.scale, (abs(gain * u) + abs(bias)).max())
        self.cost = max(self.cost, (abs(gain) * (2 * spread + abs(u)) * inverse_std * self._half_unit(z)).max())
        return gain * u + bias

    def dz(self, z, g, gain=None, bias=None, *, eps):
        z, gain, _, g = (exact.fractions(a) for a in self.arguments(z, gain, None, g))
        u, inverse_std = exact.core(z, Fraction(float(eps)))
        spread = 1 - Fraction(1, z.shape[-1])
        size = abs(gain * g).max() * inverse_std
        self.scale = max(self.scale, size.max())
        self.cost = max(self.cost, (size * inverse_std * 2 * (spread + abs(u)) * self._half_unit(z)).max())
        return exact.vjp(z, gain, Fraction(float(eps)), g)[0]

    def dgain(self, z, g, gain=None, bias=None, *, eps):
        z, gain, _, g = (exact.fractions(a) for a in self.arguments(z, None, None, g))
        u, _ = exact.core(z, Fraction(float(eps)))
        self.scale = max(self.scale, abs(g * u).reshape(-1, u.shape[-1]).sum(axis=0).max())
        return exact.vjp(z, gain, Fraction(float(eps)), g)[1]

    def dbias(self, z, g, gain=None, bias=None, *, eps):
        g = exact.fractions(self.arguments(z, None, None, g)[-1]).reshape(-1, np.shape(g)[-1])  # (positions, d)
        self.scale = max(self.scale, abs(g).sum(axis=0).max())
        return g.sum(axis=0)

    def _half_unit(self, z):
        largest = abs(z).max()
        return exact.unit_in_the_last_place(largest, self.digits) / 2 if largest else Fraction(0)


@dataclass
class LayerUnderTest(Layer):
    """The functions somebody wants checked. Every call is logged for the diagnosis."""

    layer_norm: object
    layer_norm_vjp: object
    dtype: object
    check: str = ""
    kind: str = ""
    log: list = field(default_factory=list)

    def __post_init__(self):
        super().__init__(self.dtype)

    def y(self, z, gain=None, bias=None, *, eps):
        z, gain, bias, _ = self.arguments(z, gain, bias)
        returned = self._call(self.layer_norm, z, gain, bias, float(eps))
        self._log(z, gain, bias, eps, None, (returned,))
        return self._numbers("", returned, z.shape)

    def dz(self, z, g, gain=None, bias=None, *, eps):
        return self._gradient(0, z, g, gain, bias, eps)

    def dgain(self, z, g, gain=None, bias=None, *, eps):
        return self._gradient(1, z, g, gain, bias, eps)

    def dbias(self, z, g, gain=None, bias=None, *, eps):
        return self._gradient(2, z, g, gain, bias, eps)

    def _gradient(self, which, z, g, gain, bias, eps):
        z, gain, bias, g = self.arguments(z, gain, bias, g)
        returned = self._call(self.layer_norm_vjp, z, gain, bias, float(eps), g)
        if not isinstance(returned, tuple | list) or len(returned) != 3:
            raise NoNumbersError(f"returned {type(returned).__name__}, not the three arrays dz, dgain, dbias")
        self._log(z, gain, bias, eps, g, tuple(returned))
        shape = z.shape if which == 0 else gain.shape
        return self._numbers(("dz", "dgain", "dbias")[which] + " ", returned[which], shape)

    @staticmethod
    def _call(function, *arguments):
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                return function(*copies)
        except Exception as error:
            raise NoNumbersError(f"raised {type(error).__name__}: {' '.join(str(error).split())}") from error

    def _log(self, z, gain, bias, eps, cotangent, returned):
        try:
            arrays = tuple(np.asarray(r).astype(np.float64) for r in returned)
        except (TypeError, ValueError):
            return
        self.log.append(Call(self.check, self.kind, z, gain, bias, float(eps), cotangent, arrays))

    def _numbers(self, name, returned, shape):
        array = np.asarray(returned)
        if array.shape != shape:
            raise NoNumbersError(f"{name}has shape {array.shape}, not {shape}")
        if array.dtype != self.dtype:
            raise NoNumbersError(f"{name}has dtype {array.dtype}, not {self.dtype}")
        wrong = ~np.isfinite(array.astype(np.float64))
        if wrong.any():
            raise NoNumbersError(f"{name}holds {array[wrong][0]} at {tuple(int(i) for i in np.argwhere(wrong)[0])}")
        return exact.fractions(array)

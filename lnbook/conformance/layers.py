"""The two layers that each fact is stated for: the exact one, and the one under test."""

import warnings
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from lnbook.conformance import exact
from lnbook.conformance.memory_layouts import LAYOUTS

# The binary digits of a float and the exponent its values stay below.
FORMATS = {"float16": (11, 16), "bfloat16": (8, 128), "float32": (24, 128), "float64": (53, 1024)}
GRADIENTS = ("dz", "dgain", "dbias")


class NoNumbersError(Exception):
    """The function under test gave no numbers to compare: it raised, or returned something else."""


class RaisedError(NoNumbersError):
    """The function under test raised an error."""


class NotFiniteError(NoNumbersError):
    """The function under test returned NaN or infinity."""


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
    laid: dict  # how arguments lay in memory, where they were not contiguous
    overwritten: tuple  # the names of the arguments that were others after the call


def known_dtype(dtype):
    """The NumPy dtype that is meant; ml_dtypes is loaded for bfloat16, and for nothing else."""
    formats = "float16, float32, float64 or bfloat16"
    if dtype is None:
        raise ValueError(f"dtype must be {formats}, got None")
    if isinstance(dtype, str) and dtype == "bfloat16":
        try:
            from ml_dtypes import bfloat16 as dtype
        except ImportError:
            raise ValueError("dtype bfloat16 needs the package ml_dtypes, which is not installed") from None
    try:
        found = np.dtype(dtype)
    except TypeError:
        raise ValueError(f"dtype must be {formats}, got {dtype!r}") from None
    if found.name not in FORMATS:
        raise ValueError(f"dtype must be {formats}, got {found}")
    return found


class Layer:
    """What the statement of a fact may use: the output y and the gradients dz, dgain and dbias, as exact fractions.

    Arguments are plain numbers. They are rounded to the dtype first, so that both layers see the same input. `laid`
    says of some of the arguments how they lie in memory; to the exact layer it makes no difference.
    """

    def __init__(self, dtype):
        self.dtype = known_dtype(dtype)
        self.digits, self.max_exponent = FORMATS[self.dtype.name]
        # Units in the last place that a fact may be off. Ordinary float code stays below 16, where the mildest wrong
        # convention is thousands of units off; rounding the core, the product and the sum to a half format costs 2.
        self.tolerance = 16 if self.digits > 11 else 2

    def rounded(self, values):
        return np.asarray(values, np.float64).astype(self.dtype)

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

    def y(self, z, gain=None, bias=None, *, eps, laid=None):
        z, gain, bias, _ = self.arguments(z, gain, bias)
        gain, bias = exact.fractions(gain), exact.fractions(bias)
        u, inverse_std = self._core(z, eps)
        spread = 1 - Fraction(1, z.shape[-1])  # centring moves a coordinate by no more than 2 * spread half units
        self.scale = max(self.scale, (abs(gain * u) + abs(bias)).max())
        self.cost = max(self.cost, (abs(gain) * (2 * spread + abs(u)) * inverse_std * self._half_unit(z)).max())
        return gain * u + bias

    def dz(self, z, g, gain=None, bias=None, *, eps, laid=None):
        z, gain, _, g = self.arguments(z, gain, None, g)
        stretched = exact.fractions(gain) * exact.fractions(g)
        u, inverse_std = self._core(z, eps)
        spread = 1 - Fraction(1, z.shape[-1])
        size = abs(stretched).max() * inverse_std
        self.scale = max(self.scale, size.max())
        self.cost = max(self.cost, (size * inverse_std * 2 * (spread + abs(u)) * self._half_unit(z)).max())
        return exact.input_gradient(u, inverse_std, stretched)

    def dgain(self, z, g, gain=None, bias=None, *, eps, laid=None):
        z, _, _, g = self.arguments(z, None, None, g)
        terms = exact.fractions(g) * self._core(z, eps)[0]
        self.scale = max(self.scale, exact.sum_positions(abs(terms)).max())
        return exact.sum_positions(terms)

    def dbias(self, z, g, gain=None, bias=None, *, eps, laid=None):
        g = exact.fractions(self.arguments(z, None, None, g)[-1])
        self.scale = max(self.scale, exact.sum_positions(abs(g)).max())
        return exact.sum_positions(g)

    def gradients(self, z, g, gain=None, bias=None, *, eps, laid=None):
        """dz, dgain and dbias, one after the other."""
        asked = (self.dz, self.dgain, self.dbias)
        return np.concatenate([gradient(z, g, gain, bias, eps=eps).ravel() for gradient in asked])

    def arguments_after_y(self, z, gain, bias, *, eps):
        return self._kept(*self.arguments(z, gain, bias)[:3])

    def arguments_after_vjp(self, z, g, gain, bias, *, eps):
        return self._kept(*self.arguments(z, gain, bias, g))

    def y_read_after_the_next_call(self, z, another, gain, bias, *, eps):
        return self.y(z, gain, bias, eps=eps)

    def _kept(self, *arrays):
        kept = exact.fractions(np.concatenate([a.ravel() for a in arrays]))
        self.scale = max(self.scale, abs(kept).max())
        return kept

    def _core(self, z, eps):
        """The core and 1 / sqrt(q + eps); of many equal rows each is computed once."""
        rows = z.astype(np.float64).reshape(-1, z.shape[-1])  # (n, d)
        different, which = np.unique(rows, axis=0, return_inverse=True)
        u, inverse_std = exact.core(exact.fractions(different), Fraction(float(eps)))
        which = which.reshape(-1)
        return u[which].reshape(z.shape), inverse_std[which].reshape(*z.shape[:-1], 1)

    def _half_unit(self, z):
        largest = Fraction(float(abs(z).max()))
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

    def y(self, z, gain=None, bias=None, *, eps, laid=None):
        z, gain, bias, _ = self.arguments(z, gain, bias)
        returned, _ = self._call(self.layer_norm, {"z": z, "gain": gain, "bias": bias, "eps": float(eps)}, laid)
        return self._numbers("", returned, z.shape)

    def dz(self, z, g, gain=None, bias=None, *, eps, laid=None):
        return self._gradients(("dz",), z, g, gain, bias, eps, laid)[0]

    def dgain(self, z, g, gain=None, bias=None, *, eps, laid=None):
        return self._gradients(("dgain",), z, g, gain, bias, eps, laid)[0]

    def dbias(self, z, g, gain=None, bias=None, *, eps, laid=None):
        return self._gradients(("dbias",), z, g, gain, bias, eps, laid)[0]

    def gradients(self, z, g, gain=None, bias=None, *, eps, laid=None):
        return np.concatenate([a.ravel() for a in self._gradients(GRADIENTS, z, g, gain, bias, eps, laid)])

    def arguments_after_y(self, z, gain, bias, *, eps):
        z, gain, bias, _ = self.arguments(z, gain, bias)
        _, after = self._call(self.layer_norm, {"z": z, "gain": gain, "bias": bias, "eps": float(eps)}, None)
        return self._all_numbers(after)

    def arguments_after_vjp(self, z, g, gain, bias, *, eps):
        z, gain, bias, g = self.arguments(z, gain, bias, g)
        arguments = {"z": z, "gain": gain, "bias": bias, "eps": float(eps), "g": g}
        return self._all_numbers(self._call(self.layer_norm_vjp, arguments, None)[1])

    def y_read_after_the_next_call(self, z, another, gain, bias, *, eps):
        z, gain, bias, _ = self.arguments(z, gain, bias)
        arguments = {"z": z, "gain": gain, "bias": bias, "eps": float(eps)}
        returned, _ = self._call(self.layer_norm, arguments, None)
        self._call(self.layer_norm, {**arguments, "z": self.rounded(another)}, None)
        return self._numbers("", returned, z.shape)

    def _gradients(self, names, z, g, gain, bias, eps, laid):
        z, gain, bias, g = self.arguments(z, gain, bias, g)
        arguments = {"z": z, "gain": gain, "bias": bias, "eps": float(eps), "g": g}
        returned, _ = self._call(self.layer_norm_vjp, arguments, laid)
        if not isinstance(returned, tuple | list) or len(returned) != 3:
            count = f" of {len(returned)}" if isinstance(returned, tuple | list) else ""
            raise NoNumbersError(
                f"returned {described(returned)}{count}, not a tuple of the three arrays dz, dgain and dbias"
            )
        got = dict(zip(GRADIENTS, returned, strict=True))
        shapes = {"dz": z.shape, "dgain": gain.shape, "dbias": gain.shape}
        return [self._numbers(f"{name} ", got[name], shapes[name]) for name in names]

    def _call(self, function, arguments, laid):
        """What the function returns, and its arguments after the call; both are logged."""
        laid = laid or {}
        given = {
            name: LAYOUTS[laid[name]](a) if name in laid else a.copy() if isinstance(a, np.ndarray) else a
            for name, a in arguments.items()
        }
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                returned = function(*given.values())
        except Exception as error:
            raise RaisedError(f"raised {type(error).__name__}: {' '.join(str(error).split())}") from error
        self._log(arguments, given, returned, laid)
        return returned, [a for a in given.values() if isinstance(a, np.ndarray)]

    def _log(self, arguments, given, returned, laid):
        numbers = returned if "g" in arguments else (returned,)
        if "g" in arguments and not (isinstance(returned, tuple | list) and len(returned) == 3):
            return
        try:
            with warnings.catch_warnings(action="ignore"):  # complex numbers lose a part: their row fails anyway
                numbers = tuple(np.array(r, np.float64) for r in numbers)
        except (TypeError, ValueError):
            return
        names = [name for name, a in given.items() if isinstance(a, np.ndarray)]
        overwritten = tuple(name for name in names if given[name].tobytes() != arguments[name].tobytes())
        z, gain, bias, eps, cotangent = (*arguments.values(), None)[:5]
        self.log.append(Call(self.check, self.kind, z, gain, bias, eps, cotangent, numbers, laid, overwritten))

    def _numbers(self, name, returned, shape):
        array = array_of(returned)
        if array is None or array.dtype.kind in "OUSmM":
            verb = "is" if name else "returned"
            raise NoNumbersError(f"{name}{verb} {described(returned)}, not an array of numbers")
        if array.shape != shape:
            raise NoNumbersError(f"{name}has shape {array.shape}, not {shape}")
        if array.dtype != self.dtype:
            raise NoNumbersError(f"{name}has dtype {array.dtype}, not {self.dtype}")
        return self._finite(name, array)

    def _all_numbers(self, arrays):
        return self._finite("an argument ", np.concatenate([a.ravel() for a in arrays]))

    @staticmethod
    def _finite(name, array):
        wrong = ~np.isfinite(array.astype(np.float64))
        if wrong.any():
            raise NotFiniteError(f"{name}holds {array[wrong][0]} at {tuple(int(i) for i in np.argwhere(wrong)[0])}")
        return exact.fractions(array)


def array_of(value):
    """A value as an array; None for None and for what has no shape, a tuple of an output and its statistics, say."""
    try:
        return None if value is None else np.asarray(value)
    except ValueError:
        return None


def described(value):
    """A value in an error message: None itself, and the type of anything else."""
    return "None" if value is None else f"a {type(value).__name__}"

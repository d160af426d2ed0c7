"""Asking a layer for the facts, and the report of its answers."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np

from lnbook.conformance import exact
from lnbook.conformance.facts import FLOATING_POINT, KINDS, STATEMENTS, Statement
from lnbook.conformance.layers import ExactLayer, LayerUnderTest, NoNumbersError
from lnbook.conformance.mistakes import diagnose

# Units in the last place of the output's scale. Ordinary float code stays below; the mildest wrong convention is
# thousands of units off in float32.
TOLERANCE = 16

HOLDS, WEAK, FAILS = "holds", "weak", "FAILS"


class Row(NamedTuple):
    """One fact of one report.

    name, fact : the row's name, and the fact's id in the book
    kind : "convention", "gradient" or "floating point"
    says : the fact in a few words
    verdict : "holds", "weak" (digits lost, no more than rounding the input can cost) or "FAILS"
    expected, got : the numbers as tuples of floats; got is None where there were no numbers to compare
    error : the largest error in units in the last place of the output's scale; infinite where got is None
    trouble : what the function did instead of returning numbers to compare, or ""
    """

    name: str
    fact: str
    kind: str
    says: str
    verdict: str
    expected: tuple
    got: tuple | None
    error: float
    trouble: str

    @property
    def holds(self):
        """True unless the fact fails."""
        return self.verdict != FAILS

    def __str__(self):
        line = f"{self.verdict:5}  {self.name:26}  {_rounded(self.error):>8}  {self.says}"
        if self.verdict == HOLDS:
            return line
        return f"{line}\n{'':45}{self.trouble or self._comparison()}"

    def _comparison(self):
        """All numbers if they are few, otherwise the pair with the largest error, in digits enough to differ."""
        worst = int(np.argmax(np.abs(np.subtract(self.got, self.expected))))
        shown = slice(None) if len(self.got) <= 4 else slice(worst, worst + 1)
        place = "" if len(self.got) <= 4 else f" at {worst}"
        for digits in (6, 9, 13, 17):
            expected, got = (
                ", ".join(f"{x:.{digits}g}" for x in numbers[shown]) for numbers in (self.expected, self.got)
            )
            if expected != got:
                break
        return f"expected {expected}{place}, got {got}"


class Check(NamedTuple):
    """One fact, ready to be asked of a layer norm. `str(check)` is its name."""

    statement: Statement

    def __str__(self):
        return self.statement.name

    def run(self, layer_norm, *, vjp=None, dtype="float32"):
        """Ask one fact; the arguments are those of `check`, the result is a `Row`."""
        if self.statement.uses_vjp and vjp is None:
            raise ValueError(f"vjp must be given to check the derivative fact {self}")
        return _ask(self.statement, LayerUnderTest(layer_norm, vjp, dtype))


def checks(*kinds, vjp=True):
    """The checks as a tuple, to parametrize a test with: one test a fact.

    Parameters
    ----------
    *kinds : "convention", "gradient" or "floating point"; all three if none is named
    vjp : bool
        False leaves out the checks that need a vjp.
    """
    return _checks(kinds or KINDS, vjp)


def _checks(kinds, vjp):
    unknown = [kind for kind in kinds if kind not in KINDS]
    if isinstance(kinds, str) or not kinds or unknown:
        raise ValueError(f"kinds must be among {', '.join(KINDS)}, got {kinds!r}")
    return tuple(Check(s) for s in STATEMENTS if s.kind in kinds and (vjp or not s.uses_vjp))


@dataclass(frozen=True)
class Report:
    """The answers of one layer norm: `rows`, and the `mistakes` that explain the wrong numbers. `str` is a table."""

    title: str
    dtype: str
    rows: tuple
    mistakes: tuple
    left_out: int

    @property
    def ok(self):
        """True if no fact fails. A weak row does not fail."""
        return all(row.holds for row in self.rows)

    def __str__(self):
        lines = [f"{self.title}, {self.dtype}", self._count()]
        for kind in KINDS:
            rows = [row for row in self.rows if row.kind == kind]
            if rows:
                lines += ["", f"{kind:33}  {'error':>8}  (in units in the last place of the output's scale)"]
                lines += [str(row) for row in rows]
        diagnosis = self._diagnosis()
        lines += ["", *diagnosis] if diagnosis else []
        return "\n".join(lines)

    def _count(self):
        counts = [
            (sum(row.verdict == verdict for row in self.rows), verdict.lower()) for verdict in (HOLDS, WEAK, FAILS)
        ]
        words = ", ".join(f"{n} {verdict}" for n, verdict in counts)
        left_out = f" ({self.left_out} facts about derivatives not asked: no vjp given)" if self.left_out else ""
        return words + left_out

    def _diagnosis(self):
        if self.mistakes:
            return [f"the numbers fit this mistake: {mistake}" for mistake in self.mistakes]
        if any(not row.holds and row.got is not None and row.kind != FLOATING_POINT for row in self.rows):
            return ["the numbers fit none of the mistakes known here"]
        return []


def check(layer_norm, *, vjp=None, dtype="float32", kinds=KINDS, title=None):
    """Ask a layer norm for the facts of the book that outputs and gradients can show.

    Parameters
    ----------
    layer_norm : callable
        `f(z, gain, bias, eps)` with an array z (..., d) of two axes or more, arrays gain and bias (d,), all of one
        dtype, and eps a float (for one row, 0). It returns an array of the shape and dtype of z.
    vjp : callable, optional
        `vjp(z, gain, bias, eps, g)` with g, the gradient of a loss by the output, of the shape of z. It returns the
        gradients by z (of the shape of z), by gain and by bias (d,). Without it no fact about derivatives is asked.
    dtype : "float16", "float32", "float64", or "bfloat16" where ml_dtypes has been imported
    kinds : a tuple of those to ask of "convention", "gradient" and "floating point"
    title : str, optional
        What the report calls the layer norm; its name, if not given.

    Returns
    -------
    Report
        `report.ok`, `report.rows`, `report.mistakes`; `str(report)` is a table.

    Raises
    ------
    TypeError
        layer_norm or vjp is not callable.
    ValueError
        dtype or kinds is none of those above. What layer_norm or vjp raises is not raised again: its row says it.

    Notes
    -----
    A fact holds if the error is at most 16 units in the last place of the output's scale: of max_i(|gain_i u_i| +
    |bias_i|) for y, of max|gain * g| / sqrt(q + eps) for the gradient by z, of the sum of |g u| and |g| for those by
    gain and bias. Facts of floating point are asked where digits are easily lost. There a row is weak, not failed, if
    the error is no more than half a unit in the last place of each input can make: rounding the input costs as much.

    The numbers expected come from exact arithmetic, not from `lnbook.layer_norm`.
    """
    for name, function in (("layer_norm", layer_norm), ("vjp", vjp)):
        if not callable(function) and not (name == "vjp" and function is None):
            raise TypeError(f"{name} must be callable, got {type(function).__name__}")
    layer = LayerUnderTest(layer_norm, vjp, dtype)
    asked = _checks(kinds, vjp is not None)
    rows = tuple(_ask(one.statement, layer) for one in asked)
    return Report(
        title or getattr(layer_norm, "__name__", type(layer_norm).__name__),
        layer.dtype.name,
        rows,
        diagnose(rows, layer),
        len(_checks(kinds, True)) - len(asked),
    )


@cache
def _exactly(statement, dtype):
    """The numbers expected, the unit their errors are counted in, and what rounding the inputs costs in such units."""
    truth = ExactLayer(dtype)
    expected = np.ravel(statement.ask(truth))
    unit = exact.unit_in_the_last_place(truth.scale or Fraction(1), truth.digits) * Fraction(statement.stretch)
    return expected, unit, truth.cost * Fraction(statement.stretch) / unit


def _ask(statement, layer):
    expected, unit, cost = _exactly(statement, layer.dtype)
    layer.check, layer.kind = statement.name, statement.kind
    try:
        got = np.ravel(statement.ask(layer))
    except NoNumbersError as trouble:
        error, got, words = float("inf"), None, str(trouble)
    else:
        error, words = max(abs(got - expected)) / unit, ""
    verdict = HOLDS if error <= TOLERANCE else FAILS
    if verdict == FAILS and statement.kind == FLOATING_POINT and error <= TOLERANCE + cost:
        verdict = WEAK
    return Row(
        statement.name,
        statement.fact,
        statement.kind,
        statement.says,
        verdict,
        tuple(map(float, expected)),
        None if got is None else tuple(map(float, got)),
        float(error),
        words,
    )


def _rounded(error):
    """Two digits are enough, and no machine's last bit shows."""
    if error < 10:
        return f"{error:.1f}"
    return f"{error:.1e}" if error >= 1e5 else f"{float(f'{error:.2g}'):.0f}"

"""Asking a layer for the facts, and the report of its answers."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np

from lnbook.conformance import exact
from lnbook.conformance.diagnosis import diagnose
from lnbook.conformance.facts import CONVENTION, FLOATING_POINT, KINDS, MEMORY, STATEMENTS, Statement
from lnbook.conformance.layers import ExactLayer, LayerUnderTest, NoNumbersError, NotFiniteError, RaisedError

HOLDS, WEAK, FAILS = "holds", "weak", "FAILS"
ONE_ROUNDING = 0.55  # units; half a unit, and some room for what was computed before


class Row(NamedTuple):
    """One fact of one report.

    Attributes
    ----------
    name, fact : str
        The row's name, and the fact's id in the book.
    kind : str
        "convention", "gradient", "floating point" or "memory".
    says : str
        The fact in a few words.
    verdict : str
        "holds", "FAILS" or "weak": digits lost, but no more than rounding the input can cost, or an array of another
        layout in memory refused with an error.
    expected, got : tuple of floats
        The numbers; got is None where there were none to compare.
    error : float
        The largest error in units in the last place of the output's scale; infinite where got is None.
    trouble : str
        What the function did instead of returning numbers to compare, or "".
    uses_vjp : bool
        Whether the fact is about derivatives.
    without_numbers : bool
        Whether the function raised, or returned something that is no array of the right kind.
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
    uses_vjp: bool = False
    without_numbers: bool = False

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


def checks(*kinds, vjp=True, thorough=False):
    """The checks as a tuple, to parametrize a test with: one test a fact.

    Parameters
    ----------
    *kinds : "convention", "gradient", "floating point" or "memory"; all four if none is named
    vjp : bool
        False leaves out the checks that need a vjp.
    thorough : bool
        True adds those that take seconds each: every length up to 130, and more positions than 65535.
    """
    return chosen_checks(kinds or KINDS, vjp, thorough)


def chosen_checks(kinds, vjp, thorough):
    unknown = not isinstance(kinds, tuple | list) or [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        raise ValueError(f"kinds must be a tuple of one or more of {', '.join(KINDS)}; got {kinds!r}")
    return tuple(
        Check(s) for s in STATEMENTS if s.kind in kinds and (vjp or not s.uses_vjp) and (thorough or not s.thorough)
    )


@dataclass(frozen=True)
class Report:
    """The answers of one layer norm. `str(report)` is a table that ends with the diagnosis.

    Attributes
    ----------
    rows : tuple of Row
        One for each fact.
    findings : tuple
        What explains the wrong numbers: `finding.causes` are several where they make the same numbers, and
        `finding.places` are where to look.
    unexplained : tuple of str
        The names of the rows whose wrong numbers no finding explains.
    """

    title: str
    dtype: str
    rows: tuple
    findings: tuple
    unexplained: tuple
    left_out: int

    @property
    def mistakes(self):
        """The findings in words."""
        return tuple(map(str, self.findings))

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
        """What the wrong numbers fit, or that they fit nothing; where none is wrong, how often a half is rounded."""
        lines = []
        for finding in self.findings:
            lines.append(f"the numbers fit this mistake: {finding}")
            lines += [f"    look at: {place}" for place in finding.places]
        if self.unexplained and not self.findings:
            lines.append("the numbers fit none of the mistakes known here")
        elif self.unexplained:
            shown = ", ".join(self.unexplained[:4]) + (" and others" if len(self.unexplained) > 4 else "")
            lines.append(f"the numbers of these rows fit none of the mistakes known here: {shown}")
        if any(not row.holds and row.without_numbers for row in self.rows):
            lines.append("where there are no numbers to compare, the row says why")
        return lines or self._roundings()

    def _roundings(self):
        most = max((row.error for row in self.rows if row.kind == CONVENTION), default=0)
        if self.dtype not in ("float16", "bfloat16") or most <= ONE_ROUNDING:
            return []
        return [
            f"errors up to {most:.1f} units: the output is rounded more than once in {self.dtype}, "
            "as where the core is rounded before the gain multiplies"
        ]


def check(layer_norm, *, vjp=None, dtype="float32", kinds=KINDS, title=None, thorough=False):
    """Ask a layer norm for the facts of the book that outputs and gradients can show.

    Parameters
    ----------
    layer_norm : callable
        `f(z, gain, bias, eps)` with an array z (..., d) of two axes or more, arrays gain and bias (d,), all of one
        dtype, and eps a float (for one row, 0). It returns an array of the shape and dtype of z.
    vjp : callable, optional
        `vjp(z, gain, bias, eps, g)` with g, the gradient of a loss by the output, of the shape of z. It returns the
        gradients by z (of the shape of z), by gain and by bias (d,). Without it no fact about derivatives is asked.
    dtype : "float16", "float32", "float64", or "bfloat16" where the package ml_dtypes is installed
    kinds : a tuple of those to ask of "convention", "gradient", "floating point" and "memory"
    title : str, optional
        What the report calls the layer norm; its name, if not given.
    thorough : bool
        True asks as well what takes seconds: every length up to 130, and more positions than 65535.

    Returns
    -------
    Report
        `report.ok`, `report.rows`, `report.findings`, `report.mistakes`; `str(report)` is a table.

    Raises
    ------
    TypeError
        layer_norm or vjp is not callable.
    ValueError
        dtype or kinds is none of those above. What layer_norm or vjp raises is not raised again: its row says it.

    Notes
    -----
    A fact holds if the error is at most 16 units in the last place of the output's scale, and at most 2 in float16 and
    bfloat16. The scale is max_i(|gain_i u_i| + |bias_i|) for y, max|gain * g| / sqrt(q + eps) for the gradient by z,
    the largest sum of |g u| and |g| for those by gain and bias; a fact about a difference of two outputs has twice the
    unit, and so on. In the half formats one rounding at the end costs half a unit, and 2 units are what rounding the
    core, its product with the gain, and the sum with the bias can cost together.

    Facts of floating point are asked where digits are easily lost. There a row is weak, not failed, if the error is no
    more than half a unit in the last place of each input can make: rounding the input costs as much. A row of memory
    is weak if the function raises: to refuse an array is no wrong number.

    The numbers expected come from exact arithmetic, not from `lnbook.layer_norm`.
    """
    for name, function in (("layer_norm", layer_norm), ("vjp", vjp)):
        if not callable(function) and not (name == "vjp" and function is None):
            raise TypeError(f"{name} must be callable, got {type(function).__name__}")
    layer = LayerUnderTest(layer_norm, vjp, dtype)
    asked = chosen_checks(kinds, vjp is not None, thorough)
    rows = tuple(_ask(one.statement, layer) for one in asked)
    return Report(
        title or getattr(layer_norm, "__name__", type(layer_norm).__name__),
        layer.dtype.name,
        rows,
        *diagnose(rows, layer),
        len(chosen_checks(kinds, True, thorough)) - len(asked),
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
    got, error, words, refused, silent = None, float("inf"), "", False, False
    try:
        got = np.ravel(statement.ask(layer))
    except NoNumbersError as trouble:
        words, silent = str(trouble), not isinstance(trouble, NotFiniteError)
        refused = isinstance(trouble, RaisedError) and statement.kind == MEMORY
    else:
        error = max(abs(got - expected)) / unit
    verdict = HOLDS if error <= layer.tolerance else FAILS
    weak = statement.kind == FLOATING_POINT and error <= layer.tolerance + cost
    if verdict == FAILS and (weak or refused):
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
        statement.uses_vjp,
        silent,
    )


def _rounded(error):
    """Two digits are enough, and no machine's last bit shows."""
    if error < 10:
        return f"{error:.1f}"
    return f"{error:.1e}" if error >= 1e5 else f"{float(f'{error:.2g}'):.0f}"

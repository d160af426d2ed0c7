r"""What a term or relation of the pages says once its letters have values: vectors, matrices, norms, sums, decimals.

SymPy's parser knows no vectors and takes the letter d for a differential; this one is the calculator beside it. A
letter is any piece of TeX that `names` gives a value: a number, a column, a matrix or a function.
"""

import re
from functools import lru_cache

import sympy
from sympy import Matrix, Rational

from statements import BOOK, CELL
from statements import tex as plain_tex

SPACE = re.compile(r"(?:\s|\\[,;!: ]|\\(?:q?quad|[bB]ig[lr]?|left|right|displaystyle)(?![a-zA-Z])|\\text\{[^}]*\})*")
SIGNS = {
    **{r"\le": "<=", r"\leq": "<=", r"\ge": ">=", r"\geq": ">=", r"\ne": "!=", r"\neq": "!=", r"\approx": "~"},
    **{"=": "=", "<": "<", ">": ">"},
}
SIGN = re.compile(r"\\(?:leq?|geq?|neq?|approx)(?![a-zA-Z])|[=<>]")
MATRIX = re.compile(r"\\begin\{(\w*matrix)\}(.*?)\\end\{\1\}", re.S)
DIGITS = 50


def number(value):
    """A real value to 50 digits; roots of polynomials come with an imaginary part of rounding."""
    return sympy.re(sympy.N(value, DIGITS))


def norm(value):
    """The length of a column, the operator norm of a matrix."""
    if value.cols == 1:
        return sympy.sqrt(sum(entry**2 for entry in value))
    return sympy.sqrt(max((value.T * value).eigenvals(multiple=True), key=number))


def times(a, b):
    """The product; a number for a row times a column."""
    row = isinstance(a, Matrix) and isinstance(b, Matrix) and a.rows == 1 < a.cols
    return (a * b)[0] if row and b.cols == 1 else a * b


def same(a, b):
    """Whether two values are equal: symbols by simplification, numbers to 40 digits; 0 is every matrix of zeros."""
    if isinstance(a, Matrix) and b == 0:
        return all(same(x, b) for x in a)
    if isinstance(a, Matrix) or isinstance(b, Matrix):
        same_shape = getattr(a, "shape", None) == getattr(b, "shape", None)
        return same_shape and all(same(x, y) for x, y in zip(a, b, strict=True))
    difference = sympy.sympify(a - b)
    if difference.free_symbols:
        return sympy.simplify(difference) == 0
    return difference == 0 or abs(sympy.N(difference, DIGITS)) < Rational(1, 10**40)


def approximately(value, decimal, names=()):
    """Whether a decimal, "99.5037" or r"6 \\cdot 10^{-8}", is the value rounded to the decimal's last digit."""
    written = re.match(r"-?\d+(?:\.(\d+))?", decimal.strip())
    meant = evaluate(decimal, dict(names))
    last = abs(meant / Rational(written[0])) / 10 ** len(written[1] or "")
    return abs(number(value - meant)) <= last / 2


class Reader:
    def __init__(self, text, names):
        self.text, self.names, self.at, self.bars = text.strip().rstrip(" .,;:"), names, 0, 0
        self.by_length = sorted(names, key=len, reverse=True)

    def sees(self, *words):
        """Which of the words stands next, past the space; None if none does."""
        self.at = SPACE.match(self.text, self.at).end()
        for word in words:
            end = self.at + len(word)
            letter_goes_on = word[0] == "\\" and word[-1].isalpha() and self.text[end : end + 1].isalpha()
            if self.text.startswith(word, self.at) and not letter_goes_on:
                return word
        return None

    def takes(self, *words):
        word = self.sees(*words)
        self.at += len(word or "")
        return word

    def needs(self, *words):
        word = self.takes(*words)
        assert word, f"{words} expected in {self.text!r} at {self.text[self.at :]!r}"
        return word

    def ends(self):
        return self.sees() is None and self.at == len(self.text)

    def relations(self):
        """[(left, sign, right, right's TeX)] of all chains of relations, which commas divide; the terms' values."""
        found, terms = [], []
        while not self.ends():
            terms.append(self.expression())
            while self.sees() is None and (match := SIGN.match(self.text, self.at)):
                self.at = match.end()
                start = self.at
                terms.append(self.expression())
                found.append((terms[-2], SIGNS[match[0]], terms[-1], self.text[start : self.at]))
            if not self.ends():
                self.needs(",")
        return found, terms

    def expression(self):
        value = -self.product() if self.takes("-") else self.product()
        while sign := self.takes("+", "-"):
            value = value + self.product() if sign == "+" else value - self.product()
        return value

    def product(self):
        value = self.factor()
        while True:
            if self.takes("/"):
                value = value / self.factor()
            elif self.takes(r"\odot"):
                value = value.multiply_elementwise(self.factor())
            elif self.takes(r"\cdot", r"\times") or self.starts_factor():
                value = times(value, self.factor())
            else:
                return value

    def starts_factor(self):
        if self.ends() or self.sees(")", "}", ",", "+", "-", "]") or SIGN.match(self.text, self.at):
            return False
        return not (self.bars and self.sees("|", r"\|", r"\rVert", r"\rvert"))

    def factor(self):
        value = self.primary()
        while mark := self.takes("^", r"\%"):
            if mark == r"\%":
                value = value / 100
            elif self.takes(r"\top", r"{\top}"):
                value = value.T
            else:
                value = value ** self.argument()
        return value

    def argument(self):
        """The value of a group in braces, or of one digit, letter or command."""
        if self.sees("{"):
            return Reader(self.group(), self.names).only()
        self.sees()
        if self.text[self.at].isdigit():
            self.at += 1
            return sympy.Integer(self.text[self.at - 1])
        return self.primary()

    def group(self):
        """The TeX of a group in braces."""
        self.needs("{")
        start, depth = self.at, 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self.text[self.at], 0)
            self.at += 1
        return self.text[start : self.at - 1]

    def only(self):
        value = self.expression()
        assert self.ends(), f"{self.text[self.at :]!r} is left of {self.text!r}"
        return value

    def entries(self):
        """The values up to a closing parenthesis."""
        values = [self.expression()]
        while self.needs(",", ")") == ",":
            values.append(self.expression())
        return values

    def primary(self):
        if name := self.takes(*self.by_length):
            return self.named(name)
        if match := re.compile(r"\d+(?:\.\d+)?").match(self.text, self.at):
            self.at = match.end()
            return Rational(match[0])
        if self.takes("("):
            values = self.entries()
            return values[0] if len(values) == 1 else Matrix(values)
        if self.sees("{"):
            return Reader(self.group(), self.names).only()
        if self.takes(r"\frac", r"\tfrac", r"\dfrac"):
            return self.argument() / self.argument()
        if self.takes(r"\sqrt"):
            return sympy.sqrt(self.argument())
        if self.takes("|", r"\lvert"):
            return abs(self.between_bars("|", r"\rvert"))
        if self.takes(r"\|", r"\lVert"):
            return self.normed()
        if match := MATRIX.match(self.text, self.at):
            self.at = match.end()
            rows = [row for row in match[2].split(r"\\") if row.strip()]
            return Matrix([[Reader(cell, self.names).only() for cell in row.split("&")] for row in rows])
        if over := self.takes(r"\sum", r"\max"):
            values = self.over_an_index()
            return sum(values[1:], values[0]) if over == r"\sum" else max(values)
        raise NameError(f"no value for {self.text[self.at :]!r} in {self.text!r}")

    def between_bars(self, *bars):
        self.bars += 1
        value = self.expression()
        self.needs(*bars)
        self.bars -= 1
        return value

    def normed(self):
        value = norm(self.between_bars(r"\|", r"\rVert"))
        if self.takes("_"):
            assert self.argument() == 2
        return value

    def over_an_index(self):
        """The product or factor that follows \\sum_i or \\max_i, for each i from 1 to d."""
        self.needs("_")
        index = self.group() if self.sees("{") else self.text[self.at]
        self.at += 0 if self.text[self.at - 1] == "}" else 1
        start, outer, values = self.at, self.names, []
        for number in range(1, outer["d"] + 1):
            inner = Reader(self.text, {**outer, index: sympy.Integer(number)})
            inner.at, inner.bars = start, self.bars
            values.append(inner.product() if self.text[start] != "|" else inner.factor())
            self.at = inner.at
        return values

    def named(self, name):
        value, subscript = self.names[name], None
        if self.takes("_"):
            subscript = self.group() if self.sees("{") else self.one()
            if self.sees("(") and f"{name}()" in self.names:
                value = self.names[f"{name}()"]
        if callable(value):
            arguments = self.entries() if self.takes("(") else [self.factor()]
            first = [] if subscript is None else [Reader(subscript, self.names).only()]
            return value(*first, *arguments)
        if subscript is None:
            return value
        pieces = re.findall(r"\\[a-zA-Z]+|\S", subscript)
        where = [int(Reader(piece, self.names).only()) - 1 for piece in pieces]
        assert min(where) >= 0
        return value[where[0]] if len(where) == 1 else value[where[0], where[1]]

    def one(self):
        self.sees()
        match = re.compile(r"\\[a-zA-Z]+|\S").match(self.text, self.at)
        self.at = match.end()
        return match[0]


def evaluate(text, names):
    """The value of a term."""
    return Reader(text, names).only()


def relations(text, names):
    """[(left, sign, right, right's TeX)] of the relations in a formula."""
    return Reader(text, names).relations()[0]


def holds(text, names):
    """An AssertionError unless each relation in a formula holds, and it has one."""
    found = relations(text, names)
    assert found, f"{text!r} is no relation"
    for left, sign, right, written in found:
        true = approximately(left, written, names) if sign == "~" else related(left, sign, right)
        assert true, f"{text!r} is false: {left} {sign} {right}"


def related(left, sign, right, _written=""):
    if sign in ("=", "!="):
        return same(left, right) == (sign == "=")
    equal, difference = same(left, right), number(left - right)
    return equal if equal and len(sign) == 2 else not equal and (difference < 0) == (sign[0] == "<")


# What a statement says


def value(statement, after, names, number=0):
    """The value of formula `number` behind the words `after`."""
    return evaluate(statement.tex(after, number), names)


def right_of(statement, after, names=None, number=0):
    """The value of what stands behind the last "=" of formula `number` behind the words `after`."""
    return evaluate(statement.tex(after, number).split("=")[-1], names or {})


def check(statement, after, names, number=0, count=1):
    """Formula `number` behind the words `after`, and the next up to `count`, hold."""
    for one in range(number, number + count):
        holds(statement.tex(after, one), names)


def check_relations(statement, names, but=()):
    """All relations of the statement hold, but those behind the words `but`."""
    left_out = [statement.tex(after) for after in but]
    for formula in plain_tex.formulas(statement.text):
        if SIGN.search(re.sub(r"_\{[^}]*\}", "", formula)) and formula not in left_out:
            holds(formula, names)


def given(statement, name, names, number=0):
    """What stands behind "name =" in the text, the first time or time `number`."""
    found = []
    for formula in plain_tex.formulas(statement.text):
        for match in re.finditer(rf"(?<![\w\\]){re.escape(name)} *= *", formula):
            reader = Reader(formula[match.end() :], names)
            found.append(reader)
    assert number < len(found), f"{statement.label} no longer has {name} = … {number + 1} times"
    return found[number].expression()


def words(statement, pattern):
    """The parts in parentheses of a pattern that the text must hold, for numbers and quantifiers in the prose."""
    found = re.search(pattern, statement.text)
    assert found, f"{statement.label} no longer says {pattern!r}"
    return found.groups()


@lru_cache
def cells(page):
    """The code of the page's cells."""
    return "\n".join(match[0] for match in CELL.finditer((BOOK / f"{page}.md").read_text(encoding="utf8")))


def computed_below(statement, *values):
    """An AssertionError unless the page's cells hold the vector or number, so that text and code have one input."""
    code = cells(statement.page)
    for given_value in values:
        if isinstance(given_value, Matrix):
            literal = f"[{', '.join(str(entry) for entry in given_value)}]"
            assert literal in code, f"no cell of {statement.page} holds {literal}"
        else:
            numbers = re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", code)
            assert any(Rational(text) == given_value for text in numbers), f"no cell holds {given_value}"

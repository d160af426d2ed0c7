"""Values of the pages' TeX for given vectors and matrices: products in their order, norms, sums and entries.

SymPy's parser knows no vectors; here a formula is evaluated as it stands, with a value for each of its names.
"""

import re

import sympy
from sympy import Matrix, Rational, sqrt

from statements import tex

BLANK = re.compile(r"(?:\s|\\[,;! ]|\\q?quad|\\(?:left|right|[bB]igg?[lr]?)(?![a-zA-Z])|&|\\\\|\\text\{[^}]*\}|~)+")
ALIGNED = re.compile(r"\\begin\{aligned\}|[.,]?\s*\\end\{aligned\}")
END = re.compile(r"(?:\s|(?<!\\)[.,;:])+$")
NUMBER = re.compile(r"\d+(?:(?:\\,|\{,\})\d{3})*(?:\.\d+)?")
SIGNS = {r"\le": "<=", r"\leq": "<=", r"\ge": ">=", r"\geq": ">=", r"\ne": "!=", r"\neq": "!=", r"\approx": "~"}
RELATION = re.compile(r"\\(?:leq?|geq?|neq?|approx)(?![a-z])|[<>=]")
ENDS = ("+", "-", "/", ")", "]", "}", ",", r"\rangle", r"\rvert")
NOT_READ = object()
NOTHING = Rational(1, 10**40)


class UnreadableError(Exception):
    """A name without a value, or TeX that is not known here."""


class Formula:
    """The TeX of one term and the place that is read, with the values of its names."""

    def __init__(self, text, names):
        self.text, self.names, self.place, self.bar = text, dict(names), 0, None
        self.known = sorted(names, key=len, reverse=True)

    def rest(self):
        blank = BLANK.match(self.text, self.place)
        if blank:
            self.place = blank.end()
        return self.text[self.place :]

    def take(self, *words):
        rest = self.rest()
        for word in words:
            if rest.startswith(word) and not (word[-1].isalpha() and rest[len(word) : len(word) + 1].isalpha()):
                self.place += len(word)
                return word
        return None

    def need(self, word):
        if not self.take(word):
            raise UnreadableError(f"no {word} at {self.rest()!r} in {self.text!r}")

    def whole(self):
        value = self.sum()
        if self.rest():
            raise UnreadableError(f"{self.rest()!r} in {self.text!r}")
        return value

    def sum(self):
        value = -self.product() if self.take("-") else self.product()
        while sign := self.take("+", "-"):
            value = value + self.product() if sign == "+" else value - self.product()
        return value

    def product(self):
        value = self.power()
        while True:
            rest = self.rest()
            if self.take("/"):
                value = value / self.power()
            elif self.take(r"\odot"):
                value = value.multiply_elementwise(self.product())
            elif self.take(r"\cdot", r"\times") or not (rest == "" or rest.startswith(ENDS) or self.closes(rest)):
                value = value * self.power()
            else:
                return scalar(value)

    def closes(self, rest):
        return self.bar is not None and rest.startswith(self.bar)

    def power(self):
        value = self.base()
        while self.take("^"):
            value = value.T if self.take(r"\top", r"{\top}") else value ** self.group()
        return value

    def group(self):
        """What stands in braces, or the one digit or name behind a command."""
        if self.take("{"):
            value = self.sum()
            self.need("}")
            return value
        digit = re.match(r"\d", self.rest())
        if digit:
            self.place += 1
            return sympy.Integer(digit[0])
        return self.base()

    def base(self):
        for reader in (self.number, self.name, self.bracket, self.command, self.indexed):
            value = reader()
            if value is not NOT_READ:
                return value
        raise UnreadableError(f"{self.rest()!r} in {self.text!r}")

    def number(self):
        found = NUMBER.match(self.rest())
        if not found:
            return NOT_READ
        self.place += found.end()
        return Rational(re.sub(r"\\,|\{,\}", "", found[0]))

    def bracket(self):
        if self.take("("):
            entries = [self.sum()]
            while self.take(","):
                entries.append(self.sum())
            self.need(")")
            return entries[0] if len(entries) == 1 else Matrix(entries)
        if self.take(r"\|"):
            value = self.between(r"\|")
            return operator_norm(value) if self.take("_2") and value.cols > 1 else value.norm()
        if bar := self.take("|", r"\lvert"):
            return abs(self.between("|" if bar == "|" else r"\rvert"))
        if self.take(r"\langle"):
            left = self.sum()
            self.need(",")
            right = self.sum()
            self.need(r"\rangle")
            return left.dot(right)
        return NOT_READ

    def between(self, bar):
        outer, self.bar = self.bar, bar
        value = self.sum()
        self.need(bar)
        self.bar = outer
        return value

    def command(self):
        if self.take(r"\frac", r"\tfrac", r"\dfrac"):
            above = self.group()
            return above / self.group()
        if self.take(r"\sqrt"):
            return sqrt(self.group())
        if self.take(r"\operatorname{diag}"):
            return sympy.diag(*self.base())
        if self.take(r"\operatorname{sign}"):
            return sympy.sign(self.base())
        if not self.rest().startswith(r"\max_") and self.take(r"\max"):
            self.need("(")
            entries = [self.sum()]
            while self.take(","):
                entries.append(self.sum())
            self.need(")")
            return sympy.Max(*entries)
        return NOT_READ

    def indexed(self):
        """A sum or maximum over i, of the product behind it, for each i from 1 to d."""
        word = self.take(r"\sum_i", r"\sum_j", r"\max_i")
        if not word:
            return NOT_READ
        start, values = self.place, []
        before = self.names.get(word[-1])
        for index in range(1, int(self.value_of("d")) + 1):
            self.place, self.names[word[-1]] = start, index
            values.append(self.power() if "max" in word else self.product())
        if before is not None:
            self.names[word[-1]] = before
        return sum(values) if "sum" in word else sympy.Max(*values)

    def value_of(self, name):
        if name not in self.names:
            raise UnreadableError(f"{name} has no value in {self.text!r}")
        return self.names[name]

    def name(self):
        rest = self.rest()
        for name in self.known:
            after = rest[len(name) :]
            if rest.startswith(name) and not (name[-1].isalpha() and name[0] == "\\" and after[:1].isalpha()):
                entry = re.match(r"_(?:\{(\w+)\}|(\w))", after)
                if not entry and after.startswith(("_", "'")):
                    continue
                self.place += len(name) + (entry.end() if entry else 0)
                value = self.names[name]
                if value is None:
                    raise UnreadableError(f"{name} has no value")
                if entry:
                    return self.entry(value, entry[1] or entry[2])
                if callable(value):
                    return value(self.base())
                return value
        return NOT_READ

    def entry(self, value, index):
        """Entry i of a vector, entry ij of a matrix, counted from 1."""
        places = [int(i) if i.isdigit() else int(self.value_of(i)) for i in index]
        return value[tuple(place - 1 for place in places)] if len(places) > 1 else value[places[0] - 1]


def scalar(value):
    return value[0] if isinstance(value, sympy.MatrixBase) and value.shape == (1, 1) else value


def operator_norm(matrix):
    return sqrt(max((matrix.T * matrix).eigenvals(multiple=True), key=lambda value: sympy.re(value.evalf(50))))


def value(text, names=()):
    """The value of a term, with vectors as columns."""
    return Formula(END.sub("", text.strip()), {name: whole(value) for name, value in dict(names).items()}).whole()


def whole(value):
    return Matrix(value) if isinstance(value, tuple | list) else value if callable(value) else sympy.sympify(value)


def close(a, b, within=NOTHING):
    """Whether two numbers or vectors are the same to 40 digits; a vector may be compared with 0."""
    if isinstance(a, sympy.MatrixBase) and not isinstance(b, sympy.MatrixBase):
        b = b * sympy.ones(*a.shape)
    difference = sympy.sympify(a - b)
    entries = list(difference) if isinstance(difference, sympy.MatrixBase) else [difference]
    return all(abs(entry.evalf(60)) <= within for entry in entries)


def relation_holds(left, sign, right, last_digit):
    if sign in ("=", "!="):
        return close(left, right) == (sign == "=")
    if sign == "~":
        return close(left, right, last_digit)
    difference = sympy.sympify(left - right).evalf(60)
    zero = abs(difference) <= NOTHING
    return {"<": not zero and difference < 0, ">": not zero and difference > 0}.get(
        sign, zero or (difference < 0) == (sign == "<=")
    )


def parts(text):
    """The relations that a formula lists, "a = 1, b = 2" and "a, b > 0" as they stand."""
    depth, start, found = 0, 0, []
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        depth += text.startswith(r"\langle", place) - text.startswith(r"\rangle", place)
        if letter == "," and depth == 0 and text[place - 1] != "\\":
            found.append(text[start:place])
            start = place + 1
    return [*found, text[start:]]


def chain_holds(text, names):
    """Whether each relation of "a < b = c" is true; None where there is none or one cannot be read."""
    terms, signs = RELATION.split(text), RELATION.findall(text)
    try:
        values = [value(term, names) for term in terms]
    except UnreadableError:
        return None
    digits = [len(term.strip(" .,;").partition(".")[2]) for term in terms]
    return (
        all(
            relation_holds(left, SIGNS.get(sign, sign), right, Rational(1, 2 * 10**after))
            for left, sign, right, after in zip(values, signs, values[1:], digits[1:], strict=False)
        )
        if signs
        else None
    )


def judge(text, names):
    """How many relations of a text could be read; an AssertionError for one that is false."""
    seen = 0
    for formula in tex.formulas(text):
        for part in parts(ALIGNED.sub("", formula).replace(r"\text{where }", ",")):
            true = chain_holds(part, names)
            assert true is not False, f"{part.strip()} is false for {names}"
            seen += true is not None
    return seen


def part(statement, start="", end=""):
    """The text of a statement from the words `start` to the words `end`."""
    before, _, text = statement.text.partition(start) if start else ("", "", statement.text)
    assert not start or len(before) < len(statement.text), f"{statement.label} no longer says {start!r}"
    found, words, _ = text.partition(end) if end else (text, "", "")
    assert words == end, f"{statement.label} no longer says {end!r}"
    return start + found


def given(statement, name, number=0):
    """The value behind "name =", the first time or time `number`."""
    found = [
        terms[1]
        for formula in tex.formulas(statement.text)
        for one in parts(formula)
        for terms in [RELATION.split(one)]
        if len(terms) > 1 and terms[0].strip() == name and RELATION.findall(one)[0] == "="
    ]
    assert number < len(found), f"{statement.label} no longer gives {name} {number + 1} times"
    return value(found[number])


def layer(z, eps, gain=None, bias=None, **more):
    """The names of the book for an input: d, mu, q, v, u, z, P, J, ones, epsilon, gain, bias, y and what is added."""
    z, eps = Matrix(z), sympy.sympify(eps)
    d = len(z)
    centre = sympy.eye(d) - sympy.ones(d, d) / d
    v = centre * z
    q = v.dot(v) / d
    gain = Matrix(gain) if gain else sympy.ones(d, 1)
    bias = Matrix(bias) if bias else sympy.zeros(d, 1)
    names = {"dz": None, "d": d, "z": z, "v": v, "q": q, r"\mu": sum(z) / d, "P": centre, "I": sympy.eye(d)}
    names |= {r"\mathbf{1}": sympy.ones(d, 1), r"\varepsilon": eps, r"\gamma": gain, r"\beta": bias}
    if q + eps > 0:
        u = v / sqrt(q + eps)
        names |= {"u": u, "y": gain.multiply_elementwise(u) + bias}
        names["J"] = (centre - u * u.T / d) / sqrt(q + eps)
    return names | more


def holds(statement, relations, *witnesses, start="", end=""):
    """Whether so many relations between two phrases can be read, and each is true of every witness."""
    text = part(statement, start, end)
    for names in witnesses:
        read = judge(text, names)
        assert read == relations, f"{read} relations of {statement.label} can be read, not {relations}"
    return True


def term(statement, after, names=(), number=0):
    """The value of formula `number` behind the words `after`."""
    return value(statement.tex(after, number), names)


def same(*values):
    return all(close(values[0], value) for value in values[1:])

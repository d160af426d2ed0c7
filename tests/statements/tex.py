"""The TeX of the pages as SymPy reads it: numbers, vectors, terms and relations."""

import re

import sympy
from sympy.parsing.latex import parse_latex

FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$|```\{math\}(.+?)```", re.S)
# What SymPy's parser does not know, in words that it does.
KNOWN = [
    (r"\\[td]frac", r"\\frac"),
    # A root without braces covers one letter, digit or command; SymPy's parser drops it in front of a command.
    (r"\\sqrt\s*(\\[a-zA-Z]+|\w)", r"\\sqrt{\1}"),
    (r"\\varepsilon", r"\\epsilon"),
    (r"\\(?:bigl|bigr|Bigl|Bigr|left|right|tfrac12)\b", ""),
    (r"\\[,;! ]|\\quad|\\text\{[^}]*\}", " "),
    (r"\\operatorname\{(\w+)\}", r"\\mathit{\1}"),
    (r"(\\\w+|\w)(?=\()", r"\1 \\cdot "),
    (r"\\odot", r"\\cdot"),
]
RELATION = re.compile(r"(\\leq?|\\geq?|\\neq?|\\approx|<|>|=)(?![a-z])")
SIGNS = {r"\le": "<=", r"\leq": "<=", r"\ge": ">=", r"\geq": ">=", r"\ne": "!=", r"\neq": "!=", r"\approx": "~"}


def formulas(text):
    """The TeX of each formula of a text, in turn."""
    return [" ".join("".join(filter(None, found)).split()).rstrip(" .,;") for found in FORMULA.findall(text)]


def read(tex):
    """A term as a SymPy expression, a vector in parentheses as a tuple of them."""
    tex = tex.strip().rstrip(" .,;")
    if tex.startswith("(") and tex.endswith(")") and "," in tex:
        return tuple(read(entry) for entry in tex[1:-1].split(","))
    for pattern, known in KNOWN:
        tex = re.sub(pattern, known, tex)
    return exact(parse_latex(tex.strip()))


def exact(expression):
    """The expression with decimals as the fractions they stand for, and what the parser left undone, done."""
    return expression.doit().replace(lambda e: e.is_Float, lambda e: sympy.Rational(str(e)))


def chain(tex):
    """A chain of relations, "a < b = c" as the terms [a, b, c] and the signs ["<", "="], all as TeX."""
    parts = RELATION.split(tex)
    return [part.strip() for part in parts[::2]], [SIGNS.get(sign, sign) for sign in parts[1::2]]


def equations(tex):
    """(left, right) of each "=" in a formula that may list several, "a = 1, b = 2"."""
    for part in re.split(r",\\? (?=[^()]*(?:\(|$))", tex):
        terms, signs = chain(part)
        yield from ((a, b) for a, sign, b in zip(terms, signs, terms[1:], strict=False) if sign == "=")


def sides(tex):
    """The terms of a chain of relations as SymPy reads them, and its signs."""
    terms, signs = chain(tex)
    return [read(term) for term in terms], signs

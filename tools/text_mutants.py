"""The book's sentences with one word wrong at a time: does a reading notice? `make mutants` runs it after the code's.

A digit, a sign, a relation or a quantifier is changed. Every such change is caught by the pin of the statement's text
(tests/test_statements.py); counted here is what is caught by meaning, by a reading that computes what the text says.
"""

import importlib
import pkgutil
import re
import sys
from collections import Counter
from dataclasses import replace

import statements
from statements import READINGS

LEAST, LEAST_OF_A_PAGE = 0.85, 0.6
# What a change leaves alone: references, citations and names of cells.
QUOTED = re.compile(r"\{[\w:]+\}`[^`]*`|`[^`]*`|\\(?:label|ref)\{[^}]*\}")
WRONG = {
    "digit": [(r"\d", lambda found: str((int(found[0]) + 1) % 10))],
    "sign": [(r"(?<=[\s({,])-(?=[\d\\a-z])", ""), (r"(?<=[\d\w})]) - ", " + "), (r" \+ ", " - ")],
    "relation": [
        (r"\\le\b", r"\\ge"),
        (r"\\ge\b", r"\\le"),
        (r"(?<=\s)<(?=\s)", ">"),
        (r"(?<=\s)>(?=\s)", "<"),
        (r"(?<=\s)=(?=\s)", r"\\ne"),
    ],
    "quantifier": [
        (r"\b[Ee]very\b", "some"),
        (r"\b[Aa]ll\b", "some"),
        (r"if and only if", "if"),
        (r"\bat most\b", "at least"),
        (r"\bat least\b", "at most"),
        (r"\bexactly\b", "nearly"),
        (r"\bbelow\b", "above"),
        (r"\bnever\b", "sometimes"),
        (r"\bonly\b", "also"),
        (r"\bno\b", "a"),
        (r"\bnot\b", "indeed"),
        (r"\*\*False", "**True"),
        (r"\*\*True only if\*\*", "**False**, even if"),
        (r"\*\*True\b(?! only)", "**False"),
    ],
}


def wrong_texts(text):
    """(kind, text) of each change of one place."""
    quoted = [match.span() for match in QUOTED.finditer(text)]
    for kind, changes in WRONG.items():
        for pattern, put in changes:
            for match in re.finditer(pattern, text):
                if not any(start <= match.start() < end for start, end in quoted):
                    yield (
                        kind,
                        text[: match.start()]
                        + match.expand(put if isinstance(put, str) else put(match))
                        + (text[match.end() :]),
                    )


def noticed(statement):
    for reading in READINGS.get(statement.label, []):
        try:
            reading(statement)
        except Exception:
            return True
    return False


def main(pages):
    for module in pkgutil.iter_modules(statements.__path__):
        importlib.import_module(f"statements.{module.name}")
    made, caught, silent = Counter(), Counter(), Counter()
    for label, statement in statements.statements().items():
        if pages and statement.page not in pages:
            continue
        fails = noticed(statement)
        if fails:
            print(f"a reading of {label} fails on the text as it stands: nothing counted for it")
        for kind, text in wrong_texts(statement.text):
            seen = not fails and noticed(replace(statement, text=text))
            made[kind, statement.page] += 1
            caught[kind, statement.page] += seen
            silent[label] += not seen
    shares = [share_of(page, made, caught) for page in dict.fromkeys(page for _, page in made)]
    for kind in dict.fromkeys(kind for kind, _ in made):
        share_of(kind, made, caught)
    share = share_of("together", made, caught, of_all=True)
    print("The pins catch all of them. Least read:", ", ".join(f"{label} ({n})" for label, n in silent.most_common(20)))
    return share < LEAST or min(shares) < LEAST_OF_A_PAGE


def share_of(name, made, caught, of_all=False):
    """The share of the changes of a kind or page that a reading notices, printed as a line of the table."""
    counted = [key for key in made if of_all or name in key]
    number, seen = (sum(counts[key] for key in counted) for counts in (made, caught))
    share = seen / number
    print(f"{name:28} {number:6} changes, {share:6.1%} caught by meaning")
    return share


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

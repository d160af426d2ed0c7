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

LEAST = 0.6
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
        if noticed(statement):
            print(f"a reading of {label} fails on the text as it stands: nothing counted for it")
            silent[label] += len(list(wrong_texts(statement.text)))
            made.update(kind for kind, _ in wrong_texts(statement.text))
            continue
        for kind, text in wrong_texts(statement.text):
            seen = noticed(replace(statement, text=text))
            made[kind] += 1
            caught[kind] += seen
            silent[label] += not seen
    for kind, number in made.items():
        print(f"{kind:10} {number:5} changes, {caught[kind] / number:6.1%} caught by meaning")
    share = caught.total() / made.total()
    print(f"{made.total()} changes of the text, {share:.1%} caught by meaning, all by the pins")
    print("least read:", ", ".join(f"{label} ({number})" for label, number in silent.most_common(20)))
    return share < LEAST


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The sentences that the book answers for, as they stand in its pages: statements, verdicts, exercises, corrections.

Each has a label. Two things hold it to the letter: a copy of its text (`pinned/<page>.md`), which somebody renewed
after reading its tests, and readings, which take the numbers and formulas from its own TeX and compute them.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from statements import tex

ROOT = Path(__file__).parent.parent.parent
BOOK = ROOT / "book"
PINNED = Path(__file__).parent / "pinned"

FENCED = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{(?P<kind>prf:(?!proof)\w+|exercise)\}(?P<title>.*)\n(?P<body>(?s:.*?))^(?P=fence)$", re.M
)
SOLUTION = re.compile(r"^`+\{solution-start\} (?P<label>\S+)\n(?P<body>(?s:.*?))^`+\{solution-end\}$", re.M)
HINT = re.compile(r"^(`{3,}|:{3,})\{admonition\} Hint\n(?P<body>(?s:.*?))^\1\n", re.M)
CELL = re.compile(r"^(`{3,}|:{3,})\{code-cell\}(?s:.*?)^\1$", re.M)
VERDICT = re.compile(
    r"^\((?P<label>[\w-]+)\)=\n### (?P<title>.*)\n(?P<body>(?s:.*?))(?=^```\{code-cell\}|^\([\w-]+\)=$|^##)", re.M
)
SECTION = re.compile(r"^## What people get wrong\n(.*?)(?=^## |\Z)", re.M | re.S)
LEAD = re.compile(r"^(?:### (?P<heading>.*)|\*\*(?P<bold>(?s:.*?))\*\*)", re.M)
WHOLLY_QUOTED = re.compile(r'["“](?P<words>[^"“”]*)["”]')
OPTION = re.compile(r"^:[\w-]+:.*\n", re.M)
LABEL = re.compile(r"^:label: *(\S+)", re.M)


@dataclass(frozen=True)
class Statement:
    """One statement: its label, the stem of its page, its kind ("prf:theorem", "verdict", …) and its text."""

    label: str
    page: str
    kind: str
    text: str

    def formula(self, after="", number=0):
        """Formula `number` behind the words `after`, as SymPy reads it; an AssertionError where the words are gone."""
        return tex.read(self.tex(after, number))

    def tex(self, after="", number=0):
        """The TeX of formula `number` behind the words `after`."""
        place = self.text.find(after)
        assert place >= 0, f"{self.label} no longer says {after!r}"
        found = tex.formulas(self.text[place + len(after) :])
        assert number < len(found), f"{self.label} has no formula {number} behind {after!r}"
        return found[number]

    def value(self, name, number=0):
        """What stands behind "name =" in the text, the first time or time `number`: a SymPy number, term or vector."""
        found = [
            tex.read(after)
            for formula in tex.formulas(self.text)
            for before, after in tex.equations(formula)
            if before.split()[-1:] == [name]
        ]
        assert number < len(found), f"{self.label} no longer has {name} = … {number + 1} times"
        return found[number]

    def says(self, *words):
        """Whether the text holds each of the phrases, for quantifiers and verdicts; what is missing is named."""
        missing = [phrase for phrase in words if phrase not in self.text]
        assert not missing, f"{self.label} no longer says {missing}"
        return True


def plain(text):
    """The text without directives' options and code cells, every run of white space one blank."""
    return " ".join(OPTION.sub("", CELL.sub("", text)).split())


def statements_of(page, source):
    """The statements of one page's source, by label."""
    found = {}

    def add(label, kind, title, body):
        assert label not in found, f"{label} stands twice on {page}"
        found[label] = Statement(label, page, kind, plain(f"{title.strip()} |\n{body}"))

    solutions = {match["label"]: match["body"] for match in SOLUTION.finditer(source)}
    for match in FENCED.finditer(source):
        label = LABEL.search(match["body"])[1]
        hints = "".join(f"Hint: {hint['body']}" for hint in HINT.finditer(match["body"]))
        add(label, match["kind"], match["title"], HINT.sub("", match["body"]) + solutions.get(label, "") + hints)
    for match in VERDICT.finditer(source):
        add(match["label"], "verdict", match["title"], match["body"])
    for title, body in corrections(source):
        add(f"{page}-wrong-{slug(title)}", "correction", title, body)
    return found


def corrections(source):
    """(title, text) of each entry below "What people get wrong": it has a lead, a heading or words in bold."""
    for section in SECTION.findall(source):
        leads = list(LEAD.finditer(section))
        ends = [*(lead.start() for lead in leads[1:]), len(section)]
        for lead, end in zip(leads, ends, strict=True):
            title = lead["heading"] or lead["bold"]
            quoted = WHOLLY_QUOTED.fullmatch(title)
            yield quoted["words"] if quoted else title, f"\n{section[lead.end() : end]}"


def slug(title):
    return "-".join(re.findall(r"[a-z0-9]+", title.lower())[:6])


def statements():
    """All statements of the book, by label."""
    found = {}
    for path in sorted(BOOK.glob("*.md")):
        found |= statements_of(path.stem, path.read_text(encoding="utf8"))
    return found


def pinned():
    """The texts as they stood when their tests were last read, by label."""
    found = {}
    for path in sorted(PINNED.glob("*.md")):
        for entry in path.read_text(encoding="utf8").split("\n## ")[1:]:
            label, _, text = entry.partition("\n\n")
            found[label] = text.strip()
    return found


READINGS = {}


def reads(label):
    """Decorator of a function of a Statement that fails where its text says something else than what is computed."""

    def register(reading):
        READINGS.setdefault(label, []).append(reading)
        return reading

    return register

"""The table of the known mistakes in the book: what each is, who reported one, and the facts it breaks.

`python tests/mistakes_table.py` writes the record that the page includes. The tests that make each mistake compare the
facts with those of the record.
"""

import re
from collections import Counter
from pathlib import Path

import wrong_digits
import wrong_gradients
import wrong_layer_norms
from right_layer_norms import of_lnbook

from lnbook import conformance
from lnbook.conformance import catalogue
from lnbook.conformance.facts import CONVENTION, FLOATING_POINT, GRADIENT, MEMORY

RECORDS = Path(__file__).parents[1] / "book" / "_records"
TABLE, EVERY_FACT = RECORDS / "mistakes.txt", RECORDS / "mistakes-facts.txt"
TELLING = 3  # facts of each mistake that the table names


def demonstrations():
    """Name of a mistake -> the arguments of `check` that show it: the first that the tests have for it."""
    shown = {}
    for cases, kinds in (
        (wrong_layer_norms.FORWARD, (CONVENTION,)),
        (wrong_digits.DIGITS, (CONVENTION, FLOATING_POINT)),
        ([(f, "float32", words) for f, words in wrong_digits.MEMORY], (CONVENTION, MEMORY)),
    ):
        for layer_norm, dtype, words in cases:
            shown.setdefault(name_in(words), {"layer_norm": layer_norm, "dtype": dtype, "kinds": kinds})
    for vjp, words in wrong_gradients.GRADIENT:
        shown.setdefault(name_in(words), {"layer_norm": of_lnbook, "vjp": vjp, "kinds": (GRADIENT, FLOATING_POINT)})
    return {name: arguments for name, arguments in shown.items() if name}


def name_in(words):
    """The longest name of a mistake with which the words begin; "" where they name the layer of another gradient."""
    return max((name for name in conformance.known_mistakes() if words.startswith(name)), key=len, default="")


def facts_broken(report):
    """Ids, each once; the range of the squares apart, which plain NumPy leaves in each of them."""
    alone = wrong_digits.OVERFLOWS in report.mistakes and len(report.mistakes) == 1
    rows = [row for row in report.rows if not row.holds and (alone or row.name != "eps-scaling/large")]
    return tuple(dict.fromkeys(row.fact for row in rows))


def link(report):
    """An id of the bibliography, an issue or a pull request."""
    pull = re.fullmatch(r"(\S+) PR#(\d+)", report)
    issue = re.fullmatch(r"(\S+)#(\d+)", report)
    if pull:
        return f"[{pull[1]}#{pull[2]}](https://github.com/{pull[1]}/pull/{pull[2]})"
    if issue:
        return f"[{report}](https://github.com/{issue[1]}/issues/{issue[2]})"
    return report if report.startswith("page ") else f"{{cite}}`{report}`"


def reference(fact):
    return f"{{prf:ref}}`{fact} <{fact}>`"


def table(broken):
    """`broken`: name of a mistake -> the facts."""
    count = Counter(fact for facts in broken.values() for fact in facts)
    lines = ["| mistake | where to look | reported | facts that it breaks |", "|---|---|---|---|"]
    every = []
    for name in conformance.known_mistakes():
        ones = [mistake for mistake in catalogue.MISTAKES if mistake.name == name]
        reports = dict.fromkeys(report for mistake in ones for report in mistake.reports)
        facts = broken[name]
        telling = sorted(facts, key=lambda fact: (count[fact], facts.index(fact)))[:TELLING]
        more = f" and {len(facts) - len(telling)} more" if len(facts) > len(telling) else ""
        cells = (
            cell(name),
            cell(ones[0].place),
            ", ".join(map(link, reports)),
            ", ".join(map(reference, telling)) + more,
        )
        lines.append(f"| {' | '.join(cells)} |")
        every.append(f"{cell(name)}\n: {', '.join(map(reference, facts))}\n")
    return "\n".join(lines), "\n".join(every)


def cell(text):
    """Text with the marks of Markdown taken as they are."""
    return re.sub(r"([*_|^])", r"\\\1", text) if "`" not in text else text.replace("|", r"\|")


def recorded():
    """Name of a mistake -> the facts, as the record has them."""
    pairs = re.findall(r"^(\S.*)\n: (.*)$", EVERY_FACT.read_text("utf-8"), re.MULTILINE)
    return {
        name: tuple(re.findall(r"<([\w-]+)>", facts))
        for name in conformance.known_mistakes()
        for written, facts in pairs
        if written == cell(name)
    }


BY_OTHER_TESTS = {
    catalogue.STATEFUL.name: ("bias-positions", "gain-gradient"),
    catalogue.LATE_POSITIONS.name: ("def-output",),
    catalogue.SCALED_MEAN.name: ("largest-coordinate",),
}


if __name__ == "__main__":
    broken = dict(BY_OTHER_TESTS)
    for name, arguments in demonstrations().items():
        broken[name] = facts_broken(conformance.check(**arguments))
        print(name, len(broken[name]), flush=True)
    for path, text in zip((TABLE, EVERY_FACT), table(broken), strict=True):
        path.write_text(f"{text.rstrip()}\n", encoding="utf-8")

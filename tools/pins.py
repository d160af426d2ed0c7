"""Shows a statement beside the tests that pin it, and renews its pin: `make statement LABEL=gain-moments`.

A pin is the text of a statement as it stood when somebody last read its tests. Nothing renews it but this, one label
at a time, and only where READ=yes says that the tests have been read again.
"""

import difflib
import re
import sys

from statements import PINNED, ROOT, pinned, statements


def tests_of(label):
    """file:line of each line of the tests that names the label: marks, readings and named tests."""
    named = re.compile(rf'"{label}"|def test_.*{label.replace("-", "_")}\b')
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf8").splitlines(), start=1):
            if named.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: {line.strip()}"


def show(label, now, then):
    print(f"{label}, on {now.page if now else 'no page'}\n")
    for line in difflib.ndiff(sentences(then), sentences(now.text if now else "")):
        if not line.startswith("?"):
            print(line)
    print("\nThe tests that pin it:\n")
    print("\n".join(tests_of(label)) or "none")


def sentences(text):
    return re.split(r"(?<=[.?!:]) ", text)


def write(pins, found):
    """The pins as files, a page each, in the order of the page."""
    for old in PINNED.glob("*.md"):
        old.unlink()
    PINNED.mkdir(exist_ok=True)
    for page in dict.fromkeys(statement.page for statement in found.values()):
        labels = [label for label, statement in found.items() if statement.page == page and label in pins]
        entries = "".join(f"\n## {label}\n\n{pins[label]}\n" for label in labels)
        if entries:
            text = f"# Statements of {page} as they stood when their tests were last read\n{entries}"
            (PINNED / f"{page}.md").write_text(text, encoding="utf8")


def main(arguments):
    found, pins = statements(), pinned()
    if not arguments:
        changed = [label for label in found if pins.get(label) != found[label].text]
        changed += sorted(pins.keys() - found.keys())
        print("\n".join(changed) or "every statement is as it was when its tests were read")
        return bool(changed)
    label, read = arguments[0], arguments[1:] == ["yes"]
    if label not in found and label not in pins:
        print(f"{label} is no label of a statement, verdict, exercise or correction")
        return True
    show(label, found.get(label), pins.get(label, ""))
    if not read:
        print(f"\nWhen you have read them: make statement LABEL={label} READ=yes")
        return False
    pins.pop(label, None)
    if label in found:
        pins[label] = found[label].text
    write(pins, found)
    print("\nrenewed")
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

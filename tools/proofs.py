"""Check the book's proofs with the proof assistant Coq, from a clean state, and print what each fact assumes.

`make proofs` runs it. `--record` writes the result for the pages, which need no Coq. `--mutants` changes one sign,
constant or relation in the statement of each fact and demands that its proof then fails.
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "book" / "proofs"
BUILD = ROOT / "_build" / "proofs"
RECORD = ROOT / "book" / "_records" / "proofs.json"

# The pages of the definition and the six concepts.
REQUIRED_PAGES = ("layer-normalization", "bias", "gain", "epsilon", "jacobian", "sensitivity", "shift-invariance")

# Proofs about real numbers of the standard library rest on how it defines them. All other proofs assume nothing.
REAL_NUMBER_FILES = ("floating_point",)
REAL_NUMBER_AXIOMS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}

PACKAGES = (
    "coq libcoq-mathcomp-algebra libcoq-mathcomp-algebra-tactics "
    "libcoq-mathcomp-analysis libcoq-coquelicot libcoq-flocq libcoq-interval"
)
COQ_OPTIONS = ("-q", "-w", "none", "-R", ".", "lnbook")

UNPROVED = re.compile(r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?|bypass_check|Unset\s+Guard)\b")
ASSUMED = re.compile(r"\b(Hypothes[ie]s|Variables?|Context)\b")
THEOREM = re.compile(r"^Theorem\s+([\w']+)(.*?)\.\s*\nProof\b.*?\bQed\.", re.MULTILINE | re.DOTALL)
PROOF = re.compile(r"\bProof\b.*?\bQed\.", re.DOTALL)
MUTANT_OPTIONS = "Set Default Timeout 60.\nUnset Keep Admitted Variables.\n"


class ProofError(Exception):
    """A proof, a statement or the list of facts is not as it must be; the message says where."""


def without_comments(text):
    """The text with each comment, nested ones too, replaced by spaces: line numbers and columns stay."""
    depth, kept = 0, []
    for piece in re.split(r"(\(\*|\*\))", text):
        if piece == "(*":
            depth += 1
        kept.append(piece if depth == 0 else re.sub(r"[^\n]", " ", piece))
        if piece == "*)":
            depth -= 1
    return "".join(kept)


def forbidden(text):
    """(line, word) of each word by which something could be assumed instead of proved."""
    found, open_sections = [], 0
    for number, line in enumerate(without_comments(text).splitlines(), start=1):
        found += [(number, match[0]) for match in UNPROVED.finditer(line)]
        if re.match(r"\s*Section\b", line):
            open_sections += 1
        elif re.match(r"\s*End\b", line):
            open_sections -= 1
        elif open_sections == 0:
            found += [(number, match[0]) for match in ASSUMED.finditer(line)]
    return found


def theorems(text):
    """fact id: (first line of the statement, its last line) of each Theorem of a file."""
    plain = without_comments(text)
    places = {}
    for match in THEOREM.finditer(plain):
        first = plain.count("\n", 0, match.start()) + 1
        places[match[1].replace("_", "-")] = (first, first + match[0].split("\nProof")[0].count("\n"))
    return places


def read_sources(folder=SOURCES):
    """file name without .v: text, those that others need first."""
    texts = {path.stem: path.read_text(encoding="utf8") for path in sorted(folder.glob("*.v"))}
    ordered = {}
    while len(ordered) < len(texts):
        ready = [name for name in texts if name not in ordered and needs(texts[name]) & set(texts) <= set(ordered)]
        if not ready:
            raise ProofError(f"the files {sorted(set(texts) - set(ordered))} need each other")
        ordered |= {name: texts[name] for name in ready}
    return ordered


def needs(text):
    """The names of the files of this folder that a file imports."""
    lines = re.findall(r"^From lnbook Require Import ([^.]*)\.", text, re.MULTILINE)
    return set(" ".join(lines).split())


def read_reasons(folder=SOURCES):
    """fact id: why it has no theorem."""
    return tomllib.loads((folder / "not-formal.toml").read_text(encoding="utf8"))


def read_ledger():
    """fact id: its page."""
    ledger = tomllib.loads((ROOT / "book" / "facts.toml").read_text(encoding="utf8"))
    return {fact: entry["page"] for fact, entry in ledger.items()}


def find_faults(texts, reasons, pages):
    """What is wrong with the sources before any proof is run: one sentence for each fault."""
    faults = [f"{name}.v, line {line}: {word}" for name, text in texts.items() for line, word in forbidden(text)]
    proved = {}
    for name, text in texts.items():
        for fact in theorems(text):
            if fact not in pages:
                faults.append(f"{name}.v: the theorem {fact} is no fact of the ledger (call it a Lemma)")
            elif pages[fact].replace("-", "_") != name and name not in REAL_NUMBER_FILES:
                faults.append(f"{name}.v: {fact} belongs to the page {pages[fact]}")
            proved[fact] = name
    faults += [f"not-formal.toml: {fact} is no fact of the ledger" for fact in reasons if fact not in pages]
    faults += [f"not-formal.toml: {fact} has a theorem in {proved[fact]}.v" for fact in reasons if fact in proved]
    faults += [
        f"{fact}: neither a theorem nor a reason in not-formal.toml"
        for fact in pages
        if fact not in proved and fact not in reasons
    ]
    return faults


def coqc(name):
    """Compile one file of the build folder."""
    run = subprocess.run(["coqc", *COQ_OPTIONS, f"{name}.v"], cwd=BUILD, capture_output=True, text=True)
    if run.returncode:
        raise ProofError(f"{name}.v does not check:\n{run.stdout}{run.stderr}")


def compile_all(texts, jobs):
    """Compile copies of all files in an empty folder, `jobs` at a time."""
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    for name, text in texts.items():
        (BUILD / f"{name}.v").write_text(text, encoding="utf8")
    done = set()
    with ThreadPoolExecutor(jobs) as pool:
        while len(done) < len(texts):
            ready = [name for name in texts if name not in done and needs(texts[name]) & set(texts) <= done]
            list(pool.map(coqc, ready))
            done |= set(ready)


def assumptions(texts):
    """fact id: the sorted names of the axioms that its proof uses."""
    places = [(name, fact) for name, text in texts.items() for fact in theorems(text)]
    script = "".join(f"Require lnbook.{name}.\n" for name in texts)
    script += "".join(f"Print Assumptions lnbook.{name}.{fact.replace('-', '_')}.\n" for name, fact in places)
    (BUILD / "assumptions.v").write_text(script, encoding="utf8")
    run = subprocess.run(["coqc", *COQ_OPTIONS, "assumptions.v"], cwd=BUILD, capture_output=True, text=True)
    if run.returncode:
        raise ProofError(run.stdout + run.stderr)
    answers = re.split(r"^(?=Closed under the global context|Axioms:)", run.stdout, flags=re.MULTILINE)[1:]
    if len(answers) != len(places):
        raise ProofError(f"{len(places)} theorems, but {len(answers)} answers of Print Assumptions")
    named = [sorted(set(re.findall(r"^([\w.']+)\s*:", answer, re.MULTILINE)) - {"Axioms"}) for answer in answers]
    return {fact: axioms for (_, fact), axioms in zip(places, named, strict=True)}


def allowed(name, axioms):
    """Does a proof of this file assume no more than it may?"""
    return set(axioms) <= (REAL_NUMBER_AXIOMS if name in REAL_NUMBER_FILES else set())


def digest(text):
    return hashlib.sha256(text.encode("utf8")).hexdigest()


def make_record(texts, reasons, axioms, mutants):
    """What the pages show: where each fact's statement stands, what its proof assumes, how many mutants it caught."""
    facts = {}
    for name, text in texts.items():
        for fact, (first, last) in theorems(text).items():
            facts[fact] = {"file": f"{name}.v", "line": first, "last": last, "assumptions": axioms[fact]}
            facts[fact]["mutants"] = mutants.get(fact, 0)
    digests = {f"{name}.v": digest(text) for name, text in texts.items()}
    return {"sources": digests, "facts": facts, "not formal": reasons}


def read_mutants(folder=SOURCES):
    """fact id: the changes of its statement, pairs of texts: the first one's first occurrence becomes the second."""
    changes = {}
    for path in sorted((folder / "mutants").glob("*.toml")):
        changes |= tomllib.loads(path.read_text(encoding="utf8"))
    return changes


def without_proofs(text):
    """The text with each proof left out: its statement is assumed."""
    return PROOF.sub("Proof. Admitted.", text)


def mutate(texts, changes):
    """file name: a script that must pass, and (fact, old, new, script) of each mutant, whose script must not.

    Statements in front of a mutant are assumed, so that a script takes seconds. The first script shows that this takes
    nothing away: after the same assumptions each mutant's statement is one, and each true theorem has its proof.
    """
    mutated = {}
    for name, text in texts.items():
        plain, pieces, end, mutants = without_comments(text), [MUTANT_OPTIONS], 0, []
        for match in THEOREM.finditer(plain):
            pieces.append(without_proofs(plain[end : match.start()]))
            end = match.end()
            proof = match[0][match.end(2) - match.start() :]
            before = MUTANT_OPTIONS + without_proofs(plain[: match.start()])
            for number, (old, new) in enumerate(changes.get(match[1].replace("_", "-"), [])):
                if old not in match[2]:
                    raise ProofError(f"mutants/{name}.toml: {match[1]} does not say {old!r}")
                statement = f"Lemma {match[1]}_mutant_{number}{match[2].replace(old, new, 1)}"
                pieces.append(f"{statement}.\nProof. Admitted.\n")
                mutants.append((match[1].replace("_", "-"), old, new, before + statement + proof))
            pieces.append(match[0])
        mutated[name] = ("".join([*pieces, without_proofs(plain[end:])]), mutants)
    return mutated


def passes(script):
    """Does Coq accept each sentence of the script?"""
    with tempfile.NamedTemporaryFile("w", suffix=".v", encoding="utf8") as file:
        file.write(script)
        file.flush()
        command = ["coqtop", *COQ_OPTIONS, "-batch", "-l", file.name]
        return subprocess.run(command, cwd=BUILD, capture_output=True).returncode == 0


def check_mutants(texts, changes, jobs):
    """fact id: how many mutants of its statement its proof did not prove. One that it did prove is an error."""
    scripts = {name: pair for name, pair in mutate(texts, changes).items() if pair[1]}
    mutants = [mutant for _, of_file in scripts.values() for mutant in of_file]
    with ThreadPoolExecutor(jobs) as pool:
        sound = list(pool.map(passes, [control for control, _ in scripts.values()]))
        proved = list(pool.map(passes, [script for *_, script in mutants]))
    faults = [f"{name}.v: a mutant is no statement" for name, fine in zip(scripts, sound, strict=True) if not fine]
    caught = {}
    for (fact, old, new, _), wrong in zip(mutants, proved, strict=True):
        if wrong:
            faults.append(f"{fact}: {old!r} -> {new!r} is proved as well")
        caught[fact] = caught.get(fact, 0) + 1
    if faults:
        raise ProofError("\n".join(faults))
    return caught


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2, help="files to check at a time")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.relative_to(ROOT)}")
    parser.add_argument("--mutants", action="store_true", help="check the mutants of the statements too; takes minutes")
    options = parser.parse_args()
    if shutil.which("coqc") is None:
        sys.exit(f"The proofs need Coq 8.16 and its libraries. On Debian: apt install {PACKAGES}")
    try:
        run(options)
    except ProofError as error:
        sys.exit(str(error))


def run(options):
    texts, reasons, pages = read_sources(), read_reasons(), read_ledger()
    if faults := find_faults(texts, reasons, pages):
        raise ProofError("\n".join(faults))
    compile_all(texts, options.jobs)
    axioms = assumptions(texts)
    too_much = []
    for name, text in texts.items():
        for fact in theorems(text):
            print(f"{fact}: {', '.join(axioms[fact]) or 'assumes nothing'}")
            if not allowed(name, axioms[fact]):
                too_much.append(f"{name}.v: {fact} assumes too much")
    if too_much:
        raise ProofError("\n".join(too_much))
    mutants = check_mutants(texts, read_mutants(), options.jobs) if options.mutants else {}
    required = [fact for fact, page in pages.items() if page in REQUIRED_PAGES]
    formal = sum(fact in axioms for fact in required)
    print(f"{len(axioms)} facts of the book are checked, {formal} of the {len(required)} on its first pages.")
    if options.mutants:
        print(f"{sum(mutants.values())} changed statements of {len(mutants)} facts are not proved, as it must be.")
    if options.record:
        text = json.dumps(make_record(texts, reasons, axioms, mutants), indent=1, ensure_ascii=False) + "\n"
        RECORD.parent.mkdir(exist_ok=True)
        RECORD.write_text(text, encoding="utf8")


if __name__ == "__main__":
    main()

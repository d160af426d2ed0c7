"""The proofs under book/proofs and what the pages show of them agree. It needs no proof assistant."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import proofs  # noqa: E402

TEXTS = proofs.read_sources()
STATED = {fact: (name, place) for name, text in TEXTS.items() for fact, place in proofs.theorems(text).items()}
RECORD = json.loads(proofs.RECORD.read_text(encoding="utf8"))


def test_the_sources_assume_nothing_and_every_required_fact_has_a_theorem_or_a_reason():
    assert proofs.find_faults(TEXTS, proofs.read_reasons(), proofs.read_ledger()) == []


def test_the_record_is_of_these_sources():
    assert RECORD["sources"] == {f"{name}.v": proofs.digest(text) for name, text in TEXTS.items()}
    assert RECORD["not formal"] == proofs.read_reasons()
    recorded = {fact: (entry["file"], entry["line"], entry["last"]) for fact, entry in RECORD["facts"].items()}
    assert recorded == {fact: (f"{name}.v", *place) for fact, (name, place) in STATED.items()}


@pytest.mark.parametrize("fact", sorted(STATED))
def test_a_statement_starts_and_ends_on_the_recorded_lines(fact):
    name, (first, last) = STATED[fact]
    lines = TEXTS[name].splitlines()
    assert lines[first - 1].startswith(f"Theorem {fact.replace('-', '_')}")
    assert lines[last - 1].endswith(".") and lines[last].startswith("Proof")


@pytest.mark.parametrize("fact", sorted(STATED))
def test_a_proof_assumes_no_more_than_it_may_and_caught_its_mutants(fact):
    entry = RECORD["facts"][fact]
    assert proofs.allowed(STATED[fact][0], entry["assumptions"])
    assert entry["mutants"] == len(proofs.read_mutants()[fact]) > 0


def test_every_mutant_belongs_to_a_theorem_and_changes_its_statement():
    changes = proofs.read_mutants()
    assert set(changes) == set(STATED)
    for name, (_, mutants) in proofs.mutate(TEXTS, changes).items():
        assert len(mutants) == sum(len(changes[fact]) for fact, (file, _) in STATED.items() if file == name)
    assert all(old != new for pairs in changes.values() for old, new in pairs)


SECTION = "Section S.\nVariable n : nat.\nTheorem shift_exact : n = n.\nProof. by []. Qed.\nEnd S.\n"


def test_a_harmless_file_has_no_fault():
    assert proofs.forbidden(SECTION) == []
    assert proofs.theorems(SECTION) == {"shift-exact": (3, 3)}


@pytest.mark.parametrize("line", ["Axiom a : 1 = 2.", "Parameter p : nat.", "Lemma l : 1 = 2. Admitted.", "admit."])
def test_an_assumption_is_seen(line):
    assert [number for number, _ in proofs.forbidden(SECTION + line)] == [6]


@pytest.mark.parametrize("line", ["Variable x : nat.", "Hypothesis h : 1 = 2.", "Context (x : nat)."])
def test_a_variable_outside_of_a_section_is_an_assumption(line):
    assert [number for number, _ in proofs.forbidden(SECTION + line)] == [6]
    assert proofs.forbidden(SECTION.replace("Variable n : nat.", line)) == []


def test_a_comment_assumes_nothing_even_a_nested_one():
    assert proofs.forbidden("(* Admitted (* Axiom *) admit *)\n(* Variable *)") == []
    assert proofs.without_comments("a (* b\n(* c *) d *) e") == "a     \n             e"


def faults(texts, reasons=(), pages=()):
    return proofs.find_faults(texts, dict(reasons), dict(pages))


def test_unknown_missing_and_misplaced_facts_are_faults():
    page = {"shift-exact": "shift-invariance"}
    assert faults({"shift_invariance": SECTION}, pages=page) == []
    assert "no fact of the ledger" in faults({"shift_invariance": SECTION})[0]
    assert "belongs to the page" in faults({"bias": SECTION}, pages=page)[0]
    assert "neither a theorem nor a reason" in faults({}, pages=page)[0]
    assert faults({}, {"shift-exact": "why"}, page) == []
    assert "has a theorem" in faults({"shift_invariance": SECTION}, {"shift-exact": "why"}, page)[0]
    assert "no fact of the ledger" in faults({}, {"shift-exact": "why"})[0]


def test_axioms_are_allowed_for_real_numbers_only():
    axiom = "ClassicalDedekindReals.sig_forall_dec"
    assert proofs.allowed("floating_point", [axiom]) and proofs.allowed("bias", [])
    assert not proofs.allowed("bias", [axiom])
    assert not proofs.allowed("floating_point", ["floating_point.mine"])

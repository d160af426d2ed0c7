"""The page Settled and its tests: one test an entry, tied to it by its permanent name and by the verdict itself."""

import re
import sys
from pathlib import Path

import exact
import numpy as np
import pytest
import test_settled_amplification  # noqa: F401 - these register the tests
import test_settled_asked  # noqa: F401
import test_settled_attention  # noqa: F401
import test_settled_batch  # noqa: F401
import test_settled_deep  # noqa: F401
import test_settled_geometry  # noqa: F401
import test_settled_machines  # noqa: F401
import test_settled_outputs  # noqa: F401
import test_settled_production  # noqa: F401
import test_settled_why  # noqa: F401
from verdicts import TESTS, R

from lnbook.pages.show import line

PAGE = Path(__file__).parents[1] / "book" / "settled.md"
ENTRY = re.compile(r"^\((settled-[\w-]+)\)=\n### [^\n]+\?\n\n(.*?)(?=^\(settled-|^## )", re.MULTILINE | re.DOTALL)
VERDICT = re.compile(r"\*\*(True only if|True|False)\.?\*\*")
# The statement that is judged, and the verdict
JUDGED = re.compile(r"\*(?P<claim>[^*]+\.)\*\s" + VERDICT.pattern)

# Names of entries that were merged into others, where they still lead.
FORMER = {
    "settled-bn-nchw": "settled-channels-last",
    "settled-bn-padding": "settled-padding",
    "settled-bn-parameters": "settled-parameters",
    "settled-bn-running": "settled-eval",
    "settled-same-bits": "settled-bits",
}


def entries():
    """(name, text) of the entries of the page, in order."""
    return ENTRY.findall(PAGE.read_text("utf-8"))


def test_each_entry_has_a_test_of_its_verdict_and_each_test_its_entry():
    on_the_page = {}
    for name, words in entries():
        assert name not in on_the_page, f"{name} stands twice"
        on_the_page[name] = JUDGED.match(words)[2]
    assert on_the_page == {name: verdict for name, (verdict, _) in TESTS.items()}


def test_the_test_of_each_entry_is_collected():
    """A function whose name another one takes would be registered and never run."""
    for _, test in TESTS.values():
        assert test.__name__.startswith("test_")
        assert getattr(sys.modules[test.__module__], test.__name__) is test


def test_no_entry_escapes_the_pattern():
    text = PAGE.read_text("utf-8")
    labels = [label for label in re.findall(r"^\((settled-[\w-]+)\)=$", text, re.MULTILINE) if label != "settled-field"]
    former = dict(re.findall(r"^\((settled-[\w-]+)\)=\n\((settled-[\w-]+)\)=$", text, re.MULTILINE))
    assert former == FORMER
    assert [label for label in labels if label not in former] == [name for name, _ in entries()]
    assert len(re.findall(r"^### ", text, re.MULTILINE)) == len(entries()) >= 40


@pytest.mark.parametrize(("name", "words"), entries(), ids=[name for name, _ in entries()])
def test_each_entry_gives_one_verdict_a_link_to_its_proof_and_a_computed_line(name, words):
    assert JUDGED.match(words)
    assert len(VERDICT.findall(words)) == 1
    assert re.search(r"\{(prf:ref|doc)\}`", words)
    assert words.count("```{code-cell}") == 1
    assert "line(" in words


@pytest.fixture
def shown(monkeypatch):
    """What `line` has displayed."""
    outputs = []
    monkeypatch.setattr("lnbook.pages.show.display", lambda data, raw: outputs.append(data))
    return outputs


@pytest.mark.parametrize(
    ("parts", "options", "text"),
    [
        (["core", np.array([1.0, -0.5]), "mean", 0.25, 2], {}, "core (1, -0.5)   mean 0.25 2"),
        ([[1, 2], "core", 0.123456789], {"digits": 3}, "(1, 2)   core 0.123"),
        (["eps", 1e-5, "h", 0.0001, "less", 0.00012345], {"digits": 3}, "eps 1e-05   h 0.0001   less 0.000123"),
        (["core", 1, "mean", 2], {"width": 14}, "core 1\nmean 2"),
        (["core", 1, "mean", 2], {"width": 15}, "core 1   mean 2"),
        (["core", [1, 2], "its mean", 2], {"width": 9}, "core     (1, 2)\nits mean 2"),
        (["J", np.array([[1.0, -2.25], [-3.0, 4.0]])], {}, "J\n( 1, -2.25)\n(-3,     4)"),
    ],
)
def test_numbers_stand_on_one_line_with_their_names_or_a_name_a_line(shown, parts, options, text):
    line(*parts, **options)
    assert shown == [{"text/plain": text}]


def test_exact_values_are_a_formula_with_their_names(shown):
    line("mean_of_y", R(1, 3), "near it", 2.5e-9, "J", exact.core_jacobian([0, 2], R(3)))
    assert shown == [
        {
            "text/plain": "mean_of_y 1/3\nnear it   2.5e-09\nJ\n( 3/16, -3/16)\n(-3/16,  3/16)",
            "text/latex": r"$$\begin{aligned} \text{mean\_of\_y} &= \frac{1}{3} \\ "
            r"\text{near it} &= 2.5 \cdot 10^{-9} \\ \text{J} &= "
            r"\begin{pmatrix} \frac{3}{16} & - \frac{3}{16} \\[0.4em] - \frac{3}{16} & \frac{3}{16} "
            r"\end{pmatrix} \end{aligned}$$",
        }
    ]

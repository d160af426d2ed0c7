"""The questions of Settled elsewhere: in their list, on the pages, in llms.txt. No browser is needed."""

import html
import re
import tomllib

import pytest
from conftest import ROOT

SETTLED = (ROOT / "book" / "settled.md").read_text(encoding="utf8")
ENTRIES = re.findall(
    r"^\((settled-[\w-]+)\)=\n### (.+)\n\n\*[^*]+\*\s\*\*(True only if|True|False)", SETTLED, re.MULTILINE
)
FACTS = tomllib.loads((ROOT / "book" / "facts.toml").read_text(encoding="utf8"))


def plain(text):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).replace("’", "'").split())


@pytest.fixture(scope="module")
def text(built):
    return lambda page: (built / "book" / f"{page}.html").read_text(encoding="utf8")


def test_the_list_has_every_question_with_its_verdict_and_a_link(text):
    item = r'<dt><a [^>]*href="settled.html#([\w-]+)"[^>]*>(.*?)</a>.*?</dt>\s*<dd>(.*?)</dd>'
    found = re.findall(item, text("questions"), re.DOTALL)
    assert [(name, plain(words)) for name, words, _ in found] == [(name, words) for name, words, _ in ENTRIES]
    for (name, _, answer), (_, _, verdict) in zip(found, ENTRIES, strict=True):
        assert re.search(r"<em>.*</em>\s<strong>(.*?)\.?</strong>", answer, re.DOTALL)[1] == verdict, name
        assert plain(answer).endswith(".") and "settled.html" not in answer, name
        assert plain(answer).count("(") == plain(answer).count(")"), name


def test_a_page_leads_to_the_questions_that_cite_its_facts(text):
    entries = dict(re.findall(r"^\((settled-[\w-]+)\)=\n(.*?)(?=^\(settled-|^## )", SETTLED, re.MULTILINE | re.DOTALL))
    for page in {fact["page"] for fact in FACTS.values()} - {"settled"}:
        mine = "|".join(re.escape(fact) for fact in FACTS if FACTS[fact]["page"] == page)
        wanted = {name for name, words in entries.items() if re.search(rf"prf:ref}}`({mine})`", words)}
        box = re.search(r'<details class="answers">(.*?)</details>', text(page), re.DOTALL)
        assert wanted == set(re.findall(r'href="settled.html#([\w-]+)"', box[1] if box else "")), page
        if box:
            assert int(re.search(r"<summary>(\d+) question", box[1])[1]) == len(wanted)


def test_llms_txt_has_every_question_with_its_verdict(built):
    lines = (built / "llms.txt").read_text(encoding="utf8").splitlines()
    for name, words, verdict in ENTRIES:
        (line,) = [plain(line) for line in lines if f"settled.html#{name})" in line]
        assert line.startswith(f"- [{words}](") and verdict in line and "$" not in line and "\\" not in line

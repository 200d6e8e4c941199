"""Parameters of steps before and after the answers that they are made from."""

from __future__ import annotations

from typing import Any

import pytest

from keepa_cli.research.workflow.model import Either, Files, From, Given, Pairs, Place, Plan, Sort, Step, levels
from keepa_cli.research.workflow.resolving import Sources, resolve

FOUND = From("search", "$.ids[*]", Sort.ASIN, 2)
STEP = Step("s", "some.operation", "why", {"asin": FOUND, "domain": Given("domain"), "term": Given("term")})
MANY = frozenset({"asin", "input"})


def _sources(answer: Any = None, **inputs: Any) -> Sources:
    return Sources({"domain": "US", **inputs}, lambda name: f"/there/{name}", lambda _: answer)


def test_what_is_not_known_yet_is_a_reference_and_has_a_price() -> None:
    found = resolve(STEP, _sources(), MANY)
    assert found.params == {"asin": {"$from": "step.search", "path": "$.ids[*]", "limit": 2}, "domain": "US"}
    assert len(found.priced["asin"]) == 2 and len(set(found.priced["asin"])) == 2
    assert not found.executable and found.refs[0]["step"] == "search"


def test_an_answer_takes_the_place_of_the_reference() -> None:
    found = resolve(STEP, _sources({"ids": ["B1", "B2", "B3"]}), MANY)
    assert found.params == {"asin": ["B1", "B2"], "domain": "US"} and found.executable
    assert resolve(STEP, _sources({"ids": ["B1"]}), frozenset()).params["asin"] == "B1"


def test_an_answer_without_a_value_leaves_the_step_waiting() -> None:
    found = resolve(STEP, _sources({"ids": []}), MANY)
    assert not found.executable and found.choices["asin"][1].candidates == []


def test_an_input_goes_before_what_a_step_would_find() -> None:
    step = Step("s", "x", "", {"asin": Either(Given("asin"), FOUND)})
    assert resolve(step, _sources(asin=["B9"]), MANY).params == {"asin": ["B9"]}
    assert not resolve(step, _sources(), MANY).executable


def test_an_input_that_is_wanted_is_named_where_it_lacks() -> None:
    found = resolve(STEP, _sources({"ids": ["B1"]}), MANY, frozenset({"term"}))
    assert found.params["term"] == {"$input": "term"} and found.missing == ["term"] and not found.executable
    assert found.priced["term"] != found.params["term"]


def test_files_of_skipped_steps_are_left_out() -> None:
    step = Step("s", "x", "", {"input": Files(("one", "two"), given=True)})
    sources = _sources(input=["mine.json"])
    sources.file = lambda name, body: "" if name == "one" else f"/there/{name}.json"
    assert resolve(step, sources, MANY).params == {"input": ["mine.json", "/there/two.json"]}


def test_files_of_steps_to_come_are_references_to_their_artifacts() -> None:
    step = Step("s", "x", "", {"input": Files(("one",), body=True), "out": Place("figures")})
    found = resolve(step, _sources(), MANY)
    assert found.params["input"] == [{"$from": "step.one", "body": "one.body.json"}]
    assert found.params["out"] == "/there/figures"


def test_no_file_at_all_is_a_missing_input() -> None:
    step = Step("s", "x", "", {"input": Files(("one",))})
    sources = _sources()
    sources.file = lambda *_: ""
    assert resolve(step, sources, MANY).missing == ["input"]


def test_pairs_hold_known_values_only() -> None:
    step = Step("s", "x", "", {"param": Pairs({"asin": FOUND, "full": True})})
    assert resolve(step, _sources({"ids": ["B1"]}), frozenset({"param"})).params == {"param": ["asin=B1", "full=True"]}
    waiting = resolve(step, _sources(), frozenset({"param"}))
    assert not waiting.executable and waiting.params["param"][0]["name"] == "asin"


PLAN = Plan(
    "p",
    "",
    (
        Step("search", "a", "", {"term": Given("term")}, unless=("category",)),
        Step("list", "b", "", {"category": Either(Given("category"), From("search", "$.x", Sort.CATEGORY))}),
        Step("extra", "c", "", {}, needs=("seller",)),
        Step("merge", "d", "", {"input": Files(("search", "list", "extra"))}),
    ),
    wants=(("term", "category"),),
)


def test_inputs_make_the_steps() -> None:
    assert [s.id for s in PLAN.chosen({"term": "x"})] == ["search", "list", "merge"]
    assert [s.id for s in PLAN.chosen({"category": 5, "seller": "A"})] == ["list", "extra", "merge"]
    assert PLAN.missing({}) == [("term", "category")] and not PLAN.missing({"category": 5})
    assert set(PLAN.takes) == {"term", "category", "seller"} and PLAN.choices == {"category"}


@pytest.mark.parametrize(
    ("inputs", "groups"),
    [
        ({"term": "x"}, [["search"], ["list"], ["merge"]]),
        ({"category": 5, "seller": "A"}, [["list", "extra"], ["merge"]]),
    ],
)
def test_a_group_reads_answers_of_earlier_groups_only(inputs: dict[str, Any], groups: list[list[str]]) -> None:
    assert levels(PLAN.chosen(inputs)) == groups

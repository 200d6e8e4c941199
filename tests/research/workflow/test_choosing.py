"""What an earlier answer gives a later step."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.research.workflow.choosing import MOST_SHOWN, at, choose
from keepa_cli.research.workflow.model import From, Sort

NAMED = From("s", "$.rows[*].id", Sort.CATEGORY, labels="$.rows[*].name", match="term")
FIRST = From("s", "$.rows[*].id", Sort.ASIN, "top")


def _rows(*pairs: tuple[Any, Any]) -> dict[str, Any]:
    return {"rows": [{"id": value, "name": name} for value, name in pairs]}


def test_stars_stand_for_every_element_and_every_member() -> None:
    answer = {"sellers": {"A": {"asins": ["x", "y"]}, "B": {"asins": []}, "C": {"asins": ["z"]}, "D": None}}
    assert at(answer, "$.sellers.*.asins[*]") == ["x", "y", "z"]
    assert at(answer, "$.sellers.A.asins[1]") == ["y"]
    assert at(answer, "$.nothing[*].there") == []


def test_the_first_values_are_taken_in_their_order_without_repeats() -> None:
    found = choose(FIRST, _rows(("b", ""), ("a", ""), ("b", ""), ("c", "")), {"top": 2})
    assert found.values == ["b", "a"] and [c.value for c in found.candidates] == ["b", "a", "c"]


def test_the_one_that_has_the_name_asked_for_goes_before_the_first() -> None:
    found = choose(NAMED, _rows((1, "Kitchen & Dining"), (2, "Kitchen")), {"term": " kitchen "})
    assert found.values == [2] and not found.ambiguous


def test_several_with_the_name_asked_for_are_ambiguous_and_listed() -> None:
    found = choose(NAMED, _rows((1, "Lamps"), (2, "Kitchen"), (3, "KITCHEN")), {"term": "Kitchen"})
    assert found.ambiguous and not found.values
    assert found.rows == [{"value": 2, "name": "Kitchen"}, {"value": 3, "name": "KITCHEN"}]


def test_no_candidate_is_not_ambiguous() -> None:
    found = choose(NAMED, {"rows": []}, {"term": "x"})
    assert not found.values and not found.ambiguous


def test_values_of_another_kind_are_no_candidates_and_hostile_names_are_harmless() -> None:
    found = choose(NAMED, _rows((None, "a"), (True, "b"), ({}, "c"), (0, "d"), (7, "x\x1b[31m\u202e" * 99)), {})
    assert found.values == [7] and len(found.rows) == 1
    assert "\x1b" not in found.rows[0]["name"] and len(found.rows[0]["name"]) <= 80


def test_a_reader_is_shown_a_handful() -> None:
    found = choose(FIRST, _rows(*((f"a{n}", "") for n in range(50))), {"top": 1})
    assert len(found.rows) == MOST_SHOWN


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["rows", "id", "name"]), inner),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None)
@given(JSON)
def test_odd_answers_never_raise(answer: Any) -> None:
    assert choose(NAMED, answer, {"term": "a"}).values is not None
    assert choose(FIRST, answer, {}).candidates is not None

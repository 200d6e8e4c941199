"""The product finder's vocabulary and rules."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.keepa import finder, finderfields
from keepa_cli.keepa.selection import MAX_URL, parse_selection, selection_request
from keepa_cli.keepa.wire import encode

FAMILIES = {
    "current_": 58, "avg365_": 58, "avg1_": 58, "avg90_": 58, "delta7_": 58, "deltaPercent30_": 58, "deltaLast_": 58,
    "backInStock_": 29, "isLowest_": 29, "srAvg": 72, "lastPriceChange_": 60, "salesRankDrops": 8, "buyBoxStats": 28,
}  # fmt: skip


def refused(selection: dict[str, Any]) -> list[dict[str, Any]]:
    with pytest.raises(KeepaCliError) as caught:
        finder.check(selection)
    assert caught.value.kind is Kind.INVALID_ARGUMENTS
    assert caught.value.details["field"] == caught.value.details["errors"][0]["field"]
    found: list[dict[str, Any]] = caught.value.details["errors"]
    return found


def test_the_families_make_every_field_of_keepas_client() -> None:
    fields = finderfields.client_fields()
    assert len(fields) == 1364
    assert {f: sum(name.startswith(f) for name in fields) for f in FAMILIES} == FAMILIES
    assert not {n for n in fields if "EXTRA_INFO" in n or "COLLECTIBLE_NEW" in n or "COUNT_NEW_FBA" in n}


def test_fields_that_only_the_documentation_has_are_taken_too() -> None:
    extra = set(finderfields.fields()) - set(finderfields.client_fields())
    assert len(extra) == 29 + 8 + 1
    assert {
        "isLowest90_NEW",
        "monthlySoldPeak_gte",
        "monthlySoldLastKnownDate_lte",
        "frequentlyBoughtTogether",
    } <= extra
    assert not set(finderfields.legacy_fields()) & set(finderfields.fields())


@pytest.mark.parametrize("name", ["current_AMAZON_gte", "srAvg011_lte", "unitValue_gte", "flipability90_lte"])
def test_bounds_can_be_sorted_by_without_their_suffix(name: str) -> None:
    assert name[:-4] in finderfields.sortable()


@pytest.mark.parametrize(
    "selection",
    [
        {"title": "kettle"},
        {"rootCategory": "2619533011"},
        {"rootCategory": 3167641},
        {"rootCategory": [2**63 - 1]},
        {"availabilityAmazon": 4},
        {"availabilityAmazon": [-1, 0]},
        {"productType": ["0", "1"]},
        {"current_AMAZON_lte": -1, "brand": "✜acme"},
        {"deltaPercent30_NEW_gte": -40, "deltaPercent30_NEW_lte": -10},
        {"dealType": ["countdown_ends_in", "A_NEW_ONE"]},
        {"isLowest90_BUY_BOX_SHIPPING": False},
        {"unitValue_gte": 0.5},
        {"brand": ["a", "b", "c"], "minMatch": {"brand": 3}},
        {"title": "a", "sort": [["current_SALES", "asc"], ["monthlySold", "desc"], ["deltaPercent90_AMAZON", "asc"]]},
        {"title": "a", "page": 0, "perPage": 10_000},
        {"title": "a", "page": 200, "perPage": 50},
        {"salesRankReference": -1},
    ],
)
def test_selections_are_sent_as_they_are_given(selection: dict[str, Any]) -> None:
    checked = finder.check(selection)
    assert checked.selection == selection
    assert list(checked.selection) == sorted(selection)


@pytest.mark.parametrize(
    ("selection", "field", "told"),
    [
        ({}, "selection", "at least one"),
        ({"page": 0, "sort": [["current_SALES", "asc"]]}, "selection", "at least one"),
        ({"current_SALE_lte": 5}, "current_SALE_lte", "current_SALES_lte"),
        ({"current_sales_lte": 5}, "current_sales_lte", "current_SALES_lte"),
        ({"current_SALES": 5}, "current_SALES", "current_SALES_gte"),
        ({"salesRank": 5}, "salesRank", "current_SALES_lte"),
        ({"price_min": 5}, "price_min", "current_NEW_gte"),
        ({"category": 5}, "category", "categories_include"),
        ({"domainId": 1, "title": "a"}, "domainId", "parameter domain"),
        ({"current_NEW_gte": "12"}, "current_NEW_gte", "an integer"),
        ({"current_NEW_gte": 12.5}, "current_NEW_gte", "an integer"),
        ({"current_NEW_gte": True}, "current_NEW_gte", "an integer"),
        ({"current_NEW_gte": None}, "current_NEW_gte", "an integer"),
        ({"current_NEW_gte": [1]}, "current_NEW_gte", "an integer"),
        ({"current_NEW_gte": 2**31}, "current_NEW_gte", "an integer"),
        ({"current_NEW_gte": float("nan")}, "current_NEW_gte", "an integer"),
        ({"current_RATING_gte": 450}, "current_RATING_gte", "-1 to 50"),
        ({"isLowest_NEW": 1}, "isLowest_NEW", "true or false"),
        ({"isLowest_NEW": "true"}, "isLowest_NEW", "true or false"),
        ({"brand": []}, "brand", "empty list"),
        ({"brand": ["a", 5]}, "brand", "text"),
        ({"brand": " "}, "brand", "text"),
        ({"brand": ["\ud800"]}, "brand", "text"),
        ({"brand": [f"b{i}" for i in range(51)]}, "brand", "list of 51"),
        ({"categories_include": list(range(1, 52))}, "categories_include", "up to 50"),
        ({"categories_include": ["kitchen"]}, "categories_include", "node id"),
        ({"productType": [3]}, "productType", "0, 1, 2, 5"),
        ({"title": ["a"]}, "title", "text"),
        ({"title": " ".join("abc" for _ in range(51))}, "title", "50 keywords"),
        ({"current_NEW_gte": 10, "current_NEW_lte": 5}, "current_NEW_gte", "above"),
        ({"title": "a", "page": 1, "perPage": 10_000 - 1, "brand": "b"}, None, ""),
        ({"title": "a", "page": 2, "perPage": 5001}, "page", "10000"),
        ({"title": "a", "perPage": 10_001}, "perPage", "50 to 10000"),
        ({"title": "a", "perPage": 49}, "perPage", "50 to 10000"),
        ({"title": "a", "perPage": "200"}, "perPage", "50 to 10000"),
        ({"title": "a", "page": -1}, "page", "0 to 200"),
        ({"title": "a", "sort": ["current_SALES", "asc"]}, "sort", "pairs"),
        ({"title": "a", "sort": [["current_SALES_gte", "asc"]]}, "sort", "current_SALES?"),
        ({"title": "a", "sort": [["current_SALES", "up"]]}, "sort", "asc"),
        ({"title": "a", "sort": [["current_SALES", "asc"]] * 4}, "sort", "up to 3"),
        ({"title": "a", "sort": [["title", "asc"]]}, "sort", "title"),
        ({"title": "a", "sort": []}, "sort", "up to 3"),
        ({"brand": ["a", "b"], "minMatch": {"brand": 3}}, "minMatch.brand", "1 to 2"),
        ({"brand": ["a", "b"], "minMatch": {"brand": 0}}, "minMatch.brand", "1 to 2"),
        ({"brand": ["a", "b"], "minMatch": {"color": 1}}, "minMatch.color", "no list"),
        ({"brand": ["a"], "current_NEW_gte": 5, "minMatch": {"current_NEW_gte": 1}}, "minMatch.current_NEW_gte", "no"),
        ({"brand": ["a", "b"], "minMatch": 2}, "minMatch", "object"),
    ],
)
def test_wrong_fields_are_named_with_what_is_allowed(selection: dict[str, Any], field: str | None, told: str) -> None:
    if field is None:
        assert finder.check(selection).selection == selection
        return
    problem = next(p for p in refused(selection) if p["field"] == field)
    assert told in problem["message"]
    json.dumps(problem, allow_nan=False)


def test_everything_wrong_is_named_at_once() -> None:
    fields = [p["field"] for p in refused({"nope": 1, "isSNS": 1, "perPage": 3, "current_NEW_gte": "x"})]
    assert set(fields) == {"nope", "isSNS", "perPage", "current_NEW_gte"}


def test_whole_floats_of_data_frames_become_integers() -> None:
    assert finder.check({"current_SALES_lte": 5000.0, "perPage": 100.0, "productType": [0.0]}).selection == {
        "current_SALES_lte": 5000, "perPage": 100, "productType": [0],
    }  # fmt: skip


def test_fields_that_keepa_took_away_are_sent_with_a_note() -> None:
    checked = finder.check({"isHighest_RENT": True, "mpn": ["x"], "stockAmazon_gte": 3})
    assert len(checked.notes) == 3 and "isHighest_RENT" in checked.notes[0]
    assert "-1" in finder.check({"current_NEW_lte": -1, "avg30_NEW_lte": -1}).notes[0]
    assert not finder.check({"current_NEW_lte": -1, "title": "a"}).notes


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("isSNS", "yes", True), ("isSNS", "0", False), ("isSNS", "maybe", "maybe"), ("current_NEW_gte", "-1", -1),
        ("current_NEW_gte", "x", "x"), ("unitValue_gte", "1.5", 1.5), ("brand", "1", "1"), ("nope", "1", "1"),
        ("rootCategory", "12", "12"), ("productType", "0", 0),
    ],
)  # fmt: skip
def test_filters_written_as_text_get_the_type_of_their_field(name: str, text: str, value: Any) -> None:
    assert finder.from_text(name, text) == value and type(finder.from_text(name, text)) is type(value)


@pytest.mark.parametrize(
    "text",
    ['{"a": 1,\n # comment\n}', "[]", "3", '"x"', "", "{'title': 'a'}", '{"a": NaN}', '{"a": 1, "a": 2}', "null"],
)
def test_what_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(KeepaCliError) as caught:
        parse_selection(text)
    assert caught.value.kind is Kind.INVALID_ARGUMENTS and "value" in caught.value.details


def test_short_selections_travel_in_the_url_and_long_ones_in_the_body() -> None:
    short = selection_request("/query", {"domain": 1}, {"title": "kettle"}, ())
    assert (short.method, short.body) == ("GET", None)
    assert dict(encode(short).query)["selection"] == '{"title":"kettle"}'
    selection = {"brand": [f"a brand with a long name {i:04d}" for i in range(50)], "title": "Küche"}
    long = selection_request("/query", {"domain": 1, "stats": True}, selection, ("note",))
    wire = encode(long)
    assert long.method == "POST" and json.loads(wire.body) == selection and long.notes == ("note",)
    assert wire.query == (("domain", "1"), ("stats", "1")) and len(wire.url()) < MAX_URL


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_typed_field_passes_and_any_other_value_is_refused(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(finderfields.fields())))
    spec = finderfields.fields()[name]
    good = {
        "bool": st.booleans(), "str": st.sampled_from(["a", "Küche", "✜b"]), "float": st.floats(-1e6, 1e6),
        "id": st.integers(0, 2**63 - 1),
        "int": st.sampled_from(spec.choices) if spec.choices else st.integers(spec.low, spec.high),
    }[spec.kind]  # fmt: skip
    value = data.draw(st.lists(good, min_size=1, max_size=50) if spec.many and data.draw(st.booleans()) else good)
    assert finder.check({name: value}).selection == {name: value}
    bad = data.draw(st.sampled_from([None, {}, [], [[1]], [None], object(), b"x"]))
    assert refused({name: bad})[0]["field"] == name


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([*finderfields.CONTROL, "brand", "current_NEW_gte", "current_NEW_lte", "title", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
        ),
    )
)
def test_odd_selections_are_refused_and_never_break(selection: dict[str, Any]) -> None:
    try:
        checked = finder.check(selection)
    except KeepaCliError as error:
        assert error.details["errors"]
    else:
        assert finder.results_of(checked.selection) <= 10_000
        encode(selection_request("/query", {"domain": 1}, checked.selection, checked.notes))
    assert finder.results_of(selection) >= finder.PER_PAGE

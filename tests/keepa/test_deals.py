"""The selection of /deal, and deals as facts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.keepa import deals
from keepa_cli.keepa.dealview import deal_row, decode_deal
from keepa_cli.keepa.domains import DOMAINS

US, JP = DOMAINS[1], DOMAINS[5]
UNKNOWN = 2**63 - 1


def sent(**given: Any) -> dict[str, Any]:
    return deals.check({"priceTypes": [1], **given}, 1).selection


def refused(given: dict[str, Any]) -> dict[str, Any]:
    with pytest.raises(KeepaCliError) as caught:
        deals.check(given, 1)
    return caught.value.details


@pytest.mark.parametrize("value", [18, "18", "BUY_BOX_SHIPPING", "buy_box_shipping", [18], ["18"]])
def test_one_price_type_is_named_by_number_or_name(value: Any) -> None:
    assert deals.check({"priceTypes": value}, 3).selection == {"domainId": 3, "priceTypes": [18]}


@pytest.mark.parametrize("value", [None, [], [0, 1], 4, 11, 15, 16, 23, 27, 99, -1, True, "nope", {}, [[0]], 1.5])
def test_anything_but_one_price_type_with_deals_is_refused(value: Any) -> None:
    details = refused({} if value is None else {"priceTypes": value})
    assert details["field"] == "priceTypes" and "18 BUY_BOX_SHIPPING" in details["allowed"]


def test_the_price_types_are_the_documented_ones() -> None:
    assert sorted(deals.PRICE_TYPES) == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 18, 19, 20, 21, 22, 32, 33]


def test_master_switches_follow_ranges_and_filters() -> None:
    assert "isRangeEnabled" not in sent() and "isFilterEnabled" not in sent()
    assert sent(currentRange=[0, 999])["isRangeEnabled"] is True
    assert sent(salesRankRange=[5000, -1])["isRangeEnabled"] is True
    for name, value in {"isLowest": True, "titleSearch": "a", "brand": ["x"], "minRating": 40}.items():
        assert sent(**{name: value})["isFilterEnabled"] is True
    assert "isFilterEnabled" not in sent(isLowest=False, minRating=-1, includeCategories=[1], dateRange=2)


def test_a_switch_set_by_hand_stays_and_a_contradiction_is_told() -> None:
    checked = deals.check(
        {"priceTypes": [1], "isRangeEnabled": False, "deltaRange": [0, 999], "isFilterEnabled": True}, 1
    )
    assert checked.selection["isRangeEnabled"] is False and checked.selection["isFilterEnabled"] is True
    assert (
        len(checked.notes) == 1 and "isRangeEnabled is false" in checked.notes[0] and "deltaRange" in checked.notes[0]
    )


def test_what_means_nothing_is_left_out() -> None:
    assert sent(titleSearch=None, brand=[], currentRange=None, titleSearch2=None) == {"domainId": 1, "priceTypes": [1]}
    assert sent(titleSearch="") == {"domainId": 1, "priceTypes": [1]}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"page": 67}, "page"),
        ({"page": -1}, "page"),
        ({"dateRange": 4}, "dateRange"),
        ({"sortType": -1}, "sortType"),
        ({"sortType": 0}, "sortType"),
        ({"currentRange": [5, 1]}, "currentRange"),
        ({"currentRange": [5, -1]}, "currentRange"),
        ({"currentRange": [5]}, "currentRange"),
        ({"currentRange": 5}, "currentRange"),
        ({"currentRange": [1.5, 2]}, "currentRange"),
        ({"deltaRange": ["0", "9"]}, "deltaRange"),
        ({"includeCategories": list(range(1, 502))}, "includeCategories"),
        ({"includeCategories": [5], "excludeCategories": ["5"]}, "excludeCategories"),
        ({"isLowest": 1}, "isLowest"),
        ({"isLowest": True, "isRisers": True}, "isLowest"),
        ({"mustHaveAmazonOffer": True, "mustNotHaveAmazonOffer": True}, "mustHaveAmazonOffer"),
        ({"minRating": 51}, "minRating"),
        ({"warehouseConditions": [24]}, "warehouseConditions"),
        ({"titleSearch": " ".join("w" for _ in range(51))}, "titleSearch"),
        ({"brand": [f"{i}" for i in range(51)]}, "brand"),
        ({"isLowestt": True}, "isLowestt"),
        ({"deltaPercent": [1, 2]}, "deltaPercent"),
        ({"domainId": 3}, "domainId"),
    ],
)
def test_wrong_fields_are_named(given: dict[str, Any], field: str) -> None:
    details = refused({"priceTypes": [1]} | given)
    assert details["field"] == field
    if field in {"isLowestt", "deltaPercent"}:
        assert details["did_you_mean"]


def test_percent_below_keepas_least_is_told_not_refused() -> None:
    def notes(types: int, low: int) -> int:
        return len(deals.check({"priceTypes": types, "deltaPercentRange": [low, 100]}, 1).notes)

    assert (notes(1, 9), notes(1, 10), notes(3, 79), notes(3, 80)) == (1, 0, 1, 0)


DEAL = {
    "asin": "B000000001", "title": "Sample", "rootCat": UNKNOWN, "categories": [1000, UNKNOWN],
    "image": [97, 98, 46, 106, 112, 103], "current": [1999, -1, -1, 512], "currentSince": [6838744, 0],
    "delta": [[300, -2, -2, -40], [-310, 0]], "deltaPercent": [[13, -2], [-13, 0]],
    "avg": [[2299, -2, -2, 472], [1689, 1999]], "deltaLast": [300, 0], "creationDate": 6838744, "lastUpdate": 6838744,
    "lightningEnd": 0, "warehouseCondition": 3, "warehouseConditionComment": None,
}  # fmt: skip


def test_a_deal_is_told_by_interval_and_type() -> None:
    told = decode_deal(DEAL, US)
    assert told["image"] == "ab.jpg" and told["root_category"] is None and told["categories"] == [1000]
    assert told["current"] == {"AMAZON": "19.99", "NEW": None, "USED": None, "SALES": 512}
    assert told["current_since"] == {"AMAZON": "2024-01-02T03:04:00Z", "NEW": None}
    assert told["delta"]["day"] == {"AMAZON": "3.00", "NEW": None, "USED": None, "SALES": -40}
    assert told["delta"]["week"] == {"AMAZON": "-3.10", "NEW": "0.00"}
    assert told["delta_percent"]["week"] == {"AMAZON": -13, "NEW": 0}
    assert told["avg"]["day"]["AMAZON"] == "22.99" and told["avg"]["day"]["NEW"] is None
    assert told["lightning_end"] is None and told["warehouse_condition"] == "very_good"
    assert decode_deal(DEAL, JP)["delta"]["week"]["AMAZON"] == "-310"
    row = deal_row(DEAL, US, 0, "week")
    assert (row["current"], row["avg"], row["delta"], row["delta_percent"]) == ("19.99", "16.89", "-3.10", -13)


def test_tables_by_type_are_recognised_by_their_shape() -> None:
    by_interval = [[i * 100 + t for t in range(36)] for i in range(4)]
    by_type = [[i * 100 + t for i in range(4)] for t in range(36)]
    assert decode_deal({"delta": by_interval}, US)["delta"] == decode_deal({"delta": by_type}, US)["delta"]
    assert decode_deal({"deltaPercent": by_type}, US)["delta_percent"]["month"]["NEW"] == 201


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(DEAL)), odd), st.integers(0, 40))
def test_odd_deals_never_break(deal: dict[str, Any], index: int) -> None:
    assert decode_deal(deal, US)["asin"] == deal.get("asin")
    assert set(deal_row(deal, US, index, "day")) >= {"asin", "current"}
    assert decode_deal(None, US) == {}


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from([*deals.FIELDS, *deals.OWN_CHECKS, "x"]), odd))
def test_odd_selections_are_refused_and_never_break(selection: dict[str, Any]) -> None:
    try:
        checked = deals.check(selection, 1)
    except KeepaCliError as error:
        assert error.details["errors"]
    else:
        assert checked.selection["domainId"] == 1 and len(checked.selection["priceTypes"]) == 1

"""Deals against a scripted Keepa."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.remote import BUCKET, call, refusal
from tests.support.scripted_server import ScriptedServer

NAME = "deals.query"
DEAL = {
    "asin": "B000000001", "title": "Kettle", "rootCat": 900, "categories": [1000], "image": [97, 46, 106],
    "current": [-1, 1999], "currentSince": [0, 6838744], "delta": [[-2, 300], [-2, 500]],
    "deltaPercent": [[-2, 13], [-2, 20]], "avg": [[-2, 2299], [-2, 2499]], "deltaLast": [0, 300],
    "creationDate": 6838744, "lastUpdate": 6838744, "lightningEnd": 0, "warehouseCondition": 0,
    "warehouseConditionComment": None,
}  # fmt: skip


def answer(*deals: dict[str, Any]) -> dict[str, Any]:
    found = {"dr": list(deals), "drDateIndex": [], "categoryIds": [900], "categoryNames": ["K"], "categoryCount": [1]}
    return BUCKET | {"deals": found, "dealsCached": False, "tokensConsumed": 5}


def selection(home: Path, **params: Any) -> dict[str, Any]:
    result = call(NAME, home, params, dry_run=True)
    assert result["ok"], result["error"]
    assert set(result["request"]["query"]) == {"selection"}
    found: dict[str, Any] = json.loads(result["request"]["query"]["selection"])
    return found


def test_every_option_is_a_field_of_the_selection(home: Path) -> None:
    assert selection(
        home, price_type="buy_box_shipping", domain="DE", date_range="90days", sort="-percent", category=[1],
        not_category=[2], current="..5000", delta="100..", delta_percent="30..80", delta_last="1..2",
        sales_rank="1..5000", title="kettle", brand=["a"], min_rating=40, lowest=True, lowest90=True,
        back_in_stock=False, out_of_stock=True, has_reviews=True, no_adult=True, page=2,
    ) == {
        "priceTypes": [18], "domainId": 3, "dateRange": 3, "sortType": -4, "includeCategories": [1],
        "excludeCategories": [2], "currentRange": [0, 5000], "deltaRange": [100, 2147483647],
        "deltaPercentRange": [30, 80], "deltaLastRange": [1, 2], "salesRankRange": [1, 5000], "titleSearch": "kettle",
        "brand": ["a"], "minRating": 40, "isLowest": True, "isLowest90": True, "isBackInStock": False,
        "isOutOfStock": True, "hasReviews": True, "filterErotic": True, "page": 2, "isRangeEnabled": True,
        "isFilterEnabled": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("params", "number"), [({}, 1), ({"selection": {"domainId": 3}}, 3), ({"domain": "JP"}, 5), ({"domain": 2}, 2)]
)
def test_the_marketplace_goes_into_the_selection(home: Path, params: dict[str, Any], number: int) -> None:
    assert selection(home, price_type="NEW", **params)["domainId"] == number


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "priceTypes"),
        ({"selection": {"priceTypes": [0, 1]}}, "priceTypes"),
        ({"selection": {"priceTypes": [11]}}, "priceTypes"),
        ({"price_type": "RATING"}, "price_type"),
        ({"price_type": 4}, "price_type"),
        ({"selection": "[]"}, "selection"),
        ({"price_type": "NEW", "domain": "DE", "selection": {"domainId": 1}}, "domainId"),
        ({"price_type": "NEW", "selection": {"domainId": 7}}, "domain"),
        ({"price_type": "NEW", "domain": "BR"}, "domain"),
        ({"price_type": "NEW", "date_range": "year"}, "date_range"),
        ({"price_type": "NEW", "sort": "-age"}, "sort"),
        ({"price_type": "NEW", "sort": "5"}, "sort"),
        ({"price_type": "NEW", "page": 67}, "page"),
        ({"price_type": "NEW", "min_rating": 99}, "min_rating"),
        ({"price_type": "NEW", "delta": "9..1"}, "delta"),
        ({"price_type": "NEW", "category": list(range(501))}, "category"),
        ({"price_type": "NEW", "back_in_stock": True, "out_of_stock": True}, "isBackInStock"),
        ({"price_type": "NEW", "selection": {"islowest": True}}, "islowest"),
    ],
)
def test_bad_input_is_refused_before_a_token_is_spent(home: Path, params: dict[str, Any], field: str) -> None:
    with ScriptedServer([{"json": BUCKET}]) as server:
        error = refusal(call(NAME, home, params, server, yes=True))
        assert error["kind"] == "invalid_arguments" and error["details"]["field"] == field and not server.seen
        assert "allowed" in error["details"] or "value" in error["details"]


def test_deals_are_listed_for_the_type_and_interval_asked(home: Path) -> None:
    with ScriptedServer([{"json": answer(DEAL)}]) as server:
        result = call(NAME, home, {"price_type": "NEW", "date_range": "week", "domain": "GB"}, server)
        assert result["ok"] and result["warnings"] == [] and server.seen[0].path == "/deal"
    data = result["data"]
    assert (data["price_type"], data["interval"], data["currency"], data["count"], data["more"]) == (
        "NEW", "week", "GBP", 1, False,
    )  # fmt: skip
    assert data["items"][0] == {
        "asin": "B000000001", "current": "19.99", "avg": "24.99", "delta": "5.00", "delta_percent": 20,
        "since": "2024-01-02T03:04:00Z", "root_category": 900, "title": "Kettle",
    }  # fmt: skip
    assert data["body"]["deals"]["dr"] == [DEAL]


def test_a_full_page_says_that_there_is_more(home: Path) -> None:
    with ScriptedServer([{"json": answer(*[DEAL] * 150)}]) as server:
        assert call(NAME, home, {"price_type": 1}, server)["data"]["more"] is True


@pytest.mark.parametrize("nothing", [{"deals": None}, {"deals": {"dr": None}}, {"deals": {"dr": []}}, {}])
def test_no_deal_is_a_success(home: Path, nothing: dict[str, Any]) -> None:
    with ScriptedServer([{"json": BUCKET | nothing}]) as server:
        assert call(NAME, home, {"price_type": "NEW"}, server)["data"]["count"] == 0


def test_a_deal_without_asin_breaks_the_contract(home: Path) -> None:
    with ScriptedServer([{"json": answer({"title": "a"})}]) as server:
        error = refusal(call(NAME, home, {"price_type": "NEW"}, server))
    assert error["kind"] == "contract_error" and error["details"]["errors"][0]["path"] == "$.deals.dr[0].asin"


def test_a_contradicted_switch_is_told(home: Path) -> None:
    params = {"selection": {"priceTypes": 0, "isFilterEnabled": False, "isLowest": True}}
    assert "isFilterEnabled is false" in call(NAME, home, params, dry_run=True)["warnings"][0]["message"]


def test_five_hundred_categories_are_posted(home: Path) -> None:
    with ScriptedServer([{"json": answer()}]) as server:
        assert call(NAME, home, {"price_type": "NEW", "category": list(range(1, 501))}, server)["ok"]
        seen = server.seen[0]
        assert seen.method == "POST" and len(json.loads(seen.body)["includeCategories"]) == 500
        assert [name for name, _ in seen.query] == ["key"]


def test_a_body_in_a_file_is_counted_by_its_deals(home: Path) -> None:
    with ScriptedServer([{"json": answer(*[DEAL] * 3)}]) as server:
        result = call(NAME, home, {"price_type": 1}, server, out=home / "work" / "deals.json")
    assert result["data"]["output"]["result_count"] == 3 and "body" not in result["data"]

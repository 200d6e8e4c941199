"""Sellers and the seller finder against a scripted Keepa."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.remote import BUCKET, call, refusal
from tests.support.scripted_server import ScriptedServer

GET, QUERY = "sellers.get", "sellers.query"
ONE, TWO = "A0FAKESELLER1", "A0FAKESELLER2"
SELLER = {
    "domainId": 1, "sellerId": TWO, "sellerName": "Fake", "trackedSince": 6838744, "lastUpdate": 6838744,
    "csv": [[1, 97], [1, 120]], "hasFBA": True, "totalStorefrontAsins": [8070000, 35],
}  # fmt: skip


def test_ids_are_asked_once_each_in_upper_case(home: Path) -> None:
    result = call(GET, home, {"seller": [ONE.lower(), TWO, ONE], "domain": "DE"}, dry_run=True)
    assert result["request"]["query"] == {"domain": "3", "seller": f"{ONE},{TWO}"}
    assert result["token_bucket"]["estimated"]["worst_case_tokens"] == 2
    alone = call(GET, home, {"seller": ONE, "storefront": True}, dry_run=True)
    assert alone["request"]["query"]["storefront"] == "1"
    assert alone["token_bucket"]["estimated"]["worst_case_tokens"] == 10


def test_every_seller_asked_gets_a_row_in_order(home: Path) -> None:
    body = BUCKET | {"sellers": {TWO: SELLER}, "error": {"type": "invalidParameter", "message": "unknown seller"}}
    with ScriptedServer([{"json": body}]) as server:
        result = call(GET, home, {"seller": [ONE, TWO]}, server)
    rows = result["data"]["items"]
    assert [(r["asked"], r["status"]) for r in rows] == [(ONE, "not_found"), (TWO, "found")]
    assert (rows[1]["name"], rows[1]["rating_percent"], rows[1]["storefront_asins"]) == ("Fake", 97, 35)
    assert result["data"]["count"] == 1 and result["data"]["body"]["sellers"] == {TWO: SELLER}
    assert [(w["code"], w["unanswered"]) for w in result["warnings"]] == [("partial", [ONE])]


@pytest.mark.parametrize("nothing", [{"sellers": None}, {"sellers": {}}, {}, {"sellers": {ONE: None}}])
def test_an_unknown_seller_is_not_found(home: Path, nothing: dict[str, Any]) -> None:
    with ScriptedServer([{"json": BUCKET | nothing}]) as server:
        assert call(GET, home, {"seller": ONE}, server)["data"]["items"] == [{"asked": ONE, "status": "not_found"}]


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "seller"),
        ({"seller": []}, "seller"),
        ({"seller": ["A1"]}, "seller"),
        ({"seller": ["A" * 22]}, "seller"),
        ({"seller": ["A0FAKE-SELLER"]}, "seller"),
        ({"seller": ["A0FAKESELLERß"]}, "seller"),
        ({"seller": [5]}, "seller"),
        ({"seller": [f"A{i:011d}" for i in range(101)]}, "seller"),
        ({"seller": [ONE, TWO], "storefront": True}, "storefront"),
        ({"seller": ONE, "domain": "BR"}, "domain"),
    ],
)
def test_bad_ids_are_refused_before_a_token_is_spent(home: Path, params: dict[str, Any], field: str) -> None:
    with ScriptedServer([{"json": BUCKET}]) as server:
        error = refusal(call(GET, home, params, server, yes=True))
        assert error["kind"] == "invalid_arguments" and error["details"]["field"] == field and not server.seen


def test_every_option_of_the_seller_finder_is_a_field(home: Path) -> None:
    result = call(
        QUERY,
        home,
        {
            "search": "tea", "name": "shop", "business_name": "ltd", "country": ["CN", "HK"], "rating": "90..",
            "rating_count": "..500", "storefront": "10..20", "brand": ["a"], "root_category": [1],
            "competitor": [ONE.lower()], "sort": ["currentRating:desc"], "page": 1, "per_page": 100,
        },
        dry_run=True,
    )  # fmt: skip
    assert result["request"]["query"]["domain"] == "1"
    assert json.loads(result["request"]["query"]["selection"]) == {
        "search": "tea", "sellerName": "shop", "businessName": "ltd", "addressCountry": ["CN", "HK"],
        "currentRating_gte": 90, "currentRatingCount_lte": 500, "totalStorefrontAsins_gte": 10,
        "totalStorefrontAsins_lte": 20, "brands": ["a"], "rootCategories_include": [1], "competitorSellerIds": [ONE],
        "sort": [["currentRating", "desc"]], "page": 1, "perPage": 100,
    }  # fmt: skip


@pytest.mark.parametrize(("per_page", "tokens"), [(None, 11), (0, 11), (50, 11), (101, 12), (10_000, 110)])
def test_the_cost_of_the_seller_finder_follows_the_page(home: Path, per_page: int | None, tokens: int) -> None:
    params = {"search": "a"} | ({} if per_page is None else {"per_page": per_page})
    cost = call(QUERY, home, params, dry_run=True)["token_bucket"]["estimated"]
    assert cost["worst_case_tokens"] == tokens and cost["requires_confirmation"]


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "selection"),
        ({"search": "a", "per_page": 20}, "perPage"),
        ({"search": "a", "page": 100, "per_page": 100}, "page"),
        ({"rating": "..101"}, "currentRating_lte"),
        ({"selection": {"sellername": "x"}}, "sellername"),
        ({"search": "a", "domain": "BR"}, "domain"),
    ],
)
def test_bad_seller_selections_are_refused(home: Path, params: dict[str, Any], field: str) -> None:
    error = refusal(call(QUERY, home, params, dry_run=True))
    assert error["kind"] == "invalid_arguments" and error["details"]["field"] == field


def test_found_ids_are_counted(home: Path) -> None:
    body = BUCKET | {"sellerIdList": [ONE, TWO], "totalResults": 2}
    with ScriptedServer([{"json": body}]) as server:
        data = call(QUERY, home, {"search": "a"}, server, yes=True)["data"]
    assert (data["count"], data["total_results"], data["body"]["sellerIdList"]) == (2, 2, [ONE, TWO])


def test_a_body_in_a_file_is_counted_by_its_sellers(home: Path) -> None:
    with ScriptedServer([{"json": BUCKET | {"sellers": {TWO: SELLER}}}]) as server:
        result = call(GET, home, {"seller": TWO}, server, out=home / "work" / "sellers.json")
    assert result["data"]["output"]["result_count"] == 1

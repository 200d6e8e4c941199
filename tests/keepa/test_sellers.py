"""Seller finder rules, offers, and containers that may be null."""

from __future__ import annotations

from typing import Any

import pytest

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.keepa import containers, offers, sellerfinder
from keepa_cli.keepa.domains import DOMAINS

GB = DOMAINS[2]


@pytest.mark.parametrize(
    "selection",
    [
        {"search": "acme"},
        {"addressCountry": ["CN", "HK"], "currentRating_gte": 90, "currentRating_lte": 100},
        {"brands": ["a", "b"], "minMatch": {"brands": 2}, "perPage": 0, "page": 99},
        {"brands": "a", "perPage": 10_000},
        {"totalStorefrontAsins_gte": 10, "sort": [["currentRatingCount", "desc"]]},
    ],
)
def test_seller_selections_are_sent_as_given(selection: dict[str, Any]) -> None:
    checked = sellerfinder.check(selection)
    assert checked.selection == selection and checked.notes == ()


def test_fields_that_nobody_described_are_sent_with_a_note() -> None:
    checked = sellerfinder.check({"hasFBA": True, "weird": {"a": 1}})
    assert checked.selection == {"hasFBA": True, "weird": {"a": 1}} and len(checked.notes) == 2


@pytest.mark.parametrize(
    ("selection", "field"),
    [
        ({}, "selection"),
        ({"page": 0, "perPage": 50}, "selection"),
        ({"brand": ["x"]}, "brand"),
        ({"currentRatng_gte": 5}, "currentRatng_gte"),
        ({"novel": None}, "novel"),
        ({"currentRating_gte": 101}, "currentRating_gte"),
        ({"currentRating_gte": 90, "currentRating_lte": 80}, "currentRating_gte"),
        ({"search": "a", "perPage": 20}, "perPage"),
        ({"search": "a", "perPage": 10_001}, "perPage"),
        ({"search": "a", "perPage": 100, "page": 100}, "page"),
        ({"search": "a", "page": -1}, "page"),
        ({"search": "a", "sort": [["x"]]}, "sort"),
        ({"brands": ["a"], "minMatch": {"brands": 2}}, "minMatch.brands"),
        ({"search": 5}, "search"),
        ({"brands": ["x"] * 51}, "brands"),
    ],
)
def test_wrong_seller_selections_are_refused(selection: dict[str, Any], field: str) -> None:
    with pytest.raises(KeepaCliError) as caught:
        sellerfinder.check(selection)
    assert field in [p["field"] for p in caught.value.details["errors"]]


@pytest.mark.parametrize(("per_page", "results"), [(None, 50), (0, 100), (50, 50), (10_000, 10_000), ("x", 50)])
def test_results_that_a_seller_page_can_hold(per_page: Any, results: int) -> None:
    assert sellerfinder.results_of({"perPage": per_page}) == results


def offer(number: int, *csv: int, **more: Any) -> dict[str, Any]:
    return {"offerId": number, "offerCSV": list(csv)} | more


def test_live_offers_come_in_amazons_order_and_nothing_else() -> None:
    listed = [offer(n, 6838744, 1000 + n, 0) for n in range(4)]
    product = {"offers": listed, "liveOffersOrder": [3, 0, 3, 9, -1, None]}
    assert [o["offerId"] for o in offers.live_offers(product, GB)] == [3, 0]
    assert offers.live_offers({"offers": listed, "liveOffersOrder": None}, GB) == []
    assert offers.live_offers({"offers": None, "liveOffersOrder": [0]}, GB) == []


def test_an_offer_is_told_without_sentinels() -> None:
    told = offers.current_offer(
        offer(1, 6838744, 1899, 499, sellerId="A1", condition=4, lastSeen=6838744, stockCSV=[1, 7], coupon=-5), GB
    )
    assert (told["price"], told["shipping"], told["total"], told["currency"]) == ("18.99", "4.99", "23.98", "GBP")
    assert (told["condition"], told["stock"], told["coupon"]) == ("used_good", 7, {"percent": 5})
    gone = offers.current_offer(offer(2, 6838744, 1899, 499, 6838745, -1, -1), GB)
    assert (gone["state"], gone["price"], gone["total"]) == ("out_of_stock", None, None)
    assert offers.current_offer(None, GB)["state"] == "no_data"
    assert offers.current_offer(offer(3, 1, 2), GB)["price"] is None
    assert len(offers.history(offer(1, 1, 2, 3, 4, 5, 6), GB)) == 2


@pytest.mark.parametrize(
    "empty", [{}, {"sellers": None, "bestSellersList": None, "categories": None, "asinList": None}]
)
def test_nothing_found_reads_as_nothing(empty: dict[str, Any]) -> None:
    assert containers.sellers(empty, ["A1"]) == {"A1": None}
    assert containers.best_sellers(empty)["asins"] == [] == containers.categories(empty) == containers.asins(empty)


def test_a_seller_tells_public_facts_only() -> None:
    raw = {"sellerId": "A1", "sellerName": "Shop", "csv": [[1, 97], [1, 120]], "email": "a@b.example", "address": ["x"],
           "totalStorefrontAsins": [8070000, 35], "asinList": ["B0"]}  # fmt: skip
    told = containers.seller(raw)
    assert (told["rating_percent"], told["rating_count"], told["storefront_asins"], told["asins"]) == (97, 120, 35, 1)
    assert not {"email", "address"} & set(told) and "example" not in str(told)

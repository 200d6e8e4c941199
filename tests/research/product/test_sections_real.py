"""The sections of the real product say what Keepa says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.paths import parse
from keepa_cli.keepa.csvtypes import BY_NAME
from keepa_cli.keepa.money import amount
from keepa_cli.research.product.offers import shares
from keepa_cli.research.product.pricing import ALWAYS
from tests.support.products import look, real, views


@pytest.fixture
def body(shared_data: Path) -> dict[str, Any]:
    return real(shared_data)


def test_current_prices_are_keepas(body: dict[str, Any]) -> None:
    pricing, current = look(body).section("pricing"), body["products"][0]["stats"]["current"]
    known = {name: pricing[name] for name in ALWAYS if pricing[name]}
    assert set(known) == {"new", "buy_box", "list_price"}
    for name, fact in known.items():
        told = current[BY_NAME[ALWAYS[name]].index]
        assert (fact["raw"], fact["currency"]) == (told, "USD")
        assert fact["amount"] == f"{told // 100}.{told % 100:02}"
        assert fact["raw"] in parse(fact["evidence_path"]).get(body)
    assert {name for name, why in pricing["absent"].items() if why == "none"} == {"amazon", "used", "coupon"}
    assert pricing["buy_box"]["shipping"]["amount"] == "0.00"


def test_extremes_are_those_of_all_time(body: dict[str, Any]) -> None:
    pricing, stats = look(body).section("pricing"), body["products"][0]["stats"]
    for prefix, slot in (("", 1), ("buy_box_", 18)):
        assert pricing[f"{prefix}lowest_ever"]["raw"] == stats["min"][slot][1]
        assert pricing[f"{prefix}highest_ever"]["raw"] == stats["max"][slot][1]
    assert pricing["lowest_ever"]["basis"] == "incl_shipping"
    assert pricing["highest_ever"]["basis"] == "excl_shipping", "a price before Keepa counted shipping"


def test_coupons_are_read_as_triples(body: dict[str, Any]) -> None:
    history = look(body).section("pricing")["coupon_history"]
    assert history["event_count"] == 12
    assert history["period_count"] == 6
    assert history["last_ended_at"].startswith("2026-01-12")
    assert history["newest"][0]["one_time"] == {"kind": "percent", "percent": 10}
    assert history["newest"][-1]["one_time"] == {"kind": "percent", "percent": 5}


@pytest.mark.parametrize("which", [0, 1])
def test_demand_takes_keepas_figures(shared_data: Path, which: int) -> None:
    body = real(shared_data, which)
    demand, stats = look(body).section("demand"), body["products"][0]["stats"]
    assert demand["sales_rank"]["value"] == stats["current"][3]
    assert demand["sales_rank"]["category_name"] == "Beauty & Personal Care"
    assert demand["category_ranks"][0]["category_name"] == "Serums"
    assert [demand["rank_drops"][d] for d in ("30", "90", "180", "365")] == [
        stats[f"salesRankDrops{d}"] for d in (30, 90, 180, 365)
    ]
    assert demand["rank_drops"]["method"] == "keepa"
    assert (demand["monthly_sold"]["value"], demand["monthly_sold"]["confidence"]) == (100000, "lower_bound")
    assert (demand["monthly_sold_change_90d"]["value"], demand["monthly_sold_change_90d"]["direction"]) == (
        stats["deltaPercent90_monthlySold"],
        "sales_rose",
    )


def test_without_stats_the_figures_are_recomputed_and_drops_are_called_an_estimate(body: dict[str, Any]) -> None:
    told = body["products"][0].pop("stats")
    demand = look(body).section("demand")
    assert demand["monthly_sold_change_90d"]["value"] == told["deltaPercent90_monthlySold"]
    assert demand["rank_drops"]["method"] == "estimate"
    for days in ("30", "90", "180", "365"):
        assert abs(demand["rank_drops"][days] - told[f"salesRankDrops{days}"]) <= 1


def test_rating_and_reviews(body: dict[str, Any], shared_data: Path) -> None:
    rating = look(body).section("rating")
    assert (rating["rating"]["value"], rating["rating"]["raw"]) == ("4.3", 43)
    assert rating["review_count"]["value"] == 11598
    assert rating["written_review_count"]["value"] == body["products"][0]["reviews"]["reviewCount"][-1]
    unasked = look(real(shared_data, 1)).section("rating")
    assert unasked["absent"] == dict.fromkeys(("rating", "review_count", "written_review_count"), "not_requested")


def test_shares_of_the_buy_box_are_keepas(body: dict[str, Any]) -> None:
    told = body["products"][0]["stats"]["buyBoxStats"]
    found = dict(shares(look(body).subject, 180))
    assert set(found) == set(told)
    for seller, figures in told.items():
        assert abs(found[seller]["percentageWon"] - figures["percentageWon"]) <= 0.05
        assert found[seller]["avgPrice"] == figures["avgPrice"]


def test_offers_and_the_holder_of_the_buy_box(body: dict[str, Any]) -> None:
    offers, stats = look(body).section("offers"), body["products"][0]["stats"]
    assert offers["buy_box"]["seller_id"] == stats["buyBoxSellerId"]
    assert (offers["buy_box"]["holder"], offers["buy_box"]["is_fba"]) == ("seller", True)
    assert offers["total_offer_count"]["value"] == stats["totalOfferCount"]
    assert [offers[f"new{kind}_offer_count"]["value"] for kind in ("", "_fba", "_fbm")] == [
        stats["current"][i] for i in (11, 34, 35)
    ]
    assert offers["absent"]["live"] == "not_requested"
    shown = offers["buy_box_share"]
    assert shown[0]["seller_id"] == stats["buyBoxSellerId"]
    assert [s["percentage_won"] for s in shown] == sorted((s["percentage_won"] for s in shown), reverse=True)


def test_media_content_and_logistics(body: dict[str, Any]) -> None:
    product, at = body["products"][0], look(body)
    assert at.section("media")["images"][0] == "https://m.media-amazon.com/images/I/614vlOIc8YL.jpg"
    assert at.section("media")["image_count"] == len(product["images"])
    assert (
        at.section("media")["video_count"]
        == len(product["videos"])
        == sum(at.section("media")["videos_by_creator"].values())
    )
    assert at.section("aplus")["module_count"] == 7
    assert at.section("content")["features"] == product["features"]
    logistics = at.section("logistics")
    assert logistics["package"] == {"length_mm": 104, "width_mm": 55, "height_mm": 35, "weight_g": 141}
    assert logistics["fba_fees"]["pick_and_pack"]["raw"] == product["fbaFees"]["pickAndPackFee"]
    assert logistics["referral_fee_percentage"]["value"] == 15.01
    assert logistics["availability_amazon"] == "no_amazon_offer"


def test_what_was_not_asked_is_not_called_missing(shared_data: Path) -> None:
    (view,) = views(real(shared_data, 1), "audit", fields=["pricing", "offers", "provenance"])
    assert view["pricing"]["absent"]["buy_box"] == "not_requested"
    assert view["offers"]["absent"]["buy_box"] == "not_requested"
    assert view["provenance"]["not_requested"] == ["offers", "buybox", "rating"]


def test_amounts_have_no_float_cents(body: dict[str, Any]) -> None:
    at = look(body)
    fee = at.section("logistics")["fba_fees"]["pick_and_pack"]
    assert fee["amount"] == amount(409, at.subject.domain) == "4.09"

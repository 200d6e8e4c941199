"""What a request unlocks, what is null and what is left out."""

from __future__ import annotations

from typing import Any

import pytest

from keepa_cli.keepa.clock import DAY
from keepa_cli.sandbox.catalogue.gates import HISTORY_FIELDS, since_start
from tests.sandbox.test_catalogue import NOW, product

ALWAYS = """asin author availabilityAmazon binding brand buyBoxEligibleOfferCounts buyBoxSellerIdHistory categories
categoryTree color coupon csv description domainId eanList ebayListingIds edition fbaFees features format
frequentlyBoughtTogether g hasReviews images isAdultProduct isEligibleForSuperSaverShipping isEligibleForTradeIn
isHeatSensitive isRedirectASIN isSNS itemHeight itemLength itemTypeKeyword itemWeight itemWidth languages lastEbayUpdate
lastPriceChange lastRatingUpdate lastSoldUpdate lastUpdate launchpad listedSince liveOffersOrder manufacturer model
monthlySold monthlySoldHistory numberOfItems numberOfPages offersSuccessful packageHeight packageLength packageQuantity
packageWeight packageWidth parentAsin partNumber productGroup productType promotions publicationDate referralFeePercent
referralFeePercentage releaseDate rootCategory salesRankDisplayGroup salesRankReference salesRankReferenceHistory
salesRanks size stats title trackingSince type upcList urlSlug variations websiteDisplayGroup
websiteDisplayGroupName""".split()  # noqa: SIM905
RICH = "B0LARGES01"


@pytest.mark.parametrize("asin", ["B0AMAZON01", "B0SINGLE01", "B0EBOOKS01", "B0NODATA01", "ZZZZZZZZZZ"])
def test_eighty_keys_are_always_there(asin: str) -> None:
    assert len(ALWAYS) == 80
    assert not set(ALWAYS) - product(asin).keys()


@pytest.mark.parametrize(
    ("asked", "open_slots"),
    [
        ({}, set()),
        ({"rating": True}, {16, 17}),
        ({"buybox": True}, {15, 18, 32}),
        ({"offers": 20}, {7, 9, 10, 15, 16, 17, 18, 20, 32}),
    ],
)
def test_series_are_locked_behind_their_parameter(asked: dict[str, Any], open_slots: set[int]) -> None:
    found = product(RICH, **asked)
    gated = {7, 9, 10, *range(15, 28), 31, 32}
    assert {i for i in gated if found["csv"][i] is not None} == open_slots
    assert all(found["csv"][i] for i in (0, 1, 2, 3, 4, 8, 11, 12, 33, 34, 35))


def test_without_options_fields_are_null_or_left_out_as_keepa_does() -> None:
    found = product("B0SINGLE01")
    assert {
        name: found[name] for name in ("buyBoxSellerIdHistory", "liveOffersOrder", "stats", "coupon", "variations")
    } == {
        "buyBoxSellerIdHistory": None,
        "liveOffersOrder": None,
        "stats": None,
        "coupon": None,
        "variations": None,
    }
    assert found["offersSuccessful"] is False
    left_out = {"reviews", "offers", "buyBoxUsedHistory", "videos", "aPlus", "couponHistory", "historicalVariations"}
    assert not left_out & found.keys()


def test_the_buy_box_is_minus_two_and_null_until_asked_for() -> None:
    closed = product(with_stats=True, stats=90)["stats"]
    assert (closed["buyBoxPrice"], closed["buyBoxShipping"], closed["buyBoxSellerId"]) == (-2, -2, None)
    assert (closed["retrievedOfferCount"], closed["offerCountFBA"], closed["buyBoxIsFBA"]) == (-2, -2, None)
    assert "buyBoxStats" not in closed and closed["current"][18] == -1
    shown = product(with_stats=True, stats=90, buybox=True)
    opened = shown["stats"]
    assert opened["buyBoxPrice"] == shown["csv"][18][-2]
    assert opened["buyBoxSellerId"] == shown["buyBoxSellerIdHistory"][-1]
    assert opened["buyBoxStats"] and opened["retrievedOfferCount"] == -2
    assert all(isinstance(entry, str) for entry in shown["buyBoxSellerIdHistory"])


def test_ratings_come_with_reviews() -> None:
    found = product(rating=True, with_stats=True, stats=90)
    assert 10 <= found["stats"]["current"][16] <= 50
    assert found["reviews"]["reviewCount"]
    assert product(with_stats=True, stats=90)["stats"]["current"][16] == -1


def test_offers_are_listed_with_their_live_ones_first_in_order() -> None:
    found = product(RICH, offers=20, with_stats=True, stats=90)
    live = found["liveOffersOrder"]
    assert found["offersSuccessful"] is True
    assert live == list(range(len(live))) and 0 < len(live) <= 20
    assert {o["lastSeen"] for o in found["offers"][: len(live)]} == {found["lastUpdate"]}
    assert found["stats"]["retrievedOfferCount"] == len(live)
    assert found["stats"]["offerCountFBA"] + found["stats"]["offerCountFBM"] == len(live)
    assert not any("stockCSV" in o for o in found["offers"])
    assert all("stockCSV" in o for o in product(RICH, offers=20, stock=True)["offers"])


def test_only_live_offers_drops_the_rest() -> None:
    for asin in (RICH, "B0COUPON01", "B0FAMILY01"):
        every, live = product(asin, offers=100), product(asin, offers=100, only_live_offers=True)
        assert len(live["offers"]) == len(every["liveOffersOrder"])


def test_products_without_a_marketplace_have_no_offers() -> None:
    found = product("B0EBOOKS01", offers=20, with_stats=True, stats=90)
    assert found["offersSuccessful"] is False and "offers" not in found
    assert found["csv"][1] is None and found["csv"][3]


def test_history_0_leaves_the_histories_out_and_keeps_the_statistics() -> None:
    found = product(RICH, history=False, with_stats=True, stats=90, buybox=True, offers=20)
    assert not set(HISTORY_FIELDS) & found.keys()
    assert found["stats"] == product(RICH, with_stats=True, stats=90, buybox=True, offers=20)["stats"]


def test_a_point_on_the_edge_of_the_window_stays() -> None:
    assert since_start([2, 10, 4, 11, 6, 12], 2, 4) == [4, 11, 6, 12]
    assert since_start(["2", "A", "4", "B"], 2, 5) == []
    assert since_start(None, 2, 5) == []


def test_days_trims_every_history() -> None:
    start = NOW - 30 * DAY
    full, found = product(RICH, buybox=True), product(RICH, days=30, buybox=True)
    times = [t for row in found["csv"] if row for t in row[:1]]
    times += [row[0] for row in found["salesRanks"].values()]
    times += [int(found[name][0]) for name in ("buyBoxSellerIdHistory", "monthlySoldHistory") if found[name]]
    assert times and min(times) >= start
    kept = [(t, v) for t, v in zip(full["csv"][3][::2], full["csv"][3][1::2], strict=True) if t >= start]
    assert found["csv"][3] == [n for point in kept for n in point]
    assert found["stats"] is None


def test_videos_and_a_plus_are_sent_where_they_exist() -> None:
    asins = [f"B0{i:08d}" for i in range(20)]
    for asked, name in (("videos", "videos"), ("aplus", "aPlus")):
        with_it = [a for a in asins if name in product(a, **{asked: True})]
        assert 0 < len(with_it) < len(asins)
        assert name not in product(with_it[0])

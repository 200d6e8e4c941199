"""The invented products: valid series, the same for the same seed, with all that a reader of Keepa data must bear."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa.clock import DAY
from keepa_cli.keepa.contract import check
from keepa_cli.keepa.csvtypes import CSV_TYPES
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.keepa.stats import compute_stats
from keepa_cli.sandbox.catalogue import Catalogue, example_asin
from keepa_cli.sandbox.catalogue.catalogue import KEPT_MARKETS, Kept
from keepa_cli.sandbox.catalogue.options import Options
from keepa_cli.sandbox.catalogue.traits import SHOWN

NOW = 8_270_000
ALL = Options(
    with_stats=True,
    stats=180,
    offers=100,
    rating=True,
    buybox=True,
    stock=True,
    videos=True,
    aplus=True,
    historical_variations=True,
)
ASINS = st.text("ABCDEFGHIJ0123456789", min_size=8, max_size=8).map("B0".__add__)
OPTIONS = st.builds(
    Options,
    with_stats=st.booleans(),
    stats=st.one_of(st.integers(0, 2000), st.just((7_000_000, 8_000_000)), st.none()),
    update=st.integers(-1, 30),
    history=st.booleans(),
    days=st.one_of(st.none(), st.integers(1, 900)),
    offers=st.one_of(st.none(), st.integers(20, 100)),
    **{
        name: st.booleans()
        for name in ("only_live_offers", "rating", "buybox", "stock", "videos", "aplus", "historical_variations")
    },
)


def product(asin: str = "B0AMAZON01", domain: int = 1, now: int = NOW, seed: int = 1, **asked: Any) -> dict[str, Any]:
    return Catalogue(seed).product(asin, domain, Options(**asked), now)


def everything(asin: str, domain: int = 1, now: int = NOW) -> dict[str, Any]:
    return Catalogue(1).product(asin, domain, ALL, now)


def packed(found: dict[str, Any]) -> Iterator[tuple[str, int, list[Any], bool]]:
    """(name, stride, array, whether equal neighbours are wrong) of every history."""
    for kind, row in zip(CSV_TYPES, found["csv"], strict=True):
        if row is not None:
            yield kind.name, kind.stride, row, True
    for name, row in found["salesRanks"].items():
        yield f"salesRanks.{name}", 2, row, False
    strides = {"couponHistory": 3, "buyBoxUsedHistory": 4}
    for name in ("monthlySoldHistory", "couponHistory", "buyBoxSellerIdHistory", "buyBoxUsedHistory"):
        if found.get(name):
            yield name, strides.get(name, 2), found[name], True
    yield "salesRankReferenceHistory", 2, found["salesRankReferenceHistory"], True
    for offer in found.get("offers", ()):
        yield "offerCSV", 3, offer["offerCSV"], False


@settings(max_examples=40, deadline=None)
@given(ASINS, st.sampled_from(list(DOMAINS)), st.integers(8_000_000, 8_600_000).map(lambda t: t // 2 * 2))
def test_every_history_is_a_step_function_in_even_minutes(asin: str, domain: int, now: int) -> None:
    found = everything(asin, domain, now)
    assert len(found["csv"]) == 36
    for name, stride, row, changes in packed(found):
        assert row and len(row) % stride == 0, name
        times = [int(t) for t in row[::stride]]
        assert all(t % 2 == 0 for t in times), name
        assert all(a < b for a, b in pairwise(times)), name
        assert times[-1] <= now, name
        values = [tuple(row[i + 1 : i + stride]) for i in range(0, len(row), stride)]
        assert not changes or all(a != b for a, b in pairwise(values)), name
    for kind, row in zip(CSV_TYPES, found["csv"], strict=True):
        if row and kind.name != "EXTRA_INFO_UPDATES":
            assert min(row[1 :: kind.stride]) >= -1


@settings(max_examples=40, deadline=None)
@given(st.one_of(ASINS, st.sampled_from(list(SHOWN)), st.just("ZZZZZZZZZZ")), st.sampled_from(list(DOMAINS)), OPTIONS)
def test_every_product_keeps_the_contract_whatever_was_asked(asin: str, domain: int, asked: Options) -> None:
    found = Catalogue(1).product(asin, domain, asked, NOW)
    body = dict.fromkeys(("timestamp", "tokensLeft", "refillIn", "refillRate", "tokensConsumed"), 1)
    verdict = check("product", {**body, "tokenFlowReduction": 0.0, "processingTimeInMs": 0, "products": [found]})
    assert verdict.ok, verdict.errors
    assert not verdict.unknown_fields
    json.dumps(found, allow_nan=False)


def test_the_same_asin_is_the_same_product_in_any_order() -> None:
    asins = [f"B0{i:08d}" for i in range(12)]
    here, there = Catalogue(7), Catalogue(7)
    forth = [here.product(asin, domain, ALL, NOW) for asin in asins for domain in (1, 5)]
    back = [there.product(asin, domain, ALL, NOW) for asin in reversed(asins) for domain in (5, 1)]
    assert forth == back[::-1]


def test_another_seed_is_another_catalogue() -> None:
    asin = example_asin(1)
    assert product(asin, seed=1)["title"] != product(asin, seed=2)["title"]
    assert Catalogue(1).search(["kettle"]) != Catalogue(2).search(["kettle"])


def test_time_only_appends_to_histories() -> None:
    early, late = everything("B0LARGES01"), everything("B0LARGES01", now=NOW + 90 * DAY)
    for before, after in zip(early["csv"], late["csv"], strict=True):
        assert before is None or after[: len(before)] == before
    assert len(late["csv"][3]) > len(early["csv"][3])


@pytest.mark.parametrize("domain", [1, 5])
def test_prices_fit_the_currency(domain: int) -> None:
    prices = [v for v in product("B0AMAZON01", domain)["csv"][1][1::2] if v >= 0]
    assert all(price % 10 == (0 if domain == 5 else 9) for price in prices)


def test_some_products_are_sold_by_amazon_with_gaps_and_some_never() -> None:
    sold = product("B0AMAZON01")["csv"][0]
    assert -1 in sold[1::2] and max(sold[1::2]) > 0
    never = product("B0SINGLE01")
    assert never["csv"][0] == [never["trackingSince"], -1]


def test_new_is_amazons_price_where_that_is_lower() -> None:
    found = product("B0AMAZON01")
    amazon = dict(zip(found["csv"][0][::2], found["csv"][0][1::2], strict=True))
    assert set(amazon.values()) & set(found["csv"][1][1::2])


def test_the_shown_asins_show_what_they_are_for() -> None:
    assert len(product("B0SINGLE01")["csv"][1]) == 2
    assert product("B0FUTURE01")["listedSince"] > NOW
    nowhere = product("B0QMARKS01")
    assert nowhere["rootCategory"] == 9_223_372_036_854_775_807
    assert nowhere["categoryTree"] == [{"catId": 9_223_372_036_854_775_807, "name": "?"}]
    assert product("B0COUPON01")["couponHistory"]
    family = product("B0FAMILY01", historical_variations=True)
    assert family["parentAsin"] and len(family["variations"]) == 4 and family["historicalVariations"]
    assert product("B0FLASHY01")["csv"][8] and product("B0FLASHY01")["csv"][33]
    assert NOW - product("B0STALES01")["lastRatingUpdate"] > 14 * DAY
    assert {a: product(a)["productType"] for a in ("B0DOWNLD01", "B0EBOOKS01", "B0NODATA01", "B0PARENT01")} == {
        "B0DOWNLD01": 1,
        "B0EBOOKS01": 2,
        "B0NODATA01": 3,
        "B0PARENT01": 5,
    }


@pytest.mark.parametrize("asin", ["ZZZZZZZZZZ", "0306406153", "B0123", "b0amazon01", "B0AMAZON011", "B0\u00c4MAZON1"])
def test_what_cannot_be_an_asin_is_an_entry_without_data(asin: str) -> None:
    found = product(asin, with_stats=True, stats=90)
    assert (found["asin"], found["productType"], found["title"], found["csv"], found["stats"]) == (
        asin,
        4,
        None,
        None,
        None,
    )


def test_a_book_is_known_by_its_isbn() -> None:
    assert product("0306406152")["productType"] == 0
    assert Catalogue(1).by_code("9780306406157") == ["0306406152"]


def test_codes_find_the_products_that_carry_them() -> None:
    shop = Catalogue(1)
    asin = shop.search(["kettle"])[0]
    found = product(asin)
    for code in [*found["eanList"], *(found["upcList"] or [])]:
        assert asin in shop.by_code(code)
        assert all(code in product(a)["eanList"] + (product(a)["upcList"] or []) for a in shop.by_code(code))
    assert shop.by_code("4006381333931") == []


def test_a_search_finds_twenty_at_most_and_every_word_matches() -> None:
    shop = Catalogue(1)
    found = shop.search(["kettle", "steel"])
    assert 0 < len(found) <= 20
    assert all({"kettle", "steel"} <= set(product(a)["title"].lower().split()) for a in found)
    assert shop.search(["no such thing"]) == []
    assert len(shop.search(["kitchen"])) == 20


def test_an_update_of_zero_refreshes_now_and_others_within_their_hours() -> None:
    assert product(update=0)["lastUpdate"] == NOW
    assert 0 <= NOW - product()["lastUpdate"] < 60
    assert 0 <= NOW - product(update=-1)["lastUpdate"] < DAY


def test_statistics_are_those_of_the_histories_that_are_shown() -> None:
    found = product(with_stats=True, stats=90, buybox=True, rating=True)
    again = compute_stats(found, NOW, 90)
    assert found["stats"] == again
    assert found["stats"]["current"][18] == found["csv"][18][-2] + max(found["csv"][18][-1], 0)


def test_memory_holds_a_bounded_number_of_products() -> None:
    shop = Catalogue(1)
    for i in range(KEPT_MARKETS + 20):
        shop.product(f"B0{i:08d}", 1, Options(history=False), NOW)
    assert len(shop._markets) == KEPT_MARKETS


def test_kept_values_are_dropped_oldest_first_when_there_is_no_room() -> None:
    kept = Kept(10, len)
    for name in ("aaaa", "bbbb", "aaaa", "cccc"):
        kept.made(name, lambda name=name: name)
    assert list(kept) == ["aaaa", "cccc"]
    assert kept.made("x" * 50, lambda: "x" * 50) == "x" * 50
    assert list(kept) == ["x" * 50]

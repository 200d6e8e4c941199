"""/query: filters that really filter, sort orders, pages, insights and prices."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import requests
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa.contract import check
from keepa_cli.sandbox import SandboxConfig
from keepa_cli.sandbox.app import App
from keepa_cli.sandbox.messages import read_call
from tests.support.sandbox import KEY, Clock

Read = Callable[..., requests.Response]
Product = dict[str, Any]
EVERYTHING = {"stats": 90, "buybox": 1, "rating": 1, "offers": 20}
APP = App(SandboxConfig(rate=100_000, clock=Clock()))


def query(selection: dict[str, Any], **params: Any) -> dict[str, Any]:
    """Straight to the application: many questions, one index."""
    options = "".join(f"&{name}={value}" for name, value in params.items())
    call = read_call("POST", f"/query?key={KEY}&domain=1{options}", json.dumps(selection).encode(), False)
    found: dict[str, Any] = json.loads(APP.answer(call).body.plain())
    return found


def found(selection: dict[str, Any]) -> list[str]:
    answer = query({**selection, "perPage": 10_000})
    assert answer["totalResults"] == len(answer["asinList"])
    return list(answer["asinList"])


def products(asins: list[str]) -> list[Product]:
    params = "&".join(f"{name}={value}" for name, value in EVERYTHING.items())
    call = read_call("GET", f"/product?key={KEY}&domain=1&asin={','.join(asins)}&{params}", b"", False)
    answered: list[Product] = json.loads(APP.answer(call).body.plain())["products"]
    return answered


def now_of(product: Product, slot: int) -> int:
    return int(product["stats"]["current"][slot])


CASES: list[tuple[dict[str, Any], Callable[[Product], bool]]] = [
    ({"current_NEW_gte": 1000, "current_NEW_lte": 2000}, lambda p: 1000 <= now_of(p, 1) <= 2000),
    ({"current_AMAZON_gte": 0}, lambda p: now_of(p, 0) >= 0),
    ({"current_SALES_lte": 9000}, lambda p: 0 < now_of(p, 3) <= 9000),
    ({"current_RATING_gte": 47}, lambda p: now_of(p, 16) >= 47),
    ({"current_COUNT_REVIEWS_lte": 900}, lambda p: 0 <= now_of(p, 17) <= 900),
    ({"current_COUNT_NEW_gte": 15}, lambda p: now_of(p, 11) >= 15),
    ({"current_BUY_BOX_SHIPPING_lte": 900}, lambda p: 0 <= now_of(p, 18) <= 900),
    ({"avg90_NEW_gte": 13000}, lambda p: p["stats"]["avg90"][1] >= 13000),
    ({"avg30_SALES_lte": 8000}, lambda p: 0 < p["stats"]["avg30"][3] <= 8000),
    ({"delta90_NEW_gte": 500}, lambda p: now_of(p, 1) >= 0 and p["stats"]["avg90"][1] - now_of(p, 1) >= 500),
    ({"deltaPercent90_NEW_gte": 20}, lambda p: 0 <= now_of(p, 1) * 100 <= p["stats"]["avg90"][1] * 80),
    ({"isLowest_NEW": True}, lambda p: p["stats"]["isLowest"][1]),
    ({"isLowest90_NEW": True, "current_NEW_gte": 0}, lambda p: p["stats"]["isLowest90"][1]),
    ({"outOfStockPercentage90_NEW_gte": 20}, lambda p: p["stats"]["outOfStockPercentage90"][1] >= 20),
    ({"outOfStockPercentage90_gte": 20, "outOfStockPercentage90_lte": 90}, lambda p: 20 <= p["stats"]["outOfStockPercentage90"][0] <= 90),  # noqa: E501
    ({"salesRankDrops30_gte": 6}, lambda p: p["stats"]["salesRankDrops30"] >= 6),
    ({"outOfStockCountAmazon90_gte": 2}, lambda p: p["stats"]["outOfStockCountAmazon90"] >= 2),
    ({"deltaPercent90_monthlySold_gte": 10}, lambda p: p["stats"]["deltaPercent90_monthlySold"] >= 10),
    ({"monthlySold_gte": 50_000}, lambda p: p["monthlySold"] >= 50_000),
    ({"itemWeight_lte": 60}, lambda p: p["itemWeight"] <= 60),
    ({"imageCount_gte": 4}, lambda p: len(p["images"]) >= 4),
    ({"trackingSince_gte": 7_500_000}, lambda p: p["trackingSince"] >= 7_500_000),
    ({"brand": "kestrand"}, lambda p: p["brand"] == "Kestrand"),
    ({"brand": ["Kestrand", "Glimra"], "color": ["Red"]}, lambda p: p["brand"] in {"Kestrand", "Glimra"} and p["color"] == "Red"),  # noqa: E501
    ({"brand": ["\u271cKestrand"], "color": "red"}, lambda p: p["brand"] != "Kestrand" and p["color"] == "Red"),
    ({"title": '"dog bed" -red'}, lambda p: "Dog Bed" in p["title"] and "Red" not in p["title"]),
    ({"productType": [1, 2, 5]}, lambda p: p["productType"] in {1, 2, 5}),
    ({"hasParentASIN": True, "current_SALES_lte": 20_000}, lambda p: p["parentAsin"] is not None and now_of(p, 3) <= 20_000),  # noqa: E501
    ({"availabilityAmazon": 0, "couponOneTimePercent_gte": 1}, lambda p: p["availabilityAmazon"] == 0 and (p["coupon"] or [0])[0] < 0),  # noqa: E501
    ({"buyBoxIsAmazon": True, "current_SALES_lte": 60_000}, lambda p: p["stats"]["buyBoxIsAmazon"] and now_of(p, 3) <= 60_000),  # noqa: E501
]  # fmt: skip


@pytest.mark.parametrize(("selection", "holds"), CASES, ids=[json.dumps(c[0])[:60] for c in CASES])
def test_what_is_found_is_what_the_products_say(selection: dict[str, Any], holds: Callable[[Product], bool]) -> None:
    """Every product found passes, and of those not found none of a sample does."""
    inside = found(selection)
    assert inside, "a filter without matches shows nothing"
    shown = products(inside[:12])
    assert all(holds(p) for p in shown)
    others = [asin for asin in every() if asin not in set(inside)][:12]
    assert others
    assert not any(holds(p) for p in products(others))


@cache
def every() -> list[str]:
    return found({"trackingSince_gte": 0})


RANGES = ["current_NEW", "current_SALES", "avg30_BUY_BOX_SHIPPING", "deltaPercent30_NEW", "monthlySold", "imageCount"]


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(RANGES), st.integers(-50, 20_000))
def test_two_bounds_divide_what_has_a_value(name: str, bound: int) -> None:
    upper, lower = found({f"{name}_gte": bound}), found({f"{name}_lte": bound - 1})
    assert not set(upper) & set(lower)
    assert len(upper) + len(lower) == len(found({f"{name}_gte": -(2**15)}))


def test_the_catalogue_is_finite_and_the_default_order_is_the_sales_rank() -> None:
    asins = every()
    assert len(set(asins)) == len(asins) > 1200
    ranks = [p["stats"]["current"][3] for p in products(asins[:30])]
    assert ranks == sorted(ranks) and ranks[0] > 0


@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_a_sort_order_is_kept_and_products_without_a_value_come_last(direction: str) -> None:
    selection = {"brand": ["Kestrand"], "perPage": 100, "sort": [["current_AMAZON", direction]]}
    prices = [p["stats"]["current"][0] for p in products(query(selection)["asinList"])]
    known = [price for price in prices if price >= 0]
    assert known == sorted(known, reverse=direction == "desc")
    assert len(known) > 5
    assert prices[len(known) :] == [-1] * (len(prices) - len(known))


def test_pages_follow_each_other_without_gaps_and_cost_by_what_they_return() -> None:
    selection: dict[str, Any] = {"current_SALES_gte": 1}
    pages = [query({**selection, "page": n, "perPage": 500}) for n in range(4)]
    asins = [asin for page in pages for asin in page["asinList"]]
    assert asins == found(selection)
    assert [page["tokensConsumed"] for page in pages] == [10 + -(-len(page["asinList"]) // 100) for page in pages]
    assert pages[0]["tokensConsumed"] == 15
    assert pages[3]["asinList"] == [] and pages[3]["tokensConsumed"] == 10


def test_min_match_wants_several_of_the_listed_values() -> None:
    sellers = query({"current_SALES_lte": 5000}, stats=1)["searchInsights"]["topSellersWithCounts"]
    two = list(sellers)[:2]
    either = set(found({"historicalSellerIds": two}))
    both = set(found({"historicalSellerIds": two, "minMatch": {"historicalSellerIds": 2}}))
    assert both < either
    held = [set(p["buyBoxSellerIdHistory"][1::2]) for p in products(sorted(both)[:20])]
    assert all(set(two) <= sellers for sellers in held)


def test_categories_and_scalars_where_lists_are_documented() -> None:
    product = products(["B0AMAZON01"])[0]
    root, leaf = product["rootCategory"], product["categories"][0]
    in_root, in_leaf = found({"rootCategory": root}), found({"categories_include": [str(leaf)]})
    assert "B0AMAZON01" in in_leaf and set(in_leaf) < set(in_root)
    assert set(found({"rootCategory": [root], "categories_exclude": [leaf]})) == set(in_root) - set(in_leaf)
    assert {p["rootCategory"] for p in products(in_root[:30])} == {root}


def test_get_and_post_give_the_same_and_keep_the_contract(read: Read, post: Read) -> None:
    selection = {"brand": ["Glimra"], "current_NEW_gte": 100}
    by_get = read("/query", domain=1, selection=json.dumps(selection), stats=1)
    for kind in ("application/json", "application/x-www-form-urlencoded", "text/plain"):
        by_post = post("/query", selection, kind, domain=1, stats=1)
        assert by_post.json()["asinList"] == by_get.json()["asinList"]
    verdict = check("finder", by_get.json(), by_get.text)
    assert (by_get.status_code, verdict.errors, verdict.unknown_fields) == (200, [], {})
    assert by_get.json()["tokensConsumed"] == 11 + 31


def test_insights_agree_with_what_was_found() -> None:
    answer = query({"brand": ["Glimra"], "perPage": 100}, stats=1)
    told, shown = answer["searchInsights"], products(answer["asinList"])
    boxes = [p["stats"]["current"][18] for p in shown if p["stats"]["current"][18] >= 0]
    ranks = [p["stats"]["current"][3] for p in shown]
    assert told["avgBuyBox"] == sum(boxes) // len(boxes)
    assert (told["lowestRank"], told["highestRank"]) == (min(ranks), max(ranks))
    assert told["topBrandsWithCounts"] == {"glimra": len(shown)}
    assert told["brandCount"] == 1
    assert "searchInsights" not in query({"brand": ["Glimra"]})


@pytest.mark.parametrize(
    ("selection", "field"),
    [
        ({}, "selection"),
        ({"page": 0, "perPage": 50}, "selection"),
        ({"nobodyKnows": 1}, "selection"),
        ({"current_NEW_lte": "cheap"}, "current_NEW_lte"),
        ({"current_NEW_lte": [1]}, "current_NEW_lte"),
        ({"isLowest_NEW": "yes"}, "isLowest_NEW"),
        ({"brand": ["x"] * 51}, "brand"),
        ({"brand": "x", "perPage": 49}, "perPage"),
        ({"brand": "x", "perPage": 10_001}, "perPage"),
        ({"brand": "x", "page": -1}, "page"),
        ({"brand": "x", "page": 101, "perPage": 100}, "page"),
        ({"brand": "x", "sort": [["current_NEW_gte", "asc"]]}, "sort"),
        ({"brand": "x", "sort": [["current_NEW", "up"]]}, "sort"),
        ({"brand": "x", "minMatch": {"brand": 2}}, "minMatch"),
    ],
)
def test_selections_that_keepa_would_refuse_cost_nothing(selection: dict[str, Any], field: str) -> None:
    answer = query(selection)
    assert (answer["error"]["type"], answer["error"]["details"]) == ("invalidParameter", field)
    assert answer["tokensConsumed"] == 0


@pytest.mark.parametrize("body", [b"[1]", b"{", b'"x"', b"[]", b""])
def test_what_is_no_json_object_is_refused(post: Read, body: bytes) -> None:
    assert post("/query", body, domain=1).status_code == 400


def test_unknown_fields_and_nulls_are_ignored_beside_a_filter() -> None:
    plain = found({"brand": ["Glimra"]})
    assert found({"brand": ["Glimra"], "nobodyKnows": 1, "title": None, "color": [], "model": ""}) == plain


def test_brazil_and_yen_have_a_finder_too(read: Read) -> None:
    for domain in (12, 5):
        answer = read("/query", domain=domain, selection='{"current_NEW_gte":1,"brand":["Glimra"]}')
        assert answer.json()["asinList"]

"""Profiles of lists from made bodies: odd data, hostile texts, signs, reasons."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.core.context import Context
from keepa_cli.keepa import contract
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.ops._actions import planner
from keepa_cli.research.lists import categories, deals, finder, rankings, sellers
from keepa_cli.research.lists.profile import Listing
from tests.keepa.test_contract import BODIES as CONTRACT_BODIES
from tests.keepa.test_drift_views import OBJECTS
from tests.keepa.test_drift_views import ODD as ODD_FORMS
from tests.support.views import problems

US, JP = DOMAINS[1], DOMAINS[5]
HOSTILE = '<script>alert(1)</script>\u202e"; rm -rf /\x07'
ASIN, OTHER, SELLER = "B001GZ6QEC", "B0D8W1YVBX", "A2L77EE7U53NWQ"
PLAN = planner(Context(env={}))


def looked(body: Any, domain: Any = US, limit: int | None = None, **params: Any) -> Listing:
    return Listing(body, domain, {"domain": domain.code} | params, PLAN, limit)


def deal(**fields: Any) -> dict[str, Any]:
    base = {
        "asin": ASIN, "title": "t", "rootCat": 900, "categories": [], "current": [1999, 1500, -1, 40],
        "currentSince": [7_000_000] * 4, "avg": [[2299, 1800, -2, 50]] * 4, "delta": [[300, 300, -2, 10]] * 4,
        "deltaPercent": [[13, 16, -2, 20]] * 4, "deltaLast": [300, -25, 0, 1], "creationDate": 7_000_000,
        "lastUpdate": 7_000_000, "lightningEnd": 0, "warehouseCondition": 0,
    }  # fmt: skip
    return {"deals": {"dr": [base | fields]}, "timestamp": 1_790_000_000_000}


def category(name: str, number: int, parent: int = 0, **more: Any) -> dict[str, Any]:
    return {"catId": number, "name": name, "parent": parent, "children": []} | more


def row_of(view: dict[str, Any], name: str) -> Any:
    return view[name][0]


def test_deltas_keep_their_sign_and_say_what_it_means() -> None:
    body = deal(current=[1999, 2100], avg=[[2299, 1800]] * 4, delta=[[300, -300]] * 4, deltaPercent=[[13, -16]] * 4)
    view = deals.profile(looked(body), 1, "week")
    row = row_of(view, "deals")
    assert (row["delta"]["raw"], row["delta"]["amount"], row["delta"]["formatted"]) == (-300, "-3.00", "-3.00 USD")
    assert row["direction"] == "rose" and row["delta_percent"] == -16
    assert row["delta_last"]["amount"] == "-0.25"
    assert "positive means that the value fell" in view["reading"]["delta"]
    assert problems(view, body) == []


def test_yen_have_no_decimals() -> None:
    row = row_of(deals.profile(looked(deal(), JP), 1, "day"), "deals")
    assert (row["current"]["amount"], row["delta"]["amount"]) == ("1500", "300")


def test_none_not_collected_and_a_change_of_two_are_different_things() -> None:
    used = row_of(deals.profile(looked(deal()), 2, "day"), "deals")
    assert used["current"] is None and used["absent"]["current"] == "none"
    assert used["delta"] is None and used["absent"]["delta"] == "not_collected" and used["direction"] == "unknown"
    body = deal(delta=[[-2, -2]] * 4, avg=[[1997, 1498]] * 4)
    assert row_of(deals.profile(looked(body), 1, "day"), "deals")["delta"]["amount"] == "-0.02"


def test_ranks_are_numbers_and_a_better_one_fell() -> None:
    view = deals.profile(looked(deal()), 3, "90days")
    row = row_of(view, "deals")
    assert row["current"] == {"raw": 40, "value": 40} and row["direction"] == "fell"
    assert "better rank" in view["reading"]["delta"] and "sales_rank" not in row["beside"]
    assert view["selection_signals"]["best_ranked_asin"] == ASIN


def test_a_table_that_is_the_other_way_round_reads_the_same() -> None:
    body = deal()
    turned = copy.deepcopy(body)
    wide = [[*row, *[-2] * 6] for row in ([2299, 1800, -2, 50], [1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12])]
    body["deals"]["dr"][0]["avg"] = wide
    turned["deals"]["dr"][0]["avg"] = [list(column) for column in zip(*wide, strict=True)]
    assert [row_of(deals.profile(looked(b), 1, "week"), "deals")["average"]["raw"] for b in (body, turned)] == [2, 2]


def test_lightning_deals_are_measured_against_new() -> None:
    assert "Amazon or new" in deals.profile(looked(deal()), 8, "day")["reading"]["measured_against"]


def test_the_best_answer_to_a_term_comes_first() -> None:
    body = {"categories": {
        "1": category("Kitchen Kettles & Tea Machines", 1, productCount=10), "2": category("Kettles", 2),
        "3": category("Toys", 3, productCount=999), "4": category("Electric kettles", 4, productCount=50),
    }}  # fmt: skip
    view = categories.profile(looked(body, term="kettles", parents=True))
    assert [c["id"] for c in view["category_candidates"]] == [2, 4, 1, 3]
    assert [c["match"]["kind"] for c in view["category_candidates"]] == ["exact", "all_words", "all_words", "no_word"]
    assert view["selection_signals"] == {
        "candidates": 4, "roots": 4, "largest_id": 3, "exact_match_ids": [2], "ambiguous": False,
    }  # fmt: skip
    assert [a["params"].get("category") for a in view["next_actions"]] == [2, "2"]
    assert view["next_actions"][0]["params"]["root"] is True


def test_a_path_needs_the_parents() -> None:
    child = {"categories": {"3": category("c", 3, 2)}}
    whole = child | {"categoryParents": {"2": category("b", 2, 1), "1": category("a", 1)}}
    assert [s["id"] for s in row_of(categories.profile(looked(whole)), "categories")["path"]] == [1, 2, 3]
    lone = categories.profile(looked(child))
    assert row_of(lone, "categories")["absent"]["path"] == "not_requested" and lone["agent_brief"]["missing_data"]
    asked = categories.profile(looked(child, parents=True))
    assert row_of(asked, "categories")["absent"]["path"] == "not_collected"


def test_a_tree_that_is_a_circle_ends() -> None:
    body = {"categories": {"1": category("a", 1, 2), "2": category("b", 2, 1)}}
    view = categories.profile(looked(body, parents=True))
    assert row_of(view, "categories")["path"] is None and problems(view, body) == []


def test_nothing_found_suggests_a_wider_search() -> None:
    view = categories.profile(looked({"categories": {}}, term="blue kettles"))
    assert [a["action"] for a in view["next_actions"]] == ["search_categories", "search_products"]
    assert view["next_actions"][0]["params"]["term"] == "kettles" and view["data_quality"]["level"] == "empty"


def test_personal_data_of_sellers_stays_out() -> None:
    secret = {"email": "a@b.example", "address": ["1 Road"], "phoneNumber": "555", "vatID": "X9", "businessName": "Q"}
    body = {"sellers": {SELLER: {"sellerId": SELLER, "sellerName": "n"} | secret}}
    text = json.dumps(sellers.profile(looked(body), [SELLER]))
    assert not any(word in text for word in ("a@b.example", "1 Road", "555", "X9"))


def test_shares_of_a_storefront_are_derived_from_its_size() -> None:
    stats = [{"brand": "b", "productCount": 5, "avg30SalesRank": 7}, {"brand": "a", "productCount": 20}]
    raw = {"sellerId": SELLER, "totalStorefrontAsins": [7_000_000, 80], "sellerBrandStatistics": stats}
    view = sellers.profile(looked({"sellers": {SELLER: raw}}), [SELLER])
    row = row_of(view, "sellers")
    assert [b["brand"] for b in row["brands"]] == ["a", "b"] and row["brands_share"]["value"] == 25.0
    assert row["brands_share"]["inputs"] == {"largest": "a", "product_count": 20, "storefront_asin_count": 80}
    assert row["absent"]["categories"] == "not_collected" and row["absent"]["storefront"] == "not_requested"
    raw["totalStorefrontAsins"] = [7_000_000, 3]
    impossible = row_of(sellers.profile(looked({"sellers": {SELLER: raw}}), [SELLER]), "sellers")["brands_share"]
    assert impossible["value"] is None and impossible["absent"]["value"] == "not_computable"


def test_few_ratings_are_told_apart_from_bad_ones() -> None:
    body = {"sellers": {
        "AAAAAAAAAAAAA": {"sellerId": "AAAAAAAAAAAAA", "currentRating": 100, "currentRatingCount": 3},
        "BBBBBBBBBBBBB": {"sellerId": "BBBBBBBBBBBBB", "currentRating": 60, "currentRatingCount": 900},
    }}  # fmt: skip
    signals = sellers.profile(looked(body), list(body["sellers"]))["selection_signals"]
    assert signals["few_ratings_ids"] == ["AAAAAAAAAAAAA"] and signals["poorly_rated_ids"] == ["BBBBBBBBBBBBB"]
    assert signals["well_rated_ids"] is None


def test_ids_that_nobody_can_use_are_counted_and_never_suggested() -> None:
    listed = {"bestSellersList": {"asinList": ["$(reboot)", ASIN, 7, None, OTHER], "categoryId": 0}}
    view = rankings.bestsellers(looked(listed, category="Beauty"), 5)
    assert [c["asin"] for c in view["candidates"]] == [ASIN, OTHER] and view["data_quality"]["unreadable_rows"] == 3
    assert view["candidates"][0]["rank"] == 2 and view["absent"]["category_id"] == "not_collected"
    assert "reboot" not in json.dumps(view)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"year": 2026, "month": 3}, "sales rank in 2026-03"),
        ({"sublist": True}, "within the category itself"),
        ({"range": 90}, "90 days"),
        ({"range": 0}, "current sales rank"),
    ],
)
def test_a_ranking_says_how_it_ranks(params: dict[str, Any], words: str) -> None:
    assert words in rankings.bestsellers(looked({}, category="1", **params), 0)["ranked_by"]


def test_hostile_texts_are_plain_data() -> None:
    body = {"categories": {HOSTILE: category(HOSTILE, 1)}}
    for view in (
        categories.profile(looked(body, term=HOSTILE)),
        deals.profile(looked(deal(title=HOSTILE)), 1, "day"),
        sellers.profile(looked({"sellers": {SELLER: {"sellerId": SELLER, "sellerName": HOSTILE}}}), [SELLER]),
        finder.profile(looked({"asinList": [HOSTILE, ASIN]}), {"title": HOSTILE, "rootCategory": [HOSTILE]}),
    ):
        assert problems(view) == [] and json.loads(json.dumps(view)) == view
        assert not any(HOSTILE in action["cli"] for action in view["next_actions"])


BODIES: list[Any] = [
    {
        "categories": {"1": category("Kettles", 1, 2, avgRating=44, avgBuyBox=999)},
        "categoryParents": {"2": category("b", 2)},
    },
    deal() | {"deals": deal()["deals"] | {"categoryIds": [900], "categoryNames": ["K"], "categoryCount": [1]}},
    {"sellers": {SELLER: {
        "sellerId": SELLER, "sellerName": "n", "currentRating": 90, "currentRatingCount": 9, "asinList": [ASIN],
        "asinListLastSeen": [7_000_000], "totalStorefrontAsins": [1, 5],
        "competitors": [{"sellerId": "a", "percent": 4}],
        "sellerBrandStatistics": [{"brand": "b", "productCount": 3}], "ratingCount": [1, 2, 3, 4],
        "positiveRating": [90, 90, 90, 90], "sellerCategoryStatistics": [{"catId": 3, "productCount": 4}],
    }}},
    {"bestSellersList": {"asinList": [ASIN, OTHER], "lastUpdate": 7_000_000, "categoryId": 5}},
    {"sellerIdList": [SELLER]},
    {"asinList": [ASIN, OTHER], "totalResults": 2, "searchInsights": {"avgBuyBox": 5, "topBrandsWithCounts": {"a": 1}}},
]  # fmt: skip
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**65), 2**65), st.floats(allow_nan=False), st.just(HOSTILE), st.just([]),
    st.just({}), st.lists(st.integers(-3, 3), max_size=3), st.just([[1], None, "x"]),
    st.just({"asin": ASIN, "brand": 3}),
)  # fmt: skip


def mutate(value: Any, draw: Any, depth: int = 0) -> Any:
    """The value with one thing in it, at any depth, replaced by something odd."""
    if isinstance(value, dict | list) and value and (depth == 0 or draw(st.integers(0, 4))):
        copied: Any = copy.copy(value)
        key = draw(st.sampled_from(sorted(value))) if isinstance(value, dict) else draw(st.integers(0, len(value) - 1))
        copied[key] = mutate(value[key], draw, depth + 1)
        return copied
    return draw(ODD)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_no_odd_answer_breaks_a_profile(data: st.DataObject) -> None:
    body = data.draw(st.sampled_from(BODIES))
    for _ in range(data.draw(st.integers(1, 3))):
        body = mutate(body, data.draw)
    for listing in (looked(body, term="kettles", category="1"), looked(body, JP, 1, parents=True, category="1")):
        views = [
            categories.profile(listing), finder.profile(listing, {"title": "x"}), sellers.profile(listing, [SELLER]),
            deals.profile(listing, 1, "week"), rankings.bestsellers(listing, 3), rankings.topsellers(listing, 1),
        ]  # fmt: skip
        for view in views:
            assert problems(view, body) == []
            json.dumps(view)


@pytest.mark.parametrize(
    ("kind", "profile"),
    [
        ("search_category", categories.profile),
        ("category", categories.profile),
        ("finder", lambda listing: finder.profile(listing, {"title": "x"})),
        ("sellers", lambda listing: sellers.profile(listing, ["A0000000000001"])),
        ("deals", lambda listing: deals.profile(listing, 1, "week")),
    ],
)
def test_every_documented_field_in_every_odd_form(kind: str, profile: Any) -> None:
    for path, name in OBJECTS[kind]:
        for field in contract.schema(name)["properties"]:
            for value in ODD_FORMS:
                body: Any = copy.deepcopy(CONTRACT_BODIES[kind])
                held = body
                for step in path:
                    held = held[step]
                held[field] = value
                view = profile(looked(body, **({"term": "kitchen"} if kind == "search_category" else {})))
                assert problems(view, body) == [], (field, value)

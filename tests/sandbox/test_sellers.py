"""/seller, /sellerquery and /topseller."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import requests

from keepa_cli.keepa.contract import check

Read = Callable[..., requests.Response]
AMAZON = "ATVPDKIKX0DER"


@pytest.fixture(scope="module")
def top(read: Read) -> list[str]:
    return list(read("/topseller", domain=1).json()["sellerIdList"])


def sellers(read: Read, *ids: str, domain: int = 1, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = read("/seller", domain=domain, seller=",".join(ids), **more).json()
    return found


def test_the_top_list_is_ordered_by_ratings_and_costs_fifty(read: Read, top: list[str]) -> None:
    answer = read("/topseller", domain=1)
    verdict = check("topseller", answer.json(), answer.text)
    assert (verdict.errors, verdict.unknown_fields, answer.json()["tokensConsumed"]) == ([], {}, 50)
    asked = sellers(read, *top[:50])["sellers"]
    counts = [asked[i]["currentRatingCount"] for i in top[:50]]
    assert counts == pytest.approx(sorted(counts, reverse=True), rel=0.02)
    assert top[0] == AMAZON and len(set(top)) == len(top) > 200


def test_sellers_keep_the_contract_and_cost_one_each_found(read: Read, top: list[str]) -> None:
    answer = read("/seller", domain=1, seller=",".join([*top[:3], "A00000000000"]))
    verdict = check("sellers", answer.json(), answer.text)
    assert (answer.status_code, verdict.errors, verdict.unknown_fields) == (200, [], {})
    assert list(answer.json()["sellers"]) == sorted(top[:3])
    assert answer.json()["tokensConsumed"] == 3
    assert "error" not in answer.json()


def test_a_seller_nobody_knows_is_no_error_and_costs_nothing(read: Read) -> None:
    body = sellers(read, "A00000000000")
    assert (body["sellers"], body["tokensConsumed"], "error" in body) == ({}, 0, False)


def test_an_impossible_id_is_told_about_beside_what_was_found(read: Read, top: list[str]) -> None:
    body = sellers(read, top[1], "not an id!")
    assert list(body["sellers"]) == [top[1]]
    assert "not an id!" in body["error"]["message"]
    assert body["tokensConsumed"] == 1


def test_a_storefront_costs_nine_more_and_lists_what_the_seller_sells(read: Read, top: list[str]) -> None:
    body = sellers(read, AMAZON, storefront=1)
    front = body["sellers"][AMAZON]
    assert body["tokensConsumed"] == 10
    assert len(front["asinList"]) == len(front["asinListLastSeen"]) == front["totalStorefrontAsins"][1] > 100
    plain = sellers(read, AMAZON)["sellers"][AMAZON]
    assert not {"asinList", "asinListLastSeen", "totalStorefrontAsinsCSV"} & plain.keys()
    assert plain["totalStorefrontAsins"] == front["totalStorefrontAsins"]
    quiet = next(i for i in top if sellers(read, i)["sellers"][i]["totalStorefrontAsins"] is None)
    assert sellers(read, quiet, storefront=1)["tokensConsumed"] == 1


def test_a_storefront_agrees_with_the_buy_boxes(read: Read, post: Read) -> None:
    holders = read("/product", domain=1, asin="B0AMAZON01", buybox=1).json()["products"][0]["buyBoxSellerIdHistory"]
    held = {s for s in holders[1::2] if not s.startswith("-")} - {AMAZON}
    assert held
    for seller in held:
        assert "B0AMAZON01" in sellers(read, seller, storefront=1)["sellers"][seller]["asinList"]


def test_ratings_grow_and_end_with_the_current_ones(read: Read, top: list[str]) -> None:
    for seller in sellers(read, *top[:10])["sellers"].values():
        good, count = seller["csv"]
        assert (good[-1], count[-1]) == (seller["currentRating"], seller["currentRatingCount"])
        assert count[1::2] == sorted(count[1::2])
        assert all(60 <= v <= 100 for v in good[1::2])
        assert seller["ratingCount"] == sorted(seller["ratingCount"]) and seller["ratingCount"][3] == count[-1]


@pytest.mark.parametrize(
    "params",
    [
        {"domain": 1},
        {"domain": 1, "seller": ","},
        {"domain": 12, "seller": AMAZON},
        {"domain": 1, "seller": f"{AMAZON},A00000000000", "storefront": 1},
        {"domain": 1, "seller": ",".join(f"A{i:013d}" for i in range(101))},
        {"domain": 1, "seller": AMAZON, "storefront": "yes"},
    ],
)
def test_seller_requests_that_keepa_would_refuse(read: Read, params: dict[str, Any]) -> None:
    answer = read("/seller", **params)
    assert (answer.status_code, answer.json()["tokensConsumed"]) == (400, 0)


QUERIES: list[tuple[dict[str, Any], Callable[[dict[str, Any]], bool]]] = [
    ({"currentRating_gte": 97}, lambda s: s["currentRating"] >= 97),
    ({"currentRatingCount_gte": 600, "currentRatingCount_lte": 900}, lambda s: 600 <= s["currentRatingCount"] <= 900),
    ({"totalStorefrontAsins_gte": 2}, lambda s: (s["totalStorefrontAsins"] or [0, 0])[1] >= 2),
    ({"addressCountry": ["DE"]}, lambda s: s["address"][-1] == "DE"),
    ({"sellerName": "outlet"}, lambda s: "Outlet" in s["sellerName"]),
    ({"businessName": "store ltd"}, lambda s: "Store" in s["businessName"]),
]


@pytest.mark.parametrize(("selection", "holds"), QUERIES)
def test_the_seller_finder_really_filters(
    read: Read, post: Read, top: list[str], selection: dict[str, Any], holds: Callable[[dict[str, Any]], bool]
) -> None:
    answer = post("/sellerquery", {**selection, "perPage": 1000}, domain=1)
    verdict = check("sellerquery", answer.json(), answer.text)
    assert (answer.status_code, verdict.errors, verdict.unknown_fields) == (200, [], {})
    found = answer.json()["sellerIdList"]
    assert found and answer.json()["totalResults"] == len(found)
    every = {**sellers(read, *top[:100])["sellers"], **sellers(read, *top[100:200])["sellers"]}
    every |= sellers(read, *top[200:300])["sellers"] | sellers(read, *top[300:])["sellers"]
    assert set(found) == {i for i, s in every.items() if holds(s)}
    assert answer.json()["tokensConsumed"] == 10 + -(-len(found) // 100)


def test_brands_roots_and_competitors_come_from_storefronts(read: Read, post: Read) -> None:
    product = read("/product", domain=1, asin="B0AMAZON01", buybox=1).json()["products"][0]
    rival = next(s for s in product["buyBoxSellerIdHistory"][1::2] if s not in {"-1", "-2", AMAZON})
    by_brand = post("/sellerquery", {"brands": [product["brand"]], "perPage": 0}, domain=1).json()["sellerIdList"]
    assert rival in by_brand
    selection = {"rootCategories_include": [product["rootCategory"]], "perPage": 0}
    assert rival in post("/sellerquery", selection, domain=1).json()["sellerIdList"]
    others = post("/sellerquery", {"competitorSellerIds": [rival], "perPage": 0}, domain=1).json()["sellerIdList"]
    assert rival not in others and others


def test_seller_pages_and_orders(read: Read, post: Read) -> None:
    selection: dict[str, Any] = {"currentRating_gte": 0, "sort": [["currentRating", "asc"]]}
    whole = post("/sellerquery", {**selection, "perPage": 10_000}, domain=1).json()["sellerIdList"]
    first = read("/sellerquery", domain=1, selection=json.dumps({**selection, "perPage": 0})).json()
    second = post("/sellerquery", {**selection, "page": 1, "perPage": 100}, domain=1).json()
    assert first["sellerIdList"] + second["sellerIdList"] == whole[:200]
    assert first["totalResults"] == len(whole)
    ratings = sellers(read, *whole[:100])["sellers"]
    values = [ratings[i]["currentRating"] for i in whole[:100]]
    assert values == sorted(values)


@pytest.mark.parametrize("selection", [{}, {"perPage": 50}, {"currentRating_gte": 101}, {"sellerName": ["a"]},
    {"nobodyKnows": 1, "sellerName": "a"}, {"sellerName": "a", "perPage": 49},
    {"sellerName": "a", "sort": "x"}])  # fmt: skip
def test_seller_selections_that_keepa_would_refuse(post: Read, selection: dict[str, Any]) -> None:
    assert post("/sellerquery", selection, domain=1).status_code == 400
    assert post("/sellerquery", {"sellerName": "outlet"}, domain=12).status_code == 400

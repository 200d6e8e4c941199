"""/deal: which products are deals, the two switches, pages, the cache and the category rollup."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import requests

from keepa_cli.keepa.contract import check
from keepa_cli.keepa.csvtypes import CSV_TYPES
from keepa_cli.keepa.deals import PRICE_TYPES
from keepa_cli.sandbox import Sandbox
from tests.sandbox.conftest import send
from tests.support.sandbox import Clock

Post = Callable[..., requests.Response]
NEW, SALES, MONTH, QUARTER = 1, 3, 2, 3
RANGE, FILTER = {"isRangeEnabled": True}, {"isFilterEnabled": True}


@pytest.fixture
def deals(post: Post) -> Callable[..., list[dict[str, Any]]]:
    def ask(slot: int = NEW, window: int = QUARTER, **more: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for page in range(20):
            body = {"domainId": 1, "priceTypes": [slot], "dateRange": window, "page": page, **more}
            answer = post("/deal", body).json()
            assert answer["tokensConsumed"] == 5, answer
            found += answer["deals"]["dr"]
            if len(answer["deals"]["dr"]) < 150:
                break
        return found

    return ask


@pytest.mark.parametrize("slot", [0, 1, 3, 6, 8, 9, 18, 22, 33])
def test_every_price_type_keeps_the_contract_and_its_least_drop(post: Post, slot: int) -> None:
    assert slot in PRICE_TYPES
    answer = post("/deal", {"domainId": 1, "priceTypes": [slot], "dateRange": QUARTER, "page": 0})
    verdict = check("deals", answer.json(), answer.text)
    assert (answer.status_code, verdict.errors, verdict.unknown_fields) == (200, [], {})
    for deal in answer.json()["deals"]["dr"]:
        assert deal["deltaPercent"][QUARTER][slot] >= (80 if slot == SALES else 10)
        assert deal["current"][slot] >= 0


def test_a_deal_agrees_with_the_product(deals: Any, read: Post) -> None:
    found = deals(window=QUARTER)[:20]
    asins = ",".join(d["asin"] for d in found)
    shown = read("/product", domain=1, asin=asins, stats=90, buybox=1, rating=1).json()["products"]
    assert len(shown) > 5
    for deal, product in zip(found, shown, strict=True):
        stats = product["stats"]
        assert deal["title"] == product["title"]
        assert bytes(deal["image"]).decode() == product["images"][0]["m"]
        assert (deal["rootCat"], deal["categories"]) == (product["rootCategory"], product["categories"])
        assert deal["salesRankDrops90"] == stats["salesRankDrops90"]
        for slot in (0, 1, 3, 11, 16, 17, 18):
            assert deal["current"][slot] == stats["current"][slot]
            average, now = stats["avg90"][slot], stats["current"][slot]
            assert deal["avg"][QUARTER][slot] == (average if average >= 0 else -2)
            if product["csv"][slot] is None:
                assert deal["delta"][QUARTER][slot] == -2
            else:
                assert deal["delta"][QUARTER][slot] == (average - now if min(average, now) >= 0 else 0)
        assert deal["currentSince"][NEW] == product["csv"][NEW][-2] == deal["creationDate"]


def test_arrays_are_oriented_by_window_then_price_type(deals: Any) -> None:
    for deal in deals()[:5]:
        for name in ("avg", "delta", "deltaPercent"):
            assert [len(row) for row in deal[name]] == [len(CSV_TYPES)] * 4, name
        empty = [slot for slot in range(36) if deal["currentSince"][slot] == -1]
        assert empty and all(deal["avg"][w][slot] == -2 for w in range(4) for slot in empty)


def test_a_short_window_has_other_deals_than_a_long_one(deals: Any) -> None:
    short, long = ({d["asin"] for d in deals(window=w)} for w in (1, QUARTER))
    assert short and long and short != long


def test_pages_hold_150_and_follow_each_other(post: Post) -> None:
    pages = [
        post("/deal", {"domainId": 1, "priceTypes": [NEW], "dateRange": QUARTER, "page": n}).json()["deals"]["dr"]
        for n in range(3)
    ]
    asins = [d["asin"] for page in pages for d in page]
    assert len(pages[0]) == 150 and len(set(asins)) == len(asins)


@pytest.mark.parametrize(
    ("sort", "key"),
    [
        (1, lambda d: -d["creationDate"]),
        (2, lambda d: -abs(d["delta"][QUARTER][NEW])),
        (3, lambda d: d["current"][SALES]),
        (4, lambda d: -d["deltaPercent"][QUARTER][NEW]),
        (-2, lambda d: abs(d["delta"][QUARTER][NEW])),
        (-4, lambda d: d["deltaPercent"][QUARTER][NEW]),
    ],
)
def test_sort_types(deals: Any, sort: int, key: Callable[[dict[str, Any]], int]) -> None:
    keys = [key(d) for d in deals(sortType=sort)]
    assert keys == sorted(keys)


def test_the_same_question_is_cached_for_two_minutes_and_costs_as_much(sandbox: Sandbox, clock: Clock) -> None:
    body = {"domainId": 1, "priceTypes": 0, "page": 0}
    first = send(sandbox, "/deal", body).json()
    clock.forward(119)
    second = send(sandbox, "/deal", dict(reversed(body.items()))).json()
    assert (first["dealsCached"], second["dealsCached"]) == (False, True)
    assert second["deals"] == first["deals"]
    assert second["tokensConsumed"] == 5
    assert send(sandbox, "/deal", {**body, "dateRange": 1}).json()["dealsCached"] is False
    clock.forward(2)
    assert send(sandbox, "/deal", body).json()["dealsCached"] is False


def test_ranges_count_only_with_their_switch(deals: Any) -> None:
    every = deals()
    assert deals(currentRange=[0, 2000]) == every
    cheap = deals(currentRange=[0, 2000], **RANGE)
    assert cheap == [d for d in every if d["current"][NEW] <= 2000] and 0 < len(cheap) < len(every)
    ranked = deals(salesRankRange=[1, -1], **RANGE)
    assert all(d["current"][SALES] > 0 for d in ranked)
    big = deals(deltaPercentRange=[25, 100], **RANGE)
    assert big == [d for d in every if d["deltaPercent"][QUARTER][NEW] >= 25]


def test_filters_count_only_with_their_switch(deals: Any) -> None:
    every = deals()
    assert deals(mustHaveAmazonOffer=True) == every
    assert deals(mustHaveAmazonOffer=False, titleSearch=None, minRating=-1, **FILTER) == every
    amazon = deals(mustHaveAmazonOffer=True, **FILTER)
    assert amazon == [d for d in every if d["current"][0] >= 0] and amazon
    assert deals(mustNotHaveAmazonOffer=True, **FILTER) == [d for d in every if d["current"][0] < 0]
    assert deals(titleSearch="steel", **FILTER) == [d for d in every if " Steel " in d["title"]]
    assert all(d["title"].startswith("Glimra") for d in deals(brand=["Glimra"], **FILTER))
    assert deals(minRating=45, **FILTER) == [d for d in every if d["current"][16] >= 45]


def test_risers_and_what_came_back_or_went(deals: Any) -> None:
    risers = deals(isRisers=True, **FILTER)
    assert risers and all(d["deltaPercent"][QUARTER][NEW] <= -10 for d in risers)
    gone = deals(slot=0, isOutOfStock=True, **FILTER)
    assert all(d["current"][0] == -1 for d in gone)
    back = deals(slot=0, isBackInStock=True, **FILTER)
    assert all(d["current"][0] >= 0 for d in back)
    lowest = deals(isLowest90=True, **FILTER)
    assert 0 < len(lowest) < len(deals())


def test_the_rollup_ignores_categories_and_honours_the_rest(post: Post, deals: Any) -> None:
    body: dict[str, Any] = {"domainId": 1, "priceTypes": [NEW], "dateRange": QUARTER}
    every = post("/deal", body).json()["deals"]
    root = every["categoryIds"][0]
    inside = post("/deal", {**body, "includeCategories": [root]}).json()["deals"]
    assert {d["rootCat"] for d in inside["dr"]} == {root}
    assert len(inside["dr"]) == every["categoryCount"][0]
    for name in ("categoryIds", "categoryNames", "categoryCount"):
        assert inside[name] == every[name]
    assert sum(every["categoryCount"]) == len(deals())
    without = post("/deal", {**body, "excludeCategories": [root]}).json()["deals"]
    assert root not in {d["rootCat"] for d in without["dr"]}
    cheap = post("/deal", {**body, "currentRange": [0, 1000], **RANGE}).json()["deals"]
    assert sum(cheap["categoryCount"]) < sum(every["categoryCount"])
    leaf = inside["dr"][0]["categories"][0]
    assert {tuple(d["categories"]) for d in deals(includeCategories=[leaf])} == {(leaf,)}


def test_get_takes_the_same_selection(read: Post, post: Post) -> None:
    body = {"domainId": 3, "priceTypes": [NEW], "dateRange": MONTH}
    by_get = read("/deal", domain=3, selection=json.dumps(body)).json()
    assert by_get["deals"] == post("/deal", body, "text/plain").json()["deals"]


@pytest.mark.parametrize(
    "change",
    [
        {"domainId": None}, {"domainId": 12}, {"domainId": "1"}, {"domainId": 7},
        {"priceTypes": None}, {"priceTypes": []}, {"priceTypes": [0, 1]}, {"priceTypes": [4]}, {"priceTypes": [23]},
        {"priceTypes": [16]}, {"priceTypes": "NEW"}, {"priceTypes": [True]},
        {"dateRange": 4}, {"page": -1}, {"page": 67}, {"sortType": 5}, {"currentRange": [2, 1]},
        {"currentRange": [1]}, {"deltaRange": "1"}, {"includeCategories": ["x"]}, {"isRangeEnabled": "on"},
        {"titleSearch": "w " * 51}, {"minRating": 51}, {"warehouseConditions": [9]},
    ],
)  # fmt: skip
def test_bodies_that_keepa_would_refuse_cost_nothing(post: Post, change: dict[str, Any]) -> None:
    answer = post("/deal", {"domainId": 1, "priceTypes": [0], **change})
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalidParameter")
    assert answer.json()["tokensConsumed"] == 0


def test_the_unset_values_of_the_official_clients_are_taken(post: Post) -> None:
    unset = {
        "page": 0, "isLowest": False, "sortType": 0, "minRating": -1, "includeCategories": None, "titleSearch": None,
        "isRangeEnabled": False, "isFilterEnabled": False, "currentRange": None, "brand": [],
    }  # fmt: skip
    assert post("/deal", {"domainId": 1, "priceTypes": [NEW], **unset}).status_code == 200

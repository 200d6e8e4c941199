"""What a call costs, seen from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import requests

Get = Callable[..., requests.Response]


@pytest.mark.parametrize(
    ("params", "tokens"),
    [
        ({"asin": "B0AMAZON01"}, 1),
        ({"asin": "B0AMAZON01,B0SINGLE01,ZZZZZZZZZZ", "history": 0}, 3),
        ({"asin": "B0AMAZON01", "stats": 180, "rating": 1, "buybox": 1, "videos": 1, "aplus": 1}, 4),
        ({"asin": "B0STALES01", "rating": 1}, 1),
        ({"asin": "B0AMAZON01", "update": 0}, 2),
        ({"asin": "ZZZZZZZZZZ", "update": -1}, 0),
        ({"asin": "B0FAMILY01", "historical-variations": 1}, 2),
        ({"asin": "B0SINGLE01", "historical-variations": 1}, 1),
        ({"asin": "B0EBOOKS01", "offers": 20}, 1),
        ({"asin": "B0EBOOKS01", "offers": 20, "only-live-offers": 1}, 0),
        ({"asin": "B0AMAZON01", "offers": 20, "update": 1}, 5),
        ({"asin": "B0AMAZON01", "stock": 1}, 1),
        ({"code": "4006381333931"}, 0),
    ],
)
def test_a_product_request(get: Get, params: dict[str, Any], tokens: int) -> None:
    body = get("/product", domain=1, **params).json()
    assert (body["tokensConsumed"], body["tokensLeft"]) == (tokens, 3600 - tokens)


@pytest.mark.parametrize("asin", ["B0AMAZON01", "B0LARGES01", "B0COUPON01", "B0FAMILY01", "B0FLASHY01"])
def test_offers_cost_six_per_page_of_ten_and_replace_the_base(get: Get, asin: str) -> None:
    body = get("/product", domain=1, asin=asin, offers=100, buybox=1).json()
    live = len(body["products"][0]["liveOffersOrder"] or ())
    assert body["tokensConsumed"] == max(5, 6 * -(-live // 10))
    stock = get("/product", domain=1, asin=asin, offers=100, stock=1).json()
    assert stock["tokensConsumed"] == body["tokensConsumed"] + 2


def test_a_code_is_charged_by_what_it_finds_and_can_be_limited(get: Get) -> None:
    code = get("/product", domain=1, asin=_shared_code_asin(get)).json()["products"][0]["eanList"][0]
    found = get("/product", domain=1, code=code).json()
    assert found["tokensConsumed"] == len(found["products"]) > 1
    assert get("/product", domain=1, code=code, code_limit=1).json()["tokensConsumed"] == 1


def _shared_code_asin(get: Get) -> str:
    """A product whose code another one carries too."""
    asins = [a for term in ("kitchen", "audio", "camping") for a in _search(get, term)]
    products = get("/product", domain=1, asin=",".join(asins), history=0).json()["products"]
    for product in products:
        if len(get("/product", domain=1, code=product["eanList"][0], history=0).json()["products"]) > 1:
            return str(product["asin"])
    raise AssertionError("no code is shared")


def _search(get: Get, term: str) -> list[str]:
    return list(get("/search", domain=1, type="product", term=term, asins_only=1).json()["asinList"])


@pytest.mark.parametrize(
    ("params", "tokens"), [({}, 10), ({"rating": 1}, 15), ({"update": 0}, 30), ({"asins-only": 1}, 10)]
)
def test_a_product_search(get: Get, params: dict[str, Any], tokens: int) -> None:
    body = get("/search", domain=1, type="product", term="kitchen", history=0, **params).json()
    assert body["tokensConsumed"] == tokens
    assert len(body.get("products", body.get("asinList"))) == 20


def test_categories_cost_one_whatever_the_number(get: Get) -> None:
    roots = get("/category", domain=1, category=0).json()
    assert roots["tokensConsumed"] == 1
    several = get("/category", domain=1, category=",".join(list(roots["categories"])[:5])).json()
    assert (several["tokensConsumed"], len(several["categories"])) == (1, 5)
    assert get("/search", domain=1, type="category", term="nothing here").json()["tokensConsumed"] == 1

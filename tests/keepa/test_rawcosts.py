"""The price of requests put together by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.keepa.rawcosts import UNKNOWN, of_request

HUNDRED = ",".join(f"B{n:09d}" for n in range(100))


@pytest.mark.parametrize(
    ("path", "query", "body", "worst"),
    [
        ("/token", {}, None, 0),
        ("/product", {"asin": "B0"}, None, 1),
        ("/product", {"asin": "B0,B0,"}, None, 2),
        ("/product", {"asin": HUNDRED}, None, 100),
        ("/product", {"asin": HUNDRED, "offers": "100"}, None, 6000),
        ("/product", {"asin": "B0", "offers": "20", "stock": "1", "rating": "1", "update": "0"}, None, 16),
        ("/product", {"asin": "B0", "offers": "-20"}, None, 1),
        ("/product", {"asin": "B0", "offers": "many"}, None, 1),
        ("/product", {"asin": "B0", "buybox": "0"}, None, 1),
        ("/product", {"code": "1,2", "code-limit": "3"}, None, 6),
        ("/product", {"code": "1", "code-limit": "0"}, None, 1500),
        ("/product", {}, None, 1),
        ("/search", {"type": "category"}, None, 1),
        ("/search", {"type": "product", "update": "0", "rating": "1"}, None, 35),
        ("/category", {"category": "1,2,3"}, None, 1),
        ("/query", {"selection": "{}"}, None, 11),
        ("/query", {"selection": '{"perPage": 1000}'}, None, 20),
        ("/query", {"selection": "{"}, None, 110),
        ("/query", {}, {"perPage": 10000}, 110),
        ("/query", {}, {"perPage": 10**9}, 110),
        ("/query", {}, {"perPage": True}, 110),
        ("/query", {}, None, 110),
        ("/query", {"stats": "1"}, {"perPage": 50}, 1041),
        ("/deal", {}, {}, 5),
        ("/seller", {"seller": "A,B"}, None, 2),
        ("/seller", {"seller": "A", "storefront": "1"}, None, 10),
        ("/sellerquery", {}, {"perPage": 0}, 11),
        ("/bestsellers", {}, None, 50),
        ("/topseller", {}, None, 50),
        ("/lightningdeal", {}, None, 500),
        ("/lightningdeal", {"asin": "B0"}, None, 1),
        ("/graphimage", {}, None, 1),
        ("/tracking", {"type": "list"}, None, 0),
        ("/tracking", {"type": "add"}, [{}, {}, {}], 3),
        ("/tracking", {"type": "add", "tracking": "[{},{}]"}, None, 2),
        ("/tracking", {"type": "add", "tracking": "["}, None, 1),
        ("/moon", {}, None, 500),
    ],
)
def test_prices(path: str, query: dict[str, str], body: Any, worst: int) -> None:
    cost = of_request(path, query, body)
    assert cost.worst == worst
    assert 0 <= cost.estimated <= worst
    assert cost.confirm == (path != "/token")


def test_an_unknown_endpoint_says_that_its_price_is_not_known() -> None:
    assert of_request("/moon", {}) is UNKNOWN
    assert "not known" in UNKNOWN.parts[0].note


NAMES = (
    "asin",
    "code",
    "code-limit",
    "offers",
    "stats",
    "update",
    "rating",
    "selection",
    "type",
    "tracking",
    "storefront",
)
values = st.sampled_from(["", "0", "1", "-1", "99", "{", "[]", "{}", '{"perPage":-5}', "x,y", "null", "1e9"]) | st.text(
    max_size=4
)


@given(
    st.sampled_from(["/product", "/search", "/query", "/seller", "/sellerquery", "/tracking", "/lightningdeal"]),
    st.dictionaries(st.sampled_from(NAMES), values, max_size=5),
    st.none()
    | st.lists(st.none(), max_size=2)
    | st.dictionaries(st.just("perPage"), st.integers() | st.text(max_size=2)),
)
def test_whatever_is_asked_has_a_price_that_is_not_negative(path: str, query: dict[str, str], body: Any) -> None:
    cost = of_request(path, query, body)
    assert 0 <= cost.estimated <= cost.worst
    assert cost.confirm

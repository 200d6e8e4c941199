"""Parameters are refused where Keepa refuses them, and cost nothing then."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
import requests
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.sandbox import SandboxConfig
from keepa_cli.sandbox.app import App
from keepa_cli.sandbox.messages import read_call
from tests.support.sandbox import KEY, Clock

Get = Callable[..., requests.Response]
ASIN = "B0AMAZON01"
PRODUCT: dict[str, Any] = {"domain": 1, "asin": ASIN}
MANY = ",".join(f"B0{i:08d}" for i in range(101))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"domain": 1},
        {"asin": ASIN},
        {"domain": 1, "asin": ""},
        {"domain": 1, "asin": ","},
        *(
            {**PRODUCT, "domain": d}
            for d in ("us", "fr", "\u0661", "1.0", "0", "7", "13", "-1", "", "1,2", "99999999999")
        ),
        {**PRODUCT, "code": "4006381333931"},
        {"domain": 1, "code": "abc"},
        {"domain": 1, "asin": MANY},
        {"domain": 1, "code": "4006381333931", "code-limit": "0"},
        *({**PRODUCT, "stats": s} for s in ("x", "-1", "2025-01-01", "2025-01-01,", "2025-02-01,2025-01-01", "1,2")),
        *({**PRODUCT, name: "x"} for name in ("history", "rating", "buybox", "update", "days", "offers")),
    ],
)
def test_a_bad_product_request_is_400_invalid_parameter(get: Get, params: dict[str, Any]) -> None:
    answer = get("/product", **params)
    body = answer.json()
    assert answer.status_code == 400
    assert body["error"]["type"] == "invalidParameter"
    assert body["error"]["message"] == "You used an invalid parameter for this API call."
    assert "products" not in body
    assert (body["tokensConsumed"], body["tokensLeft"], body["refillRate"]) == (0, 3600, 60)


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/search", {"domain": 1, "term": "kettle"}),
        ("/search", {"domain": 1, "term": "kettle", "type": "seller"}),
        ("/search", {"domain": 1, "type": "product"}),
        ("/search", {"domain": 1, "type": "product", "term": "  "}),
        ("/search", {"domain": 12, "type": "product", "term": "kettle"}),
        ("/category", {"domain": 12, "category": 0}),
        ("/category", {"domain": 1}),
        ("/category", {"domain": 1, "category": "kitchen"}),
        ("/category", {"domain": 1, "category": ",".join("123456789012")}),
    ],
)
def test_a_bad_search_or_category_request_is_400(get: Get, path: str, params: dict[str, Any]) -> None:
    assert get(path, **params).status_code == 400


@pytest.mark.parametrize(
    ("path", "params"),
    [
        *(("/product", {**PRODUCT, "offers": n}) for n in (0, 19, 101)),
        ("/search", {"domain": 1, "type": "category", "term": "ab kitchen"}),
    ],
)
def test_some_errors_come_with_status_200_and_real_tokens(get: Get, path: str, params: dict[str, Any]) -> None:
    answer = get(path, **params)
    body = answer.json()
    assert (answer.status_code, body["error"]["type"], body["tokensConsumed"]) == (200, "invalidParameter", 0)
    assert body["tokensLeft"] == 3600
    assert not {"products", "categories"} & body.keys()


def test_brazil_has_products_only(get: Get) -> None:
    assert get("/product", domain=12, asin=ASIN).json()["products"][0]["domainId"] == 12


@pytest.mark.parametrize("stats", ["0", "90", "2025-01-01,2025-06-30", "2025-01-01T12:00,2026-01-01", "1735689600000,1751241600000"])  # fmt: skip  # noqa: E501
def test_every_form_of_an_interval_is_taken(get: Get, stats: str) -> None:
    assert get("/product", **PRODUCT, stats=stats).json()["products"][0]["stats"]["avg30"]


def test_a_range_by_date_and_by_unix_time_is_the_same_range(get: Get) -> None:
    dates = get("/product", **PRODUCT, stats="2025-01-01,2025-06-30").json()["products"]
    assert get("/product", **PRODUCT, stats="1735689600000,1751241600000").json()["products"] == dates


def test_a_hundred_asins_come_back_in_the_order_asked(get: Get) -> None:
    asins = MANY.split(",")[1:][::-1]
    body = get("/product", domain=1, asin=",".join(asins), history=0).json()
    assert [p["asin"] for p in body["products"]] == asins
    assert body["tokensConsumed"] == 100


NAMES = """domain asin code code-limit stats update history days offers only-live-offers rating buybox stock videos
aplus historical-variations term type category parents asins-only page""".split()  # noqa: SIM905
VALUES = st.one_of(
    st.sampled_from(
        ["", "0", "1", "5", "-1", "20", "100", "product", "category", "kettle", ASIN, "B0LARGES01,ZZ", "2025-01-01"]
    ),
    st.sampled_from(
        ["9999-12-31,9999-12-31", "0001-01-01,2025-01-01T00:00+14:00", "9" * 12 + "," + "9" * 14, "\u0660"]
    ),
    st.text(max_size=8),
)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["product", "search", "category", "token", "", "x"]),
    st.dictionaries(st.sampled_from(NAMES), VALUES),
)
def test_no_parameters_break_the_sandbox(path: str, params: dict[str, str]) -> None:
    query = urlencode({"key": KEY, "domain": "1", "asin": ASIN, **params}, errors="surrogatepass")
    reply = APP.answer(read_call("GET", f"/{path}?{query}", b"", False))
    assert reply.status in {200, 400, 404}, reply.body.plain()
    json.loads(reply.body.plain())


APP = App(SandboxConfig(rate=100_000, clock=Clock()))

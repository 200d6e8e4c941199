"""What holds for every endpoint: keys, faults, prices, refusals, and a log whose tokens add up."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

import pytest
import requests
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa import costs
from keepa_cli.sandbox import Sandbox, SandboxConfig
from keepa_cli.sandbox.app import App
from keepa_cli.sandbox.endpoints import ENDPOINTS
from keepa_cli.sandbox.messages import read_call
from tests.sandbox.conftest import ask
from tests.support.sandbox import KEY, Clock, running_sandbox

DEAL = json.dumps({"domainId": 1, "priceTypes": [6], "dateRange": 3})
FINDER = json.dumps({"brand": ["Glimra"], "perPage": 150})
SELLERS = json.dumps({"currentRating_gte": 90, "perPage": 0})
TRACKING = json.dumps([{"asin": "B0AMAZON01", "mainDomainId": 1}, {"asin": "B0SINGLE01", "mainDomainId": 1}])
CALLS: dict[str, tuple[dict[str, Any], int]] = {
    "/product": ({"asin": "B0AMAZON01"}, 1),
    "/search": ({"type": "category", "term": "kettles"}, costs.search_category().estimated),
    "/category": ({"category": 0}, costs.category().estimated),
    "/query": ({"selection": FINDER}, 11),
    "/deal": ({"selection": DEAL}, costs.deal().estimated),
    "/seller": ({"seller": "ATVPDKIKX0DER", "storefront": 1}, costs.seller(1, storefront=True).estimated),
    "/sellerquery": ({"selection": SELLERS}, costs.sellerquery(100).estimated),
    "/bestsellers": ({"category": "Electronics"}, costs.bestsellers().estimated),
    "/topseller": ({}, costs.topseller().estimated),
    "/lightningdeal": ({}, costs.lightningdeal().estimated),
    "/graphimage": ({"asin": "B0AMAZON01"}, costs.graphimage().estimated),
    "/tracking": ({"type": "add", "tracking": TRACKING}, costs.tracking("add", 2).estimated),
    "/token": ({}, costs.token().estimated),
}  # fmt: skip
PAYLOADS = {
    "/product": "products", "/category": "categories", "/query": "asinList", "/deal": "deals", "/seller": "sellers",
    "/sellerquery": "sellerIdList", "/bestsellers": "bestSellersList", "/topseller": "sellerIdList",
    "/lightningdeal": "lightningDeals", "/tracking": "trackings",
}  # fmt: skip


def test_the_table_of_this_test_is_whole() -> None:
    assert set(CALLS) == set(ENDPOINTS)


def test_each_costs_what_the_estimates_say_and_the_log_adds_up(sandbox: Sandbox) -> None:
    for path, (params, tokens) in CALLS.items():
        before = sandbox.bucket.state().tokens_left
        answer = ask(sandbox, path, domain=1, **params)
        assert answer.status_code == 200, answer.text
        assert before - sandbox.bucket.state().tokens_left == tokens, path
        if path != "/graphimage":
            assert (answer.json()["tokensConsumed"], "error" in answer.json()) == (tokens, False)
    assert 3600 - sandbox.bucket.state().tokens_left == sum(entry.tokens for entry in sandbox.log)


@pytest.mark.parametrize("path", [*CALLS])
def test_faults_keys_and_an_empty_bucket_are_the_same_everywhere(sandbox: Sandbox, path: str) -> None:
    params, _ = CALLS[path]
    call = {"domain": 1, **params}
    assert ask(sandbox, path, key="short", **call).json()["refillRate"] == 0
    sandbox.inject("429=7x1", "503x1", "200-with-error")
    assert ask(sandbox, path, **call).json()["refillIn"] == 7
    assert ask(sandbox, path, **call).status_code == 503
    assert ask(sandbox, path, **call).json()["error"]["type"] == "invalidParameter"
    sandbox.app.faults.clear()
    assert sandbox.bucket.state().tokens_left == 3600
    sandbox.inject("reset-after-request")
    with pytest.raises(requests.ConnectionError):
        ask(sandbox, path, **call)
    sandbox.app.faults.clear()
    sandbox.bucket.set_balance(0)
    assert ask(sandbox, path, **call).status_code == (200 if path == "/token" else 429)


@pytest.mark.parametrize("path", [*PAYLOADS])
def test_a_payload_can_go_missing_everywhere(path: str) -> None:
    params, tokens = CALLS[path]
    with running_sandbox(rate=60, clock=Clock(), faults=["missing-products"]) as sandbox:
        body = ask(sandbox, path, domain=1, **params).json()
    assert (PAYLOADS[path] in body, body["tokensConsumed"]) == (False, tokens)


def test_contents_are_spoiled_beyond_products(sandbox: Sandbox) -> None:
    sandbox.inject("extra-csv", "new-enum", "type-flip")
    deal = ask(sandbox, "/deal", selection=DEAL).json()["deals"]["dr"][0]
    assert [len(deal["current"]), len(deal["delta"][0]), len(deal["delta"])] == [37, 37, 4]
    lightning = ask(sandbox, "/lightningdeal", domain=1, asin="B0FLASHY01").json()["lightningDeals"]
    assert {d["dealState"] for d in lightning} == {"SANDBOX_UNKNOWN"}
    roots = ask(sandbox, "/category", domain=1, category=0).json()["categories"]
    assert all(isinstance(c["websiteDisplayGroup"], list) for c in roots.values())
    sandbox.app.faults.clear()
    assert len(ask(sandbox, "/deal", selection=DEAL).json()["deals"]["dr"][0]["current"]) == 36


def test_many_threads_at_once_are_charged_to_the_token(sandbox: Sandbox) -> None:
    def work(number: int) -> list[int]:
        paths = [path for path in CALLS if path != "/lightningdeal"]
        sandbox.change_price("B0AMAZON01", 1, 500 + number)
        return [ask(sandbox, p, domain=1, **CALLS[p][0]).status_code for p in paths[number:] + paths[:number]]

    with ThreadPoolExecutor(8) as pool:
        statuses = [status for found in pool.map(work, range(8)) for status in found]
    assert statuses == [200] * 96
    assert 3600 - sandbox.bucket.state().tokens_left == sum(entry.tokens for entry in sandbox.log)


@pytest.mark.parametrize("path", ["/query", "/product", "/tracking"])
def test_brazil_is_served_by_three(sandbox: Sandbox, path: str) -> None:
    params = {**CALLS[path][0]}
    assert ask(sandbox, path, domain=12, **params).status_code == 200


@pytest.mark.parametrize("path", sorted(set(CALLS) - {"/query", "/product", "/tracking", "/token"}))
def test_brazil_is_refused_by_the_rest(sandbox: Sandbox, path: str) -> None:
    params = {**CALLS[path][0]}
    if path == "/deal":
        params["selection"] = json.dumps({"domainId": 12, "priceTypes": [1]})
    answer = ask(sandbox, path, domain=12, **params)
    assert (answer.status_code, sandbox.log[-1].tokens) == (400, 0)


NAMES = """domain asin selection stats seller storefront category range month year variations sublist state width height
cNew types type list tracking url page perPage asins-only since revise all readOnly""".split()  # noqa: SIM905
KEYS = st.sampled_from(
    ["domainId", "priceTypes", "dateRange", "page", "perPage", "sort", "minMatch", "brand", "title", "current_NEW_lte",
     "isRangeEnabled", "currentRange", "isFilterEnabled", "sellerName", "asin", "mainDomainId", "ttl",
     "thresholdValues", "notifyIf", "csvType", "domain", "updateInterval", "metaData",
     "listedSince_gte", "isLowest_NEW", "x"]
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**40) | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)
VALUES = st.one_of(
    st.sampled_from(["", "0", "1", "5", "-1", "12", "add", "list", "get", "notification", "webhook", "B0AMAZON01"]),
    st.sampled_from(["Electronics", "AVAILABLE", "2026", "ffffff", DEAL, FINDER, "{", "[]", "\u0660", "1e999"]),
    JSON.map(json.dumps),
    st.text(max_size=6),
)
APP = App(SandboxConfig(rate=100_000, clock=Clock()))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(ENDPOINTS)), st.dictionaries(st.sampled_from(NAMES), VALUES), st.none() | JSON)
def test_nothing_that_is_sent_breaks_the_sandbox(path: str, params: dict[str, str], body: Any) -> None:
    query = urlencode({"key": KEY, "domain": "1", **params}, errors="surrogatepass")
    data = b"" if body is None else json.dumps(body).encode()
    reply = APP.answer(read_call("GET" if body is None else "POST", f"{path}?{query}", data, False))
    assert reply.status in {200, 400, 405}, reply.body.plain()
    assert reply.tokens >= 0

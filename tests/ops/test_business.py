"""The business operations: inputs, options, saved results, and the request of business.profit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keepa_cli import ops
from keepa_cli.core.context import Context
from tests.research.business.support import body, product
from tests.support.remote import call, refusal
from tests.support.views import problems

LOCAL = (
    "business.find-fast-movers", "business.inventory-audit", "business.market-opportunity", "business.seller-metrics",
    "business.velocity", "business.inventory",
)  # fmt: skip
FIXTURE = "product_B0PPJ248DY_full"
ASIN = "B0PPJ248DY"
REPO = Path(__file__).parents[2]


def saved(home: Path, name: str, data: Any) -> str:
    (home / "work" / name).write_text(json.dumps(data), "utf-8")
    return name


def here() -> Context:
    """A context in the checkout, where the shipped cassettes are."""
    return Context(env={}, cwd=REPO)


@pytest.mark.parametrize("name", LOCAL)
def test_files_fixtures_and_payloads_are_read_together(home: Path, name: str) -> None:
    file = saved(home, "a.json", body(product()))
    params = {"input": [file], "payload": body(product("B0D8W1YVBX"))}
    result = call(name, home, params)
    assert result["ok"], result
    data = result["data"]
    assert data["view"] == "business_metrics"
    assert {p["source"]["name"] for p in data["products"]} == {"a.json", "payload"}
    assert [i["products"] for i in data["inputs"]] == [1, 1]
    assert problems(data) == []


@pytest.mark.parametrize("name", LOCAL)
def test_a_shipped_fixture_answers(home: Path, name: str) -> None:
    result = call(name, home, {"fixture": [FIXTURE]}, ctx=here())
    assert result["ok"], result
    assert [p["asin"] for p in result["data"]["products"]] == [ASIN]


@pytest.mark.parametrize("name", LOCAL)
def test_the_result_is_saved_as_it_is_told(home: Path, name: str) -> None:
    result = call(name, home, {"payload": body(product()), "out": "result.json"})
    written = json.loads((home / "work" / "result.json").read_text("utf-8"))
    output = result["data"].pop("output")
    assert written == json.loads(json.dumps(result["data"]))
    assert output["result_count"] == 1
    refused = refusal(call(name, home, {"payload": body(product()), "out": "."}))
    assert refused["kind"] == "invalid_arguments"


def test_without_inputs_or_products_the_call_is_refused(home: Path) -> None:
    assert refusal(call(LOCAL[0], home, {}))["kind"] == "missing_inputs"
    empty = refusal(call(LOCAL[0], home, {"payload": {"categories": {}}}))
    assert (empty["kind"], empty["details"]["inputs"]) == ("missing_inputs", ["payload"])
    file = saved(home, "none.json", {"deals": {}})
    result = call(LOCAL[0], home, {"input": [file], "payload": body(product())})
    assert result["warnings"] == [{"code": "input_without_products", "message": "No product is in none.json."}]


@pytest.mark.parametrize(
    ("params", "field"),
    [({"sort": "price"}, "sort"), ({"limit": 0}, "limit"), ({"min_confidence": "sure"}, "min_confidence")],
)
def test_odd_options_are_refused(home: Path, params: Any, field: str) -> None:
    error = refusal(call(LOCAL[0], home, {"payload": body(product()), **params}))
    assert error["details"]["field"] == field


def test_options_reach_the_analysis(home: Path) -> None:
    many = body(*(product(f"B00000000{i}", monthlySold=i * 100) for i in range(1, 6)))
    data = call(LOCAL[0], home, {"payload": many, "limit": 2, "min_monthly_sold": 200})["data"]
    assert [p["asin"] for p in data["products"]] == ["B000000005", "B000000004"]
    days = call(LOCAL[3], home, {"payload": many, "window_days": [7, 7]})["data"]
    assert days["analysis"] == "seller-metrics"
    assert call(LOCAL[4], home, {"payload": many})["data"]["products"][0]["asin"] == "B000000001"


def test_products_without_a_marketplace_take_the_one_given(home: Path) -> None:
    bare = body(product(domainId=None))
    assert call(LOCAL[4], home, {"payload": bare, "domain": "JP"})["data"]["products"][0]["currency"] == "JPY"
    assert (
        call(LOCAL[4], home, {"payload": body(product()), "domain": "JP"})["data"]["products"][0]["currency"] == "USD"
    )


def test_the_tools_have_the_names_of_the_contract() -> None:
    tools = [ops.find(name).tool for name in LOCAL[:3]]
    assert tools == ["find_fast_movers", "inventory_audit", "market_opportunity"]
    assert ops.find("velocity.research").name == "business.velocity"


def profit(home: Path, **params: Any) -> Any:
    options = {k: params.pop(k) for k in ("dry_run", "ctx") if k in params}
    return call("business.profit", home, {"asin": ASIN, "cost": "4.20", **params}, **options)


def test_profit_asks_what_a_full_request_asks(home: Path) -> None:
    planned = profit(home, dry_run=True)
    full = call("products.get", home, {"asin": [ASIN], "full": True}, dry_run=True)
    assert planned["request"]["query"] == full["request"]["query"]
    assert planned["token_bucket"]["estimated"]["estimated_tokens"] == 1
    with_box = profit(home, dry_run=True, buybox=True)
    assert with_box["request"]["query"]["buybox"] == "1"
    assert with_box["token_bucket"]["estimated"]["estimated_tokens"] == 3


def test_profit_replays_from_the_shipped_cassette(home: Path) -> None:
    result = profit(home, ctx=here())
    assert result["ok"], result
    data = result["data"]
    assert "body" not in data
    even, now = data["summary"]["break_even_price"]["raw"], data["summary"]["profit"]["raw"]
    assert now == 2699 - 405 - 567 - 420
    assert even == 1161
    (again,) = data["brief"]["next_actions"]
    assert again["params"] == {"asin": ASIN, "cost": "4.20", "domain": "US", "buybox": True}
    assert problems(data) == []


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"cost": "4,20"}, "cost"),
        ({"cost": 4.2}, "cost"),
        ({"cost": "4.205"}, "cost"),
        ({"domain": "JP"}, "cost"),
        ({"inbound": "-1"}, "inbound"),
        ({"ads_rate": "120"}, "ads_rate"),
        ({"return_rate": "1.234"}, "return_rate"),
        ({"shipping_cost": "3"}, "shipping_cost"),
        ({"fbm": True, "fulfilment_fee": "3"}, "fulfilment_fee"),
        ({"fba": True, "fbm": True}, "fbm"),
    ],
)
def test_odd_amounts_and_contradictions_are_refused_before_anything_is_sent(
    home: Path, params: Any, field: str
) -> None:
    error = refusal(profit(home, dry_run=True, **params))
    assert (error["kind"], error["details"]["field"]) == ("invalid_arguments", field)


def test_whole_numbers_are_taken_for_costs(home: Path) -> None:
    assert profit(home, ctx=here(), cost=4)["data"]["summary"]["profit"]["raw"] == 2699 - 405 - 567 - 400
    assert profit(home, dry_run=True, domain="JP", cost="420")["ok"]

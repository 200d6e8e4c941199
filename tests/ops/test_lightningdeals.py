"""Lightning deals: the whole list asks first, one product does not; prices in the money of the marketplace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.remote import BUCKET, call, refusal
from tests.support.scripted_server import ScriptedServer

NAME = "lightningdeals.list"
DEAL: dict[str, Any] = {
    "domainId": 1, "lastUpdate": 8075700, "asin": "B000000001", "title": "Sample", "sellerId": "A0000000000001",
    "sellerName": "Demo", "dealId": "ab12cd34", "dealPrice": 1499, "currentPrice": 1999, "image": None,
    "isPrimeEligible": True, "isFulfilledByAmazon": True, "rating": 44, "totalReviews": 120, "dealState": "AVAILABLE",
    "startTime": 8075000, "endTime": 8075800, "percentClaimed": 23, "percentOff": 25,
    "variation": [{"dimension": "Color", "value": "Red"}],
}  # fmt: skip
DEALS = BUCKET | {"lightningDeals": [DEAL]}


def test_one_product_costs_one_token_and_asks_nobody(home: Path) -> None:
    with ScriptedServer([{"json": DEALS}]) as server:
        result = call(NAME, home, {"asin": "b000000001", "state": "available"}, server)
    assert server.seen[0].query[1:] == [("domain", "1"), ("asin", "B000000001"), ("state", "AVAILABLE")]
    assert result["token_bucket"]["estimated"]["worst_case_tokens"] == 1
    assert result["data"]["items"] == [
        {
            "asin": "B000000001", "title": "Sample", "state": "AVAILABLE", "deal_price": "14.99",
            "current_price": "19.99", "currency": "USD", "percent_off": 25, "percent_claimed": 23,
            "starts": "2026-05-09T15:20:00Z", "ends": "2026-05-10T04:40:00Z", "stars": "4.4", "ratings": 120,
        }
    ]  # fmt: skip
    assert result["data"]["body"]["lightningDeals"] == [DEAL]


def test_the_whole_list_costs_500_and_asks(home: Path) -> None:
    with ScriptedServer([{"json": DEALS}]) as server:
        error = refusal(call(NAME, home, {}, server))
        assert error["kind"] == "confirmation_required" and error["details"]["worst_case_tokens"] == 500
        over = refusal(call(NAME, home, {}, server, yes=True, max_tokens=499))
        assert over["kind"] == "budget_exceeded" and not server.seen
        assert call(NAME, home, {}, server, yes=True)["ok"]
    assert server.seen[0].value("asin") is None


def test_yen_have_no_cents_and_an_upcoming_deal_has_no_price(home: Path) -> None:
    deal = DEAL | {"domainId": 5, "dealPrice": -1, "currentPrice": 1999, "dealState": "SOMETHING_NEW", "rating": -1}
    with ScriptedServer([{"json": BUCKET | {"lightningDeals": [deal]}}]) as server:
        row = call(NAME, home, {"asin": "B000000001", "domain": "JP"}, server)["data"]["items"][0]
    assert (row["deal_price"], row["current_price"], row["currency"]) == (None, "1999", "JPY")
    assert (row["state"], row["stars"]) == ("SOMETHING_NEW", None)


@pytest.mark.parametrize("body", [{}, {"lightningDeals": None}, {"lightningDeals": []}])
def test_a_product_without_a_deal_is_an_empty_list(home: Path, body: dict[str, Any]) -> None:
    with ScriptedServer([{"json": BUCKET | body}]) as server:
        result = call(NAME, home, {"asin": "B000000001"}, server)
    assert result["ok"] and (result["data"]["count"], result["data"]["items"]) == (0, [])


def test_a_limit_shortens_rows_and_body(home: Path) -> None:
    many = [DEAL | {"dealId": str(i)} for i in range(5)]
    with ScriptedServer([{"json": BUCKET | {"lightningDeals": many}}]) as server:
        data = call(NAME, home, {"limit": 2}, server, yes=True)["data"]
    assert (data["count"], data["shown"], len(data["items"]), len(data["body"]["lightningDeals"])) == (5, 2, 2, 2)


def test_a_deal_of_another_product_is_a_wrong_answer(home: Path) -> None:
    with ScriptedServer([{"json": DEALS}]) as server:
        error = refusal(call(NAME, home, {"asin": "B000000002"}, server))
    assert error["kind"] == "contract_error" and "B000000001 was not asked for" in error["message"]


def test_a_deal_without_asin_breaks_the_contract(home: Path) -> None:
    nameless = {k: v for k, v in DEAL.items() if k != "asin"}
    with ScriptedServer([{"json": BUCKET | {"lightningDeals": [nameless]}}]) as server:
        error = refusal(call(NAME, home, {}, server, yes=True))
    assert error["kind"] == "contract_error" and error["details"]["errors"][0]["path"] == "$.lightningDeals[0].asin"


@pytest.mark.parametrize(
    ("params", "field"),
    [({"asin": ""}, "asin"), ({"state": "OPEN"}, "state"), ({"domain": 12}, "domain"), ({"limit": -1}, "limit")],
)
def test_bad_input_is_refused_before_anything_is_sent(home: Path, params: dict[str, Any], field: str) -> None:
    with ScriptedServer([]) as server:
        error = refusal(call(NAME, home, params, server, yes=True))
    assert error["kind"] == "invalid_arguments" and error["details"]["field"] == field
    assert not server.seen

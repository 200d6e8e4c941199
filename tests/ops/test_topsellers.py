"""The most rated sellers: request, limit, empty answers, consent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.remote import BUCKET, call, refusal
from tests.support.scripted_server import ScriptedServer

NAME = "topsellers.list"
SELLERS = [f"A{i:013d}" for i in range(4)]


def test_the_order_of_keepa_is_kept_and_a_limit_says_so(home: Path) -> None:
    with ScriptedServer([{"json": BUCKET | {"sellerIdList": SELLERS}}] * 2) as server:
        whole = call(NAME, home, {"domain": "DE"}, server, yes=True)
        cut = call(NAME, home, {"limit": 3}, server, yes=True)
    assert server.seen[0].path == "/topseller" and server.seen[0].value("domain") == "3"
    assert whole["data"]["body"]["sellerIdList"] == SELLERS and not whole["warnings"]
    assert cut["data"]["body"]["sellerIdList"] == SELLERS[:3] and cut["data"]["count"] == 4
    assert "At most 3" in cut["warnings"][0]["message"]


@pytest.mark.parametrize("body", [{}, {"sellerIdList": None}, {"sellerIdList": []}])
def test_no_sellers_are_no_error(home: Path, body: dict[str, Any]) -> None:
    with ScriptedServer([{"json": BUCKET | body}]) as server:
        assert call(NAME, home, {}, server, yes=True)["data"]["count"] == 0


def test_consent_and_marketplace_are_checked_before_anything_is_sent(home: Path) -> None:
    with ScriptedServer([]) as server:
        assert refusal(call(NAME, home, {}, server))["kind"] == "confirmation_required"
        brazil = refusal(call(NAME, home, {"domain": "com.br"}, server, yes=True))
    assert brazil["kind"] == "invalid_arguments" and "US" in brazil["details"]["allowed"]
    assert not server.seen


def test_ids_that_are_no_texts_break_the_contract(home: Path) -> None:
    with ScriptedServer([{"json": BUCKET | {"sellerIdList": [1]}}]) as server:
        error = refusal(call(NAME, home, {}, server, yes=True))
    assert error["kind"] == "contract_error" and error["details"]["errors"][0]["path"] == "$.sellerIdList[0]"

"""Best sellers against a scripted Keepa: what is asked, what is refused, what an answer becomes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.ops.bestsellers import month_check
from tests.support.remote import BUCKET, call, refusal
from tests.support.scripted_server import ScriptedServer

NAME = "bestsellers.get"
ASINS = [f"B{i:09d}" for i in range(5)]
LIST = {"bestSellersList": {"domainId": 1, "lastUpdate": 8075700, "categoryId": 1000, "asinList": ASINS}}


def asked(home: Path, **params: Any) -> dict[str, str]:
    return dict(call(NAME, home, params, dry_run=True)["request"]["query"])


def test_every_parameter_goes_over_the_wire(home: Path) -> None:
    assert asked(home, category=172282) == {"domain": "1", "category": "172282"}
    full = asked(home, category="Beauty", domain="DE", range=0, variations=True)
    assert full == {"domain": "3", "category": "Beauty", "range": "0", "variations": "1"}
    month = asked(home, category="1", month=8, year=datetime.now(UTC).year - 1, variations=True)
    assert month["month"] == "8" and month["year"] == str(datetime.now(UTC).year - 1)
    assert asked(home, category="1", sublist=True)["sublist"] == "1"


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"category": "1", "month": 3}, "year"),
        ({"category": "1", "year": 2026}, "month"),
        ({"category": "1", "month": 13, "year": 2026}, "month"),
        ({"category": "1", "month": 3, "year": 2010}, "year"),
        ({"category": "1", "range": 31}, "range"),
        ({"category": "1", "range": 30, "month": 3, "year": 2026}, "month"),
        ({"category": "1", "range": 0, "sublist": True}, "sublist"),
        ({"category": "1", "sublist": True, "month": 3, "year": 2026}, "sublist"),
        ({"category": "0"}, "category"),
        ({"category": "-5"}, "category"),
        ({"category": " "}, "category"),
        ({"category": "1", "limit": 0}, "limit"),
        ({"category": "1", "domain": "BR"}, "domain"),
        ({}, "category"),
    ],
)
def test_what_keepa_does_not_know_is_refused_before_anything_is_sent(
    home: Path, params: dict[str, Any], field: str
) -> None:
    with ScriptedServer([{"json": BUCKET}]) as server:
        error = refusal(call(NAME, home, params, server, yes=True))
    assert error["kind"] == "invalid_arguments" and error["details"]["field"] == field
    assert not server.seen


NOW = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.mark.parametrize(("year", "month"), [(2026, 10), (2023, 11), (2025, 1)])
def test_the_last_36_complete_months_are_answered(year: int, month: int) -> None:
    month_check(year, month)(NOW)


@pytest.mark.parametrize(("year", "month"), [(2026, 11), (2026, 12), (2023, 10), (2030, 1)])
def test_other_months_are_refused_with_those_that_exist(year: int, month: int) -> None:
    with pytest.raises(KeepaCliError, match="2023-11 to 2026-10") as caught:
        month_check(year, month)(NOW)
    assert caught.value.details["field"] == "month"


@given(st.integers(0, 14 * 365))
@settings(max_examples=50, deadline=None)
def test_exactly_36_months_are_answered_on_any_day(days: int) -> None:
    now, answered = NOW + timedelta(days=days), 0
    for index in range(2011 * 12, 2045 * 12):
        try:
            month_check(index // 12, index % 12 + 1)(now)
        except KeepaCliError:
            continue
        answered += 1
    assert answered == 36


def test_a_month_of_today_is_no_matter_of_recordings(home: Path) -> None:
    old = call(NAME, home, {"category": "1", "month": 1, "year": 2020})
    assert refusal(old)["kind"] == "cassette_miss"
    assert refusal(call(NAME, home, {"category": "1", "month": 1, "year": 2020}, dry_run=True))["details"]["field"] == (
        "month"
    )


def test_a_limit_shortens_what_is_shown_and_says_so(home: Path, tmp_path: Path) -> None:
    with ScriptedServer([{"json": BUCKET | LIST}] * 3) as server:
        whole = call(NAME, home, {"category": "1"}, server, yes=True)
        cut = call(NAME, home, {"category": "1", "limit": 2}, server, yes=True)
        call(NAME, home, {"category": "1", "limit": 2}, server, yes=True, out=tmp_path / "all.json")
    assert whole["data"]["body"]["bestSellersList"]["asinList"] == ASINS and not whole["warnings"]
    assert cut["data"]["body"]["bestSellersList"]["asinList"] == ASINS[:2]
    assert (cut["data"]["count"], cut["data"]["shown"]) == (5, 2)
    assert cut["data"]["last_update"] == "2026-05-10T03:00:00Z"
    assert "At most 2" in cut["warnings"][0]["message"]
    assert json.loads((tmp_path / "all.json").read_text())["bestSellersList"]["asinList"] == ASINS


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, []),
        ({"bestSellersList": None}, []),
        ({"bestSellersList": {"asinList": None}}, []),
        ({"bestSellersList": {"asinList": []}, "asinList": ["X"]}, []),
        ({"bestSellersList": {}}, []),
        ({"asinList": ASINS}, ASINS),
        (LIST, ASINS),
    ],
)
def test_no_list_is_an_empty_result_and_a_list_at_the_top_counts(
    home: Path, body: dict[str, Any], expected: list[str]
) -> None:
    with ScriptedServer([{"json": BUCKET | body}]) as server:
        result = call(NAME, home, {"category": "1", "limit": 2}, server, yes=True)
    assert result["ok"] and result["data"]["count"] == len(expected)
    left = result["data"]["body"].get("bestSellersList") or result["data"]["body"]
    assert (left.get("asinList") or []) == expected[:2]


def test_another_kind_of_list_breaks_the_contract(home: Path) -> None:
    with ScriptedServer([{"json": BUCKET | {"bestSellersList": ASINS}}]) as server:
        error = refusal(call(NAME, home, {"category": "1"}, server, yes=True))
    assert error["kind"] == "contract_error" and error["details"]["kept_at"]


def test_fifty_tokens_wait_for_consent(home: Path) -> None:
    with ScriptedServer([]) as server:
        error = refusal(call(NAME, home, {"category": "1"}, server))
    assert error["kind"] == "confirmation_required" and error["details"]["worst_case_tokens"] == 50
    assert not server.seen

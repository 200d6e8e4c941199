"""Product requests: every documented parameter, its range and what it excludes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.remote import BUCKET, call, refusal
from tests.support.scripted_server import ScriptedServer

NAME = "products.get"
ASINS = [f"B{i:09d}" for i in range(41)]


def planned(home: Path, **params: Any) -> dict[str, Any]:
    result = call(NAME, home, params, dry_run=True)
    assert result["ok"], result["error"]
    return dict(result)


def test_every_documented_parameter_goes_over_the_wire(home: Path) -> None:
    by_asin = planned(
        home, asin=ASINS[0], domain="MX", stats="90", history=False, days=30, update=-1, offers=100, stock=True,
        only_live_offers=True, buybox=True, rating=True, historical_variations=True, videos=True, aplus=True,
    )  # fmt: skip
    assert by_asin["request"]["query"] == {
        "domain": "11", "asin": ASINS[0], "stats": "90", "history": "0", "days": "30", "update": "-1", "offers": "100",
        "stock": "1", "only-live-offers": "1", "buybox": "1", "rating": "1", "historical-variations": "1",
        "videos": "1", "aplus": "1",
    }  # fmt: skip
    by_code = planned(home, code=["0747474801770"], code_limit=3, domain="BR")
    assert by_code["request"]["query"] == {"domain": "12", "code": "0747474801770", "code-limit": "3"}


@pytest.mark.parametrize(
    "stats",
    ["1", 365, "0", "2025-01-01,2025-12-31", "2025-01-01T10:00,2025-01-01T12:00", "1700000000000,1800000000000"],
)
def test_statistics_take_days_or_a_window(home: Path, stats: Any) -> None:
    assert planned(home, asin=ASINS[0], stats=stats)["request"]["query"]["stats"] == str(stats)


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "asin"),
        ({"asin": ASINS[0], "code": "0747474801770"}, "asin"),
        ({"asin": ["B00"]}, "asin"),
        ({"code": ["0747474801771"]}, "code"),
        ({"asin": ASINS[0], "code_limit": 3}, "code_limit"),
        ({"code": "0747474801770", "code_limit": 0}, "code_limit"),
        ({"asin": ASINS[0], "offers": 19}, "offers"),
        ({"asin": ASINS[0], "offers": 101}, "offers"),
        ({"asin": ASINS[0], "days": 0}, "days"),
        ({"asin": ASINS[0], "days": -5}, "days"),
        ({"asin": ASINS[0], "update": -2}, "update"),
        ({"asin": ASINS[0], "stock": True}, "stock"),
        ({"asin": ASINS[0], "only_live_offers": True}, "only-live-offers"),
        ({"asin": ASINS[0], "domain": "AU"}, "domain"),
        *(
            ({"asin": ASINS[0], "stats": stats}, "stats")
            for stats in (
                "-1",
                "x",
                "",
                "1.5",
                "2025-02-01,2025-01-01",
                "2025-01-01,2025-01-01",
                "2025-02-30,2025-03-01",
                "2025-01-01",
                "1800000000000,1700000000000",
                "2025-01-01,1800000000000",
                "9999999999999,1700000000000",
            )
        ),
    ],
)
def test_bad_input_is_refused_before_a_token_is_spent(home: Path, params: dict[str, Any], field: str) -> None:
    with ScriptedServer([{"json": BUCKET}]) as server:
        error = refusal(call(NAME, home, params, server, yes=True))
        assert error["kind"] == "invalid_arguments" and error["details"]["field"] == field and not server.seen


def test_offers_are_asked_for_twenty_products_at_a_time(home: Path) -> None:
    with ScriptedServer([{"echo_products": True, "json": BUCKET}], repeat_last=True) as server:
        assert call(NAME, home, {"asin": ASINS, "offers": 20}, server, yes=True)["ok"]
        assert [len((seen.value("asin") or "").split(",")) for seen in server.seen] == [20, 20, 1]

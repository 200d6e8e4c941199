"""Trackings against a scripted Keepa: eight types, what is refused, what is never sent twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keepa_cli import ops
from keepa_cli.interfaces.cli.render import render
from tests.support.remote import BUCKET, KEY, call, context, refusal
from tests.support.scripted_server import ScriptedServer

A, B = "B000000001", "B000000002"
NOTIFY = [{"domain": 1, "csvType": 0, "notifyIfType": 1}]
FREE = BUCKET | {"tokensConsumed": 0}


def made(asin: str, **more: Any) -> dict[str, Any]:
    """A tracking to create."""
    return {"asin": asin, "mainDomainId": 1, "notifyIf": NOTIFY} | more


def answered(*asins: str) -> dict[str, Any]:
    rows = [{"asin": asin, "mainDomainId": 1, "isActive": True, "createDate": 8075762} for asin in asins]
    return BUCKET | {"trackings": rows, "tokensConsumed": len(rows)}


READS: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    ("tracking.list", {}, {"type": "list"}),
    ("tracking.list", {"asins_only": True, "list_name": "mine"}, {"type": "list", "list": "mine", "asins-only": "1"}),
    ("tracking.list", {"page": 0, "per_page": 50}, {"type": "list", "page": "0", "perPage": "50"}),
    ("tracking.list-names", {}, {"type": "listNames"}),
    ("tracking.get", {"asin": A, "list_name": "a b"}, {"type": "get", "list": "a b", "asin": A}),
    (
        "tracking.notifications",
        {"since": "2026-09-21T13:00Z", "revise": True, "all": True, "list_name": "mine"},
        {"type": "notification", "list": "mine", "since": "8269260", "revise": "1", "all": "1", "readOnly": "1"},
    ),
    ("tracking.notifications", {}, {"type": "notification", "since": "0", "revise": "0", "readOnly": "1"}),
]
WRITES: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    ("tracking.add", {"tracking": made(A), "list_name": "mine"}, {"type": "add", "list": "mine"}),
    ("tracking.remove", {"asin": A}, {"type": "remove", "asin": A}),
    ("tracking.remove-all", {"list_name": "mine"}, {"type": "removeAll", "list": "mine"}),
    (
        "tracking.webhook",
        {"url": "https://hooks.example.com/x"},
        {"type": "webhook", "url": "https://hooks.example.com/x"},
    ),
    ("tracking.notifications", {"mark_read": True}, {"type": "notification", "since": "0", "revise": "0"}),
]


@pytest.mark.parametrize(("name", "params", "query"), READS)
def test_what_only_reads_asks_nobody(home: Path, name: str, params: dict[str, Any], query: dict[str, str]) -> None:
    with ScriptedServer([{"json": FREE}]) as server:
        result = call(name, home, params, server)
    assert result["ok"], result
    (seen,) = server.seen
    assert (seen.method, seen.path, dict(seen.query[1:])) == ("GET", "/tracking", query)
    assert result["token_bucket"]["estimated"]["worst_case_tokens"] == 0


@pytest.mark.parametrize(("name", "params", "query"), WRITES)
def test_what_writes_asks_first_and_then_goes_out_once(
    home: Path, name: str, params: dict[str, Any], query: dict[str, str]
) -> None:
    with ScriptedServer([{"json": FREE}]) as server:
        assert refusal(call(name, home, params, server))["kind"] == "confirmation_required"
        assert not server.seen
        assert call(name, home, params, server, yes=True)["ok"]
    (seen,) = server.seen
    assert dict(seen.query[1:]) == query


FAILURES: list[dict[str, Any]] = [
    {"fault": "reset_before_answer"},
    {"json": FREE, "cut": 0.5},
    {"status": 500, "text": "oops"},
    {"status": 503, "text": ""},
    {"status": 429, "json": FREE | {"tokensLeft": 0, "refillIn": 10}},
]


@pytest.mark.parametrize("step", FAILURES, ids=["reset", "cut", "500", "503", "429"])
@pytest.mark.parametrize(("name", "params", "query"), WRITES, ids=[w[0] for w in WRITES])
def test_no_write_is_ever_sent_twice(
    home: Path, name: str, params: dict[str, Any], query: dict[str, str], step: dict[str, Any]
) -> None:
    with ScriptedServer([step, {"json": FREE}, {"json": FREE}]) as server:
        result = call(name, home, params, server, yes=True)
    assert not result["ok"] and len(server.seen) == 1


def test_a_read_is_sent_again_where_nothing_was_charged(home: Path) -> None:
    with ScriptedServer([{"status": 503, "text": ""}, {"json": FREE}]) as server:
        assert call("tracking.list", home, {}, server)["ok"]
    assert len(server.seen) == 2


def test_add_posts_a_list_and_tells_what_became_of_each(home: Path) -> None:
    with ScriptedServer([{"json": answered(A, B)}]) as server:
        result = call("tracking.add", home, {"tracking": [made(A), made(B)]}, server, yes=True)
    (seen,) = server.seen
    assert seen.method == "POST" and seen.headers["Content-Type"].startswith("application/json")
    assert [t["asin"] for t in json.loads(seen.body)] == [A, B]
    assert result["data"]["count"] == 2 and result["data"]["failed"] == []
    assert [i["status"] for i in result["data"]["items"]] == ["tracked", "tracked"]
    assert result["token_bucket"]["estimated"]["worst_case_tokens"] == result["token_bucket"]["charged"] == 2


def test_the_estimate_names_what_trackings_take_off_the_refill(home: Path) -> None:
    dear = made(B, notifyIf=[{"domain": 1, "csvType": 18, "notifyIfType": 1}])
    result = call("tracking.add", home, {"tracking": [made(A), dear]}, dry_run=True)
    estimated = result["token_bucket"]["estimated"]
    assert estimated["estimated_tokens"] == 2 and estimated["requires_confirmation"]
    assert "1 regular and 1 marketplace trackings take about 0.17 tokens per minute" in estimated["notes"][0]


def test_of_a_mixed_list_nothing_is_sent_unless_asked(home: Path) -> None:
    mixed = [made(A), {"asin": "x"}, 5, made(A), made(B, updateInterval=25)]
    with ScriptedServer([{"json": answered(A, B)}]) as server:
        error = refusal(call("tracking.add", home, {"tracking": mixed}, server, yes=True))
        assert error["kind"] == "invalid_arguments" and not server.seen
        assert error["message"].startswith("3 of 5 trackings cannot be sent.")
        assert [g["asin"] for g in error["details"]["good"]] == [A, B]
        assert [b["index"] for b in error["details"]["bad"]] == [1, 2, 3]
        assert "--skip-invalid" in error["next_actions"][0]
        params = {"tracking": mixed, "skip_invalid": True}
        result = call("tracking.add", home, params, server, yes=True)
    assert [t["asin"] for t in json.loads(server.seen[0].body)] == [A, B]
    assert [i["status"] for i in result["data"]["items"]] == ["tracked", "invalid", "invalid", "invalid", "tracked"]
    assert result["token_bucket"]["estimated"]["worst_case_tokens"] == 2
    told = " ".join(w["message"] for w in result["warnings"])
    assert "Tracking 1 is left out" in told and "updateInterval 25" in told


@pytest.mark.parametrize("skip", [False, True])
def test_a_list_without_a_good_one_is_refused(home: Path, skip: bool) -> None:
    error = refusal(call("tracking.add", home, {"tracking": [{}, 1], "skip_invalid": skip}, dry_run=True))
    assert error["details"]["good"] == [] and len(error["details"]["errors"]) == 3
    assert "--skip-invalid" not in error["next_actions"][0]


def test_a_partial_failure_names_what_failed(home: Path) -> None:
    partly = answered(A) | {"error": {"type": "trackingError", "message": f"could not track {B}", "details": B}}
    with ScriptedServer([{"json": partly}]) as server:
        result = call("tracking.add", home, {"tracking": [made(A), made(B)]}, server, yes=True)
    assert result["ok"] and result["data"]["failed"] == [B]
    warning = next(w for w in result["warnings"] if w["code"] == "partial")
    assert warning["unanswered"] == [B] and B in warning["message"]


def test_a_total_failure_is_an_error(home: Path) -> None:
    with ScriptedServer(
        [{"json": FREE | {"error": {"type": "x", "message": f"{A} failed"}, "trackings": []}}]
    ) as server:
        error = refusal(call("tracking.add", home, {"tracking": made(A)}, server, yes=True))
    assert error["kind"] == "api_error" and A in error["message"]


@pytest.mark.parametrize(
    ("name", "params"),
    [("tracking.get", {"asin": A}), ("tracking.add", {"tracking": made(A)})],
)
def test_a_tracking_of_another_product_is_a_wrong_answer(home: Path, name: str, params: dict[str, Any]) -> None:
    with ScriptedServer([{"json": answered(B)}]) as server:
        error = refusal(call(name, home, params, server, yes=True))
    assert error["kind"] == "contract_error" and f"{B} was not asked for" in error["message"]


def test_also_a_fixture_of_another_product_is_a_wrong_answer(home: Path, cli: Any) -> None:
    (home / "work" / "cassettes").mkdir()
    with ScriptedServer([{"json": answered(A)}]) as server:
        env = {"KEEPA_BASE_URL": server.url, "KEEPA_API_KEY": KEY}
        assert cli("--json", "tracking", "get", A, "--record=tracked", env=env).returncode == 0
    assert cli("--json", "cassettes", "promote", "tracked", "--name", "tracked").returncode == 0
    assert call("tracking.get", home, {"asin": A}, fixture="tracked")["ok"]
    assert call("tracking.get", home, {"asin": A}, ctx=context(home))["ok"]
    error = refusal(call("tracking.get", home, {"asin": B}, fixture="tracked"))
    assert error["kind"] == "contract_error" and f"{A} was not asked for" in error["message"]


def test_get_shows_a_row_and_an_untracked_product_is_an_error(home: Path) -> None:
    missing = FREE | {"error": {"type": "invalidParameter", "message": "not tracked"}}
    with ScriptedServer([{"json": answered(A)}, {"json": missing}]) as server:
        row = call("tracking.get", home, {"asin": A}, server)["data"]["items"][0]
        error = refusal(call("tracking.get", home, {"asin": A}, server))
    assert (row["asin"], row["active"], row["domain"]) == (A, True, "US")
    assert error["kind"] == "request_rejected" and "not tracked" in error["message"]


def test_lists_names_and_notifications_are_counted(home: Path) -> None:
    note = {"asin": A, "csvType": 0, "notificationDomainId": 1, "currentPrices": [1899], "trackingNotificationCause": 1}
    steps = [
        {"json": FREE | {"asinList": [A, B]}},
        {"json": FREE | {"trackingListNames": ["mine", "yours"]}},
        {"json": FREE | {"notifications": [note]}},
        {"json": FREE},
    ]
    with ScriptedServer(steps) as server:
        assert call("tracking.list", home, {"asins_only": True}, server)["data"]["count"] == 2
        assert call("tracking.list-names", home, {}, server)["data"]["names"] == ["mine", "yours"]
        data = call("tracking.notifications", home, {}, server)["data"]
        assert (data["marked_read"], data["items"][0]["value"]) == (False, "18.99 USD")
        assert call("tracking.list", home, {}, server)["data"]["count"] == 0


@pytest.mark.parametrize(
    ("name", "params", "field"),
    [
        ("tracking.list", {"page": 1}, "page"),
        ("tracking.list", {"asins_only": True, "per_page": 5}, "per_page"),
        ("tracking.list", {"per_page": 0}, "per_page"),
        ("tracking.list", {"list_name": "x" * 65}, "list_name"),
        ("tracking.list", {"list_name": " "}, "list_name"),
        ("tracking.get", {}, "asin"),
        ("tracking.notifications", {"since": -1}, "since"),
        ("tracking.notifications", {"since": "yesterday"}, "since"),
        ("tracking.notifications", {"since": 1790000000000}, "since"),
        ("tracking.add", {"tracking": "{"}, "tracking"),
        ("tracking.add", {"tracking": []}, "tracking"),
        ("tracking.add", {"tracking": "5"}, "tracking"),
        ("tracking.add", {"tracking": [made(A)] * 1001}, "tracking"),
        ("tracking.add", {"tracking": {"asin": A, "notifyIf": NOTIFY}}, "mainDomainId"),
        ("tracking.remove", {"asin": "B0"}, "asin"),
    ],
)
def test_bad_input_is_refused_before_anything_is_sent(
    home: Path, name: str, params: dict[str, Any], field: str
) -> None:
    with ScriptedServer([]) as server:
        error = refusal(call(name, home, params, server, yes=True))
    assert error["kind"] == "invalid_arguments" and error["details"]["field"] == field
    assert not server.seen


def test_trackings_come_from_an_argument_a_file_or_standard_input(cli: Any, home: Path) -> None:
    text = json.dumps([made(A), made(B)])
    (home / "work" / "t.json").write_text(text)
    sources: list[tuple[list[str], str]] = [
        (["--tracking-json", text], ""),
        (["--tracking-file", "t.json"], ""),
        (["--tracking-file", "-"], text),
    ]
    for args, stdin in sources:
        done = cli("--json", "tracking", "add", *args, "--dry-run", stdin=stdin)
        assert done.returncode == 0, done.stdout
        assert [t["asin"] for t in json.loads(done.stdout)["request"]["body"]] == [A, B]


def test_marking_as_read_is_the_only_read_that_writes(home: Path) -> None:
    op = ops.find("tracking.notifications")
    assert op.run(since=0).query["readOnly"] is True and not op.run(since=0).writes
    assert op.run(since=0, mark_read=True).query["readOnly"] is None and op.run(since=0, mark_read=True).writes


def test_a_file_that_is_not_there_is_an_error(cli: Any) -> None:
    done = cli("--json", "tracking", "add", "--tracking-file", "missing.json", "--dry-run")
    assert json.loads(done.stdout)["error"]["kind"] == "io_error"


def test_the_text_for_people_tells_the_watches(home: Path) -> None:
    with ScriptedServer([{"json": answered(A)}]) as server:
        text = render(call("tracking.get", home, {"asin": A}, server))
    assert A in text and "regular" in text


@pytest.mark.parametrize("step", [{"fault": "reset_before_answer"}, {"status": 503, "text": ""}], ids=["reset", "503"])
def test_recording_a_write_sends_it_once_as_well(cli: Any, step: dict[str, Any]) -> None:
    with ScriptedServer([step, {"json": FREE}]) as server:
        env = {"KEEPA_BASE_URL": server.url, "KEEPA_API_KEY": KEY}
        done = cli("--json", "tracking", "remove", A, "--record", "--yes", env=env)
    assert not json.loads(done.stdout)["ok"] and len(server.seen) == 1

"""What the ledger says after each kind of ending of a live call."""

from __future__ import annotations

import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.envelope import Envelope
from keepa_cli.engine import Flags, modes
from keepa_cli.engine.accounting import _divide
from keepa_cli.engine.call import Answer
from keepa_cli.keepa.wire import Source, WireResponse
from keepa_cli.store.ledger import FILE
from tests.support.money import BUCKET, ONE, call, context, outline, rows
from tests.support.sandbox import KEY, running_sandbox
from tests.support.scripted_server import ScriptedServer


def scripted(home: Path, *steps: dict[str, Any], **options: Any) -> tuple[Envelope, int]:
    with ScriptedServer(steps) as server:
        result = call(context(home, server.url), **options)
        return result, len(server.seen)


def test_an_answered_request_is_settled_with_what_keepa_says(home: Path) -> None:
    with running_sandbox() as box:
        result = call(context(home, box.base_url), params=ONE | {"buybox": True})
        assert [e.tokens for e in box.log] == [3]
    [row] = rows(home)
    assert (row["state"], row["consumed"], row["consumed_source"], row["worst"]) == ("settled", 3, "keepa", 3)
    assert (row["operation"], row["mode"], row["origin"], row["path"]) == (
        "products.get",
        "live",
        "sandbox",
        "/product",
    )
    assert row["fingerprint"] == result["provenance"]["fingerprint"] and result["provenance"]["ledger"] == [row["id"]]
    assert KEY not in (home / "state" / FILE).read_bytes().decode("latin-1")


def test_the_row_is_written_before_the_request_leaves(home: Path) -> None:
    seen: list[str] = []

    def answer(_: Any) -> dict[str, Any]:
        seen.extend(row["state"] for row in rows(home))
        return {"json": BUCKET | {"tokensConsumed": 1}, "echo_products": True}

    with ScriptedServer(answer=answer) as server:
        assert call(context(home, server.url))["ok"]
    assert seen == ["reserved"] and outline(home) == [("settled", 1, 1)]


def test_each_request_of_a_batch_has_its_row(home: Path) -> None:
    with running_sandbox(rate=100) as box:
        asins = [f"B{n:09d}" for n in range(1, 131)]
        assert call(context(home, box.base_url), params={"asin": asins, "history": False})["ok"]
        charged = [e.tokens for e in box.log]
    assert [(r["worst"], r["consumed"], r["part"], r["parts"]) for r in rows(home)] == [
        (100, charged[0], 0, 2),
        (30, charged[1], 1, 2),
    ]
    assert len({r["call"] for r in rows(home)}) == 1


def test_retries_that_cost_nothing_stay_in_one_row(home: Path) -> None:
    busy = {"status": 429, "json": BUCKET | {"tokensLeft": 0, "refillIn": 1, "tokensConsumed": 0}}
    broken = {"status": 500, "json": {"error": {"message": "x"}}}
    good = {"json": BUCKET | {"tokensConsumed": 1}, "echo_products": True}
    result, sent = scripted(home, busy, broken, good)
    assert result["ok"] and sent == 3 and outline(home) == [("settled", 1, 3)]


@pytest.mark.parametrize(
    ("step", "kind", "state"),
    [
        ({"status": 400, "json": BUCKET | {"error": {"type": "invalidParameter"}}}, "request_rejected", "released"),
        ({"status": 402, "json": BUCKET | {"error": {"type": "unauthorized"}}}, "auth_error", "released"),
        ({"json": BUCKET | {"tokensConsumed": 0, "error": {"message": "no"}}}, "api_error", "released"),
        ({"fault": "reset_before_answer"}, "outcome_unknown", "manual_review"),
        ({"json": BUCKET, "cut": 0.5}, "outcome_unknown", "manual_review"),
        ({"text": "<html>sign in</html>"}, "outcome_unknown", "manual_review"),
    ],
)
def test_a_failure_is_judged_by_what_it_says_of_the_charge(
    home: Path, step: dict[str, Any], kind: str, state: str
) -> None:
    result, _ = scripted(home, step)
    assert result["error"]["kind"] == kind
    [row] = rows(home)
    assert (row["state"], row["error_kind"], row["consumed"]) == (state, kind, None)
    assert result["error"]["details"]["ledger"] == {"id": row["id"], "state": state}
    assert (f"kc ledger show {row['id']}" in result["error"]["next_actions"]) is (state == "manual_review")


def test_no_connection_is_released(home: Path) -> None:
    result, _ = scripted(home, {"fault": "refused"}, wait=False)
    assert result["error"]["kind"] == "transport_error" and outline(home) == [("released", None, 1)]


def test_a_timeout_is_for_review(home: Path) -> None:
    with ScriptedServer([{"fault": "stall_after_request", "ms": 20_000}]) as server:
        result = call(context(home, server.url, "timeout_seconds = 1\n"))
    assert result["error"]["kind"] == "timeout" and outline(home) == [("manual_review", None, 1)]


def test_an_error_that_was_charged_is_settled(home: Path) -> None:
    result, _ = scripted(home, {"status": 404, "json": BUCKET | {"tokensConsumed": 2, "error": {"message": "no"}}})
    assert not result["ok"] and outline(home) == [("settled", 2, 1)]


def test_a_paid_answer_that_breaks_the_contract_is_settled(home: Path) -> None:
    result, _ = scripted(home, {"json": BUCKET | {"tokensConsumed": 1, "products": {"a": 1}}})
    assert result["error"]["kind"] == "contract_error" and outline(home) == [("settled", 1, 1)]


def test_an_answer_that_hides_its_cost_is_for_review(home: Path) -> None:
    scripted(home, {"json": BUCKET, "echo_products": True})
    [row] = rows(home)
    assert row["state"] == "manual_review" and "does not say" in row["note"]


@pytest.mark.parametrize("figure", [-5, 10**30, 1e300])
def test_a_charge_that_cannot_be_one_is_for_review(home: Path, figure: float) -> None:
    scripted(home, {"json": BUCKET | {"tokensConsumed": figure}, "echo_products": True})
    assert outline(home) == [("manual_review", None, 1)]


def test_a_picture_is_settled_with_the_estimate_and_marked(home: Path) -> None:
    png = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
    params = {"asin": "B000000001"}
    with ScriptedServer([{"body": png, "headers": {"Content-Type": "image/png"}}]) as server:
        result = call(context(home, server.url), "graphs.image", params, out=home / "g.png")
    assert result["ok"], result
    [row] = rows(home)
    assert (row["state"], row["consumed"], row["consumed_source"]) == ("settled", 1, "estimate")


class Interrupted:
    """A transport that is cut off by Ctrl-C."""

    def send(self, request: Any, *, retry: bool = True) -> WireResponse:
        raise KeyboardInterrupt


def test_an_interrupt_while_under_way_is_for_review(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modes, "transport_for", lambda *a, **k: Interrupted())
    ctx = context(home, "https://api.keepa.com")
    with pytest.raises(KeyboardInterrupt):
        call(ctx)
    [row] = rows(home)
    assert (row["state"], row["error_kind"], row["origin"]) == ("manual_review", "outcome_unknown", "live")
    assert ctx.interrupted_while_spending and ctx.after_interrupt.endswith(f"kc ledger show {row['id']}")


def test_an_interrupt_between_attempts_costs_nothing(home: Path) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    busy = {"status": 429, "json": BUCKET | {"tokensLeft": 0, "tokensConsumed": 0}}
    with ScriptedServer([busy]) as server:
        ctx = context(home, server.url, sleep=interrupted)
        with pytest.raises(KeyboardInterrupt):
            call(ctx)
    assert [(r["state"], r["note"][:11]) for r in rows(home)] == [("released", "Interrupted")]
    assert not ctx.interrupted_while_spending


def test_a_defect_after_sending_is_for_review(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def send(self, request: Any, *, retry: bool = True) -> WireResponse:
            raise ZeroDivisionError

    monkeypatch.setattr(modes, "transport_for", lambda *a, **k: Broken())
    assert call(context(home, "https://api.keepa.com"))["error"]["kind"] == "internal_error"
    assert [(r["state"], r["note"]) for r in rows(home)] == [("manual_review", "ZeroDivisionError")]


def test_record_mode_goes_through_the_ledger(home: Path) -> None:
    with running_sandbox() as box:
        result = call(context(home, box.base_url), flags=Flags(record="one"))
        assert result["ok"], result
        assert [(r["mode"], r["state"], r["consumed"]) for r in rows(home)] == [("record", "settled", 1)]
        taken = call(context(home, box.base_url), flags=Flags(record="../bad"))
        assert not taken["ok"] and len(box.log) == len(rows(home)) == 1


@pytest.mark.parametrize("flags", [Flags(replay=True), Flags(dry_run=True), Flags(fixture="none")])
def test_other_modes_never_open_the_ledger(home: Path, flags: Flags, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keepa_cli.store.ledger", None)
    call(context(home, "https://api.keepa.com"), flags=flags, idempotency_key="k")
    assert not (home / "state" / FILE).exists() and not (home / "state" / "sessions").exists()


@pytest.mark.parametrize(("setting", "span"), [("max_tokens_per_day", "day"), ("max_tokens_per_session", "session")])
def test_a_limit_refuses_before_anything_is_sent(home: Path, setting: str, span: str) -> None:
    with running_sandbox() as box:
        ctx = context(home, box.base_url, f"{setting} = 12\n")
        assert call(ctx, "products.search", {"term": "kettle"})["ok"]
        result = call(ctx, params={"asin": ["B000000001", "B000000002", "B000000003"]})
        assert result["error"]["kind"] == "budget_exceeded" and len(box.log) == 1
        details = result["error"]["details"]
        assert (details["limit_name"], details["limit"], details["remaining"]) == (setting, 12, 2)
        assert call(ctx, params={"asin": ["B000000001", "B000000002"]})["ok"]
        assert call(ctx, "tokens.status", {})["ok"], "what is free is never refused"


def test_a_batch_over_the_limit_sends_none_of_its_requests(home: Path) -> None:
    with running_sandbox(rate=100) as box:
        ctx = context(home, box.base_url, "max_tokens_per_day = 120\n")
        result = call(ctx, params={"asin": [f"B{n:09d}" for n in range(1, 131)]})
        assert result["error"]["kind"] == "budget_exceeded" and not box.log and not rows(home)


def test_what_a_failed_batch_did_not_send_is_given_back(home: Path) -> None:
    steps = [{"json": BUCKET | {"tokensConsumed": 100}, "echo_products": True}, {"fault": "reset_before_answer"}]
    with ScriptedServer(steps) as server:
        ctx = context(home, server.url, "max_tokens_per_day = 300\n")
        result = call(ctx, params={"asin": [f"B{n:09d}" for n in range(250)]})
        assert result["error"]["details"]["answered"] == {"requests": 1, "of": 3}
    assert [(r["state"], r["worst"]) for r in rows(home)] == [("settled", 100), ("manual_review", 100)]
    connection = sqlite3.connect(home / "state" / FILE)
    assert connection.execute("SELECT COUNT(*) FROM holds").fetchone() == (0,)
    connection.close()


def test_a_ledger_that_cannot_be_written_stops_the_call(home: Path) -> None:
    (home / "state").rmdir()
    (home / "state").write_text("a file")
    with running_sandbox() as box:
        result = call(context(home, box.base_url))
        assert result["error"]["kind"] == "io_error" and not box.log
        free = call(context(home, box.base_url), "tokens.status", {})
        assert free["ok"] and len(box.log) == 1, "what is free needs no row"
        assert any("without a row" in w["message"] for w in free["warnings"]) and "problem" in free["data"]["spending"]


def test_a_damaged_ledger_is_set_aside_and_told(home: Path) -> None:
    (home / "state" / FILE).write_bytes(b"garbage " * 2000)
    with running_sandbox() as box:
        result = call(context(home, box.base_url))
        assert result["ok"] and len(box.log) == 1
    [warning] = [w for w in result["warnings"] if w["code"] == "ledger"]
    [kept] = (home / "state").glob(f"{FILE}.damaged-*")
    assert kept.name in warning["message"] and outline(home) == [("settled", 1, 1)]


def test_a_paid_answer_survives_a_ledger_that_breaks_meanwhile(home: Path) -> None:
    def answer(_: Any) -> dict[str, Any]:
        blocker.execute("BEGIN IMMEDIATE")
        return {"json": BUCKET | {"tokensConsumed": 1}, "echo_products": True}

    with ScriptedServer(answer=answer) as server:
        ctx = context(home, server.url)
        call(ctx, "ledger.list", {}, flags=Flags())
        from keepa_cli.engine.accounting import open_ledger

        open_ledger(ctx)._db._patience = 0.2
        open_ledger(ctx).reconcile()
        blocker = sqlite3.connect(home / "state" / FILE, isolation_level=None, check_same_thread=False)
        result = call(ctx)
        blocker.execute("ROLLBACK")
        blocker.close()
    assert result["ok"] and [w for w in result["warnings"] if "stays open in the ledger" in w["message"]]
    assert outline(home) == [("reserved", None, None)]


@pytest.mark.parametrize(("total", "weights"), [(130, [100, 30]), (7, [1, 1, 1]), (0, [3, 4]), (1, [5, 5])])
def test_costs_are_divided_without_loss(total: int, weights: list[int]) -> None:
    parts = _divide(total, weights)
    assert sum(parts) == total and len(parts) == len(weights)
    assert all(abs(p - total * w / sum(weights)) < 1 for p, w in zip(parts, weights, strict=True))
    assert _divide(130, [100, 30]) == [100, 30]


def test_tokens_status_shows_the_spending_of_this_machine(home: Path) -> None:
    with running_sandbox(faults=["reset-after-requestx1@/search"]) as box:
        ctx = context(home, box.base_url, "max_tokens_per_day = 500\n")
        call(ctx)
        call(ctx, "products.search", {"term": "kettle"})
        spending = call(ctx, "tokens.status", {})["data"]["spending"]
    assert spending["today"] == {"settled": 1, "reserved": 0, "manual_review": 10}
    assert spending["limits"]["max_tokens_per_day"] == 500 and spending["origin"] == "sandbox"


def test_sources_that_were_not_sent_cost_nothing() -> None:
    kinds = {
        kind: Answer(WireResponse(200, "", {}, b"", Source(kind)), None, {}, []).sent
        for kind in ("live", "record", "cassette", "fixture", "idempotency", "cache")
    }
    assert [kind for kind, sent in kinds.items() if sent] == ["live", "record"]


def test_threads_of_one_client_share_the_ledger(home: Path) -> None:
    with running_sandbox(rate=100) as box:
        ctx = context(home, box.base_url)
        ids = [f"B{n:09d}" for n in range(48)]
        with ThreadPoolExecutor(16) as pool:
            results = list(pool.map(lambda asin: call(ctx, params={"asin": [asin], "history": False}), ids))
        assert all(r["ok"] for r in results) and len(box.log) == len(ids)
    assert outline(home) == [("settled", 1, 1)] * len(ids)
    assert sorted(r["provenance"]["ledger"] for r in results) == [[n + 1] for n in range(len(ids))]

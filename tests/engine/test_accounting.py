"""What the ledger says after each kind of ending of a live call."""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from keepa_cli import ops
from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.engine import Flags, Options, modes, run
from keepa_cli.engine.accounting import _divide
from keepa_cli.keepa.wire import Source, WireResponse
from keepa_cli.store.ledger import FILE
from tests.support.sandbox import KEY, running_sandbox
from tests.support.scripted_server import ScriptedServer

LIVE = Flags(live=True)
BUCKET = {"timestamp": 1, "tokensLeft": 50, "refillIn": 1000, "refillRate": 5, "tokenFlowReduction": 0.0}
ONE = {"asin": ["B000000001"]}


def context(home: Path, url: str, config: str = "", **more: Any) -> Context:
    if config:
        (home / "config.toml").write_text(config, encoding="utf-8")
    env = {
        "KEEPA_CLI_CONFIG": str(home / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(home / "state"),
        "KEEPA_CLI_DATA_DIR": str(home / "data"),
        "KEEPA_BASE_URL": url,
        "KEEPA_API_KEY": KEY,
        "KEEPA_CLI_NO_CACHE": "1",
    }
    return Context(env=env, cwd=home / "work", **{"sleep": lambda seconds: None} | more)


def call(ctx: Context, name: str = "products.get", params: dict[str, Any] = ONE, **options: Any) -> Envelope:
    return run(ops.find(name), params, ctx, Options(find=ops.find, **{"flags": LIVE, "yes": True} | options))


def rows(home: Path) -> list[dict[str, Any]]:
    connection = sqlite3.connect(home / "state" / FILE)
    connection.row_factory = sqlite3.Row
    found = [dict(row) for row in connection.execute("SELECT * FROM calls ORDER BY id")]
    connection.close()
    return found


def outline(home: Path) -> list[tuple[str, int | None, int | None]]:
    return [(row["state"], row["consumed"], row["attempts"]) for row in rows(home)]


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
    assert ctx.interrupted_while_spending


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


def test_the_same_key_pays_once(home: Path) -> None:
    with running_sandbox() as box:
        first = call(context(home, box.base_url), idempotency_key="order-1")
        again = call(context(home, box.base_url), idempotency_key="order-1", yes=False, max_tokens=0)
        assert first["ok"] and again["ok"] and len(box.log) == 1
    assert again["provenance"]["source"] == "idempotency" and again["provenance"]["mode"] == "live"
    assert again["provenance"]["recorded_at"] and again["provenance"]["origin"] == "sandbox"
    assert again["provenance"]["ledger"] == first["provenance"]["ledger"] == [1]
    assert again["provenance"]["sha256"] == first["provenance"]["sha256"] and again["data"] == first["data"]
    assert (first["token_bucket"]["charged"], again["token_bucket"]["charged"]) == (1, 0)


def test_a_key_belongs_to_one_request(home: Path) -> None:
    with running_sandbox() as box, running_sandbox() as other:
        assert call(context(home, box.base_url), idempotency_key="k")["ok"]
        for ctx, params in (
            (context(home, box.base_url), {"asin": ["B000000002"]}),
            (context(home, other.base_url), ONE),
        ):
            result = call(ctx, params=params, idempotency_key="k")
            assert result["error"]["kind"] == "invalid_arguments" and result["error"]["details"]["value"] == "k"
        assert len(box.log) == 1 and not other.log


def test_a_call_of_unknown_outcome_is_never_sent_again_under_its_key(home: Path) -> None:
    with running_sandbox(faults=["reset-after-requestx1"]) as box:
        assert call(context(home, box.base_url), idempotency_key="k")["error"]["kind"] == "outcome_unknown"
        again = call(context(home, box.base_url), idempotency_key="k")
        assert again["error"]["kind"] == "outcome_unknown" and len(box.log) == 1
        assert again["error"]["next_actions"] == ["kc ledger show 1"]
        ctx = context(home, box.base_url)
        assert call(ctx, "ledger.resolve", {"number": 1, "outcome": "released"}, flags=Flags())["ok"]
        assert call(ctx, idempotency_key="k")["ok"] and len(box.log) == 2


def test_a_free_failure_may_be_sent_again_under_its_key(home: Path) -> None:
    with running_sandbox(faults=["200-with-errorx1"]) as box:
        assert not call(context(home, box.base_url), idempotency_key="k")["ok"]
        assert call(context(home, box.base_url), idempotency_key="k")["ok"] and len(box.log) == 2


def test_a_batch_resumes_under_its_key(home: Path) -> None:
    good = {"json": BUCKET | {"tokensConsumed": 50}, "echo_products": True}
    refused = {"status": 400, "json": BUCKET | {"error": {"type": "invalidParameter"}}}
    params = {"asin": [f"B{n:09d}" for n in range(130)]}
    with ScriptedServer([good, refused, good]) as server:
        ctx = context(home, server.url)
        first = call(ctx, params=params, idempotency_key="k")
        assert first["error"]["kind"] == "request_rejected" and len(server.seen) == 2
        for _ in range(2):
            again = call(ctx, params=params, idempotency_key="k")
            assert [i["status"] for i in again["data"]["items"]] == ["found"] * 130 and len(server.seen) == 3
    assert again["provenance"]["sources"] == ["idempotency", "idempotency"]
    assert [(r["part"], r["state"]) for r in rows(home)] == [(0, "settled"), (1, "released"), (1, "settled")]


def test_threads_with_one_key_send_one_request(home: Path) -> None:
    with running_sandbox(faults=["slow=0.3"]) as box:
        ctx = context(home, box.base_url)
        results: list[Envelope] = []
        threads = [threading.Thread(target=lambda: results.append(call(ctx, idempotency_key="k"))) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(box.log) == 1
    assert sorted(r["ok"] for r in results) == [False] * 5 + [True]
    assert {r["error"]["kind"] for r in results if not r["ok"]} == {"outcome_unknown"}


@pytest.mark.parametrize("key", ["", "x" * 129, "with space", "line\nbreak", "ünicode"])
def test_a_key_that_cannot_be_one_is_refused(home: Path, key: str) -> None:
    with running_sandbox() as box:
        result = call(context(home, box.base_url), idempotency_key=key)
        assert result["error"]["kind"] == "invalid_arguments" and not box.log
        assert result["error"]["details"]["field"] == "idempotency_key"


def test_a_stored_answer_holds_no_key(home: Path) -> None:
    body = BUCKET | {"tokensConsumed": 1, "products": [{"asin": "B000000001", "title": f"echo {KEY}"}]}
    with ScriptedServer([{"json": body}]) as server:
        call(context(home, server.url), idempotency_key="k")
        again = call(context(home, server.url), idempotency_key="k")
    assert KEY not in json.dumps(again, default=str)


def test_a_ledger_that_cannot_be_written_stops_the_call(home: Path) -> None:
    (home / "state").rmdir()
    (home / "state").write_text("a file")
    with running_sandbox() as box:
        result = call(context(home, box.base_url))
        assert result["error"]["kind"] == "io_error" and not box.log


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
    from keepa_cli.engine.call import Answer

    kinds = {
        kind: Answer(WireResponse(200, "", {}, b"", Source(kind)), None, {}, []).sent
        for kind in ("live", "record", "cassette", "fixture", "idempotency", "cache")
    }
    assert [kind for kind, sent in kinds.items() if sent] == ["live", "record"]

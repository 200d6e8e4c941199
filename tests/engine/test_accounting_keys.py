"""Idempotency keys: the same call is paid for once, and never sent again while nobody knows what became of it."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from keepa_cli.core.envelope import Envelope
from keepa_cli.engine import Flags
from tests.support.money import BUCKET, ONE, call, context, rows
from tests.support.sandbox import KEY, running_sandbox
from tests.support.scripted_server import ScriptedServer

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


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


def test_a_picture_is_kept_byte_for_byte_under_its_key(home: Path) -> None:
    with ScriptedServer([{"body": PNG, "headers": {"Content-Type": "image/png"}}]) as server:
        for name in ("a.png", "b.png"):
            ctx = context(home, server.url)
            result = call(ctx, "graphs.image", {"asin": "B000000001"}, out=home / name, idempotency_key="k")
            assert result["ok"], result
        assert len(server.seen) == 1
    assert (home / "a.png").read_bytes() == (home / "b.png").read_bytes() == PNG
    assert result["token_bucket"]["charged"] == 0


def test_a_broken_answer_is_not_paid_for_again_under_its_key(home: Path) -> None:
    with ScriptedServer([{"json": BUCKET | {"tokensConsumed": 1, "products": {"a": 1}}}]) as server:
        kinds = [call(context(home, server.url), idempotency_key="k")["error"]["kind"] for _ in range(2)]
        assert kinds == ["contract_error"] * 2 and len(server.seen) == 1


def test_record_mode_pays_once_under_its_key(home: Path) -> None:
    with running_sandbox() as box:
        flags = Flags(record="one")
        first, again = (call(context(home, box.base_url), flags=flags, idempotency_key="k") for _ in range(2))
        assert len(box.log) == 1
    assert again["data"] == first["data"] and again["provenance"]["mode"] == "record"
    assert again["provenance"]["source"] == "idempotency"

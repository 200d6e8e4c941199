"""The engine against a local Keepa: gates, costs, envelopes, what is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keepa_cli import ops
from keepa_cli.core import envelope
from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.core.errors import ExitCode, KeepaCliError
from keepa_cli.core.registry import OPERATIONS, Operation
from keepa_cli.engine import Flags, Options, run
from keepa_cli.sandbox import Sandbox
from tests.support.sandbox import running_sandbox

KEY = "k3" * 32
LIVE = Flags(live=True)


def context(home: Path, box: Sandbox | None = None, **env: str) -> Context:
    base = {
        "KEEPA_CLI_CONFIG": str(home / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(home / "state"),
        "KEEPA_CLI_DATA_DIR": str(home / "data"),
    }
    if box is not None:
        base |= {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": KEY}
    return Context(env=base | env, cwd=home / "work")


def call(name: str, ctx: Context, params: dict[str, Any] | None = None, **options: Any) -> Envelope:
    return run(ops.find(name), params or {}, ctx, Options(find=ops.find, **options))


def test_a_dry_run_needs_no_key_and_sends_nothing(home: Path) -> None:
    with running_sandbox() as box:
        result = call(
            "products.get", context(home, box), {"asin": ["B000000001"], "offers": 20}, flags=Flags(dry_run=True)
        )
        assert result["ok"] and not box.log
    assert result["request"]["query"] == {"domain": "1", "asin": "B000000001", "offers": "20"}
    assert result["token_bucket"]["estimated"]["worst_case_tokens"] == 12
    assert result["token_bucket"]["estimated"]["requires_confirmation"]
    assert call("products.get", context(home), {"asin": ["B000000001"]}, flags=Flags(dry_run=True))["ok"]


def test_a_live_call_is_charged_as_estimated_and_says_where_it_came_from(home: Path) -> None:
    with running_sandbox() as box:
        result = call("products.get", context(home, box), {"asin": ["B000000001"], "buybox": True}, flags=LIVE)
    assert result["ok"], result
    bucket = result["token_bucket"]
    assert bucket["charged"] == bucket["tokens_consumed"] == bucket["estimated"]["estimated_tokens"] == 3
    assert result["provenance"]["mode"] == "live" and result["provenance"]["origin"] == "sandbox"
    assert result["data"]["items"][0]["status"] == "found"


def test_a_costly_call_waits_for_consent_and_sends_nothing(home: Path) -> None:
    with running_sandbox() as box:
        ctx = context(home, box)
        params = {"asin": ["B000000001"], "offers": 20}
        result = call("products.get", ctx, params, flags=LIVE)
        assert result["error"]["kind"] == "confirmation_required" and result.exit_code is ExitCode.CONFIRMATION
        details = result["error"]["details"]
        assert (
            details["resume_with"] == "--yes" and details["token_refill_guidance"]["status_command"] == "tokens.status"
        )
        assert not box.log
        other = call(
            "products.get", ctx, params | {"offers": 30}, flags=LIVE, yes=True, quote_token=details["quote_token"]
        )
        assert other["error"]["kind"] == "invalid_arguments" and not box.log
        same = call("products.get", ctx, params, flags=LIVE, yes=True, quote_token=details["quote_token"])
        assert same["ok"] and len(box.log) == 1


def test_a_person_can_consent_on_a_terminal(home: Path) -> None:
    asked: list[str] = []
    with running_sandbox() as box:
        params = {"term": "kitchen", "rating": True}
        for answer in (False, True):
            result = call(
                "products.search",
                context(home, box),
                params,
                flags=LIVE,
                confirm=lambda q, a=answer: asked.append(q) or a,
            )
            assert result["ok"] is answer
    assert "15 tokens" in asked[0]


def test_a_call_over_the_limit_is_refused_even_with_consent(home: Path) -> None:
    with running_sandbox() as box:
        result = call("products.search", context(home, box), {"term": "kettle"}, flags=LIVE, yes=True, max_tokens=9)
        assert result["error"]["kind"] == "budget_exceeded" and not box.log
        (home / "config.toml").write_text("max_tokens = 9\n")
        result = call("products.search", context(home, box), {"term": "kettle"}, flags=LIVE, yes=True)
        assert result["error"]["kind"] == "budget_exceeded" and not box.log


def test_writes_upstream_always_wait_for_consent(home: Path) -> None:
    with running_sandbox() as box:
        result = call("request.post", context(home, box), {"endpoint": "/token", "body": {}}, flags=LIVE)
        assert result["error"]["kind"] == "confirmation_required" and not box.log


def test_live_without_a_key_is_auth_missing(home: Path) -> None:
    result = call("tokens.status", context(home), flags=LIVE)
    assert result["error"]["kind"] == "auth_missing" and result.exit_code is ExitCode.AUTH


def test_more_than_a_hundred_asins_are_asked_in_batches_in_order(home: Path) -> None:
    asins = [f"B{i:09d}" for i in range(1, 131)]
    with running_sandbox(rate=100) as box:
        result = call(
            "products.get", context(home, box), {"asin": [*asins, asins[0]], "history": False}, flags=LIVE, yes=True
        )
        assert [len(dict(e.query)["asin"].split(",")) for e in box.log] == [100, 30]
    assert result["ok"], result
    assert [p["asin"] for p in result["data"]["body"]["products"]] == asins
    assert [i["asked"] for i in result["data"]["items"]] == [*asins, asins[0]]
    assert result["token_bucket"]["tokens_consumed"] == 130
    assert len(result["provenance"]["sources"]) == 2


def test_an_answer_that_breaks_the_contract_is_kept_without_the_key(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = json.dumps({"products": "none", "tokensLeft": 5, "error": None, "echo": KEY}).encode()
    with running_sandbox() as box:
        ctx = context(home, box)
        from keepa_cli.engine import modes
        from keepa_cli.keepa.wire import Source, WireResponse

        class Broken:
            def send(self, request: Any, *, retry: bool = True) -> WireResponse:
                ctx.api_key()
                return WireResponse(200, "OK", {}, body, Source("live"))

        monkeypatch.setattr(modes, "transport_for", lambda *a, **k: Broken())
        result = call("products.get", ctx, {"asin": ["B000000001"]}, flags=LIVE)
    assert result["error"]["kind"] == "contract_error" and result.exit_code is ExitCode.CONTRACT
    assert result["error"]["details"]["errors"][0]["path"].endswith("products")
    kept = Path(result["error"]["details"]["kept_at"])
    assert kept.parent == home / "state" / "failed" and KEY.encode() not in kept.read_bytes()
    assert b"tokensLeft" in kept.read_bytes()


def test_the_body_in_the_envelope_keeps_every_token(home: Path) -> None:
    raw = b'{"tokensLeft": 1.10, "big": 123456789012345678901234567890, "a": 1, "a": 2}'
    shell = envelope.ok("x", {}, {"body": json.loads(raw)})
    shell.raw_body = raw
    text = envelope.dumps(shell, context(home).redactor)
    assert raw.decode() in text and json.loads(text)["ok"]
    shell.raw_body = raw.replace(b", ", b",\r\n\t ")
    text = envelope.dumps(shell, context(home).redactor)
    assert "\n" not in text and '1.10,"big": 123456789012345678901234567890,"a": 1,"a": 2}' in text


def test_nan_never_leaves(home: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        envelope.dumps(envelope.ok("x", {}, {"v": float("nan")}), context(home).redactor)


def test_a_defect_is_a_well_formed_answer_without_its_text(home: Path) -> None:
    def broken() -> dict[str, Any]:
        """Break."""
        raise RuntimeError("holds a secret " + KEY)

    op = Operation("broken.now", broken, "x", lambda _: None, None, None, (), "read", ())  # type: ignore[arg-type]
    result = run(op, {}, context(home))
    assert result["error"]["kind"] == "internal_error" and KEY not in json.dumps(result)
    assert result["error"]["details"]["exception"] == "RuntimeError"


def test_key_health_is_remembered(home: Path) -> None:
    with running_sandbox(deny_keys=("d4" * 32,)) as box:
        ctx = context(home, box)
        assert call("tokens.status", ctx, flags=LIVE)["ok"]
        assert call("doctor", ctx)["data"]["auth"]["last_worked_at"]
        denied = context(home, box, KEEPA_API_KEY="d4" * 32)
        result = call("tokens.status", denied, flags=LIVE)
        assert result["error"]["kind"] == "auth_error" and result.exit_code is ExitCode.AUTH
        state = call("doctor", denied)["data"]["auth"]
        assert state["last_error"] == "auth_error" and state["last_failed_at"]


def test_out_is_checked_before_anything_is_sent(home: Path) -> None:
    with running_sandbox() as box:
        ctx = context(home, box)
        (home / "file").write_text("")
        for bad in (home, home / "file" / "x"):
            result = call("tokens.status", ctx, flags=LIVE, out=bad)
            assert not result["ok"] and not box.log
        (home / "link").symlink_to(home / "elsewhere")
        assert not call("tokens.status", ctx, flags=LIVE, out=home / "link")["ok"]
        assert not box.log


def test_local_operations_refuse_mode_flags(home: Path) -> None:
    result = call("domains.list", context(home), flags=LIVE)
    assert result["error"]["kind"] == "invalid_arguments"


def test_an_unknown_operation_names_its_neighbours() -> None:
    with pytest.raises(KeepaCliError, match=r"products\.get"):
        ops.find("product.get")
    assert "products.get" in OPERATIONS

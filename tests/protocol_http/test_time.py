"""Requests that take too long end, and so does their work; progress on the way."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from keepa_cli.agent.session import AgentSession
from keepa_cli.core.context import Context
from tests.protocol_http.conftest import context
from tests.support.mcp_http import Client, running
from tests.support.scripted_server import ScriptedServer

KEY = "k" * 64
CALL = {"name": "products_get", "arguments": {"asin": "B0PPJ248DY", "yes": True}}


@pytest.mark.parametrize(
    "value", ["0", "999", "300001", "-1", "1e3", "1000.5", "abc", "", "٣٠٠٠", "9" * 50, "1000, 2000"]
)
def test_a_time_out_of_bounds_is_400(client: Client, value: str) -> None:
    found = client.opened().ask("ping", keepa_mcp_timeout_ms=value.encode().decode("latin-1"))
    assert (found.status, found.error) == (400, -32000)


@pytest.mark.parametrize("value", ["1000", "300000", " 1500 ", None])
def test_a_time_within_bounds_is_taken(client: Client, value: str | None) -> None:
    assert client.opened().ask("ping", keepa_mcp_timeout_ms=value).status == 200


def test_a_call_that_takes_too_long_is_504_and_told_to_stop(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    told = threading.Event()

    def slow(self: AgentSession, name: str, given: Any, *, stop: threading.Event, **_: Any) -> dict[str, Any]:
        assert stop.wait(20)
        told.set()
        return {"ok": False, "command": name, "error": {}}

    with running(ctx) as server:
        inside = server.client.opened()
        with monkeypatch.context() as patched:
            patched.setattr(AgentSession, "call_tool", slow)
            for client in (inside, server.client):
                told.clear()
                ask = client.ask if client is inside else client.stateless
                began = time.monotonic()
                found = ask("tools/call", CALL, keepa_mcp_timeout_ms="1000")
                assert 0.9 < time.monotonic() - began < 3
                assert (found.status, found.error) == (504, -32003)
                assert found.json["error"]["data"] == {"timeout_ms": 1000}
                assert told.wait(5)
        assert inside.call("context_policy")["isError"] is False


@pytest.mark.parametrize("fault", [{"fault": "stall_after_request", "ms": 20_000}, {"json": {}, "delay": 20}])
def test_a_live_call_that_takes_too_long_lets_go_of_keepa(ctx: Context, fault: dict[str, Any]) -> None:
    with ScriptedServer([fault, {"echo_products": True}], repeat_last=True) as keepa:
        live = Context(
            env={**ctx.env, "KEEPA_API_KEY": KEY, "KEEPA_BASE_URL": keepa.url}, cwd=ctx.cwd, stdin=ctx.stdin,
            stdout=ctx.stdout, stderr=ctx.stderr,
        )  # fmt: skip
        with running(live, live=True) as server:
            inside = server.client.opened()
            agent = server.core.session(inside.headers["mcp-session-id"]).agent
            found = inside.ask("tools/call", CALL, keepa_mcp_timeout_ms="1000")
            assert (found.status, found.error) == (504, -32003)
            until = time.monotonic() + 5
            while agent.busy and time.monotonic() < until:
                time.sleep(0.02)
            assert not agent.busy
            assert len(keepa.seen) == 1
            ledger = inside.call("context_policy")["structuredContent"]["budget_ledger"]
            assert ledger["session_estimated"] >= 0
            assert KEY.encode() not in json.dumps(ledger).encode() + found.body


def test_progress_comes_before_the_answer_in_an_event_stream(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    original = AgentSession.call_tool

    def telling(self: AgentSession, *args: Any, progress: Any, **kwargs: Any) -> dict[str, Any]:
        for done in (1, 2, 3) if progress else ():
            progress(done, 3, f"step {done}")
        return original(self, *args, progress=progress, **kwargs)

    monkeypatch.setattr(AgentSession, "call_tool", telling)
    params = {"name": "docs_index", "arguments": {}, "_meta": {"progressToken": "p"}}
    with running(ctx, sse=True) as server:
        found = server.client.opened().ask("tools/call", params)
        assert found.headers["content-type"].startswith("text/event-stream")
        frames = [json.loads(line[5:]) for line in found.body.splitlines() if line.startswith(b"data: {")]
        assert [f["params"]["progress"] for f in frames[:-1]] == [1, 2, 3]
        assert frames[-1]["result"]["isError"] is False
        assert server.client.stateless("tools/call", {"name": "context_policy"}).json["result"]["isError"] is False


def test_a_call_can_be_cancelled_by_another_request(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    entered, told = threading.Event(), threading.Event()

    def slow(self: AgentSession, name: str, given: Any, *, stop: threading.Event, **_: Any) -> dict[str, Any]:
        entered.set()
        assert stop.wait(20)
        told.set()
        return {"ok": False, "command": name, "error": {}}

    with running(ctx) as server:
        inside = server.client.opened()
        with monkeypatch.context() as patched:
            patched.setattr(AgentSession, "call_tool", slow)
            caller = threading.Thread(target=lambda: inside.ask("tools/call", CALL, ident=77))
            caller.start()
            assert entered.wait(10)
            assert inside.ask("ping").status == 200
            cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}
            assert inside.post(cancel).status == 202
            assert told.wait(10)
            caller.join(10)
            assert not caller.is_alive()
        assert inside.call("context_policy")["isError"] is False


def test_a_client_that_goes_away_without_session_stops_its_work(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    entered, told = threading.Event(), threading.Event()

    def slow(self: AgentSession, name: str, given: Any, *, stop: threading.Event, **_: Any) -> dict[str, Any]:
        entered.set()
        assert stop.wait(20)
        told.set()
        return {"ok": False, "command": name, "error": {}}

    monkeypatch.setattr(AgentSession, "call_tool", slow)
    with running(context(tmp_path), sse=True) as server:
        with pytest.raises(TimeoutError):
            server.client.stateless("tools/call", CALL, timeout=1)
        assert entered.is_set()
        assert told.wait(10)

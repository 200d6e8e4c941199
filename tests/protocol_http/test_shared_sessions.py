"""Two clients that use one session, and clients that see ids of sessions that are none."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from keepa_cli.agent.session import AgentSession
from keepa_cli.core.context import Context
from tests.support.mcp_http import Client, Reply, running

CALL = {"name": "context_policy", "arguments": {}}


@contextmanager
def held_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Tool calls that wait: the events say that one is at work, and let all go on."""
    entered, release = threading.Event(), threading.Event()
    call = AgentSession.call_tool

    def slow(self: AgentSession, *args: Any, **kwargs: Any) -> dict[str, Any]:
        entered.set()
        release.wait(20)
        return call(self, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(AgentSession, "call_tool", slow)
        try:
            yield entered, release
        finally:
            release.set()


def aside(client: Client, found: list[Reply], ident: object) -> threading.Thread:
    caller = threading.Thread(target=lambda: found.append(client.ask("tools/call", CALL, ident=ident, timeout=20)))
    caller.start()
    return caller


@pytest.mark.parametrize("sse", [False, True])
@pytest.mark.parametrize("again", [7, "7"])
def test_an_id_that_is_under_way_is_refused_and_the_first_request_answered(
    ctx: Context, monkeypatch: pytest.MonkeyPatch, sse: bool, again: object
) -> None:
    with running(ctx, sse=sse) as server, held_up(monkeypatch) as (entered, release):
        inside, found = server.client.opened(), []
        caller = aside(inside, found, 7)
        assert entered.wait(20)
        second = inside.ask("ping", ident=again, timeout=5)
        assert (second.status, second.error, second.json["id"]) == (400, -32600, again)
        assert inside.ask("ping", ident=8, timeout=5).status == 200
        assert server.client.opened().ask("ping", ident=7, timeout=5).status == 200
        release.set()
        caller.join(20)
        assert [(r.status, r.json["id"], r.json["result"]["isError"]) for r in found] == [(200, 7, False)]
        for _ in range(20):
            assert inside.ask("ping", ident=again, timeout=5).status == 200


def test_a_call_whose_session_another_client_ends_is_404(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(ctx) as server, held_up(monkeypatch) as (entered, _):
        inside, found = server.client.opened(), []
        caller = aside(inside, found, 1)
        assert entered.wait(20)
        assert inside.request("DELETE").status == 200
        caller.join(20)
        assert [r.status for r in found] == [404]
        assert inside.ask("ping").status == 404
        assert len(server.rooms) == 0


def test_a_refusal_names_no_session(client: Client) -> None:
    for found in (client.ask("tools/list"), client.request("DELETE")):
        assert found.status == 400
        assert "mcp-session-id" not in found.headers

"""How sessions begin, end, expire and give way."""

from __future__ import annotations

import threading
import time

import pytest

from keepa_cli.core.context import Context
from keepa_cli.interfaces.mcp.rooms import Rooms
from tests.support.mcp_http import INITIALIZE, Running, running


class Clock:
    """Time that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def held(server: Running) -> tuple[int, int]:
    """The sessions that we count, and those that the SDK holds."""
    return len(server.rooms), len(server.sdk._server_instances)


@pytest.mark.parametrize("sse", [False, True])
@pytest.mark.parametrize("ident", [1, "error"])
def test_a_refused_opening_frees_its_session(ctx: Context, sse: bool, ident: object) -> None:
    with running(ctx, sse=sse, rooms=Rooms(cap=3)) as server:
        for _ in range(25):
            found = server.client.ask("initialize", {**INITIALIZE, "capabilities": "none"}, ident=ident)
            assert found.error == -32602
            assert "mcp-session-id" not in found.headers or sse
        assert held(server) == (0, 0)
        opened = server.client.ask("initialize", INITIALIZE, ident=ident)
        assert "result" in opened.json
        assert held(server) == (1, 1)


def test_a_new_client_gets_the_session_that_was_idle_longest(ctx: Context) -> None:
    clock = Clock()
    with running(ctx, rooms=Rooms(cap=3, clock=clock)) as server:
        first, second, third = (server.client.opened() for _ in range(3))
        for inside in (first, second, third):
            clock.now += 1
            assert inside.ask("ping").status == 200
        clock.now += 200
        full = server.client.ask("initialize", INITIALIZE)
        assert full.status == 503
        assert 90 <= int(full.headers["retry-after"]) <= 110
        assert held(server) == (3, 3)
        assert first.ask("ping").status == 200
        clock.now += 101
        assert server.client.opened().ask("ping").status == 200
        assert [c.ask("ping").status for c in (first, second, third)] == [200, 404, 200]
        assert held(server) == (3, 3)


def test_a_session_at_work_does_not_give_way(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, entered, release = Clock(), threading.Event(), threading.Event()
    with running(ctx, rooms=Rooms(cap=1, clock=clock)) as server:
        inside = server.client.opened()
        agent = server.core.session(inside.headers["mcp-session-id"]).agent
        call = agent.call_tool

        def slow(*args: object, **kwargs: object) -> object:
            entered.set()
            release.wait(20)
            return call(*args, **kwargs)  # type: ignore[arg-type]

        monkeypatch.setattr(agent, "call_tool", slow)
        found: list[object] = []
        caller = threading.Thread(target=lambda: found.append(inside.call("context_policy")["isError"]))
        caller.start()
        assert entered.wait(20)
        clock.now += 4000
        assert server.client.ask("initialize", INITIALIZE).status == 503
        release.set()
        caller.join(20)
        assert found == [False]


def test_idle_sessions_expire(ctx: Context) -> None:
    with running(ctx, idle=0.4) as server:
        gone, used = server.client.opened(), server.client.opened()
        gone.call("context_policy")
        for _ in range(8):
            time.sleep(0.1)
            assert used.ask("ping").status == 200
        assert gone.ask("ping").status == 404
        assert gone.headers["mcp-session-id"] not in server.core.sessions
        time.sleep(0.6)
        server.client.opened()
        assert held(server) == (1, 1)
        assert not server.core.sessions


def test_there_are_128_sessions_at_most(ctx: Context) -> None:
    with running(ctx) as server:
        for _ in range(128):
            assert server.client.ask("initialize", INITIALIZE).status == 200
        full = server.client.ask("initialize", INITIALIZE)
        assert (full.status, full.json["error"]["code"]) == (503, -32000)
        assert int(full.headers["retry-after"]) > 0
        assert held(server) == (128, 128)
        assert server.client.stateless("tools/list").status == 200


def test_many_openings_at_once_stay_within_the_cap(ctx: Context) -> None:
    statuses: list[int] = []

    def open_some(server: Running) -> None:
        for _ in range(5):
            statuses.append(server.client.ask("initialize", INITIALIZE).status)

    with running(ctx, rooms=Rooms(cap=10)) as server:
        clients = [threading.Thread(target=open_some, args=(server,)) for _ in range(8)]
        for thread in clients:
            thread.start()
        for thread in clients:
            thread.join(30)
        assert sorted(statuses) == [200] * 10 + [503] * 30
        assert held(server) == (10, 10)


def test_calls_of_one_session_are_answered_in_order_from_one_cache(ctx: Context) -> None:
    with running(ctx) as server:
        inside = server.client.opened()
        assert inside.call("docs_index")["structuredContent"]["cache_hit"] is False
        assert inside.call("docs_index")["structuredContent"]["cache_hit"] is True
        other = server.client.opened()
        assert other.call("docs_index")["structuredContent"]["cache_hit"] is False

"""What is held for clients, sessions, tasks and requests is given back, however they end."""

from __future__ import annotations

import asyncio
import http.client
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from keepa_cli.agent.session import AgentSession
from keepa_cli.core.context import Context
from keepa_cli.interfaces.mcp.core import SPARE_AGENTS, Core
from keepa_cli.interfaces.mcp.rooms import Rooms
from keepa_cli.interfaces.mcp.tasks import MOST, Tasks
from tests.protocol_http.test_sessions import Clock
from tests.protocol_http.test_token import served
from tests.support.mcp_http import INITIALIZE, VERSION, Client, Running, running

IDS = itertools.count(1)
DRAW = {"name": "figures_research", "arguments": {}, "task": {"ttl": 86_400_000}}
LOOK = {"name": "context_policy", "arguments": {}}


@pytest.fixture
def server(ctx: Context) -> Iterator[Running]:
    with running(ctx) as found:
        yield found


def until(reached: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not reached() and time.monotonic() < end:
        time.sleep(0.01)
    assert reached()


def answer(**more: Any) -> dict[str, Any]:
    return {"ok": True, "command": "x", "cache_key": "", "cache_hit": False, "budget_ledger": {}, **more}


class Slow:
    """Stands in for every call: waits until it is let go or told to stop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.go, self.told = threading.Event(), threading.Event(), threading.Event()

        def call_tool(_: AgentSession, name: str, __: Any, *, stop: threading.Event, **___: Any) -> dict[str, Any]:
            self.entered.set()
            while not self.go.wait(0.01) and not stop.is_set():
                pass
            if stop.is_set():
                self.told.set()
            return answer()

        monkeypatch.setattr(AgentSession, "call_tool", call_tool)


@pytest.mark.parametrize("ended", ["by its client", "for another", "by time"])
def test_a_task_ends_with_its_session(ctx: Context, monkeypatch: pytest.MonkeyPatch, ended: str) -> None:
    """Nobody can ask for it any more. It makes no session anew when it ends."""
    slow, clock = Slow(monkeypatch), Clock()
    with running(ctx, rooms=Rooms(cap=1, clock=clock), idle=3600 if ended != "by time" else 0.3) as server:
        inside = server.client.opened()
        for _ in range(2):
            assert inside.ask("tools/call", DRAW).json["result"]["task"]["status"] == "working"
        assert slow.entered.wait(10)
        assert server.kept()["tasks"] == 1
        if ended == "by its client":
            assert inside.request("DELETE").status == 200
        else:
            if ended == "by time":
                until(lambda: not server.sdk._server_instances)
            until(lambda: "busy rooms" not in server.kept())
            clock.now += 400 if ended == "for another" else 4000
            other = server.client.opened()
            assert inside.ask("ping").status == 404
            assert other.request("DELETE").status == 200
        assert slow.told.wait(10)
        until(lambda: not server.kept())
        slow.go.set()
        time.sleep(0.1)
        assert server.kept() == {}


def test_a_request_that_meets_the_end_of_its_session_leaves_nothing(server: Running) -> None:
    seen = [meeting(server.client, delay=number % 10 / 2000) for number in range(60)]
    until(lambda: not server.kept(), 5)
    statuses = set(itertools.chain(*seen))
    assert {200, 404} <= statuses <= {200, 404, 500}, "they did not meet"


def meeting(client: Client, delay: float) -> list[int]:
    """The statuses of requests that come together with the end of their session."""
    inside, found = client.opened(), list[int]()
    asked = [("tools/call", LOOK)] * 3 + [("tools/call", DRAW), ("resources/read", {"uri": "keepa://context/policy"})]
    callers = [
        threading.Thread(target=lambda m=method, p=params: found.append(inside.ask(m, p, ident=next(IDS)).status))
        for method, params in asked
    ]
    for caller in callers:
        caller.start()
    time.sleep(delay)
    inside.request("DELETE")
    for caller in callers:
        caller.join(20)
    return found


def test_a_session_that_ends_under_its_requests_is_no_error_of_the_server(clean_env: dict[str, str], home: Any) -> None:
    with served(clean_env, home / "work") as (child, client):
        for number in range(25):
            meeting(client, delay=number % 5 / 1000)
        assert client.opened().ask("ping").status == 200
        child.terminate()
        assert "Traceback" not in child.communicate(timeout=20)[1]


class Kept:
    """A connection that is kept: thousands of requests take a moment."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def post(self, method: str, params: Any = None, *, ident: Any = None, **headers: str) -> tuple[int, str, Any]:
        """Status, session and body."""
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}} | ({"id": ident} if ident else {})
        return self._send("POST", json.dumps(message), {"content-type": "application/json", **headers})

    def leave(self, session: str) -> int:
        return self._send("DELETE", None, {"mcp-session-id": session})[0]

    def _send(self, method: str, body: str | None, headers: dict[str, str]) -> tuple[int, str, Any]:
        self._connection.request(method, "/mcp", body, headers)
        response = self._connection.getresponse()
        raw = response.read()
        return response.status, response.getheader("mcp-session-id") or "", json.loads(raw) if raw else None


@pytest.mark.parametrize("count", [200, 3000])
def test_thousands_of_sessions_leave_nothing(server: Running, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(AgentSession, "call_tool", lambda *_, **__: answer())
    line = Kept(server.port)
    for number in range(count):
        status, session, _ = line.post("initialize", INITIALIZE, ident=1)
        assert status == 200
        inside = {"mcp-session-id": session, "mcp-protocol-version": VERSION}
        assert line.post("tools/call", DRAW if number % 2 else LOOK, ident=2, **inside)[0] == 200
        assert line.post("tasks/get", {"taskId": "none"}, ident=3, **inside)[2]["error"]["code"] == -32602
        assert line.post("ping", ident=4, **{"mcp-session-id": f"{number:032x}"})[0] == 404
        assert line.leave(session) == 200
    until(lambda: not server.kept(), 5)


@pytest.mark.parametrize("count", [200, 5000])
def test_thousands_of_requests_leave_nothing(server: Running, count: int) -> None:
    """Of a session and of none; cancelled ones, odd ids, cancelled ids that nobody knows."""
    inside = server.client.opened()
    line, headers = Kept(server.port), {**inside.headers}
    for number in range(count):
        ident = f"id-{number}" if number % 2 else number + 1
        assert line.post("ping", ident=ident, **headers)[0] == 200
        cancelled = {"requestId": ident if number % 3 else f"never-{number}", "reason": "x"}
        assert line.post("notifications/cancelled", cancelled, **headers)[0] == 202
        assert line.post(f"no/such/{number}", ident=ident, **headers)[2]["error"]["code"] == -32601
    for _ in range(count // 10):
        assert server.client.stateless("tools/call", LOOK).status == 200
    until(lambda: server.kept() == {"rooms": 1, "sessions of the SDK": 1}, 5)
    assert len(server.core._spare) <= SPARE_AGENTS
    transport = next(iter(server.sdk._server_instances.values()))
    held = {name: len(value) for name, value in vars(transport).items() if isinstance(value, dict | set | list)}
    assert not any(held.values()), held


def test_cancelled_calls_leave_nothing(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(monkeypatch)
    inside, answered = server.client.opened(), list[int]()
    for ident in range(1, 21):
        slow.entered.clear()
        caller = threading.Thread(
            target=lambda n=ident: answered.append(inside.ask("tools/call", LOOK, ident=n).status)
        )
        caller.start()
        assert slow.entered.wait(10)
        inside.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ident}})
        caller.join(10)
    assert len(answered) == 20
    until(lambda: server.kept() == {"rooms": 1, "sessions": 1, "sessions of the SDK": 1}, 5)


class Worked(Core):
    """A core whose calls are done at once."""

    async def call(self, ident: str, *_: Any, **__: Any) -> dict[str, Any]:
        self.session(ident)
        return {"isError": False, "structuredContent": answer(), "content": []}


def test_as_many_results_of_tasks_are_kept_as_may_run(ctx: Context) -> None:
    async def use() -> None:
        core = Worked(ctx)
        tasks, made = Tasks(core), []
        for _ in range(3000):
            made.append(tasks.start("one", DRAW["name"], {}, DRAW["task"]))  # type: ignore[arg-type]
            await made[-1].done.wait()
            assert tasks.get("one", made[-1].ident).status == "completed"
        kept = [task["taskId"] for task in tasks.listed("one")]
        assert kept == [task.ident for task in made[-MOST:]]
        assert list(core.sessions["one"].agent.task_results) == kept
        with pytest.raises(Exception, match="Unknown task"):
            tasks.get("one", made[0].ident)
        core.close()

    asyncio.run(use())


def test_tasks_of_one_session_are_safe_from_another_that_looks(ctx: Context) -> None:
    """Also before the first call of their session has begun."""

    async def use() -> None:
        core = Worked(ctx)
        tasks = Tasks(core)
        task = tasks.start("one", "figures_research", {}, {})
        for _ in range(1000):
            assert tasks.listed("two") == []
        assert tasks.get("one", task.ident) is task
        assert list(tasks._held) == ["one"]
        await task.done.wait()
        tasks.end("one")
        assert not tasks._held
        core.close()

    asyncio.run(use())


def test_a_running_task_gives_way_to_none(ctx: Context) -> None:
    async def use() -> None:
        core = Worked(ctx)
        tasks = Tasks(core)
        started = [tasks.start("one", "figures_research", {}, {}) for _ in range(MOST)]
        with pytest.raises(Exception, match=f"At most {MOST}"):
            tasks.start("one", "figures_research", {}, {})
        tasks.start("two", "figures_research", {}, {})
        tasks.cancel("one", started[7].ident)
        tasks.start("one", "figures_research", {}, {})
        assert started[7].ident not in {task["taskId"] for task in tasks.listed("one")}
        for session in ("one", "two"):
            tasks.end(session)
        await asyncio.sleep(0)
        core.close()

    asyncio.run(use())

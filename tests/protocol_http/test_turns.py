"""How many calls compute at one time: few, so that the loop that answers everybody gets its turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from keepa_cli.agent.session import AgentSession
from keepa_cli.core.context import Context
from keepa_cli.interfaces.mcp.core import AT_ONCE
from tests.support.mcp_http import Running, running

CALLERS = 5


class Turns:
    """Stands in for the work of every call: counts how many run, and waits until it is let go."""

    def __init__(self) -> None:
        self.most = self.now = 0
        self.go = threading.Event()
        self._lock = threading.Lock()

    def answer(self, name: str) -> dict[str, Any]:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.go.wait(20)
        with self._lock:
            self.now -= 1
        return {"ok": True, "command": name, "cache_key": "", "cache_hit": False, "budget_ledger": {}}


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    found = Turns()

    def call_tool(_: AgentSession, name: str, *__: Any, **___: Any) -> dict[str, Any]:
        return found.answer(name)

    monkeypatch.setattr(AgentSession, "call_tool", call_tool)
    return found


def crowd(server: Running, name: str, answered: list[bool]) -> list[threading.Thread]:
    def call() -> None:
        answered.append(server.client.stateless("tools/call", {"name": name}).json["result"]["isError"])

    callers = [threading.Thread(target=call) for _ in range(CALLERS)]
    for caller in callers:
        caller.start()
    return callers


def wait_for(reached: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not reached() and time.monotonic() < until:
        time.sleep(0.01)
    assert reached()


@pytest.mark.parametrize(
    ("live", "tool", "most"),
    [(False, "products_get", AT_ONCE), (False, "figures_research", CALLERS), (True, "products_get", CALLERS)],
)
def test_short_calls_from_recordings_take_turns(ctx: Context, turns: Turns, live: bool, tool: str, most: int) -> None:
    """Long ones and those that may wait for Keepa do not: nobody waits for a report or for the network of others."""
    answered: list[bool] = []
    with running(ctx, live=live) as server:
        callers = crowd(server, tool, answered)
        wait_for(lambda: turns.now == most)
        assert server.client.stateless("tools/list").status == 200
        turns.go.set()
        for caller in callers:
            caller.join(20)
    assert answered == [False] * CALLERS
    assert turns.most == most

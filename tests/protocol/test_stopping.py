"""Calls that are stopped while they wait for Keepa: they end at once, money is accounted for, nothing is repeated."""

from __future__ import annotations

import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from keepa_cli.agent.session import AgentSession
from keepa_cli.agent.stopping import Stopped, StopSign, Watch
from tests.protocol.conftest import Home
from tests.support.mcp_pipe import McpPipe
from tests.support.sandbox import KEY
from tests.support.scripted_server import ScriptedServer

STALL = {"fault": "stall_after_request", "ms": 60_000}
FOUND = {"echo_products": True, "json": {"tokensLeft": 50, "refillIn": 1000, "refillRate": 5, "tokensConsumed": 1}}
EMPTY = {
    "status": 429,
    "json": {
        "tokensLeft": 0, "refillIn": 20_000, "refillRate": 20, "tokensConsumed": 0, "timestamp": 1,
        "error": {"type": "notEnoughToken", "message": "m", "details": ""},
    },
}  # fmt: skip
SOON = 1.0
LOOKUP = {"asin": "B00AAAAAA1"}


def ledger(home: Home) -> list[tuple[str, int | None]]:
    """State and charge of every request, in order."""
    path = home.path / "state" / "ledger.sqlite3"
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT state, consumed FROM calls ORDER BY id").fetchall()


def live_session(home: Home, server: ScriptedServer) -> AgentSession:
    env = {"KEEPA_BASE_URL": server.url, "KEEPA_API_KEY": KEY}
    return AgentSession(home.context(env), live=True)


class Running:
    """A call in a thread of its own."""

    def __init__(self, session: AgentSession, arguments: dict[str, Any]) -> None:
        self.stop = StopSign()
        self._session, self._arguments = session, arguments
        self._found: dict[str, Any] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._found = self._session.call_tool("products_get", self._arguments, stop=self.stop)

    def ended(self, within: float) -> dict[str, Any]:
        self._thread.join(within)
        assert not self._thread.is_alive(), "the worker thread still waits"
        return self._found


def test_a_stopped_request_is_kept_for_review_and_the_next_call_is_served(own: Home) -> None:
    with ScriptedServer([STALL, FOUND]) as server:
        session = live_session(own, server)
        running = Running(session, LOOKUP)
        server.wait_for(1)
        running.stop.set()
        found = running.ended(SOON)
        assert (found["ok"], found["error"]["kind"]) == (False, "timeout")
        assert found["error"]["details"] == {"stopped": True, "charged": "unknown"}
        assert "kc ledger show 1" in found["error"]["message"]
        assert found["error"]["retryable"] is False
        assert session.call_tool("products_get", {"asin": "B00AAAAAA2"})["ok"]
        assert len(server.seen) == 2
    assert ledger(own) == [("manual_review", None), ("settled", 1)]


def test_a_wait_after_a_refusal_is_cut_short_and_cost_nothing(own: Home) -> None:
    with ScriptedServer([EMPTY, FOUND]) as server:
        session = live_session(own, server)
        running = Running(session, LOOKUP)
        server.wait_for(1)
        time.sleep(0.2)
        running.stop.set()
        found = running.ended(SOON)
        assert found["error"]["details"] == {"stopped": True, "charged": "no"}
        assert found["error"]["retryable"] is True
        assert session.call_tool("products_get", LOOKUP)["ok"]
        assert len(server.seen) == 2
    assert ledger(own) == [("released", None), ("settled", 1)]


def test_a_wait_for_tokens_between_requests_keeps_what_was_paid_for(own: Home) -> None:
    poor = {**FOUND, "json": {"tokensLeft": -90, "refillIn": 60_000, "refillRate": 1, "tokensConsumed": 100}}
    with ScriptedServer([poor, FOUND]) as server:
        session = live_session(own, server)
        running = Running(session, {"asin": [f"B0{n:08d}" for n in range(150)], "yes": True})
        server.wait_for(1)
        time.sleep(0.3)
        running.stop.set()
        assert running.ended(SOON)["error"]["details"]["stopped"] is True
        assert len(server.seen) == 1
    assert ledger(own) == [("settled", 100)]


def test_a_call_that_was_stopped_before_it_began_sends_nothing(own: Home) -> None:
    with ScriptedServer([FOUND]) as server:
        stop = StopSign()
        stop.set()
        found = live_session(own, server).call_tool("products_get", LOOKUP, stop=stop)
        assert found["error"]["details"]["charged"] == "no"
        assert not server.seen
    assert ledger(own) == []


def test_after_hanging_up_nothing_is_sent_and_local_work_goes_on(own: Home) -> None:
    with ScriptedServer([STALL, FOUND]) as server:
        session = live_session(own, server)
        running = Running(session, LOOKUP)
        server.wait_for(1)
        session.hang_up()
        assert running.ended(SOON)["error"]["kind"] == "timeout"
        assert session.call_tool("products_get", {"asin": "B00AAAAAA2"})["error"]["details"]["charged"] == "no"
        assert session.call_tool("docs_index", {})["ok"]
        assert len(server.seen) == 1
    assert [state for state, _ in ledger(own)] == ["manual_review", "released"]


def within(seconds: float, act: Callable[[], Any]) -> None:
    start = time.monotonic()
    with pytest.raises(Stopped):
        act()
    assert time.monotonic() - start < seconds


def test_a_watch_wakes_sleepers_and_serves_the_next_call() -> None:
    watch, stop = Watch(), StopSign()
    with watch.over(stop, None):
        threading.Timer(0.1, stop.set).start()
        within(SOON, lambda: watch.sleep(30))
        within(SOON, watch.check)
        within(SOON, lambda: watch.tell("on"))
    told: list[Any] = []
    with watch.over(StopSign(), lambda *step: told.append(step)):
        watch.tell("one")
        watch.sleep(0.01)
        watch.tell("two")
    assert told == [(1.0, None, "one"), (2.0, None, "two")]
    stop.set()
    watch.check()


@pytest.mark.parametrize("step", [STALL, EMPTY], ids=["request", "tokens"])
def test_the_end_of_input_gives_up_what_waits_for_keepa(own: Home, step: dict[str, Any]) -> None:
    with ScriptedServer([step, FOUND]) as server, own.live(server.url) as pipe:
        pipe.start("tools/call", {"name": "products_get", "arguments": LOOKUP}, ident=1)
        pipe.start("tools/call", {"name": "products_get", "arguments": {"asin": "B00AAAAAA2"}}, ident=2)
        pipe.start("tools/call", {"name": "docs_index"}, ident=3)
        server.wait_for(1)
        start = time.monotonic()
        code, errors = pipe.end()
        assert (code, errors) == (0, "")
        assert time.monotonic() - start < 3.0
        time.sleep(0.3)
        assert len(server.seen) == 1
        answers = {ident: pipe.answer(ident)["result"]["isError"] for ident in (1, 2, 3)}
        assert answers == {1: True, 2: True, 3: False}
    expected = "manual_review" if step is STALL else "released"
    assert [state for state, _ in ledger(own)] == [expected, "released"]


def test_local_calls_of_a_live_server_are_answered_however_long_they_take(own: Home) -> None:
    with ScriptedServer([FOUND]) as server, own.live(server.url, odd=True) as pipe:
        slow = pipe.start("tools/call", {"name": "resolve_research_target", "arguments": {"text": "sleep:3.2"}})
        assert pipe.end()[0] == 0
        assert pipe.answer(slow)["result"]["isError"] is False


def stalled(pipe: McpPipe, server: ScriptedServer) -> Any:
    ident = pipe.start("tools/call", {"name": "products_get", "arguments": LOOKUP})
    server.wait_for(len(server.seen) + 1)
    return ident


def test_a_cancelled_live_call_frees_the_session_at_once(own: Home) -> None:
    with ScriptedServer([STALL, FOUND]) as server, own.live(server.url) as pipe:
        ident = stalled(pipe, server)
        start = time.monotonic()
        pipe.cancel(ident)
        assert pipe.call("products_get", asin="B00AAAAAA2")["isError"] is False
        assert time.monotonic() - start < SOON
        assert ident not in pipe.ids()
        assert pipe.end() == (0, "")
        assert len(server.seen) == 2
    assert ledger(own) == [("manual_review", None), ("settled", 1)]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"])
def test_signals_leave_a_live_call_accounted_for(own: Home, number: signal.Signals, code: int) -> None:
    with ScriptedServer([STALL]) as server, own.live(server.url) as pipe:
        stalled(pipe, server)
        start = time.monotonic()
        pipe.process.send_signal(number)
        assert pipe.exited() == (code, "")
        assert time.monotonic() - start < 1.5
    assert ledger(own) == [("manual_review", None)]


@pytest.mark.parametrize("how", ["end", "cancel"])
def test_an_open_question_ends_with_the_input_and_with_its_call(own: Home, how: str) -> None:
    with ScriptedServer([FOUND]) as server, own.live(server.url, opened=False) as pipe:
        pipe.open(elicitation={})
        ident = pipe.start("tools/call", {"name": "bestsellers_get", "arguments": {"category": "172282"}})
        question = pipe.wait(lambda f: f.get("method") == "elicitation/create")
        assert "50 Keepa tokens" in question["params"]["message"]
        start = time.monotonic()
        if how == "cancel":
            pipe.cancel(ident)
            assert pipe.call("docs_index")["isError"] is False
            assert ident not in pipe.ids()
        assert pipe.end() == (0, "")
        assert time.monotonic() - start < 2.0
        if how == "end":
            assert pipe.answer(ident)["result"]["structuredContent"]["error"]["kind"] == "confirmation_required"
        assert not server.seen

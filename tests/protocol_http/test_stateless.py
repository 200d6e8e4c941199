"""The protocol without handshake: every request stands for itself, what was spent is common to all."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from keepa_cli.agent.session import AgentSession
from keepa_cli.core.context import Context
from keepa_cli.interfaces.mcp.core import SPARE_AGENTS
from tests.support.mcp_http import Client, Running, running


def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = client.stateless("tools/call", {"name": name, "arguments": arguments}).json["result"]
    return found


def test_everything_is_served_without_a_session(client: Client) -> None:
    discovered = client.stateless("server/discover")
    assert discovered.json["result"]["supportedVersions"] == ["2026-07-28"]
    assert "mcp-session-id" not in discovered.headers
    assert client.stateless("tools/list").json["result"]["ttlMs"] == 0
    assert call(client, "context_policy")["structuredContent"]["ok"] is True
    read = client.stateless("resources/read", {"uri": "keepa://context/policy"})
    assert read.json["result"]["contents"]
    assert client.stateless("no/such").status == 404


def test_an_answer_can_be_referred_to_by_the_next_request(client: Client) -> None:
    key = call(client, "docs_index")["structuredContent"]["cache_key"]
    assert call(client, "docs_index", from_cache=key)["structuredContent"]["cache_hit"] is True


def test_a_session_id_opens_nothing(shared: Running) -> None:
    before = len(shared.core.sessions)
    for number in range(30):
        found = shared.client.stateless("tools/call", {"name": "context_policy"}, mcp_session_id=f"{number:032x}")
        assert found.status == 200
    assert len(shared.core.sessions) == before
    assert not any(len(ident) < 32 for ident in shared.core.sessions)


def test_requests_work_side_by_side_and_share_the_budget(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    together = threading.Barrier(4)
    original = AgentSession.call_tool

    def meet(self: AgentSession, *args: Any, **kwargs: Any) -> dict[str, Any]:
        together.wait(20)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(AgentSession, "call_tool", meet)
    with running(ctx, live=True) as server:
        found: list[bool] = []
        callers = [
            threading.Thread(target=lambda: found.append(call(server.client, "context_policy")["isError"]))
            for _ in range(4)
        ]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(30)
        assert found == [False] * 4
        spare = server.core._spare
        assert 1 <= len(spare) <= SPARE_AGENTS
        assert len({id(h.agent.ctx.services["budget"]) for h in spare}) == 1
        assert len({id(h.agent) for h in spare}) == len(spare)


def test_requests_without_session_share_answers_and_their_account(client: Client) -> None:
    for _ in range(2):
        call(client, "products_get", asin="B0PPJ248DY", fixture="product_B0PPJ248DY_full")
    hits = call(client, "context_policy")["structuredContent"]["budget_ledger"]["cache_hits"]
    assert hits >= 1


def test_tasks_of_sessions_are_not_for_requests_without_one(client: Client) -> None:
    found = client.stateless("tools/call", {"name": "figures_research", "arguments": {}, "task": {"ttl": 1000}})
    assert "task" not in found.json["result"]
    assert client.stateless("tasks/list").status == 404

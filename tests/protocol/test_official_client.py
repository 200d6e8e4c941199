"""The official Python client against the server on stdin and stdout: everything that is listed is used once."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from keepa_cli.agent.tools import LONG
from tests.protocol.conftest import ODD, Home
from tests.protocol.everything import call_every_tool, every, get_every_prompt, read_everything
from tests.support.sandbox import KEY
from tests.support.scripted_server import ScriptedServer
from tests.support.tool_arguments import CALLS, prepare

FOUND = {"json": {"bestSellersList": {"categoryId": 172282, "asinList": ["B00AAAAAA1"]}, "tokensLeft": 900}}
COSTLY = {"category": "172282"}


@pytest.fixture
def stocked(own: Home) -> Home:
    prepare(own.work)
    return own


def server(home: Home, *args: str, odd: bool = False, **env: str) -> StdioServerParameters:
    start = [str(ODD)] if odd else ["-m", "keepa_cli"]
    return StdioServerParameters(
        command=sys.executable, args=[*start, *(args or ("--mcp",))], env={**home.env, **env}, cwd=str(home.work)
    )


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_every_tool_is_listed_and_answers(stocked: Home, mode: Literal["legacy", "auto"]) -> None:
    async def use() -> None:
        async with Client(server(stocked, "mcp", "serve", "--toolset", "all"), mode=mode) as client:
            assert client.protocol_version == "2025-11-25"
            await call_every_tool(client)
            with pytest.raises(MCPError) as caught:
                await client.call_tool("no_such_tool", {})
            assert caught.value.error.code == -32602
            assert not (await client.call_tool("docs_index", {})).is_error

    anyio.run(use)


def test_every_resource_template_and_prompt_answers(stocked: Home) -> None:
    async def use() -> None:
        async with Client(server(stocked), mode="legacy") as client:
            seen = await read_everything(client, stocked.work)
            assert seen["resources"] > 10
            assert seen["templates"] == 20
            assert await get_every_prompt(client) > 3

    anyio.run(use)


def test_tasks_are_announced_for_the_tools_that_run_as_such(stocked: Home) -> None:
    async def use() -> None:
        async with Client(server(stocked, "mcp", "serve", "--toolset", "all"), mode="legacy") as client:
            assert client.server_capabilities.tasks is not None
            optional = {
                t.name for t in await every(client.list_tools, "tools") if t.execution.task_support == "optional"
            }
            assert optional == LONG & set(CALLS) & optional and "figures_research" in optional

    anyio.run(use)


def test_progress_comes_in_order(stocked: Home) -> None:
    steps: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, message))

    async def use() -> None:
        async with Client(server(stocked, odd=True), mode="legacy") as client:
            await client.call_tool("resolve_research_target", {"text": "steps:5"}, progress_callback=note)

    anyio.run(use)
    assert steps == [(n + 1.0, f"step {n}") for n in range(5)]


@asynccontextmanager
async def spender(home: Home, keepa: ScriptedServer, answer: Any) -> AsyncIterator[Client]:
    """A client of a live server, with an answer to the question whether to spend."""
    live = server(home, "--mcp", "--live", KEEPA_BASE_URL=keepa.url, KEEPA_API_KEY=KEY)
    async with Client(live, mode="legacy", elicitation_callback=answer) as client:
        yield client


REFUSALS: list[tuple[str, dict[str, Any] | None]] = [
    ("accept", {"spend": False}),
    ("accept", {"spend": "true"}),
    ("accept", None),
    ("decline", None),
    ("cancel", None),
    ("fail", None),
]


def test_tokens_are_spent_only_where_the_person_agrees(own: Home) -> None:
    asked: list[str] = []
    answers = iter([*REFUSALS, ("accept", {"spend": True})])

    async def answer(context: Any, params: Any) -> Any:
        asked.append(params.message)
        action, content = next(answers)
        if action == "fail":
            raise RuntimeError("the window is closed")
        return types.ElicitResult(action=action, content=content)

    async def use(keepa: ScriptedServer) -> None:
        async with spender(own, keepa, answer) as client:
            for refusal in REFUSALS:
                refused = (await client.call_tool("bestsellers_get", COSTLY)).structured_content
                assert refused["error"]["kind"] == "confirmation_required", refusal
                assert not keepa.seen, refusal
            assert (await client.call_tool("bestsellers_get", COSTLY)).structured_content["ok"]
            assert len(keepa.seen) == 1

    with ScriptedServer([FOUND], repeat_last=True) as keepa:
        anyio.run(use, keepa)
    assert asked == ["This call can cost 50 Keepa tokens. Send it?"] * 7


def test_a_client_that_cannot_ask_is_told_to_ask_itself(own: Home) -> None:
    async def use(keepa: ScriptedServer) -> Any:
        async with spender(own, keepa, None) as client:
            return (await client.call_tool("bestsellers_get", COSTLY)).structured_content

    with ScriptedServer([FOUND], repeat_last=True) as keepa:
        assert anyio.run(use, keepa)["error"]["kind"] == "confirmation_required"
        assert not keepa.seen


def test_a_question_ends_with_its_call_and_with_its_client(own: Home) -> None:
    async def never(context: Any, params: Any) -> Any:
        await anyio.sleep(60)

    async def use(keepa: ScriptedServer) -> None:
        async with spender(own, keepa, never) as client:
            with anyio.move_on_after(0.5):
                await client.call_tool("bestsellers_get", COSTLY)
            with anyio.fail_after(3):
                assert not (await client.call_tool("docs_index", {})).is_error
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "bestsellers_get", COSTLY)
                await anyio.sleep(0.3)
                group.cancel_scope.cancel()

    with ScriptedServer([FOUND], repeat_last=True) as keepa:
        anyio.run(use, keepa)
        assert not keepa.seen
    assert Path(os.devnull).exists()

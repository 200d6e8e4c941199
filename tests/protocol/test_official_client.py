"""The official Python client against the server on stdin and stdout: everything that is listed is used once."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio
import jsonschema
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from keepa_cli.agent.tools import LONG
from keepa_cli.agent.uris import encode_text
from tests.protocol.conftest import ODD, Home
from tests.support.sandbox import KEY
from tests.support.scripted_server import ScriptedServer
from tests.support.tool_arguments import CALLS, FULL, prepare

LIMIT = 60_000
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


async def every(listing: Callable[..., Any], field: str) -> list[Any]:
    """All items of a list, page by page."""
    found: list[Any] = []
    cursor = None
    while True:
        page = await listing(cursor=cursor, cache_mode="bypass")
        found += getattr(page, field)
        cursor = page.next_cursor
        if cursor is None:
            return found


def check(result: Any, schema: dict[str, Any]) -> dict[str, Any]:
    """The content of a result: it fits the schema and a message, and its text says the same."""
    content: dict[str, Any] = result.structured_content
    jsonschema.validate(content, schema)
    assert content["ok"] is not result.is_error
    whole = result.model_dump_json(by_alias=True, exclude_none=True)
    assert len(whole.encode()) <= LIMIT
    text = json.loads(result.content[0].text)
    assert text["command"] == content["command"] and text["ok"] is content["ok"]
    return content


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_every_tool_is_listed_and_answers(stocked: Home, mode: Literal["legacy", "auto"]) -> None:
    async def use() -> None:
        async with Client(server(stocked, "mcp", "serve", "--toolset", "all"), mode=mode) as client:
            assert client.protocol_version == "2025-11-25"
            tools = await every(client.list_tools, "tools")
            assert len({t.name for t in tools}) == len(tools) >= 30
            for tool in tools:
                assert (tool.meta or {})["x-keepa"]["service_command"]
                content = check(await client.call_tool(tool.name, CALLS[tool.name]), tool.output_schema or {})
                assert content["ok"], (tool.name, content["error"])
                wrong = check(await client.call_tool(tool.name, {"no_such": 1}), tool.output_schema or {})
                assert wrong["error"]["kind"] in {"invalid_arguments", "inactive_tool"}
            with pytest.raises(MCPError) as caught:
                await client.call_tool("no_such_tool", {})
            assert caught.value.error.code == -32602
            assert not (await client.call_tool("docs_index", {})).is_error

    anyio.run(use)


def instances(keys: dict[str, str], home: Home, evidence: str, chunk: str) -> dict[str, str]:
    """An address for every template."""
    plan = encode_text(json.dumps(CALLS["workflow_plan"]))
    key = keys["products_get"]
    return {
        "schema": "keepa://schema/products-agent-view",
        "fixture": f"keepa://fixtures/{FULL}",
        "cassette": f"keepa://cassettes/{FULL}",
        "cache-key": f"keepa://cache-key/products.get/{encode_text(json.dumps(CALLS['products_get']))}",
        "workflow-policy": f"keepa://workflow/{plan}/policy",
        "research": f"keepa://research/{key}",
        "research-brief": f"keepa://research/{keys['research_brief_export']}/brief",
        "research-graph": f"keepa://research/{keys['research_graph_merge']}/graph",
        "research-figures": f"keepa://research/{key}/figures",
        "research-figure-set": f"keepa://research/{key}/figures/history",
        "graphs": "keepa://graphs/kettles",
        "toolset": "keepa://toolsets/research",
        "tool": "keepa://tools/products_get",
        "prompt": "keepa://prompts/product_research",
        "asin-fixture": "keepa://asin/B0PPJ248DY/fixture",
        "evidence": f"keepa://evidence/{encode_text(evidence)}",
        "wiki-page": "keepa://wiki/page/quickstart",
        "chunk": f"keepa://chunk/{encode_text(chunk)}",
        "output": f"keepa://output/{encode_text(str(home.work / 'selection.json'))}",
    }


def test_every_resource_template_and_prompt_answers(stocked: Home) -> None:
    async def use() -> None:
        async with Client(server(stocked), mode="legacy") as client:
            keys = {}
            for name in (
                "products_get",
                "research_brief_export",
                "research_graph_merge",
                "categories_finder_selection",
            ):
                keys[name] = (await client.call_tool(name, CALLS[name])).structured_content["cache_key"]
            chunks = {"fixture": FULL, "asin": "B0PPJ248DY", "full": True, "chunks_dir": "chunks"}
            chunked = await client.call_tool("products_get", chunks)
            assert not chunked.is_error, chunked.structured_content
            [chunk, *_] = sorted(p for p in (stocked.work / "chunks").rglob("*.json*") if p.is_file())
            for resource in await every(client.list_resources, "resources"):
                await readable(client, resource.uri)
            [recent] = (await client.read_resource("keepa://evidence/recent")).contents
            evidence = json.loads(recent.text)["evidence"][0]["logical_path"]
            addresses = instances(keys, stocked, evidence, str(chunk))
            for template in await every(client.list_resource_templates, "resource_templates"):
                if template.name != "task-result":
                    await readable(client, addresses.pop(template.name))
            assert not addresses
            for prompt in await every(client.list_prompts, "prompts"):
                given = {a.name: "kettle" for a in prompt.arguments or []}
                [message] = (await client.get_prompt(prompt.name, given)).messages
                assert "{" not in message.content.text.replace("{cache_key}", "")

    anyio.run(use)


async def readable(client: Client, uri: str) -> None:
    [content] = (await client.read_resource(uri)).contents
    assert content.uri == uri
    assert content.text
    if content.mime_type == "application/json":
        json.loads(content.text)


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

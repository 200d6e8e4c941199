"""All that a server lists, used once by the official Python client: over any transport, in any era."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from keepa_cli.agent.uris import encode_text
from tests.support.tool_arguments import CALLS, FULL

LIMIT = 60_000
TASKS = "2025-11-25"
TASK = "figures_research"


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
    Draft202012Validator(schema).validate(content)
    assert content["ok"] is not result.is_error
    whole = result.model_dump_json(by_alias=True, exclude_none=True)
    assert len(whole.encode()) <= LIMIT
    text = json.loads(result.content[0].text)
    assert text["command"] == content["command"] and text["ok"] is content["ok"]
    return content


async def call_every_tool(client: Client) -> dict[str, dict[str, Any]]:
    """The content of one good call of every tool; a wrong one is an error as a result. Nothing is spent."""
    tools = await every(client.list_tools, "tools")
    assert {t.name for t in tools} == set(CALLS)
    assert len(tools) == len(CALLS)
    found = {}
    for tool in tools:
        assert (tool.meta or {})["x-keepa"]["service_command"]
        content = check(await client.call_tool(tool.name, CALLS[tool.name]), tool.output_schema or {})
        assert content["ok"], (tool.name, content["error"])
        assert content["budget_ledger"]["session_consumed"] == 0, tool.name
        assert (content.get("token_bucket") or {}).get("charged", 0) == 0, tool.name
        wrong = check(await client.call_tool(tool.name, {"no_such": 1}), tool.output_schema or {})
        assert wrong["error"]["kind"] in {"invalid_arguments", "inactive_tool"}
        found[tool.name] = content
    return found


async def read_everything(client: Client, work: Path) -> dict[str, int]:
    """Every resource, and an address of every template; how many there were."""
    addresses = await _addresses(client, work)
    resources = await every(client.list_resources, "resources")
    templates = await every(client.list_resource_templates, "resource_templates")
    for resource in resources:
        await readable(client, resource.uri)
    assert {t.name for t in templates} == {*addresses, "task-result"}
    for address in addresses.values():
        await readable(client, address)
    return {"resources": len(resources), "templates": len(templates)}


async def readable(client: Client, uri: str) -> None:
    [content] = (await client.read_resource(uri)).contents
    assert content.uri == uri
    assert content.text
    if content.mime_type == "application/json":
        json.loads(content.text)


async def get_every_prompt(client: Client) -> int:
    """How many there were."""
    prompts = await every(client.list_prompts, "prompts")
    for prompt in prompts:
        given = {a.name: "kettle" for a in prompt.arguments or []}
        [message] = (await client.get_prompt(prompt.name, given)).messages
        assert "{" not in message.content.text.replace("{cache_key}", "")
    return len(prompts)


async def finished_task(client: Client) -> str:
    """The id of a task that ran to its end. This client takes a result only for an answer: it asks for the list."""
    asked = types.CallToolRequestParams(name=TASK, arguments=CALLS[TASK], task=types.TaskMetadata(ttl=60_000))
    with pytest.raises(ValueError, match="pollInterval"):
        await client.session.send_request(types.CallToolRequest(params=asked), types.CreateTaskResult)
    [task] = (await client.session.send_request(types.ListTasksRequest(), types.ListTasksResult)).tasks
    which = types.GetTaskPayloadRequestParams(task_id=task.task_id)
    result = await client.session.send_request(types.GetTaskPayloadRequest(params=which), types.CallToolResult)
    assert result.is_error is False
    return task.task_id


async def _addresses(client: Client, work: Path) -> dict[str, str]:
    """An address for every template. The era without tasks has the last one, too, but nothing stands there."""
    keys = {}
    for name in ("products_get", "research_brief_export", "research_graph_merge", "categories_finder_selection"):
        keys[name] = (await client.call_tool(name, CALLS[name])).structured_content["cache_key"]
    chunks = {"fixture": FULL, "asin": "B0PPJ248DY", "full": True, "chunks_dir": "chunks"}
    chunked = await client.call_tool("products_get", chunks)
    assert not chunked.is_error, chunked.structured_content
    [chunk, *_] = sorted(p for p in (work / "chunks").rglob("*.json*") if p.is_file())
    [recent] = (await client.read_resource("keepa://evidence/recent")).contents
    evidence = json.loads(recent.text)["evidence"][0]["logical_path"]
    found = instances(keys, work, evidence, str(chunk))
    if client.protocol_version == TASKS:
        found["task-result"] = f"keepa://tasks/{await finished_task(client)}/result"
    return found


def instances(keys: dict[str, str], work: Path, evidence: str, chunk: str) -> dict[str, str]:
    """An address for every template that needs no task."""
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
        "output": f"keepa://output/{encode_text(str(work / 'selection.json'))}",
    }

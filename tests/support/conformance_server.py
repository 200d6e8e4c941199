"""The fixture server of the official conformance suite, on our own HTTP transport and guard.

    python -m tests.support.conformance_server [--sse] [--port N]

It prints its address and serves until it is stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPError

from keepa_cli.agent.problems import INVALID_PARAMS
from keepa_cli.interfaces.mcp import http
from keepa_cli.interfaces.mcp.server import DONE, UNCACHED
from tests.support import conformance_asking as asking
from tests.support import conformance_content as content

LINES = ("Tool execution started", "Tool processing data", "Tool execution completed")
CAPABILITIES = asking.CAPABILITIES
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
BUS = InMemorySubscriptionBus()


def said(text: str, *, error: bool = False) -> dict[str, Any]:
    return {"content": [content.text(text)], "isError": error}


async def _logs(ctx: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    for line in LINES:
        await ctx.session.send_log_message("info", line, related_request_id=ctx.request_id)
        await anyio.sleep(0.05)
    return said("logged")


async def _logs_where_asked(ctx: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    if (params.get("_meta") or {}).get(LOG_LEVEL):
        await ctx.session.send_log_message("info", LINES[0], related_request_id=ctx.request_id)
    return said("logged where asked")


async def _progress(ctx: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100, f"Completed step {done} of 100")
        await anyio.sleep(0.05)
    return said(str((params.get("_meta") or {}).get("progressToken", 0)))


async def _fails(ctx: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    return said("This tool intentionally returns an error for testing", error=True)


async def _samples(ctx: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    asked = types.TextContent(text=str((params.get("arguments") or {}).get("prompt", "")))
    found = await ctx.session.create_message(
        messages=[types.SamplingMessage(role="user", content=asked)], max_tokens=100, related_request_id=ctx.request_id
    )
    return said(f"LLM response: {getattr(found.content, 'text', '')}")


async def _elicits(ctx: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    message = str((params.get("arguments") or {}).get("message", "Please answer"))
    schema = content.QUESTIONS[str(params["name"])]
    found = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
    return said(f"User response: action={found.action}, content={found.content}")


async def _needs_sampling(ctx: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    offered = (params.get("_meta") or {}).get(CAPABILITIES) or {}
    if "sampling" not in offered:
        wanted = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "The client offers no sampling", wanted)
    return said("The client offers sampling.")


async def _streams(ctx: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    await ctx.session.report_progress(1, 2, "half of it")
    return said("streamed")


async def _changes_tools(ctx: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    await BUS.publish(ToolsListChanged())
    return said("The list of tools changed.")


async def _changes_prompts(ctx: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    await BUS.publish(PromptsListChanged())
    return said("The list of prompts changed.")


async def _reconnects(ctx: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    if ctx.close_sse_stream:
        await ctx.close_sse_stream()
    await anyio.sleep(0.1)
    return said("Reconnection test completed")


WORK = {
    "test_tool_with_logging": _logs, "test_logging_tool": _logs_where_asked, "test_tool_with_progress": _progress,
    "test_error_handling": _fails, "test_sampling": _samples, "test_missing_capability": _needs_sampling,
    "test_streaming_elicitation": _streams, "test_trigger_tool_change": _changes_tools,
    "test_trigger_prompt_change": _changes_prompts, "test_reconnection": _reconnects,
    **dict.fromkeys(content.QUESTIONS, _elicits),
}  # fmt: skip
ASKING = [name for name in asking.ROUNDS if not name.endswith("_prompt")]
NAMES = [*content.FIXED, *WORK, *ASKING]


async def tools(ctx: Any, _: Any) -> dict[str, Any]:
    listed = [
        {"name": name, "description": name, "inputSchema": content.SCHEMAS.get(name, {"type": "object"})}
        for name in NAMES
    ]
    return {**DONE, **UNCACHED, "tools": listed}


async def call(ctx: Any, _: Any) -> dict[str, Any]:
    params = dict(ctx.params or {})
    name = params.get("name")
    if name in content.FIXED:
        return {**DONE, "content": content.FIXED[name], "isError": False}
    if name in WORK:
        return {**DONE, **await WORK[name](ctx, params)}
    if name not in ASKING:
        raise MCPError(INVALID_PARAMS, "Unknown tool", {"tool": str(name)[:100]})
    open_question = asking.asks(name, params)
    if open_question is not None:
        return open_question
    return {**DONE, **said(f"state-ok, given: {_answers(params)}")}


def _answers(params: Mapping[str, Any]) -> str:
    return str(params.get("inputResponses"))[:500]


async def resources(ctx: Any, _: Any) -> dict[str, Any]:
    return {**DONE, **UNCACHED, "resources": content.RESOURCES}


async def templates(ctx: Any, _: Any) -> dict[str, Any]:
    return {**DONE, **UNCACHED, "resourceTemplates": content.TEMPLATES}


async def read(ctx: Any, _: Any) -> dict[str, Any]:
    uri = str((ctx.params or {}).get("uri"))
    found = content.contents(uri)
    if found is None:
        raise MCPError(INVALID_PARAMS, "Resource not found", {"uri": uri[:500]})
    return {**DONE, **UNCACHED, "contents": [found]}


async def prompts(ctx: Any, _: Any) -> dict[str, Any]:
    return {**DONE, **UNCACHED, "prompts": content.PROMPTS}


async def prompt(ctx: Any, _: Any) -> dict[str, Any]:
    params = dict(ctx.params or {})
    name = str(params.get("name"))
    if name in asking.ROUNDS:
        open_question = asking.asks(name, params)
        if open_question is not None:
            return open_question
        given = {"role": "user", "content": content.text(f"Context: {_answers(params)}")}
        return {**DONE, "messages": [given]}
    found = content.messages(name, dict(params.get("arguments") or {}))
    if found is None:
        raise MCPError(INVALID_PARAMS, "Unknown prompt", {"prompt": name[:100]})
    return {**DONE, "messages": found}


async def complete(ctx: Any, _: Any) -> dict[str, Any]:
    return {**DONE, "completion": {"values": ["paris", "park"], "total": 2, "hasMore": False}}


async def nothing(ctx: Any, _: Any) -> dict[str, Any]:
    return {}


def build() -> Server[Any]:
    """The server; logging and subscriptions are offered because the suite asks for them."""
    server: Server[Any] = Server(
        "keepa_mcp_conformance",
        version="1",
        on_list_tools=tools,
        on_call_tool=call,
        on_list_resources=resources,
        on_list_resource_templates=templates,
        on_read_resource=read,
        on_subscribe_resource=nothing,
        on_unsubscribe_resource=nothing,
        on_list_prompts=prompts,
        on_get_prompt=prompt,
        on_completion=complete,
        on_set_logging_level=nothing,
        on_subscriptions_listen=ListenHandler(BUS),
    )
    server.middleware.clear()
    return server


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sse", action="store_true")
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args(arguments)
    listening = http.listen("127.0.0.1", given.port)
    port = int(listening.getsockname()[1])
    rules = http.rules_for("127.0.0.1", port, token=None, origins=(), dual=True)
    app = http.guarded(build(), rules, sse=given.sse)
    print(f"http://127.0.0.1:{port}/mcp", flush=True)
    http.server(http.settings(app)).run(sockets=[listening])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The SDK's low-level server with our handlers: thin, for everything that decides stands in the agent layer."""

from __future__ import annotations

import concurrent.futures
import contextlib
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from keepa_cli import __version__
from keepa_cli.agent.problems import INVALID_PARAMS, SERVER_ERROR, ProtocolError
from keepa_cli.interfaces.mcp.consent import asker
from keepa_cli.interfaces.mcp.core import ALONE, STATELESS, Core
from keepa_cli.interfaces.mcp.tasks import TaskServer, add_tasks

WITH_TASKS = "2025-11-25"
NAME, TITLE = "keepa_mcp", "Keepa"
INSTRUCTIONS = (
    "Keepa's Amazon price, rank and offer data. Answers come from recordings unless the server was started with "
    "--live; live calls cost tokens. Start with context_policy, resolve_research_target and query_research_context; "
    "plan with workflow_plan; never add yes=true to a costly call that no person agreed to. Read agent_brief first."
)
DONE = {"resultType": "complete"}
UNCACHED = {"ttlMs": 0, "cacheScope": "private"}
"""What the era without handshake wants in results; the SDK leaves it out of older ones."""
Handler = Callable[[Any, Any], Awaitable[Any]]
Next = Callable[[Any], Awaitable[Any]]


def build_server(core: Core) -> Server[Any]:
    """A server that answers from `core`. Keys beyond the specification survive the SDK's sieve."""
    surface = core.surface

    def listing(make: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Handler:
        async def handler(ctx: Any, _: Any) -> dict[str, Any]:
            return {**DONE, **UNCACHED, **await core.aside(make, _raw(ctx))}

        return handler

    async def call(ctx: Any, _: Any) -> dict[str, Any]:
        params = _raw(ctx)
        name, arguments = params.get("name"), params.get("arguments") or {}
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise MCPError(INVALID_PARAMS, "tools/call takes a name and an object of arguments")
        found = await core.call(ident_of(ctx), name, arguments, progress=_reporter(ctx), confirm=asker(ctx, core))
        return {**DONE, **found}

    async def read(ctx: Any, _: Any) -> dict[str, Any]:
        contents = await core.read(ident_of(ctx), str(_raw(ctx).get("uri")))
        return {**DONE, **UNCACHED, "contents": contents}

    async def prompt(ctx: Any, _: Any) -> dict[str, Any]:
        params = _raw(ctx)
        return {**DONE, **await core.aside(surface.prompt, str(params.get("name")), params.get("arguments") or {})}

    handlers: dict[str, Any] = {
        "on_list_tools": listing(surface.tools_list),
        "on_list_resources": listing(surface.resources_list),
        "on_list_resource_templates": listing(surface.templates_list),
        "on_list_prompts": listing(surface.prompts_list),
        "on_call_tool": call,
        "on_read_resource": read,
        "on_get_prompt": prompt,
    }
    server: Server[Any] = TaskServer(NAME, version=__version__, title=TITLE, instructions=INSTRUCTIONS, **handlers)
    server.get_tool_input_schema = surface.schema_of  # or the SDK lists all tools for every call without a session
    server.middleware.clear()  # tracing of the SDK: nobody listens
    server.middleware.append(_quiet(core))
    server.middleware.append(_lifted(core))
    add_tasks(server, core, ident_of)
    return server


def ident_of(ctx: Any) -> str:
    """The id of the session that a request belongs to."""
    request = ctx.request
    return ALONE if request is None else request.headers.get("mcp-session-id") or STATELESS


def _raw(ctx: Any) -> dict[str, Any]:
    """The parameters as they came: the SDK's own types drop what the specification does not know."""
    return dict(ctx.params or {})


def _reporter(ctx: Any) -> Callable[[float, float | None, str], None] | None:
    """What a worker thread reports progress with; nothing where the client did not ask for it."""
    meta = ctx.meta or {}
    if meta.get("progress_token", meta.get("progressToken")) is None:  # 0 and "" are tokens too
        return None

    def report(done: float, total: float | None, text: str) -> None:
        with contextlib.suppress(Exception, concurrent.futures.CancelledError):  # nobody listens any more
            anyio.from_thread.run(ctx.session.report_progress, done, total, text)

    return report


def _quiet(core: Core) -> Any:
    """No text of an exception reaches the wire, and no secret in ours."""

    async def middleware(ctx: Any, call_next: Next) -> Any:
        try:
            return await call_next(ctx)
        except ProtocolError as problem:
            clean = core.ctx.redactor.data([problem.message, problem.data or None])
            raise MCPError(problem.code, *clean) from None
        except (MCPError, anyio.get_cancelled_exc_class()):
            raise
        except Exception as error:  # noqa: BLE001 - a defect must not tell paths or secrets
            if type(error).__name__ == "ValidationError":
                raise MCPError(INVALID_PARAMS, "Invalid request parameters") from None
            print(f"keepa_mcp: internal error: {type(error).__name__}", file=sys.stderr)
            raise MCPError(SERVER_ERROR, "Internal error") from None

    return middleware


def _lifted(core: Core) -> Any:
    """Put back what the SDK's models drop from a finished list of tools; tell of tasks only those who know them."""

    async def middleware(ctx: Any, call_next: Next) -> Any:
        found = await call_next(ctx)
        if ctx.method == "initialize" and isinstance(found, dict) and found.get("protocolVersion") != WITH_TASKS:
            found.get("capabilities", {}).pop("tasks", None)
        if ctx.method == "tools/list" and isinstance(found, dict):
            for entry in found.get("tools", []):
                entry["x-keepa"] = (entry.get("_meta") or {}).get("x-keepa")
            found.setdefault("toolset", _raw(ctx).get("toolset") or core.surface.toolset)
        return found

    return middleware

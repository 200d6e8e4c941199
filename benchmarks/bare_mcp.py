"""What our servers are measured against: the SDK's own low-level server, stdio or HTTP, with nothing around it.

python bare_mcp.py stdio [TOOLS.json]    one tool, or the tools of a file
python bare_mcp.py http                  the handlers of keepa-cli on the SDK's own application
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server

ONE = [{"name": "echo", "description": "Says it again.", "inputSchema": {"type": "object", "properties": {}}}]


def bare(tools: list[dict[str, Any]]) -> Server[Any]:
    listed = types.ListToolsResult.model_validate({"tools": tools})
    answer = types.CallToolResult.model_validate(
        {"content": [{"type": "text", "text": '{"ok":true}'}], "structuredContent": {"ok": True}}
    )

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return listed

    async def call_tool(ctx: Any, params: Any) -> types.CallToolResult:
        return answer

    return Server("bare", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


async def stdio(server: Server[Any]) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def http() -> None:
    import socket

    import uvicorn

    from keepa_cli.core.context import Context
    from keepa_cli.interfaces.mcp.core import Core
    from keepa_cli.interfaces.mcp.server import build_server

    app = build_server(Core(Context())).streamable_http_app(json_response=True)
    listening = socket.socket(proto=socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(512)
    print(f"MCP at http://127.0.0.1:{listening.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[listening])


if __name__ == "__main__":
    if sys.argv[1] == "http":
        http()
    else:
        anyio.run(stdio, bare(json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")) if sys.argv[2:] else ONE))

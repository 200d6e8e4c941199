"""What the MCP examples share: a server of this checkout or installation, and calls that read like calls.

Copy what you need: it stands on the official client alone.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters


class Failed(Exception):
    """The example cannot go on; the message says why."""


class Server:
    """A session with the server. `answers` has the size of every answer by tool, for the summary."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.answers: list[dict[str, Any]] = []

    async def tools(self) -> dict[str, Any]:
        """Every tool that is listed, page by page."""
        found: dict[str, Any] = {}
        cursor: str | None = None
        while True:
            page = await self.client.list_tools(cursor=cursor)
            found |= {tool.name: tool for tool in page.tools}
            cursor = page.next_cursor
            if not cursor:
                return found

    async def answer(self, tool: str, arguments: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The envelope of a call, a failure too."""
        result = await self.client.call_tool(tool, dict(arguments or {}))
        found = dict(result.structured_content or {})
        size = len(json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode())
        self.answers.append({"tool": tool, "ok": found.get("ok"), "bytes": size, "cache_key": found.get("cache_key")})
        return found

    async def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The envelope of a call that worked. Raises Failed."""
        found = await self.answer(tool, arguments)
        if not found["ok"]:
            raise Failed(f"{tool}: {found['error']['kind']}: {found['error']['message']}")
        return found

    async def read(self, uri: str) -> Any:
        """A resource; JSON as data."""
        (content,) = (await self.client.read_resource(uri)).contents
        text = getattr(content, "text", None)
        return json.loads(text) if text is not None and content.mime_type == "application/json" else text


def address(answer: Mapping[str, Any]) -> str:
    """Where an answer of this session can be read again."""
    return f"keepa://research/{answer['cache_key']}"


@asynccontextmanager
async def server(*args: str, cwd: Path | None = None) -> AsyncIterator[Server]:
    """`kc mcp serve ARGS` over stdio. Of the environment only what such a server reads is handed on."""
    wanted = (
        "PATH",
        "HOME",
        "USERPROFILE",
        "APPDATA",
        "LOCALAPPDATA",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "LANG",
        "PYTHONPATH",
    )
    env = {k: v for k, v in os.environ.items() if k in wanted or k.startswith(("KEEPA_CLI_", "XDG_"))}
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "keepa_cli", "mcp", "serve", *args], env=env, cwd=cwd or Path.cwd()
    )
    async with Client(started) as client:
        yield Server(client)


def main(
    example: Callable[[argparse.Namespace], Awaitable[dict[str, Any]]],
    doc: str,
    options: Callable[[argparse.ArgumentParser], object] = lambda _: None,
    argv: Sequence[str] | None = None,
) -> int:
    """Run an example, print its summary, and keep it where --save-summary says. 1 where it cannot go on."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save-summary", type=Path, metavar="PATH", help="write the summary as JSON to PATH as well")
    options(parser)
    asked = parser.parse_args(argv)
    try:
        summary = anyio.run(example, asked)
    except (Failed, OSError, ExceptionGroup) as error:
        reason = _reason(error)
        if reason is None:
            raise
        print(reason, file=sys.stderr)
        return 1
    text = json.dumps(summary, ensure_ascii=False, indent=2) + "\n"
    print(text, end="")
    return _saved(text, asked.save_summary) if asked.save_summary else 0


def _saved(text: str, path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        print(f"The summary was not saved: {_reason(error)}", file=sys.stderr)
        return 1
    return 0


def _reason(error: Exception) -> str | None:
    """Why an example ends, also out of the groups that clients raise; None where something else went wrong."""
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else None
    if isinstance(error, ExceptionGroup):
        failed, other = error.split((Failed, OSError))
        inner = failed.exceptions if failed and not other else ()
        return next((text for e in inner if (text := _reason(e))), None)
    return str(error) if isinstance(error, Failed) else None

"""The official Python client against one server process over HTTP, in both eras: everything that is listed is used."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.protocol.everything import TASKS, call_every_tool, get_every_prompt, read_everything
from tests.protocol_http.test_token import served
from tests.support.mcp_http import STATELESS
from tests.support.tool_arguments import prepare

ERAS: list[tuple[Literal["legacy", "auto"], str]] = [("legacy", TASKS), ("auto", STATELESS)]
NO_TASK = "keepa://tasks/0123456789abcdef0123456789abcdef/result"


@pytest.mark.parametrize("sse", [False, True])
def test_everything_that_is_listed_answers(clean_env: dict[str, str], home: Path, sse: bool) -> None:
    work = home / "work"

    async def use(address: str, mode: Literal["legacy", "auto"], version: str) -> None:
        async with Client(address, mode=mode) as client:
            assert client.protocol_version == version
            await call_every_tool(client)
            seen = await read_everything(client, work)
            assert (seen["resources"] > 10, seen["templates"]) == (True, 20)
            assert await get_every_prompt(client) > 3
            with pytest.raises(MCPError) as caught:
                await client.read_resource(NO_TASK)
            assert caught.value.error.code in (-32002, -32602)
            last = await client.call_tool("context_policy", {"no_cache": True})
            assert last.structured_content["budget_ledger"]["session_consumed"] == 0

    with served(clean_env, work, "--toolset", "all", *(["--sse"] if sse else [])) as (child, http):
        for mode, version in ERAS:
            for entry in work.iterdir():
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            prepare(work)
            anyio.run(use, f"http://127.0.0.1:{http.port}/mcp", mode, version)
        assert child.poll() is None

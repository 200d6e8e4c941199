"""A server that answers large calls for a long time keeps its size."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from keepa_cli.engine import Flags, Options, run
from tests.protocol.conftest import Home
from tests.support.mcp_pipe import McpPipe
from tests.support.scripted_server import ScriptedServer
from tests.support.tool_arguments import FULL

CALLS = int(os.environ.get("KEEPA_MEMORY_CALLS", "60"))
VIEWS = ("summary", "raw", "deal", "research")
MOST_KIB = 120_000
SHARED = Path(__file__).parents[2].parent / "shared" / "data" / "product-B0D8W1YVBX-US-20260510.json"


def large_body(home: Home) -> bytes:
    """A real body of 600 KB where one lies beside the checkout, else a recorded one under the same ASIN."""
    if SHARED.exists():
        return SHARED.read_bytes()
    from keepa_cli import ops

    found = run(ops.find("products.get"), {"asin": ["B0PPJ248DY"]}, home.context(), Options(Flags(fixture=FULL)))
    assert found.raw_body
    return bytes(found.raw_body).replace(b"B0PPJ248DY", b"B0D8W1YVBX")


def resident(pipe: McpPipe) -> int:
    status = Path(f"/proc/{pipe.process.pid}/status").read_text("ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def large_call(pipe: McpPipe, number: int) -> None:
    """A call that no earlier one answers."""
    view = VIEWS[number % len(VIEWS)]
    result = pipe.call("products_get", asin="B0D8W1YVBX", view=view, days=number % 3000 + 1, stats=number % 180 + 1)
    assert not result["isError"], result
    pipe.seen.clear()
    pipe.raw.clear()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_many_large_answers_do_not_make_the_server_grow(own: Home) -> None:
    with ScriptedServer([{"body": large_body(own)}], repeat_last=True) as keepa, own.live(keepa.url) as pipe:
        for number in range(CALLS // 3):
            large_call(pipe, number)
        warm = resident(pipe)
        for number in range(CALLS // 3, CALLS):
            large_call(pipe, number)
        assert len(keepa.seen) == CALLS
        assert resident(pipe) < MOST_KIB
        assert resident(pipe) - warm < 12_000

"""Requests over pipes leave nothing behind: the end of input finds nothing that still waits."""

from __future__ import annotations

import json
import time

from tests.protocol.conftest import Home
from tests.support.mcp_pipe import request

MANY = 3000


def cancel(ident: object) -> bytes:
    params = {"requestId": ident}
    return json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).encode() + b"\n"


def test_thousands_of_requests_and_cancellations_leave_nothing_to_wait_for(own: Home) -> None:
    """Cancelled while they run, wait and are answered; under ids that are used again, and under unknown ones."""
    with own.pipe(odd=True) as pipe:
        queue = [f"queued-{number}" for number in range(MANY // 3)]
        for ident in queue:
            waiting = {"name": "resolve_research_target", "arguments": {"text": "wait:60"}}
            pipe.start("tools/call", waiting, ident=ident)
        for ident in queue:
            pipe.cancel(ident)
        for number in range(MANY):
            pipe.send(request(-number, "ping") + cancel(-number if number % 2 else f"never-{number}"))
        for ident in ("again", 7, "7"):
            pipe.send(request(ident, "ping") + cancel(ident) + cancel(ident))
        assert pipe.call("context_policy")["isError"] is False
        began = time.monotonic()
        assert pipe.end()[0] == 0
        assert time.monotonic() - began < 2, "something was waited for"
        assert not set(queue) & set(pipe.ids())
        assert {-number for number in range(0, MANY, 2)} <= set(pipe.ids())

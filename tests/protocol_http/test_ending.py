"""A server that is told to end: nothing is sent to Keepa any more, clients get an answer, nothing is left behind."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.context import Context
from tests.protocol_http.conftest import context
from tests.protocol_http.test_token import served
from tests.support.mcp_http import INITIALIZE, Client, running
from tests.support.scripted_server import ScriptedServer

KEY = "k" * 64
CALL = {"name": "products_get", "arguments": {"asin": "B000000001", "yes": True}}
STALL = {"fault": "stall_after_request", "ms": 30_000}


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("stateless", [False, True])
def test_a_call_that_waits_for_keepa_is_answered_when_the_server_ends(
    clean_env: dict[str, str], home: Path, number: int, stateless: bool
) -> None:
    found: list[Any] = []
    with ScriptedServer([STALL], repeat_last=True) as keepa:
        env = {**clean_env, "KEEPA_API_KEY": KEY, "KEEPA_BASE_URL": keepa.url}
        with served(env, home / "work", "--live") as (child, client):
            ask = client.stateless if stateless else client.opened().ask
            caller = threading.Thread(target=lambda: found.append(ask("tools/call", CALL)))
            caller.start()
            keepa.wait_for(1)
            began = time.monotonic()
            child.send_signal(number)
            out, err = child.communicate(timeout=20)
            assert time.monotonic() - began < 3
            caller.join(10)
        assert len(keepa.seen) == 1
    assert found[0].status == 200
    assert found[0].json["result"]["isError"] is True
    assert (out, "Traceback" in err, KEY in err) == ("", False, False)
    assert child.returncode in (130, -signal.SIGTERM)


def test_a_costly_call_in_plain_answers_asks_nobody_and_sends_nothing(tmp_path: Path) -> None:
    """There is no way to a person while one JSON body is awaited, whatever the client says that it can."""
    with ScriptedServer([{"echo_products": True}], repeat_last=True) as keepa:
        ctx = context(tmp_path, KEEPA_API_KEY=KEY, KEEPA_BASE_URL=keepa.url)
        with running(ctx, live=True) as server:
            opened = server.client.ask("initialize", {**INITIALIZE, "capabilities": {"elicitation": {}}})
            inside = Client(server.port, {"mcp-session-id": opened.headers["mcp-session-id"]})
            many = [f"B{number:09d}" for number in range(90)]
            found = inside.call("products_get", asin=many, offers=100)
            assert found["structuredContent"]["error"]["kind"] == "confirmation_required"
        assert keepa.seen == []


def test_nothing_goes_live_unless_the_server_does(tmp_path: Path) -> None:
    with ScriptedServer([{"echo_products": True}], repeat_last=True) as keepa:
        ctx = context(tmp_path, KEEPA_API_KEY=KEY, KEEPA_BASE_URL=keepa.url, KEEPA_CLI_MODE="live")
        with running(ctx) as server:
            for given in ({}, {"profile": "live_read_allowed"}, {"yes": True}, {"no_cache": True}):
                found = server.client.opened().call("products_get", asin="B000000001", **given)
                assert found["structuredContent"]["error"]["kind"] == "cassette_miss"
            stateless = server.client.stateless("tools/call", CALL).json["result"]
            assert stateless["structuredContent"]["error"]["kind"] == "cassette_miss"
        assert keepa.seen == []


def test_a_server_ends_with_open_connections_and_sessions(ctx: Context) -> None:
    with running(ctx) as server:
        inside = server.client.opened()
        assert inside.call("context_policy")["isError"] is False
        idle = server.client.connect()
        began = time.monotonic()
    assert time.monotonic() - began < 3
    assert not server.core.sessions
    idle.close()

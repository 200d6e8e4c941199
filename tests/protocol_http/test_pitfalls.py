"""What goes wrong elsewhere, over HTTP and in a process of its own: a server with one tool that misbehaves."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import mcp
import pytest

from tests.protocol.conftest import ODD, Home
from tests.protocol.odd_server import SECRET_PATH
from tests.protocol_http.test_token import served
from tests.support.mcp_http import INITIALIZE, Client, Reply

IDS = itertools.count(100)
IMPATIENT = """
from dataclasses import replace
from keepa_cli.interfaces.mcp import http
rules_for = http.rules_for
http.rules_for = lambda *args, **more: replace(rules_for(*args, **more), idle=0.4)
from keepa_cli.cli import main
main()
"""
"""A server that waits 0.4 seconds where it usually waits an hour."""


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A server whose tool does what its text says; it must survive each of the tests."""
    home = Home(tmp_path_factory.mktemp("odd") / "home")
    with served(home.env, home.work, program=[str(ODD)]) as (child, client):
        yield client
        assert client.opened().ask("ping").status == 200
        child.terminate()
        assert "Traceback" not in child.communicate(timeout=20)[1]


@pytest.fixture
def inside(odd: Client) -> Client:
    return odd.opened()


def deed(client: Client, text: str, *, stateless: bool = False, ident: int | None = None) -> Reply:
    params = {"name": "resolve_research_target", "arguments": {"text": text}}
    if stateless:
        return client.stateless("tools/call", params)
    return client.ask("tools/call", params, ident=next(IDS) if ident is None else ident)


def meanwhile(pool: ThreadPoolExecutor, client: Client, text: str, ident: int) -> Future[Reply]:
    """A call under way."""
    found = pool.submit(deed, client, text, ident=ident)
    time.sleep(0.15)
    return found


@pytest.mark.parametrize("stateless", [False, True])
def test_pitfall_5_half_characters_and_nan_in_an_answer(inside: Client, odd: Client, stateless: bool) -> None:
    client = odd if stateless else inside
    found = deed(client, "surrogate", stateless=stateless).json["result"]
    assert found["isError"] is False
    assert found["structuredContent"]["data"]["title"] == "cut emoji ?"
    assert json.loads(found["content"][0]["text"])["data"]["title"] == "cut emoji ?"
    held = deed(client, "nan", stateless=stateless).json["result"]["structuredContent"]["data"]
    assert held == {"a": None, "b": [None]}
    for text in ("object", "deep"):
        assert set(deed(client, text, stateless=stateless).json["result"]) >= {"content", "structuredContent"}


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("text", ["raise", "exit"])
def test_pitfall_6_the_text_of_an_exception_never_reaches_the_wire(
    inside: Client, odd: Client, text: str, stateless: bool
) -> None:
    found = deed(odd if stateless else inside, text, stateless=stateless)
    assert found.status == 200
    assert found.json["result"]["structuredContent"]["error"]["kind"] == "internal_error"
    assert SECRET_PATH.encode() not in found.body and b"Traceback" not in found.body


@pytest.mark.parametrize("stateless", [False, True])
def test_pitfall_7_x_keepa_stands_beside_and_in_meta(inside: Client, odd: Client, stateless: bool) -> None:
    ask = odd.stateless if stateless else inside.ask
    tools = ask("tools/list", {"toolset": "all", "limit": 100}).json["result"]["tools"]
    assert len(tools) > 30
    for tool in tools:
        assert tool["x-keepa"]["active"] in (True, False)
        assert tool["_meta"]["x-keepa"] == tool["x-keepa"]


def test_pitfall_8_failures_fit_the_output_schema(inside: Client) -> None:
    tools = inside.ask("tools/list", {"toolset": "all", "limit": 100}).json["result"]["tools"]
    schemas = {tool["name"]: tool["outputSchema"] for tool in tools}
    for name, arguments in (("products_get", {"asin": "nonsense!"}), ("products_get", {"asin": "B00AAAAAA1"})):
        found = inside.call(name, **arguments)
        assert found["isError"] is True
        jsonschema.validate(found["structuredContent"], schemas[name])
    failed = deed(inside, "raise").json["result"]["structuredContent"]
    jsonschema.validate(failed, schemas["resolve_research_target"])


def test_pitfall_9_the_second_of_two_equal_calls_at_once_is_a_cache_hit(inside: Client) -> None:
    call = {"name": "products_get", "arguments": {"asin": "B0PPJ248DY"}}
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(inside.ask, "tools/call", call, ident=next(IDS)) for _ in range(4)]
        hits = [found.result().json["result"]["structuredContent"]["cache_hit"] for found in asked]
    assert sorted(hits) == [False, True, True, True]


def test_pitfall_10_a_ping_is_answered_while_a_tool_is_slow(inside: Client, odd: Client) -> None:
    with ThreadPoolExecutor() as pool:
        slow = meanwhile(pool, inside, "sleep:1.5", next(IDS))
        began = time.monotonic()
        assert inside.ask("ping", ident=next(IDS)).json["result"] == {}
        assert inside.ask("tools/list", ident=next(IDS)).json["result"]["tools"]
        assert odd.stateless("tools/call", {"name": "context_policy"}).json["result"]["isError"] is False
        assert time.monotonic() - began < 1.0
        assert not slow.done()
        assert slow.result().json["result"]["isError"] is False


def test_pitfall_11_running_and_queued_calls_are_cancelled(inside: Client) -> None:
    running, queued = next(IDS), next(IDS)
    with ThreadPoolExecutor() as pool:
        asked = [meanwhile(pool, inside, "wait:20", ident) for ident in (running, queued)]
        began = time.monotonic()
        for ident in (queued, running):
            cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ident}}
            assert inside.post(cancel).status == 202
        assert deed(inside, "next").json["result"]["isError"] is False
        for found in asked:
            assert "result" not in found.result().json
        assert time.monotonic() - began < 2.0


def test_pitfall_13_what_a_tool_prints_is_no_part_of_an_answer(inside: Client) -> None:
    found = deed(inside, "print")
    assert found.json["result"]["isError"] is False
    assert b"stray" not in found.body
    assert deed(inside, "read").json["result"]["structuredContent"]["data"] == {"read": "", "fd": ""}


def test_pitfalls_14_and_15_refused_openings_take_no_place_and_the_129th_session_is_refused(
    clean_env: dict[str, str], home: Any
) -> None:
    with served(clean_env, home / "work") as (_, http):
        for _ in range(130):
            refused = http.ask("initialize", {**INITIALIZE, "capabilities": "none"})
            assert refused.error == -32602 and "mcp-session-id" not in refused.headers
        opened = [http.opened() for _ in range(128)]
        full = http.ask("initialize", INITIALIZE)
        assert full.status == 503 and int(full.headers["retry-after"]) > 0
        assert opened[0].request("DELETE").status == 200
        assert opened[0].ask("ping").status == 404
        assert http.opened().ask("ping").status == 200


def test_pitfall_17_own_origins_are_served_and_foreign_ones_and_hosts_are_not(odd: Client) -> None:
    for name in ("127.0.0.1", "localhost"):
        own = f"{name}:{odd.port}"
        assert odd.ask("initialize", INITIALIZE, host=own, origin=f"http://{own}").status == 200
    for foreign in ({"origin": "https://evil.example"}, {"origin": "null"}, {"host": f"evil.example:{odd.port}"}):
        assert odd.ask("initialize", INITIALIZE, **foreign).status == 403
        assert odd.stateless("tools/list", **foreign).status == 403


def test_pitfall_18_what_is_not_said_is_fine_and_what_is_said_wrongly_is_not(odd: Client) -> None:
    for said in ({"accept": None}, {"content_type": None}, {"accept": None, "content_type": None}):
        assert odd.ask("initialize", INITIALIZE, **said).status == 200
        assert odd.stateless("tools/list", **said).status == 200
    for ask in (odd.stateless, odd.ask):
        assert ask("tools/list", accept="text/html").status == 406
        assert ask("tools/list", accept="application/json;q=0").status == 406
        assert ask("tools/list", content_type="text/plain").status == 415


def test_pitfall_19_there_is_no_event_stream_and_a_preflight_is_answered(odd: Client) -> None:
    for client in (odd, odd.opened()):
        found = client.request("GET", accept="text/event-stream")
        assert (found.status, found.headers["allow"]) == (405, "POST, DELETE, OPTIONS")
    asked = odd.request("OPTIONS", origin=f"http://127.0.0.1:{odd.port}", access_control_request_method="POST")
    assert (asked.status, asked.body) == (204, b"")


def test_pitfall_20_a_call_that_takes_too_long_is_504_and_the_next_one_is_served(inside: Client, odd: Client) -> None:
    params = {"name": "resolve_research_target", "arguments": {"text": "wait:20"}}
    for ask in (inside.ask, odd.stateless):
        began = time.monotonic()
        assert ask("tools/call", params, keepa_mcp_timeout_ms="1000").status == 504
        assert deed(inside, "next").json["result"]["isError"] is False
        assert time.monotonic() - began < 2.5


@pytest.mark.parametrize("stateless", [False, True])
def test_pitfall_22_a_cursor_is_refused_under_another_filter(inside: Client, odd: Client, stateless: bool) -> None:
    ask = odd.stateless if stateless else inside.ask
    first = ask("tools/list", {"limit": 3}).json["result"]
    cursor = first["nextCursor"]
    second = ask("tools/list", {"limit": 3, "cursor": cursor}).json["result"]
    assert not {t["name"] for t in first["tools"]} & {t["name"] for t in second["tools"]}
    for other in ({"toolset": "all"}, {"exclude_tools": ["docs_index"]}, {"cursor": cursor + "x"}):
        assert ask("tools/list", {"cursor": cursor, **other}).error == -32602, other
    assert ask("resources/list", {"cursor": cursor}).error == -32602


def test_pitfall_23_a_client_of_both_eras_falls_back(clean_env: dict[str, str], home: Any) -> None:
    async def use(port: int) -> None:
        async with mcp.Client(f"http://127.0.0.1:{port}/mcp", mode="auto") as client:
            assert client.protocol_version == "2025-11-25"
            assert not (await client.call_tool("docs_index", {})).is_error

    with served(clean_env, home / "work", "--era", "legacy") as (_, http):
        anyio.run(use, http.port)


def test_pitfall_25_warnings_go_to_stderr_only(clean_env: dict[str, str], home: Any) -> None:
    env = {**clean_env, "PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1"}
    with served(env, home / "work", program=[str(ODD)]) as (child, http):
        inside = http.opened()
        assert b"stray" not in deed(inside, "print").body
        assert inside.ask("logging/setLevel", {"level": "debug"}, ident=next(IDS)).status == 200
        child.terminate()
        out, err = child.communicate(timeout=20)
        assert "stray warning" in err and "stray warning" not in out


def test_pitfall_16_an_idle_session_ends_with_404_and_the_client_opens_another(tmp_path: Path) -> None:
    own = Home(tmp_path / "own")
    with served(own.env, own.work, program=["-c", IMPATIENT]) as (_, client):
        idle, used = client.opened(), client.opened()
        until = time.monotonic() + 1.2
        while time.monotonic() < until:
            assert used.ask("ping").status == 200
            time.sleep(0.1)
        assert idle.ask("ping").status == 404
        assert client.opened().ask("ping").status == 200

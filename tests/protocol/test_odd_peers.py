"""Clients that are odd but not wrong: what they send is served, and what they do not do holds nothing up."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from keepa_cli.interfaces.mcp.frames import BadFrame, decode
from tests.protocol.conftest import Home
from tests.support.mcp_pipe import McpPipe, request
from tests.support.scripted_server import ScriptedServer
from tests.support.tool_arguments import FULL

SOON = 5.0
SERVE = (
    "import sys; from keepa_cli.interfaces.mcp import stdio; stdio.DRAIN = 0.5; from keepa_cli.cli import main; main()"
)


def slow(pipe: McpPipe, deed: str, ident: Any) -> Any:
    arguments = {"name": "resolve_research_target", "arguments": {"text": deed}}
    return pipe.start("tools/call", arguments, ident=ident)


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
        b'{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}',
        b'{"jsonrpc":"2.0","id":99,"result":5}',
        b'{"jsonrpc":"2.0","id":"p","result":{},"error":5}',
        b'{"id":99,"result":{}}',
    ],
)
def test_an_answer_is_never_answered(pipe: McpPipe, line: bytes) -> None:
    before = len(pipe.seen)
    pipe.send(line + b"\n")
    assert pipe.ask("ping")["result"] == {}
    assert len(pipe.seen) == before + 1


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_json_number_is_no_frame(number: str) -> None:
    with pytest.raises(BadFrame) as caught:
        decode(f'{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{number}}}}}'.encode(), dual=False)
    assert caught.value.answer["error"]["code"] == -32700


def test_a_request_is_no_answer_as_well() -> None:
    with pytest.raises(BadFrame) as caught:
        decode(b'{"jsonrpc":"2.0","id":9,"method":"ping","result":{}}', dual=False)
    assert caught.value.answer["id"] == 9


@pytest.mark.parametrize("token", [0, "", "abc", 7])
def test_every_progress_token_is_one(pipe: McpPipe, token: Any) -> None:
    call = {"name": "figures_research", "arguments": {"fixture": FULL, "out_dir": f"figures-{token!r}"}}
    before = len(pipe.seen)
    assert pipe.ask("tools/call", {**call, "_meta": {"progressToken": token}})["result"]["isError"] is False
    told = [f["params"]["progressToken"] for f in pipe.seen[before:] if f.get("method") == "notifications/progress"]
    assert told and set(map(repr, told)) == {repr(token)}


def test_a_failed_handshake_leaves_the_server_usable(own: Home) -> None:
    with own.pipe(opened=False) as pipe:
        assert pipe.ask("initialize", {"protocolVersion": 5})["error"]["code"] == -32602
        assert pipe.ask("tools/list", {"limit": 1})["result"]["tools"]
        assert pipe.open()["result"]["protocolVersion"] == "2025-11-25"
        assert pipe.call("docs_index")["isError"] is False


@pytest.mark.parametrize(("cancelled", "answered"), [("1", False), (True, True), (1.0, True), ("x", True)])
def test_a_cancellation_names_a_request_as_the_protocol_reads_it(own: Home, cancelled: Any, answered: bool) -> None:
    """The number 1 and the text "1" are one id; true and 1.0 are none. The end of input ends all."""
    with own.pipe(odd=True) as pipe:
        slow(pipe, "wait:1", 1)
        pipe.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}})
        assert pipe.end(SOON) == (0, "")
        assert (1 in pipe.ids()) is answered


def test_two_calls_under_one_id_are_both_answered_before_the_end(own: Home) -> None:
    with own.pipe(odd=True) as pipe:
        slow(pipe, "sleep:0.2", 1)
        slow(pipe, "sleep:0.6", "1")
        assert pipe.end(SOON) == (0, "")
        assert [i for i in pipe.ids() if i in (1, "1")] == [1, "1"]
        assert not any("error" in f for f in pipe.seen)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, None], ids=["term", "int", "end"])
def test_a_client_that_does_not_read_holds_up_no_end(own: Home, how: signal.Signals | None) -> None:
    command = [sys.executable, "-c", SERVE, "--mcp"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=own.env, cwd=own.work, **pipes) as process:
        assert process.stdin and process.stdout
        try:
            process.stdin.write(b"".join(request(i, "tools/list") for i in range(10)))
            process.stdin.flush()
            assert process.stdout.read(1) == b"{"
            time.sleep(0.5)
            process.stdin.close() if how is None else process.send_signal(how)
            assert process.wait(SOON) == {signal.SIGTERM: 143, signal.SIGINT: 130, None: 0}[how]
        finally:
            process.kill()


def test_reads_that_wait_for_a_call_hold_up_nothing_else(own: Home) -> None:
    """Also not the question of that very call: more reads than there are threads by default."""
    with own.pipe(odd=True) as pipe:
        busy = slow(pipe, "wait:20", 1)
        for _ in range(50):
            pipe.start("resources/read", {"uri": "keepa://context/policy"})
        assert pipe.ask("ping", timeout=SOON)["result"] == {}
        assert pipe.ask("prompts/list", timeout=SOON)["result"]["prompts"]
        pipe.cancel(busy)
        assert pipe.end(SOON) == (0, "")
        assert sum("result" in f for f in pipe.seen) == 53


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "LARGE", "arguments": {}}),
        ("tools/list", {"toolset": "LARGE"}),
        ("tools/list", {"profile": "LARGE"}),
        ("prompts/get", {"name": "product_research", "arguments": {"LARGE": "x"}}),
        ("resources/read", {"uri": "keepa://LARGE"}),
        ("LARGE", {}),
    ],
)
def test_a_refusal_does_not_repeat_all_that_was_sent(pipe: McpPipe, method: str, params: dict[str, Any]) -> None:
    large = "x" * 300_000
    sent = json.loads(json.dumps(params).replace("LARGE", large))
    found = pipe.ask(method.replace("LARGE", large), sent)
    assert found["error"]["code"] in (-32602, -32601)
    assert len(json.dumps(found)) < 12_000


FINDER = {"name": "finder_query", "arguments": {"title": "kettle"}}
UNREADABLE: list[dict[str, Any]] = [{"result": 5}, {"error": 5}, {"result": {}, "error": 5}, {"error": {"code": "x"}}]


@pytest.mark.parametrize("answer", [*UNREADABLE, {"result": {"action": "agree"}}], ids=range(5))
def test_an_unreadable_answer_of_a_person_is_a_no(own: Home, answer: dict[str, Any]) -> None:
    with ScriptedServer([]) as server, own.live(server.url, opened=False) as pipe:
        pipe.open(elicitation={})
        ident = pipe.start("tools/call", FINDER)
        question = pipe.wait(lambda f: f.get("method") == "elicitation/create")
        pipe.send({"jsonrpc": "2.0", "id": question["id"], **answer})
        found = pipe.answer(ident, timeout=SOON)["result"]["structuredContent"]
        assert found["error"]["kind"] == "confirmation_required"
        assert not server.seen


@pytest.mark.parametrize(("way", "asked"), [({}, True), ({"form": {}, "url": {}}, True), ({"url": {}}, False)])
def test_a_form_is_put_to_clients_that_show_forms(own: Home, way: dict[str, Any], asked: bool) -> None:
    with ScriptedServer([]) as server, own.live(server.url, opened=False) as pipe:
        pipe.open(elicitation=way)
        ident = pipe.start("tools/call", FINDER)
        came = pipe.wait(lambda f: f.get("method") == "elicitation/create" or f.get("id") == ident)
        assert ("method" in came) is asked


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors of a shell")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("mode", ["--mcp", "--stdio"])
def test_a_program_without_a_stream_ends_quietly(own: Home, mode: str, closed: str) -> None:
    line = """'{"jsonrpc":"2.0","id":1,"method":"ping"}'"""
    command = f"echo {line} | {shlex.quote(sys.executable)} -m keepa_cli {mode} {closed}"
    found = subprocess.run(command, shell=True, capture_output=True, env=own.env, cwd=own.work, timeout=30, check=False)
    assert (found.returncode, found.stderr) == (0, b"")
    assert bool(found.stdout) is (closed == "2>&-")


@pytest.mark.parametrize(("version", "told"), [("2024-11-05", False), ("2025-06-18", False), ("2025-11-25", True)])
def test_tasks_are_told_to_clients_of_the_version_that_has_them(own: Home, version: str, told: bool) -> None:
    with own.pipe(opened=False) as pipe:
        assert ("tasks" in pipe.open(version)["result"]["capabilities"]) is told

"""MCP on stdin and stdout, frame by frame: one test for each thing that goes wrong elsewhere."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.conftest import Home
from tests.protocol.odd_server import SECRET_PATH
from tests.support.mcp_pipe import McpPipe, request

ASIN = "B0PPJ248DY"
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals")


def odd_call(odd: McpPipe, deed: str) -> dict[str, Any]:
    return odd.call("resolve_research_target", text=deed)


def start_odd(odd: McpPipe, deed: str) -> Any:
    return odd.start("tools/call", {"name": "resolve_research_target", "arguments": {"text": deed}})


def code_of(frame: dict[str, Any]) -> int:
    return int(frame["error"]["code"])


def test_pitfall_1_everything_is_answered_after_the_end_of_input(own: Home) -> None:
    with own.pipe(odd=True, opened=False) as pipe:
        for ident in (1, 2):
            call = {"name": "resolve_research_target", "arguments": {"text": f"sleep:0.3#{ident}"}}
            pipe.send(request(ident, "tools/call", **{**call, "arguments": {"text": "sleep:0.3"}}))
        pipe.send(request(3, "ping"))
        code, errors = pipe.end()
        assert (code, errors) == (0, "")
        assert sorted(pipe.ids()) == [1, 2, 3]


def test_pitfall_1_a_last_line_without_its_end_is_answered_too(own: Home) -> None:
    with own.pipe(opened=False) as pipe:
        pipe.send(request("a", "tools/call", name="context_policy", arguments={}).rstrip())
        assert pipe.end()[0] == 0
        assert pipe.seen[0]["result"]["isError"] is False


def test_pitfall_1_the_end_of_input_alone_is_no_error(own: Home) -> None:
    with own.pipe(opened=False) as pipe:
        assert pipe.end() == (0, "")
        assert pipe.raw == []


def test_pitfall_2_lists_are_served_without_a_handshake(own: Home) -> None:
    with own.pipe(opened=False) as pipe:
        assert len(pipe.ask("tools/list")["result"]["tools"]) > 20
        assert pipe.ask("tools/call", {"name": "context_policy"})["result"]["isError"] is False


def test_pitfall_3_initialize_without_parameters_is_answered(own: Home) -> None:
    for params in ({}, None):
        with own.pipe(opened=False) as pipe:
            pipe.send(
                json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode() + b"\n"
            )
            found = pipe.answer(1)["result"]
            assert found["protocolVersion"] == "2025-11-25"
            assert found["serverInfo"]["name"] == "keepa_mcp"
            assert pipe.ask("ping")["result"] == {}


def test_pitfall_5_half_characters_and_nan_in_an_answer(odd: McpPipe) -> None:
    found = odd_call(odd, "surrogate")
    assert found["isError"] is False
    assert found["structuredContent"]["data"]["title"] == "cut emoji ?"
    assert json.loads(found["content"][0]["text"])["data"]["title"] == "cut emoji ?"
    assert odd_call(odd, "nan")["structuredContent"]["data"] == {"a": None, "b": [None]}


@pytest.mark.parametrize("deed", ["object", "deep"])
def test_pitfall_5_what_json_cannot_hold_ends_nothing(odd: McpPipe, deed: str) -> None:
    assert set(odd_call(odd, deed)) >= {"content", "structuredContent", "isError"}


@pytest.mark.parametrize("deed", ["raise", "exit"])
def test_pitfall_6_the_text_of_an_exception_never_reaches_the_wire(odd: McpPipe, deed: str) -> None:
    found = odd_call(odd, deed)
    assert found["isError"] is True
    assert found["structuredContent"]["error"]["kind"] == "internal_error"
    assert SECRET_PATH not in json.dumps(odd.seen) and "Traceback" not in json.dumps(odd.seen)


def test_pitfall_6_unknown_names_are_protocol_errors(pipe: McpPipe) -> None:
    assert code_of(pipe.ask("tools/call", {"name": "no_such_tool", "arguments": {}})) == -32602
    assert code_of(pipe.ask("tools/call", {"name": 7})) == -32602
    assert code_of(pipe.ask("tools/call", {"name": "docs_index", "arguments": []})) == -32602
    assert code_of(pipe.ask("tools/call")) == -32602
    assert code_of(pipe.ask("no/such")) == -32601
    assert code_of(pipe.ask("prompts/get", {"name": "no_such_prompt"})) == -32602
    assert code_of(pipe.ask("resources/read", {"uri": "file:///etc/passwd"})) == -32602


def test_pitfall_7_x_keepa_stands_beside_and_in_meta(pipe: McpPipe) -> None:
    for tool in pipe.ask("tools/list", {"toolset": "all", "limit": 100})["result"]["tools"]:
        assert tool["x-keepa"]["active"] in (True, False)
        assert tool["_meta"]["x-keepa"] == tool["x-keepa"]


def test_pitfall_8_failures_fit_the_output_schema(pipe: McpPipe) -> None:
    import jsonschema

    schemas = {t["name"]: t["outputSchema"] for t in pipe.ask("tools/list")["result"]["tools"]}
    for name, arguments in (("products_get", {"asin": "nonsense!"}), ("products_get", {"asin": "B00AAAAAA1"})):
        found = pipe.call(name, **arguments)
        assert found["isError"] is True
        jsonschema.validate(found["structuredContent"], schemas[name])


def test_pitfall_9_the_second_of_two_equal_pipelined_calls_is_a_cache_hit(own: Home) -> None:
    with own.pipe() as pipe:
        call = {"name": "products_get", "arguments": {"asin": ASIN}}
        pipe.send(request(1, "tools/call", **call) + request(2, "tools/call", **call))
        hits = [pipe.answer(i)["result"]["structuredContent"]["cache_hit"] for i in (1, 2)]
        assert hits == [False, True]


def test_pitfall_10_a_ping_is_answered_while_a_tool_is_slow(odd: McpPipe) -> None:
    slow = start_odd(odd, "sleep:1.0")
    start = time.monotonic()
    assert odd.ask("ping")["result"] == {}
    assert odd.ask("tools/list")["result"]["tools"]
    assert time.monotonic() - start < 0.5
    assert slow not in odd.ids()
    assert odd.answer(slow)["result"]["isError"] is False


def test_pitfall_11_cancelled_calls_are_never_answered_whether_running_or_queued(odd: McpPipe) -> None:
    running, queued = start_odd(odd, "wait:20"), start_odd(odd, "wait:20")
    time.sleep(0.1)
    odd.cancel(queued)
    odd.cancel(running)
    start = time.monotonic()
    assert odd_call(odd, "next")["isError"] is False
    assert time.monotonic() - start < 1.0
    time.sleep(0.2)
    assert not {running, queued} & {f.get("id") for f in odd.seen}


def test_pitfall_11_a_call_that_cannot_stop_is_not_answered_and_the_next_one_waits_for_it(odd: McpPipe) -> None:
    deaf = start_odd(odd, "sleep:0.6")
    time.sleep(0.1)
    odd.cancel(deaf)
    assert odd.ask("ping")["result"] == {}
    assert odd_call(odd, "next")["isError"] is False
    assert deaf not in odd.ids()


def test_pitfall_11_cancelling_what_is_unknown_or_answered_changes_nothing(odd: McpPipe) -> None:
    done = start_odd(odd, "done")
    odd.answer(done)
    for ident in (done, 31337, "nobody", None, True, 1.5):
        odd.cancel(ident)
    assert odd_call(odd, "alive")["isError"] is False


@posix
@pytest.mark.parametrize("busy", [False, True])
def test_pitfall_12_ctrl_c_ends_with_130_at_once(own: Home, busy: bool) -> None:
    with own.pipe(odd=True) as pipe:
        if busy:
            start_odd(pipe, "sleep:20")
            pipe.ask("ping")
        start = time.monotonic()
        pipe.process.send_signal(signal.SIGINT)
        code, errors = pipe.exited()
        assert code == 130 and "Traceback" not in errors
        assert time.monotonic() - start < 1.5


@posix
def test_pitfall_12_ctrl_c_among_requests_ends_with_130_too(tmp_path: Path) -> None:
    """asyncio's own KeyboardInterrupt is lost now and then while requests come and go."""
    for number in range(8):
        with Home(tmp_path / str(number)).pipe(odd=True) as pipe:
            assert pipe.process.stdin is not None
            pipe.process.stdin.write(b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % n for n in range(40)))
            pipe.process.stdin.flush()
            time.sleep(0.003 * number)
            pipe.process.send_signal(signal.SIGINT)
            code, errors = pipe.exited()
            assert code == 130 and "Traceback" not in errors


@posix
@pytest.mark.parametrize("busy", [False, True])
def test_pitfall_12_sigterm_ends_quietly(own: Home, busy: bool) -> None:
    with own.pipe(odd=True) as pipe:
        if busy:
            start_odd(pipe, "wait:20")
            pipe.ask("ping")
        start = time.monotonic()
        pipe.process.send_signal(signal.SIGTERM)
        assert pipe.exited() == (143, "")
        assert time.monotonic() - start < 1.5


def test_pitfall_12_a_closed_stdout_ends_quietly_with_0(own: Home) -> None:
    with own.pipe(opened=False) as pipe:
        command = [*pipe.command]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, env=own.env, cwd=own.work, **pipes)
    assert process.stdin and process.stdout and process.stderr
    process.stdin.write(request(1, "ping"))
    process.stdin.flush()
    assert process.stdout.readline()
    process.stdout.close()
    process.stdin.write(request(2, "tools/list"))
    process.stdin.flush()
    assert process.wait(10) == 0
    assert process.stderr.read() == b""
    process.stderr.close()
    process.stdin.close()


def test_pitfall_13_nothing_but_frames_on_stdout(own: Home) -> None:
    with own.pipe("-v", "--mcp", odd=True) as pipe:
        assert odd_call(pipe, "print")["isError"] is False
        code, errors = pipe.end()
    assert code == 0
    assert all(frame["jsonrpc"] == "2.0" for frame in pipe.seen)
    assert b"stray" not in b"".join(pipe.raw)
    for word in ("stray print", "stray os.write", "stray child"):
        assert word in errors


def test_pitfall_13_no_tool_reads_from_the_client(odd: McpPipe) -> None:
    assert odd_call(odd, "read")["structuredContent"]["data"] == {"read": "", "fd": ""}


def test_pitfall_21_the_command_line_imports_no_heavy_library() -> None:
    code = (
        "import sys, keepa_cli.cli, keepa_cli.interfaces.cli.app\n"
        "heavy = {'mcp', 'mcp_types', 'anyio', 'pydantic', 'starlette', 'requests', 'pandas', 'numpy', 'urllib3'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_pitfall_22_a_cursor_is_refused_under_another_filter(pipe: McpPipe) -> None:
    first = pipe.ask("tools/list", {"limit": 3})["result"]
    cursor = first["nextCursor"]
    second = pipe.ask("tools/list", {"limit": 3, "cursor": cursor})["result"]
    assert not {t["name"] for t in first["tools"]} & {t["name"] for t in second["tools"]}
    for other in (
        {"cursor": cursor, "toolset": "all"},
        {"cursor": cursor, "exclude_tools": ["docs_index"]},
        {"cursor": cursor + "x"},
        {"cursor": "x"},
        {"cursor": 5},
        {"cursor": ""},
    ):
        assert code_of(pipe.ask("tools/list", other)) == -32602, other
    assert code_of(pipe.ask("resources/list", {"cursor": cursor})) == -32602


def test_pitfall_23_a_modern_client_is_told_to_fall_back(own: Home) -> None:
    modern = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    with own.pipe(opened=False) as pipe:
        assert code_of(pipe.ask("server/discover", {"_meta": modern})) == -32601
        assert code_of(pipe.ask("tools/list", {"_meta": modern})) == -32601
        assert pipe.open("2026-07-28")["result"]["protocolVersion"] == "2025-11-25"
        assert pipe.ask("tools/list")["result"]["tools"]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18"])
def test_pitfall_23_older_versions_are_negotiated(own: Home, version: str) -> None:
    with own.pipe(opened=False) as pipe:
        assert pipe.open(version)["result"]["protocolVersion"] == version
        assert pipe.call("docs_index")["isError"] is False


def test_pitfall_23_both_eras_are_served_where_that_is_asked_for(own: Home) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    with own.pipe("mcp", "serve", "--era", "dual", opened=False) as pipe:
        found = pipe.ask("server/discover", {"_meta": meta})["result"]
        assert "2026-07-28" in found["supportedVersions"]
        tools = pipe.ask("tools/list", {"_meta": meta})["result"]
        assert tools["resultType"] == "complete" and tools["cacheScope"] == "private"
        assert all(t["x-keepa"] for t in tools["tools"])
        called = pipe.ask("tools/call", {"name": "docs_index", "arguments": {}, "_meta": meta})["result"]
        assert called["isError"] is False and called["resultType"] == "complete"
    with own.pipe("mcp", "serve", "--era", "dual", opened=False) as pipe:
        assert pipe.open()["result"]["protocolVersion"] == "2025-11-25"
        assert pipe.ask("tools/list")["result"]["tools"]


def test_pitfall_25_warnings_go_to_stderr_only(own: Home) -> None:
    env = {"PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1"}
    with own.pipe(env=env, odd=True) as pipe:
        assert odd_call(pipe, "print")["isError"] is False
        assert pipe.ask("logging/setLevel", {"level": "debug"})
        code, errors = pipe.end()
    assert code == 0 and "stray warning" in errors
    assert b"stray" not in b"".join(pipe.raw)
    assert all(frame["jsonrpc"] == "2.0" for frame in pipe.seen)


def test_calls_run_in_the_order_in_which_they_came(odd: McpPipe) -> None:
    idents = [start_odd(odd, f"n{n}") for n in range(200)]
    answers = [odd.answer(ident)["result"]["structuredContent"]["data"] for ident in idents]
    assert [a["did"] for a in answers] == [f"n{n}" for n in range(200)]
    assert [a["at"] for a in answers] == sorted(a["at"] for a in answers)


def test_a_flood_of_calls_is_taken_up_in_portions(own: Home) -> None:
    with own.pipe(odd=True, env={"ODD_PENDING": "20"}) as pipe:
        call = {"name": "resolve_research_target", "arguments": {"text": "wait:0"}}
        pipe.send(b"".join(request(n, "tools/call", **call) for n in range(5000, 5200)))
        assert pipe.answer(5199)["result"]["isError"] is False
        assert pipe.end() == (0, "")
        assert [i for i in pipe.ids() if i >= 5000] == list(range(5000, 5200))


def test_lists_do_not_wait_for_calls_and_calls_come_in_order(odd: McpPipe) -> None:
    slow, fast = start_odd(odd, "sleep:0.4"), start_odd(odd, "fast")
    listed = odd.start("resources/list")
    odd.answer(fast)
    order = [i for i in odd.ids() if i in (slow, fast, listed)]
    assert order == [listed, slow, fast]


def test_the_session_lives_on_after_defects(odd: McpPipe) -> None:
    for _ in range(20):
        assert odd_call(odd, "raise")["isError"] is True
    assert odd_call(odd, "fine")["isError"] is False


def test_two_requests_under_one_id_end_nothing(odd: McpPipe) -> None:
    for _ in range(2):
        odd.start("tools/call", {"name": "resolve_research_target", "arguments": {"text": "twice"}}, ident="same")
    odd.answer("same")
    assert odd_call(odd, "after")["isError"] is False


def test_a_call_by_name_of_another_toolset_is_served(pipe: McpPipe) -> None:
    """Toolsets choose what is listed; profiles what is allowed."""
    assert pipe.call("cassettes_sanitize", file="missing.yaml")["isError"] is True
    assert os.linesep

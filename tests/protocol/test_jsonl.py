from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keepa_cli.agent.session import AgentSession
from keepa_cli.core.context import Context
from keepa_cli.interfaces.jsonl import LONGEST, answer
from keepa_cli.interfaces.wire import TooLong, encode, lines

ASIN = "B0PPJ248DY"
EVENTS = ["started", "budget_estimated", "response", "done"]


class Pipe:
    """A session in a process of its own with both ends open."""

    def __init__(self, env: dict[str, str], cwd: Path) -> None:
        command = [sys.executable, "-m", "keepa_cli", "--stdio"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, env=env, cwd=cwd, **pipes)

    def send(self, data: bytes | dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(data if isinstance(data, bytes) else json.dumps(data).encode() + b"\n")
        self.process.stdin.flush()

    def event(self) -> dict[str, Any]:
        assert self.process.stdout
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def ask(self, ident: Any, method: str, **params: Any) -> dict[str, Any]:
        """The payload of one request; its four events come in order while stdin stays open."""
        self.send({"id": ident, "method": method, "params": params})
        found = [self.event() for _ in EVENTS]
        assert [e["event"] for e in found] == EVENTS
        assert all(e["id"] == ident for e in found)
        payload: dict[str, Any] = found[2]["payload"]
        return payload

    def end(self) -> tuple[int, bytes]:
        out, error = self.process.communicate(timeout=20)
        assert not out
        return self.process.returncode, error


@pytest.fixture
def pipe(clean_env: dict[str, str], home: Path) -> Iterator[Pipe]:
    found = Pipe(clean_env, home / "work")
    yield found
    found.process.kill()
    found.process.wait()


def test_each_line_is_answered_as_it_comes_and_the_end_of_input_is_no_error(pipe: Pipe) -> None:
    assert pipe.ask("1", "doctor")["ok"]
    first = pipe.ask(2, "products.get", asin=ASIN)
    assert first["provenance"]["mode"] == "replay"
    assert pipe.ask(None, "products.get", asin=ASIN)["cache_hit"]
    assert pipe.ask(3, "no.such")["error"]["kind"] == "unknown_command"
    assert pipe.ask(4, "products.get", asin=ASIN, colour=1)["error"]["kind"] == "invalid_arguments"
    assert pipe.end() == (0, b"")


def test_a_hostile_line_gets_an_error_and_the_session_lives(pipe: Pipe) -> None:
    hostile = [
        b"not json", b"[]", b"5", b'"text"', b"{", b'{"id":{}}', b'{"id":1}', b'{"id":1,"method":7}', b'{"method":""}',
        b'{"id":1,"method":"doctor","params":[]}', b'{"id":NaN,"method":"doctor"}', b"\xff\xfe\x00", b"[" * 5000,
        b'{"id":1,"method":"doctor","extra":1}', b"9" * 6000,
    ]  # fmt: skip
    for line in hostile:
        pipe.send(line + b"\n")
        event = pipe.event()
        assert event["event"] == "error", line
        assert event["error"]["kind"] == "invalid_arguments"
        assert event["id"] in (None, 1)
    pipe.send(b"\n  \r\n\xef\xbb\xbf\n")
    assert pipe.ask("after", "domains.list")["ok"]


def test_a_line_over_the_limit_is_refused_without_being_held(pipe: Pipe) -> None:
    for _ in range(40):
        pipe.send(b"x" * (1 << 20))
    assert pipe.event()["error"]["message"] == f"The line is longer than {LONGEST} bytes."
    pipe.send(b"\n")
    assert pipe.ask(1, "domains.list")["ok"]
    if sys.platform == "linux":
        status = Path(f"/proc/{pipe.process.pid}/status").read_text("ascii")
        peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
        assert peak < 120_000


def test_requests_that_wait_for_consent_say_how_to_go_on(pipe: Pipe, clean_env: dict[str, str]) -> None:
    pipe.send({"id": 1, "method": "bestsellers.get", "params": {"category": "172282", "dry_run": True}})
    events = [pipe.event() for _ in EVENTS]
    assert events[1]["worst_case_tokens"] == 50
    assert events[1]["requires_confirmation"] is True


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_with_130_and_no_traceback(pipe: Pipe) -> None:
    assert pipe.ask(1, "domains.list")["ok"]
    pipe.process.send_signal(signal.SIGINT)
    code, error = pipe.end()
    assert code == 130 and b"Traceback" not in error


def test_a_closed_stdout_ends_quietly(pipe: Pipe) -> None:
    assert pipe.process.stdout
    pipe.process.stdout.close()
    pipe.send({"id": 1, "method": "capabilities"})
    time.sleep(0.1)
    assert pipe.process.stdin and pipe.process.stderr
    pipe.process.stdin.close()
    assert pipe.process.wait(20) == 0
    assert pipe.process.stderr.read() == b""


def chunks(data: bytes, size: int) -> Any:
    stream = io.BytesIO(data)
    return lambda _: stream.read(size)


@given(texts=st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"")), max_size=8), size=st.integers(1, 9))
def test_lines_come_whole_however_the_stream_is_cut(texts: list[bytes], size: int) -> None:
    found = list(lines(chunks(b"\n".join([*texts, b""]), size), 20))
    assert [f if isinstance(f, bytes) else b"" for f in found] == [t if len(t) <= 20 else b"" for t in texts]
    assert [isinstance(f, TooLong) for f in found] == [len(t) > 20 for t in texts]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(line=st.binary(max_size=60))
def test_any_bytes_are_answered(line: bytes, clean_env: dict[str, str], home: Path) -> None:
    session = AgentSession(Context(env=clean_env, cwd=home / "work"), transport="stdio")
    for event in answer(session, line):
        json.loads(encode(event))


def test_what_json_cannot_hold_is_repaired() -> None:
    found = json.loads(encode({"a": "\ud83d", "b": float("nan"), "c": Path("x"), "d": [float("inf")]}))
    assert found == {"a": "?", "b": None, "c": "x", "d": [None]}
    assert os.linesep

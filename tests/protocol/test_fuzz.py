"""Every tool with arguments of every kind: a well-formed answer, no defect, nothing outside, nothing sent."""

from __future__ import annotations

import json
import os
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from keepa_cli.agent.session import AgentSession
from keepa_cli.agent.tools import OUTPUT, tools
from keepa_cli.interfaces.mcp.results import tool_result
from tests.protocol.conftest import Home
from tests.support import tool_fuzz
from tests.support.mcp_pipe import McpPipe
from tests.support.tool_arguments import CALLS, prepare

FAKE_KEY = "FAKEFUZZKEY" * 5 + "QZ7X9KLMN"
EXAMPLES = int(os.environ.get("KEEPA_FUZZ_EXAMPLES", "8"))
LIMIT = 60_000
WRITABLE = ("work", "state", "data")
_VALIDATOR = jsonschema.Draft202012Validator(OUTPUT)


class Room:
    """A session in a home that is watched: files beside its folders must not change."""

    def __init__(self, home: Home) -> None:
        self.home = home
        prepare(home.work)
        (home.path / "secret.json").write_text('{"products": []}', "utf-8")
        self.env = {"KEEPA_API_KEY": FAKE_KEY}
        self.session = AgentSession(home.context(self.env))
        self.before = self.outside()
        self.kinds: Counter[str] = Counter()

    def outside(self) -> dict[str, float]:
        """Files of the home that no call may touch."""
        found = (p for p in self.home.path.rglob("*") if p.relative_to(self.home.path).parts[0] not in WRITABLE)
        return {str(p): p.stat().st_mtime for p in found}

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        found = tool_result(self.session.call_tool(name, arguments))
        self.kinds[found["structuredContent"].get("error", {}).get("kind", "ok")] += 1
        return found


def check(result: dict[str, Any]) -> None:
    """A result as every client wants it."""
    text = json.dumps(result, ensure_ascii=False, allow_nan=False)
    assert len(text.encode()) <= LIMIT
    assert FAKE_KEY not in text
    content = result["structuredContent"]
    _VALIDATOR.validate(content)
    assert result["isError"] is not content["ok"]
    assert result["content"][0]["type"] == "text"
    assert json.loads(result["content"][0]["text"])["command"] == content["command"]
    if not content["ok"]:
        assert content["error"]["kind"] != "internal_error", content["error"]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    found = Room(Home(tmp_path_factory.mktemp("fuzz") / "home"))
    yield found
    assert found.outside() == found.before, "something was written beside the folders of the server"
    if os.environ.get("KEEPA_FUZZ_REPORT"):
        Path(os.environ["KEEPA_FUZZ_REPORT"]).write_text(json.dumps(found.kinds), "utf-8")


@pytest.fixture
def nothing_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection or a name look-up fails the test, loopback included."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a replayed call used the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize("name", list(tools()))
def test_whatever_the_arguments_the_answer_is_well_formed(room: Room, nothing_sent: None, name: str) -> None:
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate, Phase.shrink] if EXAMPLES > 50 else [Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(arguments=tool_fuzz.arguments(name, tools()[name].input_schema))
    def call(arguments: dict[str, Any]) -> None:
        check(room.call(name, arguments))

    call()
    check(room.call(name, CALLS[name]))


@pytest.mark.parametrize("hostile", [h for h in tool_fuzz.HOSTILE if "/" in h or "\\" in h or "~" in h or "\0" in h])
def test_no_path_leaves_the_folders(room: Room, hostile: str) -> None:
    for name, tool in tools().items():
        for field in ("out", "out_dir", "chunks_dir", "input", "file", "plan"):
            if field in tool.input_schema["properties"]:
                many = tool.input_schema["properties"][field]["type"] == "array"
                result = room.call(name, {**CALLS[name], field: [hostile] if many else hostile})
                check(result)
    assert room.outside() == room.before


def test_a_sample_of_hostile_calls_over_the_pipe(shared: Home) -> None:
    prepare(shared.work)
    with shared.pipe("mcp", "serve", "--toolset", "all", env={"KEEPA_API_KEY": FAKE_KEY}) as pipe:
        for name, tool in tools().items():
            for arguments in samples(name, tool.input_schema):
                check(sent(pipe, name, arguments))
        assert pipe.end() == (0, "")


def samples(name: str, schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    first = sorted(schema["properties"])[0]
    yield CALLS[name]
    for value in ("x" * 100_000, {"\ud83d": "\x00"}, 10**40, list(range(20_000))):
        yield {**CALLS[name], first: value}
    yield {"\ud83d": 1}


def sent(pipe: McpPipe, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    frame = pipe.ask("tools/call", {"name": name, "arguments": arguments})
    if "error" in frame:  # a request that the protocol itself does not allow
        assert frame["error"]["code"] == -32602
        ok: dict[str, Any] = pipe.ask("tools/call", {"name": name, "arguments": CALLS[name]})["result"]
        return ok
    found: dict[str, Any] = frame["result"]
    return found

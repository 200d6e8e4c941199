"""Evals against real servers: started clean, ended whatever happens, patient only for so long."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.context import Context
from keepa_cli.evals import Verdict, load_file
from keepa_cli.ops import _eval_servers
from keepa_cli.ops.evals import verdict_of

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
IS_EMPTY = {"path": "$.result", "equals": {}}
KEY = "k3y" * 22


@pytest.fixture
def verdict(clean_env: dict[str, str], home: Path) -> Any:
    def run(kind: str, steps: list[Any], **server: Any) -> Verdict:
        path = home / "one.json"
        content = {"id": "one", "description": "d", "kind": kind, "steps": steps, "server": server}
        path.write_text(json.dumps(content))
        ctx = Context(env=clean_env | {"KEEPA_API_KEY": KEY, "KEEPA_CLI_MODE": "live"}, cwd=home / "work")
        return verdict_of(load_file(path), ctx, lambda *_: {})

    return run


def test_the_key_and_the_mode_of_the_caller_stay_outside(verdict: Any) -> None:
    ask = {"id": "1", "method": "doctor", "params": {}}
    found = verdict(
        "stdio_session",
        [
            {
                "send": ask,
                "assertions": [
                    {"path": "$[2].payload.data.auth.configured", "equals": False},
                    {"path": "$[2].payload.data.mode.value", "equals": "replay"},
                ],
            }
        ],
    )
    assert found.status == "passed", found


def test_a_server_that_cannot_start_is_an_error_with_what_it_said(verdict: Any) -> None:
    for kind, step in (
        ("mcp_session", {"send": PING, "assertions": [IS_EMPTY]}),
        ("http_boundary", {"request": {"method": "GET"}, "assertions": [{"path": "$.status", "equals": 405}]}),
    ):
        found = verdict(kind, [step], profile="nobody")
        assert found.status == "error"
        assert "nobody" in found.message


def test_an_answer_that_never_comes_is_waited_for_only_so_long(verdict: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_eval_servers, "ANSWER_SECONDS", 3.0)
    began = time.monotonic()
    steps = [{"send": PING, "answers": [1, 2], "assertions": [{"path": "$.id", "equals": 1}]}]
    found = verdict("mcp_session", steps)
    assert found.status == "error"
    assert "did not answer in time" in found.message
    assert time.monotonic() - began < 10

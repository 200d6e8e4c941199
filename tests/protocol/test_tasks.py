"""Long tools as tasks: started, looked at, waited for, cancelled. The official client does not speak this part."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.protocol.conftest import Home
from tests.support.mcp_pipe import McpPipe
from tests.support.tool_arguments import CALLS, prepare

DRAW = {"name": "figures_research", "arguments": CALLS["figures_research"]}
UNKNOWN = {"taskId": "nobody"}


@pytest.fixture
def pipe(own: Home) -> Iterator[McpPipe]:
    prepare(own.work)
    with own.pipe() as found:
        yield found


def start(pipe: McpPipe, **task: Any) -> dict[str, Any]:
    found: dict[str, Any] = pipe.ask("tools/call", {**DRAW, "task": task})["result"]["task"]
    return found


def until(pipe: McpPipe, ident: str, status: str) -> dict[str, Any]:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        found: dict[str, Any] = pipe.ask("tasks/get", {"taskId": ident})["result"]
        if found["status"] == status:
            return found
        time.sleep(0.05)
    raise AssertionError(f"the task never was {status}")


def test_a_task_is_started_watched_and_its_result_read(pipe: McpPipe) -> None:
    task = start(pipe, ttl=60_000)
    assert (task["status"], task["ttl"]) == ("working", 60_000)
    result = pipe.ask("tasks/result", {"taskId": task["taskId"]})["result"]
    assert result["isError"] is False
    assert result["_meta"]["io.modelcontextprotocol/related-task"] == {"taskId": task["taskId"]}
    assert until(pipe, task["taskId"], "completed")["taskId"] == task["taskId"]
    assert [t["taskId"] for t in pipe.ask("tasks/list")["result"]["tasks"]] == [task["taskId"]]
    read = pipe.ask("resources/read", {"uri": f"keepa://tasks/{task['taskId']}/result"})["result"]
    assert json.loads(read["contents"][0]["text"])["command"] == "figures.research"
    assert pipe.ask("tasks/cancel", {"taskId": task["taskId"]})["error"]["code"] == -32602


@pytest.mark.parametrize("method", ["tasks/get", "tasks/result", "tasks/cancel"])
@pytest.mark.parametrize("params", [UNKNOWN, {}, None, {"taskId": 5}, {"taskId": None}])
def test_unknown_tasks_are_refused(shared_pipe: McpPipe, method: str, params: Any) -> None:
    assert shared_pipe.ask(method, params)["error"]["code"] == -32602


@pytest.fixture(scope="module")
def shared_pipe(shared: Home) -> Iterator[McpPipe]:
    with shared.pipe() as found:
        yield found


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"name": "docs_index", "task": {}}, -32601),
        ({"name": "no_such", "task": {}}, -32601),
        ({**DRAW, "task": 5}, -32602),
        ({**DRAW, "task": []}, -32602),
        ({"name": "figures_research", "arguments": [], "task": {}}, -32602),
    ],
)
def test_what_is_no_task_is_refused(shared_pipe: McpPipe, params: dict[str, Any], code: int) -> None:
    assert shared_pipe.ask("tools/call", params)["error"]["code"] == code


def test_a_cancelled_task_has_no_result_and_the_session_goes_on(pipe: McpPipe) -> None:
    first, second = start(pipe), start(pipe)
    cancelled = pipe.ask("tasks/cancel", {"taskId": second["taskId"]})["result"]
    assert cancelled["status"] == "cancelled"
    assert pipe.ask("tasks/result", {"taskId": second["taskId"]})["error"]["code"] == -32602
    assert pipe.ask("tasks/result", {"taskId": first["taskId"]})["result"]["isError"] is False
    assert pipe.call("docs_index")["isError"] is False


def test_a_failed_call_is_a_failed_task_with_its_result(pipe: McpPipe) -> None:
    call = {"name": "figures_research", "arguments": {"out_dir": "../../outside"}}
    task = pipe.ask("tools/call", {**call, "task": {}})["result"]["task"]
    assert until(pipe, task["taskId"], "failed")
    assert pipe.ask("tasks/result", {"taskId": task["taskId"]})["result"]["isError"] is True


def test_a_task_ends_with_its_time_to_live(pipe: McpPipe) -> None:
    task = start(pipe, ttl=1)
    assert pipe.ask("tasks/result", {"taskId": task["taskId"]})
    time.sleep(0.05)
    assert pipe.ask("tasks/get", {"taskId": task["taskId"]})["error"]["code"] == -32602


def test_what_waits_for_a_task_is_answered_at_the_end_of_input(own: Home) -> None:
    prepare(own.work)
    with own.pipe() as pipe:
        task = start(pipe)
        waiting = pipe.start("tasks/result", {"taskId": task["taskId"]})
        assert pipe.end()[0] == 0
        assert pipe.answer(waiting)["result"]["isError"] is False

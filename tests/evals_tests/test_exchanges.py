"""Evals that talk to a server: read strictly, judged strictly, bounded in time. The servers here are scripted."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.redact import REDACTED, Redactor
from keepa_cli.evals import Eval, Verdict, load_file, run_exchanges

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
PONG = {"jsonrpc": "2.0", "id": 1, "result": {}}
IS_EMPTY = {"path": "$.result", "equals": {}}
SECRET = "s3cr3t" * 10


def load(folder: Path, steps: Any, kind: str = "mcp_session", **more: Any) -> Eval:
    path = folder / "one.json"
    path.write_text(json.dumps({"id": "one", "description": "d", "kind": kind, "steps": steps, **more}))
    return load_file(path)


class Scripted:
    """Answers with what `replies` makes of each batch of lines; `left` is printed at the end."""

    def __init__(self, replies: Callable[[list[Any]], list[Any]], left: list[Any], code: int | None) -> None:
        self.given: dict[str, Any] = {"work": "/w", "origin": "http://o", "host": "o"}
        self.sent: list[Any] = []
        self.ended = False
        self._replies, self._left, self._code = replies, left, code
        self._queue: list[Any] = []

    def send(self, lines: list[bytes], *, end: bool) -> None:
        frames = [line.decode().rstrip("\n") for line in lines]
        self.sent += frames
        self.ended = end
        self._queue += self._replies(frames)

    def receive(self) -> Any:
        if not self._queue:
            raise KeepaCliError(Kind.CONTRACT_ERROR, "The server did not answer in time.")
        return self._queue.pop(0)

    def request(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> dict[str, Any]:
        self.sent.append((method, path, dict(headers), body))
        return dict(self._replies([self.sent[-1]])[0])

    def finish(self) -> tuple[list[Any], int | None]:
        return self._queue + self._left, self._code


def judge(
    found: Eval, replies: Callable[[list[Any]], list[Any]], left: list[Any] | None = None, code: int | None = 0
) -> tuple[Verdict, Scripted]:
    server = Scripted(replies, left or [], code)

    @contextlib.contextmanager
    def opened(_: Eval) -> Iterator[Any]:
        yield server

    return run_exchanges(found, opened, Redactor(SECRET)), server


def test_an_answer_that_holds_passes(tmp_path: Path) -> None:
    verdict, server = judge(load(tmp_path, [{"send": PING, "assertions": [IS_EMPTY]}]), lambda _: [PONG])
    assert (verdict.status, verdict.checked) == ("passed", 4)
    assert json.loads(server.sent[0]) == PING


@pytest.mark.parametrize(
    ("answer", "path"),
    [
        (PONG | {"result": {"x": 1}}, "$.result"),
        (PONG | {"jsonrpc": "1.0"}, "$.jsonrpc"),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": 1}}, "$.error"),
    ],
)
def test_an_answer_that_is_otherwise_fails(answer: Any, path: str, tmp_path: Path) -> None:
    verdict, _ = judge(load(tmp_path, [{"send": PING, "assertions": [IS_EMPTY]}]), lambda _: [answer])
    assert verdict.status == "failed"
    assert path in [f.path for f in verdict.failures]


@pytest.mark.parametrize(
    ("replies", "left", "code", "says"),
    [
        ([], [], 0, "did not answer in time"),
        ([PONG | {"id": 2}], [], 0, "nobody asked for"),
        ([PONG | {"id": "1"}], [], 0, "nobody asked for"),
        ([PONG | {"id": True}], [], 0, "nobody asked for"),
        (["text"], [], 0, "nobody asked for"),
        ([None], [], 0, "ended before it answered"),
        ([PONG, PONG], [], 0, "nobody asked for"),
        ([PONG], [{"jsonrpc": "2.0", "id": None, "error": {}}], 0, "nobody asked for"),
        ([PONG], [], 3, "ended with 3"),
    ],
)
def test_a_server_that_misbehaves_is_an_error_and_never_a_pass(
    replies: list[Any], left: list[Any], code: int, says: str, tmp_path: Path
) -> None:
    verdict, _ = judge(load(tmp_path, [{"send": PING, "assertions": [IS_EMPTY]}]), lambda _: list(replies), left, code)
    assert verdict.status == "error"
    assert says in verdict.message


def test_answers_are_sorted_by_the_order_of_the_requests(tmp_path: Path) -> None:
    steps = [{"send": [PING, PING | {"id": 2}], "assertions": [{"path": "$[1].id", "equals": 2}], "end": True}]
    verdict, server = judge(load(tmp_path, steps), lambda _: [PONG | {"id": 2}, PONG])
    assert verdict.status == "passed"
    assert server.ended


def test_notifications_of_the_server_are_looked_at_and_disturb_nothing(tmp_path: Path) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}
    noted = [{"path": "$[0].method", "equals": "notifications/progress"}]
    steps = [{"send": PING, "notifications": noted, "assertions": [IS_EMPTY]}]
    assert judge(load(tmp_path, steps), lambda _: [note, PONG], [note])[0].status == "passed"
    assert judge(load(tmp_path, steps), lambda _: [PONG])[0].status == "failed"


def test_a_notification_and_an_answer_wait_for_nothing(tmp_path: Path) -> None:
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    steps = [{"send": ready}, {"send": PONG}, {"send": PING, "assertions": [IS_EMPTY]}]
    verdict, _ = judge(load(tmp_path, steps), lambda sent: [PONG] if '"ping"' in sent[0] else [])
    assert verdict.status == "passed"


def test_a_raw_line_is_answered_without_id_unless_the_file_says_otherwise(tmp_path: Path) -> None:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700}}
    wants = {"path": "$.error.code", "equals": -32700}
    assert judge(load(tmp_path, [{"send": "{", "assertions": [wants]}]), lambda _: [error])[0].status == "passed"
    named = [{"send": "{", "answers": [4], "assertions": [wants]}]
    assert judge(load(tmp_path, named), lambda _: [error | {"id": 4}])[0].status == "passed"
    assert judge(load(tmp_path, named), lambda _: [error])[0].status == "error"


CALL = PING | {"method": "tools/call", "params": {"name": "t"}}


@pytest.mark.parametrize(
    ("assertion", "status"),
    [
        ({"path": "$.result.structuredContent.data", "exists": False}, "failed"),
        ({"path": "$.result.structuredContent.ok", "equals": False}, "passed"),
        ({"path": "$.result.structuredContent.error.kind", "equals": "k"}, "passed"),
        ({"path": "$.result.isError", "equals": True}, "passed"),
    ],
)
def test_a_call_whose_outcome_is_not_looked_at_must_succeed(assertion: Any, status: str, tmp_path: Path) -> None:
    result = {"isError": True, "structuredContent": {"ok": False, "error": {"kind": "k"}}}
    steps = [{"send": CALL, "assertions": [assertion]}]
    assert judge(load(tmp_path, steps), lambda _: [PONG | {"result": result}])[0].status == status


def test_captured_values_go_into_what_follows_with_their_type(tmp_path: Path) -> None:
    steps = [
        {"send": PING, "capture": {"n": "$.result.n", "key": "$.result.key"}},
        {
            "send": PING | {"params": {"n": "${n}", "uri": "x://${key}/${n}"}},
            "assertions": [{"path": "$.result.n", "equals": "${n}"}, {"path": "$.result.key", "contains": "${key}"}],
        },
    ]
    answer = PONG | {"result": {"n": 5, "key": "k"}}
    verdict, server = judge(load(tmp_path, steps), lambda _: [answer])
    assert verdict.status == "passed"
    assert json.loads(server.sent[1])["params"] == {"n": 5, "uri": "x://k/5"}


def test_what_cannot_be_captured_is_an_error(tmp_path: Path) -> None:
    steps = [{"send": PING, "capture": {"n": "$.result.n"}, "assertions": [IS_EMPTY]}]
    verdict, _ = judge(load(tmp_path, steps), lambda _: [PONG])
    assert verdict.status == "error"
    assert "capture n" in verdict.message


def test_a_secret_in_an_answer_is_not_shown(tmp_path: Path) -> None:
    for answer in (PONG | {"result": {"x": SECRET}}, {"id": 9, "x": SECRET}):
        steps = [{"send": PING, "assertions": [IS_EMPTY]}]
        verdict, _ = judge(load(tmp_path, steps), lambda _, answer=answer: [answer])
        assert verdict.status != "passed"
        assert SECRET not in json.dumps(verdict.as_dict())
        assert REDACTED in json.dumps(verdict.as_dict())


EVENTS = [
    {"id": "a", "event": "started", "method": "m"}, {"id": "a", "event": "budget_estimated"},
    {"id": "a", "event": "response", "payload": {"ok": True}}, {"id": "a", "event": "done"},
]  # fmt: skip
ERROR = {"id": None, "event": "error", "error": {}}
LINE = {"send": {"id": "a", "method": "m"}, "assertions": [{"path": "$[2].payload.ok", "equals": True}]}


@pytest.mark.parametrize(
    ("events", "status"),
    [
        (EVENTS, "passed"),
        ([EVENTS[1], EVENTS[0], *EVENTS[2:]], "failed"),
        (EVENTS[:1] + EVENTS[2:], "failed"),
        ([EVENTS[0], EVENTS[1] | {"id": "b"}, *EVENTS[2:]], "failed"),
        (EVENTS[:3], "error"),
        ([ERROR], "failed"),
        ([*EVENTS, ERROR], "error"),
    ],
)
def test_a_line_gets_its_four_events_in_order(events: list[Any], status: str, tmp_path: Path) -> None:
    verdict, _ = judge(load(tmp_path, [LINE], "stdio_session"), lambda _: list(events))
    assert verdict.status == status


def request(**more: Any) -> dict[str, Any]:
    return {"request": {"method": "POST", **more}, "assertions": [{"path": "$.status", "equals": 200}]}


def test_http_requests_are_sent_as_written(tmp_path: Path) -> None:
    steps = [
        request(headers={"Origin": "${origin}"}, body=PING) | {"capture": {"sid": '$.headers["mcp-session-id"]'}},
        request(path="/x", headers={"S": "${sid}"}, body="{raw"),
    ]
    answer = {"status": 200, "headers": {"mcp-session-id": "7"}, "body": PONG}
    verdict, server = judge(load(tmp_path, steps, "http_boundary"), lambda _: [answer], code=None)
    assert verdict.status == "passed"
    assert server.sent[0][:3] == ("POST", "/mcp", {"Origin": "http://o"})
    assert server.sent[1] == ("POST", "/x", {"S": "7"}, b"{raw")


def test_an_http_answer_has_the_id_of_its_request(tmp_path: Path) -> None:
    answer = {"status": 200, "headers": {}, "body": PONG | {"id": 2}}
    verdict, _ = judge(load(tmp_path, [request(body=PING)], "http_boundary"), lambda _: [answer], code=None)
    assert [f.path for f in verdict.failures] == ["$.body.id"]


OK = {"send": PING, "assertions": [IS_EMPTY]}
BROKEN = [
    ("mcp_session", [], {}, "1 to 200 steps"),
    ("mcp_session", [1], {}, "a step is an object"),
    ("mcp_session", [{"send": PING}], {}, "asserts nothing"),
    ("mcp_session", [{"assertions": [IS_EMPTY]}], {}, "sends nothing"),
    ("mcp_session", [OK | {"sent": 1}], {}, "did you mean 'send'?"),
    ("mcp_session", [OK | {"send": 5}], {}, "an object, or a raw line"),
    ("mcp_session", [OK | {"send": "a\nb"}], {}, "no line break"),
    ("mcp_session", [OK | {"end": 1}], {}, "true or false"),
    ("mcp_session", [OK | {"end": True}, OK], {}, "ended the input"),
    ("mcp_session", [OK | {"answers": [1.5]}], {}, "list of ids"),
    ("mcp_session", [OK | {"answers": []}], {}, "nothing answers"),
    ("mcp_session", [OK | {"send": "${x}"}], {}, "nothing captured the variable 'x'"),
    ("mcp_session", [OK | {"capture": {"Bad Name": "$"}}], {}, "no name of a variable"),
    ("mcp_session", [OK | {"capture": {"a": "$["}}], {}, "capture.a"),
    ("mcp_session", [OK | {"capture": {"a": "$.id"}, "send": PING | {"params": {"a": "${a}"}}}], {}, "'a' before"),
    ("mcp_session", [OK], {"command": "doctor"}, "the key 'command' is not known"),
    ("mcp_session", [OK], {"server": []}, "must be an object"),
    ("mcp_session", [OK], {"server": {"sse": True}}, "the key 'sse' is not known"),
    ("mcp_session", [OK], {"server": {"live": "yes"}}, "true or false"),
    ("mcp_session", [OK], {"server": {"profile": "--live"}}, "takes a name"),
    ("stdio_session", [LINE], {"server": {"profile": "p"}}, "the key 'profile' is not known"),
    ("http_boundary", [{"request": {"method": "POST"}, "assertions": []}], {}, "look at $.status"),
    ("http_boundary", [request() | {"send": PING}], {}, "the key 'send' is not known"),
    ("http_boundary", [{"assertions": []}], {}, "an object with a method"),
    ("http_boundary", [request(method="post")], {}, "must be one of GET"),
    ("http_boundary", [request(path="mcp")], {}, "a path such as /mcp"),
    ("http_boundary", [request(path="/a b")], {}, "a path such as /mcp"),
    ("http_boundary", [request(headers={"a": 1})], {}, "an object of texts"),
    ("http_boundary", [request(headers={"a": "1\r\nb: 2"})], {}, "an object of texts"),
]


@pytest.mark.parametrize(("kind", "steps", "more", "says"), BROKEN)
def test_a_file_that_is_not_understood_is_refused_with_its_place(
    kind: str, steps: Any, more: Any, says: str, tmp_path: Path
) -> None:
    with pytest.raises(KeepaCliError) as caught:
        load(tmp_path, steps, kind, **more)
    assert says in caught.value.message
    assert caught.value.message.startswith("one.json: $")

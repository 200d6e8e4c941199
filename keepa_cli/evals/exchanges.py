"""Run the exchanges of an eval with a server that the caller owns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.paths import Missing, parse, render
from keepa_cli.core.paths import Path as JsonPath
from keepa_cli.core.redact import Redactor
from keepa_cli.evals.checks import same
from keepa_cli.evals.load_exchanges import HTTP, STDIO
from keepa_cli.evals.model import Assertion, Eval, Exchange, Failure, Verdict
from keepa_cli.evals.runner import judge
from keepa_cli.evals.variables import filled

LAST_EVENTS = frozenset({"done", "error"})
EVENTS = ("started", "budget_estimated", "response", "done")

OUTCOMES = tuple(
    ("result", *path) for path in (("isError",), ("structuredContent", "ok"), ("structuredContent", "error"))
)
"""Where an answer to a tool call says whether it worked."""


class Server(Protocol):
    """A process that answers. Every method may raise KeepaCliError: too late, too long, not JSON, gone."""

    given: dict[str, Any]
    """The values of the variables that exist from the start."""

    def send(self, lines: list[bytes], *, end: bool) -> None: ...

    def receive(self) -> Any:
        """The next frame; None when the output has ended."""

    def request(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> dict[str, Any]:
        """Status, headers (names in lower case) and body (JSON where it is) of the answer."""

    def finish(self) -> tuple[list[Any], int | None]:
        """Close the input; what was still printed, and the exit code (None where the server had to be ended)."""


Open = Callable[[Eval], AbstractContextManager[Server]]


@dataclass
class _Run:
    found: Eval
    server: Server
    redactor: Redactor
    known: dict[str, Any]
    checked: int = 0
    failures: list[Failure] = field(default_factory=list)

    def step(self, number: int, exchange: Exchange) -> None:
        place = number if len(self.found.exchanges) > 1 else 0
        if self.found.kind == HTTP:
            answer, implied = self._asked(exchange)
            noted: list[Any] = []
        else:
            answer, implied, noted = self._framed(exchange)
        self._check((*implied, *exchange.assertions), exchange.what, place, answer)
        self._check(exchange.noted, exchange.what + " (notifications)", place, noted)
        for name, path in exchange.captured.items():
            try:
                self.known[name] = path.get(answer)
            except Missing as missing:
                raise _Stop(f"step {number}, {exchange.what}: capture {name}: {missing}") from None

    def _check(self, stated: Iterable[Assertion], what: str, place: int, answer: Any) -> None:
        for a in stated:
            self.checked += 1
            whole = Assertion(a.path, a.check, filled(a.expected, self.known))
            failure = judge(whole, what, place, answer, self.redactor)
            if failure:
                self.failures.append(failure)

    def _asked(self, exchange: Exchange) -> tuple[Any, tuple[Assertion, ...]]:
        asked = filled(exchange.sent[0], self.known)
        body = asked["body"]
        data = None if body is None else (body if isinstance(body, str) else _json(body)).encode()
        answer = self.server.request(asked["method"], asked["path"], asked["headers"], data)
        replied = isinstance(body, dict) and "id" in body and isinstance(answer["body"], dict)
        implied = (_wants(("body", "id"), "equals", body["id"]),) if replied and answer["status"] == 200 else ()
        return answer, implied

    def _framed(self, exchange: Exchange) -> tuple[Any, tuple[Assertion, ...], list[Any]]:
        frames = [filled(frame, self.known) for frame in exchange.sent]
        lines = [(f if isinstance(f, str) else _json(f)).encode("utf-8", "surrogatepass") + b"\n" for f in frames]
        self.server.send(lines, end=exchange.end)
        gather = self._events if self.found.kind == STDIO else self._responses
        answers, noted = gather(exchange)
        implied: list[Assertion] = []
        for number, (ident, answer) in enumerate(zip(exchange.answers, answers, strict=True)):
            start: tuple[str | int, ...] = (number,) if exchange.many else ()
            implied += (_events if self.found.kind == STDIO else _response)(exchange, start, ident, answer)
        return (answers if exchange.many else answers[0] if answers else None), tuple(implied), noted

    def _responses(self, exchange: Exchange) -> tuple[list[Any], list[Any]]:
        """The answers in the order of their requests, and the notifications of the server between them."""
        found: dict[int, Any] = {}
        noted: list[Any] = []
        while len(found) < len(exchange.answers):
            frame = self._next(exchange)
            if isinstance(frame, dict) and "method" in frame and "id" not in frame:
                noted.append(frame)
                continue
            ident = frame.get("id", "") if isinstance(frame, dict) else ""
            free = [n for n, wanted in enumerate(exchange.answers) if n not in found and same(wanted, ident)]
            if not free:
                raise _Stop(f"{exchange.what}: nobody asked for {_json(frame)[:200]}")
            found[free[0]] = frame
        return [found[n] for n in sorted(found)], noted

    def _events(self, exchange: Exchange) -> tuple[list[Any], list[Any]]:
        """The events of each request."""
        found: list[Any] = []
        for _ in exchange.answers:
            events: list[Any] = []
            while not events or not isinstance(events[-1], dict) or events[-1].get("event") not in LAST_EVENTS:
                events.append(self._next(exchange))
            found.append(events)
        return found, []

    def _next(self, exchange: Exchange) -> Any:
        frame = self.server.receive()
        if frame is None:
            raise _Stop(f"{exchange.what}: the server ended before it answered")
        return frame

    def end(self) -> None:
        """A server that is done says nothing unasked and ends well."""
        left, code = self.server.finish()
        left = [f for f in left if not (isinstance(f, dict) and "method" in f and "id" not in f)]
        if left:
            raise _Stop(f"{len(left)} frames came that nobody asked for: {_json(left[0])[:200]}")
        if code:
            raise _Stop(f"the server ended with {code}")


class _Stop(Exception):
    """The eval cannot be judged further."""


def run_exchanges(found: Eval, open_server: Open, redactor: Redactor) -> Verdict:
    """The verdict on one eval; whatever keeps it from being judged is an `error`."""
    file = str(found.file)
    state: _Run | None = None
    try:
        with open_server(found) as server:
            state = _Run(found, server, redactor, dict(server.given))
            for number, exchange in enumerate(found.exchanges, 1):
                state.step(number, exchange)
            state.end()
    except (KeepaCliError, _Stop) as error:
        message = redactor.text(str(error.message if isinstance(error, KeepaCliError) else error))
        checked, failures = (state.checked, tuple(state.failures)) if state else (0, ())
        return Verdict(found.id, "error", file, checked, failures, message)
    return Verdict(found.id, "failed" if state.failures else "passed", file, state.checked, tuple(state.failures))


def _response(exchange: Exchange, start: tuple[str | int, ...], ident: Any, answer: Any) -> list[Assertion]:
    """What every JSON-RPC answer is. An exchange that does not look at the outcome expects success."""
    implied = [_wants((*start, "jsonrpc"), "equals", "2.0"), _wants((*start, "id"), "equals", ident)]
    paths = [a.path.parts[len(start) :] for a in _below(exchange, start)]
    if any(path[:1] in {(), ("error",)} for path in paths):
        return implied
    implied.append(_wants((*start, "error"), "exists", False))
    called = isinstance(answer, dict) and isinstance(answer.get("result"), dict) and "isError" in answer["result"]
    judged = any(
        path == outcome[: len(path)] or path[: len(outcome)] == outcome for path in paths for outcome in OUTCOMES
    )
    return implied + ([_wants((*start, "result", "isError"), "equals", False)] if called and not judged else [])


def _events(exchange: Exchange, start: tuple[str | int, ...], ident: Any, answer: Any) -> list[Assertion]:
    """The four events of a request, or one error, each with its id."""
    failed = len(answer) == 1 and answer[0].get("event") == "error"
    wanted = ("error",) if failed else EVENTS
    implied = [_wants(start, "length", len(wanted))]
    for number, event in enumerate(wanted):
        implied.append(_wants((*start, number, "event"), "equals", event))
        implied.append(_wants((*start, number, "id"), "equals", ident))
    looked = any(a.path.parts[len(start) :][:1] == (0,) for a in _below(exchange, start))
    return implied + ([_wants((*start, 0, "event"), "equals", "started")] if failed and not looked else [])


def _below(exchange: Exchange, start: tuple[str | int, ...]) -> list[Assertion]:
    return [a for a in exchange.assertions if a.path.parts[: len(start)] == start]


def _wants(parts: tuple[str | int, ...], check: str, expected: Any) -> Assertion:
    text = render(parts)
    path: JsonPath = parse(text)
    return Assertion(path, check, expected)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

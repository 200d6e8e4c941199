"""`--stdio`: one JSON request per line, four events per answer (contract §5)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from keepa_cli.agent.session import AgentSession
from keepa_cli.core.context import Context
from keepa_cli.core.errors import ExitCode, KeepaCliError, Kind
from keepa_cli.core.registry import FREE
from keepa_cli.interfaces.wire import TooLong, claim, encode, lines, write_all
from keepa_cli.keepa.strictjson import load_json

LONGEST = 10 << 20
Emit = Callable[[dict[str, Any]], None]
NOTHING = {
    "estimated_tokens": FREE.estimated, "worst_case_tokens": FREE.worst, "requires_confirmation": False,
    "components": [], "notes": [],
}  # fmt: skip


class BadLine(Exception):
    """A line that is no request; `id` is its id where one could be read."""

    def __init__(self, message: str, ident: Any = None) -> None:
        super().__init__(message)
        self.ident = ident


def serve(ctx: Context, *, live: bool, profile: str | None = None) -> int:
    """Answer requests from stdin until it ends; the exit code. What is printed elsewhere goes to stderr."""
    reading, writing = claim()
    session = AgentSession(ctx, live=live, profile=profile, transport="stdio", anywhere=True)
    try:
        for line in lines(lambda size: os.read(reading, size), LONGEST):
            for event in answer(session, line):
                write_all(writing, encode(event))
    except BrokenPipeError:
        return int(ExitCode.OK)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    finally:
        session.close()
    return int(ExitCode.OK)


def answer(session: AgentSession, line: bytes | TooLong) -> Iterator[dict[str, Any]]:
    """The events of one line, in order; a line that is no request gives one `error`, an empty one nothing."""
    if isinstance(line, bytes) and not line.strip(b"\xef\xbb\xbf \t\r"):
        return
    try:
        ident, method, params = _request(line)
    except BadLine as bad:
        error = KeepaCliError(Kind.INVALID_ARGUMENTS, str(bad))
        facts = {"kind": error.kind.value, "message": error.message, "retryable": error.retryable}
        yield {"id": bad.ident, "event": "error", "error": {**facts, "details": {}, "next_actions": error.next_actions}}
        return
    yield {"id": ident, "event": "started", "method": method}
    yield {"id": ident, "event": "budget_estimated", **_estimate(session, method, params)}
    yield {"id": ident, "event": "response", "payload": session.call(method, params)}
    yield {"id": ident, "event": "done"}


def _estimate(session: AgentSession, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The price of a call; of one that cannot be read nothing, for its response says what is wrong."""
    try:
        return session.estimate(method, params)
    except KeepaCliError:
        return NOTHING


def _request(line: bytes | TooLong) -> tuple[Any, str, dict[str, Any]]:
    if isinstance(line, TooLong):
        raise BadLine(f"The line is longer than {LONGEST} bytes.")
    try:
        found = load_json(line.strip())
    except ValueError as error:
        raise BadLine(f"The line is not JSON: {str(error).removeprefix('not JSON: ')[:200]}.") from None
    if not isinstance(found, dict):
        raise BadLine('A request is one object: {"id": "1", "method": "doctor", "params": {}}.')
    ident = found.get("id")
    if isinstance(ident, dict | list | bool):
        raise BadLine("id is a text, a number or null.")
    method, params = found.get("method"), found.get("params")
    if not isinstance(method, str) or not method.strip():
        raise BadLine("method is a text such as products.get.", ident)
    if params is not None and not isinstance(params, dict):
        raise BadLine("params is an object.", ident)
    unknown = sorted(set(found) - {"id", "method", "params", "jsonrpc"})
    if unknown:
        raise BadLine(f"A request has id, method and params, not {', '.join(unknown)[:100]}.", ident)
    return ident, method.strip(), params or {}

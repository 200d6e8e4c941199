"""Read evals that talk to a server: frames over stdin and stdout, or HTTP requests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from keepa_cli.core.paths import Path as JsonPath
from keepa_cli.core.paths import parse
from keepa_cli.evals.model import Exchange
from keepa_cli.evals.strict import Wrong, assertions, known, near
from keepa_cli.evals.variables import NAME, names_in, placeholders

STDIO, MCP, HTTP = "stdio_session", "mcp_session", "http_boundary"
SERVER_KINDS = (MCP, HTTP, STDIO)
KEYS = ("id", "description", "kind", "server", "steps")
FRAME_KEYS = ("send", "answers", "end", "assertions", "notifications", "capture")
HTTP_KEYS = ("request", "assertions", "capture")
REQUEST_KEYS = ("method", "path", "headers", "body")
SERVER_KEYS: Mapping[str, tuple[str, ...]] = {
    STDIO: ("live",),
    MCP: ("live", "toolset", "profile", "era"),
    HTTP: ("live", "toolset", "profile", "era", "sse"),
}
SWITCHES = frozenset({"live", "sse"})
GIVEN: Mapping[str, tuple[str, ...]] = {STDIO: ("work",), MCP: ("work",), HTTP: ("work", "origin", "host")}
"""What every run knows from the start: its scratch folder, and where the server listens."""
METHODS = ("GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH")
MOST_STEPS = 200


def server_options(raw: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """How the server is started. `live` only matters for what is refused before anything is sent: it has no key."""
    found = raw.get("server", {})
    if not isinstance(found, dict):
        raise Wrong("$.server", "must be an object")
    known(found, SERVER_KEYS[kind], "$.server")
    for name, value in found.items():
        if name in SWITCHES and not isinstance(value, bool):
            raise Wrong(f"$.server.{name}", "takes true or false")
        if name not in SWITCHES and not (isinstance(value, str) and value and value[0].isalpha()):
            raise Wrong(f"$.server.{name}", "takes a name")
    return found


def exchanges(raw: dict[str, Any], kind: str) -> tuple[Exchange, ...]:
    """The steps of an eval, each checked; names of variables must have been captured before."""
    known(raw, KEYS, "$")
    steps = raw.get("steps")
    if not isinstance(steps, list) or not 0 < len(steps) <= MOST_STEPS:
        raise Wrong("$.steps", f"must be a list of 1 to {MOST_STEPS} steps")
    names = set(GIVEN[kind])
    found: list[Exchange] = []
    for number, step in enumerate(steps):
        where = f"$.steps[{number}]"
        if found and found[-1].end:
            raise Wrong(where, "the step before ended the input")
        if not isinstance(step, dict):
            raise Wrong(where, "a step is an object")
        found.append(_http(step, where) if kind == HTTP else _frames(step, where, kind))
        unknown = sorted(set(names_in({k: v for k, v in step.items() if k != "capture"})) - names)
        if unknown:
            raise Wrong(where, f"nothing captured the variable {unknown[0]!r} before{near(unknown[0], tuple(names))}")
        names |= set(found[-1].captured)
    if not any(e.assertions for e in found):
        raise Wrong("$", "asserts nothing")
    return tuple(found)


def _frames(step: dict[str, Any], where: str, kind: str) -> Exchange:
    known(step, FRAME_KEYS, where)
    sent = step.get("send", [])
    many = isinstance(sent, list)
    frames = sent if many else [sent]
    if not all(isinstance(frame, dict | str) for frame in frames):
        raise Wrong(f"{where}.send", "is a frame or a list of frames: an object, or a raw line as text")
    if any(isinstance(frame, str) and "\n" in frame for frame in frames):
        raise Wrong(f"{where}.send", "a raw line holds no line break")
    end = step.get("end", False)
    if not isinstance(end, bool):
        raise Wrong(f"{where}.end", "takes true or false")
    if not frames and not end:
        raise Wrong(f"{where}.send", "sends nothing")
    answers = step["answers"] if "answers" in step else [i for f in frames for i in _awaited(f, kind)]
    if not isinstance(answers, list) or any(isinstance(a, bool | dict | list | float) for a in answers):
        raise Wrong(f"{where}.answers", "is a list of ids: texts, whole numbers or null")
    stated = assertions(step.get("assertions", []), f"{where}.assertions", placeholders)
    if stated and not answers:
        raise Wrong(f"{where}.assertions", "nothing answers this step")
    noted = assertions(step.get("notifications", []), f"{where}.notifications", placeholders)
    return Exchange(
        _title(frames), tuple(frames), tuple(answers), many, end, _captured(step, where), stated, noted
    )  # fmt: skip


def _awaited(frame: Any, kind: str) -> list[Any]:
    """The id of the answer that a frame gets; none for notifications and answers."""
    if isinstance(frame, str):
        return [None]
    if kind == STDIO:
        return [frame.get("id")]
    ident = frame.get("id")
    usable = isinstance(ident, str | int) and not isinstance(ident, bool)
    return [ident] if usable and "method" in frame else []


def _title(frames: list[Any]) -> str:
    first = frames[0] if frames else "the end of input"
    if isinstance(first, str):
        return first[:60]
    params = first.get("params")
    name = params.get("name") or params.get("uri") if isinstance(params, dict) else None
    return " ".join(str(part) for part in (first.get("method") or "an answer", name) if part)[:60]


def _http(step: dict[str, Any], where: str) -> Exchange:
    known(step, HTTP_KEYS, where)
    request = step.get("request")
    if not isinstance(request, dict):
        raise Wrong(f"{where}.request", "must be an object with a method")
    known(request, REQUEST_KEYS, f"{where}.request")
    method, path = request.get("method"), request.get("path", "/mcp")
    if method not in METHODS:
        raise Wrong(f"{where}.request.method", f"must be one of {', '.join(METHODS)}")
    if not isinstance(path, str) or not path.startswith("/") or not path.isprintable() or " " in path:
        raise Wrong(f"{where}.request.path", "must be a path such as /mcp")
    headers = request.get("headers", {})
    if not isinstance(headers, dict) or not all(isinstance(v, str) and v.isprintable() for v in headers.values()):
        raise Wrong(f"{where}.request.headers", "must be an object of texts")
    stated = assertions(step.get("assertions", []), f"{where}.assertions", placeholders)
    if not any(a.path.parts[:1] == ("status",) for a in stated):
        raise Wrong(f"{where}.assertions", "does not look at $.status")
    body = request.get("body")
    asked = {"method": method, "path": path, "headers": headers, "body": body}
    if isinstance(body, str | None):
        return Exchange(f"{method} {path}", (asked,), captured=_captured(step, where), assertions=stated)
    try:
        json.dumps(body)
    except (ValueError, RecursionError):
        raise Wrong(f"{where}.request.body", "cannot be sent as JSON") from None
    return Exchange(f"{method} {path}", (asked,), captured=_captured(step, where), assertions=stated)


def _captured(step: Mapping[str, Any], where: str) -> dict[str, JsonPath]:
    raw = step.get("capture", {})
    if not isinstance(raw, dict):
        raise Wrong(f"{where}.capture", "must be an object of names and paths")
    found: dict[str, JsonPath] = {}
    for name, text in raw.items():
        if not NAME.fullmatch(name):
            raise Wrong(f"{where}.capture", f"{name!r} is no name of a variable: lower-case letters, digits and '_'")
        try:
            found[name] = parse(text)
        except ValueError as error:
            raise Wrong(f"{where}.capture.{name}", str(error)) from None
    return found

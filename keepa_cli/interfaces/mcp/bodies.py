"""Bodies of HTTP requests: read within bounds, and checked to be one JSON-RPC message."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from keepa_cli.agent.problems import INVALID_REQUEST, PARSE_ERROR
from keepa_cli.interfaces.mcp.headers import Headers
from keepa_cli.interfaces.mcp.replies import Event, Receive, Refused
from keepa_cli.interfaces.wire import strict_json

BODY_LIMIT = 4 << 20
BODY_SECONDS = 30.0
"""A body that is not there by then is not waited for."""
DRAIN_BYTES, DRAIN_SECONDS, PAUSE_SECONDS = 16 << 20, 2.0, 0.3
"""What is read and thrown away of a body that is too large, until it pauses: a client that still writes sees no answer
otherwise."""


async def read_body(headers: Headers, receive: Receive, limit: int, seconds: float = BODY_SECONDS) -> bytes:
    """The whole body. Raises Refused for one that is too large, comes too slowly, or whose length is unclear."""
    if _declared(headers) > limit:
        raise await _drained(receive, limit)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                event = await receive()
                if event["type"] == "http.disconnect":
                    raise Refused(400, "The request ended early.", connection="close")
                body += event.get("body", b"")
                if len(body) > limit:
                    break
                if not event.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        raise Refused(408, "The body came too slowly.", connection="close") from None
    raise await _drained(receive, limit, more=bool(event.get("more_body")))


def _declared(headers: Headers) -> int:
    length = headers.one("content-length")
    if length is not None and headers.one("transfer-encoding") is not None:
        raise Refused(400, "A body has a length or is chunked, not both.", connection="close")
    if length is None:
        return 0
    if not length.isascii() or not length.isdecimal():
        raise Refused(400, "Content-Length is no number.", connection="close")
    return int(length[:18])


async def _drained(receive: Receive, limit: int, *, more: bool = True) -> Refused:
    """The refusal, once some of the rest was read."""
    left = DRAIN_BYTES
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            while more and left > 0:
                event = await asyncio.wait_for(receive(), PAUSE_SECONDS)
                left -= len(event.get("body", b""))
                more = bool(event.get("more_body")) and event["type"] != "http.disconnect"
    except TimeoutError:
        pass
    return Refused(413, f"A body has at most {limit} bytes.", connection="close")


@dataclass(frozen=True)
class Message:
    """A body as the SDK is given it, the id of a request in it, and whether it opens a session."""

    body: bytes = b""
    ident: str | int | None = None
    opening: bool = False


SHALLOW = 100
"""With fewer brackets nothing is nested too deeply for the SDK, which takes 200 levels."""


def message_of(body: bytes, *, dual: bool) -> Message:
    """The message that a body holds. Raises for what is no JSON-RPC message."""
    from keepa_cli.interfaces.mcp.frames import OPENING, is_modern

    try:
        found = strict_json(body)
    except (ValueError, RecursionError):
        raise Refused(400, "Parse error", PARSE_ERROR) from None
    _check(found)
    params = found.get("params")
    if "params" in found and params is None:
        del found["params"]
    ident = found.get("id") if "method" in found else None
    if found.get("method") != "initialize" or ident is None or (dual and is_modern(params)):
        return Message(_sent(found, ident), ident)
    whole = {**OPENING, **{k: v for k, v in (params or {}).items() if v is not None}}
    return Message(_sent(found | {"params": whole}, ident), ident, opening=True)


def _sent(found: Any, ident: Any) -> bytes:
    """The message for the reader of the SDK, which knows no half characters and less depth than ours."""
    body = json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")
    if body.count(b"{") + body.count(b"[") < SHALLOW:
        return body
    import pydantic_core

    try:
        pydantic_core.from_json(body)
    except ValueError:
        raise Refused(400, "The message is nested too deeply.", INVALID_REQUEST, ident) from None
    return body


def _check(found: Any) -> None:
    """Raises where a value is no JSON-RPC message, with its id where that can be read."""
    import mcp_types as types

    ident = found.get("id") if isinstance(found, dict) else None
    usable = isinstance(ident, str) or (isinstance(ident, int) and not isinstance(ident, bool))
    invalid = Refused(400, "Invalid Request", INVALID_REQUEST, ident if usable else None)
    if not isinstance(found, dict) or ("id" in found and not usable):
        raise invalid
    if found.get("params", {}) is not None and not isinstance(found.get("params", {}), dict):
        raise invalid
    answers = "result" in found or "error" in found
    if "method" in found and answers:
        raise invalid
    try:
        types.jsonrpc_message_adapter.validate_python({k: v for k, v in found.items() if v is not None}, by_name=False)
    except ValueError:
        raise invalid from None


def once(body: bytes, rest: Receive | None = None) -> Receive:
    """The body as one event; afterwards what `rest` brings, or nothing: a lost client ends no call of a session."""
    given = False

    async def receive() -> Event:
        nonlocal given
        if given:
            if rest is not None:
                return await rest()
            await asyncio.Event().wait()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive

"""What HTTP requests must be before the SDK sees them, and how its answers look to clients: plain ASGI."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.agent.problems import INVALID_REQUEST, PARSE_ERROR
from keepa_cli.interfaces.mcp.headers import Headers, accepts, is_json
from keepa_cli.interfaces.mcp.rooms import Rooms

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PATH = "/mcp"
BODY_LIMIT = 4 << 20
HANDSHAKE_VERSIONS = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
SHORTEST, LONGEST, USUAL = 1_000, 300_000, 60_000
"""Milliseconds that a request may take: what Keepa-MCP-Timeout-Ms can say, and without it."""
TIMEOUT_KEY, TIMED_OUT_KEY = "keepa.timeout_ms", "keepa.timed_out"
REFUSED = -32000
METHODS = "POST, DELETE, OPTIONS"
CORS_HEADERS = (
    "content-type, accept, authorization, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, "
    "last-event-id, keepa-mcp-timeout-ms"
)


class Refused(Exception):
    """A request that ends here: HTTP status, JSON-RPC code, sentence, and headers of the answer."""

    def __init__(self, status: int, message: str, code: int = REFUSED, ident: Any = None, **headers: str) -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.ident = status, message, code, ident
        self.headers = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]


@dataclass(frozen=True)
class Rules:
    """Who may call, and what is served. `hosts` is None where any Host is taken, which needs a token."""

    origins: frozenset[str]
    hosts: frozenset[str] | None
    token: str | None = None
    dual: bool = True
    body_limit: int = BODY_LIMIT


@dataclass
class Guard:
    """Wraps the SDK's application."""

    app: App
    rules: Rules
    rooms: Rooms = field(default_factory=Rooms)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope["headers"])
        cors: list[tuple[bytes, bytes]] = []
        try:
            cors = self._origin(headers)
            self._caller(scope, headers)
            if scope["method"] == "OPTIONS":
                await _reply(send, 204, b"", [*cors, *_preflight()])
                return
            await self._serve(scope, headers, receive, send, cors)
        except Refused as refused:
            error = {"code": refused.code, "message": refused.message}
            body = json.dumps({"jsonrpc": "2.0", "id": refused.ident, "error": error}).encode()
            await _reply(send, refused.status, body, [*cors, *refused.headers])

    def _origin(self, headers: Headers) -> list[tuple[bytes, bytes]]:
        origin = headers.one("origin")
        if origin is None:
            return []
        if origin not in self.rules.origins:
            raise Refused(403, "This origin may not call.")
        return [
            (b"access-control-allow-origin", origin.encode()),
            (b"vary", b"Origin"),
            (b"access-control-expose-headers", b"Mcp-Session-Id, MCP-Protocol-Version, Retry-After"),
        ]

    def _caller(self, scope: Scope, headers: Headers) -> None:
        if self.rules.hosts is not None and headers.one("host") not in self.rules.hosts:
            raise Refused(403, "This Host is not served.")
        if scope["path"] != PATH:
            raise Refused(404, f"Only {PATH} is served.")
        if self.rules.token is None or scope["method"] == "OPTIONS":
            return
        given = (headers.one("authorization") or "").encode("utf-8", "replace")
        if not hmac.compare_digest(given, b"Bearer " + self.rules.token.encode()):
            raise Refused(401, "A bearer token is needed.", www_authenticate="Bearer")

    async def _serve(
        self, scope: Scope, headers: Headers, receive: Receive, send: Send, cors: list[tuple[bytes, bytes]]
    ) -> None:
        method = scope["method"]
        if method not in ("POST", "DELETE"):
            what = "No event stream is offered here." if method == "GET" else "This method is not served."
            raise Refused(405, what, allow=METHODS)
        self._version(headers)
        scope[TIMEOUT_KEY] = _timeout(headers.one("keepa-mcp-timeout-ms"))
        body = b""
        if method == "POST":
            _media(headers)
            body = await self._body(headers, receive)
        opening, body = _message(body, self.rules) if method == "POST" else (False, body)
        if opening and headers.one("mcp-session-id") is None:
            await self._make_room()
        scope["headers"] = headers.completed(len(body) if method == "POST" else None)
        answer = _Answer(send, cors, scope, opening=opening)
        await self.app(scope, _once(body), answer.send)
        await self._book(answer, headers.one("mcp-session-id"), method)

    def _version(self, headers: Headers) -> None:
        version = headers.one("mcp-protocol-version")
        if version is not None and version not in HANDSHAKE_VERSIONS and not self.rules.dual:
            raise Refused(400, f"The protocol version {version[:40]} is not served.")

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        limit = self.rules.body_limit
        if headers.one("content-length") is not None and headers.one("transfer-encoding") is not None:
            raise Refused(400, "A body has a length or is chunked, not both.", connection="close")
        length = headers.one("content-length") or "0"
        too_large = Refused(413, f"A body has at most {limit} bytes.", connection="close")
        if not length.isascii() or not length.isdecimal():
            raise Refused(400, "Content-Length is no number.", connection="close")
        if len(length) > 12 or int(length) > limit:
            raise too_large
        body = bytearray()
        while True:
            event = await receive()
            if event["type"] == "http.disconnect":
                raise Refused(400, "The request ended early.", connection="close")
            body += event.get("body", b"")
            if len(body) > limit:
                raise too_large
            if not event.get("more_body"):
                return bytes(body)

    async def _make_room(self) -> None:
        """A session for a new client: the one idle longest gives way, else the client is asked to come back."""
        crowded, oldest = self.rooms.crowded()
        if not crowded:
            return
        if oldest is None:
            raise Refused(503, "All sessions are in use.", retry_after=str(self.rooms.retry_after()))
        await self._end(oldest)

    async def _end(self, ident: str) -> None:
        """Let the SDK end a session, as if its client had."""
        headers = [(b"mcp-session-id", ident.encode()), (b"accept", b"application/json")]
        host = next(iter(sorted(self.rules.hosts or {"localhost"})))
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "DELETE", "scheme": "http",
            "path": PATH, "raw_path": PATH.encode(), "root_path": "", "query_string": b"", "client": None,
            "server": None, "headers": [*headers, (b"host", host.encode())],
        }  # fmt: skip

        async def ignore(_: MutableMapping[str, Any]) -> None:
            return

        await self.app(scope, _once(b""), ignore)
        self.rooms.left(ident)

    async def _book(self, answer: _Answer, ident: str | None, method: str) -> None:
        """Keep count of sessions; one whose opening was refused is given back at once."""
        if answer.session is not None and ident is None:
            if answer.refused:
                await self._end(answer.session)
            else:
                self.rooms.entered(answer.session)
        elif ident is not None:
            if answer.status == 404 or (method == "DELETE" and answer.status < 300):
                self.rooms.left(ident)
            elif answer.status < 300:
                self.rooms.entered(ident)


class _Answer:
    """The SDK's answer on its way out: our headers, JSON for its plain texts, 504 for what took too long."""

    def __init__(self, send: Send, cors: list[tuple[bytes, bytes]], scope: Scope, *, opening: bool) -> None:
        self._send, self._cors, self._scope, self._opening = send, cors, scope, opening
        self.status = 500
        self.session: str | None = None
        self.refused = False
        self._start: MutableMapping[str, Any] | None = None
        self._body = bytearray()

    async def send(self, event: MutableMapping[str, Any]) -> None:
        if event["type"] == "http.response.start":
            await self._begin(event)
        elif self._start is None:
            await self._send(event)
        else:
            self._body += event.get("body", b"")
            if not event.get("more_body"):
                await self._finish()

    async def _begin(self, event: MutableMapping[str, Any]) -> None:
        headers = Headers(event["headers"])
        self.status, self.session = event["status"], headers.one("mcp-session-id")
        if (headers.one("content-type") or "").startswith("text/event-stream"):
            await self._send({**event, "headers": [*event["headers"], *self._cors]})
            return
        self._start = event

    async def _finish(self) -> None:
        start, body = self._start, bytes(self._body)
        assert start is not None  # noqa: S101 - set by _begin
        if self._opening:
            self.refused = self.status >= 400 or b'"error"' in body[:200]
        headers = [(k, v) for k, v in start["headers"] if k.lower() != b"content-length"]
        if self._scope.get(TIMED_OUT_KEY):
            self.status = 504
        if self.status >= 400 and body and not body.lstrip().startswith(b"{"):
            error = {"code": REFUSED, "message": body.decode("utf-8", "replace")[:200]}
            body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
            headers = [(k, v) for k, v in headers if k.lower() != b"content-type"]
            headers.append((b"content-type", b"application/json"))
        length = (b"content-length", str(len(body)).encode())
        await self._send({**start, "status": self.status, "headers": [*headers, length, *self._cors]})
        await self._send({"type": "http.response.body", "body": body})


def _message(body: bytes, rules: Rules) -> tuple[bool, bytes]:
    """Whether the body opens a session, and the body as the SDK is given it. Raises for what is no JSON-RPC message."""
    from keepa_cli.interfaces.mcp.frames import OPENING, is_modern

    try:
        found = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise Refused(400, "Parse error", PARSE_ERROR) from None
    ident = found.get("id") if isinstance(found, dict) else None
    usable = isinstance(ident, str) or (isinstance(ident, int) and not isinstance(ident, bool))
    if not isinstance(found, dict) or found.get("jsonrpc") != "2.0" or ("id" in found and not usable):
        raise Refused(400, "Invalid Request", INVALID_REQUEST, ident if usable else None)
    params = found.get("params")
    answers = "id" in found and ("result" in found or "error" in found)
    if not (isinstance(found.get("method"), str) or answers) or not isinstance(params, dict | None):
        raise Refused(400, "Invalid Request", INVALID_REQUEST, ident if usable else None)
    if params is None and "params" in found:
        del found["params"]
        body = json.dumps(found).encode()
    if found.get("method") != "initialize" or (rules.dual and is_modern(params)):
        return False, body
    whole = {**OPENING, **{k: v for k, v in (params or {}).items() if v is not None}}
    return True, json.dumps(found | {"params": whole}).encode()


def _media(headers: Headers) -> None:
    if not is_json(headers.one("content-type")):
        raise Refused(415, "A body is application/json.")
    if not accepts(headers.one("accept")):
        raise Refused(406, "Answers are application/json or text/event-stream.")


def _timeout(text: str | None) -> int:
    if text is None:
        return USUAL
    if not (text.isascii() and text.isdecimal() and len(text) < 8 and SHORTEST <= int(text) <= LONGEST):
        raise Refused(400, f"Keepa-MCP-Timeout-Ms is a number from {SHORTEST} to {LONGEST}.")
    return int(text)


def _preflight() -> list[tuple[bytes, bytes]]:
    return [
        (b"access-control-allow-methods", METHODS.encode()),
        (b"access-control-allow-headers", CORS_HEADERS.encode()),
        (b"access-control-max-age", b"600"),
    ]


def _once(body: bytes) -> Receive:
    """The body as one event; afterwards the connection stays open."""
    import asyncio

    given = False

    async def receive() -> MutableMapping[str, Any]:
        nonlocal given
        if given:
            await asyncio.Event().wait()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


async def _reply(send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    kind = [(b"content-type", b"application/json")] if body else []
    length = [(b"content-length", str(len(body)).encode())] if status != 204 else []
    await send({"type": "http.response.start", "status": status, "headers": [*kind, *length, *headers]})
    await send({"type": "http.response.body", "body": body})

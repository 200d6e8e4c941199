"""What HTTP requests must be before the SDK sees them: plain ASGI."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

from keepa_cli.agent.problems import INVALID_REQUEST
from keepa_cli.interfaces.mcp.bodies import BODY_LIMIT, BODY_SECONDS, Message, message_of, once, read_body
from keepa_cli.interfaces.mcp.headers import Headers, accepts, is_json
from keepa_cli.interfaces.mcp.replies import (
    TIMEOUT_KEY,
    Answer,
    App,
    Event,
    Pairs,
    Receive,
    Refused,
    Scope,
    Send,
    reply,
)
from keepa_cli.interfaces.mcp.rooms import IDLE_SECONDS, Rooms

PATH = "/mcp"
HANDSHAKE_VERSIONS = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
SHORTEST, LONGEST, USUAL = 1_000, 300_000, 60_000
"""Milliseconds that a request may take: what Keepa-MCP-Timeout-Ms can say, and without it."""
SETTLING = 0.5
"""Seconds that an answer which was sent may need to be done with."""
METHODS = "POST, DELETE, OPTIONS"
CORS_HEADERS = (
    "content-type, accept, authorization, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, "
    "last-event-id, keepa-mcp-timeout-ms"
)
PREFLIGHT = [
    (b"access-control-allow-methods", METHODS.encode()),
    (b"access-control-allow-headers", CORS_HEADERS.encode()),
    (b"access-control-max-age", b"600"),
]


@dataclass(frozen=True)
class Rules:
    """Who may call, and what is served. `hosts` is None where any Host is taken, which needs a token."""

    origins: frozenset[str]
    hosts: frozenset[str] | None
    token: str | None = None
    dual: bool = True
    body_limit: int = BODY_LIMIT
    body_seconds: float = BODY_SECONDS
    idle: float = IDLE_SECONDS


@dataclass
class Guard:
    """Wraps the SDK's application."""

    app: App
    rules: Rules
    rooms: Rooms = field(default_factory=Rooms)
    under_way: dict[tuple[str, str], asyncio.Event] = field(default_factory=dict)
    """Requests of sessions that are being answered, by session and id."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope["headers"])
        cors: Pairs = []
        try:
            cors = self._origin(headers)
            self._caller(scope, headers)
            if scope["method"] == "OPTIONS":
                await reply(send, 204, b"", [*cors, *PREFLIGHT, (b"allow", METHODS.encode())])
                return
            await self._serve(scope, headers, receive, send, cors)
        except Refused as refused:
            await reply(send, refused.status, refused.body(), [*cors, *refused.headers])

    def _origin(self, headers: Headers) -> Pairs:
        origin = headers.one("origin")
        if origin is None:
            return []
        if origin not in self.rules.origins:
            raise Refused(403, "This origin may not call.")
        return [
            (b"access-control-allow-origin", origin.encode()),
            (b"vary", b"Origin"),
            (b"access-control-expose-headers", b"Mcp-Session-Id, MCP-Protocol-Version, Retry-After, WWW-Authenticate"),
        ]

    def _caller(self, scope: Scope, headers: Headers) -> None:
        if self.rules.hosts is not None and (headers.one("host") or "").lower() not in self.rules.hosts:
            raise Refused(403, "This Host is not served.")
        if self.rules.token is not None and scope["method"] != "OPTIONS":
            self._token(headers, self.rules.token)
        if scope["path"] != PATH:
            raise Refused(404, f"Only {PATH} is served.")

    def _token(self, headers: Headers, token: str) -> None:
        scheme, _, given = (headers.one("authorization") or "").partition(" ")
        same = hmac.compare_digest(given.strip().encode("latin-1"), token.encode())
        if scheme.lower() != "bearer" or not same:
            raise Refused(401, "A bearer token is needed.", www_authenticate='Bearer realm="keepa_mcp"')

    async def _serve(self, scope: Scope, headers: Headers, receive: Receive, send: Send, cors: Pairs) -> None:
        method = scope["method"]
        if method not in ("POST", "DELETE"):
            what = "No event stream is offered here." if method in ("GET", "HEAD") else "This method is not served."
            raise Refused(405, what, allow=METHODS)
        modern = self._is_modern(headers)
        scope[TIMEOUT_KEY] = _timeout(headers.one("keepa-mcp-timeout-ms"))
        message = Message()
        if method == "POST":
            _media(headers)
            body = await read_body(headers, receive, self.rules.body_limit, self.rules.body_seconds)
            message = message_of(body, dual=self.rules.dual)
        ident = None if modern else headers.one("mcp-session-id")
        scope["headers"] = headers.completed(len(message.body) if method == "POST" else None, stateless=modern)
        book = partial(self._book, ident=ident, method=method)
        answer = Answer(send, cors, scope, book, opening=message.opening and ident is None and not modern)
        with ExitStack() as stack:
            if ident is not None:
                stack.enter_context(self.rooms.using(ident))
                if message.ident is not None:
                    stack.callback(await self._alone(ident, message.ident))
            elif message.opening and not modern:
                await self._make_room()
                stack.enter_context(self.rooms.opening())
            try:
                await self.app(scope, once(message.body, receive if modern else None), answer.send)
            finally:
                if answer.session is not None and ident is None and not answer.whole:
                    await self._end(answer.session)

    async def _alone(self, session: str, ident: str | int) -> Callable[[], None]:
        """A request is being answered, until what this returns is called. A second one of its id would take its answer,
        and neither client would get one; the SDK holds "7" and 7 for one id."""
        key = (session, str(ident))
        while (earlier := self.under_way.get(key)) is not None:
            try:
                await asyncio.wait_for(earlier.wait(), SETTLING)
            except TimeoutError:
                raise Refused(400, "A request of this id is being answered.", INVALID_REQUEST, ident) from None
        ended = self.under_way[key] = asyncio.Event()

        def end() -> None:
            del self.under_way[key]
            ended.set()

        return end

    def _is_modern(self, headers: Headers) -> bool:
        """Whether a request belongs to the protocol without handshake and sessions."""
        version = headers.one("mcp-protocol-version")
        if version is None or version in HANDSHAKE_VERSIONS:
            return False
        if not self.rules.dual:
            raise Refused(400, f"The protocol version {version[:40]} is not served.")
        return True

    async def _make_room(self) -> None:
        """A session for a new client: the one idle longest gives way, else the client is asked to come back."""
        self.rooms.sweep(self.rules.idle)
        crowded, oldest = self.rooms.crowded()
        if not crowded:
            return
        if oldest is None:
            raise Refused(503, "All sessions are in use.", retry_after=str(self.rooms.retry_after()))
        await self._end(oldest)

    async def _end(self, ident: str) -> None:
        """Forget a session and let the SDK end it, as if its client had."""
        self.rooms.left(ident)
        headers = [(b"mcp-session-id", ident.encode()), (b"accept", b"application/json"), (b"host", b"localhost")]
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "DELETE", "scheme": "http",
            "path": PATH, "raw_path": PATH.encode(), "root_path": "", "query_string": b"", "client": None,
            "server": None, "headers": headers,
        }  # fmt: skip

        async def ignore(_: Event) -> None:
            return

        await self.app(scope, once(b""), ignore)

    async def _book(self, answer: Answer, ident: str | None, method: str) -> None:
        """Keep count of sessions."""
        if ident is None:
            if answer.session is not None and answer.refused:
                await self._end(answer.session)
            elif answer.session is not None and answer.status < 400:
                self.rooms.entered(answer.session)
        elif answer.status == 404 or (method == "DELETE" and answer.status < 300):
            self.rooms.left(ident)


def _media(headers: Headers) -> None:
    if not is_json(headers.one("content-type")):
        raise Refused(415, "A body is application/json.")
    if (headers.one("content-encoding") or "identity").lower() != "identity":
        raise Refused(415, "A body is not compressed.", accept_encoding="identity")
    if not accepts(headers.one("accept")):
        raise Refused(406, "Answers are application/json or text/event-stream.")


def _timeout(text: str | None) -> int:
    if text is None:
        return USUAL
    if not (text.isascii() and text.isdecimal() and len(text) < 8 and SHORTEST <= int(text) <= LONGEST):
        raise Refused(400, f"Keepa-MCP-Timeout-Ms is a number from {SHORTEST} to {LONGEST}.")
    return int(text)

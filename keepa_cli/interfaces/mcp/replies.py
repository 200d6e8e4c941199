"""How answers of the SDK's application look to HTTP clients: plain ASGI."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from keepa_cli.interfaces.mcp.headers import Headers

Event = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Pairs = list[tuple[bytes, bytes]]

REFUSED = -32000
ENDED = b"Session terminated"
"""What the SDK says to a call whose session another request ends."""
TIMEOUT_KEY, TIMED_OUT_KEY = "keepa.timeout_ms", "keepa.timed_out"


class Refused(Exception):
    """A request that ends here: HTTP status, JSON-RPC code, sentence, and headers of the answer."""

    def __init__(self, status: int, message: str, code: int = REFUSED, ident: Any = None, **headers: str) -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.ident = status, message, code, ident
        self.headers = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]

    def body(self) -> bytes:
        return _error(self.code, self.message, self.ident)


class Answer:
    """The SDK's answer on its way out: our headers, JSON for its plain texts, 504 for what took too long.

    `refused` says of the answer to an `initialize` whether it is an error. `known` is called with the answer once its
    status is known, before any of it is sent, and again before the last of it where it turns out to be refused.
    """

    def __init__(
        self, send: Send, cors: Pairs, scope: Scope, known: Callable[[Answer], Awaitable[None]], *, opening: bool
    ) -> None:
        self._known = known
        self._send, self._cors, self._scope, self._opening = send, cors, scope, opening
        self.status = 500
        self.session: str | None = None
        self.refused = self.whole = False
        self._start: Event | None = None
        self._body = bytearray()

    async def send(self, event: Event) -> None:
        if event["type"] == "http.response.start":
            await self._begin(event)
        elif self._start is None:
            await self._stream(event)
        else:
            self._body += event.get("body", b"")
            if not event.get("more_body"):
                await self._finish()

    async def _begin(self, event: Event) -> None:
        headers = Headers(event["headers"])
        self.status, self.session = event["status"], headers.one("mcp-session-id")
        if (headers.one("content-type") or "").startswith("text/event-stream"):
            await self._known(self)
            await self._send({**event, "headers": [*event["headers"], *self._cors]})
            return
        self._start = event

    async def _stream(self, event: Event) -> None:
        """Pass an event stream on; the answer that opens a session is read as well."""
        if self._opening:
            self._body += event.get("body", b"")
            if not event.get("more_body"):
                last = [line[5:] for line in bytes(self._body).splitlines() if line.startswith(b"data:")]
                self.refused = self.status >= 400 or not last or _is_error(last[-1])
                if self.refused:
                    await self._known(self)
        self.whole = not event.get("more_body")
        await self._send(event)

    async def _finish(self) -> None:
        start, body = self._start, bytes(self._body)
        assert start is not None  # noqa: S101 - set by _begin
        if self._opening:
            self.refused = self.status >= 400 or _is_error(body)
        headers = [(k, v) for k, v in start["headers"] if k.lower() != b"content-length"]
        if self._scope.get(TIMED_OUT_KEY):
            self.status = 504
        elif self.status == 500 and ENDED in body:
            self.status = 404
        if self.refused or self.status >= 400:  # clients keep any id they see, that of a session that ended too
            headers = [(k, v) for k, v in headers if k.lower() != b"mcp-session-id"]
        if self.status >= 400 and body and not body.lstrip().startswith(b"{"):
            body = _error(REFUSED, body.decode("utf-8", "replace")[:200], None)
            headers = [(k, v) for k, v in headers if k.lower() != b"content-type"]
            headers.append((b"content-type", b"application/json"))
        await self._known(self)
        self.whole = True
        length = (b"content-length", str(len(body)).encode())
        await self._send({**start, "status": self.status, "headers": [*headers, length, *self._cors]})
        await self._send({"type": "http.response.body", "body": body})


def _is_error(body: bytes) -> bool:
    try:
        found = json.loads(body)
    except ValueError:
        return True
    return not isinstance(found, dict) or "error" in found


def _error(code: int, message: str, ident: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": ident, "error": {"code": code, "message": message}}).encode()


async def reply(send: Send, status: int, body: bytes, headers: Pairs) -> None:
    kind = [(b"content-type", b"application/json")] if body else []
    length = [(b"content-length", str(len(body)).encode())] if status != 204 else []
    await send({"type": "http.response.start", "status": status, "headers": [*kind, *length, *headers]})
    await send({"type": "http.response.body", "body": body})

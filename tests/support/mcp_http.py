"""MCP servers on loopback in this process, and clients that send them exactly the bytes they want."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import uvicorn

from keepa_cli.core.context import Context
from keepa_cli.interfaces.mcp import http
from keepa_cli.interfaces.mcp.core import Core
from keepa_cli.interfaces.mcp.guard import Guard
from keepa_cli.interfaces.mcp.rooms import Rooms

VERSION, STATELESS = "2025-11-25", "2026-07-28"
INITIALIZE = {
    "protocolVersion": VERSION,
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@dataclass
class Reply:
    """An answer as it came."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            return json.loads([line[5:] for line in self.body.splitlines() if line.startswith(b"data:")][-1])
        return json.loads(self.body)

    @property
    def error(self) -> int:
        code: int = self.json["error"]["code"]
        return code


def read_reply(sock: socket.socket, method: str = "POST") -> Reply | None:
    """The next answer on a connection and not a byte more; None where it was closed without one."""
    head = b""
    try:
        while not head.endswith(b"\r\n\r\n"):
            byte = sock.recv(1)
            if not byte:
                return None
            head += byte
    except ConnectionError:
        return None
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    status = int(first.split()[1])
    if method == "HEAD" or status == 204:
        return Reply(status, headers, b"")
    return Reply(status, headers, _body(sock, headers))


def _body(sock: socket.socket, headers: Mapping[str, str]) -> bytes:
    if "content-length" in headers:
        return _exactly(sock, int(headers["content-length"]))
    if headers.get("transfer-encoding") != "chunked":
        return b"".join(iter(lambda: sock.recv(65536), b""))
    found = b""
    while True:
        line = b""
        while not line.endswith(b"\r\n"):
            line += _exactly(sock, 1)
        size = int(line, 16)
        found += _exactly(sock, size + 2)[:size]
        if not size:
            return found


def _exactly(sock: socket.socket, count: int) -> bytes:
    found = bytearray()
    while len(found) < count:
        part = sock.recv(count - len(found))
        assert part, "the connection was closed in the middle of an answer"
        found += part
    return bytes(found)


@dataclass
class Client:
    """Speaks to one server; `headers` are sent with every request."""

    port: int
    headers: dict[str, str] = field(default_factory=dict)
    path: str = "/mcp"

    def connect(self, timeout: float = 30.0) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def raw(self, data: bytes, timeout: float = 30.0) -> Reply | None:
        """The answer to these bytes."""
        with self.connect(timeout) as sock:
            sock.sendall(data)
            return read_reply(sock, data.partition(b" ")[0].decode("latin-1"))

    def request(
        self, method: str = "POST", body: bytes | None = None, *, timeout: float = 30.0, **headers: str | None
    ) -> Reply:
        """One request; a header that is None is left out."""
        given: dict[str, str | None] = {
            "host": f"127.0.0.1:{self.port}",
            "content-length": str(len(body)) if body is not None else None,
            **self.headers,
            **{k.replace("_", "-").lower(): v for k, v in headers.items()},
        }
        lines = [f"{method} {self.path} HTTP/1.1", *(f"{k}: {v}" for k, v in given.items() if v is not None)]
        found = self.raw("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b""), timeout)
        assert found is not None, "the connection was closed without an answer"
        return found

    def post(self, message: Any, **headers: Any) -> Reply:
        return self.request("POST", json.dumps(message).encode(), **{"content_type": "application/json", **headers})

    def ask(self, method: str, params: Mapping[str, Any] | None = None, *, ident: Any = 1, **headers: Any) -> Reply:
        message = {"jsonrpc": "2.0", "id": ident, "method": method} | ({} if params is None else {"params": params})
        return self.post(message, **headers)

    def opened(self) -> Client:
        """This client in a session of its own."""
        found = self.ask("initialize", INITIALIZE)
        assert found.status == 200, found
        inside = replace(self, headers={**self.headers, "mcp-session-id": found.headers["mcp-session-id"]})
        assert inside.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202
        return inside

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool call."""
        result: dict[str, Any] = self.ask("tools/call", {"name": tool, "arguments": arguments}).json["result"]
        return result

    def stateless(self, method: str, params: Mapping[str, Any] | None = None, **headers: Any) -> Reply:
        """A request of the protocol without sessions."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        name = (params or {}).get("name") or (params or {}).get("uri")
        own = {"mcp_protocol_version": STATELESS, "mcp_method": method} | ({"mcp_name": name} if name else {})
        return self.ask(method, {**(params or {}), "_meta": meta}, **(own | headers))


@dataclass
class Running:
    """A server that runs, and what it is made of."""

    port: int
    core: Core
    guard: Guard
    rooms: Rooms
    server: uvicorn.Server

    @property
    def client(self) -> Client:
        return Client(self.port)

    @property
    def sdk(self) -> Any:
        """What the SDK keeps its sessions in."""
        routes = self.guard.app.routes  # type: ignore[attr-defined]
        return next(route.app for route in routes if route.path == "/mcp").session_manager

    def kept(self) -> dict[str, int]:
        """How much of every client, session, task and request is held; what holds nothing is left out."""
        manager, busy = self.sdk, [held for held in self.core.sessions.values() if held.running]
        places: dict[str, Any] = {
            "rooms": self.rooms, "busy rooms": self.rooms._busy, "openings": range(self.rooms._opening),
            "ids under way": self.guard.under_way, "sessions": self.core.sessions, "busy sessions": busy,
            "lent": self.core._out, "questions": self.core._questions, "tasks": manager.app.tasks._held,
            "sessions of the SDK": manager._server_instances, "owners of the SDK": manager._session_owners,
        }  # fmt: skip
        return {name: len(place) for name, place in places.items() if len(place)}


@contextmanager
def running(
    ctx: Context,
    *,
    live: bool = False,
    sse: bool = False,
    token: str | None = None,
    host: str = "127.0.0.1",
    origins: tuple[str, ...] = (),
    dual: bool = True,
    rooms: Rooms | None = None,
    **rules: Any,
) -> Iterator[Running]:
    """Serve on a free port of loopback; `host` is the address that the rules are made for."""
    listening = http.listen("127.0.0.1", 0)
    port = int(listening.getsockname()[1])
    made = replace(http.rules_for(host, port, token=token, origins=origins, dual=dual), **rules)
    core = Core(ctx, live=live)
    held = Rooms() if rooms is None else rooms
    guard = http.build_app(core, made, sse=sse, rooms=held)
    server = http.server(http.settings(guard), core)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    until = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < until, "the server did not start"
        time.sleep(0.01)
    try:
        yield Running(port, core, guard, held, server)
    finally:
        server.should_exit = True
        thread.join(20)
        listening.close()
        core.close()
        assert not thread.is_alive(), "the server did not stop"

"""The HTTP server of the sandbox: one thread per connection, keep-alive, one write per answer."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.redact import REDACTED
from keepa_cli.sandbox.app import App
from keepa_cli.sandbox.bucket import Bucket
from keepa_cli.sandbox.config import SandboxConfig
from keepa_cli.sandbox.faults import Fault
from keepa_cli.sandbox.messages import Call, Reply, read_call
from keepa_cli.sandbox.trackings.hooks import Hooks

LOG_SIZE = 10_000
MAX_BODY = 16 * 1024 * 1024
IDLE_SECONDS = 120
_ZERO = re.compile(r"q=0(\.0*)?")
_RESET = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)


@dataclass(frozen=True)
class LogEntry:
    """A request that was answered. The key is neither here nor in any value."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    status: int
    tokens: int
    fault: str = ""


class Sandbox:
    """A local Keepa. Use it as a context manager, or call start() and stop(). `log` holds the latest requests."""

    def __init__(self, config: SandboxConfig | None = None, *, on_request: Callable[[LogEntry], None] | None = None):
        self.config = config or SandboxConfig()
        self.app = App(self.config)
        self.log: deque[LogEntry] = deque(maxlen=LOG_SIZE)
        self.base_url = ""
        self.answered = 0
        self._on_request = on_request
        self._server: _Server | None = None

    @property
    def bucket(self) -> Bucket:
        return self.app.bucket

    @property
    def notes(self) -> list[str]:
        """What a user should know about where the answers come from."""
        stored, recordings = self.app.shop.stored, self.app.recordings
        found = []
        if stored is not None:
            found.append(f"{len(stored)} stored bodies answer /product; other ASINs come from the invented catalogue.")
            found += [f"{name} is no answer of /product and is not served." for name in stored.ignored]
        if recordings is not None:
            found.append("Only recordings answer; nothing is charged and no key is checked.")
        return found

    def start(self) -> str:
        """Listen and answer in the background. Returns the base URL; `io_error` when the address is taken."""
        if self._server is not None:
            return self.base_url
        host, port = self.config.host, self.config.port
        self.app.stopping.clear()
        try:
            self._server = _server_class(host)((host, port), self)
        except OSError as error:
            raise _cannot_listen(host, port, error) from None
        shown = f"[{host}]" if ":" in host else host
        self.base_url = f"http://{shown}:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), name="sandbox", daemon=True).start()
        return self.base_url

    def stop(self) -> None:
        """Close the port and every open connection. Safe to call twice."""
        server, self._server = self._server, None
        if server is None:
            return
        self.app.stopping.set()
        self.webhooks.stop()
        server.shutdown()
        server.server_close()
        server.hang_up()

    def inject(self, *specs: str | Fault) -> None:
        """Add faults while running, in the notation of --fault."""
        for spec in specs:
            self.app.faults.add(spec)

    @property
    def webhooks(self) -> Hooks:
        """What was delivered: `webhooks.deliveries`, and `webhooks.wait(seconds)` for what is under way."""
        return self.app.shop.desk.hooks

    def change_price(self, asin: str, csv_type: int, value: int, domain: int = 1) -> list[dict[str, Any]]:
        """Set a price (-1: no offer) from this minute on, for products and trackings. The notifications it causes."""
        return self.app.change_price(asin, csv_type, value, domain)

    def tick(self) -> None:
        """Look at the trackings that are due by the clock. Every request does so, too."""
        self.app.shop.desk.settle()

    def __enter__(self) -> Sandbox:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def record(self, call: Call, reply: Reply) -> None:
        hidden = call.key if call.key and len(call.key) >= 8 else None

        def clean(text: str) -> str:
            return text.replace(hidden, REDACTED) if hidden else text

        query = tuple((clean(name), REDACTED if _is_secret(call, name) else clean(value)) for name, value in call.pairs)
        entry = LogEntry(call.method, clean(call.path), query, reply.status, reply.tokens, ", ".join(reply.notes))
        self.log.append(entry)
        self.answered += 1
        if self._on_request:
            with contextlib.suppress(OSError, ValueError):  # a log that cannot be written must not cost the answer
                self._on_request(entry)


def _is_secret(call: Call, name: str) -> bool:
    """The address of a webhook is one: whoever knows it can post there."""
    return call.path == "/tracking" and name == "url"


def _cannot_listen(host: str, port: int, error: OSError) -> KeepaCliError:
    reason = error.strerror or type(error).__name__
    return KeepaCliError(
        Kind.IO_ERROR,
        f"The sandbox cannot listen on {host} port {port}: {reason}.",
        details={"host": host, "port": port},
        next_actions=["kc sandbox serve --port 0"],
    )


def _server_class(host: str) -> type[_Server]:
    return _Server6 if ":" in host else _Server


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Bind without the slow reverse name lookup of HTTPServer; on Windows share the port with nobody."""
        option = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
        self.socket.setsockopt(socket.SOL_SOCKET, option, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._open_lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        with self._open_lock:
            left = list(self._open)
        for connection in left:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no event; anything else is answered inside the handler."""


class _Server6(_Server):
    address_family = socket.AF_INET6


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = IDLE_SECONDS

    def do_GET(self) -> None:
        self._answer()

    do_POST = do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_GET

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """The sandbox keeps its own log, without keys."""

    def _answer(self) -> None:
        body = self._read_body()
        if body is None:
            return
        accepts = accepts_gzip(self.headers.get("Accept-Encoding", ""))
        call = read_call(self.command, self.path, body, accepts)
        reply = self.server.sandbox.app.answer(call)
        self.server.sandbox.record(call, reply)
        if reply.cut == "reset":
            self._reset()
        else:
            self._send(call, reply)

    def _read_body(self) -> bytes | None:
        """The request body, or None when it was refused and the connection ends."""
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            self.send_error(411)
            self.close_connection = True
            return None
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > MAX_BODY:
            self.send_error(413 if length.isdigit() else 400)
            self.close_connection = True
            return None
        return self.rfile.read(int(length)) if int(length) else b""

    def _reset(self) -> None:
        with contextlib.suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.close_connection = True
        self.wfile = _Discard()  # type: ignore[assignment]
        self.connection.close()

    def _send(self, call: Call, reply: Reply) -> None:
        encoded = reply.cut == "truncated-gzip" or (call.accepts_gzip and not reply.plain)
        body = reply.body.gzip() if encoded else reply.body.plain()
        if reply.cut == "truncated-gzip":
            body = body[: len(body) // 2]
        head = self._head(reply, len(body), encoded)
        if call.method == "HEAD":
            body = b""
        if reply.cut == "cut-body":
            body, self.close_connection = body[: len(body) // 2], True
        self.wfile.write(head + body)

    def _head(self, reply: Reply, length: int, encoded: bool) -> bytes:
        reason = reply.reason if reply.reason is not None else self.responses.get(reply.status, ("",))[0]
        lines = [f"HTTP/1.1 {reply.status} {reason}", *(f"{name}: {value}" for name, value in reply.headers)]
        if encoded:
            lines.append("Content-Encoding: gzip")
        lines += [f"Content-Length: {length}", *(["Connection: close"] if self.close_connection else []), "", ""]
        return "\r\n".join(" ".join(line.splitlines()) for line in lines).encode("latin-1", "replace")


def accepts_gzip(header: str) -> bool:
    """Whether an Accept-Encoding header takes gzip; a quality of 0 refuses it."""
    for part in header.lower().split(","):
        name, _, quality = part.partition(";")
        if name.strip() in {"gzip", "*"}:
            return not _ZERO.fullmatch(quality.replace(" ", ""))
    return False


class _Discard:
    """Takes the writes that socketserver still makes after a reset."""

    closed = False

    def write(self, _: bytes) -> int:
        return 0

    def flush(self) -> None: ...

    def close(self) -> None: ...

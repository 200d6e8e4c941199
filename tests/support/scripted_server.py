"""A real HTTP server on loopback that answers in the order of a script and remembers what it was asked.

A step is a dict: `status`, `reason`, `headers`, the body as `json`, `text` or `body` (bytes), `echo_products` (one bare
product per ASIN asked), `encode: "gzip"`, `chunked`, `cut` (fraction of the body sent before the connection closes),
`delay` (seconds before the answer), `drip` (seconds after each half of the body), or a `fault`: "stall_after_request"
(`ms`), "reset_before_answer", "refused". With `repeat_last` the last step answers for ever, else a request beyond the
script gets 599.
"""

from __future__ import annotations

import gzip
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

Step = Mapping[str, Any]


@dataclass
class Seen:
    """One request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    client: tuple[str, int]
    query: list[tuple[str, str]] = field(default_factory=list)

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    def value(self, name: str) -> str | None:
        return next((v for k, v in self.query if k == name), None)


class ScriptedServer:
    def __init__(
        self, steps: Sequence[Step] = (), *, repeat_last: bool = False, answer: Callable[[Seen], Step] | None = None
    ) -> None:
        self.steps = list(steps)
        self.seen: list[Seen] = []
        self.release = threading.Event()
        self._repeat_last, self._answer = repeat_last, answer
        self._arrived = threading.Condition()
        self._next = 0
        self._server: ThreadingHTTPServer | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._listen()
        if self._is_refusal():
            self._close()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.release.set()
        self._close()

    def wait_for(self, count: int, timeout: float = 10.0) -> None:
        """Block until `count` requests have arrived."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.seen) >= count, timeout), f"{len(self.seen)} of {count}"

    def attempt_failed(self) -> None:
        """Tell the server that a refused attempt has happened: it listens again unless the next step refuses too."""
        if self._is_refusal():
            self._next += 1
            if not self._is_refusal():
                self._listen()

    def take(self, seen: Seen) -> Step:
        """The step that answers `seen`."""
        with self._arrived:
            self.seen.append(seen)
            index = self._next
            self._next += 1
            self._arrived.notify_all()
        if self._answer:
            return self._answer(seen)
        if self._repeat_last:
            index = min(index, len(self.steps) - 1)
        step = self.steps[index] if index < len(self.steps) else {"status": 599, "text": "the script is over"}
        if self._is_refusal():
            step = {**step, "close": True}
        return step

    def finished(self) -> None:
        if self._is_refusal():
            threading.Thread(target=self._close).start()

    def _is_refusal(self) -> bool:
        return self._next < len(self.steps) and self.steps[self._next].get("fault") == "refused"

    def _listen(self) -> None:
        handler = type("Bound", (_Handler,), {"script": self})
        self._server = _Server(("127.0.0.1", self.port), handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def _close(self) -> None:
        server, self._server = self._server, None
        if server:
            server.shutdown()
            server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: ScriptedServer
    disable_nagle_algorithm = True

    def log_message(self, *args: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query = parse_qsl(urlsplit(self.path).query, keep_blank_values=True)
        seen = Seen(self.command, self.path, dict(self.headers.items()), body, self.client_address, query)
        self._play(self.script.take(seen), seen)
        self.script.finished()

    do_POST = do_GET

    def _play(self, step: Step, seen: Seen) -> None:
        fault = step.get("fault")
        if fault == "stall_after_request":
            self.script.release.wait(step.get("ms", 60_000) / 1000)
            self.close_connection = True
        elif fault == "reset_before_answer":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
        else:
            time.sleep(step.get("delay", 0))
            self._send(step, _content(step, seen))

    def _send(self, step: Step, content: bytes) -> None:
        headers = {"Content-Type": "application/json;charset=UTF-8"} | dict(step.get("headers", {}))
        if step.get("encode") == "gzip":
            content = gzip.compress(content, mtime=0)
            headers["Content-Encoding"] = "gzip"
        self.send_response(step.get("status", 200), step.get("reason"))
        for name, value in headers.items():
            for one in value if isinstance(value, list) else [value]:
                self.send_header(name, one)
        if step.get("close"):
            self.send_header("Connection", "close")
            self.close_connection = True
        self.send_header(
            *(("Transfer-Encoding", "chunked") if step.get("chunked") else ("Content-Length", str(len(content))))
        )
        self.end_headers()
        self._send_body(step, content)

    def _send_body(self, step: Step, content: bytes) -> None:
        cut = "cut" in step
        if cut:
            content = content[: int(len(content) * step["cut"])]
            self.close_connection = True
        half = len(content) // 2 if step.get("drip") else len(content)
        for part in (content[:half], content[half:]):
            if part:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part) if step.get("chunked") else part)
                self.wfile.flush()
                time.sleep(step.get("drip", 0))
        if step.get("chunked") and not cut:
            self.wfile.write(b"0\r\n\r\n")


def _content(step: Step, seen: Seen) -> bytes:
    if "body" in step:
        return bytes(step["body"])
    if "text" in step:
        return str(step["text"]).encode()
    data = dict(step.get("json") or {})
    if step.get("echo_products"):
        data["products"] = [{"asin": a} for a in (seen.value("asin") or "").split(",") if a]
    return json.dumps(data).encode()

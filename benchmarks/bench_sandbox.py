"""The sandbox answering one small product against a bare threaded http.server that sends the same bytes."""

from __future__ import annotations

import http.client
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from keepa_cli.sandbox import Sandbox, SandboxConfig

ROUNDS = 9
CALLS = 300
CLIENTS = (1, 4)
BAR = 2.0
"""Half the rate of the bare server is twice its time."""
KEY = "0" * 64
TARGET = f"/product?key={KEY}&domain=1&asin=B0SINGLE01&history=0"


def run() -> list[dict[str, Any]]:
    """The clock stands still, so that both servers send the same bytes throughout."""
    config = SandboxConfig(rate=100_000, clock=lambda: 1_790_000_000.0)
    with Sandbox(config) as sandbox:
        address = urlsplit(sandbox.base_url)
        ours = (str(address.hostname), int(address.port or 0))
        bare = _bare(_fetch(http.client.HTTPConnection(*ours)))
        try:
            return [_row(ours, ("127.0.0.1", int(bare.server_address[1])), clients) for clients in CLIENTS]
        finally:
            bare.shutdown()
            bare.server_close()


def _bare(body: bytes) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json;charset=UTF-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return server


def _row(ours: tuple[str, int], bare: tuple[str, int], clients: int) -> dict[str, Any]:
    pairs = [(_seconds(ours, clients), _seconds(bare, clients)) for _ in range(ROUNDS)]
    mine, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    return {
        "name": f"sandbox, small product, {clients} client{'s' if clients > 1 else ''}",
        "ratio": statistics.median(a / b for a, b in pairs),
        "bar": BAR,
        "detail": f"{1 / mine:.0f} against {1 / theirs:.0f} answers per second, {ROUNDS} x {CALLS} calls",
    }


def _seconds(address: tuple[str, int], clients: int) -> float:
    """Per answer, over connections that stay open."""

    def ask(_: int) -> None:
        connection = http.client.HTTPConnection(*address)
        for _ in range(CALLS // clients):
            _fetch(connection)
        connection.close()

    began = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(ask, range(clients)))
    return (time.perf_counter() - began) / (CALLS // clients * clients)


def _fetch(connection: http.client.HTTPConnection) -> bytes:
    connection.request("GET", TARGET)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"status {answer.status}")
    return body

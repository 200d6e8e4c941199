"""Requests that no honest client sends: refused, and the next honest client is served."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from keepa_cli.core.context import Context
from keepa_cli.interfaces.mcp import door
from tests.support.mcp_http import INITIALIZE, Client, Running, read_reply, running

PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
BODY_LIMIT = 4 << 20


@pytest.fixture(autouse=True)
def honest(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever a test does to the shared server, the next client is served at once."""
    client: Client | None = request.getfixturevalue("client") if "client" in request.fixturenames else None
    yield
    if client is not None:
        assert client.ask("initialize", INITIALIZE, timeout=5).status == 200


def head(client: Client, *lines: str, path: str = "/mcp") -> bytes:
    first = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{client.port}", "Content-Type: application/json"]
    return "\r\n".join([*first, *lines]).encode() + b"\r\n\r\n"


def test_a_body_over_the_limit_is_413_and_one_at_the_limit_is_read(client: Client) -> None:
    padded = PING[:-1] + b" " * (BODY_LIMIT - len(PING)) + b"}"
    inside = client.opened()
    assert len(padded) == BODY_LIMIT
    assert inside.request("POST", padded).status == 200
    found = inside.request("POST", padded + b" ")
    assert (found.status, found.headers["connection"]) == (413, "close")


def test_a_length_over_the_limit_is_413_before_any_body_comes(client: Client) -> None:
    began = time.monotonic()
    for length in (BODY_LIMIT + 1, 10**12, 10**30):
        found = client.raw(head(client, f"Content-Length: {length}"))
        assert found is not None and found.status in (400, 413)
    assert time.monotonic() - began < 12


def test_a_body_without_end_is_413_and_the_connection_closes(client: Client) -> None:
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with client.connect() as sock:
        sock.sendall(head(client, "Transfer-Encoding: chunked"))
        with contextlib.suppress(OSError):
            for _ in range(2000):
                sock.sendall(chunk)
                if sent_back(sock):
                    break
        found = read_reply(sock)
        assert found is not None
        assert (found.status, found.headers["connection"]) == (413, "close")


def sent_back(sock: socket.socket) -> bool:
    sock.setblocking(False)
    try:
        return bool(sock.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False
    finally:
        sock.settimeout(30)


def test_a_chunked_body_is_read(client: Client) -> None:
    inside = client.opened()
    chunks = b"5\r\n" + PING[:5] + b"\r\n" + b"%x\r\n" % (len(PING) - 5) + PING[5:] + b"\r\n0\r\n\r\n"
    ident = f"Mcp-Session-Id: {inside.headers['mcp-session-id']}"
    found = client.raw(head(client, "Transfer-Encoding: chunked", ident) + chunks)
    assert found is not None and found.json["result"] == {}


def test_a_body_that_is_longer_than_its_length_becomes_no_second_request(client: Client) -> None:
    hidden = head(client, "Content-Length: 0", path="/hidden")
    with client.connect() as sock:
        sock.sendall(head(client, f"Content-Length: {len(PING) - 3}") + PING + hidden)
        first, second = read_reply(sock), read_reply(sock)
    assert first is not None and first.status == 400
    assert second is None or second.status == 400


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 4", "Transfer-Encoding: chunked"), ("Transfer-Encoding: chunked", "Content-Length: 4"),
        ("Content-Length: 4", "Content-Length: 5"),
        ("Content-Length: 4, 5",), ("Content-Length: +4",), ("Content-Length: -4",), ("Content-Length: 0x4",),
        ("Content-Length : 4",), ("Content-Length: 4\r\n 0",), ("Transfer-Encoding: identity, chunked",),
        ("Transfer-Encoding: xchunked",), ("Transfer-Encoding:\x0bchunked",), ("Transfer-Encoding: chunked, chunked",),
        ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), ("Host: evil.example", "Content-Length: 4"),
        ("X-Folded: a\r\n\tb", "Content-Length: 4"), ("X-Bare: a\nContent-Length: 4",), ("X-Nul: a\x00b",),
        ("X-Cr: a\rb", "Content-Length: 4"), ("No colon here", "Content-Length: 4"), ("Content-Length: ٤",),
    ],
)  # fmt: skip
def test_heads_that_can_be_read_in_two_ways_are_refused(client: Client, lines: tuple[str, ...]) -> None:
    hidden = head(client, "Content-Length: 0", path="/hidden")
    with client.connect() as sock:
        sock.sendall(head(client, *lines) + b"0\r\n\r\n" + hidden)
        first = read_reply(sock)
        assert first is not None
        assert first.status in (400, 501)
        assert first.headers["connection"] == "close"
        assert read_reply(sock) is None


def test_lines_that_end_without_a_return_are_refused(client: Client) -> None:
    text = head(client, f"Content-Length: {len(PING)}").replace(b"\r\n", b"\n") + PING
    found = client.raw(text)
    assert found is not None and found.status == 400


def test_requests_in_a_row_are_answered_in_order(client: Client) -> None:
    inside = client.opened()
    ident = f"Mcp-Session-Id: {inside.headers['mcp-session-id']}"
    one = head(client, f"Content-Length: {len(PING)}", ident) + PING
    with client.connect() as sock:
        sock.sendall(one * 5)
        assert [found.status for found in (read_reply(sock) for _ in range(5)) if found] == [200] * 5


@pytest.mark.parametrize("size", [70_000, 1_000_000])
def test_heads_have_a_size(client: Client, size: int) -> None:
    for data in (head(client, "X-Long: " + "x" * size), head(client, *(f"X-{n}: x" for n in range(size // 10)))):
        with client.connect() as sock:
            with contextlib.suppress(OSError):
                sock.sendall(data)
            with contextlib.suppress(OSError):
                found = read_reply(sock)
                assert found is None or found.status in (400, 431)


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\r\n" * 50,
        b"GET / HTTP/0.9\r\n\r\n", bytes(range(256)), b"GET http://[::1 HTTP/1.1\r\n\r\n",
    ],
)  # fmt: skip
def test_what_is_no_http_is_refused(client: Client, data: bytes) -> None:
    with client.connect(3) as sock:
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)
        found = read_reply(sock)
        assert found is None or found.status >= 400


def test_a_websocket_is_not_offered(client: Client) -> None:
    found = client.request(
        "GET", connection="Upgrade", upgrade="websocket", sec_websocket_key="x" * 22 + "==", sec_websocket_version="13"
    )
    assert found.status == 405


def test_a_head_that_does_not_come_is_not_waited_for(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "HEAD_SECONDS", 0.5)
    with running(ctx) as server, server.client.connect() as silent, server.client.connect() as slow:
        began = time.monotonic()
        with contextlib.suppress(OSError):
            for byte in head(server.client, "Content-Length: 1")[:200]:
                slow.sendall(bytes([byte]))
                time.sleep(0.02)
                if time.monotonic() - began > 3:
                    break
        assert 0.4 < time.monotonic() - began < 2.5
        with contextlib.suppress(ConnectionError):
            assert silent.recv(1) == b""
        assert server.client.opened().ask("ping").status == 200


def test_a_second_request_on_a_connection_must_come_in_time_too(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "HEAD_SECONDS", 0.5)
    with running(ctx) as server, server.client.connect() as sock:
        sock.sendall(head(server.client, f"Content-Length: {len(PING)}") + PING)
        first = read_reply(sock)
        assert first is not None and first.status == 400
        time.sleep(0.8)
        sock.sendall(b"POST /mcp HTT")
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            assert sock.recv(1) == b""
        assert 0.3 < time.monotonic() - began < 2


def test_a_body_that_does_not_come_is_408(ctx: Context) -> None:
    with running(ctx, body_seconds=0.4) as server, server.client.connect() as sock:
        sock.sendall(head(server.client, "Content-Length: 100") + b"{")
        found = read_reply(sock)
        assert found is not None
        assert (found.status, found.headers["connection"]) == (408, "close")
        assert server.client.opened().ask("ping").status == 200


def test_half_open_connections_give_way_to_new_clients(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "MOST_CONNECTIONS", 50)
    with running(ctx) as server, contextlib.ExitStack() as stack:
        inside = server.client.opened()
        for number in range(300):
            sock = stack.enter_context(server.client.connect())
            sock.sendall(b"POST /mcp HTTP/1.1\r\nHost: x\r\n"[: number % 30])
            if number % 100 == 99:
                assert inside.ask("ping", timeout=5).status == 200
        assert len(server.server.server_state.connections) <= 51


HALF_OPEN = """
import socket, sys, time
held = []
for number in range(int(sys.argv[2])):
    sock = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30)
    try:
        sock.sendall(b"POST /mcp HTTP/1.1\\r\\nHost: x\\r\\n"[: number % 30])
    except ConnectionError:
        pass
    held.append(sock)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_ten_thousand_half_open_connections(ctx: Context) -> None:
    with running(ctx) as server, contextlib.ExitStack() as stack:
        inside = server.client.opened()
        slowest, crowd = 0.0, []
        for _ in range(20):
            command = [sys.executable, "-c", HALF_OPEN, str(server.port), "500"]
            crowd.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            stack.callback(crowd[-1].wait)
            stack.callback(crowd[-1].kill)
            began = time.monotonic()
            assert inside.ask("ping", timeout=5).status == 200
            slowest = max(slowest, time.monotonic() - began)
        for child in crowd:
            assert child.stdout is not None and child.stdout.readline() == b"held\n"
        assert slowest < 3
        until = time.monotonic() + 10
        while len(server.server.server_state.connections) > door.MOST_CONNECTIONS + 1:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert server.client.opened().call("context_policy")["isError"] is False


@pytest.mark.parametrize("count", [400, pytest.param(2_000, marks=pytest.mark.slow)])
def test_openings_that_are_left_alone_lock_nobody_out(ctx: Context, count: int) -> None:
    """They are refused beyond the cap, and sessions that are open go on."""
    with running(ctx) as server:
        inside = server.client.opened()
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}).encode()
        one = head(server.client, f"Content-Length: {len(body)}") + body
        statuses = []
        with server.client.connect() as sock:
            for _ in range(count):
                sock.sendall(one)
                found = read_reply(sock)
                assert found is not None
                statuses.append(found.status)
        assert statuses == [200] * 127 + [503] * (count - 127)
        assert inside.call("context_policy")["isError"] is False


def test_requests_that_are_broken_off_leave_nothing(shared: Running, client: Client) -> None:
    before = len(shared.rooms)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}).encode()
    for cut in range(0, len(body), 7):
        with client.connect() as sock:
            sock.sendall(head(client, f"Content-Length: {len(body)}") + body[:cut])
    time.sleep(0.3)
    assert len(shared.rooms) == before

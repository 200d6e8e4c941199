"""Requests that two servers could read in two ways, beyond those of their heads."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.protocol_http.test_hostile import head
from tests.support.mcp_http import INITIALIZE, Client, read_reply

PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
OPENING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}).encode()


def chunk(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(body), body)


@pytest.mark.parametrize(
    "end",
    [
        b"0\r\n\n", b"0\r\nX: a\n\r\n", b"0\r\nX: a\n\n", b"0\r\nX: a\r\n b\r\n\r\n", b"0\r\nX: a\rb\r\n\r\n",
        b"0\n\r\n", b"0;x\n\r\n\r\n", b"0\r\nX: a\x00\r\n\r\n",
    ],
)  # fmt: skip
def test_no_second_request_hides_behind_the_end_of_chunks(client: Client, end: bytes) -> None:
    hidden = head(client, "Content-Length: 0", path="/hidden")
    with client.connect(5) as sock:
        sock.sendall(head(client, "Transfer-Encoding: chunked") + chunk(OPENING) + end + hidden)
        first = read_reply(sock)
        assert first is not None and first.status == 400
        assert read_reply(sock) is None


@pytest.mark.parametrize("end", [b"0\r\n\r\n", b"00\r\nX: a\r\nY: b\r\n\r\n", b"0;a=b\r\n\r\n"])
def test_chunks_that_end_well_are_followed_by_the_next_request(client: Client, end: bytes) -> None:
    ident = f"Mcp-Session-Id: {client.opened().headers['mcp-session-id']}"
    with client.connect(5) as sock:
        for part in (head(client, ident, "Transfer-Encoding: chunked"), chunk(PING), *(bytes([b]) for b in end)):
            sock.sendall(part)
        sock.sendall(head(client, ident, f"Content-Length: {len(PING)}") + PING)
        assert [found.status for found in (read_reply(sock), read_reply(sock)) if found] == [200, 200]


def test_a_head_that_arrives_at_once_has_the_same_size(client: Client) -> None:
    for line in ("X-Long: " + "x" * 66_000, "\r\n".join(["X-Many: x"] * 6_000)):
        found = client.raw(head(client, f"Content-Length: {len(OPENING)}", line) + OPENING, 5)
        assert found is not None and found.status == 400


def test_a_head_of_sixty_thousand_bytes_is_read(client: Client) -> None:
    assert client.ask("initialize", INITIALIZE, x_long="x" * 60_000).status == 200


@pytest.mark.parametrize("mark", ["\x01", "\x08", "\x0b", "\x1b[31m", "\x7f"])
def test_a_head_with_control_characters_is_refused(client: Client, mark: str) -> None:
    assert client.ask("initialize", INITIALIZE, x_odd=f"a{mark}b").status == 400


@pytest.mark.parametrize("version", ["HTTP/2.0", "HTTP/1.2", "HTTP/3.0", "HTTP/0.9"])
def test_other_versions_of_http_are_refused(client: Client, version: str) -> None:
    data = head(client, f"Content-Length: {len(OPENING)}").replace(b"HTTP/1.1", version.encode()) + OPENING
    found = client.raw(data, 5)
    assert found is not None and found.status == 400


def test_an_old_client_has_no_chunks(client: Client) -> None:
    data = head(client, "Transfer-Encoding: chunked") + chunk(OPENING) + b"0\r\n\r\n"
    found = client.raw(data.replace(b"HTTP/1.1", b"HTTP/1.0"), 5)
    assert found is not None and found.status == 400


@pytest.mark.parametrize(("coding", "status"), [("gzip", 415), ("br, gzip", 415), ("identity", 200), (None, 200)])
def test_a_compressed_body_is_415(client: Client, coding: str | None, status: int) -> None:
    sent = gzip.compress(OPENING) if status == 415 else OPENING
    found = client.request("POST", sent, content_type="application/json", content_encoding=coding)
    assert found.status == status
    assert (found.headers.get("accept-encoding") == "identity") == (status == 415)

"""What the sandbox is on the wire: paths, methods, compression, keep-alive, key order, keys, the log."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.sandbox import Sandbox
from keepa_cli.sandbox.bodies import Body, Chunk
from keepa_cli.sandbox.messages import read_call
from keepa_cli.sandbox.server import accepts_gzip
from tests.sandbox.conftest import ask
from tests.support.sandbox import KEY, NOW, Clock, running_sandbox

Get = Callable[..., requests.Response]
ENVELOPE = {
    "processingTimeInMs",
    "refillIn",
    "refillRate",
    "timestamp",
    "tokenFlowReduction",
    "tokensConsumed",
    "tokensLeft",
}


def raw(sandbox: Sandbox, *requests_: bytes) -> bytes:
    """Everything that the server sends on one connection."""
    url = urlsplit(sandbox.base_url)
    with socket.create_connection((url.hostname or "", url.port or 0), timeout=10) as connection:
        for request in requests_:
            connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("path", ["/token", "/token/", "/product", "/product/"])
def test_a_trailing_slash_makes_no_difference(get: Get, path: str) -> None:
    assert get(path, domain=1, asin="B0AMAZON01").status_code == 200


@pytest.mark.parametrize("query", ["&", "&&nonsense=1&fbafees=1", "&page=3&key=other"])
def test_trailing_ampersands_and_unknown_parameters_are_ignored(sandbox: Sandbox, query: str) -> None:
    answer = requests.get(f"{sandbox.base_url}/product?key={KEY}&domain=1&asin=B0AMAZON01{query}", timeout=10)
    assert answer.status_code == 200
    assert answer.json()["products"][0]["asin"] == "B0AMAZON01"


@pytest.mark.parametrize("kind", ["application/json; charset=UTF-8", "application/x-www-form-urlencoded", "text/plain"])
def test_post_works_whatever_the_content_type_says(sandbox: Sandbox, kind: str) -> None:
    url = f"{sandbox.base_url}/product?key={KEY}"
    form = requests.post(url, data="domain=1&asin=B0AMAZON01", headers={"Content-Type": kind}, timeout=10)
    assert form.json()["products"][0]["asin"] == "B0AMAZON01"
    body = requests.post(url + "&domain=1&asin=B0AMAZON01", data='{"a": 1}', headers={"Content-Type": kind}, timeout=10)
    assert body.json()["products"][0]["asin"] == "B0AMAZON01"


def test_the_envelope_has_its_seven_fields_and_the_clock_of_the_server(get: Get) -> None:
    body = get("/token").json()
    assert set(body) == ENVELOPE
    assert body["timestamp"] == int(NOW * 1000)
    assert '"tokenFlowReduction":0.0' in get("/token").text


def test_keys_are_alphabetical_at_every_level(get: Get) -> None:
    def check(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert [name for name, _ in pairs] == sorted(name for name, _ in pairs)
        return dict(pairs)

    for path, params in (
        (
            "/product",
            {"domain": 1, "asin": "B0AMAZON01,ZZZZZZZZZZ", "stats": 90, "offers": 20, "videos": 1, "aplus": 1},
        ),
        ("/search", {"domain": 1, "type": "category", "term": "kitchen", "parents": 1}),
        ("/product", {"domain": "x"}),
    ):
        json.loads(get(path, **params).text, object_pairs_hook=check)


def test_gzip_is_sent_when_it_is_accepted_and_only_then(sandbox: Sandbox) -> None:
    url = f"{sandbox.base_url}/product?key={KEY}&domain=1&asin=B0AMAZON01"
    plain = requests.get(url, headers={"Accept-Encoding": "identity"}, timeout=10)
    assert "Content-Encoding" not in plain.headers
    packed = requests.get(url, headers={"Accept-Encoding": "zstd, gzip, deflate"}, timeout=10, stream=True)
    assert packed.headers["Content-Encoding"] == "gzip"
    wire = packed.raw.read(decode_content=False)
    assert len(wire) < len(plain.content) / 2
    assert json.loads(gzip.decompress(wire))["products"] == plain.json()["products"]


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        ("gzip", True),
        ("deflate, GZIP;q=0.5", True),
        ("*", True),
        ("gzip; q=0", False),
        ("gzip;q=0.00", False),
        ("br", False),
        ("", False),
    ],
)
def test_the_accept_encoding_header_is_read(header: str, accepted: bool) -> None:
    assert accepts_gzip(header) is accepted


def test_errors_are_compressed_too(sandbox: Sandbox) -> None:
    answer = requests.get(f"{sandbox.base_url}/token?key=short", headers={"Accept-Encoding": "gzip"}, timeout=10)
    assert answer.status_code == 400
    assert answer.headers["Content-Encoding"] == "gzip"


@given(st.lists(st.tuples(st.booleans(), st.binary(max_size=200)), max_size=6))
def test_a_body_in_parts_is_one_gzip_member(parts: list[tuple[bool, bytes]]) -> None:
    body = Body(tuple(Chunk(data) if compressed else data for compressed, data in parts))
    assert gzip.decompress(body.gzip()) == body.plain() == b"".join(data for _, data in parts)


def test_long_plain_parts_are_wrapped_in_several_blocks() -> None:
    data = bytes(range(256)) * 1000
    assert gzip.decompress(Body((data,)).gzip()) == data


def test_a_connection_is_kept_for_the_next_request(sandbox: Sandbox) -> None:
    request = f"GET /token?key={KEY} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    assert raw(sandbox, request, request, request).count(b"HTTP/1.1 200 OK") == 3


def test_http_1_0_and_connection_close_end_the_connection(sandbox: Sandbox) -> None:
    old = raw(sandbox, f"GET /token?key={KEY} HTTP/1.0\r\n\r\n".encode() * 2)
    assert old.count(b"200 OK") == 1
    assert b"\r\nConnection: close\r\n" in old


def test_head_sends_the_head_alone(sandbox: Sandbox) -> None:
    assert raw(sandbox, f"HEAD /token?key={KEY} HTTP/1.1\r\nHost: x\r\n\r\n".encode()).endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"POST /product HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b" 411 "),
        (b"POST /product HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b" 413 "),
        (b"POST /product HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b" 400 "),
        (b"nonsense\r\n\r\n", b"400"),
    ],
)
def test_requests_that_cannot_be_read_are_refused(sandbox: Sandbox, head: bytes, status: bytes) -> None:
    assert status in raw(sandbox, head).split(b"\n")[0] + raw(sandbox, head)[:600]


def test_unknown_endpoints_and_methods_are_named(sandbox: Sandbox, get: Get) -> None:
    assert get("/promotion").status_code == 404
    assert "/deal" in get("/promotion").json()["error"]["message"]
    assert get("/").status_code == 404
    assert requests.delete(f"{sandbox.base_url}/product?key={KEY}", timeout=10).status_code == 405


@pytest.mark.parametrize("key", ["", "short", "k" * 63, "k" * 65, "k" * 63 + "-", "k" * 63 + "\u00e9"])
def test_a_malformed_key_gets_400_and_no_token_figures(sandbox: Sandbox, key: str) -> None:
    answer = ask(sandbox, "/token", key=key)
    body = answer.json()
    assert answer.status_code == 400
    assert body["error"]["type"] == "invalidParameter"
    assert {name: body[name] for name in ENVELOPE - {"timestamp"}} == dict.fromkeys(ENVELOPE - {"timestamp"}, 0)


def test_a_missing_key_is_malformed_and_a_denied_one_has_no_access() -> None:
    denied = "d" * 64
    with running_sandbox(deny_keys=[denied]) as sandbox:
        assert requests.get(sandbox.base_url + "/token", timeout=10).status_code == 400
        answer = ask(sandbox, "/token", key=denied)
        assert (answer.status_code, answer.json()["error"]["type"]) == (402, "unauthorized")
        assert ask(sandbox, "/token", key="e" * 64).status_code == 200


def test_any_key_will_do_when_asked_for() -> None:
    with running_sandbox(any_key=True) as sandbox:
        assert ask(sandbox, "/token", key="demo").status_code == 200


def test_the_log_holds_every_request_and_no_key(sandbox: Sandbox) -> None:
    ask(sandbox, "/product", domain=1, asin="B0AMAZON01")
    ask(sandbox, f"/{KEY}", domain="us", term=f"x{KEY}y")
    requests.post(f"{sandbox.base_url}/token", data=f"KEY={KEY}", timeout=10)
    assert [(e.method, e.status, e.tokens) for e in sandbox.log] == [("GET", 200, 1), ("GET", 404, 0), ("POST", 200, 0)]
    assert sandbox.log[0].query == (("domain", "1"), ("asin", "B0AMAZON01"))
    assert KEY not in repr(sandbox.log)


def test_a_key_keeps_its_place_out_of_the_parameters() -> None:
    call = read_call("GET", "/product/?Key=a&domain=1&key=b&asin=%FF", b"", False)
    assert (call.path, call.key, call.pairs) == ("/product", "a", (("domain", "1"), ("asin", "\udcff")))


def test_many_clients_at_once_are_all_answered(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda i: ask(sandbox, "/product", domain=1, asin=f"B0{i % 7:08d}"), range(80)))
    assert {a.status_code for a in answers} == {200}
    assert sandbox.bucket.state().tokens_left == 3600 - 80


def test_a_stopped_sandbox_closes_its_connections_and_can_be_stopped_again(clock: Clock) -> None:
    with running_sandbox(clock=clock) as sandbox, requests.Session() as session:
        session.get(f"{sandbox.base_url}/token?key={KEY}", timeout=10)
        sandbox.stop()
        sandbox.stop()
        with pytest.raises(requests.ConnectionError):
            session.get(f"{sandbox.base_url}/token?key={KEY}", timeout=10)

"""The live transport against a real server on loopback."""

from __future__ import annotations

import contextlib
import gzip
import json
import logging
import socket
import ssl
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.redact import Redactor
from keepa_cli.keepa.wire import WireRequest
from keepa_cli.transport import body as wire_body
from keepa_cli.transport.live import LiveTransport
from keepa_cli.transport.policy import RetryPolicy
from tests.support.scripted_server import ScriptedServer, Step

KEY = "sk-CANARY/9f+8e=ab"
TOKEN = WireRequest("GET", "/token")
GOOD = {"tokensLeft": 9, "refillIn": 1000, "refillRate": 5, "tokensConsumed": 0}
EMPTY = GOOD | {"tokensLeft": 0, "error": {"type": "notEnoughToken", "message": "m", "details": ""}}


class Sleeps(list[float]):
    """Virtual waiting."""

    def __init__(self, server: ScriptedServer | None = None) -> None:
        super().__init__()
        self.server = server

    def __call__(self, seconds: float) -> None:
        self.append(seconds)
        if self.server:
            self.server.attempt_failed()


def live(base: str, **more: Any) -> LiveTransport:
    given = {"timeout": 5.0, "sleep": Sleeps(), "jitter": lambda: 0.5} | more
    return LiveTransport(base, KEY, **given)


def failure_of(act: Callable[[], Any]) -> KeepaCliError:
    with pytest.raises(KeepaCliError) as caught:
        act()
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert "CANARY" not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None
    return caught.value


def one(step: Step, **more: Any) -> KeepaCliError:
    with ScriptedServer([step]) as server:
        error = failure_of(lambda: live(server.url, **more).send(TOKEN))
        assert len(server.seen) == 1
    return error


def test_the_key_comes_first_and_the_rest_as_encoded() -> None:
    request = WireRequest("GET", "/product", (("domain", "1"), ("asin", "B1,B2"), ("term", "a b&ü"), ("flag", "")))
    with ScriptedServer([{"json": GOOD, "headers": {"X-Two": ["a", "b"]}}]) as server:
        answer = live(server.url).send(request)
    seen = server.seen[0]
    assert seen.target == "/product?key=sk-CANARY%2F9f%2B8e%3Dab&domain=1&asin=B1,B2&term=a%20b%26%C3%BC&flag="
    assert seen.headers["Accept-Encoding"] == "gzip"
    assert seen.headers["User-Agent"].startswith("keepa-cli/")
    assert not {"Authorization", "Cookie"} & set(seen.headers)
    assert json.loads(answer.body) == GOOD
    assert answer.headers["x-two"] == ("a", "b")
    assert (answer.source.kind, answer.source.origin, answer.source.attempts) == ("live", "sandbox", 1)
    assert len(answer.source.fingerprint) == 16


def test_a_post_sends_its_body_as_given() -> None:
    request = WireRequest("POST", "/query", (("domain", "1"),), b'{"a":1.10}', "application/json; charset=UTF-8")
    with ScriptedServer([{"json": GOOD}]) as server:
        live(server.url).send(request)
    assert server.seen[0].body == b'{"a":1.10}'
    assert server.seen[0].headers["Content-Type"] == "application/json; charset=UTF-8"


def test_the_connection_is_kept_and_cookies_are_not() -> None:
    with ScriptedServer([{"json": GOOD, "headers": {"Set-Cookie": "a=1"}}, {"json": GOOD}]) as server:
        transport = live(server.url)
        transport.send(TOKEN)
        transport.send(TOKEN)
    assert server.seen[0].client == server.seen[1].client
    assert "Cookie" not in server.seen[1].headers


def test_netrc_gives_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password PW\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with ScriptedServer([{"json": GOOD}]) as server:
        live(server.url).send(TOKEN)
    assert "Authorization" not in server.seen[0].headers


def test_a_proxy_never_sees_a_call_to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer([{"json": GOOD}]) as proxy, ScriptedServer([{"json": GOOD}]) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("http_proxy", proxy.url)
        live(server.url).send(TOKEN)
        assert not proxy.seen


def test_a_redirect_is_not_followed() -> None:
    with ScriptedServer([{"json": GOOD}]) as other:
        for target in (f"{other.url}/token?key={KEY}", "http://[broken"):
            step = {"status": 302, "headers": {"Location": target}, "text": "moved"}
            with ScriptedServer([step]) as server:
                answer = live(server.url).send(TOKEN)
            assert (answer.status, answer.body) == (302, b"moved")
        assert not other.seen


@pytest.mark.parametrize("step", [{"encode": "gzip"}, {"chunked": True}, {"encode": "gzip", "chunked": True}, {}])
def test_bodies_arrive_whole_in_every_wrapping(step: Step) -> None:
    text = json.dumps({"csv": list(range(50_000))})
    with ScriptedServer([step | {"text": text}]) as server:
        assert live(server.url).send(TOKEN).body == text.encode()


@pytest.mark.parametrize(
    ("encoding", "sent", "read"),
    [
        ("gzip", gzip.compress(b'{"a":') + gzip.compress(b"1}"), b'{"a":1}'),
        ("GZIP", gzip.compress(b"x"), b"x"),
        ("gzip", b'{"plain":1}', b'{"plain":1}'),
        ("gzip", b"", b""),
        ("identity", b"\x89PNG\r\n\x00", b"\x89PNG\r\n\x00"),
        ("deflate", __import__("zlib").compress(b"z"), b"z"),
    ],
)
def test_encodings_that_lie_or_come_in_parts(encoding: str, sent: bytes, read: bytes) -> None:
    with ScriptedServer([{"body": sent, "headers": {"Content-Encoding": encoding}}]) as server:
        assert live(server.url).send(TOKEN).body == read


@pytest.mark.parametrize(
    ("step", "cause"),
    [
        ({"json": GOOD, "cut": 0.5}, "cut_body"),
        ({"json": GOOD, "cut": 0.5, "chunked": True}, "cut_body"),
        ({"json": GOOD, "encode": "gzip", "cut": 0.5}, "cut_body"),
        ({"body": gzip.compress(b"x" * 99)[:-9], "headers": {"Content-Encoding": "gzip"}}, "cut_body"),
        ({"body": b"\x1f\x8bjunk", "headers": {"Content-Encoding": "gzip"}}, "undecodable"),
        ({"body": b"x", "headers": {"Content-Encoding": "br"}}, "undecodable"),
        ({"fault": "reset_before_answer"}, "connection_reset"),
    ],
)
def test_a_lost_answer_has_an_unknown_outcome_and_is_not_asked_for_again(step: Step, cause: str) -> None:
    error = one(step)
    assert error.kind is Kind.OUTCOME_UNKNOWN
    assert (error.details["error_type"], error.details["charged"]) == (cause, "unknown")


def test_a_refusal_that_is_cut_is_still_that_refusal() -> None:
    with ScriptedServer([{"status": 429, "json": EMPTY, "cut": 0.5}, {"json": GOOD}]) as server:
        assert live(server.url).send(TOKEN).source.attempts == 2


def test_more_than_the_limit_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_body, "LIMIT", 1000)
    assert one({"text": "x" * 5000}).details["error_type"] == "too_large"
    with pytest.raises(wire_body.BodyError, match="too_large"):
        wire_body.decode(gzip.compress(b"0" * 10_000_000), {"content-encoding": ("gzip",)}, 1000)


def test_silence_after_the_request_is_a_timeout_that_may_have_cost_tokens() -> None:
    error = one({"fault": "stall_after_request"}, timeout=0.2)
    assert error.kind is Kind.TIMEOUT
    assert error.details["charged"] == "unknown"
    assert "may have been spent" in error.message


def test_a_body_that_stalls_is_a_timeout_too() -> None:
    assert one({"json": GOOD, "drip": 1.0}, timeout=0.2).kind is Kind.TIMEOUT


def test_a_refused_connection_is_tried_again_and_sent_nothing() -> None:
    with ScriptedServer([{"fault": "refused"}, {"fault": "refused"}, {"json": GOOD}]) as server:
        sleeps = Sleeps(server)
        answer = live(server.url, sleep=sleeps).send(TOKEN)
    assert answer.source.attempts == 3
    assert len(server.seen) == 1
    assert 0 < sleeps[0] < sleeps[1]


def test_no_server_at_all_is_a_transport_error() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{free.getsockname()[1]}"
        error = failure_of(lambda: live(base).send(TOKEN))
    assert error.kind is Kind.TRANSPORT_ERROR
    assert error.retryable
    assert (error.details["charged"], error.details["attempts"]) == ("no", 4)
    assert "refused" in error.message


def test_an_unknown_name_and_a_connect_timeout_sent_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(error: Exception) -> Kind:
        def connect(*_: Any, **__: Any) -> None:
            raise error

        monkeypatch.setattr("urllib3.util.connection.create_connection", connect)
        caught = failure_of(lambda: live("https://api.keepa.com").send(TOKEN))
        assert caught.details["charged"] == "no"
        return caught.kind

    assert fail(socket.gaierror(-2, "Name or service not known")) is Kind.TRANSPORT_ERROR
    assert fail(TimeoutError("timed out")) is Kind.TRANSPORT_ERROR
    assert fail(ConnectionResetError(104, "reset")) is Kind.TRANSPORT_ERROR


def test_tls_that_cannot_be_set_up_sent_nothing() -> None:
    with ScriptedServer([{"json": GOOD}]) as plain:
        error = failure_of(lambda: live(plain.url.replace("http:", "https:")).send(TOKEN))
    assert error.kind is Kind.TRANSPORT_ERROR
    assert not plain.seen


def test_a_certificate_that_is_not_trusted_is_not_tried_again(tmp_path: Path) -> None:
    made = subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            "/CN=localhost",
            "-keyout",
            "k",
            "-out",
            "c",
        ],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("no openssl command")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "c", tmp_path / "k")
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with listener.accept()[0] as peer, contextlib.suppress(OSError):
                context.wrap_socket(peer, server_side=True)

        threading.Thread(target=serve, daemon=True).start()
        base = f"https://localhost:{listener.getsockname()[1]}"
        error = failure_of(lambda: live(base).send(TOKEN))
    assert (error.kind, error.details["error_type"]) == (Kind.TRANSPORT_ERROR, "certificate")
    assert (error.retryable, error.details["attempts"]) == (False, 1)


def test_an_empty_bucket_is_waited_for_with_the_same_request() -> None:
    request = WireRequest("GET", "/product", (("asin", "B1,B2"),))
    waits: list[float] = []
    with ScriptedServer([{"status": 429, "json": EMPTY}, {"json": GOOD}]) as server:
        sleeps = Sleeps()
        answer = live(server.url, sleep=sleeps, on_wait=lambda s, e: waits.append(s)).send(request)
    assert [s.target for s in server.seen] == [server.seen[0].target] * 2
    assert 1.0 <= sum(sleeps) <= 2.0
    assert waits == list(sleeps)
    assert (answer.status, answer.source.attempts) == (200, 2)


def test_a_5xx_is_repeated_within_bounds_and_then_given_back() -> None:
    with ScriptedServer([{"status": 503, "text": "<html>"}], repeat_last=True) as server:
        sleeps = Sleeps()
        answer = live(server.url, sleep=sleeps, policy=RetryPolicy(attempts=3)).send(TOKEN)
    assert (answer.status, len(server.seen)) == (503, 3)
    assert sleeps == sorted(sleeps)


@pytest.mark.parametrize(
    "step",
    [
        {"status": 400, "json": GOOD | {"error": {"type": "invalidParameter"}}},
        {"status": 402, "json": {}},
        {"status": 405},
        {"status": 500, "json": GOOD | {"tokensConsumed": 4}},
        {"status": 429, "json": EMPTY | {"tokensLeft": -5000}},
        {"status": 429, "json": EMPTY, "headers": {"Retry-After": "3600"}},
    ],
)
def test_no_second_request_where_it_cannot_help_or_was_charged(step: Step) -> None:
    with ScriptedServer([step]) as server:
        sleeps = Sleeps()
        live(server.url, sleep=sleeps).send(TOKEN)
    assert len(server.seen) == 1
    assert not sleeps


def test_a_write_is_sent_once() -> None:
    with ScriptedServer([{"status": 503, "text": ""}]) as server:
        assert live(server.url).send(WireRequest("POST", "/tracking", (), b"{}"), retry=False).status == 503
    assert len(server.seen) == 1


def test_no_log_record_at_any_level_holds_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("urllib3", "urllib3.connectionpool", "requests"):
        caplog.set_level(logging.DEBUG, logger=name)
    with ScriptedServer([{"json": GOOD}]) as server:
        live(server.url, redactor=Redactor()).send(TOKEN)
    assert "/token" in caplog.text
    assert "CANARY" not in caplog.text


def test_no_timeout_at_all_is_the_usual_one() -> None:
    with ScriptedServer([{"json": GOOD}]) as server:
        assert live(server.url, timeout=0).send(TOKEN).status == 200


def test_every_thread_has_a_session_of_its_own() -> None:
    with ScriptedServer(answer=lambda seen: {"json": {"i": seen.value("i")}}) as server:
        transport = live(server.url)
        wrong: list[Any] = []

        def work(start: int) -> None:
            for i in range(start, start + 20):
                body = json.loads(transport.send(WireRequest("GET", "/token", (("i", str(i)),))).body)
                if body != {"i": str(i)}:
                    wrong.append((i, body))
            transport.close()

        threads = [threading.Thread(target=work, args=(n * 100,)) for n in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert not wrong
    assert len(server.seen) == 160


def test_importing_it_is_light() -> None:
    code = "import sys, keepa_cli.transport.live; print({'requests','urllib3','vcr'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"

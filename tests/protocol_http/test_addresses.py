"""Which names a server answers to, and the address that it tells."""

from __future__ import annotations

import socket

import pytest

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.interfaces.mcp import http
from tests.support.mcp_http import INITIALIZE, running


@pytest.mark.parametrize("host", ["127.0.0.2", "127.9.9.9"])
def test_a_server_answers_to_the_address_it_listens_at(ctx: Context, host: str) -> None:
    with running(ctx, host=host) as server:
        own = f"{host}:{server.port}"
        assert server.client.ask("initialize", INITIALIZE, host=own, origin=f"http://{own}").status == 200
        assert server.client.ask("initialize", INITIALIZE, host=f"127.0.0.3:{server.port}").status == 403


@pytest.mark.parametrize("host", ["::1", "[::1]", "LOCALHOST", "Localhost"])
def test_spellings_of_loopback_need_no_token(host: str) -> None:
    rules = http.rules_for(host, 8765, token=None, origins=(), dual=True)
    assert rules.hosts == {"127.0.0.1:8765", "localhost:8765", "[::1]:8765"}


@pytest.mark.parametrize(
    ("host", "shown"),
    [("::1", "[::1]"), ("[::1]", "[::1]"), ("127.0.0.1", "127.0.0.1"), ("LOCALHOST", "localhost"), ("::", "[::]")],
)
def test_the_address_that_is_told_can_be_called(host: str, shown: str) -> None:
    assert http._shown(host) == shown


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("HTTPS://App.example.com:443", "https://app.example.com"), ("http://a.example:80/", "http://a.example"),
        ("https://a.example:4443", "https://a.example:4443"), ("http://a.example:443", "http://a.example:443"),
        ("http://[::1]:3000", "http://[::1]:3000"), ("chrome-extension://abc", "chrome-extension://abc"),
    ],
)  # fmt: skip
def test_an_origin_is_held_as_browsers_send_it(given: str, sent: str) -> None:
    assert sent in http.rules_for("127.0.0.1", 1, token=None, origins=(given,), dual=True).origins


def test_no_other_program_can_take_the_port_on_windows_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_KEEPALIVE, raising=False)
    with http.listen("127.0.0.1", 0) as listening:
        assert listening.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert not listening.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)


def test_a_port_that_is_taken_is_named_with_another_way() -> None:
    with http.listen("127.0.0.1", 0) as taken, pytest.raises(KeepaCliError) as found:
        http.listen("127.0.0.1", taken.getsockname()[1])
    assert found.value.kind is Kind.IO_ERROR
    assert found.value.next_actions == ["kc mcp serve --http --port 0"]

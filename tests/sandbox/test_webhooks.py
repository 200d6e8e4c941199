"""Notifications by webhook: one POST each, one more try after a pause, and an address that is told to nobody."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from keepa_cli.core.redact import REDACTED
from keepa_cli.sandbox import Sandbox, SandboxConfig
from keepa_cli.sandbox.serve import line_of
from keepa_cli.sandbox.trackings.hooks import is_allowed
from tests.sandbox.conftest import ask, send
from tests.support.sandbox import Clock, running_sandbox

ASIN = "B0AMAZON01"
SECRET = "very-secret-hook"
WISH = {"asin": ASIN, "mainDomainId": 1, "thresholdValues": [{"thresholdValue": 500, "domain": 1, "csvType": 1, "isDrop": True}]}  # fmt: skip  # noqa: E501


class Listener:
    """Takes webhooks and answers with the statuses given, 200 after those."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.received: list[tuple[str, str, dict[str, Any]]] = []
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                listener.received.append((self.path, self.headers["Content-Type"], json.loads(body)))
                self.send_response(listener.statuses.pop(0) if listener.statuses else 200)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/{SECRET}?token=abc"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def listener() -> Iterator[Listener]:
    found = Listener()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture
def hooked(listener: Listener) -> Iterator[Sandbox]:
    with running_sandbox(rate=60, clock=Clock(), webhook_retry=0.05) as sandbox:
        assert ask(sandbox, "/tracking", type="webhook", url=listener.url).json()["tokensConsumed"] == 0
        send(sandbox, "/tracking", WISH, type="add")
        yield sandbox


def unread(sandbox: Sandbox) -> int:
    return len(ask(sandbox, "/tracking", type="notification", readOnly=1).json()["notifications"])


def test_a_notification_is_posted_and_thereby_read(hooked: Sandbox, listener: Listener) -> None:
    (told,) = hooked.change_price(ASIN, 1, 450)
    assert hooked.webhooks.wait(5)
    assert listener.received == [(f"/{SECRET}?token=abc", "application/json", told)]
    assert [(d.notification_id, d.attempt, d.status) for d in hooked.webhooks.deliveries] == [
        (told["notificationId"], 1, 200)
    ]
    assert unread(hooked) == 0


@pytest.mark.parametrize("status", [500, 404, 302, 204])
def test_anything_but_200_is_tried_once_more(hooked: Sandbox, listener: Listener, status: int) -> None:
    listener.statuses = [status]
    hooked.change_price(ASIN, 1, 450)
    assert hooked.webhooks.wait(5)
    assert [(d.attempt, d.status) for d in hooked.webhooks.deliveries] == [(1, status), (2, 200)]
    assert listener.received[0] == listener.received[1] and unread(hooked) == 0


def test_after_two_failures_it_stays_unread(hooked: Sandbox, listener: Listener) -> None:
    listener.statuses = [500, 500, 500]
    hooked.change_price(ASIN, 1, 450)
    assert hooked.webhooks.wait(5)
    assert [d.status for d in hooked.webhooks.deliveries] == [500, 500]
    assert unread(hooked) == 1


def test_a_listener_that_is_gone_is_tried_twice(hooked: Sandbox, listener: Listener) -> None:
    listener.server.shutdown()
    listener.server.server_close()
    hooked.change_price(ASIN, 1, 450)
    assert hooked.webhooks.wait(5)
    assert [d.status for d in hooked.webhooks.deliveries] == [None, None]


def test_the_pause_is_15_seconds_unless_configured() -> None:
    assert SandboxConfig().webhook_retry == 15.0


def test_stopping_ends_what_is_under_way(listener: Listener) -> None:
    listener.statuses = [500]
    with running_sandbox(webhook_retry=60) as sandbox:
        ask(sandbox, "/tracking", type="webhook", url=listener.url)
        send(sandbox, "/tracking", WISH, type="add")
        sandbox.change_price(ASIN, 1, 450)
        assert not sandbox.webhooks.wait(0.3)
    assert sandbox.webhooks.wait(2)
    assert len(listener.received) == 1


def test_the_address_is_in_no_log(hooked: Sandbox, listener: Listener) -> None:
    entry = next(e for e in hooked.log if ("type", "webhook") in e.query)
    assert ("url", REDACTED) in entry.query
    assert SECRET not in str(list(hooked.log)) + line_of(entry) + str(list(hooked.webhooks.deliveries))


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://example.org/hook", True), ("https://example.org:8443", True), ("http://127.0.0.1:9/x", True),
        ("http://localhost/x", True), ("http://[::1]:80/", True), ("http://example.org", False),
        ("http://127.0.0.1.example.org", False), ("example.org", False), ("https://", False), ("", False),
        ("https://example.org:port/", False), ("file:///etc/passwd", False), ("http://[::1", False),
    ],
)  # fmt: skip
def test_plain_http_goes_to_this_machine_only(url: str, allowed: bool) -> None:
    assert is_allowed(url) is allowed

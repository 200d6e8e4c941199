"""A request that another thread ends: at once, accounted for, not repeated."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.keepa.wire import WireRequest
from keepa_cli.transport.aborting import InterruptedWait
from keepa_cli.transport.live import LiveTransport
from keepa_cli.transport.policy import NO_RETRY
from tests.support.scripted_server import ScriptedServer

KEY = "k" * 64
TOKEN = WireRequest("GET", "/token")
STALL = {"fault": "stall_after_request", "ms": 60_000}
GOOD = {"json": {"tokensLeft": 9, "tokensConsumed": 0}}
SOON = 1.0


class Button:
    """A guard whose `press` ends the attempt that is under way."""

    def __init__(self) -> None:
        self.aborts: list[Callable[[], None]] = []

    @contextlib.contextmanager
    def __call__(self, abort: Callable[[], None]) -> Iterator[None]:
        self.aborts.append(abort)
        yield
        self.aborts.remove(abort)

    def press(self) -> None:
        for abort in list(self.aborts):
            abort()


class Sender:
    """One request in a thread of its own, and how it ended."""

    def __init__(self, transport: LiveTransport) -> None:
        self._transport = transport
        self.outcome: Any = None
        self._thread = threading.Thread(target=self._send, daemon=True)
        self._thread.start()

    def _send(self) -> None:
        try:
            self.outcome = self._transport.send(TOKEN)
        except BaseException as error:
            self.outcome = error

    def ended(self, within: float) -> Any:
        self._thread.join(within)
        assert not self._thread.is_alive(), "the thread still waits"
        return self.outcome


def live(base: str, button: Button, **more: Any) -> LiveTransport:
    return LiveTransport(base, KEY, timeout=60.0, guard=button, **more)


def wait_until(ready: Callable[[], Any]) -> None:
    until = time.monotonic() + 5
    while not ready():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_stalled_request_ends_at_once_and_is_not_repeated() -> None:
    button = Button()
    with ScriptedServer([STALL, GOOD]) as server:
        sender = Sender(live(server.url, button))
        server.wait_for(1)
        button.press()
        outcome = sender.ended(SOON)
        assert type(outcome) is KeyboardInterrupt
        time.sleep(0.2)
        assert len(server.seen) == 1


def test_a_request_on_a_kept_connection_ends_at_once_and_the_next_one_opens_another() -> None:
    button = Button()
    with ScriptedServer([GOOD, STALL, GOOD, GOOD]) as server:
        transport = live(server.url, button)
        assert transport.send(TOKEN).status == 200
        timer = threading.Timer(0.2, button.press)
        timer.start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            transport.send(TOKEN)
        assert time.monotonic() - start < SOON
        assert [transport.send(TOKEN).status for _ in range(2)] == [200, 200]
        first, second, third, fourth = (seen.client for seen in server.seen)
        assert first == second != third == fourth


def test_a_body_that_trickles_ends_at_once() -> None:
    button = Button()
    for more in ({"chunked": True}, {"close": True}, {}):
        with ScriptedServer([{"text": "x" * 100_000, "drip": 3.0, **more}]) as server:
            sender = Sender(live(server.url, button))
            server.wait_for(1)
            time.sleep(0.2)
            button.press()
            assert type(sender.ended(SOON)) is KeyboardInterrupt


def test_only_the_request_of_that_thread_ends() -> None:
    one, other = Button(), Button()
    with ScriptedServer([STALL, {**GOOD, "delay": 0.6}]) as server:
        ends = Sender(live(server.url, one))
        server.wait_for(1)
        stays = Sender(live(server.url, other))
        server.wait_for(2)
        one.press()
        assert type(ends.ended(SOON)) is KeyboardInterrupt
        assert stays.ended(5).status == 200


def test_threads_of_one_transport_end_together() -> None:
    button = Button()
    with ScriptedServer([STALL], repeat_last=True) as server:
        transport = live(server.url, button)
        senders = [Sender(transport) for _ in range(5)]
        server.wait_for(5)
        button.press()
        assert [type(s.ended(SOON)) for s in senders] == [KeyboardInterrupt] * 5


def test_what_was_aborted_before_it_was_sent_is_not_sent() -> None:
    @contextlib.contextmanager
    def too_late(abort: Callable[[], None]) -> Iterator[None]:
        abort()
        yield

    with ScriptedServer([GOOD]) as server:
        with pytest.raises(InterruptedWait):
            LiveTransport(server.url, KEY, guard=too_late).send(TOKEN)
        kept = LiveTransport(server.url, KEY)
        kept.send(TOKEN)
        kept._guard = too_late
        with pytest.raises(InterruptedWait):
            kept.send(TOKEN)
        assert len(server.seen) == 1


def test_a_guard_that_raises_lets_nothing_through() -> None:
    @contextlib.contextmanager
    def closed(_: Callable[[], None]) -> Iterator[None]:
        raise InterruptedWait
        yield

    with ScriptedServer([GOOD]) as server:
        with pytest.raises(InterruptedWait):
            LiveTransport(server.url, KEY, guard=closed).send(TOKEN)
        assert not server.seen


def test_an_abort_after_the_answer_changes_nothing() -> None:
    button = Button()
    with ScriptedServer([GOOD]) as server:
        transport = live(server.url, button)
        kept: list[Callable[[], None]] = []
        transport._guard = lambda abort: kept.append(abort) or contextlib.nullcontext()  # type: ignore[func-returns-value]
        assert transport.send(TOKEN).status == 200
        kept[0]()


@pytest.mark.skipif(sys.platform != "linux", reason="a full backlog drops connections quietly on Linux")
def test_a_connection_that_is_being_opened_ends_at_once_and_nothing_was_sent() -> None:
    button = Button()
    with socket.socket() as listener, contextlib.ExitStack() as held:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):  # fill the backlog
            filler = held.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        sender = Sender(live(f"http://127.0.0.1:{listener.getsockname()[1]}", button))
        wait_until(lambda: button.aborts)
        time.sleep(0.3)
        assert sender.outcome is None, "the connection was not left waiting"
        button.press()
        assert isinstance(sender.ended(SOON), InterruptedWait)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate of 127.0.0.1 with its key, in one file."""
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(folder / "k"), "-out", str(folder / "c")]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no openssl command")
    return folder


@contextlib.contextmanager
def secure_server(certificate: Path, *, handshake: bool) -> Iterator[tuple[str, list[bytes]]]:
    """A server over TLS that never answers; without `handshake` it does not even greet."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "c", certificate / "k")
    seen: list[bytes] = []
    held: list[socket.socket] = []

    def serve(listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            sock, _ = listener.accept()
            held.append(sock)
            if handshake:
                secure = context.wrap_socket(sock, server_side=True)
                held.append(secure)
                while data := secure.recv(65536):
                    seen.append(data)
            else:
                seen.append(sock.recv(65536))

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield f"https://127.0.0.1:{listener.getsockname()[1]}", seen
    for sock in held:
        sock.close()


@pytest.mark.parametrize(("handshake", "ending"), [(True, KeyboardInterrupt), (False, InterruptedWait)])
def test_over_tls_it_ends_at_once_too(
    certificate: Path, handshake: bool, ending: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    button = Button()
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate / "c"))
    with secure_server(certificate, handshake=handshake) as (url, seen):
        sender = Sender(live(url, button))
        wait_until(lambda: seen)
        button.press()
        assert type(sender.ended(SOON)) is ending


@pytest.mark.skipif(sys.platform != "linux", reason="counts files in /proc")
def test_connections_leave_no_handles_behind() -> None:
    def opened() -> int:
        return len(os.listdir("/proc/self/fd"))

    button = Button()
    with ScriptedServer([GOOD], repeat_last=True) as server:
        live(server.url, button).send(TOKEN)
        before = opened()
        for _ in range(30):
            transport = live(server.url, button)
            transport.send(TOKEN)
            transport.close()
        wait_until(lambda: opened() <= before + 2)


@pytest.mark.parametrize("host", ["a" * 70 + ".example", "no-such-host.invalid"])
def test_names_that_lead_nowhere_sent_nothing(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str, *args: Any) -> Any:
        name.encode("idna")
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(KeepaCliError) as caught:
        LiveTransport(f"http://{host}", KEY, policy=NO_RETRY).send(TOKEN)
    assert (caught.value.kind, caught.value.details["charged"]) == (Kind.TRANSPORT_ERROR, "no")

"""Run a sandbox until it is interrupted."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from urllib.parse import quote

from keepa_cli.sandbox.config import SandboxConfig
from keepa_cli.sandbox.server import LogEntry, Sandbox

TICK = 0.5
"""Seconds between looks at the signals: a wait without end cannot be interrupted on Windows."""


def serve(
    config: SandboxConfig,
    *,
    on_ready: Callable[[Sandbox], None],
    on_request: Callable[[LogEntry], None] | None = None,
    stop: threading.Event | None = None,
) -> Sandbox:
    """Answer until Ctrl-C, SIGTERM or `stop`, which all end it as it should. Returns the stopped sandbox."""
    stop = stop or threading.Event()
    sandbox = Sandbox(config, on_request=on_request)
    with _terminates(stop), contextlib.suppress(KeyboardInterrupt):
        try:
            sandbox.start()
            on_ready(sandbox)
            while not stop.wait(TICK):
                sandbox.tick()
        finally:
            sandbox.stop()
    return sandbox


def line_of(entry: LogEntry) -> str:
    """One request as a line for people; control characters stay encoded."""
    query = "&".join(f"{_quoted(name, '')}={_quoted(value, ',[]')}" for name, value in entry.query)
    target = _quoted(entry.path, "/[]%") + ("?" + query if query else "")
    fault = f"  fault: {entry.fault}" if entry.fault else ""
    return f"{entry.method} {target}  {entry.status}  {entry.tokens} tokens{fault}"


def _quoted(text: str, safe: str) -> str:
    return quote(text, safe=safe, errors="surrogateescape")


@contextlib.contextmanager
def _terminates(stop: threading.Event) -> Iterator[None]:
    """SIGTERM sets `stop`, where signals can be handled at all."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: stop.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

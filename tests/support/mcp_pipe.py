"""An MCP server on pipes, spoken to with raw frames."""

from __future__ import annotations

import contextlib
import itertools
import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

Frame = dict[str, Any]
LONG = 30.0


def request(ident: Any, method: str, **params: Any) -> bytes:
    """The line of one request."""
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": params}).encode() + b"\n"


class McpPipe:
    """`with McpPipe(env, cwd) as pipe: pipe.ask("ping")`. Everything on stdout is kept in `seen`, in order."""

    def __init__(
        self, env: Mapping[str, str], cwd: Path, *args: str, command: Sequence[str] | None = None, opened: bool = True
    ) -> None:
        self.command = [*(command or [sys.executable, "-m", "keepa_cli"]), *(args or ("--mcp",))]
        self._env, self._cwd, self._opened = dict(env), cwd, opened
        self._ids = itertools.count(1000)
        self.seen: list[Frame] = []
        self.raw: list[bytes] = []
        self._arrived = threading.Condition()
        self._errors: queue.Queue[bytes] = queue.Queue()

    def __enter__(self) -> Self:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(self.command, env=self._env, cwd=self._cwd, **pipes)
        self._readers = [threading.Thread(target=t, daemon=True) for t in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()
        if self._opened:
            self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(5)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None and not stream.closed:
                with contextlib.suppress(OSError):
                    stream.close()

    def open(self, version: str = "2025-11-25", **capabilities: Any) -> Frame:
        """The handshake; the result of `initialize`."""
        client = {"name": "test", "version": "1"}
        params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": client}
        found = self.ask("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return found

    def send(self, frame: Frame | bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(frame if isinstance(frame, bytes) else json.dumps(frame).encode() + b"\n")
        self.process.stdin.flush()

    def start(self, method: str, params: Any = None, *, ident: Any = None) -> Any:
        """Send a request and do not wait; its id."""
        ident = next(self._ids) if ident is None else ident
        frame = {"jsonrpc": "2.0", "id": ident, "method": method}
        self.send(frame | ({} if params is None else {"params": params}))
        return ident

    def ask(self, method: str, params: Any = None, *, timeout: float = LONG) -> Frame:
        """The answer to one request: its frame."""
        return self.answer(self.start(method, params), timeout=timeout)

    def call(self, name: str, *, timeout: float = LONG, **arguments: Any) -> Frame:
        """The result of one tool call."""
        found: Frame = self.ask("tools/call", {"name": name, "arguments": arguments}, timeout=timeout)["result"]
        return found

    def cancel(self, ident: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ident}})

    def answer(self, ident: Any, *, timeout: float = LONG) -> Frame:
        """The answer with that id, waiting for it."""
        return self.wait(lambda f: f.get("id") == ident and ("result" in f or "error" in f), timeout=timeout)

    def wait(self, wanted: Any, *, timeout: float = LONG) -> Frame:
        """The first frame, of those that came and of those that come, that is `wanted`."""
        until = time.monotonic() + timeout
        with self._arrived:
            while True:
                found = next((f for f in self.seen if wanted(f)), None)
                if found is not None:
                    return found
                left = until - time.monotonic()
                assert left > 0, f"nothing came in {timeout} s; seen: {str(self.seen)[-2000:]}"
                assert self._arrived.wait(left) or wanted is not None

    def end_input(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    def end(self, timeout: float = LONG) -> tuple[int, str]:
        """Close stdin; the exit code and what was written to stderr."""
        assert self.process.stdin
        if not self.process.stdin.closed:
            self.end_input()
        return self.exited(timeout)

    def exited(self, timeout: float = LONG) -> tuple[int, str]:
        """Wait for the end of the process; its exit code and what it wrote to stderr."""
        code = self.process.wait(timeout)
        for reader in self._readers:
            reader.join(5)
        return code, self.errors()

    def errors(self) -> str:
        found = b""
        while not self._errors.empty():
            found += self._errors.get()
        return found.decode("utf-8", "replace")

    def ids(self) -> list[Any]:
        """The ids of all answers so far."""
        return [f.get("id") for f in self.seen if "result" in f or "error" in f]

    def _read(self) -> None:
        assert self.process.stdout
        try:
            for line in self.process.stdout:
                self._take(line)
        except ValueError:
            return  # closed by the test

    def _take(self, line: bytes) -> None:
        frame = json.loads(line)
        with self._arrived:
            self.raw.append(line)
            self.seen.append(frame)
            self._arrived.notify_all()

    def _read_errors(self) -> None:
        assert self.process.stderr
        try:
            for line in self.process.stderr:
                self._errors.put(line)
        except ValueError:
            return

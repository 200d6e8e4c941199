"""Processes that speak MCP, asked one request after the other, with the time each answer took."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

BARE = str(Path(__file__).with_name("bare_mcp.py"))
OURS = ("-m", "keepa_cli", "--mcp")
OURS_HTTP = ("-m", "keepa_cli", "--mcp-http", "--mcp-http-port", "0")
REPO = Path(__file__).resolve().parents[1]
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


class Peer:
    """A server on a pipe."""

    def __init__(self, args: tuple[str, ...], env: Mapping[str, str], cwd: Path) -> None:
        self._began = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, *args], env=dict(env), cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._number = 0

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> tuple[float, bytes]:
        """Seconds from the request to its answer, and the line that answered. Raises RuntimeError for an error."""
        self._number += 1
        frame = {"jsonrpc": "2.0", "id": self._number, "method": method} | ({"params": params} if params else {})
        data = json.dumps(frame).encode() + b"\n"
        began = time.perf_counter()
        self._write(data)
        line = self._line()
        took = time.perf_counter() - began
        if b'"result"' not in line[:4096] or b'"isError":true' in line[-4096:]:
            raise RuntimeError(f"{method} was answered with {line[:300]!r}")
        return took, line

    def open(self) -> float:
        """Seconds from the start of the process to its answer to initialize."""
        self.ask("initialize", OPENING)
        took = time.perf_counter() - self._began
        self._write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return took

    def call(self, tool: str, **arguments: Any) -> tuple[float, bytes]:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _write(self, data: bytes) -> None:
        assert self._process.stdin
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def _line(self) -> bytes:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended with {self._process.wait()}")
        return line


@contextlib.contextmanager
def place(cassettes: Path | None = None) -> Iterator[tuple[dict[str, str], Path]]:
    """The environment of a new user and an empty folder; Python may keep its bytecode, as after any installation."""
    with tempfile.TemporaryDirectory(prefix="keepa-bench-", ignore_cleanup_errors=True) as folder:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("KEEPA_", "XDG_"))}
        for name in ("CI", "PYTHONDONTWRITEBYTECODE"):
            kept.pop(name, None)
        home = dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), folder)
        own = {f"KEEPA_CLI_{name}_DIR": str(Path(folder) / name.lower()) for name in ("STATE", "DATA")}
        if cassettes:
            own["KEEPA_CLI_CASSETTES"] = str(cassettes)
        yield kept | home | own | {"PYTHONPATH": str(REPO)}, Path(folder)


@contextlib.contextmanager
def peer(args: tuple[str, ...], env: Mapping[str, str], cwd: Path) -> Iterator[Peer]:
    """A server that was greeted."""
    found = Peer(args, env, cwd)
    try:
        found.open()
        yield found
    finally:
        found.close()


@contextlib.contextmanager
def listening(args: tuple[str, ...], env: Mapping[str, str], cwd: Path) -> Iterator[str]:
    """A server over HTTP; `host:port` where it listens."""
    process = subprocess.Popen(
        [sys.executable, *args], env=dict(env), cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stderr
        for line in process.stderr:
            found = re.search(rb"http://([0-9.]+:\d+)/mcp", line)
            if found:
                yield found[1].decode()
                return
        raise RuntimeError(f"the server ended with {process.wait()}")
    finally:
        process.kill()
        process.wait()
        if process.stderr:
            process.stderr.close()

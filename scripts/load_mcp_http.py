"""Load `kc mcp serve --http` with clients that work at once, and see that it stays quick, whole and small.

    python scripts/load_mcp_http.py [--seconds 120] [--clients 8] [--out FILE]

Each client opens sessions, lists, reads, calls tools from recordings and ends them. One more client pings all the
while, and an echo in a process of its own, which tells how busy the machine is. Fails on any error, on a session that
was left over, where the slowest ping took 50 ms more than the slowest echo, and where memory grew by a fifth after the
first tenth of the time.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mcptools import node, serving

PING_MS, GROWTH, CAP = 50.0, 1.2, 128
EVERY = 0.02
QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
CALLS = (
    ("tools/list", {}),
    ("tools/call", {"name": "products_get", "arguments": {"fixture": "product_B0PPJ248DY_full"}}),
    ("tools/call", {"name": "products_get", "arguments": {"fixture": "product_B0PPJ248DY_full", "no_cache": True}}),
    ("tools/call", {"name": "query_research_context", "arguments": {"text": "kettle"}}),
    ("resources/read", {"uri": "keepa://context/policy"}),
    ("tools/call", {"name": "products_get", "arguments": {"nonsense": 1}}),
    ("prompts/list", {}),
)
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}}


class Session:
    """One session on one connection."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._headers = {"content-type": "application/json"}
        self._next = 0
        response, _ = self._send({"id": 0, "method": "initialize", "params": OPENING})
        self._headers["mcp-session-id"] = str(response.getheader("mcp-session-id"))
        self._send({"method": "notifications/initialized"}, status=202)

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._next += 1
        found: dict[str, Any] = self._send({"id": self._next, "method": method, "params": params})[1]
        if found.get("id") != self._next or "result" not in found:
            raise AssertionError(f"{method} was answered with {str(found)[:300]}")
        return found["result"]

    def leave(self) -> None:
        self._connection.request("DELETE", "/mcp", headers=self._headers)
        response = self._connection.getresponse()
        response.read()
        self._connection.close()
        if response.status != 200:
            raise AssertionError(f"DELETE was answered with {response.status}")

    def _send(self, message: dict[str, Any], status: int = 200) -> tuple[http.client.HTTPResponse, Any]:
        body = json.dumps({"jsonrpc": "2.0", **message})
        self._connection.request("POST", "/mcp", body, self._headers)
        response = self._connection.getresponse()
        raw = response.read()
        if response.status != status:
            raise AssertionError(f"{message['method']} was answered with {response.status}: {raw[:300]!r}")
        return response, json.loads(raw) if raw else None


def work(port: int, until: float, results: Any) -> None:
    """One client: sessions of some calls each, until the time is over."""
    calls = sessions = 0
    errors: list[str] = []
    while time.monotonic() < until and len(errors) < 5:
        try:
            session = Session(port)
            sessions += 1
            for method, params in CALLS * 3:
                session.ask(method, params)
                calls += 1
            session.leave()
        except (AssertionError, OSError, http.client.HTTPException, ValueError) as error:
            errors.append(f"{type(error).__name__}: {error}")
    results.put({"calls": calls, "sessions": sessions, "errors": errors})


@dataclass
class Seen:
    """What the client that pings saw: milliseconds, and the memory of the server in MB."""

    pings: list[float] = field(default_factory=list)
    echoes: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)


def quantiles(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {name: round(ordered[min(len(ordered) - 1, int(q * len(ordered)))], 2) for name, q in QUANTILES.items()}


def timed(work: Callable[[], Any]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def echo(listening: socket.socket) -> None:
    """Give back every byte of one connection."""
    connection, _ = listening.accept()
    while data := connection.recv(16):
        connection.sendall(data)


def watch(port: int, pid: int, until: float, echoing: socket.socket) -> Seen:
    seen, session = Seen(), Session(port)
    timed(lambda: echoing.sendall(b"x") or echoing.recv(1))
    while time.monotonic() < until:
        seen.pings.append(timed(lambda: session.ask("ping", {})))
        seen.echoes.append(timed(lambda: echoing.sendall(b"x") or echoing.recv(1)))
        if len(seen.pings) % 25 == 1 and sys.platform == "linux":
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            seen.memory.append(pages * os.sysconf("SC_PAGE_SIZE") / 1e6)
        time.sleep(EVERY)
    session.leave()
    return seen


def left_over(port: int) -> int:
    """How many of the server's places are taken though everybody left."""
    held: list[Session] = []
    try:
        for _ in range(CAP):
            held.append(Session(port))
    except AssertionError:
        pass
    for session in held:
        session.leave()
    return CAP - len(held)


def load(port: int, pid: int, seconds: float, clients: int) -> dict[str, Any]:
    until = time.monotonic() + seconds
    spawn = multiprocessing.get_context("spawn")
    results = spawn.Queue()
    listening = socket.create_server(("127.0.0.1", 0))
    mirror = spawn.Process(target=echo, args=(listening,), daemon=True)
    mirror.start()
    echoing = socket.create_connection(listening.getsockname())
    crowd = [spawn.Process(target=work, args=(port, until, results)) for _ in range(clients)]
    for client in crowd:
        client.start()
    with listening, echoing:
        seen = watch(port, pid, until, echoing)
    done = [results.get(timeout=60) for _ in crowd]
    for client in crowd:
        client.join()
    calls = sum(d["calls"] for d in done)
    return {
        "seconds": seconds, "clients": clients, "calls": calls, "calls_per_second": round(calls / seconds, 1),
        "sessions": sum(d["sessions"] for d in done), "errors": [e for d in done for e in d["errors"]],
        "left_over": left_over(port), "pings": len(seen.pings),
        "ping_ms": quantiles(seen.pings), "echo_ms": quantiles(seen.echoes),
        "memory_mb": _memory(seen.memory),
    }  # fmt: skip


def _memory(samples: list[float]) -> dict[str, float]:
    """Early, late and highest: the first tenth is warming up."""
    if len(samples) < 3:
        return {}
    early = samples[max(1, len(samples) // 10)]
    return {"early": round(early, 1), "late": round(samples[-1], 1), "highest": round(max(samples), 1)}


def complaints(found: dict[str, Any]) -> list[str]:
    memory, slow = found["memory_mb"], found["ping_ms"]["max"] >= PING_MS + found["echo_ms"]["max"]
    checks = {
        f"{len(found['errors'])} errors, the first: {found['errors'][:1]}": bool(found["errors"]),
        f"{found['left_over']} sessions were left over": bool(found["left_over"]),
        f"the slowest ping took {found['ping_ms']['max']} ms, the slowest echo {found['echo_ms']['max']} ms": slow,
        f"memory grew: {memory}": bool(memory) and memory["late"] > memory["early"] * GROWTH,
        "nothing was answered": not found["calls"],
    }
    return [text for text, holds in checks.items() if holds]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        env = node.environment(Path(scratch))
        with serving.serving([*serving.KEEPA, "--http", "--port", "0"], env) as server:
            port = int(urlsplit(server.address).port or 0)
            found = load(port, server.pid, given.seconds, given.clients)
    print(json.dumps(found, indent=2))
    if given.out:
        given.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    wrong = complaints(found)
    print("\n".join(wrong) if wrong else "holds", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())

"""MCP servers against a bare server of the SDK: start, ping, lists, calls, and eight HTTP clients at once."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.bench_views import body_of_a_product
from benchmarks.mcp_peers import BARE, OPENING, OURS, OURS_HTTP, Peer, listening, peer, place
from keepa_cli.cassettes.codec import dump_cassette
from keepa_cli.cassettes.fingerprint import of_request
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.names import file_name
from keepa_cli.keepa.wire import WireRequest

STARTS, ROUNDS, PINGS = 15, 60, 300
CLIENTS, REQUESTS, TURNS = 8, 60, 21
SMALL, LARGE = "B0PPJ248DY", "B0LARGES01"
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def run() -> Iterator[dict[str, Any]]:
    body = body_of_a_product()
    with place() as (env, cwd):
        root = _library(cwd / "recordings", body)
        env["KEEPA_CLI_CASSETTES"] = str(root)
        yield _start(env, cwd)
        with peer(OURS, env, cwd) as ours:
            tools = cwd / "tools.json"
            tools.write_text(json.dumps(_tools(ours)), encoding="utf-8")
            with peer((BARE, "stdio", str(tools)), env, cwd) as theirs:
                yield _against("ping over stdio", ours, theirs, lambda p: p.ask("ping")[0], PINGS)
                yield _against("tools/list, full schemas", ours, theirs, lambda p: p.ask("tools/list")[0], ROUNDS)
            yield from _calls(ours, body)
        yield _clients(env, cwd)


def _library(root: Path, body: bytes) -> Path:
    """A library with one large product."""
    request = WireRequest("GET", "/product", (("domain", "1"), ("asin", LARGE)))
    path = root / "product" / file_name("large", of_request(request))
    path.parent.mkdir(parents=True)
    whole = json.loads(body)
    whole["products"][0]["asin"] = LARGE
    data = json.dumps(whole, separators=(",", ":")).encode()
    exchange = Exchange("GET", request.url(), {}, b"", 200, "OK", {"content-type": ["application/json"]}, data)
    path.write_bytes(b"".join(dump_cassette([exchange])))
    return root


def _tools(ours: Peer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(ours.ask("tools/list")[1])["result"]["tools"]
    return found


def _start(env: dict[str, str], cwd: Path) -> dict[str, Any]:
    def seconds(args: tuple[str, ...]) -> float:
        started = Peer(args, env, cwd)
        try:
            return started.open()
        finally:
            started.close()

    mine, theirs = (lambda: seconds(OURS)), (lambda: seconds((BARE, "stdio")))
    return _row("start to the answer to initialize", 1.15, mine, theirs, STARTS, "a bare server")


def _against(name: str, ours: Peer, theirs: Peer, ask: Callable[[Peer], float], rounds: int) -> dict[str, Any]:
    return _row(name, 1.5, lambda: ask(ours), lambda: ask(theirs), rounds, "a bare server")


def _calls(ours: Peer, body: bytes) -> Iterator[dict[str, Any]]:
    def ping() -> float:
        return ours.ask("ping")[0]

    def loads() -> float:
        began = time.perf_counter()
        json.loads(body)
        return time.perf_counter() - began

    def call(**more: Any) -> Callable[[], float]:
        return lambda: ours.call("products_get", domain="US", **more)[0]

    large = f"{len(body) // 1000} KB product, summary"
    yield _row("small product, replayed", 6.0, call(asin=SMALL, view="raw", no_cache=True), ping, ROUNDS, "ping")
    yield _row("small product, its summary", 6.0, call(asin=SMALL, no_cache=True), ping, ROUNDS, "ping")
    yield _row(f"{large}, uncached", 15.0, call(asin=LARGE, no_cache=True), loads, ROUNDS, "json.loads of the body")
    yield _row(f"{large}, cached", 8.0, call(asin=LARGE), ping, ROUNDS, "ping")


def _clients(env: dict[str, str], cwd: Path) -> dict[str, Any]:
    """Seconds that eight clients need for their requests; both servers in turn."""
    with listening(OURS_HTTP, env, cwd) as ours, listening((BARE, "http"), env, cwd) as theirs:
        name = f"HTTP, {CLIENTS} clients at once"
        return _row(name, 1.25, lambda: _crowd(ours), lambda: _crowd(theirs), TURNS, "the SDK's own application")


def _crowd(host: str) -> float:
    ready, failures = threading.Barrier(CLIENTS + 1), list[str]()

    def client() -> None:
        line = http.client.HTTPConnection(host, timeout=60)
        try:
            headers = HEADERS | {"Mcp-Session-Id": _post(line, HEADERS, "initialize", OPENING)[0]}
            asked = {"name": "products_get", "arguments": {"asin": SMALL, "domain": "US"}}
            _post(line, headers, "tools/call", asked)
            ready.wait()
            for number in range(REQUESTS):
                _post(line, headers, *(("ping", {}) if number % 3 else ("tools/call", asked)))
            line.request("DELETE", "/mcp", headers=headers)
            line.getresponse().read()
        except Exception as error:  # noqa: BLE001 - told below, where it fails the measurement
            failures.append(f"{type(error).__name__}: {error}")
            ready.abort()
        finally:
            line.close()

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    with contextlib.suppress(threading.BrokenBarrierError):
        ready.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    if failures:
        raise RuntimeError(failures[0])
    return time.perf_counter() - began


def _post(line: http.client.HTTPConnection, headers: dict[str, str], method: str, params: Any) -> tuple[str, bytes]:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    line.request("POST", "/mcp", body, headers)
    answer = line.getresponse()
    data = answer.read()
    if answer.status != 200 or b'"result"' not in data:
        raise RuntimeError(f"{method} was answered with {answer.status} {data[:200]!r}")
    return answer.getheader("mcp-session-id") or "", data


def _row(
    name: str, bar: float, mine: Callable[[], float], theirs: Callable[[], float], rounds: int, against: str
) -> dict[str, Any]:
    """What each side takes in its best tenth, measured in turn: the long one of two is disturbed more often by what
    else runs, so that medians would judge the machine."""
    for _ in range(max(1, rounds // 10)):
        mine(), theirs()
    pairs = [(mine(), theirs()) for _ in range(rounds)]
    own, other = (sorted(side)[rounds // 10] * 1000 for side in zip(*pairs, strict=True))
    detail = f"{own:.2f} ms against {other:.2f} ms for {against}, {rounds} pairs"
    return {"name": name, "ratio": own / other, "bar": bar, "detail": detail}

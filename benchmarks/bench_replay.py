"""Replay per call in one process against vcrpy with the cassette held open, for a small and a big answer."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import requests
import vcr

from keepa_cli.cassettes.codec import dump_cassette
from keepa_cli.cassettes.fingerprint import of_request
from keepa_cli.cassettes.library import Library
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.names import file_name
from keepa_cli.keepa.wire import WireRequest
from keepa_cli.testing import replay_session
from keepa_cli.transport.replay import ReplayTransport

ROUNDS = 15
CALLS = 100
REQUEST = WireRequest("GET", "/product", (("domain", "1"), ("asin", "B00AAAAAA1")))
CASES = ((5_000, 0.5), (600_000, 1.0))


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="keepa-bench-") as folder:
        return [row for size, bar in CASES for row in _rows(Path(folder) / str(size), size, bar)]


def body_of(size: int) -> bytes:
    """A body of about this size that looks like Keepa's: a few names and long series."""
    series = [value for n in range(size // 13) for value in (7_000_000 + 15 * n, 1999 + n % 97)]
    product = {"asin": "B00AAAAAA1", "title": "kettle", "csv": [series, None]}
    return json.dumps({"tokensLeft": 9, "products": [product]}, separators=(",", ":")).encode()


def _rows(root: Path, size: int, bar: float) -> list[dict[str, Any]]:
    path = root / "product" / file_name("one", of_request(REQUEST))
    path.parent.mkdir(parents=True)
    headers = {"content-type": ["application/json"]}
    exchange = Exchange("GET", REQUEST.url(), {}, b"", 200, "OK", headers, body_of(size))
    path.write_bytes(b"".join(dump_cassette([exchange])))
    transport = ReplayTransport(Library([root]))
    url = REQUEST.url()
    ours = [("transport", lambda: transport.send(REQUEST).body)]
    with replay_session(root) as adapted:
        ours.append(("requests adapter", lambda: adapted.get(url).content))
        return [_row(name, call, path, url, size, bar) for name, call in ours]


def _row(name: str, call: Callable[[], bytes], path: Path, url: str, size: int, bar: float) -> dict[str, Any]:
    """vcrpy patches the process while its cassette is open, so it is opened anew for each of its rounds."""
    pairs = [(_seconds(call), _vcr_seconds(path, url)) for _ in range(ROUNDS)]
    mine, theirs = (statistics.median(side) * 1e6 for side in zip(*pairs, strict=True))
    return {
        "name": f"replay of {size // 1000} KB, {name}",
        "ratio": statistics.median(a / b for a, b in pairs),
        "bar": bar,
        "detail": f"{mine:.0f} us against {theirs:.0f} us per call with vcrpy held open, {ROUNDS} x {CALLS} calls",
    }


def _seconds(call: Callable[[], bytes]) -> float:
    call()
    began = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - began) / CALLS


def _vcr_seconds(path: Path, url: str) -> float:
    player = vcr.VCR(record_mode="none")
    with player.use_cassette(str(path), allow_playback_repeats=True), requests.Session() as session:
        session.trust_env = False
        return _seconds(lambda: session.get(url).content)

"""The library as it grows: one lookup among many recordings, the first answer of a process, a whole suite."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.bench_replay import body_of
from keepa_cli.cassettes.codec import dump_cassette
from keepa_cli.cassettes.fingerprint import of_request
from keepa_cli.cassettes.library import Library
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.names import file_name
from keepa_cli.keepa.wire import WireRequest
from keepa_cli.transport.replay import ReplayTransport

REPO = Path(__file__).resolve().parents[1]
FEW, MANY = 100, 10_000
SUITE, LONG_SUITE = 1_000, 3_000
LOOKUPS = 2_000
ROUNDS = 7
COLD = """
import sys
from pathlib import Path
from keepa_cli.cassettes.library import Library
from keepa_cli.keepa.wire import WireRequest
from keepa_cli.transport.replay import ReplayTransport
request = WireRequest("GET", "/product", (("domain", "1"), ("asin", sys.argv[2])))
ReplayTransport(Library([Path(sys.argv[1])])).send(request)
"""


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="keepa-bench-") as folder:
        few, many, suite, long_suite = (_library(Path(folder), n) for n in (FEW, MANY, SUITE, LONG_SUITE))
        one_file = [_one_cassette(Path(folder), n) for n in (SUITE, LONG_SUITE)]
        return [
            _row(f"one lookup, {MANY} recordings against {FEW}", _lookup, (many, MANY), (few, FEW), 2.0),
            _row(f"first answer of a process, {MANY} against {FEW}", _cold, (many, MANY), (few, FEW), 2.0),
            _row(f"suite of {LONG_SUITE} against {SUITE}", _suite, (long_suite, LONG_SUITE), (suite, SUITE), 4.0),
            _row(
                f"suite of {LONG_SUITE} against {SUITE}, one cassette",
                _suite,
                (one_file[1], LONG_SUITE),
                (one_file[0], SUITE),
                4.0,
            ),
        ]


def _request(number: int) -> WireRequest:
    return WireRequest("GET", "/product", (("domain", "1"), ("asin", f"B0{number:08d}")))


def _exchange(number: int, body: bytes) -> Exchange:
    return Exchange("GET", _request(number).url(), {}, b"", 200, "OK", {"content-type": ["application/json"]}, body)


def _library(home: Path, count: int) -> Path:
    root = home / str(count) / "cassettes"
    (root / "product").mkdir(parents=True)
    body = body_of(5_000)
    for number in range(count):
        name = file_name(f"product-{number}", of_request(_request(number)))
        (root / "product" / name).write_bytes(b"".join(dump_cassette([_exchange(number, body)])))
    return root


def _one_cassette(home: Path, count: int) -> Path:
    root = home / f"one-{count}" / "cassettes"
    root.mkdir(parents=True)
    body = body_of(5_000)
    (root / "all.yaml").write_bytes(b"".join(dump_cassette(_exchange(number, body) for number in range(count))))
    return root


def _row(name: str, measure: Any, big: tuple[Path, int], small: tuple[Path, int], bar: float) -> dict[str, Any]:
    pairs = [(measure(*big), measure(*small)) for _ in range(ROUNDS)]
    large, little = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    return {"name": name, "ratio": ratio, "bar": bar, "detail": f"{_shown(large)} against {_shown(little)}"}


def _shown(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us" if seconds < 0.001 else f"{seconds * 1000:.1f} ms"


def _lookup(root: Path, count: int) -> float:
    """Lookups of recordings spread over the whole library, each opened once before."""
    transport = ReplayTransport(Library([root]))
    asked = [_request(number) for number in range(0, count, count // 50)]
    for request in asked:
        transport.send(request)
    began = time.perf_counter()
    for turn in range(LOOKUPS):
        transport.send(asked[turn % len(asked)])
    return (time.perf_counter() - began) / LOOKUPS


def _suite(root: Path, count: int) -> float:
    """Every recording once, from a library that has opened nothing."""
    began = time.perf_counter()
    transport = ReplayTransport(Library([root]))
    for number in range(count):
        transport.send(_request(number))
    return time.perf_counter() - began


def _cold(root: Path, count: int) -> float:
    began = time.perf_counter()
    asin = dict(_request(count // 2).query)["asin"]
    subprocess.run([sys.executable, "-c", COLD, str(root), asin], check=True, cwd=REPO)
    return time.perf_counter() - began

"""A live read answered from the response cache against the same read replayed from a cassette."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.bench_replay import body_of
from keepa_cli import ops
from keepa_cli.cassettes.codec import dump_cassette
from keepa_cli.cassettes.fingerprint import of_request
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.names import file_name
from keepa_cli.core.context import Context
from keepa_cli.core.registry import Operation
from keepa_cli.core.settings import cache_path
from keepa_cli.engine import Flags, Options
from keepa_cli.engine import run as run_operation
from keepa_cli.keepa.wire import BASE_URL, encode
from keepa_cli.store.cache import About, ResponseCache
from keepa_cli.store.cachekey import checked_by, key_of, path_of, server_of

ROUNDS = 15
CALLS = 20
STARTS = 12
SIZES = (5_000, 600_000)
BAR = 2.0
PARAMS = {"asin": ["B00AAAAAA1"]}
FIGURES = {"tokensConsumed": 1, "refillIn": 1, "refillRate": 5, "timestamp": 1, "processingTimeInMs": 1}


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="keepa-bench-") as folder:
        return [row for size in SIZES for row in _rows(Path(folder) / str(size), size)]


def _rows(root: Path, size: int) -> list[dict[str, Any]]:
    op = ops.find("products.get")
    env = {
        "KEEPA_CLI_CONFIG": str(root / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(root / "state"),
        "KEEPA_CLI_CASSETTES": str(root / "cassettes"),
        "KEEPA_API_KEY": "0" * 64,
    }
    ctx = Context(env=env, cwd=root)
    _fill(op, json.dumps(json.loads(body_of(size)) | FIGURES).encode(), ctx, root / "cassettes")
    cached, replayed = (_call(op, ctx, flags) for flags in (Flags(live=True), Flags(replay=True)))
    started, restarted = (_process(env, root, flag) for flag in ("--live", "--replay"))
    kb = f"{size // 1000} KB"
    return [
        _row(f"cache hit of {kb}, in process", cached, replayed, ROUNDS, CALLS),
        _row(f"cache hit of {kb}, new process", started, restarted, STARTS, 1),
    ]


def _fill(op: Operation, body: bytes, ctx: Context, library: Path) -> None:
    """The same answer as a cassette and in the cache."""
    request = op.run(**PARAMS)
    wire = encode(request)
    path = library / "product" / file_name("one", of_request(wire))
    path.parent.mkdir(parents=True)
    headers = {"content-type": ["application/json"]}
    path.write_bytes(b"".join(dump_cassette([Exchange("GET", wire.url(), {}, b"", 200, "OK", headers, body)])))
    about = About(server_of(BASE_URL), path_of(request), {}, op.name, "live", of_request(wire), checked_by(op) or "")
    ResponseCache(cache_path(ctx.settings)).put(key_of(request, BASE_URL), body, about, 86_400)


def _call(op: Operation, ctx: Context, flags: Flags) -> Callable[[], None]:
    options = Options(flags=flags, find=ops.find)

    def call() -> None:
        result = run_operation(op, PARAMS, ctx, options)
        if not result["ok"] or result["token_bucket"]["charged"] != 0:
            raise RuntimeError(f"not the answer that was stored: {result.get('error')}")

    return call


def _process(env: dict[str, str], cwd: Path, flag: str) -> Callable[[], None]:
    command = [sys.executable, "-m", "keepa_cli", "--json", "products", "get", *PARAMS["asin"], flag]

    def call() -> None:
        subprocess.run(command, env=os.environ | env, cwd=cwd, stdout=subprocess.DEVNULL, check=True)

    return call


def _row(
    name: str, cached: Callable[[], None], replayed: Callable[[], None], rounds: int, calls: int
) -> dict[str, Any]:
    pairs = [(_seconds(cached, calls), _seconds(replayed, calls)) for _ in range(rounds)]
    mine, theirs = (statistics.median(side) * 1e6 for side in zip(*pairs, strict=True))
    return {
        "name": name,
        "ratio": statistics.median(a / b for a, b in pairs),
        "bar": BAR,
        "detail": f"{mine:.0f} us against {theirs:.0f} us for the same call in replay, {rounds} x {calls} calls",
    }


def _seconds(call: Callable[[], None], calls: int) -> float:
    call()
    began = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - began) / calls

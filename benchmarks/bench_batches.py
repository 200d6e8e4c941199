"""A list of 100,000 ASINs or codes against one of 10,000: planning and merging grow with the list and not faster.

The whole call is measured, from the parameters to the envelope; only the network is left out.
"""

from __future__ import annotations

import gc
import json
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from keepa_cli import engine, ops
from keepa_cli.core.context import Context
from keepa_cli.engine import Flags, Options, modes
from keepa_cli.keepa.asin import check_digit
from keepa_cli.keepa.wire import Source, WireRequest, WireResponse

SMALL, LARGE = 10_000, 100_000
ROUNDS = 3
BAR = 12.0
MOST_MB = 200
Row = dict[str, Any]


def run() -> list[Row]:
    """One row for the time and one for the memory of each way to ask."""
    with tempfile.TemporaryDirectory(prefix="keepa-bench-") as folder:
        env = {"KEEPA_CLI_STATE_DIR": folder, "KEEPA_CLI_CONFIG": f"{folder}/config.toml"}
        ctx = Context(env=env, cwd=Path(folder))
        return [row for by, made in (("asin", _asin), ("code", _code)) for row in _rows(by, made, ctx)]


def _rows(by: str, made: Callable[[int], str], ctx: Context) -> list[Row]:
    small, large = ([made(n) for n in range(size)] for size in (SMALL, LARGE))
    pairs = [(_seconds(by, large, ctx), _seconds(by, small, ctx)) for _ in range(ROUNDS)]
    much, little = (statistics.median(side) for side in zip(*pairs, strict=True))
    megabytes = _megabytes(by, large, ctx)
    name = f"batch of {LARGE:,} by {by}"
    detail = f"{much:.2f} s against {little:.3f} s for {SMALL:,}, median of {ROUNDS}"
    return [
        {"name": f"{name}, plan and merge", "ratio": much / little, "bar": BAR, "detail": detail},
        {
            "name": f"{name}, memory",
            "ratio": megabytes / MOST_MB,
            "bar": 1.0,
            "detail": f"{megabytes:.0f} MB with the parsed answers, {MOST_MB} allowed",
        },
    ]


class Answers:
    """Bare products in another order than asked; one in ten is missing."""

    def __init__(self, by: str, asked: list[str]) -> None:
        self._bodies = {}
        for start in range(0, len(asked), 100):
            items = asked[start : start + 100]
            products = [_product(by, item) for item in items[::-1] if item[-2] != "5"]
            self._bodies[items[0]] = json.dumps({"products": products}).encode()

    def send(self, request: WireRequest, *, retry: bool = True) -> WireResponse:
        items = next(value for name, value in request.query if name in {"asin", "code"})
        return WireResponse(200, "OK", {}, self._bodies[items.partition(",")[0]], Source("fixture"))


def _call(by: str, asked: list[str], answers: Answers, ctx: Context) -> None:
    before = modes.transport_for
    modes.transport_for = lambda *_, **__: answers  # type: ignore[assignment]
    try:
        result = engine.run(ops.find("products.get"), {by: asked}, ctx, Options(flags=Flags(replay=True)))
    finally:
        modes.transport_for = before
    statuses = [row["status"] for row in result["data"]["items"]]
    assert len(statuses) == len(asked) and {*statuses} == {"found", "not_found"}


def _seconds(by: str, asked: list[str], ctx: Context) -> float:
    """Of this process alone: other programs do not count."""
    answers = Answers(by, asked)
    gc.collect()
    began = time.process_time()
    _call(by, asked, answers, ctx)
    return time.process_time() - began


def _megabytes(by: str, asked: list[str], ctx: Context) -> float:
    """The most that is held at one moment beside the list and the bytes of the answers."""
    answers = Answers(by, asked)
    tracemalloc.start()
    _call(by, asked, answers, ctx)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def _product(by: str, item: str) -> dict[str, Any]:
    if by == "asin":
        return {"asin": item, "productType": 0, "title": None}
    return {"asin": f"B{item[3:12]}", "productType": 0, "title": None, "eanList": [item], "upcList": None}


def _asin(number: int) -> str:
    return f"B{number:09d}"


def _code(number: int) -> str:
    body = f"400{number:09d}"
    return body + check_digit(body)

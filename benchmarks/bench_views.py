"""Views of a product of 600 KB against json.loads of its body; a comparison of a hundred such products against a
hundred comparisons of one, with the memory that it takes.

The bar of the comparison is 1.0: what is done once for all must not grow faster than the products. Both sides do the
same work, so noise alone moves the ratio by a few percent; it is the median of rounds that measure both in turn.
"""

from __future__ import annotations

import json
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.bench_scan import REAL, best, row
from keepa_cli.core.context import Context
from keepa_cli.keepa.domains import resolve
from keepa_cli.ops._actions import planner
from keepa_cli.research.bodies import iter_subjects
from keepa_cli.research.compare import compare
from keepa_cli.research.needs import Planner
from keepa_cli.research.product.view import product_view
from keepa_cli.research.subject import subjects

BARS = {"summary": 8.0, "deal": 30.0, "research": 30.0}
MANY, ROUNDS = 100, 5
US = resolve("US")
STAMP = 1_790_000_000_000
NOWHERE = Path("nowhere")


def run() -> Iterator[dict[str, Any]]:
    data, plan = body_of_a_product(), _planner()
    base = best(lambda: json.loads(data))
    for profile, bar in BARS.items():
        yield row(f"{profile} view, {len(data) // 1000} KB body", best(_viewed(data, plan, profile)), base, bar)
    yield _compared(data, plan)
    yield _memory(data, plan)


def body_of_a_product() -> bytes:
    """The real body where it is at hand, else the largest product of the sandbox."""
    if REAL.is_file():
        return REAL.read_bytes()
    from keepa_cli.keepa.clock import even_minute
    from keepa_cli.sandbox.catalogue import Catalogue
    from keepa_cli.sandbox.params import options

    asked = {"history": "1", "stats": "90", "videos": "1", "aplus": "1", "rating": "1", "buybox": "1"}
    product = Catalogue(1).product("B0LARGES01", 1, options(asked), even_minute(STAMP))
    return json.dumps({"timestamp": STAMP, "products": [product]}).encode()


def _planner() -> Planner:
    names = ("CONFIG", "STATE_DIR", "DATA_DIR")
    return planner(Context(env={f"KEEPA_CLI_{n}": str(NOWHERE / n) for n in names}, cwd=NOWHERE))


def _viewed(data: bytes, plan: Planner, profile: str) -> Callable[[], None]:
    body = json.loads(data)

    def work() -> None:
        for subject in subjects(body, US, {}):
            product_view(subject, plan, profile)

    return work


def _many(data: bytes, count: int) -> bytes:
    """The body with `count` products of different ASINs."""
    whole = json.loads(data)
    (one,) = whole["products"]
    return json.dumps(whole | {"products": [one | {"asin": f"B00BENCH{i:02}"} for i in range(count)]}).encode()


def _compared(data: bytes, plan: Planner) -> dict[str, Any]:
    one, many = json.loads(_many(data, 1)), json.loads(_many(data, MANY))

    def seconds(body: Any) -> float:
        began = time.perf_counter()
        compare(subjects(body, US, {}), plan)
        return time.perf_counter() - began

    seconds(one)
    pairs = [(seconds(many), sum(seconds(one) for _ in range(MANY))) for _ in range(ROUNDS)]
    mine, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    return {
        "name": f"compare of {MANY} products",
        "ratio": statistics.median(a / b for a, b in pairs),
        "bar": 1.0,
        "detail": f"{mine * 1000:.0f} ms against {theirs * 1000:.0f} ms for {MANY} comparisons of one, {ROUNDS} rounds",
    }


def _memory(data: bytes, plan: Planner) -> dict[str, Any]:
    """The peak of a streamed comparison against that of json.loads of the same bytes."""
    many = _many(data, MANY)
    streamed = _peak(lambda: compare(iter_subjects(many, US), plan))
    whole = _peak(lambda: json.loads(many))
    detail = f"{streamed / 1e6:.1f} MB peak for {len(many) / 1e6:.0f} MB, {whole / 1e6:.0f} MB for json.loads of it"
    return {"name": f"memory of a streamed compare of {MANY}", "ratio": streamed / whole, "bar": 0.1, "detail": detail}


def _peak(work: Callable[[], Any]) -> int:
    tracemalloc.start()
    kept = work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del kept
    return peak

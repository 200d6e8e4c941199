"""Scan and redaction of a 600 KB product body, all forms and all rules, against json.loads of the same bytes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[1]
REAL = REPO.parent / "shared" / "data" / "product-B0D8W1YVBX-US-20260510.json"
KEYS = ("sk-CANARY/9f+8e=ab", "q7w8e9r0" * 8)
ROUNDS = 25


def run() -> Iterator[dict[str, Any]]:
    from keepa_cli.cassettes.scan import scan_bytes
    from keepa_cli.core.redact import Redactor

    redactor = Redactor(*KEYS)
    for shape, body in bodies().items():
        base = best(lambda body=body: json.loads(body))
        yield row(f"scan, {shape}", best(lambda body=body: scan_bytes(body, "body.json", redactor)), base, 3.0)
        yield row(f"redact, {shape}", best(lambda body=body: redactor.body(body)), base, 3.0)


def bodies() -> dict[str, bytes]:
    data = REAL.read_bytes() if REAL.is_file() else json.dumps(synthetic(), indent=2).encode()
    compact = json.dumps(json.loads(data), separators=(",", ":")).encode()
    return {f"{len(data) // 1000} KB body": data, f"the same, compact ({len(compact) // 1000} KB)": compact}


def synthetic() -> dict[str, Any]:
    """A body of the shape and size of a real one: packed arrays, image names, long texts."""
    series = [[7_000_000 + 60 * i, 1999 + i % 300] for i in range(1100)]
    images = [f"https://m.media-amazon.com/images/I/{i:08x}-{i * 7:012x}.jpg" for i in range(200)]
    texts = ["A serum, light and clear, for every day. " * 8] * 40
    csv = [[n for pair in series for n in pair] if slot % 3 else None for slot in range(36)]
    return {"products": [{"asin": "B00AAAAAA1", "csv": csv, "images": images, "features": texts}], "tokensLeft": 60}


def row(name: str, seconds: float, base: float, bar: float) -> dict[str, Any]:
    detail = f"{seconds * 1000:.2f} ms against {base * 1000:.2f} ms json.loads"
    return {"name": name, "ratio": seconds / base, "bar": bar, "detail": detail}


def best(work: Callable[[], Any]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)

"""What the promotion tests share: a library home, bodies that keep the contract, and inputs made of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from keepa_cli.cassettes.codec import dump_cassette
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.promote import Home
from keepa_cli.core.redact import Redactor

START = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
BUCKET = {"timestamp": 1778386768884, "tokensLeft": 94, "refillIn": 53441, "refillRate": 60, "tokensConsumed": 1,
          "tokenFlowReduction": 0.0, "processingTimeInMs": 1}  # fmt: skip
TOKEN_URL = "https://api.keepa.com/token"
PRODUCT_URL = "https://api.keepa.com/product?domain=1&asin=B0AAAAAAA1"


def clock() -> Callable[[], datetime]:
    """A clock that moves on by a second each time it is read."""
    moments = iter(range(10**6))
    return lambda: START + timedelta(seconds=next(moments))


def home_in(folder: Path, *secrets: str) -> Home:
    return Home(folder / "cassettes", folder / "state", clock(), Redactor(*secrets))


def product_body(**changes: Any) -> dict[str, Any]:
    product = {"asin": "B0AAAAAAA1", "domainId": 1, "title": "kettle", "productType": 0, "csv": [[1, 2], None]}
    return BUCKET | {"products": [product | changes]}


def exchange(body: Any = None, url: str = PRODUCT_URL, status: int = 200, **headers: str) -> Exchange:
    raw = body if isinstance(body, bytes) else json.dumps(product_body() if body is None else body).encode()
    kept = {"Content-Type": ["application/json;charset=UTF-8"]} | {k: [v] for k, v in headers.items()}
    return Exchange("GET", url, {}, b"", status, "OK" if status == 200 else "Too Many Requests", kept, raw)


def cassette(path: Path, *exchanges: Exchange) -> Path:
    path.write_bytes(b"".join(dump_cassette(exchanges)))
    return path


def raw(path: Path, body: Any = None) -> Path:
    path.write_text(json.dumps(product_body() if body is None else body), encoding="utf-8")
    return path


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file that readers of a library see, by path; locks and temporary files are left out."""
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for part in ("cassettes", "evidence")
        for p in sorted((folder / part).rglob("*"))
        if p.is_file() and not p.name.startswith(".")
    }

"""Every history of a real product as CSV, per row, against the public Python client's parser and pandas' `to_csv`.

Without the extra `outside` the other side is the standard library: datetime and csv.writer.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from benchmarks.bench_scan import REAL, best, synthetic
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.research.history.rows import Piece, csv_text
from keepa_cli.research.history.tracks import tracks
from keepa_cli.research.subject import subjects

EPOCH = datetime(2011, 1, 1)  # noqa: DTZ001
TRIPLES = frozenset({7, *range(18, 30), 32})


def run() -> Iterator[dict[str, Any]]:
    body = json.loads(REAL.read_bytes()) if REAL.is_file() else synthetic()
    slots = body["products"][0]["csv"]
    name, theirs = other(slots)
    yield row(f"history export, all series, against {name}", lambda: ours(body), theirs)
    only = {"products": [{"asin": "B000000001", "csv": slots}]}
    yield row(f"history export, price types only, against {name}", lambda: ours(only), theirs)


def ours(body: dict[str, Any]) -> int:
    """From the parsed answer to the bytes of the file; the number of rows."""
    (subject,) = subjects(body, DOMAINS[1], {})
    pieces = [Piece("B000000001", t, t.times, t.raws) for t in tracks(subject).values() if len(t)]
    return "".join(csv_text(pieces)).encode().count(b"\n") - 1


def other(slots: list[Any]) -> tuple[str, Callable[[], int]]:
    try:
        from keepa.utils import parse_csv
    except ImportError:
        return "datetime and csv.writer", lambda: plain(slots)

    def client() -> int:
        frames = {k: v for k, v in parse_csv(slots).items() if k.startswith("df_")}
        return sum(len(frame.to_csv().encode()) and len(frame) for frame in frames.values())

    return "the public client's parser and to_csv", client


def plain(slots: list[Any]) -> int:
    sink = io.StringIO()
    writer, count = csv.writer(sink), 0
    for index, packed in enumerate(slots):
        stride = 3 if index in TRIPLES else 2
        for time, value in zip((packed or [])[::stride], (packed or [])[1::stride], strict=False):
            writer.writerow([index, (EPOCH + timedelta(minutes=time)).isoformat(), value])
            count += 1
    sink.getvalue().encode()
    return count


def row(name: str, mine: Callable[[], int], theirs: Callable[[], int]) -> dict[str, Any]:
    have, want = mine(), theirs()
    seconds, base = best(mine) / have, best(theirs) / want
    detail = f"{1 / seconds:,.0f} rows/s ({have:,} rows) against {1 / base:,.0f} ({want:,} rows)"
    return {"name": name, "ratio": seconds / base, "bar": 1.0, "detail": detail}

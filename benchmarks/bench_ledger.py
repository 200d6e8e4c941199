"""What the ledger adds to a live call, reserve and settle, against two bare commits of the same SQLite."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keepa_cli.store.ledger import Ending, Entry, Ledger, Limits

ROUNDS = 25
CALLS = 20
BAR = 4.0
FULL_DAY = 20_000
NO_LIMITS = Limits()
LIMITS = Limits(per_day=10**9, per_session=10**9)


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="keepa-bench-") as folder:
        root = Path(folder)
        bare = _bare(root)
        empty = Ledger(root / "empty", lambda: datetime.now(UTC))
        full = Ledger(root / "full", lambda: datetime.now(UTC))
        _fill(full)
        return [
            _row("reserve and settle", _call(empty), bare),
            _row("the same with limits", _call(empty, LIMITS), bare),
            _row(f"with limits, {FULL_DAY} calls today", _call(full, LIMITS), bare),
        ]


def _bare(root: Path) -> Callable[[int], None]:
    """Two commits of one row each, in WAL mode and synced, as the ledger's are."""
    connection = sqlite3.connect(root / "bare.sqlite3", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, state TEXT, cost INTEGER)")

    def two_commits(_: int) -> None:
        row = connection.execute("INSERT INTO t (state, cost) VALUES ('reserved', 5)").lastrowid
        connection.execute("UPDATE t SET state = 'settled', cost = 3 WHERE id = ?", (row,))

    return two_commits


def _call(ledger: Ledger, limits: Limits = NO_LIMITS) -> Callable[[int], None]:
    def reserve_and_settle(n: int) -> None:
        entry = Entry("products.get", "live", "live", "GET", "/product", "0123456789abcdef", f"call-{n}", 0, 1, 3, 5)
        ledger.end(ledger.reserve(entry, limits), Ending("settled", 3, "keepa", 1))

    return reserve_and_settle


def _fill(ledger: Ledger) -> None:
    _call(ledger)(0)
    names = "state, operation, mode, origin, method, path, fingerprint, call, part, parts, estimated, worst, consumed"
    more = "day, created_at, pid, host, session"
    with ledger._db.write() as db:
        for n in range(FULL_DAY):
            db.execute(
                f"INSERT INTO calls ({names}, {more}) SELECT {names.replace('call,', '?,')}, {more} FROM calls LIMIT 1",
                (f"old-{n}",),
            )


def _row(name: str, ours: Callable[[int], None], bare: Callable[[int], None]) -> dict[str, Any]:
    """The best round of each: a machine that is busy with something else slows the longer work more."""
    pairs = [(_seconds(ours), _seconds(bare)) for _ in range(ROUNDS)]
    mine, theirs = (min(side) * 1e6 for side in zip(*pairs, strict=True))
    return {
        "name": f"ledger, {name}",
        "ratio": mine / theirs,
        "bar": BAR,
        "detail": f"{mine:.0f} us a call against {theirs:.0f} us for two bare commits, best of {ROUNDS} rounds",
    }


def _seconds(work: Callable[[int], None]) -> float:
    work(0)
    began = time.perf_counter()
    for n in range(CALLS):
        work(n)
    return (time.perf_counter() - began) / CALLS

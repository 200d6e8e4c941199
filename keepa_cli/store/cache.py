"""The response cache: answers of live reads in one SQLite file, bounded in age and size."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import sqlite3
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.store.db import Database

MAX_BYTES = 256 * 1024 * 1024
MAX_ENTRY = 16 * 1024 * 1024
PATIENCE = 1.0
"""Seconds to wait for another process: longer than a write takes, shorter than asking Keepa."""
_TOUCH_AFTER = 60
"""A use is noted once a minute: noting each would turn every read into a write."""
_AHEAD = 3600
"""An answer used later than in an hour comes from a clock that was wrong; it would be evicted last of all."""
_LEVEL = 1

_MIGRATIONS = (
    """
    CREATE TABLE answers (
        key TEXT PRIMARY KEY, server TEXT NOT NULL, path TEXT NOT NULL, query TEXT NOT NULL,
        operation TEXT NOT NULL, origin TEXT NOT NULL, fingerprint TEXT NOT NULL, checked TEXT NOT NULL,
        stored_at REAL NOT NULL, expires_at REAL NOT NULL, used_at REAL NOT NULL,
        length INTEGER NOT NULL, sha256 TEXT NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL
    );
    CREATE INDEX answers_by_use ON answers (used_at, size);
    CREATE INDEX answers_by_expiry ON answers (expires_at, size)
    """,
)
_GET = """
    SELECT body, origin, fingerprint, stored_at, expires_at, used_at FROM answers
    WHERE key = ? AND expires_at > ? AND stored_at BETWEEN ? AND ? AND (? IS NULL OR checked = ?)
"""
_PUT = "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_INSPECT = """
    SELECT key, server, path, query, operation, origin, fingerprint, checked, stored_at, expires_at, used_at, length,
        sha256, size FROM answers WHERE key = ?
"""
_TOTAL = """
    SELECT count(*) AS answers, coalesce(sum(size), 0) AS bytes, coalesce(sum(length), 0) AS uncompressed_bytes,
        min(stored_at) AS oldest, max(stored_at) AS newest FROM answers
"""
_BY_PATH = """
    SELECT server, path, count(*) AS answers, sum(size) AS bytes, sum(length) AS uncompressed_bytes
    FROM answers GROUP BY server, path ORDER BY server, path
"""
_EXPIRING = "SELECT count(*) AS answers, coalesce(sum(size), 0) AS bytes FROM answers WHERE expires_at <= ?"


@dataclass(frozen=True)
class Kept:
    """An answer as it was kept. `stored_at` and `expires_at` are Unix seconds."""

    key: str
    body: bytes
    origin: str
    fingerprint: str
    stored_at: float
    expires_at: float


@dataclass(frozen=True)
class About:
    """What `inspect` tells of an answer beside its size. `query` is what may be shown of the request; `checked` names
    what the answer was checked against."""

    server: str
    path: str
    query: Mapping[str, str]
    operation: str
    origin: str
    fingerprint: str
    checked: str = ""


def is_cache(path: Path) -> bool:
    """Whether the file is a response cache, found out without changing it."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=PATIENCE)
        try:
            connection.execute("SELECT checked FROM answers LIMIT 0")
            return True
        finally:
            connection.close()
    except sqlite3.Error:
        return False


class ResponseCache:
    """Answers by key. Bodies are kept compressed; the least recently used go when `max_bytes` are exceeded.

    Every method raises `io_error` when the file cannot be used.
    """

    def __init__(
        self,
        path: Path,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        *,
        max_bytes: int = MAX_BYTES,
        max_entry: int = MAX_ENTRY,
        patience: float = PATIENCE,
    ) -> None:
        self.path, self.max_bytes, self.max_entry = path, max_bytes, max_entry
        self._now = now
        self._db = Database(path, _MIGRATIONS, what="The response cache", durable=False, patience=patience, now=now)

    def close(self) -> None:
        self._db.close()

    def notes(self) -> list[str]:
        """What happened to the file since this was asked last, such as that a damaged one was set aside."""
        notes, self._db.notes[:] = list(self._db.notes), []
        return notes

    def get(self, key: str, max_age: float, checked: str | None = None) -> Kept | None:
        """The answer, unless it is expired, older than `max_age` seconds, from a clock that ran ahead, or was not
        `checked` against what is named."""
        now = self._now().timestamp()
        found = self._db.read(_GET, (key, now, now - max_age, now, checked, checked))
        if not found:
            return None
        row = found[0]
        try:
            body = zlib.decompress(row["body"])
        except (zlib.error, TypeError):
            self.forget(key)
            return None
        if now - row["used_at"] > _TOUCH_AFTER:
            self._touch(key, now)
        return Kept(key, body, row["origin"], row["fingerprint"], row["stored_at"], row["expires_at"])

    def put(self, key: str, body: bytes, about: About, ttl: int) -> bool:
        """Keep `body` for `ttl` seconds; False when it is larger than one answer may be."""
        packed = zlib.compress(body, _LEVEL)
        if len(packed) > min(self.max_entry, self.max_bytes):
            self.forget(key)
            return False
        now = self._now().timestamp()
        query = json.dumps(dict(about.query), ensure_ascii=True)
        named = (about.server, about.path, query, about.operation, about.origin, about.fingerprint, about.checked)
        values = (*named, now, now + ttl, now, len(body), hashlib.sha256(body).hexdigest(), len(packed), packed)
        with self._db.write() as connection:
            connection.execute("DELETE FROM answers WHERE expires_at <= ? OR used_at > ?", (now, now + _AHEAD))
            connection.execute(_PUT, (key, *values))
            over = connection.execute("SELECT total(size) FROM answers").fetchone()[0] - self.max_bytes
            if over > 0:
                self._evict(connection, key, over)
        return True

    @staticmethod
    def _evict(connection: Any, kept: str, over: float) -> None:
        """Drop what was used least recently until `over` bytes are free; `kept` stays."""
        oldest = connection.execute("SELECT key, size FROM answers WHERE key != ? ORDER BY used_at, key", (kept,))
        dropped = []
        while over > 0 and (row := oldest.fetchone()):
            over -= row["size"]
            dropped.append((row["key"],))
        connection.executemany("DELETE FROM answers WHERE key = ?", dropped)

    def forget(self, key: str) -> bool:
        """Drop one answer; whether it was there."""
        with self._db.write() as connection:
            return bool(connection.execute("DELETE FROM answers WHERE key = ?", (key,)).rowcount)

    def _touch(self, key: str, now: float) -> None:
        with contextlib.suppress(KeepaCliError), self._db.write() as connection:
            connection.execute("UPDATE answers SET used_at = ? WHERE key = ?", (now, key))

    def inspect(self, key: str) -> dict[str, Any] | None:
        """Everything about one answer but its body; also of an expired one that is still there."""
        rows = self._db.read(_INSPECT, (key,))
        if not rows:
            return None
        return dict(rows[0]) | {"query": json.loads(rows[0]["query"])}

    def keys_like(self, prefix: str) -> list[str]:
        """Up to ten keys that begin with `prefix`."""
        rows = self._db.read("SELECT key FROM answers WHERE substr(key, 1, ?) = ? LIMIT 10", (len(prefix), prefix))
        return [row["key"] for row in rows]

    def stats(self) -> dict[str, Any]:
        """How much is kept, by endpoint too; what has expired is counted apart."""
        now = self._now().timestamp()
        total, paths = self._db.read(_TOTAL)[0], self._db.read(_BY_PATH)
        expired = self._db.read(_EXPIRING, (now,))[0]
        return dict(total) | {
            "expired": expired["answers"],
            "expired_bytes": expired["bytes"],
            "endpoints": [dict(row) for row in paths],
        }

    def remove(self, *, only_expired: bool, dry_run: bool) -> dict[str, int]:
        """Drop all answers or those that have expired, and give the room back; how many and how large."""
        until = self._now().timestamp() if only_expired else math.inf
        if dry_run:
            return dict(self._db.read(_EXPIRING, (until,))[0])
        with self._db.write() as connection:
            removed = dict(connection.execute(_EXPIRING, (until,)).fetchone())
            connection.execute("DELETE FROM answers WHERE expires_at <= ?", (until,))
        if removed["answers"]:
            self._give_back()
        return removed

    def _give_back(self) -> None:
        """Shrink the file; where another process holds it, its room is used again instead."""
        for step in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
            with contextlib.suppress(KeepaCliError):
                self._db.read(step)

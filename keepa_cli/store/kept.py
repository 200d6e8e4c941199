"""Answers kept under an idempotency key, so that the same call again costs nothing."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from keepa_cli.core.errors import KeepaCliError, Kind, invalid

KEPT_DAYS = 30
KEPT_BYTES = 256 * 1024 * 1024
TABLES = """
CREATE TABLE keys (key TEXT PRIMARY KEY, identity TEXT NOT NULL, created_at TEXT NOT NULL);
CREATE TABLE answers (id INTEGER PRIMARY KEY, stored_at TEXT NOT NULL, status INTEGER NOT NULL, reason TEXT NOT NULL,
  headers TEXT NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX answers_by_age ON answers (stored_at, size);
"""


@dataclass(frozen=True)
class Stored:
    """An answer as it is kept: without secrets."""

    status: int
    reason: str
    headers: Mapping[str, tuple[str, ...]]
    body: bytes
    fingerprint: str = ""
    origin: str = ""
    stored_at: str = ""


def claim(db: sqlite3.Connection, key: str, identity: str, call: str, part: int, moment: str) -> None:
    """Bind `key` to a call, or raise where a request under it must not be sent."""
    db.execute("INSERT OR IGNORE INTO keys VALUES (?, ?, ?)", (key, identity, moment))
    _same(db, key, identity)
    for row in _rows(db, key):
        if row["call"] != call and row["state"] in {"reserved", "manual_review"}:
            raise _unknown(key, row)
        if row["part"] == part and row["state"] == "settled":
            text = f"Another process has just got an answer under the idempotency key {key!r}."
            raise KeepaCliError(
                Kind.OUTCOME_UNKNOWN, text, details=_about(key, row), next_actions=["Repeat the command."],
                retryable=True,
            )  # fmt: skip


def answers(db: sqlite3.Connection, key: str, identity: str) -> dict[int, tuple[int, Stored]]:
    """Part -> (row, answer). Raises `outcome_unknown` for a call of unknown outcome and for a lost answer."""
    _same(db, key, identity)
    found: dict[int, tuple[int, Stored]] = {}
    for row in _rows(db, key):
        if row["state"] in {"reserved", "manual_review"}:
            raise _unknown(key, row)
        if row["state"] != "settled":
            continue
        body = db.execute("SELECT * FROM answers WHERE id = ?", (row["id"],)).fetchone()
        if body is None:
            raise _lost(key, row)
        found[row["part"]] = (row["id"], _read(row, body))
    return found


def store(db: sqlite3.Connection, row: int, answer: Stored, now: datetime) -> None:
    """Keep an answer, and drop those that are too old or for which there is no more room."""
    body = zlib.compress(answer.body, 6)
    headers = json.dumps({name: list(values) for name, values in answer.headers.items()})
    values = (row, _stamp(now), answer.status, answer.reason, headers, len(body), body)
    db.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    db.execute("DELETE FROM answers WHERE stored_at < ?", (_stamp(now - timedelta(days=KEPT_DAYS)),))
    over = (db.execute("SELECT SUM(size) FROM answers").fetchone()[0] or 0) - KEPT_BYTES
    for old in db.execute("SELECT id, size FROM answers ORDER BY stored_at, id").fetchall() if over > 0 else ():
        if over <= 0:
            break
        db.execute("DELETE FROM answers WHERE id = ?", (old["id"],))
        over -= old["size"]


def _same(db: sqlite3.Connection, key: str, identity: str) -> None:
    bound = db.execute("SELECT identity FROM keys WHERE key = ?", (key,)).fetchone()
    if bound is not None and bound["identity"] != identity:
        error = invalid(f"The idempotency key {key!r} belongs to another request.", field="idempotency_key", value=key)
        error.next_actions = ["Repeat the command with a new --idempotency-key; every request has its own."]
        raise error


def _rows(db: sqlite3.Connection, key: str) -> list[sqlite3.Row]:
    sql = "SELECT id, state, call, part, fingerprint, origin FROM calls WHERE idempotency_key = ? ORDER BY part, id"
    return db.execute(sql, (key,)).fetchall()


def _read(row: sqlite3.Row, body: sqlite3.Row) -> Stored:
    headers = {name: tuple(values) for name, values in json.loads(body["headers"]).items()}
    return Stored(
        body["status"], body["reason"], headers, zlib.decompress(body["body"]), row["fingerprint"], row["origin"],
        body["stored_at"],
    )  # fmt: skip


def _about(key: str, row: sqlite3.Row) -> dict[str, Any]:
    return {"idempotency_key": key, "ledger": {"id": row["id"], "state": row["state"]}, "charged": "no"}


def _unknown(key: str, row: sqlite3.Row) -> KeepaCliError:
    what = "is still under way" if row["state"] == "reserved" else "ended without a known outcome"
    return KeepaCliError(
        Kind.OUTCOME_UNKNOWN,
        f"The call with the idempotency key {key!r} {what}; it is not sent again.",
        details=_about(key, row),
        next_actions=[f"kc ledger show {row['id']}"],
    )


def _lost(key: str, row: sqlite3.Row) -> KeepaCliError:
    return KeepaCliError(
        Kind.OUTCOME_UNKNOWN,
        f"The call with the idempotency key {key!r} was paid for and its answer is not kept (any more); it is not sent "
        "again.",
        details=_about(key, row),
        next_actions=[f"kc ledger show {row['id']}", "Use another key to ask, and pay, again."],
    )


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

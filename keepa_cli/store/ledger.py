"""The token ledger: one row per request that may have cost something, written before the request leaves.

A row is `reserved` while its request is under way, then `settled` with what Keepa charged, `released` when it is known
to have cost nothing, or in `manual_review` when nobody knows: its worst case counts until somebody resolves it.
"""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.store import kept
from keepa_cli.store.db import Database
from keepa_cli.store.kept import Stored
from keepa_cli.store.sessions import SESSION_LENGTH, alive_in, forget, is_alive, session_in

FILE = "ledger.sqlite3"
State = Literal["reserved", "settled", "released", "manual_review"]
DIED = "The process ended while the request was under way."
_CALLS = """
CREATE TABLE calls (
  id INTEGER PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('reserved', 'settled', 'released', 'manual_review')),
  operation TEXT NOT NULL, mode TEXT NOT NULL, origin TEXT NOT NULL,
  method TEXT NOT NULL, path TEXT NOT NULL, fingerprint TEXT NOT NULL,
  call TEXT NOT NULL, part INTEGER NOT NULL, parts INTEGER NOT NULL, idempotency_key TEXT,
  estimated INTEGER NOT NULL, worst INTEGER NOT NULL, consumed INTEGER, consumed_source TEXT, attempts INTEGER,
  day TEXT NOT NULL, created_at TEXT NOT NULL, settled_at TEXT,
  pid INTEGER NOT NULL, host TEXT NOT NULL, session TEXT NOT NULL, error_kind TEXT, note TEXT
);
CREATE INDEX calls_by_key ON calls (idempotency_key, part) WHERE idempotency_key IS NOT NULL;
CREATE TABLE holds (call TEXT PRIMARY KEY, session TEXT NOT NULL, day TEXT NOT NULL, origin TEXT NOT NULL,
  worst INTEGER NOT NULL);
CREATE TABLE sums (span TEXT, origin TEXT, state TEXT, requests INTEGER NOT NULL, tokens INTEGER NOT NULL,
  PRIMARY KEY (span, origin, state)) WITHOUT ROWID;
"""
_SPANS = "SELECT {row}.day AS span UNION ALL SELECT {row}.session"
_CHANGE = """
  INSERT INTO sums SELECT span, {row}.origin, {state}, {sign}1, {sign}({tokens}) FROM ({spans}) WHERE TRUE
  ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, tokens = tokens + excluded.tokens;
"""


def _change(row: str, sign: str, *, hold: bool = False) -> str:
    counted = (
        f"CASE {row}.state WHEN 'settled' THEN coalesce({row}.consumed, 0) WHEN 'released' THEN 0 ELSE {row}.worst END"
    )
    state, tokens = ("'held'", f"{row}.worst") if hold else (f"{row}.state", counted)
    return _CHANGE.format(row=row, sign=sign, state=state, tokens=tokens, spans=_SPANS.format(row=row))


_SUMS = f"""
CREATE TRIGGER calls_added AFTER INSERT ON calls BEGIN {_change("NEW", "")} END;
CREATE TRIGGER calls_ended AFTER UPDATE OF state, consumed ON calls
BEGIN {_change("OLD", "-")} {_change("NEW", "")} END;
CREATE TRIGGER holds_added AFTER INSERT ON holds BEGIN {_change("NEW", "", hold=True)} END;
CREATE TRIGGER holds_dropped AFTER DELETE ON holds BEGIN {_change("OLD", "-", hold=True)} END;
"""
"""The sums of a day and of a session are kept by triggers: limits and open requests are found at once, however long the
ledger is, and a commit writes two pages."""
MIGRATIONS = (_CALLS + _SUMS + kept.TABLES,)
_INSERT = """
INSERT INTO calls (state, operation, mode, origin, method, path, fingerprint, call, part, parts, idempotency_key,
  estimated, worst, day, created_at, pid, host, session)
VALUES ('reserved', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_END = """
UPDATE calls SET state = ?, consumed = ?, consumed_source = ?, attempts = ?, settled_at = ?, error_kind = ?, note = ?
WHERE id = ? AND state IN ('reserved', 'manual_review')
"""
_UNDER_WAY = "SELECT DISTINCT span FROM sums WHERE state IN ('reserved', 'held') AND requests > 0"
_IS_SESSION = f"length(span) = {SESSION_LENGTH}"


@dataclass(frozen=True)
class Limits:
    """The most that may be spent or reserved; None is no limit."""

    per_day: int | None = None
    per_session: int | None = None


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Entry:
    """One request that is about to leave. `call` names the call that it is part of."""

    operation: str
    mode: str
    origin: str
    method: str
    path: str
    fingerprint: str
    call: str
    part: int
    parts: int
    estimated: int
    worst: int
    key: str | None = None
    identity: str = ""


@dataclass(frozen=True)
class Ending:
    """What became of a request."""

    state: State
    consumed: int | None = None
    source: str | None = None
    attempts: int | None = None
    error_kind: str | None = None
    note: str | None = None
    answer: Stored | None = None


@dataclass(frozen=True)
class Totals:
    """Tokens settled, those of requests under way, and those of unknown outcome at their worst."""

    settled: int = 0
    reserved: int = 0
    manual_review: int = 0
    rows: dict[str, int] = field(default_factory=dict)

    @property
    def spoken_for(self) -> int:
        return self.settled + self.reserved + self.manual_review

    def as_dict(self) -> dict[str, Any]:
        return {"settled": self.settled, "reserved": self.reserved, "manual_review": self.manual_review}


class Ledger:
    """The ledger below a state folder. Threads share one; processes share the file."""

    def __init__(self, state_dir: Path, now: Callable[[], datetime]) -> None:
        self.path = state_dir / FILE
        self._now = now
        self._db = Database(self.path, MIGRATIONS, what="The token ledger", now=now)
        self._sessions = state_dir / "sessions"
        self._host = platform.node()
        self._pid = 0

    @property
    def notes(self) -> list[str]:
        """What its user must be told; each sentence is given once."""
        told, self._db.notes = self._db.notes, []
        return told

    def reserve(self, entry: Entry, limits: Limits = NO_LIMITS, rest: int = 0) -> int:
        """Write the row of a request before it leaves; `rest` is the worst case of the call's later requests.

        Raises `budget_exceeded` when a limit would be passed, by any process. The check and the row are one
        transaction, and the rest of the call is held, so that a call that began is not refused half-way.
        """
        session = self._present()
        moment = self._stamp()
        day = moment[:10]
        with self._db.write() as db:
            if entry.key is not None:
                kept.claim(db, entry.key, entry.identity, entry.call, entry.part, moment)
            self._hold(db, entry, limits, rest, session, day)
            values = (
                entry.operation, entry.mode, entry.origin, entry.method, entry.path, entry.fingerprint, entry.call,
                entry.part, entry.parts, entry.key, entry.estimated, entry.worst, day, moment, self._pid, self._host,
                session,
            )  # fmt: skip
            return int(db.execute(_INSERT, values).lastrowid or 0)

    def end(self, row: int, ending: Ending) -> None:
        """Write what became of a request."""
        moment = self._stamp()
        values = (
            ending.state, ending.consumed, ending.source, ending.attempts, moment, ending.error_kind, ending.note, row
        )  # fmt: skip
        with self._db.write() as db:
            db.execute(_END, values)
            if ending.answer is not None:
                kept.store(db, row, ending.answer, self._now())

    def drop_hold(self, call: str) -> None:
        """Give back what was held for requests of `call` that will not be sent."""
        with self._db.write() as db:
            db.execute("DELETE FROM holds WHERE call = ?", (call,))

    def answers(self, key: str, identity: str) -> dict[int, tuple[int, Stored]]:
        """The kept answers under an idempotency key: part -> (row, answer). Raises where it must not be used."""
        self._present()
        self.reconcile()
        with self._db.write() as db:
            return kept.answers(db, key, identity)

    def reconcile(self) -> int:
        """Hand the requests of dead processes over to manual review; the number of them."""
        found = 0
        for (session,) in self._db.read(f"{_UNDER_WAY} AND {_IS_SESSION}"):
            if is_alive(self._sessions, session):
                continue
            with self._db.write() as db:
                changed = db.execute(
                    "UPDATE calls SET state = 'manual_review', settled_at = ?, error_kind = ?, note = ? "
                    "WHERE state = 'reserved' AND session = ?",
                    (self._stamp(), Kind.OUTCOME_UNKNOWN.value, DIED, session),
                )
                db.execute("DELETE FROM holds WHERE session = ?", (session,))
            found += changed.rowcount
            forget(self._sessions, session)
        return found

    def totals(self, origin: str, day: str | None = None) -> Totals:
        """What one day (today) has cost at `origin`, as of now."""
        with self._db.write() as db:
            return _totals(db, origin, day or self._day())[0]

    def session_totals(self, origin: str) -> Totals:
        """What this process has spent so far."""
        session = self._present()
        with self._db.write() as db:
            return _totals(db, origin, session)[0]

    def rows(self, state: str | None, day: str | None, limit: int) -> tuple[list[dict[str, Any]], int]:
        """The newest rows that match, and how many match altogether."""
        tests = [(f"{name} = ?", value) for name, value in (("state", state), ("day", day)) if value is not None]
        where = (" WHERE " + " AND ".join(t for t, _ in tests)) if tests else ""
        values = [value for _, value in tests]
        found = self._db.read(f"SELECT * FROM calls{where} ORDER BY id DESC LIMIT ?", [*values, limit])  # noqa: S608
        [[count]] = self._db.read(f"SELECT COUNT(*) FROM calls{where}", values)  # noqa: S608 - names from above
        return [dict(row) for row in found], count

    def row(self, number: int) -> dict[str, Any] | None:
        found = self._db.read("SELECT * FROM calls WHERE id = ?", (number,))
        return dict(found[0]) if found else None

    def parts(self, call: str) -> list[dict[str, Any]]:
        """The requests of one call in their order."""
        return [dict(row) for row in self._db.read("SELECT * FROM calls WHERE call = ? ORDER BY part, id", (call,))]

    def resolve(self, number: int, state: State, consumed: int, note: str) -> bool:
        """Decide a row in manual review; False when it is not in manual review (any more)."""
        with self._db.write() as db:
            changed = db.execute(
                "UPDATE calls SET state = ?, consumed = ?, consumed_source = 'manual', settled_at = ?, note = ? "
                "WHERE id = ? AND state = 'manual_review'",
                (state, consumed, self._stamp(), note, number),
            )
        return changed.rowcount == 1

    def close(self) -> None:
        self._db.close()

    def _present(self) -> str:
        """The name of this process's session, which is shown to be alive from here on."""
        if self._pid != os.getpid():
            self._session = session_in(self._sessions)
            self._pid = os.getpid()
            self.reconcile()
            self._forget_sessions()
        return self._session.id

    def _forget_sessions(self) -> None:
        """Drop the sums of processes that have ended in order. A process shows itself before it writes a row, so none
        that begins meanwhile is taken for one of them."""
        with self._db.write() as db:
            alive = alive_in(self._sessions)
            ended = f"DELETE FROM sums WHERE {_IS_SESSION} AND span NOT IN ({', '.join('?' * len(alive))})"  # noqa: S608
            db.execute(f"{ended} AND span NOT IN ({_UNDER_WAY})", alive)

    def _hold(self, db: sqlite3.Connection, entry: Entry, limits: Limits, rest: int, session: str, day: str) -> None:
        """Exchange what the call held so far for this request and the rest of the call."""
        if entry.parts > 1:
            db.execute("DELETE FROM holds WHERE call = ?", (entry.call,))
        _check(db, entry, limits, entry.worst + rest, session, day)
        if rest:
            db.execute("INSERT INTO holds VALUES (?, ?, ?, ?, ?)", (entry.call, session, day, entry.origin, rest))

    def _stamp(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"

    def _day(self) -> str:
        return self._stamp()[:10]


def _totals(db: sqlite3.Connection, origin: str, *spans: str) -> list[Totals]:
    """The sums of each span: a day or a session."""
    marks = ", ".join("?" * len(spans))
    sql = f"SELECT span, state, requests, tokens FROM sums WHERE origin = ? AND span IN ({marks})"  # noqa: S608
    found = {(span, state): (requests, tokens) for span, state, requests, tokens in db.execute(sql, (origin, *spans))}
    return [_total({state: sums for (of, state), sums in found.items() if of == span}) for span in spans]


def _total(sums: dict[str, tuple[int, int]]) -> Totals:
    none = (0, 0)
    return Totals(
        settled=sums.get("settled", none)[1],
        reserved=sums.get("reserved", none)[1] + sums.get("held", none)[1],
        manual_review=sums.get("manual_review", none)[1],
        rows={state: requests for state, (requests, _) in sums.items() if requests and state != "held"},
    )


def _check(db: sqlite3.Connection, entry: Entry, limits: Limits, wanted: int, session: str, day: str) -> None:
    given = [("day", day, limits.per_day), ("session", session, limits.per_session)]
    held_to = [(name, span, limit) for name, span, limit in given if limit is not None]
    if not wanted or not held_to:
        return
    sums = _totals(db, entry.origin, *(span for _, span, _ in held_to))
    for (name, _, limit), totals in zip(held_to, sums, strict=True):
        if totals.spoken_for + wanted > limit:
            raise _exceeded(entry, name, limit, totals, wanted)


def _exceeded(entry: Entry, span: str, limit: int, totals: Totals, wanted: int) -> KeepaCliError:
    left = max(0, limit - totals.spoken_for)
    parts = totals.as_dict() | {"rows": totals.rows}
    setting = f"max_tokens_per_{span}"
    actions = ["Ask for less, wait for the next UTC day, or raise max_tokens_per_day in the configuration file."]
    if span == "session":
        actions = [f"Ask for less, or raise {setting} in the configuration file."]
    if totals.manual_review:
        actions.append("kc ledger list --state manual_review")
    return KeepaCliError(
        Kind.BUDGET_EXCEEDED,
        f"{entry.operation} can cost {wanted} tokens; of the {limit} tokens per {span} {left} are left.",
        details={
            "limit_name": setting, "limit": limit, "remaining": left, "worst_case_tokens": wanted, "charged": "no"
        } | parts,
        next_actions=actions,
    )  # fmt: skip

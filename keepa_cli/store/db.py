"""One private SQLite file, shared by threads and processes, set aside when it is damaged."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import io_error, lock, refuse_link

BUSY_SECONDS = 30.0
_POLL = 0.02
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_BESIDE = ("-wal", "-shm", "-journal")


def _utc() -> datetime:
    return datetime.now(UTC)


class Database:
    """A SQLite file in WAL mode. `migrations[n]` brings schema version n to n + 1.

    `durable` syncs every commit; without it a power cut can lose the latest ones, never the file. Another process is
    waited for up to `patience` seconds. A damaged file is renamed and a new one begun; `notes` tells it. One connection
    serves all threads, a fork opens its own.
    """

    def __init__(
        self,
        path: Path,
        migrations: Sequence[str],
        *,
        what: str,
        durable: bool = True,
        patience: float = BUSY_SECONDS,
        now: Callable[[], datetime] = _utc,
    ) -> None:
        self.path, self.what = path, what
        self.notes: list[str] = []
        self._migrations, self._durable, self._patience, self._now = migrations, durable, patience, now
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._pid = os.getpid()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        connection, self._connection = self._connection, None
        if connection is not None and self._pid == os.getpid():
            connection.close()

    @contextlib.contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction that no other writer can come between; all or nothing. Raises `io_error`."""
        with self._lock, self._translated():
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def read(self, sql: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """All rows of one query. Raises `io_error`."""
        with self._lock, self._translated():
            return self._open().execute(sql, values).fetchall()

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._pid != os.getpid():
            self._connection = None  # a fork must not use or close the connection of its parent
        if self._connection is None:
            self._pid = os.getpid()
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        try:
            return self._prepared()
        except sqlite3.DatabaseError as error:
            if _code(error) not in _DAMAGED:
                raise
        self._set_aside()
        return self._prepared()

    def _prepared(self) -> sqlite3.Connection:
        self._make_private()
        connection = sqlite3.connect(
            self.path, timeout=self._patience, isolation_level=None, check_same_thread=False, cached_statements=64
        )
        try:
            connection.row_factory = sqlite3.Row
            self._patiently(lambda: connection.execute("PRAGMA journal_mode=WAL").fetchone())
            connection.execute(f"PRAGMA synchronous={'FULL' if self._durable else 'NORMAL'}")
            self._patiently(lambda: self._migrate(connection))
        except BaseException:
            connection.close()
            raise
        return connection

    def _patiently(self, step: Callable[[], object]) -> None:
        """Repeat `step` while another process is setting up the same file: SQLite does not wait there by itself."""
        until = time.monotonic() + self._patience
        while True:
            try:
                step()
                return
            except sqlite3.OperationalError as error:
                if _code(error) not in _BUSY or time.monotonic() > until:
                    raise
            time.sleep(_POLL)

    def _make_private(self) -> None:
        refuse_link(self.path)
        try:
            make_private(self.path.parent)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            if os.name == "posix" and self.path.stat().st_mode & 0o077:
                self.path.chmod(0o600)
        except OSError as error:
            raise io_error("open", self.path, error) from None

    def _migrate(self, connection: sqlite3.Connection) -> None:
        newest = len(self._migrations)
        if _version(connection) == newest:
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = _version(connection)
            if version > newest:
                raise KeepaCliError(
                    Kind.IO_ERROR,
                    f"{self.path} was written by a newer keepa-cli; this one does not touch it.",
                    details={"path": str(self.path), "version": version, "known": newest},
                    next_actions=["Update keepa-cli."],
                )
            for script in self._migrations[version:]:
                for statement in _statements(script):
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version={newest}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = _code(error)
            if code in _DAMAGED:
                self.close()
                self._set_aside()
                raise self._failed(f"{self.notes[-1]} Repeat the command.", retryable=True) from None
            if code in _BUSY:
                sentence = f"{self.what} has been in use by another process for {self._patience:g} s: {self.path}."
                raise self._failed(sentence, retryable=True) from None
            raise self._failed(f"{self.what} cannot be used ({error}): {self.path}.") from None

    def _failed(self, sentence: str, *, retryable: bool = False) -> KeepaCliError:
        return KeepaCliError(Kind.IO_ERROR, sentence, details={"path": str(self.path)}, retryable=retryable)

    def _set_aside(self) -> None:
        """Rename the damaged file, unless another process has done so already."""
        with lock(self.path.with_name(f"{self.path.name}.repair"), what=self.what):
            if not self._is_damaged():
                self.notes.append(f"{self.what} was damaged and has been replaced by another process.")
                return
            kept = self._free_name()
            try:
                for ending in _BESIDE:
                    with contextlib.suppress(FileNotFoundError):
                        self.path.with_name(self.path.name + ending).replace(kept.with_name(kept.name + ending))
                self.path.replace(kept)
            except OSError as error:
                raise io_error("set aside", self.path, error) from None
        self.notes.append(f"{self.what} was damaged: it is set aside as {kept}, and a new one is begun.")

    def _free_name(self) -> Path:
        stamp = self._now().strftime("%Y%m%dT%H%M%SZ")
        names = (f"{self.path.name}.damaged-{stamp}{f'-{n}' if n else ''}" for n in range(1000))
        return next(p for n in names if not (p := self.path.with_name(n)).exists())

    def _is_damaged(self) -> bool:
        try:
            connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS)
            try:
                return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok")
            finally:
                connection.close()
        except sqlite3.DatabaseError as error:
            return _code(error) in _DAMAGED


def make_private(folder: Path) -> None:
    """Make `folder` and what is missing above it, for its owner alone; what exists stays as it is."""
    for missing in [f for f in (folder, *folder.parents) if not f.exists()][::-1]:
        missing.mkdir(mode=0o700, exist_ok=True)


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; a trigger is one, whatever it holds."""
    text = ""
    for piece in script.split(";"):
        text += piece + ";"
        if sqlite3.complete_statement(text):
            if text.strip("; \n"):
                yield text
            text = ""


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _code(error: sqlite3.Error) -> int:
    """The primary result code; extended codes keep it in the lowest byte."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF

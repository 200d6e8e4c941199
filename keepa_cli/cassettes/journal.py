"""The recorder's journal: every sanitized exchange is on disk, synced, before its answer goes anywhere.

One JSON text per line: a head with what is known about the recording, "sending" before each attempt, one line per
exchange, "end" when the call is over. A crash loses at most the line being written; readers skip a torn line.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keepa_cli.cassettes.model import Exchange
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.files import io_error, lock, sync_folder

VERSION = 1
SUFFIX = ".jsonl"
RECORDER = "recorder"


class Journal:
    """The open journal of one recording. Every method that writes raises `io_error` and then leaves no torn line."""

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self._fd = fd

    @classmethod
    def create(cls, path: Path, meta: Mapping[str, Any]) -> Journal:
        """A new journal at `path`, readable by its owner only. An existing file is an error."""
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)
            journal = cls(path, os.open(path, flags, 0o600))
            journal._write({"journal": VERSION, "meta": dict(meta)})
            sync_folder(path.parent)
        except OSError as error:
            raise io_error("write", path, error) from None
        return journal

    def sending(self, attempt: int) -> None:
        """Note that a request is about to leave: from here on tokens may be spent."""
        self._write({"sending": attempt})

    def append(self, exchange: Exchange, notes: Mapping[str, Any]) -> None:
        """Keep one sanitized exchange, with notes such as its duration."""
        self._write({"exchange": _packed(exchange), "notes": dict(notes)})

    def end(self, outcome: Mapping[str, Any]) -> None:
        """Note that the call is over, and how."""
        self._write({"end": dict(outcome)})

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _write(self, row: Mapping[str, Any]) -> None:
        data = memoryview(json.dumps(row, ensure_ascii=True, separators=(",", ":")).encode() + b"\n")
        try:
            start = os.fstat(self._fd).st_size
            try:
                while data:
                    data = data[os.write(self._fd, data) :]
                os.fsync(self._fd)
            except OSError:
                os.ftruncate(self._fd, start)
                raise
        except OSError as error:
            raise io_error("write", self.path, error) from None


@dataclass
class Journalled:
    """What a journal holds: `sent` attempts left, and `ended` tells whether the recorder finished its work."""

    path: Path
    meta: dict[str, Any]
    exchanges: list[Exchange] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    sent: int = 0
    outcome: dict[str, Any] | None = None
    torn: bool = False

    @property
    def ended(self) -> bool:
        return self.outcome is not None

    def discard(self) -> None:
        """Remove the journal, once its exchanges are safe elsewhere."""
        self.path.unlink(missing_ok=True)


def read(path: Path) -> Journalled:
    """The content of a journal; lines that a crash tore are skipped."""
    found = Journalled(path, {})
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise io_error("read", path, error) from None
    for line in lines:
        try:
            if line:
                _take(found, json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError):
            found.torn = True
    return found


def recover(root: Path) -> Iterator[Journalled]:
    """The journals below `root` whose recorder is gone, each held locked while the caller has it.

    A journal without an exchange is handed out as well: its `sent` tells whether tokens may have been spent.
    """
    for folder in _listed(root):
        if not _journals(folder):
            continue
        with ExitStack() as held:
            try:
                claim(folder, held)
            except KeepaCliError:
                continue
            for path in _journals(folder):
                yield read(path)
            release(folder)


def _journals(folder: Path) -> list[Path]:
    return [path for path in _listed(folder) if path.name.endswith(SUFFIX)]


def _listed(folder: Path) -> list[Path]:
    """What is in a folder now. A recorder that ends takes its folder away, also while others look."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def claim(folder: Path, held: ExitStack) -> None:
    """Take the locks of a recording's folder, the caller's and the recorder's. `io_error` while either is held."""
    held.enter_context(lock(folder, what=f"the recording {folder.name}"))
    with lock(folder / RECORDER, what=f"the recording {folder.name}"):
        pass


def release(folder: Path) -> None:
    """Remove the folder of a recording if nothing is left in it. The caller holds its lock."""
    if _journals(folder):
        return
    try:
        for part in (folder / RECORDER, folder):
            (part / ".lock").unlink(missing_ok=True)
            part.rmdir()
    except OSError:
        # Where open files cannot be removed the empty folder stays; it is taken again by the next recording.
        return


def _take(found: Journalled, row: Mapping[str, Any]) -> None:
    if "journal" in row:
        found.meta = dict(row["meta"])
    elif "sending" in row:
        found.sent += 1
    elif "exchange" in row:
        found.exchanges.append(_unpacked(row["exchange"]))
        found.notes.append(dict(row["notes"]))
    elif "end" in row:
        found.outcome = dict(row["end"])
    else:
        raise ValueError("no row of a journal")


def _packed(exchange: Exchange) -> dict[str, Any]:
    return {
        "method": exchange.method,
        "url": exchange.url,
        "request_headers": {k: list(v) for k, v in exchange.request_headers.items()},
        "request_body": _bytes_out(exchange.request_body),
        "status": exchange.status,
        "reason": exchange.reason,
        "headers": {k: list(v) for k, v in exchange.headers.items()},
        "body": _bytes_out(exchange.body),
    }


def _unpacked(row: Mapping[str, Any]) -> Exchange:
    return Exchange(
        method=row["method"],
        url=row["url"],
        request_headers=row["request_headers"],
        request_body=_bytes_in(row["request_body"]),
        status=row["status"],
        reason=row["reason"],
        headers=row["headers"],
        body=_bytes_in(row["body"]),
    )


def _bytes_out(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _bytes_in(row: Mapping[str, str]) -> bytes:
    return row["text"].encode("utf-8") if "text" in row else base64.b64decode(row["base64"], validate=True)

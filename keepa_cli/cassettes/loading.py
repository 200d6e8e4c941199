"""Opened cassettes: regular files only, kept within a byte limit, read again when they change on disk."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from keepa_cli.cassettes import codec
from keepa_cli.cassettes.fingerprint import fingerprint
from keepa_cli.cassettes.listing import Entry
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.names import SIDECAR
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.files import io_error, lock, pending_commit, recover

KEEP_BYTES = 64 * 1024 * 1024
_SIDECAR_LIMIT = 8 * 1024 * 1024
_WRITER_PATIENCE = 3.0
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

_LOOPBACK = re.compile(r"keepa\.com|127(?:\.[0-9]{1,3}){3}")

Stamp = tuple[int, int, int]


@dataclass(frozen=True)
class Loaded:
    """A parsed cassette. `answers` maps each fingerprint to its exchanges in order, by index."""

    path: Path
    stamp: Stamp
    sha256: str
    exchanges: tuple[Exchange, ...]
    answers: dict[str, list[int]]
    evidence: dict[str, Any] = field(default_factory=dict)

    def recorded_at(self, index: int) -> str | None:
        rows = self.evidence.get("interactions")
        row = rows[index] if isinstance(rows, list) and index < len(rows) else None
        found = row.get("recorded_at") if isinstance(row, dict) else self.evidence.get("recorded_at")
        return found if isinstance(found, str) else None

    @property
    def origin(self) -> str:
        promotion = self.evidence.get("promotion")
        found = promotion.get("origin") if isinstance(promotion, dict) else self.evidence.get("origin")
        return found if found in {"live", "sandbox", "import"} else "unknown"


class Loader:
    """Loads cassettes and keeps the ones used last. The caller holds a lock."""

    def __init__(self, keep_bytes: int = KEEP_BYTES, sleep: Callable[[float], None] = time.sleep) -> None:
        self._kept: OrderedDict[str, Loaded] = OrderedDict()
        self._bytes = 0
        self._limit = keep_bytes
        self._sleep = sleep

    def get(self, entry: Entry) -> Loaded:
        """The cassette of `entry` as it is on disk now. Raises `cassette_invalid`, or OSError when it is gone."""
        key = f"{entry.root}\0{entry.relative}"
        kept = self._kept.get(key)
        if kept is not None:
            if file_stamp(kept.path) == kept.stamp:
                self._kept.move_to_end(key)
                return kept
            self._forget(key)
        return self._keep(key, self._load(entry))

    def _load(self, entry: Entry) -> Loaded:
        while True:
            self.settle(entry.root)
            loaded = load(entry)
            if not pending_commit(entry.root) or file_stamp(loaded.path) == loaded.stamp:
                return loaded

    def settle(self, root: Path) -> None:
        """Wait for a writer that is renaming files below `root`; finish what a crashed one left."""
        waited = 0.0
        while pending_commit(root) and waited < _WRITER_PATIENCE:
            try:
                with lock(root, what="the cassette library"):
                    recover(root)
                return
            except (KeepaCliError, OSError):
                self._sleep(0.02)
                waited += 0.02

    def _keep(self, key: str, loaded: Loaded) -> Loaded:
        self._kept[key] = loaded
        self._bytes += loaded.stamp[1]
        while self._bytes > self._limit and len(self._kept) > 1:
            self._forget(next(iter(self._kept)))
        return loaded

    def _forget(self, key: str) -> None:
        self._bytes -= self._kept.pop(key).stamp[1]


def load(entry: Entry) -> Loaded:
    """Read, parse and prove one cassette. Raises `cassette_invalid`, or OSError when it cannot be opened."""
    data, stamp = read_regular(entry.path, codec.SIZE_LIMIT)
    exchanges = tuple(codec.parse_cassette(data, entry.logical))
    answers: dict[str, list[int]] = {}
    for index, exchange in enumerate(exchanges):
        if entry.fingerprint or may_be_keepa(exchange.url):
            print_ = fingerprint(exchange.method, exchange.url, exchange.request_body)
            answers.setdefault(print_, []).append(index)
    evidence = _read_evidence(entry) if entry.fingerprint else {}
    _prove(entry, answers, len(exchanges), evidence)
    return Loaded(entry.path, stamp, hashlib.sha256(data).hexdigest(), exchanges, answers, evidence)


def may_be_keepa(url: str) -> bool:
    """Whether a recording of this URL can be one of Keepa's: its own host, this machine, or a name without a domain.

    A library may lie in a project whose other cassettes have paths like /token or /search too.
    """
    host = (urlsplit(url).hostname or "").rstrip(".")
    return "." not in host or host.endswith((".keepa.com", ".localhost")) or bool(_LOOPBACK.fullmatch(host))


def _prove(entry: Entry, answers: dict[str, list[int]], count: int, evidence: dict[str, Any]) -> None:
    """The name of a promoted cassette and its evidence must agree with what it holds."""
    if entry.fingerprint is None:
        return
    if list(answers) != [entry.fingerprint]:
        held = ", ".join(answers) or "no interaction"
        raise codec.invalid_cassette(
            entry.logical, f"its name promises {entry.fingerprint} and it holds {held}", fingerprints=list(answers)
        )
    identity = evidence.get("identity")
    proof = identity if isinstance(identity, dict) else evidence
    expected = proof.get("interaction_count", count)
    if expected != count:
        raise codec.invalid_cassette(entry.logical, f"it holds {count} interactions and its evidence says {expected}")


def _read_evidence(entry: Entry) -> dict[str, Any]:
    """The sidecar, or nothing: replay does without it, and `cassettes verify` reports a broken one."""
    path = entry.path
    try:
        data, _ = read_regular(path.with_name(path.stem + SIDECAR), _SIDECAR_LIMIT)
        found = json.loads(data)
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def read_regular(path: Path, limit: int) -> tuple[bytes, Stamp]:
    """The bytes of a regular file and what identifies this state of it. OSError for links, FIFOs and devices."""
    handle = os.open(path, _FLAGS)
    with os.fdopen(handle, "rb") as file:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(22, "Not a regular file", str(path))
        if info.st_size > limit:
            raise codec.invalid_cassette(path.name, f"it has {info.st_size} bytes and the limit is {limit}")
        return file.read(), _stamp(info)


def read_head(path: Path, size: int) -> bytes:
    """The first bytes of a regular file, or nothing when it cannot be read."""
    try:
        handle = os.open(path, _FLAGS)
        with os.fdopen(handle, "rb") as file:
            return file.read(size) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    except OSError:
        return b""


def file_stamp(path: Path) -> Stamp | None:
    """What identifies the present state of a file; None when it is gone."""
    try:
        return _stamp(path.stat(follow_symlinks=False))
    except OSError:
        return None


def _stamp(info: os.stat_result) -> Stamp:
    return info.st_ino, info.st_size, info.st_mtime_ns


def unreadable(entry: Entry, error: OSError) -> KeepaCliError:
    """An `io_error` for a cassette that cannot be opened."""
    return io_error("read", entry.path, error)

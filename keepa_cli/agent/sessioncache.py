"""What a session was answered already: the same call is not asked twice. Bounded by bytes, oldest use first out."""

from __future__ import annotations

import hashlib
import json
import threading
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

LIMIT = 8 << 20
PACKED_FROM = 16_000
"""Bytes from which an answer is packed: for a small one that takes a twentieth of the whole call."""


@dataclass(frozen=True)
class Kept:
    """One answer as it was given, packed where it is large, the command it answers, and a print of each parameter.
    One that `wrote` files is kept to be read, and never stands for a call: its files may be gone."""

    command: str
    data: bytes
    packed: bool
    params: Mapping[str, str]
    wrote: bool

    def envelope(self) -> dict[str, Any]:
        """The answer anew: nobody can change what is kept."""
        found: dict[str, Any] = json.loads(zlib.decompress(self.data) if self.packed else self.data)
        return found


class SessionCache:
    """Answers by their key. Threads may share one."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._lock = threading.RLock()
        self._limit = limit
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._size = 0
        self.hits = 0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def size(self) -> int:
        """Bytes that are held."""
        return self._size

    def get(self, key: str) -> Kept | None:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(
        self,
        key: str,
        command: str,
        data: bytes,
        params: Mapping[str, str] = MappingProxyType({}),
        *,
        wrote: bool = False,
    ) -> None:
        """Keep an answer, given as JSON; one that is larger than a quarter of the whole is not kept."""
        packed = len(data) >= PACKED_FROM
        if packed:
            data = zlib.compress(data, 1)
        if len(data) > self._limit // 4:
            return
        with self._lock:
            self.drop(key)
            self._kept[key] = Kept(command, data, packed, params, wrote)
            self._size += len(data)
            while self._size > self._limit:
                self.drop(next(iter(self._kept)))

    def drop(self, key: str) -> None:
        with self._lock:
            old = self._kept.pop(key, None)
            if old is not None:
                self._size -= len(old.data)

    def keys(self) -> list[str]:
        """The keys, the one used last at the end."""
        with self._lock:
            return list(self._kept)


def prints(params: Mapping[str, Any]) -> dict[str, str]:
    """A short print of each value that is given, to tell whether another call says the same."""
    return {name: _print(value) for name, value in params.items() if value is not None}


def cache_key(command: str, params: Mapping[str, Any], source: Mapping[str, Any], inputs: Mapping[str, str]) -> str:
    """Names an answer: the command, its checked parameters, where bytes come from, and the hashes of input files."""
    text = json.dumps([command, dict(params), dict(source), dict(inputs)], sort_keys=True, default=str)
    return f"{command}:{_digest(text)[:20]}"


def _print(value: Any) -> str:
    if isinstance(value, bool | int):
        return repr(value)
    return _digest(json.dumps(value, sort_keys=True, default=str))[:16]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

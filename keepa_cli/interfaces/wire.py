"""The streams of a machine protocol: whole lines in, whole lines out, nothing else on stdout."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

CHUNK = 1 << 16


class TooLong(Exception):
    """A line over the limit; it was skipped without being held."""


def claim() -> tuple[int, int]:
    """Private copies of stdin and stdout. From here on a stray print, also of a child process, goes to stderr, and
    nobody else reads from stdin."""
    for fd in range(3):
        _there(fd)
    if sys.stdout is not None:
        sys.stdout.flush()
    reading, writing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    if os.name == "nt":
        import msvcrt

        for fd in (reading, writing):
            msvcrt.setmode(fd, os.O_BINARY)  # type: ignore[attr-defined]
    return reading, writing


def _there(fd: int) -> None:
    """A program may be started without its streams: it reads nothing then, and what it writes goes nowhere."""
    try:
        os.fstat(fd)
    except OSError:
        null = os.open(os.devnull, os.O_RDWR)
        if null != fd:
            os.dup2(null, fd)
            os.close(null)


def lines(read: Callable[[int], bytes], limit: int) -> Iterator[bytes | TooLong]:
    """The lines of a stream as they come, without their ends; the last one may lack its end. A line over `limit`
    comes once as TooLong."""
    held, skipping = bytearray(), False
    while chunk := read(CHUNK):
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            if not skipping:
                held += chunk[start:end]
                yield TooLong() if len(held) > limit else bytes(held)
            held.clear()
            skipping, start = False, end + 1
        if not skipping:
            held += chunk[start:]
            if len(held) > limit:
                yield TooLong()
                held.clear()
                skipping = True
    if held.strip() and not skipping:
        yield bytes(held)


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)


_READ = json.JSONDecoder(parse_constant=_no_number).decode


def strict_json(data: bytes) -> Any:
    """What a frame holds. Raises ValueError for what is no JSON in UTF-8, NaN and Infinity among it."""
    return _READ(data.decode("utf-8-sig"))


def encode(value: Any) -> bytes:
    """One line of strict JSON in UTF-8, whatever the value holds: half characters and NaN are repaired."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    except (ValueError, TypeError, RecursionError):
        return json.dumps(repaired(value), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def repaired(value: Any, depth: int = 0) -> Any:
    """The nearest value that JSON in UTF-8 can hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if depth > 200:
        return None
    if isinstance(value, dict):
        return {repaired(str(k)): repaired(v, depth + 1) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [repaired(v, depth + 1) for v in value]
    return repaired(str(value))


def write_all(fd: int, data: bytes) -> None:
    """Write everything; a pipe may take less at once. Raises OSError when the other side is gone."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]

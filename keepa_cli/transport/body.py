"""Reads a body off the wire to its end and undoes its compression; anything less than the whole body is an error."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

LIMIT = 200 * 1024 * 1024
_CHUNK = 64 * 1024
_GZIP_MAGIC = b"\x1f\x8b"


class BodyError(Exception):
    """The body cannot be had whole. `cause` is cut_body, undecodable, too_large or read_timeout."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


def read_body(
    raw: Any, headers: Mapping[str, tuple[str, ...]], monotonic: Callable[[], float], deadline: float
) -> bytes:
    """The decoded body of the urllib3 response `raw`. BodyError when it is cut, too large or too slow."""
    parts: list[bytes] = []
    size = 0
    for chunk in raw.stream(_CHUNK, decode_content=False):
        size += len(chunk)
        if size > LIMIT:
            raise BodyError("too_large")
        if monotonic() > deadline:
            raise BodyError("read_timeout")
        parts.append(chunk)
    return decode(b"".join(parts), headers)


def decode(data: bytes, headers: Mapping[str, tuple[str, ...]], limit: int = LIMIT) -> bytes:
    """Undo the encodings that the headers name, last one first. A body that was never encoded stays as it is."""
    names = [n.strip().lower() for value in headers.get("content-encoding", ()) for n in value.split(",")]
    for name in reversed(names):
        if name in {"gzip", "x-gzip"}:
            data = b"".join(_gunzip(data, limit)) if data.startswith(_GZIP_MAGIC) else data
        elif name == "deflate":
            data = _inflate(data, limit)
        elif name not in {"", "identity"}:
            raise BodyError("undecodable")
    return data


def _gunzip(data: bytes, limit: int) -> Iterator[bytes]:
    """Every member of a gzip stream; what follows the last one is padding."""
    while data.startswith(_GZIP_MAGIC):
        out, data = _member(data, 31, limit)
        limit -= len(out)
        yield out


def _inflate(data: bytes, limit: int) -> bytes:
    """The zlib format that the standard means, or the bare deflate stream that some servers send."""
    if not data:
        return data
    try:
        return _member(data, zlib.MAX_WBITS, limit)[0]
    except BodyError as error:
        if error.cause != "undecodable":
            raise
    out, rest = _member(data, -zlib.MAX_WBITS, limit)
    if rest:  # plain text can pass for the start of a bare stream
        raise BodyError("undecodable")
    return out


def _member(data: bytes, wbits: int, limit: int) -> tuple[bytes, bytes]:
    inflater = zlib.decompressobj(wbits)
    try:
        out = inflater.decompress(data, max(1, limit + 1))
    except zlib.error:
        raise BodyError("undecodable") from None
    if len(out) > limit:
        raise BodyError("too_large")
    if not inflater.eof:
        raise BodyError("cut_body")
    return out, inflater.unused_data

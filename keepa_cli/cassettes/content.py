"""What a body is once its codings are undone: gzip with several members, deflate, texts in pictures, character sets."""

from __future__ import annotations

import codecs
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping

LIMIT = 512 * 1024 * 1024
"""A body that grows beyond this is a decompression bomb."""
_PIECE = 1 << 16
LARGE = 1 << 20
GZIP = b"\x1f\x8b\x08"
_PNG = b"\x89PNG\r\n\x1a\n"
_PIXELS, _TAIL = b"IDAT", b""
_PNG_TEXTS = {b"tEXt", b"zTXt", b"iTXt", b"eXIf"}
_STREAMS = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")
_MOST_STREAMS = 2000
_WIDE = {b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class Undecodable(ValueError):
    """The body has a coding that cannot be undone here, or is a bomb."""


def header(headers: Mapping[str, Iterable[str]], name: str) -> list[str]:
    """The values of a header, whatever its case."""
    return [value for key, values in headers.items() if key.lower() == name for value in values]


def decoded(body: bytes, codings: Iterable[str]) -> bytes:
    """`body` without its content codings. A body that was not coded as announced is taken as it is."""
    names = [name.strip().lower() for value in codings for name in value.split(",")]
    for name in reversed(names):
        if name in {"gzip", "x-gzip"}:
            body = gunzipped(body) if body[:2] == GZIP[:2] else body
        elif name == "deflate":
            body = _inflated(body)
        elif name not in {"", "identity"} and not is_text(body):
            raise Undecodable(name)
    return body


def gunzipped(body: bytes) -> bytes:
    """All members of a gzip body one after another; of a body that is cut, what can be read."""
    parts: list[bytes] = []
    at = size = 0
    view = memoryview(body)
    while at < len(body) and body[at : at + 2] == GZIP[:2]:
        stream = zlib.decompressobj(wbits=31)
        try:
            while at < len(body) and not stream.eof:
                piece = view[at : at + _PIECE]
                parts.append(_limited(stream, piece, size))
                size += len(parts[-1])
                at += len(piece) - len(stream.unused_data)
        except zlib.error:
            break
    return b"".join(parts)


def _limited(stream: zlib._Decompress, piece: bytes | memoryview, size: int) -> bytes:
    out = stream.decompress(piece, LIMIT - size + 1)
    if size + len(out) > LIMIT:
        raise Undecodable("the body is too big")
    return out


def _inflated(body: bytes) -> bytes:
    for bits in (15, -15):
        stream = zlib.decompressobj(wbits=bits)
        try:
            out = _limited(stream, body, 0) + stream.flush()
        except zlib.error:
            continue
        if stream.eof and not stream.unused_data:  # plain text can pass for the start of a bare stream
            return out
    return body


def is_text(body: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(body), LARGE):
            decoder.decode(body[at : at + LARGE], final=at + LARGE >= len(body))
    except UnicodeDecodeError:
        return False
    return b"\0" not in body[:4096]


def streams(body: bytes) -> Iterator[bytes]:
    """What lies in the compressed streams inside a binary body, the first megabyte of each."""
    bare = _inflated(body)
    if bare is not body:
        yield bare
    for count, match in enumerate(_STREAMS.finditer(body)):
        if count == _MOST_STREAMS:
            return
        try:
            out = zlib.decompressobj(wbits=47).decompress(memoryview(body)[match.start() :], LARGE)
        except zlib.error:
            continue
        if out:
            yield out


def wide_text(body: bytes) -> tuple[str, str] | None:
    """The text of a body in UTF-16 or UTF-32 and the name of that form, known by its mark or by its NULs."""
    charset = next((name for mark, name in _WIDE.items() if body.startswith(mark)), None) or _unmarked(body)
    try:
        return (body.decode(charset), charset) if charset else None
    except UnicodeDecodeError:
        return None


def _unmarked(body: bytes) -> str | None:
    if len(body) % 2 or b"\0" not in body[:64]:
        return None
    odd, even = body[1:64:2].count(0), body[0:64:2].count(0)
    if max(odd, even) < len(body[:64]) // 2 - 1 or min(odd, even):
        return None
    return "utf-16-le" if odd else "utf-16-be"


def is_picture(body: bytes) -> bool:
    return body.startswith(_PNG)


def without_png_texts(body: bytes, bad: Callable[[bytes], bool]) -> bytes:
    """A PNG picture without the text chunks, and without the tail, that are `bad`; any other body as it is."""
    if not is_picture(body):
        return body
    kept = [_PNG]
    for name, part in _parts(body):
        if name not in {*_PNG_TEXTS, _TAIL} or not (bad(part) or any(map(bad, streams(part)))):
            kept.append(part)
    return b"".join(kept)


def beside_pixels(body: bytes) -> bytes:
    """What a PNG picture holds beside its pixels: by chance those can look like anything."""
    return b"".join(part for name, part in _parts(body) if name != _PIXELS)


def _parts(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a PNG picture by name, then what follows the last one."""
    at = len(_PNG)
    while at + 12 <= len(body):
        (size,) = struct.unpack(">I", body[at : at + 4])
        name, start = body[at + 4 : at + 8], at
        at += 12 + size
        yield name, body[start:at]
        if name == b"IEND":
            break
    if at < len(body):
        yield _TAIL, body[at:]

"""Response bodies in parts, so that what was compressed once is never compressed again."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from functools import cached_property

_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_LAST_BLOCK = b"\x01\x00\x00\xff\xff"
_STORED_MOST = 65_535
_LEVEL = 6


@dataclass(frozen=True)
class Chunk:
    """Bytes that go out many times."""

    data: bytes

    @cached_property
    def deflated(self) -> bytes:
        """Whole deflate blocks, none of them the last, that end on a byte."""
        squeeze = zlib.compressobj(_LEVEL, wbits=-zlib.MAX_WBITS)
        return squeeze.compress(self.data) + squeeze.flush(zlib.Z_SYNC_FLUSH)


@dataclass(frozen=True)
class Body:
    """The parts of a body in order: chunks are compressed, plain bytes are short and only wrapped."""

    parts: tuple[bytes | Chunk, ...]

    def plain(self) -> bytes:
        return b"".join(part.data if isinstance(part, Chunk) else part for part in self.parts)

    def gzip(self) -> bytes:
        """One gzip member of all parts."""
        data = self.plain()
        blocks = [part.deflated if isinstance(part, Chunk) else _stored(part) for part in self.parts]
        return b"".join((_HEADER, *blocks, _LAST_BLOCK, struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)))


def _stored(data: bytes) -> bytes:
    """Deflate blocks that hold `data` uncompressed."""
    pieces = (data[i : i + _STORED_MOST] for i in range(0, len(data), _STORED_MOST))
    return b"".join(b"\x00" + struct.pack("<HH", len(p), len(p) ^ 0xFFFF) + p for p in pieces)

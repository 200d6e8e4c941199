"""Small PNG pictures, made without an imaging library."""

from __future__ import annotations

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def png(width: int = 4, height: int = 2, *, pixels: bytes | None = None, level: int = 9, text: bytes = b"") -> bytes:
    """A grey picture. With level 0 the pixels stand in the file as they are; `text` becomes a tEXt chunk."""
    data = pixels if pixels is not None else bytes(range(256))[: width * height].ljust(width * height, b"\0")
    rows = b"".join(b"\0" + data[y * width : (y + 1) * width] for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    texts = [chunk(b"tEXt", b"Comment\0" + text)] if text else []
    return SIGNATURE + b"".join(
        [chunk(b"IHDR", head), *texts, chunk(b"IDAT", zlib.compress(rows, level)), chunk(b"IEND", b"")]
    )


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

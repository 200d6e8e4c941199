"""A PNG picture with the standard library alone: palette colours, rectangles and step lines."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

PNG = b"\x89PNG\r\n\x1a\n"
Colour = tuple[int, int, int]


class Canvas:
    """Rows of palette indexes; colour 0 is the background. What lies outside is cut off."""

    def __init__(self, width: int, height: int, palette: Sequence[Colour]) -> None:
        self.width, self.height, self.palette = width, height, list(palette)
        self._rows = [bytearray(width) for _ in range(height)]

    def fill(self, left: int, top: int, right: int, bottom: int, colour: int) -> None:
        """A filled rectangle, both corners included."""
        first, last = max(0, left), min(self.width - 1, right)
        if first > last:
            return
        run = bytes((colour,)) * (last - first + 1)
        for y in range(max(0, top), min(self.height - 1, bottom) + 1):
            self._rows[y][first : last + 1] = run

    def steps(self, points: Sequence[tuple[int, int]], end: int, thick: int, colour: int) -> None:
        """A step line through (x, y): level until the next x, then straight up or down."""
        extra = max(0, thick - 1)
        for i, (x, y) in enumerate(points):
            until = points[i + 1][0] if i + 1 < len(points) else end
            self.fill(x, y, until, y + extra, colour)
            if i + 1 < len(points):
                low, high = sorted((y, points[i + 1][1]))
                self.fill(until, low, until + extra, high + extra, colour)

    def png(self) -> bytes:
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 3, 0, 0, 0)
        colours = b"".join(bytes(c) for c in self.palette)
        pixels = zlib.compress(b"".join(b"\x00" + row for row in self._rows), 6)
        return PNG + b"".join(
            _chunk(name, data)
            for name, data in ((b"IHDR", header), (b"PLTE", colours), (b"IDAT", pixels), (b"IEND", b""))
        )


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

"""Bytes as they read with escapes undone, layer by layer, with the way back to where they stand."""

from __future__ import annotations

import io
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator

WINDOW = 1 << 20
_ROUNDS = 8
NUMERIC = b"0123456789,.-+ \t\r\n[]{}:nul"
_ENTITIES = {
    b"amp": b"&", b"apos": b"'", b"equals": b"=", b"gt": b">", b"lt": b"<", b"plus": b"+", b"quot": b'"', b"sol": b"/"
}  # fmt: skip
_NAMED = b"|".join(_ENTITIES)
_HEX = rb"([0-9A-Fa-f]{2})"


def _escapes(unicode: bytes, decimal: bytes, hexadecimal: bytes) -> re.Pattern[bytes]:
    """The escapes of all languages; the leading character class keeps the search fast."""
    percent = rb"(?<=%)(?:25)*(?:[uU]00)?" + _HEX
    backslash = rb"(?<=\\)(?<!\\\\)\\*(?:[uU]" + unicode + b"|x" + _HEX + rb"|(/)|(\r?\n[ \t]*(?:\\(?=[ \t]))?))"
    markup = b"(?<=&)(?:#0*([0-9]" + decimal + b")|#[xX]0*([0-9A-Fa-f]" + hexadecimal + b")|(" + _NAMED + b"));"
    return re.compile(rb"[%\\&](?:" + percent + b"|" + backslash + b"|" + markup + b")")


_ESCAPE = _escapes(b"00" + _HEX, b"{1,3}", b"{1,2}")
_PAIR = rb"[Dd][89ABab][0-9A-Fa-f]{2}\\+[uU][Dd][C-Fc-f][0-9A-Fa-f]{2}"
_ESCAPE_WIDE = _escapes(rb"(" + _PAIR + rb"|[0-9A-Fa-f]{4})", b"{1,7}", b"{1,6}")
_SLASH, _FOLD, _DECIMAL, _ENTITY = 4, 5, 6, 8
BACKSLASH = 0x5C


class View:
    """Bytes after one rewriting, with the way back to the bytes before it."""

    def __init__(self, data: bytes, before: View | None = None) -> None:
        self.data, self._before = data, before
        self._here: list[int] = []
        self._there: list[tuple[int, int]] = []

    def rewritten(self, pattern: re.Pattern[bytes], put: Callable[[re.Match[bytes]], bytes]) -> View:
        view = View(b"", self)
        parts: list[bytes] = []
        size = at = 0
        for match in pattern.finditer(self.data):
            for part, start, end in ((self.data[at : match.start()], at, -1), (put(match), *match.span())):
                if part:
                    view._here.append(size)
                    view._there.append((start, end))
                    parts.append(part)
                    size += len(part)
            at = match.end()
        view._here.append(size)
        view._there.append((at, -1))
        view.data = b"".join([*parts, self.data[at:]])
        return view

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the first bytes of the chain that [start, end) came from."""
        if self._before is None:
            return start, end
        return self._before.span(self._origin(start)[0], self._origin(end - 1)[1])

    def _origin(self, index: int) -> tuple[int, int]:
        piece = bisect_right(self._here, index) - 1
        start, end = self._there[piece]
        if end >= 0:
            return start, end
        at = start + index - self._here[piece]
        return at, at + 1


def views(data: bytes, *, wide: bool = False) -> Iterator[View]:
    """`data` as it is, then with each further layer of escapes undone."""
    view = View(data)
    yield view
    for _ in range(_ROUNDS):
        if not is_escaped(view.data):
            return
        after = view.rewritten(_ESCAPE_WIDE if wide else _ESCAPE, _unescape)
        if after.data == view.data:
            return
        view = after
        yield view


def unescaped(data: bytes, *, wide: bool = False) -> Iterator[bytes]:
    """The bytes of `views`, without the way back: cheaper."""
    yield data
    for _ in range(_ROUNDS):
        if not is_escaped(data):
            return
        after = (_ESCAPE_WIDE if wide else _ESCAPE).sub(_unescape, data)
        if after == data:
            return
        data = after
        yield data


def is_escaped(data: bytes) -> bool:
    return b"%" in data or b"\\" in data or b"&" in data


def _unescape(match: re.Match[bytes]) -> bytes:
    kind = match.lastindex or 1
    value = match[kind]
    if kind in {_SLASH, _FOLD}:
        return value if kind == _SLASH else b""
    if kind == _ENTITY:
        return _ENTITIES[value]
    if b"\\" in value:
        units = bytes.fromhex(value[:4].decode()) + bytes.fromhex(value[-4:].decode())
        return units.decode("utf-16-be", "replace").encode()
    code = int(value, 10 if kind == _DECIMAL else 16)
    if code < 128 or kind == 1:
        return bytes([code])
    return chr(code).encode("utf-8", "surrogatepass") if code <= sys.maxunicode else match[0]


def after_escape(data: bytes, start: int) -> int:
    """`start`, or the end of the JSON escape that it would cut in two."""
    for back in range(1, min(6, start + 1)):
        at = start - back
        if data[at] != BACKSLASH:
            continue
        run = at
        while run and at - run < 64 and data[run - 1] == BACKSLASH:
            run -= 1
        if (at - run) % 2:
            return start
        return max(start, at + (6 if data[at + 1 : at + 2] in (b"u", b"U") else 2))
    return start


def without_numbers(data: bytes) -> bytes:
    """`data` without the long stretches between quotes that hold numbers only (Keepa's packed arrays)."""
    if len(data) <= WINDOW:
        return _thinned(data)
    out, at = io.BytesIO(), 0
    while at < len(data):
        end = data.find(b'"', at + WINDOW)
        end = len(data) if end < 0 else end + 1
        out.write(_thinned(data[at:end]))  # cut after a quote: no stretch is cut in two
        at = end
    return out.getvalue()


def _thinned(data: bytes) -> bytes:
    parts = data.split(b'"')
    return b'"'.join([p if len(p) < 64 or p.translate(None, NUMERIC) else b"" for p in parts])


def windows(data: bytes, overlap: int = 4096) -> Iterator[tuple[int, bytes]]:
    """Overlapping pieces of `data` with their offsets, so that work on a huge body needs little memory."""
    if len(data) <= WINDOW + overlap:
        yield 0, data
        return
    for at in range(0, len(data), WINDOW):
        yield at, data[at : at + WINDOW + overlap]

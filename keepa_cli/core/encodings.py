"""The ways a secret can be spelled in bytes, and where such spellings stand.

Bytes are looked at as a chain of views: as they are, then with one layer of percent, JSON and HTML escapes undone after
another. In each view a spelling is searched without the whitespace, backslashes and NULs that folding, escaping and
UTF-16 put between its characters. A place found in a view is mapped back to the bytes it stands in, so any mixture of
escapes is found, and the whole of it can be replaced.
"""

from __future__ import annotations

import base64
import binascii
import re
import sys
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

WINDOW = 1 << 20
_ROUNDS = 8
_NESTING = 3
_SHORT = 4
"""A shorter secret is never searched inside other text: it would be found everywhere."""
_LOOSE = 12
"""From this length on, letter case and characters in between are ignored."""
_TOKEN = 24
_INFLATED = 1 << 20

_BETWEEN = b" \t\r\n\f\v\\\0"
_BETWEEN_RUN = re.compile(rb"[ \t\r\n\f\v\\\0]+")
_NUMERIC = b"0123456789,.-+ \t\r\n[]{}:nul"
_ENTITIES = {
    b"amp": b"&", b"apos": b"'", b"equals": b"=", b"gt": b">", b"lt": b"<", b"plus": b"+", b"quot": b'"', b"sol": b"/"
}  # fmt: skip
_NAMED = b"|".join(_ENTITIES)
_HEX = rb"([0-9A-Fa-f]{2})"


def _escapes(unicode: bytes, decimal: bytes, hexadecimal: bytes) -> re.Pattern[bytes]:
    """The escapes of all languages; the leading character class keeps the search fast."""
    percent = rb"(?<=%)(?:25)*(?:[uU]00)?" + _HEX
    backslash = rb"(?<=\\)(?<!\\\\)\\*(?:[uU]" + unicode + b"|x" + _HEX + rb"|(/))"
    markup = b"(?<=&)(?:#0*([0-9]" + decimal + b")|#[xX]0*([0-9A-Fa-f]" + hexadecimal + b")|(" + _NAMED + b"));"
    return re.compile(rb"[%\\&](?:" + percent + b"|" + backslash + b"|" + markup + b")")


_ESCAPE = _escapes(b"00" + _HEX, b"{1,3}", b"{1,2}")
_PAIR = rb"[Dd][89ABab][0-9A-Fa-f]{2}\\+[uU][Dd][C-Fc-f][0-9A-Fa-f]{2}"
_ESCAPE_WIDE = _escapes(rb"(" + _PAIR + rb"|[0-9A-Fa-f]{4})", b"{1,7}", b"{1,6}")
_SLASH, _DECIMAL, _ENTITY = 4, 5, 7
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
_TO_TOKENS = bytes(c if c in _BASE64 else 32 for c in range(256))
_TOKENS = re.compile(rb"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}")

Span = tuple[str, int, int]
"""A form and the place where it stands."""


def encoded_forms(secret: str) -> dict[str, bytes]:
    """The usual spellings of `secret` by name, as they would stand in a file."""
    raw = secret.encode("utf-8", "surrogatepass")
    reserved = quote(raw, safe="").encode()
    every = "".join(f"%{c:02X}" for c in raw).encode()
    forms = {
        "raw": raw,
        "percent": reserved,
        "percent-lower": re.sub(rb"%..", lambda m: m[0].lower(), reserved),
        "percent-plus": quote_plus(raw, safe="").encode(),
        "percent-every": every,
        "percent-every-lower": every.lower(),
        "percent-double": quote(reserved, safe="").encode(),
        "json-slash": _json(secret, lambda c: c == "/", r"\/"),
        "json-unicode": _json(secret, lambda c: not c.isalnum()),
        "json-unicode-upper": _json(secret, lambda c: not c.isalnum(), upper=True),
        "json-unicode-every": _json(secret, lambda _: True),
        "html": "".join(c if c.isalnum() else f"&#{ord(c)};" for c in secret).encode("utf-8", "surrogatepass"),
        "html-hex": "".join(f"&#x{ord(c):X};" for c in secret).encode(),
        "hex": raw.hex().encode(),
        "hex-upper": raw.hex().upper().encode(),
    }
    for offset in range(3):
        forms[f"base64-{offset}"] = _inner_base64(raw, offset)
        forms[f"base64url-{offset}"] = forms[f"base64-{offset}"].translate(bytes.maketrans(b"+/", b"-_"))
    return forms


def _json(secret: str, chosen: Callable[[str], bool], written: str = "", *, upper: bool = False) -> bytes:
    def escape(char: str) -> str:
        units = char.encode("utf-16-be", "surrogatepass")
        codes = [units[i : i + 2].hex() for i in range(0, len(units), 2)]
        return "".join("\\u" + (code.upper() if upper else code) for code in codes)

    return "".join((written or escape(c)) if chosen(c) else c for c in secret).encode("utf-8", "surrogatepass")


def _inner_base64(raw: bytes, offset: int) -> bytes:
    """The part of the base64 text that does not depend on what stands before or after `raw`."""
    encoded = base64.b64encode(bytes(offset) + raw + bytes(3))
    return encoded[(0, 2, 3)[offset] : (offset + len(raw)) * 8 // 6]


@dataclass(frozen=True)
class Needles:
    """What to search for one secret: `loose` in folded lower case, `exact` as written, `short` in unsqueezed text.

    `numeric` are those of them that `without_numbers` could take for numbers.
    """

    loose: tuple[bytes, ...]
    exact: tuple[bytes, ...]
    short: tuple[bytes, ...]
    numeric: tuple[bytes, ...]
    wide: bool

    @classmethod
    def of(cls, secret: str) -> Needles:
        raw = secret.encode("utf-8", "surrogatepass")
        spellings = {raw, raw.replace(b" ", b"+")}
        squeezed = {s.translate(None, _BETWEEN) for s in spellings}
        loose: set[bytes] = set()
        short: set[bytes] = set()
        if min(map(len, squeezed)) >= _LOOSE:
            loose = {s.lower() for s in squeezed} | {raw.hex().encode()}
        elif len(raw) >= _SHORT:
            short = spellings | {raw.hex().encode(), raw.hex().upper().encode()}
        parts = {_inner_base64(raw, i) for i in range(3)} if len(raw) >= 8 else set()
        exact = parts | {p.translate(bytes.maketrans(b"+/", b"-_")) for p in parts}
        numeric = (n for n in loose | short | exact if not n.translate(None, _NUMERIC))
        return cls(tuple(loose), tuple(exact), tuple(short), tuple(numeric), not secret.isascii())


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
        if not _escaped(view.data):
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
        if not _escaped(data):
            return
        after = (_ESCAPE_WIDE if wide else _ESCAPE).sub(_unescape, data)
        if after == data:
            return
        data = after
        yield data


def _escaped(data: bytes) -> bool:
    return b"%" in data or b"\\" in data or b"&" in data


def _unescape(match: re.Match[bytes]) -> bytes:
    kind = match.lastindex or 1
    value = match[kind]
    if kind == _SLASH:
        return value
    if kind == _ENTITY:
        return _ENTITIES[value]
    if b"\\" in value:
        units = bytes.fromhex(value[:4].decode()) + bytes.fromhex(value[-4:].decode())
        return units.decode("utf-16-be", "replace").encode()
    code = int(value, 10 if kind == _DECIMAL else 16)
    if code < 128 or kind == 1:
        return bytes([code])
    return chr(code).encode("utf-8", "surrogatepass") if code <= sys.maxunicode else match[0]


def without_numbers(data: bytes) -> bytes:
    """`data` without the long stretches between quotes that hold numbers only (Keepa's packed arrays)."""
    parts = data.split(b'"')
    return b'"'.join([p if len(p) < 64 or p.translate(None, _NUMERIC) else b"" for p in parts])


def windows(data: bytes, overlap: int = 4096) -> Iterator[tuple[int, bytes]]:
    """Overlapping pieces of `data` with their offsets, so that work on a huge body needs little memory."""
    if len(data) <= WINDOW + overlap:
        yield 0, data
        return
    for at in range(0, len(data), WINDOW):
        yield at, data[at : at + WINDOW + overlap]


def tokens(data: bytes) -> set[bytes]:
    """The long words of `data` that could be base64."""
    return {t for t in data.translate(_TO_TOKENS).split() if len(t) >= _TOKEN}


def holds(data: bytes, needles: Iterable[Needles], nesting: int = 0) -> bool:
    """Whether any spelling of any secret stands in `data` (one window)."""
    needles = tuple(needles)
    if any(x in data for n in needles for x in n.numeric):
        return True
    text = without_numbers(data)
    seen: set[bytes] = set()
    for layer in unescaped(text, wide=any(n.wide for n in needles)):
        squeezed = layer.translate(None, _BETWEEN)
        folded = squeezed.lower()
        for n in needles:
            if any(x in folded for x in n.loose) or any(x in squeezed for x in n.exact):
                return True
            if n.short and any(x in layer for x in n.short):
                return True
        seen |= tokens(layer)
    return nesting < _NESTING and any(_hides(t, needles, nesting) for t in seen)


def spans(data: bytes, needles: Iterable[Needles], nesting: int = 0) -> Iterator[Span]:
    """Every place in `data` where a spelling stands; slow, for data in which `holds` is true."""
    needles = tuple(needles)
    for view in views(data, wide=any(n.wide for n in needles)):
        squeezed = view.rewritten(_BETWEEN_RUN, lambda _: b"")
        folded = squeezed.data.lower()
        for n in needles:
            for needle in n.loose:
                yield from _places(data, squeezed, folded, needle)
            for needle in n.short:
                yield from _places(data, view, view.data, needle)
            for needle in n.exact:
                for start, end in _occurrences(squeezed.data, needle):
                    yield ("base64", *_whole_token(data, *squeezed.span(start, end)))
        for match in _TOKENS.finditer(view.data):
            if nesting < _NESTING and _hides(match[0], needles, nesting):
                yield ("base64-nested", *view.span(*match.span()))


def _places(data: bytes, view: View, text: bytes, needle: bytes) -> Iterator[Span]:
    for found in _occurrences(text, needle):
        start, end = view.span(*found)
        yield form_of(data[start:end], needle), start, end


def _occurrences(text: bytes, needle: bytes) -> Iterator[tuple[int, int]]:
    at = text.find(needle)
    while at >= 0:
        yield at, at + len(needle)
        at = text.find(needle, at + len(needle))


def form_of(written: bytes, needle: bytes) -> str:
    """The name of the spelling `written`."""
    if written.lower() == needle:
        digits = not needle.lower().strip(b"0123456789abcdef")
        return "hex" if digits and len(needle) % 2 == 0 and len(needle) >= 2 * _SHORT else "raw"
    marks = ((b"%25", "percent-double"), (b"%", "percent"), (b"\\", "json"), (b"&", "html"), (b"\0", "utf-16"))
    return next((name for mark, name in marks if mark in written), "folded")


def _whole_token(data: bytes, start: int, end: int) -> tuple[int, int]:
    while start and data[start - 1] in _BASE64:
        start -= 1
    while end < len(data) and data[end] in b"=" + _BASE64:
        end += 1
    return start, end


def _hides(token: bytes, needles: tuple[Needles, ...], nesting: int) -> bool:
    """Whether base64 text holds a secret inside a further encoding (raw ones are found by their invariant part)."""
    text = token.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    for offset in range(4):
        part = text[offset:]
        try:
            plain = base64.b64decode(part[: len(part) - (len(part) % 4 == 1)] + b"===")
        except binascii.Error:
            continue
        if plain[:2] == b"\x1f\x8b" or plain[:1] == b"\x78":
            plain = _inflated(plain)
        elif not _escaped(plain) and not tokens(plain):
            continue
        if holds(plain, needles, nesting + 1):
            return True
    return False


def _inflated(packed: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=47).decompress(packed, _INFLATED)
    except zlib.error:
        return packed

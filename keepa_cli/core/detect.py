"""Where the spellings of a secret stand in bytes.

Bytes are looked at as a chain of views: as they are, then with one layer of percent, JSON and HTML escapes undone after
another. In each view a spelling is searched without the whitespace, backslashes and NULs that folding, escaping and
UTF-16 put between its characters. A place found in a view is mapped back to the bytes it stands in, so any mixture of
escapes is found, and the whole of it can be replaced.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterable, Iterator

from keepa_cli.core.encodings import BETWEEN, SHORT, Needles
from keepa_cli.core.views import BACKSLASH, View, after_escape, is_escaped, unescaped, views, without_numbers

_NESTING = 3
TOKEN = 24
_INNER_TOKEN = 12
_INFLATED = 1 << 20
_BETWEEN_RUN = re.compile(rb"[ \t\r\n\f\v\\\0]+")
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
_TO_TOKENS = bytes(c if c in _BASE64 else 32 for c in range(256))
_SEGMENT = re.compile(rb"[^/]+")
_TOKENS = re.compile(rb"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}")
Span = tuple[str, int, int]
"""A form and the place where it stands."""


def tokens(data: bytes) -> set[bytes]:
    """The long words of `data` that could be base64."""
    return _words(data, TOKEN)


def _words(data: bytes, least: int) -> set[bytes]:
    return {word for word in data.translate(_TO_TOKENS).split() if len(word) >= least}


def holds(data: bytes, needles: Iterable[Needles], nesting: int = 0) -> bool:
    """Whether any spelling of any secret stands in `data` (one window)."""
    needles = tuple(needles)
    if any(x in data for n in needles for x in n.numeric):
        return True
    text = without_numbers(data)
    seen: set[bytes] = set()
    for layer in unescaped(text, wide=any(n.wide for n in needles)):
        squeezed = layer.translate(None, BETWEEN)
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
                    yield ("base64", *_with_edges(data, *squeezed.span(start, end)))
        for place in _nested(view.data, needles, nesting) if nesting < _NESTING else ():
            start, end = view.span(*place)
            yield "base64-nested", after_escape(data, start), end


def _places(data: bytes, view: View, text: bytes, needle: bytes) -> Iterator[Span]:
    for found in _occurrences(text, needle):
        start, end = view.span(*found)
        form = form_of(data[start:end], needle)
        while start and data[start - 1] == BACKSLASH:
            start -= 1
        yield form, start, end


def _occurrences(text: bytes, needle: bytes) -> Iterator[tuple[int, int]]:
    at = text.find(needle)
    while at >= 0:
        yield at, at + len(needle)
        at = text.find(needle, at + len(needle))


def form_of(written: bytes, needle: bytes) -> str:
    """The name of the spelling `written`."""
    if written.lower() == needle:
        digits = not needle.lower().strip(b"0123456789abcdef")
        return "hex" if digits and len(needle) % 2 == 0 and len(needle) >= 2 * SHORT else "raw"
    marks = ((b"%25", "percent-double"), (b"%", "percent"), (b"\\", "json"), (b"&", "html"), (b"\0", "utf-16"))
    return next((name for mark, name in marks if mark in written), "folded")


def _with_edges(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The place of a base64 text with the few characters around it that share bits with the secret."""
    first, last = start - 4, end + 4
    while start > max(first, 0) and data[start - 1] in _BASE64:
        start -= 1
    while end < min(last, len(data)) and data[end] in b"=" + _BASE64:
        end += 1
    return after_escape(data, start), end


def _nested(text: bytes, needles: tuple[Needles, ...], nesting: int) -> Iterator[tuple[int, int]]:
    """The base64 words of `text` that hide a secret; of a path, the part that does."""
    for match in _TOKENS.finditer(text):
        if not _hides(match[0], needles, nesting):
            continue
        parts = [p.span() for p in _SEGMENT.finditer(text, *match.span()) if _hides(p[0], needles, nesting)]
        yield from parts or [match.span()]


def _hides(token: bytes, needles: tuple[Needles, ...], nesting: int) -> bool:
    """Whether base64 text holds a secret inside a further encoding (raw ones are found by their invariant part)."""
    text = token.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    for offset in range(4):
        part = text[offset:]
        try:
            plain = base64.b64decode(part[: len(part) - (len(part) % 4 == 1)] + b"===")
        except binascii.Error:
            continue
        packed = plain.find(b"\x1f\x8b\x08")
        if packed >= 0 or plain[:1] == b"\x78":
            plain = _inflated(plain[max(packed, 0) :])
        elif not is_escaped(plain) and not _words(plain, _INNER_TOKEN):
            continue
        if holds(plain, needles, nesting + 1):
            return True
    return False


def _inflated(packed: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=47).decompress(packed, _INFLATED)
    except zlib.error:
        return packed

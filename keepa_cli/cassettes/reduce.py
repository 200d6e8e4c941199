"""A bounded view of a JSON body: long packed number arrays are checked and shortened before anything is parsed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from keepa_cli.keepa.strictjson import load_json

# No quote is in the class, so a match lies wholly inside or wholly outside a JSON string.
_PACKED = re.compile(rb"\[[\s0-9,.eE+\-]{256,}+\]")
_CODES = re.compile(rb'\[[A-Z0-9",\s]{4096,}+\]')  # ASINs and seller ids; no number array is among them
_PIECE = 1 << 16
_KEPT = 12
_CYCLE = 6  # packed arrays come in pairs and triples: the length keeps its remainder by both
_SUMMARY = -20110101  # marks a summarized array until it is parsed; the value occurs nowhere in Keepa's data


def reduced(data: bytes) -> Any:
    """The JSON value of `data` with long flat arrays shortened. ValueError for what is not strict JSON.

    Every number of a shortened array was parsed: a text passes here only where `load_json` takes it too.
    """
    return load_json(shortened(data))


def shortened(data: bytes) -> bytes:
    """The text of `data` with long arrays of numbers or codes shortened; JSON exactly where `data` is."""
    return _replaced(_replaced(data, _shortened), _first_codes, _CODES)


def summarized(data: bytes) -> Any:
    """Like `reduced`, with each long array replaced by a text that differs whenever the array differs."""
    return _expand(load_json(_replaced(data, _summary)))


def _first_codes(data: bytes, start: int, end: int) -> bytes:
    """The first items of an array that holds texts only. ValueError for any other."""
    head: list[Any] = []
    for _, items in _pieces(data, start, end):
        if not all(isinstance(item, str) for item in items):
            raise ValueError("not only texts")
        head = head or items[:_KEPT]
    return json.dumps(head).encode()


def _replaced(data: bytes, shorten: Callable[[bytes, int, int], bytes], wanted: re.Pattern[bytes] = _PACKED) -> bytes:
    def replace(match: re.Match[bytes]) -> bytes:
        try:
            return shorten(data, *match.span())
        except ValueError:
            return match.group()  # text of a string, or a defect that the parser is about to name

    return wanted.sub(replace, data)


def _pieces(data: bytes, start: int, end: int) -> Iterator[tuple[bytes, list[Any]]]:
    """The text and the numbers between two brackets, a bounded number of bytes at a time."""
    at, stop = start + 1, end - 1
    while at <= stop:
        cut = data.find(b",", at + _PIECE, stop) if stop - at > _PIECE else -1
        cut = stop if cut < 0 else cut
        text = data[at:cut]
        numbers = load_json(b"[" + text + b"]")
        if not numbers:
            raise ValueError("a place without a number")
        yield text, numbers
        at = cut + 1


def _shortened(data: bytes, start: int, end: int) -> bytes:
    head: list[Any] = []
    count = 0
    for _, numbers in _pieces(data, start, end):
        head = head or numbers[: _KEPT + _CYCLE]
        count += len(numbers)
    keep = head[: min(count, _KEPT + count % _CYCLE)]
    return b"[" + b",".join(str(n).encode() for n in keep) + b"]"


def _summary(data: bytes, start: int, end: int) -> bytes:
    digest, count, last = hashlib.sha256(), 0, 0
    for text, numbers in _pieces(data, start, end):
        digest.update(text.translate(None, b" \t\r\n") + b",")
        count, last = count + len(numbers), numbers[-1]
    short = int.from_bytes(digest.digest()[:6], "big")
    return b"[%d,%d,%s,%d]" % (_SUMMARY, count, str(last).encode(), short)


def _expand(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _expand(v) for k, v in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) == 4 and value[0] == _SUMMARY:
        return f"{value[1]} numbers, last {value[2]} ({value[3]:012x})"
    return [_expand(v) for v in value]

"""A JSON body in parts that each fit into little memory, for bodies of any shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from keepa_cli.cassettes.reduce import shortened
from keepa_cli.keepa.strictjson import load_json

_WHOLE = 4 << 20
_PART = 1 << 19
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]', re.DOTALL)
_OBJECT = re.compile(rb"[ \t\r\n]*+\{[ \t\r\n]*+[^} \t\r\n]")
_NAME = re.compile(rb'[ \t\r\n]*+("[^"\\]*+(?:\\.[^"\\]*+)*+")[ \t\r\n]*+:[ \t\r\n]*+', re.DOTALL)
_IDENTITY = ("asin", "domainId", "catId", "sellerId", "categoryId")
_KEPT_ITEMS = 10
_BLANK = b" \t\r\n"
_BLANKS = {b" ", b"\t", b"\r", b"\n"}


@dataclass(frozen=True)
class Part:
    """A body with all small members and some items of one big member. `offset` is the place of the first of them;
    `member` is None where the body is whole."""

    body: Any
    member: str | None = None
    offset: int = 0


def parts(data: bytes) -> Iterator[Part]:
    """The parts of a JSON text, long number arrays shortened. ValueError for what is not strict JSON."""
    text = shortened(data)
    if len(text) <= _WHOLE or not _OBJECT.match(text):
        yield Part(load_json(text))
        return
    small: list[bytes] = []
    big: list[tuple[bytes, int, int]] = []
    for name, start, end in _members(text):
        if end - start > _PART and text[start : start + 1] in b"{[":
            big.append((name, start, end))
        else:
            small.append(name + b":" + text[start:end])
    if not big:
        yield Part(load_json(text))
    for name, start, end in big:
        yield from _split(text, name, start, end, b"".join(member + b"," for member in small))


def outline(data: bytes) -> Any:
    """The body with what tells its request: small members whole, of a big one the identity of its items."""
    found: Any = {}
    for part in parts(data):
        if part.member is None:
            return part.body
        big = part.body.pop(part.member)
        known = found.setdefault(part.member, type(big)())
        found |= part.body
        if isinstance(big, dict):
            known |= {key: _identity(item) for key, item in big.items()}
        else:
            known += [_identity(item) for item in big if isinstance(item, dict) or len(known) < _KEPT_ITEMS]
    return found


def _identity(item: Any) -> Any:
    return {k: item[k] for k in _IDENTITY if k in item} if isinstance(item, dict) else item


def _members(text: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Name, start and end of the value of each member of the outermost object. What a value holds is not checked."""
    at = _skip(text, 0) + 1
    while True:
        name = _NAME.match(text, at)
        if not name:
            raise ValueError(f"not JSON: no name at byte {at}")
        start = name.end()
        end = _value_end(text, start)
        last = _skip(text, end, step=-1) if end > start else end
        yield name[1], start, last
        if text[end : end + 1] != b",":
            break
        at = end + 1
    if text[end : end + 1] != b"}" or text[end + 1 :].strip(_BLANK):
        raise ValueError("not JSON: the body does not end where it should")


def _value_end(text: bytes, start: int) -> int:
    """Where the first comma or bracket after `start` is that belongs to no value."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        if depth == 0 and mark in {b",", b"}", b"]"}:
            return token.start()
        depth += (mark in {b"{", b"["}) - (mark in {b"}", b"]"})
    raise ValueError("not JSON: the text ends too early")


def _skip(text: bytes, at: int, *, step: int = 1) -> int:
    """The next place that is not blank; with `step` -1 the end of the text before `at` without its blanks."""
    while text[at - (step < 0) : at + (step > 0)] in _BLANKS:
        at += step
    return at


def _split(text: bytes, name: bytes, start: int, end: int, rest: bytes) -> Iterator[Part]:
    """The value between `start` and `end`, some items at a time, each time with the members in `rest`."""
    member = load_json(name)
    first, last = text[start : start + 1], text[end - 1 : end]
    offset = 0
    for begin, stop in _groups(text, start, end):
        if not text[begin:stop].strip(_BLANK):
            raise ValueError(f"not JSON: an empty place at byte {begin}")
        body = load_json(b"{" + rest + name + b":" + first + text[begin:stop] + last + b"}")
        count = len(body[member])
        yield Part(body, member, offset)
        offset += count


def _groups(text: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where to cut the items of a container: at a comma between two items, after about _PART bytes."""
    depth, begin = 0, start + 1
    for token in _TOKEN.finditer(text, start, end):
        mark = token[0]
        if mark in {b"{", b"["}:
            depth += 1
        elif mark in {b"}", b"]"}:
            depth -= 1
        elif mark == b"," and depth == 1 and token.start() - begin >= _PART:
            yield begin, token.start()
            begin = token.end()
    yield begin, end - 1

"""JSON text edited in place: members are found by name, and every token that is not replaced stays as written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache

STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
_COLON = rb'"[ \t\r\n]*:[ \t\r\n]*'
_ESCAPED_MEMBER = re.compile(rb'"((?:[^"\\]|\\u[0-9A-Fa-f]{4}){1,128})' + _COLON)
ESCAPED_NAME = rb'\\u00[0-7][0-9A-Fa-f][^"]{0,64}"[ \t\r\n]*:'
"""A member whose name could be spelled with escapes."""
_IS_ESCAPED = re.compile(ESCAPED_NAME)
_BRACKET = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_SCALAR = re.compile(rb"[^,\]}\s]*")
_STEP = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{},:]', re.DOTALL)

Member = tuple[str, int, int]
"""A name and the place of its value."""


def members(data: bytes, names: str) -> Iterator[Member]:
    """The outermost members with one of `names` (a regular expression, any case), each with the place of its value.

    Text that is not JSON, or that ends early, is read as far as it goes.
    """
    at = 0
    for name, start in sorted(_named(data, names), key=lambda found: found[1]):
        if start >= at:
            at = value_end(data, start)
            yield name, start, at


def _named(data: bytes, names: str) -> Iterator[tuple[str, int]]:
    for match in _plain_member(names).finditer(data):
        yield match[1].decode(), match.end()
    if _IS_ESCAPED.search(data):
        wanted = re.compile(names, re.IGNORECASE)
        for match in _ESCAPED_MEMBER.finditer(data):
            if b"\\" in match[1] and wanted.fullmatch(name := decoded(b'"%b"' % match[1])):
                yield name, match.end()


@cache
def _plain_member(names: str) -> re.Pattern[bytes]:
    return re.compile(b'"((?i:' + names.encode() + b"))" + _COLON)


def decoded(token: bytes) -> str:
    """The text of a JSON string token; one that is not valid gives what lies between its quotes."""
    if b"\\" in token:
        try:
            return str(json.loads(token))
        except ValueError:
            pass
    return token[1:-1].decode("utf-8", "replace")


def value_end(data: bytes, start: int) -> int:
    """Where the value that begins at `start` ends."""
    first = data[start : start + 1]
    if first == b'"':
        match = STRING.match(data, start)
        return match.end() if match else len(data)
    if first not in {b"{", b"["}:
        scalar = _SCALAR.match(data, start)
        return scalar.end() if scalar else len(data)
    depth = 0
    for token in _BRACKET.finditer(data, start):
        mark = token[0]
        depth += (mark in {b"{", b"["}) - (mark in {b"}", b"]"})
        if depth == 0:
            return token.end()
    return len(data)


def paths_at(data: bytes, offsets: Iterable[int]) -> dict[int, str]:
    """The JSON path at each offset, such as `$.error.message` or `$.products[3].title`."""
    todo = sorted(set(offsets), reverse=True)
    found: dict[int, str] = {}
    stack: list[str | int] = []
    last = b""
    for token in _STEP.finditer(data):
        while todo and token.start() > todo[-1]:
            found[todo.pop()] = _path(stack)
        if not todo:
            break
        last = _step(stack, token[0], last)
    return found | dict.fromkeys(todo, _path(stack))


def _step(stack: list[str | int], mark: bytes, last: bytes) -> bytes:
    if mark == b"{":
        stack.append("")
    elif mark == b"[":
        stack.append(0)
    elif mark in {b"}", b"]"} and stack:
        stack.pop()
    elif mark == b"," and stack:
        top = stack[-1]
        stack[-1] = top + 1 if isinstance(top, int) else ""
    elif mark == b":" and stack and isinstance(stack[-1], str):
        stack[-1] = decoded(last)
    return mark


def _path(stack: list[str | int]) -> str:
    return "$" + "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in stack if s != "")

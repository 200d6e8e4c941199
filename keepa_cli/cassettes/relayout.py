"""JSON text laid out for diffs: only whitespace moves, every token stays as it was written.

One member or element per line; arrays of plain numbers are packed with a fixed count per line, so that a
changed number touches one line and an appended pair touches the last. Non-ASCII characters inside strings
become \\uXXXX, which is the same JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

WIDTH = 100
VERSION = 1
_DEEPEST_INDENT = 12
_CHUNK = 1 << 16
_PER_LINE = 6  # pairs and triples both end at a line end

_SPACE = b" \t\n\r"
_S = r"[ \t\n\r]*+"
_STRING = r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][-+]?+[0-9]++)?+"
_MEMBER = re.compile(
    rf"{_S}(?:({_STRING}){_S}:{_S})?+"  # 1: key
    r"(?:"
    r'(\[)[^\[\]{}"]*+()\]'  # 2, 3: an array without strings and nesting: behind its start, before its end
    rf"|({_STRING}|(?:{_NUMBER}|true|false|null)(?![\w.+-])|\{{{_S}\}})"  # 4: any other value on one line
    r"|([{\[])"  # 5: open
    r"|([}\]])"  # 6: close
    rf"){_S}(,)?+{_S}".encode("ascii")  # 7: comma
)
_FIRST, _NEXT, _LAST = range(3)  # just opened, behind a comma, behind a value without a comma


class NotJson(ValueError):
    """The text is not strict JSON with a container at its top."""


def relayout(text: str) -> str:
    """`text` laid out anew when it is a JSON object or array; anything else comes back unchanged."""
    try:
        return b"\n".join(lines(text.encode())).decode("ascii")
    except (NotJson, UnicodeEncodeError):
        return text


def lines(body: bytes) -> Iterator[bytes]:
    """The laid-out lines of a JSON body in UTF-8, without line ends. Raises NotJson, possibly after some lines."""
    if body.lstrip(_SPACE)[:1] not in (b"{", b"["):
        raise NotJson("not an object or array")
    ascii_only = body.isascii() and b"\x7f" not in body
    stack: list[bytes] = []
    state, indent = _FIRST, b""
    for match in _members(body):
        key, packed, _, value, opened, closed, comma = match.groups(b"")
        if closed:
            if key or state != _LAST or not stack or stack.pop() + closed not in (b"{}", b"[]"):
                raise NotJson(f"unexpected {closed.decode()} at byte {match.start(6)}")
            indent = _indent(stack)
            yield indent + closed + comma
        elif state == _LAST or bool(key) != (stack[-1:] == [b"{"]):
            raise NotJson(f"unexpected text at byte {match.start()}")
        else:
            start = indent + (key if ascii_only else _ascii(key)) + b": " if key else indent
            if value:
                yield start + (b"{}" if value[:1] == b"{" else value if ascii_only else _ascii(value)) + comma
            elif packed:
                yield from _packed(start + b"[", indent, b"]" + comma, body, match.end(2), match.start(3))
            else:
                stack.append(opened)
                indent = _indent(stack)
                yield start + opened
        state = _FIRST if opened else _NEXT if comma else _LAST
        if (not stack and state == _NEXT) or (opened and comma):
            raise NotJson("a comma where none belongs")
    if stack or state != _LAST:
        raise NotJson("the text ends too early")


def _indent(stack: list[bytes]) -> bytes:
    return b" " * min(len(stack), _DEEPEST_INDENT)


def _members(body: bytes) -> Iterator[re.Match[bytes]]:
    at, size, scan = 0, len(body), _MEMBER.match
    while at < size:
        match = scan(body, at)
        if match is None:
            raise NotJson(f"unexpected text at byte {at}")
        yield match
        at = match.end()


def _packed(start: bytes, indent: bytes, end: bytes, body: bytes, first: int, last: int) -> Iterator[bytes]:
    """An array of plain values: on one line when it fits or is empty, else a fixed count per line."""
    longest = total = 0
    for items in _chunks(body, first, last):
        _check(items)
        longest = max(longest, *map(len, items))
        total += sum(map(len, items)) + len(items)
    if not total or len(start) + total + 1 <= WIDTH:
        yield start + b",".join(item for items in _chunks(body, first, last) for item in items) + end
        return
    yield start
    yield from _rows(_chunks(body, first, last), (indent + b" ")[:_DEEPEST_INDENT], longest)
    yield indent + end


def _ascii(token: bytes) -> bytes:
    if token.isascii() and b"\x7f" not in token:
        return token
    try:
        text = token.decode()
    except UnicodeDecodeError:
        raise NotJson("not UTF-8") from None
    return re.sub(r"[^\x00-\x7e]", lambda m: _escape(m[0]), text).encode("ascii")


def _escape(char: str) -> str:
    return "\\u007f" if char == "\x7f" else json.dumps(char)[1:-1]


def _chunks(body: bytes, start: int, end: int) -> Iterator[list[bytes]]:
    """The elements between two brackets, a bounded number at a time."""
    while start < end:
        cut = end if end - start <= _CHUNK else body.find(b",", start + _CHUNK, end)
        cut = end if cut < 0 else cut
        piece = body[start:cut]
        if cut == end and not piece.strip(_SPACE):
            if body[start - 1 : start] == b",":
                raise NotJson("a comma before a bracket")
            return
        yield [item.strip(_SPACE) for item in piece.split(b",")]
        start = cut + 1
        if start == end:
            raise NotJson("a comma before a bracket")


def _check(items: list[bytes]) -> None:
    try:
        text = (b"[" + b",".join(items) + b"]").decode("ascii")
        json.loads(text, parse_int=bool, parse_float=bool, parse_constant=_refuse)
    except ValueError as error:
        raise NotJson(str(error)) from None


def _refuse(name: str) -> None:
    raise NotJson(f"{name} is not JSON")


def _rows(chunks: Iterator[list[bytes]], indent: bytes, longest: int) -> Iterator[bytes]:
    count = max(1, (WIDTH - len(indent)) // (longest + 1))
    if count > _PER_LINE:
        count -= count % _PER_LINE
    row: list[bytes] = []
    for items in chunks:
        row += items
        full = (len(row) - 1) // count * count  # the last row waits: it ends without a comma
        for at in range(0, full, count):
            yield indent + b",".join(row[at : at + count]) + b","
        row = row[full:]
    yield indent + b",".join(row)

"""The cassette file as ASCII YAML, written piece by piece so that a big body is never held twice."""

from __future__ import annotations

import base64
import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from keepa_cli.cassettes import relayout
from keepa_cli.cassettes.model import Exchange

_BATCH = 1 << 16
_WHOLE = 1 << 20
_LONGEST_KEY = 500
_PLAIN = re.compile(r"[A-Za-z/](?:[\w./?&=%+,;~@*()-]|:(?=\S)| (?=[\w(/*]))*+", re.ASCII)
_NOT_TEXT = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
_LITERAL = bytes([*range(0x20, 0x7F), 0x0A, 0x09])
_CONTROLS = bytes(n for n in range(0x20) if n not in (0x09, 0x0A, 0x0D))
_PIECE = re.compile(rf"[^\n]{{0,{relayout.WIDTH - 1}}}\n|[^\n]{{1,{relayout.WIDTH}}}")
_UNSAFE = re.compile(r"[^ !#-\[\]-~]")
_NAMED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def write(exchanges: Iterable[Exchange], version: int) -> Iterator[bytes]:
    return _batched(_file(exchanges, version))


def _batched(pieces: Iterator[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= _BATCH:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)


def _file(exchanges: Iterable[Exchange], version: int) -> Iterator[bytes]:
    first = True
    for exchange in exchanges:
        if first:
            yield b"interactions:\n"
        first = False
        yield from _interaction(exchange)
    if first:
        yield b"interactions: []\n"
    yield b"version: %d\n" % version


def _interaction(exchange: Exchange) -> Iterator[bytes]:
    yield b"- request:\n    body:"
    yield from body(exchange.request_body, 4, plain=True) if exchange.request_body else (b" null\n",)
    yield from headers(exchange.request_headers, 4)
    yield f"    method: {scalar(exchange.method)}\n    uri: {scalar(exchange.url)}\n".encode("ascii")
    yield b"  response:\n    body:\n      string:"
    yield from body(exchange.body, 6)
    yield from headers(exchange.headers, 4)
    yield f"    status:\n      code: {exchange.status}\n      message: {scalar(exchange.reason)}\n".encode("ascii")


def headers(values: Mapping[str, Any], indent: int) -> Iterator[bytes]:
    pad = " " * indent
    if not values:
        yield f"{pad}headers: {{}}\n".encode("ascii")
        return
    yield f"{pad}headers:\n".encode("ascii")
    for name in sorted(values):
        key = scalar(name)
        start = f"{pad}  {key}:" if len(key) <= _LONGEST_KEY else f"{pad}  ? {key}\n{pad}  :"
        if not values[name]:
            yield f"{start} []\n".encode("ascii")
            continue
        items = "".join(f"\n{pad}  - {scalar(value)}" for value in values[name])
        yield f"{start}{items}\n".encode("ascii")


def scalar(text: str) -> str:
    """`text` on one line: plain where YAML reads it as the same text, else quoted."""
    if _PLAIN.fullmatch(text) and text.lower() not in _NOT_TEXT:
        return text
    if text.isascii() and text.isprintable() and "'" not in text:
        return f"'{text}'"
    return '"' + "".join(map(_escape, text)) + '"'


def _escape(char: str) -> str:
    code = ord(char)
    if char in _NAMED:
        return _NAMED[char]
    if 0x20 <= code < 0x7F:
        return char
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def body(data: bytes, indent: int, *, plain: bool = False) -> Iterator[bytes]:
    """The value after a key at column `indent`: JSON laid out (unless `plain`), other text as it is, else base64."""
    pad = b" " * (indent + 2)
    laid_out = None if plain else _json_lines(data)
    if laid_out is not None:
        yield b" |-\n"
        for line in laid_out:
            yield pad + line + b"\n"
    elif not data:
        yield b" ''\n"
    elif data.strip() and not data.translate(None, _LITERAL):
        yield from _literal(data, pad)
    elif _is_text(data):
        yield from _quoted(data, pad)
    else:
        yield b" !!binary |\n"
        for at in range(0, len(data), 57):
            yield pad + base64.b64encode(data[at : at + 57]) + b"\n"


def _json_lines(data: bytes) -> Iterable[bytes] | None:
    """Laid-out lines, or None when `data` is not JSON. A big body is checked first and then laid out again."""
    try:
        if len(data) <= _WHOLE:
            return list(relayout.lines(data))
        for _ in relayout.lines(data):
            pass
        return relayout.lines(data)
    except relayout.NotJson:
        return None


def _literal(data: bytes, pad: bytes) -> Iterator[bytes]:
    hint = b"2" if data[:1] in b" \t\n" else b""
    chomp = b"+" if data.endswith(b"\n\n") else b"" if data.endswith(b"\n") else b"-"
    yield b" |" + hint + chomp + b"\n"
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield (pad + data[start:end] if end > start else b"") + b"\n"
        start = end + 1


def _is_text(data: bytes) -> bool:
    if len(data.translate(None, _CONTROLS)) != len(data):
        return False
    try:
        for _ in _decoded(data):
            pass
    except UnicodeDecodeError:
        return False
    return True


def _decoded(data: bytes) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    for at in range(0, len(data), _BATCH):
        yield decoder.decode(data[at : at + _BATCH], final=at + _BATCH >= len(data))


def _quoted(data: bytes, pad: bytes) -> Iterator[bytes]:
    """A double-quoted text, broken after each line end and inside long lines."""
    joint = b' "'
    for text in _decoded(data):
        for piece in _PIECE.findall(text):
            lead = "\\" + piece[0].replace("\t", "t") if piece[0] in " \t" else ""
            yield joint + (lead + _UNSAFE.sub(_escaped, piece[1:] if lead else piece)).encode("ascii")
            joint = b"\\\n" + pad
    yield b'"\n'


def _escaped(match: re.Match[str]) -> str:
    return _escape(match[0])

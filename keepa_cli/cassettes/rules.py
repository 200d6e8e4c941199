"""What a cassette must not hold beside the key: account data, personal data of sellers, addresses for notifications."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keepa_cli.core.redact import REDACTED, SECRET_FIELDS, URL_MARK, is_marked
from keepa_cli.core.views import after_escape, unescaped, views, windows, without_numbers

PERSONAL_FIELDS = "businessName|tradeNumber|vatID|phoneNumber|representative|email|address|customerServicesAddress"
WEBHOOK_FIELDS = r"webhook\w{0,40}"
PERSONAL = f"{PERSONAL_FIELDS}|{WEBHOOK_FIELDS}"
NAMED = f"{SECRET_FIELDS}|{PERSONAL}"

MARK = REDACTED.encode()
_JSON_MARK = b'"' + MARK + b'"'
_EMPTY = {b"null", b'""', b"true", b"false"}

_EMAIL = re.compile(rb"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]{1,63}\.){1,8}([A-Za-z]{2,24})")
_NO_TLD = {b"png", b"jpg", b"jpeg", b"gif", b"webp", b"svg", b"css", b"js", b"json", b"yaml", b"md", b"py"}
_URL = re.compile(rb"(?i)https?://[^\s\"'<>\\()]+")
_WEBHOOK = re.compile(
    rb"(?i)(?!https?://(?:[\w-]+\.)*keepa\.com(?:[/:?#]|\Z))(?:.*webhook|https?://(?:[^/]*\.)?hooks?\.)"
)
_ELEMENT = re.compile(
    rb"(?i)<(" + SECRET_FIELDS.encode() + rb")(?: [^<>]{0,200})?>\s{0,200}([^<\"\s][^<\"\r\n]{0,2000})\s{0,200}</"
)
_PART = re.compile(
    rb"name=\"?(?i:" + SECRET_FIELDS.encode() + rb")\"?[^\r\n]{0,200}\r?\n(?:[^\r\n]{1,200}\r?\n){0,8}\r?\n([^\r\n]+)"
)
_HEADER_WORDS = (b"cookie", b"authorization", b"x-api-key")
_NAME = rb"(?:(set-cookie2?|cookie)|(?:proxy-)?authorization|x-api-key)"
NOT_MARKED = b"(?!" + re.escape(MARK) + b")"
_VALUE = rb"([^\s\"'\[\]{},-][^\r\n\"']*)"
_HEADERS = (
    re.compile(
        rb"(?im)^[ \t]*[\"']?" + _NAME + rb"[\"']?:\s*(?:-\s*)?" + NOT_MARKED + rb"\[?[\"']?" + NOT_MARKED + _VALUE
    ),
    re.compile(rb"(?i)\"" + _NAME + rb"\"\s*:\s*\[?\s*\"" + _VALUE),
    re.compile(rb"(?i)\"name\"\s*:\s*\"" + _NAME + rb"\"\s*,\s*\"value\"\s*:\s*\"" + _VALUE),
)

Place = tuple[str, int, int]
"""A rule and the place of what it found."""


def patterns(data: bytes) -> Iterator[Place]:
    """E-mail addresses and webhook URLs anywhere in `data`, also inside escapes."""
    for at, window in windows(data):
        text = without_numbers(window)
        if not any(True for layer in unescaped(text) for _ in _in_layer(layer)):
            continue
        for view in views(window):
            for rule, start, end in _in_layer(view.data):
                begin, stop = view.span(start, end)
                yield rule, at + after_escape(window, begin), at + stop


def _in_layer(layer: bytes) -> Iterator[Place]:
    if b"@" in layer:
        for match in _EMAIL.finditer(layer):
            if match[1].lower() not in _NO_TLD:
                yield "email", *match.span()
    if b"hook" in layer.lower():
        for match in _URL.finditer(layer):
            if _WEBHOOK.match(match[0]):
                yield "webhook_url", *match.span()


def is_webhook(url: str) -> bool:
    """Whether a URL is one that someone gave to be notified at."""
    return any(rule == "webhook_url" for rule, _, _ in _in_layer(url.encode("utf-8", "surrogatepass")))


def markup(data: bytes) -> Iterator[Place]:
    """Secret values in XML elements, multipart forms and header lines, wherever such things are quoted in a text."""
    for pattern, group in ((_ELEMENT, 2), (_PART, 1)):
        for match in pattern.finditer(data):
            if not is_marked(match[group]):
                yield "secret_field", *match.span(group)
    yield from header_lines(data)


def header_lines(data: bytes) -> Iterator[Place]:
    """Cookies and credentials in header lines of YAML, JSON, HAR and plain texts."""
    if not any(_names_headers(piece) for _, piece in windows(data)):
        return
    for pattern in _HEADERS:
        for match in pattern.finditer(data):
            yield "cookie_header" if match[1] else "credentials_header", *match.span(2)


def _names_headers(piece: bytes) -> bool:
    folded = without_numbers(piece).lower()
    return any(word in folded for word in _HEADER_WORDS)


def secret_put(value: bytes) -> bytes | None:
    """What takes the place of the JSON value of a secret-named member; None where it may stay."""
    return None if not value or value == b"null" or _is_mark(value) else _JSON_MARK


def personal_put(value: bytes) -> bytes | None:
    """The same for personal data: of the same JSON type, so that the body still fits its schema."""
    if not value or value in _EMPTY or _is_mark(value):
        return None
    if value[:1] == b'"':
        return _JSON_MARK
    if value[:1] in {b"[", b"{"}:
        return _emptied(value)
    return b"0" if value[:1] in b"-0123456789" and len(value) >= 5 else None


def _emptied(value: bytes) -> bytes | None:
    opened, closed, put = (b"[", b"]", b"[" + _JSON_MARK + b"]") if value[:1] == b"[" else (b"{", b"}", b"{}")
    inner = value[1:].removesuffix(closed).strip()
    if not inner:
        return None if value.endswith(closed) else opened + closed
    return None if _is_mark(inner) else put


def _is_mark(value: bytes) -> bool:
    return len(value) <= len(URL_MARK) + 2 and is_marked(value)

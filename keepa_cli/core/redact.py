"""The one redactor: by value in every encoding, and by name in every structure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from keepa_cli.core import detect, jsontext
from keepa_cli.core.encodings import Needles, encoded_forms
from keepa_cli.core.views import after_escape, unescaped, views, windows, without_numbers

__all__ = ["REDACTED", "SECRET_NAMES", "Redactor", "encoded_forms", "is_secret_name"]

REDACTED = "[REDACTED]"
SECRET_NAMES = frozenset({"key", "api_key", "apikey", "token", "authorization"})
SECRET_HEADERS = frozenset({"x-api-key", "api-key", "cookie", "set-cookie", "proxy-authorization"})
URL_MARK = quote(REDACTED, safe="").encode()
"""The mark inside stored URLs: brackets would be re-encoded by clients, and the request would match no more."""
_MARK = REDACTED.encode()
_MARKS = {_MARK, URL_MARK, URL_MARK.replace(b"%5B", b"%5b").replace(b"%5D", b"%5d")}

SECRET_FIELDS = "|".join(sorted((*SECRET_NAMES, *SECRET_HEADERS), key=len, reverse=True))
"""The names as a regular expression."""
_VARIABLE = re.compile(rb"\$\{?[A-Z][A-Z0-9_]{0,40}\}?")
_ENDINGS = tuple(name.encode() for name in SECRET_NAMES | SECRET_HEADERS)
_LONGEST = max(map(len, _ENDINGS))
_PARAMETER = re.compile(rf"(?i)(?:^|[?&;#\s\"'(,{{])({SECRET_FIELDS})=([^&;#\s\"'<>\\)]+)".encode())
_HEADER = re.compile(
    rb"(?i)\b((?:proxy-)?authorization|x-api-key|api-?key|api_key|(?:set-)?cookie)[ \t]*:[ \t]*"
    rb"([^\s\"'\[][^\r\n\"']*)"
)
_BEARER = re.compile(rb"(?i)\b(bearer|basic)[ \t]+([A-Za-z0-9._~+/-]{8,}=*)")
_PROSE = re.compile(rb"(?i)\b(key|token)[ \t]*:[ \t]*([A-Za-z0-9._~+/-]{16,}=*)")
_QUOTED = re.compile(rf"(?i)(['\"])(?:{SECRET_FIELDS})\1[ \t]*:[ \t]*((['\"])[^'\"\r\n]*\3|[^\s,}}\[{{'\"]+)".encode())
_USERINFO = re.compile(rb"(?i)\b[a-z][a-z0-9+.-]{0,20}://([^/?#\s@\"'<>]{1,512})@")
_HINT_WORDS = ("key", "token", "authorization", "cookie", "bearer", "basic")
_HINT = re.compile(rf"(?i){'|'.join(_HINT_WORDS)}|://[^/?#\s@\"'<>]{{1,512}}@".encode())
_MOST_NAMES = 4096
PLAIN_TYPES = frozenset({int, float, bool, type(None)})


def is_secret_name(name: object) -> bool:
    return isinstance(name, str) and name.strip().lower() in SECRET_NAMES | SECRET_HEADERS


class Redactor:
    """Knows the configured secrets; everything that leaves the program goes through one of its methods."""

    def __init__(self, *secrets: str) -> None:
        self.secrets: list[str] = []
        self._needles: list[Needles] = []
        self._shortest = 0
        self._plain: set[str] = set()
        for secret in secrets:
            self.add_secret(secret)

    def __repr__(self) -> str:
        return f"Redactor({len(self.secrets)} secrets)"

    def add_secret(self, secret: str) -> None:
        self._plain = set()
        for spelling in (secret, secret.strip()):
            if spelling and spelling not in self.secrets:
                self.secrets.append(spelling)
                self._needles.append(Needles.of(spelling))
        self._shortest = min((len(s.encode("utf-8", "surrogatepass")) for s in self.secrets), default=0)
        self._shortest = min(self._shortest, detect.TOKEN)

    def with_secrets(self, *secrets: str) -> Redactor:
        """A redactor that knows these as well; this one is left as it is."""
        return Redactor(*self.secrets, *secrets)

    def find(self, data: bytes) -> list[str]:
        """The names of the forms in which a configured secret stands in `data`."""
        return sorted({form for form, _, _ in self.places(data)})

    def places(self, data: bytes) -> Iterator[detect.Span]:
        """Each form of a configured secret in `data` with its place."""
        if not self._needles or len(data) < self._shortest:
            return
        overlap = max(4096, 64 * max(map(len, self.secrets)))
        for at, window in windows(data, overlap):
            if detect.holds(window, self._needles):
                found = False
                for form, start, end in detect.spans(window, self._needles):
                    found = True
                    yield form, at + start, at + end
                if not found:
                    yield "nested", at, at + len(window)

    def values(self, data: bytes, mark: bytes = _MARK) -> bytes:
        """`data` with every form of every configured secret replaced; the same object when there is none."""
        for _ in range(4):
            edits = [(start, end, mark) for _, start, end in self.places(data)]
            if not edits:
                return data
            data = replaced(data, edits)
        return mark

    def body(self, data: bytes) -> bytes:
        """A body without secrets, neither by value nor by name; the same object when nothing had to change."""
        data = self.values(data)
        edits = [
            (start, end, b'"' + _MARK + b'"')
            for _, start, end in jsontext.members(data, SECRET_FIELDS)
            if data[start:end] not in {b"null", b'"' + _MARK + b'"'}
        ]
        return parameters_redacted(replaced(data, edits))

    def text(self, text: str) -> str:
        """A message, log line or exception text without secrets."""
        if not self._needles and not _may_tell(text):
            return text
        raw = text.encode("utf-8", "surrogatepass")
        data = self.values(raw)
        if _HINT.search(data):
            data = parameters_redacted(data)
            for pattern in (_HEADER, _BEARER, _PROSE, _QUOTED):
                data = _grouped(pattern, data, 2)
            data = _grouped(_USERINFO, data, 1)
        return text if data == raw else data.decode("utf-8", "surrogatepass")

    def url(self, url: str) -> str:
        """A URL to show: the values of secret parameters, credentials and every configured secret replaced."""
        return self.text(url)

    def redact_then_cut(self, text: str, limit: int) -> str:
        """The first `limit` characters of the redacted text: cutting first would let a piece of a secret through."""
        clean = self.text(text)
        return clean if len(clean) <= limit else clean[: max(limit - 1, 0)] + "…"

    def data(self, value: Any) -> Any:
        """A copy of a JSON-like structure without secrets. Depth and cycles are no limit; number lists are shared."""
        top: list[Any] = [value]
        copies: dict[int, Any] = {}
        todo: list[tuple[Any, Any, bool]] = [(top, top, False)]
        while todo:
            source, copy, schema = todo.pop()
            items = list(source.items()) if isinstance(source, dict) else list(enumerate(source))
            plain = self._plain
            for name, item in items:
                if name in plain or not isinstance(name, str):
                    kind = type(item)
                    if kind in PLAIN_TYPES:
                        copy[name] = item
                    elif kind is str:
                        copy[name] = self.text(item)
                    else:
                        copy[name] = self._copied(item, copies, todo, name)
                    continue
                key = self._name(name)
                if is_secret_name(name) and item is not None and not (schema and isinstance(item, dict)):
                    copy[key] = REDACTED
                    continue
                copy[key] = self._copied(item, copies, todo, name)
        return top[0]

    def _name(self, name: str) -> str:
        """A key without secrets. Names come again and again: which of them are harmless is remembered."""
        plain = self._plain  # another one once a secret is added meanwhile
        key = self.text(name)
        if key == name and not is_secret_name(name) and len(plain) < _MOST_NAMES:
            plain.add(name)
        return key

    def _copied(self, item: Any, copies: dict[int, Any], todo: list[tuple[Any, Any, bool]], name: Any) -> Any:
        if isinstance(item, str):
            return self.text(item)
        if isinstance(item, bytes):
            return self.body(item)
        if isinstance(item, dict):
            copy: Any = {}
        elif isinstance(item, list | tuple):
            if PLAIN_TYPES.issuperset(map(type, item)):
                return item
            copy = [None] * len(item)
        else:
            return item
        if id(item) not in copies:
            copies[id(item)] = copy
            todo.append((item, copy, name == "properties"))
        return copies[id(item)]


def _may_tell(text: str) -> bool:
    """False for most texts, ten times as fast as a regular expression: nothing in them can name or hold a secret."""
    low = text.lower()
    for word in _HINT_WORDS:
        if word in low:
            return True
    return "://" in low and "@" in low


def replaced(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """`data` with each place replaced; overlapping places become one. The same object when there is nothing to do."""
    if not edits:
        return data
    parts: list[bytes | memoryview] = []
    view = memoryview(data)
    at = 0
    for start, end, put in sorted(edits):
        if start >= at:
            parts += (view[at:start], put)
        at = max(at, end)
    return b"".join([*parts, view[at:]])


def secret_parameters(data: bytes) -> Iterator[tuple[int, int]]:
    """The values of secret-named query parameters in `data`, also in escaped URLs; redacted ones are left out."""
    if b"=" not in data and b"%3" not in data and b"\\u003" not in data and b"&#" not in data:
        return
    for at, window in windows(data):
        text = without_numbers(window)
        if not any(map(_names_parameter, unescaped(text))):
            continue
        for view in views(window):
            for match in _PARAMETER.finditer(view.data):
                if not is_marked(match[2]):
                    start, end = view.span(*match.span(2))
                    yield at + after_escape(window, start), at + end


def _names_parameter(layer: bytes) -> bool:
    """A fast look: does a secret name stand before any equals sign?"""
    return any(part[-_LONGEST:].lower().endswith(_ENDINGS) for part in layer.split(b"=")[:-1])


def parameters_redacted(data: bytes, mark: bytes = _MARK) -> bytes:
    return replaced(data, [(start, end, mark) for start, end in secret_parameters(data)])


def is_marked(value: bytes) -> bool:
    """Whether `value` holds the mark, as it is or as URLs hold it, or names a variable as examples do."""
    return any(mark in value for mark in _MARKS) or bool(_VARIABLE.fullmatch(value))


def _grouped(pattern: re.Pattern[bytes], data: bytes, group: int) -> bytes:
    def put(match: re.Match[bytes]) -> bytes:
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        whole = match[0]
        return whole if is_marked(whole[start:end]) else whole[:start] + _MARK + whole[end:]

    return pattern.sub(put, data)

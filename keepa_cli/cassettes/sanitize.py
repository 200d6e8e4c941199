"""An exchange as it may be stored: what is not needed is dropped, what must not be known is replaced, the rest is kept.

JSON bodies are edited in place, so big numbers, `1.10`, repeated names and their order stay as they were received.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import unquote_plus

from keepa_cli.cassettes import content, rules
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.urls import split_query, stored_url
from keepa_cli.core import jsontext
from keepa_cli.core.redact import REDACTED, Redactor, is_marked, is_secret_name, replaced, secret_parameters
from keepa_cli.keepa.wire import BASE_URL

SANITIZER_VERSION = "1"

KEPT_REQUEST_HEADERS = frozenset({"accept", "content-type", "user-agent"})
KEPT_HEADERS = frozenset({"content-type", "retry-after", "location", "date"})
USER_AGENT = "keepa-cli"
_MARK = REDACTED.encode()
_NESTING = 4
_PASSES = 6
_T = TypeVar("_T", str, bytes)
_OWN_SECRET = 16
_ESCAPED_NAME = re.compile(rb'\\"(?:(?i:' + rules.NAMED.encode() + rb"))\\")
_MOMENTS = {"retry-after", "date"}
_BODILESS = {204, 304}


def sanitize(exchange: Exchange, redactor: Redactor) -> tuple[Exchange, dict[str, int]]:
    """`exchange` without secrets and personal data, and how often each rule had something to do.

    Never raises: an exchange that cannot be understood becomes an empty one with a marked body.
    """
    try:
        scrub = _Scrub(redactor.with_secrets(*_own_secrets(exchange)))
        return scrub.exchange(exchange), {rule: n for rule, n in sorted(scrub.counts.items()) if n}
    except Exception:  # noqa: BLE001 - a recording is never lost to a body that nobody foresaw
        return Exchange("GET", BASE_URL + "/", {}, b"", 599, "", {"Content-Length": [str(len(_MARK))]}, _MARK), {
            "opaque": 1
        }


class _Scrub:
    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self.counts: Counter[str] = Counter()

    def exchange(self, old: Exchange) -> Exchange:
        method = self.text(_text(old.method))
        if method != _text(old.method):
            method = "GET"
        sent = self.body(_bytes(old.request_body), old.request_headers)
        body = self.body(_bytes(old.body), old.headers)
        status = old.status if type(old.status) is int and 100 <= old.status <= 599 else 599
        headers = self.headers(old.headers, KEPT_HEADERS)
        if status not in _BODILESS and status >= 200 and method.upper() != "HEAD":
            headers["Content-Length"] = [str(len(body))]
        return Exchange(
            method=method,
            url=_settled(lambda url: stored_url(url, self.redactor, self.counts), _text(old.url)),
            request_headers=self.headers(old.request_headers, KEPT_REQUEST_HEADERS),
            request_body=sent,
            status=status,
            reason=self.text(_text(old.reason)),
            headers=headers,
            body=body,
        )

    def text(self, text: str) -> str:
        return _settled(self.text_once, text)

    def text_once(self, text: str) -> str:
        clean = self.redactor.text(text)
        self.counts["value"] += clean != text
        data = clean.encode("utf-8", "surrogatepass")
        read = self.readable(data)
        return clean if read is data else read.decode("utf-8", "surrogatepass")

    def headers(self, headers: Mapping[str, Any], kept: frozenset[str]) -> dict[str, list[str]]:
        out: dict[str, list[str]] = {}
        for name, values in (headers or {}).items():
            lower = _text(name).lower()
            if lower not in kept:
                self.counts["header"] += lower not in {"content-length", "content-encoding"}
                continue
            many = [value for value in (self.header(lower, _text(v)) for v in _many(values)) if value is not None]
            if many:
                out.setdefault(_text(name), []).extend(many)
        return out

    def header(self, name: str, value: str) -> str | None:
        """The value to keep; None for a moment or a delay that was none."""
        if name == "user-agent":
            return USER_AGENT
        if name == "location":
            return _settled(lambda url: stored_url(url, self.redactor, self.counts, relative=True), value.strip())
        clean = self.text(value)
        return clean if clean == value or name not in _MOMENTS else None

    def body(self, body: bytes, headers: Mapping[str, Any]) -> bytes:
        if not body:
            return b""
        named = {_text(name): [_text(v) for v in _many(values)] for name, values in (headers or {}).items()}
        try:
            plain = content.decoded(body, content.header(named, "content-encoding"))
            return _settled(self.plain, plain)
        except content.Undecodable:
            self.counts["opaque"] += 1
            return _MARK

    def plain(self, body: bytes) -> bytes:
        """A body without its codings. A packed one that nobody announced stays as it is when it holds nothing bad."""
        if body[:3] == content.GZIP:
            clean, counts = self._tried(content.gunzipped(body))
            if not counts:
                return body
            self.counts.update(counts)
            return clean
        wide = self.wide(body)
        if wide is not None:
            return wide
        if content.is_text(body):
            return self.readable(body)
        return self.binary(body)

    def wide(self, body: bytes) -> bytes | None:
        """A body in UTF-16 or UTF-32; None for any other, also one that only looks like it."""
        found = content.wide_text(body)
        if not found:
            return None
        plain = found[0].encode("utf-8", "surrogatepass")
        clean = self.readable(plain)
        out = body if clean is plain else clean.decode("utf-8", "surrogatepass").encode(found[1], "surrogatepass")
        return None if self._bad(out) else out

    def _tried(self, body: bytes) -> tuple[bytes, Counter[str]]:
        other = _Scrub(self.redactor)
        return other.plain(body), +other.counts

    def picture(self, body: bytes) -> bytes:
        """A PNG without the texts that tell something. Its pixels stay: an address in them is chance."""
        clean = content.without_png_texts(body, self._tells)
        self.counts["picture_text"] += clean != body
        held = any(map(self.redactor.find, (clean, *content.streams(clean))))
        if held or self._tells(content.beside_pixels(clean)):
            self.counts["opaque"] += 1
            return _MARK
        return clean

    def _tells(self, data: bytes) -> bool:
        return self._bad(data) or next(rules.patterns(data), None) is not None

    def binary(self, body: bytes) -> bytes:
        if content.is_picture(body):
            return self.picture(body)
        clean = self.readable(body)
        if any(map(self._bad, content.streams(clean))):
            self.counts["opaque"] += 1
            return _MARK
        return clean

    def _bad(self, data: bytes) -> bool:
        return bool(self.redactor.find(data)) or next(secret_parameters(data), None) is not None

    def readable(self, body: bytes) -> bytes:
        """A text (or unknown bytes): configured values, named members, parameters, addresses."""
        clean = self.redactor.values(body)
        self.counts["value"] += clean is not body
        clean = self.nested(self.members(clean), _NESTING)
        edits = [(start, end, _MARK) for start, end in secret_parameters(clean)]
        self.counts["secret_parameter"] += len(edits)
        for rule, start, end in (*rules.markup(clean), *rules.patterns(clean)):
            self.counts[rule] += 1
            edits.append((start, end, _MARK))
        return replaced(clean, edits)

    def members(self, body: bytes) -> bytes:
        edits: list[tuple[int, int, bytes]] = []
        for name, start, end in jsontext.members(body, rules.NAMED):
            secret = is_secret_name(name)
            put = (rules.secret_put if secret else rules.personal_put)(body[start:end])
            if put is not None:
                self.counts["secret_field" if secret else "personal_data"] += 1
                edits.append((start, end, put))
        return replaced(body, edits)

    def nested(self, body: bytes, depth: int) -> bytes:
        """JSON inside JSON strings, such as Keepa's `error.details`."""
        if not depth or not _ESCAPED_NAME.search(body):
            return body
        edits: list[tuple[int, int, bytes]] = []
        for token in jsontext.STRING.finditer(body):
            if b'\\"' not in token[0]:
                continue
            plain = jsontext.decoded(token[0]).encode("utf-8", "surrogatepass")
            clean = self.nested(self.members(plain), depth - 1)
            if clean is not plain:
                edits.append((*token.span(), json.dumps(clean.decode("utf-8", "surrogatepass")).encode()))
        return replaced(body, edits)


def _settled(clean: Callable[[_T], _T], value: _T) -> _T:
    """`value` cleaned until nothing changes: what was replaced can leave something that reads as an address."""
    for _ in range(_PASSES):
        after = clean(value)
        if after is value or after == value:
            break
        value = after
    return after


def _own_secrets(exchange: Exchange) -> Iterator[str]:
    """Secrets that the exchange itself names: a key that is not the configured one, the address of a webhook."""
    pairs = [p.partition("=") for p in split_query(_text(exchange.url))]
    named = [(unquote_plus(name).lower(), unquote_plus(value)) for name, _, value in pairs]
    notify = ("type", "webhook") in named
    for name, value in named:
        if is_secret_name(name) or name.startswith("webhook") or (notify and name == "url"):
            yield from _worth(value)
    for name, values in (exchange.request_headers or {}).items():
        if is_secret_name(_text(name)) and "cookie" not in _text(name).lower():
            for value in _many(values):
                yield from _worth(_text(value).rpartition(" ")[2])


def _worth(value: str) -> Iterator[str]:
    if len(value) >= _OWN_SECRET and not is_marked(value.encode("utf-8", "surrogatepass")):
        yield value


def _many(values: Any) -> list[Any]:
    return list(values) if isinstance(values, list | tuple) else [values]


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value if isinstance(value, str) else "" if value is None else str(value)


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    return _text(value).encode("utf-8", "surrogatepass")

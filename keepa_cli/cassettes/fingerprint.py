"""The identity of a request: what makes two requests ask Keepa the same thing. Never contains the key."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from keepa_cli.core.redact import REDACTED

if TYPE_CHECKING:
    from keepa_cli.keepa.wire import WireRequest

VERSION = 1
LENGTH = 16
_ORIGIN = ("https", "api.keepa.com", 443)
_NOT_PART = "key"

Pairs = Iterable[tuple[str, str]]


def query_pairs(url: str) -> list[tuple[str, str]]:
    """The decoded query pairs of `url` in their order, blanks and duplicates kept, without the key."""
    return _without_key(parse_qsl(urlsplit(url).query, keep_blank_values=True, errors="surrogateescape"))


def fingerprint(method: str, url: str, body: bytes = b"") -> str:
    """The fingerprint of a request by its URL.

    Independent of scheme, host and port (a recording made through another base URL is the same request), of
    the order and percent-encoding of the query, and of the key. Blank values, duplicates and the order inside
    a value count. A JSON body counts by its content, any other body by its bytes.
    """
    return _digest(method, request_path(url), query_pairs(url), body)


def of_request(request: WireRequest) -> str:
    """The fingerprint of a request that is about to be sent."""
    return _digest(request.method, normal_path(request.path), _without_key(request.query), request.body)


def of_recording(request: WireRequest) -> str:
    """The fingerprint under which a recording of `request` is found: there the address of a webhook is masked."""
    pairs = _without_key(request.query)
    if ("type", "webhook") in pairs:
        pairs = [(name, REDACTED if name == "url" and value else value) for name, value in pairs]
    return _digest(request.method, normal_path(request.path), pairs, request.body)


def request_path(url: str) -> str:
    """The decoded path of `url` without its trailing slash."""
    return normal_path(urlsplit(url).path)


def normal_path(path: str) -> str:
    """A decoded path without its trailing slash."""
    return unquote(path, errors="surrogateescape").rstrip("/") or "/"


def _without_key(pairs: Pairs) -> list[tuple[str, str]]:
    return [(name, value) for name, value in pairs if name.lower() != _NOT_PART]


def _digest(method: str, path: str, pairs: Pairs, body: bytes) -> str:
    identity = [VERSION, method.upper(), *_ORIGIN, path, sorted(pairs), _body_hash(body)]
    return hashlib.sha256(json.dumps(identity, separators=(",", ":")).encode("ascii")).hexdigest()[:LENGTH]


def _body_hash(body: bytes) -> str:
    if not body.strip():
        return ""
    with contextlib.suppress(ValueError, RecursionError):
        body = json.dumps(json.loads(body), sort_keys=True, separators=(",", ":")).encode("ascii")
    return hashlib.sha256(body).hexdigest()

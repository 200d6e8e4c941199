"""The shape of one HTTP exchange with Keepa, independent of what carries it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from keepa_cli.core.registry import Request

HOST = "api.keepa.com"
BASE_URL = f"https://{HOST}"


@dataclass(frozen=True)
class WireRequest:
    """An encoded request without the key. `query` holds decoded pairs in the order sent."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    content_type: str | None = None

    def url(self, base: str = BASE_URL, extra: tuple[tuple[str, str], ...] = ()) -> str:
        """The full URL; `extra` pairs (the key) come first."""
        pairs = (*extra, *self.query)
        query = urlencode(pairs, quote_via=quote, safe=",")
        return base.rstrip("/") + self.path + ("?" + query if query else "")


@dataclass(frozen=True)
class WireResponse:
    """An answer: `body` is decoded from its transfer encoding; header names are lower case, values in order."""

    status: int
    reason: str
    headers: Mapping[str, tuple[str, ...]]
    body: bytes
    source: Source

    def header(self, name: str) -> str | None:
        values = self.headers.get(name.lower())
        return values[0] if values else None


@dataclass(frozen=True)
class Source:
    """Where an answer came from: `kind` is live, record, cassette or fixture; `origin` is live, sandbox or import."""

    kind: str
    name: str = ""
    origin: str = "live"
    fingerprint: str = ""
    recorded_at: str | None = None
    attempts: int = 1
    elapsed_ms: float = 0.0
    notes: tuple[str, ...] = field(default=())


def encode(request: Request) -> WireRequest:
    """A Request as it goes over the wire: booleans as 0/1, lists comma-joined, None left out, JSON body compact."""
    pairs = tuple((name, _text(value)) for name, value in request.query.items() if value is not None)
    if request.body is None:
        return WireRequest(request.method, request.path, pairs)
    body = json.dumps(request.body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    return WireRequest(request.method, request.path, pairs, body, "application/json; charset=UTF-8")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list | tuple):
        return ",".join(_text(v) for v in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return str(value)

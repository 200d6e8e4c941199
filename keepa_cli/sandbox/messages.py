"""A request as the endpoints see it, and the answers they build."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl

from keepa_cli.sandbox.bucket import BucketState

JSON_TYPE = (("Content-Type", "application/json;charset=UTF-8"),)
HTML_TYPE = (("Content-Type", "text/html;charset=UTF-8"),)
Payload = Mapping[str, Any]


@dataclass(frozen=True)
class Call:
    """`path` has no trailing slash; `pairs` are decoded, in order, without the key."""

    method: str
    path: str
    pairs: tuple[tuple[str, str], ...]
    key: str | None
    body: bytes = b""
    accepts_gzip: bool = False

    @cached_property
    def params(self) -> dict[str, str]:
        """The first value of each parameter."""
        return dict(reversed(self.pairs))


@dataclass(frozen=True)
class Reply:
    """`plain` forbids compression; `cut` names how the connection ends early, if it does."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = JSON_TYPE
    reason: str | None = None
    tokens: int = 0
    plain: bool = False
    cut: str | None = None
    notes: tuple[str, ...] = field(default=())


class Refusal(Exception):
    """A request that cannot be executed. `real_bucket` False zeroes the token fields, as Keepa does for bad keys."""

    def __init__(self, status: int, error_type: str, message: str, details: str = "", *, real_bucket: bool = True):
        super().__init__(message)
        self.status = status
        self.error = {"details": details, "message": message, "type": error_type}
        self.real_bucket = real_bucket


def invalid_parameter(details: str = "", *, status: int = 400, real_bucket: bool = True) -> Refusal:
    message = "You used an invalid parameter for this API call."
    return Refusal(status, "invalidParameter", message, details, real_bucket=real_bucket)


def read_call(method: str, target: str, body: bytes, accepts_gzip: bool) -> Call:
    """Parse a request target; a form body counts as further parameters, a JSON body does not."""
    path, _, query = target.partition("?")
    text = query.encode("latin-1").decode("utf-8", "replace")
    pairs = parse_qsl(text, keep_blank_values=True, encoding="utf-8", errors="replace")
    if body and not body.lstrip().startswith((b"{", b"[")):
        pairs += parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, errors="replace")
    keys = [value for name, value in pairs if name.lower() == "key"]
    kept = tuple((name, value) for name, value in pairs if name.lower() != "key")
    return Call(method, path.rstrip("/") or "/", kept, keys[0] if keys else None, body, accepts_gzip)


def dumps(value: Any) -> bytes:
    """Compact JSON with the keys in alphabetical order at every level."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False).encode()


def envelope(payload: Payload, bucket: BucketState, now_ms: int, consumed: int, took_ms: int) -> bytes:
    """The answer around `payload`, whose values are JSON data or ready-encoded bytes."""
    members: dict[str, Any] = {
        **payload,
        "processingTimeInMs": took_ms,
        "refillIn": bucket.refill_in_ms,
        "refillRate": bucket.refill_rate,
        "timestamp": now_ms,
        "tokenFlowReduction": 0.0,
        "tokensConsumed": consumed,
        "tokensLeft": bucket.tokens_left,
    }
    parts = (
        b'"%s":%s' % (name.encode(), value if isinstance(value, bytes) else dumps(value))
        for name, value in sorted(members.items())
    )
    return b"{" + b",".join(parts) + b"}"

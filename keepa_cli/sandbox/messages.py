"""A request as the endpoints see it, and the answers they build."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl

from keepa_cli.sandbox.bodies import Body, Chunk
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
    body: Body
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
        self.error = error_of(error_type, message, details)
        self.real_bucket = real_bucket


def error_of(error_type: str, message: str, details: str = "") -> dict[str, str]:
    """The error object of an answer."""
    return {"details": details, "message": message, "type": error_type}


def invalid_parameter(details: str = "", *, status: int = 400, real_bucket: bool = True) -> Refusal:
    message = "You used an invalid parameter for this API call."
    return Refusal(status, "invalidParameter", message, details, real_bucket=real_bucket)


def read_call(method: str, target: str, body: bytes, accepts_gzip: bool) -> Call:
    """Parse a request target; a form body counts as further parameters, a JSON body does not."""
    path, _, query = target.partition("?")
    pairs = _pairs(query.encode("latin-1"))
    if body and not body.lstrip().startswith((b"{", b"[")):
        pairs += _pairs(body)
    keys = [value for name, value in pairs if name.lower() == "key"]
    kept = tuple((name, value) for name, value in pairs if name.lower() != "key")
    return Call(method, path.rstrip("/") or "/", kept, keys[0] if keys else None, body, accepts_gzip)


def _pairs(text: bytes) -> list[tuple[str, str]]:
    """Decoded as the fingerprint of recordings decodes them: bytes that are no UTF-8 survive."""
    return parse_qsl(text.decode("utf-8", "surrogateescape"), keep_blank_values=True, errors="surrogateescape")


def dumps(value: Any) -> bytes:
    """Compact JSON with the keys in alphabetical order at every level."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False).encode()


def envelope(payload: Payload, bucket: BucketState, now_ms: int, consumed: int, took_ms: int) -> Body:
    """The answer around `payload`, whose values are JSON data or chunks of JSON."""
    members: dict[str, bytes | Chunk] = {
        "processingTimeInMs": b"%d" % took_ms,
        "refillIn": b"%d" % bucket.refill_in_ms,
        "refillRate": b"%d" % bucket.refill_rate,
        "timestamp": b"%d" % now_ms,
        "tokenFlowReduction": b"%.1f" % bucket.reduction,
        "tokensConsumed": b"%d" % consumed,
        "tokensLeft": b"%d" % bucket.tokens_left,
    }
    for name, value in payload.items():
        members[name] = value if isinstance(value, Chunk) else dumps(value)
    parts: list[bytes | Chunk] = []
    run = b"{"
    for name in sorted(members):
        value = members[name]
        run += b'"%s":' % name.encode()
        if isinstance(value, Chunk):
            parts += [run, value]
            run = b","
        else:
            run += value + b","
    return Body((*parts, run[:-1] + b"}"))

"""Which answers may be kept, and under which key."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from keepa_cli import __version__
from keepa_cli.core.errors import invalid
from keepa_cli.core.settings import MAX_TTL, Settings, check_ttl
from keepa_cli.keepa.wire import encode

if TYPE_CHECKING:
    from keepa_cli.core.registry import Operation, Request

VERSION = 1
LENGTH = 32
ENDPOINTS = frozenset(
    {
        "/product", "/search", "/category", "/query", "/deal", "/seller", "/sellerquery", "/bestsellers",
        "/topseller", "/lightningdeal",
    }
)  # fmt: skip
"""Reads whose answer stays true for a while: neither the token bucket nor trackings, which change by being asked."""


def refusal(op: Operation, request: Request) -> str | None:
    """Why the answer to this request is never kept, as a sentence; None where it may be."""
    if op.effect != "read" or request.writes or request.method != "GET" or request.body is not None:
        return "Only GET requests that change nothing are kept."
    if request.binary:
        return "Only JSON answers are kept."
    if not op.cacheable and path_of(request) in ENDPOINTS:
        return f"Answers to {op.name} are never kept."
    if path_of(request) not in ENDPOINTS:
        return f"Answers of {path_of(request)} are never kept; these are: {', '.join(sorted(ENDPOINTS))}."
    if str(request.query.get("update")) == "0":
        return "update=0 asks for fresh data."
    return None


@dataclass(frozen=True)
class Lifetime:
    """How long answers are kept: `seconds` (0: not at all), and the setting or flag that says so."""

    seconds: int
    origin: str


def lifetime(settings: Settings, ttl: int | str | None = None, no_cache: bool = False) -> Lifetime:
    """What flags and settings say together; whatever switches the cache off wins. Raises `invalid_arguments`."""
    seconds = None if ttl is None else _given(ttl, no_cache)
    if no_cache:
        return Lifetime(0, "flag")
    if settings["no_cache"]:
        return Lifetime(0, settings.origin["no_cache"])
    if seconds is not None:
        return Lifetime(seconds, "flag")
    return Lifetime(settings["cache_ttl_seconds"], settings.origin["cache_ttl_seconds"])


def _given(ttl: int | str, no_cache: bool) -> int:
    allowed = f"1 to {MAX_TTL}"
    try:
        seconds = check_ttl(ttl)
    except ValueError:
        raise invalid(
            f"cache_ttl is a whole number of seconds from {allowed}, not {ttl!r}; --no-cache asks anew.",
            field="cache_ttl",
            value=ttl,
            allowed=allowed,
        ) from None
    if no_cache:
        raise invalid("--cache-ttl and --no-cache contradict each other.", field="cache_ttl", value=ttl)
    return seconds


def path_of(request: Request) -> str:
    return request.path.rstrip("/") or "/"


def checked_by(op: Operation) -> str | None:
    """What answers to this operation are checked against; None where anything is taken."""
    return f"{op.returns} {__version__}" if op.returns else None


def key_of(request: Request, base_url: str) -> str:
    """The key of a request at one server: from every real parameter in any order, never from the API key.

    The order inside a value counts, as Keepa answers in it.
    """
    sent = encode(request)
    pairs = sorted(pair for pair in sent.query if pair[0].lower() != "key")
    identity = [VERSION, server_of(base_url), sent.method, path_of(request), pairs]
    return hashlib.sha256(json.dumps(identity, separators=(",", ":")).encode("ascii")).hexdigest()[:LENGTH]


def server_of(base_url: str) -> str:
    """Scheme, host and port, with the base path if there is one: answers of a sandbox are never taken for Keepa's."""
    parts = urlsplit(base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{port}{parts.path.rstrip('/')}"

"""The response cache: what is kept, under which key, and for how long."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from keepa_cli import ops
from keepa_cli.core.context import Context
from keepa_cli.core.errors import invalid
from keepa_cli.core.redact import REDACTED
from keepa_cli.core.registry import Batch, Operation, Param, Request, operation
from keepa_cli.core.schema import bind
from keepa_cli.core.settings import cache_path as configured_path
from keepa_cli.keepa.wire import encode
from keepa_cli.ops._names import PRODUCTS_GET, REQUEST_GET
from keepa_cli.ops._pairs import Pair, pairs, parameters
from keepa_cli.store import cachekey

if TYPE_CHECKING:
    from keepa_cli.store.cache import ResponseCache

DryRun = Annotated[bool, Param("Count what would be removed; remove nothing.")]
File = Annotated[str | None, Param("Another cache file than the configured one.", metavar="FILE", flag="--cache-path")]
Ttl = Annotated[int | None, Param("As with --cache-ttl SECONDS on the call itself.", metavar="SECONDS")]
NoCache = Annotated[bool, Param("As with --no-cache on the call itself.")]
PREFIX = "cache:"
"""Before every key that is shown, as in the provenance of an answer; bare, the redactor takes it for an API key."""
MOMENTS = ("stored_at", "expires_at", "used_at")


@operation(
    "cache.explain",
    toolset="audit",
    examples=(
        "kc cache explain products.get --param asin=B001GZ6QEC --param domain=US",
        "kc cache explain tokens.status",
        "kc cache explain products.get --param asin=B001GZ6QEC --cache-ttl 60",
    ),
)
def explain(
    ctx: Context,
    operation: Annotated[
        str,
        Param("The operation, such as products.get.", metavar="OPERATION", position=True, examples=(PRODUCTS_GET,)),
    ],
    param: Annotated[list[Pair], Param("Parameters of the operation.")] = [],  # noqa: B006
    cache_ttl: Ttl = None,
    no_cache: NoCache = False,
    cache_path: File = None,
) -> dict[str, Any]:
    """Tell whether a live call would be answered from the cache or its answer kept, and why not.

    Sends nothing and needs no key. The parameters are checked as the call itself would check them.
    """
    op = ops.find(operation.strip().replace(" ", "."))
    bound = bind(op, parameters(op, param), text=True)
    life = cachekey.lifetime(ctx.settings, cache_ttl, no_cache)
    planned = op.run(**bound) if op.remote else Batch((), merge=lambda _: {})
    requests = planned.requests if isinstance(planned, Batch) else (planned,)
    cache = _opened(ctx, cache_path)
    rows = [_row(ctx, op, request, cache, life.seconds) for request in requests]
    reasons = [f"{op.name} works on this machine and asks nothing."] if not op.remote else []
    if not life.seconds:
        reasons.append(f"no_cache switches the cache off ({life.origin}).")
    reasons += dict.fromkeys(row["reason"] for row in rows if row["reason"])
    return {
        "operation": op.name,
        "would_be_kept": bool(rows) and life.seconds > 0 and all(row["cacheable"] for row in rows),
        "would_be_served": bool(rows) and all(row["served"] for row in rows),
        "reasons": reasons,
        "only_in_mode": "live",
        "mode": {"value": ctx.settings.mode.value, "origin": ctx.settings.origin["mode"]},
        "ttl_seconds": life.seconds or None,
        "ttl_origin": life.origin,
        "requests": rows,
    } | _told(cache)


@operation(
    "cache.explain-key",
    toolset="audit",
    examples=(
        "kc cache explain-key --endpoint /product --param domain=1 --param asin=B001GZ6QEC",
        "kc cache explain-key --endpoint /product --method POST",
    ),
)
def explain_key(
    ctx: Context,
    endpoint: Annotated[str, Param("Path below the API, such as /product.", pattern=r"/[A-Za-z][A-Za-z0-9/_-]{0,63}")],
    method: Annotated[Literal["GET", "POST"], Param("The HTTP method.")] = "GET",
    param: Annotated[list[Pair], Param("Query parameters by their names on the wire.")] = [],  # noqa: B006
    cache_path: File = None,
) -> dict[str, Any]:
    """Work out the cache key of a request and look it up.

    The key follows from the server, the path and every real parameter, whatever their order; never from the API key.
    """
    request = Request(method, endpoint, pairs(param))
    cache = _opened(ctx, cache_path)
    row = _row(ctx, ops.find(REQUEST_GET), request, cache, ctx.settings["cache_ttl_seconds"])
    return {"server": cachekey.server_of(ctx.settings["base_url"])} | row | _told(cache)


@operation(
    "cache.stats",
    toolset="audit",
    examples=("kc cache stats", "kc --json cache stats", "kc cache stats --cache-path other/responses.sqlite3"),
)
def stats(ctx: Context, cache_path: File = None) -> dict[str, Any]:
    """Show how much the cache holds, by server and endpoint, and the settings in force."""
    life = cachekey.lifetime(ctx.settings)
    path, cache = _path(ctx, cache_path), _opened(ctx, cache_path)
    found: dict[str, Any] = {"answers": 0, "bytes": 0, "expired": 0, "endpoints": []}
    if cache is not None:
        found = cache.stats()
        found |= {name: _moment(found[name]) for name in ("oldest", "newest")}
        found |= {"max_bytes": cache.max_bytes, "max_answer_bytes": cache.max_entry}
    size = sum(p.stat().st_size for p in (path, path.with_name(path.name + "-wal")) if p.is_file())
    settings = {"enabled": life.seconds > 0, "ttl_seconds": life.seconds or None, "ttl_origin": life.origin}
    return {"path": str(path), "exists": path.exists(), "file_bytes": size} | settings | found | _told(cache)


@operation("cache.inspect", toolset="audit", examples=("kc cache inspect 335d95026bc587b614c00fc0e5cc5105",))
def inspect(
    ctx: Context,
    cache_key: Annotated[
        str,
        Param(
            "The key, with or without `cache:` before it, or its first characters.",
            position=True,
            metavar="KEY",
            pattern=r"(cache:)?[0-9a-f]{1,32}",
        ),
    ],
    cache_path: File = None,
) -> dict[str, Any]:
    """Show everything about one kept answer but its body: request, ages, sizes, hash."""
    cache = _opened(ctx, cache_path)
    wanted = cache_key.removeprefix(PREFIX)
    names = cache.keys_like(wanted) if cache is not None else []
    if cache is None or len(names) != 1:
        problem = f"{len(names)} or more answers have keys" if len(names) > 1 else "No answer is kept under a key"
        raise invalid(
            f"{problem} beginning with {wanted}.",
            field="cache_key",
            value=cache_key,
            close=[PREFIX + name for name in names],
        )
    found = cache.inspect(names[0]) or {}
    found["cache_key"] = PREFIX + found.pop("key")
    now = ctx.now().timestamp()
    ages = {"age_s": int(now - found["stored_at"]), "expires_in_s": int(found["expires_at"] - now)}
    return found | {name: _moment(found[name]) for name in MOMENTS} | ages | _told(cache)


@operation(
    "cache.prune-expired",
    toolset="setup",
    effect="write_local",
    examples=("kc cache prune-expired --dry-run", "kc cache prune-expired"),
)
def prune_expired(ctx: Context, dry_run: DryRun = False, cache_path: File = None) -> dict[str, Any]:
    """Remove the answers whose time is over. They are never used in any case; this gives back their room."""
    return _removed(ctx, cache_path, only_expired=True, dry_run=dry_run)


@operation(
    "cache.clear",
    toolset="setup",
    effect="write_local",
    examples=("kc cache clear --dry-run", "kc cache clear"),
)
def clear(ctx: Context, dry_run: DryRun = False, cache_path: File = None) -> dict[str, Any]:
    """Remove every kept answer. Cassettes, fixtures, the inbox and the ledger are left alone."""
    return _removed(ctx, cache_path, only_expired=False, dry_run=dry_run)


def _removed(ctx: Context, given: str | None, *, only_expired: bool, dry_run: bool) -> dict[str, Any]:
    cache = _opened(ctx, given)
    counts = {"answers": 0, "bytes": 0}
    if cache is not None:
        counts = cache.remove(only_expired=only_expired, dry_run=dry_run)
    return {"path": str(_path(ctx, given)), "removed": not dry_run, **counts} | _told(cache)


def _row(ctx: Context, op: Operation, request: Request, cache: ResponseCache | None, ttl: int) -> dict[str, Any]:
    """What the cache makes of one request."""
    sent, reason = encode(request), cachekey.refusal(op, request)
    key = None if reason else cachekey.key_of(request, ctx.settings["base_url"])
    kept = cache.inspect(key) if cache is not None and key else None
    now = ctx.now().timestamp()
    hidden = dict.fromkeys(request.secret, REDACTED)
    return {
        "method": sent.method,
        "path": cachekey.path_of(request),
        "query": ctx.redactor.data(dict(sent.query)) | hidden,
        "cache_key": PREFIX + key if key else None,
        "cacheable": reason is None,
        "reason": reason,
        "held": kept is not None,
        "age_s": int(now - kept["stored_at"]) if kept else None,
        "expires_in_s": int(kept["expires_at"] - now) if kept else None,
        "served": kept is not None and _serves(op, kept, now, ttl),
    }


def _serves(op: Operation, kept: dict[str, Any], now: float, ttl: int) -> bool:
    """Whether a live call would take this answer."""
    young = ttl > 0 and kept["expires_at"] > now and 0 <= now - kept["stored_at"] <= ttl
    return young and cachekey.checked_by(op) in {None, kept["checked"]}


def _path(ctx: Context, given: str | None) -> Path:
    if given and not _is_path(given):
        raise invalid("No file can have that name.", field="cache_path", value=ascii(given)[:200])
    return ctx.cwd / (Path(given).expanduser() if given else configured_path(ctx.settings))


def _is_path(text: str) -> bool:
    try:
        return b"\x00" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _opened(ctx: Context, given: str | None) -> ResponseCache | None:
    """The cache, or None where nothing was kept yet. A file named by hand that is no cache is left alone."""
    path = _path(ctx, given)
    if not path.exists() and not given:
        return None
    from keepa_cli.store.cache import ResponseCache, is_cache

    if given and not is_cache(path):
        raise invalid(f"{path} is not a response cache.", field="cache_path", value=given)
    return ctx.service(f"cache {path}", lambda: ResponseCache(path, ctx.now))


def _told(cache: ResponseCache | None) -> dict[str, Any]:
    notes = cache.notes() if cache is not None else []
    return {"warnings": [{"code": "cache", "message": note} for note in notes]}


def _moment(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")

"""One free request to Keepa: whether the key works, how long an answer takes, and what the bucket holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from keepa_cli.core import auth
from keepa_cli.core.context import Context
from keepa_cli.core.errors import Kind
from keepa_cli.core.registry import TOKENS_STATUS

Call = Callable[..., Mapping[str, Any]]
LIVE_COMMAND = "kc doctor --live"
_SHOWN = ("tokens_left", "refill_rate_per_minute", "refill_in_ms", "token_flow_reduction", "capacity")
_REFUSED = frozenset({Kind.AUTH_ERROR, Kind.REQUEST_REJECTED})
"""What a wrong key is answered with. /token has no parameters, so a malformed request can only be a malformed key."""


def ask(ctx: Context, call: Call) -> dict[str, Any]:
    """Ask for the token status. The result holds `ok`, `round_trip_ms`, and the bucket or the error."""
    started = ctx.monotonic()
    answer = call(TOKENS_STATUS, {}, flags={"live": True}, wait=False)
    took = {"ok": answer["ok"], "round_trip_ms": round((ctx.monotonic() - started) * 1000)}
    if answer["ok"]:
        return took | {name: answer["data"].get(name) for name in _SHOWN} | {"warnings": answer["warnings"]}
    error = answer["error"]
    if error["kind"] == Kind.REQUEST_REJECTED:
        auth.refused(ctx, error["kind"])
    return took | {"error": {k: error[k] for k in ("kind", "message", "retryable", "next_actions")}}


def verdict(found: Mapping[str, Any]) -> tuple[str, str, str | None]:
    """Status, sentence and next step for the list of checks."""
    if not found["ok"]:
        return _failed(found["error"])
    if found["warnings"]:
        return "warning", found["warnings"][0]["message"], None
    left, rate = found["tokens_left"], found["refill_rate_per_minute"]
    facts = f"Keepa answered in {found['round_trip_ms']} ms: {left} tokens left, {rate} a minute"
    if left > 0:
        return "ok", f"{facts}.", None
    return "warning", f"{facts}; requests are refused until the balance is above 0.", "kc tokens status --live"


def _failed(error: Mapping[str, Any]) -> tuple[str, str, str | None]:
    kind, step = error["kind"], next(iter(error["next_actions"]), None)
    if kind in _REFUSED:
        return "problem", f"Keepa refuses the key: {error['message']}", "kc config set-token"
    if kind == Kind.LIVE_BLOCKED_IN_CI:
        return "warning", f"Nothing was asked: {error['message']}", step
    mild = error["retryable"] and kind not in {Kind.TRANSPORT_ERROR, Kind.TIMEOUT}
    return "warning" if mild else "problem", error["message"], LIVE_COMMAND if error["retryable"] else step

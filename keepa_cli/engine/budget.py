"""What the calls of one session were estimated at, cost, and which of them were blocked (contract §3, §6)."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.engine.call import Answer, Call

BLOCKING = frozenset({Kind.CONFIRMATION_REQUIRED, Kind.BUDGET_EXCEEDED})
MOST_BLOCKED = 50


class Budget:
    """The running account of a session. It lives in memory; the ledger remembers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._estimated = self._consumed = self._cache_hits = 0
        self._blocked: deque[dict[str, Any]] = deque(maxlen=MOST_BLOCKED)

    def answered(self, call: Call, answers: list[Answer], charged: int | None) -> None:
        """Count a call that was answered; one without a known charge counts by its estimate."""
        with self._lock:
            self._cache_hits += sum(not answer.sent for answer in answers)
            if any(answer.sent for answer in answers):
                self._estimated += call.cost.estimated
                self._consumed += call.cost.estimated if charged is None else charged

    def blocked(self, call: Call, error: KeepaCliError) -> None:
        """Remember a call that was not sent."""
        action = {"command": call.op.name, "reason": error.kind.value, "worst_case_tokens": call.cost.worst}
        with self._lock:
            self._blocked.append(action)

    def as_dict(self, limit: int | None, spoken_for: int | None = None) -> dict[str, Any]:
        """`budget_ledger`; `limit` is that of the session, `spoken_for` what the ledger counts against it: with
        requests under way, and those of unknown outcome at their worst. Without it, what was consumed counts."""
        with self._lock:
            gone = self._consumed if spoken_for is None else spoken_for
            return {
                "session_estimated": self._estimated,
                "session_consumed": self._consumed,
                "remaining_limit": None if limit is None else max(0, limit - gone),
                "blocked_actions": list(self._blocked),
                "cache_hits": self._cache_hits,
                "consumed_source": "keepa",
            }


def budget_of(ctx: Context) -> Budget:
    return ctx.service("budget", Budget)


def account_of(ctx: Context) -> dict[str, Any]:
    """`budget_ledger` of this session, with what is left of the limit as the next call will be held to it."""
    limit = ctx.settings["max_tokens_per_session"]
    return budget_of(ctx).as_dict(limit, None if limit is None or ctx.offline else _spoken_for(ctx))


def _spoken_for(ctx: Context) -> int | None:
    """None where the ledger cannot be read."""
    from keepa_cli.engine.accounting import open_ledger, origin_of

    try:
        return open_ledger(ctx).session_totals(origin_of(ctx.settings["base_url"])).spoken_for
    except KeepaCliError:
        return None


def note_blocked(call: Call, error: KeepaCliError) -> None:
    """List a blocked call in `budget_ledger.blocked_actions`, also in the refusal itself."""
    if error.kind in BLOCKING:
        budget_of(call.ctx).blocked(call, error)
        error.details["budget_ledger"] = account_of(call.ctx)

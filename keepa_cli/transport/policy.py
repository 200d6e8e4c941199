"""When a failed attempt is repeated and after which wait; pure, so that time and chance come from outside."""

from __future__ import annotations

from dataclasses import dataclass

from keepa_cli.core.errors import KeepaCliError, Kind

REPEATABLE = frozenset({Kind.TRANSPORT_ERROR, Kind.NOT_ENOUGH_TOKEN, Kind.RATE_LIMITED, Kind.UPSTREAM_UNAVAILABLE})
_EMPTY_BUCKET = frozenset({Kind.NOT_ENOUGH_TOKEN, Kind.RATE_LIMITED})


@dataclass(frozen=True)
class RetryPolicy:
    """At most `attempts` requests and `budget` seconds of waiting between them.

    Only failures that charged nothing are repeated: no connection, an empty bucket, a 5xx without a charge.
    Waits grow from `base` by `factor` up to `cap`; a wait that the server asks for is honoured in full, and when
    it does not fit into the budget there is no further attempt.
    """

    attempts: int = 4
    budget: float = 75.0
    base: float = 1.0
    factor: float = 2.0
    cap: float = 30.0

    def decide(self, attempt: int, error: KeepaCliError, *, waited: float = 0.0, chance: float = 0.5) -> float | None:
        """Seconds to wait before attempt `attempt + 1`, or None to stop. `chance` in 0..1 spreads the waits."""
        if attempt >= self.attempts or not is_repeatable(error):
            return None
        wait = self._wait(attempt, error, chance)
        return wait if waited + wait <= self.budget else None

    def _wait(self, attempt: int, error: KeepaCliError, chance: float) -> float:
        asked = error.details.get("retry_after_ms")
        growing: float = min(self.cap, self.base * self.factor ** (attempt - 1)) * (0.75 + 0.5 * chance)
        if asked is None:
            return growing
        if error.kind in _EMPTY_BUCKET:
            return float(asked) / 1000 + 0.4 * chance * self.base
        return max(growing, float(asked) / 1000)


NO_RETRY = RetryPolicy(attempts=1)


def is_repeatable(error: KeepaCliError) -> bool:
    """Whether the failure is of a kind that may be repeated by itself: nothing was charged, and waiting can help."""
    return error.kind in REPEATABLE and error.retryable and error.details.get("charged") == "no"

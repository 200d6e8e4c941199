"""When the token bucket admits the next request, worked out from the figures of the last answer.

Keepa refills in one step a minute; `refillIn` counts down to it. A request is admitted while the balance is above
zero, whatever it will cost, so nothing ever waits for a price to fit in (source: keepa-api.md §1.4).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

STEP_MS = 60_000
MARGIN_MS = 100
"""Keepa's clock and ours differ: asking a moment late is cheaper than asking twice."""


@dataclass(frozen=True)
class Bucket:
    """What one answer said about the bucket. `reduction` is what trackings take from every step."""

    left: float
    refill_in_ms: float
    rate: float
    reduction: float = 0

    @property
    def step(self) -> float:
        """Tokens that one refill really brings."""
        return self.rate - round(self.reduction)

    @property
    def admits(self) -> bool:
        return self.left > 0


@dataclass(frozen=True)
class Decision:
    """`action` says what to do with the next request; `wait_ms` how long "wait" takes; `reason` is for people."""

    action: Literal["send", "wait", "refuse"]
    wait_ms: int = 0
    reason: str = ""


def read(figures: Mapping[str, Any]) -> Bucket | None:
    """The bucket in the token figures of an answer (see `answer.bucket_of`); None where they do not tell.

    A refusal whose figures are all zero has none: it is not read as an empty bucket.
    """
    names = ("tokens_left", "refill_in_ms", "refill_rate")
    found = [figures.get(name) for name in names]
    if any(value is None for value in found):
        return None
    left, refill_in, rate = found
    return Bucket(float(left or 0), float(refill_in or 0), float(rate or 0), figures.get("token_flow_reduction") or 0)


def wait_ms(bucket: Bucket, elapsed_ms: float = 0) -> int | None:
    """Milliseconds until a request is admitted, `elapsed_ms` after the answer. None: the bucket does not refill."""
    if bucket.admits:
        return 0
    if bucket.step <= 0:
        return None
    steps = math.floor(-bucket.left / bucket.step) + 1
    until = max(0.0, bucket.refill_in_ms) + (steps - 1) * STEP_MS + MARGIN_MS
    return max(0, math.ceil(until - elapsed_ms))


def decide(bucket: Bucket | None, cost: int = 0, *, elapsed_ms: float = 0, wait: bool = True) -> Decision:
    """What to do with a request of `cost` tokens. The cost never holds it back: the balance may go negative."""
    if bucket is None:
        return Decision("send", reason="The balance is not known; Keepa decides.")
    ms = wait_ms(bucket, elapsed_ms)
    if ms == 0:
        return Decision("send", reason=_admitted(bucket, cost))
    balance = f"The balance is {bucket.left:g} tokens"
    if ms is None:
        reduced = f", and trackings take {round(bucket.reduction)}" if bucket.reduction else ""
        return Decision("refuse", reason=f"{balance} and does not grow: {bucket.rate:g} come a minute{reduced}.")
    reason = f"{balance}; the next request is admitted in {math.ceil(ms / 1000)} s."
    return Decision("wait" if wait else "refuse", ms, reason)


def _admitted(bucket: Bucket, cost: int) -> str:
    if not bucket.admits:
        return "The bucket has been refilled."
    after = bucket.left - cost
    return f"The balance of {bucket.left:g} admits it" + (f" and goes to {after:g}." if after < 0 else ".")

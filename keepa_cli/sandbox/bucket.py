"""Keepa's token bucket: one step of `rate` per minute, admission above zero, charge afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

MINUTE_MS = 60_000


@dataclass(frozen=True)
class BucketState:
    tokens_left: int
    refill_in_ms: int
    refill_rate: int
    reduction: float = 0.0
    """Tokens per minute that trackings take off the refill."""


UNKNOWN = BucketState(0, 0, 0)


class Bucket:
    """A balance shared by all keys of one sandbox. `clock` gives Unix seconds; a step back in time is ignored."""

    def __init__(self, rate: int, capacity: int, tokens: int | None, clock: Callable[[], float]) -> None:
        self.rate = rate
        self.capacity = capacity
        self._clock = clock
        self._lock = threading.Lock()
        self._balance = capacity if tokens is None else min(tokens, capacity)
        self._tick_ms = self._now_ms()
        self._reduction = 0

    def admit(self) -> bool:
        """Whether a request may run now, whatever it will cost. Nothing does while trackings use up the refill."""
        state = self.charge(0)
        return state.tokens_left > 0 and state.reduction < self.rate

    def charge(self, tokens: int) -> BucketState:
        """Take `tokens`, below zero if need be, and say where that leaves the bucket."""
        with self._lock:
            now = self._refill()
            self._balance -= tokens
            return BucketState(self._balance, self._tick_ms + MINUTE_MS - now, self.rate, float(self._reduction))

    def state(self) -> BucketState:
        return self.charge(0)

    def set_balance(self, tokens: int) -> None:
        with self._lock:
            self._refill()
            self._balance = min(tokens, self.capacity)

    def reduce(self, tokens: int) -> None:
        """From now on the refill is smaller by `tokens` per minute."""
        with self._lock:
            self._refill()
            self._reduction = tokens

    def _now_ms(self) -> int:
        return int(self._clock() * 1000)

    def _refill(self) -> int:
        now = max(self._now_ms(), self._tick_ms)
        steps, _ = divmod(now - self._tick_ms, MINUTE_MS)
        self._tick_ms += steps * MINUTE_MS
        self._balance = min(self.capacity, self._balance + steps * max(0, self.rate - self._reduction))
        return now

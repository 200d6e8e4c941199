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

    def admit(self) -> bool:
        """Whether a request may run now, whatever it will cost."""
        return self.charge(0).tokens_left > 0

    def charge(self, tokens: int) -> BucketState:
        """Take `tokens`, below zero if need be, and say where that leaves the bucket."""
        with self._lock:
            now = self._refill()
            self._balance -= tokens
            return BucketState(self._balance, self._tick_ms + MINUTE_MS - now, self.rate)

    def state(self) -> BucketState:
        return self.charge(0)

    def set_balance(self, tokens: int) -> None:
        with self._lock:
            self._refill()
            self._balance = min(tokens, self.capacity)

    def _now_ms(self) -> int:
        return int(self._clock() * 1000)

    def _refill(self) -> int:
        now = max(self._now_ms(), self._tick_ms)
        steps, _ = divmod(now - self._tick_ms, MINUTE_MS)
        self._tick_ms += steps * MINUTE_MS
        self._balance = min(self.capacity, self._balance + steps * self.rate)
        return now

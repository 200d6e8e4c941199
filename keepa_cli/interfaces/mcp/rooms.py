"""How many HTTP sessions there are, and which one gives way to a new client."""

from __future__ import annotations

import time
from collections.abc import Callable

CAP = 128
IDLE_SECONDS = 3600.0
YIELDS_AFTER = 300.0
"""A session that was idle longer may be ended for a new client."""


class Rooms:
    """Sessions by the time of their last use."""

    def __init__(
        self, cap: int = CAP, yields_after: float = YIELDS_AFTER, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.cap, self.yields_after, self._clock = cap, yields_after, clock
        self._used: dict[str, float] = {}
        self.on_left: Callable[[str], None] = lambda _: None

    def __len__(self) -> int:
        return len(self._used)

    def entered(self, ident: str) -> None:
        self._used[ident] = self._clock()

    def left(self, ident: str) -> None:
        self._used.pop(ident, None)
        self.on_left(ident)

    def expired(self, idle: float) -> list[str]:
        """The sessions that nobody used for `idle` seconds."""
        return [ident for ident, used in self._used.items() if self._clock() - used >= idle]

    def crowded(self) -> tuple[bool, str | None]:
        """Whether there is no room, and the session that may be ended then."""
        if len(self._used) < self.cap:
            return False, None
        oldest = min(self._used, key=lambda ident: self._used[ident])
        return True, oldest if self._clock() - self._used[oldest] > self.yields_after else None

    def retry_after(self) -> int:
        """Seconds until a session may give way."""
        oldest = min(self._used.values(), default=self._clock())
        return max(1, round(oldest + self.yields_after - self._clock()) + 1)

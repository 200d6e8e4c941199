"""How many HTTP sessions there are, and which one gives way to a new client."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

CAP = 128
IDLE_SECONDS = 3600.0
YIELDS_AFTER = 300.0
"""A session that was idle longer may be ended for a new client."""


class Rooms:
    """Sessions by the time of their last use; one whose request is being answered is not idle."""

    def __init__(
        self, cap: int = CAP, yields_after: float = YIELDS_AFTER, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.cap, self.yields_after, self._clock = cap, yields_after, clock
        self._used: dict[str, float] = {}
        self._busy: Counter[str] = Counter()
        self._opening = 0
        self.on_left: Callable[[str], None] = lambda _: None

    def __len__(self) -> int:
        return len(self._used)

    def __contains__(self, ident: object) -> bool:
        return ident in self._used

    def entered(self, ident: str) -> None:
        self._used[ident] = self._clock()

    def left(self, ident: str) -> None:
        if self._used.pop(ident, None) is not None:
            self.on_left(ident)

    @contextmanager
    def opening(self) -> Iterator[None]:
        """A place is held while a session is being opened."""
        self._opening += 1
        try:
            yield
        finally:
            self._opening -= 1

    @contextmanager
    def using(self, ident: str) -> Iterator[None]:
        """A request of a session is being answered."""
        self._busy[ident] += 1
        try:
            yield
        finally:
            self._busy[ident] -= 1
            if self._busy[ident] <= 0:
                del self._busy[ident]
            if ident in self._used:
                self._used[ident] = self._clock()

    def sweep(self, idle: float) -> None:
        """Forget the sessions that nobody used for `idle` seconds: the SDK ended them by itself."""
        now = self._clock()
        for ident in [i for i, used in self._used.items() if now - used >= idle and i not in self._busy]:
            self.left(ident)

    def crowded(self) -> tuple[bool, str | None]:
        """Whether there is no room, and the session that may be ended then."""
        if len(self._used) + self._opening < self.cap:
            return False, None
        oldest = self._oldest()
        if oldest is None or self._clock() - self._used[oldest] <= self.yields_after:
            return True, None
        return True, oldest

    def retry_after(self) -> int:
        """Seconds until a session may give way."""
        oldest = self._oldest()
        since = self._used[oldest] if oldest is not None else self._clock()
        return max(1, round(since + self.yields_after - self._clock()) + 1)

    def _oldest(self) -> str | None:
        return min((i for i in self._used if i not in self._busy), key=lambda ident: self._used[ident], default=None)

"""What was asked a short while ago."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

ROOM = 256


class Recent:
    """Values by key that are kept for some seconds of the clock, the newest ones only."""

    def __init__(self, seconds: float, clock: Callable[[], float], room: int = ROOM) -> None:
        self._seconds, self._clock, self._room = seconds, clock, room
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()

    def made(self, key: Hashable, make: Callable[[], Any]) -> tuple[Any, bool]:
        """The value of `key`, and whether it was there already. Only one thread makes it."""
        with self._lock:
            now = self._clock()
            found = self._kept.get(key)
            if found is not None and 0 <= now - found[0] < self._seconds:
                return found[1], True
            value = make()
            self._kept[key] = (now, value)
            self._kept.move_to_end(key)
            while len(self._kept) > self._room:
                self._kept.popitem(last=False)
            return value, False

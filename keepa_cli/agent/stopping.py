"""Calls that can be stopped and watched: waits and lines of progress look at the stop sign."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[float, float | None, str], None]
"""(steps so far, steps in all where known, what is being done)"""


class Stopped(KeyboardInterrupt):
    """The caller does not want the answer any more. Like Ctrl-C it passes through everything that handles errors, and
    what is under way is accounted for on its way."""


class Watch:
    """What the waits of one session look at: the stop sign and the listener of the call that runs now."""

    def __init__(self) -> None:
        self._never = threading.Event()
        self._stop = self._never
        self._progress: Progress | None = None
        self._steps = 0

    @contextmanager
    def over(self, stop: threading.Event | None, progress: Progress | None) -> Iterator[None]:
        self._stop, self._progress, self._steps = stop or self._never, progress, 0
        try:
            yield
        finally:
            self._stop, self._progress = self._never, None

    def check(self) -> None:
        """Raises Stopped once the call is to end."""
        if self._stop.is_set():
            raise Stopped

    def sleep(self, seconds: float) -> None:
        if self._stop.wait(max(0.0, seconds)):
            raise Stopped

    def tell(self, text: str) -> None:
        self.check()
        self._steps += 1
        if self._progress is not None:
            self._progress(float(self._steps), None, text)

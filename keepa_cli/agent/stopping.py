"""Calls that can be stopped and watched: waits, requests and lines of progress look at the stop sign."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from keepa_cli.transport.aborting import InterruptedWait

Progress = Callable[[float, float | None, str], None]
"""(steps so far, steps in all where known, what is being done)"""


class Stopped(InterruptedWait):
    """The caller does not want the answer any more. Like Ctrl-C it passes through everything that handles errors, and
    what is under way is accounted for on its way. It is raised only where no request is under way."""


class StopSign(threading.Event):
    """A stop sign for one call. Unlike a plain event it also ends a wait or a request that is under way."""

    def __init__(self) -> None:
        super().__init__()
        self._told: Callable[[], None] | None = None

    def set(self) -> None:
        super().set()
        if self._told is not None:
            self._told()

    @contextmanager
    def telling(self, told: Callable[[], None]) -> Iterator[None]:
        """`told` is called once the sign is set, at once where it was already."""
        self._told = told
        if self.is_set():
            told()
        try:
            yield
        finally:
            self._told = None


class Watch:
    """What the waits and requests of one session look at: the stop sign and the listener of the call that runs now."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._guard = threading.Lock()
        self._aborts: dict[object, Callable[[], None]] = {}
        self._hung_up = False
        self._progress: Progress | None = None
        self._steps = 0

    @property
    def stopped(self) -> bool:
        """Whether the call that runs now was told to end."""
        return self._ended.is_set()

    @contextmanager
    def over(self, stop: StopSign | None, progress: Progress | None) -> Iterator[None]:
        """Around one call."""
        self._ended.clear()
        self._progress, self._steps = progress, 0
        try:
            with (stop or StopSign()).telling(self._end):
                yield
        finally:
            self._progress = None

    def hang_up(self) -> None:
        """Nobody waits for answers any more: a wait or request that is under way ends, and none begins. Work on this
        machine goes on."""
        with self._guard:
            self._hung_up = True
            waiting = bool(self._aborts)
        if waiting:
            self._end()

    def check(self) -> None:
        """Raises Stopped once the call is to end."""
        if self._ended.is_set():
            raise Stopped

    def sleep(self, seconds: float) -> None:
        with self.under_way(_nothing):
            if self._ended.wait(max(0.0, seconds)):
                raise Stopped

    def tell(self, text: str) -> None:
        self.check()
        self._steps += 1
        if self._progress is not None:
            self._progress(float(self._steps), None, text)

    @contextmanager
    def under_way(self, abort: Callable[[], None]) -> Iterator[None]:
        """Around a wait or a request. `abort` is called, from another thread, when the call is to end meanwhile."""
        token = object()
        with self._guard:
            if self._ended.is_set() or self._hung_up:
                self._ended.set()
                raise Stopped
            self._aborts[token] = abort
        try:
            yield
        finally:
            with self._guard:
                del self._aborts[token]

    def _end(self) -> None:
        with self._guard:
            self._ended.set()
            aborts = list(self._aborts.values())
        for abort in aborts:
            abort()


def _nothing() -> None:
    """A sleep ends by itself."""

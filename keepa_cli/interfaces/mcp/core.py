"""The sessions of a server: who they belong to, in which order their calls run, how a call is stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from keepa_cli.agent.session import AgentSession, Confirm
from keepa_cli.agent.sessioncache import SessionCache
from keepa_cli.agent.stopping import Progress, StopSign
from keepa_cli.agent.surface import Surface
from keepa_cli.agent.tools import LONG
from keepa_cli.core.context import Context
from keepa_cli.engine.budget import Budget
from keepa_cli.interfaces.mcp.results import tool_result

ALONE = ""
"""The session of a stdio process."""
STATELESS = "-"
"""Stands for HTTP requests that belong to no session: each gets one for itself, out of a few that are kept. What was
spent and what was answered is common to all of them."""
SPARE_AGENTS = 16
MOST_CALLS = 256
"""Threads for calls: they may wait long for Keepa, and must leave those for lists and frames alone."""
AT_ONCE = 2
"""Short calls that compute from recordings at one time: they wait for nothing but each other, and the more of them run
the longer the loop that answers everybody waits for its turn (with eight, half as long again)."""


@dataclass
class Held:
    """A session, the lock that keeps its calls in order, and when it was used last."""

    agent: AgentSession
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    used: float = 0.0
    running: int = 0


class Core:
    """Everything that the transports share. `live` is what the server was started with."""

    def __init__(
        self,
        ctx: Context,
        *,
        live: bool = False,
        toolset: str | None = None,
        profile: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.ctx, self.live = ctx, live
        self.surface = Surface(toolset, profile)
        self._clock = clock
        self._held: dict[str, Held] = {}
        self._making = threading.Lock()
        self._spare: list[Held] = []
        self._out: list[Held] = []
        self._common = (Budget(), SessionCache())
        self._questions: set[anyio.CancelScope] = set()
        self._calls = anyio.CapacityLimiter(MOST_CALLS)
        self._short = self._calls if live else anyio.CapacityLimiter(AT_ONCE)
        self._reads = anyio.CapacityLimiter(MOST_CALLS)
        self.input_ended = False

    @property
    def sessions(self) -> dict[str, Held]:
        """The sessions by their id."""
        return self._held

    def session(self, ident: str) -> Held:
        """The session of that id, made on first use."""
        found = self._held.get(ident)
        if found is None:
            with self._making:
                found = self._held.get(ident) or self._held.setdefault(ident, Held(self._new()))
        found.used = self._clock()
        return found

    def drop(self, ident: str) -> None:
        """Forget a session; what runs in it goes on to its end."""
        found = self._held.pop(ident, None)
        if found is not None:
            found.agent.close()

    async def call(
        self,
        ident: str,
        name: str,
        arguments: Mapping[str, Any],
        *,
        progress: Progress | None = None,
        confirm: Confirm | None = None,
    ) -> dict[str, Any]:
        """The result of one tool call. Calls of one session run in the order in which they came; a cancelled one is
        told to stop, and the next one waits until it did."""
        stop = StopSign()
        async with self.lent(ident) as held, held.lock:
            try:
                call = partial(held.agent.call_tool, name, arguments, stop=stop, progress=progress, confirm=confirm)
                work = partial(_answered, call)  # in one go: every change of threads costs a tenth of a small call
                room = self._calls if name in LONG else self._short
                return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=room)
            finally:
                stop.set()

    async def read(self, ident: str, uri: str) -> list[dict[str, Any]]:
        """The contents of one resource, as that session sees it."""
        async with self.lent(ident) as held:
            read = partial(self.surface.read, uri, held.agent)
            return await anyio.to_thread.run_sync(read, abandon_on_cancel=True, limiter=self._reads)

    @asynccontextmanager
    async def lent(self, ident: str) -> AsyncIterator[Held]:
        """The session of that id while something runs in it; for requests without one, a session of their own."""
        held = self.session(ident) if ident != STATELESS else self._spare.pop() if self._spare else self._stateless()
        if ident == STATELESS:
            self._out.append(held)
        held.running += 1
        try:
            yield held
        finally:
            held.running -= 1
            held.used = self._clock()
            if ident == STATELESS:
                self._take_back(held)

    def _stateless(self) -> Held:
        budget, cache = self._common
        agent = self._new()
        agent.ctx.services["budget"], agent.cache = budget, cache
        return Held(agent)

    def _take_back(self, held: Held) -> None:
        """Keep a few for the next requests. One whose call was cut off may still be at work: it ends on its own."""
        self._out = [other for other in self._out if other is not held]
        if held.agent.busy:
            return
        if len(self._spare) < SPARE_AGENTS:
            self._spare.append(held)
        else:
            held.agent.close()

    async def aside(self, work: Callable[..., Any], *args: Any) -> Any:
        """Run something short that may touch the disk, without holding up other requests."""
        return await anyio.to_thread.run_sync(partial(work, *args))

    @contextmanager
    def asking(self, seconds: float) -> Iterator[None]:
        """Around a question to the person behind the client: it ends without answer after that time, or once the
        client is gone."""
        with anyio.move_on_after(seconds) as scope:
            self._questions.add(scope)
            try:
                if self.input_ended:
                    scope.cancel()
                yield
            finally:
                self._questions.discard(scope)

    def end_input(self) -> None:
        """The client sends nothing any more: open questions stay unanswered."""
        self.input_ended = True
        for scope in self._questions:
            scope.cancel()

    def hang_up(self) -> None:
        """What waits for Keepa or for tokens ends, and nothing is sent from here on."""
        for held in [*self._held.values(), *self._out]:
            held.agent.hang_up()

    def close(self, seconds: float = 0.0) -> None:
        """End every session. Calls have up to `seconds` to write down what became of their requests."""
        while self._spare:
            self._spare.pop().agent.close()
        self.hang_up()
        until = time.monotonic() + seconds
        for held in self._out:
            held.agent.settled(until - time.monotonic())
        for ident, held in list(self._held.items()):
            held.agent.settled(until - time.monotonic())
            self.drop(ident)

    def _new(self) -> AgentSession:
        return AgentSession(
            self.ctx, live=self.live, profile=self.surface.profile.name, toolset=self.surface.toolset, transport="mcp"
        )


def _answered(call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    return tool_result(call())

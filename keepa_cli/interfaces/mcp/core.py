"""The sessions of a server: who they belong to, in which order their calls run, how a call is stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from keepa_cli.agent.session import AgentSession, Confirm
from keepa_cli.agent.sessioncache import SessionCache
from keepa_cli.agent.stopping import Progress, StopSign
from keepa_cli.agent.surface import Surface
from keepa_cli.core.context import Context
from keepa_cli.engine.budget import Budget
from keepa_cli.interfaces.mcp.results import tool_result

ALONE = ""
"""The session of a stdio process."""
STATELESS = "-"
"""Stands for HTTP requests that belong to no session: each gets one for itself, out of a few that are kept. What was
spent and what was answered is common to all of them."""
SPARE_AGENTS = 16


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
        self._common = (Budget(), SessionCache())

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
                work = partial(held.agent.call_tool, name, arguments, stop=stop, progress=progress, confirm=confirm)
                found = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
                return await anyio.to_thread.run_sync(tool_result, found)
            finally:
                stop.set()

    async def read(self, ident: str, uri: str) -> list[dict[str, Any]]:
        """The contents of one resource, as that session sees it."""
        async with self.lent(ident) as held:
            return await anyio.to_thread.run_sync(self.surface.read, uri, held.agent)

    @asynccontextmanager
    async def lent(self, ident: str) -> AsyncIterator[Held]:
        """The session of that id while something runs in it; for requests without one, a session of their own."""
        held = self.session(ident) if ident != STATELESS else self._spare.pop() if self._spare else self._stateless()
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
        if held.agent.busy:
            return
        if len(self._spare) < SPARE_AGENTS:
            self._spare.append(held)
        else:
            held.agent.close()

    async def aside(self, work: Callable[..., Any], *args: Any) -> Any:
        """Run something short that may touch the disk, without holding up other requests."""
        return await anyio.to_thread.run_sync(partial(work, *args))

    def spends_now(self) -> bool:
        """Whether a call that may be waiting for Keepa is under way."""
        return self.live and any(held.running for held in self._held.values())

    def close(self) -> None:
        while self._spare:
            self._spare.pop().agent.close()
        for ident in list(self._held):
            self.drop(ident)

    def _new(self) -> AgentSession:
        return AgentSession(
            self.ctx, live=self.live, profile=self.surface.profile.name, toolset=self.surface.toolset, transport="mcp"
        )

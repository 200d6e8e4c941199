"""MCP on stdin and stdout. Every frame is answered, also after the end of input, and nothing else is printed."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.shared.message import SessionMessage

from keepa_cli.core.context import Context
from keepa_cli.core.errors import ExitCode
from keepa_cli.interfaces.mcp import frames
from keepa_cli.interfaces.mcp.core import Core
from keepa_cli.interfaces.mcp.server import build_server
from keepa_cli.interfaces.wire import claim, encode, lines, write_all

LONGEST = 16 << 20
AHEAD = 256
"""Frames that are read before earlier ones are taken up."""
MOST_PENDING = 2000
"""Requests that may wait for their answer; further ones are taken up when earlier ones are answered."""
DRAIN, PATIENCE, SETTLE = 120.0, 2.0, 0.5
"""Seconds after the end of input: for everything; for what waits on Keepa or for tokens; for the ledger."""
LAST_LINE = 0.5
"""Seconds for a line that is being written when the process ends: a client that reads nothing holds up no end."""
TERMINATED = 128 + 15


def serve(ctx: Context, *, live: bool, toolset: str | None, profile: str | None, dual: bool) -> int:
    """Serve until the input ends. Does not return where threads are still at work: the process ends with its code."""
    reading, writing = claim()
    core = Core(ctx, live=live, toolset=toolset, profile=profile)
    server = build_server(core)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # the SDK reports every client that goes away
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)

    async def run() -> int:
        with _ended_by_signals() as ending:
            async with streams(reading, writing, core, dual=dual) as (read, write):
                await server.run(read, write, server.create_initialization_options())
        return ending.code

    code = int(ExitCode.OK)
    try:
        code = anyio.run(run)
    except KeyboardInterrupt:
        code = int(ExitCode.INTERRUPTED)
    except BaseExceptionGroup as group:
        if group.subgroup(KeyboardInterrupt):
            code = int(ExitCode.INTERRUPTED)
        elif not _only_closed(group):
            raise
    except OSError:
        pass
    with contextlib.suppress(KeyboardInterrupt):
        core.close(SETTLE)
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(code)


@dataclass
class Ending:
    """The exit code: that of the signal that ended the server, where one did."""

    code: int = int(ExitCode.OK)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[Ending]:
    """Ends what runs inside on SIGTERM and Ctrl-C, where the loop can wait for signals. The KeyboardInterrupt that
    asyncio makes of Ctrl-C is lost where a scope is being cancelled just then."""
    ending = Ending()
    with anyio.CancelScope() as scope:

        def end(code: int) -> None:
            ending.code = code
            scope.cancel()

        with contextlib.suppress(NotImplementedError, RuntimeError):
            for number, code in ((signal.SIGTERM, TERMINATED), (signal.SIGINT, int(ExitCode.INTERRUPTED))):
                asyncio.get_running_loop().add_signal_handler(number, end, code)
        yield ending


def _only_closed(group: BaseExceptionGroup[BaseException]) -> bool:
    """Whether nothing went wrong but that the other side went away."""
    gone = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)
    return group.split(gone)[1] is None


@contextlib.asynccontextmanager
async def streams(reading: int, writing: int, core: Core, *, dual: bool) -> AsyncIterator[tuple[Any, Any]]:
    """What the server reads from and writes to."""
    line = Line(reading, writing, core, dual=dual)
    inbound_send, inbound = anyio.create_memory_object_stream[Any](0)
    outbound, outbound_receive = anyio.create_memory_object_stream[Any](0)
    line.start()
    async with anyio.create_task_group() as group:
        group.start_soon(line.take, inbound_send)
        group.start_soon(line.give, outbound_receive)
        try:
            yield inbound, outbound
        finally:
            line.finish(LAST_LINE)
        group.cancel_scope.cancel()


class Line:
    """Both directions of one connection, and which requests still wait for their answer."""

    def __init__(self, reading: int, writing: int, core: Core, *, dual: bool) -> None:
        self._reading, self._writing, self._core, self._dual = reading, writing, core, dual
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[Any] = asyncio.Queue()
        self._room = threading.Semaphore(AHEAD)
        self._writes, self._pen = anyio.Lock(), threading.Lock()
        self._writer = anyio.CapacityLimiter(1)  # of its own: reads that wait for a call must not hold up answers
        self._pending: Counter[str | int] = Counter()
        self._idle, self._freed = asyncio.Event(), asyncio.Event()
        self._opened = False

    def start(self) -> None:
        """Read in a thread of its own: a blocked read must not hold up the end of the process."""
        threading.Thread(target=self._read, name="mcp-stdin", daemon=True).start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            for found in lines(lambda size: os.read(self._reading, size), LONGEST):
                self._room.acquire()
                self._hand_over(found)
        self._hand_over(None)

    def _hand_over(self, found: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._lines.put_nowait, found)

    async def take(self, to: Any) -> None:
        """Frames from the client to the server; bad ones are answered here."""
        async with to:
            while (found := await self._lines.get()) is not None:
                self._room.release()
                if isinstance(found, bytes) and not found.strip(b"\xef\xbb\xbf \t\r"):
                    continue
                try:
                    message = frames.decode(found, dual=self._dual)
                except frames.BadFrame as bad:
                    await self._write(encode(bad.answer))
                    continue
                if message is None:
                    continue
                await self._open(message, to)
                await self._note(message)
                await to.send(SessionMessage(message))
            self._core.end_input()
            await self._drain()

    async def _drain(self) -> None:
        """Wait until everything is answered; what waits on the network then is given up soon."""
        with anyio.move_on_after(DRAIN):
            async with anyio.create_task_group() as group:
                group.start_soon(self._lose_patience)
                while self._pending:
                    self._idle.clear()
                    await self._idle.wait()
                group.cancel_scope.cancel()

    async def _lose_patience(self) -> None:
        await anyio.sleep(PATIENCE)
        self._core.hang_up()

    async def _open(self, message: Any, to: Any) -> None:
        """A client that asks for something without a handshake, or after one that failed, is served as if it had made
        one."""
        if self._opened or not isinstance(message, types.JSONRPCRequest) or message.method == "initialize":
            return
        self._opened = True
        if not frames.is_modern(message.params):
            ready = types.JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized")
            await to.send(SessionMessage(ready))

    async def _note(self, message: Any) -> None:
        if isinstance(message, types.JSONRPCRequest):
            while self._pending.total() >= MOST_PENDING:
                self._freed.clear()
                await self._freed.wait()
            self._pending[_paired(message.id)] += 1
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            ident = (message.params or {}).get("requestId")
            if isinstance(ident, str | int) and not isinstance(ident, bool):
                self._answered(ident)

    def _answered(self, ident: str | int) -> None:
        key = _paired(ident)
        self._pending[key] -= 1
        if self._pending[key] <= 0:
            del self._pending[key]
        self._freed.set()
        if not self._pending:
            self._idle.set()

    async def give(self, source: Any) -> None:
        """Messages of the server to the client."""
        async for item in source:
            await self._write(frames.dump(item.message))
            message = item.message
            if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id is not None:
                self._answered(message.id)

    async def _write(self, data: bytes) -> None:
        async with self._writes:
            await anyio.to_thread.run_sync(self._put, data, abandon_on_cancel=True, limiter=self._writer)

    def _put(self, data: bytes) -> None:
        with self._pen:
            write_all(self._writing, data)

    def finish(self, seconds: float) -> None:
        """Let a line that is being written come to its end, unless nobody reads it."""
        self._pen.acquire(timeout=seconds)


def _paired(ident: str | int) -> str | int:
    """What the SDK pairs answers and cancellations by: "7" and 7 are one id."""
    try:
        return int(ident)
    except ValueError:
        return ident

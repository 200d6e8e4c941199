"""Connections of HTTP clients: how long a request may take to arrive, how many wait, and what is no HTTP at all."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import h11
from h11._receivebuffer import ReceiveBuffer
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""The head of a request that is not there by then is not waited for."""
MOST_CONNECTIONS = 512
LONGEST_HEAD = 64 << 10
_PLAIN = bytes([9, 10, 13, *range(0x20, 0x7F), *range(0x80, 0x100)])


def is_loose(lines: bytes | bytearray) -> bool:
    """Whether there are line ends, continued lines or marks that not every server reads alike."""
    ends = lines.count(b"\r\n")
    odd = lines.count(b"\r") != ends or lines.count(b"\n") != ends or lines.translate(None, _PLAIN)
    return bool(odd) or b"\r\n " in lines or b"\r\n\t" in lines


class StrictBuffer(ReceiveBuffer):
    """Takes lines only that every server reads alike, before a body and behind one in chunks."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        if not self._data.startswith(b"\r\n"):
            end = self._data.find(b"\r\n\r\n", 0, LONGEST_HEAD + 4)
            lines = self._data[:end] if end >= 0 else self._data.rstrip(b"\r")
            if is_loose(lines):
                raise h11.RemoteProtocolError("loose line ends")
            if len(lines) > LONGEST_HEAD:
                raise h11.RemoteProtocolError("the head is too long")
        return super().maybe_extract_lines()


class StrictConnection(h11.Connection):
    """Takes requests only that every server reads alike."""

    def __init__(self, longest: int) -> None:
        super().__init__(h11.SERVER, longest)
        self._receive_buffer = StrictBuffer()

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = [name for name, _ in event.headers]
            framed = [n for n in names if n in (b"content-length", b"transfer-encoding", b"host")]
            if len(framed) != len(set(framed)) or {b"content-length", b"transfer-encoding"} <= set(framed):
                raise h11.RemoteProtocolError("a body has one length")
            if event.http_version != b"1.1" and (b"transfer-encoding" in framed or event.http_version != b"1.0"):
                raise h11.RemoteProtocolError("this version of HTTP is not served")
        return event


class Door(H11Protocol):
    """A connection that gives way: to time when its request does not arrive, to new clients when there are too many."""

    waiting: ClassVar[dict[Door, None]] = {}
    """The connections without a request under way, the one waiting longest first."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = StrictConnection(self.config.h11_max_incomplete_event_size or LONGEST_HEAD)
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait(HEAD_SECONDS)
        if len(self.connections) > MOST_CONNECTIONS:
            self._thin()

    def connection_lost(self, exc: Exception | None) -> None:
        self._busy()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._late is None and self._idle():
            self._wait(HEAD_SECONDS)
        super().data_received(data)
        if not self._idle():
            self._busy()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._idle() and not self.transport.is_closing():
            self.waiting[self] = None

    def _idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _wait(self, seconds: float) -> None:
        self._busy()
        self.waiting[self] = None
        self._late = self.loop.call_later(seconds, self._give_up)

    def _busy(self) -> None:
        self.waiting.pop(self, None)
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        if self._idle():
            self.transport.abort()

    def _thin(self) -> None:
        oldest = next((door for door in self.waiting if door is not self), None)
        if oldest is not None:
            oldest.transport.abort()
            oldest._busy()

"""Ending a request from another thread: its connection is shut down, and whoever waits for it wakes at once."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket

    from requests.adapters import HTTPAdapter

Guard = Callable[[Callable[[], None]], AbstractContextManager[None]]
"""Stands around an attempt and is given what aborts it; raises on entry where nothing is to be sent any more."""


def unguarded(_: Callable[[], None]) -> AbstractContextManager[None]:
    """Nobody will abort."""
    return contextlib.nullcontext()


class InterruptedWait(KeyboardInterrupt):
    """Ended from outside while no request was under way: nothing was sent, or what failed before cost nothing."""


class Gone(OSError):
    """The attempt was aborted while its connection was being opened."""


class Handle:
    """A second handle on a connection. It works during the handshake of TLS too, and closes with its last user."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock.dup()

    def shut(self) -> None:
        """Both directions end, in whatever state the connection is; reads and writes on it return."""
        from socket import SHUT_RDWR  # not at the top: a replayed call reads this module and opens nothing

        with contextlib.suppress(OSError):
            self._sock.shutdown(SHUT_RDWR)

    def __del__(self) -> None:
        sock = getattr(self, "_sock", None)
        if sock is not None:
            sock.close()


class Exchange:
    """One attempt: its connection, whether anything was sent, whether it was aborted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handle: Handle | None = None
        self.aborted = self.sent = False

    def abort(self) -> None:
        """End it now. Before anything was sent nothing will be."""
        with self._lock:
            self.aborted, handle = True, self._handle
        if handle is not None:
            handle.shut()

    def hold(self, handle: Handle | None, *, sending: bool) -> None:
        """Note the connection in use; `sending` that bytes of the request leave next. Raises Gone once aborted."""
        with self._lock:
            if self.aborted:
                raise Gone("aborted")
            self._handle = handle
            self.sent = self.sent or sending

    def ending(self) -> KeyboardInterrupt:
        """What an aborted attempt raises: InterruptedWait where it cannot have cost anything."""
        return KeyboardInterrupt() if self.sent else InterruptedWait()


class _Current(threading.local):
    """The attempt of this thread."""

    exchange: Exchange | None = None


_CURRENT = _Current()


@contextlib.contextmanager
def exchanging(exchange: Exchange) -> Iterator[None]:
    """Connections that are used meanwhile in this thread belong to `exchange`."""
    _CURRENT.exchange = exchange
    try:
        yield
    finally:
        _CURRENT.exchange = None


def _note(handle: Handle | None, *, sending: bool = False) -> None:
    if _CURRENT.exchange is not None:
        _CURRENT.exchange.hold(handle, sending=sending)


def _connected(connection: Any) -> tuple[socket.socket, Handle]:
    """A socket with the first address of the host that answers; each can be shut down while it is connecting."""
    import socket

    from urllib3.util.connection import allowed_gai_family

    failure: OSError = OSError("the name has no address")
    host = connection._dns_host.strip("[]")
    for family, kind, proto, _, address in socket.getaddrinfo(
        host, connection.port, allowed_gai_family(), socket.SOCK_STREAM
    ):
        sock = socket.socket(family, kind, proto)
        try:
            for option in connection.socket_options or ():
                sock.setsockopt(*option)
            if isinstance(connection.timeout, int | float):
                sock.settimeout(connection.timeout)
            handle = Handle(sock)
            _note(handle)
            sock.connect(address)
            _note(handle)
        except OSError as error:
            sock.close()
            failure = error
            if isinstance(error, Gone):
                break
        else:
            return sock, handle
    raise failure


def _abortable(base: Any) -> Any:
    """A connection class of urllib3 whose connections tell the attempt of their thread which socket they use."""
    import socket

    from urllib3.exceptions import ConnectTimeoutError, LocationParseError, NameResolutionError, NewConnectionError

    class Connection(base):  # type: ignore[misc]
        _handle: Handle | None = None
        _opening = False

        def _new_conn(self) -> socket.socket:
            try:
                sock, self._handle = _connected(self)
            except socket.gaierror as error:
                raise NameResolutionError(self.host, self, error) from error
            except UnicodeError as error:
                raise LocationParseError(f"{self.host!r}, label empty or too long") from error
            except TimeoutError as error:
                raise ConnectTimeoutError(self, f"Connection to {self.host} timed out") from error
            except OSError as error:
                raise NewConnectionError(self, f"Failed to establish a new connection: {error}") from error
            sys.audit("http.client.connect", self, self.host, self.port)
            return sock

        def connect(self) -> None:
            self._opening = True
            try:
                super().connect()
            finally:
                self._opening = False

        def send(self, data: Any) -> None:
            if self.sock is None and self.auto_open:
                self.connect()
            _note(self._handle, sending=not self._opening)
            super().send(data)

        def close(self) -> None:
            self._handle = None
            super().close()

    return Connection


def adapter() -> HTTPAdapter:
    """What a requests session sends with so that its requests can be aborted."""
    from requests.adapters import HTTPAdapter
    from urllib3.connection import HTTPConnection, HTTPSConnection
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

    plain = type("Pool", (HTTPConnectionPool,), {"ConnectionCls": _abortable(HTTPConnection)})
    secure = type("SecurePool", (HTTPSConnectionPool,), {"ConnectionCls": _abortable(HTTPSConnection)})
    pools = {"http": plain, "https": secure}

    class Adapter(HTTPAdapter):
        def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
            super().init_poolmanager(*args, **kwargs)
            self.poolmanager.pool_classes_by_scheme = pools

        def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
            found = super().proxy_manager_for(*args, **kwargs)
            found.pool_classes_by_scheme = pools
            return found

    return Adapter()

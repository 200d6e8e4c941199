"""Which processes are alive: each holds a lock on a file of its own, which the system drops when it ends."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import weakref
from pathlib import Path

from keepa_cli.core.files import io_error
from keepa_cli.store.db import make_private

SESSION_LENGTH = 16
_IDS: dict[int, str] = {}
_IDS_LOCK = threading.Lock()


def session_id() -> str:
    """The name of this process; a fork gets another."""
    with _IDS_LOCK:
        return _IDS.setdefault(os.getpid(), os.urandom(SESSION_LENGTH // 2).hex())


class Session:
    """Shows to other processes that this one is alive, for as long as the object is."""

    def __init__(self, folder: Path) -> None:
        self.id = session_id()
        path = folder / self.id
        try:
            make_private(folder)
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            _try_lock(self._fd)
        except OSError as error:
            raise io_error("lock", path, error) from None
        self._end = weakref.finalize(self, _leave, self._fd, path)

    def let_go(self) -> None:
        """Drop a lock that a fork inherited; its owner keeps it."""
        self._end.detach()
        os.close(self._fd)


_OPEN: weakref.WeakValueDictionary[tuple[Path, str], Session] = weakref.WeakValueDictionary()
_OPENING = threading.Lock()


def session_in(folder: Path) -> Session:
    """The session of this process in `folder`: one for all its users."""
    with _OPENING:
        key = (folder, session_id())
        session = _OPEN.get(key)
        if session is None:
            session = _OPEN[key] = Session(folder)
        return session


def _after_fork() -> None:
    global _OPENING, _IDS_LOCK
    _OPENING, _IDS_LOCK = threading.Lock(), threading.Lock()
    for session in list(_OPEN.values()):
        session.let_go()
    _OPEN.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def is_alive(folder: Path, session: str) -> bool:
    """Whether the process of `session` still runs. A prober never stands in the way of another."""
    try:
        fd = os.open(folder / session, os.O_RDWR)
    except OSError:
        return False
    try:
        _try_lock(fd, shared=True)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def alive_in(folder: Path) -> list[str]:
    """The sessions of all processes that run."""
    return [path.name for path in folder.iterdir() if is_alive(folder, path.name)]


def forget(folder: Path, session: str) -> None:
    """Remove what a dead process left."""
    with contextlib.suppress(OSError):
        (folder / session).unlink()


def _leave(fd: int, path: Path) -> None:
    with contextlib.suppress(OSError):
        os.close(fd)
    with contextlib.suppress(OSError):
        path.unlink()


def _try_lock(fd: int, *, shared: bool = False) -> None:
    """Lock the file or raise OSError at once."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)

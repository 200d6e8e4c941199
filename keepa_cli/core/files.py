"""Atomic writes, several files all-or-nothing, locks, and confinement of outside paths."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from keepa_cli.core.errors import KeepaCliError, Kind

Chunks = bytes | Iterable[bytes]
_TEMP_PREFIX = ".tmp-"
_INTENT = ".commit-intent.json"
_LOCK = ".lock"


def io_error(action: str, path: Path | str, error: OSError) -> KeepaCliError:
    """An `io_error` that names the path and the system's reason."""
    reason = error.strerror or type(error).__name__
    return KeepaCliError(Kind.IO_ERROR, f"Cannot {action} {path}: {reason}.", details={"path": str(path)})


def read_bytes(path: Path, *, limit: int | None = None) -> bytes:
    """The content of a regular file. FIFOs, devices and folders are refused before they are opened."""
    try:
        info = path.stat()
        if not stat.S_ISREG(info.st_mode):
            raise KeepaCliError(Kind.IO_ERROR, f"{path} is not a regular file.", details={"path": str(path)})
        if limit is not None and info.st_size > limit:
            raise KeepaCliError(
                Kind.IO_ERROR, f"{path} has {info.st_size} bytes; the limit is {limit}.", details={"path": str(path)}
            )
        return path.read_bytes()
    except OSError as error:
        raise io_error("read", path, error) from None


def _temp_for(path: Path) -> Path:
    return path.with_name(f"{_TEMP_PREFIX}{path.name[:80]}-{os.urandom(6).hex()}")


def _write_temp(path: Path, data: Chunks, mode: int) -> Path:
    temp = _temp_for(path)
    try:
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        with os.fdopen(fd, "wb") as out:
            for chunk in (data,) if isinstance(data, bytes) else data:
                out.write(chunk)
            out.flush()
            os.fsync(out.fileno())
    except BaseException:
        temp.unlink(missing_ok=True)
        raise
    return temp


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` durable, where the system allows opening folders."""
    if sys.platform == "win32":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_atomic(path: Path, data: Chunks, *, mode: int = 0o644) -> None:
    """Replace `path` with `data` or leave it as it was; never a partial file. Raises `io_error`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temp = _write_temp(path, data, mode)
        try:
            temp.replace(path)
        except BaseException:
            temp.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)
    except OSError as error:
        raise io_error("write", path, error) from None


class Transaction:
    """Several files below one root, all or nothing, also across kill -9.

    Temp files are written first; then an intent file names every rename; then the renames happen. A crash
    before the intent leaves the old state, a crash after it is rolled forward by `recover(root)`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: dict[Path, tuple[Chunks, int]] = {}
        self._removed: list[Path] = []

    def add(self, path: Path, data: Chunks, *, mode: int = 0o644) -> None:
        self._files[path] = (data, mode)

    def remove(self, path: Path) -> None:
        """Delete `path` in the same step, after all files are in place; a missing one is no error."""
        self._removed.append(path)

    @property
    def paths(self) -> list[Path]:
        return list(self._files)

    def commit(self) -> None:
        """Write all files. The caller holds the lock of the root."""
        temps: dict[Path, Path] = {}
        intent = self.root / _INTENT
        try:
            for path, (data, mode) in self._files.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                temps[path] = _write_temp(path, data, mode)
            for folder in {p.parent for p in temps}:
                sync_folder(folder)
            moves = [[self._relative(t), self._relative(p)] for p, t in temps.items()]
            removes = [self._relative(p) for p in self._removed]
            write_atomic(intent, json.dumps({"version": 1, "moves": moves, "removes": removes}).encode())
        except BaseException as error:
            if not intent.exists():
                for temp in temps.values():
                    temp.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise io_error("write", self.root, error) from None
            raise
        try:
            _roll_forward(self.root, intent)
        except OSError as error:
            raise io_error("finish writing below", self.root, error) from None

    def _relative(self, path: Path) -> str:
        return os.path.relpath(path, self.root)


def _roll_forward(root: Path, intent: Path) -> None:
    folders: set[Path] = set()
    plan = json.loads(intent.read_bytes())
    for temp_name, final_name in plan["moves"]:
        temp, final = root / temp_name, root / final_name
        if temp.exists():
            temp.replace(final)
        folders.add(final.parent)
    for name in plan.get("removes", ()):
        (root / name).unlink(missing_ok=True)
        folders.add((root / name).parent)
    for folder in folders:
        sync_folder(folder)
    intent.unlink()
    sync_folder(root)


def recover(root: Path) -> bool:
    """Finish a commit that a crash interrupted and drop stray temp files. The caller holds the lock.

    Returns whether an interrupted commit was finished.
    """
    intent = root / _INTENT
    finished = intent.exists()
    if finished:
        _roll_forward(root, intent)
    for stray in root.rglob(_TEMP_PREFIX + "*"):
        stray.unlink(missing_ok=True)
    return finished


def pending_commit(root: Path) -> bool:
    """Whether a commit below `root` is under way or was interrupted."""
    return (root / _INTENT).exists()


@contextlib.contextmanager
def lock(folder: Path, *, what: str) -> Iterator[None]:
    """Hold the writer lock of `folder`; a second writer is refused at once with `io_error`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = open(folder / _LOCK, "a+b")  # noqa: SIM115, PTH123 - closed in the finally below
    except OSError as error:
        raise io_error("lock", folder, error) from None
    try:
        _lock_handle(handle.fileno(), folder, what)
        yield
    finally:
        handle.close()


def _lock_handle(fd: int, folder: Path, what: str) -> None:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise KeepaCliError(
            Kind.IO_ERROR,
            f"Another process is writing to {what} ({folder}).",
            details={"path": str(folder)},
            next_actions=["Wait until the other keepa-cli process has finished, then repeat the command."],
            retryable=True,
        ) from None


def confine(root: Path, relative: str) -> Path:
    """The path `relative` below `root` after resolving links; `invalid_arguments` when it leads outside."""
    base = root.resolve()
    path = (base / relative).resolve()
    if path != base and base not in path.parents:
        raise KeepaCliError(
            Kind.INVALID_ARGUMENTS, f"{relative!r} leads outside {root}.", details={"field": "path", "value": relative}
        )
    return path


def refuse_link(path: Path) -> None:
    """Refuse to write through a symbolic link."""
    if path.is_symlink():
        raise KeepaCliError(
            Kind.IO_ERROR, f"{path} is a symbolic link; it is never written through.", details={"path": str(path)}
        )


def check_writable(folder: Path) -> None:
    """Prove that a file can be made in `folder`, before anything is paid for. Raises `io_error`."""
    probe = folder / f"{_TEMP_PREFIX}probe-{os.urandom(6).hex()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch(mode=0o600)
        probe.unlink(missing_ok=True)  # a writer that cleans up beside us may have been faster
    except OSError as error:
        raise io_error("write to", folder, error) from None

"""Runs the recorder process and reads what it reports, whatever happens to either side."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, Any

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.keepa.wire import Source, WireResponse
from keepa_cli.transport.recorder import STOPPED, error_in

_SYSTEM = {"PATH", "SYSTEMROOT", "WINDIR", "COMSPEC", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"}
_LOCALE = {"LANG", "LANGUAGE", "TZ"}
_NETWORK = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}
_CERTIFICATES = {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}
_PYTHON = {"PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"}
_USER_PACKAGES = {"HOME", "USERPROFILE", "APPDATA", "PYTHONUSERBASE", "PYTHONNOUSERSITE"}
_PASSED_ON = frozenset(_SYSTEM | _LOCALE | _NETWORK | _CERTIFICATES | _PYTHON | _USER_PACKAGES)
_GRACE = 10.0


@dataclass
class Outcome:
    """How the recorder process ended: with a response, with an error, stopped on request, or dead (`died`)."""

    response: WireResponse | None = None
    error: KeepaCliError | None = None
    problems: list[str] = field(default_factory=list)
    stopped: bool = False
    died: bool = False
    exit_code: int | None = None
    stderr: str = ""


def run(
    job: Mapping[str, Any],
    env: Mapping[str, str],
    *,
    origin: str,
    limit: float,
    on_wait: Callable[[float, KeepaCliError], None] | None = None,
) -> Outcome:
    """Start the recorder, give it the job on its standard input, and wait for its outcome.

    Ctrl-C and SIGTERM let it finish the line it is writing, end it, and give `stopped`. After `limit` seconds it is
    killed.
    """
    with _terminate_as_interrupt():
        process = _start(env)
        errors = _Tail(process.stderr)
        watchdog = threading.Timer(limit, process.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            _feed(process, json.dumps(job).encode())
            outcome = _read(process.stdout, origin, on_wait)
            outcome.exit_code = process.wait()
        except KeyboardInterrupt:
            _stop(process)
            outcome = Outcome(stopped=True)
        except BaseException:
            process.kill()
            raise
        finally:
            watchdog.cancel()
            _hang_up(process)
    outcome.stderr = errors.text()
    return outcome


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """What the recorder needs of the caller's environment; no key, no settings."""
    kept = {k: v for k, v in env.items() if k.upper() in _PASSED_ON or k.upper().startswith("LC_")}
    package_root = str(Path(__file__).resolve().parents[2])
    paths = [package_root, *(p for p in env.get("PYTHONPATH", "").split(os.pathsep) if p)]
    return kept | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1"}


def _start(env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """The process, out of reach of the terminal's Ctrl-C: what was paid for is written before it ends."""
    apart: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "keepa_cli.transport.recorder"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(env),
        **apart,
    )


def _feed(process: subprocess.Popen[bytes], job: bytes) -> None:
    if process.stdin:
        with contextlib.suppress(OSError):
            process.stdin.write(job)
        with contextlib.suppress(OSError):
            process.stdin.close()


def _read(out: IO[bytes] | None, origin: str, on_wait: Callable[[float, KeepaCliError], None] | None) -> Outcome:
    """The rows that the recorder writes, up to the one that ends the call; `died` when there is none."""
    for line in out or ():
        try:
            row = json.loads(line)
        except ValueError:
            break
        if "wait" in row and on_wait:
            on_wait(row["wait"], error_in(row["error"]))
        elif "answer" in row and out:
            body = out.read(row["answer"]["size"])
            if len(body) < row["answer"]["size"]:
                break
            return Outcome(response=_response(row["answer"], body, origin), problems=row["problems"])
        elif STOPPED in row:
            return Outcome(stopped=True)
        elif "wait" not in row:
            return Outcome(error=error_in(row["error"]), problems=row.get("problems", []))
    return Outcome(died=True)


def _response(row: Mapping[str, Any], body: bytes, origin: str) -> WireResponse:
    headers = {name: tuple(values) for name, values in row["headers"].items()}
    source = Source(
        "record",
        "record",
        origin,
        fingerprint=row["fingerprint"],
        attempts=row["attempts"],
        elapsed_ms=row["elapsed_ms"],
    )
    return WireResponse(row["status"], row["reason"], headers, body, source)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask the recorder to end, which lets it finish a line of the journal; where it cannot be asked, wait first."""
    if sys.platform != "win32":
        process.terminate()
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _hang_up(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()


class _Tail:
    """The end of what a process writes to its standard error, read so that it never blocks."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        self._kept = b""
        self._thread = threading.Thread(target=self._drain, args=(pipe,), daemon=True)
        self._thread.start()

    def _drain(self, pipe: IO[bytes] | None) -> None:
        if pipe:
            with pipe:
                for line in pipe:
                    self._kept = (self._kept + line)[-4000:]

    def text(self) -> str:
        self._thread.join(1.0)
        return self._kept.decode("utf-8", "replace").strip()


@contextlib.contextmanager
def _terminate_as_interrupt() -> Iterator[None]:
    """While a paid call is under way a SIGTERM ends the program as Ctrl-C does, if nobody else handles it."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

"""Servers for evals: this program in a process of its own, without a key, in a scratch folder, answering recordings."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, cast

from keepa_cli.cassettes.roots import library_roots
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.evals.load_exchanges import HTTP, STDIO
from keepa_cli.evals.model import Eval

ANSWER_SECONDS = 30.0
EVAL_SECONDS = 120.0
END_SECONDS = 15.0
LONGEST_LINE = 32 << 20
NOWHERE = "http://127.0.0.1:9"
"""Where live calls would go: a port of this machine at which nothing listens."""
_LISTENING = re.compile(rb"http://([0-9.]+:\d+)/mcp")


def opener(ctx: Context) -> Callable[[Eval], AbstractContextManager[ServerProcess]]:
    """What starts the server of an eval and ends it, come what may."""

    @contextlib.contextmanager
    def opened(found: Eval) -> Iterator[ServerProcess]:
        with tempfile.TemporaryDirectory(prefix="keepa-eval-", ignore_cleanup_errors=True) as folder:
            server = ServerProcess(found, Path(os.path.realpath(folder)), ctx)
            try:
                yield server
            finally:
                server.kill()

    return opened


class ServerProcess:
    """One server, its three streams, and how long it may take."""

    def __init__(self, found: Eval, folder: Path, ctx: Context) -> None:
        work = folder / "work"
        work.mkdir()
        self.given: dict[str, Any] = {"work": str(work)}
        self._redactor = ctx.redactor
        self._until = time.monotonic() + EVAL_SECONDS
        self._process = subprocess.Popen(
            [sys.executable, "-m", "keepa_cli", *_arguments(found)],
            env=_environment(ctx, folder), cwd=work,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._input = cast(IO[bytes], self._process.stdin)
        self._lines = _reading(cast(IO[bytes], self._process.stdout))
        self._errors = _reading(cast(IO[bytes], self._process.stderr))
        self._said = b""
        if found.kind == HTTP:
            self._listening()

    def send(self, lines: list[bytes], *, end: bool) -> None:
        try:
            self._input.write(b"".join(lines))
            self._input.flush()
            if end:
                self._input.close()
        except OSError:
            raise self._broken("is gone") from None

    def receive(self) -> Any:
        try:
            line = self._lines.get(timeout=self._patience(ANSWER_SECONDS))
        except queue.Empty:
            raise self._broken("did not answer in time") from None
        if line is None:
            raise self._broken("ended before it answered")
        return self._frame(line)

    def request(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> dict[str, Any]:
        import http.client

        line = http.client.HTTPConnection(self.given["host"], timeout=self._patience(ANSWER_SECONDS))
        try:
            own = {name.lower() for name in headers}
            line.putrequest(method, path, skip_host="host" in own, skip_accept_encoding=True)
            for name, value in headers.items():
                line.putheader(name, value)
            if body is not None and not own & {"content-length", "transfer-encoding"}:
                line.putheader("Content-Length", str(len(body)))
            line.endheaders(body)
            answer = line.getresponse()
            read = answer.read(LONGEST_LINE)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._broken(f"did not answer {method} {path}: {type(error).__name__}") from None
        finally:
            line.close()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return {"status": answer.status, "headers": found, "body": _body(read, found.get("content-type", ""))}

    def finish(self) -> tuple[list[Any], int | None]:
        if "host" in self.given:
            return [], None
        with contextlib.suppress(OSError):
            self._input.close()
        left: list[Any] = []
        try:
            while (line := self._lines.get(timeout=self._patience(END_SECONDS))) is not None:
                left.append(self._frame(line))
            return left, self._process.wait(timeout=self._patience(END_SECONDS))
        except (queue.Empty, subprocess.TimeoutExpired):
            raise self._broken("did not end when its input ended") from None

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._input, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError, ValueError):
                if stream:
                    stream.close()

    def _listening(self) -> None:
        while (place := _LISTENING.search(self._said)) is None:
            try:
                line = self._errors.get(timeout=self._patience(ANSWER_SECONDS))
            except queue.Empty:
                raise self._broken("did not begin to listen") from None
            if line is None:
                raise self._broken("ended instead of listening")
            self._said += line
        host = place[1].decode()
        self.given |= {"host": host, "origin": f"http://{host}"}

    def _frame(self, line: bytes) -> Any:
        try:
            return json.loads(line.decode())
        except ValueError:
            raise self._broken(f"printed what is no JSON: {line[:120]!r}") from None

    def _patience(self, most: float) -> float:
        return max(0.01, min(most, self._until - time.monotonic()))

    def _broken(self, what: str) -> KeepaCliError:
        with contextlib.suppress(queue.Empty):
            while (line := self._errors.get(timeout=0.2)) is not None:
                self._said += line
        said = self._redactor.redact_then_cut(self._said.decode("utf-8", "replace").strip(), 400)
        message = f"The server {what}." + (f" It said: {said}" if said else "")
        return KeepaCliError(Kind.CONTRACT_ERROR, self._redactor.text(message))


def _arguments(found: Eval) -> list[str]:
    options = {k: v for k, v in found.server.items() if v is not False}
    words = [word for name, value in options.items() for word in (f"--{name}", *([] if value is True else [value]))]
    if found.kind == STDIO:
        return ["--stdio", *words]
    if found.kind == HTTP:
        return ["mcp", "serve", "--http", "--port", "0", *words]
    return ["mcp", "serve", *words] if words else ["--mcp"]


def _environment(ctx: Context, folder: Path) -> dict[str, str]:
    """A new user's, without a key, with the recordings of the caller."""
    kept = {k: v for k, v in ctx.env.items() if not k.startswith(("KEEPA_", "XDG_")) and k not in {"CI", "COLUMNS"}}
    package = str(Path(__file__).parents[2])
    return kept | {
        **dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), str(folder)),
        "KEEPA_CLI_CONFIG": str(folder / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(folder / "state"),
        "KEEPA_CLI_DATA_DIR": str(folder / "data"),
        "KEEPA_CLI_CASSETTES": os.pathsep.join(str(root.resolve()) for root in library_roots(ctx)),
        "KEEPA_BASE_URL": NOWHERE,
        "PYTHONPATH": os.pathsep.join(part for part in (package, kept.get("PYTHONPATH")) if part),
    }


def _reading(stream: IO[bytes]) -> queue.SimpleQueue[bytes | None]:
    """The lines of a stream, read in a thread of its own; None at its end."""
    found: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def read() -> None:
        with contextlib.suppress(OSError, ValueError):
            while line := stream.readline(LONGEST_LINE):
                found.put(line)
        found.put(None)

    threading.Thread(target=read, name="eval-server", daemon=True).start()
    return found


def _body(data: bytes, kind: str) -> Any:
    """JSON where the answer says so, the messages of an event stream, else text; null for nothing."""
    text = data.decode("utf-8", "replace")
    if not data:
        return None
    try:
        if kind.startswith("application/json"):
            return json.loads(text)
        if kind.startswith("text/event-stream"):
            rows = (line[5:].strip() for line in text.splitlines() if line.startswith("data:"))
            return [json.loads(row) for row in rows if row]
    except ValueError:
        return text
    return text

"""The recorder process: one call under vcrpy, in the only thread of a process that does nothing else.

The job comes as one JSON document on standard input, the key with it; nothing secret is in arguments or environment.
Standard output carries JSON lines: waits, then either an error, or an answer whose body follows as raw bytes.
The answer is the untouched one; what is kept of it goes to the journal, sanitized and synced, before that.
"""

from __future__ import annotations

import base64
import json
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO

from keepa_cli.cassettes.journal import RECORDER, Journal
from keepa_cli.core.errors import KeepaCliError, Kind, internal_error
from keepa_cli.core.files import lock
from keepa_cli.core.redact import Redactor
from keepa_cli.keepa.wire import WireRequest, WireResponse
from keepa_cli.transport.live import LiveTransport
from keepa_cli.transport.policy import RetryPolicy
from keepa_cli.transport.tape import Tape, recording

STOPPED = "stopped"


class Stopped(BaseException):
    """The caller was interrupted; what is journalled stays, nothing more is sent."""


class Interruptions:
    """Turns SIGTERM into Stopped, but not inside `undisturbed`. Ctrl-C is the caller's business."""

    def __init__(self) -> None:
        self._shielded = False
        self._asked = False
        signal.signal(signal.SIGTERM, self._handle)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def _handle(self, _signal: int, _frame: FrameType | None) -> None:
        self._asked = True
        if not self._shielded:
            raise Stopped

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        self._shielded = True
        try:
            yield
        finally:
            self._shielded = False
        if self._asked:
            raise Stopped


class Channel:
    """Writes to the calling process; once that is gone, silently nothing: the journal is what matters then."""

    def __init__(self, out: BinaryIO) -> None:
        self._out: BinaryIO | None = out

    def send(self, row: Mapping[str, Any], body: bytes = b"") -> None:
        if self._out is None:
            return
        try:
            self._out.write(json.dumps(row).encode() + b"\n" + body)
            self._out.flush()
        except OSError:
            self._out = None


def main() -> int:
    """Read the job, do the call, report. Returns the exit code."""
    channel = Channel(sys.stdout.buffer)
    sys.stdout = sys.stderr
    interruptions = Interruptions()
    redactor = Redactor()
    try:
        job = json.loads(sys.stdin.buffer.read())
        for secret in (job["key"], *job["secrets"]):
            redactor.add_secret(secret)
        _record(job, channel, interruptions, redactor)
    except Stopped:
        channel.send({STOPPED: True})
    except KeepaCliError as error:
        channel.send({"error": error_out(error)})
    except Exception as error:  # noqa: BLE001 - a traceback could quote the URL with the key
        channel.send({"error": error_out(internal_error(error, "The recorder", charged="unknown"))})
    return 0


def _record(job: Mapping[str, Any], channel: Channel, interruptions: Interruptions, redactor: Redactor) -> None:
    path = Path(job["journal"])
    request = request_in(job["request"])
    with lock(path.parent / RECORDER, what=f"the recording {path.parent.name}"):
        journal = Journal.create(path, job["meta"])
        tape = Tape(journal, redactor, request, monotonic=time.monotonic, undisturbed=interruptions.undisturbed)
        try:
            response = _call(job, request, tape, channel, redactor)
        except KeepaCliError as error:
            _end(journal, tape, {"kind": error.kind.value})
            channel.send({"error": error_out(error), "problems": tape.problems})
        else:
            _end(journal, tape, {"status": response.status})
            channel.send(_answer_out(response, tape), response.body)
        finally:
            journal.close()


def _call(
    job: Mapping[str, Any], request: WireRequest, tape: Tape, channel: Channel, redactor: Redactor
) -> WireResponse:
    def waiting(seconds: float, error: KeepaCliError) -> None:
        channel.send({"wait": seconds, "error": error_out(error)})

    transport = LiveTransport(
        job["base_url"],
        job["key"],
        job["timeout"],
        RetryPolicy(**job["policy"]),
        redactor=redactor,
        connect_timeout=job["connect_timeout"],
        on_wait=waiting,
        before_send=tape.sending,
    )
    with recording(tape, job["connect_timeout"]):
        return transport.send(request, retry=job["retry"])


def _end(journal: Journal, tape: Tape, outcome: dict[str, Any]) -> None:
    try:
        journal.end(outcome | {"problems": tape.problems})
    except KeepaCliError as error:
        tape.problems.append(error.message)


def _answer_out(response: WireResponse, tape: Tape) -> dict[str, Any]:
    source = response.source
    return {
        "answer": {
            "status": response.status,
            "reason": response.reason,
            "headers": {name: list(values) for name, values in response.headers.items()},
            "size": len(response.body),
            "fingerprint": source.fingerprint,
            "attempts": source.attempts,
            "elapsed_ms": source.elapsed_ms,
        },
        "problems": tape.problems,
    }


def error_out(error: KeepaCliError) -> dict[str, Any]:
    return {
        "kind": error.kind.value,
        "message": error.message,
        "details": error.details,
        "next_actions": error.next_actions,
        "retryable": error.retryable,
        "token_bucket": error.token_bucket,
    }


def error_in(row: Mapping[str, Any]) -> KeepaCliError:
    """The error that `error_out` wrote."""
    return KeepaCliError(
        Kind(row["kind"]),
        row["message"],
        details=row["details"],
        next_actions=row["next_actions"],
        retryable=row["retryable"],
        token_bucket=row["token_bucket"],
    )


def request_out(request: WireRequest) -> dict[str, Any]:
    return {
        "method": request.method,
        "path": request.path,
        "query": [list(pair) for pair in request.query],
        "body": base64.b64encode(request.body).decode("ascii"),
        "content_type": request.content_type,
    }


def request_in(row: Mapping[str, Any]) -> WireRequest:
    """The request that `request_out` wrote."""
    query = tuple((str(name), str(value)) for name, value in row["query"])
    return WireRequest(row["method"], row["path"], query, base64.b64decode(row["body"]), row["content_type"])


if __name__ == "__main__":
    sys.exit(main())

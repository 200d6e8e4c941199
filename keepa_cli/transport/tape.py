"""What the recorder does with each exchange: sanitize, journal, and never get in the way of the answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from typing import Any

from keepa_cli.cassettes.journal import Journal
from keepa_cli.cassettes.model import Exchange
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.redact import REDACTED, Redactor
from keepa_cli.keepa.wire import WireRequest

WITHHELD = f'{{"keepa_cli":"{REDACTED}: this answer could not be sanitized and was not kept"}}'.encode()


class Tape:
    """Keeps the exchanges of one call. `problems` says why an exchange is not kept as it should be.

    `undisturbed` guards each write, so that an interruption waits until the line is on disk.
    """

    def __init__(
        self,
        journal: Journal,
        redactor: Redactor,
        request: WireRequest,
        *,
        monotonic: Callable[[], float],
        undisturbed: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.problems: list[str] = []
        self.kept = 0
        self._journal, self._redactor, self._request = journal, redactor, request
        self._monotonic, self._undisturbed = monotonic, undisturbed
        self._sent_at = monotonic()

    def sending(self, attempt: int) -> None:
        """Called before each attempt. Raises `io_error` while nothing has been paid for yet."""
        with self._undisturbed():
            self._journal.sending(attempt)
        self._sent_at = self._monotonic()

    def exchanged(self, request: Any, response: Mapping[str, Any]) -> None:
        """Called by vcrpy with each exchange. Never raises: the caller still gets the answer that was paid for."""
        with self._undisturbed():
            notes: dict[str, Any] = {
                "duration_ms": round((self._monotonic() - self._sent_at) * 1000, 1),
                "recorded_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            }
            try:
                self._journal.append(self._sanitized(request, response, notes), notes)
                self.kept += 1
            except KeepaCliError as error:
                self.problems.append(error.message)
            except Exception as error:  # noqa: BLE001 - vcrpy would hand it to the caller instead of the answer
                self.problems.append(f"the exchange could not be journalled ({type(error).__name__})")

    def _sanitized(self, request: Any, response: Mapping[str, Any], notes: dict[str, Any]) -> Exchange:
        try:
            from keepa_cli.cassettes.sanitize import SANITIZER_VERSION, sanitize

            exchange, counts = sanitize(to_exchange(request, response), self._redactor)
            notes |= {"sanitizer": SANITIZER_VERSION, "redacted": counts}
        except Exception as error:  # noqa: BLE001 - fail closed: nothing that was not sanitized is written
            self.problems.append(f"the answer could not be sanitized ({type(error).__name__})")
            notes["withheld"] = True
            return self._withheld(response)
        return exchange

    def _withheld(self, response: Mapping[str, Any]) -> Exchange:
        status = response.get("status", {}).get("code", 0)
        headers = {"Content-Type": ["application/json"], "Content-Length": [str(len(WITHHELD))]}
        return Exchange(
            self._request.method, self._request.url(), {}, self._request.body, int(status), "", headers, WITHHELD
        )


@contextmanager
def recording(tape: Tape, connect_timeout: float) -> Iterator[None]:
    """vcrpy's patches, with its file handling switched off: every exchange goes to `tape` as it came off the wire."""
    import urllib3.connection
    import vcr
    from vcr.persisters.filesystem import CassetteNotFoundError
    from vcr.record_mode import RecordMode

    class NoFile:
        @staticmethod
        def load_cassette(cassette_path: str, serializer: Any) -> Any:
            raise CassetteNotFoundError

        @staticmethod
        def save_cassette(cassette_path: str, cassette_dict: Any, serializer: Any) -> None:
            """Nothing: the journal is the only file."""

    logging.getLogger("vcr").setLevel(logging.WARNING)
    recorder = vcr.VCR(record_mode=RecordMode.ALL)
    recorder.register_persister(NoFile)
    with _as_live(urllib3.connection.HTTPConnection, connect_timeout), recorder.use_cassette("recording") as cassette:
        cassette.append = tape.exchanged
        yield


@contextmanager
def _as_live(connection: Any, connect_timeout: float) -> Iterator[None]:
    """Make vcrpy's inner connection behave as without vcrpy.

    It would undo compression itself, silently where the stream is cut, and connect with the timeout for reading.
    """
    request, connect = connection.request, connection._new_conn

    def request_undecoded(self: Any, *args: Any, **options: Any) -> Any:
        return request(self, *args, **{"decode_content": False} | options)

    def connect_in_time(self: Any) -> Any:
        usual, self.timeout = self.timeout, connect_timeout
        try:
            return connect(self)
        finally:
            self.timeout = usual

    connection.request, connection._new_conn = request_undecoded, connect_in_time
    try:
        yield
    finally:
        connection.request, connection._new_conn = request, connect


def to_exchange(request: Any, response: Mapping[str, Any]) -> Exchange:
    """vcrpy's request and response as an Exchange."""
    body = response["body"]["string"]
    return Exchange(
        method=request.method,
        url=request.uri,
        request_headers={str(k): _values(v) for k, v in request.headers.items()},
        request_body=request.body_bytes or b"",
        status=response["status"]["code"],
        reason=response["status"]["message"] or "",
        headers={str(k): _values(v) for k, v in response["headers"].items()},
        body=body.encode("utf-8") if isinstance(body, str) else bytes(body or b""),
    )


def _values(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [v.decode("latin-1") if isinstance(v, bytes) else str(v) for v in values]

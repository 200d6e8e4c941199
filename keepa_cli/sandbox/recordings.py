"""Recordings of a cassette library as the only answers: bodies, status and kept headers byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.keepa.wire import WireRequest
from keepa_cli.sandbox.bodies import Body
from keepa_cli.sandbox.messages import Call, Reply, dumps
from keepa_cli.transport.replay import really_encoded

if TYPE_CHECKING:
    from keepa_cli.cassettes.library import Library

PER_CONNECTION = frozenset({"connection", "content-length", "keep-alive", "transfer-encoding"})


class Recordings:
    """Plays the library of `roots`. No key is asked for and nothing is charged."""

    def __init__(self, roots: Sequence[Path]) -> None:
        from keepa_cli.cassettes.library import Library

        self.library: Library = Library(list(roots))

    def play(self, call: Call, now_ms: int) -> Reply:
        """The recorded answer as it was, or 404 with an error object that names the fingerprint."""
        body, kind = (call.body, "application/json; charset=UTF-8") if call.body else (b"", None)
        try:
            found = self.library.play(WireRequest(call.method, call.path, call.pairs, body, kind)).exchange
        except KeepaCliError as miss:
            return _miss(miss, now_ms)
        dropped = PER_CONNECTION if really_encoded(found) else PER_CONNECTION | {"content-encoding"}
        headers = tuple(
            (name, value) for name, values in found.headers.items() if name.lower() not in dropped for value in values
        )
        return Reply(found.status, Body((found.body,)), headers, reason=found.reason, plain=True)


def _miss(error: KeepaCliError, now_ms: int) -> Reply:
    """A miss is 404; a recording that cannot be read is 500."""
    missing = error.kind is Kind.CASSETTE_MISS
    kind = "cassetteMiss" if missing else "cassetteInvalid"
    told = {"details": error.details, "message": error.message, "type": kind}
    return Reply(404 if missing else 500, Body((dumps({"error": told, "timestamp": now_ms}),)))

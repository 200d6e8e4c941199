"""Answers from recordings. There is no network code path here, and nothing that could open a socket is imported."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from keepa_cli.cassettes.codec import invalid_cassette
from keepa_cli.cassettes.content import header, is_text
from keepa_cli.cassettes.fingerprint import normal_path, of_recording, request_path
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.keepa.wire import Source, WireResponse
from keepa_cli.transport.body import BodyError, decode

if TYPE_CHECKING:
    from keepa_cli.cassettes.library import Hit, Library
    from keepa_cli.cassettes.model import Exchange
    from keepa_cli.keepa.wire import WireRequest

_GZIP = b"\x1f\x8b"
_FRAMING = frozenset({"content-length", "transfer-encoding", "connection", "keep-alive"})


class ReplayTransport:
    """Answers each request from the library; a miss is an error and never goes live."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def send(self, request: WireRequest, *, retry: bool = True) -> WireResponse:
        """The next recorded answer; `retry` means nothing here. Raises `cassette_miss` or `cassette_invalid`."""
        return to_wire(self.library.play(request), "cassette")


class FixtureTransport:
    """Answers every request from one fixture: the answers of the same request, else all of them in their order.

    The last answer is held. A request for another endpoint than the fixture's is refused.
    """

    def __init__(self, library: Library, name: str) -> None:
        self.library = library
        self.name = name
        self._lock = threading.Lock()
        self._played: dict[str, int] = {}

    def send(self, request: WireRequest, *, retry: bool = True) -> WireResponse:
        """The next answer of the fixture; `retry` means nothing here.

        Raises `fixture_not_found`, `invalid_arguments`, `cassette_invalid`.
        """
        hits = self.library.fixture_hits(self.name)
        wanted = of_recording(request)
        same = [hit for hit in hits if hit.fingerprint == wanted] or _of_endpoint(hits, request, self.name)
        turn = wanted if same[0].fingerprint == wanted else "any"
        with self._lock:
            ordinal = min(self._played.get(turn, 0), len(same) - 1)
            self._played[turn] = ordinal + 1
        return to_wire(same[ordinal], "fixture")


def _of_endpoint(hits: list[Hit], request: WireRequest, name: str) -> list[Hit]:
    path, method = normal_path(request.path), request.method.upper()
    found = [h for h in hits if h.exchange.method.upper() == method and request_path(h.exchange.url) == path]
    if not found:
        held = sorted({f"{hit.exchange.method} {request_path(hit.exchange.url)}" for hit in hits})
        raise KeepaCliError(
            Kind.INVALID_ARGUMENTS,
            f"The fixture {name!r} answers {', '.join(held) or 'nothing'}; this command asks {request.method} {path}.",
            details={"field": "fixture", "value": name, "answers": held, "asked": f"{request.method} {path}"},
            next_actions=["kc cassettes list"],
        )
    return found


def to_wire(hit: Hit, kind: str) -> WireResponse:
    """A recorded answer as a transport gives it: decoded body, lower-case header names, no framing headers."""
    exchange = hit.exchange
    headers = {name.lower(): tuple(values) for name, values in exchange.headers.items()}
    body = exchange.body
    if "content-encoding" in headers:
        body = _decoded(body, headers, hit)
    kept = {name: values for name, values in headers.items() if name not in _FRAMING}
    source = Source(kind, hit.location, hit.origin, hit.fingerprint, hit.recorded_at)
    return WireResponse(exchange.status, exchange.reason, kept, body, source)


def _decoded(body: bytes, headers: dict[str, tuple[str, ...]], hit: Hit) -> bytes:
    """Undo an encoding that is really there: vcrpy often stores the decoded body under the header of the encoded."""
    codings = headers.pop("content-encoding")
    if not body:
        return body
    try:
        return decode(body, {"content-encoding": codings})
    except BodyError as error:
        if error.cause == "undecodable" and not body.startswith(_GZIP):
            if not is_text(body):
                headers["content-encoding"] = codings
            return body
        raise invalid_cassette(hit.location, f"the compressed body of answer {hit.ordinal} is broken") from None


def really_encoded(exchange: Exchange) -> bool:
    """Whether the stored body still has the encoding its header names: many recorders store it decoded."""
    codings = tuple(header(exchange.headers, "content-encoding"))
    if not codings or not exchange.body:
        return False
    try:
        return decode(exchange.body, {"content-encoding": codings}) != exchange.body
    except BodyError as error:
        return error.cause != "undecodable" or not is_text(exchange.body)

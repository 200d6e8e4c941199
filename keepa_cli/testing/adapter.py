"""A requests adapter that answers from cassettes, so that other people's clients run without a key or a network."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from http.client import HTTPMessage
from pathlib import Path
from typing import Any, cast

import requests
from requests.adapters import BaseAdapter, HTTPAdapter
from urllib3 import HTTPHeaderDict, HTTPResponse

from keepa_cli.cassettes.fingerprint import query_pairs, request_path
from keepa_cli.cassettes.library import Library
from keepa_cli.cassettes.model import Exchange
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.keepa.wire import WireRequest
from keepa_cli.transport.replay import really_encoded

Roots = str | Path | Iterable[str | Path]


class ReplayError(requests.ConnectionError):
    """No usable recording. `kind` and `details` are those of the keepa-cli error; the text never holds a key."""

    def __init__(self, message: str, kind: str, details: Mapping[str, Any], request: Any = None) -> None:
        super().__init__(message, request=request)
        self.kind = kind
        self.details = dict(details)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.kind, self.details)


class CassetteMiss(ReplayError):
    """Nothing was recorded for this request."""


class ReplayAdapter(BaseAdapter):
    """Mount it on a requests session; what the session then gives equals the recorded live answer.

    Takes a Library, or the folders to make one from. It has no way to reach a network.
    """

    def __init__(self, library: Library | Roots) -> None:
        super().__init__()
        self.library = library if isinstance(library, Library) else Library(_paths(library))

    def send(self, request: requests.PreparedRequest, stream: bool = False, *_: Any, **__: Any) -> requests.Response:
        """The recorded answer. Raises CassetteMiss or ReplayError, which are requests.ConnectionError."""
        try:
            hit = self.library.play(_wire(request))
        except KeepaCliError as error:
            kind = CassetteMiss if error.kind is Kind.CASSETTE_MISS else ReplayError
            raise kind(error.message, error.kind.value, error.details, request) from None
        raw = _raw(hit.exchange, request)
        response = HTTPAdapter.build_response(cast(HTTPAdapter, self), request, raw)
        if not stream and "content-encoding" not in raw.headers:  # at once instead of in small chunks
            response._content = raw.read()
            response._content_consumed = True  # type: ignore[attr-defined]
        return response

    def close(self) -> None:
        """Nothing is held open."""


def replay_session(library: Library | Roots) -> requests.Session:
    """A session that answers everything from cassettes and takes no setting from the environment."""
    session = requests.Session()
    session.trust_env = False
    adapter = ReplayAdapter(library)
    for prefix in list(session.adapters):
        session.mount(prefix, adapter)
    return session


def _paths(roots: Roots) -> list[str | Path]:
    return [roots] if isinstance(roots, str | Path) else list(roots)


def _wire(request: requests.PreparedRequest) -> WireRequest:
    url = request.url or ""
    pairs = tuple(query_pairs(url))
    return WireRequest(request.method or "GET", request_path(url), pairs, _body(request.body))


def _body(body: Any) -> bytes:
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, bytes | bytearray):
        return bytes(body)
    if hasattr(body, "read"):
        return _body(body.read())
    return b"".join(_body(part) for part in body)


class _Original:
    """What requests reads cookies from."""

    def __init__(self, message: HTTPMessage) -> None:
        self.msg = message

    def isclosed(self) -> bool:
        return True

    def close(self) -> None:
        pass


def _raw(exchange: Exchange, request: requests.PreparedRequest) -> HTTPResponse:
    headers, message = HTTPHeaderDict(), HTTPMessage()
    encoded = really_encoded(exchange)
    for name, values in exchange.headers.items():
        if name.lower() == "content-encoding" and not encoded:
            continue
        for value in values:
            headers.add(name, value)
            if name.lower() == "set-cookie":
                message[name] = value
    return HTTPResponse(
        body=io.BytesIO(exchange.body),
        headers=headers,
        status=exchange.status,
        version=11,
        reason=exchange.reason,
        preload_content=False,
        original_response=cast(Any, _Original(message)),
        request_method=request.method,
        enforce_content_length=False,  # recorders keep the length of the compressed body
    )

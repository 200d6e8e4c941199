"""Answers that were paid for and may not become recordings: kept for their owner, the offending parts cut out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from keepa_cli.cassettes.model import Exchange, Finding
from keepa_cli.core.files import write_atomic
from keepa_cli.core.redact import REDACTED, Redactor
from keepa_cli.keepa.wire import BASE_URL

WITHHELD = f'{{"keepa_cli":"{REDACTED}: this answer was not kept"}}'.encode()
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"')
_MARK = f'"{REDACTED}"'.encode()


def findings_in(exchanges: Sequence[Exchange], name: str, redactor: Redactor) -> list[Finding]:
    """What must not be written, in any of the exchanges."""
    from keepa_cli.cassettes.scan import scan_exchange

    return [f for exchange in exchanges for f in scan_exchange(exchange, name, redactor)]


def keep(folder: Path, name: str, exchanges: Sequence[Exchange], redactor: Redactor, now: datetime) -> Path:
    """Write the exchanges to `folder` without their offending parts and return the path."""
    from keepa_cli.cassettes.codec import dump_cassette
    from keepa_cli.cassettes.fingerprint import fingerprint

    clean = [cut(exchange, redactor) for exchange in exchanges]
    short = fingerprint(clean[0].method, clean[0].url, clean[0].request_body)[:8]
    path = folder / f"{name}-{now.strftime('%Y%m%dT%H%M%S%fZ')}-{short}.yaml"
    write_atomic(path, dump_cassette(clean), mode=0o600)
    return path


def cut(exchange: Exchange, redactor: Redactor) -> Exchange:
    """The exchange without the parts that the scan objects to; at worst nothing but its method and status."""

    def dirty(data: bytes) -> bool:
        return _dirty(data, redactor)

    if not findings_in([exchange], "", redactor):
        return exchange
    lesser = replace(
        exchange,
        url=_cut_url(exchange.url, redactor),
        request_headers=_cut_headers(exchange.request_headers, redactor),
        request_body=b"" if dirty(exchange.request_body) else exchange.request_body,
        headers=_cut_headers(exchange.headers, redactor),
        reason="" if dirty(exchange.reason.encode()) else exchange.reason,
        body=_cut_body(exchange.body, redactor),
    )
    if not findings_in([lesser], "", redactor):
        return lesser
    lesser = replace(lesser, headers={}, request_headers={}, request_body=b"", body=WITHHELD)
    return (
        lesser
        if not findings_in([lesser], "", redactor)
        else replace(lesser, method="GET", url=BASE_URL + "/", reason="")
    )


def _dirty(data: bytes, redactor: Redactor) -> bool:
    from keepa_cli.cassettes.scan import scan_bytes

    return bool(scan_bytes(data, "", redactor))


def _cut_body(body: bytes, redactor: Redactor) -> bytes:
    """Strings that the scan objects to become the mark; every other token stays as it is."""
    spans = [m.span() for m in _STRING.finditer(body)]
    parts: list[bytes] = []
    at = 0
    for start, end in _dirty_spans(body, spans, redactor):
        parts += (body[at:start], _MARK)
        at = end
    result = b"".join((*parts, body[at:]))
    return WITHHELD if _dirty(result, redactor) else result


def _dirty_spans(body: bytes, spans: list[tuple[int, int]], redactor: Redactor) -> list[tuple[int, int]]:
    """The strings to cut, found by halving: most of a large body is clean."""
    if not spans or not _dirty(body[spans[0][0] : spans[-1][1]], redactor):
        return []
    if len(spans) == 1:
        return spans
    middle = len(spans) // 2
    found = _dirty_spans(body, spans[:middle], redactor) + _dirty_spans(body, spans[middle:], redactor)
    # A name and its value can be objectionable only together: then the value goes.
    return found or spans[-1:]


def _cut_headers(headers: Mapping[str, list[str]], redactor: Redactor) -> dict[str, list[str]]:
    return {n: v for n, v in headers.items() if not _dirty("\n".join([n, *v, f"{n}: {v}"]).encode(), redactor)}


def _cut_url(url: str, redactor: Redactor) -> str:
    if not _dirty(url.encode(), redactor):
        return url
    path = BASE_URL + urlsplit(url).path
    return BASE_URL + "/" if _dirty(path.encode(), redactor) else path

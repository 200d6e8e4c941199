"""Cassettes made for tests, and what a library says when it has none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.cassettes.codec import dump_cassette
from keepa_cli.cassettes.fingerprint import of_request
from keepa_cli.cassettes.library import Library
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.names import SIDECAR, file_name
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.keepa.wire import WireRequest

KEY = "FAKEKEY0" * 8


def ask(asin: str = "B00AAAAAA1", path: str = "/product", method: str = "GET", **more: str) -> WireRequest:
    return WireRequest(method, path, (("domain", "1"), ("asin", asin), *more.items()))


def answer(request: WireRequest, body: bytes = b"{}", host: str = "https://api.keepa.com", **more: Any) -> Exchange:
    values = {
        "method": request.method,
        "url": request.url(host),
        "request_headers": {},
        "request_body": request.body,
        "status": 200,
        "reason": "OK",
        "headers": {"content-type": ["application/json"]},
        "body": body,
    }
    return Exchange(**(values | more))


def write(path: Path, *exchanges: Exchange) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(dump_cassette(exchanges)))
    return path


def promote(root: Path, name: str, request: WireRequest, *bodies: bytes, evidence: Any = None) -> Path:
    folder = root / request.path.strip("/")
    path = write(folder / file_name(name, of_request(request)), *(answer(request, body) for body in bodies or (b"{}",)))
    if evidence is not None:
        path.with_name(path.stem + SIDECAR).write_text(json.dumps(evidence))
    return path


def miss(library: Library, request: WireRequest) -> KeepaCliError:
    with pytest.raises(KeepaCliError) as failure:
        library.play(request)
    assert failure.value.kind is Kind.CASSETTE_MISS
    return failure.value


def broken(library: Library, request: WireRequest) -> KeepaCliError:
    with pytest.raises(KeepaCliError) as failure:
        library.play(request)
    assert failure.value.kind is Kind.CASSETTE_INVALID
    return failure.value

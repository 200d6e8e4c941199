"""What a body becomes in a cassette file: JSON is laid out anew, so its length and hash are those of the layout."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from keepa_cli.cassettes import relayout
from keepa_cli.cassettes.model import Exchange


@dataclass(frozen=True)
class Stored:
    """An exchange with the Content-Length of its stored body, and that body's hash and size."""

    exchange: Exchange
    sha256: str
    size: int


def stored(exchange: Exchange) -> Stored:
    """How `exchange` will be replayed from a file. Its body is read once and not copied."""
    sha256, size = _measured(exchange.body)
    headers = {
        name: [str(size)] if name.lower() == "content-length" else values for name, values in exchange.headers.items()
    }
    return Stored(replace(exchange, headers=headers), sha256, size)


def _measured(body: bytes) -> tuple[str, int]:
    digest, size = hashlib.sha256(), -1
    try:
        for line in relayout.lines(body):
            if size >= 0:
                digest.update(b"\n")
            digest.update(line)
            size += len(line) + 1
    except relayout.NotJson:
        return hashlib.sha256(body).hexdigest(), len(body)
    return digest.hexdigest(), size

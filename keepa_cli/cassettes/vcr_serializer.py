"""The serializer "keepa" for vcrpy: the same strict reading and stable writing as the library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from keepa_cli.cassettes.codec import dump_cassette, parse_cassette
from keepa_cli.cassettes.model import Exchange


def deserialize(text: str | bytes) -> dict[str, Any]:
    """A cassette text as vcrpy's document. Raises `cassette_invalid` for anything the library would refuse."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return {"version": 1, "interactions": [_document(exchange) for exchange in parse_cassette(data, "the cassette")]}


def serialize(document: Mapping[str, Any]) -> str:
    """vcrpy's document as the text of a cassette file."""
    exchanges = [_exchange(item["request"], item["response"]) for item in document["interactions"]]
    return b"".join(dump_cassette(exchanges)).decode("ascii")


def _document(exchange: Exchange) -> dict[str, Any]:
    return {
        "request": {
            "method": exchange.method,
            "uri": exchange.url,
            "body": exchange.request_body or None,
            "headers": {name: list(values) for name, values in exchange.request_headers.items()},
        },
        "response": {
            "status": {"code": exchange.status, "message": exchange.reason},
            "headers": {name: list(values) for name, values in exchange.headers.items()},
            "body": {"string": exchange.body},
        },
    }


def _exchange(request: Mapping[str, Any], response: Mapping[str, Any]) -> Exchange:
    return Exchange(
        method=request["method"],
        url=request["uri"],
        request_headers=_headers(request.get("headers") or {}),
        request_body=_bytes(request.get("body")),
        status=int(response["status"]["code"]),
        reason=response["status"].get("message") or "",
        headers=_headers(response.get("headers") or {}),
        body=_bytes((response.get("body") or {}).get("string")),
    )


def _headers(headers: Mapping[str, Any]) -> dict[str, list[str]]:
    return {_text(name): [_text(v) for v in _many(values)] for name, values in headers.items()}


def _many(values: Any) -> Iterable[Any]:
    return values if isinstance(values, list | tuple) else [values]


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _bytes(value: Any) -> bytes:
    if value is None:
        return b""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if hasattr(value, "read"):
        return _bytes(value.read())
    return b"".join(_bytes(part) for part in value)

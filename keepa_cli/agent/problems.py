"""Failures of the protocol itself, as JSON-RPC numbers them. What a tool answers is never one of these."""

from __future__ import annotations

from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
SERVER_ERROR = -32603


LONGEST, LONGEST_ITEM, MOST_ITEMS = 2500, 200, 50
"""Of texts and lists in a failure: they repeat what was sent, and that may be large."""


class ProtocolError(Exception):
    """A request that cannot be served: code, sentence, and data that names what was wrong. Holds no secret."""

    def __init__(self, code: int, message: str, **data: Any) -> None:
        self.code, self.message = code, _short(message, LONGEST)
        self.data = {name: _short(value, LONGEST) for name, value in data.items()}
        super().__init__(self.message)


def _short(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= longest else value[:longest] + "..."
    if isinstance(value, list):
        return [_short(item, LONGEST_ITEM) for item in value[:MOST_ITEMS]]
    return value


def bad_params(message: str, **data: Any) -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, message, **data)

"""Failures of the protocol itself, as JSON-RPC numbers them. What a tool answers is never one of these."""

from __future__ import annotations

from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
SERVER_ERROR = -32603


class ProtocolError(Exception):
    """A request that cannot be served: code, sentence, and data that names what was wrong. Holds no secret."""

    def __init__(self, code: int, message: str, **data: Any) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


def bad_params(message: str, **data: Any) -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, message, **data)

"""JSON-RPC frames: bytes to messages of the SDK, and every bad frame to an answer."""

from __future__ import annotations

from typing import Any

import mcp_types as types

from keepa_cli.agent.problems import INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from keepa_cli.interfaces.wire import TooLong, encode, strict_json

LONGEST_METHOD = 200
LATEST_HANDSHAKE = "2025-11-25"
OPENING = {
    "protocolVersion": LATEST_HANDSHAKE,
    "capabilities": {},
    "clientInfo": {"name": "unknown", "version": "0"},
}
"""What an `initialize` without parameters stands for."""


class BadFrame(Exception):
    """A frame that is answered here: `answer` is the JSON-RPC error."""

    def __init__(self, code: int, message: str, ident: Any = None, **data: Any) -> None:
        super().__init__(message)
        error = {"code": code, "message": message} | ({"data": data} if data else {})
        self.answer = {"jsonrpc": "2.0", "id": ident, "error": error}


def decode(line: bytes | TooLong, *, dual: bool) -> Any:
    """The message of one line; None for a response that belongs to nothing, for nobody answers answers. Raises
    BadFrame. Without `dual` a client of the era without handshake is told that its methods are unknown, and falls
    back."""
    found = _object(line)
    ident: Any = found.get("id")
    usable = isinstance(ident, str) or (isinstance(ident, int) and not isinstance(ident, bool))
    if "method" not in found and ("result" in found or "error" in found):
        return _response(found) if usable else None
    if found.get("params", 0) is None:
        del found["params"]
    if not _is_message(found, usable=usable):
        raise BadFrame(INVALID_REQUEST, "Invalid Request", ident if usable else None)
    method = found["method"]
    if "id" in found:
        if len(method) > LONGEST_METHOD:
            raise BadFrame(METHOD_NOT_FOUND, "Method not found", ident, method=method[:100])
        params = found.get("params")
        if not dual and (method == "server/discover" or is_modern(params)):
            raise BadFrame(METHOD_NOT_FOUND, "Method not found", ident, method=method)
        if method == "initialize":
            params = {**OPENING, **{k: v for k, v in (params or {}).items() if v is not None}}
        found = {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}
    try:
        if "id" in found:
            return types.JSONRPCRequest(**found)
        return types.jsonrpc_message_adapter.validate_python(found, by_name=False)
    except ValueError:
        raise BadFrame(INVALID_REQUEST, "Invalid Request", ident if usable else None) from None


def is_modern(params: Any) -> bool:
    """Whether a request says its protocol version itself, as the era without handshake does."""
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and types.PROTOCOL_VERSION_META_KEY in meta


def _object(line: bytes | TooLong) -> dict[str, Any]:
    if isinstance(line, TooLong):
        raise BadFrame(PARSE_ERROR, "Parse error", reason="the line is too long")
    try:
        found = strict_json(line)
    except (ValueError, RecursionError):
        raise BadFrame(PARSE_ERROR, "Parse error") from None
    if not isinstance(found, dict):
        raise BadFrame(INVALID_REQUEST, "Invalid Request", reason="one JSON-RPC object per line")
    return found


def _is_message(found: dict[str, Any], *, usable: bool) -> bool:
    return (
        found.get("jsonrpc") == "2.0"
        and ("id" not in found or usable)
        and isinstance(found.get("params", {}), dict)
        and isinstance(found.get("method"), str)
        and not {"result", "error"} & set(found)
    )


def _response(found: dict[str, Any]) -> Any:
    """The client's answer to a question of ours; one that cannot be read is a failure, or the question stays open."""
    try:
        return types.jsonrpc_message_adapter.validate_python(found, by_name=False)
    except ValueError:
        error = types.ErrorData(code=INVALID_REQUEST, message="Invalid Request")
        return types.JSONRPCError(jsonrpc="2.0", id=found["id"], error=error)


def dump(message: Any) -> bytes:
    """One line. A text that UTF-8 cannot hold must not end the session."""
    try:
        text: str = message.model_dump_json(by_alias=True, exclude_unset=True)
        return text.encode() + b"\n"
    except Exception:  # noqa: BLE001 - pydantic raises its own kinds
        return encode(message.model_dump(by_alias=True, exclude_unset=True))

"""The JSON envelope that every interface answers with (contract §2)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from keepa_cli.core.errors import ERRORS, ExitCode, KeepaCliError, Kind

if TYPE_CHECKING:
    from keepa_cli.core.redact import Redactor

_SPLICE = "\x00body\x00"


class Envelope(dict[str, Any]):
    """A plain dict, plus the bytes of `data.body` where the body is passed on as it came.

    With them the body is written token by token: numbers such as 1.10 and integers of any size stay as they are.
    """

    raw_body: bytes | None = None

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.OK if self["ok"] else ERRORS[Kind(self["error"]["kind"])].exit


def ok(
    command: str,
    request: dict[str, Any],
    data: Any,
    *,
    token_bucket: dict[str, Any] | None = None,
    warnings: list[dict[str, Any]] | None = None,
    provenance: dict[str, Any] | None = None,
) -> Envelope:
    """A success. `warnings` are objects with `code` and `message`."""
    return Envelope(
        ok=True,
        command=command,
        request=request,
        token_bucket=token_bucket or {},
        data=data,
        warnings=warnings or [],
        provenance=provenance or {},
    )


def failed(command: str, error: KeepaCliError, *, token_bucket: dict[str, Any] | None = None) -> Envelope:
    """A failure with the five fields that agents branch on."""
    return Envelope(
        ok=False,
        command=command,
        error={
            "kind": error.kind.value,
            "message": error.message,
            "retryable": error.retryable,
            "details": error.details,
            "next_actions": error.next_actions,
        },
        token_bucket=(token_bucket or {}) | error.token_bucket,
    )


def dumps(envelope: Envelope, redactor: Redactor, *, indent: int | None = None) -> str:
    """The envelope as one strict JSON document without secrets; NaN and infinities are refused."""
    raw = envelope.raw_body
    if raw is None:
        return json.dumps(redactor.data(dict(envelope)), ensure_ascii=False, allow_nan=False, indent=indent)
    data = envelope["data"]
    shell = dict(envelope) | {"data": {k: (_SPLICE if k == "body" else v) for k, v in data.items()}}
    text = json.dumps(redactor.data(shell), ensure_ascii=False, allow_nan=False, indent=indent)
    body = _one_line(redactor.body(raw)).decode("utf-8").lstrip("\ufeff")
    before, _, after = text.partition(json.dumps(_SPLICE))
    return before + body + after


def _one_line(body: bytes) -> bytes:
    """The same JSON tokens on one line: a line break is never inside a string, so only layout goes."""
    return b"".join(line.strip() for line in body.splitlines())

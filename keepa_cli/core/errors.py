"""The one table of error kinds: meaning, whether a retry can help, exit code, usual next step."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any


class ExitCode(IntEnum):
    OK = 0
    FAILURE = 1
    USAGE = 2
    CONFIRMATION = 3
    AUTH = 4
    TOKENS = 5
    MISS = 6
    CONTRACT = 7
    INTERRUPTED = 130


class Kind(StrEnum):
    INVALID_ARGUMENTS = "invalid_arguments"
    UNKNOWN_COMMAND = "unknown_command"
    CONFIRMATION_REQUIRED = "confirmation_required"
    BUDGET_EXCEEDED = "budget_exceeded"
    AUTH_MISSING = "auth_missing"
    AUTH_ERROR = "auth_error"
    NOT_ENOUGH_TOKEN = "not_enough_token"
    RATE_LIMITED = "rate_limited"
    API_ERROR = "api_error"
    REQUEST_REJECTED = "request_rejected"
    UPSTREAM_UNAVAILABLE = "upstream_unavailable"
    TIMEOUT = "timeout"
    TRANSPORT_ERROR = "transport_error"
    OUTCOME_UNKNOWN = "outcome_unknown"
    CONTRACT_ERROR = "contract_error"
    CASSETTE_MISS = "cassette_miss"
    CASSETTE_INVALID = "cassette_invalid"
    FIXTURE_NOT_FOUND = "fixture_not_found"
    SECRET_DETECTED = "secret_detected"
    LIVE_BLOCKED_IN_CI = "live_blocked_in_ci"
    PROFILE_REQUIRES_FIXTURE_OR_DRY_RUN = "profile_requires_fixture_or_dry_run"
    INACTIVE_TOOL = "inactive_tool"
    MISSING_INPUTS = "missing_inputs"
    IO_ERROR = "io_error"
    CONFIG_ERROR = "config_error"
    INTERNAL_ERROR = "internal_error"


@dataclass(frozen=True, eq=False, repr=False)
class ErrorRow:
    """What a reader of an error kind needs: `retryable` says whether the same call can succeed later."""

    meaning: str
    retryable: bool
    exit: ExitCode
    next_step: str


ERRORS: Mapping[Kind, ErrorRow] = {
    Kind.INVALID_ARGUMENTS: ErrorRow(
        "A parameter is missing, malformed, out of range or contradicts another; nothing was sent.",
        False,
        ExitCode.USAGE,
        "Read the help of the command: add --help.",
    ),
    Kind.UNKNOWN_COMMAND: ErrorRow(
        "There is no command of this name.",
        False,
        ExitCode.USAGE,
        "kc capabilities",
    ),
    Kind.CONFIRMATION_REQUIRED: ErrorRow(
        "The call can cost more than the confirmation threshold or writes upstream; nothing was sent.",
        False,
        ExitCode.CONFIRMATION,
        "Repeat the command with --yes, or with --dry-run to see its cost.",
    ),
    Kind.BUDGET_EXCEEDED: ErrorRow(
        "The worst case of the call is above the given token limit; nothing was sent.",
        False,
        ExitCode.FAILURE,
        "Ask for less, or raise --max-tokens.",
    ),
    Kind.AUTH_MISSING: ErrorRow(
        "A live call needs an API key and none is configured.",
        False,
        ExitCode.AUTH,
        "kc config set-token",
    ),
    Kind.AUTH_ERROR: ErrorRow(
        "Keepa refused the API key: malformed, unknown, expired or unpaid.",
        False,
        ExitCode.AUTH,
        "Check the key in your Keepa account, then: kc config set-token",
    ),
    Kind.NOT_ENOUGH_TOKEN: ErrorRow(
        "The token bucket is empty; nothing was charged.",
        True,
        ExitCode.TOKENS,
        "Wait for the refill (retry_after_seconds), or work from recordings: leave out --live.",
    ),
    Kind.RATE_LIMITED: ErrorRow(
        "The server asked to slow down and named no token balance; nothing was charged.",
        True,
        ExitCode.TOKENS,
        "Wait retry_after_seconds, then repeat the command.",
    ),
    Kind.API_ERROR: ErrorRow(
        "Keepa answered with an error of its own.",
        False,
        ExitCode.FAILURE,
        "Read the error details.",
    ),
    Kind.REQUEST_REJECTED: ErrorRow(
        "Keepa refused the request as malformed or not executable; nothing was charged.",
        False,
        ExitCode.FAILURE,
        "Compare the parameters with the help of the command; --dry-run shows the request.",
    ),
    Kind.UPSTREAM_UNAVAILABLE: ErrorRow(
        "Keepa or a gateway before it failed (5xx) and named no charge.",
        True,
        ExitCode.FAILURE,
        "Repeat the command in a minute.",
    ),
    Kind.TIMEOUT: ErrorRow(
        "No answer came in time. `charged` says whether tokens may have been spent.",
        True,
        ExitCode.FAILURE,
        "kc tokens status --live",
    ),
    Kind.TRANSPORT_ERROR: ErrorRow(
        "No connection to the server could be made; nothing was sent.",
        True,
        ExitCode.FAILURE,
        "Check the network and KEEPA_BASE_URL, then repeat the command.",
    ),
    Kind.OUTCOME_UNKNOWN: ErrorRow(
        "The request left and its answer was lost or unreadable: tokens may have been spent. Never retried by itself.",
        False,
        ExitCode.FAILURE,
        "kc tokens status --live",
    ),
    Kind.CONTRACT_ERROR: ErrorRow(
        "The answer lacks structure that Keepa documents; the sanitized body is kept.",
        False,
        ExitCode.CONTRACT,
        "Read the kept body named in details.kept_at.",
    ),
    Kind.CASSETTE_MISS: ErrorRow(
        "No recording answers this request, and replay never goes live.",
        False,
        ExitCode.MISS,
        "Run the record command in details.record_command.",
    ),
    Kind.CASSETTE_INVALID: ErrorRow(
        "A cassette cannot be read, or its content disagrees with its name or evidence.",
        False,
        ExitCode.FAILURE,
        "kc cassettes verify",
    ),
    Kind.FIXTURE_NOT_FOUND: ErrorRow(
        "There is no promoted fixture of this name.",
        False,
        ExitCode.MISS,
        "kc cassettes list",
    ),
    Kind.SECRET_DETECTED: ErrorRow(
        "Something that looks like a secret or personal data would have been written; nothing was.",
        False,
        ExitCode.FAILURE,
        "kc cassettes scan FILE",
    ),
    Kind.LIVE_BLOCKED_IN_CI: ErrorRow(
        "CI is set, so calls that spend tokens are refused.",
        False,
        ExitCode.FAILURE,
        "Leave out --live or --record, or set KEEPA_CLI_ALLOW_LIVE_IN_CI=1 on purpose.",
    ),
    Kind.PROFILE_REQUIRES_FIXTURE_OR_DRY_RUN: ErrorRow(
        "The active profile allows this tool only from recordings or as a dry run.",
        False,
        ExitCode.FAILURE,
        "Pass fixture or dry_run, or choose the profile live_read_allowed.",
    ),
    Kind.INACTIVE_TOOL: ErrorRow(
        "The active profile does not contain this tool.",
        False,
        ExitCode.FAILURE,
        "Choose a profile that contains it.",
    ),
    Kind.MISSING_INPUTS: ErrorRow(
        "An input of the call could not be resolved.",
        False,
        ExitCode.USAGE,
        "Read details.missing_inputs.",
    ),
    Kind.IO_ERROR: ErrorRow(
        "A file or folder could not be read or written; earlier content is intact.",
        False,
        ExitCode.FAILURE,
        "Check the path and its permissions.",
    ),
    Kind.CONFIG_ERROR: ErrorRow(
        "The configuration file or a setting is broken; the file was not touched.",
        False,
        ExitCode.FAILURE,
        "kc doctor",
    ),
    Kind.INTERNAL_ERROR: ErrorRow(
        "A defect in keepa-cli itself.",
        False,
        ExitCode.FAILURE,
        "Report it with the output of: kc --json doctor",
    ),
}


class KeepaCliError(Exception):
    """A failure with an error kind. The message is for people and never holds a secret or a traceback.

    `details` is JSON data that agents branch on; `next_actions` are shell commands that can be pasted, or
    sentences where no command exists. Both default to the row of the error table.
    """

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        details: Mapping[str, Any] | None = None,
        next_actions: Sequence[str] | None = None,
        retryable: bool | None = None,
        token_bucket: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        row = ERRORS[kind]
        self.kind = kind
        self.message = message
        self.details: dict[str, Any] = dict(details or {})
        self.next_actions: list[str] = list(next_actions) if next_actions is not None else [row.next_step]
        self.retryable = row.retryable if retryable is None else retryable
        self.token_bucket: dict[str, Any] = dict(token_bucket or {})

    @property
    def exit_code(self) -> ExitCode:
        return ERRORS[self.kind].exit

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (self.kind, self.message, self.details, self.next_actions, self.retryable, self.token_bucket))


def _rebuild(
    kind: Kind, message: str, details: dict[str, Any], next_actions: list[str], retryable: bool, bucket: dict[str, Any]
) -> KeepaCliError:
    return KeepaCliError(
        kind, message, details=details, next_actions=next_actions, retryable=retryable, token_bucket=bucket
    )


def invalid(
    message: str, *, field: str | None = None, value: Any = None, allowed: Any = None, **more: Any
) -> KeepaCliError:
    """An `invalid_arguments` error naming the field, the value and what is allowed."""
    details: dict[str, Any] = dict(more)
    if field is not None:
        details |= {"field": field, "value": value}
    if allowed is not None:
        details["allowed"] = allowed
    return KeepaCliError(Kind.INVALID_ARGUMENTS, message, details=details)


def internal_error(error: BaseException, who: str = "keepa-cli", **details: Any) -> KeepaCliError:
    """A defect as an error kind: the exception's type and place, never its text, which may hold anything."""
    frame = error.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    file = re.split(r"[\\/]", frame.tb_frame.f_code.co_filename)[-1] if frame else ""
    where = f"{file}:{frame.tb_lineno}" if frame else "unknown place"
    return KeepaCliError(
        Kind.INTERNAL_ERROR,
        f"{who} failed in a way it should not: {type(error).__name__} at {where}.",
        details={"exception": type(error).__name__, "where": where} | details,
    )

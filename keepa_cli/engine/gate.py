"""Consent and budget: what a live call may cost before it is sent (contract §3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from keepa_cli.core.consent import estimate, needs_consent
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.registry import TOKENS_STATUS, Cost, Operation
from keepa_cli.core.settings import SPENDING_MODES, Mode
from keepa_cli.engine.options import Options


def quote_token(op: Operation, bound: Mapping[str, Any], cost: Cost) -> str:
    """Binds a consent to exactly the call that was quoted."""
    text = json.dumps([op.name, dict(bound), cost.worst], sort_keys=True, default=str)
    import hashlib

    return "q1-" + hashlib.sha256(text.encode()).hexdigest()[:24]


def gate(op: Operation, bound: dict[str, Any], cost: Cost, mode: Mode, ctx: Context, options: Options) -> None:
    """Refuse a spending call that is over its limit or lacks consent; nothing was sent when this raises."""
    if mode not in SPENDING_MODES:
        return
    limit = options.max_tokens if options.max_tokens is not None else ctx.settings["max_tokens"]
    bucket = {"estimated": estimate(op, cost, ctx)}
    if limit is not None and cost.worst > limit:
        raise KeepaCliError(
            Kind.BUDGET_EXCEEDED,
            f"{op.name} can cost {cost.worst} tokens; the limit is {limit}.",
            details={"worst_case_tokens": cost.worst, "limit": limit},
            token_bucket=bucket,
        )
    quoted = quote_token(op, bound, cost)
    if options.quote_token and options.quote_token != quoted:
        raise KeepaCliError(
            Kind.INVALID_ARGUMENTS,
            "The quote token belongs to another call; ask for a new quote.",
            details={"field": "quote_token", "value": options.quote_token},
        )
    if options.yes or not needs_consent(op, cost, ctx):
        return
    question = f"{op.name} can cost {cost.worst} tokens. Send it?"
    if options.confirm and options.confirm(question):
        return
    raise _confirmation_required(op, cost, quoted, bucket)


def _confirmation_required(op: Operation, cost: Cost, quoted: str, bucket: dict[str, Any]) -> KeepaCliError:
    status = {"action": "check_tokens_status", "command": TOKENS_STATUS}
    actions = [
        status,
        {"action": "retry_when_tokens_available"},
        {"action": "reduce_request_scope"},
        {"action": "use_cache_fixture_or_dry_run"},
    ]
    amounts = {"estimated_tokens": cost.estimated, "worst_case_tokens": cost.worst}
    guidance = {
        "status_command": status["command"],
        "wait_strategy": "check_tokens_status",
        **amounts,
        "hints": ["check_tokens_status", "wait_for_plan_refill", "use_cache_fixture_or_dry_run"],
        "next_actions": actions,
    }
    return KeepaCliError(
        Kind.CONFIRMATION_REQUIRED,
        f"{op.name} can cost {cost.worst} tokens and needs an explicit --yes.",
        details={
            "resume_with": "--yes",
            **amounts,
            "quote_token": quoted,
            "token_refill_guidance": guidance,
            "next_actions": actions,
        },
        token_bucket=bucket,
    )

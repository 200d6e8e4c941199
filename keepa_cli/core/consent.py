"""What a call may cost, and whether it waits for consent (contract §3)."""

from __future__ import annotations

from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.core.registry import Cost, Operation


def estimate(op: Operation, cost: Cost, ctx: Context) -> dict[str, Any]:
    """`token_bucket.estimated` of the envelope."""
    return {
        "estimated_tokens": cost.estimated,
        "worst_case_tokens": cost.worst,
        "requires_confirmation": needs_consent(op, cost, ctx),
        "components": [
            {"name": p.name, "tokens": p.tokens, "worst_case_tokens": p.worst, "note": p.note} for p in cost.parts
        ],
        "notes": list(cost.notes),
    }


def needs_consent(op: Operation, cost: Cost, ctx: Context) -> bool:
    """Whether a live call of this cost waits for --yes (contract §3)."""
    return cost.confirm or op.effect == "write_remote" or cost.worst > ctx.settings["confirm_above_tokens"]

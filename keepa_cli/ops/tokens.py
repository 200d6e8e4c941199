"""The token bucket of the API key."""

from __future__ import annotations

from typing import Any

from keepa_cli.core.registry import TOKENS_STATUS, Request, operation


def _status(body: dict[str, Any], _: dict[str, Any]) -> dict[str, Any]:
    left, rate, refill_in = body.get("tokensLeft"), body.get("refillRate"), body.get("refillIn")
    capacity = rate * 60 if isinstance(rate, int) and not isinstance(rate, bool) else None
    return {
        "tokens_left": left,
        "refill_rate_per_minute": rate,
        "refill_in_ms": refill_in,
        "token_flow_reduction": body.get("tokenFlowReduction"),
        "capacity": capacity,
        "body": body,
    }


@operation(
    TOKENS_STATUS,
    toolset="research",
    returns="token",
    view=_status,
    cacheable=False,
    examples=("kc tokens status", "kc tokens status --live"),
)
def status() -> Request:
    """Show how many tokens are left and how fast they refill.

    The call itself is free. A live call also shows what this machine has spent today and in this process, what is
    reserved or in manual review, and the limits. In replay it shows the recorded status, not today's.
    """
    return Request("GET", "/token")

"""Asking a person through the client before tokens are spent, where the client can do that."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import Any

import anyio
import anyio.from_thread

from keepa_cli.interfaces.mcp.core import Core

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spend": {
            "type": "boolean",
            "title": "Spend the tokens",
            "description": "Send this call to Keepa at this cost.",
            "default": False,
        }
    },
    "required": ["spend"],
}
WAIT_SECONDS = 300


def asker(ctx: Any, core: Core) -> Callable[[dict[str, Any]], bool] | None:
    """A question that a worker thread can put to the person behind the client; None where the client cannot ask."""
    capabilities = ctx.session.client_capabilities
    way = capabilities.elicitation if capabilities is not None else None
    if way is None or (way.form is None and way.url is not None) or not ctx.session.can_send_request:
        return None  # one that names no way takes forms

    def ask(details: dict[str, Any]) -> bool:
        worst = details["worst_case_tokens"]
        try:
            return bool(anyio.from_thread.run(_ask, ctx, core, f"This call can cost {worst} Keepa tokens. Send it?"))
        except (concurrent.futures.CancelledError, RuntimeError):  # the call was cancelled, or the loop has ended
            return False

    return ask


async def _ask(ctx: Any, core: Core, question: str) -> bool:
    """Whether the person agreed; a client that fails, stays silent or goes away is a no."""
    agreed: list[bool] = []
    with core.asking(WAIT_SECONDS):
        try:
            answer = await ctx.session.elicit_form(question, SCHEMA, related_request_id=ctx.request_id)
        except Exception:  # noqa: BLE001 - whatever the client does wrong, nothing is spent
            return False
        agreed.append(answer.action == "accept" and (answer.content or {}).get("spend") is True)
    return any(agreed)

"""The price of a workflow, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from keepa_cli import ops
from keepa_cli.core.commandline import command_line
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, invalid
from keepa_cli.core.registry import Cost
from keepa_cli.core.schema import bind
from keepa_cli.ops import _inputs
from keepa_cli.ops._names import WORKFLOW_PLAN, WORKFLOW_RUN
from keepa_cli.research.inputs import unwrapped

VIEW = "workflow_cost"


def of_workflow(ctx: Context, bound: Mapping[str, Any], refill_rate: int | None) -> dict[str, Any]:
    """The price of the plan that these parameters of workflow.plan or workflow.run make."""
    from keepa_cli.ops import workflow

    plan, inputs, asked = workflow.asked_for(bound)
    return _answer(ctx, workflow.priced(plan, inputs), {"name": plan.name} | asked, refill_rate)


def of_file(ctx: Context, name: str, refill_rate: int | None) -> dict[str, Any]:
    """The price of a saved plan, worked out anew from its inputs: prices may have changed since."""
    found = unwrapped(_inputs.read(ctx, [name])[0].data)
    given = found.get("workflow_inputs") if isinstance(found, Mapping) else None
    workflow = found.get("workflow") if isinstance(found, Mapping) else None
    if not isinstance(given, Mapping) or not isinstance(workflow, str) or not isinstance(given.get("given"), Mapping):
        raise invalid(f"{name} is no saved answer of workflow plan.", field="plan", value=name)
    defaulted = given.get("defaulted") if isinstance(given.get("defaulted"), Mapping) else {}
    try:
        bound = bind(ops.find(WORKFLOW_PLAN), {"name": workflow, **(defaulted or {}), **given["given"]})
    except KeepaCliError as error:
        raise invalid(f"The plan in {name} is refused: {error.message}", field="plan", value=name) from None
    return of_workflow(ctx, bound, refill_rate)


def _answer(ctx: Context, items: Sequence[Any], params: Mapping[str, Any], refill_rate: int | None) -> dict[str, Any]:
    rows = [
        {
            "id": item.step.id,
            "command": item.op.name,
            "optional": item.step.optional,
            "estimated_tokens": item.cost.estimated,
            "worst_case_tokens": item.cost.worst,
            "requires_confirmation": item.consents(ctx),
            "price_is_known": not (item.op.remote and item.resolved.refs),
        }
        for item in items
    ]
    asks = [row["id"] for row in rows if row["requires_confirmation"]]
    op = ops.find(WORKFLOW_RUN)
    cost = op.cost(bind(op, params))
    return {
        "view": VIEW,
        "operation": WORKFLOW_RUN,
        "summary": op.summary,
        "workflow": params["name"],
        "estimated_tokens": cost.estimated,
        "estimated_tokens_with_optional": sum(row["estimated_tokens"] for row in rows),
        "worst_case_tokens": cost.worst,
        "requires_confirmation": bool(asks),
        "steps_that_ask": asks,
        "steps": rows,
        "notes": ["A step that waits for an earlier answer is priced for as many items as it takes at most."],
        "command": command_line(op, params, ("--live",)),
    } | refill(cost, refill_rate)


def refill(cost: Cost, rate: int | None) -> dict[str, Any]:
    """How long the token bucket takes to bring what was spent, in whole steps of a minute."""
    if rate is None:
        return {}
    return {
        "refill": {
            "rate_per_minute": rate,
            "minutes": math.ceil(cost.estimated / rate),
            "minutes_at_worst": math.ceil(cost.worst / rate),
            "method": "tokens / rate, rounded up to whole minutes",
        }
    }

"""What calls would cost, worked out without sending anything."""

from __future__ import annotations

from typing import Annotated, Any

from keepa_cli import ops
from keepa_cli.core.commandline import command_line
from keepa_cli.core.consent import estimate
from keepa_cli.core.context import Context
from keepa_cli.core.errors import invalid
from keepa_cli.core.registry import Batch, Operation, Param, operation
from keepa_cli.core.schema import bind
from keepa_cli.ops import _audit_plan
from keepa_cli.ops._names import AUDIT_COST, PRODUCTS_GET, WORKFLOW_PLAN, WORKFLOW_RUN
from keepa_cli.ops._pairs import Pair, parameters


@operation(
    AUDIT_COST,
    toolset="audit",
    examples=(
        "kc audit cost products.get --param asin=B001GZ6QEC --param offers=20",
        "kc audit cost products.search --param term=kettle --param rating=true",
        "kc audit cost workflow.plan --param name=product-research --param asin=B001GZ6QEC --refill-rate 5",
        "kc audit cost --plan plan.json",
    ),
)
def cost(
    ctx: Context,
    operation: Annotated[
        str | None,
        Param("The operation, such as products.get.", metavar="OPERATION", position=True, examples=(PRODUCTS_GET,)),
    ] = None,
    param: Annotated[list[Pair], Param("Parameters of the operation.")] = [],  # noqa: B006
    plan: Annotated[
        str | None, Param("A saved answer of workflow plan, instead of an operation.", metavar="FILE")
    ] = None,
    refill_rate: Annotated[
        int | None, Param("Tokens a minute that the subscription brings, to tell how long a refill takes.", min=1)
    ] = None,
) -> dict[str, Any]:
    """Tell what a call would cost: estimate, worst case, components, and whether it would ask first.

    Of a workflow it tells the price of every step. Needs no key and sends nothing. The parameters are checked as the
    call itself would check them.
    """
    if (operation is None) == (plan is None):
        raise invalid("Give an operation, or --plan FILE.", field="operation", value=operation)
    if plan is not None:
        if param:
            raise invalid("--param goes with an operation; a plan has its parameters.", field="param", value=param)
        return _audit_plan.of_file(ctx, plan, refill_rate)
    op = ops.find(str(operation).strip().replace(" ", "."))
    bound = bind(op, parameters(op, param), text=True)
    if op.name in {WORKFLOW_PLAN, WORKFLOW_RUN}:
        return _audit_plan.of_workflow(ctx, bound, refill_rate)
    return _of_operation(ctx, op, bound) | _audit_plan.refill(op.cost(bound), refill_rate)


def _of_operation(ctx: Context, op: Operation, bound: dict[str, Any]) -> dict[str, Any]:
    planned = op.run(**bound) if op.remote else None
    estimated = estimate(op, op.cost(bound), ctx)
    if planned is None:
        estimated["notes"].append("The operation itself works on this machine and sends nothing.")
    consent = ("--yes",) if estimated["requires_confirmation"] else ()
    return {
        "operation": op.name,
        "summary": op.summary,
        **estimated,
        "requests": len(planned.requests) if isinstance(planned, Batch) else int(planned is not None),
        "command": command_line(op, bound, ("--live", *consent) if op.remote else ()),
    }

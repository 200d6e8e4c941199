"""What calls would cost, worked out without sending anything."""

from __future__ import annotations

from typing import Annotated, Any

from keepa_cli import ops
from keepa_cli.core.commandline import command_line
from keepa_cli.core.consent import estimate
from keepa_cli.core.context import Context
from keepa_cli.core.registry import Batch, Param, operation
from keepa_cli.core.schema import bind
from keepa_cli.ops._names import PRODUCTS_GET
from keepa_cli.ops._pairs import Pair, parameters


@operation(
    "audit.cost",
    toolset="audit",
    examples=(
        "kc audit cost products.get --param asin=B001GZ6QEC --param offers=20",
        "kc audit cost products.search --param term=kettle --param rating=true",
    ),
)
def cost(
    ctx: Context,
    operation: Annotated[
        str,
        Param("The operation, such as products.get.", metavar="OPERATION", position=True, examples=(PRODUCTS_GET,)),
    ],
    param: Annotated[list[Pair], Param("Parameters of the operation.")] = [],  # noqa: B006
) -> dict[str, Any]:
    """Tell what a call would cost: estimate, worst case, components, and whether it would ask first.

    Needs no key and sends nothing. The parameters are checked as the call itself would check them.
    """
    op = ops.find(operation.strip().replace(" ", "."))
    bound = bind(op, parameters(op, param), text=True)
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

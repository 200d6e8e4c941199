"""What the business operations read, and how they save what they found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.ops._inputs import Given


def refuse_empty(inputs: Sequence[Given], groups: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """A warning for every input without a product. Raises `missing_inputs` when none has one."""
    empty = [g.name for g, found in zip(inputs, groups, strict=True) if not found]
    if len(empty) == len(inputs):
        raise KeepaCliError(
            Kind.MISSING_INPUTS,
            f"No product is in {', '.join(empty)[:200]}: give an answer of products get or search, product views, "
            "or the rows of products compare.",
            details={Kind.MISSING_INPUTS.value: ["products"], "inputs": empty},
            next_actions=["kc products get --help"],
        )
    return [{"code": "input_without_products", "message": f"No product is in {name}."} for name in empty]


def save(ctx: Context, data: dict[str, Any], out: str | None) -> dict[str, Any]:
    """`data`, with `output` where it was written to a file."""
    if out is None:
        return data
    from keepa_cli.keepa.strictjson import dump_json
    from keepa_cli.ops import _outputs

    text = dump_json(ctx.redactor.data(data)).encode() + b"\n"
    return data | {"output": _outputs.write(ctx, out, text, format="json", count=len(data["products"]))}

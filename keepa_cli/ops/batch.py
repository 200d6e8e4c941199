"""One operation over a list of products."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from keepa_cli import ops
from keepa_cli.core.commandline import command_line
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.registry import Cost, Operation, Param, operation
from keepa_cli.core.schema import bind
from keepa_cli.ops import _asin_list, _outputs
from keepa_cli.ops._names import BATCH_ASINS, PRODUCTS_COMPARE, PRODUCTS_GET, PRODUCTS_SUMMARY
from keepa_cli.ops._pairs import Pair, parameters
from keepa_cli.ops._params import Domain

VIEW = "batch"
MOST_TOLD = 20
"""Invalid entries that an error lists."""


def _cost(params: dict[str, Any]) -> Cost:
    """The price of the ASINs in the call itself: what a file holds is not known before it is read."""
    op = _operation(params["operation"])
    try:
        bound = bind(op, _parameters(op, params["targets"], params))
    except KeepaCliError:
        return Cost(notes=(f"The price is that of {op.name} for the ASINs in the list; --dry-run tells it.",))
    return op.cost(bound)


@operation(
    BATCH_ASINS,
    toolset="research",
    effect="write_local",
    passes_mode=True,
    cost=_cost,
    examples=(
        "kc batch asins B0PPJ248DY",
        "kc batch asins watchlist.csv --out rows.jsonl --dry-run",
        "kc batch asins watchlist.txt --operation products.compare --param sort_by=sales_rank --live --yes",
    ),
)
def asins(
    ctx: Context,
    call: Callable[..., Mapping[str, Any]],
    targets: Annotated[
        list[str],
        Param(
            "Files with ASINs (text, CSV with a column asin, JSON, JSON lines), - for standard input, or ASINs.",
            metavar="FILE|-|ASIN",
            position=True,
            whole=True,
        ),
    ],
    operation: Annotated[
        str, Param("The operation that takes the ASINs.", examples=(PRODUCTS_SUMMARY, PRODUCTS_COMPARE, PRODUCTS_GET))
    ] = PRODUCTS_SUMMARY,
    param: Annotated[list[Pair], Param("More parameters of the operation.")] = [],  # noqa: B006
    domain: Domain = "US",
    out: Annotated[str | None, Param("Write one JSON line per ASIN to this file.", metavar="FILE")] = None,
    strict: Annotated[bool, Param("Refuse a list with an entry that is no ASIN.")] = False,
) -> dict[str, Any]:
    """Run an operation over a list of ASINs, in the mode of the call: from recordings unless --live is given.

    Repeats are asked once; entries that are no ASIN are told by line. The list goes out in requests of 100; what an
    interrupted run was given is kept for a day, and the same command asks for the rest only.
    """
    op = _operation(operation)
    found = _read(ctx, targets, strict=strict)
    params = _parameters(op, list(found.found), {"param": param, "domain": domain})
    if out is not None:
        _outputs.target(ctx, out)
    ctx.tell(f"{op.name} for {len(found.found)} ASINs in requests of up to 100")
    answer = call(op.name, params)
    again = {"targets": targets, "operation": op.name, "param": param, "domain": domain, "out": out, "strict": strict}
    if not answer["ok"]:
        raise _failed(answer, again, len(found.found), getattr(call, "mode_flags", []))
    return _report(ctx, op, found, answer, out)


def _operation(name: str) -> Operation:
    op = ops.find(name.strip().replace(" ", "."))
    if not any(arg.name == "asin" and arg.many for arg in op.args):
        raise invalid(
            f"{op.name} does not take a list of ASINs.",
            field="operation",
            value=name,
            allowed=[PRODUCTS_SUMMARY, PRODUCTS_COMPARE, PRODUCTS_GET],
        )
    return op


def _parameters(op: Operation, asins: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the operation, checked; `param` as text."""
    more = parameters(op, given["param"])
    clash = {"asin", "domain"} & set(more)
    if clash:
        raise invalid(
            f"--param {min(clash)} is not needed: the list and --domain say it.", field="param", value=min(clash)
        )
    bound = bind(op, more | {"asin": asins, "domain": given["domain"]}, text=True)
    return {name: bound[name] for name in ("asin", "domain", *more)}


def _read(ctx: Context, targets: list[str], *, strict: bool) -> _asin_list.Asins:
    found = _asin_list.read(ctx, targets)
    if found.invalid and (strict or not found.found):
        first = found.invalid[0]
        raise invalid(
            f"{len(found.invalid)} entries are no ASIN; the first is {first['value']!r} in {first['source']}, line "
            f"{first['line']}.",
            field="targets",
            value=first["value"],
            errors=[{"field": "targets", **row} for row in found.invalid[:MOST_TOLD]],
        )
    if not found.found:
        raise invalid("The list holds no ASIN.", field="targets", value=targets)
    return found


def _failed(answer: Mapping[str, Any], again: Mapping[str, Any], count: int, flags: list[str]) -> KeepaCliError:
    """The failure with the command of this batch instead of one that spells every ASIN."""
    error = answer["error"]
    kind, details = Kind(error["kind"]), dict(error["details"]) | {"asins": count}
    op = ops.find(BATCH_ASINS)
    consent = ["--yes"] if any("--yes" in action for action in error["next_actions"]) else []
    actions = [
        command_line(op, again, [*flags, *consent]),
        *(a for a in error["next_actions"] if not a.startswith("kc products")),
    ]
    if kind is Kind.CONFIRMATION_REQUIRED:
        actions = [command_line(op, again, [*flags, "--yes"])]
    elif kind is Kind.CASSETTE_MISS:
        details["record_command"] = command_line(op, again, ["--record"])
        actions = [details["record_command"], command_line(op, again, ["--dry-run"])]
    return KeepaCliError(
        kind,
        error["message"],
        details=details,
        next_actions=actions,
        retryable=error["retryable"],
        token_bucket=answer.get("token_bucket"),
    )


def _report(
    ctx: Context, op: Operation, found: _asin_list.Asins, answer: Mapping[str, Any], out: str | None
) -> dict[str, Any]:
    data = answer["data"]
    bucket = answer["token_bucket"]
    report: dict[str, Any] = {
        "view": VIEW,
        "operation": op.name,
        "asked": len(found.found),
        "repeats": found.repeats,
        "invalid": found.invalid,
        "warnings": [*answer["warnings"], *_warnings(found)],
    }
    if data.get("dry_run"):
        return report | {"dry_run": True, "sent": False, "estimated": bucket["estimated"]}
    rows = [_row(asin, data) for asin in found.found]
    statuses = [row["status"] for row in rows]
    report |= {
        "statuses": {s: statuses.count(s) for s in sorted(set(statuses))},
        "tokens": bucket.get("charged") or 0,
        "answered_from": answer["provenance"],
    }
    if out is None:
        return report | {"rows": rows}
    return report | {"output": _outputs.write(ctx, out, _lines(ctx, rows), format="jsonl", count=len(rows))}


def _warnings(found: _asin_list.Asins) -> list[dict[str, Any]]:
    if not found.invalid:
        return []
    lines = ", ".join(f"{row['source']}:{row['line']}" for row in found.invalid[:5])
    return [{"code": VIEW, "message": f"{len(found.invalid)} entries are no ASIN and were left out: {lines}."}]


def _row(asin: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """What the answer says of one ASIN: its status, and its part of the view or of the body."""
    item: Mapping[str, Any] = next((i for i in data.get("items") or [] if i.get("asked") == asin), {})
    body = data.get("body")
    lists = (data.get("products"), data.get("rows"), body.get("products") if isinstance(body, dict) else None)
    parts = [part for listed in lists if isinstance(listed, list) for part in listed if _asin_of(part) == asin]
    status = item.get("status") or ("found" if parts else "not_found")
    return {"asin": asin, "status": status} | ({"data": parts[0]} if parts else {})


def _asin_of(part: Any) -> Any:
    if not isinstance(part, dict):
        return None
    identity = part.get("identity")
    return identity.get("asin") if isinstance(identity, dict) else part.get("asin")


def _lines(ctx: Context, rows: list[dict[str, Any]]) -> bytes:
    from keepa_cli.keepa.strictjson import dump_json

    return "".join(dump_json(ctx.redactor.data(row)) + "\n" for row in rows).encode("utf-8", "surrogatepass")

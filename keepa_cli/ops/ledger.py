"""The token ledger: what live calls cost, and what became of those without an answer."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, invalid
from keepa_cli.core.registry import Param, operation
from keepa_cli.core.settings import ledger_limits

SHOWN = ("id", "state", "operation", "consumed", "worst", "created_at", "mode", "origin", "error_kind", "note")
ORIGINS = ("live", "sandbox")
DryRun = Annotated[bool, Param("Show what would be written; write nothing.")]
Number = Annotated[int, Param("The number of the row.", metavar="ID", position=True, min=1, max=2**63 - 1)]
MEANINGS = {
    "reserved": "The request is under way in a process that is alive; its worst case is set aside.",
    "settled": "The request is answered and paid for.",
    "released": "The request is known to have cost nothing.",
    "manual_review": "Nobody knows whether the request was charged: it left and its answer was lost. Its worst case "
    "counts toward the limits until the row is resolved.",
}


def _day(value: Any) -> str:
    try:
        return value if value == "today" else date.fromisoformat(value).isoformat()
    except ValueError:
        raise invalid(
            f"{value!r} is not a day such as 2026-05-31, or today", value=value, allowed="YYYY-MM-DD, today"
        ) from None


def _ledger(ctx: Context) -> Any:
    """The ledger with the rows of dead processes handed over, or None where nothing was ever spent."""
    from keepa_cli.store import ledger

    if not (ctx.state_dir / ledger.FILE).exists():
        return None
    found = ctx.service("ledger", lambda: ledger.Ledger(ctx.state_dir, ctx.now))
    found.reconcile()
    return found


def _told(ledger: Any) -> list[dict[str, str]]:
    return [{"code": "ledger", "message": note} for note in ledger.notes]


@operation(
    "ledger.list",
    toolset="audit",
    examples=(
        "kc ledger list",
        "kc ledger list --state manual_review",
        "kc ledger list --day today --limit 200",
    ),
)
def list_rows(
    ctx: Context,
    state: Annotated[
        Literal["reserved", "settled", "released", "manual_review"] | None, Param("Only rows in this state.")
    ] = None,
    day: Annotated[
        str | None, Param("Only rows of this UTC day: YYYY-MM-DD or today.", metavar="DAY", parse=_day)
    ] = None,
    limit: Annotated[int, Param("At most N rows, the newest first.", metavar="N", min=1, max=10_000)] = 50,
) -> dict[str, Any]:
    """List the requests that spent tokens, may have spent them, or turned out to be free.

    A row is written before its request leaves. A request whose answer was lost, or whose process was killed, is in
    manual_review: see `kc ledger show ID`.
    """
    today = ctx.now().strftime("%Y-%m-%d")
    ledger = _ledger(ctx)
    limits = ledger_limits(ctx.settings)
    if ledger is None:
        return {"today": {}, "limits": limits, "count": 0, "shown": 0, "rows": []}
    rows, count = ledger.rows(state, today if day == "today" else day, limit)
    spent = {origin: ledger.totals(origin) for origin in ORIGINS}
    return {
        "today": {origin: totals.as_dict() for origin, totals in spent.items() if totals.rows},
        "limits": limits,
        "count": count,
        "shown": len(rows),
        "rows": [{name: row[name] for name in SHOWN} for row in rows],
        "warnings": _told(ledger),
    }


@operation("ledger.show", toolset="audit", examples=("kc ledger show 12",))
def show(ctx: Context, number: Number) -> dict[str, Any]:
    """Show one row of the ledger, what its state means and what to do about it."""
    ledger = _ledger(ctx)
    row = ledger.row(number) if ledger is not None else None
    if row is None:
        raise _no_row(number)
    others = [
        {name: r[name] for name in ("id", "part", "state", "consumed", "worst")} for r in ledger.parts(row["call"])
    ]
    return {
        "row": row,
        "meaning": MEANINGS[row["state"]],
        "next_actions": _next_actions(row),
        "requests_of_the_call": others if len(others) > 1 else [],
        "warnings": _told(ledger),
    }


def _next_actions(row: dict[str, Any]) -> list[str]:
    if row["state"] != "manual_review":
        return []
    return [
        "Compare the balance before and after in your Keepa account: kc tokens status --live",
        f"It was charged: kc ledger resolve {row['id']} --as settled --tokens {row['estimated']}",
        f"It was not: kc ledger resolve {row['id']} --as released",
    ]


@operation(
    "ledger.resolve",
    toolset="audit",
    effect="write_local",
    examples=("kc ledger resolve 12 --as settled --tokens 5", "kc ledger resolve 12 --as released --dry-run"),
)
def resolve(
    ctx: Context,
    number: Number,
    outcome: Annotated[Literal["settled", "released"], Param("What became of the request.", flag="--as")],
    tokens: Annotated[
        int | None, Param("What it cost; goes with --as settled.", metavar="N", min=0, max=1_000_000)
    ] = None,
    note: Annotated[str | None, Param("Why, for whoever reads the row later.", metavar="TEXT")] = None,
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Decide a row in manual_review: it was charged, or it was not.

    Keepa is not asked and nothing is sent; only the ledger on this machine changes.
    """
    if outcome == "settled" and tokens is None:
        raise invalid("--as settled needs --tokens, what the request cost.", field="tokens", allowed="0 or more")
    if outcome == "released" and tokens:
        raise invalid("--as released means that it cost nothing; leave out --tokens.", field="tokens", value=tokens)
    if note is not None and len(note) > 500:
        raise invalid("The note is longer than 500 characters.", field="note", value=note[:40] + "…")
    ledger = _ledger(ctx)
    row = ledger.row(number) if ledger is not None else None
    if row is None:
        raise _no_row(number)
    if row["state"] != "manual_review":
        raise _decided(row)
    text = ctx.redactor.text(note.encode("utf-8", "replace").decode()) if note else "Resolved by hand."
    if not dry_run and not ledger.resolve(number, outcome, tokens or 0, text):
        raise _decided(ledger.row(number))
    before = {"state": row["state"], "worst": row["worst"], "note": row["note"]}
    return {
        "id": number,
        "written": not dry_run,
        "before": before,
        "after": {"state": outcome, "consumed": tokens or 0, "note": text},
        "warnings": _told(ledger),
    }


def _no_row(number: int) -> KeepaCliError:
    error = invalid(f"The ledger has no row {number}.", field="number", value=number)
    error.next_actions = ["kc ledger list"]
    return error


def _decided(row: dict[str, Any]) -> KeepaCliError:
    error = invalid(
        f"Row {row['id']} is {row['state']}; only a row in manual_review can be resolved.",
        field="number",
        value=row["id"],
        state=row["state"],
    )
    error.next_actions = [f"kc ledger show {row['id']}"]
    return error

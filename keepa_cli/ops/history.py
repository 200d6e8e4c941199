"""Price, rank and offer history: every series as rows, and how it moved."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.registry import Batch, Cost, Param, Request, operation
from keepa_cli.keepa import costs
from keepa_cli.keepa.clock import from_iso
from keepa_cli.ops._names import HISTORY_EXPORT
from keepa_cli.ops._params import Asin, Domain
from keepa_cli.ops.products import FULL, Flag, Offers, _plan

FORMATS = ("json", "jsonl", "csv", "parquet")
LARGEST_INLINE = 1000
WINDOW_DAYS = 30


def _series(value: Any) -> str:
    """The name of a series however it is written; a wrong one is refused before anything is asked."""
    from keepa_cli.research.history.choose import canonical

    try:
        return canonical(str(value))
    except KeepaCliError as error:
        raise ValueError(error.message.rstrip(".")) from None


def _moment(value: Any) -> str:
    try:
        from_iso(str(value))
    except (ValueError, OverflowError):
        raise ValueError(
            f"takes a date or a time such as 2026-01-31 or 2026-01-31T12:00Z, not {str(value)[:40]!r}"
        ) from None
    return str(value)


Series = Annotated[
    list[str],
    Param(
        "Series by name, such as new, buy_box, sales_rank:ID, offer:*; * stands for any text.",
        metavar="NAME",
        parse=_series,
        examples=("new", "buy_box", "sales_rank:*"),
    ),
]
Moment = Annotated[str | None, Param(metavar="TIME", parse=_moment)]
Buybox = Annotated[Flag, Param("Buy box histories: 2 tokens more per product; included in offers.")]
Rating = Annotated[Flag, Param("Rating and review count histories: up to 1 token more per product.")]


def _cost(params: dict[str, Any]) -> Cost:
    asin = params["asin"]
    return costs.product(len(dict.fromkeys(asin if isinstance(asin, list) else [asin])), params)


def _request(asins: list[str], domain: str, options: Mapping[str, Any]) -> Request | Batch:
    """The full preset, so that one recording of a product answers all that reads histories."""
    return _plan({"asin": asins}, domain, FULL | {k: v for k, v in options.items() if v is not None})


def _body(body: dict[str, Any], _: dict[str, Any]) -> dict[str, Any]:
    return {"body": body}


def _exported(ctx: Context, _: Any, data: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    from keepa_cli.ops._actions import planner
    from keepa_cli.ops._history_export import exported

    return exported(ctx, planner(ctx), data["body"], params)


def _trended(ctx: Context, _: Any, data: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    from keepa_cli.ops._actions import planner
    from keepa_cli.ops._history_trend import trended

    return trended(planner(ctx), data["body"], params)


def format_of(format: str | None, out: str | None) -> str:  # noqa: A002
    """The format that was asked for, else the one that the name of the file tells, else json."""
    suffix = (out or "").rpartition(".")[2].lower()
    return format or (suffix if suffix in FORMATS else "json")


def _check_output(format: str, out: str | None) -> None:  # noqa: A002
    if out == "-":
        raise invalid(
            "--out takes the name of a file; rows are not written to the standard output.", field="out", value="-"
        )
    if out is None and format != "json":
        raise invalid(
            f"The format {format} is written to a file: give --out history.{format}.", field="out", value=None
        )
    if format == "parquet" and importlib.util.find_spec("pyarrow") is None:
        raise KeepaCliError(
            Kind.INVALID_ARGUMENTS,
            'Parquet needs the extra "parquet", which is not installed.',
            details={"field": "format", "value": format},
            next_actions=['pip install "keepa-cli[parquet]"'],
        )


def _check_times(days: int | None, since: str | None, until: str | None) -> None:
    if days is not None and since is not None:
        raise invalid("--days and --since both say where the history begins: give one.", field="days", value=days)
    if since is not None and until is not None and from_iso(since) > from_iso(until):
        raise invalid(f"--since {since} is after --until {until}.", field="since", value=since)


def _check_order(series: list[str]) -> None:
    from keepa_cli.research.history.choose import has_trend

    for name in series:
        if not has_trend(name):
            raise invalid(
                f"{name} has no trend: its values are no more or less than each other. history export shows them.",
                field="series",
                value=name,
            )


@operation(
    HISTORY_EXPORT,
    toolset="research",
    cost=_cost,
    view=_body,
    finish=_exported,
    examples=(
        "kc history export B0PPJ248DY --series new,buy_box --format csv --out history.csv",
        "kc history export B0PPJ248DY --days 90 --json",
        "kc history export B0PPJ248DY --series 'sales_rank:*' --max-points 200 --out ranks.jsonl --dry-run",
    ),
)
def export(
    asin: Annotated[list[Asin], Param("ASINs; more than 100 are asked in batches.", position=True)],
    domain: Domain = "US",
    series: Annotated[Series, Param("Series to export; all that have data when left out.")] = [],  # noqa: B006
    format: Annotated[  # noqa: A002
        Literal["json", "jsonl", "csv", "parquet"] | None,
        Param("Format of the rows; told by the name of --out, else json."),
    ] = None,
    out: Annotated[
        str | None, Param("Write the rows to FILE, whatever their number; needed for all but json.", metavar="FILE")
    ] = None,
    days: Annotated[int | None, Param("Only the last N days, 24 hours each.", min=1, max=100_000)] = None,
    since: Annotated[Moment, Param("Only from this time on (UTC), with the value in force then.")] = None,
    until: Annotated[Moment, Param("Only up to this time (UTC).")] = None,
    max_points: Annotated[
        int | None,
        Param(
            "At most N points per series; first, last, extremes and stock-outs are always kept.", min=2, max=1_000_000
        ),
    ] = None,
    offers: Offers = None,
    buybox: Buybox = None,
    rating: Rating = None,
) -> Request | Batch:
    """Export histories as rows: asin, domain, series, time, value, raw, unit, currency.

    Costs 1 token per product, more with --offers, --buybox, --rating. A row is a change: its value holds until the next
    row of its series (of parent_asin the time is when that parent ended). Money is exact decimal text; where there is
    no value, `value` is null and `raw` says why (-1: none). A series with shipping is three: NAME is the landed price,
    NAME:price and NAME:shipping its parts.
    """
    _check_output(format_of(format, out), out)
    _check_times(days, since, until)
    return _request(asin, domain, {"offers": offers, "buybox": buybox, "rating": rating})


@operation(
    "history.trend",
    toolset="research",
    cost=_cost,
    view=_body,
    finish=_trended,
    examples=(
        "kc history trend B0PPJ248DY --series new --window-days 30",
        "kc history trend B0PPJ248DY --series sales_rank --window-days 30,90,365 --json",
    ),
)
def trend(
    asin: Annotated[Asin, Param("The product.", position=True)],
    domain: Domain = "US",
    series: Annotated[Series, Param("Series to look at; the main ones that have data when left out.")] = [],  # noqa: B006
    window_days: Annotated[
        list[int], Param("Windows that end now, in days [30].", metavar="DAYS", min=1, max=100_000, max_items=20)
    ] = [],  # noqa: B006
    offers: Offers = None,
    buybox: Buybox = None,
    rating: Rating = None,
) -> Request | Batch:
    """How histories moved, over all time and over windows that end now.

    Costs 1 token, more with --offers, --buybox, --rating. Every value counts as long as it was in force. The trend of a
    sales rank has its `seasonality` where a full year is known.
    """
    _check_order(series)
    return _request([asin], domain, {"offers": offers, "buybox": buybox, "rating": rating})

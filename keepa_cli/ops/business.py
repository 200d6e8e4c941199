"""What sells, what runs out, who competes, what is earned: figures for buying decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

from keepa_cli.core.context import Context
from keepa_cli.core.registry import Param, operation
from keepa_cli.ops import _business_agent_profile as _agent_profile  # noqa: F401 - registers business.agent-profile
from keepa_cli.ops import _business_profit as _profit  # noqa: F401 - registers business.profit
from keepa_cli.ops._inputs import Fixtures, Inputs, Payload
from keepa_cli.ops._names import FAST_MOVERS, INVENTORY, INVENTORY_AUDIT, MARKET_OPPORTUNITY, SELLER_METRICS, VELOCITY
from keepa_cli.ops._params import Domain

TOOLSET = "business"
Usual = Annotated[
    str, Param("Marketplace of products that do not name their own: code, id or host suffix."), Domain.__metadata__[0]
]
Limit = Annotated[int | None, Param("Show at most N products of every ranking.", metavar="N", min=1, max=100_000)]
Least = Annotated[
    Literal["exact", "high", "medium", "lower_bound", "low"] | None,
    Param("Leave out products whose deciding figure is less certain than this."),
]
Sold = Annotated[
    int | None, Param("Leave out products below N units a month, or without known units.", metavar="N", min=0)
]
Sort = Literal["velocity", "turnover", "offers", "stock_out", "input"]
Sorted = Annotated[Sort, Param("What ranks the products; input keeps their order.")]
Out = Annotated[str | None, Param("Write the result as JSON to FILE as well.", metavar="FILE")]
SHOWN = ("velocity", "seller_metrics", "inventory", "cashflow")


def _run(
    ctx: Context,
    analyse: Callable[..., dict[str, Any]],
    wish: Mapping[str, Any],
    given: tuple[Sequence[str], Sequence[str], dict[str, Any] | None, str],
    out: str | None,
    *more: Any,
) -> dict[str, Any]:
    """Read the inputs, analyse what they hold, and write the result where that is wished."""
    from keepa_cli.keepa.domains import resolve
    from keepa_cli.ops import _inputs, _outputs
    from keepa_cli.ops._actions import planner
    from keepa_cli.ops._business_inputs import refuse_empty, save
    from keepa_cli.research.business.record import Source
    from keepa_cli.research.business.report import Wish
    from keepa_cli.research.business.sources import merged, records

    if out:
        _outputs.target(ctx, out)
    files, fixtures, payload, domain = given
    inputs = _inputs.read(ctx, files, fixtures, payload)
    groups = [records(g.data, resolve(domain), Source(g.name, g.source, g.sha256)) for g in inputs]
    warnings = refuse_empty(inputs, groups)
    kept, dropped = merged(groups)
    sources = [g.described | {"products": len(found)} for g, found in zip(inputs, groups, strict=True)]
    data = analyse(kept, dropped, sources, Wish(**wish), planner(ctx), *more)
    return save(ctx, data, out) | ({"warnings": warnings} if warnings else {})


@operation(
    FAST_MOVERS,
    toolset=TOOLSET,
    tool="find_fast_movers",
    examples=(
        "kc business find-fast-movers --fixture product_B0PPJ248DY_full",
        "kc business find-fast-movers --input products.json --min-monthly-sold 1000 --limit 20",
    ),
)
def find_fast_movers(
    ctx: Context,
    input: Inputs = [],  # noqa: A002, B006
    fixture: Fixtures = [],  # noqa: B006
    payload: Payload | None = None,
    domain: Usual = "US",
    sort: Sorted = "velocity",
    limit: Limit = None,
    min_confidence: Least = None,
    min_monthly_sold: Sold = None,
    out: Out = None,
) -> dict[str, Any]:
    """Rank products by how fast they sell.

    Units are lower bounds of Amazon's brackets. Products that only have rank drops are ranked apart, as a hint.
    """
    from keepa_cli.research.business.analyses import find_fast_movers as analyse

    wish = _wish("find-fast-movers", SHOWN, sort, limit, min_confidence) | {"min_monthly_sold": min_monthly_sold}
    return _run(ctx, analyse, wish, (input, fixture, payload, domain), out)


@operation(
    INVENTORY_AUDIT,
    toolset=TOOLSET,
    tool="inventory_audit",
    examples=(
        "kc business inventory-audit --input products.json",
        "kc business inventory-audit --input a.json --limit 5",
    ),
)
def inventory_audit(
    ctx: Context,
    input: Inputs = [],  # noqa: A002, B006
    fixture: Fixtures = [],  # noqa: B006
    payload: Payload | None = None,
    domain: Usual = "US",
    sort: Sorted = "stock_out",
    limit: Limit = None,
    min_confidence: Least = None,
    out: Out = None,
) -> dict[str, Any]:
    """Rank products by the risk that they run out of stock.

    The level rests on Keepa's out-of-stock percentages, offers and velocity. Stock quantities are never estimated.
    """
    from keepa_cli.research.business.analyses import inventory_audit as analyse

    shown = ("inventory", "velocity", "seller_metrics", "cashflow")
    wish = _wish("inventory-audit", shown, sort, limit, min_confidence)
    return _run(ctx, analyse, wish, (input, fixture, payload, domain), out)


@operation(
    MARKET_OPPORTUNITY,
    toolset=TOOLSET,
    tool="market_opportunity",
    examples=("kc business market-opportunity --input compare.json --limit 10",),
)
def market_opportunity(
    ctx: Context,
    input: Inputs = [],  # noqa: A002, B006
    fixture: Fixtures = [],  # noqa: B006
    payload: Payload | None = None,
    domain: Usual = "US",
    limit: Limit = None,
    min_monthly_sold: Sold = None,
    out: Out = None,
) -> dict[str, Any]:
    """Score products by velocity, competition, stock-out risk and turnover, and list the best.

    Every part of the score is shown. What lacks an input is listed with the reason, never scored with a zero.
    """
    from keepa_cli.research.business.analyses import market_opportunity as analyse

    wish = _wish("market-opportunity", SHOWN, "score", limit, None) | {"min_monthly_sold": min_monthly_sold}
    return _run(ctx, analyse, wish, (input, fixture, payload, domain), out)


@operation(
    SELLER_METRICS,
    toolset=TOOLSET,
    examples=("kc business seller-metrics --input products.json --window-days 90",),
)
def seller_metrics(
    ctx: Context,
    input: Inputs = [],  # noqa: A002, B006
    fixture: Fixtures = [],  # noqa: B006
    payload: Payload | None = None,
    domain: Usual = "US",
    window_days: Annotated[
        list[int], Param("Days of the buy box windows.", metavar="DAYS", min=1, max=10_000, max_items=10)
    ] = [30, 90, 180, 365],  # noqa: B006
    sort: Sorted = "input",
    limit: Limit = None,
    min_confidence: Least = None,
    out: Out = None,
) -> dict[str, Any]:
    """Count the competition of products, and who held the buy box for how long.

    Buy box shares need answers that were requested with --buybox or --offers.
    """
    from keepa_cli.research.business.analyses import seller_metrics as analyse

    wish = _wish("seller-metrics", ("seller_metrics",), sort, limit, min_confidence)
    days = list(dict.fromkeys(window_days))
    return _run(ctx, analyse, wish, (input, fixture, payload, domain), out, days)


@operation(
    VELOCITY,
    toolset=TOOLSET,
    examples=("kc business velocity --fixture product_B0PPJ248DY_full",),
)
def velocity(
    ctx: Context,
    input: Inputs = [],  # noqa: A002, B006
    fixture: Fixtures = [],  # noqa: B006
    payload: Payload | None = None,
    domain: Usual = "US",
    sort: Sorted = "input",
    limit: Limit = None,
    min_confidence: Least = None,
    out: Out = None,
) -> dict[str, Any]:
    """Tell how fast products sell: units a month at least, else rank drops as a weak proxy."""
    from keepa_cli.research.business.analyses import velocity as analyse

    wish = _wish("velocity", ("velocity", "cashflow"), sort, limit, min_confidence)
    return _run(ctx, analyse, wish, (input, fixture, payload, domain), out)


@operation(
    INVENTORY,
    toolset=TOOLSET,
    examples=("kc business inventory --fixture product_B0PPJ248DY_full",),
)
def inventory(
    ctx: Context,
    input: Inputs = [],  # noqa: A002, B006
    fixture: Fixtures = [],  # noqa: B006
    payload: Payload | None = None,
    domain: Usual = "US",
    sort: Sorted = "input",
    limit: Limit = None,
    min_confidence: Least = None,
    out: Out = None,
) -> dict[str, Any]:
    """Tell how likely products are to run out, with the percentages behind it.

    A quantity in stock is never estimated.
    """
    from keepa_cli.research.business.analyses import inventory as analyse

    wish = _wish("inventory", ("inventory", "velocity"), sort, limit, min_confidence)
    return _run(ctx, analyse, wish, (input, fixture, payload, domain), out)


def _wish(
    analysis: str, shown: tuple[str, ...], sort: str, limit: int | None, min_confidence: str | None
) -> dict[str, Any]:
    return {
        "analysis": analysis,
        "shown": shown,
        "sort": sort,
        "limit": limit,
        "min_confidence": min_confidence,
    }

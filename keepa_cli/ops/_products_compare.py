"""Products side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from keepa_cli.core.context import Context
from keepa_cli.core.registry import Batch, Param, Request, operation
from keepa_cli.ops._batches import product_items
from keepa_cli.ops._names import PRODUCTS_COMPARE
from keepa_cli.ops._params import Asin, Domain
from keepa_cli.ops.products import Flag, Offers, Update, _cost, _options, _plan

SortBy = Annotated[
    Literal[
        "buy_box_price", "new_price", "price_vs_90d_pct", "sales_rank", "monthly_sold", "rating", "review_count",
        "offer_count", "data_quality",
    ]
    | None,
    Param(
        "Order the rows by this figure, the best first: low prices, ranks and offer counts, high sales and ratings. "
        "Without it they stand in the order asked."
    ),
]  # fmt: skip


def compared(ctx: Context, call: Callable[..., Any], data: dict[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """The comparison instead of the body, with what became of each ASIN in `items`."""
    from keepa_cli.keepa.domains import resolve
    from keepa_cli.ops._actions import planner
    from keepa_cli.research.compare import compare
    from keepa_cli.research.subject import subjects

    found = subjects(data.get("body"), resolve(params["domain"]), {**params, "full": True})
    result = compare(found, planner(ctx), params["asin"], params.get("sort_by"))
    return result | {name: value for name, value in data.items() if name not in {"body", *result}}


@operation(
    PRODUCTS_COMPARE,
    toolset="research",
    cost=_cost,
    returns="product",
    view=product_items,
    finish=compared,
    examples=(
        "kc products compare B001GZ6QEC B0D8W1YVBX --domain US",
        "kc products compare B001GZ6QEC B0D8W1YVBX --rating --buybox --sort-by sales_rank --live",
    ),
)
def compare(
    asin: Annotated[list[Asin], Param("ASINs; more than 100 are asked in batches.", position=True)],
    domain: Domain = "US",
    offers: Offers = None,
    buybox: Annotated[Flag, Param("Buy box data: 2 tokens more per product; included in offers.")] = None,
    rating: Annotated[Flag, Param("Rating and review counts: up to 1 token more per product.")] = None,
    update: Update = None,
    sort_by: SortBy = None,
) -> Request | Batch:
    """Hold products against each other: a row each, who leads by what, the risks and the graph of all.

    Asks what `products get --full` asks, for the same price: 1 token per product. ASINs that Keepa does not have
    stand in the rows too, with their status.
    """
    given = {"offers": offers, "buybox": buybox, "rating": rating, "update": update, "full": True}
    return _plan({"asin": asin}, domain, _options(given))

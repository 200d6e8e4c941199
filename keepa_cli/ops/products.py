"""Products: by ASIN, by barcode, by search term."""

from __future__ import annotations

import re
from typing import Annotated, Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import invalid
from keepa_cli.core.registry import Batch, Cost, Param, Request, operation
from keepa_cli.keepa import costs
from keepa_cli.keepa.clock import from_iso, from_unix_ms
from keepa_cli.ops._batches import chunks, merge_products, product_items
from keepa_cli.ops._names import PRODUCTS_GET, PRODUCTS_SEARCH, PRODUCTS_SUMMARY
from keepa_cli.ops._params import Asin, Code, Domain, domain_id
from keepa_cli.ops._products_view import (
    AgentView,
    ChunksDir,
    Fields,
    HistoryLimit,
    View,
    Windows,
    check,
    finish,
    profile_of,
    summarized,
)

_DAYS = re.compile(r"\d{1,5}")
_MOMENTS = re.compile(r"\d{13},\d{13}|\d{4}-\d\d-\d\d[T0-9:.Z]*,\d{4}-\d\d-\d\d[T0-9:.Z]*")


def _window(value: Any) -> str:
    """A number of days, or two moments of which the first is the earlier."""
    text = str(value).replace(" ", "")
    if _MOMENTS.fullmatch(text):
        start, end = (_minute(part) for part in text.split(","))
        if start >= end:
            raise ValueError(f"stats begins at {text.replace(',', ' and ends at ')}: a window ends after it begins")
    elif not _DAYS.fullmatch(text):
        raise ValueError(f"stats takes a number of days, or START,END as dates or Unix ms, not {text[:60]!r}")
    return text


def _minute(text: str) -> int:
    try:
        return from_unix_ms(int(text)) if text.isdecimal() else from_iso(text)
    except (ValueError, OverflowError):
        raise ValueError(f"stats names {text!r}, which is no date") from None


Stats = Annotated[
    str,
    Param(
        "Statistics over the last DAYS days, or over START,END (ISO dates or Unix ms, UTC). 0 gives an empty interval.",
        metavar="DAYS|START,END",
        pattern=r"\d{1,5}|\d{13},\d{13}|\d{4}-\d\d-\d\d[T0-9:.Z]*,\d{4}-\d\d-\d\d[T0-9:.Z]*",
        accepts=("string", "integer"),
        parse=_window,
        examples=("90", "2025-01-01,2025-12-31"),
    ),
]
Flag = bool | None
History = Annotated[Flag, Param("Include price, rank and offer history (Keepa's default: yes).")]
Days = Annotated[int | None, Param("Trim all history to the last N days of 24 hours.", min=1, max=100_000)]
Update = Annotated[
    int | None, Param("Refresh data older than N hours; 0 always (may cost 1 more), -1 never.", min=-1, max=1_000_000)
]
Offers = Annotated[
    int | None, Param("Fetch 20-100 marketplace offers: 6 tokens per page of 10, per product.", min=20, max=100)
]
FULL = {"history": True, "stats": "0", "videos": True, "aplus": True}


def _plan(ids: dict[str, list[str]], domain: str, options: dict[str, Any]) -> Request | Batch:
    """One request per chunk of ids; `options` hold the remaining parameters by their wire names."""
    (name, values), *_ = ids.items()
    size = 20 if options.get("offers") else 100
    requests = tuple(
        Request("GET", "/product", {"domain": domain_id(domain, "product"), name: part} | options, asked=tuple(part))
        for part in chunks(values, size)
    )
    return requests[0] if len(requests) == 1 else Batch(requests, merge_products)


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """The optional wire parameters that were asked for, checked against each other."""
    full = FULL if given.pop("full", False) else {}
    named = {k.replace("_", "-"): v for k, v in given.items() if v is not None}
    merged = full | named
    for needs_offers in ("only-live-offers", "stock"):
        if merged.get(needs_offers) and not merged.get("offers"):
            raise invalid(f"{needs_offers} needs offers, for example --offers 20.", field=needs_offers, value=True)
    return merged


def _cost(params: dict[str, Any]) -> Cost:
    count = len(dict.fromkeys(params.get("asin") or params.get("code") or []))
    return costs.product(count, params)


@operation(
    PRODUCTS_GET,
    toolset="research",
    cost=_cost,
    returns="product",
    view=product_items,
    finish=finish,
    examples=(
        "kc products get B001GZ6QEC --domain US",
        "kc products get B001GZ6QEC --full --view summary",
        "kc products get B001GZ6QEC --full --fields pricing,demand",
        "kc products get B001GZ6QEC --full --dry-run",
        "kc products get B001GZ6QEC B0D8W1YVBX --stats 180 --rating --buybox --live",
    ),
)
def get(
    asin: Annotated[list[Asin], Param("ASINs; more than 100 are asked in batches.", position=True)] = [],  # noqa: B006
    domain: Domain = "US",
    code: Annotated[list[Code], Param("UPC, EAN, ISBN-13 or GTIN instead of ASINs.")] = [],  # noqa: B006
    code_limit: Annotated[int | None, Param("At most N products per code.", min=1)] = None,
    stats: Stats | None = None,
    history: History = None,
    days: Days = None,
    update: Update = None,
    offers: Offers = None,
    only_live_offers: Annotated[Flag, Param("Leave out historical offers (needs offers).")] = None,
    stock: Annotated[Flag, Param("Collect stock of the offers, up to 2 tokens more (needs offers).")] = None,
    buybox: Annotated[Flag, Param("Buy box data: 2 tokens more per product; included in offers.")] = None,
    rating: Annotated[Flag, Param("Rating and review counts: up to 1 token more per product.")] = None,
    historical_variations: Annotated[Flag, Param("Former variations: 1 token more with a parent ASIN.")] = None,
    videos: Annotated[Flag, Param("Include stored video metadata.")] = None,
    aplus: Annotated[Flag, Param("Include stored A+ content.")] = None,
    full: Annotated[bool, Param("Same as --history --stats 0 --videos --aplus: all that costs nothing more.")] = False,
    view: View = None,
    agent_view: AgentView = False,
    fields: Fields = [],  # noqa: B006
    history_limit: HistoryLimit = None,
    temporal_window_days: Windows = [],  # noqa: B006
    chunks_dir: ChunksDir = None,
    ctx: Context | None = None,
) -> Request | Batch:
    """Get products with their history: as Keepa sends them, or as a view that a decision can be made from.

    Costs 1 token per product, more with --offers, --buybox, --rating, --stock. ASINs asked twice are sent once.
    Views cost nothing more; --out keeps the raw answer beside one.
    """
    shape = {
        "view": view, "agent_view": agent_view, "fields": fields, "history_limit": history_limit,
        "temporal_window_days": temporal_window_days, "chunks_dir": chunks_dir,
    }  # fmt: skip
    check(ctx, shape)
    if bool(asin) == bool(code):
        problem = "ASINs and --code cannot be combined" if asin else "Give at least one ASIN, or --code"
        raise invalid(problem + ".", field="asin", value=asin)
    if code_limit is not None and not code:
        raise invalid("--code-limit goes with --code.", field="code_limit", value=code_limit)
    given = {
        "stats": stats, "history": history, "days": days, "update": update, "offers": offers,
        "only_live_offers": only_live_offers, "stock": stock, "buybox": buybox, "rating": rating,
        "historical_variations": historical_variations, "videos": videos, "aplus": aplus, "full": full,
        "code_limit": code_limit,
    }  # fmt: skip
    return _plan({"asin": asin} if asin else {"code": code}, domain, _options(given))


@operation(
    "products.by-code",
    toolset="research",
    cost=_cost,
    returns="product",
    view=product_items,
    finish=finish,
    examples=("kc products by-code 0747474801770 --domain US --code-limit 5",),
)
def by_code(
    code: Annotated[list[Code], Param("UPC, EAN, ISBN-13 or GTIN codes.", position=True)],
    domain: Domain = "US",
    code_limit: Annotated[int | None, Param("At most N products per code; one code can match many.", min=1)] = None,
    stats: Stats | None = None,
    history: History = None,
    days: Days = None,
    update: Update = None,
    full: Annotated[bool, Param("Same as --history --stats 0 --videos --aplus.")] = False,
    view: View = None,
    fields: Fields = [],  # noqa: B006
) -> Request | Batch:
    """Get products by barcode.

    Costs 1 token per product that is returned: without --code-limit a single code can return very many.
    """
    profile_of({"view": view, "fields": fields})
    given = {"stats": stats, "history": history, "days": days, "update": update, "full": full, "code_limit": code_limit}
    return _plan({"code": code}, domain, _options(given))


def _search_cost(params: dict[str, Any]) -> Cost:
    return costs.search_product(params)


@operation(
    PRODUCTS_SEARCH,
    toolset="research",
    cost=_search_cost,
    returns="search_product",
    view=lambda body, _: {"count": len(body.get("products") or body.get("asinList") or []), "body": body},
    finish=finish,
    examples=('kc products search "coffee grinder" --domain US', 'kc products search "coffee grinder" --asins-only'),
)
def search(
    term: Annotated[str, Param("Search words, as typed on Amazon.", position=True)],
    domain: Domain = "US",
    asins_only: Annotated[bool, Param("Return ASINs only, not products.")] = False,
    stats: Stats | None = None,
    history: History = None,
    update: Annotated[int | None, Param("Refresh data older than N hours: up to 1 token per product.", min=0)] = None,
    rating: Annotated[Flag, Param("Rating and review counts: up to 5 tokens more.")] = None,
    view: View = None,
    fields: Fields = [],  # noqa: B006
) -> Request:
    """Search products by keyword, in Amazon's order without sponsored results.

    One answer of up to 20 results costs 10 tokens.
    """
    if not term.strip():
        raise invalid("The search term is empty.", field="term", value=term)
    if profile_of({"view": view, "fields": fields}) and asins_only:
        raise invalid("--asins-only gives no products that a view could show.", field="view", value=view)
    query = {
        "domain": domain_id(domain, "search"), "type": "product", "term": term.strip(),
        "asins-only": asins_only or None, "stats": stats, "history": history, "update": update, "rating": rating,
    }  # fmt: skip
    return Request("GET", "/search", query)


@operation(
    PRODUCTS_SUMMARY,
    toolset="research",
    cost=_cost,
    returns="product",
    view=product_items,
    finish=summarized,
    examples=(
        "kc products summary B001GZ6QEC B0D8W1YVBX --domain US",
        "kc products summary B001GZ6QEC --rating --buybox --live",
    ),
)
def summary(
    asin: Annotated[list[Asin], Param("ASINs; more than 100 are asked in batches.", position=True)],
    domain: Domain = "US",
    offers: Offers = None,
    buybox: Annotated[Flag, Param("Buy box data: 2 tokens more per product; included in offers.")] = None,
    rating: Annotated[Flag, Param("Rating and review counts: up to 1 token more per product.")] = None,
    update: Update = None,
) -> Request | Batch:
    """Show each product in 2 KB: what it is, costs and sells, its rating, its risks, what to ask next.

    Asks what `products get --full` asks, for the same price: 1 token per product.
    """
    given = {"offers": offers, "buybox": buybox, "rating": rating, "update": update, "full": True}
    return _plan({"asin": asin}, domain, _options(given))


from keepa_cli.ops import _products_compare as _products_compare  # noqa: E402 - its operation is one of this family

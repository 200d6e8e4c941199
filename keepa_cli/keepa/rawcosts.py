"""What a request that was put together by hand can cost: the prices of known endpoints, read from its parameters.

Source: keepa-api.md §5.15. What cannot be read counts as the most that Keepa gives out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from keepa_cli.core.registry import Cost, CostPart
from keepa_cli.keepa import costs

Query = Mapping[str, str]
MOST_ITEMS = 100
MOST_RESULTS = 10_000
UNKNOWN = Cost(
    (CostPart("raw_request", 1, 500, "the price of an endpoint that is not known"),),
    confirm=True,
    notes=("500 is the price of the dearest documented request; an unknown endpoint can cost more.",),
)


def of_request(path: str, query: Query, body: Any = None) -> Cost:
    """The price of one request; every one but /token asks before it is sent."""
    if path == "/token":
        return costs.token()
    price = _PRICES.get(path)
    return replace(price(query, body), confirm=True) if price else UNKNOWN


def _items(query: Query, name: str) -> int:
    """How many things a parameter names: repeats count, for nothing says that Keepa charges them once."""
    return max(1, len([item for item in query.get(name, "").split(",") if item.strip()]))


def _product(query: Query, _: Any) -> Cost:
    usable = {k: v for k, v in query.items() if k not in {"offers", "code-limit"} or (costs.number(query, k) or 0) > 0}
    return costs.product(_items(query, "code" if query.get("code") else "asin"), usable)


def _search(query: Query, _: Any) -> Cost:
    return costs.search_category() if query.get("type") == "category" else costs.search_product(query)


def _seller(query: Query, _: Any) -> Cost:
    return costs.seller(_items(query, "seller"), storefront=costs.on(query, "storefront"))


def _query(query: Query, body: Any) -> Cost:
    return costs.query(_results(query, body), stats=costs.on(query, "stats"))


def _results(query: Query, body: Any) -> int:
    """The most results that a selection asks for; Keepa's 50 where it does not say."""
    selection = body
    if "selection" in query:
        try:
            selection = json.loads(query["selection"])
        except (ValueError, RecursionError):
            return MOST_RESULTS
    if not isinstance(selection, Mapping):
        return MOST_RESULTS
    asked = selection.get("perPage", 50)
    whole = isinstance(asked, int) and not isinstance(asked, bool)
    return max(asked, MOST_ITEMS) if whole and 0 <= asked <= MOST_RESULTS else MOST_RESULTS


def _tracking(query: Query, body: Any) -> Cost:
    kind = query.get("type", "")
    if kind != "add":
        return costs.tracking(kind)
    given = body
    if isinstance(query.get("tracking"), str):
        try:
            given = json.loads(query["tracking"])
        except (ValueError, RecursionError):
            given = None
    return costs.tracking(kind, len(given) if isinstance(given, list) else 1)


_PRICES: Mapping[str, Callable[[Query, Any], Cost]] = {
    "/bestsellers": lambda _, __: costs.bestsellers(),
    "/category": lambda _, __: costs.category(),
    "/deal": lambda _, __: costs.deal(),
    "/graphimage": lambda _, __: costs.graphimage(),
    "/lightningdeal": lambda query, _: costs.lightningdeal(query.get("asin")),
    "/product": _product,
    "/query": _query,
    "/search": _search,
    "/seller": _seller,
    "/sellerquery": lambda query, body: costs.sellerquery(_results(query, body)),
    "/topseller": lambda _, __: costs.topseller(),
    "/tracking": _tracking,
}

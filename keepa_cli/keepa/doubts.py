"""Answers that keep the contract and still look wrong, given what was asked: sections that are empty or short.

Sources: keepa-api.md §1.6 (empty answers), §4 (price types), §6.1 and §6.2 (what a request option unlocks).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from keepa_cli.keepa.csvtypes import CSV_TYPES

Query = Mapping[str, str]
NO_DATA = (3, 4)
"""Product types without any data: nothing about them is suspicious."""
ONLY_RANKS = 5
NOT_REQUESTED = -2
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "/bestsellers": ("bestSellersList", "asinList"),
    "/category": ("categories",),
    "/deal": ("deals",),
    "/lightningdeal": ("lightningDeals",),
    "/product": ("products",),
    "/query": ("asinList",),
    "/search": ("products", "asinList", "categories"),
    "/seller": ("sellers",),
    "/sellerquery": ("sellerIdList",),
    "/topseller": ("sellerIdList",),
}
NAMED = 5


def doubts(path: str, query: Query, body: Mapping[str, Any]) -> list[str]:
    """What is suspicious about a whole answer, as sentences."""
    return [*_section(path, body), *_unanswered(path, query, body), *_others(path, query, body),
            *of_products(path, query, body)]  # fmt: skip


def of_products(path: str, query: Query, body: Mapping[str, Any]) -> Iterator[str]:
    """The part of `doubts` that looks at products one by one, so that a piece of an answer can be judged too."""
    held = body.get("products")
    if path not in {"/product", "/search"} or not isinstance(held, list):
        return
    products = [p for p in held if isinstance(p, Mapping) and p.get("productType") not in NO_DATA]
    for what, looks_wrong in _rules(path, query):
        found = [p for p in products if looks_wrong(p)]
        if found:
            yield f"{what}: {_named([str(p.get('asin')) for p in found])}."


Rule = tuple[str, Callable[[Mapping[str, Any]], bool]]


def _rules(path: str, query: Query) -> Iterator[Rule]:
    if query.get("stats"):
        yield "Statistics were asked for and are absent", lambda p: not p.get("stats")
    if query.get("history", "1") != "0":
        yield "Histories were asked for and csv is absent", lambda p: not p.get("csv")
        yield (
            f"csv has fewer than the {len(CSV_TYPES)} known slots",
            lambda p: 0 < _length(p.get("csv")) < len(CSV_TYPES),
        )
        if not query.get("days"):
            yield "Every history in csv is empty", _all_empty
    if _on(query, "rating"):
        yield "Ratings were asked for and reviews is absent", lambda p: not p.get("reviews")
    if path == "/product" and _on(query, "offers"):
        yield "Offers were asked for and could not be fetched", lambda p: p.get("offersSuccessful") is False
        yield "Offers were asked for and are absent", _without_offers
    if path == "/product" and (_on(query, "offers") or _on(query, "buybox")) and query.get("stats"):
        yield "The buy box was asked for and stats say that it was not", _without_buybox


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0


def _all_empty(product: Mapping[str, Any]) -> bool:
    csv = product.get("csv")
    return isinstance(csv, list) and bool(csv) and not any(csv) and product.get("productType") != ONLY_RANKS


def _without_offers(product: Mapping[str, Any]) -> bool:
    return product.get("offers") is None and product.get("offersSuccessful") is not False


def _without_buybox(product: Mapping[str, Any]) -> bool:
    stats = product.get("stats")
    failed = product.get("offersSuccessful") is False
    return isinstance(stats, Mapping) and stats.get("buyBoxPrice") == NOT_REQUESTED and not failed


def _section(path: str, body: Mapping[str, Any]) -> Iterator[str]:
    """Paid for, and the section of the endpoint is not there at all; an empty one is an answer."""
    names, consumed = SECTIONS.get(path, ()), body.get("tokensConsumed")
    if names and isinstance(consumed, int) and consumed > 0 and all(body.get(name) is None for name in names):
        yield f"The answer cost {consumed} tokens and has no {' or '.join(names)}."
    if path == "/bestsellers" and body.get("asinList") and not body.get("bestSellersList"):
        yield "The ASINs stand in asinList where bestSellersList is documented."


def _unanswered(path: str, query: Query, body: Mapping[str, Any]) -> Iterator[str]:
    if path != "/product" or not query.get("asin"):
        return
    asked = list(dict.fromkeys(query["asin"].split(",")))
    products = body.get("products")
    held = {p.get("asin") for p in (products if isinstance(products, list) else []) if isinstance(p, Mapping)}
    missing = [asin for asin in asked if asin not in held]
    if missing:
        yield f"Keepa answered {len(asked) - len(missing)} of {len(asked)} ASINs; missing: {_named(missing)}."


def _others(path: str, query: Query, body: Mapping[str, Any]) -> Iterator[str]:
    if path != "/query":
        return
    if _on(query, "stats") and not body.get("searchInsights"):
        yield "Insights were asked for and searchInsights is absent."
    total = body.get("totalResults")
    if isinstance(total, int) and total > 0 and not body.get("asinList") and _page(query) == 0:
        yield f"The answer counts {total} results and its first page holds none."


def _page(query: Query) -> Any:
    try:
        selection = json.loads(query["selection"])
    except (KeyError, ValueError):
        return None
    return selection.get("page", 0) if isinstance(selection, dict) else None


def _on(query: Query, name: str) -> bool:
    return query.get(name, "0") not in {"", "0", "false"}


def _named(items: Sequence[str]) -> str:
    rest = len(items) - NAMED
    return ", ".join(items[:NAMED]) + (f" and {rest} more" if rest > 0 else "")

"""What calls cost in tokens: estimates before a call, and what Keepa charges for a product.

Source: keepa-api.md §5.15.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.core.registry import FREE, Cost, CostPart
from keepa_cli.keepa.clock import DAY

Params = Mapping[str, Any]

PAGE_OF_OFFERS = 10
TOKENS_PER_OFFER_PAGE = 6
TOKENS_WITHOUT_OFFER = 5
TOKENS_BUYBOX = 2
TOKENS_STOCK = 2
FRESH_PRODUCT = 60
FRESH_RATING = 14 * DAY
FRESH_STOCK = 7 * DAY
SEARCH_RESULTS = 20
WORST_PRODUCTS_PER_CODE = 1500
"""One code without a limit was once charged 1500 tokens; there is no documented bound."""
WORST_MILLIONS_MATCHED = 1000


def on(params: Params, name: str) -> bool:
    """Whether an option is set; names with - or _, values as JSON or as on the wire."""
    return option(params, name) not in (None, False, 0, "", "0", "false")


def option(params: Params, name: str) -> Any:
    found = params.get(name)
    return found if found is not None else params.get(name.replace("-", "_"))


def number(params: Params, name: str) -> int | None:
    """A numeric option given as a number or as text; None when it is absent or no number."""
    try:
        return int(option(params, name))
    except (TypeError, ValueError):
        return None


def product(count: int, params: Params = {}) -> Cost:  # noqa: B006
    """`/product` for `count` ASINs, or for `count` codes when `params` holds `code`."""
    factor, notes = _products_per_item(params)
    parts = [CostPart(p.name, p.tokens * count, p.worst * count * factor, p.note) for p in _per_product(params)]
    offers = number(params, "offers")
    if offers:
        notes.append("Offers cost 6 tokens per page of 10 found, so a product with few offers costs less.")
    return Cost(tuple(parts), confirm=bool(offers), notes=tuple(notes))


def _products_per_item(params: Params) -> tuple[int, list[str]]:
    if not option(params, "code"):
        return 1, []
    limit = number(params, "code-limit")
    if limit:
        return limit, [f"Every code can match up to {limit} products; only those returned are charged."]
    return WORST_PRODUCTS_PER_CODE, ["A code can match very many products; --code-limit bounds the cost."]


def _per_product(params: Params) -> list[CostPart]:
    offers = number(params, "offers")
    if offers:
        pages = -(-offers // PAGE_OF_OFFERS)
        tokens = TOKENS_PER_OFFER_PAGE * pages
        parts = [CostPart("offers", tokens, tokens, f"6 per page of 10 offers, at most {pages} pages")]
    else:
        parts = [CostPart("product", 1, 1, "1 per product")]
    if number(params, "update") == 0:
        parts.append(CostPart("update", 0, 1, "1 when the data is less than an hour old"))
    if on(params, "rating"):
        parts.append(CostPart("rating", 1, 1, "1 when rating and review count are less than 14 days old"))
    if on(params, "buybox") and not offers:
        parts.append(CostPart("buybox", TOKENS_BUYBOX, TOKENS_BUYBOX, "2 per product"))
    if on(params, "stock") and offers:
        parts.append(CostPart("stock", TOKENS_STOCK, TOKENS_STOCK, "2 when stock is less than 7 days old"))
    if on(params, "historical-variations"):
        parts.append(CostPart("historical_variations", 1, 1, "1 when the product has a parent ASIN"))
    return parts


def search_product(params: Params = {}) -> Cost:  # noqa: B006
    """`/search?type=product`: 10 for one answer of up to 20 results."""
    parts = [CostPart("search", 10, 10, "up to 20 results")]
    if number(params, "update") == 0:
        parts.append(CostPart("update", 0, SEARCH_RESULTS, "1 per product whose data is less than an hour old"))
    if on(params, "rating"):
        parts.append(CostPart("rating", 5, 5, "at most 5 per search"))
    return Cost(tuple(parts))


def search_category() -> Cost:
    return _flat("search", 1)


def category() -> Cost:
    return _flat("category", 1, "whatever the number of ids")


def query(results: int = 50, *, stats: bool = False) -> Cost:
    """`/query` returning up to `results` ASINs."""
    parts = [CostPart("query", 10, 10), _per_hundred(results)]
    if stats:
        parts.append(CostPart("insights", 31, 30 + WORST_MILLIONS_MATCHED, "30 and 1 per million products matched"))
    return Cost(tuple(parts), confirm=True)


def deal() -> Cost:
    return _flat("deals", 5, "a page of up to 150")


def seller(count: int = 1, *, storefront: bool = False) -> Cost:
    parts = [CostPart("seller", count, count, "1 per seller found")]
    if storefront:
        parts.append(CostPart("storefront", 9, 9, "when at least 2 ASINs are known"))
    return Cost(tuple(parts))


def sellerquery(results: int = 50) -> Cost:
    return Cost((CostPart("query", 10, 10), _per_hundred(results)))


def bestsellers() -> Cost:
    return _flat("bestsellers", 50, "0 when there is no list", confirm=True)


def topseller() -> Cost:
    return _flat("topsellers", 50, confirm=True)


def lightningdeal(asin: str | None = None) -> Cost:
    return _flat("lightningdeal", 1) if asin else _flat("lightningdeals", 500, "the whole list", confirm=True)


def graphimage() -> Cost:
    return _flat("graphimage", 1, "0 when the same image was asked for within 90 minutes")


def tracking(kind: str, count: int = 1) -> Cost:
    """`/tracking?type=kind`; adding costs 1 per tracking, and what changes something upstream asks first."""
    parts = (CostPart("tracking", count, count, "1 per tracking"),) if kind == "add" else ()
    return Cost(parts, confirm=kind in {"add", "remove", "removeAll", "webhook"})


def token() -> Cost:
    return FREE


def _flat(name: str, tokens: int, note: str = "", *, confirm: bool = False) -> Cost:
    return Cost((CostPart(name, tokens, tokens, note),), confirm=confirm)


def _per_hundred(results: int) -> CostPart:
    tokens = -(-results // 100)
    return CostPart("results", tokens, tokens, "1 per 100 ids returned")


def charge_product(item: Mapping[str, Any] | None, params: Params, now_minute: int, *, found: int | None = None) -> int:
    """Tokens that Keepa charges for one product at `now_minute`, before the answer refreshes it.

    `item` is the full stored product, None when Keepa does not know it. `found` is the number of live offers, taken
    from the product where it is not given.
    """
    if item is None:
        return 0 if number(params, "update") == -1 or option(params, "code") else 1
    offers = number(params, "offers")
    total = _offers_charge(item, params, now_minute, offers, found) if offers else 1
    total += number(params, "update") == 0 and _age(item, "lastUpdate", now_minute) < FRESH_PRODUCT
    total += on(params, "rating") and _age(item, "lastRatingUpdate", now_minute) < FRESH_RATING
    total += on(params, "historical-variations") and bool(item.get("parentAsin"))
    if on(params, "stock") and offers and _age(item, "lastStockUpdate", now_minute) < FRESH_STOCK:
        total += TOKENS_STOCK
    return total + (TOKENS_BUYBOX if on(params, "buybox") and not offers else 0)


def _offers_charge(item: Mapping[str, Any], params: Params, now: int, asked: int, found: int | None) -> int:
    if item.get("offersSuccessful") is False:
        return 0 if on(params, "only-live-offers") else 1
    hours = number(params, "update")
    if hours is not None and _offers_age(item, now) < hours * 60:
        return TOKENS_WITHOUT_OFFER
    live = found if found is not None else len(item.get("liveOffersOrder") or item.get("offers") or ())
    pages = -(-min(live, asked) // PAGE_OF_OFFERS)
    return max(TOKENS_WITHOUT_OFFER, TOKENS_PER_OFFER_PAGE * pages)


def _offers_age(item: Mapping[str, Any], now: int) -> int:
    stats = item.get("stats")
    return _age(stats if isinstance(stats, Mapping) else {}, "lastOffersUpdate", now)


def _age(item: Mapping[str, Any], name: str, now: int) -> int:
    """Minutes since a time field; very old when it is unknown."""
    minute = item.get(name)
    return now - minute if isinstance(minute, int) and minute > 0 else now


def charge_query(returned: int, *, matched: int | None = None) -> int:
    """Tokens of a finder answer; `matched` only when insights were asked for."""
    return 10 + -(-returned // 100) + (0 if matched is None else 30 + -(-matched // 1_000_000))


def charge_search_product(items: list[Mapping[str, Any]], params: Params, now_minute: int) -> int:
    """Tokens of a product search that found `items`."""
    fresh = [i for i in items if _age(i, "lastUpdate", now_minute) < FRESH_PRODUCT]
    rated = [i for i in items if _age(i, "lastRatingUpdate", now_minute) < FRESH_RATING]
    update = len(fresh) if number(params, "update") == 0 else 0
    return 10 + update + (min(5, len(rated)) if on(params, "rating") else 0)

"""From marketplace offers of a product to their current prices. Source: keepa-api.md §6.3. Never raises on odd data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keepa_cli.keepa.clock import field_time, iso
from keepa_cli.keepa.csvtypes import BY_NAME
from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.money import amount
from keepa_cli.keepa.series import NO_DATA, fact, points, read_series

SHIPPED_PRICES = BY_NAME["NEW_FBM_SHIPPING"]
"""Any type with triples: `offerCSV` is laid out like it."""
CONDITIONS: Mapping[int, str] = {
    1: "new", 2: "used_like_new", 3: "used_very_good", 4: "used_good", 5: "used_acceptable", 6: "refurbished",
    7: "collectible_like_new", 8: "collectible_very_good", 9: "collectible_good", 10: "collectible_acceptable",
    11: "rental",
}  # fmt: skip


def current_offer(offer: Any, domain: Domain) -> dict[str, Any]:
    """An offer with its newest price, shipping and total as text; None where Keepa could not read one.

    Shipping that is unknown is None and leaves the total None: sentinels never enter a sum.
    """
    known = offer if isinstance(offer, Mapping) else {}
    series = read_series(known.get("offerCSV"), SHIPPED_PRICES)
    found = fact(SHIPPED_PRICES, domain, series.values[-1], series.shipping[-1]) if len(series) else {}
    stock = read_series(known.get("stockCSV"), BY_NAME["COUNT_NEW"])
    condition = known.get("condition")
    return {
        "offerId": known.get("offerId"),
        "seller_id": known.get("sellerId"),
        "state": found.get("state", NO_DATA),
        "price": found.get("price"),
        "shipping": found.get("shipping"),
        "total": found.get("total"),
        "currency": domain.currency,
        "at": iso(series.times[-1]) if len(series) else None,
        "last_seen": field_time(known.get("lastSeen")),
        "condition": CONDITIONS.get(condition) if isinstance(condition, int) else None,
        "is_fba": known.get("isFBA"),
        "is_prime": known.get("isPrime"),
        "is_amazon": known.get("isAmazon"),
        "stock": max(stock.values[-1], -1) if len(stock) and stock.values[-1] >= 0 else None,
        "coupon": coupon(known.get("coupon"), domain),
    }


def live_offers(product: Any, domain: Domain) -> list[dict[str, Any]]:
    """The live offers in Amazon's order: those that `liveOffersOrder` points to. The list `offers` itself holds
    old offers as well and its order says nothing. An order that is absent means that no live offer is known."""
    return [current_offer(product["offers"][i], domain) for i in live_places(product)]


def live_places(product: Any) -> list[int]:
    """Where the live offers stand in `offers`, in Amazon's order."""
    known = product if isinstance(product, Mapping) else {}
    offers = known.get("offers")
    listed: Sequence[Any] = offers if isinstance(offers, list) else []
    order = known.get("liveOffersOrder")
    places = dict.fromkeys(i for i in (order if isinstance(order, list) else []) if type(i) is int)
    return [i for i in places if 0 <= i < len(listed)]


def history(offer: Mapping[str, Any], domain: Domain) -> list[dict[str, Any]]:
    """Every price of an offer as facts, oldest first."""
    return list(points(read_series(offer.get("offerCSV"), SHIPPED_PRICES), domain))


def coupon(value: Any, domain: Domain) -> dict[str, Any] | None:
    """A coupon: positive numbers are an amount, negative ones a percentage, 0 and null none."""
    if not isinstance(value, int) or isinstance(value, bool) or value == 0:
        return None
    return {"percent": -value} if value < 0 else {"amount": amount(value, domain), "currency": domain.currency}

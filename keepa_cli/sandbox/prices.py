"""What an executed request costs, once it is known what it found; the rules are those of `keepa.costs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keepa_cli.keepa import costs

CATEGORY = costs.category().estimated
NO_DATA = frozenset({3, 4})
Facts = Mapping[str, Any] | None
_DECISIVE = (
    "lastRatingUpdate",
    "lastStockUpdate",
    "lastUpdate",
    "liveOffersOrder",
    "offersSuccessful",
    "parentAsin",
)


def facts(product: Mapping[str, Any]) -> Facts:
    """What of a product decides its price; None for one without data."""
    if product["productType"] in NO_DATA:
        return None
    offers = {"lastOffersUpdate": product["lastUpdate"]}
    return {name: product.get(name) for name in _DECISIVE} | {"stats": offers}


def products(found: Sequence[Facts], params: Mapping[str, str], now: int) -> int:
    """The price of a /product request."""
    return sum(costs.charge_product(item, params, now) for item in found)


def search(found: Sequence[Facts], params: Mapping[str, str], now: int) -> int:
    """The price of a product search."""
    return costs.charge_search_product([item for item in found if item is not None], params, now)

"""What an executed request costs, once it is known what it found; the rules are those of `keepa.costs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keepa_cli.keepa import costs

CATEGORY = costs.category().estimated
NO_DATA = frozenset({3, 4})
Product = Mapping[str, Any]


def products(found: Sequence[Product], params: Mapping[str, str], now: int) -> int:
    """The price of a /product request that answered `found`."""
    return sum(costs.charge_product(_known(item), params, now, found=_live(item)) for item in found)


def search(found: Sequence[Product], params: Mapping[str, str], now: int) -> int:
    """The price of a product search."""
    return costs.charge_search_product([item for item in found if _known(item)], params, now)


def _live(item: Product) -> int:
    """How many offers were found; older ones are listed but not charged."""
    return len(item.get("liveOffersOrder") or ())


def _known(item: Product) -> Product | None:
    """What of a product decides its price; None for one without data. Offers are as old as the rest."""
    if item["productType"] in NO_DATA:
        return None
    return {**item, "stats": {"lastOffersUpdate": item["lastUpdate"]}}

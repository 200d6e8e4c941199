"""The marketplace offers of a product, as `offers` answers them."""

from __future__ import annotations

import random
from typing import Any

from keepa_cli.keepa.clock import DAY
from keepa_cli.sandbox.catalogue.history import AMAZON_SELLER, SELLERS
from keepa_cli.sandbox.catalogue.seeds import Item
from keepa_cli.sandbox.catalogue.steps import Steps, even


def offers(item: Item, new: Steps, used: Steps, amazon: bool, updated: int, most: int) -> list[dict[str, Any]]:
    """Live offers first, at most `most`, then older ones that are gone."""
    source = item.rng("offer list")
    price = new[-1][1] if new else -1
    live = min(most, source.randrange(1, 26)) if price >= 0 else 0
    found = [_offer(source, i, price * (100 + 3 * i) // 100, updated, amazon and i == 0) for i in range(live)]
    if used and used[-1][1] >= 0 and live:
        found[-1] = _offer(source, live - 1, used[-1][1], updated, False) | {"condition": 3, "conditionComment": "Used"}
    gone = source.randrange(0, 4)
    past = max((value for _, value in new), default=-1)
    return found + [
        _offer(source, live + i, past, updated - source.randrange(20, 200) * DAY, False)
        for i in range(gone)
        if past >= 0
    ]


def _offer(source: random.Random, number: int, price: int, seen: int, amazon: bool) -> dict[str, Any]:
    fba = amazon or source.random() < 0.5
    first = even(seen - source.randrange(3, 300) * DAY)
    shipping = 0 if fba else source.choice((0, 399, -1))
    stock = source.randrange(1, 300)
    return {
        "condition": 1,
        "isAmazon": amazon,
        "isFBA": fba,
        "isMAP": False,
        "isPreorder": False,
        "isPrime": fba,
        "isPrimeExcl": False,
        "isShippable": shipping >= 0,
        "isWarehouseDeal": False,
        "lastSeen": even(seen),
        "minOrderQty": 1,
        "offerCSV": [first, price * 11 // 10, shipping, even((first + seen) / 2), price, shipping],
        "offerId": number + 1,
        "primeExclCSV": None,
        "sellerId": AMAZON_SELLER if amazon else SELLERS[source.randrange(len(SELLERS))],
        "shipsFromChina": False,
        "stockCSV": [first, stock, even((first + seen) / 2), max(0, stock - 5)],
    }


def is_live(offer: dict[str, Any], updated: int) -> bool:
    return bool(offer["lastSeen"] >= even(updated))

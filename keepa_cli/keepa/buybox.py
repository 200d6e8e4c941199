"""Who held the buy box: share of time, price and offer count per seller, and the buy box scalars of `stats`."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keepa_cli.keepa.clock import as_minute
from keepa_cli.keepa.series import Series

NEW_PRICE, NEW_COUNT = 18, 11
OFFER_COUNTS = (11, 12, 13, 14)
NOBODY = frozenset({"", "-1", "-2"})

UNASKED: Mapping[str, Any] = {
    "buyBoxAvailabilityMessage": None,
    "buyBoxCondition": None,
    "buyBoxIsAmazon": None,
    "buyBoxIsBackorder": None,
    "buyBoxIsFBA": None,
    "buyBoxIsFreeShippingEligible": None,
    "buyBoxIsMAP": None,
    "buyBoxIsPreorder": None,
    "buyBoxIsPrimeEligible": None,
    "buyBoxIsPrimeExclusive": None,
    "buyBoxIsShippable": None,
    "buyBoxIsUnqualified": None,
    "buyBoxIsUsed": None,
    "buyBoxIsWarehouseDeal": None,
    "buyBoxPrice": -2,
    "buyBoxSellerId": None,
    "buyBoxShipping": -2,
    "buyBoxShippingCountry": None,
    "lastBuyBoxUpdate": None,
}
"""The buy box fields that Keepa always sends, as they look when the buy box was not asked for."""

ONLY_KNOWN = (
    "buyBoxSavingBasis",
    "buyBoxSavingBasisType",
    "buyBoxSavingPercentage",
    "buyBoxShippingTime",
    "buyBoxUsedCondition",
    "buyBoxUsedIsFBA",
    "buyBoxUsedPrice",
    "buyBoxUsedSellerId",
    "buyBoxUsedShipping",
    "buyBoxUsedStats",
    "stockAmazon",
    "stockBuyBox",
    "stockPerCondition3rdFBA",
    "stockPerConditionFBM",
)
"""Fields that no history holds and that are left out when unknown."""

OTHERS: Mapping[str, Any] = {
    "offerCountFBA": -2,
    "offerCountFBM": -2,
    "retrievedOfferCount": -2,
    "sellerIdsLowestFBA": None,
    "sellerIdsLowestFBM": None,
    "tradeInPrice": -2,
}


def holders(history: Any) -> list[tuple[int, str]]:
    """`buyBoxSellerIdHistory` as (minute, seller id); "-1", "-2" and "" mean that nobody is known to hold it."""
    if not isinstance(history, list):
        return []
    pairs = ((as_minute(t), str(s)) for t, s in zip(history[::2], history[1::2], strict=False))
    return sorted((t, s) for t, s in pairs if t is not None)


def tenures(history: Any, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """(seller, from, until) of each stretch inside the window."""
    known = holders(history)
    ends = [t for t, _ in known[1:]] + [end]
    for (since, seller), until in zip(known, ends, strict=False):
        if max(since, start) < min(until, end):
            yield seller, max(since, start), min(until, end)


def buy_box_stats(product: Mapping[str, Any], row: Sequence[Series], start: int, end: int) -> dict[str, Any]:
    """Keepa's `buyBoxStats` of the window; empty without history.

    A seller's share counts the minutes with a buy box price, of all minutes of the window, so shares need not sum
    to 100. Offer counts are taken where a stretch of one seller and one price begins, weighted by its length.
    """
    found: dict[str, list[tuple[int, int]]] = {}
    for seller, since, until in tenures(product.get("buyBoxSellerIdHistory"), start, end):
        if seller not in NOBODY:
            found.setdefault(seller, []).append((since, until))
    known = _known_sellers(product)
    return {s: _seller(row, found[s], end - start, known.get(s)) for s in sorted(found)}


def _seller(row: Sequence[Series], held: list[tuple[int, int]], window: int, is_fba: Any) -> dict[str, Any]:
    priced = [span for since, until in held for span in row[NEW_PRICE].spans(since, until) if span[0] >= 0]
    counts = [(row[NEW_COUNT].value_before(since), until - since) for _, since, until in priced]
    minutes = sum(until - since for _, since, until in priced)
    return {
        "avgNewOfferCount": _mean([c for c in counts if c[0] >= 0]),
        "avgPrice": _mean([(price, until - since) for price, since, until in priced]),
        "avgUsedOfferCount": -1,
        "isFBA": is_fba,
        "lastSeen": held[-1][1],
        "percentageWon": shortest(single(single(minutes / window) * 100)),
    }


def _mean(weighted: list[tuple[int, int]]) -> int:
    """The mean by time, rounded down; -1 without a value."""
    minutes = sum(m for _, m in weighted)
    return sum(v * m for v, m in weighted) // minutes if minutes else -1


def single(value: float) -> float:
    """`value` rounded to single precision, in which Keepa computes shares."""
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return rounded


def shortest(value: float) -> float:
    """The decimal of fewest digits that names a single precision number, as Keepa writes it."""
    return next(f for digits in range(1, 18) if single(f := float(f"{value:.{digits}g}")) == value)


def scalar_defaults(product: Mapping[str, Any], row: Sequence[Series]) -> dict[str, Any]:
    """The single-value fields of `stats`: from histories where they hold them, else from the product's own stats."""
    own = product.get("stats")
    own = own if isinstance(own, Mapping) else {}
    fields = {name: own.get(name, default) for name, default in OTHERS.items()}
    fields |= {name: own[name] for name in ONLY_KNOWN if name in own}
    counts = [c for i in OFFER_COUNTS if (c := row[i].last()) >= 0]
    return fields | {
        **_buy_box(product, row[NEW_PRICE], own),
        "lastOffersUpdate": own.get("lastOffersUpdate", product.get("lastUpdate", -1)),
        "lightningDealInfo": lightning(row[8]),
        "totalOfferCount": sum(counts) if counts else -2,
    }


def lightning(deals: Series) -> list[int] | None:
    """[start, end] of the newest lightning deal; end -1 when none is known yet; None when there never was a deal.

    A lone -1 at the end of the series announces a deal that starts then.
    """
    if not len(deals):
        return None
    over = len(deals) > 1 and deals.values[-1] < 0 <= deals.values[-2]
    return deals.times[-2:] if over else [deals.times[-1], -1]


def _buy_box(product: Mapping[str, Any], price: Series, own: Mapping[str, Any]) -> dict[str, Any]:
    if not len(price):
        return dict(UNASKED)
    known = holders(product.get("buyBoxSellerIdHistory"))
    return {name: own.get(name, default) for name, default in UNASKED.items()} | {
        "buyBoxPrice": price.values[-1],
        "buyBoxShipping": price.shipping[-1],
        "buyBoxSellerId": known[-1][1] if known else own.get("buyBoxSellerId"),
        "lastBuyBoxUpdate": own.get("lastBuyBoxUpdate", product.get("lastUpdate")),
    }


def _known_sellers(product: Mapping[str, Any]) -> dict[str, Any]:
    """Whether each seller ships through Amazon, as far as the product itself says so."""
    offers = product.get("offers")
    rows = offers if isinstance(offers, list) else []
    known = {str(o.get("sellerId")): o.get("isFBA") for o in rows if isinstance(o, Mapping)}
    own = product.get("stats")
    told = own.get("buyBoxStats") if isinstance(own, Mapping) else None
    if isinstance(told, Mapping):
        known |= {s: v.get("isFBA") for s, v in told.items() if isinstance(v, Mapping)}
    return known

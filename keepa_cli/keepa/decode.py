"""From Keepa's raw fragments to named facts, and what is wrong with packed arrays. Never raises on odd data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepa_cli.keepa.buybox import NOBODY
from keepa_cli.keepa.clock import as_minute, field_time, series_time
from keepa_cli.keepa.csvtypes import CSV_TYPES, SeriesKind, csv_type
from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.money import amount
from keepa_cli.keepa.series import group_times, packed_problems, plain

VALUES = frozenset({"current", "atIntervalStart", "avg", "avg30", "avg90", "avg180", "avg365"})
EXTREMES = frozenset({"min", "max", "minInInterval", "maxInInterval"})
TIMES = frozenset({"lastOffersUpdate", "lastBuyBoxUpdate"})
MONEY = frozenset(
    {"buyBoxPrice", "buyBoxShipping", "buyBoxSavingBasis", "buyBoxUsedPrice", "buyBoxUsedShipping", "tradeInPrice"}
)
SELLERS = frozenset({"buyBoxSellerId", "buyBoxUsedSellerId"})
MISSING_BELOW_ZERO = frozenset(
    {
        *(f"salesRankDrops{days}" for days in (30, 90, 180, 365)),
        *("outOfStockCountAmazon30", "outOfStockCountAmazon90", "stockAmazon", "stockBuyBox"),
        *("totalOfferCount", "retrievedOfferCount", "offerCountFBA", "offerCountFBM"),
        *("buyBoxCondition", "buyBoxUsedCondition", "buyBoxSavingPercentage"),
    }
)
SIGNED = frozenset({"deltaPercent90_monthlySold"})

HISTORIES: Mapping[str, int] = {"monthlySoldHistory": 2, "couponHistory": 3, "salesRankReferenceHistory": 2}
TEXT_HISTORIES: Mapping[str, int] = {"buyBoxSellerIdHistory": 2, "buyBoxUsedHistory": 4, "parentAsinHistory": 2}
OFFER_HISTORIES: Mapping[str, int] = {"offerCSV": 3, "stockCSV": 2, "primeExclCSV": 2, "couponHistory": 2}

HOLDERS: Mapping[str, str] = {"-1": "none_qualified", "": "none_qualified", "-2": "unknown_seller"}
"""What stands where a seller is named but none is."""


def decode_stats(stats: Any, domain: Domain) -> dict[str, Any]:
    """A `stats` object with values by the name of their type: money as text, times as ISO text, missing as None.

    0 stays a value. Slots that are null are left out; fields that are not known pass through untouched.
    """
    if not isinstance(stats, Mapping):
        return {}
    return {name: _field(name, value, domain) for name, value in stats.items()}


def _field(name: str, value: Any, domain: Domain) -> Any:
    if name in VALUES or name in EXTREMES or name.startswith(("isLowest", "outOfStockPercentage")):
        return _array(name, value, domain)
    if name in TIMES:
        return field_time(value)
    if name in MONEY:
        return amount(value, domain)
    if name in SELLERS:
        return None if isinstance(value, str) and value in NOBODY else value
    if name == "lightningDealInfo" and isinstance(value, list):
        return dict(zip(("start", "end"), map(field_time, value), strict=False))
    return _scalar(name, value)


def _scalar(name: str, value: Any) -> Any:
    if not isinstance(value, int) or isinstance(value, bool) or name in SIGNED:
        return value
    missing = value < 0 if name in MISSING_BELOW_ZERO else value == -2
    return None if missing else value


def _array(name: str, value: Any, domain: Domain) -> Any:
    """Per type name; a whole array that is null is an empty mapping, another kind of value passes through."""
    if value is None:
        return {}
    if not isinstance(value, list):
        return value
    slots = [(csv_type(i), v) for i, v in enumerate(value) if v is not None]
    if name in EXTREMES:
        return {t.name: _extreme(t.index, v, domain) for t, v in slots}
    if name in VALUES:
        return {t.name: _value(t.index, v, domain) for t, v in slots}
    return {t.name: v if isinstance(v, bool) or not isinstance(v, int) or v >= 0 else None for t, v in slots}


def _value(index: int, value: Any, domain: Domain) -> Any:
    """One number of a value array. -1 means "none" for every type, also in the log of refreshes."""
    t = csv_type(index)
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    if t.kind is SeriesKind.META and value == -1:
        return None
    return plain(t, domain, value)


def _extreme(index: int, pair: Any, domain: Domain) -> Any:
    if not isinstance(pair, list) or len(pair) != 2:
        return pair
    return {"at": field_time(pair[0]), "value": _value(index, pair[1], domain)}


def product_problems(product: Any, path: str = "$") -> list[dict[str, str]]:
    """`{path, message}` for every packed array of a product that is not what its layout promises."""
    if not isinstance(product, Mapping):
        return []
    found = [{"path": f"{path}.{where}", "message": m} for where, stride, packed in _packed(product)
             for m in packed_problems(packed, stride)]  # fmt: skip
    for name, stride in TEXT_HISTORIES.items():
        found += [{"path": f"{path}.{name}", "message": m} for m in text_problems(product.get(name), stride)]
    return found


def _packed(product: Mapping[str, Any]) -> Iterator[tuple[str, int, Any]]:
    """(where, stride, array) of every history of numbers in a product."""
    csv = product.get("csv")
    for t, slot in zip(CSV_TYPES, csv if isinstance(csv, list) else [], strict=False):
        yield f"csv[{t.index}]", t.stride, slot
    ranks = product.get("salesRanks")
    for category, slot in (ranks if isinstance(ranks, Mapping) else {}).items():
        yield f"salesRanks[{category!r}]", 2, slot
    for name, stride in HISTORIES.items():
        yield name, stride, product.get(name)
    reviews = product.get("reviews")
    if isinstance(reviews, Mapping):
        yield "reviews.ratingCount", 2, reviews.get("ratingCount")
        yield "reviews.reviewCount", 2, reviews.get("reviewCount")
    offers = product.get("offers")
    for i, offer in enumerate(offers if isinstance(offers, list) else []):
        for name, stride in OFFER_HISTORIES.items() if isinstance(offer, Mapping) else ():
            yield f"offers[{i}].{name}", stride, offer.get(name)


def text_problems(packed: Any, stride: int) -> list[str]:
    """The same for a history of texts, whose times are decimal texts."""
    problems, written = group_times(packed, stride)
    times = [as_minute(t) for t in written]
    known = [t for t in times if t is not None]
    if len(known) < len(times):
        problems.append("holds times that are no Keepa minutes")
    if known != sorted(known):
        problems.append("times do not increase")
    return problems


def seller_events(history: Any) -> list[dict[str, Any]]:
    """`buyBoxSellerIdHistory` as events `{at, holder, seller}`; "-1" and "-2" are states, never sellers."""
    pairs = zip(history[::2], history[1::2], strict=False) if isinstance(history, list) else ()
    return [
        {"at": at, "holder": HOLDERS.get(str(s), "seller"), "seller": None if str(s) in HOLDERS else s}
        for t, s in pairs
        if (at := series_time(t)) is not None
    ]


USED_CONDITIONS: Mapping[str, str] = {"2": "USED_NEW", "3": "USED_VERY_GOOD", "4": "USED_GOOD", "5": "USED_ACCEPTABLE"}


def used_seller_events(history: Any) -> list[dict[str, Any]]:
    """`buyBoxUsedHistory` as events `{at, holder, seller, condition, is_fba}`. It is groups of four texts; an empty
    seller means that nobody qualified, and a code that is not known is the condition `UNKNOWN`."""
    packed = history if isinstance(history, list) else []
    found = []
    for group in zip(packed[::4], packed[1::4], packed[2::4], packed[3::4], strict=False):
        event = seller_events(list(group[:2]))
        if event:
            found.append(event[0] | _used_offer(event[0]["seller"], *map(str, group[2:])))
    return found


def _used_offer(seller: Any, condition: str, is_fba: str) -> dict[str, Any]:
    if seller is None:
        return {"condition": None, "is_fba": None}
    return {"condition": USED_CONDITIONS.get(condition, "UNKNOWN"), "is_fba": {"1": True, "0": False}.get(is_fba)}

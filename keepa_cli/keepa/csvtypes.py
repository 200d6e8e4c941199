"""The price types: what the slots of `csv`, `stats.*` and `deal.current` hold."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SeriesKind(StrEnum):
    PRICE = "price"
    RANK = "rank"
    COUNT = "count"
    SCORE = "score"
    META = "meta"


PRICE, RANK, COUNT, SCORE, META = SeriesKind
"""RATING is a score of 0-50; EXTRA_INFO_UPDATES is a log of refreshes, not a value."""


@dataclass(frozen=True)
class CsvType:
    """One slot. `stride` 3 means (time, price, shipping); `gate` names what unlocks it: "", "offers",
    "rating" (or offers) or "buybox" (or offers); `extra` is Keepa's flag for data that needs a refresh of offers."""

    index: int
    name: str
    kind: SeriesKind
    stride: int = 2
    gate: str = ""
    extra: bool = False

    @property
    def is_price(self) -> bool:
        return self.kind is PRICE


ITEM_PRICE_UNTIL = 7_956_000
"""2026-02-16T00:00Z: before, the types in LANDING_LATER are item prices, from then on item plus shipping."""
LANDING_LATER = frozenset({1, 2, 5, 6})


def _price(index: int, name: str, gate: str = "", *, triple: bool = False, extra: bool = True) -> CsvType:
    return CsvType(index, name, PRICE, 3 if triple else 2, gate, extra)


CSV_TYPES: tuple[CsvType, ...] = (
    _price(0, "AMAZON", extra=False),
    _price(1, "NEW", extra=False),
    _price(2, "USED", extra=False),
    CsvType(3, "SALES", RANK),
    _price(4, "LISTPRICE", extra=False),
    _price(5, "COLLECTIBLE", extra=False),
    _price(6, "REFURBISHED", extra=False),
    _price(7, "NEW_FBM_SHIPPING", "offers", triple=True),
    _price(8, "LIGHTNING_DEAL", extra=False),
    _price(9, "WAREHOUSE", "offers"),
    _price(10, "NEW_FBA", "offers"),
    CsvType(11, "COUNT_NEW", COUNT),
    CsvType(12, "COUNT_USED", COUNT),
    CsvType(13, "COUNT_REFURBISHED", COUNT),
    CsvType(14, "COUNT_COLLECTIBLE", COUNT),
    CsvType(15, "EXTRA_INFO_UPDATES", META, gate="buybox", extra=True),
    CsvType(16, "RATING", SCORE, gate="rating", extra=True),
    CsvType(17, "COUNT_REVIEWS", COUNT, gate="rating", extra=True),
    _price(18, "BUY_BOX_SHIPPING", "buybox", triple=True),
    _price(19, "USED_NEW_SHIPPING", "offers", triple=True),
    _price(20, "USED_VERY_GOOD_SHIPPING", "offers", triple=True),
    _price(21, "USED_GOOD_SHIPPING", "offers", triple=True),
    _price(22, "USED_ACCEPTABLE_SHIPPING", "offers", triple=True),
    _price(23, "COLLECTIBLE_NEW_SHIPPING", "offers", triple=True),
    _price(24, "COLLECTIBLE_VERY_GOOD_SHIPPING", "offers", triple=True),
    _price(25, "COLLECTIBLE_GOOD_SHIPPING", "offers", triple=True),
    _price(26, "COLLECTIBLE_ACCEPTABLE_SHIPPING", "offers", triple=True),
    _price(27, "REFURBISHED_SHIPPING", "offers", triple=True),
    _price(28, "EBAY_NEW_SHIPPING", triple=True, extra=False),
    _price(29, "EBAY_USED_SHIPPING", triple=True, extra=False),
    _price(30, "TRADE_IN", extra=False),
    _price(31, "RENT", "offers"),
    _price(32, "BUY_BOX_USED_SHIPPING", "buybox", triple=True),
    _price(33, "PRIME_EXCL"),
    CsvType(34, "COUNT_NEW_FBA", COUNT),
    CsvType(35, "COUNT_NEW_FBM", COUNT),
)
BY_NAME = {t.name: t for t in CSV_TYPES}


def csv_type(index: int) -> CsvType:
    """The type of a slot; a slot beyond the table gets a placeholder, for Keepa appends types without notice."""
    return CSV_TYPES[index] if 0 <= index < len(CSV_TYPES) else CsvType(index, f"CSV_{index}", COUNT)


def is_open(t: CsvType, *, offers: bool = False, buybox: bool = False, rating: bool = False) -> bool:
    """Whether a request with these options gets the values of `t`."""
    return not t.gate or offers or {"buybox": buybox, "rating": rating}.get(t.gate, False)

"""What the numbers and texts of a history mean: value, unit and currency of a raw number, and why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from keepa_cli.keepa.buybox import NOBODY
from keepa_cli.keepa.csvtypes import CsvType, SeriesKind
from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.money import amount, tenths
from keepa_cli.keepa.offers import CONDITIONS
from keepa_cli.research.facts import Reason

Raw = int | str
Cell = tuple[Any, str, str | None]
"""(value, unit, currency): text for money and ratings, a whole number for ranks and counts, None for none."""


def _money(raw: Any, domain: Domain) -> Cell:
    return amount(raw, domain), "money", domain.currency


def _coupon(raw: Any, domain: Domain) -> Cell:
    """Positive numbers are an amount off, negative ones a percentage, 0 is no coupon."""
    if raw < 0:
        return -raw, "percent", None
    return amount(raw, domain) if raw else None, "money", domain.currency


def _whole(unit: str) -> Callable[[Any, Domain], Cell]:
    return lambda raw, _: (raw if raw >= 0 else None, unit, None)


def _named(unit: str) -> Callable[[Any, Domain], Cell]:
    return lambda raw, _: (None if raw in NOBODY else raw, unit, None)


def _condition(raw: Any, _: Domain) -> Cell:
    return CONDITIONS.get(int(raw)) if raw.isascii() and raw.isdecimal() and len(raw) < 4 else None, "condition", None


@dataclass(frozen=True)
class Unit:
    """`cell` gives what one raw number means. `ordered` values can be compared: texts, ids and flags cannot."""

    name: str
    cell: Callable[[Any, Domain], Cell]
    ordered: bool = True


MONEY = Unit("money", _money)
RANK = Unit("rank", _whole("rank"))
COUNT = Unit("count", _whole("count"))
STARS = Unit("stars", lambda raw, _: (tenths(raw), "stars", None))
OFFERS_FETCHED = Unit("offers_fetched", lambda raw, _: (abs(raw), "offers_fetched", None), ordered=False)
COUPON = Unit("coupon", _coupon, ordered=False)
CATEGORY_ID = Unit("category_id", _whole("category_id"), ordered=False)
SELLER_ID = Unit("seller_id", _named("seller_id"), ordered=False)
ASIN = Unit("asin", _named("asin"), ordered=False)
CONDITION = Unit("condition", _condition, ordered=False)
FLAG = Unit("flag", lambda raw, _: ({"0": False, "1": True}.get(raw), "flag", None), ordered=False)

BY_KIND: Mapping[SeriesKind, Unit] = {
    SeriesKind.PRICE: MONEY,
    SeriesKind.RANK: RANK,
    SeriesKind.COUNT: COUNT,
    SeriesKind.SCORE: STARS,
    SeriesKind.META: OFFERS_FETCHED,
}


def unit_of(t: CsvType) -> Unit:
    return BY_KIND[t.kind]


def why_null(raw: Raw) -> Reason:
    """Why a raw number means no value: Keepa knows of none, or does not know."""
    return Reason.NOT_COLLECTED if raw in (-2, "-2") else Reason.NONE

"""What a product holds under the names of the finder; None where the invented shop knows nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from keepa_cli.keepa.clock import DAY, from_datetime, to_datetime
from keepa_cli.keepa.csvtypes import BY_NAME
from keepa_cli.keepa.series import read_series
from keepa_cli.keepa.stats import (
    delta_percent,
    extremes_in,
    out_of_stock_count,
    out_of_stock_percentage,
    rank_drops,
)
from keepa_cli.sandbox.catalogue.entry import SALES, Entry
from keepa_cli.sandbox.catalogue.steps import flat
from keepa_cli.sandbox.catalogue.traits import VARIATION_PARENT

Number = int | float | None
_TYPES = "|".join(sorted(BY_NAME, key=len, reverse=True))
_TYPED = re.compile(rf"(current|avg|deltaPercent|deltaLast|delta|lastPriceChange)(\d*)_({_TYPES})")
_FLAGGED = re.compile(rf"(backInStock|isLowest90|isLowest|isHighest)_({_TYPES})")
_OUT_OF_STOCK = {
    "outOfStockPercentage90": 0, "outOfStockPercentage90_NEW": 1, "outOfStockPercentage90_USED": 2,
    "outOfStockPercentage90_BB": 18, "outOfStockPercentage90_BB_USED": 32,
}  # fmt: skip
_MONTHLY_RANK = re.compile(r"srAvg([012])(\d\d)")
_DROPS = re.compile(r"salesRankDrops(30|90|180|365)")
_SHARES = re.compile(r"buyBoxStats(Amazon|TopSeller|SellerCount)(\d+)")
BACK_IN_STOCK_DAYS = 60
AMAZON = "ATVPDKIKX0DER"


def number(entry: Entry, name: str) -> Number:
    """The value behind `name`_gte and `name`_lte."""
    found = _TYPED.fullmatch(name)
    if found:
        return _typed(entry, found[1], int(found[2] or 0), BY_NAME[found[3]].index)
    if name in _OUT_OF_STOCK:
        return _out_of_stock(entry, _OUT_OF_STOCK[name])
    if month := _MONTHLY_RANK.fullmatch(name):
        return _monthly_rank(entry, int(month[1]), int(month[2]))
    if share := _SHARES.fullmatch(name):
        return _share(entry, share[1], int(share[2]))
    if name in DERIVED:
        return DERIVED[name](entry)
    if name in IN_FIELDS:
        return _plain(entry.fields.get(name))
    if drops := _DROPS.fullmatch(name):
        return drops_of(entry, int(drops[1]))
    return _plain(entry.stats.get(name)) if name in IN_STATS else None


def _typed(entry: Entry, family: str, days: int, slot: int) -> Number:
    series = entry.series(slot)
    if not len(series):
        return None
    if family == "lastPriceChange":
        return series.times[-1]
    now = entry.current(slot)
    if family == "current":
        return now if now >= 0 else None
    before = series.landing[-2] if len(series) > 1 else -1
    mean = before if family == "deltaLast" else entry.average(slot, days)
    if mean < 0:
        return None
    if family == "avg":
        return mean
    if now < 0:
        return None
    return (mean - now) * 100 // mean if family == "deltaPercent" and mean else mean - now


def _out_of_stock(entry: Entry, slot: int) -> Number:
    found = out_of_stock_percentage(entry.series(slot), entry.now - 90 * DAY, entry.now, entry.market.since)
    return found if found >= 0 else None


def _monthly_rank(entry: Entry, years_ago: int, month: int) -> Number:
    """The average rank in a month of this year or one of the two before it; months count from 00."""
    year = to_datetime(entry.now).year - years_ago
    start, end = month_bounds(year, month + 1) if 0 <= month < 12 else (0, 0)
    found = entry.average_in(SALES, start, end)
    return found if found >= 0 else None


def month_bounds(year: int, month: int) -> tuple[int, int]:
    """The first minute of a month, and that of the next."""
    following = (year + 1, 1) if month == 12 else (year, month + 1)
    first, last = (from_datetime(datetime(y, m, 1, tzinfo=UTC)) for y, m in ((year, month), following))
    return first, last


def _share(entry: Entry, what: str, days: int) -> Number:
    """From who held the buy box in the last days: whole percents of the window, or the number of sellers."""
    held = box_shares(entry, days)
    if what == "SellerCount":
        return len(held)
    return held.get(AMAZON, 0) if what == "Amazon" else max(held.values(), default=0)


def box_shares(entry: Entry, days: int) -> dict[str, int]:
    start, found = entry.now - days * DAY, dict[str, int]()
    holders = [*entry.market.histories.holders, (entry.now, "")]
    for (since, seller), (until, _) in pairwise(holders):
        if not seller.startswith("-") and min(until, entry.now) > max(since, start):
            found[seller] = found.get(seller, 0) + min(until, entry.now) - max(since, start)
    return {seller: minutes * 100 // (days * DAY) for seller, minutes in found.items()}


def _deviation(days: int) -> Callable[[Entry], Number]:
    """The standard deviation of the buy box price over time."""

    def work(entry: Entry) -> Number:
        spans = [s for s in entry.series(18).spans(entry.now - days * DAY, entry.now) if s[0] >= 0]
        minutes = sum(until - since for _, since, until in spans)
        if not minutes:
            return None
        mean = sum(v * (u - s) for v, s, u in spans) / minutes
        return int((sum((v - mean) ** 2 * (u - s) for v, s, u in spans) / minutes) ** 0.5)

    return work


def _coupon(place: int, sign: int) -> Callable[[Entry], Number]:
    def work(entry: Entry) -> Number:
        value = (entry.fields["coupon"] or (0, 0))[place] * sign
        return value if value > 0 else None

    return work


def _gone(days: int) -> Callable[[Entry], Number]:
    return lambda e: out_of_stock_count(e.series(0), e.now - days * DAY, e.now)


def _sold_delta(entry: Entry) -> int:
    sold = read_series(flat(entry.market.histories.sold), 11)
    return delta_percent(sold, entry.now - 90 * DAY, entry.now)


def _sold(entry: Entry) -> int:
    return entry.market.histories.sold[-1][1]


def drops_of(entry: Entry, days: int) -> int:
    """How often the sales rank got better, counted at the last refresh."""
    return rank_drops(entry.series(SALES), entry.market.updated - days * DAY)


def _volume(prefix: str) -> Callable[[Entry], Number]:
    return lambda e: e.fields[f"{prefix}Height"] * e.fields[f"{prefix}Length"] * e.fields[f"{prefix}Width"]


def _plain(value: Any) -> Number:
    """A number of a product; what Keepa writes for "unknown" is no value."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value != -2 else None


def _peak(entry: Entry) -> tuple[int, int]:
    return max(((value, time) for time, value in entry.market.histories.sold), key=lambda p: (p[0], -p[1]))


IN_FIELDS = frozenset(
    """itemHeight itemLength itemWidth itemWeight lastPriceChange lastRatingUpdate lastUpdate listedSince
    numberOfItems numberOfPages packageHeight packageLength packageWidth packageWeight packageQuantity publicationDate
    releaseDate""".split()  # noqa: SIM905
)
IN_STATS = frozenset({"offerCountFBA", "offerCountFBM", "totalOfferCount"})
DERIVED: Mapping[str, Callable[[Entry], Number]] = {
    "buyBoxEligibleOfferCountsNewFBA": lambda e: e.fields["buyBoxEligibleOfferCounts"][0],
    "buyBoxEligibleOfferCountsNewFBM": lambda e: e.fields["buyBoxEligibleOfferCounts"][1],
    "buyBoxEligibleOfferCountsUsedFBA": lambda e: e.fields["buyBoxEligibleOfferCounts"][2],
    "buyBoxEligibleOfferCountsUsedFBM": lambda e: e.fields["buyBoxEligibleOfferCounts"][3],
    **{f"buyBoxStandardDeviation{days}": _deviation(days) for days in (30, 90, 365)},
    "couponOneTimeAbsolute": _coupon(0, 1),
    "couponOneTimePercent": _coupon(0, -1),
    "couponSNSPercent": _coupon(1, -1),
    "deltaPercent90_monthlySold": _sold_delta,
    "fbaFees": lambda e: e.fields["fbaFees"]["pickAndPackFee"],
    "imageCount": lambda e: len(e.fields["images"]),
    **{f"outOfStockCountAmazon{days}": _gone(days) for days in (30, 90)},
    "lastOffersUpdate": lambda e: e.market.updated,
    "itemDimension": _volume("item"),
    "monthlySold": _sold,
    "monthlySoldLastKnown": _sold,
    "monthlySoldLastKnownDate": lambda e: e.market.updated,
    "monthlySoldPeak": lambda e: _peak(e)[0],
    "monthlySoldPeakDate": lambda e: _peak(e)[1],
    "trackingSince": lambda e: e.market.since,
    "packageDimension": _volume("package"),
    "unitValue": lambda e: e.fields.get("unitCount", {}).get("unitValue"),
    "variationCount": lambda e: len(e.fields["variations"] or ()),
    "videoCount": lambda e: len(e.full.get("videos", ())),
}


def flag(entry: Entry, name: str) -> bool:
    """A yes or no; no where the shop knows nothing."""
    found = _FLAGGED.fullmatch(name)
    if found:
        return _flagged(entry, found[1], BY_NAME[found[2]].index)
    if name in FLAGS:
        return FLAGS[name](entry)
    return (entry.stats if name.startswith("buyBox") else entry.fields).get(name) is True


def _flagged(entry: Entry, family: str, slot: int) -> bool:
    if family == "backInStock":
        return back_in_stock(entry, slot, BACK_IN_STOCK_DAYS)
    now, values = entry.current(slot), [v for v in entry.series(slot).landing if v >= 0]
    if now < 0:
        return False
    if family == "isLowest90":
        low = extremes_in(entry.series(slot), entry.now - 90 * DAY, entry.now)[0]
        return low is not None and low[1] == now
    return now == (min(values) if family == "isLowest" else max(values))


def back_in_stock(entry: Entry, slot: int, days: int) -> bool:
    """Whether the price came back after a gap within the last days and is still there."""
    series = entry.series(slot)
    gone = [t for t, v in zip(series.times[1:], series.landing, strict=False) if v < 0]
    return entry.current(slot) >= 0 and bool(gone) and gone[-1] >= entry.now - days * DAY


FLAGS: Mapping[str, Callable[[Entry], bool]] = {
    "buyBoxIsAmazon": lambda e: e.market.sells_offers and e.market.histories.holders[-1][1] == AMAZON,
    "hasAPlus": lambda e: "aPlus" in e.full,
    "hasAPlusFromManufacturer": lambda e: any(a["fromManufacturer"] for a in e.full.get("aPlus", ())),
    "hasMainVideo": lambda e: any(v["creator"] == "Main" for v in e.full.get("videos", ())),
    "hasParentASIN": lambda e: e.market.parent is not None and e.card.kind != VARIATION_PARENT,
    "isHighestOffer": lambda e: _flagged(e, "isHighest", 1),
    "isLowestOffer": lambda e: _flagged(e, "isLowest", 1),
    "isPrimeExclusive": lambda e: e.current(33) >= 0,
    "singleVariation": lambda _: True,
}


def texts(entry: Entry, name: str) -> list[str]:
    """The words or ids of a list field."""
    known = {"brand": entry.card.brand, "manufacturer": entry.card.brand, "color": entry.card.color}
    if name in known:
        return [known[name]]
    if name == "rootCategory":
        return [str(entry.root)]
    if name in {"categories_include", "categories_exclude"}:
        return [str(entry.leaf)]
    if name == "productType":
        return [str(entry.card.kind)]
    return [str(v) for v in _listed(entry, name) if v is not None]


def _listed(entry: Entry, name: str) -> list[Any]:
    if name in OF_OFFERS:
        fba = OF_OFFERS[name]
        live = entry.full.get("liveOffersOrder") or ()
        return [o["sellerId"] for o in (entry.full["offers"][i] for i in live) if fba is None or o["isFBA"] is fba]
    if name == "historicalSellerIds":
        return [s for _, s in entry.market.histories.holders if not s.startswith("-")]
    if name.startswith("buyBoxStatsTopSellerId"):
        held = box_shares(entry, int(name.removeprefix("buyBoxStatsTopSellerId")))
        return [max(held, key=lambda seller: held[seller])] if held else []
    inside = entry.stats if name.startswith(("buyBox", "sellerIds")) else entry.fields
    value = inside.get({"material": "materials"}.get(name, name))
    return value if isinstance(value, list) else [value]


OF_OFFERS: Mapping[str, bool | None] = {"sellerIds": None, "sellerIdsFBA": True, "sellerIdsFBM": False}

"""The search insights of /query: averages over everything that matched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from keepa_cli.sandbox.catalogue.entry import Entry
from keepa_cli.sandbox.finder.values import AMAZON, number

MOST_NAMED = 5
BOX, RATING, REVIEWS, NEW, USED = 18, 16, 17, 11, 12


def insights(found: Sequence[Entry]) -> dict[str, Any]:
    brands = Counter(e.card.brand.lower() for e in found)
    holders = Counter(e.market.histories.holders[-1][1] for e in found)
    sellers = Counter({s: n for s, n in holders.items() if not s.startswith("-")})
    ranks = [e.rank for e in found if e.rank > 0]
    return {
        "avgBuyBox": _mean(e.current(BOX) for e in found),
        "avgBuyBox365": _mean(e.average(BOX, 365) for e in found),
        "avgBuyBox90": _mean(e.average(BOX, 90) for e in found),
        "avgBuyBoxDeviation": _mean(_known(e, "buyBoxStandardDeviation90") for e in found),
        **{
            f"avgDeltaPercent{days}{name}": _average(_percent(e, days, slot) for e in found)
            for days in (30, 90)
            for name, slot in (("BuyBox", "BUY_BOX_SHIPPING"), ("Amazon", "AMAZON"))
        },
        "avgOfferCountNew": _average(e.current(NEW) for e in found if e.current(NEW) >= 0),
        "avgOfferCountUsed": _average(e.current(USED) for e in found if e.current(USED) >= 0),
        "avgRating": _mean(e.current(RATING) for e in found),
        "avgReviewCount": _mean(e.current(REVIEWS) for e in found),
        "brandCount": len(brands),
        "hasCouponPercent": _share(found, lambda e: e.fields["coupon"] is not None),
        "highestRank": max(ranks, default=None),
        "isFBAPercent": _share(found, lambda e: e.fields["buyBoxEligibleOfferCounts"][0] > 0),
        "lowestRank": min(ranks, default=None),
        "relatedCategories": [c for c, _ in Counter(e.leaf for e in found).most_common(MOST_NAMED)],
        "sellerCount": len(sellers),
        "soldByAmazonPercent": _share(found, lambda e: e.market.histories.holders[-1][1] == AMAZON),
        "topBrandsWithCounts": dict(brands.most_common(MOST_NAMED)),
        "topSellersWithCounts": dict(sellers.most_common(MOST_NAMED)),
    }


def _known(entry: Entry, name: str) -> int:
    found = number(entry, name)
    return -1 if found is None else int(found)


def _percent(entry: Entry, days: int, slot: str) -> int | float | None:
    return number(entry, f"deltaPercent{days}_{slot}")


def _mean(values: Iterable[int]) -> int | None:
    known = [v for v in values if v >= 0]
    return sum(known) // len(known) if known else None


def _average(values: Iterable[int | float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return round(sum(known) / len(known), 2) if known else None


def _share(found: Sequence[Entry], test: Callable[[Entry], bool]) -> float | None:
    return round(100 * sum(map(test, found)) / len(found), 2) if found else None

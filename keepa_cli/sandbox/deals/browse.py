"""Which products are deals, in which order, and the categories they stand in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from keepa_cli.keepa.csvtypes import CsvType, csv_type
from keepa_cli.keepa.deals import ATTRIBUTES, LEAST_PERCENT, LEAST_PERCENT_OF_RANKS, PAGE_SIZE
from keepa_cli.sandbox.catalogue.catalogue import Catalogue
from keepa_cli.sandbox.catalogue.entry import SALES, Entry
from keepa_cli.sandbox.deals.request import Wanted
from keepa_cli.sandbox.deals.shown import AMAZON, Offered
from keepa_cli.sandbox.finder.filters import test_of, title_test
from keepa_cli.sandbox.finder.values import back_in_stock, flag

RATING, REVIEWS, PRIME = 16, 17, 33
RECENT_DAYS = 1


def browse(catalogue: Catalogue, wanted: Wanted, now: int) -> dict[str, Any]:
    """The value of `deals` for one page. The category rollup honours every filter but those of categories."""
    entries = [e for e in catalogue.entries(wanted.domain, now) if _cheap(e, wanted)]
    every = [o for o in (Offered(e, wanted.slot) for e in entries) if _is_deal(o, wanted) and _passes(o, wanted)]
    found = [o for o in every if _in_categories(o.entry, wanted)]
    found.sort(key=_order(wanted), reverse=wanted.sort < 0)
    roots = Counter((o.entry.root, o.entry.path[0].name) for o in every).most_common()
    return {
        "categoryCount": [count for _, count in roots],
        "categoryIds": [root for (root, _), _ in roots],
        "categoryNames": [name for (_, name), _ in roots],
        "dr": [o.shown() for o in found[wanted.page * PAGE_SIZE : (wanted.page + 1) * PAGE_SIZE]],
        "drDateIndex": [],
    }


def _cheap(entry: Entry, wanted: Wanted) -> bool:
    """What needs no histories."""
    search = wanted.filters.get("titleSearch")
    return search is None or title_test(search)(entry)


def _is_deal(offered: Offered, wanted: Wanted) -> bool:
    """A drop that is big enough, or the kind of change that was asked for."""
    entry, slot, window = offered.entry, wanted.slot, wanted.window
    if "isOutOfStock" in wanted.filters:
        return _just_gone(offered)
    if "isBackInStock" in wanted.filters:
        return back_in_stock(entry, slot, RECENT_DAYS)
    if entry.current(slot) < 0:
        return False
    kind: CsvType = csv_type(slot)
    least = LEAST_PERCENT_OF_RANKS if kind.index == SALES else LEAST_PERCENT
    percent = offered.percent(window, slot)
    return -percent >= least if "isRisers" in wanted.filters else percent >= least


def _just_gone(offered: Offered) -> bool:
    series = offered.entry.series(offered.slot)
    gone = len(series) > 1 and series.landing[-1] < 0
    return gone and series.times[-1] >= offered.entry.now - RECENT_DAYS * 1440


def _passes(offered: Offered, wanted: Wanted) -> bool:
    entry, slot, window = offered.entry, wanted.slot, wanted.window
    numbers = {
        "currentRange": lambda: entry.current(slot),
        "deltaRange": lambda: abs(offered.delta(window, slot)),
        "deltaPercentRange": lambda: abs(offered.percent(window, slot)),
        "deltaLastRange": lambda: offered.delta_last(slot),
        "salesRankRange": lambda: entry.rank,
    }
    for name, (low, high) in wanted.ranges.items():
        value = numbers[name]()
        if not low <= value <= high or (name == "salesRankRange" and value < 0):
            return False
    return all(_filtered(entry, slot, name, value) for name, value in wanted.filters.items())


def _filtered(entry: Entry, slot: int, name: str, value: Any) -> bool:
    if name in ATTRIBUTES:
        return test_of(name, value, 1)(entry)
    if name == "warehouseConditions":
        conditions = value if isinstance(value, list) else [value]
        return entry.current(9) >= 0 and 3 in {int(c) for c in conditions}
    if name == "minRating":
        return entry.current(RATING) >= int(value)
    test = TESTS.get(name)
    return test is None or test(entry, slot)


def _flagged(family: str) -> Callable[[Entry, int], bool]:
    return lambda entry, slot: flag(entry, f"{family}_{csv_type(slot).name}")


TESTS: Mapping[str, Callable[[Entry, int], bool]] = {
    "hasReviews": lambda entry, _: entry.current(REVIEWS) > 0,
    "isHighest": _flagged("isHighest"),
    "isLowest": _flagged("isLowest"),
    "isLowest90": _flagged("isLowest90"),
    "isLowestOffer": lambda entry, slot: (
        entry.current(slot) == min((p for p in map(entry.current, (0, 1)) if p >= 0), default=-1)
    ),
    "isPrimeExclusive": lambda entry, _: entry.current(PRIME) >= 0,
    "mustHaveAmazonOffer": lambda entry, _: entry.current(AMAZON) >= 0,
    "mustNotHaveAmazonOffer": lambda entry, _: entry.current(AMAZON) < 0,
}


def _in_categories(entry: Entry, wanted: Wanted) -> bool:
    """Roots hold all below them, other categories what stands directly in them."""
    places = {entry.root, entry.leaf}
    return not places & wanted.exclude and (not wanted.include or bool(places & wanted.include))


def _order(wanted: Wanted) -> Callable[[Offered], tuple[int, str]]:
    """Newest first, or biggest drop first, or best rank first; the ASIN decides ties."""
    keys: Mapping[int, Callable[[Offered], int]] = {
        1: lambda o: -o.created,
        2: lambda o: -abs(o.delta(wanted.window, wanted.slot)),
        3: lambda o: o.entry.rank if o.entry.rank > 0 else 2**31,
        4: lambda o: -abs(o.percent(wanted.window, wanted.slot)),
    }
    return lambda offered: (keys[abs(wanted.sort)](offered), offered.entry.asin)

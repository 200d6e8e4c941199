"""A product as /deal shows it: what it cost before, over four windows and every price type."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from keepa_cli.keepa.clock import DAY
from keepa_cli.keepa.csvtypes import CSV_TYPES
from keepa_cli.keepa.stats import average
from keepa_cli.sandbox.catalogue.entry import Entry
from keepa_cli.sandbox.catalogue.lightning import running
from keepa_cli.sandbox.finder.values import drops_of

WINDOWS = (2, 7, 31, 90)
"""Days behind dateRange 0 to 3; the first is 48 hours."""
NO_DATA = -2
AMAZON, NEW = 0, 1
AGAINST_NEW = frozenset({8, 9, 33})
"""Types whose drops are measured against the price of Amazon, or the lowest new one."""


class Offered:
    """One product and its drops."""

    def __init__(self, entry: Entry, slot: int) -> None:
        self.entry, self.slot = entry, slot
        self._means: dict[tuple[int, int], int] = {}

    def mean(self, window: int, slot: int) -> int:
        """The average that a price is compared with; -2 without one."""
        if (window, slot) not in self._means:
            self._means[window, slot] = self._mean(window, slot)
        return self._means[window, slot]

    def _mean(self, window: int, slot: int) -> int:
        compared = slot
        if slot in AGAINST_NEW:
            compared = AMAZON if self.entry.current(AMAZON) >= 0 else NEW
        end = self.entry.now
        found = average(self.entry.series(compared), end - WINDOWS[window] * DAY, end)
        return found if found >= 0 else NO_DATA

    def delta(self, window: int, slot: int) -> int:
        """Positive when it got cheaper; 0 when nothing can be said although there is a price."""
        mean, now = self.mean(window, slot), self.entry.current(slot)
        return mean - now if mean >= 0 and now >= 0 else 0

    def percent(self, window: int, slot: int) -> int:
        mean = self.mean(window, slot)
        return self.delta(window, slot) * 100 // mean if mean > 0 else 0

    def delta_last(self, slot: int) -> int:
        values = self.entry.series(slot).landing
        return values[-2] - values[-1] if len(values) > 1 and min(values[-2:]) >= 0 else 0

    @cached_property
    def created(self) -> int:
        """When the requested type last changed; -1 when it never was there."""
        times = self.entry.series(self.slot).times
        return times[-1] if times else -1

    def shown(self) -> dict[str, Any]:
        """The Deal object."""
        entry, slots = self.entry, [t.index for t in CSV_TYPES]
        fields = entry.fields
        has = {slot: bool(len(entry.series(slot))) for slot in slots}

        def table(work: Any) -> list[list[int]]:
            return [[work(w, slot) if has[slot] else NO_DATA for slot in slots] for w in range(len(WINDOWS))]

        deal = {
            "asin": entry.asin,
            "avg": table(self.mean),
            "categories": fields["categories"],
            "creationDate": self.created,
            "current": [entry.current(slot) for slot in slots],
            "currentSince": [entry.series(s).times[-1] if has[s] else -1 for s in slots],
            "delta": table(self.delta),
            "deltaLast": [self.delta_last(slot) for slot in slots],
            "deltaPercent": table(self.percent),
            "image": list(fields["images"][0]["m"].encode()),
            "lastUpdate": fields["lastUpdate"],
            "lightningEnd": running(entry),
            "rootCat": entry.root,
            "title": entry.card.title,
            "warehouseCondition": 3 if entry.current(9) >= 0 else 0,
            "warehouseConditionComment": "Item will come in original packaging." if entry.current(9) >= 0 else None,
            **{f"salesRankDrops{days}": drops_of(entry, days) for days in (30, 90, 180, 365)},
        }
        return deal | ({"parentAsin": fields["parentAsin"]} if fields["parentAsin"] else {})

"""Figures over a window that judgements are made from: means, changes and how far values spread.

All weigh by time and end now; those that Keepa sends too follow its own rule (`keepa.stats`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from keepa_cli.keepa.clock import DAY
from keepa_cli.keepa.csvtypes import CsvType
from keepa_cli.keepa.stats import average
from keepa_cli.research.facts import Reason
from keepa_cli.research.subject import Subject


@dataclass(frozen=True, slots=True)
class Change:
    """From the value in force at the start of a window to the one in force now."""

    first: int | None
    last: int | None
    reason: Reason | None = None

    @property
    def percent(self) -> float | None:
        return percent(self.last, self.first)


def percent(value: float | None, base: float | None) -> float | None:
    """How much `value` lies above `base`, in percent of it; None where that has no meaning."""
    if value is None or base is None or base <= 0:
        return None
    try:
        return round((value - base) / base * 100, 2)
    except OverflowError:
        return None


def mean(s: Subject, t: CsvType, days: int, until: int = 0) -> int | None:
    """The mean of the days between `days` and `until` days ago by Keepa's rule; None without data."""
    found = average(s.series(t), s.now - days * DAY, s.now - until * DAY)
    return found if found >= 0 else None


def change(s: Subject, t: CsvType, days: int) -> Change:
    """The change over the last `days`. A history that begins later is too little; a gap at either end is none."""
    series, at = s.series(t), s.newest(t)
    if at < 0:
        return Change(None, None, s.why_no(t))
    last = series.landing[at]
    if last < 0:
        return Change(None, None, s.why_no(t))
    start = s.now - days * DAY
    if series.times[0] > start:
        return Change(None, last, Reason.TOO_LITTLE_HISTORY)
    first = series.value_before(start)
    return Change(first, last) if first >= 0 else Change(None, last, Reason.NONE)


def spread(s: Subject, t: CsvType, days: int) -> float | None:
    """The standard deviation in percent of the mean, both weighted by time; None without a value in the window."""
    minutes = total = squares = 0
    for value, since, until in s.series(t).spans(s.now - days * DAY, s.now):
        if value >= 0:
            length = until - since
            minutes += length
            total += value * length
            squares += value * value * length
    try:
        return round(sqrt(max(squares * minutes - total * total, 0)) / total * 100, 2) if total else None
    except OverflowError:
        return None

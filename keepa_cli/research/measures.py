"""Figures over a window that judgements are made from: means, changes and how far values spread. All end now."""

from __future__ import annotations

from dataclasses import dataclass

from keepa_cli.keepa.clock import DAY
from keepa_cli.keepa.csvtypes import CsvType
from keepa_cli.research.facts import Reason
from keepa_cli.research.history.figures import WindowFigures
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
    return _window(s, t, days, until).mean


def spread(s: Subject, t: CsvType, days: int) -> float | None:
    """The standard deviation in percent of the mean, both weighted by time; None without a value in the window."""
    return _window(s, t, days).volatility


def _window(s: Subject, t: CsvType, days: int, until: int = 0) -> WindowFigures:
    key = ("window", t.index, days, until)
    if key not in s.known:
        s.known[key] = WindowFigures(s.series(t), s.now - days * DAY, s.now - until * DAY)
    found: WindowFigures = s.known[key]
    return found


def change(s: Subject, t: CsvType, days: int) -> Change:
    """The change over the last `days`. A history that begins later is too little; a gap at either end is none."""
    series, at = s.series(t), s.newest(t)
    if at < 0 or series.landing[at] < 0:
        return Change(None, None, s.why_no(t))
    last, start = series.landing[at], s.now - days * DAY
    if series.times[0] > start:
        return Change(None, last, Reason.TOO_LITTLE_HISTORY)
    first = series.value_before(start)
    return Change(first, last) if first >= 0 else Change(None, last, Reason.NONE)

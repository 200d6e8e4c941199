"""Seasons in a sales rank: monthly medians of its logarithm, once the linear trend of the history is taken off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Any

from keepa_cli.keepa.clock import DAY, iso, to_datetime
from keepa_cli.keepa.series import Series
from keepa_cli.research.facts import Confidence, Reason, Section, derived

YEAR_DAYS = 365
SEASON = math.log(1.25)
"""How far (in log rank) a month must lie from the trend to be a season: a rank a quarter better or worse."""
LEAST_DAYS = 10
"""The days with a rank that a calendar month needs."""
METHOD = "monthly medians of log rank without its linear trend"
PEAK, OFF, SHOULDER, YEAR_ROUND = "peak_season", "off_season", "shoulder", "year_round"

Sample = tuple[int, int, float]
"""(day number, calendar month, log rank)"""


def seasonality(series: Series, now: int, evidence_path: str) -> Section:
    """A derived figure: its value is the list of months `{month, label, index_pct, days}`, or null with a reason.

    `index_pct` is how far the month's rank lies from the trend: -20 is a rank a fifth lower, which sells better. The
    label is peak_season (a quarter better), off_season (a quarter worse), shoulder between them, and year_round for
    every month when none stands out.
    """
    samples = daily(series, now)
    days = (now - series.times[0]) / DAY if series.times else 0.0
    months = _months(samples) if days >= YEAR_DAYS else []
    years = round(len(samples) / YEAR_DAYS, 1)
    return derived(
        months or None,
        method=METHOD,
        inputs={"days_with_a_rank": len(samples), "years": years, "from_at": _first(series), "to_at": iso(now)},
        confidence=Confidence.LOW if years < 2 else Confidence.MEDIUM if years < 3 else Confidence.HIGH,
        evidence_path=evidence_path,
        reason=Reason.TOO_LITTLE_HISTORY,
        years=years,
        pattern=_pattern(months),
    )


def daily(series: Series, now: int) -> list[Sample]:
    """The rank in force at noon of every day; days without one are left out."""
    found: list[Sample] = []
    if not series.times:
        return found
    start, place, last = max(series.times[0], 0), 0, len(series.times) - 1
    for noon in range(start - start % DAY + DAY // 2, now + 1, DAY):
        while place < last and series.times[place + 1] <= noon:
            place += 1
        value = series.landing[place]
        if series.times[place] <= noon and 0 < value < 2**63:
            found.append((noon // DAY, to_datetime(noon).month, math.log(value)))
    return found


def _months(samples: Sequence[Sample]) -> list[dict[str, Any]]:
    """The twelve months; nothing when one of them has too few days."""
    slope, level = _line(samples)
    apart: dict[int, list[float]] = {m: [] for m in range(1, 13)}
    for day, month, value in samples:
        apart[month].append(value - level - slope * day)
    if min(map(len, apart.values())) < LEAST_DAYS:
        return []
    centre = {month: median(values) for month, values in apart.items()}
    stands_out = any(abs(value) >= SEASON for value in centre.values())
    return [
        {
            "month": month,
            "label": _label(value) if stands_out else YEAR_ROUND,
            "index_pct": round(100 * (math.exp(value) - 1), 1),
            "days": len(apart[month]),
        }
        for month, value in centre.items()
    ]


def _label(value: float) -> str:
    if abs(value) < SEASON:
        return SHOULDER
    return PEAK if value < 0 else OFF


def _line(samples: Sequence[Sample]) -> tuple[float, float]:
    """The least squares line through (day, log rank): its slope and its value at day 0."""
    count = len(samples)
    if not count:
        return 0.0, 0.0
    middle = sum(day for day, _, _ in samples) / count
    mean = sum(value for _, _, value in samples) / count
    spread = sum((day - middle) ** 2 for day, _, _ in samples)
    slope = sum((day - middle) * (value - mean) for day, _, value in samples) / spread if spread else 0.0
    return slope, mean - slope * middle


def _pattern(months: Sequence[dict[str, Any]]) -> str:
    """seasonal, year_round, or unknown without a verdict."""
    if not months:
        return "unknown"
    return YEAR_ROUND if months[0]["label"] == YEAR_ROUND else "seasonal"


def _first(series: Series) -> str | None:
    return iso(series.times[0]) if series.times else None

"""Keepa's own statistics, recomputed from the histories of a product, quirks included.

Every figure is exact integer arithmetic over a step function. Source: keepa-api.md §4.5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from keepa_cli.keepa.buybox import buy_box_stats, scalar_defaults
from keepa_cli.keepa.clock import DAY
from keepa_cli.keepa.csvtypes import CSV_TYPES, SeriesKind, csv_type
from keepa_cli.keepa.series import Series, read_series

WINDOWS = (30, 90, 180, 365)
Window = tuple[int, int]
Interval = Window | int | None
Extremes = tuple[list[int] | None, list[int] | None]


def window(interval: Interval, now: int) -> Window:
    """The minutes of an interval: days back from now, an explicit (start, end), or None for all history.

    0 days is an empty interval, not all time; an end in the future is cut at now.
    """
    if interval is None:
        return 0, now
    if isinstance(interval, int):
        return now - interval * DAY, now
    return interval[0], min(interval[1], now)


def average(series: Series, start: int, end: int) -> int:
    """The mean weighted by time, rounded down; -1 without data.

    Keepa's running sum starts at -1 and is reset only by a value already in force at the start, so a constant 1499
    after a gap averages 1498. The value of a series that never changed is returned as it is.
    """
    return average_of(series, start, end, series.weighted_sum(start, end))


def average_of(series: Series, start: int, end: int, sums: tuple[int, int]) -> int:
    """The same where the weighted sum of the window and its minutes are known already."""
    if not series.times or series.times[0] > end or start >= end or series.type.kind is SeriesKind.META:
        return -1
    lone = _lone(series)
    if lone is not None:
        return lone[1]
    start = max(start, series.times[0])
    first = series.index_at(start)
    in_force = series.times[first] < start and series.landing[first] >= 0
    total, minutes = sums
    return (total - (0 if in_force else 1)) // minutes if minutes else -1


def out_of_stock_percentage(series: Series, start: int, end: int, tracking_since: int) -> int:
    """The share of the window without an offer, rounded up; -1 when it is no price or nothing is known."""
    if not series.type.is_price or not series.times or start >= end:
        return -1
    if series.times[0] > end or tracking_since > end:
        return -1
    start = max(start, tracking_since)
    if _lone(series) is not None:
        return 0
    minutes = series.weighted_sum(start, end)[1]
    return 100 - minutes * 100 // (end - start) if minutes and end > start else 100


def extremes(series: Series) -> Extremes:
    """[time, value] of the first lowest and the first highest value ever; None without one."""
    known = [(v, t) for t, v in zip(series.times, series.landing, strict=True) if v >= 0]
    return _first_extremes(known) if series.type.kind is not SeriesKind.META else (None, None)


def extremes_in(series: Series, start: int, end: int) -> Extremes:
    """The same inside a window, a value in force at its start dated there; [-1, -1] when only other times have one."""
    if series.type.kind is SeriesKind.META or all(v < 0 for v in series.landing):
        return None, None
    lone = _lone(series)
    if lone is not None:
        return list(lone), list(lone)
    found = _first_extremes([(v, since) for v, since, _ in series.spans(start, end) if v >= 0])
    return found if found[0] else ([-1, -1], [-1, -1])


def rank_drops(series: Series, start: int) -> int:
    """How often the rank fell (got better) since `start`; gaps without a rank are bridged.

    Exact for ranks below about 1000; beyond, Keepa leaves out tiny decreases by a rule it does not publish.
    """
    ranks = [(t, v) for t, v in zip(series.times, series.values, strict=True) if v >= 0]
    return sum(1 for (_, a), (t, b) in pairwise(ranks) if b < a and t >= start)


def out_of_stock_count(series: Series, start: int, end: int) -> int:
    """The number of separate stretches without an offer that touch the window."""
    count, before = 0, False
    for value, _, _ in series.spans(start, end):
        count += value < 0 and not before
        before = value < 0
    return count


def delta_percent(series: Series, start: int, end: int) -> int:
    """(mean - current) / mean in percent, rounded down: negative when the current value is higher; 0 if unknown."""
    total, minutes = series.weighted_sum(start, end)
    if not total or series.last() < 0:
        return 0
    return (total - series.last() * minutes) * 100 // total


def compute_stats(product: Mapping[str, Any], now_minute: int, interval: Interval) -> dict[str, Any]:
    """The `stats` object of a product as Keepa answers it at `now_minute` (an even minute) for `interval`.

    Figures that no history holds (stock, seller names of offers, fulfilment) are taken over from the product's own
    `stats` where it has one, else they carry Keepa's "not requested" value.
    """
    row = all_series(product)
    start, end = window(interval, now_minute)
    stats: dict[str, Any] = {
        **scalar_defaults(product, row),
        "current": [s.last() for s in row],
        "atIntervalStart": [s.value_before(start) for s in row],
    }
    _add_windows(stats, row, now_minute, (start, end), _minute(product.get("trackingSince")))
    _add_extremes(stats, row, (now_minute - 90 * DAY, now_minute), (start, end))
    _add_counts(stats, product, row, now_minute)
    won = buy_box_stats(product, row, start, end)
    if won:
        stats["buyBoxStats"] = won
    return dict(sorted(stats.items()))


def all_series(product: Mapping[str, Any]) -> list[Series]:
    """Every slot of `csv`, at least as many as the table knows."""
    csv = product.get("csv")
    slots = csv if isinstance(csv, list) else []
    return [
        read_series(slots[i] if i < len(slots) else None, csv_type(i)) for i in range(max(len(slots), len(CSV_TYPES)))
    ]


def _add_windows(stats: dict[str, Any], row: list[Series], now: int, interval: Window, since: int) -> None:
    named = {str(days): (now - days * DAY, now) for days in WINDOWS}
    for name, (start, end) in {**named, "": interval}.items():
        stats[f"avg{name}"] = [average(s, start, end) for s in row]
        stats[f"outOfStockPercentage{name or 'InInterval'}"] = [
            out_of_stock_percentage(s, start, end, since) for s in row
        ]


def _add_extremes(stats: dict[str, Any], row: list[Series], last90: Window, interval: Window) -> None:
    def put(suffix: str, find: Callable[[Series], Extremes]) -> list[list[int] | None]:
        found = [find(s) for s in row]
        stats[f"min{suffix}"], stats[f"max{suffix}"] = [f[0] for f in found], [f[1] for f in found]
        return [f[0] for f in found]

    ever = put("", extremes)
    put("InInterval", lambda s: extremes_in(s, *interval))
    recent = [extremes_in(s, *last90)[0] for s in row]
    stats["isLowest"] = [_is_lowest(s, low) for s, low in zip(row, ever, strict=True)]
    stats["isLowest90"] = [_is_lowest(s, low) for s, low in zip(row, recent, strict=True)]


def _add_counts(stats: dict[str, Any], product: Mapping[str, Any], row: list[Series], now: int) -> None:
    updated = _minute(product.get("lastUpdate")) or now
    for days in WINDOWS:
        # Keepa counts drops at refresh time, so this window ends at lastUpdate and not at the request.
        stats[f"salesRankDrops{days}"] = rank_drops(row[3], updated - days * DAY) if len(row[3]) else -1
    for days in (30, 90):
        stats[f"outOfStockCountAmazon{days}"] = out_of_stock_count(row[0], now - days * DAY, now)
    sold = read_series(product.get("monthlySoldHistory"), 11)
    stats["deltaPercent90_monthlySold"] = delta_percent(sold, now - 90 * DAY, now)


def _is_lowest(series: Series, low: list[int] | None) -> bool:
    return low is not None and series.last() >= 0 and series.last() == low[1]


def _lone(series: Series) -> tuple[int, int] | None:
    """The only point of a series that never changed, when it is a value."""
    if len(series) != 1 or series.landing[0] < 0:
        return None
    return series.times[0], series.landing[0]


def _first_extremes(known: list[tuple[int, int]]) -> Extremes:
    if not known:
        return None, None
    low, high = min(known), max(known, key=lambda k: (k[0], -k[1]))
    return [low[1], low[0]], [high[1], high[0]]


def _minute(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0

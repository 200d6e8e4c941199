"""Figures of a step function over a window of time: every value counts as long as it was in force.

Means and extremes are Keepa's own (`keepa.stats`); the others weigh the same stretches. Sums are exact integers, made
column by column: a view needs some thirty windows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from operator import add, mul, sub, truediv

from keepa_cli.keepa.clock import DAY
from keepa_cli.keepa.series import Series, Stretches
from keepa_cli.keepa.stats import average_of

QUANTILES = (10, 25, 50, 75, 90)
FLAT_PERCENT = 2
"""A fitted line that moves less than this share of the mean over the window is flat."""
MAD_LIMIT = 3.5
"""The modified z-score from which a value is an outlier (Iglewicz and Hoaglin)."""
IQR_FENCE = 1.5
"""How many interquartile ranges beyond the quartiles a value must lie to be an outlier (Tukey)."""
LARGEST = 2**63 - 1
"""Keepa's numbers are 64-bit integers: what is larger is no value."""


@dataclass(eq=False)
class WindowFigures:
    """The figures of one series from `start` to `end`, in raw units; None where there is none."""

    series: Series
    start: int
    end: int

    @cached_property
    def stretches(self) -> Stretches:
        """What was in force, stretches without a value left out."""
        return self.series.stretches(self.start, self.end).known(LARGEST)

    @property
    def any(self) -> bool:
        """Whether there was a value at all."""
        return bool(self.stretches.values)

    @cached_property
    def sums(self) -> tuple[int, int]:
        """Sum of value times minutes, and those minutes."""
        return self.stretches.weighted_sum()

    @property
    def minutes(self) -> int:
        return self.sums[1]

    @property
    def coverage(self) -> float:
        """The share of the window with a value, in percent."""
        return round(100 * self.minutes / (self.end - self.start), 2) if self.end > self.start else 0.0

    @property
    def points(self) -> int:
        """The number of points inside the window: how often something changed."""
        return self.series.index_at(self.end) - self.series.index_at(self.start - 1)

    @property
    def density(self) -> float:
        """Points a day."""
        return round(self.points * DAY / (self.end - self.start), 2) if self.end > self.start else 0.0

    @cached_property
    def first(self) -> int | None:
        """The value in force at the start, else the first one inside."""
        value = self.series.value_before(self.start)
        if 0 <= value <= LARGEST:
            return value
        return self.stretches.values[0] if self.any else None

    @cached_property
    def last(self) -> int | None:
        """The value in force at the end."""
        value = self.series.value_before(self.end)
        return value if 0 <= value <= LARGEST else None

    @property
    def change(self) -> int | None:
        return None if self.first is None or self.last is None else self.last - self.first

    @property
    def change_pct(self) -> float | None:
        return percent(self.first, self.last)

    @property
    def mean(self) -> int | None:
        """Keepa's average of the window, rounded down."""
        found = average_of(self.series, self.start, self.end, self.sums)
        return found if found >= 0 and self.any else None

    @cached_property
    def exact_mean(self) -> float:
        total, minutes = self.sums
        return total / minutes if minutes else 0.0

    @cached_property
    def weights(self) -> list[tuple[int, int]]:
        """(value, minutes) by value."""
        held: dict[int, int] = {}
        values, since, until = self.stretches
        for value, minutes in zip(values, map(sub, until, since), strict=True):
            held[value] = held.get(value, 0) + minutes
        return sorted(held.items())

    @cached_property
    def deviation(self) -> float | None:
        """The standard deviation around the exact mean."""
        total, minutes = self.sums
        if not minutes:
            return None
        squares = sum(v * v * m for v, m in self.weights)
        return math.sqrt((squares * minutes - total * total) / minutes**2)

    @property
    def volatility(self) -> float | None:
        """The coefficient of variation: the deviation in percent of the mean."""
        if self.deviation is None or not self.exact_mean:
            return None
        return round(100 * self.deviation / self.exact_mean, 2)

    @property
    def z_score(self) -> float | None:
        """How many deviations the latest value lies from the mean; None where nothing varied."""
        if self.last is None or not self.deviation:
            return None
        return round((self.last - self.exact_mean) / self.deviation, 2)

    @cached_property
    def _line(self) -> float | None:
        """The rise of the least squares line, a minute. Twice the time is integrated, so that all stays whole."""
        values, since, until = self.stretches
        start, weighted = self.start, list(map(mul, values, map(sub, until, since)))
        lengths = self._runs
        w = sum(b - a for a, b in lengths)
        t = sum(b * b - a * a for a, b in lengths)
        tt = sum(b**3 - a**3 for a, b in lengths)
        # value * (until**2 - since**2) is value * minutes * (until + since); both are counted from the start.
        tv = sum(map(mul, weighted, map(add, since, until))) - 2 * start * self.sums[0]
        spread = 4 * w * tt - 3 * t * t
        return 6 * (w * tv - t * self.sums[0]) / spread if spread else None

    @property
    def _runs(self) -> list[tuple[int, int]]:
        """The unbroken runs of stretches, in minutes from the start."""
        _, since, until = self.stretches
        if not since:
            return []
        breaks = [(u, s) for u, s in zip(until, since[1:], strict=False) if u != s]
        edges = [since[0], *(minute for pair in breaks for minute in pair), until[-1]]
        return [(a - self.start, b - self.start) for a, b in zip(edges[::2], edges[1::2], strict=True)]

    @property
    def slope(self) -> float | None:
        """The rise of the fitted line, a day."""
        return None if self._line is None else round(self._line * DAY, 3)

    @property
    def direction(self) -> str | None:
        """Where the fitted line leads: up, down or flat."""
        if self._line is None:
            return None
        moved = self._line * (self.stretches.until[-1] - self.stretches.since[0])
        if abs(moved) * 100 < FLAT_PERCENT * self.exact_mean or moved == 0:
            return "flat"
        return "up" if moved > 0 else "down"

    @cached_property
    def quantiles(self) -> list[int]:
        """The values below or at which the series stood 10, 25, 50, 75 and 90 % of the time."""
        return weighted_quantiles(self.weights, QUANTILES)

    @cached_property
    def _counts(self) -> Counter[int]:
        """The number of stretches by value."""
        return Counter(self.stretches.values)

    @property
    def iqr_outliers(self) -> int:
        """The number of stretches beyond Tukey's fences."""
        if not self.any:
            return 0
        _, low, _, high, _ = self.quantiles
        fence = IQR_FENCE * (high - low)
        return sum(n for v, n in self._counts.items() if not low - fence <= v <= high + fence)

    @property
    def mad_outliers(self) -> int:
        """The number of stretches far from the median, measured by the median deviation; 0 where that is 0."""
        if not self.any:
            return 0
        middle = self.quantiles[2]
        apart = sorted([(abs(value - middle), minutes) for value, minutes in self.weights])
        (mad,) = weighted_quantiles(apart, (50,))
        limit = MAD_LIMIT * mad / 0.6745
        return sum(n for v, n in self._counts.items() if abs(v - middle) > limit) if mad else 0

    @property
    def max_drawdown(self) -> float | None:
        """The deepest fall from a height reached before, in percent of it."""
        values = self._positive
        if not values:
            return 0.0 if self.any else None
        low: float = 0.0 if self._falls_to_zero else min(map(truediv, values, accumulate(values, max)))
        return round(100 * (low - 1), 2)

    @property
    def max_rebound(self) -> float | None:
        """The steepest rise from a low reached before, in percent of it; from 0 there is none."""
        values = self._positive
        if not values:
            return 0.0 if self.any else None
        high: float = max(map(truediv, values, accumulate(values, min)))
        return round(100 * (high - 1), 2)

    @cached_property
    def _positive(self) -> list[int]:
        values = self.stretches.values
        return values if not self.any or min(values) > 0 else [v for v in values if v > 0]

    @property
    def _falls_to_zero(self) -> bool:
        values = self.stretches.values
        first = next((i for i, v in enumerate(values) if v > 0), len(values))
        return len(self._positive) < len(values) and 0 in values[first:]

    @property
    def longest_rise(self) -> list[float]:
        """[steps, days] of the most steps up in a row, from the first to the last of them."""
        return self._longest[0]

    @property
    def longest_fall(self) -> list[float]:
        return self._longest[1]

    @cached_property
    def _longest(self) -> tuple[list[float], list[float]]:
        """Equal values in a row are no step, gaps are bridged, and of equally many steps the first stays."""
        best: dict[bool, tuple[int, int]] = {True: (0, 0), False: (0, 0)}
        steps, begin, upward = 0, 0, True
        for (before, value), at in zip(pairwise(self.stretches.values), self.stretches.since[1:], strict=False):
            if value == before:
                continue
            up = value > before
            if up is not upward or not steps:
                steps, begin, upward = 0, at, up
            steps += 1
            if steps > best[up][0]:
                best[up] = (steps, at - begin)
        rise, fall = ([steps, round(length / DAY, 1)] for steps, length in (best[True], best[False]))
        return rise, fall


def percent(first: int | None, last: int | None) -> float | None:
    """The change in percent, rounded to 2 decimals; None where one is missing or the first is 0."""
    return None if not first or last is None else round(100 * (last - first) / first, 2)


def weighted_quantiles(weights: Sequence[tuple[int, int]], shares: Sequence[int]) -> list[int]:
    """The smallest value that, with all below it, holds the share (in percent) of the weight."""
    total = sum(w for _, w in weights)
    return list(_quantiles(weights, shares, total)) if total else []


def _quantiles(weights: Sequence[tuple[int, int]], shares: Sequence[int], total: int) -> Iterator[int]:
    seen, at = 0, iter(weights)
    value = weights[0][0]
    for share in shares:
        while seen * 100 < share * total:
            value, weight = next(at)
            seen += weight
        yield value

"""Figures of a step function over a window of time: every value counts as long as it was in force.

Means and extremes are Keepa's own (`keepa.stats`); the others weigh the same stretches. All sums are exact integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from keepa_cli.keepa.clock import DAY
from keepa_cli.keepa.series import Series
from keepa_cli.keepa.stats import average

QUANTILES = (10, 25, 50, 75, 90)
FLAT_PERCENT = 2
"""A fitted line that moves less than this share of the mean over the window is flat."""
MAD_LIMIT = 3.5
"""The modified z-score from which a value is an outlier (Iglewicz and Hoaglin)."""
IQR_FENCE = 1.5
"""How many interquartile ranges beyond the quartiles a value must lie to be an outlier (Tukey)."""

LARGEST = 2**63 - 1
"""Keepa's numbers are 64-bit integers: what is larger is no value."""

Stretch = tuple[int, int, int]
"""(value, from, until) of a step function."""


@dataclass(eq=False)
class WindowFigures:
    """The figures of one series from `start` to `end`, in raw units; None where there is none."""

    series: Series
    start: int
    end: int

    @cached_property
    def stretches(self) -> list[Stretch]:
        """What was in force, stretches without a value left out."""
        return [s for s in self.series.spans(self.start, self.end) if 0 <= s[0] <= LARGEST]

    @cached_property
    def minutes(self) -> int:
        return sum(until - since for _, since, until in self.stretches)

    @property
    def coverage(self) -> float:
        """The share of the window with a value, in percent."""
        return round(100 * self.minutes / (self.end - self.start), 2) if self.end > self.start else 0.0

    @property
    def points(self) -> int:
        """The number of points inside the window: how often something changed."""
        before = self.series.index_at(self.start - 1)
        return self.series.index_at(self.end) - before

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
        return self.stretches[0][0] if self.stretches else None

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
        found = average(self.series, self.start, self.end)
        return found if found >= 0 and self.stretches else None

    @cached_property
    def weights(self) -> list[tuple[int, int]]:
        """(value, minutes) by value."""
        held: dict[int, int] = {}
        for value, since, until in self.stretches:
            held[value] = held.get(value, 0) + until - since
        return sorted(held.items())

    @cached_property
    def variance(self) -> float | None:
        if not self.minutes:
            return None
        total = sum(v * m for v, m in self.weights)
        squares = sum(v * v * m for v, m in self.weights)
        return (squares * self.minutes - total * total) / self.minutes**2

    @property
    def deviation(self) -> float | None:
        return None if self.variance is None else math.sqrt(self.variance)

    @property
    def volatility(self) -> float | None:
        """The coefficient of variation: the deviation in percent of the mean."""
        total = sum(v * m for v, m in self.weights)
        if self.deviation is None or not total:
            return None
        return round(100 * self.deviation * self.minutes / total, 2)

    @property
    def z_score(self) -> float | None:
        """How many deviations the latest value lies from the mean; None where nothing varied."""
        if self.last is None or not self.deviation:
            return None
        exact = sum(v * m for v, m in self.weights) / self.minutes
        return round((self.last - exact) / self.deviation, 2)

    @cached_property
    def _line(self) -> float | None:
        """The rise of the least squares line, a minute. Twice the time is integrated, so that all stays whole."""
        w = t = tt = v = tv = 0
        for value, since, until in self.stretches:
            a, b = since - self.start, until - self.start
            w += b - a
            t += b * b - a * a
            tt += b**3 - a**3
            v += value * (b - a)
            tv += value * (b * b - a * a)
        spread = 4 * w * tt - 3 * t * t
        return 6 * (w * tv - t * v) / spread if spread else None

    @property
    def slope(self) -> float | None:
        """The rise of the fitted line, a day."""
        return None if self._line is None else round(self._line * DAY, 3)

    @property
    def direction(self) -> str | None:
        """Where the fitted line leads: up, down or flat."""
        if self._line is None:
            return None
        mean = sum(v * m for v, m in self.weights) / self.minutes
        moved = self._line * (self.stretches[-1][2] - self.stretches[0][1])
        if abs(moved) * 100 < FLAT_PERCENT * mean or moved == 0:
            return "flat"
        return "up" if moved > 0 else "down"

    @cached_property
    def quantiles(self) -> list[int]:
        """The values below or at which the series stood 10, 25, 50, 75 and 90 % of the time."""
        return weighted_quantiles(self.weights, QUANTILES)

    @property
    def iqr_outliers(self) -> int:
        """The number of stretches beyond Tukey's fences."""
        if not self.stretches:
            return 0
        _, low, _, high, _ = self.quantiles
        fence = IQR_FENCE * (high - low)
        return sum(not low - fence <= v <= high + fence for v, _, _ in self.stretches)

    @property
    def mad_outliers(self) -> int:
        """The number of stretches far from the median, measured by the median deviation; 0 where that is 0."""
        if not self.stretches:
            return 0
        middle = self.quantiles[2]
        apart: dict[int, int] = {}
        for value, minutes in self.weights:
            apart[abs(value - middle)] = apart.get(abs(value - middle), 0) + minutes
        (mad,) = weighted_quantiles(sorted(apart.items()), (50,))
        limit = MAD_LIMIT * mad / 0.6745
        return sum(abs(v - middle) > limit for v, _, _ in self.stretches) if mad else 0

    @property
    def max_drawdown(self) -> float | None:
        """The deepest fall from a height reached before, in percent of it."""
        return self._swing(down=True)

    @property
    def max_rebound(self) -> float | None:
        """The steepest rise from a low reached before, in percent of it; from 0 there is none."""
        return self._swing(down=False)

    def _swing(self, *, down: bool) -> float | None:
        if not self.stretches:
            return None
        held = self.stretches[0][0]
        low, of = 0, 1
        for value, _, _ in self.stretches:
            if (value > held if down else value < held or not held) and value:
                held = value
            move = held - value if down else value - held
            if held and move * of > low * held:
                low, of = move, held
        return round((-100 if down else 100) * low / of, 2)

    @property
    def longest_rise(self) -> list[float]:
        """[steps, days] of the most steps up in a row, from the first to the last of them."""
        return _longest(self.stretches, up=True)

    @property
    def longest_fall(self) -> list[float]:
        return _longest(self.stretches, up=False)


def _longest(stretches: Sequence[Stretch], *, up: bool) -> list[float]:
    """Equal values in a row are no step; gaps without a value are bridged. Of equally many steps the first stays."""
    best, best_days, steps, begin = 0, 0.0, 0, 0
    for (before, _, _), (value, since, _) in pairwise(stretches):
        if value == before:
            continue
        if (value > before) is not up:
            steps = 0
            continue
        begin = begin if steps else since
        steps += 1
        if steps > best:
            best, best_days = steps, round((since - begin) / DAY, 1)
    return [best, best_days]


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

"""Every window figure against a count of single minutes."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa.clock import DAY
from keepa_cli.keepa.series import read_series
from keepa_cli.keepa.stats import average, extremes_in
from keepa_cli.research.history.figures import QUANTILES, WindowFigures, percent, weighted_quantiles
from tests.research.history.support import made, slots

SPAN = 80
points = st.lists(st.tuples(st.integers(0, SPAN), st.integers(-1, 7), st.integers(-1, 3)), max_size=9)
windows = st.tuples(st.integers(0, SPAN), st.integers(1, SPAN)).map(lambda w: (w[0], w[0] + w[1]))


class Slow:
    """The figures of one window, minute by minute. `held` is the value in force in each minute."""

    def __init__(self, groups: list[tuple[int, ...]], start: int, end: int) -> None:
        by_time = {g[0]: self.counted(*g[1:]) for g in groups}
        value, self.held = -1, []
        for minute in range(2 * SPAN + 1):
            value = by_time.get(minute, value)
            self.held.append(value)
        self.start, self.end = start, end
        self.minutes = [(m, v) for m in range(start, end) if (v := self.held[m]) >= 0]
        self.values = sorted(v for _, v in self.minutes)
        changes = [v for m, v in self.minutes if m == start or m in by_time or self.held[m - 1] < 0]
        self.steps = changes

    @staticmethod
    def counted(price: int, shipping: int = 0) -> int:
        return price + shipping if price >= 0 and shipping > 0 else price

    @property
    def mean(self) -> float:
        return sum(self.values) / len(self.values)

    @property
    def deviation(self) -> float:
        return math.sqrt(sum((v - self.mean) ** 2 for v in self.values) / len(self.values))

    def quantile(self, share: int) -> int:
        return next(v for i, v in enumerate(self.values, 1) if i * 100 >= share * len(self.values))

    @property
    def slope(self) -> float | None:
        """Least squares over the middles of minutes; within a minute time spreads by a twelfth."""
        n = len(self.minutes)
        middle = sum(m + 0.5 for m, _ in self.minutes) / n
        spread = sum((m + 0.5 - middle) ** 2 + 1 / 12 for m, _ in self.minutes)
        return sum((m + 0.5 - middle) * (v - self.mean) for m, v in self.minutes) / spread

    def swing(self, *, down: bool) -> float:
        best = 0.0
        for i, before in enumerate(self.steps):
            for after in self.steps[i:]:
                if before:
                    best = max(best, (before - after if down else after - before) / before)
        return -best if down else best

    def longest(self, sign: int) -> int:
        moves = [b - a for a, b in zip(self.steps, self.steps[1:], strict=False) if a != b]
        best = run = 0
        for move in moves:
            run = run + 1 if move * sign > 0 else 0
            best = max(best, run)
        return best


def packed(groups: list[tuple[int, int, int]], stride: int) -> tuple[list[int], list[tuple[int, ...]]]:
    """As Keepa would send it, in the given order, and its groups by time; of several at one time the last counts."""
    cut = [g[:stride] for g in groups]
    return [n for g in cut for n in g], sorted({g[0]: g for g in cut}.values())


def close(have: float | None, want: float, digits: int = 2) -> bool:
    return have is not None and abs(have - want) <= 0.51 * 10**-digits + 1e-9 * abs(want)


@settings(max_examples=300, deadline=None)
@given(points, windows, st.sampled_from([(2, 1), (3, 18)]))
def test_every_figure_agrees_with_a_minute_by_minute_count(
    groups: list[tuple[int, int, int]], span: tuple[int, int], layout: tuple[int, int]
) -> None:
    stride, index = layout
    numbers, known = packed(groups, stride)
    series = read_series(numbers, index)
    start, end = span
    w, slow = WindowFigures(series, start, end), Slow(known, start, end)
    assert w.minutes == len(slow.minutes)
    assert w.last == (slow.held[end] if slow.held[end] >= 0 else None)
    assert w.points == sum(start <= g[0] <= end for g in known)
    if not slow.minutes:
        assert (w.first, w.mean, w.quantiles, w.slope, w.volatility, w.max_drawdown) == (
            None,
            None,
            [],
            None,
            None,
            None,
        )
        return
    assert w.first == slow.minutes[0][1]
    assert w.change == (None if w.last is None else w.last - slow.minutes[0][1])
    assert w.quantiles == [slow.quantile(q) for q in QUANTILES]
    assert (w.weights[0][0], w.weights[-1][0]) == (slow.values[0], slow.values[-1])
    assert close(w.coverage, 100 * len(slow.minutes) / (end - start))
    assert close(w.deviation, slow.deviation, 6)
    assert close(w.volatility, 100 * slow.deviation / slow.mean) if slow.mean else w.volatility is None
    if w.last is not None and slow.deviation > 1e-9:
        assert close(w.z_score, (w.last - slow.mean) / slow.deviation)
    assert close(w.slope, slow.slope * DAY, 3)
    assert close(w.max_drawdown, 100 * slow.swing(down=True)) and close(w.max_rebound, 100 * slow.swing(down=False))
    assert (w.longest_rise[0], w.longest_fall[0]) == (slow.longest(1), slow.longest(-1))
    if not (len(known) == 1 and series.landing[0] >= 0):
        low, high = extremes_in(series, start, end)
        assert (low[1], high[1]) == (slow.values[0], slow.values[-1])
        assert 0 <= slow.mean - average(series, start, end) < 2
    assert outliers(slow) == (w.iqr_outliers, w.mad_outliers)


def outliers(slow: Slow) -> tuple[int, int]:
    low, middle, high = (slow.quantile(q) for q in (25, 50, 75))
    fence = 1.5 * (high - low)
    apart = sorted(abs(v - middle) for v in slow.values)
    mad = next(v for i, v in enumerate(apart, 1) if i * 100 >= 50 * len(apart))
    beyond = [v for v in slow.steps if v < low - fence or v > high + fence]
    far = [v for v in slow.steps if mad and 0.6745 * abs(v - middle) / mad > 3.5]
    return len(beyond), len(far)


def test_the_value_in_force_at_the_start_counts_and_the_window_ends_now() -> None:
    series = made(csv=slots(s1=[0, 2000, 90 * DAY, 1000])).series("NEW")
    w = WindowFigures(series, 60 * DAY, 100 * DAY)
    assert (w.first, w.last, w.change, w.change_pct, w.mean) == (2000, 1000, -1000, -50.0, 1750)
    assert w.direction == "down"
    quiet = WindowFigures(series, 95 * DAY, 100 * DAY)
    assert (quiet.change_pct, quiet.points, quiet.direction, quiet.z_score) == (0.0, 0, "flat", None)


def test_a_gap_at_the_end_leaves_no_last_value_and_one_at_the_start_takes_the_first_inside() -> None:
    series = made(csv=slots(s1=[0, -1, 10, 500, 20, -1])).series("NEW")
    w = WindowFigures(series, 5, 25)
    assert (w.first, w.last, w.change, w.change_pct, w.coverage) == (500, None, None, None, 50.0)


def test_runs_have_their_length_in_days() -> None:
    rises = [0, 1, DAY, 2, 3 * DAY, 3, 4 * DAY, -1, 5 * DAY, 4, 6 * DAY, 1]
    w = WindowFigures(made(csv=slots(s1=rises)).series("NEW"), 0, 7 * DAY)
    assert w.longest_rise == [3, 4.0]
    assert w.longest_fall == [1, 0.0]


@pytest.mark.parametrize("huge", [2**63, 10**400])
def test_numbers_that_no_answer_can_hold_are_no_values(huge: int) -> None:
    w = WindowFigures(made(csv=slots(s3=[0, 5, 10, huge])).series("SALES"), 0, 20)
    every: list[Any] = [w.last, w.change_pct, w.deviation, w.slope, w.max_rebound]
    assert every == [None, None, 0.0, 0.0, 0.0]


def test_percent_of_nothing_is_unknown() -> None:
    assert percent(0, 5) is percent(None, 5) is percent(5, None) is None
    assert percent(44, 43) == -2.27


def test_quantiles_of_nothing_are_none() -> None:
    assert weighted_quantiles([], (50,)) == []
    assert weighted_quantiles([(1, 99), (9, 1)], (50, 99, 100)) == [1, 1, 9]

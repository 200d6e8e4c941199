"""Step functions: (time, value) lists with strictly increasing even times, a point only where the value changes.

A longer history only appends to a shorter one: the same draws are made in the same order.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Sequence

from keepa_cli.keepa.clock import DAY

Steps = list[tuple[int, int]]


def even(minute: float) -> int:
    return int(minute) // 2 * 2


def walk(
    source: random.Random, start: int, end: int, gap_days: float, first: int, change: Callable[[int], int]
) -> Steps:
    """A history from `start` on: `change` gives the next value about every `gap_days`."""
    found, time = [(start, first)], start
    while True:
        time += max(2, even(source.expovariate(1 / (gap_days * DAY))))
        value = change(found[-1][1])
        if time > end:
            return found
        if value != found[-1][1]:
            found.append((time, value))


def value_at(steps: Steps, time: int) -> int:
    i = bisect_right(steps, (time, 1 << 62)) - 1
    return steps[i][1] if i >= 0 else -1


def merge(a: Steps, b: Steps, rule: Callable[[int, int], int]) -> Steps:
    """The function whose value is `rule(a, b)` at any time."""
    found: Steps = []
    for time in sorted({t for t, _ in a} | {t for t, _ in b}):
        value = rule(value_at(a, time), value_at(b, time))
        if not found or found[-1][1] != value:
            found.append((time, value))
    return found


def since(steps: Steps, start: int) -> Steps:
    """The history from `start` on, dated there when a value was in force."""
    kept = [(t, v) for t, v in steps if t > start]
    before = [v for t, v in steps if t <= start]
    return [(start, before[-1]), *kept] if before and (not kept or kept[0][1] != before[-1]) else kept


def flat(steps: Sequence[tuple[int, ...]]) -> list[int]:
    """The packed array of pairs or triples."""
    return [number for point in steps for number in point]

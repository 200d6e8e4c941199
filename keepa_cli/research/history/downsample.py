"""Fewer points of a step function without losing what matters: its ends, its extremes, and every stock-out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def essential(values: Sequence[int]) -> set[int]:
    """The places of the first, the last, the lowest and the highest value, and of every change between having a
    value and having none, with the value before it."""
    if not values:
        return set()
    kept = {0, len(values) - 1}
    known = [(v, i) for i, v in enumerate(values) if v >= 0]
    if known:
        kept |= {min(known)[1], max(known, key=lambda k: (k[0], -k[1]))[1]}
    for i, (before, after) in enumerate(pairwise(values), 1):
        if (before < 0) != (after < 0):
            kept |= {i - 1, i}
    return kept


def keep(times: Sequence[int], values: Sequence[int], most: int) -> list[int]:
    """The places to keep, in order: at most `most` of them, unless the essential ones alone are more.

    What room is left goes to the lowest and the highest value of equal stretches of time.
    """
    if len(values) <= most:
        return list(range(len(values)))
    kept = essential(values)
    stretches = (most - len(kept)) // 2
    if stretches > 0:
        kept |= _peaks(times, values, stretches)
    return sorted(kept)


def _peaks(times: Sequence[int], values: Sequence[int], stretches: int) -> set[int]:
    """The first lowest and the first highest point of every stretch."""
    start, length = times[0], times[-1] - times[0] + 1
    low: dict[int, int] = {}
    high: dict[int, int] = {}
    for i, (time, value) in enumerate(zip(times, values, strict=True)):
        place = (time - start) * stretches // length
        if place not in low or value < values[low[place]]:
            low[place] = i
        if place not in high or value > values[high[place]]:
            high[place] = i
    return {*low.values(), *high.values()}

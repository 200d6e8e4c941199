"""What trackings notice: prices that reach a wish, offers that vanish or come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from keepa_cli.keepa.csvtypes import csv_type
from keepa_cli.keepa.tracking import VIA_API
from keepa_cli.sandbox.trackings.tracked import Memory, Tracked, in_currency_of

EXPIRED, DESIRED, AFTER_DESIRED, OUT_OF_STOCK, IN_STOCK, DESIRED_AGAIN = 0, 1, 3, 4, 5, 6
"""Values of trackingNotificationCause."""
Value = Callable[[int, int, int], int]
"""(domain, price type, minute) -> the value in force, -1 without one."""
Event = tuple[int, int, int]
"""Domain, price type and cause of a notification."""


def check(tracked: Tracked, minute: int, value: Value) -> list[Event]:
    """One look at everything that is watched. Remembers what it saw."""
    events = [*_wishes(tracked, minute, value), *_stocks(tracked, minute, value)]
    for domain, kind, cause in events:
        tracked.history += [domain, kind, VIA_API, cause, minute]
    return events


def _wishes(tracked: Tracked, minute: int, value: Value) -> Iterator[Event]:
    for one, memory in zip(tracked.item["thresholdValues"], tracked.thresholds, strict=True):
        seen = value(one["domain"], one["csvType"], minute)
        if seen >= 0 and csv_type(one["csvType"]).is_price:
            seen = in_currency_of(tracked.item["mainDomainId"], seen, one["domain"])
        wish = one["thresholdValue"]
        met = seen >= 0 and (seen <= wish if one["isDrop"] else seen >= wish)
        cause = _cause(one, memory, met, seen)
        if cause is not None and _armed(tracked, memory, minute):
            memory.told_at, memory.told = minute, seen
            yield one["domain"], one["csvType"], cause
        memory.met, memory.value = met, seen


def _cause(one: dict[str, Any], memory: Memory, met: bool, seen: int) -> int | None:
    if not met:
        return None
    if not memory.met:
        return DESIRED if memory.told_at is None else DESIRED_AGAIN
    moved = abs(seen - memory.told)
    enough = moved >= one.get("minDeltaAbsolute", 0) and moved * 100 >= one.get("minDeltaPercentage", 0) * memory.told
    return AFTER_DESIRED if seen != memory.value and enough else None


def _armed(tracked: Tracked, memory: Memory, minute: int) -> bool:
    """0 tells once, minutes above 0 keep quiet for that long, -1 always tells."""
    quiet = tracked.item["individualNotificationInterval"]
    return memory.told_at is None or quiet < 0 or (quiet > 0 and minute - memory.told_at >= quiet)


def _stocks(tracked: Tracked, minute: int, value: Value) -> Iterator[Event]:
    for one, memory in zip(tracked.item["notifyIf"], tracked.states, strict=True):
        seen = value(one["domain"], one["csvType"], minute)
        first, memory.met = not memory.met, True
        there, was_there, memory.value = seen >= 0, memory.value >= 0, seen
        if first or there == was_there or there is not bool(one["notifyIfType"]):
            continue
        if _armed(tracked, memory, minute):
            memory.told_at = minute
            yield one["domain"], one["csvType"], IN_STOCK if there else OUT_OF_STOCK

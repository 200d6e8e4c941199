"""One history series: packed numbers -> times and values, the value at a time, and facts with a state.

A series is a step function: a value holds until the next point. Source: keepa-api.md §4.2.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from operator import lt, mul, sub
from typing import Any, NamedTuple

from keepa_cli.keepa.clock import LATEST, OFFSET, iso
from keepa_cli.keepa.csvtypes import ITEM_PRICE_UNTIL, LANDING_LATER, CsvType, SeriesKind, csv_type
from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.money import amount, tenths

OK, OUT_OF_STOCK, UNKNOWN, NO_DATA = "ok", "out_of_stock", "unknown", "no_data"


class Stretches(NamedTuple):
    """Parts of a step function as columns: values as statistics count them, the minutes from and until they held."""

    values: list[int]
    since: list[int]
    until: list[int]

    def known(self, most: int | None = None) -> Stretches:
        """Those with a value, and none above `most`."""
        if not self.values or (min(self.values) >= 0 and (most is None or max(self.values) <= most)):
            return self
        kept = [s for s in zip(*self, strict=True) if s[0] >= 0 and (most is None or s[0] <= most)]
        return Stretches([s[0] for s in kept], [s[1] for s in kept], [s[2] for s in kept])

    def weighted_sum(self) -> tuple[int, int]:
        """Sum of value times minutes, and those minutes."""
        minutes = list(map(sub, self.until, self.since))
        return sum(map(mul, self.values, minutes)), sum(minutes)


@dataclass(frozen=True)
class Series:
    """Times and raw values of one series, in time order. `shipping` is empty except for triples;
    `ignored` counts the numbers of an incomplete last group; `problems` says what was wrong with the array."""

    type: CsvType
    times: list[int] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    shipping: list[int] = field(default_factory=list)
    ignored: int = 0
    problems: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.times)

    @cached_property
    def landing(self) -> list[int]:
        """What statistics count: the price plus shipping where both are known, else the raw value."""
        if not self.shipping:
            return self.values
        return [v + s if v >= 0 and s > 0 else v for v, s in zip(self.values, self.shipping, strict=True)]

    def index_at(self, minute: int) -> int:
        """The index of the point in force at `minute`, -1 before the first."""
        return bisect_right(self.times, minute) - 1

    def value_before(self, minute: int) -> int:
        """The value in force at `minute` as statistics count it, -1 before the first point."""
        i = self.index_at(minute)
        return self.landing[i] if i >= 0 else -1

    def stretches(self, start: int, end: int) -> Stretches:
        """The stretches of the step function inside the window, in order."""
        first, beyond = max(self.index_at(start), 0), bisect_left(self.times, end)
        if start >= end or first >= beyond:
            return Stretches([], [], [])
        since = self.times[first:beyond]
        since[0] = max(since[0], start)
        return Stretches(self.landing[first:beyond], since, [*since[1:], end])

    def spans(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """(value, from, until) of every stretch inside the window, in order."""
        found = self.stretches(start, end)
        return zip(found.values, found.since, found.until, strict=True)

    def weighted_sum(self, start: int, end: int) -> tuple[int, int]:
        """Sum of value times minutes, and those minutes; stretches without a value are left out."""
        return self.stretches(start, end).known().weighted_sum()

    def last(self) -> int:
        """The newest value as statistics count it, -1 for an empty series."""
        return self.landing[-1] if self.times else -1


def group_times(packed: Any, stride: int) -> tuple[list[str], list[Any]]:
    """What is wrong with the layout of an array of groups, and the first value of every whole group."""
    if packed is None:
        return [], []
    if not isinstance(packed, list):
        return [f"not an array but {type(packed).__name__}"], []
    rest = len(packed) % stride
    problems = [f"{rest} values after the last group of {stride}"] if rest else []
    return problems, packed[: len(packed) - rest : stride]


def packed_problems(packed: Any, stride: int) -> list[str]:
    """What is wrong with a packed array of numbers; nothing for null. Times that do not increase are
    also what a wrong stride looks like."""
    if packed is None:
        return []
    problems, times = group_times(packed, stride)
    if isinstance(packed, list) and not set(map(type, packed)) <= {int}:
        return [*problems, "holds values that are not integers"]
    if times and not -OFFSET <= min(times) <= max(times) <= LATEST:
        problems.append("holds times that are no Keepa minutes")
    if not all(map(lt, times, islice(times, 1, None))):
        problems.append("times do not increase")
    return problems


def read_series(packed: Any, kind: CsvType | int) -> Series:
    """Split a packed array by the stride of its type. Never raises: what cannot be read is left out and named."""
    t = csv_type(kind) if isinstance(kind, int) else kind
    problems = tuple(packed_problems(packed, t.stride))
    if not isinstance(packed, list):
        return Series(t, problems=problems)
    ignored = len(packed) % t.stride
    whole = packed[: len(packed) - ignored] if ignored else packed
    if problems:
        whole = _repaired(whole, t.stride)
    shipping = whole[2::3] if t.stride == 3 else []
    return Series(t, whole[:: t.stride], whole[1 :: t.stride], shipping, ignored, problems)


def _repaired(whole: list[Any], stride: int) -> list[int]:
    """The groups that hold usable integers, by time; of several at one time the last stays."""
    groups: dict[int, list[int]] = {}
    for i in range(0, len(whole), stride):
        group = whole[i : i + stride]
        if all(type(n) is int for n in group) and -OFFSET <= group[0] <= LATEST:
            groups[group[0]] = group
    return [n for time in sorted(groups) for n in groups[time]]


def state_of(value: int, kind: SeriesKind) -> str:
    """What a raw value says: a number, no offer at that time, or nothing."""
    if value >= 0 or kind is SeriesKind.META:
        return OK
    return OUT_OF_STOCK if value == -1 and kind is SeriesKind.PRICE else UNKNOWN


def fact(t: CsvType, domain: Domain, value: int, shipping: int | None = None) -> dict[str, Any]:
    """One raw value with its state and unit; what is not known is None, never a sentinel."""
    state = state_of(value, t.kind)
    if not t.is_price:
        return {"state": state, "value": plain(t, domain, value)}
    found: dict[str, Any] = {"state": state, "price": amount(value, domain), "currency": domain.currency}
    if shipping is not None:
        known = state == OK and shipping >= 0
        found["shipping_state"] = OK if known else UNKNOWN if state == OK else state
        found["shipping"] = amount(shipping, domain) if known else None
        found["total"] = amount(value + shipping, domain) if known else None
    return found


def plain(t: CsvType, domain: Domain, value: int) -> Any:
    """A raw value as plain data: text for money and ratings, numbers for ranks and counts, None for sentinels."""
    if t.is_price:
        return amount(value, domain)
    if t.kind is SeriesKind.SCORE:
        return tenths(value)
    if t.kind is SeriesKind.META:
        return {"offers_fetched": abs(value), "complete": value >= 0}
    return value if value >= 0 else None


def decode(packed: Any, kind: CsvType | int, domain: Domain) -> dict[str, Any]:
    """`{name, points, ignored_trailing_values}`; each point is a `fact` with the time `at` of the change."""
    series = read_series(packed, kind)
    return {
        "name": series.type.name,
        "points": list(points(series, domain)),
        "ignored_trailing_values": series.ignored,
    }


def points(series: Series, domain: Domain) -> Iterator[dict[str, Any]]:
    """The points as facts, oldest first."""
    t = series.type
    if series.shipping:
        for at, value, shipping in zip(series.times, series.values, series.shipping, strict=True):
            yield {"at": iso(at), **fact(t, domain, value, shipping)}
        return
    for at, value in zip(series.times, series.values, strict=True):
        yield {"at": iso(at), **fact(t, domain, value)}


def value_at(series: Series, minute: int, domain: Domain) -> dict[str, Any]:
    """The fact in force at `minute`; `no_data` before the first point, never a guess."""
    i = series.index_at(minute)
    if i < 0:
        return {"state": NO_DATA}
    return fact(series.type, domain, series.values[i], series.shipping[i] if series.shipping else None)


ITEM, EXCLUDED, INCLUDED = BASES = ("item", "excl_shipping", "incl_shipping")
"""What a price can include; the first has no shipping to speak of."""


def basis(t: CsvType, minute: int) -> str:
    """Whether a price of this type and time is the item price or includes shipping (Keepa changed it in 2026)."""
    if t.index in LANDING_LATER:
        return EXCLUDED if minute < ITEM_PRICE_UNTIL else INCLUDED
    return INCLUDED if t.stride == 3 else ITEM

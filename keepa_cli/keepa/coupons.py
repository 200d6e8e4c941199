"""Coupons of a product: what holds now and what held before. Source: keepa-api.md §4.4. Never raises on odd data.

A coupon is [one time, subscribe and save]; a positive number is an amount, a negative one a percentage, 0 is none.
Its history is triples (time, one time, subscribe); the history of an offer's coupon is pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keepa_cli.keepa.clock import iso
from keepa_cli.keepa.csvtypes import CSV_TYPES
from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.money import money
from keepa_cli.keepa.series import read_series

KINDS = ("one_time", "subscribe")
_TRIPLES = next(t for t in CSV_TYPES if t.stride == 3)
"""Any type with triples: the history of coupons is laid out like it."""

Event = tuple[int, int, int]
"""(minute, one time, subscribe)"""


def coupon(value: Any, domain: Domain) -> dict[str, Any] | None:
    """`{kind: amount, raw, amount, currency, formatted}` or `{kind: percent, percent}`; None for none."""
    if type(value) is not int or value == 0:
        return None
    if value < 0:
        return {"kind": "percent", "percent": -value}
    return {"kind": "amount", **money(value, domain)}


def both(value: Any, domain: Domain) -> dict[str, Any]:
    """`{one_time, subscribe}` of the `coupon` of a product; None for each that there is not."""
    pair = value if isinstance(value, list) else []
    return {name: coupon(pair[i] if i < len(pair) else None, domain) for i, name in enumerate(KINDS)}


def events(history: Any) -> list[Event]:
    """Every change of a product's coupons in time order; an incomplete last group is left out."""
    found = read_series(history, _TRIPLES)
    return list(zip(found.times, found.values, found.shipping, strict=True))


def periods(changes: list[Event]) -> Iterator[tuple[Event, int | None]]:
    """Every stretch with a coupon: the event that began it, and when it ended; None while it lasts."""
    for i, event in enumerate(changes):
        if event[1] or event[2]:
            yield event, changes[i + 1][0] if i + 1 < len(changes) else None


def decode(value: Any, history: Any, domain: Domain) -> dict[str, Any]:
    """`{one_time, subscribe, history}`; the history as `{at, one_time, subscribe}`, oldest first."""
    return {
        **both(value, domain),
        "history": [
            {"at": iso(at), "one_time": coupon(once, domain), "subscribe": coupon(subscribe, domain)}
            for at, once, subscribe in events(history)
        ],
    }

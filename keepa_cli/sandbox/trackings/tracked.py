"""One tracking: how it is made, kept and shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.keepa import tracking as rules
from keepa_cli.keepa.csvtypes import csv_type
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.sandbox.catalogue.history import UNIT_PRICE
from keepa_cli.sandbox.catalogue.traits import ASIN, INVALID, product_type

DEFAULTS: Mapping[str, Any] = {
    "expireNotify": False,
    "individualNotificationInterval": -1,
    "metaData": None,
    "notificationType": [False, False, False, False, False, True, False],
    "notifyIf": [],
    "thresholdValues": [],
    "ttl": 17_520,
    "updateInterval": 1,
}
HOUR = 60


@dataclass
class Memory:
    """What one threshold or state saw last, and when and at which value it was told about."""

    met: bool = False
    value: int = -1
    told_at: int | None = None
    told: int = -1


@dataclass
class Tracked:
    """`item` is what was given, canonical and complete; times are Keepa minutes."""

    item: dict[str, Any]
    list_name: str | None
    created: int
    expires: int | None
    checked: int | None = None
    thresholds: list[Memory] = field(default_factory=list)
    states: list[Memory] = field(default_factory=list)
    history: list[int] = field(default_factory=list)
    """`notificationCSV`: marketplace, type, way, cause and minute of each notification."""
    values: list[list[int]] = field(default_factory=list)
    """`thresholdValueCSV` of each threshold."""

    @property
    def asin(self) -> str:
        return str(self.item["asin"])

    @property
    def step(self) -> int:
        """Minutes between two checks."""
        return _step(self.item)

    def due(self, now: int) -> Iterator[int]:
        """The checks since the last one; of a long pause only the last two days."""
        last = self.created + (now - self.created) // self.step * self.step
        first = self.created if self.checked is None else self.checked + self.step
        first = max(first, last - max(2 * 24 * HOUR // self.step, 1) * self.step) if first < last else first
        yield from range(first, last + 1, self.step)

    def shown(self) -> dict[str, Any]:
        """The Tracking object."""
        thresholds = [
            {**{n: v for n, v in one.items() if n != "thresholdValue"}, "thresholdValueCSV": csv}
            for one, csv in zip(self.item["thresholdValues"], self.values, strict=True)
        ]
        kept = {n: v for n, v in self.item.items() if n != "desiredPricesInMainCurrency"}
        own = {"createDate": self.created, "isActive": True, "notificationCSV": self.history}
        return kept | own | {"thresholdValues": thresholds, "trackingListName": self.list_name}


def made(given: Any, list_name: str | None, before: Tracked | None, now: int) -> Tracked | None:
    """A tracking from a creation object, None when Keepa would not take it. `before` is what it overwrites."""
    item = _canonical(given)
    if item is None:
        return None
    created, expires = now, now + item["ttl"] * HOUR if item["ttl"] > 0 else None
    if item["ttl"] < 0 and before is not None:
        item["ttl"], created, expires = before.item["ttl"], before.created, before.expires
    elif item["ttl"] < 0:
        item["ttl"] = -item["ttl"]
        expires = now + item["ttl"] * HOUR
    found = Tracked(
        item, list_name, created, expires, checked=now - _offset(created, now, item) if created < now else None
    )
    found.thresholds = [Memory() for _ in item["thresholdValues"]]
    found.states = [Memory() for _ in item["notifyIf"]]
    found.history = before.history if before else []
    found.values = [_value_history(one, before, now) for one in item["thresholdValues"]]
    return found


def _offset(created: int, now: int, item: Mapping[str, Any]) -> int:
    """Minutes since the last regular check, plus one step, so that the next look is made at once."""
    return (now - created) % _step(item) + _step(item)


def _step(item: Mapping[str, Any]) -> int:
    return max(1, int(item["updateInterval"])) * HOUR


def _canonical(given: Any) -> dict[str, Any] | None:
    if not isinstance(given, Mapping):
        return None
    asin = given.get("asin")
    if not isinstance(asin, str) or not ASIN.fullmatch(asin) or product_type(asin) == INVALID:
        return None
    checked = rules.check(_known(given, rules.FIELDS))
    if checked.item is None:
        return None
    item = {**DEFAULTS, **{name: value for name, value in checked.item.items() if value is not None}}
    if not item.pop("desiredPricesInMainCurrency", True):
        for one in item["thresholdValues"]:
            if csv_type(one["csvType"]).is_price:
                one["thresholdValue"] = in_currency_of(item["mainDomainId"], one["thresholdValue"], one["domain"])
    return item


def _known(given: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Without nulls and without fields that nobody knows."""
    inner = {"thresholdValues": rules.THRESHOLD, "notifyIf": rules.NOTIFY}
    found: dict[str, Any] = {}
    for name, value in given.items():
        if value is None or name not in fields:
            continue
        if name in inner and isinstance(value, list):
            found[name] = [_known(v, inner[name]) if isinstance(v, Mapping) else v for v in value]
        else:
            found[name] = value
    return found


def _value_history(one: Mapping[str, Any], before: Tracked | None, now: int) -> list[int]:
    """The value of a threshold, after those that the overwritten tracking had for the same."""
    same = ("domain", "csvType", "isDrop")
    old: list[int] = []
    for known, csv in zip(before.item["thresholdValues"], before.values, strict=True) if before else ():
        if all(known[name] == one[name] for name in same):
            old = csv
    return old if old and old[-1] == one["thresholdValue"] else [*old, now, one["thresholdValue"]]


def in_currency_of(target: int, amount: int, source: int) -> int:
    """An amount of one marketplace in the smallest unit of another, by the fixed rates of the invented shop."""
    units = [UNIT_PRICE.get(DOMAINS[d].currency, 1.0) for d in (target, source)]
    return amount if units[0] == units[1] else int(amount * units[0] / units[1])

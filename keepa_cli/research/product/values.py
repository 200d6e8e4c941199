"""The values of a product that hold now, as facts: amounts, numbers, their time and where they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keepa_cli.keepa.clock import field_time, iso
from keepa_cli.keepa.csvtypes import BY_NAME, CsvType
from keepa_cli.keepa.money import money
from keepa_cli.keepa.series import basis
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.subject import Subject

_ALWAYS_KNOWN = frozenset({0, 1, 2, 3})
"""Types that Keepa tracks for every product: no value means that there is none."""


@dataclass(frozen=True)
class Current:
    """The raw value in force now, its shipping (triples), when it came into force (not told by `stats`), its path."""

    value: int
    shipping: int | None
    at: int | None
    path: str

    @property
    def landed(self) -> int:
        """With shipping where both are known, as Keepa's statistics count it."""
        return self.value + self.shipping if self.value >= 0 and (self.shipping or 0) > 0 else self.value  # type: ignore[operator]


def current(s: Subject, which: str) -> Current | None:
    """From the history, else from `stats.current`; None without a value, or where the value says "none"."""
    t = BY_NAME[which]
    key = ("current", t.index)
    if key not in s.known:
        s.known[key] = _current(s, t)
    found: Current | None = s.known[key]
    return found


def _current(s: Subject, t: CsvType) -> Current | None:
    i = s.newest(t)
    if i >= 0:
        series = s.series(t)
        if series.values[i] < 0:
            return None
        shipping = series.shipping[i] if series.shipping else None
        return Current(series.values[i], shipping, series.times[i], s.at("csv", t.index))
    value = slot(s.stats.get("current"), t.index)
    if type(value) is not int or value < 0:
        return None
    return Current(value, None, None, s.at("stats", "current", t.index))


def why_none(s: Subject, which: str) -> Reason:
    """Why `current` is None."""
    t = BY_NAME[which]
    if s.asked.history or not s.asked.opens(t) or type(slot(s.stats.get("current"), t.index)) is not int:
        return s.why_no(t)
    return Reason.NONE if t.index in _ALWAYS_KNOWN else Reason.NOT_COLLECTED


def price(s: Subject, which: str) -> Section | None:
    """A price with its currency, time, evidence and what it includes; triples tell the item and the shipping apart."""
    found = current(s, which)
    if found is None:
        return None
    t = BY_NAME[which]
    fact = priced(s, found.landed, found.at, found.path)
    fact["basis"] = _basis(s, t, found)
    if found.shipping is not None:
        fact["item_price"] = money(found.value, s.domain)
        known = money(found.shipping, s.domain) if found.shipping >= 0 else None
        fact.put("shipping", known, Reason.NOT_COLLECTED)
    return fact


def priced(s: Subject, raw: int, at: int | None, path: str) -> Section:
    """`{raw, amount, currency, formatted, at, evidence_path}`; only histories tell the time."""
    fact = Section(money(raw, s.domain))
    fact.put("at", None if at is None else iso(at), Reason.NOT_REQUESTED)
    fact["evidence_path"] = path
    return fact


def number(s: Subject, which: str) -> Section | None:
    """A rank or a count: `{value, at, evidence_path}`."""
    found = current(s, which)
    if found is None:
        return None
    fact = Section(value=found.value)
    fact.put("at", None if found.at is None else iso(found.at), Reason.NOT_REQUESTED)
    fact["evidence_path"] = found.path
    return fact


def _basis(s: Subject, t: CsvType, found: Current) -> str:
    """What the price includes: the value in force means what Keepa meant when it looked last."""
    if found.shipping is not None and found.shipping < 0:
        return "excl_shipping"
    updated = s.product.get("lastUpdate")
    seen = min(updated, s.now) if type(updated) is int and updated > 0 else 0
    return basis(t, max(seen, found.at or 0) or s.now)


def slot(values: Any, index: int) -> Any:
    return values[index] if isinstance(values, list) and index < len(values) else None


def text(product: Mapping[str, Any], name: str) -> str | None:
    """A text that says something; empty text and what is no text is None."""
    found = product.get(name)
    return found if isinstance(found, str) and found.strip() else None


def positive(product: Mapping[str, Any], name: str) -> int | None:
    """A whole number above 0: Keepa writes 0 or -1 where it does not know."""
    found = product.get(name)
    return found if type(found) is int and found > 0 else None


def boolean(product: Mapping[str, Any], name: str) -> bool | None:
    found = product.get(name)
    return found if isinstance(found, bool) else None


def moment(product: Mapping[str, Any], name: str) -> str | None:
    return field_time(product.get(name))


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def rows(value: Any) -> list[Mapping[str, Any]]:
    return [v for v in listed(value) if isinstance(v, Mapping)]


def shortened(value: str, limit: int) -> tuple[str, bool]:
    """At most `limit` characters, and whether something was cut; a cut ends in an ellipsis."""
    return (value, False) if len(value) <= limit else (value[: limit - 1].rstrip() + "…", True)

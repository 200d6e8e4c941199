"""Trackings: what Keepa takes when one is made, and what its answers say (source: keepa-api.md §5.14, §6.12)."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.keepa import domains
from keepa_cli.keepa.asin import parse_asin
from keepa_cli.keepa.csvtypes import CSV_TYPES

MAX_ITEMS = 1000
MAX_META = 500
MAX_LIST_NAME = 64
REGULAR = frozenset({0, 1, 2, 3, 4, 5, 6, 8, 11, 12, 13, 14, 34, 35})
"""Price types of a regular tracking: any other makes it a marketplace tracking, ten times as dear."""
REGULAR_RATE, MARKETPLACE_RATE = 0.9, 9.0
"""Tokens that one update of one marketplace takes off the refill."""
VIA_API = 5
"""The only way of `notificationType` that the API serves."""
INTERVALS, ODD_INTERVALS = (1, 24), frozenset({0, 25})
_DEFAULT_INTERVAL = 1
_BIG = 2**31 - 1


@dataclass
class Checked:
    """One element of what was given: `item` as it is sent, None when `problems` say why it is not."""

    index: int
    asin: str | None
    item: dict[str, Any] | None = None
    problems: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class _Bad(ValueError):
    """A value that Keepa would refuse; the text says why."""


def check_all(items: Sequence[Any], domain: int | None = None) -> list[Checked]:
    """Every element checked for itself; `domain` is the main marketplace of those that name none."""
    found: list[Checked] = []
    first: dict[str, int] = {}
    for index, given in enumerate(items):
        one = check(given, index, domain)
        if one.asin is not None and one.asin in first:
            one.problems.append(_problem("asin", one.asin, f"{one.asin} stands at {first[one.asin]} already"))
            one.item = None
        elif one.asin is not None:
            first[one.asin] = index
        found.append(one)
    return found


def check(given: Any, index: int = 0, domain: int | None = None) -> Checked:
    """One tracking: canonical, or its problems by field."""
    if not isinstance(given, Mapping):
        return Checked(index, None, problems=[_problem(None, None, f"it is {_kind(given)}, not an object")])
    found = Checked(index, None)
    item: dict[str, Any] = {}
    for name, value in given.items():
        target = "mainDomainId" if name == "domain" else name
        if target in item:
            found.problems.append(_problem(name, value, "domain and mainDomainId are the same"))
        elif target in FIELDS:
            _take(found, item, target, value)
        else:
            found.problems.append(_unknown(name, FIELDS, "a tracking"))
    if domain is not None and "mainDomainId" not in given and "domain" not in given:
        item["mainDomainId"] = domain
    _lacking(found, given, item)
    _notes(found, item)
    found.item = None if found.problems else {name: item[name] for name in FIELDS if name in item}
    return found


def _take(found: Checked, item: dict[str, Any], name: str, value: Any) -> None:
    try:
        item[name] = FIELDS[name](value)
    except (_Bad, KeepaCliError) as error:
        message = error.message.rstrip(".") if isinstance(error, KeepaCliError) else str(error)
        found.problems.append(_problem(name, value, message))
    if name == "asin":
        found.asin = item.get("asin")


def _lacking(found: Checked, given: Mapping[str, Any], item: Mapping[str, Any]) -> None:
    if "asin" not in given:
        found.problems.append(_problem("asin", None, "asin is missing"))
    if "mainDomainId" not in item and "mainDomainId" not in given and "domain" not in given:
        found.problems.append(_problem("mainDomainId", None, "mainDomainId is missing; or give --domain for all"))


def _notes(found: Checked, item: Mapping[str, Any]) -> None:
    if item.get("updateInterval") in ODD_INTERVALS:
        found.warnings.append(f"updateInterval {item['updateInterval']} is outside the documented 1-24 hours")
    if not item.get("thresholdValues") and not item.get("notifyIf"):
        found.warnings.append("without thresholdValues and notifyIf nothing will ever be notified")
    ways = item.get("notificationType")
    if ways is not None and (ways[VIA_API : VIA_API + 1] != [True] or sum(ways) != 1):
        found.warnings.append("only way 5 (API) of notificationType works")


def _threshold(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping) and "thresholdValueCSV" in value:
        raise _Bad("thresholdValueCSV belongs to answers; write the price as thresholdValue")
    return _object(value, THRESHOLD, ("domain", "csvType", "isDrop", "thresholdValue"))


def _notify(value: Any) -> dict[str, Any]:
    return _object(value, NOTIFY, ("domain", "csvType", "notifyIfType"))


def _object(value: Any, known: Mapping[str, Callable[[Any], Any]], required: Sequence[str]) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _Bad(f"must be an object, not {_kind(value)}")
    for name in value:
        if name not in known:
            raise _Bad(_unknown(name, known, "it")["message"])
    lacking = [name for name in required if name not in value]
    if lacking:
        raise _Bad(f"{lacking[0]} is missing")
    found = {}
    for name in known:
        if name in value:
            try:
                found[name] = known[name](value[name])
            except (_Bad, KeepaCliError) as error:
                raise _Bad(f"{name}: {getattr(error, 'message', None) or error}".rstrip(".")) from None
    return found


def _many(each: Callable[[Any], Any]) -> Callable[[Any], list[Any] | None]:
    def check(value: Any) -> list[Any] | None:
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise _Bad(f"must be a list, not {_kind(value)}")
        found = []
        for index, one in enumerate(value):
            try:
                found.append(each(one))
            except _Bad as error:
                raise _Bad(f"[{index}] {error}") from None
        return found

    return check


def _whole(least: int, most: int = _BIG) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise _Bad(f"must be a whole number, not {_kind(value)}")
        if not least <= value <= most:
            few = f"not within {least} to {most}" if most < _BIG else f"below {least}"
            raise _Bad(f"{value} is {few if value <= _BIG else 'too great'}")
        return value

    return check


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Bad(f"must be true or false, not {_kind(value)}")
    return value


def _domain(value: Any) -> int:
    return domains.resolve(value).id


def _interval(value: Any) -> int:
    number = _whole(-_BIG)(value)
    if not INTERVALS[0] <= number <= INTERVALS[1] and number not in ODD_INTERVALS:
        raise _Bad(f"{number} is not within 1 to 24 hours")
    return number


def _meta(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise _Bad(f"must be text, not {_kind(value)}")
    if value and len(value) > MAX_META:
        raise _Bad(f"has {len(value)} characters; at most {MAX_META} are kept")
    return value


def _ways(value: Any) -> list[Any] | None:
    found = _many(_boolean)(value)
    if found is not None and len(found) not in {7, 8}:
        raise _Bad(f"has {len(found)} switches, not 7")
    return found


_csv_type = _whole(0, len(CSV_TYPES) - 1)
THRESHOLD: Mapping[str, Callable[[Any], Any]] = {
    "thresholdValue": _whole(0),
    "domain": _domain,
    "csvType": _csv_type,
    "isDrop": _boolean,
    "minDeltaAbsolute": _whole(0),
    "minDeltaPercentage": _whole(0, 10_000),
    "deltasAreBetweenNotifications": _boolean,
}
NOTIFY: Mapping[str, Callable[[Any], Any]] = {"domain": _domain, "csvType": _csv_type, "notifyIfType": _whole(0, 1)}
FIELDS: Mapping[str, Callable[[Any], Any]] = {
    "asin": parse_asin,
    "ttl": _whole(-_BIG),
    "expireNotify": _boolean,
    "desiredPricesInMainCurrency": _boolean,
    "mainDomainId": _domain,
    "updateInterval": _interval,
    "metaData": _meta,
    "thresholdValues": _many(_threshold),
    "notifyIf": _many(_notify),
    "notificationType": _ways,
    "individualNotificationInterval": _whole(-1),
}
"""What a tracking is made of, in the order it is sent."""


def _unknown(name: str, known: Mapping[str, Any], where: str) -> dict[str, Any]:
    close = difflib.get_close_matches(str(name), list(known), n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    return _problem(str(name)[:80], None, f"{str(name)[:80]!r} is no field of {where}{hint}") | {"allowed": list(known)}


def _problem(name: str | None, value: Any, message: str) -> dict[str, Any]:
    text = f"{name}: {message}" if name and not message.startswith(("'", name)) else message
    shown = value if isinstance(value, str | int | float | bool | None) else None
    return {"field": name, "message": text, "value": shown[:80] if isinstance(shown, str) else shown}


def _kind(value: Any) -> str:
    names = {type(None): "null", bool: "a boolean", str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")


def types_of(item: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """(domain, price type) of everything that a tracking watches."""
    for name in ("thresholdValues", "notifyIf"):
        watched = item.get(name)
        for one in watched if isinstance(watched, list) else ():
            domain, csv_type = (one.get("domain"), one.get("csvType")) if isinstance(one, Mapping) else (None, None)
            if isinstance(domain, int) and isinstance(csv_type, int):
                yield domain, csv_type


def is_marketplace(item: Mapping[str, Any]) -> bool:
    return any(csv_type not in REGULAR for _, csv_type in types_of(item))


def flow(item: Mapping[str, Any]) -> float:
    """Tokens per minute that a tracking takes off the refill; Keepa rounds the sum of all to a whole number."""
    rate = MARKETPLACE_RATE if is_marketplace(item) else REGULAR_RATE
    watched = {domain for domain, _ in types_of(item)}
    hours = item.get("updateInterval") or _DEFAULT_INTERVAL
    return rate * (len(watched) or 1) / hours / 60

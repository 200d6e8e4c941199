"""Trackings and notifications as rows that people and agents read. Never raises on odd data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.clock import as_minute, field_time, iso
from keepa_cli.keepa.csvtypes import csv_type
from keepa_cli.keepa.domains import DOMAINS, Domain
from keepa_cli.keepa.series import plain
from keepa_cli.keepa.tracking import is_marketplace

CAUSES = {
    0: "expired",
    1: "desired_price",
    2: "price_change",
    3: "price_change_after_desired_price",
    4: "out_of_stock",
    5: "in_stock",
    6: "desired_price_again",
}
NOTIFY_IF = {0: "out of stock", 1: "back in stock"}


def tracking_row(raw: Mapping[str, Any]) -> dict[str, Any]:
    """One tracking: when it ends, what it watches, and whether it is one of the dear ones."""
    main = DOMAINS.get(_number(raw.get("mainDomainId")))
    ttl, created = _number(raw.get("ttl")), as_minute(raw.get("createDate"))
    ends = iso(created + 60 * ttl) if created and 0 < ttl < 1_000_000 else None
    return {
        "asin": raw.get("asin"),
        "active": raw.get("isActive"),
        "list": raw.get("trackingListName"),
        "domain": main.code if main else None,
        "kind": "marketplace" if is_marketplace(raw) else "regular",
        "interval_hours": raw.get("updateInterval"),
        "created": field_time(created),
        "ends": ends,
        "watches": [*_thresholds(raw, main), *_conditions(raw)],
        "meta": raw.get("metaData"),
    }


def _thresholds(raw: Mapping[str, Any], main: Domain | None) -> list[str]:
    return [
        f"{_where(t)} {'falls' if t.get('isDrop') else 'rises'} to {_goal(t, main)}"
        for t in _rows(raw.get("thresholdValues"))
    ]


def _conditions(raw: Mapping[str, Any]) -> list[str]:
    return [
        f"{_where(c)} {NOTIFY_IF.get(_number(c.get('notifyIfType')), 'changes')}" for c in _rows(raw.get("notifyIf"))
    ]


def _goal(threshold: Mapping[str, Any], main: Domain | None) -> str:
    value, history = threshold.get("thresholdValue"), threshold.get("thresholdValueCSV")
    if isinstance(history, list) and history:
        value = history[-1]
    return str(_value(value, _number(threshold.get("csvType")), main))


def _where(watched: Mapping[str, Any]) -> str:
    domain = DOMAINS.get(_number(watched.get("domain")))
    return f"{domain.code if domain else '?'} {csv_type(_number(watched.get('csvType'))).name}"


def notification_row(raw: Mapping[str, Any]) -> dict[str, Any]:
    """One notification: what happened, where, and the value that set it off."""
    index = _number(raw.get("csvType"))
    place = DOMAINS.get(_number(raw.get("notificationDomainId"))) or DOMAINS.get(_number(raw.get("domainId")))
    prices = raw.get("currentPrices")
    value = prices[index] if isinstance(prices, list) and 0 <= index < len(prices) else None
    cause = _number(raw.get("trackingNotificationCause"))
    return {
        "asin": raw.get("asin"),
        "title": raw.get("title"),
        "cause": CAUSES.get(cause, f"cause_{cause}"),
        "type": csv_type(index).name,
        "domain": place.code if place else None,
        "value": _value(value, index, place),
        "created": field_time(raw.get("createDate")),
        "list": raw.get("trackingListName"),
        "meta": raw.get("metaData"),
        "id": raw.get("notificationId"),
    }


def _value(value: Any, index: int, domain: Domain | None) -> Any:
    if not isinstance(value, int) or isinstance(value, bool) or domain is None:
        return value
    found = plain(csv_type(index), domain, value)
    return f"{found} {domain.currency}" if csv_type(index).is_price and found is not None else found


def _rows(value: Any) -> list[Mapping[str, Any]]:
    return [v for v in value if isinstance(v, Mapping)] if isinstance(value, list) else []


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1

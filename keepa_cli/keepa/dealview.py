"""From a deal of /deal to named facts. Source: keepa-api.md §6.9. Never raises on odd data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.clock import field_time
from keepa_cli.keepa.csvtypes import SeriesKind, csv_type
from keepa_cli.keepa.deals import DATE_RANGES
from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.money import amount
from keepa_cli.keepa.selection import LONG_MAX
from keepa_cli.keepa.series import plain

IMAGES = "https://m.media-amazon.com/images/I/"
NO_DATA = -2
CONDITIONS: Mapping[int, str] = {2: "like_new", 3: "very_good", 4: "good", 5: "acceptable"}


def decode_deal(deal: Any, domain: Domain) -> dict[str, Any]:
    """One deal with values by the name of their price type: money as text, times as ISO text, missing as None.

    `delta` and `delta_percent` are by interval and positive where the value fell below its average: cheaper.
    The average of the interval `day` covers 48 hours.
    """
    if not isinstance(deal, Mapping):
        return {}
    return {
        "asin": deal.get("asin"),
        "title": deal.get("title"),
        "parent_asin": deal.get("parentAsin"),
        "root_category": category_id(deal.get("rootCat")),
        "categories": [c for c in map(category_id, _list(deal.get("categories"))) if c is not None],
        "image": image_name(deal.get("image")),
        "currency": domain.currency,
        "current": {n: plain(csv_type(i), domain, v) for i, n, v in _slots(deal.get("current"))},
        "current_since": {n: field_time(v) for _, n, v in _slots(deal.get("currentSince"))},
        "avg": _intervals(deal.get("avg"), lambda i, v: plain(csv_type(i), domain, v)),
        "delta": _intervals(deal.get("delta"), lambda i, v: change(i, v, domain)),
        "delta_percent": _intervals(deal.get("deltaPercent"), lambda _, v: v),
        "delta_last": {n: change(i, v, domain) for i, n, v in _slots(deal.get("deltaLast"))},
        "created_at": field_time(deal.get("creationDate")),
        "updated_at": field_time(deal.get("lastUpdate")),
        "lightning_end": field_time(deal.get("lightningEnd")),
        "warehouse_condition": CONDITIONS.get(_whole(deal.get("warehouseCondition"))),
        "warehouse_condition_comment": deal.get("warehouseConditionComment"),
    }


def deal_row(deal: Any, domain: Domain, index: int, interval: str) -> dict[str, Any]:
    """The facts about the price type and interval that were asked for, for a table."""
    known = decode_deal(deal, domain)
    name = csv_type(index).name
    return {
        "asin": known.get("asin"),
        "current": known.get("current", {}).get(name),
        "avg": known.get("avg", {}).get(interval, {}).get(name),
        "delta": known.get("delta", {}).get(interval, {}).get(name),
        "delta_percent": known.get("delta_percent", {}).get(interval, {}).get(name),
        "since": known.get("current_since", {}).get(name),
        "root_category": known.get("root_category"),
        "title": known.get("title"),
    }


def category_id(value: Any) -> int | None:
    """A category id; None for 0 and for the number that stands for an unknown category."""
    return value if _whole(value) not in {-1, 0, LONG_MAX} else None


def image_name(codes: Any) -> str | None:
    """The file name of a picture, which deals hold as character codes; a name given as text stays."""
    if isinstance(codes, str):
        return codes or None
    usable = isinstance(codes, list) and codes and all(32 <= _whole(c) < 127 for c in codes)
    return "".join(map(chr, codes)) if usable else None


def change(index: int, value: int, domain: Domain) -> Any:
    """A difference with its sign: text for money and for ratings in tenths, a number for ranks and counts."""
    kind = csv_type(index).kind
    sign = "-" if value < 0 else ""
    if kind is SeriesKind.PRICE:
        return sign + (amount(abs(value), domain) or "")
    return f"{sign}{abs(value) // 10}.{abs(value) % 10}" if kind is SeriesKind.SCORE else value


def by_interval(table: Any) -> list[list[Any]]:
    """`avg`, `delta` or `deltaPercent` as one row per interval. One row per type, as an old client's comments have it,
    is recognised by its shape."""
    rows = [_list(row) for row in _list(table)]
    if len(rows) > len(DATE_RANGES) and all(len(row) <= len(DATE_RANGES) for row in rows):
        return [[row[i] if i < len(row) else None for row in rows] for i in range(len(DATE_RANGES))]
    return rows


def _intervals(table: Any, read: Any) -> dict[str, dict[str, Any]]:
    """Values by interval and type."""
    return {
        interval: {n: None if v == NO_DATA else read(i, v) for i, n, v in _slots(row)}
        for interval, row in zip(DATE_RANGES, by_interval(table), strict=False)
    }


def _slots(values: Any) -> list[tuple[int, str, int]]:
    """(index, type name, number) of every slot that holds an integer."""
    return [(i, csv_type(i).name, v) for i, v in enumerate(_list(values)) if type(v) is int]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1

"""Tables of histories: changes over windows, averages and extremes, the newest points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepa_cli.keepa.csvtypes import SeriesKind
from keepa_cli.keepa.domains import Domain
from keepa_cli.research.facts import ABSENT
from keepa_cli.research.history.units import BY_KIND
from keepa_cli.research.names import BY_VIEW_NAME
from keepa_cli.research.reports.texts import label, moment, raw_text, signed, why

TITLES = {
    "new": "New price", "buy_box_shipping": "Buy box price", "amazon": "Amazon's price", "sales_rank": "Sales rank",
    "new_offer_count": "New offers", "review_count": "Ratings", "rating": "Rating", "list_price": "List price",
    "new_fba_offer_count": "New FBA offers", "new_fbm_offer_count": "New FBM offers", "new_fba": "New price, FBA",
    "new_fbm_shipping": "New price, FBM", "used": "Used price", "used_offer_count": "Used offers",
}  # fmt: skip
MOST_POINTS = 10


def title_of(name: str) -> str:
    return TITLES.get(name, label(name))


def changes(features: Mapping[str, Any], domain: Domain) -> dict[str, Any]:
    """`{days, rows}`: for every series its value now, and per window the change and the mean."""
    found = list(_known(features))
    days = sorted({d for _, one in found for d in _windows(one)}, key=_days)
    rows = [
        {
            "series": title_of(name),
            "now": raw_text(one.get("last"), str(one.get("unit")), domain) or "none",
            "cells": [_change(one, d, domain) for d in days],
        }
        for name, one in found
    ]
    return {"days": days, "rows": rows}


def _change(one: Mapping[str, Any], days: str, domain: Domain) -> dict[str, str]:
    window = _windows(one).get(days)
    if not isinstance(window, Mapping):
        absent = _mapping(one.get("windows")).get(ABSENT)
        return {"change": "", "mean": why(absent.get(days) if isinstance(absent, Mapping) else None)}
    return {
        "change": signed(window.get("change_pct")) or "",
        "mean": raw_text(window.get("mean"), str(one.get("unit")), domain) or "",
    }


def averages(stats: Mapping[str, Any], domain: Domain) -> dict[str, Any]:
    """`{days, rows}`: averages, extremes with their times, and the share without an offer, by Keepa's rules."""
    found = list(_known(stats))
    days = sorted({d for _, one in found for d in _mapping(one.get("avg")) if d.isdecimal()}, key=_days)
    rows = []
    for name, one in found:
        unit, average = str(one.get("unit")), _mapping(one.get("avg"))
        rows.append(
            {
                "series": title_of(name),
                "averages": [raw_text(average.get(d), unit, domain) or "none" for d in days],
                "lowest": _extreme(one.get("min"), unit, domain),
                "highest": _extreme(one.get("max"), unit, domain),
                "out_of_stock": _share(_mapping(one.get("out_of_stock_pct")).get("90")),
            }
        )
    return {"days": days, "rows": rows}


def _extreme(value: Any, unit: str, domain: Domain) -> dict[str, str]:
    one = _mapping(value)
    at = one.get("at")
    return {
        "text": raw_text(one.get("value"), unit, domain) or "none",
        "on": at[:10] if isinstance(at, str) and moment(at) else "",
    }


def _share(value: Any) -> str:
    return f"{value} %" if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else ""


def newest(history: Mapping[str, Any], domain: Domain) -> list[dict[str, Any]]:
    """The newest points of every series that the view shows, the newest first."""
    found = []
    for name, one in _known(history):
        points = one.get("newest")
        slot = BY_VIEW_NAME.get(name)
        if not isinstance(points, list) or slot is None:
            continue
        rows = [
            {"at": p[0], "text": raw_text(p[1], _unit(slot.kind), domain) or "none"}
            for p in points[::-1][:MOST_POINTS]
            if isinstance(p, list) and len(p) > 1 and moment(p[0])
        ]
        if rows:
            total = one.get("points")
            found.append({"series": title_of(name), "points": f"{total:,}" if type(total) is int else "", "rows": rows})
    return found


def _unit(kind: SeriesKind) -> str:
    return BY_KIND[kind].name


def _known(part: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    series = _mapping(part.get("series"))
    yield from ((n, one) for n, one in series.items() if isinstance(one, Mapping) and n != ABSENT)


def _windows(one: Mapping[str, Any]) -> Mapping[str, Any]:
    return {d: w for d, w in _mapping(one.get("windows")).items() if isinstance(d, str) and d.isdecimal()}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _days(text: str) -> int:
    return int(text)

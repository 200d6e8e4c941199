"""Where the facts come from: what was asked, how old it is, and where it is shown whole what the raw body holds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from keepa_cli.core.paths import json_type
from keepa_cli.keepa.clock import field_time, iso
from keepa_cli.keepa.csvtypes import CSV_TYPES
from keepa_cli.keepa.decode import product_problems
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.names import name_of
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.values import listed
from keepa_cli.research.subject import Subject

TIMES = {
    "updated_at": "lastUpdate",
    "price_changed_at": "lastPriceChange",
    "rating_updated_at": "lastRatingUpdate",
    "sold_updated_at": "lastSoldUpdate",
}
PROBLEMS_SHOWN = 50


def section(look: Look) -> Section:
    s = look.subject
    found = Section(source="keepa", endpoint="/product", evidence_path=s.path)
    found.put("now_at", iso(s.now) if s.now > 0 else None, Reason.NOT_COLLECTED)
    for name, field in TIMES.items():
        found.put(name, field_time(s.product.get(field)), Reason.NOT_COLLECTED)
    asked = asdict(s.asked)
    found["requested"] = [name for name, was in asked.items() if was]
    found["not_requested"] = [name for name, was in asked.items() if not was]
    found["raw_field_count"] = len(s.product)
    if look.whole:
        found["series"] = _series(s)
        found["raw_fields"] = {name[:80]: _described(value) for name, value in sorted(s.product.items())}
        found["layout_problems"] = product_problems(s.product, s.path)[:PROBLEMS_SHOWN]
    return found


def _series(s: Subject) -> dict[str, Any]:
    """Points of every series that has any; slots beyond the known table are counted."""
    slots = listed(s.product.get("csv"))
    points = {name_of(t): len(s.series(t)) for t in CSV_TYPES if len(s.series(t))}
    return {"points": points, "slots": len(slots), "unknown_slots": max(len(slots) - len(CSV_TYPES), 0)}


def _described(value: Any) -> dict[str, Any]:
    """What stands in a field of the raw body: its JSON type, and how much of it."""
    found: dict[str, Any] = {"type": json_type(value)}
    return found | ({"length": len(value)} if isinstance(value, str | list | dict) else {})

"""Which of several products leads by a figure, and by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.keepa.money import money
from keepa_cli.research.measures import percent

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Figure:
    """A column that products are ordered by."""

    lower_is_better: bool
    unit: str
    member: str = "value"
    """Where the number stands in a column that is an object."""


FIGURES: Mapping[str, Figure] = {
    "buy_box_price": Figure(True, "money", "raw"),
    "new_price": Figure(True, "money", "raw"),
    "price_vs_90d_pct": Figure(True, "percent"),
    "sales_rank": Figure(True, "rank"),
    "monthly_sold": Figure(False, "units, at least"),
    "rating": Figure(False, "stars"),
    "review_count": Figure(False, "ratings"),
    "offer_count": Figure(True, "offers"),
    "data_quality": Figure(False, "share", "completeness"),
}
"""Fewer offers are better: the products are looked at as something to sell."""
LED = ("buy_box_price", "new_price", "price_vs_90d_pct", "sales_rank", "monthly_sold", "rating", "review_count",
       "offer_count")  # fmt: skip


def figure_of(row: Row, name: str) -> float | None:
    """The number in a column; None without one."""
    value = row.get(name)
    while isinstance(value, Mapping):
        value = value.get("value", value.get(FIGURES[name].member))
    if isinstance(value, str):
        return float(value)
    return value if isinstance(value, int | float) else None


def leaders(rows: Sequence[Row]) -> dict[str, Any]:
    """Per figure that two products or more have: `{asin, value, unit, tied_with, next, lead, lead_pct}`.

    Sales ranks are held against each other within the category that most products are ranked in, prices within one
    currency. Of equals the first ASIN in the alphabet is named, the others stand in `tied_with`.
    """
    found = {}
    for name in LED:
        field = sorted(
            (-sign(name) * f, r["asin"], r) for r in _comparable(rows, name) if (f := figure_of(r, name)) is not None
        )
        if len(field) > 1:
            found[name] = _leader(name, [r for _, _, r in field])
    return found


def sign(name: str) -> int:
    return -1 if FIGURES[name].lower_is_better else 1


def _leader(name: str, ranked: Sequence[Row]) -> dict[str, Any]:
    first, value = ranked[0], figure_of(ranked[0], name)
    tied = [r["asin"] for r in ranked[1:] if figure_of(r, name) == value]
    others = ranked[1 + len(tied) :]
    said: dict[str, Any] = {"asin": first["asin"], "value": shown(first[name]), "unit": FIGURES[name].unit}
    if tied:
        said["tied_with"] = tied
    if others and not tied:
        second = figure_of(others[0], name)
        said["next"] = {"asin": others[0]["asin"], "value": shown(others[0][name])}
        if value is not None and second is not None:
            said["lead"] = _lead(first[name], abs(value - second))
            lead = percent(value, second) if name != "price_vs_90d_pct" else None
            if lead is not None:
                said["lead_pct"] = abs(lead)
    return said


def _lead(column: Any, apart: float) -> Any:
    """A distance in the unit of the column: money stays money."""
    if not (isinstance(column, Mapping) and "currency" in column):
        return round(apart, 2)
    domain = next(d for d in DOMAINS.values() if d.currency == column["currency"])
    return money(int(apart), domain)


def shown(value: Any) -> Any:
    """A column as a leader shows it: money whole, of a derived figure the value."""
    return value["value"] if isinstance(value, Mapping) and "method" in value else value


def _comparable(rows: Sequence[Row], name: str) -> list[Row]:
    """The rows whose figures mean the same."""
    known = [r for r in rows if figure_of(r, name) is not None]
    if FIGURES[name].unit == "money":
        return _largest(known, lambda r: r[name]["currency"])
    return _largest(known, lambda r: r.get("rank_category_id") or 0) if name == "sales_rank" else known


def _largest(rows: Sequence[Row], key: Any) -> list[Row]:
    """The rows of the group that most belong to."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return max(groups.items(), key=lambda g: (len(g[1]), str(g[0])))[1] if groups else []


SAID = {"buy_box_price": "cheapest", "new_price": "cheapest", "sales_rank": "best rank", "monthly_sold": "most sold",
        "rating": "best rated"}  # fmt: skip


def one_line_of(rows: Sequence[Row], best: Mapping[str, Any]) -> str:
    """For people: how many products, and who leads by what."""
    parts = [f"{len(rows)} product{'' if len(rows) == 1 else 's'}"]
    if lacking := sum(r["status"] in {"invalid", "not_found"} for r in rows):
        parts.append(f"{lacking} without data")
    for name, word in SAID.items():
        lead = best.get(name)
        if lead and not (word == "cheapest" and any(p.startswith("cheapest") for p in parts)):
            parts.append(_said(name, word, lead))
    return " | ".join(parts)


def _said(name: str, word: str, lead: Mapping[str, Any]) -> str:
    value = lead["value"]
    text = value["formatted"] if isinstance(value, Mapping) else f"{value:,}" if isinstance(value, int) else str(value)
    text += {"monthly_sold": "+/month", "rating": "★"}.get(name, "")
    tied = lead.get("tied_with")
    who = f"{1 + len(tied)} tied" if tied else lead["asin"]
    return f"{word} {who} ({text})"

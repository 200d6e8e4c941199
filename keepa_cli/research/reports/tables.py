"""Tables of a report: products side by side, and business figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keepa_cli.research.business.report import VIEW as BUSINESS_VIEW
from keepa_cli.research.facts import ABSENT
from keepa_cli.research.inputs import unwrapped
from keepa_cli.research.product.values import listed
from keepa_cli.research.reports.cards import rows, section
from keepa_cli.research.reports.texts import label, signed, text_of, why

COLUMNS = {
    "buy_box_price": "Buy box", "new_price": "Lowest new", "price_vs_90d_pct": "Price vs 90-day mean",
    "sales_rank": "Sales rank", "monthly_sold": "Sold a month", "rating": "Rating", "review_count": "Ratings",
    "offer_count": "New offers", "risk_codes": "Risks",
}  # fmt: skip
"""Members of a row of products.compare, and how they are headed."""
MOST_ROWS = 200
Cell = dict[str, str]


def cell(text: str | None, reason: Any = None) -> Cell:
    """A text, or the reason why there is none."""
    return {"text": text, "why": ""} if text else {"text": "", "why": why(reason)}


def comparison(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`{columns, rows}` of two products or more; no columns that none of them has a value in."""
    lines = [_compared(row) for row in found[:MOST_ROWS]]
    names = [n for n in COLUMNS if any(line["cells"][n]["text"] for line in lines)]
    shown = [line | {"cells": [line["cells"][n] for n in names]} for line in lines]
    return {"columns": [COLUMNS[n] for n in names], "rows": shown, "left_out": max(len(found) - MOST_ROWS, 0)}


def _compared(row: Mapping[str, Any]) -> dict[str, Any]:
    absent = section(row, ABSENT)
    cells = {n: cell(_compared_text(n, row.get(n)), absent.get(n)) for n in COLUMNS}
    return {"asin": text_of(row.get("asin")) or "", "title": text_of(row.get("title")) or "", "cells": cells}


def _compared_text(name: str, value: Any) -> str | None:
    if name == "risk_codes":
        codes = [c for c in value if isinstance(c, str)] if isinstance(value, list) else []
        return ", ".join(label(c).lower() for c in codes) or ("none" if isinstance(value, list) else None)
    if name == "price_vs_90d_pct":
        return signed(value.get("value") if isinstance(value, Mapping) else value)
    return text_of(value)


def business(documents: Iterable[tuple[str, Any]]) -> list[dict[str, Any]]:
    """One block for each business analysis among the inputs: its decision, its cautions and its table."""
    found = []
    for name, data in documents:
        view = unwrapped(data)
        if isinstance(view, Mapping) and view.get("view") == BUSINESS_VIEW:
            found.append(_analysis(name, view))
    return found


def _analysis(source: str, view: Mapping[str, Any]) -> dict[str, Any]:
    brief = section(view, "brief")
    shown = list(rows(view.get("products"), MOST_ROWS))
    figures = [_figures(section(p, "metrics")) for p in shown]
    names = list(dict.fromkeys(n for one in figures for n in one))
    return {
        "source": source,
        "title": label(view.get("analysis") or "figures"),
        "decision": text_of(brief.get("decision")) or "",
        "risks": [text for r in listed(brief.get("risk")) if (text := text_of(r))],
        "columns": [label(n) for n in names],
        "rows": [
            {
                "asin": text_of(p.get("asin")) or "",
                "title": text_of(p.get("title")) or "",
                "cells": [one.get(n) or cell(None, "not_applicable") for n in names],
            }
            for p, one in zip(shown, figures, strict=True)
        ],
        "not_rankable": [
            {"asin": text_of(p.get("asin")) or "", "reason": text_of(p.get("reason")) or ""}
            for p in rows(view.get("not_rankable"))
        ],
    }


def _figures(metrics: Mapping[str, Any]) -> dict[str, Cell]:
    """Every figure with a value of its own; of profit, those of the price that counts now."""
    found: dict[str, Cell] = {}
    for name, value in metrics.items():
        if not isinstance(value, Mapping):
            continue
        if "value" in value or "formatted" in value:
            found[name] = cell(text_of(value), section(value, ABSENT).get("value"))
            continue
        current = section(section(value, "scenarios"), "current")
        for member, one in current.items():
            if text := text_of(one):
                found[member.removesuffix("_percent")] = cell(text)
    return found

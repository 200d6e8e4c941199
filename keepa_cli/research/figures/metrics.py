"""Products side by side: one panel of bars per figure, each with its value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepa_cli.research.figures.model import SCHEMA, Figure, heading, values
from keepa_cli.research.figures.text import cut

MOST = 24
"""Products on one figure."""
COLUMNS = 3
PLOT, LABELS = 184, 92
METRICS: Mapping[str, tuple[str, str]] = {
    "buy_box_price": ("Buy box price", ""),
    "new_price": ("New price", ""),
    "price_vs_90d_pct": ("Price against its 90-day mean", "%"),
    "sales_rank": ("Sales rank (less is better)", ""),
    "monthly_sold": ("Sold a month (at least)", ""),
    "review_count": ("Reviews", ""),
    "rating": ("Rating (of 5)", ""),
    "offer_count": ("New offers", ""),
}
"""Members of a row of products.compare, in the order of the panels."""


@dataclass(frozen=True)
class Value:
    """One value: where its bar ends, how it is written, and its currency where it is money."""

    number: float
    text: str
    currency: str = ""


def metrics(rows: Sequence[Mapping[str, Any]], basis: str) -> Figure | str:
    """The comparison, or why there is none."""
    if len(rows) < 2:
        return "A comparison needs at least two products."
    shown = list(rows[:MOST])
    panels = [panel for name in METRICS for panel in _panels(name, shown)]
    if not panels:
        return "None of the products has a figure to compare."
    more = f", the first {MOST} of {len(rows)}" if len(rows) > MOST else ""
    about = f"{len(shown)} products{more}. Each panel has a scale of its own; n/a is not known or not requested."
    spec = {"$schema": SCHEMA, "title": heading("Products compared", about), "columns": COLUMNS, "concat": panels}
    return Figure(
        name="metrics",
        title="Products compared",
        description=f"Prices, rank, demand, reviews and offers of {len(shown)} products as bars.",
        spec=spec | {"spacing": {"row": 22, "column": 16}, "align": "all"},
        data={"rows": [_source(r) for r in shown]},
        data_basis=basis,
        points=sum(read(r.get(n)) is not None for r in shown for n in METRICS),
    )


def read(value: Any) -> Value | None:
    """A member of a row: money, a derived figure, a number or a decimal text; None for what is not known."""
    if isinstance(value, Mapping):
        if "amount" in value:
            found = _number(value["amount"])
            return None if found is None else Value(found, _grouped(value["amount"]), str(value.get("currency") or ""))
        return read(value.get("value"))
    found = _number(value)
    return None if found is None else Value(found, _grouped(value))


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if abs(found) < 1e15 else None


def _grouped(value: Any) -> str:
    """The value as it is written, with thousands apart: no digit is lost or invented."""
    whole, dot, rest = str(value).partition(".")
    return (f"{int(whole):,}" if whole.lstrip("-").isdigit() else whole) + dot + rest


def _source(row: Mapping[str, Any]) -> dict[str, Any]:
    return {k: row[k] for k in ("asin", "title", "status", *METRICS, "absent") if k in row}


def _panels(name: str, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One panel, or one per currency: amounts of different currencies do not share a scale."""
    label, unit = METRICS[name]
    found = [(str(r.get("asin")), read(r.get(name))) for r in rows]
    currencies = sorted({v.currency for _, v in found if v})
    panels = []
    for currency in currencies:
        mine = [(asin, v) for asin, v in found if v is None or v.currency == currency]
        panels.append(_panel(f"{label} ({currency})" if currency else label, mine, unit))
    return panels


def _panel(title: str, found: Sequence[tuple[str, Value | None]], unit: str) -> dict[str, Any]:
    numbers = [v.number for _, v in found if v]
    low, high = min(0.0, *numbers), max(0.0, *numbers)
    span = (high - low) or 1.0
    bars = [
        {"asin": a, "v": v.number, "end": max(v.number, 0.0), "text": f"{v.text} {unit}".strip()} for a, v in found if v
    ]
    unknown = [{"asin": a, "end": 0, "text": "n/a"} for a, v in found if v is None]
    y = {
        "field": "asin", "type": "nominal", "sort": [a for a, _ in found],
        "scale": {"paddingInner": 0.25},
        "axis": {"title": None, "minExtent": LABELS, "maxExtent": LABELS, "ticks": False, "domain": False},
    }  # fmt: skip
    scale = {"domain": [low, high + 0.45 * span], "nice": False}
    x = {"type": "quantitative", "scale": scale, "axis": None}
    text = {"type": "text", "align": "left", "dx": 4, "fontSize": 11, "aria": False}
    layers = [
        _layer(bars, {"type": "bar", "style": "bar", "aria": False}, x | {"field": "v"}),
        _layer(bars, text | {"style": "value"}, x | {"field": "end"}, text={"field": "text"}),
        _layer(unknown, text | {"style": "muted"}, x | {"field": "end"}, text={"field": "text"}),
    ]
    return {
        "title": {"text": cut(title, 34), "fontSize": 12, "offset": 4},
        "width": PLOT,
        "height": {"step": 22},
        "encoding": {"y": y},
        "layer": [layer for layer in layers if layer["data"]["values"]],
    }


def _layer(rows: list[dict[str, Any]], mark: dict[str, Any], x: dict[str, Any], **encoding: Any) -> dict[str, Any]:
    return {"data": values(rows), "mark": mark, "encoding": {"x": x, **encoding}}

"""The history of one product: prices and rank with buy box and stock-outs shaded; offers, rating and reviews."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.money import money
from keepa_cli.research.figures import lines
from keepa_cli.research.figures.model import ROWS, SCHEMA, Figure, Product, heading, values
from keepa_cli.research.figures.panels import AXIS, CLIPPED, LINE, PLOT, Panel, axis, shade, single
from keepa_cli.research.figures.text import cut
from keepa_cli.research.subject import Subject

PRICES: Mapping[str, str] = {"NEW": "New", "AMAZON": "Amazon", "BUY_BOX_SHIPPING": "Buy box"}
"""The price lines by type. The order is that of the colours, the same on every figure."""
WIDTHS = [1.5, 1.8, 3.6]
"""The buy box is the broadest and lies below: it mostly equals another price and shall be seen beside it."""
SIGNALS: Mapping[str, tuple[str, str]] = {
    "COUNT_NEW": ("New offers", ",.0f"),
    "RATING": ("Rating (of 5)", ".1f"),
    "COUNT_REVIEWS": ("Reviews", ",.0f"),
}


def history(product: Product, subject: Subject) -> Figure | str:
    """Prices and rank over all history, or why there is no figure."""
    panel = Panel.of(subject, [*PRICES, "SALES"])
    prices = {label: rows for name, label in PRICES.items() if (rows := panel.lines(name, label))}
    rank = panel.lines("SALES", "Sales rank")
    if not subject.usable or (not prices and not rank):
        return nothing(product, subject, "price and no rank")
    parts = [*_price_panel(panel, prices), *_strip(panel), *_rank_panel(panel, rank)]
    about = f"{product.label}, in {subject.domain.currency}, UTC; the buy box and stock-outs are shaded"
    return Figure(
        name=f"history-{product.key}",
        title=f"Price and rank history of {product.label}",
        description=f"Price and sales rank history of {about}.",
        spec=stacked(heading(cut(product.heading, 88), panel.period(*_lacking(product, panel)), _now(panel)), parts),
        data=panel.source,
        data_basis=product.basis,
        points=panel.points,
    )


def signals(product: Product, subject: Subject) -> Figure | str:
    """Number of offers, rating and reviews over all history, or why there is no figure."""
    panel = Panel.of(subject, [*SIGNALS, "NEW"])
    parts: list[dict[str, Any]] = []
    for name, (label, number) in SIGNALS.items():
        if rows := panel.lines(name, label):
            scale = {"zero": name == "COUNT_NEW", "nice": True}
            y = {"field": "v", "type": "quantitative", "scale": scale, "axis": axis(label, number, tickCount=4)}
            parts.append(single(panel, rows, y, 120, f"signal-{len(parts)}"))
    if not subject.usable or not parts:
        return nothing(product, subject, "offer count, rating or review count")
    lacking = [f"{SIGNALS[n][0]}: {_why(product, panel, n)}" for n in SIGNALS if n not in panel.spans]
    return Figure(
        name=f"signals-{product.key}",
        title=f"Offers, rating and reviews of {product.label}",
        description=f"Number of new offers, rating and reviews of {product.label} over time, in UTC.",
        spec=stacked(heading(cut(product.heading, 88), panel.period(*lacking)), parts),
        data=panel.source,
        data_basis=product.basis,
        points=panel.points,
    )


def nothing(product: Product, subject: Subject, what: str) -> str:
    """Why a product has no history to draw."""
    if not subject.usable:
        return f"Keepa has no data of {product.label}."
    if not subject.asked.history:
        return f"The history of {product.label} is not in the input: ask for it with --full."
    return f"The history of {product.label} has no {what}."


def stacked(title: Mapping[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
    own = {"scale": dict.fromkeys(("color", "fill", "stroke", "strokeWidth"), "independent")}
    return {"$schema": SCHEMA, "title": title, "vconcat": parts, "resolve": own}


def _price_panel(panel: Panel, prices: Mapping[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    if not prices:
        return []
    low, high, peak = lines.common_range([lines.price_range(rows) for rows in prices.values()])
    domain = panel.subject.domain
    number = ",.2f" if domain.digits else ",.0f"
    note = f", peak of {peak:,.{domain.digits}f} cut off" if peak else ""
    scale = {"domain": [low, high], "zero": False, "nice": False}
    y = {"field": "v", "type": "quantitative", "scale": scale, "axis": axis(f"Price ({domain.currency}{note})", number)}
    mark = CLIPPED if peak else LINE
    layers = [*shade(panel, "NEW"), *_buy_box_area(panel, low, y, mark), _step_lines(panel, prices, y, mark)]
    return [{"width": PLOT, "height": 250, "layer": layers}]


def _buy_box_area(panel: Panel, low: float, y: Mapping[str, Any], line: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = panel.lines("BUY_BOX_SHIPPING", "Buy box")
    mark = {**line, "type": "area", "style": "buy-box"}
    encoding = {"x": panel.x, "y": y, "y2": {"datum": low}, "detail": {"field": "run"}}
    return [{"data": values(rows), "mark": mark, "encoding": encoding}] if rows else []


def _step_lines(
    panel: Panel, prices: Mapping[str, list[dict[str, Any]]], y: Mapping[str, Any], line: Mapping[str, Any]
) -> dict[str, Any]:
    names = list(PRICES.values())
    by = {"field": "series", "type": "nominal"}
    color = by | {
        "scale": {"domain": names},
        "legend": {"title": None, "values": list(prices), "symbolType": "stroke"},
    }
    width = by | {"scale": {"domain": names, "range": WIDTHS}, "legend": None}
    order = {"x": panel.x, "y": y, "detail": {"field": "run"}, "color": color, "strokeWidth": width}
    layers = [{"data": values(prices[n]), "mark": line, "encoding": order} for n in reversed(names) if n in prices]
    return {"layer": layers}


def _strip(panel: Panel) -> list[dict[str, Any]]:
    """When each price had an offer: one bar per type, in the colour of its state."""
    shown = {n: label for n, label in PRICES.items() if n in panel.spans}
    rows = [row for n, label in shown.items() for row in lines.availability(panel.series[n], panel.spans[n], label)]
    if not rows:
        return []
    by = {"field": "state", "type": "nominal", "scale": {"domain": list(lines.STATES), "range": "availability"}}
    present = [s for s in lines.STATES if any(r["state"] == s for r in rows)]
    y = {
        "field": "row", "type": "nominal", "sort": list(shown.values()),
        "scale": {"paddingInner": 0.25, "paddingOuter": 0.15},
        "axis": {"title": None, "minExtent": AXIS, "maxExtent": AXIS, "ticks": False, "domain": False},
    }  # fmt: skip
    encoding = {
        "x": panel.bare_x, "x2": {"field": "until"}, "y": y, "stroke": by | {"legend": None},
        "fill": by | {"legend": {"title": None, "values": present, "symbolType": "square"}},
    }  # fmt: skip
    mark = {"type": "rect", "aria": False, "strokeWidth": 1}
    return [{"width": PLOT, "height": 20 * len(shown), "data": values(rows), "mark": mark, "encoding": encoding}]


def _rank_panel(panel: Panel, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ranks on a reversed logarithmic axis: up is better, and the way from 100 to 10 is as far as from 1000 to 100."""
    if not rows:
        return []
    drawn = [r | {"v": max(r["v"], 1)} for r in rows]
    best, worst = min(r["v"] for r in drawn), max(r["v"] for r in drawn)
    scale = {"type": "log", "domain": [worst * 1.25, best / 1.25], "nice": False}
    own = axis(
        "Sales rank (log, up is better)",
        ",.0f",
        values=lines.log_ticks(best / 1.25, worst * 1.25),
        labelOverlap=False,
        tickCount=10,
    )
    y = {"field": "v", "type": "quantitative", "scale": scale, "axis": own}
    return [single(panel, drawn, y, 170, "rank")]


def _lacking(product: Product, panel: Panel) -> list[str]:
    cut_short = [product.cut] if product.cut else []
    return cut_short + [f"{t}: {_why(product, panel, n)}" for n, t in PRICES.items() if n not in panel.spans]


def _why(product: Product, panel: Panel, name: str) -> str:
    if product.basis == ROWS:
        return "not in the rows"
    return panel.subject.why_no(name).value.replace("_", " ")


def _now(panel: Panel) -> str:
    """The values in force at the end, in words."""
    told = []
    for name, label in {**PRICES, "SALES": "Sales rank"}.items():
        if name in panel.spans:
            value = panel.spans[name][-1].value
            number = f"{value:,}" if name == "SALES" else money(value, panel.subject.domain)["formatted"]
            told.append(f"{label} {number if value >= 0 else 'none'}")
    return cut("Now: " + " · ".join(told), 130)

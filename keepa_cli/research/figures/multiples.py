"""Small multiples: one little chart per product, all over the same days.

Prices are indexed, 100 being the mean of the window weighted by time, on one scale for all, so that they compare
across products; ranks keep scales of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keepa_cli.keepa import clock
from keepa_cli.research.figures import lines
from keepa_cli.research.figures.model import SCHEMA, Figure, Product, heading, values
from keepa_cli.research.figures.panels import CLIPPED, LINE, Panel, reach, time_scale
from keepa_cli.research.figures.text import cut
from keepa_cli.research.subject import Subject

MOST = 24
"""Products on one figure."""
COLUMNS = 3
DAYS = 365
POINTS = 240
"""Change points per little chart."""
PRICES = ("BUY_BOX_SHIPPING", "NEW", "AMAZON")
"""The first that has a price in the window is drawn."""
PLOTS, HEIGHT = 834, 110
"""Pixels of all charts of a row with the room between them, and of one chart."""
SPACING: Mapping[str, int] = {"row": 76, "column": 48}
ALONE = "Small multiples need the histories of at least two products."


def prices(products: Sequence[Product], basis: str) -> Figure | str:
    """Indexed prices, or why there is no figure."""
    start, end = window(products)
    charts, told = [], []
    for product, subject in pairs(products):
        name, panel = _priced(subject, start, end)
        if name is None:
            continue
        mean = _mean(panel, name)
        unit = lines.unit(panel.series[name], subject.domain)
        rows = [r | {"v": round(r["v"] * unit * 100 / mean, 2)} for r in panel.lines(name, "price")]
        kind = {"BUY_BOX_SHIPPING": "buy box", "NEW": "new", "AMAZON": "Amazon"}[name]
        hundred = f"100 = {mean / unit:,.{subject.domain.digits}f} {subject.domain.currency}"
        charts.append((product, panel, rows, f"{kind}, {hundred}"))
        told.append(panel.source | {"drawn": name, "index_100_raw": round(mean, 2)})
    if len(charts) < 2:
        return ALONE
    low, high, _ = lines.common_range([lines.price_range(rows) for _, _, rows, _ in charts])
    y = _y({"domain": [low, high], "zero": False, "nice": False}, ",.0f")
    parts = [_chart(product, panel, rows, note, y) for product, panel, rows, note in charts]
    top = heading("Prices as an index, 100 = mean of each product", _about(start, end, products, len(charts)))
    return _figure("multiples-prices", top, parts, told, basis, sum(len(r) for _, _, r, _ in charts))


def ranks(products: Sequence[Product], basis: str) -> Figure | str:
    """Sales ranks, each on its own reversed logarithmic scale, or why there is no figure."""
    start, end = window(products)
    parts, told, count = [], [], 0
    for product, subject in pairs(products):
        panel = _small(subject, ["SALES", "NEW"], start, end)
        rows = [r | {"v": max(r["v"], 1)} for r in panel.lines("SALES", "rank")]
        if not rows:
            continue
        worst, best = max(r["v"] for r in rows), min(r["v"] for r in rows)
        scale = {"type": "log", "domain": [worst * 1.2, best / 1.2], "nice": False}
        y = _y(scale, "~s", values=lines.log_ticks(best / 1.2, worst * 1.2, 5), labelOverlap=False, tickCount=10)
        now = panel.spans["SALES"][-1].value
        note = f"{worst:,.0f} to {best:,.0f}, now {f'{now:,}' if now >= 0 else 'none'}"
        parts.append(_chart(product, panel, rows, note, y))
        told.append(panel.source)
        count += len(rows)
    if len(parts) < 2:
        return ALONE
    top = heading("Sales ranks, each on its own log scale, up is better", _about(start, end, products, len(parts)))
    return _figure("multiples-ranks", top, parts, told, basis, count)


def pairs(products: Sequence[Product]) -> list[tuple[Product, Subject]]:
    """The products that are drawn, with their histories."""
    return [(p, s) for p in products for s in p.subjects][:MOST]


def window(products: Sequence[Product]) -> tuple[int, int]:
    """The days that all charts show: the last year, less where no product has so long a history."""
    reaches = [reach(s, [*PRICES, "SALES"]) for _, s in pairs(products)]
    end = max((r[1] for r in reaches), default=1)
    return max(min((r[0] for r in reaches), default=0), end - DAYS * clock.DAY), end


def _small(subject: Subject, names: Sequence[str], start: int, end: int) -> Panel:
    found = Panel.of(subject, names, (start, min(end, max(subject.now, start + 1))))
    thin = {n: lines.thinned(s, POINTS) for n, s in found.spans.items()}
    return Panel(subject, start, end, found.series, thin)


def _priced(subject: Subject, start: int, end: int) -> tuple[str | None, Panel]:
    panel = _small(subject, PRICES, start, end)
    return next((n for n in PRICES if any(s.value > 0 for s in panel.spans.get(n, []))), None), panel


def _mean(panel: Panel, name: str) -> float:
    """The exact mean over the window, before anything is left out for drawing."""
    total, minutes = panel.series[name].weighted_sum(panel.start, panel.end)
    return total / minutes if total else 1.0


def _y(scale: dict[str, Any], number: str, **more: Any) -> dict[str, Any]:
    own = {"title": None, "format": number, "tickCount": 4, "labelOverlap": True} | more
    return {"field": "v", "type": "quantitative", "scale": scale, "axis": own}


def _chart(product: Product, panel: Panel, rows: list[dict[str, Any]], note: str, y: dict[str, Any]) -> dict[str, Any]:
    long = panel.end - panel.start > 120 * clock.DAY
    x = {
        "field": "t",
        "type": "temporal",
        "scale": time_scale(panel.start, panel.end),
        "axis": {"title": None, "tickCount": 4, "format": "%b %y" if long else "%d %b", "labelOverlap": True},
    }
    outs = [{"t": lines.ms(s.start), "until": lines.ms(s.end)} for s in lines.absences(panel.spans.get("NEW", []))]
    shaded = {
        "data": values(outs),
        "mark": {"type": "rect", "style": "stock-out", "aria": False},
        "encoding": {"x": x, "x2": {"field": "until"}},
    }
    beyond = max(r["v"] for r in rows) > max(y["scale"]["domain"])
    drawn = {
        "data": values(rows),
        "mark": {**(CLIPPED if beyond else LINE), "strokeWidth": 1.4, "style": "small"},
        "encoding": {"x": x, "y": y, "detail": {"field": "run"}},
    }
    title = cut(product.heading, 34)
    top = {"text": title, "subtitle": cut(note, 44), "fontSize": 12, "subtitleFontSize": 11, "offset": 4}
    return {"title": top, "height": HEIGHT, "layer": [*([shaded] if outs else []), drawn]}


def _about(start: int, end: int, products: Sequence[Product], drawn: int) -> str:
    days = f"{clock.iso(start)[:10]} to {clock.iso(end)[:10]} UTC, nobody offering new is shaded"
    return days + (f" · {drawn} of {len(products)} products" if drawn < len(products) else "")


def _figure(
    name: str, top: dict[str, Any], parts: list[dict[str, Any]], told: list[dict[str, Any]], basis: str, points: int
) -> Figure:
    columns = min(COLUMNS, len(parts))
    width = (PLOTS - (columns - 1) * SPACING["column"]) // columns
    parts = [part | {"width": width} for part in parts]
    spec = {"$schema": SCHEMA, "title": top, "columns": columns, "bounds": "flush", "spacing": SPACING, "concat": parts}
    return Figure(name, top["text"], f"{top['text']}: one small chart for each of {len(parts)} products.", spec,
                  {"products": told}, basis, points)  # fmt: skip

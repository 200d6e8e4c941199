"""How much each series changed over each window: a heat map whose cells have their values printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepa_cli.keepa.csvtypes import BY_NAME
from keepa_cli.research.facts import ABSENT
from keepa_cli.research.figures.model import SCHEMA, Figure, Product, heading, values
from keepa_cli.research.figures.text import cut
from keepa_cli.research.measures import change
from keepa_cli.research.names import name_of
from keepa_cli.research.product.look import WINDOWS
from keepa_cli.research.subject import Subject

SERIES = ("NEW", "BUY_BOX_SHIPPING", "AMAZON", "SALES", "COUNT_NEW", "RATING", "COUNT_REVIEWS")
LABELS: Mapping[str, str] = {
    "new": "New price", "buy_box_shipping": "Buy box price", "amazon": "Amazon price", "sales_rank": "Sales rank",
    "new_offer_count": "New offers", "rating": "Rating", "review_count": "Reviews", "new_fba": "New price, FBA",
    "new_fba_offer_count": "New offers, FBA", "new_fbm_offer_count": "New offers, FBM",
}  # fmt: skip
_DAYS = re.compile(r"[0-9]{1,5}")
FULL = 50
"""Percent from which a change has the full colour."""
STRONG = 35
"""Percent from which the colour is so deep that text on it must be the other way round."""
SHORT: Mapping[str, str] = {
    "not_requested": "not asked", "not_collected": "no data", "none": "none", "too_little_history": "too new",
    "not_computable": "no figure", "not_applicable": "n/a", "unreadable": "unreadable",
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """The change of one series over one window in percent, else why there is none."""

    series: str
    days: int
    percent: float | None
    reason: str | None
    first: Any = None
    last: Any = None

    @property
    def drawn(self) -> dict[str, Any]:
        known = self.percent is not None
        text = f"{self.percent:+,.2f} %" if known else SHORT.get(self.reason or "", "n/a")
        text = "0 %" if self.percent == 0 else text
        row = {"series": LABELS.get(self.series, self.series.replace("_", " ")), "window": f"{self.days} days"}
        return row | {"percent": self.percent, "text": text.replace("-", "−")}

    @property
    def source(self) -> dict[str, Any]:
        found: dict[str, Any] = {"series": self.series, "days": self.days, "change_percent": self.percent}
        if self.percent is None:
            return found | {"absent": {"change_percent": self.reason}}
        return found | {"first_raw": self.first, "last_raw": self.last}


def cells_of(subject: Subject, days: Sequence[int] = WINDOWS) -> list[Cell]:
    """The cells of a product with its history."""
    found = []
    for name in SERIES:
        t = BY_NAME[name]
        for n in days:
            c = change(subject, t, n)
            pct, why = c.percent, c.reason.value if c.reason else "not_computable"
            found.append(Cell(name_of(t), n, pct, None if pct is not None else why, c.first, c.last))
    return found


def cells_of_view(view: Mapping[str, Any]) -> list[Cell]:
    """The cells that a product view holds in its temporal_features; none where it has no such section."""
    features = view.get("temporal_features")
    series = features.get("series") if isinstance(features, Mapping) else None
    known = series if isinstance(series, Mapping) else {}
    order = [n for n in LABELS if n in known] + [n for n in known if n not in LABELS and n != ABSENT]
    return [cell for name in order for cell in _cells_told(str(name), known[name])]


def _cells_told(name: str, told: Any) -> Iterator[Cell]:
    windows_told = told.get("windows") if isinstance(told, Mapping) else None
    if isinstance(windows_told, Mapping):
        for days, window in windows_told.items():
            if isinstance(days, str) and _DAYS.fullmatch(days):
                yield _cell_of(name, int(days), window, {**told, **windows_told})


def _cell_of(name: str, days: int, window: Any, beside: Mapping[str, Any]) -> Cell:
    own = window if isinstance(window, Mapping) else {}
    pct = own.get("change_pct")
    reasons = [a for a in (own.get(ABSENT), beside.get(ABSENT)) if isinstance(a, Mapping)]
    why = next((str(a[k]) for a in reasons for k in ("change_pct", "first", str(days)) if k in a), "not_computable")
    if not isinstance(pct, int | float) or isinstance(pct, bool):
        return Cell(name, days, None, why)
    return Cell(name, days, float(pct), None, own.get("first"), own.get("last", beside.get("last")))


def windows(product: Product, cells: Sequence[Cell]) -> Figure | str:
    """The heat map of one product, or why there is none. A series without any figure has no row."""
    alive = {c.series for c in cells if c.percent is not None}
    shown = [c for c in cells if c.series in alive]
    if not shown:
        return f"No change over any window is known of {product.label}."
    drawn = [c.drawn for c in shown]
    left_out = dict.fromkeys(LABELS.get(c.series, c.series) for c in cells if c.series not in alive)
    more = f" · no figures: {', '.join(left_out)}" if left_out else ""
    lines = (
        cut(f"Amazon {product.domain}{more}", 125),
        "Change until now in percent: blue fell, orange rose. A falling sales rank is better.",
    )
    return Figure(
        name=f"windows-{product.key}",
        title=f"Changes over windows of {product.label}",
        description=f"Heat map of changes of prices, rank, offers and reviews of {product.label} over windows.",
        spec={"$schema": SCHEMA, "title": heading(cut(product.heading, 88), *lines), **_map(drawn)},
        data={"asin": product.label, "cells": [c.source for c in cells]},
        data_basis=product.basis,
        points=sum(c.percent is not None for c in shown),
    )


def _map(drawn: list[dict[str, Any]]) -> dict[str, Any]:
    rows, columns = (list(dict.fromkeys(d[k] for d in drawn)) for k in ("series", "window"))
    x = {
        "field": "window",
        "type": "nominal",
        "sort": columns,
        "axis": {"title": None, "orient": "top", "labelAngle": 0, **BARE},
    }
    y = {
        "field": "series",
        "type": "nominal",
        "sort": rows,
        "axis": {"title": None, "minExtent": 110, "maxExtent": 110, **BARE},
    }
    known = [d for d in drawn if d["percent"] is not None]
    strong, weak = [d for d in known if abs(d["percent"]) >= STRONG], [d for d in known if abs(d["percent"]) < STRONG]
    unknown = [d for d in drawn if d["percent"] is None]
    color = {
        "field": "percent", "type": "quantitative",
        "scale": {"domain": [-FULL, -FULL / 2, 0, FULL / 2, FULL], "clamp": True, "range": "diverging",
                  "interpolate": "rgb"},
        "legend": None,
    }  # fmt: skip
    layers = [
        _layer(unknown, {"type": "rect", "style": "empty"}),
        _layer(known, {"type": "rect"}, color=color),
        _layer(weak, {"type": "text", "style": "value"}, text={"field": "text"}),
        _layer(strong, {"type": "text", "style": "on-strong", "fontWeight": "bold"}, text={"field": "text"}),
        _layer(unknown, {"type": "text", "style": "muted"}, text={"field": "text"}),
    ]
    size = {"width": 757, "height": 34 * len(rows)}
    return size | {"encoding": {"x": x, "y": y}, "layer": [layer for layer in layers if layer["data"]["values"]]}


BARE: Mapping[str, Any] = {"ticks": False, "domain": False, "grid": False, "labelFontSize": 12, "labelPadding": 6}


def _layer(rows: list[dict[str, Any]], mark: dict[str, Any], **encoding: Any) -> dict[str, Any]:
    return {"data": values(rows), "mark": mark | {"aria": False}, "encoding": encoding}

"""The two looks of a figure. Specifications name roles, a theme gives them colours, so one specification serves both.

The palettes are those that stay apart for colour-blind eyes (Okabe and Ito, blue against orange), lightened on dark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first comes with the renderer, the next measure the same: a figure is as wide on every machine."""


@dataclass(frozen=True)
class Palette:
    background: str
    panel: str
    text: str
    muted: str
    grid: str
    line: str
    category: tuple[str, ...]
    stock_out: str
    no_data: str
    available: str
    diverging: tuple[str, ...]
    severity: tuple[str, ...]
    on_strong: str


PALETTES: Mapping[Theme, Palette] = {
    "light": Palette(
        background="#ffffff", panel="#fbfbfc", text="#1f2430", muted="#5b6472", grid="#e4e7ec", line="#b4bac4",
        category=("#0072b2", "#d97706", "#a3348b", "#00795a", "#4c5a9e", "#8a6d1d", "#56a3d9", "#6b7280"),
        stock_out="#c2410c", no_data="#e9ecf0", available="#cfe0ee",
        diverging=("#1f5fa8", "#7fb0dd", "#f4f5f7", "#f0ab66", "#b45309"),
        severity=("#e3edf6", "#f6cf94", "#e08a3c", "#b3360b", "#c9a8d8"),
        on_strong="#ffffff",
    ),
    "dark": Palette(
        background="#14171c", panel="#1a1e25", text="#e8eaee", muted="#a3abb8", grid="#2c323c", line="#59616f",
        category=("#5cb3e8", "#f2a93b", "#e48ac9", "#3ecf9f", "#9aa7ee", "#d9c04a", "#b5dcf7", "#aab2bf"),
        stock_out="#ff8a5c", no_data="#2a2f38", available="#27445c",
        diverging=("#6cb4f2", "#35648f", "#232831", "#8f5a1d", "#f5a742"),
        severity=("#22303d", "#6b5420", "#b5701f", "#ff7d4d", "#6a4a7a"),
        on_strong="#101216",
    ),
}  # fmt: skip


def config(theme: Theme) -> dict[str, Any]:
    """The Vega-Lite configuration of a theme."""
    p = PALETTES[theme]
    text = {"font": FONT, "color": p.text, "fontSize": 12}
    return {
        "background": p.background,
        "padding": 16,
        "font": FONT,
        "locale": {"number": NUMBERS},
        "title": {
            "color": p.text, "subtitleColor": p.muted, "font": FONT, "subtitleFont": FONT, "fontSize": 16,
            "subtitleFontSize": 12, "subtitlePadding": 4, "anchor": "start", "offset": 10, "fontWeight": "bold",
            "frame": "group", "subtitleLineHeight": 16,
        },
        "axis": _axis(p),
        "axisX": {"labelBound": True},
        "legend": {
            "labelColor": p.text, "titleColor": p.muted, "labelFont": FONT, "titleFont": FONT, "labelFontSize": 12,
            "titleFontSize": 12, "titleFontWeight": "normal", "symbolStrokeWidth": 3, "orient": "top",
            "direction": "horizontal", "offset": 6, "labelLimit": 300, "columnPadding": 16,
        },
        "header": {"labelColor": p.text, "titleColor": p.muted, "labelFont": FONT, "titleFont": FONT},
        "view": {"fill": p.panel, "stroke": p.grid},
        "concat": {"spacing": 14},
        "range": _ranges(p),
        "style": _styles(p),
        "text": text,
        "rule": {"color": p.line},
    }  # fmt: skip


NUMBERS = {"decimal": ".", "thousands": ",", "grouping": [3], "currency": ["", ""]}


def _axis(p: Palette) -> dict[str, Any]:
    return {
        "labelColor": p.muted, "titleColor": p.muted, "labelFont": FONT, "titleFont": FONT, "labelFontSize": 11,
        "titleFontSize": 12, "titleFontWeight": "normal", "gridColor": p.grid, "domainColor": p.line,
        "tickColor": p.line, "titlePadding": 8, "labelFlush": False,
    }  # fmt: skip


def _ranges(p: Palette) -> dict[str, Any]:
    return {
        "category": list(p.category),
        "diverging": list(p.diverging),
        "availability": [p.available, p.stock_out, p.no_data],
        "severity": list(p.severity),
        "nodes": [p.category[i] for i in (7, 5, 5, 5, 6, 6, 1, 4, 0, 6, 2, 5, 3, 7)],
    }


def _styles(p: Palette) -> dict[str, Any]:
    """Marks by their role."""
    return {
        "stock-out": {"color": p.stock_out, "fillOpacity": 0.22, "stroke": p.stock_out, "strokeOpacity": 0.35},
        "buy-box": {"color": p.category[2], "fillOpacity": 0.13},
        "rank": {"color": p.category[3]},
        "small": {"color": p.category[0]},
        **{f"signal-{i}": {"color": p.category[c]} for i, c in enumerate((4, 5, 0))},
        "muted": {"color": p.muted, "font": FONT, "fontSize": 12},
        "value": {"color": p.text, "font": FONT, "fontSize": 12},
        "on-strong": {"color": p.on_strong, "font": FONT, "fontSize": 12},
        "empty": {"color": p.no_data, "stroke": p.line, "strokeDash": [3, 3]},
        "edge": {"color": p.line, "strokeWidth": 1, "strokeOpacity": 0.9},
        "bar": {"color": p.category[0]},
        "halo": {"color": p.panel, "stroke": p.panel, "strokeWidth": 4, "font": FONT},
        "baseline": {"color": p.line, "strokeDash": [4, 3]},
    }

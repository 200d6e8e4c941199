"""Averages, extremes and stock-outs of the main series, recomputed by Keepa's own rules and checked against `stats`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepa_cli.keepa.clock import iso
from keepa_cli.keepa.csvtypes import CsvType
from keepa_cli.keepa.series import Series
from keepa_cli.keepa.stats import WINDOWS, average, extremes, out_of_stock_percentage, window
from keepa_cli.research.facts import Confidence, Reason, Section
from keepa_cli.research.history.units import unit_of
from keepa_cli.research.names import BY_VIEW_NAME
from keepa_cli.research.product.look import Look
from keepa_cli.research.subject import Subject

SERIES = (
    "amazon", "new", "used", "sales_rank", "list_price", "new_fba", "new_fbm_shipping", "buy_box_shipping",
    "new_offer_count", "used_offer_count", "rating", "review_count",
)  # fmt: skip
FIGURES = tuple(f"{kind}{days}" for kind in ("avg", "outOfStockPercentage") for days in WINDOWS)


def section(look: Look) -> Section:
    """`{source, checked, series: {name: {unit, avg: {days: raw}, min, max, out_of_stock_pct?}}}`.

    `checked` counts the figures that the answer's own `stats` has too and names those that differ. A price has
    `out_of_stock_pct` by days (rounded up), other series do not.
    """
    subject = look.subject
    shown, checked, different = Section(), 0, []
    for name in SERIES:
        t = BY_VIEW_NAME[name]
        ours = figures(subject, subject.series(t))
        for figure, mine, theirs in _pairs(subject.stats, t, ours):
            checked += 1
            if mine != theirs:
                different.append(f"{figure}.{name}")
        shown.put(name, _series(subject, t, ours), _why(subject, t))
    found = Section(
        method="Keepa's rules over the history",
        inputs={"now_at": iso(subject.now), "windows_days": list(WINDOWS)},
        confidence=Confidence.EXACT.value if not different else Confidence.HIGH.value,
        evidence_path=subject.at("csv") if "csv" in subject.product else subject.path,
        source="csv and stats, equal" if checked and not different else "csv",
        checked=checked,
    )
    if different:
        found["different_from_stats"] = different
    return Section(found, series=shown)


def figures(subject: Subject, series: Series) -> dict[str, Any]:
    """The figures of one series by the names that Keepa's `stats` gives them, in Keepa's own values."""
    since = subject.product.get("trackingSince")
    since = since if type(since) is int and since > 0 else 0
    found: dict[str, Any] = {}
    for days in WINDOWS:
        start, end = window(days, subject.now)
        found[f"avg{days}"] = average(series, start, end)
        found[f"outOfStockPercentage{days}"] = out_of_stock_percentage(series, start, end, since)
    found["min"], found["max"] = extremes(series)
    return found


def _pairs(stats: Mapping[str, Any], t: CsvType, ours: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """(figure, ours, Keepa's) of everything that the answer's own `stats` holds of a series."""
    for figure, mine in ours.items():
        theirs = stats.get(figure)
        if isinstance(theirs, list) and t.index < len(theirs):
            yield figure, mine, theirs[t.index]


def _series(subject: Subject, t: CsvType, ours: Mapping[str, Any]) -> Section | None:
    if ours["min"] is None:
        return None
    shown = Section(unit=unit_of(t).name)
    if t.is_price:
        shown["currency"] = subject.domain.currency
    shown["avg"] = _by_days("avg", ours)
    for name in ("min", "max"):
        at, value = ours[name]
        shown[name] = {"value": value, "at": iso(at)}
    if t.is_price:
        shown["out_of_stock_pct"] = _by_days("outOfStockPercentage", ours)
    return shown


def _by_days(kind: str, ours: Mapping[str, Any]) -> Section:
    found = Section()
    for days in WINDOWS:
        value = ours[f"{kind}{days}"]
        found.put(str(days), value if value >= 0 else None, Reason.NONE)
    return found


def _why(subject: Subject, t: CsvType) -> Reason:
    return Reason.NONE if len(subject.series(t)) else subject.why_no(t)

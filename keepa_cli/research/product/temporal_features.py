"""How the main series moved over windows of time that end now. Values are raw: `unit` and `currency` stand once."""

from __future__ import annotations

from typing import Any

from keepa_cli.keepa.clock import DAY, iso
from keepa_cli.research.facts import Confidence, Reason, Section
from keepa_cli.research.history.figures import WindowFigures
from keepa_cli.research.history.units import unit_of
from keepa_cli.research.names import BY_VIEW_NAME
from keepa_cli.research.product.look import Look
from keepa_cli.research.subject import Subject

SERIES = (
    "new", "sales_rank", "buy_box_shipping", "new_fba", "new_offer_count", "new_fba_offer_count", "rating",
    "review_count",
)  # fmt: skip
SHAPED_DAYS = 30
"""Shorter windows hold too few changes for a shape: they have their level and change only."""
METHOD = "time-weighted steps"


def section(look: Look) -> Section:
    """`{series: {name: {unit, currency?, evidence_path, last, windows: {days: figures}}}}`; `last` is in force now.

    Figures of a window: first (in force at its start, else the first inside), change and change_pct from first to last,
    mean (Keepa's average, rounded down), min, max, range, volatility (deviation in % of the mean), slope (least
    squares, a day), direction (of that line), quantiles (10, 25, 50, 75, 90 % of the time), z_score (of last), outliers
    ([by quartiles, by median deviation] stretches), drawdown and rebound (deepest fall, steepest rise, %), longest_rise
    and longest_fall ([steps, days]), density (points a day), coverage (% of the window with a value, where not all).
    A window in which nothing changed is `constant` and has no spread; one under 30 days has no shape (from slope on);
    one that reaches back further than the history holds what the shorter one in `same_as` holds.
    """
    subject = look.subject
    found = Section()
    for name in SERIES:
        found.put(name, series_section(subject, name, look.windows), subject.why_no(BY_VIEW_NAME[name]))
    return Section(
        method=METHOD,
        inputs={"windows_days": list(look.windows), "windows_end_at": iso(subject.now)},
        confidence=Confidence.EXACT.value,
        evidence_path=subject.at("csv") if "csv" in subject.product else subject.path,
        series=found,
    )


def series_section(subject: Subject, name: str, windows: tuple[int, ...]) -> Section | None:
    """The windows of one series; None for an empty one and for one that never had a value."""
    t = BY_VIEW_NAME[name]
    series = subject.series(t)
    if not any(v >= 0 for v in series.landing):
        return None
    shown = Section(unit=unit_of(t).name)
    if t.is_price:
        shown["currency"] = subject.domain.currency
    shown["evidence_path"] = subject.series_path(t)
    shown.put("last", WindowFigures(series, subject.now, subject.now).last, subject.why_no(t))
    cells, whole = Section(), ""
    for days in sorted(windows):
        figures = WindowFigures(series, subject.now - days * DAY, subject.now)
        if whole:
            cells[str(days)] = Section(same_as=whole, coverage=figures.coverage)
            continue
        cells.put(str(days), window_section(figures, shape=days >= SHAPED_DAYS), Reason.NONE)
        whole = str(days) if figures.start < series.times[0] and days >= SHAPED_DAYS and figures.any else ""
    shown["windows"] = cells
    return shown


def window_section(w: WindowFigures, *, shape: bool = True) -> Section | None:
    """The figures of one window, None where nothing was in force in it."""
    if not w.any:
        return None
    level = {"first": w.first, "change": w.change, "change_pct": w.change_pct, "mean": w.mean}
    if w.points == 0 and w.coverage == 100:
        return _filled({"constant": True} | level)
    low, high = w.weights[0][0], w.weights[-1][0]
    level |= {"min": low, "max": high, "range": high - low, "volatility": w.volatility}
    if w.coverage < 100:
        level["coverage"] = w.coverage
    return _filled(level | (_shape(w) if shape else {}))


def _shape(w: WindowFigures) -> dict[str, Any]:
    return {
        "slope": w.slope, "direction": w.direction, "quantiles": w.quantiles, "z_score": w.z_score,
        "outliers": [w.iqr_outliers, w.mad_outliers], "drawdown": w.max_drawdown, "rebound": w.max_rebound,
        "longest_rise": w.longest_rise, "longest_fall": w.longest_fall, "density": w.density,
    }  # fmt: skip


def _filled(figures: dict[str, Any]) -> Section:
    shown = Section()
    for name, value in figures.items():
        shown.put(name, value, Reason.NOT_COMPUTABLE)
    return shown

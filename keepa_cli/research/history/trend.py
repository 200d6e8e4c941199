"""How one history moved: over all time and over windows that end now, with a sparkline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keepa_cli.keepa.clock import DAY, iso
from keepa_cli.keepa.csvtypes import SeriesKind
from keepa_cli.keepa.money import amount, money
from keepa_cli.keepa.stats import extremes_in, out_of_stock_percentage, rank_drops
from keepa_cli.research.analysis.seasonality import seasonality
from keepa_cli.research.facts import Confidence, Reason, Section, derived
from keepa_cli.research.history import units
from keepa_cli.research.history.figures import WindowFigures
from keepa_cli.research.history.tracks import Track
from keepa_cli.research.subject import Subject

SPARK_POINTS = 24
METHOD = "step function weighted by time; mean and extremes by Keepa's rules"


def trend(subject: Subject, track: Track, windows: Sequence[int]) -> Section:
    """`{unit, currency?, evidence_path, points, first_at, last_at, current, all_time, windows, sparkline,
    seasonality?}` of a history with data."""
    now, series = subject.now, track.series
    shown = Section(unit=track.unit.name)
    if track.unit is units.MONEY:
        shown["currency"] = track.domain.currency
    if track.basis_changed_at:
        shown["basis_changed_at"] = track.basis_changed_at
    shown |= {"evidence_path": track.path, "points": len(track)}
    shown |= {"first_at": iso(series.times[0]), "last_at": iso(series.times[-1])}
    held = WindowFigures(series, now, now).last
    shown.put("current", None if held is None else value(track, held), _why_not(track, now))
    start = min(series.times[0], now)
    shown.put("all_time", _figures(subject, track, start, now, None), Reason.NONE)
    found = Section()
    for days in windows:
        reason = Reason.TOO_LITTLE_HISTORY if series.times[0] >= now else Reason.NONE
        found.put(str(days), _figures(subject, track, now - days * DAY, now, days), reason)
    shown["windows"] = found
    shown["sparkline"] = sparkline(track, max(start, now - max(windows, default=0) * DAY), now)
    if series.type.kind is SeriesKind.RANK:
        shown["seasonality"] = seasonality(series, now, track.path)
    return shown


def _why_not(track: Track, now: int) -> Reason:
    place = track.series.index_at(now)
    return units.why_null(track.series.landing[place]) if place >= 0 else Reason.NONE


def _figures(subject: Subject, track: Track, start: int, end: int, days: int | None) -> Section | None:
    w = WindowFigures(track.series, start, end)
    if not w.any:
        return None
    low, high = extremes_in(track.series, start, end)
    shown = Section(from_at=iso(max(start, 0)), to_at=iso(end), points=w.points, coverage_pct=w.coverage)
    shown["first"] = value(track, w.first)
    shown.put("last", None if w.last is None else value(track, w.last), _why_not(track, end))
    shown.put("change", None if w.change is None else _signed(track, w.change), Reason.NOT_COMPUTABLE)
    shown.put("change_pct", w.change_pct, Reason.NOT_COMPUTABLE)
    for name, found in (("min", low), ("max", high)):
        shown.put(name, {"at": iso(found[0]), **value(track, found[1])} if found and found[1] >= 0 else None)
    shown.put("mean", None if w.mean is None else value(track, w.mean), Reason.NOT_COMPUTABLE)
    shown.put("out_of_stock_pct", _out_of_stock(subject, track, start, end), _why_no_share(track))
    shown["drops"] = _drops(subject, track, w, days)
    shown |= {"method": METHOD, "inputs": {"points": w.points}}
    return Section(shown, confidence=Confidence.EXACT.value, evidence_path=track.path)


def _out_of_stock(subject: Subject, track: Track, start: int, end: int) -> int | None:
    since = subject.product.get("trackingSince")
    found = out_of_stock_percentage(track.series, start, end, since if type(since) is int and since > 0 else 0)
    return found if found >= 0 else None


def _why_no_share(track: Track) -> Reason:
    return Reason.NONE if track.series.type.is_price else Reason.NOT_APPLICABLE


def _drops(subject: Subject, track: Track, w: WindowFigures, days: int | None) -> Section:
    """How often the value fell. Of the rank Keepa's own count where the answer has it: it leaves out tiny falls."""
    told = subject.stats.get(f"salesRankDrops{days}") if track.name == "sales_rank" and days else None
    if type(told) is int and told >= 0:
        return derived(
            told,
            method="Keepa's count",
            inputs={"days": days},
            confidence=Confidence.EXACT,
            evidence_path=subject.at("stats", f"salesRankDrops{days}"),
        )
    counted = track.series.type.kind is SeriesKind.RANK
    return derived(
        rank_drops(track.series, w.start),
        method="estimate: a count of decreases" if counted else "count of decreases",
        inputs={"points": w.points},
        confidence=Confidence.MEDIUM if counted else Confidence.EXACT,
        evidence_path=track.path,
    )


def value(track: Track, raw: int | None) -> dict[str, Any]:
    """A raw number with what it means: money with its currency, else `{value, raw}`."""
    if track.unit is units.MONEY:
        return money(raw, track.domain)
    return {"value": track.unit.cell(raw, track.domain)[0], "raw": raw}


def _signed(track: Track, change: int) -> dict[str, Any]:
    """A change in the unit of the series, with its sign."""
    sign = "-" if change < 0 else ""
    if track.unit is units.MONEY:
        text = f"{sign}{amount(abs(change), track.domain)}"
        code = track.domain.currency
        return {"raw": change, "amount": text, "currency": code, "formatted": f"{text} {code}"}
    shown = track.unit.cell(abs(change), track.domain)[0]
    return {"value": f"{sign}{shown}" if isinstance(shown, str) else change, "raw": change}


def sparkline(track: Track, start: int, end: int) -> dict[str, Any]:
    """Raw values in force at equal steps of time, the newest last; null where there is none."""
    series, steps = track.series, SPARK_POINTS - 1
    at = [start + (end - start) * i // steps for i in range(SPARK_POINTS)] if end > start else [end]
    values = [series.value_before(minute) for minute in at]
    return {"from_at": iso(at[0]), "to_at": iso(at[-1]), "raw": [v if v >= 0 else None for v in values]}

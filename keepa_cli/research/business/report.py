"""The answer of a business analysis: the decision first, then totals, then every product with its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepa_cli.keepa.clock import iso
from keepa_cli.keepa.money import money
from keepa_cli.research.business.measure import measured
from keepa_cli.research.business.rank import SORTINGS, Row, confident, ranked
from keepa_cli.research.business.record import Metrics
from keepa_cli.research.business.scales import VERSION
from keepa_cli.research.business.velocity import units
from keepa_cli.research.facts import Reason, Section

VIEW = "business_metrics"


@dataclass(frozen=True)
class Wish:
    """What the caller wants to see. `shown` are the figures of the answer, `sort` a name of SORTINGS or "input"."""

    analysis: str
    shown: tuple[str, ...]
    sort: str = "input"
    limit: int | None = None
    min_confidence: str | None = None
    min_monthly_sold: int | None = None


@dataclass
class Sorted:
    """All rows by what became of them."""

    listed: list[Row]
    not_rankable: list[Row]
    left_out: dict[str, int]


def rows_of(records: Sequence[Metrics]) -> list[Row]:
    return [Row(m, measured(m)) for m in records]


def arrange(rows: Sequence[Row], wish: Wish) -> Sorted:
    """Filter, rank and cut. A row without the figure that decides is told apart, never ranked with a zero."""
    metric = SORTINGS[wish.sort].metric if wish.sort in SORTINGS else wish.shown[0]
    usable, lacking = _split(rows, wish, metric)
    kept = [r for r in usable if confident(r.metric(metric), wish.min_confidence)]
    few = [r for r in kept if _sells(r, wish.min_monthly_sold)]
    ordered = ranked(few, SORTINGS[wish.sort]) if wish.sort in SORTINGS else few
    listed = _cut(ordered, wish.limit)
    left = {
        "below_min_confidence": len(usable) - len(kept),
        "below_min_monthly_sold": len(kept) - len(few),
        "beyond_limit": len(ordered) - len(listed),
    }
    return Sorted(listed, lacking, {k: n for k, n in left.items() if n})


def _split(rows: Sequence[Row], wish: Wish, metric: str) -> tuple[list[Row], list[Row]]:
    """Rows that have the figure, and those that lack it; without a ranking all are shown."""
    if wish.sort not in SORTINGS:
        return list(rows), []
    usable: list[Row] = []
    lacking: list[Row] = []
    for row in rows:
        section = row.metrics.get(metric) if metric != "score" else row.score
        if section is not None and section["value"] is not None:
            usable.append(row)
        else:
            row.reason = row.reason or _why(row, metric, section)
            lacking.append(row)
    return usable, lacking


def _why(row: Row, metric: str, section: Section | None) -> str:
    if not row.record.usable:
        return "Keepa has no data of this ASIN."
    told = section.get("absent", {}).get("value", Reason.NOT_COMPUTABLE.value) if section else "not_computable"
    return f"{metric.replace('_', ' ').capitalize()} has no value ({told})."


def _sells(row: Row, least: int | None) -> bool:
    sold = units(row.metrics["velocity"])
    return least is None or (sold is not None and sold >= least)


def _cut(rows: Sequence[Row], limit: int | None) -> list[Row]:
    """At most `limit` rows of every ranking."""
    if limit is None:
        return list(rows)
    seen: dict[str | None, int] = {}
    found = []
    for row in rows:
        seen[row.group] = seen.get(row.group, 0) + 1
        if seen[row.group] <= limit:
            found.append(row)
    return found


def view(
    wish: Wish,
    brief: Mapping[str, Any],
    done: Sorted,
    dropped: Sequence[Metrics],
    sources: Sequence[Mapping[str, Any]],
    **more: Any,
) -> dict[str, Any]:
    """`{view, analysis, version, brief, summary, products, not_rankable, inputs}`."""
    return {
        "view": VIEW,
        "analysis": wish.analysis,
        "version": VERSION,
        "brief": dict(brief),
        "summary": summary(wish, done, dropped, sources) | more,
        "products": [product(row, wish) for row in done.listed],
        "not_rankable": [_lacking(row) for row in done.not_rankable],
        "inputs": list(sources),
    }


def summary(
    wish: Wish, done: Sorted, dropped: Sequence[Metrics], sources: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Counts of what became of every product, and the turnover of those listed by currency."""
    left = done.left_out
    read = len(done.listed) + len(done.not_rankable) + sum(left.values())
    found: dict[str, Any] = {
        "products_read": read + len(dropped),
        "products_listed": len(done.listed),
        "not_rankable": len(done.not_rankable),
        "left_out": left,
        "older_copies_left_out": len(dropped),
        "inputs": len(sources),
    }
    if wish.sort in SORTINGS:
        groups = dict.fromkeys(str(r.group) for r in done.listed)
        found["sorted_by"] = SORTINGS[wish.sort].says
        found["rankings"] = [{"group": g, "count": sum(r.group == g for r in done.listed)} for g in groups]
    if "cashflow" in wish.shown:
        found["turnover_at_least"] = turnover(done.listed)
    return found


def turnover(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The sum of the known turnovers of each currency; currencies are never added up."""
    sums: dict[str, list[Row]] = {}
    for row in rows:
        if row.metrics["cashflow"]["value"] is not None:
            sums.setdefault(row.record.domain.currency, []).append(row)
    return [
        {
            "products": len(group),
            **money(sum(r.metrics["cashflow"]["value"]["raw"] for r in group), group[0].record.domain),
        }
        for _, group in sorted(sums.items())
    ]


def product(row: Row, wish: Wish) -> Section:
    """One product: who it is, its place, its figures, where it was read."""
    m = row.record
    found = _named(m)
    if row.group is not None:
        found["ranking"] = {"group": row.group, "position": row.position}
    if row.score is not None:
        found["score"] = row.score
    found["metrics"] = {name: row.metrics[name] for name in wish.shown}
    found["source"] = m.source.shown(m.form) | {"path": m.path}
    return found


def _lacking(row: Row) -> Section:
    found = _named(row.record)
    found["reason"] = row.reason
    found["source"] = row.record.source.shown(row.record.form) | {"path": row.record.path}
    return found


def _named(m: Metrics) -> Section:
    found = Section().put("asin", m.asin).put("title", m.title, Reason.NOT_COLLECTED)
    found.put("domain", m.domain.code if m.domain_known else None, Reason.NOT_COLLECTED)
    found["currency"] = m.domain.currency
    return found.put("observed_at", iso(m.now) if m.now > 0 else None, Reason.NOT_COLLECTED)
